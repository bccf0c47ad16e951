//! Group commit without a thread of its own: whoever comes while others wait joins their transaction, and the last to
//! come commits for all.
//!
//! Every caller runs its change itself, under the writer's lock, in a savepoint of its own. It leaves the commit to
//! the next one if somebody already waits for the lock; so a group is as large as the crowd, and one caller alone
//! waits for nobody. Where the last group had company, whoever would commit gives others a moment to join: many share the
//! pages that a commit writes, and its sync. Decisions, of which there are many, come as one caller ([`super::batch`]).

use super::chain::Heads;
use super::durable::Durable;
use super::lock;
use super::pending::{self, Pending};
use super::records::Columns;
use crate::Error;
use crate::audit::chain::End;
use crate::audit::{Event, now_ms};
use crate::store::budget::{Key, Recorded};
use rusqlite::Connection;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A group is closed when it has so many members, or is so old, whoever else waits.
const MOST_MEMBERS: usize = 512;
const OLDEST: Duration = Duration::from_millis(20);
/// How long a group waits for others, for each member that the last one had, and at most.
const GATHER_EACH: Duration = Duration::from_micros(25);
const GATHER: Duration = Duration::from_millis(1);

/// What a caller waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// The commit: no death of a process loses it.
    Committed,
    /// The sync behind it, as far as whoever commits makes one: no power cut loses it.
    Synced,
}

/// What a caller brings.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// Several statements, all or none of which are kept.
    Change,
    /// The same of a call that only counts in its budgets, as a rule: what is pending there stays so, and as long as
    /// nothing is written there is nothing to take back ([`Transaction::save`]).
    Count,
    /// Statements each of which is kept or not, whatever becomes of the others.
    Batch,
}

/// The writers of this process.
pub(super) struct Group {
    writer: Mutex<Writer>,
    /// How many wait for the lock on the writer.
    waiting: AtomicUsize,
    /// A group that gathers has as many members as the last one.
    full: Condvar,
    /// When this process last looked for what has ended meanwhile.
    swept_ms: Arc<AtomicU64>,
}

struct Writer {
    connection: Connection,
    heads: Heads,
    open: Option<Open>,
    /// How many members the last group had.
    company: usize,
    /// When a transaction could last not be begun, and why.
    refused: Option<(Instant, Arc<str>)>,
    notes: Notes,
}

/// What the writer of this process knows of the chain beyond what the file says.
#[derive(Default)]
pub(super) struct Notes {
    /// Where the chain ended when this process last committed to it.
    last: Option<End>,
    /// The chain was found shorter than it had been, and ended with this record.
    pub(super) shrunk: Cell<Option<u64>>,
    /// From which record on none was missing.
    pub(super) whole: RefCell<Whole>,
    /// What the chain says of budgets, by their keys; as long as nobody else has written to the file.
    pub(super) budgets: RefCell<HashMap<Key, Option<Recorded>>>,
    /// At which version of the file, as SQLite counts the changes of others, that was found.
    found_at: Cell<Option<i64>>,
    /// Where the store is.
    folder: PathBuf,
    /// What calls of this transaction have taken from their budgets, and is not written yet.
    pub(super) pending: RefCell<Pending>,
    /// The group's own.
    swept_ms: Arc<AtomicU64>,
    /// What the change at hand has written since can be taken back alone.
    saved: Cell<bool>,
    /// What this transaction writes says that a yes is over: its end is to be signed, so that nobody takes it back unseen.
    seals: Cell<bool>,
}

/// From which record on no name was missing or changed, by the part of all names that was looked at; as long as nobody
/// else has written to the file.
#[derive(Default)]
pub(super) struct Whole {
    at: Option<i64>,
    parts: HashMap<String, i64>,
}

impl Whole {
    /// What is known at this version of the file, as SQLite counts the changes of others.
    pub(super) fn from(&self, at: i64, part: &str) -> Option<i64> {
        self.parts.get(part).copied().filter(|_| self.at == Some(at))
    }

    pub(super) fn know(&mut self, at: i64, part: &str, from: i64) {
        if self.at.replace(at) != Some(at) {
            self.parts.clear();
        }
        self.parts.insert(part.to_owned(), from);
    }
}

/// How often what has ended meanwhile is looked for, in milliseconds.
const BETWEEN_SWEEPS: u64 = 250;
/// Budgets that are known from before.
const MOST_BUDGETS: usize = 10_000;

impl Notes {
    /// The folder of the store.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// A transaction begins. Tells whether others have written to the file since the last one.
    fn look_at_changes(&self, connection: &Connection) -> Result<bool, Error> {
        let others: i64 = connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
        let changed = self.found_at.replace(Some(others)) != Some(others);
        if changed || self.budgets.borrow().len() > MOST_BUDGETS {
            self.budgets.borrow_mut().clear();
        }
        Ok(changed)
    }

    /// Something that was to be written was not.
    fn forget(&self) {
        self.budgets.borrow_mut().clear();
        self.swept_ms.store(0, Ordering::SeqCst);
    }

    /// The chain ends here now: it can only have grown, behind the last record that this process has written. Tells what is
    /// gone. Whoever takes the newest records away and has others written in their place is found out as well: where somebody
    /// else has written, the record itself is looked for.
    fn look_at(&self, connection: &Connection, end: &End, others: bool) -> Result<Option<String>, Error> {
        // A chain that was empty has lost nothing: whoever writes its first record puts it in nobody's place.
        let Some(last) = self.last.as_ref().filter(|last| last.seq > 0) else { return Ok(None) };
        let there = match end.seq.cmp(&last.seq) {
            std::cmp::Ordering::Less => false,
            std::cmp::Ordering::Equal => end.hash == last.hash,
            std::cmp::Ordering::Greater => !others || super::records::is_there(connection, last)?,
        };
        if there {
            return Ok(None);
        }
        self.shrunk.set(Some(self.shrunk.get().map_or(end.seq, |known| known.max(end.seq))));
        Ok(Some(match end.seq < last.seq {
            true => format!("records {} to {} are gone", end.seq + 1, last.seq),
            false => format!("record {} is gone, and another is in its place", last.seq),
        }))
    }
}

/// The group that is open.
struct Open {
    began: Instant,
    members: usize,
    /// One of them waits for others, and commits then.
    gathers: bool,
    end: End,
    fate: Arc<Fate>,
}

/// What became of a group.
#[derive(Default)]
struct Fate {
    known: Mutex<Known>,
    /// For those who wait for the commit.
    committed: Condvar,
    /// For those who wait for its sync: woken once, by whoever commits, and not one after the other by each other.
    synced: Condvar,
}

#[derive(Default)]
struct Known {
    /// The number of its commit, or why there is none.
    decided: Option<Result<u64, Arc<str>>>,
    /// Whoever committed has synced it, or leaves that to those who need it.
    left: bool,
}

/// INVARIANT: whoever commits lets everybody go on who waits for the sync, whatever becomes of it.
struct Leads(Arc<Fate>);

impl Drop for Leads {
    fn drop(&mut self) {
        lock(&self.0.known).left = true;
        self.0.synced.notify_all();
    }
}

/// What one caller may do in the transaction of its group.
pub(in crate::store) struct Transaction<'a> {
    connection: &'a Connection,
    end: &'a mut End,
    notes: &'a Notes,
}

impl<'a> Transaction<'a> {
    /// For what stands in `store/sqlite`: SQL is written nowhere else.
    pub(super) fn connection(&self) -> &'a Connection {
        self.connection
    }

    /// Adds a record to the chain: it is kept if, and only if, the rest of the change is. Gives its number.
    ///
    /// # Errors
    /// If the store refuses, or the id is taken.
    pub(super) fn append(&mut self, event: &Event) -> Result<u64, Error> {
        super::records::append(self, &Columns::of(event), &event.to_line()?)
    }

    pub(super) fn end(&self) -> End {
        *self.end
    }

    pub(super) fn notes(&self) -> &'a Notes {
        self.notes
    }

    /// To be called before something is written in a turn that may write nothing: from here on it can be taken back alone.
    pub(super) fn save(&self) -> Result<(), Error> {
        if !self.notes.saved.get() {
            self.connection.prepare_cached("SAVEPOINT turn")?.execute([])?;
            self.notes.saved.set(true);
        }
        Ok(())
    }

    /// Has the end of the chain signed when this is committed.
    pub(super) fn seal(&self) {
        self.notes.seals.set(true);
    }

    pub(super) fn set_end(&mut self, end: End) {
        *self.end = end;
    }
}

impl Group {
    pub(super) fn new(connection: Connection, heads: Heads) -> Self {
        let swept_ms = Arc::default();
        let notes = Notes { folder: heads.folder().to_owned(), swept_ms: Arc::clone(&swept_ms), ..Notes::default() };
        let writer = Writer { connection, heads, open: None, company: 0, refused: None, notes };
        Self { writer: Mutex::new(writer), waiting: AtomicUsize::new(0), full: Condvar::new(), swept_ms }
    }

    /// How many wait for the lock.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::SeqCst)
    }

    /// Whether it is time to look for questions and reservations that have ended: for one of those who ask.
    pub(super) fn sweep_is_due(&self, now_ms: u64) -> bool {
        let swept = self.swept_ms.load(Ordering::SeqCst);
        let due = now_ms < swept || now_ms >= swept.saturating_add(BETWEEN_SWEEPS);
        due && self.swept_ms.compare_exchange(swept, now_ms, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    /// Changes something as a member of a group. Returns once the group is committed, with the number of the commit; those who
    /// wait for the sync return behind the one that whoever commits makes, if that is one of them.
    pub(super) fn take_turn<T>(
        &self,
        durable: &Durable,
        turn: Turn,
        until: Until,
        change: impl FnOnce(&mut Transaction<'_>) -> Result<T, Error>,
    ) -> Result<(T, u64), Error> {
        let mut writer = self.wait_for_lock()?;
        // INVARIANT: looked at before a group writes anything: what is written behind the end of a log that was cut off
        // makes it long again, and then nobody sees it.
        if writer.open.is_none() {
            durable.check_place()?;
        }
        writer.begin(durable)?;
        let done = catch_unwind(AssertUnwindSafe(|| writer.change(turn, change)));
        if done.is_err() {
            writer.roll_back_one();
        }
        // INVARIANT: whoever leaves the commit to another has seen that other wait for the lock, or for company, and the
        // other comes by here whatever becomes of its own change. So every group is committed.
        let fate = writer.open.as_ref().map(|open| Arc::clone(&open.fate));
        // Whoever carries a batch waits for nobody: it leaves the commit to another who is there already, or makes it.
        let leaves = writer.has_room() && (turn != Turn::Batch || self.waiting.load(Ordering::SeqCst) > 0);
        let mut leads = None;
        if leaves && writer.gathers() {
            self.full.notify_one();
        } else if !leaves || self.waiting.load(Ordering::SeqCst) == 0 {
            if leaves {
                writer = self.gather(writer);
            }
            // It may have been committed meanwhile, by one that found no room in it.
            if writer.is_open(fate.as_ref()) {
                leads = writer.commit(durable);
            }
        }
        // INVARIANT: nobody waits for the fate of a group with the lock in hand that its commit needs.
        drop(writer);
        if let Some((leads, commit)) = leads {
            if until == Until::Synced {
                // Whether it succeeded, each of them asks for itself.
                let _ = durable.sync(commit);
            }
            drop(leads);
        }
        let value = match done {
            Ok(value) => value?,
            Err(panic) => resume_unwind(panic),
        };
        match fate {
            Some(fate) => Ok((value, fate.wait(until)?)),
            None => Err(Error::NotKept("database: the transaction ended early".into())),
        }
    }

    /// Waits a moment for others, where there were some a moment ago.
    fn gather<'a>(&'a self, mut writer: MutexGuard<'a, Writer>) -> MutexGuard<'a, Writer> {
        let company = writer.company;
        let Some(open) = writer.open.as_mut().filter(|open| open.members < company) else { return writer };
        open.gathers = true;
        let fate = Arc::clone(&open.fate);
        let moment = GATHER_EACH.saturating_mul(u32::try_from(company).unwrap_or(u32::MAX)).min(GATHER);
        let few = |writer: &mut Writer| {
            writer.is_open(Some(&fate)) && writer.open.as_ref().is_some_and(|open| open.members < company)
        };
        self.full.wait_timeout_while(writer, moment, few).unwrap_or_else(PoisonError::into_inner).0
    }

    fn wait_for_lock(&self) -> Result<MutexGuard<'_, Writer>, Error> {
        let asked = Instant::now();
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let writer = lock(&self.writer);
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        // A store that another process keeps locked refuses everybody who waited meanwhile, not one after the other.
        match &writer.refused {
            Some((at, why)) if *at > asked && writer.open.is_none() => Err(Error::NotKept(Arc::clone(why))),
            _ => Ok(writer),
        }
    }
}

impl Writer {
    fn begin(&mut self, durable: &Durable) -> Result<(), Error> {
        if self.open.is_some() {
            return Ok(());
        }
        let begun = self.connection.prepare_cached("BEGIN IMMEDIATE").and_then(|mut begin| begin.execute([]));
        let begun = begun.map(|_| ()).map_err(Error::from);
        let known = begun.and_then(|()| self.notes.look_at_changes(&self.connection));
        let end = known.and_then(|others| {
            let end = super::records::end(&self.connection)?;
            Ok((end, self.notes.look_at(&self.connection, &end, others)?))
        });
        // INVARIANT: what was decided before this was known is not kept, and so not told. What is decided from now on is
        // decided under the alarm, and is kept.
        let end = end.and_then(|(end, gone)| match gone {
            Some(gone) => {
                self.notes.last = Some(end);
                Err(Error::Altered(durable.alarm().lose(gone)))
            }
            None => Ok(end),
        });
        match end {
            Ok(end) => {
                let (began, fate) = (Instant::now(), Arc::default());
                self.open = Some(Open { began, members: 0, gathers: false, end, fate });
                Ok(())
            }
            Err(error) => {
                self.end_transaction();
                self.refused = Some((Instant::now(), error.to_string().into()));
                Err(error)
            }
        }
    }

    fn change<T>(
        &mut self,
        turn: Turn,
        change: impl FnOnce(&mut Transaction<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        // Not within the savepoint of this change: it is that of others, and stays if this one goes.
        if turn == Turn::Change {
            self.write_pending()?;
        }
        let Some(open) = &mut self.open else { return Err(Error::NotKept("database: no transaction is open".into())) };
        let before = open.end;
        open.members += 1;
        let mut transaction = Transaction { connection: &self.connection, end: &mut open.end, notes: &self.notes };
        // Single statements are undone by SQLite itself.
        if turn == Turn::Change {
            transaction.save()?;
        }
        let done = change(&mut transaction).and_then(|value| {
            if self.notes.saved.get() {
                self.connection.prepare_cached("RELEASE turn")?.execute([])?;
                self.notes.saved.set(false);
            }
            Ok(value)
        });
        if let Err(error) = &done {
            open.end = before;
            self.notes.forget();
            let why = error.to_string();
            self.undo_one(&why);
        }
        done
    }

    /// Writes what calls of the open transaction have taken. If that fails, none of them may count as written.
    fn write_pending(&mut self) -> Result<(), Error> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let mut transaction = Transaction { connection: &self.connection, end: &mut open.end, notes: &self.notes };
        let written = pending::write(&mut transaction);
        if let Err(error) = &written {
            let why = error.to_string();
            self.fail(&why);
        }
        written
    }

    /// After a panic in somebody's change.
    fn roll_back_one(&mut self) {
        self.notes.forget();
        self.undo_one("a change failed inside");
        // The end that the change may have moved is read again.
        if let Some(open) = &mut self.open {
            match super::records::end(&self.connection) {
                Ok(end) => open.end = end,
                Err(error) => {
                    let why = error.to_string();
                    self.fail(&why);
                }
            }
        }
    }

    /// Takes one member's change back, where it has written anything. Where SQLite has given the whole transaction up (a full
    /// disk), or cannot take the one change back, every member must know.
    fn undo_one(&mut self, why: &str) {
        let undo = || self.connection.execute_batch("ROLLBACK TO turn; RELEASE turn").is_ok();
        let undone = !self.connection.is_autocommit() && (!self.notes.saved.take() || undo());
        if !undone {
            self.fail(why);
        }
    }

    fn fail(&mut self, why: &str) {
        self.end_transaction();
        if let Some(open) = self.open.take() {
            open.fate.decide(Err(why.into()));
        }
    }

    /// Whether the group of this fate is the one that is open.
    fn is_open(&self, fate: Option<&Arc<Fate>>) -> bool {
        self.open.as_ref().zip(fate).is_some_and(|(open, fate)| Arc::ptr_eq(&open.fate, fate))
    }

    fn gathers(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.gathers)
    }

    fn has_room(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.members < MOST_MEMBERS && open.began.elapsed() < OLDEST)
    }

    /// Commits for all. Gives the number of the commit to whoever may sync it for all.
    fn commit(&mut self, durable: &Durable) -> Option<(Leads, u64)> {
        // Where that fails, everybody was told why.
        self.write_pending().ok()?;
        let open = self.open.take()?;
        self.company = open.members;
        let seals = self.notes.seals.take();
        let signed = self.heads.sign_if_due(&self.connection, &open.end, now_ms(), seals);
        let committed = signed.and_then(|()| {
            self.connection.prepare_cached("COMMIT")?.execute([])?;
            Ok(())
        });
        match committed {
            Ok(()) => {
                self.notes.last = Some(open.end);
                let commit = durable.committed();
                open.fate.decide(Ok(commit));
                Some((Leads(open.fate), commit))
            }
            Err(error) => {
                self.end_transaction();
                self.heads.forget();
                open.fate.decide(Err(error.to_string().into()));
                None
            }
        }
    }

    fn end_transaction(&self) {
        self.notes.forget();
        self.notes.pending.take();
        self.notes.saved.set(false);
        if !self.connection.is_autocommit() {
            // If even this fails, the next BEGIN fails too, and says why.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
    }
}

impl Fate {
    fn decide(&self, fate: Result<u64, Arc<str>>) {
        let failed = fate.is_err();
        lock(&self.known).decided = Some(fate);
        self.committed.notify_all();
        if failed {
            self.synced.notify_all();
        }
    }

    fn wait(&self, until: Until) -> Result<u64, Error> {
        let mut known = lock(&self.known);
        loop {
            match &known.decided {
                Some(Ok(commit)) if until == Until::Committed || known.left => return Ok(*commit),
                Some(Err(why)) => return Err(Error::NotKept(Arc::clone(why))),
                _ => {}
            }
            let changed = if until == Until::Committed { &self.committed } else { &self.synced };
            known = changed.wait(known).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
