//! Decisions on their way into the chain, carried many at a time.
//!
//! Whoever finds no batch open opens one, waits for the writer, and carries in one turn all that others have put into
//! it by then; those wait until it is committed. So the writer is asked for once for each batch and not once for each
//! decision, and a caller sleeps and is woken once. Where the last batch had company, the next one, if it is opened with
//! a single row, is given a moment to find some: so many rows share the pages that a commit writes.

use super::durable::Durable;
use super::group::{Group, Transaction, Turn, Until};
use super::lock;
use super::records::{Columns, append};
use crate::Error;
use crate::audit::{Kind, Written};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// How long a batch waits for company, for each row that the last one had, and at most.
const GATHER_EACH: Duration = Duration::from_micros(25);
const GATHER: Duration = Duration::from_micros(500);
/// A batch that has so many rows waits for no more.
const MANY: usize = 256;

/// The batch that is open, if one is.
#[derive(Default)]
pub(super) struct Batches {
    open: Mutex<Open>,
    full: Condvar,
}

#[derive(Default)]
struct Open {
    rows: Vec<Written>,
    fate: Option<Arc<Fate>>,
    /// How many rows the last batch had.
    company: usize,
}

/// What became of a batch.
#[derive(Default)]
struct Fate {
    decided: OnceLock<Result<Vec<Refused>, Arc<str>>>,
    waiting: Mutex<()>,
    changed: Condvar,
}

/// A row of a batch that was not taken though the batch was: its place, and why.
type Refused = (usize, Arc<str>);

/// Rows of one caller in a batch.
struct Places {
    fate: Arc<Fate>,
    first: usize,
    count: usize,
    /// This caller opened the batch, and carries it.
    carries: bool,
}

impl Batches {
    /// Keeps these records, each or not: written when this returns, and synced within the window.
    pub(super) fn keep(&self, rows: Vec<Written>, group: &Group, durable: &Arc<Durable>) -> Vec<Result<(), Error>> {
        if rows.is_empty() {
            return Vec::new();
        }
        let several = rows.len() > 1;
        let places = self.join(rows);
        if places.carries {
            // Whoever brings several has gathered them elsewhere: waiting for more holds all of them up.
            if !several {
                self.gather();
            }
            self.carry(&places.fate, group, durable);
        }
        let kept = places.wait();
        // Whatever was in the way: where the files are not those any more, or records are gone, that is why.
        if kept.iter().any(Result::is_err) && durable.why_not_kept().is_err() {
            return kept.iter().map(|_| durable.why_not_kept()).collect();
        }
        kept
    }

    fn join(&self, mut rows: Vec<Written>) -> Places {
        let mut open = lock(&self.open);
        let (first, count) = (open.rows.len(), rows.len());
        open.rows.append(&mut rows);
        let carries = open.fate.is_none();
        let fate = Arc::clone(open.fate.get_or_insert_default());
        if open.rows.len() >= MANY {
            self.full.notify_one();
        }
        Places { fate, first, count, carries }
    }

    /// Waits a moment for others, where there were some a moment ago.
    fn gather(&self) {
        let open = lock(&self.open);
        if open.company > 1 {
            let company = u32::try_from(open.company).unwrap_or(u32::MAX);
            let moment = GATHER_EACH.saturating_mul(company).min(GATHER);
            let waited = self.full.wait_timeout_while(open, moment, |open| open.rows.len() < MANY);
            drop(waited.unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// INVARIANT: whoever opens a batch comes by here, and whatever happens here the batch is closed and its fate
    /// decided: by the guard, if nothing else does.
    fn carry(&self, fate: &Arc<Fate>, group: &Group, durable: &Arc<Durable>) {
        let _guard = Guard { batches: self, fate };
        let kept = durable.check().and_then(|()| {
            let (refused, _) = group.take_turn(durable, Turn::Batch, Until::Committed, |transaction| {
                // Not before it is this batch's turn: all who come while another's is written are in it.
                insert(transaction, &self.close(fate))
            })?;
            // What was committed to a file that nobody finds any more is not recorded.
            durable.check_place()?;
            Durable::sync_soon(durable)?;
            Ok(refused)
        });
        fate.decide(kept.map_err(|error| error.to_string().into()));
    }

    /// Closes a batch, if it is open: whoever comes from now on is in another one.
    fn close(&self, fate: &Arc<Fate>) -> Vec<Written> {
        let mut open = lock(&self.open);
        if !open.fate.as_ref().is_some_and(|other| Arc::ptr_eq(fate, other)) {
            return Vec::new();
        }
        open.fate = None;
        open.company = open.rows.len();
        std::mem::take(&mut open.rows)
    }
}

/// Writes rows, each of which is taken or not. Fails where SQLite has given the whole transaction up (a full disk).
fn insert(transaction: &mut Transaction<'_>, rows: &[Written]) -> Result<Vec<Refused>, Error> {
    let mut refused = Vec::new();
    for (place, row) in rows.iter().enumerate() {
        match append(transaction, &columns(row), &row.line) {
            Err(error) if transaction.connection().is_autocommit() => return Err(error),
            Err(error) => refused.push((place, error.to_string().into())),
            Ok(_) => {}
        }
    }
    Ok(refused)
}

struct Guard<'a> {
    batches: &'a Batches,
    fate: &'a Arc<Fate>,
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.batches.close(self.fate);
        self.fate.decide(Err("database: a batch of records was abandoned".into()));
    }
}

fn columns(row: &Written) -> Columns<'_> {
    Columns {
        id: &row.id,
        time_ms: row.time_ms,
        kind: Kind::Decision,
        actor: &row.actor,
        tool: Some(&row.tool),
        verdict: Some(row.verdict),
        rule: row.rule.as_deref(),
    }
}

impl Fate {
    /// The first word counts.
    fn decide(&self, fate: Result<Vec<Refused>, Arc<str>>) {
        if self.decided.set(fate).is_ok() {
            drop(lock(&self.waiting));
            self.changed.notify_all();
        }
    }

    fn wait(&self) -> &Result<Vec<Refused>, Arc<str>> {
        let mut waiting = lock(&self.waiting);
        loop {
            match self.decided.get() {
                Some(fate) => return fate,
                None => waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
}

impl Places {
    fn wait(&self) -> Vec<Result<(), Error>> {
        let fate = match self.fate.wait() {
            Ok(fate) => fate,
            Err(why) => return none_kept(self.count, why),
        };
        let mine = self.first..self.first + self.count;
        let why = |place: usize| fate.iter().find(|(refused, _)| *refused == place).map(|(_, why)| Arc::clone(why));
        mine.map(|place| why(place).map_or(Ok(()), |why| Err(Error::NotKept(why)))).collect()
    }
}

fn none_kept(count: usize, why: &Arc<str>) -> Vec<Result<(), Error>> {
    (0..count).map(|_| Err(Error::NotKept(Arc::clone(why)))).collect()
}
