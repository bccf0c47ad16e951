//! From bounds to a plan: what must be looked up on this machine before the hold is made.

use crate::aside::Guards;
use crate::caches::{self, Slot};
use crate::error::Error;
use crate::hard_links;
use crate::names::Names;
use crate::plan::{Cover, Level, Plan, What, arrange};
use sayso_shell::bounds::{Bounds, CacheView};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Folders of the system that the hold arranges itself.
const OWN: [&str; 3] = ["/dev", "/proc", "/sys"];

/// Everything that is known before the first system call.
pub(crate) struct Prepared {
    pub(crate) plan: Plan,
    pub(crate) names: Names,
    pub(crate) guards: Guards,
    /// The decoys, in the order in which they are watched.
    pub(crate) decoys: Vec<PathBuf>,
    /// Sockets outside that may be reached.
    pub(crate) sockets: Vec<PathBuf>,
    /// Kept so that nobody else writes the same copies.
    pub(crate) slots: Vec<Slot>,
}

/// Looks up what the bounds mean here.
pub(crate) fn prepare(bounds: &Bounds, folder: &Path, level: Level) -> Result<Prepared, Error> {
    check(bounds)?;
    let guards = Guards::find(bounds)?;
    let names = Names::new(&bounds.hosts);
    let mut slots = Vec::new();
    let mut covers = Vec::new();
    let mut add = |path: &Path, what: What| covers.push(Cover { path: path.to_path_buf(), what });

    for path in &bounds.write {
        add(&existing(path)?, What::Write);
    }
    for path in &guards.read_only {
        add(path, What::ReadOnly);
    }
    for path in &bounds.hide {
        if let Some(path) = real(path) {
            add(&path, What::Hide);
        }
    }
    for path in bounds.read.iter().chain(&bounds.sockets) {
        if let Some(path) = real(path) {
            add(&path, What::Show);
        }
    }
    for decoy in &bounds.decoys {
        if let Some(path) = real(&decoy.path) {
            add(&path, What::Decoy(decoy.text.clone()));
        }
    }
    for path in &bounds.refuse {
        if let Some(path) = real(path) {
            add(&path, What::Refuse);
        }
    }
    if level == Level::Whole {
        for cache in &bounds.caches {
            let what = match &cache.seen {
                CacheView::Copy(store) => {
                    let slot = caches::take(store)?;
                    let what = if cache.path.is_dir() { slot.overlay() } else { What::Private(slot.upper()) };
                    slots.push(slot);
                    what
                }
                CacheView::Private(folder) => {
                    fs::create_dir_all(folder)?;
                    What::Private(existing(folder)?)
                }
                CacheView::Empty => What::Scratch,
            };
            add(&real(&cache.path).unwrap_or_else(|| cache.path.clone()), what);
        }
        if let Some(path) = real(Path::new("/etc/resolv.conf")) {
            add(&path, What::Text("nameserver 127.0.0.1\noptions timeout:2 attempts:1\n".to_owned()));
        }
    }
    hard_links::add(&mut covers, &bounds.write)?;
    let covers = without_what_is_missing(arrange(covers));

    let writable =
        covers.iter().filter(|cover| cover.what.is_written()).map(|cover| cover.path.clone()).collect::<Vec<_>>();
    let readable = if level == Level::Files { crate::carve::readable(&covers) } else { Vec::new() };
    let decoys =
        covers.iter().filter(|cover| matches!(cover.what, What::Decoy(_))).map(|cover| cover.path.clone()).collect();
    let plan = Plan {
        level,
        covers,
        readable,
        writable,
        addresses: names.literal_addresses(),
        listeners: names.listeners(),
        folder: folder.to_path_buf(),
        fail_at: None,
    };
    let sockets = bounds.sockets.clone();
    Ok(Prepared { plan, names, guards, decoys, sockets, slots })
}

/// Refuses bounds that would hold nothing, or that the hold itself would contradict.
fn check(bounds: &Bounds) -> Result<(), Error> {
    let wrong = |path: &Path, why: &str| Err(Error::Bounds { path: path.to_path_buf(), why: why.to_owned() });
    let all = bounds
        .write
        .iter()
        .chain(&bounds.read_only)
        .chain(&bounds.absent)
        .chain(&bounds.aside)
        .chain(&bounds.hide)
        .chain(&bounds.read)
        .chain(bounds.decoys.iter().map(|decoy| &decoy.path))
        .chain(&bounds.refuse)
        .chain(&bounds.sockets)
        .chain(bounds.caches.iter().map(|cache| &cache.path));
    for path in all {
        if !path.is_absolute() || path.components().any(|part| matches!(part, Component::ParentDir | Component::CurDir))
        {
            return wrong(path, "a path must be absolute and without `..`");
        }
        if crate::wire::c_path(path).is_none() {
            return wrong(path, "a path cannot hold a NUL");
        }
    }
    let changed = bounds.write.iter().chain(&bounds.hide).chain(bounds.caches.iter().map(|cache| &cache.path));
    for path in changed {
        if path.parent().is_none() {
            return wrong(path, "the root folder cannot be written or hidden as a whole");
        }
        if OWN.iter().any(|own| path.starts_with(own)) {
            return wrong(path, "this folder is the system's own");
        }
    }
    if let Some(aside) = &bounds.aside
        && bounds.write.iter().any(|folder| aside.starts_with(folder))
    {
        return wrong(aside, "the folder for what is moved aside must not be writable for the run");
    }
    for host in &bounds.hosts {
        if !crate::names::is_pattern(&host.name) {
            return wrong(Path::new(&host.name), "not a host name, `*.` before one, or an IPv4 address");
        }
    }
    Ok(())
}

/// The path without symlinks; an error if it is not there.
fn existing(path: &Path) -> Result<PathBuf, Error> {
    fs::canonicalize(path).map_err(|error| Error::Bounds { path: path.to_path_buf(), why: error.to_string() })
}

/// The path without symlinks, if it is there.
pub(crate) fn real(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).ok()
}

/// Leaves out what has no place to be mounted on: the folder around it is the machine's, where nothing is made.
fn without_what_is_missing(covers: Vec<Cover>) -> Vec<Cover> {
    let hidden: Vec<PathBuf> =
        covers.iter().filter(|cover| cover.what == What::Hide).map(|cover| cover.path.clone()).collect();
    covers
        .into_iter()
        .filter(|cover| {
            fs::symlink_metadata(&cover.path).is_ok() || hidden.iter().any(|folder| cover.path.starts_with(folder))
        })
        .collect()
}
