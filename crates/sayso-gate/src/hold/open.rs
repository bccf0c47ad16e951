//! Holds that are, or were, open, and what came of them under names that steer something.
//!
//! What exists when a hold is made is covered by it. What a run makes anew is not, and whoever runs something there later,
//! unheld, would go by it: `sub/CLAUDE.md`, `sub/.npmrc`, a repository with hooks. So what there was is written down when
//! bounds are made, and compared with what is there when the run has ended: what is new is moved aside. If the runner is
//! killed, its file stays, and the next call that is judged looks instead of it.
//!
//! INVARIANT: a file of an open hold is removed only after somebody has looked, with nothing of the hold still running.

use super::aside::move_aside;
use super::permit::Raw;
use super::store::{UNDER_WAY, is_plain, is_plain_tree, is_plain_work};
use crate::audit::{Happening, Held, HeldBackRecord, Spool, What};
use crate::files::read_regular;
use crate::{Error, InForce, Places};
use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use sayso_policy::explain::visible;
use sayso_policy::hold::{HoldGround, Lowered};
use sayso_policy::{Actor, Code, ToolCall, ToolFinding, Verdict};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

const FOLDER: &str = "hold/open";
/// The largest file that is read.
const LARGEST: usize = 16 * 1024 * 1024;
/// How many are looked at for one call. What is in the way of the others is not known.
const MOST: usize = 16;
/// How many things that were left are named for one call.
const MOST_TOLD: usize = 4;

/// Something that a held run left under a guarded name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The name.
    pub path: PathBuf,
    /// Where it is now; `None`: it could not be moved.
    pub aside: Option<PathBuf>,
}

/// Something that may still steer what runs unheld: held runs left it, or may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unsettled {
    /// The workspace of the runs.
    workspace: PathBuf,
    /// What could not be moved aside; the workspace itself where nobody could look.
    path: PathBuf,
}

impl Unsettled {
    /// Whether a call in these folders may meet it. One that says nothing of where it is may.
    fn concerns(&self, call: &ToolCall) -> bool {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let places: Vec<PathBuf> = call.workspace.root().into_iter().chain(call.cwd.as_deref()).map(real).collect();
        places.is_empty() || places.iter().any(|it| it.starts_with(&self.workspace) || self.workspace.starts_with(it))
    }

    /// What is to be said of such a call.
    fn finding(&self) -> ToolFinding {
        let shown = |path: &Path| visible(&path.display().to_string()).into_owned();
        let text = if self.path == self.workspace {
            format!(
                "A held run may have left files in {} that steer other programs, and Sayso cannot check: the folder cannot be listed \
                 to the end. Remove what is too much there.",
                shown(&self.workspace)
            )
        } else {
            format!(
                "A held run left {}, which steers other programs, and it could not be moved aside. Remove it.",
                shown(&self.path)
            )
        };
        ToolFinding { verdict: Verdict::Ask, code: Code::HeldFilesLeft.into(), text }
    }
}

/// What is to be said of a call where held runs left something, or may have.
///
/// INVARIANT: it only makes a decision stricter.
pub(crate) fn findings(unsettled: &[Unsettled], call: &ToolCall) -> Vec<ToolFinding> {
    unsettled.iter().filter(|it| it.concerns(call)).take(MOST_TOLD).map(Unsettled::finding).collect()
}

/// What there was when bounds were made.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    workspace: Raw,
    home: Raw,
    aside: Option<Raw>,
    /// What is guarded, and there.
    known: Vec<Raw>,
    /// What is guarded by its very name, and not there.
    missing: Vec<Raw>,
    /// Links that are guarded, and where they lead.
    links: Vec<(Raw, Raw)>,
    /// Stores of git, and the folders of their work trees.
    stores: Vec<Raw>,
    trees: Vec<Raw>,
    /// What git had not finished.
    work: Vec<Raw>,
    /// Where the supervisor of a session listens that keeps processes running.
    socket: Option<Raw>,
}

/// The files of this process, locked as long as it lives.
static OWN: Mutex<Vec<(PathBuf, File)>> = Mutex::new(Vec::new());

/// Writes down what there is, before a hold is made from these bounds.
pub(super) fn begin(places: &Places, ground: &HoldGround, lowered: &Lowered) -> Result<(), Error> {
    let (Some(workspace), Some(home)) = (&ground.workspace, &ground.home) else { return Ok(()) };
    let bounds = &lowered.bounds;
    if !bounds.write.iter().any(|folder| workspace.starts_with(folder)) {
        return Ok(());
    }
    let is_missing = |path: &&PathBuf| std::fs::symlink_metadata(path).is_err();
    let inside = |path: &&PathBuf| bounds.write.iter().any(|folder| path.starts_with(folder));
    let named = bounds.absent.iter().chain(&bounds.read_only).filter(inside);
    let mut stores = stores(ground);
    // No mount keeps these as they are: what is plain now must be so afterwards.
    stores.retain(|store| !(ground.made_stores.contains(store) && is_plain(store, &[])));
    let known = guarded(lowered, workspace);
    let link = |path: &PathBuf| Some((Raw::of(path), Raw::of(&std::fs::read_link(path).ok()?)));
    let raw = |paths: &mut dyn Iterator<Item = &PathBuf>| paths.map(|path| Raw::of(path)).collect::<Vec<_>>();
    let kept = Kept {
        workspace: Raw::of(workspace),
        home: Raw::of(home),
        aside: bounds.aside.as_deref().map(Raw::of),
        missing: raw(&mut named.filter(is_missing)),
        links: known.iter().filter_map(link).collect(),
        trees: raw(&mut stores.iter().flat_map(|store| trees(store)).collect::<Vec<_>>().iter()),
        work: raw(&mut under_way(&stores).iter()),
        stores: raw(&mut stores.iter()),
        known: raw(&mut known.iter()),
        socket: None,
    };
    let content = serde_json::to_vec(&kept)?;
    // INVARIANT: what is written is read again. A longer one would look like one that nobody has finished.
    if content.len() > LARGEST {
        return Err(Error::TooMuchToHold(workspace.clone()));
    }
    let folder = places.own_folder(FOLDER)?;
    let path = folder.join(crate::audit::fresh_id());
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let file = rustix::fs::open(&path, flags, Mode::RUSR | Mode::WUSR).map_err(|e| Error::io("make", &path, e))?;
    // Locked while it is empty: nobody takes it for one that was left behind.
    flock(&file, FlockOperation::NonBlockingLockExclusive).map_err(|e| Error::io("lock", &path, e))?;
    let mut file = File::from(file);
    file.write_all(&content).map_err(|e| Error::io("write", &path, e))?;
    if let Some(aside) = &bounds.aside {
        std::fs::create_dir_all(aside).map_err(|e| Error::io("make", aside, e))?;
    }
    OWN.lock().unwrap_or_else(PoisonError::into_inner).push((path, file));
    Ok(())
}

/// The runs of this process have ended: moves aside what they left under guarded names, and returns it for their record.
/// `still_running` is the socket of the session's supervisor, if processes of the hold go on: then every later call looks again.
#[must_use]
pub fn settle(places: &Places, still_running: Option<&Path>) -> Vec<Moved> {
    let own = std::mem::take(&mut *OWN.lock().unwrap_or_else(PoisonError::into_inner));
    let mut moved = Vec::new();
    for (path, file) in own {
        let Some(mut kept) = read(&path) else { continue };
        let found = look(places, &kept, None);
        let settled = is_out_of_the_way(&found);
        moved.extend(found);
        match still_running {
            None if settled => drop(std::fs::remove_file(&path)),
            None => {}
            Some(socket) => {
                kept.socket = Some(Raw::of(socket));
                // If this fails it says less, and is looked at all the same.
                let _ = serde_json::to_vec(&kept).map(|content| crate::places::write_own(&path, &content));
            }
        }
        drop(file);
    }
    moved
}

/// Looks for what holds left that nobody has settled, or that still run something, before a call is judged. Costs a look into
/// a folder where there are none. Returns what is not out of the way.
pub(crate) fn look_again(places: &Places, in_force: &InForce) -> Vec<Unsettled> {
    let Ok(entries) = std::fs::read_dir(places.state.join(FOLDER)) else { return Vec::new() };
    let mut unsettled = Vec::new();
    let (mut looked, mut seen) = (0_usize, BTreeSet::new());
    for path in entries.flatten().map(|entry| entry.path()).filter(|path| path.extension().is_none()) {
        let own = OWN.lock().unwrap_or_else(PoisonError::into_inner).iter().any(|(own, _)| *own == path);
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let Ok(file) = rustix::fs::open(&path, flags, Mode::empty()) else { continue };
        let runs = own || flock(&file, FlockOperation::NonBlockingLockExclusive).is_err();
        let Some(kept) = read(&path) else {
            // The process that made it was killed before it had written it: nothing ran.
            if !runs {
                let _ = std::fs::remove_file(&path);
            }
            continue;
        };
        let workspace = kept.workspace.path();
        looked = looked.saturating_add(1);
        if looked > MOST {
            // INVARIANT: many that were killed hide none. Each call looks at some, so that in the end none is left.
            if seen.insert(workspace.clone()) {
                unsettled.push(Unsettled { path: workspace.clone(), workspace });
            }
            continue;
        }
        let goes_on = runs || kept.socket.as_ref().is_some_and(|socket| is_served(&socket.path()));
        let moved = look(places, &kept, Some(in_force));
        if !moved.is_empty() {
            tell(places, &workspace, &moved);
        }
        if !goes_on && is_out_of_the_way(&moved) {
            let _ = std::fs::remove_file(&path);
        }
        let left = moved.into_iter().filter(|it| it.aside.is_none() && exists(&it.path));
        unsettled.extend(left.map(|it| Unsettled { workspace: workspace.clone(), path: it.path }));
    }
    unsettled
}

/// Whether nothing is left of what was found: what could not be moved, and a workspace that could not be looked at, is
/// looked at again before the next call.
fn is_out_of_the_way(found: &[Moved]) -> bool {
    found.iter().all(|it| it.aside.is_some() || !exists(&it.path))
}

fn read(path: &Path) -> Option<Kept> {
    let (content, _) = read_regular(path, LARGEST, OFlags::NOFOLLOW).ok()?;
    serde_json::from_slice(&content).ok()
}

/// Whether a supervisor still has its lock.
fn is_served(socket: &Path) -> bool {
    let mut name = socket.as_os_str().to_owned();
    name.push(".lock");
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    match rustix::fs::open(PathBuf::from(name), flags, Mode::empty()) {
        Ok(file) => flock(&file, FlockOperation::NonBlockingLockExclusive).is_err(),
        Err(_) => false,
    }
}

/// What is guarded below the workspace, and there. Parts of git's stores are looked at by themselves.
fn guarded(lowered: &Lowered, workspace: &Path) -> BTreeSet<PathBuf> {
    let all = lowered.steering.iter();
    let of_store = |path: &Path| path.strip_prefix(workspace).is_ok_and(|rest| rest.iter().any(|part| part == ".git"));
    let there = |path: &Path| std::fs::symlink_metadata(path).is_ok();
    let mut found: BTreeSet<PathBuf> = BTreeSet::new();
    for path in all.filter(|path| path.starts_with(workspace) && *path != workspace && !of_store(path) && there(path)) {
        found.insert(path.clone());
    }
    found
}

/// The stores of git in the workspace, and those that its work trees lead to.
fn stores(ground: &HoldGround) -> BTreeSet<PathBuf> {
    let tops = ground.workspace.iter().chain(&ground.repositories).map(|top| top.join(".git"));
    let inside = tops.filter(|git| std::fs::symlink_metadata(git).is_ok());
    let found = ground.bare.iter().chain(&ground.made_stores).cloned();
    inside.chain(found).chain(ground.stores.iter().map(|store| store.common.clone())).collect()
}

/// The folders of the work trees of a store.
fn trees(store: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(store.join("worktrees")).into_iter().flatten().flatten();
    entries.take(1024).map(|entry| entry.path()).collect()
}

/// What git does in several steps, and has begun.
fn under_way(stores: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let folders = stores.iter().flat_map(|store| std::iter::once(store.clone()).chain(trees(store)));
    folders.flat_map(|folder| UNDER_WAY.map(|name| folder.join(name))).filter(|path| exists(path)).collect()
}

/// Compares what is there with what was, and moves aside what is new.
fn look(places: &Places, kept: &Kept, in_force: Option<&InForce>) -> Vec<Moved> {
    let (workspace, home) = (kept.workspace.path(), kept.home.path());
    let aside = kept.aside.as_ref().map(Raw::path);
    let set = |raw: &[Raw]| raw.iter().map(Raw::path).collect::<BTreeSet<_>>();
    let (known, known_stores, known_trees) = (set(&kept.known), set(&kept.stores), set(&kept.trees));
    let known_work = set(&kept.work);
    let stores: Vec<PathBuf> = known_stores.iter().cloned().collect();
    let mut bad: BTreeSet<PathBuf> = set(&kept.missing).into_iter().filter(|path| exists(path)).collect();
    for store in &known_stores {
        bad.extend(trees(store).into_iter().filter(|own| !known_trees.contains(own) && !is_plain_tree(own)));
        // What git does in several steps. What was there before could not be changed.
        for folder in std::iter::once(store.clone()).chain(trees(store)) {
            let work = UNDER_WAY.iter().map(|name| folder.join(name));
            bad.extend(work.filter(|path| !known_work.contains(path) && !is_plain_work(path)));
        }
    }
    let own = in_force.is_none().then(|| InForce::load_compiled(places, Some(&workspace)).ok()).flatten();
    let now = in_force.or(own.as_ref()).and_then(|it| super::ground::seen_again(places, it, &workspace, &home).ok());
    if let Some((ground, lowered)) = &now {
        bad.extend(guarded(lowered, &workspace).difference(&known).cloned());
        let new = self::stores(ground).into_iter().filter(|store| !known_stores.contains(store));
        bad.extend(new.filter(|store| store.starts_with(&workspace) && !is_plain(store, &stores)));
    }
    let mut moved = Vec::new();
    for path in &bad {
        // With the folder around it, it is gone already.
        if path.ancestors().skip(1).any(|above| bad.contains(above)) {
            continue;
        }
        moved.push(Moved { path: path.clone(), aside: move_aside(path, aside.as_deref()) });
    }
    for (link, target) in &kept.links {
        let (link, target) = (link.path(), target.path());
        if std::fs::read_link(&link).is_ok_and(|now| now == target) {
            continue;
        }
        let to = if exists(&link) { move_aside(&link, aside.as_deref()) } else { None };
        let _ = std::os::unix::fs::symlink(&target, &link);
        moved.push(Moved { path: link, aside: to });
    }
    if now.is_none() {
        // Nobody could tell what is new there. It says so where it can be seen.
        moved.push(Moved { path: workspace, aside: None });
    }
    moved
}

fn exists(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok()
}

/// Records what was found after a run that nobody told of.
fn tell(places: &Places, workspace: &Path, moved: &[Moved]) {
    let mut happening = Happening::new(What::HeldRun, "gate", Actor::default());
    happening.workspace = Some(workspace.display().to_string());
    happening.text = Some(format!("after a held run: {} guarded names moved aside", moved.len()));
    let shown = |path: &Path| String::from_utf8_lossy(path.as_os_str().as_bytes()).into_owned();
    let target = |it: &Moved| match &it.aside {
        Some(to) => format!("{} (moved to {})", shown(&it.path), shown(to)),
        None => shown(&it.path),
    };
    let back =
        moved.iter().take(64).map(|it| HeldBackRecord { verb: "write".to_owned(), target: target(it), count: 1 });
    happening.held = Some(Held { back: back.collect(), ..Held::default() });
    // It makes it no stricter.
    let _ = Spool::open(places).and_then(|spool| spool.note(&happening));
}
