//! The mark on lines of the spool: that a process of Sayso's wrote them, and nobody else.
//!
//! Any program of the user can append to the spool. So each line ends with a keyed hash of the rest, with a key in a file
//! that only the owner can read and that no guarded call may read (it lies in Sayso's own folder). A line without a good
//! mark is kept too, as hooks of earlier versions wrote them, and its record says that nobody vouches for it.

use crate::Error;
use crate::files::read_regular;
use rustix::fs::OFlags;
use std::path::Path;

/// The key's file in Sayso's own folder.
const FILE: &str = "spool.key";
/// How the mark stands at the end of a line.
const MEMBER: &str = ",\"mark\":\"";

/// The key of the marks.
pub(crate) struct Marks([u8; 32]);

impl Marks {
    /// The key in this folder, made at the first use.
    pub(crate) fn of(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(FILE);
        match Self::read(&path) {
            Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => Self::make(&path),
            read => read,
        }
    }

    /// The same, if there is one.
    pub(crate) fn known(folder: &Path) -> Option<Self> {
        Self::read(&folder.join(FILE)).ok()
    }

    fn read(path: &Path) -> Result<Self, Error> {
        let (content, _) = read_regular(path, 64, OFlags::NOFOLLOW).map_err(|e| Error::io("read", path, e))?;
        let broken = || Error::Unsafe { path: path.to_owned(), why: "it is not a Sayso key".to_owned() };
        content.try_into().map(Self).map_err(|_| broken())
    }

    fn make(path: &Path) -> Result<Self, Error> {
        let mut key = [0u8; 32];
        getrandom::fill(&mut key).map_err(|e| Error::io("make", path, std::io::Error::other(e.to_string())))?;
        let new = path.with_file_name(format!("{FILE}.{}", crate::audit::fresh_id()));
        crate::places::write_own(&new, &key)?;
        // A link fails where another process was faster: its key is the one.
        let linked = std::fs::hard_link(&new, path);
        std::fs::remove_file(&new).map_err(|e| Error::io("remove", &new, e))?;
        match linked {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(Error::io("make", path, error)),
            _ => Self::read(path),
        }
    }

    /// A line, a JSON object, with its mark as its last member.
    pub(crate) fn put_on(&self, line: &str) -> String {
        match line.strip_suffix('}') {
            Some(open) => format!("{open}{MEMBER}{}\"}}", self.of_line(line)),
            None => line.to_owned(),
        }
    }

    fn of_line(&self, line: &str) -> String {
        blake3::keyed_hash(&self.0, line.as_bytes()).to_hex().to_string()
    }
}

/// What shows that a process of Sayso's wrote a file in this folder, for a purpose that nothing else has.
pub(crate) fn seal(folder: &Path, purpose: &str, parts: &[&[u8]]) -> Result<blake3::Hash, Error> {
    let key = blake3::derive_key(purpose, &Marks::of(folder)?.0);
    let mut hasher = blake3::Hasher::new_keyed(&key);
    for part in parts {
        hasher.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
        hasher.update(part);
    }
    Ok(hasher.finalize())
}

/// A line without its mark, and whether that is a good one.
pub(crate) fn taken_off(line: &str, marks: Option<&Marks>) -> (String, bool) {
    let Some((open, mark)) = line.rsplit_once(MEMBER) else { return (line.to_owned(), false) };
    let Some(mark) = mark.strip_suffix("\"}") else { return (line.to_owned(), false) };
    let plain = format!("{open}}}");
    // The comparison of hashes takes the same time wherever they differ.
    let good = blake3::Hash::from_hex(mark)
        .is_ok_and(|mark| marks.is_some_and(|marks| blake3::keyed_hash(&marks.0, plain.as_bytes()) == mark));
    (plain, good)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_of_its_line_and_its_key() {
        let dir = tempfile::tempdir().unwrap();
        let marks = Marks::of(dir.path()).unwrap();
        let line = r#"{"a":1,"b":"x"}"#;
        let marked = marks.put_on(line);
        assert!(serde_json::from_str::<serde_json::Value>(&marked).is_ok(), "{marked}");
        assert_eq!(taken_off(&marked, Marks::known(dir.path()).as_ref()), (line.to_owned(), true));
        assert_eq!(taken_off(&marked, None), (line.to_owned(), false));
        assert_eq!(taken_off(line, Some(&marks)), (line.to_owned(), false));
        assert!(!taken_off(&marked.replace("\"x\"", "\"y\""), Some(&marks)).1);
        let other = tempfile::tempdir().unwrap();
        assert!(!taken_off(&marked, Some(&Marks::of(other.path()).unwrap())).1);
    }
}
