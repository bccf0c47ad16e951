//! Which files a command goes by: what a yes to it is bound to.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed unwrap is a failed test")]

#[path = "instructions/hostile.rs"]
mod hostile;
#[path = "instructions/options.rs"]
mod options;
#[path = "instructions/own.rs"]
mod own;
#[path = "instructions/project.rs"]
mod project;
#[path = "instructions/variables.rs"]
mod variables;

use sayso_shell::instruct::{Instructions, Scene, instructions};
use sayso_shell::{Analysis, Context, Dialect, Environment, MemoryFiles, analyze};
use std::path::Path;

struct Env;

impl Environment for Env {
    fn get(&self, name: &str) -> Option<String> {
        (name == "PATH").then(|| "/usr/bin:/bin".to_owned())
    }
}

/// Names, and what stands in them; one with a `+` before it may be executed.
type Files = &'static [(&'static str, &'static str)];

/// What a command goes by in `/w`.
fn of(command: &str, project: &[(&str, &str)]) -> Instructions {
    let mut files = MemoryFiles::new();
    for name in ["bash", "sh", "env", "git", "make", "node", "npm", "python3", "ruby", "perl", "less"] {
        files.program(format!("/usr/bin/{name}"), b"\x7fELF");
    }
    files.folder("/home/me").folder("/w");
    for (name, text) in project {
        match name.strip_prefix('+') {
            Some(name) => files.program(format!("/w/{name}"), text.as_bytes()),
            None => files.file(format!("/w/{name}"), text.as_bytes()),
        };
    }
    in_files(command, &files)
}

fn analysed(command: &str, files: &dyn sayso_shell::Files) -> Analysis {
    let context = Context {
        cwd: Some(Path::new("/w")),
        home: Some(Path::new("/home/me")),
        workspace: Some(Path::new("/w")),
        env: &Env,
        files,
        dialect: Dialect::Bash,
    };
    analyze(command.as_bytes(), &context)
}

fn in_files(command: &str, files: &dyn sayso_shell::Files) -> Instructions {
    let analysis = analysed(command, files);
    let (work, home) = (Some(Path::new("/w")), Some(Path::new("/home/me")));
    instructions(Scene { analysis: &analysis, cwd: work, home, workspace: work, files })
}

/// A command, its project, and those of its files that a yes to it is bound to.
type Case = (&'static str, Files, &'static [&'static str]);

/// Looks at all cases before it says which of them fail.
fn all_bound(cases: &[Case]) {
    let mut wrong = Vec::new();
    for (command, project, bound) in cases {
        let found = of(command, project);
        let missing: Vec<_> = bound.iter().filter(|name| !has(&found, name)).collect();
        if !missing.is_empty() || found.open.is_some() {
            wrong.push(format!(
                "{command}: not bound to {missing:?}, open: {:?}, bound to {:?}",
                found.open, found.files
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn has(found: &Instructions, name: &str) -> bool {
    let name = name.strip_prefix('+').unwrap_or(name);
    found.files.iter().any(|path| path == &Path::new("/w").join(name))
}

/// Commands to which a yes holds once.
fn all_once(cases: &[(&str, Files)]) {
    let wrong: Vec<&str> = cases
        .iter()
        .filter(|(command, project)| of(command, project).open.is_none())
        .map(|(command, _)| *command)
        .collect();
    assert!(wrong.is_empty(), "held for good: {wrong:#?}");
}

/// Commands, and files that a yes to them is not bound to.
fn none_bound(cases: &[Case]) {
    let mut wrong = Vec::new();
    for (command, project, free) in cases {
        let found = of(command, project);
        let bound: Vec<_> = free.iter().filter(|name| has(&found, name)).collect();
        if !bound.is_empty() || found.open.is_some() {
            wrong.push(format!("{command}: bound to {bound:?}, open: {:?}", found.open));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
