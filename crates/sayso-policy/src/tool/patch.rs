//! Tools that apply a patch to several files at once.

use super::draft::{Draft, Reach};
use super::{BuiltIn, file, loose};
use crate::normalise::Kind;
use crate::normalise::arguments::{Found, Role, walk};
use sayso_shell::Verb;
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
        Found::Said(Role::Patch, "apply_patch") => {}
        Found::Said(Role::Patch, text) => {
            some = true;
            patch(draft, text);
        }
        Found::Said(Role::Path | Role::From | Role::To, text) => {
            draft.path(&[Verb::Read, Verb::Write], text, Reach::Exact, true);
        }
        Found::Loose { key, text } => loose(draft, key, text),
        Found::Said(..) | Found::Whole(..) | Found::Wrong | Found::TooMuch => draft.unclear(),
    });
    if !some {
        draft.unclear();
    }
}

/// The files that a patch names. Headers are taken with blanks around them and in any case, as lenient parsers do; a
/// header that is not known makes the patch unclear.
fn patch(draft: &mut Draft<'_>, text: &str) {
    let mut files = 0_usize;
    let mut updated: Option<&str> = None;
    for line in text.lines() {
        let Some(header) = line.trim().strip_prefix("***") else { continue };
        let header = header.trim();
        let (word, path) = match header.split_once(':') {
            Some((word, path)) => (word.trim().to_ascii_lowercase(), path.trim()),
            None => (header.to_ascii_lowercase(), ""),
        };
        match (word.as_str(), path.is_empty()) {
            ("begin patch" | "end patch" | "end of file", true) => continue,
            ("add file", false) => draft.path(&[Verb::Write], path, Reach::Exact, true),
            ("update file", false) => {
                updated = Some(path);
                draft.path(&[Verb::Read, Verb::Write], path, Reach::Exact, true);
            }
            ("delete file", false) => {
                draft.path(&[Verb::Delete], path, Reach::Exact, true);
                draft.kind = Kind::Delete;
                draft.resembles.push("file_delete");
            }
            ("move to", false) => {
                draft.path(&[Verb::Write], path, Reach::Exact, true);
                match updated {
                    Some(old) => draft.path(&[Verb::Delete], old, Reach::Exact, true),
                    None => draft.unclear(),
                }
                draft.resembles.push("file_move");
            }
            _ => draft.unclear(),
        }
        files += 1;
    }
    if files == 0 {
        draft.unclear();
    }
}
