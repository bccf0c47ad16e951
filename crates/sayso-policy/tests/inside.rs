//! What stands in the files of a project decides: names in patches and archives, commits that others have.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a failed unwrap is a failed test")]

use sayso_policy::shell::{MemoryFiles, NoEnvironment};
use sayso_policy::{Facts, Operation, Policy, PolicyText, State, ToolCall, Workspace};
use std::path::Path;

const HARMLESS: &[u8] = b"--- a/src/main.rs\n+++ b/src/main.rs\n@@ -1 +1 @@\n-a\n+b\n";
const STEERS: &[u8] = b"--- /dev/null\n+++ b/.github/workflows/evil.yml\n@@ -0,0 +1 @@\n+x\n";
const INSTRUCTS: &[u8] =
    b"diff --git a/src/a b/CLAUDE.md\nsimilarity index 90%\nrename from src/a\nrename to CLAUDE.md\n";
const SCRIPT: &[u8] = b"--- a/src/main.rs\n+++ b/src/main.rs\n1a\n!id\n.\n";
const MAIL: &[u8] = b"From x\nContent-Transfer-Encoding: base64\n\nLS0tIGEveAo=\n";

/// A tar archive of empty files.
fn tar(names: &[&str]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for name in names {
        let mut header = vec![0_u8; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[124..135].copy_from_slice(b"00000000000");
        header[156] = b'0';
        header[257..265].copy_from_slice(b"ustar\x0000");
        header[148..156].fill(b' ');
        let sum: usize = header.iter().map(|byte| usize::from(*byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        bytes.extend(header);
    }
    bytes.resize(bytes.len() + 1024, 0);
    bytes
}

/// A zip file of empty files.
fn zip(names: &[&str]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for name in names {
        let mut header = b"PK\x01\x02".to_vec();
        header.resize(46, 0);
        header[5] = 3;
        header[28] = u8::try_from(name.len()).unwrap();
        bytes.extend(header);
        bytes.extend(name.as_bytes());
    }
    let mut end = b"PK\x05\x06".to_vec();
    end.resize(22, 0);
    end[8] = u8::try_from(names.len()).unwrap();
    end[10] = end[8];
    end[12..16].copy_from_slice(&u32::try_from(bytes.len()).unwrap().to_le_bytes());
    bytes.extend(end);
    bytes
}

fn project() -> MemoryFiles {
    let mut files = MemoryFiles::new();
    files
        .folder("/tmp")
        .file("/w/app/.git/HEAD", b"ref: refs/heads/main\n")
        .file("/w/app/.git/refs/heads/main", b"1111111111111111111111111111111111111111\n")
        .file("/w/app/.git/refs/remotes/origin/main", b"2222222222222222222222222222222222222222\n")
        // They exist, so that "some file below this folder" may be one of them.
        .file("/w/app/CLAUDE.md", b"x")
        .file("/w/app/.vscode/tasks.json", b"x")
        .file("/w/app/src/main.rs", b"a")
        .file("/w/app/good.patch", HARMLESS)
        .file("/w/app/steers.patch", STEERS)
        .file("/w/app/instructs.patch", INSTRUCTS)
        .file("/w/app/script.patch", SCRIPT)
        .file("/w/app/mail.patch", MAIL)
        .file("/w/app/good.tar", &tar(&["x/a.txt", "x/b.txt"]))
        .file("/w/app/steers.tar", &tar(&["x/a.txt", "x/.envrc"]))
        .file("/w/app/good.zip", &zip(&["x/a.txt", "x/b.txt"]))
        .file("/w/app/steers.zip", &zip(&["x/a.txt", ".husky/pre-commit"]))
        .file("/w/app/plain/a.txt", b"x")
        .file("/w/app/template/sub/lefthook.yml", b"x");
    for program in ["patch", "git", "tar", "unzip", "cp", "cat", "mv"] {
        files.program(format!("/usr/bin/{program}"), b"");
    }
    files
}

fn judge(files: &MemoryFiles, command: &str) -> String {
    let policy = Policy::compile(&[PolicyText::preset("developer")]).unwrap();
    let facts = Facts { files, env: &NoEnvironment };
    let call = ToolCall {
        cwd: Some("/w/app".into()),
        workspace: Workspace::new("/w/app", Some(Path::new("/home/ann"))),
        home: Some("/home/ann".into()),
        ..ToolCall::command(command.as_bytes())
    };
    let decision = policy.evaluate(&Operation::new(call, facts), &State::default(), facts);
    if decision.answer.as_str() == "ask" {
        println!("{command}: {:?}", decision.reasons.iter().map(|reason| &reason.text).collect::<Vec<_>>());
    }
    decision.answer.as_str().to_owned()
}

#[test]
fn patches_archives_and_copies_are_judged_by_the_names_inside() {
    let cases = [
        ("patch -p1 < good.patch", "allow"),
        ("patch -p1 -i good.patch", "allow"),
        ("git apply good.patch", "allow"),
        ("git apply --index good.patch", "allow"),
        ("git am good.patch", "allow"),
        ("git apply < good.patch", "allow"),
        ("patch -p1 < steers.patch", "ask"),
        ("patch -p1 -i steers.patch", "ask"),
        ("git apply steers.patch", "ask"),
        ("git apply good.patch steers.patch", "ask"),
        ("git am steers.patch", "ask"),
        ("git am < steers.patch", "ask"),
        ("git apply instructs.patch", "ask"),
        ("patch -p1 < script.patch", "ask"),
        ("git am mail.patch", "ask"),
        ("git apply missing.patch", "ask"),
        ("cat steers.patch | patch -p1", "ask"),
        ("patch -p1 <<'E'\n--- a/.envrc\n+++ b/.envrc\n@@ -1 +1 @@\n-a\n+b\nE", "ask"),
        ("patch -p1 <<'E'\n--- a/src/main.rs\n+++ b/src/main.rs\n@@ -1 +1 @@\n-a\n+b\nE", "allow"),
        // The call writes the patch first.
        ("cp steers.patch good.patch && patch -p1 < good.patch", "ask"),
        ("cp steers.patch good.patch; git apply good.patch", "ask"),
        ("tar xf good.tar", "allow"),
        ("tar -xf good.tar -C src", "allow"),
        ("tar xf steers.tar", "ask"),
        ("tar -xf steers.tar --strip-components=1", "ask"),
        ("unzip good.zip", "allow"),
        ("unzip steers.zip", "ask"),
        ("unzip steers.zip -d sub", "ask"),
        ("cp -r plain copy", "allow"),
        ("cp -r template copy", "ask"),
        ("cp -r template/. .", "ask"),
        ("mv template copy", "ask"),
    ];
    let files = project();
    let wrong: Vec<_> = cases
        .iter()
        .map(|(command, expected)| (command, expected, judge(&files, command)))
        .filter(|(_, expected, answer)| *expected != answer)
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_commit_that_nobody_else_has_may_be_amended() {
    let mut files = project();
    assert_eq!(judge(&files, "git commit --amend --no-edit"), "allow");
    assert_eq!(judge(&files, "cd src && git commit --amend -m x"), "allow");
    files.file("/w/app/.git/refs/remotes/origin/main", b"1111111111111111111111111111111111111111\n");
    assert_eq!(judge(&files, "git commit --amend --no-edit"), "ask");
    let mut packed = project();
    packed.file("/w/app/.git/packed-refs", b"# pack\n1111111111111111111111111111111111111111 refs/remotes/origin/x\n");
    assert_eq!(judge(&packed, "git commit --amend --no-edit"), "ask");
    let mut detached = project();
    detached.file("/w/app/.git/HEAD", b"2222222222222222222222222222222222222222\n");
    assert_eq!(judge(&detached, "git commit --amend --no-edit"), "ask");
    let mut linked = project();
    linked.file("/w/app/.git/HEAD", b"ref: refs/heads/none\n");
    assert_eq!(judge(&linked, "git commit --amend --no-edit"), "ask");
}

#[test]
fn a_working_tree_may_go_beside_the_repository() {
    let files = project();
    for (command, expected) in [
        ("git worktree add ../topic", "allow"),
        ("git worktree add ../app-topic -b topic", "allow"),
        ("git worktree add ../app", "ask"),
        ("git worktree add ../.vim", "ask"),
        ("git worktree add ../../home/ann/.vim", "ask"),
        ("git worktree add /w/topic", "ask"),
        ("git worktree add ../x/y", "ask"),
        ("git worktree add \"../$X\"", "ask"),
        ("cd /home/ann && git worktree add ../topic", "ask"),
    ] {
        assert_eq!(judge(&files, command), expected, "{command}");
    }
}
