//! What is wrong with a text, and where.

use std::fmt;

/// A mistake in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The name of the text, as its reader was told.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// How many characters it is about.
    pub length: usize,
    /// What is wrong, and what to write instead.
    pub text: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.text)
    }
}

/// Where something stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Which of the texts that are read together.
    pub file: usize,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// How many characters.
    pub length: usize,
}

/// What was found wrong so far. After a few mistakes the rest is mostly their consequence.
#[derive(Debug, Default)]
pub(super) struct Problems {
    found: Vec<(Place, String)>,
}

impl Problems {
    const MOST: usize = 50;

    pub(super) fn add(&mut self, at: Place, text: impl Into<String>) {
        if self.found.len() < Self::MOST {
            self.found.push((at, text.into()));
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.found.len() >= Self::MOST
    }

    /// All of them in the order of the texts, or none.
    pub(super) fn finish(mut self, files: &[&str]) -> Result<(), Vec<Problem>> {
        if self.found.is_empty() {
            return Ok(());
        }
        self.found.sort_by_key(|(at, _)| (at.file, at.line, at.column));
        let problem = |(at, text): (Place, String)| Problem {
            file: files.get(at.file).copied().unwrap_or_default().to_owned(),
            line: at.line,
            column: at.column,
            length: at.length,
            text,
        };
        Err(self.found.into_iter().map(problem).collect())
    }
}

/// A word of the text in a message: cut where it is long, and visible whatever it holds.
pub(super) fn shown(word: &str) -> String {
    let cut: String = word.chars().take(40).collect();
    let more = if cut.len() < word.len() { "..." } else { "" };
    format!("`{}{more}`", cut.escape_debug())
}
