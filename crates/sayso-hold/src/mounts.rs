//! Makes the mounts of a plan, in a mount namespace of its own.
//!
//! Nothing is pivoted and nothing gets another path: everything is made read-only where it is, and what the bounds say is
//! laid over it. Sources are opened before anything is covered, and never through a link; where something is covered with
//! itself it must still be the same file by then.

use crate::plan::{Cover, What};
use crate::sys::{self, MountAttributes, NO_DEVICES, NO_EXEC, NO_SETUID, READ_ONLY};
use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, fstat, mkdirat, openat, openat2, statat, unlinkat,
};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, fsconfig_create,
    fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, mount_change, move_mount, open_tree,
};
use std::fmt::Display;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::unix::fs::symlink;
use std::path::Path;

/// Devices that programs cannot do without, and that lead nowhere.
pub(crate) const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];

/// Where a text lies until it is mounted.
const STAGED: &str = ".staged";

/// A mount that is not in the tree yet.
pub(crate) struct Source {
    mount: OwnedFd,
    /// What must be found where it is attached; `None`: whatever is there is covered.
    same: Option<(u64, u64)>,
    is_folder: bool,
}

/// Where a cover comes from.
enum Origin {
    /// Opened already.
    Mount(Source),
    /// A text that is written when its turn comes.
    Text,
    /// What is there when its turn comes: the folder around it is a copy by then, and so must this be.
    Copied,
}

/// What was opened before anything changed.
pub(crate) struct Sources {
    covers: Vec<Origin>,
    devices: Vec<(&'static str, Source)>,
}

/// No mount of this namespace is seen outside, and none of outside appears here.
pub(crate) fn make_private() -> io::Result<()> {
    Ok(mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::PRIVATE)?)
}

/// Opens everything that stays visible.
pub(crate) fn open_sources(covers: &[Cover]) -> io::Result<Sources> {
    let mut opened = Vec::with_capacity(covers.len());
    let mut around: Vec<&Cover> = Vec::new();
    for cover in covers {
        while around.last().is_some_and(|outer| !cover.path.starts_with(&outer.path)) {
            around.pop();
        }
        let is_copied = around.last().is_some_and(|outer| matches!(outer.what, What::Copy { .. }));
        let origin = match &cover.what {
            // INVARIANT: nothing of a copied folder is written through to the folder itself.
            What::Pin | What::ReadOnly if is_copied => Origin::Copied,
            _ => open_source(cover).map_err(|error| at(&cover.path, &error))?,
        };
        opened.push(origin);
        if !matches!(cover.what, What::Pin | What::ReadOnly) {
            around.push(cover);
        }
    }
    let mut devices = Vec::new();
    for name in DEVICES {
        let path = Path::new("/dev").join(name);
        match open(&path) {
            // Read-only: a device is written all the same, but not renamed, nor given another mode.
            Ok(file) => {
                let fixed = MountAttributes { set: READ_ONLY | NO_SETUID | NO_EXEC, ..MountAttributes::default() };
                devices.push((name, itself(&file, &fixed)?));
            }
            // A machine without a terminal may have no /dev/tty.
            Err(error) if name == "tty" && error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(at(&path, &error)),
        }
    }
    Ok(Sources { covers: opened, devices })
}

fn open_source(cover: &Cover) -> io::Result<Origin> {
    Ok(Origin::Mount(match &cover.what {
        What::Pin | What::Write | What::Show | What::ReadOnly => itself(&open(&cover.path)?, &attributes(&cover.what))?,
        What::Private(folder) => Source { same: None, ..itself(&open(folder)?, &attributes(&cover.what))? },
        What::Copy { upper, work } => overlay(&open(&cover.path)?, &open(upper)?, &open(work)?)?,
        What::Scratch | What::Hide => empty_folder("0755")?,
        What::Text(_) | What::Decoy(_) | What::Refuse => return Ok(Origin::Text),
    }))
}

fn attributes(what: &What) -> MountAttributes {
    let fixed = if matches!(what, What::Show | What::ReadOnly) { READ_ONLY } else { 0 };
    // A device that somebody left in a folder is one all the same, whoever opens it there.
    MountAttributes { set: NO_SETUID | NO_DEVICES | fixed, ..MountAttributes::default() }
}

/// A file or folder by its path, through no link.
fn open(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?)
}

/// A second mount of what is there, with the mounts below it.
fn itself(file: &OwnedFd, attributes: &MountAttributes) -> io::Result<Source> {
    let data = fstat(file)?;
    let is_folder = FileType::from_raw_mode(data.st_mode).is_dir();
    let mut flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_EMPTY_PATH;
    if is_folder {
        flags |= OpenTreeFlags::AT_RECURSIVE;
    }
    let mount = open_tree(file, "", flags)?;
    sys::set_attributes(mount.as_fd(), attributes)?;
    Ok(Source { mount, same: Some((data.st_dev, data.st_ino)), is_folder })
}

/// What is in `lower`, with changes in `upper`.
fn overlay(lower: &OwnedFd, upper: &OwnedFd, work: &OwnedFd) -> io::Result<Source> {
    // By descriptor: a path could hold the characters that separate folders here.
    let through = |file: &OwnedFd| format!("/proc/self/fd/{}", file.as_raw_fd());
    let context = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&context, "source", "sayso")?;
    fsconfig_set_string(&context, "lowerdir", through(lower))?;
    fsconfig_set_string(&context, "upperdir", through(upper))?;
    fsconfig_set_string(&context, "workdir", through(work))?;
    fsconfig_set_flag(&context, "userxattr")?;
    fsconfig_create(&context)?;
    let flags = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    let mount = fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, flags)?;
    Ok(Source { mount, same: None, is_folder: true })
}

fn empty_folder(mode: &str) -> io::Result<Source> {
    let context = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&context, "source", "sayso")?;
    fsconfig_set_string(&context, "mode", mode)?;
    fsconfig_create(&context)?;
    let flags = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    let mount = fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, flags)?;
    Ok(Source { mount, same: None, is_folder: true })
}

/// Everything that is mounted now can only be read, and raises nobody.
pub(crate) fn make_read_only() -> io::Result<()> {
    let root = open(Path::new("/"))?;
    sys::set_attributes(
        root.as_fd(),
        &MountAttributes { set: READ_ONLY | NO_SETUID | NO_DEVICES, ..MountAttributes::default() },
    )
}

/// A /dev with little in it, a folder for shared memory and terminals of its own. Its root stays writable until
/// [`finish_devices`].
pub(crate) fn make_devices(sources: &mut Sources) -> io::Result<OwnedFd> {
    let root = empty_folder("0755")?;
    attach(&root, Path::new("/dev"))?;
    let folder = root.mount;
    for (name, source) in sources.devices.drain(..) {
        touch(&folder, name, 0o666)?;
        move_mount(&source.mount, "", &folder, name, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
    }
    for name in ["shm", "pts"] {
        mkdirat(&folder, name, Mode::from_raw_mode(0o755))?;
    }
    attach(&empty_folder("1777")?, Path::new("/dev/shm"))?;
    attach(&terminals()?, Path::new("/dev/pts"))?;
    for (name, target) in [
        ("ptmx", "pts/ptmx"),
        ("fd", "/proc/self/fd"),
        ("stdin", "/proc/self/fd/0"),
        ("stdout", "/proc/self/fd/1"),
        ("stderr", "/proc/self/fd/2"),
    ] {
        symlink(target, Path::new("/dev").join(name))?;
    }
    Ok(folder)
}

fn terminals() -> io::Result<Source> {
    let context = fsopen("devpts", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_flag(&context, "newinstance")?;
    fsconfig_set_string(&context, "ptmxmode", "0666")?;
    fsconfig_set_string(&context, "mode", "0620")?;
    fsconfig_create(&context)?;
    let flags = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    let mount = fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, flags)?;
    Ok(Source { mount, same: None, is_folder: true })
}

pub(crate) fn finish_devices(folder: &OwnedFd) -> io::Result<()> {
    let open = MountAttributes { set: READ_ONLY | NO_SETUID | NO_EXEC, ..MountAttributes::default() };
    // Not what is mounted below: those are written.
    let root = open_tree(folder, "", OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_EMPTY_PATH)?;
    sys::set_attributes_of_one(root.as_fd(), &open)
}

/// Lays the covers over what is there, from the top.
pub(crate) fn attach_covers(covers: &[Cover], sources: Sources, devices: &OwnedFd) -> io::Result<()> {
    let mut hidden: Vec<(&Path, OwnedFd)> = Vec::new();
    let mut copied: Vec<&Path> = Vec::new();
    for (cover, origin) in covers.iter().zip(sources.covers) {
        let is_text = matches!(origin, Origin::Text);
        let source = match (origin, &cover.what) {
            (Origin::Mount(source), _) => source,
            (Origin::Copied, what) => {
                attach_to_itself(&cover.path, &attributes(what)).map_err(|error| at(&cover.path, &error))?;
                continue;
            }
            (Origin::Text, What::Text(text) | What::Decoy(text)) => written(devices, text, 0o444)?,
            (Origin::Text, _) => written(devices, "", 0o000)?,
        };
        if hidden.iter().any(|(folder, _)| cover.path.starts_with(folder)) {
            make_place(&cover.path, source.is_folder).map_err(|error| at(&cover.path, &error))?;
        }
        // In a copy every file has another number.
        let is_copied = copied.iter().any(|folder| cover.path.starts_with(folder));
        let source = if is_copied { Source { same: None, ..source } } else { source };
        attach(&source, &cover.path).map_err(|error| at(&cover.path, &error))?;
        if is_text {
            // The kernel mounts nothing that has no name; once mounted, it needs none.
            unlinkat(devices, STAGED, AtFlags::empty())?;
        }
        match cover.what {
            What::Hide => hidden.push((&cover.path, source.mount)),
            What::Copy { .. } => copied.push(&cover.path),
            _ => {}
        }
    }
    // Only now: mounts inside them needed places to stand on.
    for (path, mount) in hidden {
        let closed = MountAttributes { set: READ_ONLY, ..MountAttributes::default() };
        sys::set_attributes_of_one(mount.as_fd(), &closed).map_err(|error| at(path, &error))?;
    }
    Ok(())
}

/// Mounts what is there over itself.
fn attach_to_itself(path: &Path, attributes: &MountAttributes) -> io::Result<()> {
    let place = open(path)?;
    let source = itself(&place, attributes)?;
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    Ok(move_mount(&source.mount, "", &place, "", flags)?)
}

/// A file with this text that is nowhere on disk.
fn written(devices: &OwnedFd, text: &str, mode: u32) -> io::Result<Source> {
    let file = touch(devices, STAGED, mode)?;
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        let count = rustix::io::write(&file, rest)?;
        rest = rest.get(count..).unwrap_or_default();
    }
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    let mount = open_tree(devices, STAGED, flags)?;
    let fixed = MountAttributes { set: NO_SETUID | NO_DEVICES | NO_EXEC | READ_ONLY, ..MountAttributes::default() };
    sys::set_attributes(mount.as_fd(), &fixed)?;
    Ok(Source { mount, same: None, is_folder: false })
}

fn touch(folder: &OwnedFd, name: &str, mode: u32) -> io::Result<OwnedFd> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(folder, name, flags, Mode::from_raw_mode(mode))?)
}

/// Makes something to mount on, inside a folder that was covered with an empty one.
fn make_place(path: &Path, is_folder: bool) -> io::Result<()> {
    if statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
        return Ok(());
    }
    if is_folder {
        std::fs::create_dir_all(path)
    } else {
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::File::create_new(path).map(drop)
    }
}

/// Puts a mount into the tree.
fn attach(source: &Source, path: &Path) -> io::Result<()> {
    let place = open(path)?;
    let data = fstat(&place)?;
    let moved = source.same.is_some_and(|same| same != (data.st_dev, data.st_ino));
    // Where a hidden folder has just been given a place for it, that is of course another file.
    let is_own_place = data.st_dev != source.same.map_or(0, |(device, _)| device) && is_temporary(&place);
    if moved && !is_own_place {
        return Err(io::Error::other("it was moved meanwhile"));
    }
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    Ok(move_mount(&source.mount, "", &place, "", flags)?)
}

fn is_temporary(place: &OwnedFd) -> bool {
    const TMPFS: i64 = 0x0102_1994;
    rustix::fs::fstatfs(place).is_ok_and(|data| data.f_type == TMPFS)
}

/// The processes of this namespace, and no others.
pub(crate) fn mount_processes() -> io::Result<()> {
    let context = fsopen("proc", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&context)?;
    let flags = MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC
        | MountAttrFlags::MOUNT_ATTR_RDONLY;
    let mount = fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, flags)?;
    attach(&Source { mount, same: None, is_folder: true }, Path::new("/proc"))
}

/// Whether nothing can be written at the root.
pub(crate) fn is_read_only() -> Result<bool, Errno> {
    Ok(rustix::fs::statvfs("/")?.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY))
}

fn at(path: &Path, error: &dyn Display) -> io::Error {
    io::Error::other(format!("{}: {error}", path.display()))
}
