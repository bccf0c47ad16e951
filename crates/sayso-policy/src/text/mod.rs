//! The text of a policy file: parsing, diagnosis, schema.

use crate::word::Source;

/// Something wrong with a policy file, or worth a warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Stable, kebab-case.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to do instead, where that can be guessed.
    pub suggestion: Option<String>,
    /// Where.
    pub source: Source,
    /// Bytes of the file that are meant.
    pub span: std::ops::Range<usize>,
    /// A warning does not refuse the file.
    pub warning: bool,
}
