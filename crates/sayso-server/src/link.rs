//! Links with which one person answers one question, once.
//!
//! INVARIANT: a link is never on disk, and never in an address that is sent: it stands behind `#`. Whoever fetches the
//! page of a link, such as the preview of a chat, has neither seen nor answered anything.

use crate::clock::now_ms;
use crate::error::ApiError;
use sayso_gate::approval::Question;
use sayso_policy::Person;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Links at the same time; those that ended make room.
const MOST: usize = 4096;

/// How long after the end of its question it is known why a link is over.
const REMEMBERED_MS: u64 = 60 * 60 * 1000;

/// What a link is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    /// The question.
    pub(crate) question: String,
    /// Who answers with it.
    pub(crate) person: Person,
    expires_ms: u64,
    standing: Standing,
}

/// How a link stands. Those that are over are remembered for a while, so that whoever comes with one is told why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Good,
    /// Its question was answered with it.
    Used,
    /// Its question ended otherwise.
    Over,
}

/// The links that are good, and those that were lately.
#[derive(Default)]
pub(crate) struct Links {
    /// By hash, so that looking one up takes no time that depends on how much of it is right.
    by_hash: Mutex<HashMap<blake3::Hash, Link>>,
}

impl Links {
    /// Makes one. `None`: there are too many, or the system gives no randomness.
    pub(crate) fn make(&self, question: &Question, person: &Person) -> Option<String> {
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes).ok()?;
        let secret: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut links = self.lock();
        let now = now_ms();
        // A chat keeps its messages: why a link is over is known for an hour after its question ended.
        links.retain(|_, link| link.expires_ms.saturating_add(REMEMBERED_MS) > now);
        if links.len() >= MOST {
            links.retain(|_, link| link.standing == Standing::Good && link.expires_ms > now);
        }
        if links.len() >= MOST {
            return None;
        }
        let (id, person, expires_ms) = (question.id.clone(), person.clone(), question.expires_ms);
        links.insert(
            blake3::hash(secret.as_bytes()),
            Link { question: id, person, expires_ms, standing: Standing::Good },
        );
        Some(secret)
    }

    /// What a link is for. It stays good.
    pub(crate) fn look(&self, secret: &str) -> Result<Link, ApiError> {
        self.lock().get(&blake3::hash(secret.as_bytes())).ok_or_else(ApiError::no_link)?.if_good()
    }

    /// Uses a link up: of two who try at once, one gets it.
    pub(crate) fn take(&self, secret: &str) -> Result<Link, ApiError> {
        let mut links = self.lock();
        let link = links.get_mut(&blake3::hash(secret.as_bytes())).ok_or_else(ApiError::no_link)?;
        let good = link.if_good()?;
        link.standing = Standing::Used;
        Ok(good)
    }

    /// Gives back one whose answer could not be kept.
    pub(crate) fn put_back(&self, secret: &str, link: Link) {
        self.lock().insert(blake3::hash(secret.as_bytes()), link);
    }

    /// A question is over: its links are too.
    pub(crate) fn end(&self, question: &str) {
        let mut links = self.lock();
        let of_it = links.values_mut().filter(|link| link.question == question && link.standing == Standing::Good);
        of_it.for_each(|link| link.standing = Standing::Over);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<blake3::Hash, Link>> {
        // Nothing here is left half done by a panic.
        self.by_hash.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Link {
    fn if_good(&self) -> Result<Self, ApiError> {
        match self.standing {
            Standing::Used => Err(ApiError::link_used()),
            Standing::Over => Err(ApiError::link_over()),
            Standing::Good if self.expires_ms <= now_ms() => Err(ApiError::link_expired()),
            Standing::Good => Ok(self.clone()),
        }
    }
}
