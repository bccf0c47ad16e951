//! What agents were told to start, written down by `install` for every later process to protect.
//!
//! A hook cannot read the settings of every agent at every call, and by their names alone nobody can tell which program,
//! wrapper or settings file of this machine a guard depends on. So `install` notes them: what is registered, where it
//! really is, the links on the way, and the content of the program. Notes of a user lie in Sayso's own folder, those of
//! the whole machine beside the managed policy.
//!
//! INVARIANT: notes only add to what is protected. One that is missing or cannot be read takes nothing away.

use crate::files::read_regular;
use crate::places::write_own;
use crate::policy::own::follow;
use crate::{Error, Places};
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// The name of the file.
const FILE: &str = "registered.json";
/// Far more than every agent in a thousand projects takes.
const LARGEST: usize = 4 * 1024 * 1024;

/// Sayso's own programs, which lie side by side: everything, and the hook alone.
pub const PROGRAMS: [&str; 2] = ["sayso", "sayso-hook"];

/// Sayso's programs beside this one, itself included: who replaces one of them can take the place of the other.
pub(crate) fn side_by_side(program: &Path) -> impl Iterator<Item = PathBuf> {
    let beside = program.file_name().is_some_and(|name| PROGRAMS.iter().any(|known| name == *known));
    let others = PROGRAMS.into_iter().filter(move |_| beside).map(|name| program.with_file_name(name));
    std::iter::once(program.to_owned()).filter(move |_| !beside).chain(others)
}

/// One file in which Sayso is registered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registered {
    /// The agent, or `mcp`.
    pub agent: String,
    /// The file.
    pub file: PathBuf,
    /// The program that it starts.
    pub program: PathBuf,
    /// The hash of the program's content when it was registered.
    pub content: Option<String>,
    /// What else it names: a program that limits its time, policy files.
    #[serde(default)]
    pub names: Vec<PathBuf>,
    /// The home folder whose policy and record it uses, where it names one.
    #[serde(default)]
    pub home: Option<PathBuf>,
    /// Where all of these really are, if not where their names say. [`note`] looks.
    #[serde(default)]
    pub real: Vec<PathBuf>,
    /// The links on the way. [`note`] looks.
    #[serde(default)]
    pub links: Vec<PathBuf>,
}

impl Registered {
    /// Every path that a call must not change.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.file, &self.program].into_iter().chain(&self.names).chain(&self.real)
    }

    /// Links that must stay as they are.
    pub(crate) fn links(&self) -> &[PathBuf] {
        &self.links
    }

    fn look(mut self) -> Self {
        self.content = content_of(&self.program);
        self.links.clear();
        let real: Vec<PathBuf> = [&self.file, &self.program]
            .into_iter()
            .chain(&self.names)
            .map(|path| follow(Path::new("/"), path, &mut self.links))
            .collect();
        self.real = real;
        let named = [self.file.clone(), self.program.clone()];
        self.real.retain(|path| !named.contains(path) && !self.names.contains(path));
        for list in [&mut self.real, &mut self.links] {
            list.sort();
            list.dedup();
        }
        self
    }
}

/// Whose notes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// This user's.
    User,
    /// The machine's.
    Machine,
}

/// Everything that is noted for this user, and for the machine.
#[must_use]
pub fn all(places: &Places) -> Vec<Registered> {
    let mut all = read(places, Whose::Machine);
    all.extend(read(places, Whose::User));
    all
}

/// Notes files in which Sayso is registered from now on, as everything that they name is now. What was noted of the
/// same files before is replaced.
///
/// # Errors
/// If the notes cannot be written.
pub fn note(places: &Places, whose: Whose, registered: Vec<Registered>) -> Result<(), Error> {
    change(places, whose, |notes| {
        notes.retain(|old| !registered.iter().any(|new| new.file == old.file && new.agent == old.agent));
        notes.extend(registered.into_iter().map(Registered::look));
    })
}

/// Forgets files in which Sayso is not registered any more.
///
/// # Errors
/// If the notes cannot be written.
pub fn forget(places: &Places, whose: Whose, agent: &str, files: &[PathBuf]) -> Result<(), Error> {
    change(places, whose, |notes| notes.retain(|note| note.agent != agent || !files.contains(&note.file)))
}

/// The hash of a program's content; `None` if it cannot be read.
#[must_use]
pub fn content_of(program: &Path) -> Option<String> {
    let mut hasher = blake3::Hasher::new();
    std::io::copy(&mut std::fs::File::open(program).ok()?, &mut hasher).ok()?;
    Some(hasher.finalize().to_hex().to_string())
}

fn change(places: &Places, whose: Whose, how: impl FnOnce(&mut Vec<Registered>)) -> Result<(), Error> {
    let path = match whose {
        Whose::User => places.own_folder("")?.join(FILE),
        Whose::Machine => {
            let path = path(places, whose);
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder).map_err(|e| Error::io("create", folder, e))?;
            }
            path
        }
    };
    let before = read(places, whose);
    let mut notes = before.clone();
    how(&mut notes);
    if notes == before {
        return Ok(());
    }
    if notes.is_empty() {
        return remove(&path);
    }
    let text = serde_json::to_vec_pretty(&notes).map_err(|e| Error::io("write", &path, std::io::Error::from(e)))?;
    write_own(&path, &text)?;
    if whose == Whose::Machine {
        // Every user's hooks read it; only its owner may change it.
        let readable = std::fs::Permissions::from_mode(0o644);
        std::fs::set_permissions(&path, readable).map_err(|e| Error::io("open", &path, e))?;
    }
    Ok(())
}

/// Nothing is registered any more: nothing is left behind, no folder that was made for the notes either.
fn remove(path: &Path) -> Result<(), Error> {
    std::fs::remove_file(path).map_err(|e| Error::io("remove", path, e))?;
    for folder in path.ancestors().skip(1).take(2) {
        // One that holds something else stays.
        let _ = std::fs::remove_dir(folder);
    }
    Ok(())
}

fn path(places: &Places, whose: Whose) -> PathBuf {
    match whose {
        Whose::User => places.state.join(FILE),
        Whose::Machine => places.managed.with_file_name(FILE),
    }
}

/// The notes, if nobody else can have written them.
fn read(places: &Places, whose: Whose) -> Vec<Registered> {
    let owner = match whose {
        Whose::User => rustix::process::geteuid().as_raw(),
        Whose::Machine => places.managed_owner,
    };
    match read_regular(&path(places, whose), LARGEST, OFlags::NOFOLLOW) {
        Ok((text, meta)) if meta.uid() == owner && meta.mode() & 0o022 == 0 => {
            serde_json::from_slice(&text).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}
