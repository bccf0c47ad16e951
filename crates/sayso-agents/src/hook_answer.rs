//! What is said of a call, and why.

use crate::told;
use sayso_gate::{Judged, Permit};
use sayso_policy::{Answer, Reason, Verdict};

/// What is said of a call.
#[must_use]
pub(crate) struct HookAnswer {
    answer: Answer,
    verdict: Verdict,
    reasons: Vec<Reason>,
    permit: Option<Permit>,
}

/// The three words that a dialect has to find its own for. To say allow takes a permit.
#[derive(Debug)]
pub(crate) enum Word {
    Allow(Permit),
    Ask,
    Deny,
}

impl From<Judged> for HookAnswer {
    fn from(judged: Judged) -> Self {
        let decision = judged.decision;
        Self { answer: decision.answer, verdict: decision.verdict, reasons: decision.reasons, permit: judged.permit }
    }
}

impl HookAnswer {
    /// It does not run, for this one reason.
    pub(crate) fn refused(reason: Reason) -> Self {
        Self { answer: Answer::Deny, verdict: Verdict::Deny, reasons: vec![reason], permit: None }
    }

    /// The word for it, and why.
    pub(crate) fn word(self) -> (Word, String) {
        let why = told::why_and_next(self.answer, self.verdict, &self.reasons, told::line);
        let word = match (self.answer, self.permit) {
            (Answer::Allow, Some(permit)) => Word::Allow(permit),
            (Answer::Ask, _) => Word::Ask,
            (Answer::Allow | Answer::Deny | Answer::DryRun, _) => Word::Deny,
        };
        (word, why)
    }
}
