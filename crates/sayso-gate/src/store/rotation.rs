//! The key that signs heads, changed for another: what the record of it says, and who signed that.

use crate::audit::{Change, Event, HeadKey, Kind, is_signed};
use serde_json::{Value, json};

/// How the names of records begin that say so. The number of the record follows.
pub(super) const NAMES: &str = "key--";
/// Keys that are followed back.
const MOST: usize = 1000;

/// The record, at this place in the chain, that one key has followed another.
pub(super) fn record(chain: &str, seq: u64, (old, new): (&HeadKey, &HeadKey), by: &str) -> Change {
    let said = said(chain, seq, &old.public(), &new.public());
    let mut change = Change::now(Kind::Chain, "key-rotated");
    change.id = format!("{NAMES}{seq:016x}");
    change.by = Some(by.to_owned());
    change.detail = json!({"old": old.public(), "new": new.public(), "signature": old.sign_text(&said)});
    change
}

fn said(chain: &str, seq: u64, old: &str, new: &str) -> String {
    format!("sayso key 1\n{chain}\n{seq}\n{old}\n{new}\n")
}

/// The keys that a record says to have changed, if the old one has signed that.
pub(crate) fn rotated(chain: &str, seq: u64, body: &str) -> Option<(String, String)> {
    let Ok(Event::Change(change)) = Event::from_line(body) else { return None };
    if change.kind != Kind::Chain || change.what != "key-rotated" {
        return None;
    }
    let text = |key: &str| change.detail.get(key).and_then(Value::as_str).map(str::to_owned);
    let (old, new, signature) = (text("old")?, text("new")?, text("signature")?);
    is_signed(&old, &said(chain, seq, &old, &new), &signature).then_some((old, new))
}

/// Follows keys back from the one that counts now.
pub(super) struct Followed {
    current: String,
    /// The keys that counted before, each with the last record for which it does.
    pub(super) earlier: Vec<(String, u64)>,
}

impl Followed {
    pub(super) fn from(key: &str) -> Self {
        Self { current: key.to_owned(), earlier: Vec::new() }
    }

    /// Looks at a record that hangs in the chain, the latest first. `false`: no more are followed.
    pub(super) fn look_at(&mut self, chain: &str, seq: u64, body: &str) -> bool {
        if let Some((old, new)) = rotated(chain, seq, body)
            && new == self.current
        {
            self.earlier.push((old.clone(), seq));
            self.current = old;
        }
        self.earlier.len() < MOST
    }
}
