//! New records as they come. Hooks write them from other processes, so one task looks for them while somebody follows.

use crate::app::App;
use sayso_gate::audit::{Order, Query, Stored};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast;

/// How often hooks' spools are folded in, which syncs them to disk, and the record is looked at for those who follow it.
const LOOK: Duration = Duration::from_millis(90);
/// Records that a slow reader may be behind before it has to ask again.
const BEHIND: usize = 1024;

/// Where new records are handed out.
pub(crate) struct Tail {
    sender: broadcast::Sender<Arc<Stored>>,
}

impl Tail {
    pub(crate) fn new() -> Self {
        Self { sender: broadcast::channel(BEHIND).0 }
    }

    /// Every record from now on.
    pub(crate) fn follow(&self) -> broadcast::Receiver<Arc<Stored>> {
        self.sender.subscribe()
    }
}

/// Looks for new records for ever.
pub(crate) async fn watch(app: Arc<App>) {
    let mut last: Option<u64> = None;
    loop {
        tokio::time::sleep(LOOK).await;
        if app.tail.sender.receiver_count() == 0 {
            last = None;
            let reader = Arc::clone(&app);
            // What cannot be folded stays in the spool; requests for records say what is wrong.
            let _ = tokio::task::spawn_blocking(move || reader.with_log(|log| log.fold().is_ok())).await;
            continue;
        }
        let reader = Arc::clone(&app);
        let found = tokio::task::spawn_blocking(move || look(&reader, last)).await;
        // A store that fails now may work again later; requests for records say what is wrong with it.
        let Ok(Some((records, newest))) = found else { continue };
        last = Some(newest);
        for record in records {
            // An error means that nobody follows any more.
            let _ = app.tail.sender.send(Arc::new(record));
        }
    }
}

/// What came after the last record seen. The first look only finds out which that is.
fn look(app: &App, last: Option<u64>) -> Option<(Vec<Stored>, u64)> {
    let Some(last) = last else {
        let newest = Query { limit: Some(1), ..Query::default() };
        let seq = app.with_log(|log| log.query(&newest)).ok()?.first().map_or(0, |it| it.seq);
        return Some((Vec::new(), seq));
    };
    let query = Query { after: Some(last), limit: Some(BEHIND / 2), order: Order::OldestFirst, ..Query::default() };
    let records = app.with_log(|log| log.query(&query)).ok()?;
    let newest = records.last().map_or(last, |it| it.seq);
    Some((records, newest))
}
