//! An owner's texts about programs, which come with the files of a policy and are part of its version.

use crate::policy::PolicyText;
use crate::text::Problem;
use crate::word::{Layer, Source};
use sayso_shell::program::{Catalogue, Lesson};

/// The programs that these files teach.
pub(super) fn catalogue(texts: &[PolicyText]) -> Result<Catalogue, Vec<Problem>> {
    let lessons = texts.iter().filter(|text| text.teaches() && text.trusted).map(lesson).collect();
    Catalogue::read(lessons).map_err(|found| found.iter().map(|problem| told(problem, texts)).collect())
}

/// The machine's texts count before the user's, and those before the project's.
fn lesson(text: &PolicyText) -> Lesson {
    let (rank, of_project) = match text.layer {
        Layer::Managed => (0, false),
        Layer::Project => (2, true),
        _ => (1, false),
    };
    Lesson { name: text.name.clone(), text: text.text.clone(), rank, of_project }
}

/// A mistake in such a text, as a mistake of the policy.
fn told(problem: &sayso_shell::program::text::Problem, texts: &[PolicyText]) -> Problem {
    let text = texts.iter().find(|text| text.name == problem.file).map_or("", |text| text.text.as_str());
    let before: usize = text.split_inclusive('\n').take(problem.line.saturating_sub(1)).map(str::len).sum();
    let line = text.get(before..).and_then(|rest| rest.lines().next()).unwrap_or_default();
    let offset = |column: usize| line.char_indices().nth(column).map_or(line.len(), |(at, _)| at);
    let (from, to) = (problem.column.saturating_sub(1), problem.column.saturating_sub(1) + problem.length.max(1));
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    Problem {
        code: "program-text",
        message: problem.text.clone(),
        suggestion: None,
        source: Source {
            file: problem.file.clone().into(),
            line: number(problem.line),
            column: number(problem.column),
        },
        span: before + offset(from)..before + offset(to),
        warning: false,
    }
}
