//! Versions of the policy: found, compared, and put in the place of what is in force.

use super::source::LARGEST;
use super::{InForce, force};
use crate::audit::{Change, Event, Kind, PolicyVersion};
use crate::places::write_own;
use crate::store::Store;
use crate::{Error, Places, unified};
use rustix::fs::{Mode, OFlags};
use sayso_policy::text::{self, Problem};
use sayso_policy::{Layer, Policy, PolicyText};
use std::fs::{File, TryLockError};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a change waits for another one to end. Whoever holds the lock for longer does more than change a file.
const TURN: Duration = Duration::from_secs(5);
/// How often it looks whether that has ended.
const LOOK: Duration = Duration::from_millis(5);

/// The version that begins like this.
///
/// # Errors
/// If there is none or more than one, or if the store refuses.
pub fn find(store: &dyn Store, beginning: &str) -> Result<PolicyVersion, Error> {
    let known = store.policies()?;
    let mut matching = known.iter().map(|(known, _)| known).filter(|known| known.starts_with(beginning));
    let none = || Error::NoVersion(beginning.to_owned());
    let first = matching.next().filter(|_| !beginning.is_empty()).ok_or_else(none)?;
    if matching.next().is_some() {
        return Err(Error::SeveralVersions(beginning.to_owned()));
    }
    store.policy(first)?.ok_or_else(none)
}

/// What changed from one version to another, file by file, as a unified diff; empty: nothing.
#[must_use]
pub fn difference(from: &PolicyVersion, to: &PolicyVersion) -> String {
    let mut names: Vec<&str> = Vec::new();
    for file in from.files.iter().chain(&to.files) {
        if !names.contains(&file.name.as_str()) {
            names.push(&file.name);
        }
    }
    let of = |version: &PolicyVersion, name: &str| {
        version.files.iter().find(|file| file.name == name).map(|file| file.text.clone())
    };
    names.iter().map(|name| unified(name, of(from, name).as_deref(), of(to, name).as_deref())).collect()
}

/// What is wrong with a text, warnings included, if it were this user's own file beside the others that count here.
#[must_use]
pub fn problems(places: &Places, beside: &InForce, text: &str) -> Vec<Problem> {
    let own = own(places, text);
    let file = match text::parse(&own.name, &own.text) {
        Ok(file) => file,
        Err(problems) => return problems,
    };
    let mut found = match Policy::compile(std::slice::from_ref(&own)) {
        // In order alone, but perhaps not beside the others.
        Ok(_) => Policy::compile(&with_own(beside, own)).err().unwrap_or_default(),
        Err(problems) => problems,
    };
    if found.iter().all(|problem| problem.warning) {
        found.extend(text::lint(&file).into_iter().filter(|warning| !found.contains(warning)).collect::<Vec<_>>());
    }
    found
}

/// What its owner should know of the lines of a file that is in force. Files of other systems have rules of their own,
/// by which they were read.
#[must_use]
pub fn warnings(file: &PolicyText) -> Vec<Problem> {
    if sayso_formats::foreign_name(&file.name).is_some() || file.teaches() {
        return Vec::new();
    }
    text::parse(&file.name, &file.text).map_or_else(|problems| problems, |file| text::lint(&file))
}

/// Who puts a text in place of this user's own policy file, and why.
#[derive(Clone, Copy, Debug)]
pub struct Putting<'a> {
    /// The person.
    pub by: &'a str,
    /// The version that it is taken from; `None`: it is new.
    pub from: Option<&'a str>,
    /// The version that must still be in force: whoever wrote the text has seen that one.
    pub base: Option<&'a str>,
}

/// What was put in place.
#[derive(Clone, Debug)]
pub struct Put {
    /// What is in force now.
    pub in_force: PolicyVersion,
    /// Where what stood there before is kept; `None`: there was nothing.
    pub before: Option<PathBuf>,
}

/// Puts a text in place of this user's own policy file. It is checked first, then recorded, then written; what stood
/// there before is kept beside it, and what was in force is kept as a version to go back to.
///
/// One change at a time, whichever process makes it: of several that were made from one `base` the first is written.
///
/// # Errors
/// If the text has an error, if another policy is in force than the one that was seen, if another change does not end,
/// or if it cannot be recorded or written: then nothing has changed.
pub fn put(
    places: &Places,
    store: &dyn Store,
    workspace: Option<&Path>,
    text: &str,
    putting: &Putting<'_>,
) -> Result<Put, Error> {
    let _turn = turn(places)?;
    let now = InForce::load(places, workspace)?;
    if putting.base.is_some_and(|base| base != now.policy.version()) {
        return Err(Error::OtherVersion(now.policy.version().to_owned()));
    }
    let own = own(places, text);
    if text.len() > LARGEST {
        return Err(Error::Unsafe { path: places.user.clone(), why: "it would be too long".to_owned() });
    }
    Policy::compile(std::slice::from_ref(&own)).map_err(Error::Policy)?;
    Policy::compile(&with_own(&now, own)).map_err(Error::Policy)?;

    let mut change = Change::now(Kind::Policy, if putting.from.is_some() { "rolled-back" } else { "activated" });
    change.about = putting.from.map(str::to_owned);
    change.by = Some(putting.by.to_owned());
    change.detail = serde_json::json!({
        "file": places.shown(&places.user), "before": now.policy.version(), "hash": super::trust::hash(text),
    });
    // It may have judged nothing yet, and would be in no list of versions.
    store.keep_policy(now.policy.version(), &now.files)?;
    store.append(&[Event::from(change)], &[])?;

    let before = write(places, text)?;
    let in_force = InForce::load(places, workspace)?;
    Ok(Put { in_force: PolicyVersion::new(in_force.policy.version(), &in_force.files), before })
}

/// Waits until nobody else changes the policy; nobody does until what this gives is dropped, or its process ends.
fn turn(places: &Places) -> Result<File, Error> {
    let path = places.own_folder("")?.join("policy.lock");
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let file = rustix::fs::open(&path, flags, Mode::RUSR | Mode::WUSR).map_err(|e| Error::io("open", &path, e))?;
    let file = File::from(file);
    let began = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if began.elapsed() < TURN => std::thread::sleep(LOOK),
            Err(TryLockError::WouldBlock) => return Err(Error::PolicyBusy(path)),
            Err(TryLockError::Error(e)) => return Err(Error::io("lock", &path, e)),
        }
    }
}

/// People keep such files in repositories of their own, behind a link: what it leads to is written, and the link stays.
fn write(places: &Places, text: &str) -> Result<Option<PathBuf>, Error> {
    let file = std::fs::canonicalize(&places.user).unwrap_or_else(|_| places.user.clone());
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).map_err(|e| Error::io("create", folder, e))?;
    }
    let mode = std::fs::metadata(&file).ok().map(|meta| meta.permissions().mode());
    let before = match std::fs::read(&file) {
        Ok(content) => {
            let kept = places.user.with_extension("toml.before");
            write_own(&kept, &content)?;
            Some(kept)
        }
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => None,
        Err(e) => return Err(Error::io("read", &file, e)),
    };
    write_own(&file, text.as_bytes())?;
    if let Some(mode) = mode {
        // A file that others could read before stays so; it was refused if they could write it.
        let permissions = std::fs::Permissions::from_mode(mode & 0o755);
        std::fs::set_permissions(&file, permissions).map_err(|e| Error::io("write", &file, e))?;
    }
    Ok(before)
}

fn own(places: &Places, text: &str) -> PolicyText {
    let name = places.shown(&places.user);
    PolicyText { layer: Layer::User, name, text: text.to_owned(), trusted: true }
}

/// The files in force with another one of this user's.
fn with_own(in_force: &InForce, own: PolicyText) -> Vec<PolicyText> {
    let kept = |layer: Layer| in_force.files.iter().filter(move |file| file.layer == layer).cloned();
    let programs = kept(Layer::User).filter(PolicyText::teaches);
    kept(Layer::Managed).chain(std::iter::once(own)).chain(kept(Layer::Project)).chain(programs).collect()
}

/// The policy in force with rules more in this user's own file, and its texts. None are more where the rules are blank.
pub(crate) fn with_rules(places: &Places, in_force: &InForce, rules: &str) -> Option<(Policy, Vec<PolicyText>)> {
    let mut files = in_force.files.clone();
    // Who has no file yet begins one with the preset that was in force without it.
    let place = [Layer::User, Layer::Given]
        .iter()
        .find_map(|layer| files.iter().position(|file| file.layer == *layer && !file.teaches()));
    match place.and_then(|place| files.get_mut(place)) {
        Some(file) => *file = own(places, &format!("{}\n{rules}", file.text)),
        None => files.push(own(places, rules)),
    }
    let policy = Policy::compile(&files).ok()?;
    Some((force::protecting(policy, places), files))
}

/// What would be in force with this text in the place of the user's own file.
///
/// # Errors
/// If the text is no policy.
pub(crate) fn with_own_file(places: &Places, in_force: &InForce, text: &str) -> Result<Policy, Error> {
    let files = with_own(in_force, own(places, text));
    let policy = Policy::compile(&files).map_err(Error::Policy)?;
    Ok(force::protecting(policy, places))
}
