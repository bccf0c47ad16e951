//! Patterns on tool names.

use super::{Glob, PatternError, Purpose, compile_regex};
use crate::normalise::pattern_names;
use crate::word::{ToolName, Tri};
use regex::Regex;

/// A pattern on tool names.
#[derive(Clone, Debug)]
pub(crate) enum ToolPattern {
    /// Whatever is called.
    Anything,
    /// A name or glob, in normal form.
    Name(Glob),
    /// `re:`.
    Regex(Regex),
}

impl ToolPattern {
    /// Reads one pattern, alternatives already expanded, sets already resolved. An ambiguous MCP spelling means
    /// several.
    pub(crate) fn parse(text: &str) -> Result<Vec<Self>, PatternError> {
        if let Some(re) = text.strip_prefix("re:") {
            return compile_regex(re).map(|regex| vec![Self::Regex(regex)]);
        }
        Ok(pattern_names(text).iter().map(|name| Self::Name(Glob::new(name))).collect())
    }

    /// The name, if the pattern is one.
    pub(crate) fn literal(&self) -> Option<&str> {
        match self {
            Self::Name(glob) => glob.literal(),
            _ => None,
        }
    }

    /// The literal text that every match begins with.
    pub(crate) fn literal_prefix(&self) -> &[u8] {
        match self {
            Self::Name(glob) => glob.literal_prefix(),
            _ => &[],
        }
    }

    /// A name that it matches, for examples.
    pub(crate) fn an_instance(&self) -> Option<String> {
        match self {
            Self::Name(glob) => {
                String::from_utf8(glob.literal_text().to_vec()).ok().map(|text| text.replace(['*', '?'], "x"))
            }
            _ => None,
        }
    }

    /// An ambiguous name is denied if any reading is, allowed only if all are.
    pub(crate) fn matches(&self, tool: &ToolName, purpose: Purpose) -> Tri {
        Self::any_matches(std::slice::from_ref(self), tool, purpose).into()
    }

    /// Whether a list speaks of a tool: each reading of an ambiguous name may be allowed by another entry.
    pub(crate) fn any_matches(patterns: &[Self], tool: &ToolName, purpose: Purpose) -> bool {
        let one = |name: &str| patterns.iter().any(|pattern| pattern.matches_name(name));
        match purpose {
            Purpose::Permit => patterns.iter().any(|pattern| matches!(pattern, Self::Anything)) || tool.allows(one),
            Purpose::Restrict => tool.restricts(one),
        }
    }

    fn matches_name(&self, name: &str) -> bool {
        match self {
            Self::Anything => true,
            Self::Name(glob) => glob.matches(name.as_bytes()),
            Self::Regex(regex) => regex.is_match(name),
        }
    }
}

/// Every name by which an index may find a tool.
pub(crate) fn all_names(tool: &ToolName) -> impl Iterator<Item = &str> {
    tool.names.iter().chain(&tool.readings).chain(&tool.resembles).map(String::as_str)
}
