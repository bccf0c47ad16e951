//! Small texts, a line each, and the commands in them: `data/syntax.txt`.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a failed unwrap is a failed test")]

mod reduce;

use sayso_shell::Dialect;
use sayso_shell::syntax::{Options, parse};

/// `\n`, `\t`, `\r`, `\\` and `\xff` as the bytes they stand for.
fn bytes(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first != b'\\' {
            out.push(*first);
            continue;
        }
        let [letter, tail @ ..] = rest else { panic!("a lone backslash in {text:?}") };
        rest = tail;
        out.push(match letter {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'\\' => b'\\',
            b'x' => {
                let digits = std::str::from_utf8(&rest[..2]).unwrap();
                rest = &rest[2..];
                u8::from_str_radix(digits, 16).unwrap()
            }
            other => panic!("\\{} in {text:?}", char::from(*other)),
        });
    }
    out
}

#[test]
fn each_text_holds_the_commands_beside_it() {
    let mut failures = Vec::new();
    for line in include_str!("data/syntax.txt").lines().filter(|line| !line.starts_with('#')) {
        let (text, expected) = line.split_once('\t').unwrap();
        let found = match parse(&bytes(text), Dialect::Bash, Options::default()).map(|tree| reduce::reduce(&tree)) {
            Err(_) => "error".to_owned(),
            Ok(found) if found.opaque => "opaque".to_owned(),
            Ok(mut found) => {
                found.commands.sort();
                found.commands.iter().map(|words| words.join("|")).collect::<Vec<_>>().join(";")
            }
        };
        let expected = String::from_utf8_lossy(&bytes(expected)).into_owned();
        let mut commands: Vec<Vec<&str>> = expected.split(';').map(|words| words.split('|').collect()).collect();
        commands.sort();
        let expected = commands.iter().map(|words| words.join("|")).collect::<Vec<_>>().join(";");
        if found != expected {
            failures.push(format!("{text}\n  found    {found:?}\n  expected {expected:?}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn extended_globs_are_words_only_when_they_are_switched_on() {
    let text = b"echo !(a|$(b)) +(c)";
    assert!(parse(text, Dialect::Bash, Options::default()).is_err());
    let tree = parse(text, Dialect::Bash, Options { extended_globs: true }).unwrap();
    assert_eq!(
        reduce::reduce(&tree).commands,
        [vec!["b".to_owned()], vec!["echo".into(), "$DYN".into(), "$DYN".into()]]
    );
}

#[test]
fn what_another_shell_reads_otherwise_is_noted() {
    let differs = |text: &[u8]| parse(text, Dialect::Other, Options::default()).unwrap().differs.is_some();
    for text in
        ["a b 'c' \"$d\" $(e) `f` >g 2>&1", "if a; then b; fi", "x=${y:-z} a", "f() { a; }; f", "cat <<E\nx\nE\n"]
    {
        assert!(!differs(text.as_bytes()), "{text}");
    }
    for text in [
        "((a))",
        "[[ a ]]",
        "a $'b'",
        "a <(b)",
        "a=(b)",
        "function f { a; }",
        "a &>b",
        "a |& b",
        "a <<< b",
        "echo ${a/b}",
    ] {
        assert!(differs(text.as_bytes()), "{text}");
    }
}

#[test]
fn spans_inside_backticks_point_into_the_source() {
    let text = b"echo `a \\`bc\\``";
    let tree = parse(text, Dialect::Bash, Options::default()).unwrap();
    let picture = tree.render();
    assert!(picture.contains("word 'bc'  [10..12]"), "{picture}");
}
