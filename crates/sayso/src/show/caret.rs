//! A command with carets under its risky part.

use sayso_policy::explain::{push_byte, push_visible};
use std::ops::Range;
use unicode_width::UnicodeWidthStr;

/// Columns shown of a line at most.
const MAX_WIDTH: usize = 160;
/// Columns kept before the first mark of a line that is cut.
const BEFORE_MARK: usize = 40;
/// Lines shown at most, marked ones first.
const MAX_LINES: usize = 12;

/// One line to show, and what stands under it; the second is blank where nothing is marked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Marked {
    /// The text, safe to show.
    pub(crate) text: String,
    /// Carets.
    pub(crate) carets: String,
}

/// The lines of a command. Control characters are written as escapes, and carets stand under the escape.
pub(crate) fn marked(command: &[u8], marks: &[Range<usize>]) -> Vec<Marked> {
    let mut lines = Vec::new();
    let mut start = 0;
    for line in command.split(|byte| *byte == b'\n') {
        lines.push(cut(&cells(line, start, marks)));
        start += line.len() + 1;
    }
    while lines.len() > 1 && lines.last().is_some_and(|line| line.text.is_empty()) {
        lines.pop();
    }
    fold(lines)
}

/// A character as shown.
struct Cell {
    text: String,
    width: usize,
    marked: bool,
}

fn cells(line: &[u8], start: usize, marks: &[Range<usize>]) -> Vec<Cell> {
    let mut cells = Vec::new();
    let mut at = start;
    let mut push = |text: String, length: usize| {
        let marked = marks.iter().any(|mark| mark.start < at + length && at < mark.end);
        at += length;
        cells.push(Cell { width: text.width(), text, marked });
    };
    for chunk in line.utf8_chunks() {
        for c in chunk.valid().chars() {
            let mut text = String::new();
            push_visible(&mut text, c);
            push(text, c.len_utf8());
        }
        for byte in chunk.invalid() {
            let mut text = String::new();
            push_byte(&mut text, *byte);
            push(text, 1);
        }
    }
    cells
}

/// Cuts a long line to the part around its first mark.
fn cut(cells: &[Cell]) -> Marked {
    let width: usize = cells.iter().map(|cell| cell.width).sum();
    if width <= MAX_WIDTH {
        return draw(cells, false, false);
    }
    let first = cells.iter().position(|cell| cell.marked).unwrap_or(0);
    let mut skip = first;
    let mut columns = 0;
    while skip > 0 && columns < BEFORE_MARK {
        skip -= 1;
        columns += cells.get(skip).map_or(0, |cell| cell.width);
    }
    let mut columns = 0;
    let shown = cells.iter().skip(skip).take_while(|cell| {
        columns += cell.width;
        columns <= MAX_WIDTH
    });
    let count = shown.count();
    let part = cells.get(skip..skip + count).unwrap_or_default();
    draw(part, skip > 0, skip + count < cells.len())
}

fn draw(cells: &[Cell], more_before: bool, more_after: bool) -> Marked {
    let mut text = String::new();
    let mut carets = String::new();
    if more_before {
        text.push('…');
        carets.push(' ');
    }
    for cell in cells {
        text.push_str(&cell.text);
        carets.push_str(&if cell.marked { "^" } else { " " }.repeat(cell.width));
    }
    if more_after {
        text.push('…');
    }
    carets.truncate(carets.trim_end().len());
    Marked { text, carets }
}

/// Leaves out unmarked lines of a long text.
fn fold(lines: Vec<Marked>) -> Vec<Marked> {
    if lines.len() <= MAX_LINES {
        return lines;
    }
    let mut room = MAX_LINES.saturating_sub(lines.iter().filter(|line| !line.carets.is_empty()).count());
    let mut marked_room = MAX_LINES;
    let mut out: Vec<Marked> = Vec::new();
    let mut left_out = 0_usize;
    for line in lines {
        let budget = if line.carets.is_empty() { &mut room } else { &mut marked_room };
        if *budget > 0 {
            *budget -= 1;
            if left_out > 0 {
                out.push(gap(left_out));
                left_out = 0;
            }
            out.push(line);
        } else {
            left_out += 1;
        }
    }
    if left_out > 0 {
        out.push(gap(left_out));
    }
    out
}

fn gap(lines: usize) -> Marked {
    let word = if lines == 1 { "line" } else { "lines" };
    Marked { text: format!("… {lines} more {word}"), carets: String::new() }
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "one mark is a list of one range")]
mod tests {
    use super::*;

    fn shown(command: &[u8], marks: &[Range<usize>]) -> String {
        let lines: Vec<String> =
            marked(command, marks).into_iter().map(|line| format!("|{}\n|{}", line.text, line.carets)).collect();
        lines.join("\n")
    }

    #[test]
    fn carets_stand_under_what_is_marked() {
        assert_eq!(shown(b"git push --force x", &[0..8, 9..16]), "|git push --force x\n|^^^^^^^^ ^^^^^^^");
        assert_eq!(shown(b"a; b", &[]), "|a; b\n|");
    }

    #[test]
    fn wide_and_unsafe_characters_keep_the_carets_in_place() {
        assert_eq!(shown("echo 世界 x".as_bytes(), &[12..13]), "|echo 世界 x\n|          ^");
        assert_eq!(shown("echo 世 x".as_bytes(), &[5..8]), "|echo 世 x\n|     ^^");
        assert_eq!(shown(b"a\x1b[0m b", &[6..7]), "|a\\x1b[0m b\n|         ^");
        assert_eq!(shown(b"a\xff b", &[1..2]), "|a\\xff b\n| ^^^^");
        assert_eq!(shown("e\u{301}x y".as_bytes(), &[5..6]), "|e\u{301}x y\n|   ^");
    }

    #[test]
    fn each_line_has_its_own_carets() {
        assert_eq!(shown(b"cat <<E\nrm\nE\n", &[0..3, 8..10]), "|cat <<E\n|^^^\n|rm\n|^^\n|E\n|");
    }

    #[test]
    fn a_long_line_is_cut_around_its_mark_and_a_long_text_folded() {
        let command = format!("echo {} && rm x {}", "a".repeat(300), "b".repeat(300));
        let at = command.find("rm").unwrap();
        let lines = marked(command.as_bytes(), &[at..at + 2]);
        assert_eq!(lines.len(), 1);
        assert!(lines[0].text.starts_with('…') && lines[0].text.ends_with('…'));
        let column = lines[0].carets.find('^').unwrap();
        assert_eq!(lines[0].text.chars().skip(column).take(2).collect::<String>(), "rm");

        let text = "x\n".repeat(100) + "rm y\n" + &"z\n".repeat(100);
        let lines = marked(text.as_bytes(), &[200..202]);
        assert_eq!(lines.len(), 14);
        assert!(lines.iter().any(|line| line.text == "rm y" && line.carets == "^^"));
        assert!(lines.iter().any(|line| line.text == "… 89 more lines"));
    }

    #[test]
    fn marks_outside_the_text_are_harmless() {
        assert_eq!(shown(b"ab", &[5..9]), "|ab\n|");
        assert_eq!(shown(b"", &[0..4]), "|\n|");
    }
}
