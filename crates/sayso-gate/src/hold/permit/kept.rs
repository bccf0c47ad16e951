//! A permit as its file holds it, and until when it is good.

use super::number::hash_of;
use super::{LIFETIME, Terms};
use crate::Error;
use crate::audit::now_ms;
use sayso_policy::Actor;
use sayso_shell::bounds::Need;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A permit as it is kept.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Kept {
    /// Their hash.
    pub(super) words: String,
    pub(super) folder: Raw,
    pub(super) session: Option<String>,
    pub(super) agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) actor: Option<Box<Actor>>,
    pub(super) call_id: Option<String>,
    pub(super) workspace: Raw,
    pub(super) home: Option<Raw>,
    pub(super) policy: String,
    pub(super) record: String,
    pub(super) whole: bool,
    pub(super) required: bool,
    pub(super) issued_ms: u64,
    pub(super) expires_ms: u64,
    /// Since the machine was started: the clock on the wall can be set.
    pub(super) issued_up_ms: u64,
    /// This start of the machine. A crash may bring a file back that was renamed before it.
    pub(super) boot: String,
}

impl Kept {
    pub(super) fn of(terms: &Terms) -> Result<Self, Error> {
        let issued_ms = now_ms();
        Ok(Self {
            words: hash_of(&terms.words),
            folder: Raw::of(&real(&terms.folder)),
            session: terms.session.clone(),
            agent: terms.agent.clone(),
            actor: terms.actor.clone(),
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

    pub(super) fn is_over(&self) -> bool {
        let (now, up) = (now_ms(), up_ms());
        let lifetime = self.expires_ms.saturating_sub(self.issued_ms);
        let by_wall = now < self.issued_ms || now >= self.expires_ms;
        let by_machine = up < self.issued_up_ms || up - self.issued_up_ms >= lifetime;
        by_wall || by_machine || boot().map_or(true, |boot| boot != self.boot)
    }

    pub(super) fn terms(self, words: Vec<OsString>) -> Terms {
        Terms {
            words,
            folder: self.folder.path(),
            session: self.session,
            agent: self.agent,
            actor: self.actor,
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
pub(in crate::hold) enum Raw {
    Text(String),
    Bytes(Vec<u8>),
}

impl Raw {
    pub(in crate::hold) fn of(path: &Path) -> Self {
        match path.to_str() {
            Some(text) => Self::Text(text.to_owned()),
            None => Self::Bytes(path.as_os_str().as_bytes().to_vec()),
        }
    }

    pub(in crate::hold) fn path(&self) -> PathBuf {
        match self {
            Self::Text(text) => PathBuf::from(text),
            Self::Bytes(bytes) => PathBuf::from(OsString::from_vec(bytes.clone())),
        }
    }
}

/// Where a folder really is, whichever way it was named.
pub(super) fn real(folder: &Path) -> PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
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

pub(super) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
