//! Putting Sayso in an agent's way, and taking it away again.
//!
//! A change is planned first, so that it can be shown; then it is made, if the file is still the same. What was there
//! before is kept, and `uninstall` puts it back byte for byte unless somebody else has changed the file meanwhile:
//! then only what is Sayso's is taken out.

mod claude_code;
mod diff;
mod json_text;
mod keep;

use crate::{Agent, Error};
use sayso_gate::Places;
use std::path::{Path, PathBuf};

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
    /// `/`, but for tests.
    pub root: PathBuf,
}

/// A change that has not been made yet.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The agent's settings file.
    pub path: PathBuf,
    /// Its content now; `None`: it is not there.
    pub before: Option<String>,
    /// Its content afterwards; `None`: it is removed.
    pub after: Option<String>,
    /// What its owner should know.
    pub notices: Vec<String>,
    state: Places,
    installing: bool,
    /// The text to come back to, where it is not simply `before`.
    original: Option<String>,
}

/// Plans the registration of Sayso with an agent.
///
/// # Errors
/// If the agent's settings cannot be read or safely edited.
pub fn plan_install(agent: Agent, setting: &Setting) -> Result<Plan, Error> {
    let path = settings_path(agent, setting)?;
    let before = read(&path)?;
    let after =
        claude_code::register(before.as_deref(), setting).map_err(|why| Error::Settings { path: path.clone(), why })?;
    // Installed before: what to come back to is what was there before that, or this text without what is Sayso's.
    let original = match (&before, keep::original(&setting.places, &path, before.as_deref())?) {
        (_, Some(original)) => original,
        (Some(text), None) => claude_code::unregister(text).ok().flatten().or_else(|| before.clone()),
        (None, None) => None,
    };
    let notices = before.as_deref().map(claude_code::notices).unwrap_or_default();
    Ok(Plan { path, before, after: Some(after), notices, state: setting.places.clone(), installing: true, original })
}

/// Plans the removal of Sayso from an agent's settings.
///
/// # Errors
/// If the agent's settings cannot be read or safely edited.
pub fn plan_uninstall(agent: Agent, setting: &Setting) -> Result<Plan, Error> {
    let path = settings_path(agent, setting)?;
    let before = read(&path)?;
    let after = match (&before, keep::original(&setting.places, &path, before.as_deref())?) {
        (Some(_), Some(original)) => original,
        (Some(text), None) => claude_code::unregister(text)
            .map_err(|why| Error::Settings { path: path.clone(), why })?
            .or_else(|| before.clone()),
        (None, _) => None,
    };
    let state = setting.places.clone();
    Ok(Plan { path, before, after, notices: Vec::new(), state, installing: false, original: None })
}

impl Plan {
    /// Whether anything changes.
    #[must_use]
    pub fn changes(&self) -> bool {
        self.before != self.after
    }

    /// The change as a unified diff; empty if nothing changes.
    #[must_use]
    pub fn diff(&self) -> String {
        let name = self.path.display().to_string();
        diff::unified(&name, self.before.as_deref(), self.after.as_deref())
    }

    /// Makes the change. Tells where the former content is kept, if there was any.
    ///
    /// # Errors
    /// If the file changed since it was planned, or cannot be written.
    pub fn apply(&self) -> Result<Option<PathBuf>, Error> {
        if read(&self.path)? != self.before {
            return Err(Error::Changed(self.path.clone()));
        }
        if !self.changes() {
            return Ok(None);
        }
        let backup = if self.installing {
            keep::remember(&self.state, &self.path, self.original.as_deref(), self.after.as_deref())?
        } else {
            None
        };
        match &self.after {
            Some(text) => write(&self.path, text)?,
            None => {
                std::fs::remove_file(&self.path).map_err(|e| Error::io("remove", &self.path, e))?;
            }
        }
        if !self.installing {
            keep::forget(&self.state, &self.path, self.after.is_none());
        }
        Ok(backup)
    }
}

/// The agent's settings file; where it is a link, what it leads to.
fn settings_path(agent: Agent, setting: &Setting) -> Result<PathBuf, Error> {
    let Agent::ClaudeCode = agent else { return Err(Error::NotInstallable(agent.title())) };
    let path = claude_code::settings_path(setting);
    Ok(path.canonicalize().unwrap_or(path))
}

fn read(path: &Path) -> Result<Option<String>, Error> {
    match std::fs::read(path) {
        Ok(bytes) => {
            let refuse = |_| Error::Settings { path: path.to_owned(), why: "it is not UTF-8".to_owned() };
            String::from_utf8(bytes).map(Some).map_err(refuse)
        }
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(Error::io("read", path, e)),
    }
}

/// Replaces a file's content whole, its mode kept.
fn write(path: &Path, text: &str) -> Result<(), Error> {
    let failed = |e| Error::io("write", path, e);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    let temporary = path.with_extension("sayso-new");
    let written = (|| {
        std::fs::write(&temporary, text)?;
        if let Ok(meta) = std::fs::metadata(path) {
            std::fs::set_permissions(&temporary, meta.permissions())?;
        }
        std::fs::File::open(&temporary)?.sync_all()?;
        std::fs::rename(&temporary, path)
    })();
    written.map_err(|e| {
        let _ = std::fs::remove_file(&temporary);
        failed(e)
    })
}
