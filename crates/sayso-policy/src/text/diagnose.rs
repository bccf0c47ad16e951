//! A problem as people see it: the place, the line, the caret, the way out.

use super::Problem;
use crate::explain::{push_visible, visible};
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use std::ops::Range;

/// Bytes of the line that are shown on either side of the place.
const BEFORE: usize = 100;
const AFTER: usize = 100;

/// The problem with its line and a caret below the bytes that are meant. Ends without a line feed.
///
/// A policy file may come with a hostile repository: nothing of it reaches the terminal as a control character.
#[must_use]
pub fn render(problem: &Problem, text: &str, color: bool) -> String {
    let level = if problem.warning { Level::WARNING } else { Level::ERROR };
    let line = Line::around(text, &problem.span);
    let file = visible(&problem.source.file).into_owned();
    let message = visible(&problem.message);
    let place = usize::try_from(problem.source.line).unwrap_or(usize::MAX);
    let column = usize::try_from(problem.source.column).unwrap_or(usize::MAX);

    let mut group: Group<'_> = level
        .primary_title(message)
        .id(problem.code)
        .element(Origin::path(file).line(place).char_column(column))
        .element(
            Snippet::source(line.shown)
                .line_start(place)
                .fold(false)
                .annotation(AnnotationKind::Primary.span(line.marked)),
        );
    if let Some(suggestion) = &problem.suggestion {
        group = group.element(Level::HELP.message(visible(suggestion)));
    }
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    without_second_origin(&renderer.render(&[group]))
}

/// The renderer would count the column in the line as it is shown here, cut and with escapes; so the place is given
/// to it apart, and the mark of a second place, which it then draws, is taken out.
fn without_second_origin(rendered: &str) -> String {
    let mark = |line: &&str| {
        let mut plain = String::new();
        let mut escape = false;
        for c in line.chars() {
            match c {
                '\u{1b}' => escape = true,
                'm' if escape => escape = false,
                _ if !escape => plain.push(c),
                _ => {}
            }
        }
        plain.trim() != ":::"
    };
    rendered.lines().filter(mark).collect::<Vec<_>>().join("\n")
}

/// Several problems, a blank line between them.
#[cfg(test)]
pub(crate) fn render_all(problems: &[Problem], text: &str, color: bool) -> String {
    let rendered: Vec<String> = problems.iter().map(|problem| render(problem, text, color)).collect();
    rendered.join("\n\n")
}

/// The line of a place, made visible, and which bytes of it are meant.
struct Line {
    shown: String,
    marked: Range<usize>,
}

impl Line {
    /// A span over several lines is marked on its first one.
    fn around(text: &str, span: &Range<usize>) -> Self {
        let at = floor(text, span.start.min(text.len()));
        let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
        let before = before.rsplit('\n').next().unwrap_or_default();
        let after = after.split('\n').next().unwrap_or_default();
        let meant = floor(after, span.len().min(after.len()));
        let (meant, after) = after.split_at_checked(meant).unwrap_or((after, ""));

        let mut shown = String::new();
        let left = before.len().saturating_sub(BEFORE);
        if left > 0 {
            shown.push('…');
        }
        push(&mut shown, before.get(floor(before, left)..).unwrap_or_default());
        let start = shown.len();
        let cut = floor(meant, AFTER.min(meant.len()));
        push(&mut shown, meant.get(..cut).unwrap_or_default());
        // A place without width, such as the end of the file, is marked all the same.
        if shown.len() == start && after.is_empty() {
            shown.push(' ');
        }
        let end = shown.len();
        let right = if cut < meant.len() { 0 } else { floor(after, AFTER.min(after.len())) };
        push(&mut shown, after.get(..right).unwrap_or_default());
        if cut < meant.len() || right < after.len() {
            shown.push('…');
        }
        Self { shown, marked: start..end }
    }
}

/// Appends text of one line. Tabs are blanks: files are indented by them, and an escape would push the line about.
fn push(out: &mut String, text: &str) {
    for c in text.strip_suffix('\r').unwrap_or(text).chars() {
        if c == '\t' { out.push_str("    ") } else { push_visible(out, c) }
    }
}

/// The last boundary of a character at or before a byte.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::parse;

    fn shown(text: &str) -> String {
        render_all(&parse("p.toml", text).unwrap_err(), text, false)
    }

    #[test]
    fn a_problem_is_shown_with_its_place_its_line_a_caret_and_a_way_out() {
        assert_eq!(
            shown("[allow]\nrun = []\n"),
            "\
error[blank-list]: this list is empty and would match nothing
 --> p.toml:2:7
  |
2 | run = []
  |       ^^
  |
  = help: remove the key, or add something to the list"
        );
    }

    #[test]
    fn a_hostile_file_paints_nothing() {
        let text = "\"\u{202e}gnihton\u{9b}2J\" = 1\n";
        let shown = shown(text);
        assert!(shown.chars().all(|c| c == '\n' || !c.is_control()), "{shown:?}");
        assert!(shown.contains("1 | \"\\u{202e}gnihton\\u{9b}2J\" = 1"), "{shown}");
        assert!(shown.contains("`\\u{202e}gnihton\\u{9b}2J` is not a key of a policy file"), "{shown}");
        let problem = parse("\u{1b}[2J", text).unwrap_err().remove(0);
        assert!(!render(&problem, text, false).contains('\u{1b}'));
    }

    #[test]
    fn a_long_line_is_cut_around_the_place_and_the_column_still_counts_from_its_beginning() {
        let text = format!("extends = [{}1, {}]", "\"ä\", ".repeat(500), "\"b\", ".repeat(500));
        let shown = shown(&text);
        assert!(shown.contains("--> p.toml:1:2512\n"), "{shown}");
        let lines: Vec<&str> = shown.lines().collect();
        let caret = lines[4].find('^').unwrap();
        assert_eq!(lines[3].chars().nth(caret), Some('1'), "{shown}");
        assert!(lines[3].len() < 500, "{shown}");
    }

    #[test]
    fn a_warning_is_called_one() {
        let mut problem = parse("p.toml", "x = 1").unwrap_err().remove(0);
        problem.warning = true;
        assert!(render(&problem, "x = 1", false).starts_with("warning[unknown-key]: "));
        assert!(render(&problem, "x = 1", true).contains("\u{1b}["));
    }

    #[test]
    fn a_place_outside_of_the_text_is_shown_at_its_end() {
        let mut problem = parse("p.toml", "x = 1").unwrap_err().remove(0);
        problem.span = 900..1000;
        assert!(render(&problem, "ä", false).contains("1 | ä"));
        problem.span = 1..1;
        assert!(render(&problem, "ä", false).contains('^'));
    }
}
