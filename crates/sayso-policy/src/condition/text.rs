//! Lists of patterns on texts, variables and hosts.

use super::best;
use crate::pattern::{Glob, HostPattern, Purpose};
use crate::word::Tri;
use sayso_shell::{HostTarget, Run, Word};

/// A pattern on a plain text: a glob or `re:`.
#[derive(Clone, Debug)]
pub(crate) enum TextPattern {
    Glob(Glob),
    Regex(regex::Regex),
}

/// A list of text patterns: any of them, none of the `!` ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct TextList {
    pub any: Vec<TextPattern>,
    pub except: Vec<TextPattern>,
}

impl TextPattern {
    pub(crate) fn matches(&self, text: &str) -> bool {
        match self {
            Self::Glob(glob) => glob.matches(text.as_bytes()),
            Self::Regex(regex) => regex.is_match(text),
        }
    }

    fn matches_word(&self, word: &Word) -> Tri {
        match (self, word) {
            (Self::Glob(glob), Word::Exact(text)) => glob.matches(text.as_bytes()).into(),
            (Self::Regex(regex), Word::Exact(text)) => regex.is_match(&text.to_string_lossy()).into(),
            (Self::Glob(glob), Word::Dynamic(shape)) if !glob.may_match(shape) => Tri::No,
            _ => Tri::Maybe,
        }
    }
}

impl TextList {
    pub(super) fn matches(&self, text: &str) -> bool {
        (self.any.is_empty() || self.any.iter().any(|pattern| pattern.matches(text)))
            && !self.except.iter().any(|pattern| pattern.matches(text))
    }

    pub(super) fn matches_word(&self, word: &Word) -> Tri {
        let answer = |list: &[TextPattern]| best(list.iter().map(|pattern| pattern.matches_word(word)));
        let any = if self.any.is_empty() { Tri::Yes } else { answer(&self.any) };
        any.and(!answer(&self.except))
    }
}

/// A variable, and a value if one was written.
#[derive(Clone, Debug)]
pub(crate) struct EnvPattern {
    pub name: Glob,
    pub value: Option<Glob>,
}

impl EnvPattern {
    /// Whether it names this variable, and not every one.
    pub(super) fn names(&self, name: &str) -> bool {
        self.name.is_specific() && self.name.matches(name.as_bytes())
    }

    /// Whether such a variable is set for a program.
    pub(super) fn holds(&self, run: &Run) -> Tri {
        let set = run.env.iter().filter(|(name, _)| self.name.matches(name.as_bytes()));
        best(set.map(|(_, value)| match (&self.value, value) {
            (None, _) => Tri::Yes,
            (Some(glob), Word::Exact(text)) => glob.matches(text.as_bytes()).into(),
            (Some(glob), Word::Dynamic(shape)) if !glob.may_match(shape) => Tri::No,
            _ => Tri::Maybe,
        }))
    }
}

/// A list of hosts: any of them, none of the `!` ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct HostList {
    pub any: Vec<HostPattern>,
    pub except: Vec<HostPattern>,
}

impl HostList {
    pub(super) fn matches(&self, host: &HostTarget, purpose: Purpose) -> Tri {
        let answer = |list: &[HostPattern], purpose| best(list.iter().map(|pattern| pattern.matches(host, purpose)));
        let any = if self.any.is_empty() { Tri::Yes } else { answer(&self.any, purpose) };
        // To be sure that something is not excepted, it is looked at the other way.
        any.and(!answer(&self.except, purpose.opposite()))
    }
}
