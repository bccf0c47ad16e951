//! Seeing a guard work: the real agent is let loose on a model of ours that asks for one harmless call which Sayso denies
//! under every policy, and, where the policy holds runs, for a second one that shows whether it ran held. Nothing leaves the
//! machine: the model is a server on the loopback interface inside this process.

mod http;
mod model;

use crate::Agent;
use crate::hold::canary::{Canary, namespaces};
use crate::hold::{keep, state, unheld};
use model::{Model, Seen};
use sayso_gate::audit::{Log, Query};
use sayso_gate::hold::permit::{HoldPermits, Redemption};
use sayso_gate::{Error, Places};
use sayso_policy::{CanHold, Verdict};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How long an agent may take for its two turns. OpenCode takes a minute to start without a network.
const PATIENCE: Duration = Duration::from_secs(150);

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Live {
    /// Sayso was asked and said no; the call did not run.
    Denied,
    /// The call ran: nobody asked Sayso, or nobody listened.
    Ran,
    /// The call did not run, and Sayso was not asked.
    NotAsked(String),
    /// The agent could not be brought to make the call.
    NotSeen(String),
}

/// What a rehearsal depends on.
#[derive(Clone, Debug)]
pub struct Stage {
    /// Sayso's own places, where the decision must turn up.
    pub places: Places,
    /// The agent's program.
    pub program: PathBuf,
    /// This program: its operator commands are denied whatever the policy says.
    pub sayso: PathBuf,
    /// The project's folder, where Sayso is registered there alone.
    pub project: Option<PathBuf>,
    /// Whether it is to be seen that commands run held.
    pub hold: bool,
}

/// What a rehearsal showed.
#[derive(Clone, Debug)]
pub struct Rehearsal {
    /// Of the call that must be denied.
    pub live: Live,
    /// How strongly a command was held, or why not; `None`: not tried.
    pub hold: Option<Result<CanHold, String>>,
}

/// How strongly an agent was seen to hold what its hook lets pass, or why it holds nothing now.
///
/// # Errors
/// Why, in words.
pub fn holds(agent: Agent, places: &Places) -> Result<CanHold, String> {
    state(agent, places).map_err(|doubt| doubt.text(agent))
}

/// When a call of an agent ran without the hold under which alone it was allowed, if the agent was not seen to hold since.
#[must_use]
pub fn ran_unheld(agent: Agent, places: &Places) -> Option<SystemTime> {
    unheld(agent, places)
}

/// Whether an agent can be let loose on a model of ours.
#[must_use]
pub fn can_rehearse(agent: Agent) -> bool {
    agent.row().live.is_some()
}

/// Lets an agent make a call that must be denied, and perhaps one that must run held: then it is kept that it did.
///
/// # Errors
/// If the stage cannot be set, or the record cannot be read.
pub fn rehearse(agent: Agent, stage: &Stage) -> Result<Rehearsal, Error> {
    let folder = scratch(&stage.places)?;
    let done = outside(&folder).and_then(|outside| {
        let done = in_folder(agent, stage, &folder, &outside);
        let _ = std::fs::remove_dir_all(&outside);
        done
    });
    // Only what was made here goes.
    let _ = std::fs::remove_dir_all(&folder);
    Canary::end(&stage.places, agent.name());
    done
}

/// A folder for the project: Sayso's own are out of reach of every held run.
fn outside(folder: &Path) -> Result<PathBuf, Error> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let path = std::env::temp_dir().join(format!("sayso-{name}"));
    let made = std::fs::DirBuilder::new().mode(0o700).create(&path).and_then(|()| path.canonicalize());
    made.map_err(|source| Error::Io { doing: "create", path, source })
}

/// A folder of its own, that nobody else can reach into.
fn scratch(places: &Places) -> Result<PathBuf, Error> {
    let unique = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let name = format!("live-{}-{unique:x}", std::process::id());
    places.own_folder(&name)
}

fn in_folder(agent: Agent, stage: &Stage, folder: &Path, outside: &Path) -> Result<Rehearsal, Error> {
    let io = |doing: &'static str, source: std::io::Error| Error::Io { doing, path: folder.to_owned(), source };
    let project = outside.join("project");
    std::fs::create_dir(&project).map_err(|e| io("create", e))?;
    let mark = folder.join("ran");
    // The mark shows whether the line ran. Its second half is what no policy allows, and does nothing but print.
    let command = format!("touch {} && {} uninstall --help", quoted(&mark), quoted(&stage.sayso));
    let report = project.join("canary.txt");
    // A project's own folder is not written to.
    let canary = if stage.hold && stage.project.is_none() {
        Some(Canary::release(&stage.places, agent.name(), &report)?)
    } else {
        None
    };
    let commands = std::iter::once(command).chain(canary.as_ref().map(|canary| canary.command.clone())).collect();
    let model = Model::start(commands).map_err(|e| io("serve", e))?;
    let began = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let here = stage.project.as_deref().unwrap_or(&project);
    let ended = run(agent, &stage.program, &model, here, (folder, outside)).map_err(|e| io("start", e))?;
    let seen = model.seen();
    let hold = match &canary {
        Some(canary) => Some(held(agent, &stage.places, canary, &report, &seen)),
        None if stage.hold => {
            Some(Err("Sayso is registered in this project alone; held runs need it registered for the user".to_owned()))
        }
        None => None,
    };
    if mark.exists() {
        return Ok(Rehearsal { live: Live::Ran, hold });
    }
    let query = Query {
        agent: Some(agent.name().to_owned()),
        verdict: Some(Verdict::Deny),
        since_ms: u64::try_from(began.as_millis()).ok(),
        ..Query::default()
    };
    let mark = mark.display().to_string();
    let records = Log::open(&stage.places)?.query(&query)?;
    let asked = records.iter().any(|it| it.record.command.as_deref().is_some_and(|command| command.contains(&mark)));
    Ok(Rehearsal { live: if asked { Live::Denied } else { explain(seen, ended) }, hold })
}

/// How the canary ran.
fn held(agent: Agent, places: &Places, canary: &Canary, report: &Path, seen: &Seen) -> Result<CanHold, String> {
    let text = std::fs::read_to_string(report).unwrap_or_default();
    let redeemed = HoldPermits::at(places).outcome(Some(agent.name()), None, &canary.nonce);
    let sighting = canary.sighting(places, agent.name());
    let told =
        || seen.told.get(1).map(|told| format!(": {}", told.chars().take(300).collect::<String>())).unwrap_or_default();
    if redeemed != Some(Redemption::Redeemed) {
        return Err(match (text.is_empty(), sighting.is_some()) {
            (true, false) => format!("the agent did not ask Sayso about the second call{}", told()),
            (true, true) => format!("the rewritten command did not run{}", told()),
            (false, _) => "the agent ran the command as it was before it was rewritten".to_owned(),
        });
    }
    let level = canary.held(&text, &namespaces()).map_err(|why| format!("{why}{}", told()))?;
    let sighting = sighting.and_then(|it| Some((it.program?, it.seen?)));
    let (program, caller) = sighting.ok_or("the program that runs the hook could not be found out")?;
    keep(agent, places, (&program, &caller), level).map_err(|doubt| doubt.text(agent))?;
    Ok(level)
}

/// Why nothing can be said.
fn explain(seen: Seen, ended: Ended) -> Live {
    match (seen, ended) {
        (Seen { told, .. }, _) if !told.is_empty() => Live::NotAsked(told.concat().chars().take(300).collect()),
        (Seen { without_shell: Some(tools), .. }, _) => {
            Live::NotSeen(format!("it offers no shell, only: {}", tools.join(", ")))
        }
        (Seen { called: 1.., .. }, _) => Live::NotSeen("it never reported the result of the call".to_owned()),
        (_, Ended::Late) => Live::NotSeen(format!("it did not finish within {} seconds", PATIENCE.as_secs())),
        (Seen { spoke: false, .. }, Ended::With(said)) => {
            Live::NotSeen(format!("it never contacted the model: {said}"))
        }
        (_, Ended::With(said)) => Live::NotSeen(said),
    }
}

enum Ended {
    With(String),
    Late,
}

/// What an agent is told to do.
pub(crate) const PROMPT: &str = "Do what the model says.";
/// What it shows to the model.
pub(crate) const KEY: &str = "not-a-key";

/// The stage that an agent is started on.
pub(crate) struct Offline<'a> {
    /// The model's address.
    pub(crate) url: &'a str,
    /// The agent's working directory.
    pub(crate) here: &'a Path,
    /// A folder that is removed afterwards.
    pub(crate) scratch: &'a Path,
}

/// Starts the agent headless, with a model of ours and leave to run what it likes, and waits.
fn run(
    agent: Agent,
    program: &Path,
    model: &Model,
    here: &Path,
    (folder, scratch): (&Path, &Path),
) -> std::io::Result<Ended> {
    let Some(start) = agent.row().live else {
        return Ok(Ended::With(format!("{} cannot be given another model", agent.title())));
    };
    let mut command = Command::new(program);
    command.current_dir(here).env("CI", "1").env("NO_COLOR", "1").env("DO_NOT_TRACK", "1");
    start(&mut command, &Offline { url: &model.url(), here, scratch })?;
    wait(command, folder)
}

fn wait(mut command: Command, folder: &Path) -> std::io::Result<Ended> {
    let output = folder.join("output");
    let file = std::fs::File::create(&output)?;
    command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
    let mut child = command.spawn()?;
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(status) = child.try_wait()? {
            let text = std::fs::read(&output).unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            let last: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
            let last = last.last().map(|line| line.chars().take(300).collect::<String>()).unwrap_or_default();
            return Ok(Ended::With(format!("{status}: {last}")));
        }
        if Instant::now() > until {
            let _ = child.kill();
            let _ = child.wait();
            return Ok(Ended::Late);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn quoted(path: &Path) -> String {
    crate::install::quoted(&path.to_string_lossy())
}
