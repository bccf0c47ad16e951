//! Subcommands that talk to other repositories.

use crate::effect::{Carry, HostTarget, NamedBy, Target, Verb};
use crate::program::host;
use crate::program::{Code, View};
use crate::word::{Text, Word};

/// What a word that names a repository reaches.
enum Repository {
    /// A remote by its configured name.
    Remote(String),
    Host(HostTarget),
    /// A folder of this machine.
    Folder(Word),
    /// `ext::sh -c cmd`, `fd::`, or another helper: a program that git starts.
    Helper,
    Unknown,
}

fn repository(word: &Word) -> Repository {
    let Some(text) = word.exact_str() else { return Repository::Unknown };
    if let Some(path) = text.strip_prefix("file://") {
        return Repository::Folder(Word::Exact(Text::from(path)));
    }
    if let Some((scheme, _)) = text.split_once("://") {
        return match scheme {
            "http" | "https" | "ssh" | "git" | "ftp" | "ftps" | "git+ssh" | "ssh+git" => {
                Repository::Host(host::of_text(text))
            }
            _ => Repository::Helper,
        };
    }
    if text.split_once("::").is_some_and(|(helper, _)| !helper.contains(['/', '@', '['])) {
        return Repository::Helper;
    }
    let colon = text.find(':');
    let slash = text.find('/');
    match (colon, slash) {
        // `host:path`: a colon before any slash.
        (Some(colon), slash) if slash.is_none_or(|slash| colon < slash) => Repository::Host(host::of_text(text)),
        (_, Some(_)) => Repository::Folder(word.clone()),
        _ if matches!(text, "." | "..") => Repository::Folder(word.clone()),
        _ => Repository::Remote(text.to_owned()),
    }
}

/// Adds what reaching a repository does; `verb` is what is done to it if it is a folder.
fn reaches(view: &mut View<'_>, word: &Word, at: usize, verb: Verb) {
    match repository(word) {
        Repository::Remote(name) => view.connects_configured(&name, at),
        Repository::Host(target) => view.effect(Verb::Connect, Target::Host(target), at, Carry::Plain),
        Repository::Folder(folder) => view.path_effect(verb, &folder, at, true, Carry::Plain),
        Repository::Helper => {
            view.named(Code::RunsCommand, NamedBy::Nothing, at);
            view.doubt(Code::RunsCommand, "git would start a transport helper".to_owned(), at);
        }
        Repository::Unknown => {
            view.effect(Verb::Connect, Target::Host(HostTarget::Unknown), at, Carry::Plain);
            view.named(Code::DynamicOption, NamedBy::Nothing, at);
        }
    }
}

fn first_repository(view: &mut View<'_>, verb: Verb) {
    match view.operand_at(0).and_then(|at| view.word(at).map(|w| (at, w))) {
        Some((at, word)) => reaches(view, word, at, verb),
        None => view.connects_configured("origin", 0),
    }
}

pub(crate) fn fetch(view: &mut View<'_>) {
    first_repository(view, Verb::Read);
}

pub(crate) fn ls_remote(view: &mut View<'_>) {
    if view.has("--get-url") {
        super::config::shows_addresses(view);
    } else {
        first_repository(view, Verb::Read);
    }
}

/// `+ref` implies `--force`, `:ref` implies `--delete`, `--mirror` both.
pub(crate) fn push(view: &mut View<'_>) {
    match view.values("--repo").pop() {
        Some((at, word)) if view.operand_count() == 0 => reaches(view, &word, at, Verb::Write),
        _ => first_repository(view, Verb::Write),
    }
    for at in view.operands().into_iter().skip(1) {
        let Some(word) = view.word(at) else { continue };
        let first = match word {
            Word::Exact(text) => text.as_bytes().first().copied(),
            Word::Dynamic(shape) => match shape.parts.first() {
                Some(crate::word::Part::Literal(text)) => text.as_bytes().first().copied(),
                _ => {
                    // `$ref` may hold `+main`: a rule against force must be able to say maybe.
                    view.out.open_options = true;
                    None
                }
            },
            Word::Opaque => {
                view.out.open_options = true;
                None
            }
        };
        match first {
            Some(b'+') => view.imply("--force", None, at),
            Some(b':') if word.exact() != Some(b":") => view.imply("--delete", None, at),
            _ => {}
        }
    }
    if view.has("--mirror") {
        view.imply("--force", None, 0);
        view.imply("--delete", None, 0);
    }
}

pub(crate) fn clone(view: &mut View<'_>) {
    first_repository(view, Verb::Read);
    if let Some(at) = view.operand_at(1) {
        if let Some(word) = view.word(at) {
            view.writes_below(word, at);
        }
        return;
    }
    let name = view.operand_str(0).and_then(|url| {
        let last = url.trim_end_matches('/').rsplit(['/', ':']).find(|part| !part.is_empty() && *part != ".git")?;
        Some(last.strip_suffix(".git").unwrap_or(last).to_owned())
    });
    match name {
        Some(name) => view.touches(Verb::Write, &name, true),
        None => view.touches(Verb::Write, ".", true),
    }
}

pub(crate) fn remote_show(view: &mut View<'_>) {
    super::config::shows_addresses(view);
    if view.operand_count() > 0 && !view.has("-n") {
        fetch(view);
    }
}

/// The URL of `remote add name url` is reached later, and so is a helper in it.
pub(crate) fn remote_url(view: &mut View<'_>) {
    if matches!(view.path.last(), Some(&("add" | "set-url")))
        && let Some((at, word)) = view.operand_at(1).and_then(|at| view.word(at).map(|w| (at, w)))
    {
        set_to(view, word, at);
    }
    if view.has("--fetch") {
        view.connects_configured("remote", 0);
    }
}

pub(crate) fn submodule_url(view: &mut View<'_>) {
    if let Some((at, word)) = view.operand_at(1).and_then(|at| view.word(at).map(|w| (at, w))) {
        set_to(view, word, at);
    }
}

/// A setting names the repository that later commands reach: that is as reaching it.
pub(super) fn set_to(view: &mut View<'_>, word: &Word, at: usize) {
    match repository(word) {
        Repository::Host(_) | Repository::Helper | Repository::Unknown => reaches(view, word, at, Verb::Read),
        Repository::Remote(_) | Repository::Folder(_) => {}
    }
}

/// `submodule foreach 'cmd'`: one word is text for a shell, several are a command.
pub(crate) fn foreach(view: &mut View<'_>) {
    match (view.operand_count(), view.operand_at(0)) {
        (1, Some(at)) => {
            if let Some(word) = view.word(at) {
                view.starts_shell(word.clone(), at);
            }
        }
        (_, Some(at)) => view.starts_words(at),
        _ => {}
    }
}
