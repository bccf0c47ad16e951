//! What the policy says of a call, whatever fails on the way. No step here turns a failure into Allow.

use crate::policy::InForce;
use crate::reason;
use sayso_policy::{Answer, Decision, Facts, Holding, Operation, Policy, Provenance, Reason, State, ToolCall, Verdict};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

static ANALYSED: AtomicU64 = AtomicU64::new(0);

/// How many calls this process has analysed. Tests see by it that a call is analysed once, whichever way it came in.
#[must_use]
pub fn analysed() -> u64 {
    ANALYSED.load(Ordering::Relaxed)
}

/// A call, normalised and analysed; `None` if Sayso fails on it.
pub(crate) fn understand(policy: &Policy, call: ToolCall, facts: Facts<'_>) -> Option<Operation> {
    ANALYSED.fetch_add(1, Ordering::Relaxed);
    catch_unwind(AssertUnwindSafe(|| policy.operation(call, facts))).ok()
}

/// The operation with the words that come out of files shown, if whoever asks may read all of these files anyway.
pub(crate) fn shown_as_allowed(policy: &Policy, mut operation: Operation, facts: Facts<'_>) -> Operation {
    let lets = |operation: &Operation| policy.lets_read_sources(operation, facts);
    if !operation.provenance.is_empty() && catch_unwind(AssertUnwindSafe(|| lets(&operation))).unwrap_or(false) {
        operation.provenance = Provenance::default();
    }
    operation
}

/// What the policy says of an operation with this remembered.
pub(crate) fn judged(in_force: &InForce, operation: Option<&Operation>, state: &State, facts: Facts<'_>) -> Decision {
    let policy = &in_force.policy;
    let judged = operation
        .and_then(|operation| catch_unwind(AssertUnwindSafe(|| policy.evaluate(operation, state, facts))).ok());
    let mut decision = judged.unwrap_or_else(|| failed(in_force));
    if let Some((verdict, reason)) = &in_force.floor {
        tighten(&mut decision, *verdict, reason);
    }
    decision
}

/// Makes a decision at least this strict, and says why: first, if that is what decides.
pub(crate) fn tighten(decision: &mut Decision, least: Verdict, reason: &Reason) {
    if decision.verdict < least || least == Verdict::Deny && decision.answer != Answer::Deny {
        decision.reasons.insert(0, reason.clone());
    } else {
        decision.reasons.push(reason.clone());
    }
    // INVARIANT: what a hold would lift is not this.
    if least != Verdict::Allow {
        decision.hold = decision.hold.filter(|hold| matches!(hold, Holding::Wanted(_)) && least == Verdict::Ask);
    }
    decision.verdict = decision.verdict.max(least);
    decision.answer = match (decision.answer, least) {
        (_, Verdict::Deny) | (Answer::Deny, _) => Answer::Deny,
        (Answer::Allow, Verdict::Ask) => Answer::Ask,
        (answer, _) => answer,
    };
}

/// Gives a decision another answer, and says why first.
pub(crate) fn answer(decision: &mut Decision, answer: Answer, why: Reason) {
    decision.answer = answer;
    decision.hold = match (decision.hold, answer) {
        // Somebody said yes to it as it is; the policy still wants it held where that can be.
        (Some(Holding::WouldAllow(need)), Answer::Allow) => Some(Holding::Wanted(need)),
        (hold @ Some(Holding::WouldAllow(_)), _) => hold,
        (hold, Answer::Allow | Answer::Ask) => hold,
        (_, Answer::Deny | Answer::DryRun) => None,
    };
    decision.reasons.insert(0, why);
}

/// Sayso itself failed: the call does not run.
pub(crate) fn failed(in_force: &InForce) -> Decision {
    let why = "Sayso failed while judging this call. The call does not run; please report the bug.";
    denied(in_force, reason::built_in(reason::INTERNAL_ERROR, why))
}

/// The call does not run, for this reason alone.
pub(crate) fn denied(in_force: &InForce, reason: Reason) -> Decision {
    Decision {
        verdict: Verdict::Deny,
        answer: Answer::Deny,
        would: None,
        unanswered: None,
        hold: None,
        reasons: vec![reason],
        effects: Vec::new(),
        policy_version: in_force.policy.version().to_owned(),
        deeds: None,
        risk: None,
    }
}
