//! What a tool's own files have shells run, or take in: `include rules.mk`, `./gen.sh`, `sh run.sh`, and what those run.
//!
//! Whoever may not write a Makefile unseen must not write the script that it starts either. Only shell scripts and what is
//! included count: a program in another language that a recipe starts is a source, as tests are.

use super::LARGEST;
use crate::canonical;
use crate::files::{Files, Kind};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Files that are read.
const MOST_READ: usize = 64;
/// Words of one file.
const MOST_WORDS: usize = 4096;
/// Names of folders and files that are tried, for all files together.
const MOST_TRIES: usize = 4096;

/// Whether a file of this name may be a shell script, or a part that others include. Says no to what sources are called.
pub(super) fn may_be_script(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return true };
    match name.trim_start_matches('.').rsplit_once('.') {
        None => true,
        Some((_, ending)) => {
            matches!(ending, "sh" | "bash" | "zsh" | "ksh" | "dash" | "mk" | "mak" | "make" | "inc" | "just" | "in")
        }
    }
}

/// The scripts that these files lead to, and those that they lead to in turn. `places`: where the tool is at work.
pub(super) fn reached(files: &dyn Files, from: Vec<PathBuf>, places: &[PathBuf]) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut queue = from;
    let (mut read, mut tries) = (0, 0);
    while let Some(path) = queue.pop() {
        read += 1;
        if read > MOST_READ {
            break;
        }
        let Some(content) = files.read(&path, LARGEST) else { continue };
        let text = String::from_utf8_lossy(&content);
        let beside = path.parent().map(Path::to_path_buf);
        let bases: Vec<&PathBuf> = beside.iter().chain(places).collect();
        for word in words(&text) {
            for base in &bases {
                tries += 1;
                if tries > MOST_TRIES {
                    return found;
                }
                let path = canonical(files, &base.join(word)).path;
                if !found.contains(&path) && may_be_script(&path) && is_script(files, &path) {
                    queue.push(path.clone());
                    found.insert(path);
                }
            }
        }
    }
    found
}

/// Words that may be names of scripts: no options, variables or patterns.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let apart = |c: char| {
        c.is_whitespace()
            || matches!(
                c,
                '"' | '\'' | ';' | '&' | '|' | '(' | ')' | '`' | ',' | '=' | '<' | '>' | '[' | ']' | '{' | '}'
            )
    };
    let plain = |word: &&str| {
        !word.is_empty()
            && !word.starts_with('-')
            && !word.contains(['$', '*', '?', '%', '@', '\\', ':'])
            && may_be_script(Path::new(word))
    };
    // What has neither an ending nor a slash is most often a command or a target.
    let names = |word: &&str| word.contains('/') || word.contains('.');
    text.split(apart).take(MOST_WORDS * 4).filter(plain).filter(names).take(MOST_WORDS)
}

/// A file, and not a program for the machine.
fn is_script(files: &dyn Files, path: &Path) -> bool {
    matches!(files.kind(path), Kind::File { .. })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryFiles;

    #[test]
    fn what_a_makefile_includes_and_starts_is_reached_and_sources_are_not() {
        let mut files = MemoryFiles::new();
        files.folder("/w/scripts");
        files.file("/w/Makefile", b"include rules.mk\nall:\n\t./gen.sh && cc -o x main.c\n\tpython3 make.py\n");
        files.file("/w/rules.mk", b"x:\n\tsh scripts/deep.sh\n");
        files.file("/w/gen.sh", b"#!/bin/sh\n. ./lib.sh\n");
        for name in ["lib.sh", "main.c", "make.py", "scripts/deep.sh", "other.sh"] {
            files.file(format!("/w/{name}"), b"true\n");
        }
        let found = reached(&files, vec!["/w/Makefile".into()], &["/w".into()]);
        let names: Vec<&str> = found.iter().filter_map(|path| path.to_str()).collect();
        assert_eq!(names, ["/w/gen.sh", "/w/lib.sh", "/w/rules.mk", "/w/scripts/deep.sh"]);
    }
}
