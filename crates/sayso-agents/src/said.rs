//! What is said of a call, and why.

use sayso_gate::{Judged, Permit, reason};
use sayso_policy::explain::visible;
use sayso_policy::{Answer, Reason, Verdict};

/// How much of a reason an agent is told.
const LONGEST: usize = 2_000;

/// What is said of a call.
#[must_use]
pub(crate) struct Said {
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

impl From<Judged> for Said {
    fn from(judged: Judged) -> Self {
        let decision = judged.decision;
        Self { answer: decision.answer, verdict: decision.verdict, reasons: decision.reasons, permit: judged.permit }
    }
}

impl Said {
    /// It does not run, for this one reason.
    pub(crate) fn refused(reason: Reason) -> Self {
        Self { answer: Answer::Deny, verdict: Verdict::Deny, reasons: vec![reason], permit: None }
    }

    /// The word for it, and why.
    pub(crate) fn word(self) -> (Word, String) {
        let why = self.why();
        let word = match (self.answer, self.permit) {
            (Answer::Allow, Some(permit)) => Word::Allow(permit),
            (Answer::Ask, _) => Word::Ask,
            (Answer::Allow | Answer::Deny | Answer::DryRun, _) => Word::Deny,
        };
        (word, why)
    }

    /// Why, and what to do next, for the agent and its user. Nothing in it moves a cursor.
    fn why(&self) -> String {
        let head = match self.answer {
            Answer::DryRun => format!("Sayso, dry run: nothing was run; it would have been: {}.", self.verdict),
            answer => format!("Sayso: {}.", answer.as_str()),
        };
        let mut parts = vec![head];
        parts.extend(self.reasons.iter().take(3).map(sentence));
        let nobody = self.reasons.first().is_some_and(|first| first.code == reason::UNANSWERED);
        let next = match self.answer {
            Answer::Deny if nobody => {
                "Tell the user what you need and why: they can answer with `sayso approvals`, or allow it in their \
                 policy; then try the same call again."
            }
            Answer::Deny => {
                "Do not try it again in another form: reach the goal another way, or tell the user what you need and why."
            }
            Answer::Ask => "A person must say yes to this.",
            Answer::Allow => "",
            Answer::DryRun => "Go on as if it had been done.",
        };
        let next = std::iter::once(next.to_owned()).filter(|next| !next.is_empty());
        // What to do next is kept whole; reasons may hold much of the agent's own text.
        let told: String = parts.join(" ").chars().take(LONGEST).collect();
        std::iter::once(told).chain(next).collect::<Vec<_>>().join(" ")
    }
}

/// A reason as one sentence: what, the code, and the place of the rule.
fn sentence(reason: &Reason) -> String {
    let place = reason.source.as_ref().map(|source| format!(", {source}")).unwrap_or_default();
    visible(&format!("{} [{}{place}]", reason.text, reason.code)).into_owned()
}
