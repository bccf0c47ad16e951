//! What sessions have done so far, kept for rules that ask (`when.after`, `when.self_written`).
//!
//! A file for each session and one for each workspace, to which a hook appends a line: no database on the way. A session's id
//! is a claim, so facts follow the workspace too, for a day, and whoever asks there (a token, or this user). Where no
//! rule asks, nothing is opened.
//!
//! INVARIANT: a fact is kept before the answer is told, and taken back only where Sayso itself refused in the end. What cannot be
//! kept does not run; what cannot be read may have been anything.

mod file;
mod rehearsal;

pub use file::FactSet;
pub use rehearsal::Rehearsal;

use crate::audit::now_ms;
use crate::{Error, Places};
use sayso_policy::{Actor, Area, Deeds, EarlierCall, Known, Past};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// The folder in Sayso's own.
pub(crate) const FOLDER: &str = "facts";
/// How long what one session did in a workspace counts for others there.
const SHARED_MS: u64 = 24 * 60 * 60 * 1000;
/// How much of a command is kept for reasons.
const COMMAND_KEPT: usize = 200;
/// Sessions that one call is of: its own, and those of the agents above it.
const MOST_SESSIONS: usize = 8;

/// One line: what a call did, or what somebody said yes to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Fact {
    /// The id of the call's record.
    pub id: String,
    /// When, in milliseconds since 1970.
    pub time_ms: u64,
    /// What the call was, secrets taken out.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub command: String,
    /// The session, as the way in names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Conditions on earlier calls that it fulfils, and whether for certain.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<(String, bool)>,
    /// Files that it writes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub written: Vec<String>,
    /// Where it may write more than these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub areas: Vec<Area>,
    /// Contents that somebody said yes to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub yes: Vec<String>,
    /// Contents that the caller's own prompt was to ask about, under the caller's id of the call.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<String>,
    /// The caller's id of that call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// The call with this id did not run: Sayso refused it in the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub back: Option<String>,
}

impl Fact {
    /// What a call did.
    pub(crate) fn of(id: &str, command: &str, deeds: &Deeds) -> Self {
        let text = |path: &PathBuf| path.to_str().map(str::to_owned);
        let written: Vec<String> = deeds.written.iter().filter_map(text).collect();
        let mut deeds = deeds.clone();
        // Names that are no text cannot be kept.
        if written.len() < deeds.written.len() || deeds.areas.iter().any(|area| area.folder.to_str().is_none()) {
            deeds.areas = vec![Area::everywhere()];
        }
        Self {
            id: id.to_owned(),
            time_ms: now_ms(),
            command: command.chars().take(COMMAND_KEPT).collect(),
            after: deeds.after,
            areas: deeds.areas,
            written,
            ..Self::default()
        }
    }

    fn call(&self) -> EarlierCall {
        EarlierCall { id: self.id.clone(), time_ms: self.time_ms, command: self.command.clone() }
    }
}

/// Whose facts: the session with those above it, and the workspace with whoever asks there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whose {
    session: Option<String>,
    workspace: Option<PathBuf>,
    /// Names of the sets, the session's first.
    sessions: Vec<String>,
    place: Option<String>,
}

impl Whose {
    /// Those of a call.
    #[must_use]
    pub fn of(actor: &Actor, workspace: Option<&Path>) -> Self {
        let asker = |actor: &Actor| match &actor.asker {
            Some(asker) => format!("asker {asker}"),
            None => format!("agent {}", actor.agent.as_deref().unwrap_or_default()),
        };
        let mut sessions = Vec::new();
        let mut at = Some(actor);
        while let Some(one) = at.filter(|_| sessions.len() < MOST_SESSIONS) {
            if let Some(session) = &one.session {
                let tenant = one.tenant.as_deref().unwrap_or_default();
                let name = name("session", &[asker(one).as_bytes(), tenant.as_bytes(), session.as_bytes()]);
                if !sessions.contains(&name) {
                    sessions.push(name);
                }
            }
            at = one.parent.as_deref();
        }
        // Whoever has proven who they are has facts of their own; all others are this machine's user.
        let who = actor.asker.as_deref().filter(|_| !actor.is_claimed()).unwrap_or("here");
        let place = workspace.map(|root| name("place", &[who.as_bytes(), root.as_os_str().as_bytes()]));
        Self { session: actor.session.clone(), workspace: workspace.map(Path::to_path_buf), sessions, place }
    }

    /// The name of the session's own set; `None`: there is no session.
    pub(crate) fn own(&self) -> Option<&str> {
        self.session.as_ref().and(self.sessions.first()).map(String::as_str)
    }

    /// Those of one session that is only known by what a file says of itself.
    fn names(&self) -> impl Iterator<Item = &str> {
        self.sessions.iter().chain(&self.place).map(String::as_str)
    }
}

/// Named by a hash: a session's id is the agent's text, and could be `../../x`.
fn name(kind: &str, parts: &[&[u8]]) -> String {
    let mut hasher = blake3::Hasher::new_derive_key("sayso facts of sessions");
    for part in std::iter::once(kind.as_bytes()).chain(parts.iter().copied()) {
        hasher.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
        hasher.update(part);
    }
    let hash: String = hasher.finalize().to_hex().chars().take(32).collect();
    format!("{kind}-{hash}")
}

/// What a session has done so far, looked at when a rule first asks.
pub(crate) fn past(places: &Places, whose: Whose) -> Past {
    let places = places.clone();
    Past::when_asked(move || known(&places, &whose))
}

/// The same, now.
#[must_use]
pub fn known(places: &Places, whose: &Whose) -> Known {
    let mut known = Known::default();
    let mut facts: Vec<Fact> = Vec::new();
    let now = now_ms();
    for set in whose.names() {
        match file::read(places, set) {
            Ok(found) => {
                let shared = Some(set) == whose.place.as_deref();
                let counts = |fact: &Fact| {
                    !shared
                        || fact.session == whose.session && fact.session.is_some()
                        || now.saturating_sub(fact.time_ms) < SHARED_MS
                };
                facts.extend(found.into_iter().filter(counts));
            }
            Err(_) => known.lost = true,
        }
    }
    let back: BTreeSet<String> = facts.iter().filter_map(|fact| fact.back.clone()).collect();
    facts.retain(|fact| !back.contains(&fact.id));
    facts.sort_by_key(|fact| fact.time_ms);
    gather(&facts, &mut known);
    known
}

fn gather(facts: &[Fact], known: &mut Known) {
    let writes = |fact: &&Fact| !fact.areas.is_empty() || !fact.written.is_empty();
    known.since_ms = facts.iter().find(writes).map(|fact| fact.time_ms).unwrap_or_default();
    for fact in facts {
        for (key, certain) in &fact.after {
            let better = known.after.get(key).is_none_or(|(known, _)| *certain || !*known);
            if better {
                known.after.insert(key.clone(), (*certain, fact.call()));
            }
        }
        for path in &fact.written {
            known.written.insert(PathBuf::from(path), fact.call());
        }
        known.areas.extend(fact.areas.iter().map(|area| (area.clone(), fact.call())));
        known.approved.extend(fact.yes.iter().cloned());
    }
}

/// A fact that was kept, and may have to be taken back.
pub(crate) struct Kept {
    places: Places,
    whose: Whose,
    id: String,
}

impl Kept {
    /// Sayso refused the call in the end.
    pub(crate) fn take_back(&self) {
        let back = Fact { time_ms: now_ms(), back: Some(self.id.clone()), ..Fact::default() };
        // If it fails, a rule asks that need not.
        let _ = keep_line(&self.places, &self.whose, &back);
    }
}

/// Keeps what a call does, before anybody is told that it may run.
pub(crate) fn keep(places: &Places, whose: Whose, fact: &Fact) -> Result<Kept, Error> {
    keep_line(places, &whose, fact)?;
    Ok(Kept { places: places.clone(), id: fact.id.clone(), whose })
}

fn keep_line(places: &Places, whose: &Whose, fact: &Fact) -> Result<(), Error> {
    let workspace = whose.workspace.as_deref().and_then(Path::to_str).map(str::to_owned);
    let fact = Fact { session: whose.session.clone(), workspace, ..fact.clone() };
    whose.names().try_for_each(|set| file::append(places, set, &fact))
}

/// A held run of this session has begun: whatever changes from now on counts as written by the session. For whoever starts
/// held runs that no hook or gate let pass as held.
///
/// # Errors
/// If it cannot be kept: then the run must not begin.
pub fn held_run_began(places: &Places, whose: Whose, id: &str, command: &str) -> Result<(), Error> {
    let deeds = Deeds { areas: vec![Area::everywhere()], ..Deeds::default() };
    keep(places, whose, &Fact::of(id, &crate::audit::redact_text(command), &deeds)).map(drop)
}

/// The caller reports that a call ran of which its own prompt had asked: somebody said yes to what was asked about.
pub(crate) fn ran(places: &Places, whose: &Whose, call_id: &str) -> Result<(), Error> {
    let Some(own) = whose.sessions.first() else { return Ok(()) };
    let facts = file::read(places, own)?;
    let asked = |fact: &&Fact| fact.call_id.as_deref() == Some(call_id) && !fact.asked.is_empty();
    let Some(asked) = facts.iter().rev().find(asked) else { return Ok(()) };
    let yes = Fact { id: asked.id.clone(), time_ms: now_ms(), yes: asked.asked.clone(), ..Fact::default() };
    keep_line(places, whose, &yes)
}

/// Every set that is kept, the latest first.
///
/// # Errors
/// If Sayso's folder cannot be read.
pub fn sets(places: &Places) -> Result<Vec<FactSet>, Error> {
    file::sets(places)
}

/// Forgets what a session did: its own set, and its lines in those of workspaces. Tells how many lines were dropped.
///
/// # Errors
/// If Sayso's folder cannot be changed.
pub fn forget(places: &Places, session: &str) -> Result<usize, Error> {
    file::forget(places, session)
}
