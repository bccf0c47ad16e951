//! Tokens: named, with one role, shown once; what is kept is their hash.

use crate::clock::now_ms;
use crate::who::{Caller, Role};
use sayso_gate::audit::{Change, Event, Kind};
use sayso_gate::store;
use sayso_gate::{Once, Places};
use sayso_policy::Person;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// What a token begins with, so that scanners for secrets find one that leaked.
const PREFIX: &str = "sayso_";

/// A token as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// Whoever holds it is called this.
    pub name: String,
    /// What they may.
    pub role: Role,
    /// Whose calls they may know of; `None`: everybody's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// Groups they belong to, as policies name them: `sso:leads`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// The hash of the secret.
    hash: String,
    /// When it was made, in milliseconds since 1970.
    pub created_ms: u64,
    /// When it ends.
    pub expires_ms: u64,
    /// When it was taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_ms: Option<u64>,
}

impl Token {
    /// Whether it is good.
    #[must_use]
    pub fn is_good(&self, now_ms: u64) -> bool {
        self.revoked_ms.is_none() && now_ms < self.expires_ms
    }
}

/// Why tokens cannot be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The name is taken by one that is good.
    #[error("a token named `{0}` already exists; revoke it first, or choose another name")]
    Taken(String),
    /// There is none.
    #[error("there is no token named `{0}`; list them with `sayso token list`")]
    Unknown(String),
    /// Names are shown and compared.
    #[error("a name may contain only letters, digits and . _ - @, and at most 64 of them")]
    Name,
    /// The file.
    #[error("cannot {0} {path}: {2}", path = .1.display())]
    Io(&'static str, PathBuf, std::io::Error),
    /// The file is not as it was written.
    #[error("{path} cannot be read: {1}. No token is accepted until it is fixed", path = .0.display())]
    Broken(PathBuf, serde_json::Error),
    /// Sayso's folder.
    #[error(transparent)]
    Gate(#[from] sayso_gate::Error),
    /// The system gives no randomness.
    #[error("the system provides no randomness for a token")]
    NoRandomness,
}

/// The tokens of this user.
pub struct Tokens {
    path: PathBuf,
    places: Places,
    /// Who changes them.
    by: String,
    read: Mutex<Option<(Stamp, Arc<Vec<Token>>)>>,
}

/// Tells whether the file is still the one that was read: each change writes a new file.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    length: u64,
    changed: (i64, i64),
}

impl Tokens {
    /// Those in Sayso's own folder.
    ///
    /// # Errors
    /// If that folder cannot be used.
    pub fn of(places: &Places) -> Result<Self, TokenError> {
        let path = places.own_folder("")?.join("tokens.json");
        Ok(Self { path, places: places.clone(), by: "sayso".to_owned(), read: Mutex::default() })
    }

    /// The same, changed by this person: the record says so.
    #[must_use]
    pub fn changed_by(mut self, name: &str) -> Self {
        name.clone_into(&mut self.by);
        self
    }

    /// All of them, those that are not good any more too.
    ///
    /// # Errors
    /// If the file cannot be read: then no token counts.
    pub fn all(&self) -> Result<Arc<Vec<Token>>, TokenError> {
        let stamp = match std::fs::metadata(&self.path) {
            Ok(meta) => Stamp { inode: meta.ino(), length: meta.len(), changed: (meta.ctime(), meta.ctime_nsec()) },
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Arc::default()),
            Err(error) => return Err(self.io("read", error)),
        };
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, tokens)) = &*read
            && *known == stamp
        {
            return Ok(Arc::clone(tokens));
        }
        let text = std::fs::read(&self.path).map_err(|error| self.io("read", error))?;
        let tokens = serde_json::from_slice(&text).map_err(|error| TokenError::Broken(self.path.clone(), error))?;
        let tokens: Arc<Vec<Token>> = Arc::new(tokens);
        *read = Some((stamp, Arc::clone(&tokens)));
        Ok(tokens)
    }

    /// Makes one. The secret is given back this once, and kept nowhere.
    ///
    /// # Errors
    /// If the name is taken or no name, or if it cannot be kept.
    pub fn create(
        &self,
        name: &str,
        role: Role,
        tenant: Option<String>,
        groups: Vec<String>,
        expires_ms: u64,
    ) -> Result<String, TokenError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-@".contains(c);
        if name.is_empty() || name.len() > 64 || !name.chars().all(plain) {
            return Err(TokenError::Name);
        }
        let secret = format!("{PREFIX}{}", random()?);
        self.change(|tokens| {
            let now = now_ms();
            if tokens.iter().any(|token| token.name == name && token.is_good(now)) {
                return Err(TokenError::Taken(name.to_owned()));
            }
            let detail = json!({"role": role, "groups": groups, "expires_ms": expires_ms});
            self.record("created", name, tenant.as_deref(), detail)?;
            let hash = hash(&secret);
            let (name, revoked_ms) = (name.to_owned(), None);
            tokens.push(Token { name, role, tenant, groups, hash, created_ms: now, expires_ms, revoked_ms });
            Ok(())
        })?;
        Ok(secret)
    }

    /// Takes one back.
    ///
    /// # Errors
    /// If none of this name is good, or if that cannot be kept.
    pub fn revoke(&self, name: &str) -> Result<(), TokenError> {
        self.change(|tokens| {
            let now = now_ms();
            let found = tokens.iter_mut().find(|token| token.name == name && token.is_good(now));
            let token = found.ok_or_else(|| TokenError::Unknown(name.to_owned()))?;
            self.record("revoked", name, token.tenant.as_deref(), json!({"role": token.role}))?;
            token.revoked_ms = Some(now);
            Ok(())
        })
    }

    /// INVARIANT: recorded before it counts. Who could not be seen to get a token would not be looked for.
    fn record(&self, what: &str, name: &str, tenant: Option<&str>, detail: Value) -> Result<(), TokenError> {
        let mut change = Change::now(Kind::Token, what);
        change.about = Some(name.to_owned());
        change.by = Some(self.by.clone());
        change.actor.tenant = tenant.map(str::to_owned);
        change.detail = detail;
        store::open(&self.places)?.append(&[Event::from(change)], &[])?;
        Ok(())
    }

    /// Whoever holds this secret.
    pub(crate) fn holder(&self, secret: &str) -> Option<Caller> {
        if !secret.starts_with(PREFIX) {
            return None;
        }
        // A file that cannot be read lets nobody in.
        let tokens = self.all().ok()?;
        // Hashes are compared, so that the time it takes tells nothing of the secret.
        let hash = hash(secret);
        let token = tokens.iter().find(|token| token.hash == hash && token.is_good(now_ms()))?;
        let person = Person { groups: token.groups.clone(), ..Person::named(&token.name) };
        let via = Cow::Owned(format!("token {}", token.name));
        Some(Caller { person: Some(person), role: token.role, tenant: token.tenant.clone(), via, peer: None })
    }

    /// Whether there never was a token, by what was seen of files.
    pub(crate) fn are_none(&self, looked: &Once<'_>) -> bool {
        looked.is_missing(&self.path)
    }

    /// Whether a token in force has this name, or is of this tenant. A file that cannot be read may hold any.
    pub(crate) fn are_for(&self, name: Option<&str>, tenant: Option<&str>) -> bool {
        let Ok(tokens) = self.all() else { return true };
        let now = now_ms();
        tokens
            .iter()
            .filter(|token| token.is_good(now))
            .any(|token| name == Some(token.name.as_str()) || tenant.is_some() && tenant == token.tenant.as_deref())
    }

    /// One change at a time, written whole or not at all.
    fn change(&self, change: impl FnOnce(&mut Vec<Token>) -> Result<(), TokenError>) -> Result<(), TokenError> {
        let lock = self.path.with_extension("lock");
        let held = own(&lock).map_err(|error| self.io("write", error))?;
        held.lock().map_err(|error| self.io("write", error))?;
        let mut tokens = self.all()?.as_ref().clone();
        change(&mut tokens)?;
        let fresh = self.path.with_extension("new");
        let text = serde_json::to_vec_pretty(&tokens).map_err(|error| self.io("write", error.into()))?;
        let write = || {
            let mut file = own(&fresh)?;
            file.set_len(0)?;
            file.write_all(&text)?;
            file.sync_all()?;
            std::fs::rename(&fresh, &self.path)
        };
        write().map_err(|error| self.io("write", error))
    }

    fn io(&self, doing: &'static str, error: std::io::Error) -> TokenError {
        TokenError::Io(doing, self.path.clone(), error)
    }
}

/// A file that only its owner reads.
fn own(path: &std::path::Path) -> std::io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)
}

fn hash(secret: &str) -> String {
    blake3::hash(secret.as_bytes()).to_hex().to_string()
}

fn random() -> Result<String, TokenError> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).map_err(|_| TokenError::NoRandomness)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn tokens() -> (tempfile::TempDir, Tokens) {
        let folder = tempfile::tempdir().unwrap();
        let tokens = Tokens::of(&Places::below(folder.path(), folder.path())).unwrap();
        (folder, tokens)
    }

    #[test]
    fn a_token_is_kept_as_its_hash_in_a_file_that_only_its_owner_reads() {
        let (_folder, tokens) = tokens();
        let secret = tokens.create("bot", Role::Agent, None, Vec::new(), u64::MAX).unwrap();
        let text = std::fs::read_to_string(&tokens.path).unwrap();
        assert!(!text.contains(&secret) && !text.contains(secret.trim_start_matches(PREFIX)));
        assert_eq!(std::fs::metadata(&tokens.path).unwrap().permissions().mode() & 0o777, 0o600);
        let holder = tokens.holder(&secret).unwrap();
        assert_eq!((holder.person.unwrap().name.as_str(), holder.role), ("bot", Role::Agent));
        // What stands in the file opens nothing.
        let hash = tokens.all().unwrap()[0].hash.clone();
        assert_eq!(tokens.holder(&hash), None);
        assert_eq!(tokens.holder(&format!("{PREFIX}{hash}")), None);
    }

    #[test]
    fn a_token_ends_and_can_be_taken_back() {
        let (_folder, tokens) = tokens();
        let over = tokens.create("old", Role::Admin, None, Vec::new(), now_ms()).unwrap();
        assert_eq!(tokens.holder(&over), None);
        let secret = tokens.create("a", Role::Admin, Some("t".to_owned()), Vec::new(), u64::MAX).unwrap();
        assert!(matches!(tokens.create("a", Role::Agent, None, Vec::new(), u64::MAX), Err(TokenError::Taken(_))));
        assert_eq!(tokens.holder(&secret).unwrap().tenant.as_deref(), Some("t"));
        tokens.revoke("a").unwrap();
        assert_eq!(tokens.holder(&secret), None);
        assert!(matches!(tokens.revoke("a"), Err(TokenError::Unknown(_))));
        assert!(tokens.create("a", Role::Agent, None, Vec::new(), u64::MAX).is_ok());
    }

    #[test]
    fn names_hold_nothing_that_could_mislead() {
        let (_folder, tokens) = tokens();
        for name in ["", "a b", "a\u{202e}b", "a\nb", &"x".repeat(65)] {
            assert!(matches!(tokens.create(name, Role::Agent, None, Vec::new(), 1), Err(TokenError::Name)), "{name:?}");
        }
    }

    #[test]
    fn a_broken_file_lets_nobody_in_and_is_not_written_over() {
        let (_folder, tokens) = tokens();
        let secret = tokens.create("a", Role::Admin, None, Vec::new(), u64::MAX).unwrap();
        std::fs::write(&tokens.path, "[{").unwrap();
        assert_eq!(tokens.holder(&secret), None);
        assert!(matches!(tokens.create("b", Role::Agent, None, Vec::new(), 1), Err(TokenError::Broken(..))));
        assert_eq!(std::fs::read_to_string(&tokens.path).unwrap(), "[{");
    }
}
