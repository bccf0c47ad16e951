//! From bounds to a plan: what must be looked up on this machine before the hold is made.

use crate::aside::Guards;
use crate::attempt::Trial;
use crate::caches;
use crate::error::Error;
use crate::hard_links;
use crate::names::Names;
use crate::plan::{Cover, Level, Plan, What, arrange};
use crate::shared;
use sayso_shell::bounds::{Bounds, CacheView};
use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::ffi::OsStringExt as _;
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
    pub(crate) locks: Vec<File>,
}

impl Prepared {
    /// Lets every name be asked for, so that somebody can be asked about the connection.
    pub(crate) fn ask_about_hosts(&mut self) {
        self.names.ask_about_others();
        self.plan.listeners = self.names.listeners();
    }
}

/// What a tried run writes instead of the folders themselves.
pub(crate) struct Tried {
    pub(crate) layers: Vec<Layer>,
    /// Names that must not come into being.
    pub(crate) guarded: Vec<PathBuf>,
}

/// A writable folder, and where changes to it go.
pub(crate) struct Layer {
    pub(crate) path: PathBuf,
    pub(crate) upper: PathBuf,
}

/// As [`prepare`], but whatever the run writes goes to a folder of its own.
pub(crate) fn prepare_attempt(bounds: &Bounds, folder: &Path, trial: &Trial) -> Result<(Prepared, Tried), Error> {
    let mut prepared = prepare(bounds, folder, Level::Whole)?;
    prepared.locks.push(trial.lock()?);
    let mut layers = Vec::new();
    for cover in prepared.plan.covers.iter_mut().filter(|cover| cover.what == What::Write) {
        let (upper, work) = trial.layer(layers.len())?;
        layers.push(Layer { path: cover.path.clone(), upper: upper.clone() });
        cover.what = What::Copy { upper, work };
    }
    // The kernel makes no copy of a folder that something is mounted in: it would uncover what is below.
    let is_inside = |mount: &PathBuf| layers.iter().any(|it| mount.starts_with(&it.path) && *mount != it.path);
    if let Some(path) = mount_points().into_iter().find(is_inside) {
        let why = "something is mounted here, so changes to the folder around it cannot be tried".to_owned();
        return Err(Error::Bounds { path, why });
    }
    // Nothing appears in the workspace itself. Such names are told with the changes.
    let guarded = prepared.guards.give_up();
    Ok((prepared, Tried { layers, guarded }))
}

fn mount_points() -> Vec<PathBuf> {
    let list = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    list.lines().filter_map(|line| line.split(' ').nth(4)).map(unescaped).collect()
}

/// A path as the kernel lists it, with some bytes as octal numbers.
fn unescaped(field: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        match code.and_then(|digits| u8::from_str_radix(digits, 8).ok()).filter(|_| *first == b'\\') {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(3..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

/// Looks up what the bounds mean here.
pub(crate) fn prepare(bounds: &Bounds, folder: &Path, level: Level) -> Result<Prepared, Error> {
    check(bounds)?;
    let guards = Guards::find(bounds)?;
    let names = Names::new(&bounds.hosts);
    let mut locks = Vec::new();
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
    for text in &bounds.texts {
        if let Some(path) = real(&text.path) {
            add(&path, What::Text(text.text.clone()));
        }
    }
    for path in &bounds.refuse {
        if let Some(path) = real(path) {
            add(&path, What::Refuse);
        }
    }
    for (path, what) in shared::covers(bounds, folder)? {
        add(&path, what);
    }
    if level == Level::Whole {
        for cache in &bounds.caches {
            let what = match &cache.seen {
                CacheView::Copy(store) => {
                    let slot = caches::take(store)?;
                    let what = if cache.path.is_dir() { slot.overlay() } else { What::Private(slot.upper()) };
                    locks.push(slot.into_lock());
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
        let list = Path::new("/etc/hosts");
        let own = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        if let (Some(path), Ok(text)) = (real(list), fs::read_to_string(list))
            && let Some(text) = crate::names::own_hosts(&text, own.trim())
        {
            add(&path, What::Text(text));
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
        report_writes: false,
        fail_at: None,
    };
    let sockets = bounds.sockets.clone();
    Ok(Prepared { plan, names, guards, decoys, sockets, locks })
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
        .chain(bounds.texts.iter().map(|text| &text.path))
        .chain(&bounds.refuse)
        .chain(bounds.shared.iter().map(|shared| &shared.path))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_the_kernel_are_read_as_bytes() {
        for (field, path) in [("/a", "/a"), ("/a\\040b\\012c", "/a b\nc"), ("/x\\134y\\", "/x\\y\\")] {
            assert_eq!(unescaped(field), Path::new(path));
        }
    }
}
