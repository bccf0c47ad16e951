//! A day's commands in a project with secrets, dependencies and build output, by cases: a verdict and a command a line.
//!
//! What is harmless passes without a question; beside each thing that passes stand the ways in which an agent with ill
//! will would use it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed unwrap is a failed test")]

mod imaged;
mod machine;

use imaged::Both;
use machine::{Machine, command_in_app};
use sayso_policy::{Facts, Operation, Policy, PolicyText, State};
use sayso_shell::MemoryFiles;

/// What git tracks there.
const TRACKED: &[&str] = &[
    ".env.example",
    ".gitignore",
    "Cargo.toml",
    "README.md",
    "assets/build/logo.svg",
    "docs/dist/guide.md",
    "package.json",
    "src/lib.py",
    "src/main.rs",
    "web/index.ts",
];

/// Neither tracked nor, in part, ignored.
const OTHERS: &[&str] = &[
    ".env",
    "sub/.env",
    "sub/notes.txt",
    "target/debug/app",
    "target/debug/build/x/out.pem",
    "node_modules/eslint/bin/eslint.js",
    "node_modules/eslint/.github/workflows/ci.yml",
    "node_modules/tls/test/server.pem",
    "dist/app.js",
    "build/app.o",
    ".next/cache/x",
    "coverage/index.html",
    "src/__pycache__/lib.pyc",
    "out/drafts.txt",
    "docs/dist/new.md",
    "dev.db",
];

const PROGRAMS: &[&str] = &[
    "rg", "grep", "egrep", "find", "cat", "ls", "stat", "git", "xargs", "wc", "sort", "head", "tail", "tac", "shuf",
    "uniq", "eslint", "npx", "node", "npm", "rm", "mv", "cp", "ln", "mkdir", "tar", "curl", "docker", "kubectl", "gh",
    "echo", "jq", "du", "file", "test", "realpath", "readlink", "tree", "sed", "sh", "bash", "true", "ss", "cargo",
    "python3", "zstd", "xz", "fd", "eza", "lsd", "parallel",
];

fn project() -> MemoryFiles {
    let mut files = MemoryFiles::new();
    files.folder("/tmp");
    for name in TRACKED.iter().chain(OTHERS) {
        files.file(format!("/app/{name}"), b"x");
    }
    files
        .file("/app/.gitignore", b"target\nnode_modules/\n/dist\n/build\n.next\ncoverage\n__pycache__/\n.env\n*.db\n")
        .file("/app/.git/HEAD", b"ref: refs/heads/main\n")
        .file("/app/.git/index", &index(TRACKED))
        .link("/app/node_modules/.bin/eslint", "../eslint/bin/eslint.js")
        .link("/app/linked", "/home/ann/work")
        .link("/app/coverage/latest", "../src")
        .link("/app/coverage/index", "index.html")
        .link("/app/node_modules/@me/lib", "../../src")
        .link("/app/build/deps", "../node_modules/eslint")
        .file("/home/ann/work/dist/thesis.txt", b"x")
        .file("/home/ann/.ssh/id_ed25519", b"key");
    for program in PROGRAMS {
        files.program(format!("/usr/bin/{program}"), b"");
    }
    files
}

/// An index of git, version 2, that holds these names.
fn index(names: &[&str]) -> Vec<u8> {
    let mut bytes = b"DIRC\0\0\0\x02".to_vec();
    bytes.extend(u32::try_from(names.len()).unwrap().to_be_bytes());
    for name in names {
        let start = bytes.len();
        bytes.extend([0; 60]);
        bytes.extend(u16::try_from(name.len()).unwrap().to_be_bytes());
        bytes.extend(name.as_bytes());
        bytes.push(0);
        let length = bytes.len() - start;
        bytes.extend(vec![0; length.next_multiple_of(8) - length]);
    }
    bytes.extend([0; 20]);
    bytes
}

fn check(files: &MemoryFiles, cases: &str) {
    let policy = Both::new(Policy::compile(&[PolicyText::preset("developer")]).unwrap());
    let environment = Machine(&[]);
    let facts = Facts { files, env: &environment };
    let mut failures = Vec::new();
    let mut count = 0;
    for line in cases.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (expected, command) = line.split_once(' ').unwrap();
        let command = command.trim().replace("\\n", "\n");
        let call = command_in_app(&command);
        let decision = policy.evaluate(&Operation::new(call, facts), &State::default(), facts);
        count += 1;
        if decision.answer.as_str() != expected {
            let why: Vec<_> = decision.reasons.iter().map(|reason| reason.code.to_string()).collect();
            failures.push(format!("{command}: {} instead of {expected} {why:?}", decision.answer.as_str()));
        }
    }
    assert!(count > 0);
    assert!(failures.is_empty(), "{} of {count}:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn searches_and_lists_pass_where_they_open_no_secret() {
    check(&project(), include_str!("cases/project-search.txt"));
}

/// Scripts of the project run by its tool; a name that is none of them is a program.
#[test]
fn scripts_of_a_python_project_pass_by_their_names() {
    let mut files = project();
    files
        .file(
            "/app/pyproject.toml",
            b"[tool.pdm.scripts]\nlint = 'ruff'\ndeploy = 'x'\n[tool.hatch.envs.dev.scripts]\nstyle = 'x'\n",
        )
        .program("/usr/bin/pdm", b"")
        .program("/usr/bin/hatch", b"");
    check(
        &files,
        "allow pdm run lint\nallow hatch run dev:style\nask pdm run deploy\nask pdm run other\nask hatch run evil\nask pdm run --frob lint\n\
         ask cd ../x && pdm run lint",
    );
}

/// The same project, in which somebody committed a file with secrets, and whose remote has a password in its address.
#[test]
fn what_git_shows_of_a_tracked_secret_is_asked_about() {
    let mut files = project();
    let tracked: Vec<&str> = [".env"].iter().chain(TRACKED).copied().collect();
    files
        .file("/app/.git/index", &index(&tracked))
        .file("/app/.git/config", b"[remote \"origin\"]\n\turl = https://ann:pw@example.org/x\n");
    check(&files, include_str!("cases/project-tracked.txt"));
    // In the project as it is, none of these shows a secret.
    let asked = include_str!("cases/project-tracked.txt").lines().filter_map(|line| line.strip_prefix("ask git "));
    let allowed: Vec<String> = asked.map(|rest| format!("allow git {rest}")).collect();
    assert!(allowed.len() > 20);
    check(&project(), &allowed.join("\n"));
}

#[test]
fn names_and_sizes_are_told_and_contents_are_not() {
    check(&project(), include_str!("cases/project-told.txt"));
}

#[test]
fn work_passes_and_what_only_looks_like_it_does_not() {
    check(&project(), include_str!("cases/project-work.txt"));
}

#[test]
fn a_tracked_secret_is_among_what_git_lists() {
    let mut files = project();
    let mut tracked = TRACKED.to_vec();
    tracked.insert(0, ".env");
    files.file("/app/.git/index", &index(&tracked));
    let cases = "
        ask git ls-files | xargs cat
        ask git diff --name-only | xargs cat
        ask git diff .
        ask git grep foo .
        ask cd src && git diff -- :/
        allow git ls-files '*.rs' | xargs cat
    ";
    check(&files, cases);
    // A repository inside does not hide what the outer one tracks.
    let mut tracked = TRACKED.to_vec();
    tracked.insert(tracked.len() - 1, "sub/.env");
    files.file("/app/.git/index", &index(&tracked)).file("/app/sub/.git/HEAD", b"x");
    check(&files, "ask git ls-files | xargs cat");
    // What cannot be read says nothing.
    for damaged in [&b"DIRC\0\0\0\x02\0\0\0\x09"[..], b"", b"DIRC\0\0\0\x07\0\0\0\0xxxxxxxxxxxxxxxxxxxx"] {
        files.file("/app/.git/index", damaged);
        check(&files, "ask git ls-files | xargs cat");
    }
}
