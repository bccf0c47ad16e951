//! JavaScript's package managers.

use super::task::{self, Naming};
use super::{Code, View};
use crate::effect::{NamedBy, Verb};

/// Words behind a script's name go to the script.
pub(crate) fn run(view: &mut View<'_>) {
    let named = view.path.last() == Some(&"run");
    if let Some(at) = view.operand_at(0).filter(|_| named) {
        task::task(view, at, Naming::Whole);
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
