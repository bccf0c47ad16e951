//! docker, podman and compose.

use super::template::{self, Fields};
use crate::effect::{Carry, NamedBy, Verb};
use crate::program::wrapper::{Launch, launch};
use crate::program::{Code, View};
use crate::word::Word;

pub(crate) fn exec(view: &mut View<'_>) {
    let by = view.by_words();
    view.named(Code::Remote, by, 0);
    if let Some(at) = view.operand_at(1) {
        launch(view, at, Launch { elsewhere: true, ..Launch::default() });
    }
}

/// An image is fetched if it is missing, and its code runs; folders of this machine may be handed in.
pub(crate) fn run(view: &mut View<'_>) {
    let by = view.by_words();
    view.code("unknown", Code::RunsCode, by, 0);
    for (at, volume) in view.values("--volume") {
        bind(
            view,
            "--volume",
            volume.exact().map(|text| text.split(|&byte| byte == b':').next().unwrap_or_default().to_vec()),
            at,
        );
    }
    for (at, mount) in view.values("--mount") {
        let source = mount.exact_str().map(|text| {
            let source =
                text.split(',').find_map(|field| field.strip_prefix("source=").or_else(|| field.strip_prefix("src=")));
            source.unwrap_or_default().as_bytes().to_vec()
        });
        bind(view, "--mount", source, at);
    }
    for (at, network) in view.values("--net").into_iter().chain(view.values("--network")) {
        if !matches!(network.exact(), Some(b"none" | b"bridge" | b"default")) {
            view.named_by_flag(Code::ChangesSystem, "--net", at);
        }
    }
    if let Some(at) = view.operand_at(1) {
        launch(view, at, Launch { elsewhere: true, ..Launch::default() });
    }
}

/// A folder of this machine that the container may read and change.
fn bind(view: &mut View<'_>, flag: &str, source: Option<Vec<u8>>, at: usize) {
    let carry = || Carry::Named { code: Code::ChangesFiles, by: NamedBy::Flag(flag.to_owned()) };
    match source {
        // A name without a slash is a volume of docker's own.
        Some(source)
            if !source.is_empty() && (source.contains(&b'/') || source == b"." || source.starts_with(b"~")) =>
        {
            let word = Word::Exact(source.into());
            view.path_effect(Verb::Read, &word, at, true, Carry::Plain);
            view.path_effect(Verb::Write, &word, at, true, carry());
        }
        Some(_) => {}
        None => {
            view.path_effect(Verb::Read, &Word::Opaque, at, true, Carry::Plain);
            view.path_effect(Verb::Write, &Word::Opaque, at, true, carry());
        }
    }
}

pub(crate) fn build(view: &mut View<'_>) {
    let by = view.by_words();
    view.code("unknown", Code::RunsCode, by, 0);
    if let (Some(at), Some(context)) = (view.operand_at(0), view.operand(0)) {
        if context.exact_str().is_some_and(|text| text.contains("://") || text.starts_with("git@")) {
            view.connects(context, at);
        } else if context.exact() != Some(b"-") {
            view.reads_below(context, at);
        }
    }
}

/// `container:path` is the container's side.
pub(crate) fn cp(view: &mut View<'_>) {
    let by = view.by_words();
    view.named(Code::ChangesService, by, 0);
    for (n, verb) in [(0, Verb::Read), (1, Verb::Write)] {
        if let (Some(at), Some(word)) = (view.operand_at(n), view.operand(n)) {
            let inside = word
                .exact()
                .is_some_and(|text| text.contains(&b':') && !text.starts_with(b"/") && !text.starts_with(b"."));
            if !inside && word.exact() != Some(b"-") {
                view.path_effect(verb, word, at, true, Carry::Plain);
            }
        }
    }
}

/// Tools of which only the verbs that read are known.
pub(crate) fn by_verb(view: &mut View<'_>) {
    crate::program::cloud::by_verb(
        view,
        &[
            "list",
            "ls",
            "ps",
            "info",
            "version",
            "status",
            "inspect",
            "images",
            "get",
            "show",
            "help",
            "--version",
            "--help",
            "config-view",
        ],
    );
}

/// Where the environment of a container, an image or a service stands.
const ENVIRONMENT: Fields = Fields {
    shown: &["env"],
    whole: &["config", "containerconfig", "spec", "containerspec", "tasktemplate", "processconfig", "previousspec"],
};

/// A container as it is holds the variables that it was started with, which is where people put passwords. A template may
/// show other fields alone; a volume and a network have none.
pub(crate) fn inspected(view: &mut View<'_>) {
    let has_none = |kind: &str| matches!(kind, "volume" | "network" | "context" | "plugin" | "node" | "manifest");
    let of_kind = view.path.iter().rev().nth(1).is_some_and(|kind| has_none(kind))
        || view.value("--type").and_then(Word::exact_str).is_some_and(has_none);
    let formats = view.values("--format");
    let narrow =
        |format: &Word| format.exact_str().is_some_and(|text| text.contains("{{") && !template::go(text, &ENVIRONMENT));
    let narrowed = !formats.is_empty() && formats.iter().all(|(_, format)| narrow(format));
    if !of_kind && !narrowed {
        shows_environment(view, 0);
    }
}

/// The project with its variables filled in, unless only names in it are asked for.
pub(crate) fn configured(view: &mut View<'_>) {
    let names = ["--services", "--images", "--profiles", "--volumes", "--networks", "--hash", "--quiet"];
    if view.path.last() == Some(&"config") && view.has_any(&names) && !view.has_any(&["--environment", "--variables"]) {
        return;
    }
    shows_environment(view, 0);
}

/// The words behind the container are those of `ps`, which may show the environment.
pub(crate) fn top(view: &mut View<'_>) {
    for at in view.operands().into_iter().skip(1) {
        let word = view.word(at).and_then(Word::exact);
        if word.is_none_or(|word| {
            !word.starts_with(b"-") && word.contains(&b'e') && word.iter().all(u8::is_ascii_alphabetic)
        }) {
            shows_environment(view, at);
        }
    }
}

fn shows_environment(view: &mut View<'_>, at: usize) {
    view.imply("--shows-environment", Some(Code::ShowsSecrets), at);
}

/// A project of another name is another one's, whatever folder this is.
pub(crate) fn of_this_project(view: &mut View<'_>) {
    if let Some((at, _)) = view.values("--project-name").first() {
        view.named_by_flag(Code::ChangesService, "--project-name", *at);
    }
    crate::program::project::elsewhere(view);
}
