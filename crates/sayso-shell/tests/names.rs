//! No room but the texts of programs, and the functions that they name, asks for a program by its name: the sources are
//! looked through for string literals that are one.
//!
//! What a room wants to know of programs is a facet, or another fact that a text states. A list of names
//! elsewhere would know other names than the tables do, which is a way past a rule: `docs/programs.md`.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::string_slice, reason = "a test may panic")]

use sayso_shell::program::{Facets, all, commands};
use sayso_shell::resolve::is_builtin;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Names of programs that are ordinary words too: keys of JSON and columns, verbs of policies, tools of agents, words of
/// commands, schemes of addresses; and Sayso itself. Which is meant, a literal does not say; a list of programs is found by the others in it.
const WORDS: &str = ": [ [[ apply_patch as at build builtin cat code column command coverage cut dd defaults delta diff dir env exec \
    expect file find groups halt head host hostname http https id import info init install kind last link links make migrate \
    more n named open pass passwd patch ping port pwd q rename reset sayso script scheme security seq serve skill start stat step sync task \
    test time timeout trust type users view venv w wait wall watch which write yes true false ab hd vd node";

/// Rooms that name programs, and why they may.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("sayso-agents/src/acp/call.rs", "`bash` is a tool of agents"),
    ("sayso-agents/src/agent/", "each agent's row, its own words and settings"),
    (
        "sayso-agents/src/hold/",
        "processes between an agent and its hook, shells of registrations; an unknown one holds nothing",
    ),
    ("sayso-agents/src/install/", "each agent's own settings, and keys in them"),
    ("sayso-agents/src/live/", "how the real agents are started, and tools of theirs"),
    ("sayso-agents/src/mcp/", "names of clients, as they call themselves"),
    ("sayso-agents/src/seat.rs", "what the processes of agents look like, whoever else runs JavaScript"),
    ("sayso-agents/src/shell.rs", "the shells that an agent runs, written as a registration names them"),
    ("sayso-formats/src/", "other systems' formats, with lists of their own that are part of what they mean"),
    ("sayso-hold/src/", "devices and machines, as the kernel names them"),
    ("sayso-gate/src/audit/redact/table.rs", "parts of secrets' names, and what stands before `:` in an address"),
    ("sayso-gate/src/history/proposal/harm.rs", "words by which calls of any program say that they lose something"),
    ("sayso-gate/src/history/proposal/script.rs", "modules of Python's own library"),
    ("sayso-gate/src/history/proposal/need.rs", "subcommands that clients of many kinds have"),
    ("sayso-gate/src/hold/blank.rs", "schemes of addresses"),
    ("sayso-gate/src/hold/ground.rs", "folders in which programs listen, as they name them"),
    ("sayso-gate/src/hold/store.rs", "keys of git's own files"),
    ("sayso-policy/src/compare/corner.rs", "commands to try two policies with, which judge them like any other"),
    ("sayso-policy/src/set/mod.rs", "the patterns of built-in sets, as a policy file would write them"),
    ("sayso-policy/src/stage/integrity/switch/", "the agents' own programs, options and settings"),
    ("sayso-policy/src/stage/patterns.rs", "names of tools"),
    ("sayso-policy/src/text/read.rs", "`bash` is a tool that people write"),
    ("sayso-policy/src/tool/", "names of agents' tools, and of their parameters"),
    (
        "sayso-shell/src/certain/",
        "settings of the shell, and commands whose output is certain: docs/soundness.md lists them",
    ),
    ("sayso-shell/src/effect.rs", "names of languages"),
    ("sayso-shell/src/instruct/follow/", "endings of files, and words of scripts, that are names of programs too"),
    ("sayso-shell/src/script/", "names of languages, and of commands in them"),
    ("sayso-shell/src/instruct/scripts.rs", "endings of files that are scripts"),
    ("sayso/src/choice.rs", "the agents, as users name them"),
    ("sayso/src/cli.rs", "Sayso's own commands, and an example"),
    ("sayso/src/command/policy/diff.rs", "the program that a file of a commit is read with"),
    ("sayso/src/show/caret.rs", "an example"),
];

#[test]
fn no_room_but_the_tables_names_a_program() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let words: BTreeSet<&str> = WORDS.split_whitespace().collect();
    let mut known: BTreeSet<String> = all().map(|(name, _)| name.to_owned()).collect();
    let by_facet = Facets::ALL.iter().flat_map(|(_, facet)| commands(*facet));
    // Commands of the shell itself are words of its language: `read`, `set`, `export`.
    known.extend(by_facet.filter(|name| !name.contains(' ') && !is_builtin(name)));
    assert!(known.len() > 2000);

    let (mut found, mut used) = (Vec::new(), BTreeSet::new());
    for file in sources(&crates) {
        let shown = file.strip_prefix(&crates).unwrap().to_str().unwrap().to_owned();
        let text = std::fs::read_to_string(&file).unwrap();
        // The shell's own commands are known by name in the shell. The walker has no other use for names, so that there
        // no word is an ordinary one.
        let is_own = |name: &str| shown.starts_with("sayso-shell/") && is_builtin(name);
        let is_word = |name: &str| words.contains(name) && !shown.starts_with("sayso-shell/src/walk/");
        let is_name = |name: &str| known.contains(name) && !is_own(name) && !is_word(name);
        let named: BTreeSet<&str> = literals(&text).into_iter().filter(|literal| names(literal, &is_name)).collect();
        if named.is_empty() {
            continue;
        }
        match EXCEPTIONS.iter().find(|(room, _)| shown.starts_with(room)) {
            Some((room, _)) => drop(used.insert(*room)),
            None => found.push(format!("{shown}: {}", named.into_iter().collect::<Vec<_>>().join(" "))),
        }
    }
    assert!(
        found.is_empty(),
        "these name programs; state a facet in crates/sayso-shell/programs and ask for it:\n{}",
        found.join("\n")
    );
    for (room, why) in EXCEPTIONS {
        assert!(used.contains(room), "{room} names no program any more ({why}): take it off the list");
    }
}

/// Whether a literal names a program: as it is, at the end of a path of programs, in a list, or with an option behind it.
fn names(literal: &str, is_name: &dyn Fn(&str) -> bool) -> bool {
    let parts: Vec<&str> = literal.split(|c: char| c.is_whitespace() || "|,;".contains(c)).collect();
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let all_are = parts.len() > 1 && parts.iter().all(|part| is_name(part));
    let with_option = parts.first().is_some_and(|first| is_name(first))
        && parts.iter().skip(1).take(2).any(|part| part.len() > 1 && part.starts_with('-') && *part != "->");
    let at_end = literal.starts_with('/') && literal.rsplit_once("bin/").is_some_and(|(_, name)| is_name(name));
    is_name(literal) || all_are || with_option || at_end
}

#[test]
fn a_name_is_found_in_a_path_a_list_and_a_command() {
    let is_name = |name: &str| matches!(name, "git" | "sh" | "sort");
    for literal in ["git", "/usr/bin/git", "git|sh", "sort sh", "git, sh, sort", "sh -c", "git push --force", "sort;sh"]
    {
        assert!(names(literal, &is_name), "{literal}");
    }
    for literal in ["gitx", "git is not there", "/git", "a git", "sh or what", "git -> sh here", "x -c sh", ""] {
        assert!(!names(literal, &is_name), "{literal}");
    }
}

/// The rooms of this crate that name programs: what data does not say of them, what the shell has itself, and shells.
const ROOMS: [&str; 4] =
    ["sayso-shell/src/program", "sayso-shell/src/builtin", "sayso-shell/src/dialect", "sayso-shell/src/resolve.rs"];

/// Every source but those of these rooms.
fn sources(crates: &Path) -> Vec<PathBuf> {
    let (mut open, mut found) = (Vec::new(), Vec::new());
    for entry in std::fs::read_dir(crates).unwrap() {
        open.push(entry.unwrap().path().join("src"));
    }
    while let Some(path) = open.pop() {
        let name = path.file_name().unwrap().to_str().unwrap();
        if ROOMS.iter().any(|room| path.ends_with(room)) {
            continue;
        }
        if path.is_dir() && name != "tests" {
            open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if name.ends_with(".rs") && !matches!(name, "tests.rs" | "testing.rs") {
            found.push(path);
        }
    }
    assert!(found.len() > 300, "{}", found.len());
    found
}

/// The string literals of a source, without its comments and the tests at its end.
fn literals(text: &str) -> Vec<&str> {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let bytes = text.as_bytes();
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let rest = &text[at..];
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if let Some(raw) = rest.strip_prefix("r#\"") {
            at += raw.find("\"#").map_or(rest.len(), |end| end + 5);
        } else if rest.starts_with('"') {
            let mut end = at + 1;
            while end < bytes.len() && bytes[end] != b'"' {
                end += if bytes[end] == b'\\' { 2 } else { 1 };
            }
            found.push(&text[at + 1..end.min(bytes.len())]);
            at = end + 1;
        } else if rest.starts_with("'\"'") || rest.starts_with("'\\'") {
            at += 3;
        } else if rest.starts_with("'\\\"'") {
            at += 4;
        } else {
            at += 1;
            while !text.is_char_boundary(at) {
                at += 1;
            }
        }
    }
    found
}

#[test]
fn literals_are_told_from_comments_and_characters() {
    let text =
        "// \"a\"\nlet x = [\"b\", b\"c\", '\"', \"d\\\"e\", r#\"f\"#, \"\u{e9}\"];\n#[cfg(test)]\nmod tests {\"g\"}";
    assert_eq!(literals(text), ["b", "c", "d\\\"e", "\u{e9}"]);
}
