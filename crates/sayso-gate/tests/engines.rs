//! Which engine keeps what is remembered is known in one place.
#![allow(clippy::unwrap_used, clippy::allow_attributes, reason = "a failed unwrap is a failed test")]

use std::path::{Path, PathBuf};

/// Where SQLite may be named: its own folder, the function that opens a store, and the look into OpenCode's own database.
const NAMED: [&str; 3] =
    ["sayso-gate/src/store/sqlite/", "sayso-gate/src/store/mod.rs", "sayso-agents/src/agent/opencode/transcripts.rs"];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn sqlite_is_named_in_its_own_folder_alone() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut all = Vec::new();
    for one in std::fs::read_dir(crates).unwrap() {
        let src = one.unwrap().path().join("src");
        if src.is_dir() {
            sources(&src, &mut all);
        }
    }
    assert!(all.len() > 300, "{} files", all.len());
    let name = |path: &PathBuf| path.strip_prefix(crates).unwrap().display().to_string();
    let tells = |path: &&PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        // Tests that stand beside the code may write to the file as an attacker would.
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        !name(path).contains("/tests/") && (text.contains("rusqlite") || text.contains("Sqlite"))
    };
    let named: Vec<String> = all.iter().filter(tells).map(name).collect();
    assert!(named.iter().any(|file| file.starts_with(NAMED[0])), "{named:?}");
    let elsewhere: Vec<&String> =
        named.iter().filter(|file| !NAMED.iter().any(|place| file.starts_with(place))).collect();
    assert!(elsewhere.is_empty(), "SQLite is named in {elsewhere:?}");
}
