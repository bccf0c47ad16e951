//! Putting Sayso in an agent's way, and taking it away again.
//!
//! A change is planned first, so that it can be shown; then it is made, if the files are still the same. What was there
//! before is kept, and `uninstall` puts it back byte for byte unless somebody else has changed a file meanwhile: then
//! only what is Sayso's is taken out.

mod claude_code;
mod codex;
mod codex_managed;
mod codex_trust;
mod command;
mod copilot;
mod cursor;
mod gemini;
mod hooks_json;
mod inspect;
mod json_text;
mod keep;
mod mcp;
mod openclaw;
mod part;
mod shim;
mod zed;

pub(crate) use command::quoted;
pub use command::{CALL_SECONDS, NOTE_SECONDS};
pub use inspect::{Finding, Registration, registrations};
pub use mcp::{plan_install_mcp, plan_uninstall_mcp};

use crate::{Agent, Error};
use part::{Left, Part, read, resolved, write};
use sayso_gate::Places;
use sayso_gate::registered::{self, Registered, Whose};
use std::path::{Path, PathBuf};

/// What the lists of MCP clients are called where an agent's name stands otherwise.
const MCP: &str = "mcp";

/// Whose settings are changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// This user's.
    #[default]
    User,
    /// The project's.
    Project,
    /// The machine's: what no user and no project can switch off.
    Managed,
}

impl Scope {
    /// Every scope.
    pub const ALL: &[Self] = &[Self::User, Self::Project, Self::Managed];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Managed => "managed",
        }
    }
}

/// What an installation depends on.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Sayso's own places.
    pub places: Places,
    /// Whose settings.
    pub scope: Scope,
    /// The project's folder.
    pub project: PathBuf,
    /// The folder of the agent's user settings, where its environment names one (`CLAUDE_CONFIG_DIR`).
    pub agent_folder: Option<PathBuf>,
    /// The program to register: this one, as an absolute path.
    pub program: PathBuf,
    /// The shell that runs the agent's commands, or several with commas between them. `None`: it is not written down.
    pub shell: Option<String>,
    /// A program like `timeout` of coreutils, that ends a hook that hangs, for agents that would then let the call run.
    pub limiter: Option<PathBuf>,
    /// The owner said clearly that the agent may trust the hook without asking again.
    pub trust: bool,
    /// `/`, but for tests.
    pub root: PathBuf,
}

impl Setting {
    /// The settings of an agent on this machine, as the environment has them.
    #[must_use]
    pub fn here(agent: Agent, scope: Scope, places: Places, project: PathBuf, program: PathBuf) -> Self {
        let limiter = ["/usr/bin/timeout", "/bin/timeout"].into_iter().map(PathBuf::from).find(|path| path.is_file());
        let agent_folder = agent_folder(agent, |name| std::env::var_os(name).map(PathBuf::from));
        // Managed settings are for every user: each one's own is found when the hook runs.
        let shell = (scope != Scope::Managed)
            .then(|| crate::shell::to_register(agent, |name| std::env::var(name).ok()).to_owned());
        Self { places, scope, project, agent_folder, program, shell, limiter, trust: false, root: "/".into() }
    }

    /// The folder of the agent's user settings.
    fn agent_folder_or(&self, below_home: &str) -> PathBuf {
        self.agent_folder.clone().unwrap_or_else(|| self.places.home.join(below_home))
    }
}

/// Where an agent's own variables put its user settings.
fn agent_folder(agent: Agent, variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let absolute = |path: &PathBuf| path.is_absolute();
    match agent {
        Agent::ClaudeCode => variable("CLAUDE_CONFIG_DIR"),
        // As it is written: Codex names its hooks by that when it trusts them.
        Agent::Codex => variable("CODEX_HOME").or_else(|| variable("HOME").map(|home| home.join(".codex"))),
        Agent::Gemini => variable("GEMINI_CLI_HOME").map(|home| home.join(".gemini")),
        Agent::Copilot => variable("COPILOT_HOME"),
        Agent::OpenCode => variable("XDG_CONFIG_HOME").map(|folder| folder.join("opencode")),
        Agent::OpenClaw => variable("OPENCLAW_STATE_DIR"),
        Agent::Zed => variable("XDG_CONFIG_HOME").map(|folder| folder.join("zed")),
        Agent::Cursor => None,
    }
    .filter(absolute)
}

/// A change that has not been made yet.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What happens to each file.
    pub files: Vec<FileChange>,
    /// What its owner should know.
    pub notices: Vec<String>,
    /// What is protected while it is registered.
    noted: Noted,
    state: Places,
    installing: bool,
}

/// What the files of a plan name besides themselves.
#[derive(Clone, Debug)]
struct Noted {
    agent: &'static str,
    whose: Whose,
    program: PathBuf,
    names: Vec<PathBuf>,
    home: Option<PathBuf>,
}

impl Noted {
    fn new(agent: &'static str, setting: &Setting) -> Self {
        let managed = setting.scope == Scope::Managed;
        Self {
            agent,
            whose: if managed { Whose::Machine } else { Whose::User },
            program: setting.program.clone(),
            names: setting.limiter.iter().cloned().collect(),
            home: (!managed).then(|| setting.places.home.clone()),
        }
    }
}

/// What happens to one file.
#[derive(Clone, Debug)]
pub struct FileChange {
    /// The file; where it is a link, what that leads to.
    pub path: PathBuf,
    /// Its content now; `None`: it is not there.
    pub before: Option<String>,
    /// Its content afterwards; `None`: it is removed.
    pub after: Option<String>,
    /// The text to come back to.
    original: Option<String>,
    /// The name under which that is kept: the file's own, unless several things are registered in it.
    keep_as: PathBuf,
}

/// Plans the registration of Sayso with an agent.
///
/// # Errors
/// If the agent's settings cannot be read or safely edited.
pub fn plan_install(agent: Agent, setting: &Setting) -> Result<Plan, Error> {
    let mut files = Vec::new();
    let mut notices = Vec::new();
    for part in parts(agent, setting, setting.trust)? {
        let path = resolved(part.path())?;
        let before = read(&path)?;
        let refuse = |why| Error::Settings { path: path.clone(), why };
        let after = part.register(before.as_deref()).map_err(refuse)?;
        // Installed before: what to come back to is what was there before that, or this text without what is Sayso's.
        let original = match (&before, keep::original(&setting.places, &path, before.as_deref())?) {
            (_, Some(original)) => original,
            (Some(text), None) => part.unregister(text).unwrap_or(Left::AsIs).of(text),
            (None, None) => None,
        };
        notices.extend(switched_off(agent, &after));
        files.push(FileChange { keep_as: path.clone(), path, before, after: Some(after), original });
    }
    notices.extend(advice(agent, setting));
    let noted = Noted::new(agent.name(), setting);
    Ok(Plan { files, notices, noted, state: setting.places.clone(), installing: true })
}

/// Plans the removal of Sayso from an agent's settings.
///
/// # Errors
/// If the agent's settings cannot be read or safely edited.
pub fn plan_uninstall(agent: Agent, setting: &Setting) -> Result<Plan, Error> {
    let mut files = Vec::new();
    for part in parts(agent, setting, true)? {
        let path = resolved(part.path())?;
        let before = read(&path)?;
        let refuse = |why| Error::Settings { path: path.clone(), why };
        let after = match (&before, keep::original(&setting.places, &path, before.as_deref())?) {
            (Some(_), Some(original)) => original,
            (Some(text), None) => part.unregister(text).map_err(refuse)?.of(text),
            (None, _) => None,
        };
        files.push(FileChange { keep_as: path.clone(), path, before, after, original: None });
    }
    // What the agent trusts is taken away before what it would run.
    files.reverse();
    let noted = Noted::new(agent.name(), setting);
    Ok(Plan { files, notices: Vec::new(), noted, state: setting.places.clone(), installing: false })
}

/// The files that an installation changes, in the order in which they are written.
fn parts(agent: Agent, setting: &Setting, trust: bool) -> Result<Vec<Box<dyn Part>>, Error> {
    let boxed = |file: part::OwnFile| Box::new(file) as Box<dyn Part>;
    let made: Result<Vec<Box<dyn Part>>, String> = match (agent, hooks(agent, setting)) {
        (Agent::OpenCode, _) => shim::opencode(setting).map(|file| vec![boxed(file)]),
        (Agent::Zed, _) => zed::settings(setting).map(|file| vec![Box::new(file) as _]),
        (Agent::OpenClaw, _) => shim::openclaw(setting).and_then(|files| {
            let mut parts: Vec<Box<dyn Part>> = files.into_iter().map(boxed).collect();
            parts.push(Box::new(openclaw::PluginList::new(setting)?));
            Ok(parts)
        }),
        (Agent::Codex, _) if setting.scope == Scope::Managed => {
            codex_managed::requirements(setting).map(|part| vec![Box::new(part) as _])
        }
        (Agent::Codex, Some(file)) if trust => file.and_then(|file| {
            let trust = codex_trust::Trust::new(setting)?;
            Ok(vec![Box::new(file) as Box<dyn Part>, Box::new(trust)])
        }),
        (_, Some(file)) => file.map(|file| vec![Box::new(file) as _]),
        (_, None) => return Err(Error::NotInstallable(agent.title())),
    };
    made.map_err(|why| Error::CannotInstall { agent: agent.title(), why })
}

/// The file of hooks of an agent that has one.
fn hooks(agent: Agent, setting: &Setting) -> Option<Result<hooks_json::HooksFile, String>> {
    match agent {
        Agent::ClaudeCode => Some(claude_code::hooks(setting)),
        Agent::Codex => Some(codex::hooks(setting)),
        Agent::Gemini => Some(gemini::hooks(setting)),
        Agent::Copilot => Some(copilot::hooks(setting)),
        Agent::Cursor => Some(cursor::hooks(setting)),
        Agent::OpenCode | Agent::OpenClaw | Agent::Zed => None,
    }
}

/// What in a text of the agent's switches Sayso off.
fn switched_off(agent: Agent, text: &str) -> Vec<String> {
    let Some(settings) = json_text::value(text) else { return Vec::new() };
    match agent {
        Agent::ClaudeCode => claude_code::switched_off(&settings),
        Agent::Gemini => gemini::switched_off(&settings),
        Agent::Copilot => copilot::switched_off(&settings),
        Agent::Zed => zed::unguarded(&settings),
        _ => Vec::new(),
    }
}

/// What the owner should know besides.
fn advice(agent: Agent, setting: &Setting) -> Vec<String> {
    let mut advice = Vec::new();
    match (agent, setting.scope) {
        (Agent::Codex, Scope::User | Scope::Project) if !setting.trust => advice.push(
            "Codex only runs hooks you trust: it asks the next time it starts, or run `sayso install codex --trust` to record your trust."
                .to_owned(),
        ),
        (Agent::OpenClaw, _) => {
            advice.push("OpenClaw loads plugins when its gateway starts, so restart the gateway.".to_owned());
        }
        (Agent::Zed, _) => advice.push(
            "Only the agent's own hooks see what it does not ask Zed about: install those too, for example `sayso install claude-code`."
                .to_owned(),
        ),
        _ => {}
    }
    if setting.scope == Scope::Project {
        advice.push(
            "This file belongs to the project and contains paths of this machine: do not commit it for others."
                .to_owned(),
        );
    }
    if setting.limiter.is_none() && matches!(agent, Agent::Codex | Agent::Gemini | Agent::Copilot) {
        advice.push(format!(
            "This system has no `timeout` program: if Sayso ever hangs, {} runs the call after {CALL_SECONDS} seconds.",
            agent.title()
        ));
    }
    advice
}

impl Plan {
    /// Whether anything changes.
    #[must_use]
    pub fn changes(&self) -> bool {
        self.files.iter().any(FileChange::changes)
    }

    /// The files that change.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().filter(|file| file.changes()).map(|file| file.path.as_path())
    }

    /// The change as a unified diff; empty if nothing changes.
    #[must_use]
    pub fn diff(&self) -> String {
        self.files.iter().map(FileChange::diff).collect()
    }

    /// Makes the change. Tells where the former contents are kept, if there were any.
    ///
    /// # Errors
    /// If a file changed since it was planned, or cannot be written. Then nothing has changed.
    pub fn apply(&self) -> Result<Vec<PathBuf>, Error> {
        for file in &self.files {
            if read(&file.path)? != file.before {
                return Err(Error::Changed(file.path.clone()));
            }
        }
        if self.installing {
            // First: what is registered and not protected would be the worse half.
            self.note()?;
        }
        let mut backups = Vec::new();
        let mut done: Vec<&FileChange> = Vec::new();
        for file in self.files.iter().filter(|file| file.changes()) {
            match self.make(file) {
                Ok(backup) => backups.extend(backup),
                Err(error) => {
                    for earlier in done {
                        // As far as it goes: the first failure is the one to tell.
                        let _ = write(&earlier.path, earlier.before.as_deref());
                    }
                    return Err(error);
                }
            }
            done.push(file);
        }
        if !self.installing {
            for file in &self.files {
                keep::forget(&self.state, &file.keep_as, file.after.is_none());
            }
            // Last, as it was noted first: the folders that the notes made are empty only now.
            let files: Vec<PathBuf> = self.files.iter().map(|file| file.path.clone()).collect();
            registered::forget(&self.state, self.noted.whose, self.noted.agent, &files)?;
        }
        Ok(backups)
    }

    /// Writes down what is registered, the content of the program included, for every later call to protect. [`Plan::apply`]
    /// does so too; alone it renews that after an upgrade of Sayso.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn note(&self) -> Result<(), Error> {
        let Noted { agent, whose, program, names, home } = &self.noted;
        let text = program.to_str().unwrap_or_default();
        // A list of servers without a server has nothing of Sayso's in it.
        let names_it = |file: &&FileChange| file.changes() || file.after.as_deref().is_some_and(|it| it.contains(text));
        let note = |file: &FileChange| Registered {
            agent: (*agent).to_owned(),
            file: file.path.clone(),
            program: program.clone(),
            names: names.clone(),
            home: home.clone(),
            ..Registered::default()
        };
        let files = self.files.iter().filter(|file| *agent != MCP || names_it(file)).map(note).collect();
        Ok(registered::note(&self.state, *whose, files)?)
    }

    fn make(&self, file: &FileChange) -> Result<Option<PathBuf>, Error> {
        let backup = if self.installing {
            keep::remember(&self.state, &file.keep_as, file.original.as_deref(), file.after.as_deref())?
        } else {
            None
        };
        write(&file.path, file.after.as_deref())?;
        Ok(backup)
    }
}

impl FileChange {
    fn changes(&self) -> bool {
        self.before != self.after
    }

    fn diff(&self) -> String {
        let name = self.path.display().to_string();
        sayso_gate::unified(&name, self.before.as_deref(), self.after.as_deref())
    }
}
