//! What a tool's own files have shells run, or take in: `include rules.mk`, `./gen.sh`, `sh run.sh`, and what those run.
//!
//! Whoever may not write a Makefile unseen must not write the script that it starts either. Only shell scripts and what is
//! included count: a program in another language that a recipe starts is a source, as tests are.

use super::LARGEST;
use crate::canonical;
use crate::files::{Files, Kind};
use std::collections::{BTreeSet, HashSet};
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

/// What files lead to.
#[derive(Debug, Default)]
pub(super) struct Reached {
    /// The scripts, and what is named as one and is not there yet.
    pub files: BTreeSet<PathBuf>,
    /// Not all was read: there may be more.
    pub more: bool,
}

/// The scripts that these files lead to, and those that they lead to in turn. `places`: where the tool is at work.
pub(super) fn reached(files: &dyn Files, from: Vec<PathBuf>, places: &[PathBuf]) -> Reached {
    let mut found = Reached::default();
    let mut tried: HashSet<PathBuf> = HashSet::new();
    let mut queue = from;
    let mut read = 0;
    while let Some(path) = queue.pop() {
        read += 1;
        if read > MOST_READ {
            found.more = true;
            return found;
        }
        let Some(content) = files.read(&path, LARGEST) else {
            found.more |= is_file(files, &path);
            continue;
        };
        let text = String::from_utf8_lossy(&content);
        let beside = path.parent().map(Path::to_path_buf);
        let bases: BTreeSet<&PathBuf> = beside.iter().chain(places).collect();
        // What is named as a script is one whatever it is called, and before it is there.
        let named = named_scripts(&text);
        let (plain, whole) = words(&text);
        found.more |= !whole;
        for (word, is_named) in named.into_iter().map(|word| (word, true)).chain(plain.map(|word| (word, false))) {
            for base in &bases {
                let joined = base.join(word);
                if !is_named && tried.contains(&joined) {
                    continue;
                }
                if tried.len() >= MOST_TRIES {
                    found.more = true;
                    return found;
                }
                let path = canonical(files, &joined).path;
                tried.insert(joined);
                let there = is_file(files, &path);
                let counts = if there { is_named || may_be_script(&path) } else { is_named };
                if counts && found.files.insert(path.clone()) && there {
                    queue.push(path);
                }
            }
        }
    }
    found
}

/// Between words of a file, whatever its language.
fn is_apart(c: char) -> bool {
    c.is_whitespace() || is_mark(c) || matches!(c, ',' | '=' | '<' | '>' | '[' | ']')
}

/// Behind one of these a command may begin.
fn is_mark(c: char) -> bool {
    matches!(c, '"' | '\'' | ';' | '&' | '|' | '(' | ')' | '`' | '{' | '}')
}

/// No variables or patterns, and no option.
fn is_plain(word: &str) -> bool {
    !word.is_empty() && !word.starts_with('-') && !word.contains(['$', '*', '?', '%', '@', '\\', ':'])
}

/// What stands behind `include`, `.` and the name of a shell.
fn named_scripts(text: &str) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    // Lines that a backslash joins are one.
    let mut joined = false;
    let mut includes = false;
    for line in text.lines() {
        if !joined {
            includes = false;
        }
        joined = line.ends_with('\\');
        let mut shell = false;
        let mut begins = true;
        for piece in line.split_inclusive(is_apart) {
            let word = piece.trim_end_matches(is_apart);
            let mark = piece.chars().next_back().is_some_and(is_mark);
            if !word.is_empty() {
                let bare = word.trim_start_matches(['@', '-', '+']);
                let name = bare.rsplit('/').next().unwrap_or(bare);
                if includes {
                    found.extend(Some(word).filter(|word| is_plain(word)));
                } else if shell {
                    // What follows `-c` is no file.
                    let option = word.starts_with('-');
                    if !option {
                        found.extend(Some(word).filter(|word| is_plain(word)));
                    }
                    shell = option && (word.starts_with("--") || !word.contains('c'));
                } else if begins && matches!(bare, "include" | "sinclude" | "import") {
                    includes = true;
                } else {
                    shell = matches!(name, "sh" | "bash" | "dash" | "zsh" | "ksh" | "ash" | "SHELL" | "source")
                        || begins && bare == ".";
                }
                begins = matches!(bare, "then" | "do" | "else" | "if" | "while" | "until" | "!" | "RUN");
            }
            begins |= mark;
        }
    }
    found
}

/// Words that may be names of scripts, and whether these are all.
fn words(text: &str) -> (impl Iterator<Item = &str>, bool) {
    let all = || {
        // What has neither an ending nor a slash is most often a command or a target.
        let names = |word: &&str| word.contains('/') || word.contains('.');
        let plain = |word: &&str| is_plain(word) && may_be_script(Path::new(word));
        text.split(is_apart).filter(plain).filter(names)
    };
    let whole = all().nth(MOST_WORDS).is_none();
    (all().take(MOST_WORDS), whole)
}

fn is_file(files: &dyn Files, path: &Path) -> bool {
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
        let names: Vec<&str> = found.files.iter().filter_map(|path| path.to_str()).collect();
        assert_eq!(names, ["/w/gen.sh", "/w/lib.sh", "/w/rules.mk", "/w/scripts/deep.sh"]);
        assert!(!found.more);
    }

    fn of(makefile: &str) -> Reached {
        let mut files = MemoryFiles::new();
        files.folder("/w").file("/w/Makefile", makefile.as_bytes());
        reached(&files, vec!["/w/Makefile".into()], &["/w".into()])
    }

    #[test]
    fn what_is_named_as_a_script_counts_before_it_is_there_and_whatever_it_is_called() {
        for (makefile, name) in [
            ("include later\n", "later"),
            ("-include a later.txt\n", "later.txt"),
            ("include a \\\n  later.py\n", "later.py"),
            ("all:\n\t@. ./later.txt\n", "later.txt"),
            ("all:\n\tsh later\n", "later"),
            ("all:\n\t/bin/sh -e later.data\n", "later.data"),
            ("all:\n\tcd . && bash -eu -x later.js\n", "later.js"),
            ("all:\n\t$(SHELL) later\n", "later"),
            ("{\"scripts\": {\"test\": \"sh later && true\"}}", "later"),
        ] {
            let found = of(makefile);
            assert!(found.files.contains(&Path::new("/w").join(name)), "{makefile}: {found:?}");
            assert!(!found.more, "{makefile}");
        }
        assert!(of("all:\n\tsh -c make\n\tcp x .\n").files.is_empty());
    }

    #[test]
    fn what_was_not_read_to_the_end_may_lead_anywhere() {
        let many: String = (0..=MOST_WORDS).map(|n| format!("./w{n}.sh ")).collect();
        assert!(of(&many).more);
        assert!(of(&"#".repeat(LARGEST + 1)).more);
        let shells: String = (0..=MOST_TRIES).map(|n| format!("\tsh w{n}\n")).collect();
        assert!(of(&shells).more);
        let mut files = MemoryFiles::new();
        files.folder("/w");
        for n in 0..=MOST_READ {
            files.file(format!("/w/{n}.sh"), format!("./{}.sh\n", n + 1).as_bytes());
        }
        assert!(reached(&files, vec!["/w/0.sh".into()], &["/w".into()]).more);
    }
}
