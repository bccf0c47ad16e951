//! Whether this agent was seen to hold, as it is now.

use super::caller::Caller;
use super::settings::{Where, other_hook_of_project};
use crate::Agent;
use sayso_gate::hold::proof::{self, Proof};
use sayso_gate::{Error, Places};
use sayso_policy::CanHold;
use std::path::{Path, PathBuf};

/// Why nothing is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// Its hooks cannot rewrite a call, or it cannot be brought to show it.
    Cannot,
    /// It was not seen to hold yet.
    NotSeen,
    /// Its program is another one than was seen, or cannot be found out.
    OtherProgram,
    /// Its settings are others.
    OtherSettings,
    /// This file registers another hook that is asked before commands.
    OtherHook(PathBuf),
}

impl Doubt {
    /// In words, and what to do.
    pub(crate) fn text(&self, agent: Agent) -> String {
        let again = format!("Run: sayso doctor {agent} --live");
        match self {
            Self::Cannot => {
                "commands of this agent are not rewritten, so they run held only as `sayso run -- ...`".to_owned()
            }
            Self::NotSeen => format!("it was not seen to run commands held. {again}"),
            Self::OtherProgram => format!("its program has changed since it was seen to run commands held. {again}"),
            Self::OtherSettings => format!("its settings have changed since it was seen to run commands held. {again}"),
            Self::OtherHook(path) => format!(
                "{} registers another hook that is asked before commands; if both rewrite one, which text runs is not known",
                path.display()
            ),
        }
    }
}

/// How strongly the agent that runs this hook can hold, in a session about this workspace.
pub(super) fn proven(agent: Agent, places: &Places, workspace: &Path, folder: &Path) -> Result<CanHold, Doubt> {
    let steering = agent.row().steering.as_ref().ok_or(Doubt::Cannot)?;
    let (proof, seen) = valid(agent, places)?;
    let caller = Caller::find().ok_or(Doubt::OtherProgram)?;
    if hash(&caller.seen) != seen.caller || caller.program != proof.program {
        return Err(Doubt::OtherProgram);
    }
    match other_hook_of_project(steering, workspace, folder) {
        Some(path) => Err(Doubt::OtherHook(path)),
        None => Ok(proof.level),
    }
}

/// The same as far as it can be said without the agent's process.
pub(crate) fn state(agent: Agent, places: &Places) -> Result<CanHold, Doubt> {
    valid(agent, places).map(|(proof, _)| proof.level)
}

fn valid(agent: Agent, places: &Places) -> Result<(Proof, Seen), Doubt> {
    let steering = agent.row().steering.as_ref().ok_or(Doubt::Cannot)?;
    let proof = proof::load(places, agent.name()).ok_or(Doubt::NotSeen)?;
    let seen = Seen::read(&proof.settings).ok_or(Doubt::NotSeen)?;
    if !proof.holds(&proof.settings) {
        return Err(Doubt::OtherProgram);
    }
    let settings = Where::of(agent, &places.home);
    // What the system says of the files is quicker than what they say.
    if settings.stamps(steering) != seen.stamps && settings.contents(steering) != seen.contents {
        return Err(Doubt::OtherSettings);
    }
    Ok((proof, seen))
}

/// Keeps that an agent was seen to hold.
pub(crate) fn keep(agent: Agent, places: &Places, caller: (&Path, &str), level: CanHold) -> Result<(), Doubt> {
    let steering = agent.row().steering.as_ref().ok_or(Doubt::Cannot)?;
    let settings = Where::of(agent, &places.home);
    if let Some(path) = settings.other_hook(steering) {
        return Err(Doubt::OtherHook(path));
    }
    let (program, seen) = caller;
    let seen = Seen { caller: hash(seen), stamps: settings.stamps(steering), contents: settings.contents(steering) };
    let _ = std::fs::remove_file(unheld_mark(places, agent));
    let kept = Proof::of(program, seen.write(), level).and_then(|proof| proof::keep(places, agent.name(), &proof));
    kept.map_err(|_: Error| Doubt::OtherProgram)
}

/// Ends held allows of an agent of which a call ran without its hold.
pub(super) fn end(agent: Agent, places: &Places) {
    // If it cannot be removed, the next call is held again, and looked at again.
    let _ = proof::void(places, agent.name());
    let _ = std::fs::write(unheld_mark(places, agent), "");
}

/// When a call of an agent ran without its hold, if it was not seen to hold since.
pub(crate) fn unheld(agent: Agent, places: &Places) -> Option<std::time::SystemTime> {
    std::fs::symlink_metadata(unheld_mark(places, agent)).ok()?.modified().ok()
}

fn unheld_mark(places: &Places, agent: Agent) -> PathBuf {
    places.state.join("hold").join(format!("unheld-{agent}"))
}

/// What else a proof is bound to than the executable.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen {
    caller: String,
    stamps: String,
    contents: String,
}

impl Seen {
    fn write(&self) -> String {
        format!("1 {} {} {}", self.caller, self.stamps, self.contents)
    }

    fn read(text: &str) -> Option<Self> {
        let parts: Vec<&str> = text.split(' ').collect();
        match parts.as_slice() {
            ["1", caller, stamps, contents] => {
                Some(Self { caller: (*caller).into(), stamps: (*stamps).into(), contents: (*contents).into() })
            }
            _ => None,
        }
    }
}

fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}
