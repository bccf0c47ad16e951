//! What commands would do, case by case: `tests/analysis/*.txt`.
//!
//! A case is a line with a command (`⏎` is a newline) and indented lines with everything that the analysis finds:
//! `run` with the words after expansion (`?` is an unknown word, `?..` none or several), `read`, `write`, `delete`,
//! `connect`, `opaque` with a code, and marks behind a run: `!function`, `!path`, ... for a shadow, `~` for a wrapper.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed unwrap is a failed test")]

use sayso_shell::{
    Analysis, Context, Dialect, Effect, Environment, HostTarget, MemoryFiles, PathTarget, Shadow, Target, Verb, Word,
    analyze,
};
use std::fmt::Write as _;
use std::path::Path;

struct Env;

impl Environment for Env {
    fn get(&self, name: &str) -> Option<String> {
        (name == "PATH").then(|| "/usr/local/bin:/usr/bin:/bin".to_owned())
    }
}

fn files() -> MemoryFiles {
    let mut files = MemoryFiles::new();
    for name in
        ["git", "ls", "cat", "rm", "bash", "sh", "grep", "find", "env", "sudo", "python3", "make", "base64", "basename"]
    {
        files.program(format!("/usr/bin/{name}"), b"\x7fELF");
    }
    files
        .link("/bin", "usr/bin")
        .folder("/home/me")
        .open_folder("/tmp")
        .program("/tmp/git", b"")
        .file("/w/README.md", b"hello")
        .file("/w/.env", b"KEY=1")
        .folder("/w/src")
        .file("/w/lib.sh", b"greet() { echo hello \"$1\" > greeting; }\nmode=fast\n")
        .program("/w/run.sh", b"#!/bin/bash\nrm -f \"$1\"\n")
        .program("/w/posix.sh", b"#!/bin/sh\ncat input\n")
        .program("/w/tool", b"\x7fELF")
        .program("/w/tool.py", b"#!/usr/bin/env python3\n");
    files
}

fn analysis(command: &str, dialect: Dialect) -> Analysis {
    let files = files();
    let context = Context {
        cwd: Some(Path::new("/w")),
        home: Some(Path::new("/home/me")),
        workspace: Some(Path::new("/w")),
        env: &Env,
        files: &files,
        dialect,
    };
    analyze(command.replace('⏎', "\n").as_bytes(), &context)
}

fn shown(word: &Word) -> String {
    match word {
        Word::Exact(text) if text.as_bytes().is_empty() => "''".to_owned(),
        Word::Exact(text) => text.to_string_lossy().replace('\n', "⏎"),
        Word::Dynamic(shape) if !shape.splits() => "?".to_owned(),
        Word::Dynamic(_) | Word::Opaque => "?..".to_owned(),
    }
}

fn path(target: &PathTarget) -> String {
    match target {
        PathTarget::Exact(path) => path.display().to_string(),
        PathTarget::Below(path) => format!("{}/**", path.display()),
        PathTarget::Glob { base, pattern, below } if *below => {
            format!("{}/ {}/**", base.display(), pattern.to_string_lossy())
        }
        PathTarget::Glob { base, pattern, .. } => format!("{}/ {}", base.display(), pattern.to_string_lossy()),
        PathTarget::Listed(listing) => format!("listed {listing}"),
        PathTarget::Sifted(listing) => format!("sifted {listing}"),
        PathTarget::Told(of) => format!("told {}", path(of)),
        PathTarget::Unknown(_) => "?".to_owned(),
    }
}

fn summary(analysis: &Analysis) -> String {
    let mut out = String::new();
    for effect in &analysis.effects {
        line(analysis, effect, &mut out);
    }
    out
}

fn line(analysis: &Analysis, effect: &Effect, out: &mut String) {
    let text = match (&effect.target, effect.verb) {
        (Target::Program(id) | Target::Wrapper(id), _) => {
            let run = analysis.run(*id).unwrap();
            let mut text = format!("run {}", run.argv.iter().map(shown).collect::<Vec<_>>().join(" "));
            if matches!(effect.target, Target::Wrapper(_)) {
                text.push_str(" ~");
            }
            text.push_str(match run.program.shadow {
                None => "",
                Some(Shadow::Function) => " !function",
                Some(Shadow::Alias) => " !alias",
                Some(Shadow::Workspace) => " !workspace",
                Some(Shadow::WorldWritable) => " !world-writable",
                Some(Shadow::Written) => " !written",
                Some(Shadow::Path) => " !path",
            });
            text
        }
        (Target::Anything, _) => {
            let sayso_shell::Carry::Named { code, .. } = &effect.carry else { panic!() };
            format!("opaque {code}")
        }
        (Target::Code { language, .. }, _) => format!("code {language}"),
        (Target::Option(_), _) => {
            let sayso_shell::Carry::Named { code, .. } = &effect.carry else { panic!() };
            format!("named {code}")
        }
        (Target::Path(target), Verb::Read) => format!("read {}", path(target)),
        (Target::Path(target), Verb::Write) => format!("write {}", path(target)),
        (Target::Path(target), _) => format!("delete {}", path(target)),
        (Target::Host(HostTarget::Exact { host, .. }), _) => format!("connect {host}"),
        (Target::Host(_), _) => "connect ?".to_owned(),
        (Target::Tool, _) => "tool".to_owned(),
    };
    let maybe = if effect.certain { "" } else { "maybe " };
    writeln!(out, "    {maybe}{text}").unwrap();
}

#[test]
fn commands_do_what_their_cases_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/analysis");
    let mut wrong = 0;
    let mut cases = 0;
    let mut names: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    for name in names {
        let text = std::fs::read_to_string(&name).unwrap();
        // `zsh.txt` and `sh.txt` are read by those shells, everything else by bash.
        let shell = name.file_stem().unwrap().to_str().unwrap();
        let dialect = Dialect::named(shell).unwrap_or_default();
        let mut lines = text.lines().peekable();
        while let Some(command) = lines.next() {
            if command.is_empty() || command.starts_with("# ") {
                continue;
            }
            let mut expected = String::new();
            while let Some(line) = lines.next_if(|line| line.starts_with("    ")) {
                expected.push_str(line);
                expected.push('\n');
            }
            cases += 1;
            let analysis = analysis(command, dialect);
            let found = summary(&analysis);
            assert_eq!(analysis.opaque, found.contains("opaque "), "{command}");
            if found != expected {
                wrong += 1;
                println!("{command}\n{found}");
            }
        }
    }
    assert_eq!(wrong, 0, "of {cases} cases; what they give now stands above");
}
