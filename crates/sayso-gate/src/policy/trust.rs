//! Trust in project files, by content. What came with a repository may only tighten until its owner trusts it.

use super::programs;
use super::repository::Repository;
use super::source::{self, PROJECT_FILE};
use crate::audit::{Change, Event, Kind, now_ms};
use crate::files::read_regular;
use crate::store;
use crate::{Error, Places};
use rustix::fs::OFlags;
use sayso_policy::{Layer, Policy, PolicyText};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The largest book of trust of one repository.
const LARGEST: usize = 64 * 1024 * 1024;

/// What is trusted in one repository.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Book {
    /// The repository it is about: a hash in a file's name is not proof enough.
    identity: PathBuf,
    pub(super) files: Vec<Trusted>,
}

/// A project file as it was trusted. The text is kept: it stays in force if the file breaks or disappears.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trusted {
    /// The file, relative to the repository's root.
    pub file: PathBuf,
    /// Its content's hash.
    pub hash: String,
    /// Its content.
    pub text: String,
    /// When it was trusted, in milliseconds since 1970.
    pub time_ms: u64,
}

/// How a workspace's project file stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// There is no project file, and none is trusted.
    Nothing,
    /// This file is not trusted: only its Ask and Deny count.
    Untrusted(PathBuf),
    /// This file is trusted as it is.
    Trusted(PathBuf),
    /// This file is not what was trusted: the trusted version stays in force, and this one's Ask and Deny count too.
    Changed(PathBuf),
    /// This trusted file is gone: it stays in force until trust is renewed.
    Gone(PathBuf),
}

/// Trusts the project file of a workspace as it is now. Where it is gone, what was trusted is dropped: either way
/// what is in force afterwards is what is there.
///
/// # Errors
/// If there is nothing to trust or to drop, if the file is broken, or if trust cannot be recorded or written down.
pub fn trust(places: &Places, workspace: &Path, by: &str) -> Result<Standing, Error> {
    let repository = Repository::of(workspace);
    let mut book = Book::open(places, &repository)?;
    let taught = programs::trust(places, (&repository, workspace), by, &mut book)?;
    let before = book.files.len();
    let mine = on_chain(&repository, workspace);
    book.files.retain(|t| !mine.contains(&t.file) || repository.root.join(&t.file).exists());
    let gone = before != book.files.len();
    let Some(found) = source::project(&repository, workspace) else {
        if !gone && !taught {
            return Err(Error::NoProjectFile(workspace.to_owned()));
        }
        if gone {
            record(places, ("dropped", by), &repository.root, json!({}))?;
        }
        book.write(places)?;
        return Ok(Standing::Nothing);
    };
    let text = found.text.map_err(|why| Error::Unsafe { path: found.path.clone(), why })?;
    let shown =
        PolicyText { layer: Layer::Project, name: places.shown(&found.path), text: text.clone(), trusted: true };
    Policy::compile(&[shown]).map_err(Error::Policy)?;
    let file = found.path.strip_prefix(&repository.root).unwrap_or(&found.path).to_owned();
    book.files.retain(|t| t.file != file);
    let trusted = Trusted { file, hash: hash(&text), text, time_ms: now_ms() };
    record(places, ("trusted", by), &found.path, json!({"hash": trusted.hash}))?;
    book.files.push(trusted);
    book.write(places)?;
    Ok(Standing::Trusted(found.path))
}

/// INVARIANT: recorded before it counts. Who lets a file loosen what is in force stands in the record.
pub(super) fn record(places: &Places, (what, by): (&str, &str), about: &Path, detail: Value) -> Result<(), Error> {
    let mut change = Change::now(Kind::Policy, what);
    change.about = Some(places.shown(about));
    change.by = Some(by.to_owned());
    change.detail = detail;
    store::open(places)?.append(&[Event::from(change)], &[])?;
    Ok(())
}

/// Takes trust back from the project files of a workspace. Tells whether there was any.
///
/// # Errors
/// If that cannot be recorded or written down.
pub fn distrust(places: &Places, workspace: &Path, by: &str) -> Result<bool, Error> {
    let repository = Repository::of(workspace);
    let mut book = Book::open(places, &repository)?;
    let mine = on_chain(&repository, workspace);
    let before = book.files.len();
    let taught = programs::distrust(&repository, workspace, &mut book);
    book.files.retain(|t| !mine.contains(&t.file));
    if !taught && before == book.files.len() {
        return Ok(false);
    }
    record(places, ("distrusted", by), &repository.root, json!({}))?;
    book.write(places)?;
    Ok(true)
}

/// How a workspace's project file stands.
///
/// # Errors
/// If the book of trust cannot be read.
pub fn standing(places: &Places, workspace: &Path) -> Result<Standing, Error> {
    let repository = Repository::of(workspace);
    let trusted = trusted(places, &repository, workspace)?;
    let at = |t: &Trusted| repository.root.join(&t.file);
    let Some(found) = source::project(&repository, workspace) else {
        return Ok(trusted.first().map_or(Standing::Nothing, |t| Standing::Gone(at(t))));
    };
    let now = found.text.as_deref().map(hash).ok();
    Ok(match trusted.iter().find(|t| at(t) == found.path) {
        Some(known) if now.as_deref() == Some(known.hash.as_str()) => Standing::Trusted(found.path),
        Some(_) => Standing::Changed(found.path),
        None => Standing::Untrusted(found.path),
    })
}

/// Everything trusted between the workspace and the repository's root. A nearer file that somebody plants does not
/// take the trusted ones out of force.
pub(super) fn trusted(places: &Places, repository: &Repository, workspace: &Path) -> Result<Vec<Trusted>, Error> {
    let mine = on_chain(repository, workspace);
    let mut files = Book::open(places, repository)?.files;
    files.retain(|t| mine.contains(&t.file));
    files.sort_by_key(|t| mine.iter().position(|file| *file == t.file));
    Ok(files)
}

/// Where the book of trust of a repository is.
pub(super) fn book(places: &Places, repository: &Repository) -> PathBuf {
    let name = blake3::hash(repository.identity.as_os_str().as_bytes()).to_hex();
    places.state.join("trust").join(format!("{name}.json"))
}

pub(super) fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

/// Where project files of this workspace may stand, relative to the root, the nearest first.
fn on_chain(repository: &Repository, workspace: &Path) -> Vec<PathBuf> {
    let relative = |folder: &Path| Some(folder.strip_prefix(&repository.root).ok()?.join(PROJECT_FILE));
    repository.chain(workspace).filter_map(relative).collect()
}

impl Book {
    /// An unreadable book is an error and not an empty one: what is trusted may also deny.
    pub(super) fn open(places: &Places, repository: &Repository) -> Result<Self, Error> {
        let path = book(places, repository);
        let content = match read_regular(&path, LARGEST, OFlags::NOFOLLOW) {
            Ok((content, _)) => content,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self { identity: repository.identity.clone(), files: Vec::new() });
            }
            Err(e) => return Err(Error::io("read", &path, e)),
        };
        let book: Self =
            serde_json::from_slice(&content).map_err(|e| Error::io("read", &path, std::io::Error::from(e)))?;
        let whole = book.identity == repository.identity && book.files.iter().all(|t| hash(&t.text) == t.hash);
        if !whole {
            return Err(Error::Unsafe { path, why: "its content does not match its hashes".to_owned() });
        }
        Ok(book)
    }

    fn write(&self, places: &Places) -> Result<(), Error> {
        places.own_folder("trust")?;
        let repository = Repository { root: PathBuf::new(), identity: self.identity.clone() };
        crate::places::write_own(&book(places, &repository), &serde_json::to_vec(self)?)
    }
}
