//! Mistakes and what is said of them: see `cases/problems.txt`.

use super::{Problem, parse};

/// What a line of carets expects: line, column, width, code, words.
type Expected = (u32, u32, usize, String, String);

fn expected(case: &str) -> Vec<Expected> {
    let mut line = 0;
    let mut found = Vec::new();
    for (index, text) in (1..).zip(case.lines()) {
        let Some(marker) = text.strip_prefix('#') else {
            line = index;
            continue;
        };
        let blanks = marker.len() - marker.trim_start().len();
        let width = marker.trim_start().len() - marker.trim_start().trim_start_matches('^').len();
        let (code, words) = marker.trim_start().trim_start_matches('^').trim().split_once(": ").unwrap();
        found.push((line, (blanks + 2) as u32, width, code.to_owned(), words.to_owned()));
    }
    found
}

fn agrees(problem: &Problem, (line, column, width, code, words): &Expected) -> bool {
    let said = format!("{} {}", problem.message, problem.suggestion.as_deref().unwrap_or_default());
    (problem.source.line, problem.source.column) == (*line, *column)
        && problem.span.len().max(1) == *width
        && problem.code == code
        && problem.suggestion.is_some()
        && super::problem_info(problem.code).is_some()
        && said.contains(words.as_str())
}

#[test]
fn every_mistake_is_found_at_its_place_with_a_way_out() {
    let mut wrong = String::new();
    for case in include_str!("problems.txt").split("\n=== ").skip(1) {
        let (title, text) = case.split_once('\n').unwrap();
        let problems = parse("p.toml", text).err().unwrap_or_default();
        let expected = expected(text);
        let same = problems.len() == expected.len() && problems.iter().zip(&expected).all(|(p, e)| agrees(p, e));
        if !same {
            wrong += &format!("=== {title}\n{}\n\n", super::render_all(&problems, text, false));
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}
