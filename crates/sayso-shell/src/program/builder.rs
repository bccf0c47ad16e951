//! Build systems of C, C++ and whole repositories.

use super::task::{self, Naming};
use super::{Code, View};
use crate::effect::{NamedBy, Verb};

/// Options that say which program compiles, or where others are looked for.
pub(crate) fn meson_options(view: &mut View<'_>) {
    const STEERS: &[&str] = &["_args", "_link_args", "path", "program", "std=none", "wrapper", "compiler"];
    for (at, option) in view.values("-D") {
        let steers = |text: &str| {
            let name = text.split('=').next().unwrap_or(text).to_ascii_lowercase();
            STEERS.iter().any(|word| name.contains(word))
        };
        if option.exact_str().is_none_or(steers) {
            view.named_by_flag(Code::RunsCommand, "-D", at);
        }
    }
}

/// What is built has a name, as a task has.
pub(crate) fn targets(view: &mut View<'_>) {
    task::tasks(view, Naming::Whole);
}

/// `VAR=value` reaches the script that builds; a sign of a shell in it may reach a command.
pub(crate) fn scons(view: &mut View<'_>) {
    super::make::recipe_words(view);
    task::tasks(view, Naming::Whole);
}

pub(crate) fn configure(view: &mut View<'_>) {
    if !matches!(view.name, "pkg-config" | "pkgconf") {
        view.touches(Verb::Write, ".", true);
        view.code("shell", Code::RunsCode, NamedBy::Program, 0);
    }
}
