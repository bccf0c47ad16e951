//! Hostile size: what an attacker repeats ten thousand times must neither exhaust the stack nor make the parser work
//! more than in proportion. Work is counted in parser steps, not in time.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a failed unwrap is a failed test")]

use proptest::prelude::*;
use sayso_shell::Dialect;
use sayso_shell::limit::MAX_COMMAND;
use sayso_shell::syntax::{Options, Trouble, parse};

/// What is repeated: before, again and again, after.
const PATTERNS: &[(&str, &str, &str)] = &[
    ("", "$(", ""),
    ("", "$(", ")"),
    ("", "{ ", ""),
    ("", "(", ""),
    ("", "( ", ""),
    ("", "((", ""),
    ("", "((", "))"),
    ("", "$((", ""),
    ("", "$((", "))"),
    ("", "$((1+", "))"),
    ("", "$(( $(", ")))"),
    ("", "$[", ""),
    ("", "`", ""),
    ("", "\\`", ""),
    ("echo ", "`a` ", ""),
    ("", "a;", ""),
    ("", "a|", "a"),
    ("", "a&&", "a"),
    ("", "a\n", ""),
    ("", "! ", "a"),
    ("", "time ", "a"),
    ("echo ", "${a:-", ""),
    ("echo ", "${a:-", "}"),
    ("echo \"", "${a:-", "}"),
    ("echo \"", "${a:-'", ""),
    ("echo ", "${a:-\"", ""),
    ("echo ", "${a:$(", ")}"),
    ("echo ", "${a/", "}"),
    ("echo ", "${a[", "]}"),
    ("echo ", "${a:-$(b ", ")}"),
    ("echo ", "${a:-x}", ""),
    ("echo \"${x:-", "${a:-x}", "}\""),
    ("echo ", "\"$(", ""),
    ("echo ", "\"${a}\"", ""),
    ("echo ", "'a'", ""),
    ("echo ", "\\a", ""),
    ("echo a", "\\\n", "b"),
    ("echo \"a", "\\\n", "b\""),
    ("echo ", "$'\\x41'", ""),
    ("echo ", "<(", ""),
    ("echo ", "<(a) ", ""),
    ("", "a[", ""),
    ("", "a[1]=(", ""),
    ("", "a=(", ""),
    ("a=(", "b ", ")"),
    ("a=(", "[1]=b ", ")"),
    ("[[ ", "(", ""),
    ("[[ ", "( ", ""),
    ("[[ ", "! ", "a ]]"),
    ("[[ ", "a && ", "a ]]"),
    ("[[ a =~ ", "(", ""),
    ("", "case x in ", ""),
    ("", "case x in a) ", ""),
    ("case x in ", "a) b;; ", "esac"),
    ("case x in ", "a|", "b) c;; esac"),
    ("", "if a; then ", ""),
    ("if a; then b; ", "elif a; then b; ", "fi"),
    ("", "while ", ""),
    ("", "for i in ", ""),
    ("", "for ((", ""),
    ("", "f() ", ""),
    ("", "function f ", ""),
    ("", "coproc ", ""),
    ("", "cat <<E\n", ""),
    ("", "cat <<E\nE\n", ""),
    ("", "cat <<E\n$(", ""),
    ("", "cat <<-E\n\t$(", ""),
    ("", "cat <<E\n${a:-", ""),
    ("", "$(cat <<E\n", ""),
    ("cat ", "<<E ", ""),
    ("cat <<E\n", "a\\\n", "\nE\n"),
    ("cat <<-E\n", "\ta\n", "\nE\n"),
    ("cat <<E\n", "E)\n", ""),
    ("$(cat <<E\n", "a)\n", ""),
    ("a ", "2>&1 ", ""),
    ("a ", "{x}>y ", ""),
    ("a ", "{x", ""),
    ("a ", "9", ""),
    ("a ", "9 ", ""),
    ("a ", ">&-", ""),
    ("", "#", ""),
    ("", "# \n", ""),
    ("a ", "$", ""),
    ("a ", "$\\\n", ""),
    ("", "\\\n", ""),
];

/// As many repetitions as fit into `size` bytes.
fn repeated(pattern: (&str, &str, &str), size: usize) -> Vec<u8> {
    let (before, again, after) = pattern;
    let times = size.saturating_sub(before.len() + after.len()) / again.len();
    // Brackets are closed as often as they were opened, as far as that fits.
    let closing = if again.contains(['(', '{', '[']) && !after.is_empty() { after.len() } else { 0 };
    if closing > 0 {
        let times = size / (again.len() + closing);
        return format!("{before}{}{}", again.repeat(times), after.repeat(times)).into_bytes();
    }
    format!("{before}{}{after}", again.repeat(times)).into_bytes()
}

fn steps(source: &[u8]) -> u64 {
    // A failed parse tells no steps; then it stopped before its budget, which is itself in proportion to the length.
    match parse(source, Dialect::Bash, Options::default()) {
        Ok(tree) => tree.steps,
        Err(error) => {
            assert_ne!(
                error.trouble,
                Trouble::TooMuchWork,
                "work ran out on {:?}",
                String::from_utf8_lossy(&source[..40.min(source.len())])
            );
            0
        }
    }
}

#[test]
fn repeated_syntax_neither_overflows_the_stack_nor_multiplies_the_work() {
    for pattern in PATTERNS {
        let small = repeated(*pattern, MAX_COMMAND / 8);
        let large = repeated(*pattern, MAX_COMMAND);
        let (few, many) = (steps(&small), steps(&large));
        // Eight times the text, and no more than ten times the work.
        assert!(many <= few.max(1000) * 10, "{pattern:?}: {few} steps for {}, {many} for {}", small.len(), large.len());
        assert!(many <= 40 * large.len() as u64, "{pattern:?}: {many} steps for {} bytes", large.len());
    }
}

#[test]
fn nesting_up_to_the_limit_is_understood_and_beyond_it_refused() {
    for (open, close) in [("$(", ")"), ("( ", ")"), ("{ ", ";}"), ("${a:-", "}"), ("$(( ", "))"), ("\"$(", ")\"")] {
        let nested = |times: usize| {
            format!("echo; {}a{}", open.repeat(times), close.repeat(times)).replace("; $", " $").replace("; \"", " \"")
        };
        assert!(parse(nested(10).as_bytes(), Dialect::Bash, Options::default()).is_ok(), "{}", nested(10));
        let error = parse(nested(200).as_bytes(), Dialect::Bash, Options::default()).unwrap_err();
        assert_eq!(error.trouble, Trouble::TooDeep, "{open}");
    }
}

#[test]
fn a_text_over_the_length_limit_is_refused_before_it_is_read() {
    for byte in [b'a', b'$', b'(', b'`', b'\\', b'"', b'\n'] {
        let error = parse(&vec![byte; 1 << 20], Dialect::Bash, Options::default()).unwrap_err();
        assert_eq!(error.trouble, Trouble::TooLong);
    }
    assert!(parse(&vec![b'a'; MAX_COMMAND], Dialect::Bash, Options::default()).is_ok());
}

#[test]
fn a_nul_byte_makes_a_text_unreadable() {
    let error = parse(b"echo a\0b", Dialect::Bash, Options::default()).unwrap_err();
    assert_eq!(error.trouble, Trouble::Nul);
}

/// Pieces that mean something, so that random texts get past the first byte.
const PIECES: &[&str] = &[
    "a",
    "b1",
    "=",
    "(",
    ")",
    "((",
    "))",
    "{",
    "}",
    "{ ",
    "; }",
    ";",
    ";;",
    "&",
    "&&",
    "|",
    "||",
    "|&",
    "<",
    ">",
    "<<",
    "<<-",
    "<<<",
    "E",
    "\n",
    "\nE\n",
    "\t",
    " ",
    "$",
    "$(",
    "${",
    "$((",
    "$[",
    "]",
    "[",
    "[[ ",
    " ]]",
    "`",
    "\\",
    "\\\n",
    "'",
    "\"",
    "$'",
    "$\"",
    "#",
    "!",
    "!(",
    "@(",
    "if ",
    "then ",
    "fi",
    "case ",
    " in ",
    "esac",
    "for ",
    "do ",
    "done",
    "while ",
    "function ",
    "time ",
    "coproc ",
    "select ",
    "declare ",
    "a[",
    "]=",
    "+=",
    ":-",
    "//",
    "%%",
    "@Q",
    "2>",
    "&>",
    ">&-",
    "{x}>",
    "=~",
    "-f ",
    "x",
    "\u{fc}",
    "*",
    "?",
    "~",
    "..",
    ",",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_the_parser_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse(&bytes, Dialect::Other, Options { extended_globs: true });
        let _ = parse(&bytes, Dialect::Bash, Options::default());
    }

    #[test]
    fn no_syntax_makes_the_parser_panic(pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..60)) {
        let text = pieces.concat();
        for extended_globs in [false, true] {
            if let Ok(tree) = parse(text.as_bytes(), Dialect::Other, Options { extended_globs }) {
                // Spans stay within the text, and the work in proportion.
                let debug = format!("{tree:?}");
                prop_assert!(!debug.contains("4294967295"));
                prop_assert!(tree.steps <= 10_000 + 40 * text.len() as u64);
            }
        }
    }
}
