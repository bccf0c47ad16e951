//! JavaScript's package managers.

use super::task::{self, Naming};
use super::{Code, View};
use crate::effect::{NamedBy, Verb};
use crate::word::Word;

/// Words behind a script's name go to the script.
pub(crate) fn run(view: &mut View<'_>) {
    let named = view.path.last() == Some(&"run");
    if let Some(at) = view.operand_at(0).filter(|_| named) {
        task::task(view, at, Naming::Whole);
        // Where the project has no script of this name, it is a list of all variables.
        if view.operand_str(0) == Some("env") {
            view.named(Code::ShowsSecrets, NamedBy::Words(vec!["run".to_owned(), "env".to_owned()]), at);
        }
    }
    view.hands_on(usize::from(named));
}

/// `yarn build`, `pnpm lint`: a script of the project, or a program that it depends on.
pub(crate) fn script_by_name(view: &mut View<'_>) {
    match view.operand(0) {
        None if view.name == "yarn" && !view.has_any(&["--version", "-v", "--help", "-h"]) => {
            view.named(Code::Installs, NamedBy::Words(vec!["install".to_owned()]), 0);
            view.connects_configured("registry", 0);
        }
        None => {}
        Some(word) => {
            let by = word.exact_str().map_or(NamedBy::Nothing, |name| NamedBy::Words(vec![name.to_owned()]));
            let at = view.operand_at(0).unwrap_or_default();
            view.named(Code::RunsCode, by, at);
            task::task(view, at, Naming::Whole);
            view.hands_on(1);
        }
    }
}

/// `npm init` asks and writes `package.json`; `npm init x` fetches and runs `create-x`.
pub(crate) fn npm_init(view: &mut View<'_>) {
    view.touches(Verb::Write, "package.json", false);
    if view.operand_count() > 0 {
        view.named_by_words(Code::Installs);
    }
}

/// Without an operand `npm version` tells versions; with one it changes files and commits.
pub(crate) fn npm_version(view: &mut View<'_>) {
    if let Some(at) = view.operand_at(0) {
        view.imply("--set", Some(Code::ChangesRepository), at);
        view.touches(Verb::Write, "package.json", false);
    }
}

pub(crate) fn yarn_node(view: &mut View<'_>) {
    if let Some(at) = view.operand_at(0) {
        view.starts_as("node", at, at);
    }
}

/// `yarn workspace name command ...` is `yarn command ...` in that folder.
pub(crate) fn yarn_workspace(view: &mut View<'_>) {
    if let Some(at) = view.operand_at(1) {
        view.starts_as("yarn", at, at);
    }
}

/// Packages whose facts are looked up: by their names in the registry, or where their names lead.
pub(crate) fn looked_up(view: &mut View<'_>) {
    for at in view.operands() {
        if let Some(text) = view.word(at).and_then(Word::exact_str) {
            package(view, text, at);
        }
    }
}

/// What a package that is not the registry's reaches: `github:ann/x`, `ann/x`, `x@git+ssh://host/x`, `file:../x`.
fn package(view: &mut View<'_>, text: &str, at: usize) {
    // `@scope/name@spec`, `name@spec`
    let behind_scope = usize::from(text.starts_with('@'));
    let name = text.get(behind_scope..).and_then(|rest| rest.split_once('@'));
    let spec = match name {
        Some((name, spec)) if !name.contains(':') && (behind_scope == 1 || !name.contains('/')) => spec,
        _ if behind_scope == 1 => return,
        _ => text,
    };
    const FORGES: &[(&str, &str)] = &[
        ("github:", "github.com"),
        ("gitlab:", "gitlab.com"),
        ("bitbucket:", "bitbucket.org"),
        ("gist:", "gist.github.com"),
    ];
    if let Some((_, host)) = FORGES.iter().find(|(begin, _)| spec.starts_with(begin)) {
        return view.connects(&Word::Exact((*host).into()), at);
    }
    let path =
        spec.strip_prefix("file:").or_else(|| spec.strip_prefix("link:")).or_else(|| spec.strip_prefix("portal:"));
    if let Some(path) = path {
        return view.reads_below(&Word::Exact(path.into()), at);
    }
    let is_path = spec.starts_with(['/', '.', '~']) || spec.ends_with(".tgz") || spec.ends_with(".tar.gz");
    match spec.split_once(':') {
        // Another name of a package in the registry.
        Some(("npm" | "workspace" | "catalog" | "jsr" | "patch", _)) => {}
        // Whatever it is, it is no name of a package.
        Some(_) => view.connects(&Word::Exact(spec.strip_prefix("git+").unwrap_or(spec).into()), at),
        None if is_path => view.reads_below(&Word::Exact(spec.into()), at),
        None if spec.contains('/') => view.connects(&Word::Exact("github.com".into()), at),
        None => {}
    }
}
