//! Strictness is an order.

use serde::{Deserialize, Serialize};

/// What the policy says of a call. The order is strictness; several verdicts combine by `max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It may run.
    Allow,
    /// A person decides.
    Ask,
    /// It must not run.
    Deny,
}

impl Verdict {
    /// The lower-case word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What the caller is told: a verdict, or that this was a rehearsal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// It may run.
    Allow,
    /// A person decides.
    Ask,
    /// It must not run.
    Deny,
    /// Nothing runs: the caller gets a stub, and the verdict that would have been is on record.
    DryRun,
}

impl From<Verdict> for Answer {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Allow => Self::Allow,
            Verdict::Ask => Self::Ask,
            Verdict::Deny => Self::Deny,
        }
    }
}

impl Answer {
    /// The word of the outside contract.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
            Self::DryRun => "dry-run",
        }
    }
}

/// The three answers of a bare ruleset in the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Permitted.
    Allow,
    /// Forbidden.
    Deny,
    /// No rule matched: escalate to a person.
    Unknown,
}

/// The answer of a matcher: yes, no, or maybe because something is not known.
///
/// Allow needs yes. For Ask and Deny, yes decides and maybe adds Ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tri {
    /// It does not match, whatever the unknown parts turn out to be.
    No,
    /// It may match.
    Maybe,
    /// It matches for certain.
    Yes,
}

impl Tri {
    /// Both must match.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        self.min(other)
    }

    /// One must match.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        self.max(other)
    }
}

impl std::ops::Not for Tri {
    type Output = Self;

    /// `not` keeps maybe.
    fn not(self) -> Self {
        match self {
            Self::No => Self::Yes,
            Self::Maybe => Self::Maybe,
            Self::Yes => Self::No,
        }
    }
}

impl From<bool> for Tri {
    fn from(yes: bool) -> Self {
        if yes { Self::Yes } else { Self::No }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strictest_verdict_is_the_maximum() {
        assert_eq!(Verdict::Allow.max(Verdict::Ask), Verdict::Ask);
        assert_eq!(Verdict::Deny.max(Verdict::Ask), Verdict::Deny);
    }

    #[test]
    fn not_keeps_maybe() {
        assert_eq!(!Tri::Maybe, Tri::Maybe);
        assert_eq!(!Tri::Yes, Tri::No);
        assert_eq!(!Tri::No, Tri::Yes);
    }
}
