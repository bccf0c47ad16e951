//! The reader of sed scripts against sed itself. GNU sed refuses, with `--sandbox`, every script that could run a command
//! or touch a file: whatever it refuses for that reason, the reader must have found or called unclear. Nothing runs.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed unwrap is a failed test"
)]

use sayso_shell::script::{self, Finding};
use std::process::{Command, Stdio};

/// What sed says of a script.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Harmless,
    LeavesTheStream,
    Refused,
}

fn sed(text: &str) -> Option<Answer> {
    let output = Command::new("sed")
        .args(["--sandbox", "-n", "-e", text])
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let said = String::from_utf8_lossy(&output.stderr);
    Some(if said.contains("sandbox mode") {
        Answer::LeavesTheStream
    } else if output.status.success() {
        Answer::Harmless
    } else {
        Answer::Refused
    })
}

/// A small generator of numbers, so that a failure can be repeated.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

fn script_text(numbers: &mut Numbers) -> String {
    const WHOLE: &[&str] = &[
        "p",
        "d",
        "D",
        "g",
        "G",
        "h",
        "H",
        "n",
        "N",
        "x",
        "z",
        "=",
        "F",
        "l",
        "l 5",
        "q",
        "q5",
        "Q",
        "{",
        "}",
        ";",
        "\n",
        " ",
        "#c",
        "e",
        "e id",
        "w f",
        "W f",
        "r f",
        "R f",
        "a x",
        "a\\\n",
        "i\\\nx",
        "c\\",
        "c x",
        ":a",
        "ba",
        "b",
        "ta",
        "T",
        "v",
        "y/a/b/",
        "s/a/b/",
        "s/a/b/g",
        "s/a/b/e",
        "s/a/b/w f",
        "s,a,b,",
        "s/[/]/b/",
        "s/a/b/2p",
        "s/[e]/w/",
        "s/a\\/w/e/",
        "sxaxbx",
        "s/a/\\\nw f\n/",
        "/x/",
        "/x/I",
        "\\,x,",
        "/[/]/",
        "1",
        "$",
        "1,3",
        "1~2",
        "0,/x/",
        "!",
        "+2",
        ",",
        "/a/,/b/",
        "1!",
        "y,a\\,,bc,",
        "s/a/b/ e",
        "s/a/b/;e",
        "s|a|b|we",
        "s/\\(/e/",
        "s/[^]/]/e/",
        "s/[[:alpha:]/]/e/",
    ];
    const LETTERS: &[&str] = &[
        "s", "y", "/", "\\", "[", "]", "e", "w", "r", "a", "i", "{", "}", ";", "\n", " ", "1", "x", ":", "b", "#", "g",
        "p", ",", "!",
    ];
    let mut text = String::new();
    for _ in 0..1 + numbers.below(6) {
        if numbers.below(4) == 0 {
            for _ in 0..1 + numbers.below(6) {
                text.push_str(numbers.pick(LETTERS));
            }
        } else {
            text.push_str(numbers.pick(WHOLE));
        }
        if numbers.below(2) == 0 {
            text.push_str(numbers.pick(&[";", "\n", " ", ""]));
        }
    }
    text
}

#[test]
fn whatever_leaves_the_stream_is_found() {
    if sed("w f") != Some(Answer::LeavesTheStream) {
        return; // another sed
    }
    let cases: usize = std::env::var("SAYSO_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(1500);
    let mut numbers = Numbers(0x5eed_0f5e_d5ca_1e55);
    let (mut left, mut harmless, mut doubted) = (0, 0, 0);
    for _ in 0..cases {
        let text = script_text(&mut numbers);
        let findings = script::sed(text.as_bytes());
        match sed(&text).unwrap() {
            Answer::LeavesTheStream => {
                left += 1;
                assert!(!findings.is_empty(), "sed would leave the stream: {text:?}");
                let understood = findings.iter().any(|finding| !matches!(finding, Finding::Unclear(_)));
                doubted += usize::from(!understood);
            }
            Answer::Harmless => {
                harmless += 1;
                doubted += usize::from(!findings.is_empty());
            }
            Answer::Refused => {}
        }
    }
    println!(
        "{cases} scripts: {left} leave the stream, all found; {harmless} are harmless; {doubted} are judged too strictly"
    );
    assert!(left > 50 && harmless > 50, "the generator no longer hits");
}
