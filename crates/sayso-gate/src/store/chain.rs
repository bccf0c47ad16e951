//! The chain as a whole: proving it, signing where it ends, and letting its old end go.

use crate::Error;
use crate::audit::{Change, Head, Kind, Verified, Verifier};
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The chain as a whole.
pub trait Chain {
    /// Looks at every record, at every head in the store, and at those that were kept elsewhere. Of many, those of records
    /// that were pruned prove nothing, and are left aside.
    ///
    /// # Errors
    /// If the store cannot be read. What is wrong with the chain is no error but the answer.
    fn verify_with(&self, exported: Vec<Head>) -> Result<Verified, Error>;

    /// The same with the one head that was kept elsewhere, if there is one.
    ///
    /// # Errors
    /// If the store cannot be read.
    fn verify(&self, exported: Option<Head>) -> Result<Verified, Error> {
        self.verify_with(exported.into_iter().collect())
    }

    /// Goes on with a way through the chain, or begins one, and looks at most at this many records.
    ///
    /// # Errors
    /// If the store cannot be read.
    fn check(&self, pass: Option<Pass>, most: usize) -> Result<Pass, Error>;

    /// What is wrong with the newest records, if anything is.
    ///
    /// # Errors
    /// If the store cannot be read.
    fn newest_problem(&self) -> Result<Option<String>, Error>;

    /// What the last check by a server said, if there was one.
    ///
    /// # Errors
    /// If the store cannot be read.
    fn last_checked(&self) -> Result<Option<Checked>, Error>;

    /// Why the gate is to allow nothing: records that this process has written are gone, or [`Self::set_alarm`] said so.
    fn alarm(&self) -> Option<Arc<str>>;

    /// What a check of the chain has found to be wrong; `None`: nothing. Gives what [`Self::alarm`] says then.
    fn set_alarm(&self, found: Option<&str>) -> Option<Arc<str>>;

    /// Writes the whole chain so that it can be checked without the store: [`crate::audit::bundle`]. Ends with a head that
    /// is signed now. Tells how many records were written.
    ///
    /// # Errors
    /// If the store cannot be read, or the export cannot be written.
    fn export_links(&self, out: &mut dyn Write) -> Result<u64, Error>;

    /// Signs where the chain ends now, and keeps that.
    ///
    /// # Errors
    /// If the key cannot be read, or the store refuses.
    fn sign_head(&self) -> Result<Head, Error>;

    /// Lets the old end go, and keeps the signed hash that the rest hangs on. The removal is itself a record.
    ///
    /// # Errors
    /// If the key cannot be read, or the store refuses.
    fn prune(&self, what: Keep, by: &str) -> Result<Pruned, Error>;

    /// The last record that [`Self::prune`] would let go.
    ///
    /// # Errors
    /// If the store refuses.
    fn prunable(&self, what: Keep) -> Result<u64, Error>;

    /// The public key that signs heads, and its file.
    ///
    /// # Errors
    /// If it cannot be read or made.
    fn key(&self) -> Result<(String, PathBuf), Error>;

    /// Signs from now on with a new key, in a file elsewhere if one is named. What the old one has signed stays proved: the
    /// chain says which key followed, signed with the old one.
    ///
    /// # Errors
    /// If a key cannot be read or written, or the store refuses.
    fn rotate_key(&self, elsewhere: Option<&Path>, by: &str) -> Result<Rotated, Error>;

    /// Notes beside the store where the chain ends, if it is longer than at the last note, whose record is given. A store
    /// that is gone with its process notes nothing.
    ///
    /// # Errors
    /// If the key cannot be read, or the note cannot be written.
    fn note_end(&self, after: u64) -> Result<u64, Error> {
        Ok(after)
    }

    /// What is missing that was there at the last note, if anything is.
    ///
    /// # Errors
    /// If the store or the note cannot be read.
    fn end_problem(&self) -> Result<Option<String>, Error> {
        Ok(None)
    }

    /// Takes the chain as it is, though something is missing at its end. That is itself a record.
    ///
    /// # Errors
    /// If the store refuses, or the note cannot be written.
    fn accept_end(&self, by: &str) -> Result<u64, Error> {
        let _ = by;
        Ok(0)
    }
}

/// What to keep when the old end is let go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Everything from the first record on that is not older than this, in milliseconds since 1970.
    Since(u64),
    /// So many records.
    Last(u64),
}

/// What letting go did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Pruned {
    /// How many records went.
    pub records: u64,
    /// The last of them; 0: none went.
    pub up_to: u64,
}

impl Pruned {
    /// The record of it.
    pub(super) fn record(&self, by: &str) -> Change {
        let mut change = Change::now(Kind::Chain, "pruned");
        change.by = Some(by.to_owned());
        change.detail = serde_json::json!({"records": self.records, "up_to": self.up_to});
        change
    }
}

/// A key that took the place of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rotated {
    /// The public key that counted before.
    pub old: String,
    /// The one that counts from now on.
    pub new: String,
    /// The record that says so.
    pub seq: u64,
    /// The file with the new key.
    pub place: PathBuf,
}

/// What the last check of a store said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// When it ended, in milliseconds since 1970.
    pub time_ms: u64,
    /// How many records were looked at.
    pub records: u64,
    /// How many problems it found.
    pub problems: u64,
}

/// One way through the chain, from its old end to where it ended when the way began.
pub struct Pass {
    pub(super) verifier: Verifier,
    /// The last record that was looked at.
    pub(super) at: u64,
    /// The last that is to be.
    pub(super) until: u64,
    /// Where what was pruned ended when it began.
    pub(super) pruned: u64,
    /// All have been looked at.
    pub(super) ended: bool,
}

/// How many milliseconds the times of files may lag behind the clock.
const FILE_CLOCK: u64 = 100;

/// Whether the key with this public one, made at this time, was made for a chain: a store that was begun anew beside the key
/// of an earlier one has signed nothing yet.
pub(super) fn was_signed_for(chain: &str, key: Option<&(String, u64)>) -> bool {
    // The name of a chain begins with the time at which it was begun.
    let begun = chain.split_once('-').and_then(|(begun, _)| u64::from_str_radix(begun, 16).ok());
    key.is_some_and(|(_, made)| begun.is_none_or(|begun| made.saturating_add(FILE_CLOCK) >= begun))
}

/// Heads that were kept elsewhere, but for those of records that were pruned, where there are others.
pub(super) fn only_usable(mut exported: Vec<Head>, pruned: Option<&Head>) -> Vec<Head> {
    if exported.len() > 1 {
        let gone = pruned.map_or(0, |pruned| pruned.seq);
        exported.retain(|head| head.seq >= gone);
    }
    exported
}
