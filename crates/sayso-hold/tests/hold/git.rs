//! Git, inside a hold.

use crate::room::{Room, can_hold, give_away, unprivileged};
use std::fs;
use std::process::Command;

/// A repository with a commit and hooks, made before anything is held.
fn repository(room: &Room) -> String {
    let ws = room.path("repo");
    fs::create_dir(&ws).unwrap();
    give_away(&ws);
    let git = |words: &[&str]| {
        let mut command = Command::new("git");
        command.args(words).current_dir(&ws).env("HOME", room.path("aside")).env("GIT_CONFIG_NOSYSTEM", "1");
        assert!(unprivileged(&mut command).output().unwrap().status.success(), "git {words:?}");
    };
    git(&["init", "-q", "-b", "main"]);
    git(&["config", "user.email", "a@example.org"]);
    git(&["config", "user.name", "a"]);
    fs::write(ws.join("file"), "one\n").unwrap();
    give_away(&ws.join("file"));
    git(&["add", "file"]);
    git(&["commit", "-qm", "one"]);
    ws.to_str().unwrap().to_owned()
}

#[test]
fn git_works_and_its_hooks_and_config_do_not_change() {
    if !can_hold() {
        return;
    }
    let room = Room::new();
    let ws = repository(&room);
    let git = format!("{ws}/.git");
    let tree = format!("{ws}/tree");
    let script = "set -e
        cd \"$1\"
        echo two >> file; git commit -qam two; git switch -qc other; echo three > new; git add new; git commit -qm three
        git worktree add -q tree main; cd tree; echo four > four; git add four; git commit -qm four; cd ..
        git stash list; git tag t; git gc -q; git status --porcelain; git log --oneline other | wc -l
        git config core.fsmonitor evil && exit 9
        echo evil > .git/hooks/pre-commit && exit 9
        git branch -q -D t2 2>/dev/null || exit 0";
    let output = room
        .command(&["--write", &ws, "--git", &git], &["bash", "-c", script, "sh", &ws])
        .env("HOME", room.path("aside"))
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{text}{errors}");
    assert_eq!(text.lines().last().map(str::trim), Some("3"), "{text}{errors}");
    assert!(fs::metadata(format!("{tree}/four")).is_ok());
    assert!(!fs::read_to_string(format!("{git}/config")).unwrap().contains("evil"));
    assert!(fs::metadata(format!("{git}/hooks/pre-commit")).is_err());
    assert!(fs::metadata(format!("{git}/config.lock")).is_err());
}
