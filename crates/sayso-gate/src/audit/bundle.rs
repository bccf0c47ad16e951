//! An export that proves itself: records with their links, the heads over them, and the public keys, checked without the
//! store.
//!
//! One JSON object a line. The first says what is known of the chain; each other one is a record with its content as the
//! hash covers it, byte for byte. Whoever checks it needs to know, from elsewhere, only which key is the owner's.

use super::{Begin, Event, Head, Row, Verified, Verifier};
use crate::Error;
use crate::store::key_rotated;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, Read, Write};

/// What the first line says that this is.
const KIND: &str = "sayso chain 1";
/// The longest line that is read.
const LONGEST: u64 = 16 * 1024 * 1024;

/// The first line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Opening {
    /// Which format.
    export: String,
    /// The chain's name.
    pub chain: String,
    /// The public key that signs its heads now.
    pub key: Option<String>,
    /// Where what was pruned ended.
    pub pruned: Option<Head>,
    /// Signed heads.
    pub heads: Vec<Head>,
}

/// A record with its links.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Link {
    pub(crate) seq: u64,
    pub(crate) prev: String,
    pub(crate) hash: String,
    pub(crate) body: String,
}

impl Opening {
    pub(crate) fn of(begin: &Begin) -> Self {
        let Begin { chain, key, pruned, heads, .. } = begin.clone();
        Self { export: KIND.to_owned(), chain, key, pruned, heads }
    }
}

/// What an export proves.
#[derive(Clone, Debug)]
pub struct Proved {
    /// What was found.
    pub verified: Verified,
    /// The public key that its latest head is signed with: to be compared with the owner's.
    pub key: Option<String>,
    /// The keys before it, each of which has signed which one followed: whoever knows one of them knows the latest.
    pub earlier: Vec<String>,
}

pub(crate) fn write_line(out: &mut dyn Write, line: &impl Serialize) -> Result<(), Error> {
    let text = serde_json::to_string(line)? + "\n";
    out.write_all(text.as_bytes()).map_err(|error| Error::NotKept(format!("cannot write the export: {error}").into()))
}

/// Checks an export, with heads that were kept elsewhere, if there are some.
///
/// # Errors
/// If it is none, or cannot be read. What is wrong with the chain in it is no error but the answer.
pub fn check(mut export: impl BufRead, exported: Vec<Head>) -> Result<Proved, Error> {
    let none =
        |why: &dyn std::fmt::Display| Error::NotKept(format!("this is not an export of the chain: {why}").into());
    let mut line = String::new();
    let mut next = |line: &mut String| {
        line.clear();
        export.by_ref().take(LONGEST).read_line(line).map_err(|error| none(&error))
    };
    next(&mut line)?;
    let opening: Opening = serde_json::from_str(&line).map_err(|error| none(&error))?;
    if opening.export != KIND {
        return Err(none(&"it has a different version"));
    }
    let mut links: Vec<Link> = Vec::new();
    while next(&mut line)? > 0 {
        links.push(serde_json::from_str(&line).map_err(|error| none(&error))?);
    }
    let earlier = earlier(&opening, &links);
    let before = earlier.iter().map(|(key, _)| key.clone()).collect();
    let Opening { chain, key, pruned, heads, .. } = opening;
    let has_signed = key.is_some();
    let begin = Begin { chain, pruned, heads, key: key.clone(), earlier, has_signed, exported };
    let mut verifier = Verifier::new(begin);
    for link in &links {
        let hash = |text: &str| blake3::Hash::from_hex(text).unwrap_or(blake3::Hash::from_bytes([0; 32]));
        // There are no columns beside the content.
        let event = Event::from_line(&link.body).ok();
        let actor = event.as_ref().map(Event::actor);
        let columns = [
            event.as_ref().map(Event::id),
            event.as_ref().map(|event| event.kind().as_str()),
            actor.and_then(|actor| actor.agent.as_deref()),
            actor.and_then(|actor| actor.session.as_deref()),
            event.as_ref().and_then(Event::tool),
            event.as_ref().and_then(Event::verdict).map(|verdict| verdict.as_str()),
            event.as_ref().and_then(Event::rule),
            actor.and_then(|actor| actor.tenant.as_deref()),
            actor.and_then(|actor| actor.run.as_deref()),
        ];
        let most = u64::try_from(i64::MAX).unwrap_or(u64::MAX);
        verifier.look_at(&Row {
            seq: link.seq,
            previous: hash(&link.prev),
            hash: hash(&link.hash),
            body: &link.body,
            columns,
            time_ms: event.as_ref().map_or(0, |event| event.time_ms().min(most)),
        });
    }
    Ok(Proved { verified: verifier.finish(), key, earlier: before })
}

/// Keys before the one that counts now, by what the records themselves say.
fn earlier(opening: &Opening, links: &[Link]) -> Vec<(String, u64)> {
    let Some(mut current) = opening.key.clone() else { return Vec::new() };
    let mut found = Vec::new();
    for link in links.iter().rev() {
        if let Some((old, new)) = key_rotated(&opening.chain, link.seq, &link.body)
            && new == current
        {
            found.push((old.clone(), link.seq));
            current = old;
        }
    }
    found
}
