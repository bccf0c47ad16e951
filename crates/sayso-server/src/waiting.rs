//! Callers that wait for an answer: no thread each, one entry in a table.

use crate::app::App;
use crate::clock::now_ms;
use crate::error::ApiError;
use sayso_gate::approval::Standing;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// Who waits for which question.
#[derive(Default)]
pub(crate) struct Waiting {
    by_question: Mutex<HashMap<String, Weak<Notify>>>,
}

impl Waiting {
    fn on(&self, question: &str) -> Arc<Notify> {
        let mut waiting = self.lock();
        if let Some(known) = waiting.get(question).and_then(Weak::upgrade) {
            return known;
        }
        // Whoever went away has left an empty place.
        waiting.retain(|_, notify| notify.strong_count() > 0);
        let fresh = Arc::new(Notify::new());
        waiting.insert(question.to_owned(), Arc::downgrade(&fresh));
        fresh
    }

    /// Something became of a question: whoever waits for it looks again.
    pub(crate) fn tell(&self, question: &str) {
        if let Some(notify) = self.lock().get(question).and_then(Weak::upgrade) {
            notify.notify_waiters();
        }
    }

    /// Whether anybody waits.
    pub(crate) fn is_anybody_there(&self) -> bool {
        self.lock().values().any(|notify| notify.strong_count() > 0)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Weak<Notify>>> {
        // Nothing here is left half done by a panic.
        self.by_question.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits until a question is decided or ends, or the caller's time is over.
pub(crate) async fn wait(app: &Arc<App>, question: &str, limit: Duration) -> Result<(), ApiError> {
    let end = Instant::now().checked_add(limit);
    let notify = app.waiting.on(question);
    loop {
        let told = notify.notified();
        tokio::pin!(told);
        // Listening before looking: an answer in between is heard.
        told.as_mut().enable();
        let (store, id) = (app.store(), question.to_owned());
        let Some(approval) = app.remembering(move || store.approval(&id)).await?? else { return Ok(()) };
        let left = approval.question.expires_ms.saturating_sub(now_ms());
        if approval.standing != Standing::Pending || left == 0 || end.is_some_and(|end| end <= Instant::now()) {
            return Ok(());
        }
        let expires = Instant::now() + Duration::from_millis(left.saturating_add(1).min(24 * 60 * 60 * 1000));
        tokio::select! {
            () = told => {}
            () = tokio::time::sleep_until(end.map_or(expires, |end| end.min(expires))) => {}
        }
    }
}
