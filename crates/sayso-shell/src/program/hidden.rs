//! Paths within words: behind `=`, `,` or `:`, joined to an option, or handed on to another program.
//!
//! A table says what an option does. But compilers, linkers and test runners hand words on to others, take a file's
//! name behind nearly any option (`-fdump-tree-original=F`, `-Wl,-Map=F`, `-Wa,-a=F`), and have more options than
//! any table holds. So every path in a word of theirs that nothing accounts for may be written.

use super::View;
use crate::effect::{Carry, Verb};
use crate::option::Does;
use crate::word::{Text, Word};
use std::os::unix::ffi::OsStrExt;

/// Options whose value is looked up, searched or only spoken of.
const LOOKED_UP: &[&str] = &[
    "MQ",
    "MT",
    "Ttext",
    "dynamic-linker",
    "dynamic-list",
    "end-group",
    "extern",
    "fdebug-prefix-map",
    "ffile-prefix-map",
    "fmacro-prefix-map",
    "force_load",
    "fprofile-prefix-map",
    "fprofile-use",
    "gcc-toolchain",
    "idirafter",
    "imacros",
    "include",
    "iprefix",
    "iquote",
    "isysroot",
    "isystem",
    "isystem-after",
    "iwithprefix",
    "iwithprefixbefore",
    "library",
    "library-path",
    "no-whole-archive",
    "proto_path",
    "remap-path-prefix",
    "resource-dir",
    "rpath",
    "rpath-link",
    "script",
    "soname",
    "start-group",
    "sysroot",
    "version-script",
    "whole-archive",
];

/// The letters of options whose joined value is looked up: not the same for all programs.
fn looked_up_letters(program: &str) -> &'static [u8] {
    match program {
        "nasm" | "yasm" => b"DIU",
        "pytest" | "gradle" | "gradlew" | "mvn" | "mvnw" | "ant" | "sbt" | "mill" | "lein" | "boot" => b"",
        "dmd" | "ldc2" | "javac" | "kotlinc" | "scalac" | "protoc" | "flatc" | "thrift" | "capnp" => b"I",
        _ => b"BDFILTUl",
    }
}

fn is_looked_up(option: &[u8], letters: &[u8]) -> bool {
    let name = option.strip_prefix(b"--").or_else(|| option.strip_prefix(b"-")).unwrap_or_default();
    let short = !option.starts_with(b"--") && name.first().is_some_and(|letter| letters.contains(letter));
    short || LOOKED_UP.iter().any(|known| known.as_bytes() == name)
}

/// What a program that hands words on may write, beyond what its table says.
pub(super) fn written(view: &mut View<'_>) {
    let letters = looked_up_letters(view.name);
    for at in 1..view.inv.argv.len() {
        let Some(bytes) = view.word(at).and_then(Word::exact) else { continue };
        if !bytes.iter().any(|b| b"/.~".contains(b)) || is_accounted_for(view, at, letters) {
            continue;
        }
        for path in paths_of(bytes, letters) {
            let word = Word::Exact(at_home(view, path));
            view.path_effect(Verb::Write, &word, at, false, Carry::Plain);
        }
    }
}

/// What stands in the words from `from` on goes to another program, which may write every path among them.
pub(super) fn handed_on(view: &mut View<'_>, from: usize) {
    for at in from..view.inv.argv.len() {
        let Some(bytes) = view.word(at).and_then(Word::exact) else { continue };
        for path in paths_of(bytes, b"") {
            let word = Word::Exact(at_home(view, path));
            view.path_effect(Verb::Write, &word, at, false, Carry::Plain);
        }
    }
}

/// As [`handed_on`], for operands and options that no table accounts for.
pub(crate) fn passed_on(view: &mut View<'_>) {
    written(view);
    for at in view.operands() {
        let Some(bytes) = view.word(at).and_then(Word::exact) else { continue };
        if !is_path(bytes) || !is_accounted_for(view, at, b"") {
            continue;
        }
        let word = Word::Exact(at_home(view, bytes));
        view.path_effect(Verb::Write, &word, at, false, Carry::Plain);
    }
}

/// Whether the table says what this word does: an operand, an option of its own, or such an option's value.
fn is_accounted_for(view: &View<'_>, at: usize, letters: &[u8]) -> bool {
    let of_table = |name: &str| {
        let mut tables = view.root.options.iter().chain(view.spec.options);
        tables.find_map(|table| table.does(name))
    };
    let here = || view.seen.iter().filter(|seen| seen.at == at);
    if here().next().is_some() {
        // With a letter that nobody knows, the word may not be a cluster at all (`-a=/home/x` holds an `-o`).
        return here().all(|seen| of_table(&seen.opt.name).is_some())
            && here().any(|seen| of_table(&seen.opt.name) != Some(Does::Nothing));
    }
    // An operand, unless an option stands before it that nobody knows: then it may be that option's value.
    let operand = view.out.words.iter().any(|&word| usize::from(word) == at);
    let Some(before) = view.seen.iter().rev().find(|seen| seen.at + 1 == at) else { return operand };
    let joined = view.word(before.at).and_then(Word::exact).unwrap_or_default();
    if is_looked_up(joined, letters) {
        return true;
    }
    match of_table(&before.opt.name) {
        Some(does) => operand || does != Does::Nothing,
        // What follows a word that holds its own value is an operand.
        None => operand && joined.iter().any(|b| b"=,/".contains(b)),
    }
}

/// The paths in a word, one for each value that an option in it may have.
fn paths_of<'w>(word: &'w [u8], letters: &[u8]) -> Vec<&'w [u8]> {
    let mut paths = Vec::new();
    let mut option: &[u8] = b"";
    for item in word.split(|b| *b == b',') {
        let equals = item.iter().position(|b| *b == b'=');
        let value = equals.and_then(|at| item.get(at + 1..));
        let value = if item.starts_with(b"-") {
            option = item.get(..equals.unwrap_or(item.len())).unwrap_or(item);
            value.or_else(|| joined(item))
        } else {
            value.or(Some(item))
        };
        let Some(value) = value.filter(|_| !is_looked_up(option, letters)) else { continue };
        // `name:/path`, but no URL; and `--emit=name=/path`.
        let colon = value.iter().position(|b| *b == b':').and_then(|at| value.get(at + 1..));
        let colon = colon.filter(|behind| !behind.starts_with(b"//"));
        let equals = value.iter().rposition(|b| *b == b'=').and_then(|at| value.get(at + 1..));
        paths.extend([Some(value), colon, equals].into_iter().flatten().filter(|path| is_path(path)));
    }
    paths
}

fn is_path(text: &[u8]) -> bool {
    let url = text.windows(3).any(|three| three == b"://");
    let hidden = matches!(text, [b'.', next, ..] if !next.is_ascii_digit());
    !url && (text.contains(&b'/') || hidden || text.starts_with(b"~"))
}

/// What is joined to a short option: `-MF/path`, `-J../path`, `-osub/path`.
fn joined(option: &[u8]) -> Option<&[u8]> {
    let slash = option.iter().position(|b| *b == b'/')?;
    let before = option.get(..slash)?;
    let start = match before {
        [.., b'.', b'.'] => slash.saturating_sub(2),
        [.., b'.' | b'~'] => slash.saturating_sub(1),
        // More letters than an option has belong to a folder's name.
        _ if slash > 3 => 2,
        _ => slash,
    };
    option.get(start..)
}

/// Some programs take `~` for the home folder themselves.
fn at_home(view: &View<'_>, path: &[u8]) -> Text {
    match (path.strip_prefix(b"~/"), view.inv.home) {
        (Some(rest), Some(home)) => Text::from([home.as_os_str().as_bytes(), b"/", rest].concat()),
        _ => Text::from(path),
    }
}

/// Every text in a word that may be a path with a folder: from its start and from behind each sign that may stand
/// before one, up to the next such sign or to the end.
pub fn paths_within(word: &[u8]) -> Vec<&[u8]> {
    /// Beyond this many only what stands between two signs counts, so that the work stays linear.
    const WHOLE: usize = 32;
    if !word.contains(&b'/') {
        return Vec::new();
    }
    let is_sign = |b: &u8| b.is_ascii_whitespace() || b"=,:;@|&\"'`()<>{}[]%#!".contains(b);
    let mut found: Vec<&[u8]> = Vec::new();
    let mut start = 0;
    for (count, piece) in word.split(is_sign).enumerate() {
        let tail = word.get(start..).filter(|tail| count < WHOLE && tail.len() > piece.len());
        for text in [Some(piece), tail].into_iter().flatten().filter(|text| text.contains(&b'/')) {
            found.push(text);
            found.extend(from_first_slash(text));
        }
        start += piece.len() + 1;
    }
    found
}

/// The path that begins with the first slash, or with `..` or `~` before it.
fn from_first_slash(text: &[u8]) -> Option<&[u8]> {
    let slash = text.iter().position(|b| *b == b'/')?;
    let start = match text.get(..slash)? {
        [.., b'.', b'.'] => slash - 2,
        [.., b'~'] => slash - 1,
        _ => slash,
    };
    text.get(start..).filter(|_| start > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(paths: Vec<&[u8]>) -> String {
        paths.into_iter().map(String::from_utf8_lossy).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_path_is_found_behind_what_programs_hand_on() {
        for (word, expected) in [
            ("-Wl,-o,/x/y", "/x/y"),
            ("-Wl,-Map=/x/y", "/x/y"),
            ("-Wa,-a=../y", "../y"),
            ("-Wp,-MD,.git/hooks/x", ".git/hooks/x"),
            ("-fdump-tree-original=/x", "/x"),
            ("-J/x/y", "/x/y"),
            ("-Jbuild/mod", "build/mod"),
            ("log_file=/x/y", "/x/y"),
            ("term-missing:/x", "term-missing:/x /x"),
            ("-fopt-info=.envrc", ".envrc"),
            ("-Wl,-rpath,/usr/lib", ""),
            ("-Wl,-rpath=/usr/lib,-Map=/x", "/x"),
            ("-Wl,-L/usr/lib", ""),
            ("-DPATH=/usr/share", ""),
            ("--sysroot=/opt/sdk", ""),
            ("--emit=link=/x", "link=/x /x"),
            ("-std=c++17", ""),
            ("-mfoo=.5", ""),
            ("--url=https://example.org/x", ""),
        ] {
            assert_eq!(shown(paths_of(word.as_bytes(), b"BDFILTUl")), expected, "{word}");
        }
    }

    #[test]
    fn paths_within_a_word_are_all_that_could_be_meant() {
        for (word, expected) in [
            ("plain", ""),
            ("a/b", "a/b /b"),
            ("-MF/x/y", "-MF/x/y /x/y"),
            ("-o../x", "-o../x ../x"),
            ("k=/x", "k=/x /x /x"),
            ("/x target", "/x /x target"),
        ] {
            assert_eq!(shown(paths_within(word.as_bytes())), expected, "{word}");
        }
        assert!(paths_within(&b",/a".repeat(20_000)).len() < 50_000);
    }
}
