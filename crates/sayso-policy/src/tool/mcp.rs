//! Tools of well-known MCP servers.
//!
//! A server goes by the name that its owner gave it, so nothing is proven: what is known here only adds effects. The
//! call itself still needs its yes.

use super::draft::{Draft, Reach};
use super::{file, loose, unknown};
use crate::normalise::Kind;
use crate::normalise::arguments::{Found, Role, walk};
use crate::word::ToolName;
use sayso_shell::Verb;
use serde_json::Value;

/// Adds the effects of an MCP tool.
pub(crate) fn describe(name: &ToolName, arguments: &Value, draft: &mut Draft<'_>) {
    let (server, tool) = match (name.readings.as_slice(), name.disguised) {
        ([only], false) => only.strip_prefix("mcp:").and_then(|rest| rest.split_once('/')).unwrap_or_default(),
        _ => Default::default(),
    };
    match server {
        "filesystem" | "fs" | "files" | "secure-filesystem-server" => file_server(tool, arguments, draft),
        "git" => git_server(tool, arguments, draft),
        "fetch" => fetch_server(tool, arguments, draft),
        _ => unknown::describe(arguments, draft),
    }
    draft.known = false;
}

fn file_server(tool: &str, arguments: &Value, draft: &mut Draft<'_>) {
    let (kind, verbs, reach): (Kind, &[Verb], Reach) = match tool {
        "read_file"
        | "read_text_file"
        | "read_media_file"
        | "read_multiple_files"
        | "get_file_info"
        | "list_directory"
        | "list_directory_with_sizes" => (Kind::Read, &[Verb::Read], Reach::Exact),
        "directory_tree" => (Kind::Read, &[Verb::Read], Reach::Below),
        "search_files" => (Kind::Search, &[Verb::Read], Reach::Below),
        "write_file" | "create_directory" => (Kind::Edit, &[Verb::Write], Reach::Exact),
        "edit_file" => (Kind::Edit, &[Verb::Read, Verb::Write], Reach::Exact),
        "move_file" => (Kind::Move, &[Verb::Read, Verb::Delete], Reach::Below),
        _ => return unknown::describe(arguments, draft),
    };
    on_paths(kind, verbs, reach, arguments, draft);
}

fn git_server(tool: &str, arguments: &Value, draft: &mut Draft<'_>) {
    let (kind, verbs): (Kind, &[Verb]) = match tool {
        "git_status" | "git_diff" | "git_diff_unstaged" | "git_diff_staged" | "git_log" | "git_show" | "git_branch" => {
            (Kind::Read, &[Verb::Read])
        }
        "git_add" | "git_commit" | "git_reset" | "git_checkout" | "git_create_branch" | "git_init" => {
            (Kind::Edit, &[Verb::Read, Verb::Write])
        }
        _ => return unknown::describe(arguments, draft),
    };
    on_paths(kind, verbs, Reach::Below, arguments, draft);
}

fn fetch_server(tool: &str, arguments: &Value, draft: &mut Draft<'_>) {
    if tool != "fetch" {
        return unknown::describe(arguments, draft);
    }
    draft.kind = Kind::Fetch;
    let mut some = false;
    walk(arguments, &|key| if key == "url" { Role::Url } else { Role::Other }, &mut |found| match found {
        Found::Text(Role::Url, text) => {
            some = true;
            draft.url(text, true);
        }
        Found::Loose { key, text } => loose(draft, key, text),
        Found::Text(..) | Found::Whole(..) | Found::Wrong | Found::TooMuch => draft.unclear(),
    });
    if !some {
        draft.unclear();
    }
}

fn on_paths(kind: Kind, verbs: &[Verb], reach: Reach, arguments: &Value, draft: &mut Draft<'_>) {
    draft.kind = kind;
    let role = |key: &str| match key {
        "repopath" => Role::Path,
        "message" | "pattern" | "excludepatterns" | "revision" | "branchname" | "basebranch" => Role::Text,
        other => file::role(other),
    };
    walk(arguments, &role, &mut |found| match found {
        Found::Text(Role::To, text) => draft.path(&[Verb::Write], text, reach, true),
        Found::Text(Role::Path | Role::From, text) => draft.path(verbs, text, reach, true),
        Found::Loose { key, text } => loose(draft, key, text),
        Found::Text(..) | Found::Whole(..) | Found::Wrong | Found::TooMuch => draft.unclear(),
    });
}
