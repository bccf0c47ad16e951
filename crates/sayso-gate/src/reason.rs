//! Reasons that the gate itself gives, by the names that it uses for them.

use sayso_policy::{Code, Layer, Reason};

/// Something inside Sayso failed.
pub const INTERNAL_ERROR: Code = Code::InternalError;
/// A policy file has errors, and no earlier good version of it is known.
pub const POLICY_REFUSED: Code = Code::PolicyRefused;
/// A policy file has errors, or is gone from behind a link; its last good version is in force.
pub const LAST_GOOD: Code = Code::LastGoodPolicy;
/// The project's file changed or is gone since it was trusted; the trusted version is in force.
pub const TRUST_OUTDATED: Code = Code::TrustOutdated;
/// The project's file is not trusted: only its Ask and Deny count.
pub const UNTRUSTED: Code = Code::UntrustedProject;
/// The decision could not be recorded.
pub const RECORD_FAILED: Code = Code::RecordFailed;
/// A person should decide, and nobody can be asked.
pub const UNANSWERED: Code = Code::Unanswered;
/// People said yes to this very call.
pub const APPROVED: Code = Code::Approved;
/// Somebody said no.
pub const DENIED_BY_PERSON: Code = Code::DeniedByPerson;
/// What people said yes to is not what would run.
pub const APPROVAL_VOID: Code = Code::ApprovalVoid;
/// The store keeps a yes that the record knows nothing of.
pub const NOT_IN_RECORD: Code = Code::NotInRecord;
/// Records are missing behind the one that says yes.
pub const RECORD_GAP: Code = Code::RecordGap;
/// What was used of a budget was deleted or lowered in the store; the record counts.
pub const BUDGET_RESTORED: Code = Code::BudgetRestored;
/// Too many questions of the session wait already.
pub const TOO_MANY_PENDING: Code = Code::TooManyPending;
/// What must be remembered cannot be.
pub const STORE_FAILED: Code = Code::StoreFailed;
/// The store's file was deleted, moved or replaced under this process.
pub const STORE_REPLACED: Code = Code::StoreReplaced;
/// Records were changed or taken away behind Sayso's back.
pub const RECORD_ALTERED: Code = Code::RecordAltered;
/// An operator broke the glass.
pub const BREAK_GLASS: Code = Code::BreakGlass;
/// An operator switched the mode.
pub const OPERATOR_MODE: Code = Code::OperatorMode;
/// The call cannot be read.
pub const CALL_MALFORMED: Code = Code::CallMalformed;

/// A reason of the gate's own.
#[must_use]
pub fn built_in(code: Code, text: impl Into<String>) -> Reason {
    Reason { code: code.into(), text: text.into(), layer: Layer::BuiltIn, source: None }
}

/// The sentence for [`RECORD_ALTERED`].
pub(crate) fn altered(what: &str) -> String {
    format!(
        "The record has been altered ({what}), so nothing is allowed. `sayso log verify` shows what; `sayso explain record-altered` \
         says how to go on."
    )
}

/// Says of a limit that it is one for all who ask without a token.
pub(crate) fn share_limits(reasons: &mut [Reason]) {
    let limits = |reason: &&mut Reason| reason.code == Code::Limit;
    for reason in reasons.iter_mut().filter(limits) {
        reason.text.push_str(" Callers without a token share it; one with a token has its own (`sayso token create`).");
    }
}
