//! Waiting for people.

use super::{Approval, Standing};
use crate::Error;
use crate::audit::now_ms;
use crate::store::Approvals;
use std::time::{Duration, Instant};

/// How often a question is looked at: often at first, for whoever sits at the page.
const SOONEST: Duration = Duration::from_millis(20);
const LATEST: Duration = Duration::from_millis(250);

/// What came of waiting.
#[derive(Debug)]
pub(crate) enum Waited {
    /// It is decided.
    Decided(Box<Approval>),
    /// The time is over.
    TooLate,
    /// Nobody who could answer is there any more.
    Alone,
}

/// Waits until a question is decided, the caller's time is over, or nobody who could answer is left.
pub(crate) fn wait_for(store: &dyn Approvals, id: &str, until: Instant) -> Result<Waited, Error> {
    let mut pause = SOONEST;
    loop {
        let Some(approval) = store.approval(id)? else {
            return Err(Error::Refused(super::Refused::Unknown(id.to_owned())));
        };
        let now = now_ms();
        if approval.standing != Standing::Pending || now >= approval.question.expires_ms {
            return Ok(Waited::Decided(Box::new(approval)));
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(Waited::TooLate);
        }
        if !store.present(now)?.iter().any(|there| approval.question.may_be_answered_by(&there.person)) {
            return Ok(Waited::Alone);
        }
        std::thread::sleep(pause.min(left));
        pause = (pause * 2).min(LATEST);
    }
}
