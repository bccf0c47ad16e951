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

mod files;
mod kept;
mod number;
mod refused;
#[cfg(test)]
mod tests;

use crate::audit::seal;
use crate::files::read_regular;
use crate::places::write_own;
use crate::{Error, Permit, Places};
use files::{State, is_older, names, write_new};
use kept::{Kept, real};
use number::{fresh_number, hash_of, is_name, name_of, name_of_call};
use rustix::fs::{Mode, OFlags};
use sayso_policy::Actor;
use sayso_shell::bounds::Need;
use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(super) use kept::Raw;
pub use refused::{Refused, Why};

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
    /// Whom it was judged for, whole: by it the policy may have other bounds.
    pub actor: Option<Box<Actor>>,
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
