//! Who may see the record and answer: a key that the terminal shows and that works once, exchanged for a token.
//!
//! INVARIANT: neither a key nor a token is ever on disk, and neither stands in an address that is sent.

mod proof;

pub(crate) use proof::{own_id, prove};

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

/// How somebody shows that they know the key.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shown<'a> {
    /// They say it.
    Key(&'a str),
    /// They say what they made of it for this very process, and with which number used once.
    Proof { nonce: &'a str, proof: &'a str },
}

/// Where a key was exchanged; whatever is done with the token came from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Via {
    /// In a browser.
    Page,
    /// By a command at a terminal.
    Terminal,
    /// By another program.
    Http,
}

impl Via {
    /// As it stands in the record.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::Terminal => "terminal",
            Self::Http => "http",
        }
    }
}

/// The key of the moment, and the tokens that keys became.
pub(crate) struct Keys {
    inner: Mutex<Inner>,
}

struct Inner {
    key: String,
    /// A long key, which is taken also while others are not: nobody guesses it, however often they try.
    spare: Option<String>,
    /// By hash, so that looking one up takes no time that depends on how much of it is right.
    tokens: HashMap<blake3::Hash, (Instant, Via)>,
    failures: u32,
    failed: Option<Instant>,
}

impl Keys {
    /// With a first key.
    pub(crate) fn new() -> Result<Self, Refusal> {
        let inner = Inner { key: fresh_key(2)?, spare: None, tokens: HashMap::new(), failures: 0, failed: None };
        Ok(Self { inner: Mutex::new(inner) })
    }

    /// The key that works now.
    pub(crate) fn key(&self) -> String {
        self.lock().key.clone()
    }

    /// Exchanges the key for a token; the next key takes its place. Takes some milliseconds of work.
    pub(crate) fn exchange(&self, shown: Shown<'_>, via: Via, now: Instant) -> Result<String, Refusal> {
        let (key, spare, counts) = self.lock().on_offer(now);
        // Not under the lock: whoever is signed in does not wait for those who guess.
        let by_key = counts && shown.is_of(&key);
        if !by_key && !spare.as_deref().is_some_and(|spare| shown.is_of(spare)) {
            return Err(if counts { Refusal::Wrong } else { Refusal::TooMany });
        }
        let (fresh, token) = (fresh_key(2)?, fresh_token()?);
        let mut inner = self.lock();
        // Of two who show the same key at once one gets a token.
        if by_key && inner.key == key {
            inner.key = fresh;
        } else if !by_key && inner.spare == spare {
            inner.spare = None;
        } else {
            return Err(Refusal::Wrong);
        }
        inner.failures = 0;
        inner.tokens.retain(|_, (given, _)| now.duration_since(*given) < TOKEN_LIFE);
        inner.tokens.insert(blake3::hash(token.as_bytes()), (now, via));
        Ok(token)
    }

    /// Takes a token back.
    pub(crate) fn forget(&self, token: &str) -> bool {
        self.lock().tokens.remove(&blake3::hash(token.as_bytes())).is_some()
    }

    /// Whether so many wrong keys came that none is taken for now.
    pub(crate) fn rests(&self) -> bool {
        self.lock().failures >= MOST_FAILURES
    }

    /// A long key that is taken all the same, so that guessing keeps nobody out; `None`: there is one already.
    pub(crate) fn new_spare(&self) -> Option<String> {
        let fresh = fresh_key(7).ok()?;
        let mut inner = self.lock();
        if inner.spare.is_some() {
            return None;
        }
        inner.spare = Some(fresh.clone());
        Some(fresh)
    }

    /// Where the key was exchanged for this token; `None`: it is not good.
    pub(crate) fn knows(&self, token: &str, now: Instant) -> Option<Via> {
        let hash = blake3::hash(token.as_bytes());
        let inner = self.lock();
        let (given, via) = inner.tokens.get(&hash)?;
        (now.duration_since(*given) < TOKEN_LIFE).then_some(*via)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        // Nothing here is left half done by a panic.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// The keys that open something, and whether the short one does now. Then this try is one of those that may fail:
    /// counted before it is looked at, so that many at once are no more tries than one after the other.
    fn on_offer(&mut self, now: Instant) -> (String, Option<String>, bool) {
        if self.failed.is_some_and(|failed| now.duration_since(failed) > PAUSE) {
            self.failures = 0;
        }
        let counts = self.failures < MOST_FAILURES;
        if counts {
            self.failures += 1;
            self.failed = Some(now);
        }
        (self.key.clone(), self.spare.clone(), counts)
    }
}

impl Shown<'_> {
    /// Whether they know this key. Hashes compare in a time that tells nothing of how much was right.
    fn is_of(&self, key: &str) -> bool {
        let key = normal(key);
        match self {
            Self::Key(offered) => blake3::hash(normal(offered).as_bytes()) == blake3::hash(key.as_bytes()),
            Self::Proof { nonce, proof } => {
                let offered = blake3::Hash::from_hex(proof);
                offered.is_ok_and(|offered| offered == prove(&key, nonce, own_id()))
            }
        }
    }
}

/// People type lower case, leave the dash out, and read O for 0.
pub(crate) fn normal(key: &str) -> String {
    let upper = key.trim().to_ascii_uppercase();
    upper.chars().filter(|c| *c != '-' && *c != ' ').map(|c| if c == 'O' { '0' } else { c }).collect()
}

/// `7Q4F-K2MX` for two groups: 40 bits, of which eight guesses a minute find nothing. Seven are 140 bits.
fn fresh_key(groups: usize) -> Result<String, Refusal> {
    let mut bytes = vec![0_u8; groups * 4];
    getrandom::fill(&mut bytes).map_err(|_| Refusal::NoRandomness)?;
    let mut key = String::new();
    for (place, byte) in bytes.iter().enumerate() {
        if place > 0 && place % 4 == 0 {
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

    fn exchange(keys: &Keys, key: &str, now: Instant) -> Result<String, Refusal> {
        keys.exchange(Shown::Key(key), Via::Page, now)
    }

    #[test]
    fn a_key_works_once_and_the_next_takes_its_place() {
        let (keys, now) = (Keys::new().unwrap(), Instant::now());
        let first = keys.key();
        assert_eq!(first.len(), 9);
        let token = exchange(&keys, &first.to_lowercase().replace('-', ""), now).unwrap();
        assert!(keys.knows(&token, now).is_some());
        assert_eq!(exchange(&keys, &first, now), Err(Refusal::Wrong));
        assert_ne!(keys.key(), first);
        assert!(exchange(&keys, &keys.key(), now).is_ok());
    }

    #[test]
    fn guessing_is_slow() {
        let (keys, now) = (Keys::new().unwrap(), Instant::now());
        for _ in 0..MOST_FAILURES {
            assert_eq!(exchange(&keys, "0000-0000x", now), Err(Refusal::Wrong));
        }
        assert_eq!(exchange(&keys, &keys.key(), now), Err(Refusal::TooMany));
        assert!(exchange(&keys, &keys.key(), now + PAUSE * 2).is_ok());
    }

    #[test]
    fn guessing_keeps_nobody_out_who_has_the_long_key() {
        let (keys, now) = (Keys::new().unwrap(), Instant::now());
        let held = exchange(&keys, &keys.key(), now).unwrap();
        assert!(!keys.rests());
        for _ in 0..MOST_FAILURES {
            assert_eq!(exchange(&keys, "0000-0000x", now), Err(Refusal::Wrong));
        }
        assert!(keys.rests());
        let spare = keys.new_spare().unwrap();
        assert_eq!((spare.len(), keys.new_spare()), (34, None), "one at a time");
        for _ in 0..1000 {
            assert_eq!(exchange(&keys, "0000-0000x", now), Err(Refusal::TooMany));
        }
        assert_eq!(exchange(&keys, &keys.key(), now), Err(Refusal::TooMany), "the short one rests");
        assert!(keys.knows(&held, now).is_some(), "whoever is signed in stays so");
        let proof = prove(&normal(&spare), "n", own_id()).to_hex();
        let shown = Shown::Proof { nonce: "n", proof: &proof };
        let token = keys.exchange(shown, Via::Terminal, now).unwrap();
        assert_eq!(keys.knows(&token, now), Some(Via::Terminal));
        assert_eq!(exchange(&keys, &spare, now), Err(Refusal::Wrong), "once");
        assert!(exchange(&keys, &keys.key(), now).is_ok());
    }

    #[test]
    fn many_tries_at_once_are_no_more_than_one_after_the_other() {
        let (keys, now) = (Keys::new().unwrap(), Instant::now());
        let tries = std::thread::scope(|scope| {
            let guess = |_| scope.spawn(|| exchange(&keys, "0000-0000x", now));
            let guesses: Vec<_> = (0..64).map(guess).collect();
            guesses.into_iter().map(|guess| guess.join().unwrap()).collect::<Vec<_>>()
        });
        let looked_at = tries.iter().filter(|said| **said == Err(Refusal::Wrong)).count();
        assert_eq!(looked_at, usize::try_from(MOST_FAILURES).unwrap());
        let keys = Keys::new().unwrap();
        let key = keys.key();
        let won = std::thread::scope(|scope| {
            let show = |_| scope.spawn(|| exchange(&keys, &key, now).is_ok());
            let all: Vec<_> = (0..8).map(show).collect();
            all.into_iter().map(|one| usize::from(one.join().unwrap())).sum::<usize>()
        });
        assert_eq!(won, 1, "a key works once");
    }

    #[test]
    fn a_token_ends() {
        let (keys, now) = (Keys::new().unwrap(), Instant::now());
        let token = exchange(&keys, &keys.key(), now).unwrap();
        assert_eq!(keys.knows(&token, now + TOKEN_LIFE), None);
        assert_eq!(keys.knows("", now), None);
        assert!(keys.knows(&token.to_uppercase(), now).is_none() || token == token.to_uppercase());
    }

    #[test]
    fn a_proof_made_for_another_process_opens_nothing() {
        let (keys, now) = (Keys::new().unwrap(), Instant::now());
        let (key, ours) = (normal(&keys.key()), own_id());
        let show = |proof: blake3::Hash, nonce: &str| {
            let proof = proof.to_hex();
            keys.exchange(Shown::Proof { nonce, proof: &proof }, Via::Terminal, now)
        };
        // Whoever put a socket of its own in the place of ours passes on what it was shown.
        assert_eq!(show(prove(&key, "n", ours + 1), "n"), Err(Refusal::Wrong));
        assert_eq!(show(prove(&key, "n", ours), "m"), Err(Refusal::Wrong));
        assert_eq!(show(prove("00000000", "n", ours), "n"), Err(Refusal::Wrong));
        let token = show(prove(&key, "n", ours), "n").unwrap();
        assert_eq!(keys.knows(&token, now), Some(Via::Terminal));
        assert_eq!(show(prove(&key, "n", ours), "n"), Err(Refusal::Wrong), "the key was used");
    }
}
