//! Seeing a guard work: the real agent is let loose on a model of ours that asks for one harmless call which Sayso denies
//! under every policy. Nothing leaves the machine: the model is a server on the loopback interface inside this process.

mod http;
mod model;

use crate::Agent;
use model::{Model, Seen};
use sayso_gate::audit::{Log, Query};
use sayso_gate::{Error, Places};
use sayso_policy::Verdict;
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
}

/// Whether an agent can be let loose on a model of ours.
#[must_use]
pub fn can_rehearse(agent: Agent) -> bool {
    agent.row().live.is_some()
}

/// Lets an agent make a call that must be denied.
///
/// # Errors
/// If the stage cannot be set, or the record cannot be read.
pub fn rehearse(agent: Agent, stage: &Stage) -> Result<Live, Error> {
    let folder = scratch(&stage.places)?;
    let done = in_folder(agent, stage, &folder);
    // Only what was made here goes.
    let _ = std::fs::remove_dir_all(&folder);
    done
}

/// A folder of its own, that nobody else can reach into.
fn scratch(places: &Places) -> Result<PathBuf, Error> {
    let unique = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let name = format!("live-{}-{unique:x}", std::process::id());
    places.own_folder(&name)
}

fn in_folder(agent: Agent, stage: &Stage, folder: &Path) -> Result<Live, Error> {
    let io = |doing: &'static str, source: std::io::Error| Error::Io { doing, path: folder.to_owned(), source };
    let project = folder.join("project");
    std::fs::create_dir(&project).map_err(|e| io("create", e))?;
    let mark = folder.join("ran");
    // The mark shows whether the line ran. Its second half is what no policy allows, and does nothing but print.
    let command = format!("touch {} && {} uninstall --help", quoted(&mark), quoted(&stage.sayso));
    let model = Model::start(&command).map_err(|e| io("serve", e))?;
    let began = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let here = stage.project.as_deref().unwrap_or(&project);
    let ended = run(agent, &stage.program, &model, here, folder).map_err(|e| io("start", e))?;
    let seen = model.seen();
    if mark.exists() {
        return Ok(Live::Ran);
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
    Ok(if asked { Live::Denied } else { explain(seen, ended) })
}

/// Why nothing can be said.
fn explain(seen: Seen, ended: Ended) -> Live {
    match (seen, ended) {
        (Seen { called: true, told: Some(told), .. }, _) => Live::NotAsked(told.chars().take(300).collect()),
        (Seen { without_shell: Some(tools), .. }, _) => {
            Live::NotSeen(format!("it offers no shell, only: {}", tools.join(", ")))
        }
        (Seen { called: true, .. }, _) => Live::NotSeen("it never reported the result of the call".to_owned()),
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
fn run(agent: Agent, program: &Path, model: &Model, here: &Path, scratch: &Path) -> std::io::Result<Ended> {
    let Some(start) = agent.row().live else {
        return Ok(Ended::With(format!("{} cannot be given another model", agent.title())));
    };
    let mut command = Command::new(program);
    command.current_dir(here).env("CI", "1").env("NO_COLOR", "1").env("DO_NOT_TRACK", "1");
    start(&mut command, &Offline { url: &model.url(), here, scratch })?;
    wait(command, scratch)
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
