//! Subcommands that talk to other repositories.

use super::{CHANGES_TREE, GIT};
use crate::effect::{Carry, HostTarget, NamedBy, Target, Verb};
use crate::option::{Style, Table, options};
use crate::program::host;
use crate::program::{Act, Code, Operands, Role, Spec, View};
use crate::word::{Text, Word};

const FETCH: &Table = options!("
    -v --verbose, -q --quiet, --all, --set-upstream, -a --append, --atomic, -f --force, -m --multiple, -t --tags, -n, -j --jobs N
    --prefetch, -p --prune, -P --prune-tags, --recurse-submodules [M], --dry-run, --porcelain, --write-fetch-head, -k --keep
    -u --update-head-ok, --progress, --depth N, --shallow-since T, --shallow-exclude R, --deepen N, --unshallow, --refetch
    --update-shallow, --refmap R, -o --server-option O, -4 --ipv4, -6 --ipv6, --negotiation-tip R, --negotiate-only, --filter S
    --auto-maintenance, --auto-gc, --show-forced-updates, --write-commit-graph, --stdin, --no-tags
    --upload-pack PATH : runs
");

const SUBMODULE: &Table = options!("
    -q --quiet, --cached, --recursive, -f --force, -b --branch B, --name N, --depth N, --init, --remote, -N --no-fetch, --checkout
    --merge, --rebase, --recommend-shallow, --single-branch, --filter S, -j --jobs N, --progress, --files, -n --summary-limit N
    --all, -d --default, --ref-format F, --dissociate
    --reference R : reads-below
");

pub(super) const SUBS: &[Spec] = &[
    Spec::new(&["fetch"]).style(GIT).options(&[FETCH]).judge(fetch),
    Spec::new(&["pull"])
        .style(GIT)
        .options(&[FETCH, options!("
            -r --rebase [M], --stat, --compact-summary, --log [N], --signoff, --squash, --commit, --edit, --cleanup M, --ff
            --ff-only, --no-ff, --verify, --no-verify, --verify-signatures, --autostash, -X --strategy-option O, -S --gpg-sign [K]
            --allow-unrelated-histories, -e, --summary
            -s --strategy S : runs
        ")])
        .acts(CHANGES_TREE)
        .judge(fetch),
    Spec::new(&["ls-remote"])
        .style(GIT)
        .options(&[options!("
            -q --quiet, -t --tags, -b --branches --heads, -h, --refs, --get-url, --sort K, --exit-code, --symref, -o --server-option O
            --upload-pack --exec PATH : runs
        ")])
        .judge(ls_remote),
    Spec::new(&["push"])
        .style(GIT)
        .options(&[options!("
            -v --verbose, -q --quiet, --repo R, --all --branches, --mirror, -d --delete, --tags, -n --dry-run, --porcelain, -f --force
            --force-with-lease [R], --force-if-includes, --recurse-submodules M, --thin, -u --set-upstream, --progress, --prune
            --no-verify, --verify, --follow-tags, --signed [M], --atomic, -o --push-option O, -4 --ipv4, -6 --ipv6
            --receive-pack --exec PATH : runs
        ")])
        .judge(push),
    Spec::new(&["clone"])
        .style(GIT)
        .options(&[options!("
            -v --verbose, -q --quiet, --progress, --reject-shallow, -n --no-checkout, --bare, --mirror, -l --local, --no-hardlinks
            -s --shared, --recurse-submodules --recursive [P], -j --jobs N, --dissociate, -o --origin N, -b --branch B, --revision R
            --depth N, --shallow-since T, --shallow-exclude R, --single-branch, --no-tags, --tags, --shallow-submodules, --ref-format F
            --server-option O, -4 --ipv4, -6 --ipv6, --filter S, --also-filter-submodules, --remote-submodules, --sparse
            --bundle-uri U : connects
            --reference R : reads-below
            --reference-if-able R : reads-below
            --separate-git-dir DIR : makes-below
            --template DIR : runs
            -c --config K=V : runs-command
            -u --upload-pack PATH : runs
        ")])
        .acts(&[Act::Named(Code::Installs)])
        .judge(clone),
    Spec::new(&["remote"])
        .style(GIT)
        .options(&[options!("-v --verbose")])
        .subs(&[
            Spec::new(&["show"]).style(GIT).options(&[options!("-n")]).judge(remote_show),
            Spec::new(&["get-url"]).style(GIT).options(&[options!("--push, --all")]),
            Spec::new(&["update", "prune"])
                .style(GIT)
                .options(&[options!("-p --prune, -n --dry-run")])
                .acts(&[Act::Connects("remote"), Act::Named(Code::ChangesRepository)]),
            Spec::new(&["add", "rename", "remove", "rm", "set-head", "set-branches", "set-url"])
                .style(GIT)
                .options(&[options!("
                    -f --fetch, --tags, --no-tags, -t --track B, -m --master B, --mirror [M], -a --auto, -d --delete, --add
                    --push, --progress
                ")])
                .acts(&[Act::Named(Code::ChangesRepository)])
                .judge(remote_url),
        ]),
    Spec::new(&["submodule"])
        .style(GIT)
        .options(&[SUBMODULE])
        .subs(&[
            Spec::new(&["status", "summary"]).style(GIT).options(&[SUBMODULE]),
            Spec::new(&["foreach"]).style(GIT.and(Style::LEADING)).options(&[SUBMODULE]).judge(foreach),
            Spec::new(&["add"])
                .style(GIT)
                .options(&[SUBMODULE])
                .operands(Operands::then(&[Role::Text], Role::WriteBelow))
                .acts(&[Act::Named(Code::Installs)])
                .judge(fetch),
            Spec::new(&["update", "sync"])
                .style(GIT)
                .options(&[SUBMODULE])
                .acts(&[Act::Connects("submodules"), Act::Named(Code::Installs)]),
            Spec::new(&["set-url"])
                .style(GIT)
                .options(&[SUBMODULE])
                .acts(&[Act::Named(Code::ChangesRepository)])
                .judge(submodule_url),
            Spec::new(&["init", "deinit", "set-branch", "absorbgitdirs"])
                .style(GIT)
                .options(&[SUBMODULE])
                .acts(&[Act::Named(Code::ChangesRepository)]),
        ]),
    Spec::new(&["bundle"])
        .style(GIT)
        .subs(&[
            Spec::new(&["verify", "list-heads"]).style(GIT).options(&[options!("-q --quiet")]).operands(Operands::READ),
            Spec::new(&["create"])
                .style(GIT.and(Style::HARMLESS))
                .operands(Operands::then(&[Role::Write], Role::Text)),
            Spec::new(&["unbundle"])
                .style(GIT)
                .options(&[options!("--progress")])
                .operands(Operands::then(&[Role::Read], Role::Text))
                .acts(&[Act::Named(Code::ChangesRepository)]),
        ]),
    Spec::new(&["send-email", "imap-send"])
        .style(GIT.and(Style::HARMLESS).and(Style::RISKY))
        .acts(&[Act::Connects("mail server"), Act::Named(Code::Publishes)]),
    Spec::new(&[
        "upload-pack", "receive-pack", "upload-archive", "fetch-pack", "send-pack", "http-fetch", "http-push",
        "shell", "remote-http", "remote-https", "remote-ext", "remote-fd", "cvsimport", "cvsexportcommit", "svn",
        "p4", "subtree", "archimport", "quiltimport",
    ])
        .style(GIT.and(Style::HARMLESS).and(Style::RISKY))
        .acts(&[Act::Named(Code::RunsCommand)]),
];

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

fn fetch(view: &mut View<'_>) {
    first_repository(view, Verb::Read);
}

fn ls_remote(view: &mut View<'_>) {
    if !view.has("--get-url") {
        first_repository(view, Verb::Read);
    }
}

/// `+ref` implies `--force`, `:ref` implies `--delete`, `--mirror` both.
fn push(view: &mut View<'_>) {
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

fn clone(view: &mut View<'_>) {
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

fn remote_show(view: &mut View<'_>) {
    if view.operand_count() > 0 && !view.has("-n") {
        fetch(view);
    }
}

/// The URL of `remote add name url` is reached later, and so is a helper in it.
fn remote_url(view: &mut View<'_>) {
    if matches!(view.path.last(), Some(&("add" | "set-url")))
        && let Some((at, word)) = view.operand_at(1).and_then(|at| view.word(at).map(|w| (at, w)))
    {
        set_to(view, word, at);
    }
    if view.has("--fetch") {
        view.connects_configured("remote", 0);
    }
}

fn submodule_url(view: &mut View<'_>) {
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
fn foreach(view: &mut View<'_>) {
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
