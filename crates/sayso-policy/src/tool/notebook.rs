//! Tools on notebooks.

use super::draft::{Draft, Reach};
use super::{BuiltIn, file, loose};
use crate::normalise::Kind;
use crate::normalise::arguments::{Found, Role, walk};
use sayso_shell::Verb;
use serde_json::Value;

pub(super) const TOOLS: &[BuiltIn] = &[
    BuiltIn {
        canonical: "notebook_read",
        implies: &["file_read"],
        aliases: &["readnotebook"],
        kind: Kind::Read,
        describe: |_, arguments, draft| on_notebook(&[Verb::Read], arguments, draft),
    },
    BuiltIn {
        canonical: "notebook_edit",
        implies: &["file_edit", "file_write"],
        aliases: &["editnotebook", "editnotebookcell", "notebookeditcell", "editnotebookfile"],
        kind: Kind::Edit,
        describe: |_, arguments, draft| on_notebook(&[Verb::Read, Verb::Write], arguments, draft),
    },
];

fn on_notebook(verbs: &[Verb], arguments: &Value, draft: &mut Draft<'_>) {
    let mut some = false;
    draft.known = true;
    walk(arguments, &file::role, &mut |found| match found {
        Found::Text(Role::Path | Role::From | Role::To, text) => {
            some = true;
            draft.path(verbs, text, Reach::Exact, true);
        }
        Found::Loose { key, text } => loose(draft, key, text),
        Found::Text(..) | Found::Whole(..) | Found::Wrong | Found::TooMuch => draft.unclear(),
    });
    if !some {
        draft.unclear();
    }
}
