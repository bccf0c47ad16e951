//! Checking the chain as it goes: a slice at a time from its old end to its new one, and the newest records at once.

use super::{Checked, Pass, Store};
use crate::Error;
use crate::audit::{Change, Event, Kind, Verified};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};

/// How the names of records begin that say that the chain was checked.
pub(super) const CHECKED: &str = "checked--";

/// Checks a store's chain, a slice at a time.
pub struct Watch {
    store: Arc<dyn Store>,
    pass: Mutex<Option<Pass>>,
}

impl Watch {
    /// A watch over this store.
    #[must_use]
    pub fn over(store: &Arc<dyn Store>) -> Self {
        Self { store: Arc::clone(store), pass: Mutex::default() }
    }

    /// Looks at the next records, at most this many. Tells what was found once all have been looked at; the next step
    /// begins anew.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn step(&self, most: usize) -> Result<Option<Verified>, Error> {
        let mut kept = self.pass.lock().unwrap_or_else(PoisonError::into_inner);
        let pass = self.store.check(kept.take(), most)?;
        if pass.ended {
            return Ok(Some(pass.verifier.finish()));
        }
        *kept = Some(pass);
        Ok(None)
    }

    /// What is wrong with the newest records, if anything is.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn newest(&self) -> Result<Option<String>, Error> {
        self.store.newest_problem()
    }

    /// Has the chain say that it was checked, and what is wrong with it that no look at it shows.
    ///
    /// # Errors
    /// If the store refuses.
    pub fn say(&self, found: &Verified, besides: Option<&str>) -> Result<(), Error> {
        let problems = found.more_problems + u64::try_from(found.problems.len()).unwrap_or(u64::MAX);
        let problems = problems + u64::from(besides.is_some());
        let mut change = Change::now(Kind::Chain, if problems == 0 { "checked" } else { "alarm" });
        change.id = format!("{CHECKED}{}", change.id);
        change.by = Some("sayso".to_owned());
        let some: Vec<_> = found.problems.iter().take(10).collect();
        change.detail = json!({"records": found.records, "first": found.first, "last": found.last, "problems": problems, "found": some});
        if let (Some(besides), Some(detail)) = (besides, change.detail.as_object_mut()) {
            detail.insert("besides".to_owned(), besides.into());
        }
        self.store.append(&[Event::from(change)], &[]).map(|_| ())
    }
}

/// What a record says of a check.
pub(super) fn checked(line: &str) -> Option<Checked> {
    let Ok(Event::Change(change)) = Event::from_line(line) else { return None };
    let number = |key: &str| change.detail.get(key).and_then(Value::as_u64).unwrap_or(0);
    Some(Checked { time_ms: change.time_ms, records: number("records"), problems: number("problems") })
}
