//! Signed heads: how far the chain was at some time, said with the key of this store.
//!
//! A head in the store tells on those who change records but have not the key. A head that was copied to another place
//! tells on those who have both.

use crate::audit::chain::End;
use crate::audit::now_ms;
use crate::files::read_regular;
use crate::{Error, Places};
use blake3::Hash;
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The key's file in Sayso's own folder.
const FILE: &str = "audit.key";
/// The first line of it.
const FIRST_LINE: &str = "sayso audit key 1";
/// How the second line begins where the key lies elsewhere.
const ELSEWHERE: &str = "at ";
/// The longest file of a key.
const LONGEST: usize = 8192;
/// What every signature is about, so that none can be taken for another.
const CONTEXT: &str = "sayso head 1";

/// A head is signed at the latest after so many records.
pub(crate) const RECORDS_BETWEEN_HEADS: u64 = 1024;

/// How far the chain was at some time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// Which chain.
    pub chain: String,
    /// The number of its last record then.
    pub seq: u64,
    /// The hash of that record, in hexadecimal.
    pub hash: String,
    /// When, in milliseconds since 1970.
    pub time_ms: u64,
    /// The public key, in hexadecimal.
    pub key: String,
    /// The signature over all of the above, in hexadecimal.
    pub signature: String,
}

impl Head {
    /// The record it names, as the chain has it.
    #[must_use]
    pub fn end(&self) -> Option<End> {
        Some(End { seq: self.seq, hash: Hash::from_hex(&self.hash).ok()? })
    }

    /// Whether its signature is that of its key.
    #[must_use]
    pub fn is_signed(&self) -> bool {
        let checked = || {
            let key = VerifyingKey::from_bytes(&from_hex(&self.key)?).ok()?;
            let signature = Signature::from_bytes(&from_hex(&self.signature)?);
            key.verify_strict(self.said().as_bytes(), &signature).ok()
        };
        checked().is_some()
    }

    fn said(&self) -> String {
        let Self { chain, seq, hash, time_ms, key, .. } = self;
        format!("{CONTEXT}\n{chain}\n{seq}\n{hash}\n{time_ms}\n{key}\n")
    }
}

/// The key with which heads are signed.
pub struct HeadKey(SigningKey);

impl HeadKey {
    /// The key of this user's store, made at the first use.
    ///
    /// # Errors
    /// If it cannot be read or made.
    pub fn of(places: &Places) -> Result<Self, Error> {
        Self::beside(&places.own_folder("")?)
    }

    pub(crate) fn beside(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(FILE);
        match Self::read(&path) {
            Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => Self::make(&path),
            read => read,
        }
    }

    /// The public key, if there is one, and when it was made, in milliseconds since 1970. None is made: that there is one
    /// says that something was signed.
    pub(crate) fn made(folder: &Path) -> Option<(String, u64)> {
        let path = folder.join(FILE);
        let made = std::fs::symlink_metadata(&path).and_then(|meta| meta.modified()).ok()?;
        let made = made.duration_since(std::time::UNIX_EPOCH).ok()?.as_millis();
        Some((Self::read(&path).ok()?.public(), u64::try_from(made).ok()?))
    }

    fn read(path: &Path) -> Result<Self, Error> {
        let (content, _) = read_regular(path, LONGEST, OFlags::NOFOLLOW).map_err(|e| Error::io("read", path, e))?;
        let text = String::from_utf8_lossy(&content);
        // The key may lie elsewhere; once, so that no two files lead to each other for ever.
        if let Some(place) = text.strip_prefix(FIRST_LINE).and_then(|rest| rest.trim().strip_prefix(ELSEWHERE)) {
            let place = Path::new(place.trim());
            let (content, _) =
                read_regular(place, LONGEST, OFlags::NOFOLLOW).map_err(|e| Error::io("read", place, e))?;
            return Self::of_text(place, &String::from_utf8_lossy(&content));
        }
        Self::of_text(path, &text)
    }

    fn of_text(path: &Path, text: &str) -> Result<Self, Error> {
        let seed = text.strip_prefix(FIRST_LINE).and_then(|seed| from_hex::<32>(seed.trim()));
        let broken = || Error::Unsafe { path: path.to_owned(), why: "it is not a Sayso key".to_owned() };
        Ok(Self(SigningKey::from_bytes(&seed.ok_or_else(broken)?)))
    }

    /// A new key, in no file yet.
    pub(crate) fn fresh() -> Result<Self, Error> {
        let mut seed = [0u8; 32];
        let failed = |e: getrandom::Error| Error::io("make", Path::new(FILE), std::io::Error::other(e.to_string()));
        getrandom::fill(&mut seed).map_err(failed)?;
        Ok(Self(SigningKey::from_bytes(&seed)))
    }

    /// Puts this key in the place of the one beside a store: into its file, or into another that this one leads to.
    pub(crate) fn put(&self, folder: &Path, elsewhere: Option<&Path>) -> Result<(), Error> {
        let own = folder.join(FILE);
        let text = format!("{FIRST_LINE}\n{}\n", to_hex(self.0.as_bytes()));
        // A file that led to itself would hold no key.
        let same = |place: &Path| {
            let folders = (place.parent().map(Path::canonicalize), folder.canonicalize());
            place == own
                || place.file_name() == own.file_name() && matches!(folders, (Some(Ok(of)), Ok(own)) if of == own)
        };
        match elsewhere.filter(|place| !same(place)) {
            None => crate::places::write_own(&own, text.as_bytes()),
            Some(place) => {
                crate::places::write_own(place, text.as_bytes())?;
                let leads = format!("{FIRST_LINE}\n{ELSEWHERE}{}\n", place.display());
                crate::places::write_own(&own, leads.as_bytes())
            }
        }
    }

    /// Where the key beside a store really lies.
    pub(crate) fn place(folder: &Path) -> PathBuf {
        Self::elsewhere(folder).unwrap_or_else(|| folder.join(FILE))
    }

    /// The file of the key beside a store, if it is not in the store's folder.
    pub(crate) fn elsewhere(folder: &Path) -> Option<PathBuf> {
        let (content, _) = read_regular(&folder.join(FILE), LONGEST, OFlags::NOFOLLOW).ok()?;
        let text = String::from_utf8_lossy(&content);
        let place = text.strip_prefix(FIRST_LINE)?.trim().strip_prefix(ELSEWHERE)?.trim();
        Some(PathBuf::from(place)).filter(|place| place.is_absolute())
    }

    /// Signs something else than a head. Its first line says what it is, so that it is taken for nothing else.
    pub(crate) fn sign_text(&self, text: &str) -> String {
        to_hex(&self.0.sign(text.as_bytes()).to_bytes())
    }

    fn make(path: &Path) -> Result<Self, Error> {
        let new = path.with_file_name(format!("{FILE}.{}", crate::audit::fresh_id()));
        let text = format!("{FIRST_LINE}\n{}\n", to_hex(Self::fresh()?.0.as_bytes()));
        crate::places::write_own(&new, text.as_bytes())?;
        // A link fails where another process was faster: its key is the one.
        let linked = std::fs::hard_link(&new, path);
        let _ = std::fs::remove_file(&new);
        match linked {
            Err(e) if e.kind() != std::io::ErrorKind::AlreadyExists => Err(Error::io("write", path, e)),
            _ => Self::read(path),
        }
    }

    /// The public key, in hexadecimal.
    #[must_use]
    pub fn public(&self) -> String {
        to_hex(self.0.verifying_key().as_bytes())
    }

    /// Says where a chain ends now.
    #[must_use]
    pub fn sign(&self, chain: &str, end: &End) -> Head {
        let mut head = Head {
            chain: chain.to_owned(),
            seq: end.seq,
            hash: end.hash.to_hex().to_string(),
            time_ms: now_ms(),
            key: self.public(),
            signature: String::new(),
        };
        head.signature = to_hex(&self.0.sign(head.said().as_bytes()).to_bytes());
        head
    }
}

impl std::fmt::Debug for HeadKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("HeadKey").field(&self.public()).finish()
    }
}

/// Whether a text was signed with the key of this public one.
pub(crate) fn is_signed(key: &str, text: &str, signature: &str) -> bool {
    let checked = || {
        let key = VerifyingKey::from_bytes(&from_hex(key)?).ok()?;
        key.verify_strict(text.as_bytes(), &Signature::from_bytes(&from_hex(signature)?)).ok()
    };
    checked().is_some()
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0u8; N];
    if text.len() != N * 2 || !text.is_ascii() {
        return None;
    }
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(at * 2..at * 2 + 2)?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_key_is_made_once_and_closed_to_others() {
        let dir = tempfile::tempdir().unwrap();
        let keys: Vec<String> = std::thread::scope(|scope| {
            let makers: Vec<_> =
                (0..8).map(|_| scope.spawn(|| HeadKey::beside(dir.path()).unwrap().public())).collect();
            makers.into_iter().map(|maker| maker.join().unwrap()).collect()
        });
        assert!(keys.iter().all(|key| *key == keys[0]), "{keys:?}");
        assert_eq!(std::fs::metadata(dir.path().join(FILE)).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_signature_covers_every_part() {
        let dir = tempfile::tempdir().unwrap();
        let key = HeadKey::beside(dir.path()).unwrap();
        let head = key.sign("c", &End::of_nothing("c").after("{}"));
        assert!(head.is_signed());
        for change in [
            Head { seq: 2, ..head.clone() },
            Head { chain: "d".into(), ..head.clone() },
            Head { hash: End::of_nothing("d").hash.to_hex().to_string(), ..head.clone() },
            Head { time_ms: head.time_ms + 1, ..head.clone() },
            Head { key: "00".repeat(32), ..head.clone() },
            Head { signature: "00".repeat(64), ..head.clone() },
            Head { signature: "é".repeat(64), ..head.clone() },
        ] {
            assert!(!change.is_signed(), "{change:?}");
        }
    }

    #[test]
    fn a_broken_key_is_an_error_and_stays() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(FILE), "sayso audit key 1\nabc\n").unwrap();
        assert!(matches!(HeadKey::beside(dir.path()), Err(Error::Unsafe { .. })));
        assert_eq!(std::fs::read_to_string(dir.path().join(FILE)).unwrap(), "sayso audit key 1\nabc\n");
    }
}
