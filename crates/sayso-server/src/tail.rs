//! New records as they come. Hooks write them from other processes, so one task looks for them while somebody follows
//! or waits.

use crate::app::App;
use crate::told::Told;
use sayso_gate::audit::{Event, Kind, Order, Query};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, broadcast};

/// How often hooks' spools are folded in, which syncs them to disk, and the record is looked at for those who follow it.
const LOOK: Duration = Duration::from_millis(90);
/// Records that a slow reader may be behind before it has to ask again.
const BEHIND: usize = 1024;

/// Where new records are handed out.
pub(crate) struct Tail {
    sender: broadcast::Sender<Arc<Told>>,
    now: Notify,
}

impl Tail {
    pub(crate) fn new() -> Self {
        Self { sender: broadcast::channel(BEHIND).0, now: Notify::new() }
    }

    /// Every record from now on.
    pub(crate) fn follow(&self) -> broadcast::Receiver<Arc<Told>> {
        self.sender.subscribe()
    }

    /// This server has written something that somebody waits for.
    pub(crate) fn look_now(&self) {
        self.now.notify_one();
    }
}

/// Looks for new records for ever.
pub(crate) async fn watch(app: Arc<App>) {
    let mut last: Option<u64> = None;
    loop {
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            () = app.tail.now.notified() => {}
        }
        if app.tail.sender.receiver_count() == 0 && !app.waiting.is_anybody_there() {
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
        for told in records {
            if let Some(question) = &told.question {
                app.waiting.tell(question);
            }
            // An error means that nobody follows any more.
            let _ = app.tail.sender.send(Arc::new(told));
        }
    }
}

/// What came after the last record seen. The first look only finds out which that is.
fn look(app: &App, last: Option<u64>) -> Option<(Vec<Told>, u64)> {
    let Some(last) = last else {
        let newest = Query { limit: Some(1), ..Query::default() };
        let newest = app.with_log(|log| log.events(&newest)).ok()?;
        // Whoever began to wait before this look may have been answered before it too.
        for chained in app.with_log(|log| log.events(&answered_lately())).ok()? {
            if let Event::Change(change) = &chained.event
                && let Some(question) = &change.about
            {
                app.waiting.tell(question);
            }
        }
        return Some((Vec::new(), newest.first().map_or(0, |it| it.seq)));
    };
    let records = read(app, last, BEHIND / 2)?;
    let newest = records.last().map_or(last, |it| it.seq);
    Some((records, newest))
}

fn answered_lately() -> Query {
    Query { kinds: vec![Kind::Approval], limit: Some(64), ..Query::default() }
}

/// What stands in the chain behind a number, the oldest first.
pub(crate) fn read(app: &App, after: u64, limit: usize) -> Option<Vec<Told>> {
    let query = Query { after: Some(after), limit: Some(limit), order: Order::OldestFirst, ..Query::default() };
    let found = app.with_log(|log| log.events(&query)).ok()?;
    found.into_iter().map(|chained| Told::of(app, chained)).collect()
}
