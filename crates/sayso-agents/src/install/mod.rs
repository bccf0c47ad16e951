//! Putting Sayso in an agent's way, and taking it away again.
//!
//! A change is planned first, so that it can be shown; then it is made, if the files are still the same. What was there
//! before is kept, and `uninstall` puts it back byte for byte unless somebody else has changed a file meanwhile: then
//! only what is Sayso's is taken out.

pub(crate) mod command;
pub(crate) mod hooks_json;
mod inspect;
mod installer;
pub(crate) mod json_text;
mod keep;
mod mcp;
pub(crate) mod part;
pub(crate) mod plugin_file;

pub(crate) use command::{CALL_SECONDS, quoted};
pub use inspect::{Finding, Registration, registrations};
pub(crate) use installer::Installer;
pub(crate) use json_text::Comments;
pub use mcp::{plan_install_mcp, plan_uninstall_mcp};

use crate::agent::Row;
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
    /// Who asks, as the owner states it: written into the registration.
    pub stated: Option<String>,
    /// A program like `timeout` of coreutils, that ends a hook that hangs, for agents that would then let the call run.
    pub limiter: Option<PathBuf>,
    /// Policy files to judge by instead of the owner's own, as options of the hook: `--policy FILE --policy-format F`.
    pub policy: Vec<String>,
    /// The owner said clearly that the agent may trust the hook without asking again.
    pub trust: bool,
    /// `/`, but for tests.
    pub root: PathBuf,
}

impl Setting {
    /// Of nobody in particular, on this machine.
    #[must_use]
    pub fn here(scope: Scope, places: Places, project: PathBuf, program: PathBuf) -> Self {
        let limiter = ["/usr/bin/timeout", "/bin/timeout"].into_iter().map(PathBuf::from).find(|path| path.is_file());
        let (agent_folder, shell) = (None, None);
        Self {
            places,
            scope,
            project,
            agent_folder,
            program,
            shell,
            stated: None,
            limiter,
            policy: Vec::new(),
            trust: false,
            root: "/".into(),
        }
    }

    /// Of an agent, as the environment has it.
    #[must_use]
    pub fn of(self, agent: Agent) -> Self {
        let row = agent.row();
        let agent_folder = row.settings.moved(|name| std::env::var_os(name).map(PathBuf::from));
        // Managed settings are for every user: each one's own is found when the hook runs.
        let shell =
            (self.scope != Scope::Managed).then(|| row.shell.to_register(|name| std::env::var(name).ok()).to_owned());
        Self { agent_folder, shell, ..self }
    }

    /// The folder of an agent's user settings.
    pub(crate) fn folder_of(&self, agent: &Row) -> PathBuf {
        self.agent_folder.clone().unwrap_or_else(|| self.places.home.join(agent.settings.below_home))
    }
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

/// What the owner is asked where the agent runs no hook before it is trusted.
#[must_use]
pub fn trust_question(agent: Agent, setting: &Setting) -> Option<&'static str> {
    agent.row().installer.trust_question(setting)
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
    let made = agent.row().installer.parts(setting, trust);
    made.map_err(|why| Error::CannotInstall { agent: agent.title(), why })
}

/// What in a text of the agent's switches Sayso off.
fn switched_off(agent: Agent, text: &str) -> Vec<String> {
    json_text::value(text).map(|settings| agent.row().installer.switched_off(&settings)).unwrap_or_default()
}

/// What the owner should know besides.
fn advice(agent: Agent, setting: &Setting) -> Vec<String> {
    let installer = agent.row().installer;
    let mut advice: Vec<String> = installer.advice(setting).into_iter().map(ToOwned::to_owned).collect();
    if setting.scope == Scope::Project {
        advice.push(
            "This file belongs to the project and contains paths of this machine: do not commit it for others."
                .to_owned(),
        );
    }
    if setting.limiter.is_none() && installer.runs_calls_of_late_hooks() {
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
