//! `docs/designs.md`: what it says shows a promise exists. The vectors themselves are run by `vectors.rs`, the commands by
//! `crates/sayso/tests/cli/designs.rs`.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::allow_attributes,
    reason = "a failed unwrap is a failed test"
)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn sources(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, ending, found);
        } else if path.extension().is_some_and(|it| it == ending) {
            found.push(path);
        }
    }
}

#[test]
fn what_shows_a_promise_exists() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    sources(crates, "rs", &mut files);
    let mut tests = BTreeSet::new();
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        for part in text.split("#[test]").skip(1) {
            tests.extend(part.split("fn ").nth(1).and_then(|rest| rest.split('(').next()).map(str::to_owned));
        }
    }
    let mut vectors = Vec::new();
    sources(&crates.join("sayso-formats/tests/vectors"), "jsonl", &mut vectors);
    let vectors: BTreeSet<String> = vectors
        .iter()
        .flat_map(|file| std::fs::read_to_string(file).unwrap().lines().map(str::to_owned).collect::<Vec<_>>())
        .filter_map(|line| Some(serde_json::from_str::<serde_json::Value>(&line).ok()?["id"].as_str()?.to_owned()))
        .collect();
    let page = std::fs::read_to_string(crates.join("../docs/designs.md")).unwrap();
    let rows = page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| promise"));
    let (mut count, mut missing) = (0, Vec::new());
    for row in rows {
        count += 1;
        let cells: Vec<&str> = row.trim_matches('|').rsplitn(3, " | ").map(str::trim).collect();
        let (shown, stands) = (cells[0].trim_matches(['`', '|', ' ']), cells[1]);
        let told = stands == "works" || stands.strip_prefix("partly: ").or(stands.strip_prefix("not yet: ")).is_some();
        let exists = match shown.split_once(' ') {
            Some(("test", name)) => tests.contains(name),
            // The tests of the commands run these.
            Some(("sayso", command)) => command.contains(" => "),
            Some(("example", name)) => files.iter().any(|file| file.ends_with(format!("examples/{name}.rs"))),
            _ => shown.split(' ').all(|id| vectors.contains(id)),
        };
        if !told || !exists {
            missing.push(row.to_owned());
        }
    }
    assert!(count > 200, "{count} rows");
    assert!(missing.is_empty(), "{missing:#?}");
}
