//! Remembered answers, as they are kept.

use sayso_policy::{Grant, GrantSelector, Verdict};
use serde::{Deserialize, Serialize};

/// A remembered answer and how it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Kept {
    /// The answer.
    #[serde(flatten)]
    pub grant: Grant,
    /// When it was given, in milliseconds since 1970.
    pub given_ms: u64,
    /// The question that it answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<String>,
    /// What it means, for people.
    pub words: String,
    /// When it was taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_ms: Option<u64>,
    /// How often it was used.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(required))]
    pub used: u64,
    /// When it was last used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_ms: Option<u64>,
}

impl Kept {
    /// Whether it may still answer something.
    #[must_use]
    pub fn is_in_force(&self, now_ms: u64) -> bool {
        self.revoked_ms.is_none()
            && self.grant.uses_left != Some(0)
            && self.grant.expires_ms.is_none_or(|end| now_ms < end)
    }

    /// What it answers, as `run: git push`, or as `one exact call`.
    #[must_use]
    pub fn selector(&self) -> String {
        match &self.grant.selector {
            GrantSelector::Digest(_) => "one exact call".to_owned(),
            GrantSelector::Pattern { verb, pattern, .. } => format!("{verb:?}: {pattern}").to_lowercase(),
        }
    }

    /// Allow, or a remembered no.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        self.grant.verdict
    }
}

/// One use of a remembered answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantUse {
    /// Which.
    pub grant: String,
    /// When, in milliseconds since 1970.
    pub time_ms: u64,
    /// The decision's record.
    pub record: String,
    /// The command or tool; redacted.
    pub command: String,
    /// What it answered: the program or path as it resolved.
    pub target: String,
}
