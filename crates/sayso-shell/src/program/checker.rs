//! Checkers and formatters that many projects use, each with the options that it has.

use super::View;
use super::lint::{options_take_paths, write_operands};

const PYTHON: &str = "py pyi pyw ipynb";

pub(crate) fn go_fix(view: &mut View<'_>) {
    if view.has("--fix") {
        write_operands(view, Some("go"));
    }
}

/// It writes unless it only checks.
pub(crate) fn black(view: &mut View<'_>) {
    let checks = view.has_any(&["--check", "--check-only", "--diff"]) || view.name == "isort" && view.has("--code");
    options_take_paths(view);
    if !checks {
        write_operands(view, Some(PYTHON));
    }
}

pub(crate) fn in_place(view: &mut View<'_>) {
    options_take_paths(view);
    if view.has_any(&["--write", "--in-place"]) {
        write_operands(view, None);
    }
}
