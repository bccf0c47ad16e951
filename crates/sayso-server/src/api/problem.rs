//! What is wrong with the text of a policy, and where.

use sayso_policy::text;
use serde::Serialize;
use utoipa::ToSchema;

/// Something wrong with a text.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Problem {
    /// Stable, kebab-case.
    code: &'static str,
    /// A sentence.
    text: String,
    /// What to write instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    suggestion: Option<String>,
    /// As shown to people.
    file: String,
    /// From 1.
    #[schema(minimum = 1)]
    line: u32,
    /// In characters, from 1.
    #[schema(minimum = 1)]
    column: u32,
    /// It does not refuse the file.
    warning: bool,
}

impl From<text::Problem> for Problem {
    fn from(problem: text::Problem) -> Self {
        Self {
            code: problem.code,
            text: problem.message,
            suggestion: problem.suggestion,
            file: problem.source.file.to_string(),
            line: problem.source.line,
            column: problem.source.column,
            warning: problem.warning,
        }
    }
}
