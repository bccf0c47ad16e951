//! The policy as its files change. A good version takes the old one's place between two decisions; a bad one does not.

use super::repository::Repository;
use super::source::PROJECT_FILE;
use super::{InForce, own, trust};
use crate::{Error, Places};
use sayso_policy::PolicyText;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often the files are looked at, at most. A look is a few `stat`s.
const LOOK: Duration = Duration::from_millis(200);

/// The policy in force, now and from now on.
///
/// Files are looked at when somebody asks, not watched: that needs no thread, misses nothing on network file systems
/// and behind links, and a server that judges nothing needs no policy.
pub struct Live {
    source: Source,
    state: Mutex<State>,
}

enum Source {
    Fixed,
    Files {
        places: Places,
        workspace: Option<PathBuf>,
        beside: Option<PathBuf>,
    },
    /// Files that the owner named, and the places of what guards itself beside them.
    Given {
        places: Places,
        files: Vec<PolicyText>,
    },
}

struct State {
    current: Arc<InForce>,
    looked: Instant,
    seen: Vec<Mark>,
    /// Why what is there now is not in force.
    refused: Option<String>,
}

/// What tells that a file is another one: where it is, which one it is, how long, and when it changed.
type Mark = (PathBuf, Option<(u64, u64, u64, i64, i64, i64, i64)>);

impl Live {
    /// A policy that does not change.
    #[must_use]
    pub fn fixed(in_force: InForce) -> Self {
        let current = Arc::new(in_force);
        let state = State { current, looked: Instant::now(), seen: Vec::new(), refused: None };
        Self { source: Source::Fixed, state: Mutex::new(state) }
    }

    /// A policy that was loaded from the files of this workspace a moment ago: for a hook, whose life is short, but
    /// which may wait for people.
    #[must_use]
    pub fn loaded(in_force: InForce, places: &Places, workspace: Option<&Path>) -> Self {
        let workspace = workspace.map(Path::to_owned);
        let source = Source::Files { places: places.clone(), workspace, beside: None };
        Self { source, ..Self::fixed(in_force) }
    }

    /// The files of this machine, this user and the project of this workspace, followed as they change.
    ///
    /// # Errors
    /// As [`InForce::load`].
    pub fn follow(places: &Places, workspace: Option<&Path>) -> Result<Self, Error> {
        Self::follow_beside(places, workspace, None)
    }

    /// The same, with what the project of another folder restricts: of the one that a call runs in, where its caller names
    /// a workspace elsewhere.
    ///
    /// # Errors
    /// As [`InForce::load`].
    pub fn follow_beside(places: &Places, workspace: Option<&Path>, beside: Option<&Path>) -> Result<Self, Error> {
        let owned = |folder: Option<&Path>| folder.map(Path::to_owned);
        let source = Source::Files { places: places.clone(), workspace: owned(workspace), beside: owned(beside) };
        // Marked before it is read: a change in between is seen by the next look.
        let seen = marks(places, [workspace, beside]);
        let current = Arc::new(InForce::load_beside(places, workspace, beside)?);
        Ok(Self { source, state: Mutex::new(State { current, looked: Instant::now(), seen, refused: None }) })
    }

    /// The files that the owner named, and then no others; else those of this machine, this user and the project, followed as
    /// they change.
    ///
    /// # Errors
    /// As [`InForce::load`].
    pub fn of(places: &Places, given: Option<&[PolicyText]>, workspace: Option<&Path>) -> Result<Self, Error> {
        match given {
            Some(files) => {
                let source = Source::Given { places: places.clone(), files: files.to_vec() };
                let seen = given_marks(files);
                let live = Self::fixed(InForce::given(files.to_vec())?.guarding(places));
                live.lock().seen = seen;
                Ok(Self { source, ..live })
            }
            None => Self::follow(places, workspace),
        }
    }

    /// The policy in force. Whoever judges a call holds on to it until the call is judged.
    #[must_use]
    pub fn current(&self) -> Arc<InForce> {
        let mut state = self.lock();
        // A hook on a slow machine is still about the policy that it has just loaded: only who waited looks again.
        if !state.seen.is_empty() && state.looked.elapsed() >= LOOK {
            self.look(&mut state);
        }
        Arc::clone(&state.current)
    }

    /// The same, looked at now: for those who waited.
    #[must_use]
    pub fn current_now(&self) -> Arc<InForce> {
        let mut state = self.lock();
        self.look(&mut state);
        Arc::clone(&state.current)
    }

    /// Why what is there now is not in force, if so.
    #[must_use]
    pub fn refused(&self) -> Option<String> {
        self.lock().refused.clone()
    }

    fn look(&self, state: &mut State) {
        let seen = match &self.source {
            Source::Fixed => return,
            Source::Files { places, workspace, beside } => marks(places, [workspace.as_deref(), beside.as_deref()]),
            Source::Given { files, .. } => given_marks(files),
        };
        state.looked = Instant::now();
        if seen == state.seen {
            return;
        }
        let loaded = match &self.source {
            Source::Fixed => return,
            Source::Files { places, workspace, beside } => {
                InForce::load_beside(places, workspace.as_deref(), beside.as_deref())
            }
            Source::Given { places, files } => {
                reread(files).and_then(|files| Ok(InForce::given(files)?.guarding(places)))
            }
        };
        match loaded {
            Ok(new) => {
                (state.current, state.seen, state.refused) = (Arc::new(new), seen, None);
            }
            // Looked at again next time: the old one stays.
            Err(error) => state.refused = Some(error.to_string()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic leaves nothing half done here: fields are replaced whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The path of a file that was named; `None` for a preset.
fn given_path(file: &PolicyText) -> Option<&Path> {
    let name = sayso_formats::foreign_name(&file.name).map_or(file.name.as_str(), |(_, name)| name);
    (!name.starts_with("preset:")).then(|| Path::new(name))
}

fn given_marks(files: &[PolicyText]) -> Vec<Mark> {
    files.iter().filter_map(given_path).map(|path| (path.to_owned(), mark(path))).collect()
}

/// The same files with what they hold now. One that cannot be read is no empty file: the old ones stay.
fn reread(files: &[PolicyText]) -> Result<Vec<PolicyText>, Error> {
    let one = |file: &PolicyText| match given_path(file) {
        Some(path) => {
            let text = std::fs::read_to_string(path).map_err(|error| Error::Io {
                doing: "read",
                path: path.to_owned(),
                source: error,
            })?;
            Ok(PolicyText { text, ..file.clone() })
        }
        None => Ok(file.clone()),
    };
    files.iter().map(one).collect()
}

/// Everything whose change may change what is in force.
fn marks(places: &Places, folders: [Option<&Path>; 2]) -> Vec<Mark> {
    let mut paths = vec![places.managed.clone(), places.user.clone()];
    paths.extend(places.managed.parent().map(Path::to_owned));
    for workspace in folders.into_iter().flatten() {
        let repository = Repository::of(workspace);
        paths.extend(repository.chain(workspace).map(|folder| folder.join(PROJECT_FILE)));
        paths.push(trust::book(places, &repository));
    }
    let mut marks: Vec<Mark> = paths.into_iter().map(|path| (path.clone(), mark(&path))).collect();
    // Where they are, not what is in them: the record changes with each call.
    let own = own::protected(places);
    marks.extend([own.paths, own.registration, own.links].into_iter().flatten().map(|path| (path, None)));
    marks
}

fn mark(path: &Path) -> Option<(u64, u64, u64, i64, i64, i64, i64)> {
    let meta = std::fs::metadata(path).ok()?;
    Some((meta.dev(), meta.ino(), meta.size(), meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec()))
}
