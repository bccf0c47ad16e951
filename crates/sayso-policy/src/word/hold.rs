//! Whether a run is held by the kernel to what the policy allows.

use sayso_shell::bounds::Need;

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
