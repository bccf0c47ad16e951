//! Tools that read, write, change, delete, move, copy and list files.

use super::draft::{Draft, Reach};
use super::{BuiltIn, loose};
use crate::normalise::Kind;
use crate::normalise::arguments::{Found, Role, walk};
use sayso_shell::{PathTarget, Text, Verb};
use serde_json::Value;
use std::path::PathBuf;

pub(super) const TOOLS: &[BuiltIn] = &[
    BuiltIn {
        canonical: "file_read",
        implies: &[],
        aliases: &[
            "read",
            "readfile",
            "view",
            "viewfile",
            "openfile",
            "readtextfile",
            "viewimage",
            "readimage",
            "fsread",
            "readfiles",
        ],
        kind: Kind::Read,
        describe: |_, arguments, draft| on_paths(&[Verb::Read], Reach::Exact, arguments, draft),
    },
    BuiltIn {
        canonical: "read_many_files",
        implies: &["file_read"],
        aliases: &[],
        kind: Kind::Read,
        describe: read_many,
    },
    BuiltIn {
        canonical: "file_write",
        implies: &[],
        aliases: &[
            "write",
            "writefile",
            "create",
            "createfile",
            "savefile",
            "writetofile",
            "createnewfile",
            "writetextfile",
        ],
        kind: Kind::Edit,
        describe: |_, arguments, draft| on_paths(&[Verb::Write], Reach::Exact, arguments, draft),
    },
    BuiltIn {
        canonical: "file_edit",
        implies: &["file_write"],
        aliases: &[
            "edit",
            "editfile",
            "replace",
            "strreplace",
            "multiedit",
            "replaceinfile",
            "searchreplace",
            "inserteditintofile",
            "insert",
            "insertcontent",
            "fswrite",
            "applydiff",
            "replacestringinfile",
            "multireplacestringinfile",
        ],
        kind: Kind::Edit,
        describe: |_, arguments, draft| on_paths(&[Verb::Read, Verb::Write], Reach::Exact, arguments, draft),
    },
    BuiltIn {
        canonical: "text_editor",
        implies: &["file_edit", "file_write"],
        aliases: &["strreplaceeditor", "strreplacebasededittool", "strreplaceedittool"],
        kind: Kind::Edit,
        describe: text_editor,
    },
    BuiltIn {
        canonical: "file_delete",
        implies: &[],
        aliases: &["delete", "deletefile", "removefile", "deletepath", "deletedirectory"],
        kind: Kind::Delete,
        describe: |_, arguments, draft| on_paths(&[Verb::Delete], Reach::Below, arguments, draft),
    },
    BuiltIn {
        canonical: "file_move",
        implies: &[],
        aliases: &["movefile", "renamefile", "movepath", "move", "rename"],
        kind: Kind::Move,
        describe: |_, arguments, draft| from_to(&[Verb::Read, Verb::Delete], arguments, draft),
    },
    BuiltIn {
        canonical: "file_copy",
        implies: &["file_write"],
        aliases: &["copyfile", "copypath", "copy"],
        kind: Kind::Edit,
        describe: |_, arguments, draft| from_to(&[Verb::Read], arguments, draft),
    },
    BuiltIn {
        canonical: "create_directory",
        implies: &["file_write"],
        aliases: &["mkdir", "makedirectory", "createdir", "createfolder"],
        kind: Kind::Edit,
        describe: |_, arguments, draft| on_paths(&[Verb::Write], Reach::Exact, arguments, draft),
    },
    BuiltIn {
        canonical: "file_list",
        implies: &[],
        aliases: &["ls", "list", "listdirectory", "listdir", "listfiles", "readdirectory", "readdir", "directorytree"],
        kind: Kind::Read,
        describe: list,
    },
];

/// What parameters mean to tools on files. Other families start from here.
pub(super) fn role(key: &str) -> Role {
    match key {
        "path"
        | "filepath"
        | "file"
        | "filename"
        | "paths"
        | "files"
        | "filepaths"
        | "filenames"
        | "absolutepath"
        | "relativepath"
        | "targetfile"
        | "notebookpath"
        | "notebook"
        | "uri"
        | "uris"
        | "fileuri"
        | "fileuris"
        | "relativeworkspacepath"
        | "absfilepath"
        | "dirpath"
        | "directory"
        | "directorypath"
        | "dir"
        | "folder"
        | "folderpath"
        | "imagepath"
        | "image"
        | "root"
        | "searchpath"
        | "targetdirectory"
        | "targetdirectories"
        | "absolutefilepath"
        | "entrypath" => Role::Path,
        "source" | "src" | "from" | "sourcepath" | "oldpath" | "srcpath" | "oldname" | "oldfilepath" | "sourcefile" => {
            Role::From
        }
        "destination" | "dest" | "dst" | "to" | "targetpath" | "newpath" | "destinationpath" | "destpath"
        | "newname" | "newfilepath" | "movepath" | "target" | "destinationfile" => Role::To,
        "content" | "contents" | "text" | "filetext" | "newstring" | "oldstring" | "newstr" | "oldstr" | "newtext"
        | "oldtext" | "instruction" | "instructions" | "codeedit" | "code" | "description" | "explanation" | "diff"
        | "insertline" | "inserttext" | "newsource" | "summary" | "reason" | "title" | "data" | "replacement" => {
            Role::Text
        }
        _ => Role::Other,
    }
}

fn on_paths(verbs: &[Verb], reach: Reach, arguments: &Value, draft: &mut Draft<'_>) {
    let mut some = false;
    draft.known = true;
    walk(arguments, &role, &mut |found| match found {
        Found::Text(Role::Path | Role::From | Role::To, text) => {
            some = true;
            draft.path(verbs, text, reach, true);
        }
        Found::Loose { key, text } => loose(draft, key, text),
        Found::Text(..) | Found::Whole(..) | Found::Wrong | Found::TooMuch => draft.unclear(),
    });
    if !some {
        draft.unclear();
    }
}

/// A tool that takes something from one path and brings it to another.
fn from_to(taken: &[Verb], arguments: &Value, draft: &mut Draft<'_>) {
    let (mut from, mut to) = (false, false);
    draft.known = true;
    walk(arguments, &role, &mut |found| match found {
        Found::Text(Role::From, text) => {
            from = true;
            draft.path(taken, text, Reach::Below, true);
        }
        Found::Text(Role::To, text) => {
            to = true;
            draft.path(&[Verb::Write], text, Reach::Below, true);
        }
        // `path` beside `destination` is the one that is moved; which of two it is nobody can tell, so it is both.
        Found::Text(Role::Path, text) => {
            from = true;
            draft.path(taken, text, Reach::Below, true);
            draft.path(&[Verb::Write], text, Reach::Below, true);
        }
        Found::Loose { key, text } => loose(draft, key, text),
        Found::Text(..) | Found::Whole(..) | Found::Wrong | Found::TooMuch => draft.unclear(),
    });
    if !(from && to) {
        draft.unclear();
    }
}

/// The editor tool whose `command` says what it does.
fn text_editor(tool: &BuiltIn, arguments: &Value, draft: &mut Draft<'_>) {
    let views = arguments.get("command").and_then(Value::as_str) == Some("view");
    let is_action = |key: &str| if key == "command" { Role::Action } else { role(key) };
    let verbs: &[Verb] = if views { &[Verb::Read] } else { &[Verb::Read, Verb::Write] };
    draft.kind = if views { Kind::Read } else { tool.kind };
    let mut some = false;
    draft.known = true;
    walk(arguments, &is_action, &mut |found| match found {
        // A second, nested action makes the first one doubtful.
        Found::Text(Role::Action, action) if views != (action == "view") => draft.unclear(),
        Found::Text(Role::Action, _) => {}
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

/// A folder's names; with all below it where that is asked for. Without a path, the working directory's.
fn list(_: &BuiltIn, arguments: &Value, draft: &mut Draft<'_>) {
    let deep = ["recursive", "depth", "max_depth", "maxDepth"]
        .iter()
        .any(|key| arguments.get(key).is_some_and(|value| !matches!(value, Value::Null | Value::Bool(false))));
    let reach = if deep { Reach::Below } else { Reach::Exact };
    let role = |key: &str| if matches!(key, "ignore" | "exclude") { Role::Text } else { role(key) };
    let mut some = false;
    draft.known = true;
    walk(arguments, &role, &mut |found| match found {
        Found::Text(Role::Path | Role::From | Role::To, text) => {
            some = true;
            draft.path(&[Verb::Read], text, reach, true);
        }
        Found::Loose { key, text } => loose(draft, key, text),
        Found::Text(..) | Found::Whole(..) | Found::Wrong | Found::TooMuch => draft.unclear(),
    });
    if !some {
        draft.path(&[Verb::Read], "", reach, true);
    }
}

/// Gemini's reader of many files: paths, folders and patterns.
fn read_many(_: &BuiltIn, arguments: &Value, draft: &mut Draft<'_>) {
    let role = |key: &str| match key {
        "include" | "pattern" | "patterns" | "paths" => Role::Pattern,
        "exclude" | "filefilteringoptions" => Role::Text,
        other => role(other),
    };
    let mut some = false;
    draft.known = true;
    walk(arguments, &role, &mut |found| match found {
        Found::Text(Role::Pattern | Role::Path, text) => {
            some = true;
            pattern(draft, "", text);
        }
        Found::Loose { key, text } => loose(draft, key, text),
        Found::Text(..) | Found::Whole(..) | Found::Wrong | Found::TooMuch => draft.unclear(),
    });
    if !some {
        draft.unclear();
    }
}

/// Reads of what a file pattern names, below `base` if it is relative.
///
/// Tools differ in what their patterns match (dot files, `**`, braces), so a pattern counts as everything below its
/// fixed part, unless it ends in a plain suffix.
pub(super) fn pattern(draft: &mut Draft<'_>, base: &str, text: &str) {
    let is_wild = |part: &str| part.contains(['*', '?', '[', '{', '!', '(']);
    let mut fixed = if text.starts_with('/') { PathBuf::from("/") } else { PathBuf::from(base) };
    let mut parts = text.split('/').peekable();
    while let Some(part) = parts.next_if(|part| !is_wild(part)) {
        fixed.push(part);
    }
    let rest: Vec<&str> = parts.collect();
    let Some(fixed) = fixed.to_str() else { return draft.unclear() };
    if rest.contains(&"..") {
        return draft.target(Verb::Read, PathTarget::Unknown(None), true);
    }
    below(draft, fixed, rest.last().copied().and_then(suffixes));
}

/// Reads of what lies below a folder, where `names` are patterns for the last component that narrow it.
pub(super) fn below(draft: &mut Draft<'_>, folder: &str, names: Option<Vec<Text>>) {
    let plain = !folder.starts_with(['~', '@', ' ']) && !folder.contains(':');
    let Some(names) = names.filter(|names| plain && names.len() <= 16) else {
        return draft.path(&[Verb::Read], folder, Reach::Below, true);
    };
    let base = crate::normalise::place::joined(folder, draft.scene.cwd);
    for name in names {
        let pattern = Text::from([b"**/", name.as_bytes()].concat());
        draft.target(Verb::Read, PathTarget::Glob { base: base.clone(), pattern, below: false }, true);
    }
}

/// `*.rs` and `*.{ts,tsx}`.
pub(super) fn suffixes(name: &str) -> Option<Vec<Text>> {
    let rest = name.strip_prefix("*.")?;
    let list = rest.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(rest);
    let suffixes: Vec<&str> = list.split(',').collect();
    let plain = |suffix: &&str| !suffix.is_empty() && suffix.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'.');
    let several = suffixes.len() == 1 || list.len() < rest.len();
    let text = |suffix: &&str| Text::from(format!("*.{suffix}").as_str());
    (several && suffixes.iter().all(plain)).then(|| suffixes.iter().map(text).collect())
}
