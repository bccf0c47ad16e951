//! Names of records that say something of a question or of a remembered answer: they follow from its own, so that each is
//! found again, and nothing is said twice that happens once.

use crate::audit::fresh_id;

/// How the names of records go on that say when a remembered answer ends: there may be several, the earliest counts.
pub(super) const ENDS: &str = "expires-";
/// Under which such a record says when.
pub(super) const AT: &str = "at_ms";

/// The name of the record that says this of a question or a remembered answer.
pub(super) fn name(of: &str, what: &str) -> String {
    format!("{of}-{what}")
}

/// A name for one more record of when a remembered answer ends.
pub(super) fn end_name(of: &str) -> String {
    format!("{}{}", name(of, ENDS), fresh_id())
}

/// What a record says of a text that is kept elsewhere.
pub(super) fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}
