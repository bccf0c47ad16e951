//! What is wrong with the chain, as far as this process knows. While there is something, the gate allows nothing.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// What is wrong with the chain. Every decision looks here, so a chain in good order costs one load.
#[derive(Default)]
pub(super) struct Alarm {
    raised: AtomicBool,
    /// Records that this process has written are gone. It stays: whatever is written now, they are not in it.
    lost: OnceLock<Arc<str>>,
    /// What the last check found.
    found: Mutex<Option<Arc<str>>>,
}

impl Alarm {
    /// Why nothing is to be allowed, if that is so.
    pub(super) fn why(&self) -> Option<Arc<str>> {
        if !self.raised.load(Ordering::SeqCst) {
            return None;
        }
        self.lost.get().cloned().or_else(|| self.found.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    /// What was written by this process is gone.
    pub(super) fn lose(&self, why: String) -> Arc<str> {
        let why = Arc::clone(self.lost.get_or_init(|| why.into()));
        self.raised.store(true, Ordering::SeqCst);
        why
    }

    /// What a check has found; nothing, if all is well. Gives what is wrong now.
    pub(super) fn found(&self, found: Option<&str>) -> Option<Arc<str>> {
        let mut kept = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        *kept = found.map(Arc::from);
        // INVARIANT: under the lock, so that no two checks leave it other than what they found.
        self.raised.store(kept.is_some() || self.lost.get().is_some(), Ordering::SeqCst);
        drop(kept);
        self.why()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_takes_back_what_a_check_has_found_and_nothing_else() {
        let alarm = Alarm::default();
        assert_eq!(alarm.why(), None);
        assert_eq!(alarm.found(Some("record 3 was changed")).as_deref(), Some("record 3 was changed"));
        assert_eq!(alarm.found(None), None);
        alarm.lose("records 4 to 5 are gone".to_owned());
        assert_eq!(alarm.found(None).as_deref(), Some("records 4 to 5 are gone"));
        assert_eq!(alarm.why().as_deref(), Some("records 4 to 5 are gone"));
    }
}
