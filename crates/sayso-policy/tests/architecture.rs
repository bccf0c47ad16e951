//! What the documents say of the sources: `docs/ARCHITECTURE.md` names the files that a usual change touches.

use std::path::{Path, PathBuf};

/// Files that one change may touch.
const MOST: usize = 6;

#[test]
fn every_usual_change_names_at_most_six_files_and_they_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("docs/ARCHITECTURE.md")).unwrap();
    let section = text.split("\n## ").find(|section| section.starts_with("Twelve usual changes")).unwrap();
    let rows: Vec<&str> = section.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    assert_eq!(rows.len(), 12, "{rows:#?}");
    for row in rows {
        let files: Vec<&str> = row.split('`').skip(1).step_by(2).collect();
        assert!((1..=MOST).contains(&files.len()), "{} files: {row}", files.len());
        for file in files {
            assert!(root.join(file).exists(), "there is no {file}: {row}");
        }
    }
}

/// A rule's own `id` may be the text of any code: only values tell them apart.
#[test]
fn no_source_compares_the_code_of_a_reason_with_a_string() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut open: Vec<PathBuf> = ["policy", "formats", "gate", "agents", "server"]
        .iter()
        .map(|name| crates.join(format!("sayso-{name}/src")))
        .chain([crates.join("sayso/src")])
        .collect();
    let mut found = Vec::new();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            let compares = |line: &&str| {
                let (before, after) = line.split_once(" == ").or_else(|| line.split_once(" != ")).unwrap_or_default();
                (before.contains("reason.code") || before.contains("first.code")) && after.starts_with('"')
            };
            found.extend(code.lines().filter(compares).map(|line| format!("{}: {line}", path.display())));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}
