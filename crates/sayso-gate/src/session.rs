//! The folder each session is about, fixed when the session starts.

use crate::{Error, Places};
use std::collections::HashMap;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

/// How long a session that says nothing is remembered.
const REMEMBERED: Duration = Duration::from_secs(60 * 24 * 60 * 60);
/// How often old ones are looked for. That reads the whole folder, which grows with every session of two months.
const SWEPT_EVERY: Duration = Duration::from_secs(60 * 60);
/// Changed whenever they were looked for. No hash is called this.
const SWEPT: &str = "swept";

/// The folder each session is about. The first word of a session fixes it; nothing that is said later moves it, not
/// even another start: an agent that may run programs could say that itself.
#[derive(Clone, Debug)]
pub struct Sessions {
    folder: PathBuf,
    /// Sessions whose folder this process has read: nothing moves it.
    read: Arc<Mutex<HashMap<String, PathBuf>>>,
}

/// Sessions whose folder is kept in mind.
const MOST_READ: usize = 4096;

impl Sessions {
    /// The sessions of this user.
    ///
    /// # Errors
    /// If Sayso's folder cannot be used.
    pub fn open(places: &Places) -> Result<Self, Error> {
        Ok(Self { folder: places.own_folder("sessions")?, read: Arc::default() })
    }

    /// The folder of a session; `now` becomes it if the session was not known.
    ///
    /// # Errors
    /// If it cannot be read or remembered.
    pub fn workspace(&self, session: &str, now: &Path) -> Result<PathBuf, Error> {
        self.fixed(blake3::hash(session.as_bytes()), now)
    }

    /// The same for a session that somebody opened who is known by this name, in this tenant: what others call the same
    /// is a session of their own, and none of a hook's.
    ///
    /// # Errors
    /// If it cannot be read or remembered.
    pub fn workspace_of(
        &self,
        (asker, tenant): (&str, Option<&str>),
        session: &str,
        now: &Path,
    ) -> Result<PathBuf, Error> {
        let mut hasher = blake3::Hasher::new_derive_key("sayso session of a caller");
        for part in [asker, if tenant.is_some() { "tenant" } else { "" }, tenant.unwrap_or_default(), session] {
            hasher.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        self.fixed(hasher.finalize(), now)
    }

    fn fixed(&self, session: blake3::Hash, now: &Path) -> Result<PathBuf, Error> {
        let session = session.to_hex();
        let session = session.as_str();
        if let Some(known) = self.read().get(session) {
            return Ok(known.clone());
        }
        if let Some(known) = self.known(session)? {
            let mut read = self.read();
            if read.len() >= MOST_READ {
                read.clear();
            }
            read.insert(session.to_owned(), known.clone());
            return Ok(known);
        }
        self.forget_old();
        let path = self.file(session);
        let first = self.folder.join(format!("{}.first", crate::audit::fresh_id()));
        crate::places::write_own(&first, now.as_os_str().as_bytes())?;
        // A link, unlike a rename, fails if another call of the same session was faster: the first one fixes it.
        let linked = std::fs::hard_link(&first, &path);
        let _ = std::fs::remove_file(&first);
        match linked {
            Ok(()) => Ok(now.to_owned()),
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {
                Ok(self.known(session)?.unwrap_or(now.to_owned()))
            }
            Err(e) => Err(Error::io("write", &path, e)),
        }
    }

    fn read(&self) -> MutexGuard<'_, HashMap<String, PathBuf>> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known(&self, session: &str) -> Result<Option<PathBuf>, Error> {
        let path = self.file(session);
        match std::fs::read(&path) {
            Ok(bytes) => Ok(Some(PathBuf::from(std::ffi::OsString::from_vec(bytes)))),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(Error::io("read", &path, e)),
        }
    }

    /// Named by a hash: a session's id is the agent's text, and could be `../../x`.
    fn file(&self, session: &str) -> PathBuf {
        self.folder.join(session)
    }

    /// Forgets old sessions, now and then: by a mark on disk, since each hook is a process of its own.
    fn forget_old(&self) {
        let mark = self.folder.join(SWEPT);
        let swept = std::fs::symlink_metadata(&mark).and_then(|meta| meta.modified());
        // A mark of the future is no reason to wait for it.
        if swept.is_ok_and(|at| at.elapsed().is_ok_and(|ago| ago < SWEPT_EVERY)) {
            return;
        }
        // Marked first: of several that come at once one looks. Without a mark each does, and nothing is less safe.
        let _ = crate::places::write_own(&mark, b"");
        let Ok(listing) = std::fs::read_dir(&self.folder) else { return };
        let Some(before) = SystemTime::now().checked_sub(REMEMBERED) else { return };
        for entry in listing.flatten() {
            if entry.metadata().and_then(|meta| meta.modified()).is_ok_and(|at| at < before) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_of_a_session_fixes_its_folder() {
        let dir = tempfile::tempdir().unwrap();
        let sessions = Sessions::open(&Places::below(dir.path(), dir.path())).unwrap();
        let (one, two) = (Path::new("/one"), Path::new("/two"));
        assert_eq!(sessions.workspace("a/../b", one).unwrap(), one);
        assert_eq!(sessions.workspace("a/../b", two).unwrap(), one);
        assert_eq!(sessions.workspace("other", two).unwrap(), two);
        let of = |asker, tenant, now| sessions.workspace_of((asker, tenant), "other", now).unwrap();
        assert_eq!(of("token a", Some("t"), one), one);
        for squat in ["t\0other", "tother", "\u{1}\0\0\0\0\0\0\0tother"] {
            assert_eq!(sessions.workspace(squat, two).unwrap(), two);
        }
        assert_eq!(of("anybody", Some("t"), two), two);
        assert_eq!(of("token a", None, two), two);
        assert_eq!(of("token a", Some(""), two), two);
        assert_eq!(of("token a", Some("t"), two), one, "nobody else fixes it");
    }

    #[test]
    fn old_sessions_are_looked_for_now_and_then_and_not_with_every_new_one() {
        let dir = tempfile::tempdir().unwrap();
        let places = Places::below(dir.path(), dir.path());
        let folder = places.own_folder("sessions").unwrap();
        let made_at = |name: &str, ago: Duration| {
            let file = std::fs::File::create(folder.join(name)).unwrap();
            file.set_modified(SystemTime::now().checked_sub(ago).unwrap()).unwrap();
        };
        let old = REMEMBERED + Duration::from_secs(60);
        // Each as a process of its own would.
        let begin = |name: &str| Sessions::open(&places).unwrap().workspace(name, Path::new("/w")).unwrap();
        made_at("first", old);
        begin("a");
        assert!(!folder.join("first").exists(), "the first look");
        made_at("second", old);
        for n in 0..50 {
            begin(&n.to_string());
        }
        assert!(folder.join("second").exists(), "nobody has looked again");
        made_at(SWEPT, SWEPT_EVERY + Duration::from_secs(60));
        begin("b");
        assert!(!folder.join("second").exists(), "it was time");
        assert!(folder.join(SWEPT).exists());
        // A clock that was wrong for a while must not stop it for ever.
        made_at("third", old);
        let mark = std::fs::File::create(folder.join(SWEPT)).unwrap();
        mark.set_modified(SystemTime::now() + REMEMBERED).unwrap();
        begin("c");
        assert!(!folder.join("third").exists());
        assert_eq!(begin("a"), Path::new("/w"), "those that are not old stay");
    }
}
