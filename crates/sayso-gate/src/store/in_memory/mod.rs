//! The store in this process: gone when nobody holds it any more.
//!
//! For tests, and for programs that embed the gate and keep the record elsewhere. One lock guards everything, so a change is
//! seen whole or not at all; what a change that fails has done is taken back row by row.

mod approvals;
mod care;
mod chain;
mod grants;
mod ledger;
mod policy_versions;
mod records;
mod session_history;

use super::alarm::Alarm;
use super::budget::{Key, Recorded, Tally};
use crate::Error;
use crate::approval::Presence;
use crate::audit::{Change, Event, HeadKey, PolicyVersion, RECORDS_BETWEEN_HEADS, now_ms};
use crate::grant::{GrantUse, Kept};
use approvals::Asked;
use chain::Links;
use ledger::Reserved;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A head is also signed after so many milliseconds, if there are new records.
const TIME_BETWEEN_HEADS: u64 = 60_000;

/// The store in this process.
pub(super) struct InMemory {
    /// Where the key that signs heads is.
    folder: PathBuf,
    alarm: Alarm,
    state: Mutex<State>,
}

/// Everything that is remembered.
struct State {
    links: Links,
    policies: Table<String, (u64, PolicyVersion)>,
    approvals: Table<String, Asked>,
    presence: Table<String, (u64, Presence)>,
    grants: Table<String, Kept>,
    /// By the answer and their order.
    uses: Table<(String, usize), GrantUse>,
    usage: Table<Key, Tally>,
    /// Hosts and calls, and how often.
    seen: Table<(Key, &'static str, String), u64>,
    /// Single calls by their time and id: the tool.
    calls: Table<(Key, u64, String), String>,
    reservations: Table<String, Reserved>,
    /// What the chain says of budgets.
    recorded: Table<Key, Recorded>,
    /// The end of what is written now is to be signed.
    seals: bool,
}

impl InMemory {
    /// A new one, whose heads are signed with the key in this folder.
    pub(super) fn beside(folder: &Path) -> Self {
        let state = State {
            links: Links::begin(),
            policies: Table::default(),
            approvals: Table::default(),
            presence: Table::default(),
            grants: Table::default(),
            uses: Table::default(),
            usage: Table::default(),
            seen: Table::default(),
            calls: Table::default(),
            reservations: Table::default(),
            recorded: Table::default(),
            seals: false,
        };
        Self { folder: folder.to_owned(), alarm: Alarm::default(), state: Mutex::new(state) }
    }

    /// Changes something, all or nothing.
    fn write<T>(&self, change: impl FnOnce(&mut State) -> Result<T, Error>) -> Result<T, Error> {
        let mut state = self.lock();
        let before = state.links.end().seq;
        // INVARIANT: whatever becomes of the change, what it did stays or goes as a whole before the lock is given back.
        let done = catch_unwind(AssertUnwindSafe(|| change(&mut state)));
        if matches!(done, Ok(Ok(_))) {
            state.keep();
            self.sign_if_due(&mut state);
        } else {
            state.undo(before);
        }
        drop(state);
        done.unwrap_or_else(|panic| resume_unwind(panic))
    }

    fn read<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        look(&self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Signs the end of the chain from time to time, as it grows, and where a yes is over.
    fn sign_if_due(&self, state: &mut State) {
        let (end, sealed, now) = (state.links.end(), std::mem::take(&mut state.seals), now_ms());
        let (seq, time_ms) = *state.links.signed.get_or_insert((0, now));
        let records = end.seq.saturating_sub(seq);
        let due = records >= RECORDS_BETWEEN_HEADS || now.abs_diff(time_ms) >= TIME_BETWEEN_HEADS || sealed;
        if records == 0 || !due {
            return;
        }
        // Without a key records are kept all the same; `verify` says that they are not signed.
        if let Ok(key) = HeadKey::beside(&self.folder) {
            state.links.sign(&key);
        }
        state.links.signed = Some((end.seq, now));
    }
}

impl State {
    /// Adds a record to the chain. Gives its number.
    fn append(&mut self, change: Change) -> Result<u64, Error> {
        self.links.append(Event::from(change))
    }

    fn keep(&mut self) {
        self.policies.keep();
        self.approvals.keep();
        self.presence.keep();
        self.grants.keep();
        self.uses.keep();
        self.usage.keep();
        self.seen.keep();
        self.calls.keep();
        self.reservations.keep();
        self.recorded.keep();
    }

    fn undo(&mut self, end: u64) {
        self.links.cut_off(end);
        self.policies.undo();
        self.approvals.undo();
        self.presence.undo();
        self.grants.undo();
        self.uses.undo();
        self.usage.undo();
        self.seen.undo();
        self.calls.undo();
        self.reservations.undo();
        self.recorded.undo();
        self.seals = false;
    }
}

/// Rows by their keys, which knows how they were before the change at hand.
struct Table<K, V> {
    rows: BTreeMap<K, V>,
    before: Vec<(K, Option<V>)>,
}

impl<K, V> Default for Table<K, V> {
    fn default() -> Self {
        Self { rows: BTreeMap::new(), before: Vec::new() }
    }
}

impl<K: Ord + Clone, V> Table<K, V> {
    fn put(&mut self, key: K, value: V) {
        let old = self.rows.insert(key.clone(), value);
        self.before.push((key, old));
    }

    fn remove(&mut self, key: &K) {
        if let Some(old) = self.rows.remove(key) {
            self.before.push((key.clone(), Some(old)));
        }
    }

    /// Removes all of which this holds.
    fn remove_if(&mut self, gone: impl Fn(&K, &V) -> bool) {
        let keys: Vec<K> =
            self.rows.iter().filter(|(key, value)| gone(key, value)).map(|(key, _)| key.clone()).collect();
        keys.iter().for_each(|key| self.remove(key));
    }

    /// What was done stays.
    fn keep(&mut self) {
        self.before.clear();
    }

    /// What was done is taken back, the last first.
    fn undo(&mut self) {
        while let Some((key, old)) = self.before.pop() {
            match old {
                Some(value) => self.rows.insert(key, value),
                None => self.rows.remove(&key),
            };
        }
    }
}

impl<K, V> std::ops::Deref for Table<K, V> {
    type Target = BTreeMap<K, V>;

    fn deref(&self) -> &BTreeMap<K, V> {
        &self.rows
    }
}
