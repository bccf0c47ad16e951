//! An Ask that nobody has answered yet: who is asked, and what an answer would be bound to.

use super::{Judging, KnownOperation};
use crate::approval::{MOST_PENDING, Presence, Standing, may_answer};
use crate::circumstances::Asking;
use crate::reason;
use crate::store::{Memo, Remembered};
use crate::verdict::{answer, tighten};
use sayso_policy::{Answer, Decision, State, Verdict};

/// Where an Ask goes that nobody has answered yet.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Goes {
    /// To the caller's own prompt.
    ToCaller,
    /// Nowhere: nobody can be asked.
    Nowhere,
    /// To people; one of them may be there now.
    ToPeople {
        /// Somebody who may answer waits for questions, or the caller comes back.
        attended: bool,
    },
}

impl Judging<'_> {
    /// Whether it matters what a yes to this call would be bound to: there may be an answer to this very call, or people
    /// are about to be asked for one. To look at every file that a command goes by takes long, and where the caller
    /// asks at its own prompt nothing of the answer is kept here.
    ///
    /// INVARIANT: a question is put, and a kept answer counts, only for what was pinned down before.
    pub(super) fn needs_pin(&self, known: &KnownOperation<'_>, remembered: &Remembered, decision: &Decision) -> bool {
        match decision.answer {
            Answer::Ask => {
                remembered.answerable
                    // A limit asks: nobody has looked yet whether there is an answer.
                    || known.grants.is_none()
                    || matches!(self.goes(known, decision), Goes::ToPeople { .. })
            }
            // Whoever said yes and to remember it said one yes: the call that it was about uses it up.
            // And so does a step of an approved plan, though it is allowed anyway.
            Answer::Allow => {
                remembered.answerable && (decision.granted().next().is_some() || self.is_planned(decision))
            }
            Answer::Deny | Answer::DryRun => false,
        }
    }

    /// An Ask that nobody has answered yet: puts the question, or leaves it to the caller or to nobody.
    pub(super) fn put(
        &mut self,
        known: &KnownOperation<'_>,
        state: &State,
        remembered: &Remembered,
        decision: &mut Decision,
        memo: &mut Memo,
    ) {
        let attended = match self.goes(known, decision) {
            Goes::ToCaller => return,
            Goes::Nowhere => return unanswered(decision, None),
            Goes::ToPeople { attended } => attended,
        };
        if let Some(waits) = remembered.approvals.iter().find(|approval| approval.standing == Standing::Pending) {
            self.question = Some(waits.question.id.clone());
        } else if known.asked {
            return unanswered(decision, None);
        } else if remembered.pending >= MOST_PENDING {
            let why = format!("{MOST_PENDING} calls of this session are already pending.");
            tighten(decision, Verdict::Deny, &reason::built_in(reason::TOO_MANY_PENDING, why));
        } else {
            let question = self.ask_about(known, state, decision);
            self.question = Some(question.id.clone());
            memo.ask = Some(Box::new(question));
        }
        if !attended && decision.answer == Answer::Ask {
            // Nobody is there to wait for. The question stays: once it is answered, the same call passes.
            unanswered(decision, self.question.as_deref());
        }
    }

    fn goes(&self, known: &KnownOperation<'_>, decision: &Decision) -> Goes {
        let addressees = decision.addressees();
        let could = |there: &Presence| {
            let to = |to: &Option<_>| may_answer(&known.operation.actor, to.as_deref(), &there.person);
            addressees.iter().any(to)
        };
        let comes_back = matches!(self.what.circumstances.asking, Asking::Ticket { .. });
        let attended = comes_back || known.present.iter().any(could);
        if self.leaves_to_caller(decision) && !attended {
            return Goes::ToCaller;
        }
        let queue = comes_back || matches!(self.what.circumstances.asking, Asking::Queue { .. });
        let passes = decision.unanswered == Some(Verdict::Allow);
        if !attended && (passes || !queue && addressees.iter().all(Option::is_none)) {
            return Goes::Nowhere;
        }
        Goes::ToPeople { attended }
    }
}

/// Nobody can be asked, or nobody answered in time: what the files say of that, else Deny.
pub(super) fn unanswered(decision: &mut Decision, question: Option<&str>) {
    if decision.unanswered == Some(Verdict::Allow) {
        let why = "Nobody can be asked here. The policy file lets unanswered calls pass.";
        answer(decision, Answer::Allow, reason::built_in(reason::UNANSWERED, why));
        return;
    }
    let why = match question {
        None => "Nobody can be asked here, and a person must decide this.".to_owned(),
        Some(id) => format!("Nobody has answered yet. It is pending as {id}; try again once it is answered."),
    };
    tighten(decision, Verdict::Deny, &reason::built_in(reason::UNANSWERED, why));
}
