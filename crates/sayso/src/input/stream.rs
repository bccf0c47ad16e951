//! Lines in, answers out, in order: a driver may keep both pipes open and wait for each answer.

use serde::Serialize;
use serde_json::ser::Formatter;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Longest line that is read: far more than any command may have, far less than memory.
const MAX_LINE: usize = 16 * 1024 * 1024;

/// Answers every line of `input` on `output`.
///
/// `answer` gets a line without its end. A panic in it costs that line an error, never the whole stream.
pub(crate) fn answer_lines<T: Serialize>(
    input: impl Read,
    output: impl Write,
    mut answer: impl FnMut(&[u8]) -> T,
    failed: impl Fn(&[u8], &str) -> T,
) -> io::Result<()> {
    let mut input = BufReader::with_capacity(64 * 1024, input);
    let mut output = BufWriter::with_capacity(64 * 1024, output);
    let mut line = Vec::new();
    loop {
        // Nothing more to read at once: whoever waits for an answer gets it now.
        if !input.buffer().contains(&b'\n') {
            output.flush()?;
        }
        let fits = match read_line(&mut input, &mut line)? {
            Read1::End => return output.flush(),
            Read1::Line => true,
            Read1::TooLong => false,
        };
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        if fits && text.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let value = if fits {
            catch_unwind(AssertUnwindSafe(|| answer(text)))
                .unwrap_or_else(|_| failed(text, "Internal error. Treat this as a deny, and please report the bug."))
        } else {
            failed(b"", "The line is longer than 16 MiB.")
        };
        value.serialize(&mut serde_json::Serializer::with_formatter(&mut output, OneLine))?;
        output.write_all(b"\n")?;
    }
}

/// JSON on one line for every reader: some take U+0085, U+2028 and U+2029 for the end of a line, and an agent could
/// shift all answers after its own by one.
struct OneLine;

impl Formatter for OneLine {
    fn write_string_fragment<W: Write + ?Sized>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((before, found)) =
            rest.find(['\u{85}', '\u{2028}', '\u{2029}']).and_then(|at| rest.split_at_checked(at))
        {
            let mut characters = found.chars();
            let code = characters.next().map_or(0, u32::from);
            write!(writer, "{before}\\u{code:04x}")?;
            rest = characters.as_str();
        }
        writer.write_all(rest.as_bytes())
    }

    fn write_raw_fragment<W: Write + ?Sized>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        // Outside of strings JSON has no such characters.
        self.write_string_fragment(writer, fragment)
    }
}

enum Read1 {
    Line,
    TooLong,
    End,
}

/// Reads one line; of one that is too long the rest is skipped.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Read1> {
    line.clear();
    let limit = u64::try_from(MAX_LINE).unwrap_or(u64::MAX);
    if input.by_ref().take(limit).read_until(b'\n', line)? == 0 {
        return Ok(Read1::End);
    }
    if line.ends_with(b"\n") || line.len() < MAX_LINE {
        return Ok(Read1::Line);
    }
    input.skip_until(b'\n')?;
    Ok(Read1::TooLong)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(input: &str) -> String {
        let mut output = Vec::new();
        let answer = |line: &[u8]| {
            let text = String::from_utf8_lossy(line).into_owned();
            if text == "boom" { panic!("boom") } else { text }
        };
        answer_lines(input.as_bytes(), &mut output, answer, |_, why| why.to_owned()).unwrap();
        String::from_utf8(output).unwrap()
    }

    #[test]
    fn answers_come_in_order_and_the_last_line_needs_no_end() {
        assert_eq!(run("a\nb\r\n\n  \nc"), "\"a\"\n\"b\"\n\"c\"\n");
        assert_eq!(run(""), "");
    }

    #[test]
    fn an_answer_is_one_line_for_every_reader() {
        assert_eq!(run("a\u{2028}b\u{85}\u{2029}\n"), "\"a\\u2028b\\u0085\\u2029\"\n");
        assert_eq!(run("é世\n"), "\"é世\"\n");
    }

    #[test]
    fn a_panic_costs_one_line_and_not_the_stream() {
        assert_eq!(
            run("a\nboom\nb\n"),
            "\"a\"\n\"Internal error. Treat this as a deny, and please report the bug.\"\n\"b\"\n"
        );
    }

    #[test]
    fn a_line_without_bound_is_an_error_and_the_next_one_is_read() {
        let long = "x".repeat(MAX_LINE + 10);
        assert_eq!(run(&format!("{long}\nb\n")), "\"The line is longer than 16 MiB.\"\n\"b\"\n");
    }
}
