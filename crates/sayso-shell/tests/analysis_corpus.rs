//! Thousands of real commands and scripts: no command that bash's parser finds is missing from the analysis unless it
//! is opaque, and few are. The corpora lie outside the repository: `SAYSO_CORPUS` names their folder, else
//! `../shared/corpus` beside the workspace is tried.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a failed unwrap is a failed test")]

use sayso_shell::{Analysis, Context, Dialect, Environment, MemoryFiles, Word, analyze};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn corpus(name: &str) -> Option<Vec<serde_json::Value>> {
    let folder = std::env::var_os("SAYSO_CORPUS")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus"), PathBuf::from);
    match std::fs::read_to_string(folder.join(name)) {
        Ok(text) => Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()),
        Err(_) => {
            println!("{name}: skipped, no corpus in {}", folder.display());
            None
        }
    }
}

struct Env;

impl Environment for Env {
    fn get(&self, name: &str) -> Option<String> {
        (name == "PATH").then(|| "/usr/bin".to_owned())
    }
}

fn look(command: &str) -> Analysis {
    look_in(command, Dialect::Bash)
}

fn look_in(command: &str, dialect: Dialect) -> Analysis {
    let mut files = MemoryFiles::new();
    files.folder("/app").open_folder("/tmp").folder("/root");
    // What a program prints is known only where the program is.
    files.program("/usr/bin/base64", b"\x7fELF").program("/usr/bin/cat", b"\x7fELF");
    let context = Context {
        cwd: Some(Path::new("/app")),
        home: Some(Path::new("/root")),
        workspace: Some(Path::new("/app")),
        env: &Env,
        files: &files,
        dialect,
    };
    analyze(command.as_bytes(), &context)
}

/// Whether some run has these words in this order. Words with expansions in them are not compared: the corpus shows
/// them as they were typed.
fn runs(analysis: &Analysis, words: &[String]) -> bool {
    let plain: Vec<&str> = words
        .iter()
        .map(String::as_str)
        .filter(|word| !word.contains(['$', '{', '~', '\u{1}', '\u{7f}', '`']))
        .collect();
    analysis.runs.iter().any(|run| {
        let mut argv = run.argv.iter();
        plain.iter().all(|word| argv.any(|found| found.exact_str().is_none_or(|found| found == *word)))
    })
}

/// A command all of whose words are expansions may certainly be none at all: `$(x=1)`.
fn may_vanish(words: &[String]) -> bool {
    words.iter().all(|word| word == "$DYN")
}

fn measure(name: &str, most_opaque: f64) {
    let Some(cases) = corpus(name) else { return };
    let mut accepted = 0;
    let mut opaque: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
    let mut missing = Vec::new();
    for case in &cases {
        if case["accepted"] != true {
            continue;
        }
        accepted += 1;
        let command = case["command"].as_str().unwrap();
        let analysis = look(command);
        if analysis.opaque {
            let code =
                analysis.doubts.iter().map(|doubt| doubt.code.as_str()).find(|code| is_cause(code)).unwrap_or("none");
            opaque.entry(code).or_default().push(command.chars().take(100).collect());
            continue;
        }
        let commands: Vec<Vec<String>> = serde_json::from_value(case["commands"].clone()).unwrap_or_default();
        for words in commands.iter().filter(|words| !may_vanish(words)) {
            if !runs(&analysis, words) {
                missing.push((command.chars().take(120).collect::<String>(), words.clone()));
            }
        }
    }
    let count: usize = opaque.values().map(Vec::len).sum();
    let share = 100.0 * count as f64 / f64::from(accepted);
    println!("{name}: {accepted} accepted by bash, {} commands missing, {count} opaque ({share:.2} %)", missing.len());
    for (code, commands) in &opaque {
        println!("  opaque {code}: {}", commands.len());
        if std::env::var_os("SAYSO_SHOW").is_some() {
            commands.iter().for_each(|command| println!("      {command:?}"));
        }
    }
    for (command, words) in missing.iter().take(20) {
        println!("  missing {words:?} of {command:?}");
    }
    assert_eq!(missing.len(), 0, "commands that bash's parser finds are missing");
    assert!(share <= most_opaque, "{share:.2} % are opaque");
}

fn is_cause(code: &str) -> bool {
    !matches!(code, "unknown-option" | "environment" | "unknown-subcommand" | "arithmetic-on-unknown" | "alias")
}

#[test]
fn one_liners_are_understood() {
    measure("oneliners.jsonl", 1.0);
}

/// Some of them are written for bash: what another shell does not read alike is opaque there, and no more.
#[test]
fn one_liners_are_mostly_understood_in_other_shells() {
    let Some(cases) = corpus("oneliners.jsonl") else { return };
    for (dialect, most) in [(Dialect::Zsh, 2.5), (Dialect::Sh, 3.5)] {
        let mut accepted = 0;
        let mut opaque: BTreeMap<String, usize> = BTreeMap::new();
        for case in cases.iter().filter(|case| case["accepted"] == true) {
            accepted += 1;
            let analysis = look_in(case["command"].as_str().unwrap(), dialect);
            if analysis.opaque {
                let first = analysis.doubts.iter().find(|doubt| is_cause(doubt.code.as_str()));
                *opaque.entry(first.map_or_else(String::new, |doubt| doubt.text.clone())).or_default() += 1;
            }
        }
        let count: usize = opaque.values().sum();
        let share = 100.0 * count as f64 / f64::from(accepted);
        println!("{dialect:?}: {count} of {accepted} opaque ({share:.2} %)");
        for (text, count) in &opaque {
            println!("  {count:4} {text}");
        }
        assert!(share <= most, "{share:.2} % are opaque to {dialect:?}");
    }
}

#[test]
fn scripts_lose_no_command() {
    measure("scripts.jsonl", 100.0);
}

#[test]
fn words_of_unknown_value_count_as_any_word() {
    let analysis = look("git push $x");
    assert!(runs(&analysis, &["git".to_owned(), "push".to_owned(), "origin".to_owned()]));
    assert!(!runs(&analysis, &["git".to_owned(), "pull".to_owned(), "x".to_owned(), "y".to_owned()]));
    assert!(matches!(analysis.runs[0].argv[2], Word::Dynamic(_)));
}
