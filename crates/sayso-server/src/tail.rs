//! New records as they come. Hooks write them from other processes, so one task looks for them while somebody follows
//! or waits.

use crate::app::App;
use crate::error::ApiError;
use crate::told::Told;
use sayso_gate::audit::{Event, Kind, Order, Query};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, Semaphore, broadcast};

/// How often hooks' spools are folded in, which syncs them to disk, and the record is looked at for those who follow it.
const LOOK: Duration = Duration::from_millis(90);
/// Records that a slow reader may be behind before it has to read them itself.
const BEHIND: usize = 1024;
/// Records handed out at a time.
const AT_A_TIME: usize = BEHIND / 2;
/// Followers that read the record at the same time.
const READERS: usize = 4;

/// Where new records are handed out.
pub(crate) struct Tail {
    hall: Mutex<Hall>,
    now: Notify,
    /// Whoever reads what it missed takes one.
    pub(crate) turns: Arc<Semaphore>,
}

struct Hall {
    /// `None`: the server stops.
    sender: Option<broadcast::Sender<Arc<Told>>>,
    /// The last record before the first of those who follow came. What is looked for begins behind it, so that nothing
    /// is left out between their coming and the next look.
    since: Option<u64>,
}

impl Tail {
    pub(crate) fn new() -> Self {
        let hall = Mutex::new(Hall { sender: Some(broadcast::channel(BEHIND).0), since: None });
        Self { hall, now: Notify::new(), turns: Arc::new(Semaphore::new(READERS)) }
    }

    /// This server has written something that somebody waits for.
    pub(crate) fn look_now(&self) {
        self.now.notify_one();
    }

    /// The server stops: whoever follows gets what was handed out, and no more.
    pub(crate) fn close(&self) {
        self.lock().sender = None;
    }

    fn lock(&self) -> MutexGuard<'_, Hall> {
        // Nothing here is left half done by a panic.
        self.hall.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether nobody follows. Whoever comes next begins anew.
    fn is_empty(&self) -> bool {
        let mut hall = self.lock();
        let empty = hall.sender.as_ref().is_none_or(|sender| sender.receiver_count() == 0);
        if empty {
            hall.since = None;
        }
        empty
    }
}

/// Every record from now on, and the number of the last one before.
pub(crate) fn follow(app: &App) -> Result<(broadcast::Receiver<Arc<Told>>, u64), ApiError> {
    let mut hall = app.tail.lock();
    let live = hall.sender.as_ref().ok_or_else(ApiError::stopping)?.subscribe();
    let newest = newest(app)?;
    hall.since = Some(hall.since.map_or(newest, |since| since.min(newest)));
    Ok((live, newest))
}

/// Looks for new records for ever.
pub(crate) async fn watch(app: Arc<App>) {
    let mut last: Option<u64> = None;
    let mut more = false;
    loop {
        if !more {
            tokio::select! {
                () = tokio::time::sleep(LOOK) => {}
                () = app.tail.now.notified() => {}
            }
        }
        more = false;
        if app.tail.is_empty() && !app.waiting.is_anybody_there() {
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
        more = records.len() == AT_A_TIME;
        for told in records {
            if let Some(question) = &told.question {
                app.waiting.tell(question);
            }
            if let Some(sender) = &app.tail.lock().sender {
                // An error means that nobody follows any more.
                let _ = sender.send(Arc::new(told));
            }
        }
    }
}

/// What came after the last record seen. The first look only finds out which that is.
fn look(app: &App, last: Option<u64>) -> Option<(Vec<Told>, u64)> {
    let Some(last) = last else {
        let hall = app.tail.lock();
        let newest = newest(app).ok()?;
        let since = hall.since.map_or(newest, |since| since.min(newest));
        drop(hall);
        // Whoever began to wait before this look may have been answered before it too.
        for chained in app.with_log(|log| log.events(&answered_lately())).ok()? {
            if let Event::Change(change) = &chained.event
                && let Some(question) = &change.about
            {
                app.waiting.tell(question);
            }
        }
        return Some((Vec::new(), since));
    };
    let records = read(app, last, AT_A_TIME)?;
    let newest = records.last().map_or(last, |it| it.seq);
    Some((records, newest))
}

fn newest(app: &App) -> Result<u64, sayso_gate::Error> {
    let newest = Query { limit: Some(1), ..Query::default() };
    let newest = app.with_log(|log| log.events(&newest))?;
    Ok(newest.first().map_or(0, |it| it.seq))
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
