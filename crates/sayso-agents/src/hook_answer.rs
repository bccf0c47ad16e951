//! What is said of a call, and why.

use crate::hold::HeldInput;
use crate::told;
use sayso_gate::{Judged, Permit};
use sayso_policy::{Answer, Reason, Verdict};

/// What is said of a call.
#[must_use]
pub(crate) struct HookAnswer {
    answer: Answer,
    verdict: Verdict,
    reasons: Vec<Reason>,
    leave: Leave,
    /// What else the agent is told.
    advice: Option<String>,
}

/// Whether a call goes on.
enum Leave {
    /// As it is.
    Plain(Permit),
    /// With other arguments, under a hold.
    Held(HeldInput),
    None,
}

/// The three words that a dialect has to find its own for. To say allow takes a permit.
#[derive(Debug)]
pub(crate) enum Word {
    Allow(Permit),
    /// It runs with these arguments in place of its own, under a hold. Its permit is spent on that.
    Held(HeldInput),
    Ask,
    Deny,
}

impl From<Judged> for HookAnswer {
    fn from(judged: Judged) -> Self {
        let decision = judged.decision;
        let leave = judged.permit.map_or(Leave::None, Leave::Plain);
        let (answer, verdict) = (decision.answer, decision.verdict);
        Self { answer, verdict, reasons: decision.reasons, leave, advice: None }
    }
}

impl HookAnswer {
    /// It does not run, for this one reason.
    pub(crate) fn refused(reason: Reason) -> Self {
        Self { answer: Answer::Deny, verdict: Verdict::Deny, reasons: vec![reason], leave: Leave::None, advice: None }
    }

    /// It runs with other arguments, under a hold.
    pub(crate) fn held(self, input: HeldInput) -> Self {
        Self { leave: Leave::Held(input), ..self }
    }

    /// The same, with something to do about it.
    pub(crate) fn advised(self, advice: Option<String>) -> Self {
        Self { advice, ..self }
    }

    /// The word for it, and why.
    pub(crate) fn word(self) -> (Word, String) {
        let mut why = told::why_and_next(self.answer, self.verdict, &self.reasons, told::line);
        if let Some(advice) = self.advice {
            why = format!("{why} {advice}");
        }
        let word = match (self.answer, self.leave) {
            (Answer::Allow, Leave::Plain(permit)) => Word::Allow(permit),
            (Answer::Allow, Leave::Held(input)) => Word::Held(input),
            (Answer::Ask, _) => Word::Ask,
            (Answer::Allow | Answer::Deny | Answer::DryRun, _) => Word::Deny,
        };
        (word, why)
    }
}
