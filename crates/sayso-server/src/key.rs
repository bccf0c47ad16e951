//! Who may see the record: a key that the terminal shows and that works once, exchanged for a token.
//!
//! INVARIANT: neither a key nor a token is ever on disk, and neither stands in an address that is sent.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Letters that are not taken for each other: no I, L, O, U.
const LETTERS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// How long a token is good for.
const TOKEN_LIFE: Duration = Duration::from_secs(12 * 60 * 60);
/// Wrong keys before all keys are refused for a while.
const MOST_FAILURES: u32 = 8;
/// That while.
const PAUSE: Duration = Duration::from_secs(60);

/// Why a key is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It is not the key, or it was used.
    Wrong,
    /// Too many wrong ones lately.
    TooMany,
    /// The system gives no randomness.
    NoRandomness,
}

/// The key of the moment, and the tokens that keys became.
pub(crate) struct Keys {
    inner: Mutex<Inner>,
}

struct Inner {
    key: String,
    /// By hash, so that looking one up takes no time that depends on how much of it is right.
    tokens: HashMap<blake3::Hash, Instant>,
    failures: u32,
    failed: Option<Instant>,
}

impl Keys {
    /// With a first key.
    pub(crate) fn new() -> Result<Self, Refusal> {
        let inner = Inner { key: fresh_key()?, tokens: HashMap::new(), failures: 0, failed: None };
        Ok(Self { inner: Mutex::new(inner) })
    }

    /// The key that works now.
    pub(crate) fn key(&self) -> String {
        self.lock().key.clone()
    }

    /// Exchanges the key for a token; the next key takes its place.
    pub(crate) fn exchange(&self, offered: &str, now: Instant) -> Result<String, Refusal> {
        let mut inner = self.lock();
        if inner.failed.is_some_and(|failed| now.duration_since(failed) > PAUSE) {
            inner.failures = 0;
        }
        if inner.failures >= MOST_FAILURES {
            return Err(Refusal::TooMany);
        }
        let same = blake3::hash(normal(offered).as_bytes()) == blake3::hash(normal(&inner.key).as_bytes());
        if !same {
            inner.failures += 1;
            inner.failed = Some(now);
            return Err(Refusal::Wrong);
        }
        let (key, token) = (fresh_key()?, fresh_token()?);
        inner.key = key;
        inner.failures = 0;
        inner.tokens.retain(|_, given| now.duration_since(*given) < TOKEN_LIFE);
        inner.tokens.insert(blake3::hash(token.as_bytes()), now);
        Ok(token)
    }

    /// Whether a token is good.
    pub(crate) fn knows(&self, token: &str, now: Instant) -> bool {
        let hash = blake3::hash(token.as_bytes());
        self.lock().tokens.get(&hash).is_some_and(|given| now.duration_since(*given) < TOKEN_LIFE)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        // Nothing here is left half done by a panic.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// People type lower case, leave the dash out, and read O for 0.
fn normal(key: &str) -> String {
    let upper = key.trim().to_ascii_uppercase();
    upper.chars().filter(|c| *c != '-' && *c != ' ').map(|c| if c == 'O' { '0' } else { c }).collect()
}

/// `7Q4F-K2MX`: 40 bits, of which eight guesses a minute find nothing.
fn fresh_key() -> Result<String, Refusal> {
    let mut bytes = [0_u8; 8];
    getrandom::fill(&mut bytes).map_err(|_| Refusal::NoRandomness)?;
    let mut key = String::new();
    for (place, byte) in bytes.iter().enumerate() {
        if place == 4 {
            key.push('-');
        }
        key.push(LETTERS.get(usize::from(byte % 32)).copied().map_or('0', char::from));
    }
    Ok(key)
}

fn fresh_token() -> Result<String, Refusal> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).map_err(|_| Refusal::NoRandomness)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_works_once_and_the_next_takes_its_place() {
        let (keys, now) = (Keys::new().unwrap(), Instant::now());
        let first = keys.key();
        assert_eq!(first.len(), 9);
        let token = keys.exchange(&first.to_lowercase().replace('-', ""), now).unwrap();
        assert!(keys.knows(&token, now));
        assert_eq!(keys.exchange(&first, now), Err(Refusal::Wrong));
        assert_ne!(keys.key(), first);
        assert!(keys.exchange(&keys.key(), now).is_ok());
    }

    #[test]
    fn guessing_is_slow() {
        let (keys, now) = (Keys::new().unwrap(), Instant::now());
        for _ in 0..MOST_FAILURES {
            assert_eq!(keys.exchange("0000-0000x", now), Err(Refusal::Wrong));
        }
        assert_eq!(keys.exchange(&keys.key(), now), Err(Refusal::TooMany));
        assert!(keys.exchange(&keys.key(), now + PAUSE * 2).is_ok());
    }

    #[test]
    fn a_token_ends() {
        let (keys, now) = (Keys::new().unwrap(), Instant::now());
        let token = keys.exchange(&keys.key(), now).unwrap();
        assert!(!keys.knows(&token, now + TOKEN_LIFE));
        assert!(!keys.knows("", now));
        assert!(!keys.knows(&token.to_uppercase(), now) || token == token.to_uppercase());
    }
}
