//! The mode that an operator switches for all files: halt now, or loosen for a while with a name and a reason.
//!
//! A small file in Sayso's own folder, so that a hook looks it up without opening the store. No environment variable
//! and no tool call reaches it: the integrity stage denies the folder, and the command that writes it.

use crate::audit::{Change, Event, Kind, now_ms};
use crate::files::{Once, read_regular};
use crate::memory::Memory;
use crate::{Error, Places, reason};
use rustix::fs::OFlags;
use sayso_policy::text::Mode;
use sayso_policy::{Person, Reason};
use serde::{Deserialize, Serialize};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::Duration;

/// No switch that loosens lasts longer.
pub const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
/// The largest file that can be one.
const LARGEST: usize = 64 * 1024;
/// A switch that seems to come from the future, by more than clocks differ, was made before the clock was set back.
const SLACK_MS: u64 = 60_000;

/// A mode that an operator has switched on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Switch {
    /// `halt`, `dry-run`, `shadow` or `off`.
    #[serde(with = "word")]
    pub mode: Mode,
    /// Who did it.
    pub by: Person,
    /// Why.
    pub why: String,
    /// Since when, in milliseconds since 1970.
    pub since_ms: u64,
    /// Until when; only a halt may be without end.
    pub until_ms: Option<u64>,
}

impl Switch {
    /// What it says beside every decision.
    #[must_use]
    pub fn reason(&self) -> Reason {
        let code = if self.mode == Mode::Off { reason::BREAK_GLASS } else { reason::OPERATOR_MODE };
        let text = format!("{} switched the mode to `{}`: {}", self.by, self.mode.as_str(), self.why);
        reason::built_in(code, text)
    }

    fn is_in_force(&self, now_ms: u64) -> bool {
        if self.mode == Mode::Halt {
            return self.until_ms.is_none_or(|until| now_ms < until);
        }
        let longest = u64::try_from(LONGEST.as_millis()).unwrap_or(u64::MAX);
        let until = self.until_ms.unwrap_or(0).min(self.since_ms.saturating_add(longest));
        now_ms < until && self.since_ms <= now_ms.saturating_add(SLACK_MS)
    }
}

/// The switch in force. One that cannot be read may have been a halt: it counts as one.
#[must_use]
pub fn in_force(places: &Places, now_ms: u64) -> Option<Switch> {
    let read = match read_regular(&file(places), LARGEST, OFlags::NOFOLLOW) {
        Ok((content, meta)) => {
            let own = meta.uid() == rustix::process::geteuid().as_raw() && meta.mode() & 0o022 == 0;
            serde_json::from_slice::<Switch>(&content).ok().filter(|_| own)
        }
        Err(error) if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
            return None;
        }
        Err(_) => None,
    };
    match read {
        // To enforce is what files say anyway; over a file that halts it would loosen.
        Some(switch) => (switch.mode != Mode::Enforce && switch.is_in_force(now_ms)).then_some(switch),
        None => Some(Switch {
            mode: Mode::Halt,
            by: Person::named("sayso"),
            why: format!("{} cannot be read.", file(places).display()),
            since_ms: now_ms,
            until_ms: None,
        }),
    }
}

/// The same while a call is judged, by what is seen of files since it came: where no switch is, as nearly always, the
/// calls that are judged together look for it once.
pub(crate) fn in_force_for(looked: &Once<'_>, places: &Places, now_ms: u64) -> Option<Switch> {
    if looked.is_missing(&file(places)) { None } else { in_force(places, now_ms) }
}

/// Switches the mode, loudly: the record says who, why and until when, before it counts. A halt counts first, and
/// never ends one that is in force sooner: anybody may halt, and only an operator may go on.
///
/// # Errors
/// If a switch that loosens has no end, no reason or too long a time, if the mode is pinned, or if it cannot be kept.
pub fn switch(memory: &Memory, switch: &Switch, pinned: bool) -> Result<(), Error> {
    if switch.mode != Mode::Halt {
        if pinned {
            return Err(Error::Mode("the managed policy pins the mode; only `halt` is possible".to_owned()));
        }
        let lasts = switch.until_ms.map(|until| until.saturating_sub(switch.since_ms));
        let longest = u64::try_from(LONGEST.as_millis()).unwrap_or(u64::MAX);
        if lasts.is_none_or(|lasts| lasts == 0 || lasts > longest) {
            return Err(Error::Mode("this mode needs an end within 24 hours".to_owned()));
        }
    }
    if switch.why.trim().is_empty() {
        return Err(Error::Mode("switching the mode needs a reason".to_owned()));
    }
    if switch.mode == Mode::Halt {
        let switch = Switch { until_ms: halted_until(memory.places(), switch), ..switch.clone() };
        write(memory.places(), &switch)?;
        return record(memory, Some(&switch), &switch.by);
    }
    record(memory, Some(switch), &switch.by)?;
    write(memory.places(), switch)
}

/// The later of the ends of a new halt and of one that is in force.
fn halted_until(places: &Places, new: &Switch) -> Option<u64> {
    match in_force(places, new.since_ms).filter(|old| old.mode == Mode::Halt) {
        Some(old) => Some(old.until_ms?.max(new.until_ms?)),
        None => new.until_ms,
    }
}

fn write(places: &Places, switch: &Switch) -> Result<(), Error> {
    places.own_folder("")?;
    crate::places::write_own(&file(places), &serde_json::to_vec(switch)?)
}

/// Goes back to what the policy says. Tells what was in force.
///
/// # Errors
/// If that cannot be kept.
pub fn end(memory: &Memory, by: &Person) -> Result<Option<Switch>, Error> {
    let was = in_force(memory.places(), now_ms());
    let path = file(memory.places());
    record(memory, None, by)?;
    match std::fs::remove_file(&path) {
        Ok(()) => Ok(was),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io("remove", &path, error)),
    }
}

fn record(memory: &Memory, switch: Option<&Switch>, by: &Person) -> Result<(), Error> {
    let loosens = switch.is_some_and(|switch| switch.mode == Mode::Off);
    let what = switch.map_or("enforce", |switch| switch.mode.as_str());
    let mut change = Change::now(if loosens { Kind::Override } else { Kind::Mode }, what);
    change.by = Some(by.to_string());
    change.detail = serde_json::to_value(switch)?;
    memory.store()?.append(&[Event::from(change)], &[]).map(|_| ())
}

fn file(places: &Places) -> PathBuf {
    places.state.join("mode.json")
}

/// A mode as its word.
mod word {
    use sayso_policy::text::Mode;
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    pub(super) fn serialize<S: Serializer>(mode: &Mode, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(mode.as_str())
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(deserializer: D) -> Result<Mode, D::Error> {
        let word = String::deserialize(deserializer)?;
        let known = [Mode::Enforce, Mode::DryRun, Mode::Shadow, Mode::Halt, Mode::Off];
        known.into_iter().find(|mode| mode.as_str() == word).ok_or_else(|| D::Error::custom("an unknown mode"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn switched(mode: Mode, until_ms: Option<u64>) -> Switch {
        Switch { mode, by: Person::named("ann"), why: "a fire".into(), since_ms: 1_000_000, until_ms }
    }

    #[test]
    fn a_switch_that_loosens_ends_and_a_clock_set_back_does_not_bring_it_back() {
        let off = switched(Mode::Off, Some(1_010_000));
        assert!(off.is_in_force(1_000_000) && off.is_in_force(1_009_999));
        assert!(!off.is_in_force(1_010_000) && !off.is_in_force(900_000));
        assert!(!switched(Mode::Off, None).is_in_force(1_000_000));
        let for_ever = switched(Mode::Shadow, Some(u64::MAX));
        assert!(!for_ever.is_in_force(1_000_000 + 24 * 60 * 60 * 1000));
        assert!(switched(Mode::Halt, None).is_in_force(0));
    }

    #[test]
    fn what_cannot_be_read_is_a_halt() {
        let dir = tempfile::tempdir().unwrap();
        let places = Places::below(dir.path(), dir.path());
        assert_eq!(in_force(&places, 0), None);
        places.own_folder("").unwrap();
        std::fs::write(file(&places), "nonsense").unwrap();
        assert_eq!(in_force(&places, 0).unwrap().mode, Mode::Halt);
    }

    #[test]
    fn a_short_halt_does_not_end_a_longer_one() {
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::of(&Places::below(dir.path(), dir.path()));
        let now = now_ms();
        let halt = |until_ms| Switch { since_ms: now, ..switched(Mode::Halt, until_ms) };
        let until = || in_force(memory.places(), now).unwrap().until_ms;
        switch(&memory, &halt(Some(now + 60_000)), false).unwrap();
        switch(&memory, &halt(Some(now + 1)), false).unwrap();
        assert_eq!(until(), Some(now + 60_000));
        switch(&memory, &halt(None), false).unwrap();
        switch(&memory, &halt(Some(now + 1)), false).unwrap();
        assert_eq!(until(), None);
    }

    #[test]
    fn loosening_needs_a_reason_an_end_and_an_open_mode() {
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::of(&Places::below(dir.path(), dir.path()));
        let mut off = Switch { since_ms: now_ms(), ..switched(Mode::Off, None) };
        assert!(matches!(switch(&memory, &off, false), Err(Error::Mode(_))));
        off.until_ms = Some(off.since_ms + 60_000);
        assert!(matches!(switch(&memory, &off, true), Err(Error::Mode(_))));
        switch(&memory, &off, false).unwrap();
        assert_eq!(in_force(memory.places(), now_ms()).unwrap().mode, Mode::Off);
        off.why = " ".into();
        assert!(matches!(switch(&memory, &off, false), Err(Error::Mode(_))));
        assert_eq!(end(&memory, &Person::named("ann")).unwrap().unwrap().mode, Mode::Off);
        assert_eq!(in_force(memory.places(), now_ms()), None);
        let halt = Switch { since_ms: now_ms(), ..switched(Mode::Halt, None) };
        switch(&memory, &halt, true).unwrap();
        assert_eq!(in_force(memory.places(), now_ms()).unwrap().mode, Mode::Halt);
        let kinds = [Kind::Mode, Kind::Override];
        let query = crate::audit::Query { kinds: kinds.to_vec(), ..Default::default() };
        assert_eq!(memory.store().unwrap().events(&query).unwrap().len(), 3);
    }
}
