//! Patterns on tool names: a name, `*`, or `*` inside a name. Groups stand for several.

use crate::Error;
use crate::document::{Node, Text};
use sayso_policy::ToolName;
use sayso_policy::normalise::pattern_names;

/// What `group:NAME` stands for.
const GROUPS: &[(&str, &[&str])] = &[
    ("group:fs", &["file_read", "file_write", "file_list", "file_delete"]),
    ("group:runtime", &["bash_execute"]),
    ("group:web", &["web_fetch", "web_search"]),
    ("group:sessions", &["session_spawn", "session_list", "session_status"]),
    ("group:memory", &["memory_search", "memory_get"]),
    ("group:analysis", &["dependency_analyze", "codebase_analysis", "drift_detection"]),
    // Not in the design, but in the program.
    ("group:git", &["git_helpers", "git_worktree"]),
    ("group:testing", &["test_baseline"]),
];

/// A pattern, in the normal form of names.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    pub(super) names: Vec<String>,
    /// As written.
    pub(super) text: String,
}

impl Pattern {
    pub(super) fn new(text: &str) -> Self {
        Self { names: pattern_names(text), text: text.trim().to_owned() }
    }

    /// Reads a list, with groups expanded. Blank entries are none.
    pub(super) fn list(node: &Node<'_>) -> Result<Vec<Self>, Error> {
        let mut found = Vec::new();
        let texts: Vec<Text> = node.texts()?;
        for text in texts.iter().filter(|text| !text.value.trim().is_empty()) {
            let name = text.value.trim().to_lowercase();
            match members(&name) {
                Some(members) => found.extend(members.iter().map(|member| Self::new(member))),
                // A group nobody knows would deny nothing.
                None if name.starts_with("group:") => {
                    let known = GROUPS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
                    return Err(node.wrong(format!("there is no `{name}`; there are {known}")));
                }
                None => found.push(Self::new(&name)),
            }
        }
        Ok(found)
    }

    pub(super) fn permits(&self, tool: &ToolName) -> bool {
        tool.allows(|name| self.names.iter().any(|pattern| wild(pattern, name)))
    }

    pub(super) fn restricts(&self, tool: &ToolName) -> bool {
        tool.restricts(|name| self.names.iter().any(|pattern| wild(pattern, name)))
    }
}

/// The members of a group.
pub(super) fn members(name: &str) -> Option<&'static [&'static str]> {
    GROUPS.iter().find(|(known, _)| *known == name).map(|(_, members)| *members)
}

/// `*` is any run of characters; nothing else is special.
pub(crate) fn wild(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut left) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        let Some((_, after)) = left.split_once(part) else { return false };
        left = after;
    }
    left.len() >= last.len() && left.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_match_runs_and_the_rest_is_anchored() {
        for (pattern, text, expected) in [
            ("*", "anything", true),
            ("file_*", "file_read", true),
            ("file_*", "my_file_read", false),
            ("*_read", "file_read", true),
            ("f*_r*d", "file_read", true),
            ("file_read", "file_read_extra", false),
            ("a*a", "a", false),
            ("a.c", "abc", false),
        ] {
            assert_eq!(wild(pattern, text), expected, "{pattern} {text}");
        }
    }
}
