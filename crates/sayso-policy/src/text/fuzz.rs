//! Whatever a file holds, it is answered: read whole, or refused with places that are in it.

use super::{File, Problem, parse, render};
use proptest::prelude::*;

const EXAMPLE: &str = include_str!("example.toml");

fn check(text: &str) -> Result<File, Vec<Problem>> {
    let read = parse("p.toml", text);
    if let Err(problems) = &read {
        assert!(!problems.is_empty(), "a refusal says why");
        for problem in problems {
            assert!(problem.span.start <= problem.span.end && problem.span.end <= text.len(), "{problem:?}");
            assert!(problem.source.line >= 1 && problem.source.column >= 1);
            assert!(super::problem_info(problem.code).is_some(), "{}", problem.code);
            let shown = render(problem, text, false);
            assert!(shown.chars().all(|c| c == '\n' || !c.is_control()), "{shown:?}");
        }
    }
    read
}

/// Pieces that a policy is made of, so that random files get past the first key.
fn piece() -> impl Strategy<Value = String> {
    let words = [
        "[allow]\n",
        "[deny]\n",
        "[[rule]]\n",
        "[tools]\n",
        "[tools.for.",
        "[limits.day]\n",
        "[approvals.x]\n",
        "[[test]]\n",
        "[patterns]\n",
        "[set]\n",
        "[mode]\n",
        "run = ",
        "read = ",
        "when = ",
        "arg.",
        "for = ",
        "hits = ",
        "expect = ",
        "\"ls\"",
        "\"!x\"",
        "[",
        "]",
        "{ ",
        " }",
        ", ",
        "\n",
        "= ",
        "5",
        "-1",
        "true",
        "1979-05-27",
        "inf",
        "'",
        "\"",
        "#",
        "\"agent:x\"",
        "\"15m\"",
        "id = \"a\"\n",
        "deny = { run = \"x\" }\n",
        "\u{202e}",
        "\u{0}",
        "ä",
        "\"\"\"",
        "0x",
    ];
    prop_oneof![4 => proptest::sample::select(words.to_vec()).prop_map(str::to_owned), 1 => "\\PC{0,6}"]
}

proptest! {
    #[test]
    fn any_text_is_answered(text in "(?s).{0,200}") {
        let _ = check(&text);
    }

    #[test]
    fn any_bytes_are_answered(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = check(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_heap_of_pieces_is_answered(pieces in proptest::collection::vec(piece(), 0..40)) {
        let _ = check(&pieces.concat());
    }

    #[test]
    fn a_file_with_something_put_in_or_taken_out_is_answered(
        at in 0..EXAMPLE.len(), gone in 0usize..30, new in piece()
    ) {
        let mut bytes = EXAMPLE.as_bytes().to_vec();
        bytes.splice(at..(at + gone).min(EXAMPLE.len()), new.bytes());
        let _ = check(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn a_letter_changed_in_a_key_is_never_ignored(line in 0usize..60) {
        // Of a line `key = value`, the first letter of the key.
        let lines: Vec<&str> = EXAMPLE.lines().collect();
        let Some(found) = lines.get(line).filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase())) else {
            return Ok(());
        };
        // The names of sets are the owner's.
        prop_assume!(!found.starts_with("build"));
        let text = EXAMPLE.replacen(found, &format!("x{found}"), 1);
        prop_assert!(check(&text).is_err());
    }
}

#[test]
fn nesting_as_deep_as_it_can_be_written_ends_in_an_answer() {
    let dotted = vec!["a"; 79].join(".");
    let mut worst = String::from("[[rule]]\ndeny = { tool = 'x' }\nwhen.arg.");
    worst += &format!("{dotted} = {{ ").repeat(70);
    worst += &format!("{dotted} = 1 ");
    worst += &"}".repeat(70);
    let long_key = format!("{} = 1", vec!["a"; 100_000].join("."));
    let long_header = format!("[{}]", vec!["a"; 100_000].join("."));
    let lists = format!("extends = {}{}", "[".repeat(100_000), "]".repeat(100_000));
    let tables = format!("extends = {}", "{ a = ".repeat(100_000));
    let open = "[".repeat(200_000);
    for text in [worst, long_key, long_header, lists, tables, open] {
        assert!(check(&text).is_err());
    }
}

#[test]
fn a_file_beyond_the_limit_is_refused_unread() {
    let text = "#".repeat(super::MAX_BYTES + 1);
    assert_eq!(check(&text).unwrap_err()[0].code, "file-too-long");
    assert!(check(&"#".repeat(super::MAX_BYTES)).is_ok());
}

#[test]
fn a_file_of_nothing_but_mistakes_is_answered_with_some_of_them() {
    let keys: String = (0..20_000).map(|n| format!("k{n} = 1\n")).collect();
    assert_eq!(check(&keys).unwrap_err().len(), 100);
    let broken = "= \n".repeat(20_000);
    assert!(check(&broken).unwrap_err().len() <= 100);
}
