//! Tools that apply a patch to several files at once.

use super::draft::{Draft, Reach};
use super::{BuiltIn, file, loose};
use crate::normalise::Kind;
use crate::normalise::arguments::{Found, Role, walk};
use sayso_shell::Verb;
use sayso_shell::script::{Change, envelope};
use serde_json::Value;

pub(super) const TOOLS: &[BuiltIn] = &[BuiltIn {
    canonical: "apply_patch",
    implies: &["file_edit", "file_write"],
    aliases: &["patch", "patchfile"],
    kind: Kind::Edit,
    describe,
}];

fn role(key: &str) -> Role {
    match key {
        "command" | "cmd" | "input" | "patch" | "patchtext" | "diff" | "content" | "text" => Role::Patch,
        "description" | "explanation" | "reason" => Role::Text,
        other => file::role(other),
    }
}

fn describe(_: &BuiltIn, arguments: &Value, draft: &mut Draft<'_>) {
    let mut some = false;
    draft.known = true;
    // The freeform tool's whole input is the patch.
    if let Value::String(text) = arguments
        && text.contains("*** ")
    {
        return patch(draft, text);
    }
    walk(arguments, &role, &mut |found| match found {
        Found::Text(Role::Patch, "apply_patch") => {}
        Found::Text(Role::Patch, text) => {
            some = true;
            patch(draft, text);
        }
        Found::Text(Role::Path | Role::From | Role::To, text) => {
            draft.path(&[Verb::Read, Verb::Write], text, Reach::Exact, true);
        }
        Found::Loose { key, text } => loose(draft, key, text),
        Found::Text(..) | Found::Whole(..) | Found::Wrong | Found::TooMuch => draft.unclear(),
    });
    if !some {
        draft.unclear();
    }
}

/// The files that a patch names; one that is not understood makes the call unclear.
fn patch(draft: &mut Draft<'_>, text: &str) {
    for change in envelope(text.as_bytes()) {
        // The text is UTF-8, and headers are cut at ASCII bytes: nothing is lost.
        let path = |bytes| String::from_utf8_lossy(bytes).into_owned();
        match change {
            Change::Add(at) => draft.path(&[Verb::Write], &path(at), Reach::Exact, true),
            Change::Update(at) => draft.path(&[Verb::Read, Verb::Write], &path(at), Reach::Exact, true),
            Change::Delete(at) => {
                draft.path(&[Verb::Delete], &path(at), Reach::Exact, true);
                draft.kind = Kind::Delete;
                draft.resembles.push("file_delete");
            }
            Change::Move { from, to } => {
                draft.path(&[Verb::Write], &path(to), Reach::Exact, true);
                draft.path(&[Verb::Delete], &path(from), Reach::Exact, true);
                draft.resembles.push("file_move");
            }
            Change::Unclear => draft.unclear(),
        }
    }
}
