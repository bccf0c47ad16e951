//! What was seen of an agent: that it runs a call as its hook rewrote it.
//!
//! A rewrite is no proof. Agents were seen to drop it while the Allow counted. So held allows begin only after
//! `sayso doctor --live` saw a canary held, on this very agent: its executable, unchanged, with the settings that it has.
//! Whatever differs, and a call that ran without its hold, voids the proof.

use crate::audit::{now_ms, seal};
use crate::files::read_regular;
use crate::places::write_own;
use crate::{Error, Places};
use rustix::fs::OFlags;
use sayso_policy::CanHold;
use serde::{Deserialize, Serialize};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

const FOLDER: &str = "hold/proof";
const LARGEST: usize = 64 * 1024;
/// What the seal is for.
const PURPOSE: &str = "sayso proof that an agent holds 1";
const SEAL: usize = blake3::OUT_LEN;

/// What was seen of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// The agent's executable, where it really is.
    pub program: PathBuf,
    /// Its device.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
    /// Its size in bytes.
    pub size: u64,
    /// When it was last changed, in seconds and nanoseconds. No program can set this time.
    pub changed: (i64, i64),
    /// The hash of the agent's settings.
    pub settings: String,
    /// How strongly the canary was held.
    #[serde(with = "level")]
    pub level: CanHold,
    /// When that was, in milliseconds since 1970.
    pub seen_ms: u64,
}

impl Proof {
    /// That this program, as it is now, and with these settings, was held like this.
    ///
    /// # Errors
    /// If the program cannot be looked at.
    pub fn of(program: &Path, settings: impl Into<String>, level: CanHold) -> Result<Self, Error> {
        let program = program.canonicalize().map_err(|error| Error::io("find", program, error))?;
        let meta = std::fs::metadata(&program).map_err(|error| Error::io("look at", &program, error))?;
        Ok(Self {
            device: meta.dev(),
            inode: meta.ino(),
            size: meta.size(),
            changed: (meta.ctime(), meta.ctime_nsec()),
            settings: settings.into(),
            level,
            seen_ms: now_ms(),
            program,
        })
    }

    /// Whether the program is still the one that was seen, with settings of this hash.
    #[must_use]
    pub fn holds(&self, settings: &str) -> bool {
        let now = Self::of(&self.program, settings, self.level);
        now.is_ok_and(|now| Self { seen_ms: self.seen_ms, ..now } == *self)
    }
}

/// What was seen of this agent, if anything was and nobody else can have written it.
#[must_use]
pub fn load(places: &Places, agent: &str) -> Option<Proof> {
    let path = file(places, agent)?;
    let (bytes, meta) = read_regular(&path, LARGEST, OFlags::NOFOLLOW).ok()?;
    if meta.uid() != rustix::process::geteuid().as_raw() || meta.mode() & 0o077 != 0 {
        return None;
    }
    let (sealed, content) = bytes.split_at_checked(SEAL)?;
    let sealed = <[u8; SEAL]>::try_from(sealed).ok()?;
    let own = seal(&places.state, PURPOSE, &[agent.as_bytes(), content]).ok()?;
    (own == blake3::Hash::from_bytes(sealed)).then(|| serde_json::from_slice(content).ok())?
}

/// Keeps what was seen of an agent, in place of what was seen before.
///
/// # Errors
/// If it cannot be kept.
pub fn keep(places: &Places, agent: &str, proof: &Proof) -> Result<(), Error> {
    let not_kept = |why: &str| Error::Unsafe { path: proof.program.clone(), why: why.to_owned() };
    let path = file(places, agent).ok_or_else(|| not_kept("its agent has no name"))?;
    if proof.program.to_str().is_none() {
        return Err(not_kept("its path is not UTF-8"));
    }
    places.own_folder(FOLDER)?;
    let content = serde_json::to_vec(proof)?;
    let sealed = seal(&places.state, PURPOSE, &[agent.as_bytes(), &content])?;
    write_own(&path, &[sealed.as_bytes().as_slice(), &content].concat())
}

/// Forgets what was seen of an agent: from here on nothing of it is held until it is seen again. Tells whether
/// there was something.
///
/// # Errors
/// If it cannot be forgotten.
pub fn void(places: &Places, agent: &str) -> Result<bool, Error> {
    let Some(path) = file(places, agent) else { return Ok(false) };
    match std::fs::remove_file(&path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Error::io("remove", &path, error)),
    }
}

/// How strongly this agent, with settings of this hash, can hold what its hook lets pass.
#[must_use]
pub fn can_hold(places: &Places, agent: &str, settings: &str) -> CanHold {
    load(places, agent).filter(|proof| proof.holds(settings)).map_or(CanHold::No, |proof| proof.level)
}

/// Agents' names are Sayso's own words; nothing else becomes a path.
fn file(places: &Places, agent: &str) -> Option<PathBuf> {
    let plain = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-';
    let name = !agent.is_empty() && agent.len() <= 64 && Path::new(agent).as_os_str().as_bytes().iter().all(plain);
    name.then(|| places.state.join(FOLDER).join(agent))
}

mod level {
    use sayso_policy::CanHold;
    use serde::{Deserialize as _, Deserializer, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
    pub(super) fn serialize<S: Serializer>(level: &CanHold, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(match level {
            CanHold::No => "no",
            CanHold::Files => "files",
            CanHold::Whole => "whole",
        })
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<CanHold, D::Error> {
        Ok(match String::deserialize(from)?.as_str() {
            "whole" => CanHold::Whole,
            "files" => CanHold::Files,
            _ => CanHold::No,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn room() -> (tempfile::TempDir, Places, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let places = Places::below(dir.path(), dir.path());
        let program = dir.path().join("agent");
        std::fs::write(&program, "one").unwrap();
        keep(&places, "codex", &Proof::of(&program, "h1", CanHold::Whole).unwrap()).unwrap();
        (dir, places, program)
    }

    #[test]
    fn a_proof_counts_for_the_agent_that_was_seen() {
        let (_dir, places, _) = room();
        assert_eq!(can_hold(&places, "codex", "h1"), CanHold::Whole);
        assert_eq!(can_hold(&places, "codex", "h2"), CanHold::No);
        assert_eq!(can_hold(&places, "gemini", "h1"), CanHold::No);
        assert_eq!(load(&places, "../codex"), None);
    }

    #[test]
    fn any_change_of_the_program_voids_it() {
        let (dir, places, program) = room();
        // The same content in a file of its own.
        let other = dir.path().join("other");
        std::fs::write(&other, "one").unwrap();
        std::fs::rename(&other, &program).unwrap();
        assert_eq!(can_hold(&places, "codex", "h1"), CanHold::No);

        let (_dir, places, program) = room();
        let times = std::fs::metadata(&program).unwrap().modified().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
        let file = std::fs::File::options().write(true).open(&program).unwrap();
        std::io::Write::write_all(&mut &file, b"two").unwrap();
        file.set_modified(times).unwrap();
        assert_eq!(can_hold(&places, "codex", "h1"), CanHold::No);

        let (_dir, places, program) = room();
        std::fs::remove_file(program).unwrap();
        assert_eq!(can_hold(&places, "codex", "h1"), CanHold::No);
    }

    #[test]
    fn a_voided_proof_is_gone() {
        let (_dir, places, _) = room();
        assert!(void(&places, "codex").unwrap());
        assert!(!void(&places, "codex").unwrap());
        assert_eq!(can_hold(&places, "codex", "h1"), CanHold::No);
    }

    #[test]
    fn a_proof_that_sayso_did_not_write_is_none() {
        let (_dir, places, _) = room();
        let path = file(&places, "codex").unwrap();
        std::fs::copy(&path, path.with_file_name("gemini")).unwrap();
        assert_eq!(load(&places, "gemini"), None);
        let bytes = std::fs::read(&path).unwrap();
        let content = String::from_utf8_lossy(&bytes[SEAL..]).replace("h1", "h2");
        std::fs::write(&path, [&bytes[..SEAL], content.as_bytes()].concat()).unwrap();
        assert_eq!(load(&places, "codex"), None);
        std::fs::write(&path, &bytes).unwrap();
        assert!(load(&places, "codex").is_some());
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(load(&places, "codex"), None);
    }
}
