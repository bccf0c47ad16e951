//! A set of facts as a file: lines that are appended under a lock, each with the mark of Sayso's key.

use super::{FOLDER, Fact, SHARED_MS};
use crate::audit::{Marks, mark_taken_off};
use crate::audit::{fresh_id, now_ms};
use crate::files::read_regular;
use crate::{Error, Places};
use rustix::fs::{FlockOperation, Mode, OFlags, flock, fstat};
use sayso_policy::Area;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A set that is longer is made shorter before more is added.
const LONG: u64 = 128 * 1024;
/// None is longer than this.
const LARGEST: usize = 4 * 1024 * 1024;
/// Files by name in one set; more of them are told by when they changed.
const MOST_WRITTEN: usize = 1024;
/// Places in one set; more of them are everywhere.
const MOST_AREAS: usize = 64;
/// Contents in one set that somebody said yes to. The oldest are asked about again.
const MOST_YES: usize = 512;
/// How long a set stays to which nothing is added.
const REMEMBERED: Duration = Duration::from_secs(60 * 24 * 60 * 60);

/// A set of facts, for people.
#[derive(Clone, Debug)]
pub struct FactSet {
    /// Its name.
    pub name: String,
    /// The session, where all of it is one's.
    pub session: Option<String>,
    /// The workspace.
    pub workspace: Option<String>,
    /// What is in it, the oldest first.
    pub facts: Vec<Fact>,
}

fn path(places: &Places, set: &str) -> PathBuf {
    places.state.join(FOLDER).join(set)
}

/// What is in a set; nothing where there is none.
pub(super) fn read(places: &Places, set: &str) -> Result<Vec<Fact>, Error> {
    let path = path(places, set);
    let content = match read_regular(&path, LARGEST, OFlags::NOFOLLOW) {
        Ok((content, _)) => content,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(Error::io("read", &path, e)),
    };
    Ok(lines(&content, Marks::known(&places.state).as_ref()))
}

/// The facts of these lines. What nobody vouches for counts against the session, and never for it.
fn lines(content: &[u8], marks: Option<&Marks>) -> Vec<Fact> {
    let one = |line: &[u8]| {
        let (line, good) = mark_taken_off(std::str::from_utf8(line).ok()?, marks);
        let mut fact: Fact = serde_json::from_str(&line).ok()?;
        if !good {
            fact.yes.clear();
            fact.asked.clear();
            fact.back = None;
        }
        Some(fact)
    };
    content.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).filter_map(one).collect()
}

/// Adds a line.
pub(super) fn append(places: &Places, set: &str, fact: &Fact) -> Result<(), Error> {
    let folder = places.own_folder(FOLDER)?;
    let path = folder.join(set);
    let marks = Marks::of(&places.state)?;
    let line = serde_json::to_string(fact).map_err(Error::Json)?;
    let (mut file, length) = locked(&path, FlockOperation::LockShared)?;
    if length > LONG {
        drop(file);
        shorten(places, set, &path)?;
        (file, _) = locked(&path, FlockOperation::LockShared)?;
    } else if length == 0 {
        forget_old(&folder);
    }
    // A full disk may have left half a line behind: an empty line in front keeps it from spoiling this one.
    let whole = format!("\n{}\n", marks.put_on(&line));
    match file.write(whole.as_bytes()) {
        Ok(written) if written == whole.len() => Ok(()),
        Ok(_) => Err(Error::io("write", &path, std::io::Error::from(std::io::ErrorKind::WriteZero))),
        Err(e) => Err(Error::io("write", &path, e)),
    }
}

/// The file of a set, locked, and still the one of that name; and how long it is.
fn locked(path: &Path, how: FlockOperation) -> Result<(File, u64), Error> {
    for _ in 0..100 {
        let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let file = rustix::fs::open(path, flags | OFlags::NONBLOCK, Mode::RUSR | Mode::WUSR)
            .map_err(|e| Error::io("open", path, e))?;
        flock(&file, how).map_err(|e| Error::io("lock", path, e))?;
        let opened = fstat(&file).map_err(|e| Error::io("look at", path, e))?;
        let named = std::fs::symlink_metadata(path);
        if named.is_ok_and(|named| named.ino() == opened.st_ino && named.dev() == opened.st_dev) {
            return Ok((File::from(file), u64::try_from(opened.st_size).unwrap_or(0)));
        }
    }
    Err(Error::io("lock", path, std::io::Error::from(std::io::ErrorKind::WouldBlock)))
}

/// Writes a set anew with as little as says the same.
fn shorten(places: &Places, set: &str, path: &Path) -> Result<(), Error> {
    let (lock, length) = locked(path, FlockOperation::LockExclusive)?;
    if length > LONG {
        write(places, path, &shorter(read(places, set)?, set.starts_with("place-")))?;
    }
    drop(lock);
    Ok(())
}

fn write(places: &Places, path: &Path, facts: &[Fact]) -> Result<(), Error> {
    let marks = Marks::of(&places.state)?;
    let mut text = String::new();
    for fact in facts {
        let line = serde_json::to_string(fact).map_err(Error::Json)?;
        text.push_str(&marks.put_on(&line));
        text.push('\n');
    }
    crate::places::write_own(path, text.as_bytes())
}

/// The same facts in fewer lines: the last of each kind. Beyond the limits less is known, and so more may be.
fn shorter(facts: Vec<Fact>, shared: bool) -> Vec<Fact> {
    let old = now_ms().saturating_sub(SHARED_MS);
    let back: BTreeSet<String> = facts.iter().filter_map(|fact| fact.back.clone()).collect();
    let first =
        facts.iter().filter(|fact| !fact.areas.is_empty() || !fact.written.is_empty()).map(|fact| fact.time_ms).min();
    let (mut after, mut written, mut yes) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut areas: Vec<Area> = Vec::new();
    let mut dropped = false;
    let mut kept = Vec::new();
    for mut fact in facts.into_iter().rev() {
        if back.contains(&fact.id) || fact.back.is_some() || shared && fact.time_ms < old {
            continue;
        }
        fact.after.retain(|one| after.insert(one.clone()));
        fact.written.retain(|path| {
            let new = !written.contains(path);
            let room = written.len() < MOST_WRITTEN;
            dropped |= new && !room;
            new && room && written.insert(path.clone())
        });
        fact.yes.retain(|content| yes.len() < MOST_YES && yes.insert(content.clone()));
        fact.asked.clear();
        for area in std::mem::take(&mut fact.areas) {
            if areas.len() < MOST_AREAS && !areas.contains(&area) {
                areas.push(area);
            } else {
                dropped |= !areas.contains(&area);
            }
        }
        if !fact.after.is_empty() || !fact.written.is_empty() || !fact.yes.is_empty() {
            kept.push(fact);
        }
    }
    if dropped {
        areas = vec![Area::everywhere()];
    }
    if !areas.is_empty() || first.is_some() {
        // INVARIANT: what is not kept by name is kept by time, from the first on.
        let time_ms = first.unwrap_or_default();
        kept.push(Fact { id: fresh_id(), time_ms, command: "earlier calls".to_owned(), areas, ..Fact::default() });
    }
    kept.reverse();
    kept
}

/// Removes sets to which nothing was added for long. Only when a new one begins: that is rare.
fn forget_old(folder: &Path) {
    let Ok(listing) = std::fs::read_dir(folder) else { return };
    let old = SystemTime::now().checked_sub(REMEMBERED);
    for entry in listing.flatten().take(10_000) {
        let changed = entry.metadata().and_then(|meta| meta.modified()).ok();
        if changed.is_some_and(|changed| old.is_some_and(|old| changed < old)) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

pub(super) fn sets(places: &Places) -> Result<Vec<FactSet>, Error> {
    let folder = places.own_folder(FOLDER)?;
    let listing = std::fs::read_dir(&folder).map_err(|e| Error::io("list", &folder, e))?;
    let mut found = Vec::new();
    for entry in listing.flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        if !name.starts_with("session-") && !name.starts_with("place-") || name.contains('.') {
            continue;
        }
        let facts = read(places, &name)?;
        let session =
            if name.starts_with("session-") { facts.iter().rev().find_map(|f| f.session.clone()) } else { None };
        let workspace = facts.iter().rev().find_map(|fact| fact.workspace.clone());
        found.push(FactSet { name, session, workspace, facts });
    }
    found.sort_by_key(|set| std::cmp::Reverse(set.facts.last().map(|fact| fact.time_ms)));
    Ok(found)
}

pub(super) fn forget(places: &Places, session: &str) -> Result<usize, Error> {
    let mut dropped = 0;
    for set in sets(places)? {
        let of_session = |fact: &Fact| fact.session.as_deref() == Some(session);
        if !set.facts.iter().any(of_session) {
            continue;
        }
        let path = path(places, &set.name);
        let (lock, _) = locked(&path, FlockOperation::LockExclusive)?;
        let (gone, kept): (Vec<Fact>, Vec<Fact>) = read(places, &set.name)?.into_iter().partition(of_session);
        dropped += gone.len();
        write(places, &path, &kept)?;
        drop(lock);
    }
    Ok(dropped)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(id: u64, path: &str) -> Fact {
        Fact { id: id.to_string(), time_ms: now_ms() + id, written: vec![path.to_owned()], ..Fact::default() }
    }

    #[test]
    fn a_line_that_sayso_did_not_write_says_no_yes_and_takes_nothing_back() {
        let dir = tempfile::tempdir().unwrap();
        let places = Places::below(dir.path(), dir.path());
        append(&places, "session-x", &Fact { yes: vec!["good".into()], ..fact(1, "/w/Makefile") }).unwrap();
        let path = path(&places, "session-x");
        let mut content = std::fs::read(&path).unwrap();
        content.extend_from_slice(
            b"{\"id\":\"2\",\"yes\":[\"forged\"],\"back\":\"1\",\"written\":[\"/w/x\"]}\n{nonsense\n",
        );
        std::fs::write(&path, content).unwrap();
        let facts = read(&places, "session-x").unwrap();
        assert_eq!(facts.len(), 2);
        assert_eq!(facts[0].yes, ["good"]);
        assert!(facts[1].yes.is_empty() && facts[1].back.is_none());
        assert_eq!(facts[1].written, ["/w/x"], "what counts against a session counts whoever wrote it");
    }

    #[test]
    fn a_long_set_is_shortened_and_says_no_less() {
        let dir = tempfile::tempdir().unwrap();
        let places = Places::below(dir.path(), dir.path());
        for n in 0..3000_u64 {
            append(&places, "session-x", &fact(n, &format!("/w/some/rather/long/path/to/file-{}", n % 1500))).unwrap();
        }
        let length = std::fs::metadata(path(&places, "session-x")).unwrap().len();
        assert!(length < LONG * 2, "{length}");
        let facts = read(&places, "session-x").unwrap();
        assert!(
            facts.iter().any(|fact| fact.areas.contains(&Area::everywhere())),
            "what is no longer named is told by time"
        );
        assert!(facts.iter().any(|fact| fact.written.iter().any(|path| path.ends_with("file-1499"))));
    }
}
