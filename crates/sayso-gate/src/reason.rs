//! Reasons that the gate itself gives. Each code is described in the policy crate's table of codes.

use sayso_policy::{Layer, Reason};

/// Something inside Sayso failed.
pub const INTERNAL_ERROR: &str = "internal-error";
/// A policy file has errors, and no earlier good version of it is known.
pub const POLICY_REFUSED: &str = "policy-refused";
/// A policy file has errors, or is gone from behind a link; its last good version is in force.
pub const LAST_GOOD: &str = "last-good-policy";
/// The project's file changed or is gone since it was trusted; the trusted version is in force.
pub const TRUST_OUTDATED: &str = "trust-outdated";
/// The project's file is not trusted: only its Ask and Deny count.
pub const UNTRUSTED: &str = "untrusted-project";
/// The decision could not be recorded.
pub const RECORD_FAILED: &str = "record-failed";
/// A person should decide, and nobody can be asked.
pub const UNANSWERED: &str = "unanswered";
/// People said yes to this very call.
pub const APPROVED: &str = "approved";
/// Somebody said no.
pub const DENIED_BY_PERSON: &str = "denied-by-person";
/// What people said yes to is not what would run.
pub const APPROVAL_VOID: &str = "approval-void";
/// The store keeps a yes that the record knows nothing of.
pub const NOT_IN_RECORD: &str = "not-in-record";
/// Records are missing behind the one that says yes.
pub const RECORD_GAP: &str = "record-gap";
/// What was used of a budget was deleted or lowered in the store; the record counts.
pub const BUDGET_RESTORED: &str = "budget-restored";
/// Too many questions of the session wait already.
pub const TOO_MANY_PENDING: &str = "too-many-pending";
/// What must be remembered cannot be.
pub const STORE_FAILED: &str = "store-failed";
/// The store's file was deleted, moved or replaced under this process.
pub const STORE_REPLACED: &str = "store-replaced";
/// An operator broke the glass.
pub const BREAK_GLASS: &str = "break-glass";
/// An operator switched the mode.
pub const OPERATOR_MODE: &str = "operator-mode";
/// The call cannot be read.
pub const CALL_MALFORMED: &str = "call-malformed";

/// A reason of the gate's own.
#[must_use]
pub fn built_in(code: &'static str, text: impl Into<String>) -> Reason {
    Reason { code: code.into(), text: text.into(), layer: Layer::BuiltIn, source: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_of_the_gate_is_described() {
        let codes = [
            INTERNAL_ERROR,
            POLICY_REFUSED,
            LAST_GOOD,
            TRUST_OUTDATED,
            UNTRUSTED,
            RECORD_FAILED,
            UNANSWERED,
            CALL_MALFORMED,
            APPROVED,
            DENIED_BY_PERSON,
            APPROVAL_VOID,
            NOT_IN_RECORD,
            RECORD_GAP,
            BUDGET_RESTORED,
            TOO_MANY_PENDING,
            STORE_FAILED,
            STORE_REPLACED,
            BREAK_GLASS,
            OPERATOR_MODE,
        ];
        for code in codes {
            assert!(sayso_policy::code_info(code).is_some(), "{code}");
        }
    }
}
