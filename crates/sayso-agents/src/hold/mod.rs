//! Calls that run held: a hook hands the agent a text in which `sayso run` stands before the command, under a permit that
//! is good for this one run.
//!
//! A rewrite is no proof. So a hook can hold only where `sayso doctor --live` saw this very agent run a canary held
//! ([`canary`]): the same executable ([`caller`]), the same settings ([`settings`]). Where the end of a call is
//! reported and nobody came for its permit, that is recorded, and the proof is void.
//!
//! INVARIANT: an Allow that counts only under a hold is never told as a plain one. What cannot be rewritten, or has no
//! permit, is judged again as a call that nobody can hold.

mod advice;
mod caller;
pub(crate) mod canary;
mod ended;
mod proven;
pub(crate) mod rewrite;
pub(crate) mod settings;
mod shell_path;
#[cfg(test)]
mod tests;

pub(crate) use advice::advice;
pub(crate) use ended::{ended, session_ended};
pub(crate) use proven::{keep, state, unheld};

use crate::dialect::Dialect;
use crate::event::{Event, HookCall};
use crate::{Agent, HookSetting};
use canary::Canary;
use rewrite::Parted;
use sayso_gate::hold::permit::{HoldPermits, LIFETIME, Terms};
use sayso_gate::{Error, Permit};
use sayso_policy::shell::bounds::Need;
use sayso_policy::{CanHold, Holding, PolicyText};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The argument of every agent's shell tool that is the command.
const COMMAND: &str = "command";
/// Arguments that move the command to another folder.
const FOLDERS: &[&str] = &["workdir", "cwd", "dir_path", "directory", "dir", "working_directory", "workingDirectory"];

/// How a call can be held.
pub(crate) struct Way {
    can_hold: CanHold,
    how: How,
}

enum How {
    /// Not at all.
    No,
    /// It is `sayso run` itself, which judges and holds what it runs: nothing is put before it.
    Itself,
    /// By another text.
    Rewritten(Box<Place>),
    /// It is the call by which an agent is seen to hold.
    Canary(Box<Place>, Box<Canary>),
}

/// What a rewritten call is made of.
struct Place {
    agent: Agent,
    sayso: String,
    shell: String,
    folder: PathBuf,
    workspace: PathBuf,
    command: String,
    input: Value,
    session: Option<String>,
    /// Who asks, whole.
    actor: Box<sayso_policy::Actor>,
    call: String,
}

/// The arguments of a call that will run held: its permit is spent on them.
#[must_use = "a permit that is not told is a call that does not run"]
#[derive(Debug)]
pub(crate) struct HeldInput(Value);

impl HeldInput {
    /// In place of what the agent sent.
    pub(crate) fn into_input(self) -> Value {
        self.0
    }
}

/// What becomes of an Allow.
pub(crate) enum Taken {
    /// It runs as it is.
    Plain(Permit),
    /// It runs as it is, though the policy wants it held.
    NotHeld(Permit),
    /// It runs under a hold.
    Under(HeldInput),
    /// It cannot be held after all. The permit is gone; the call is to be judged again, as one that nobody can hold.
    NotIssued,
}

impl Way {
    /// For what nobody can hold.
    pub(crate) fn none() -> Self {
        Self { can_hold: CanHold::No, how: How::No }
    }

    /// How the canary is held, where this call is the one by which the agent is to be seen to hold.
    pub(crate) fn of_canary(
        dialect: &dyn Dialect,
        event: &Event,
        call: &HookCall,
        setting: &HookSetting,
        workspace: Option<&Path>,
    ) -> Option<Self> {
        let command = call.input.get(COMMAND).and_then(Value::as_str)?;
        let canary = Canary::known(&setting.places, dialect.agent().name(), command)?;
        let place = place(dialect, event, call, setting, workspace);
        Some(place.map_or_else(Self::none, |place| Self {
            can_hold: CanHold::Whole,
            how: How::Canary(Box::new(place), Box::new(canary)),
        }))
    }

    /// How any other call can be held. That looks at files and processes: for calls of which the policy says anything of
    /// holding.
    pub(crate) fn of(
        dialect: &dyn Dialect,
        event: &Event,
        call: &HookCall,
        setting: &HookSetting,
        workspace: Option<&Path>,
    ) -> Self {
        let Some(command) = call.input.get(COMMAND).and_then(Value::as_str) else { return Self::none() };
        let agent = dialect.agent();
        if is_held_itself(command) {
            // Whether that counts as held, the policy says: it looks at the program, the home folder and the workspace.
            return Self { can_hold: CanHold::No, how: How::Itself };
        }
        let Some(place) = place(dialect, event, call, setting, workspace) else { return Self::none() };
        match proven::proven(agent, &setting.places, &place.workspace, &place.folder) {
            Ok(can_hold) => Self { can_hold, how: How::Rewritten(Box::new(place)) },
            Err(_) => Self::none(),
        }
    }

    /// How strongly.
    pub(crate) fn can_hold(&self) -> CanHold {
        self.can_hold
    }

    /// The policy by which the call is judged, where that is not the owner's.
    pub(crate) fn policy(&self) -> Option<Vec<PolicyText>> {
        match &self.how {
            How::Canary(..) => Some(vec![Canary::policy()]),
            _ => None,
        }
    }

    /// Spends the permit of an Allow on what is said of holding it. `policy`: the version in force, `record`: the id
    /// of the decision's record.
    pub(crate) fn take(
        self,
        permit: Permit,
        holding: Option<Holding>,
        setting: &HookSetting,
        (policy, record): (String, String),
    ) -> Taken {
        let (need, required) = match (&self.how, holding) {
            (How::Canary(..), _) => (Need::Files, true),
            (_, Some(Holding::Required(need))) => (need, true),
            (_, Some(Holding::Wanted(need))) => (need, false),
            // An Allow of which nothing is said that a hold would change.
            (_, Some(Holding::WouldAllow(_)) | None) => return Taken::Plain(permit),
        };
        let place = match self.how {
            How::Itself if !required => return Taken::Plain(permit),
            _ if !self.can_hold.meets(need) && !required => return Taken::NotHeld(permit),
            How::No if !required => return Taken::NotHeld(permit),
            // It must not have come to this; it does not run unheld.
            How::No | How::Itself => return Taken::NotIssued,
            _ if !self.can_hold.meets(need) => return Taken::NotIssued,
            How::Rewritten(place) => place,
            How::Canary(place, canary) => {
                if canary.sighted(&setting.places, place.agent.name()).is_err() {
                    return Taken::NotIssued;
                }
                Box::new(Place { session: None, call: canary.nonce, ..*place })
            }
        };
        match place.issue(permit, setting, (policy, record), need, required) {
            Ok(input) => Taken::Under(input),
            Err(_) => Taken::NotIssued,
        }
    }
}

/// What a call is rewritten with, where its agent can be told another text.
fn place(
    dialect: &dyn Dialect,
    event: &Event,
    call: &HookCall,
    setting: &HookSetting,
    workspace: Option<&Path>,
) -> Option<Place> {
    dialect.rewrites(event, call).then(|| Place::of(dialect.agent(), event, call, setting, workspace)).flatten()
}

impl Place {
    fn of(
        agent: Agent,
        event: &Event,
        call: &HookCall,
        setting: &HookSetting,
        workspace: Option<&Path>,
    ) -> Option<Self> {
        let command = call.input.get(COMMAND).and_then(Value::as_str)?;
        let folder = folder(event, &call.input)?;
        let shells = setting.shells.unwrap_or_else(|| agent.row().shell.by_login());
        let inside = Parted::of(command, &folder, &setting.places.home).inside;
        Some(Self {
            agent,
            sayso: sayso()?,
            shell: shell_path::of(shells)?,
            workspace: workspace?.to_owned(),
            call: call_key(call.id.as_deref(), inside),
            command: command.to_owned(),
            input: call.input.clone(),
            session: event.session.clone(),
            actor: Box::new(event.actor(agent)),
            folder,
        })
    }

    fn issue(
        self,
        permit: Permit,
        setting: &HookSetting,
        (policy_version, record): (String, String),
        need: Need,
        required: bool,
    ) -> Result<HeldInput, Error> {
        let parted = Parted::of(&self.command, &self.folder, &setting.places.home);
        let lifetime = u64::try_from(LIFETIME.as_millis()).unwrap_or(u64::MAX);
        let terms = Terms {
            words: parted.words(Path::new(&self.shell)),
            folder: parted.folder.clone(),
            session: self.session,
            agent: Some(self.agent.name().to_owned()),
            actor: Some(self.actor),
            call_id: Some(self.call),
            workspace: self.workspace,
            home: Some(setting.places.home.clone()),
            policy_version,
            record,
            need,
            required,
            expires_ms: canary::now_ms().saturating_add(lifetime),
        };
        let id = HoldPermits::at(&setting.places).issue(permit, terms)?;
        let mut input = self.input;
        if let Some(fields) = input.as_object_mut() {
            // In its place: everything else stays as it was.
            fields.insert(COMMAND.to_owned(), Value::String(parted.line(&self.sayso, &id, &self.shell)));
        }
        Ok(HeldInput(input))
    }
}

/// What a call is known by when its end is reported: its id, or for agents that give none what runs in the hold.
pub(crate) fn call_key(id: Option<&str>, inside: &str) -> String {
    match id.filter(|id| !id.is_empty()) {
        Some(id) => id.to_owned(),
        None => format!("text {}", blake3::hash(inside.as_bytes()).to_hex()),
    }
}

/// Where the agent would start the command.
fn folder(event: &Event, input: &Value) -> Option<PathBuf> {
    let here = event.cwd.as_deref()?.canonicalize().ok()?;
    let mut given = FOLDERS.iter().filter_map(|key| input.get(*key)).filter(|value| !value.is_null());
    match (given.next(), given.next()) {
        (None, _) => Some(here),
        (Some(Value::String(folder)), None) => here.join(folder).canonicalize().ok().filter(|folder| folder.is_dir()),
        _ => None,
    }
}

/// The program that holds runs: the one beside this, which may be the hook alone.
pub(crate) fn sayso() -> Option<String> {
    // Beside a test there is none.
    let path = if cfg!(test) { "/bin/true".into() } else { std::env::current_exe().ok()?.with_file_name("sayso") };
    let path = path.canonicalize().ok().filter(|path| path.is_file())?;
    path.to_str().filter(|path| !path.contains(char::is_control)).map(ToOwned::to_owned)
}

/// Whether a command is `sayso run -- ...` and nothing more: that judges and holds what follows. By its whole path: what
/// the bare name leads to, the agent may have chosen.
fn is_held_itself(command: &str) -> bool {
    let Some(sayso) = sayso() else { return false };
    rewrite::simple_words(command).is_some_and(|words| match words.as_slice() {
        [program, run, end, _, ..] => *program == sayso && run == "run" && end == "--",
        _ => false,
    })
}
