//! The cases of the texts in `programs/`, a line each, in the form that owners' cases have (`program/case.rs`); these say all that
//! a case can say.
//!
//! `SAYSO_BLESS=1` rewrites the texts with what the tables say now; read the difference before you keep it.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a failed unwrap is a failed test")]

use sayso_shell::program::text::{self, Source, Words};
use sayso_shell::program::{BUILT_IN, case};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

#[test]
fn every_case_of_the_texts_holds() {
    let bless = std::env::var_os("SAYSO_BLESS").is_some();
    let paths = texts(&Path::new(env!("CARGO_MANIFEST_DIR")).join("programs"));
    let texts: Vec<(String, String)> =
        paths.iter().map(|path| (path.display().to_string(), std::fs::read_to_string(path).unwrap())).collect();
    let sources: Vec<Source<'_>> = texts.iter().map(|(name, text)| Source { name, text }).collect();
    let document = text::read(&sources, Words::BuiltIn).unwrap();
    let mut wrong = String::new();
    for case in &document.cases {
        let got = case::whole(&case.command, &BUILT_IN).join(", ");
        if got == case.wanted {
            assert_eq!(case::check(&case.command, &case.wanted, &BUILT_IN), Ok(()), "{}", case.command);
            continue;
        }
        let name = &texts[case.at.file].0;
        if bless {
            let line = format!("  {} => {}", case.command, got);
            let text = std::fs::read_to_string(name).unwrap();
            let lines =
                text.lines().enumerate().map(|(at, old)| if at + 1 == case.at.line { line.as_str() } else { old });
            std::fs::write(name, lines.collect::<Vec<_>>().join("\n") + "\n").unwrap();
            continue;
        }
        writeln!(wrong, "{name}:{}\n  {}\n  wanted {}\n  got    {got}", case.at.line, case.command, case.wanted)
            .unwrap();
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(document.cases.len() > 1000, "the cases are missing");
}

fn texts(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(texts(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn no_line_of_a_table_is_wider_than_120_columns() {
    for path in texts(&Path::new(env!("CARGO_MANIFEST_DIR")).join("programs")) {
        let text = std::fs::read_to_string(&path).unwrap();
        let tables = text.split("\ncases\n").next().unwrap();
        for (at, line) in tables.lines().enumerate() {
            assert!(line.chars().count() <= 120, "{}:{}", path.display(), at + 1);
        }
    }
}
