//! Thousands of real commands and scripts, against what bash's own parser makes of them. The corpora lie outside the
//! repository: `SAYSO_CORPUS` names their folder, else `../shared/corpus` beside the workspace is tried.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a failed unwrap is a failed test")]

mod reduce;

use sayso_shell::Dialect;
use sayso_shell::syntax::{Options, parse};
use std::path::PathBuf;

struct Case {
    command: String,
    accepted: bool,
    commands: Vec<Vec<String>>,
}

/// The cases of one file, or nothing with a note.
fn corpus(name: &str) -> Option<Vec<Case>> {
    let folder = std::env::var_os("SAYSO_CORPUS")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus"), PathBuf::from);
    let file = folder.join(name);
    let Ok(text) = std::fs::read_to_string(&file) else {
        println!("{name}: skipped, no corpus in {}", folder.display());
        return None;
    };
    let cases = text.lines().map(|line| {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        Case {
            command: case["command"].as_str().unwrap().to_owned(),
            accepted: case["accepted"].as_bool().unwrap(),
            commands: without_marks(serde_json::from_value(case["commands"].clone()).unwrap_or_default()),
        }
    });
    Some(cases.collect())
}

/// Bash marks some bytes for itself with 1 and 127, and the corpus shows those marks.
fn without_marks(mut commands: Vec<Vec<String>>) -> Vec<Vec<String>> {
    commands.iter_mut().flatten().for_each(|word| word.retain(|c| c != '\u{1}' && c != '\u{7f}'));
    commands
}

/// Commands that were expected and not found. The corpus names each once.
fn missing(found: &[Vec<String>], expected: &[Vec<String>]) -> Vec<Vec<String>> {
    expected.iter().filter(|command| !found.contains(command)).cloned().collect()
}

/// Enough of a command to know it by, licences at its head left out.
fn beginning(command: &str) -> String {
    let lines = command.lines().filter(|line| !line.starts_with('#'));
    lines.collect::<Vec<_>>().join("\n").chars().take(100).collect()
}

fn measure(name: &str) {
    let Some(cases) = corpus(name) else { return };
    let (mut lost, mut gave_up, mut wrongly_accepted) = (Vec::new(), Vec::new(), Vec::new());
    for case in &cases {
        match parse(case.command.as_bytes(), Dialect::Bash, Options::default()).map(|tree| reduce::reduce(&tree)) {
            Err(error) if case.accepted => gave_up.push(format!("{:?}: {error}", beginning(&case.command))),
            Err(_) => {}
            Ok(found) if !case.accepted && !found.opaque => {
                wrongly_accepted.push(format!("{:?}", beginning(&case.command)))
            }
            Ok(found) => {
                if found.opaque && case.accepted {
                    gave_up.push(format!("{:?}: opaque part", beginning(&case.command)));
                }
                let missing = missing(&without_marks(found.commands.clone()), &case.commands);
                if !missing.is_empty() && !found.opaque {
                    lost.push(format!("{:?}: {missing:?}", beginning(&case.command)));
                }
            }
        }
    }
    println!(
        "{name}: {} cases, {} with a missing command, {} given up, {} accepted that bash rejects",
        cases.len(),
        lost.len(),
        gave_up.len(),
        wrongly_accepted.len(),
    );
    for (title, list) in [("missing", &lost), ("given up", &gave_up), ("wrongly accepted", &wrongly_accepted)] {
        for line in list.iter().take(40) {
            println!("  {title}: {line}");
        }
    }
    assert!(lost.is_empty(), "commands are missing");
    assert!(gave_up.len() * 100 <= cases.len(), "given up too often");
}

#[test]
fn no_command_of_the_one_liners_is_missing() {
    measure("oneliners.jsonl");
}

#[test]
fn no_command_of_the_scripts_is_missing() {
    measure("scripts.jsonl");
}

#[test]
fn no_prefix_of_a_corpus_line_panics() {
    for name in ["oneliners.jsonl", "scripts.jsonl"] {
        let Some(cases) = corpus(name) else { return };
        for case in cases.iter().filter(|case| case.command.len() < 400) {
            let bytes = case.command.as_bytes();
            for end in 0..bytes.len() {
                let _ = parse(&bytes[..end], Dialect::Other, Options::default());
            }
        }
    }
}
