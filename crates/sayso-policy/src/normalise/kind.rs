//! The kind of an operation: derived from tool and arguments, never believed from the agent.

use serde::{Deserialize, Serialize};

/// The kinds of operation of the Agent Client Protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Reading files or data.
    Read,
    /// Changing files or content.
    Edit,
    /// Removing files or data.
    Delete,
    /// Moving or renaming files.
    Move,
    /// Searching for information.
    Search,
    /// Running commands or code.
    Execute,
    /// Retrieving external data.
    Fetch,
    /// Internal reasoning.
    Think,
    /// Switching the session's mode.
    SwitchMode,
    /// Anything else.
    Other,
}

impl Kind {
    /// The word of the protocol, in any case; `None` for a word that it does not have.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Some(match word.trim_matches(|c: char| c.is_ascii_whitespace()).to_ascii_lowercase().as_str() {
            "read" => Self::Read,
            "edit" => Self::Edit,
            "delete" => Self::Delete,
            "move" => Self::Move,
            "search" => Self::Search,
            "execute" => Self::Execute,
            "fetch" => Self::Fetch,
            "think" => Self::Think,
            "switch_mode" | "switchmode" => Self::SwitchMode,
            "other" => Self::Other,
            _ => return None,
        })
    }

    /// How much an operation of this kind may do: what an agent reports counts only if this is more than what was
    /// derived.
    fn weight(self) -> u8 {
        match self {
            Self::Think => 0,
            Self::Read | Self::Search => 1,
            Self::Fetch => 2,
            Self::Edit => 3,
            Self::Move => 4,
            Self::Delete => 5,
            Self::SwitchMode => 6,
            Self::Execute => 7,
            Self::Other => 8,
        }
    }
}

/// What a report adds to a derived kind: the reported kind, where it says more than was derived. A word that is no
/// kind says nothing.
///
/// An agent that calls its shell `think` is not believed; one that calls its reader `execute` is.
pub(crate) fn tightening(derived: Kind, reported: Option<&str>) -> Option<Kind> {
    let reported = Kind::parse(reported?)?;
    // Nothing weighs more than a tool nobody knows, yet a deny of deletions should hear that it calls itself one.
    (derived == Kind::Other && reported != Kind::Other || reported.weight() > derived.weight()).then_some(reported)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reported_kind_only_tightens() {
        for (derived, reported, expected) in [
            (Kind::Read, "execute", Some(Kind::Execute)),
            (Kind::Execute, "read", None),
            (Kind::Execute, "think", None),
            (Kind::Edit, " DELETE ", Some(Kind::Delete)),
            (Kind::Delete, "edit", None),
            (Kind::Other, "delete", Some(Kind::Delete)),
            (Kind::Read, "nonsense", None),
            (Kind::Read, "", None),
        ] {
            assert_eq!(tightening(derived, Some(reported)), expected, "{derived:?} {reported}");
        }
        assert_eq!(tightening(Kind::Read, None), None);
    }
}
