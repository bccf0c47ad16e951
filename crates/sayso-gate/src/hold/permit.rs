//! Permits of held runs: a hook hands out the number of one, and `sayso run` redeems it.
//!
//! A held Allow counts only under its hold, and the hook that says it is gone when the run begins. So the [`Permit`] is
//! spent on a file in Sayso's own folder that stands for one run: of these words, in this folder, for some minutes.
//! `sayso run --permit` takes it away and runs what it says.
//!
//! What an attacker would try: another command under the same number (the words and the folder are compared, byte for
//! byte), the same command twice (the file is renamed before it is read, and only one rename succeeds), a file of its own
//! (it must be this user's alone and sealed with Sayso's key), a number found by listing the folder (files are named by a hash
//! of it), an old one (it ends with its time, by two clocks, and with the boot), and so many that the disk is full (they are
//! counted).
//!
//! INVARIANT: a permit is redeemed at most once, wherever a process is killed: what comes first is the rename.

use crate::audit::{now_ms, seal};
use crate::files::read_regular;
use crate::places::write_own;
use crate::{Error, Permit, Places};
use rustix::fs::{Mode, OFlags};
use sayso_shell::bounds::Need;
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// How long a permit is good for: agents start a call right after their hook has answered.
pub const LIFETIME: Duration = Duration::from_secs(10 * 60);
/// How many may wait to be redeemed. Where there are more, nothing is let through.
const MOST_OPEN: usize = 512;
/// How long it is remembered whether one was redeemed: calls end late.
const REMEMBERED: Duration = Duration::from_secs(24 * 60 * 60);
/// How often what is older is looked for.
const SWEPT_EVERY: Duration = Duration::from_secs(60 * 60);
/// How long an end that was reported waits for a run that has just begun: agents report that a program was put into the
/// background while it still starts.
const PATIENCE: Duration = Duration::from_millis(300);
/// The largest file that is read.
const LARGEST: usize = 64 * 1024;
/// What the seal is for.
const PURPOSE: &str = "sayso permit of a held run 1";
const SEAL: usize = blake3::OUT_LEN;

/// What a permit is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// The program and its arguments. Only their hash is kept: they may hold secrets.
    pub words: Vec<OsString>,
    /// Where it runs.
    pub folder: PathBuf,
    /// The session that it belongs to.
    pub session: Option<String>,
    /// The agent.
    pub agent: Option<String>,
    /// The agent's own id of the call.
    pub call_id: Option<String>,
    /// The workspace that it was judged for.
    pub workspace: PathBuf,
    /// The home folder that it was judged for.
    pub home: Option<PathBuf>,
    /// The policy that judged it.
    pub policy_version: String,
    /// The id of the decision's record.
    pub record: String,
    /// How much of the bounds must be kept.
    pub need: Need,
    /// Whether the Allow counts only under the hold.
    pub required: bool,
    /// When it ends, in milliseconds since 1970. At most [`LIFETIME`] from when it is issued.
    pub expires_ms: u64,
}

/// The permits of one user.
#[derive(Clone, Debug)]
pub struct HoldPermits {
    places: Places,
}

/// What became of the permit of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redemption {
    /// `sayso run` took it.
    Redeemed,
    /// Nobody came for it: if the call ran, it ran without its hold. Nobody can come for it any more.
    NotRedeemed,
}

/// A permit that is not honoured. Nothing runs.
#[derive(Debug, thiserror::Error)]
#[error("{why}")]
pub struct Refused {
    /// Why.
    pub why: Why,
    /// What the permit was for, where it is one.
    pub terms: Option<Box<Terms>>,
}

/// Why a permit is not honoured.
#[derive(Debug, thiserror::Error)]
pub enum Why {
    /// There is none with this number.
    #[error("there is no such permit; it may have been used, or have expired")]
    Unknown,
    /// It was redeemed before.
    #[error("the permit has been used already; each is good for one run")]
    Used,
    /// Its time is over.
    #[error("the permit has expired")]
    Expired,
    /// It is for another command.
    #[error("the permit is for another command")]
    OtherWords,
    /// It is for another folder.
    #[error("the permit is for another folder")]
    OtherFolder,
    /// Somebody else may have written it.
    #[error("the permit's file is not safe to use: {0}")]
    NotSafe(&'static str),
    /// It does not carry Sayso's seal.
    #[error("the permit was not made by Sayso")]
    Forged,
    /// The system refused.
    #[error("the permit cannot be read: {0}")]
    Failed(#[from] Error),
}

impl Why {
    /// A stable word for it.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Used => "used",
            Self::Expired => "expired",
            Self::OtherWords => "other-words",
            Self::OtherFolder => "other-folder",
            Self::NotSafe(_) => "not-safe",
            Self::Forged => "forged",
            Self::Failed(_) => "failed",
        }
    }
}

impl From<Why> for Refused {
    fn from(why: Why) -> Self {
        Self { why, terms: None }
    }
}

/// Where a permit is.
#[derive(Clone, Copy)]
enum State {
    /// Nobody has come for it.
    Open,
    /// It was redeemed.
    Spent,
    /// Those of a call, by names.
    Calls,
}

impl State {
    fn folder(self) -> &'static str {
        match self {
            Self::Open => "hold/permits/open",
            Self::Spent => "hold/permits/spent",
            Self::Calls => "hold/permits/calls",
        }
    }
}

impl HoldPermits {
    /// The permits of this user.
    #[must_use]
    pub fn at(places: &Places) -> Self {
        Self { places: places.clone() }
    }

    /// Spends an Allow on one run, and returns the number under which it is redeemed.
    ///
    /// # Errors
    /// If it cannot be kept, or too many wait. The call must not run then.
    pub fn issue(&self, permit: Permit, terms: Terms) -> Result<String, Error> {
        let open = self.folder(State::Open)?;
        self.folder(State::Spent)?;
        self.make_room(&open)?;
        let id = fresh_number(&open)?;
        let name = name_of(&id);
        // The call's own file first: a permit of which nobody can be told is not handed out.
        if let Some(call) = terms.call_id.as_deref() {
            self.remember(terms.agent.as_deref(), terms.session.as_deref(), call, &name)?;
        }
        let path = open.join(&name);
        let content = self.sealed(&name, &Kept::of(&terms)?)?;
        permit.spend(|| write_new(&path, &content))?;
        Ok(id)
    }

    /// Takes a permit away, for these words in this folder. Whatever comes of it, it is gone.
    ///
    /// # Errors
    /// Why it is not honoured: nothing may run.
    pub fn redeem(&self, id: &str, words: &[OsString], folder: &Path) -> Result<Terms, Refused> {
        let (open, spent) = (self.path(State::Open), self.path(State::Spent));
        let name = name_of(id);
        let spent = spent.join(&name);
        if let Err(error) = std::fs::rename(open.join(&name), &spent) {
            let why = match error.kind() {
                std::io::ErrorKind::NotFound if std::fs::symlink_metadata(&spent).is_ok() => Why::Used,
                std::io::ErrorKind::NotFound => Why::Unknown,
                _ => Why::Failed(Error::io("take", &open, error)),
            };
            return Err(why.into());
        }
        let kept = self.read(&name, &spent)?;
        if kept.call_id.is_none() {
            // Nobody will ask what became of it.
            let _ = std::fs::remove_file(&spent);
        }
        let same_words = kept.words == hash_of(words);
        let why = match () {
            () if kept.is_over() => Some(Why::Expired),
            () if !same_words => Some(Why::OtherWords),
            () if kept.folder.path() != real(folder) => Some(Why::OtherFolder),
            () => None,
        };
        let terms = kept.terms(if same_words { words.to_vec() } else { Vec::new() });
        match why {
            None => Ok(terms),
            Some(why) => Err(Refused { why, terms: Some(Box::new(terms)) }),
        }
    }

    /// What became of the permits of a call, now that its end is reported. `None`: it had none. Asked once: what was not
    /// redeemed cannot be any more, and all of it is forgotten.
    #[must_use]
    pub fn outcome(&self, agent: Option<&str>, session: Option<&str>, call_id: &str) -> Option<Redemption> {
        let calls = self.path(State::Calls).join(name_of_call(agent, session, call_id));
        let (text, _) = read_regular(&calls, LARGEST, OFlags::NOFOLLOW).ok()?;
        let names: Vec<&str> = std::str::from_utf8(&text).ok()?.lines().filter(|name| is_name(name)).collect();
        let (open, spent) = (self.path(State::Open), self.path(State::Spent));
        let there = |folder: &Path, name: &str| std::fs::symlink_metadata(folder.join(name)).is_ok();
        let waits = || names.iter().any(|name| there(&open, name)) && !names.iter().any(|name| there(&spent, name));
        let began = std::time::Instant::now();
        while waits() && began.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(10));
        }
        let mut redeemed = false;
        for name in &names {
            // Whoever removes it from there first has it.
            let _ = std::fs::remove_file(open.join(name));
            redeemed |= there(&spent, name);
        }
        let _ = std::fs::remove_file(&calls);
        for name in &names {
            let _ = std::fs::remove_file(spent.join(name));
        }
        match redeemed {
            true => Some(Redemption::Redeemed),
            false => (!names.is_empty()).then_some(Redemption::NotRedeemed),
        }
    }

    fn path(&self, state: State) -> PathBuf {
        self.places.state.join(state.folder())
    }

    fn folder(&self, state: State) -> Result<PathBuf, Error> {
        self.places.own_folder(state.folder())
    }

    /// The content of a permit's file: a seal over its name and what follows.
    fn sealed(&self, name: &str, kept: &Kept) -> Result<Vec<u8>, Error> {
        let content = serde_json::to_vec(kept)?;
        Ok([self.seal(name, &content)?.as_bytes().as_slice(), &content].concat())
    }

    fn seal(&self, name: &str, content: &[u8]) -> Result<blake3::Hash, Error> {
        seal(&self.places.state, PURPOSE, &[name.as_bytes(), content])
    }

    /// What is kept of a permit, if nobody else can have written it.
    fn read(&self, name: &str, path: &Path) -> Result<Kept, Why> {
        let (bytes, meta) =
            read_regular(path, LARGEST, OFlags::NOFOLLOW).map_err(|error| Error::io("read", path, error))?;
        if meta.uid() != rustix::process::geteuid().as_raw() {
            return Err(Why::NotSafe("it belongs to another user"));
        }
        if meta.mode() & 0o077 != 0 {
            return Err(Why::NotSafe("others can open it"));
        }
        if meta.nlink() > 1 {
            return Err(Why::NotSafe("it has a second name"));
        }
        let (sealed, content) = bytes.split_at_checked(SEAL).ok_or(Why::Forged)?;
        let sealed = <[u8; SEAL]>::try_from(sealed).map_err(|_| Why::Forged)?;
        // The comparison of hashes takes the same time wherever they differ.
        if self.seal(name, content)? != blake3::Hash::from_bytes(sealed) {
            return Err(Why::Forged);
        }
        serde_json::from_slice(content).map_err(|_| Why::Forged)
    }

    /// Notes a permit of a call.
    fn remember(&self, agent: Option<&str>, session: Option<&str>, call: &str, name: &str) -> Result<(), Error> {
        let path = self.folder(State::Calls)?.join(name_of_call(agent, session, call));
        let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let file = rustix::fs::open(&path, flags | OFlags::NONBLOCK, Mode::RUSR | Mode::WUSR)
            .map_err(|error| Error::io("open", &path, error))?;
        std::fs::File::from(file)
            .write_all(format!("{name}\n").as_bytes())
            .map_err(|error| Error::io("write", &path, error))
    }

    /// Forgets what is over, and fails where too many are left.
    fn make_room(&self, open: &Path) -> Result<(), Error> {
        self.forget_old();
        let names = names(open)?;
        if names.len() < MOST_OPEN {
            return Ok(());
        }
        let over = |path: &Path| is_older(path, LIFETIME).unwrap_or(true);
        let left = names.iter().filter(|path| !(over(path) && std::fs::remove_file(path).is_ok())).count();
        if left < MOST_OPEN {
            return Ok(());
        }
        let why = format!("{left} permits of held runs wait to be redeemed, which is the most");
        Err(Error::Unsafe { path: open.to_owned(), why })
    }

    /// Now and then, by a mark on disk: each hook is a process of its own.
    fn forget_old(&self) {
        let mark = self.places.state.join("hold/permits/swept");
        if is_older(&mark, SWEPT_EVERY) == Some(false) {
            return;
        }
        // Marked first: of several that come at once one looks. Without a mark each does, and nothing is less safe.
        let _ = write_own(&mark, b"");
        // Calls before permits: one whose permits are gone would look as if nobody had come for them.
        for (state, age) in [(State::Calls, REMEMBERED), (State::Spent, REMEMBERED), (State::Open, LIFETIME)] {
            for path in names(&self.path(state)).unwrap_or_default() {
                if is_older(&path, age) == Some(true) {
                    let _ = std::fs::remove_file(path);
                }
            }
        }
    }
}

/// A permit as it is kept.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    /// Their hash.
    words: String,
    folder: Raw,
    session: Option<String>,
    agent: Option<String>,
    call_id: Option<String>,
    workspace: Raw,
    home: Option<Raw>,
    policy: String,
    record: String,
    whole: bool,
    required: bool,
    issued_ms: u64,
    expires_ms: u64,
    /// Since the machine was started: the clock on the wall can be set.
    issued_up_ms: u64,
    /// This start of the machine. A crash may bring a file back that was renamed before it.
    boot: String,
}

impl Kept {
    fn of(terms: &Terms) -> Result<Self, Error> {
        let issued_ms = now_ms();
        Ok(Self {
            words: hash_of(&terms.words),
            folder: Raw::of(&real(&terms.folder)),
            session: terms.session.clone(),
            agent: terms.agent.clone(),
            call_id: terms.call_id.clone(),
            workspace: Raw::of(&terms.workspace),
            home: terms.home.as_deref().map(Raw::of),
            policy: terms.policy_version.clone(),
            record: terms.record.clone(),
            whole: terms.need == Need::Whole,
            required: terms.required,
            issued_ms,
            expires_ms: terms.expires_ms.min(issued_ms.saturating_add(millis(LIFETIME))),
            issued_up_ms: up_ms(),
            boot: boot()?,
        })
    }

    fn is_over(&self) -> bool {
        let (now, up) = (now_ms(), up_ms());
        let lifetime = self.expires_ms.saturating_sub(self.issued_ms);
        let by_wall = now < self.issued_ms || now >= self.expires_ms;
        let by_machine = up < self.issued_up_ms || up - self.issued_up_ms >= lifetime;
        by_wall || by_machine || boot().map_or(true, |boot| boot != self.boot)
    }

    fn terms(self, words: Vec<OsString>) -> Terms {
        Terms {
            words,
            folder: self.folder.path(),
            session: self.session,
            agent: self.agent,
            call_id: self.call_id,
            workspace: self.workspace.path(),
            home: self.home.as_ref().map(Raw::path),
            policy_version: self.policy,
            record: self.record,
            need: if self.whole { Need::Whole } else { Need::Files },
            required: self.required,
            expires_ms: self.expires_ms,
        }
    }
}

/// A path in JSON, whatever its bytes.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Raw {
    Text(String),
    Bytes(Vec<u8>),
}

impl Raw {
    pub(super) fn of(path: &Path) -> Self {
        match path.to_str() {
            Some(text) => Self::Text(text.to_owned()),
            None => Self::Bytes(path.as_os_str().as_bytes().to_vec()),
        }
    }

    pub(super) fn path(&self) -> PathBuf {
        match self {
            Self::Text(text) => PathBuf::from(text),
            Self::Bytes(bytes) => PathBuf::from(OsString::from_vec(bytes.clone())),
        }
    }
}

/// Where a folder really is, whichever way it was named.
fn real(folder: &Path) -> PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}

/// Every word with its length, so that no two commands read alike.
fn hash_of(words: &[impl AsRef<OsStr>]) -> String {
    hash("sayso words of a held run 1", words.iter().map(|word| word.as_ref().as_bytes()))
}

fn hash<'a>(purpose: &str, parts: impl Iterator<Item = &'a [u8]>) -> String {
    let mut hasher = blake3::Hasher::new_derive_key(purpose);
    for part in parts {
        hasher.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize().to_hex().to_string()
}

/// 128 bits that nobody can guess.
fn fresh_number(folder: &Path) -> Result<String, Error> {
    let mut bits = [0u8; 16];
    getrandom::fill(&mut bits).map_err(|e| Error::io("use", folder, std::io::Error::other(e.to_string())))?;
    Ok(bits.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The name of a permit's file: who lists the folder learns no number from it.
fn name_of(id: &str) -> String {
    hash("sayso number of a held run 1", std::iter::once(id.as_bytes()))
}

fn name_of_call(agent: Option<&str>, session: Option<&str>, call: &str) -> String {
    let given = |part: Option<&'static str>| part.unwrap_or_default().as_bytes();
    let parts = [
        given(agent.map(|_| "agent")),
        agent.unwrap_or_default().as_bytes(),
        given(session.map(|_| "session")),
        session.unwrap_or_default().as_bytes(),
        call.as_bytes(),
    ];
    hash("sayso call of a held run 1", parts.into_iter())
}

/// Writes a file that is not there yet. It need not survive a crash of the machine, and half of one has no seal.
fn write_new(path: &Path, content: &[u8]) -> Result<(), Error> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let written = rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR)
        .map_err(std::io::Error::from)
        .and_then(|file| std::fs::File::from(file).write_all(content));
    written.map_err(|error| Error::io("write", path, error))
}

fn is_name(name: &str) -> bool {
    name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn names(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let listing = std::fs::read_dir(folder).map_err(|error| Error::io("list", folder, error))?;
    Ok(listing.filter_map(|entry| Some(entry.ok()?.path())).collect())
}

/// Whether a file was made longer ago; `None`: it is not there. One of the future counts as old.
fn is_older(path: &Path, age: Duration) -> Option<bool> {
    let made = std::fs::symlink_metadata(path).and_then(|meta| meta.modified()).ok()?;
    Some(SystemTime::now().duration_since(made).map_or(true, |ago| ago >= age))
}

fn boot() -> Result<String, Error> {
    let path = Path::new("/proc/sys/kernel/random/boot_id");
    match std::fs::read_to_string(path) {
        Ok(id) => Ok(id.trim().to_owned()),
        // Not every machine has it.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(Error::io("read", path, error)),
    }
}

/// Milliseconds since the machine was started, sleep included.
fn up_ms() -> u64 {
    #[cfg(target_os = "linux")]
    let clock = rustix::time::ClockId::Boottime;
    #[cfg(not(target_os = "linux"))]
    let clock = rustix::time::ClockId::Monotonic;
    let up = rustix::time::clock_gettime(clock);
    let millis = i128::from(up.tv_sec) * 1000 + i128::from(up.tv_nsec) / 1_000_000;
    u64::try_from(millis).unwrap_or(0)
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sayso_policy::{Answer, Decision, Verdict};
    use std::os::unix::fs::PermissionsExt as _;

    fn allow() -> Permit {
        let decision = Decision {
            verdict: Verdict::Allow,
            answer: Answer::Allow,
            would: None,
            unanswered: None,
            hold: None,
            reasons: Vec::new(),
            effects: Vec::new(),
            policy_version: "p1".to_owned(),
            deeds: None,
            risk: None,
        };
        Permit::of(Some("digest"), &decision).unwrap()
    }

    struct Room {
        dir: tempfile::TempDir,
        permits: HoldPermits,
    }

    impl Room {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let permits = HoldPermits::at(&Places::below(dir.path(), dir.path()));
            Self { dir, permits }
        }

        fn terms(&self) -> Terms {
            Terms {
                words: words(&["/bin/sh", "-c", "make test"]),
                folder: self.dir.path().to_owned(),
                session: Some("s1".to_owned()),
                agent: Some("claude-code".to_owned()),
                call_id: Some("call-1".to_owned()),
                workspace: PathBuf::from(OsStr::from_bytes(b"/w/\xff\n")),
                home: Some("/home/ann".into()),
                policy_version: "p1".to_owned(),
                record: "r1".to_owned(),
                need: Need::Whole,
                required: true,
                expires_ms: now_ms() + 60_000,
            }
        }

        fn issue(&self) -> String {
            self.permits.issue(allow(), self.terms()).unwrap()
        }

        fn redeem(&self, id: &str) -> Result<Terms, Refused> {
            self.permits.redeem(id, &self.terms().words, self.dir.path())
        }

        fn code(&self, id: &str) -> &'static str {
            self.redeem(id).unwrap_err().why.code()
        }

        fn file(&self, id: &str) -> PathBuf {
            self.permits.path(State::Open).join(name_of(id))
        }

        fn count(&self, state: State) -> usize {
            std::fs::read_dir(self.permits.path(state)).map_or(0, Iterator::count)
        }
    }

    fn words(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    #[test]
    fn a_permit_is_redeemed_once() {
        let room = Room::new();
        let id = room.issue();
        assert_eq!(id.len(), 32);
        let terms = room.redeem(&id).unwrap();
        assert_eq!(
            Terms { expires_ms: 0, ..terms },
            Terms { expires_ms: 0, folder: real(room.dir.path()), ..room.terms() }
        );
        assert_eq!(room.code(&id), "used");
        assert_eq!(room.code("0123456789abcdef0123456789abcdef"), "unknown");
        for id in ["", "../../spool.key", "\u{0}", &"a".repeat(100_000)] {
            assert_eq!(room.code(id), "unknown");
        }
    }

    #[test]
    fn nothing_on_disk_tells_the_number_or_the_words() {
        let room = Room::new();
        let id = room.issue();
        let path = room.file(&id);
        assert!(!path.to_string_lossy().contains(&id));
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        assert!(!text.contains(&id) && !text.contains("make test"), "{text}");
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(std::fs::metadata(path.parent().unwrap()).unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn another_command_or_folder_is_refused_and_the_permit_is_gone() {
        let room = Room::new();
        for other in [
            words(&["/bin/sh", "-c", "make test "]),
            words(&["/bin/sh", "-c make test"]),
            words(&["/bin/sh", "-c", "make test", ""]),
            words(&[]),
        ] {
            let id = room.issue();
            let refused = room.permits.redeem(&id, &other, room.dir.path()).unwrap_err();
            assert_eq!(refused.why.code(), "other-words", "{other:?}");
            assert_eq!(refused.terms.unwrap().record, "r1");
            assert_eq!(room.code(&id), "used");
        }
        let id = room.issue();
        let refused = room.permits.redeem(&id, &room.terms().words, Path::new("/")).unwrap_err();
        assert_eq!(refused.why.code(), "other-folder");
    }

    #[test]
    fn a_folder_may_be_named_in_another_way() {
        let room = Room::new();
        let (real, link) = (room.dir.path().join("real"), room.dir.path().join("link"));
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let terms = Terms { folder: link, ..room.terms() };
        let id = room.permits.issue(allow(), terms).unwrap();
        assert!(room.permits.redeem(&id, &room.terms().words, &real).is_ok());
    }

    #[test]
    fn an_expired_permit_is_refused() {
        let room = Room::new();
        let id = room.permits.issue(allow(), Terms { expires_ms: now_ms(), ..room.terms() }).unwrap();
        assert_eq!(room.code(&id), "expired");
        // Nobody gets longer than the limit.
        let id = room.permits.issue(allow(), Terms { expires_ms: u64::MAX, ..room.terms() }).unwrap();
        assert!(room.redeem(&id).unwrap().expires_ms <= now_ms() + millis(LIFETIME));
    }

    #[test]
    fn a_permit_ends_with_the_machines_clock_and_with_its_start() {
        let room = Room::new();
        let kept = Kept::of(&room.terms()).unwrap();
        assert!(!kept.is_over());
        let up = kept.issued_up_ms;
        assert!(Kept { issued_up_ms: up.saturating_sub(61_000), ..Kept::of(&room.terms()).unwrap() }.is_over());
        assert!(Kept { issued_up_ms: up + 60_000, ..Kept::of(&room.terms()).unwrap() }.is_over());
        assert!(Kept { issued_ms: now_ms() + 60_000, ..Kept::of(&room.terms()).unwrap() }.is_over());
        assert!(Kept { boot: "another".to_owned(), ..Kept::of(&room.terms()).unwrap() }.is_over());
    }

    #[test]
    fn a_file_that_somebody_else_could_have_written_is_refused() {
        let room = Room::new();
        let id = room.issue();
        std::fs::set_permissions(room.file(&id), std::fs::Permissions::from_mode(0o640)).unwrap();
        assert_eq!(room.code(&id), "not-safe");

        let id = room.issue();
        std::fs::hard_link(room.file(&id), room.dir.path().join("twin")).unwrap();
        assert_eq!(room.code(&id), "not-safe");

        let id = room.issue();
        let elsewhere = room.dir.path().join("elsewhere");
        std::fs::rename(room.file(&id), &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, room.file(&id)).unwrap();
        assert_eq!(room.code(&id), "failed");

        let id = room.issue();
        std::fs::remove_file(room.file(&id)).unwrap();
        std::fs::create_dir(room.file(&id)).unwrap();
        assert_eq!(room.code(&id), "failed");
    }

    #[test]
    fn a_forged_or_changed_file_is_refused() {
        let room = Room::new();
        // Another key.
        let id = room.issue();
        let own = std::fs::read(room.file(&id)).unwrap();
        let (seal, content) = own.split_at(SEAL);
        let changed = String::from_utf8_lossy(content).replace("\"whole\":true", "\"whole\":false").into_bytes();
        assert_ne!(changed, content);
        std::fs::write(room.file(&id), [seal, &changed].concat()).unwrap();
        assert_eq!(room.code(&id), "forged");
        for bytes in [&b""[..], b"{}", &own[..SEAL], &own[..own.len() - 1]] {
            let id = room.issue();
            std::fs::write(room.file(&id), bytes).unwrap();
            assert_eq!(room.code(&id), "forged");
        }
        // A file under another number's name.
        let (one, two) = (room.issue(), room.issue());
        std::fs::rename(room.file(&one), room.file(&two)).unwrap();
        assert_eq!(room.code(&two), "forged");
    }

    #[test]
    fn of_many_that_come_at_once_one_gets_it() {
        let room = Room::new();
        for _ in 0..20 {
            let id = room.issue();
            let won = std::thread::scope(|scope| {
                let all: Vec<_> = (0..8).map(|_| scope.spawn(|| room.redeem(&id).is_ok())).collect();
                all.into_iter().map(|one| one.join().unwrap()).filter(|won| *won).count()
            });
            assert_eq!(won, 1);
        }
    }

    #[test]
    fn their_number_is_bounded() {
        let room = Room::new();
        for _ in 0..MOST_OPEN {
            room.issue();
        }
        assert!(matches!(room.permits.issue(allow(), room.terms()), Err(Error::Unsafe { .. })));
        assert_eq!(room.count(State::Open), MOST_OPEN);
        // Those that are over make room.
        let old = SystemTime::now() - LIFETIME * 2;
        for path in names(&room.permits.path(State::Open)).unwrap().iter().take(3) {
            std::fs::File::open(path).unwrap().set_modified(old).unwrap();
        }
        room.issue();
        assert_eq!(room.count(State::Open), MOST_OPEN - 2);
    }

    #[test]
    fn the_end_of_a_call_tells_whether_its_permit_was_redeemed() {
        let room = Room::new();
        let outcome = |call| room.permits.outcome(Some("claude-code"), Some("s1"), call);
        assert_eq!(outcome("call-1"), None);
        let id = room.issue();
        room.redeem(&id).unwrap();
        assert_eq!(outcome("call-2"), None);
        assert_eq!(room.permits.outcome(None, Some("s1"), "call-1"), None);
        assert_eq!(outcome("call-1"), Some(Redemption::Redeemed));
        assert_eq!(outcome("call-1"), None);
        // Nobody came, and nobody can any more.
        let id = room.issue();
        assert_eq!(outcome("call-1"), Some(Redemption::NotRedeemed));
        assert_eq!(room.code(&id), "unknown");
        // A hook that was asked twice has handed out two, and the agent used one.
        let (one, _two) = (room.issue(), room.issue());
        room.redeem(&one).unwrap();
        assert_eq!(outcome("call-1"), Some(Redemption::Redeemed));
        for state in [State::Open, State::Spent, State::Calls] {
            assert_eq!(room.count(state), 0, "{}", state.folder());
        }
    }

    #[test]
    fn an_expired_permit_was_not_redeemed() {
        let room = Room::new();
        let id = room.issue();
        std::fs::remove_file(room.file(&id)).unwrap();
        let outcome = room.permits.outcome(Some("claude-code"), Some("s1"), "call-1");
        assert_eq!(outcome, Some(Redemption::NotRedeemed));
    }

    #[test]
    fn a_run_of_no_call_leaves_nothing_behind() {
        let room = Room::new();
        let id = room.permits.issue(allow(), Terms { call_id: None, ..room.terms() }).unwrap();
        room.redeem(&id).unwrap();
        assert_eq!((room.count(State::Open), room.count(State::Spent), room.count(State::Calls)), (0, 0, 0));
        assert_eq!(room.code(&id), "unknown");
    }

    #[test]
    fn old_ones_are_forgotten() {
        let room = Room::new();
        let (one, two) = (room.issue(), room.issue());
        room.redeem(&one).unwrap();
        let old = SystemTime::now() - REMEMBERED * 2;
        let spent = room.permits.path(State::Spent).join(name_of(&one));
        for path in [&spent, &room.file(&two)] {
            std::fs::File::open(path).unwrap().set_modified(old).unwrap();
        }
        std::fs::remove_file(room.dir.path().join(".local/state/sayso/hold/permits/swept")).unwrap();
        room.issue();
        assert!(!spent.exists() && !room.file(&two).exists());
    }
}
