//! Whether a run is held by the kernel to what the policy allows.

use sayso_shell::bounds::Need;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What a decision says of holding the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holding {
    /// The Allow counts only under a hold of at least this strength.
    Required(Need),
    /// It is allowed as it is; the policy wants it held where that can be. Beside an Ask: once somebody has said yes.
    Wanted(Need),
    /// It is not allowed as it is. Under such a hold it would be.
    WouldAllow(Need),
}

impl Holding {
    const ALL: [(Self, &'static str); 6] = [
        (Self::Required(Need::Whole), "required-whole"),
        (Self::Required(Need::Files), "required-files"),
        (Self::Wanted(Need::Whole), "wanted-whole"),
        (Self::Wanted(Need::Files), "wanted-files"),
        (Self::WouldAllow(Need::Whole), "would-allow-whole"),
        (Self::WouldAllow(Need::Files), "would-allow-files"),
    ];

    /// How strong the hold must be.
    #[must_use]
    pub fn need(self) -> Need {
        match self {
            Self::Required(need) | Self::Wanted(need) | Self::WouldAllow(need) => need,
        }
    }

    /// The word for it: `required-whole`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(hold, _)| *hold == self).map_or("", |(_, word)| word)
    }

    /// The hold under which the call is, or would be, allowed: `whole`, `files`. `None`: a hold decides nothing.
    #[must_use]
    pub fn decides(self) -> Option<&'static str> {
        match self {
            Self::Required(need) | Self::WouldAllow(need) => Some(word(need)),
            Self::Wanted(_) => None,
        }
    }
}

fn word(need: Need) -> &'static str {
    match need {
        Need::Whole => "whole",
        Need::Files => "files",
    }
}

impl Serialize for Holding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Holding {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        let found = Self::ALL.iter().find(|(_, word)| *word == text).map(|(hold, _)| *hold);
        found.ok_or_else(|| serde::de::Error::custom("no word on holding a run"))
    }
}

/// How strongly the way in can hold what it lets pass.
///
/// INVARIANT: the owner's side says so, never the call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum CanHold {
    /// Not at all.
    #[default]
    No,
    /// Files only.
    Files,
    /// Whole.
    Whole,
}

impl CanHold {
    /// Whether that is enough.
    #[must_use]
    pub fn meets(self, need: Need) -> bool {
        match need {
            Need::Files => self >= Self::Files,
            Need::Whole => self == Self::Whole,
        }
    }
}
