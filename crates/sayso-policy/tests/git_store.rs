//! Git takes its configuration from the store that it finds: a folder that looks like one, or one that `.git` leads to.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed unwrap is a failed test")]

use sayso_policy::shell::{Environment, Files, Kind};
use sayso_policy::{Facts, Operation, Policy, PolicyText, State, ToolCall, Workspace};
use std::path::Path;

/// A project with a repository, a folder that is a store itself, and files that lead to stores.
struct Stores;

const FOLDERS: &[&str] = &[
    "/",
    "/app",
    "/app/.git",
    "/app/src",
    "/app/bare",
    "/app/bare/objects",
    "/app/bare/refs",
    "/app/bare/sub",
    "/app/led",
    "/app/worktree",
    "/app/half",
    "/app/half/objects",
    "/app/half/refs",
    // Its `.git` says nothing, so git takes the folder itself.
    "/app/broken",
    "/app/broken/.git",
    "/app/broken/.git/objects",
    "/app/broken/.git/refs",
    "/app/broken/objects",
    "/app/broken/refs",
    // A repository with a store of its own, and one that names a program.
    "/app/plain",
    "/app/plain/.git",
    "/app/plain/.git/objects",
    "/app/plain/.git/refs",
    "/app/made",
    "/app/made/.git",
    "/app/made/.git/objects",
    "/app/made/.git/refs",
    // A working tree whose store was put into the project's own, and leads elsewhere.
    "/app/tree",
    "/home",
];

impl Files for Stores {
    fn kind(&self, path: &Path) -> Kind {
        match path.to_str() {
            Some(path) if FOLDERS.contains(&path) => Kind::Folder { world_writable: false },
            Some("/app/bare/HEAD" | "/app/bare/config" | "/app/broken/HEAD") => Kind::File { executable: false },
            _ if self.read(path, 0).is_some() => Kind::File { executable: false },
            _ => Kind::Missing,
        }
    }
    fn list(&self, _: &Path, _: usize) -> Option<Vec<std::ffi::OsString>> {
        Some(Vec::new())
    }
    fn read(&self, path: &Path, _: usize) -> Option<Vec<u8>> {
        match path.to_str() {
            Some("/app/led/.git") => Some(b"gitdir: ../bare\n".to_vec()),
            Some("/app/worktree/.git") => Some(b"gitdir: /app/.git/worktrees/worktree\n".to_vec()),
            Some("/app/.git/worktrees/worktree/commondir") => Some(b"../..\n".to_vec()),
            Some("/app/tree/.git") => Some(b"gitdir: ../.git/worktrees/tree\n".to_vec()),
            Some("/app/.git/worktrees/tree/commondir") => Some(b"../../../elsewhere\n".to_vec()),
            Some("/app/elsewhere/config" | "/app/made/.git/config") => Some(b"[core]\n\tfsmonitor = ./x\n".to_vec()),
            Some("/app/plain/.git/config") => Some(b"[core]\n\tbare = false\n".to_vec()),
            Some("/app/plain/.git/HEAD" | "/app/made/.git/HEAD") => Some(b"ref: refs/heads/main\n".to_vec()),
            Some("/app/broken/.git/HEAD") => Some(b"x\n".to_vec()),
            _ => None,
        }
    }
    fn stamp(&self, _: &Path) -> Option<String> {
        None
    }
    fn identity(&self, _: &Path) -> Option<(u64, u64)> {
        None
    }

    fn changeable(&self, _: &Path) -> bool {
        true
    }
}

impl Environment for Stores {
    fn get(&self, _: &str) -> Option<String> {
        None
    }
}

#[test]
fn a_store_under_another_name_is_asked_about() {
    let policy = Policy::compile(&[PolicyText::preset("developer")]).unwrap();
    let facts = Facts { files: &Stores, env: &Stores };
    for (command, expected) in [
        ("git status", "allow"),
        ("cd src && git status", "allow"),
        ("cd worktree && git log", "allow"),
        ("cd half && git status", "allow"),
        ("cd bare && git status", "ask"),
        ("cd bare/sub && git log", "ask"),
        ("git -C bare status", "ask"),
        ("git -C src/../bare diff", "ask"),
        ("cd led && git status", "ask"),
        ("git -C led log", "ask"),
        ("git -C broken status", "ask"),
        ("cd plain && git status", "allow"),
        ("cd made && git status", "ask"),
        ("git -C made log", "ask"),
        ("git -C tree status", "ask"),
    ] {
        let call = ToolCall {
            cwd: Some("/app".into()),
            workspace: Workspace::new("/app", Some(Path::new("/home"))),
            home: Some("/home".into()),
            ..ToolCall::command(command.as_bytes())
        };
        let decision = policy.evaluate(&Operation::new(call, facts), &State::default(), facts);
        assert_eq!(decision.answer.as_str(), expected, "{command}");
    }
}
