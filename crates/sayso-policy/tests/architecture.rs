//! `docs/ARCHITECTURE.md` says which files a usual change touches: they exist, and they are few.

use std::path::Path;

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
