//! What the gate said of a call, and what it would say once that is recorded.

use crate::audit::{Record, Recorder, Written};
use crate::fact::Kept;
use crate::judgement::ReservedBudget;
use crate::verdict::tighten;
use crate::{Error, Permit, Prompt, reason};
use sayso_policy::{Decision, Operation, Verdict};
use std::sync::Arc;

/// What the gate said of a call.
#[derive(Debug)]
#[must_use = "a judgement that nobody looks at guards nothing"]
pub struct Judged {
    /// The decision.
    pub decision: Decision,
    /// There if, and only if, the call may run now.
    pub permit: Option<Permit>,
    /// There if, and only if, the caller is to ask at its own prompt.
    pub prompt: Option<Prompt>,
    /// What was recorded.
    pub record: Record,
    /// The call as it was understood; `None` if Sayso failed on it.
    pub operation: Option<Operation>,
    /// The question that waits for people, where the caller may come back.
    pub question: Option<String>,
}

/// What was said of a call that was recorded together with others: as much as whoever asked is told.
#[derive(Debug)]
#[must_use = "a judgement that nobody looks at guards nothing"]
pub struct Recorded {
    /// The decision, without the opinions on each effect: those are in the record.
    pub decision: Decision,
    /// There if, and only if, the call may run now.
    pub permit: Option<Permit>,
    /// The id of the record.
    pub id: String,
    /// How long the decision took, in microseconds.
    pub micros: u64,
}

impl From<Judged> for Recorded {
    fn from(judged: Judged) -> Self {
        let Judged { decision, permit, record, .. } = judged;
        Self { decision, permit, id: record.id, micros: record.micros }
    }
}

/// What the gate would say of a call whose record is taken together with others': until it is, nobody is told.
#[must_use = "a judgement that nobody looks at guards nothing"]
pub struct Unsaid(Box<Unkept>);

/// Behind a pointer: it is handed on several times between threads.
pub(crate) struct Unkept {
    pub(crate) recorder: Arc<dyn Recorder + Send + Sync>,
    /// Taken when it is recorded.
    pub(crate) written: Option<Result<Written, Error>>,
    pub(crate) policy_kept: Result<(), Error>,
    pub(crate) said: Recorded,
    /// Of the operation that a permit would be for.
    pub(crate) digest: Option<String>,
    /// Taken back if it is not recorded.
    pub(crate) fact: Option<Kept>,
    /// Given back if it is not recorded.
    pub(crate) reserved: Option<ReservedBudget>,
}

impl Unsaid {
    pub(crate) fn new(unkept: Unkept) -> Self {
        Self(Box::new(unkept))
    }

    /// Records what several gates would say, those of one recorder together, and tells it in the same order.
    pub fn record_all(mut all: Vec<Self>) -> impl Iterator<Item = Recorded> {
        // INVARIANT: a record of which nothing was said is not kept.
        let nothing_said = || Err(Error::NotKept("nothing was said of it".into()));
        let mut kept: Vec<Result<(), Error>> = all.iter().map(|_| nothing_said()).collect();
        while let Some(first) = all.iter().find(|unsaid| unsaid.0.written.is_some()) {
            let recorder = Arc::clone(&first.0.recorder);
            let (mut places, mut records) = (Vec::new(), Vec::new());
            for (place, (unsaid, kept)) in all.iter_mut().zip(&mut kept).enumerate() {
                if !Arc::ptr_eq(&unsaid.0.recorder, &recorder) {
                    continue;
                }
                match unsaid.0.written.take() {
                    Some(Ok(written)) => {
                        places.push(place);
                        records.push(written);
                    }
                    Some(Err(error)) => *kept = Err(error),
                    None => {}
                }
            }
            for (place, said) in places.into_iter().zip(recorder.record_all(records)) {
                if let Some(kept) = kept.get_mut(place) {
                    *kept = said;
                }
            }
        }
        all.into_iter().zip(kept).map(|(unsaid, kept)| unsaid.say(kept))
    }

    fn say(self, kept: Result<(), Error>) -> Recorded {
        let Unkept { policy_kept, mut said, digest, reserved, fact, .. } = *self.0;
        if let Err(error) = policy_kept.and(kept) {
            reserved.iter().for_each(ReservedBudget::give_back);
            fact.iter().for_each(Kept::take_back);
            not_recorded(&mut said.decision, &error);
        }
        said.permit = Permit::of(digest.as_deref(), &said.decision);
        said
    }
}

/// What cannot be recorded does not run.
pub(crate) fn not_recorded(decision: &mut Decision, error: &Error) {
    let why = format!("The decision could not be recorded ({error}), so the call does not run.");
    let (code, why) = match error {
        Error::Replaced(_) => (reason::STORE_REPLACED, why),
        Error::Altered(what) => (reason::RECORD_ALTERED, reason::altered(what)),
        _ => (reason::RECORD_FAILED, why),
    };
    tighten(decision, Verdict::Deny, &reason::built_in(code, why));
}
