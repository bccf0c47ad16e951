//! Finds what a run changed: the upper layer of each overlay, held against the folder below it.

use super::Root;
use super::change::{Change, ChangeKind, Diff, Node, Proof, Seen};
use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, ResolveFlags, Stat, chmodat, fgetxattr, fstat, openat, openat2,
    readlinkat, statat,
};
use rustix::io::Errno;
use std::collections::{BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

/// How many changes are listed.
const MOST: usize = 100_000;
/// The longest path below a writable folder that is listed, in bytes.
const LONGEST: usize = 3_500;
/// The largest file whose contents are shown.
const SHOWN: u64 = 256 << 10;
/// How much is shown of all files together.
const SHOWN_IN_ALL: u64 = 8 << 20;
/// How many removed files of the same size are compared with one that was added.
const MOST_ALIKE: usize = 16;

/// What was found.
pub(crate) struct Found {
    pub(crate) changes: Vec<Change>,
    pub(crate) left_out: u64,
}

/// Lists what was changed since `began`.
pub(crate) fn scan(roots: &[Root], began: (i64, i64), guarded: &[PathBuf]) -> io::Result<Found> {
    let mut found = Found { changes: Vec::new(), left_out: 0 };
    let mut left_to_show = SHOWN_IN_ALL;
    for root in roots {
        let upper = openat(CWD, &root.upper, folder_flags(), Mode::empty())?;
        let mut scan = Scan {
            root,
            upper,
            began,
            guarded,
            changes: Vec::new(),
            left_out: 0,
            room: MOST - found.changes.len(),
            left_to_show,
        };
        scan.everything()?;
        scan.pair_renames();
        left_to_show = scan.left_to_show;
        found.left_out += scan.left_out;
        found.changes.append(&mut scan.changes);
    }
    found.changes.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// INVARIANT: nothing outside the folder is ever looked at, whatever links lead there.
pub(crate) const fn beneath() -> ResolveFlags {
    ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_XDEV)
}

/// A relative path that can be opened; the folder itself has an empty one.
pub(crate) fn openable(below: &Path) -> &Path {
    if below.as_os_str().is_empty() { Path::new(".") } else { below }
}

fn folder_flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

struct Scan<'a> {
    root: &'a Root,
    upper: OwnedFd,
    began: (i64, i64),
    guarded: &'a [PathBuf],
    changes: Vec<Change>,
    left_out: u64,
    room: usize,
    left_to_show: u64,
}

/// A folder to look into.
struct Visit {
    below: PathBuf,
    /// Whether there is a folder below it, and whether that is covered as a whole.
    has_lower: bool,
    is_opaque: bool,
}

/// What is there in the folder below, at one name.
struct Lower {
    node: Node,
    seen: Seen,
    is_folder: bool,
}

impl Scan<'_> {
    fn everything(&mut self) -> io::Result<()> {
        let mut to_visit = vec![Visit { below: PathBuf::new(), has_lower: true, is_opaque: false }];
        while let Some(visit) = to_visit.pop() {
            let upper = open_closed(&self.upper, &visit.below)?;
            let lower = visit.has_lower.then(|| self.lower_folder(&visit.below)).flatten();
            // Somebody made or removed names there while the run went on.
            let disturbed = lower
                .as_ref()
                .and_then(|folder| fstat(folder).ok())
                .is_some_and(|data| Seen::of(&data).changed >= self.began);
            let names = names(&upper)?;
            for name in &names {
                let below = visit.below.join(name);
                if below.as_os_str().len() > LONGEST {
                    self.left_out += 1;
                    continue;
                }
                let data = statat(&upper, name, AtFlags::SYMLINK_NOFOLLOW)?;
                let was = lower.as_ref().and_then(|folder| look(folder, name));
                if is_whiteout(&data) {
                    if let Some(was) = was {
                        self.removed(&below, was);
                    }
                    continue;
                }
                if FileType::from_raw_mode(data.st_mode).is_dir() {
                    to_visit.push(self.folder(&below, &data, was)?);
                } else {
                    self.file(&upper, below, name, &data, was, disturbed)?;
                }
            }
            if visit.is_opaque
                && let Some(lower) = &lower
            {
                for name in list(lower)?.difference(&names) {
                    if let Some(was) = look(lower, name) {
                        self.removed(&visit.below.join(name), was);
                    }
                }
            }
        }
        Ok(())
    }

    fn lower_folder(&self, below: &Path) -> Option<OwnedFd> {
        openat2(&self.root.folder, openable(below), folder_flags(), Mode::empty(), beneath()).ok()
    }

    fn folder(&mut self, below: &Path, data: &Stat, was: Option<Lower>) -> io::Result<Visit> {
        let has_lower = was.as_ref().is_some_and(|was| was.is_folder);
        let after = Node::Folder { mode: data.st_mode & 0o7777 };
        let folder = open_closed(&self.upper, below)?;
        match was {
            Some(was) if was.node == after => {}
            Some(was) => {
                let conflict = !was.is_folder && was.seen.changed >= self.began;
                self.add(below, Some(was), Some(after), None, conflict, Diff::None);
            }
            // A folder that was there when the run changed something in it, and is not any more.
            None => self.add(below, None, Some(after), None, has_origin(&folder), Diff::None),
        }
        Ok(Visit { below: below.to_path_buf(), has_lower, is_opaque: has_lower && is_opaque(&folder) })
    }

    fn file(
        &mut self,
        upper: &OwnedFd,
        below: PathBuf,
        name: &OsStr,
        data: &Stat,
        was: Option<Lower>,
        disturbed: bool,
    ) -> io::Result<()> {
        let after = node(upper, name, data);
        let mut conflict = was.as_ref().is_some_and(|was| was.seen.changed >= self.began);
        if let Some(was) = &was
            && was.is_folder
        {
            for (below, was) in self.in_lower(&below) {
                self.removed(&below, was);
            }
        }
        let Node::File { bytes, mode } = after else {
            let same = was.as_ref().is_some_and(|was| was.node == after);
            if !same {
                self.add(&below, was, Some(after), None, conflict, Diff::None);
            }
            return Ok(());
        };
        let file = open_closed_file(upper, name)?;
        // Copied from a file that somebody else has moved or removed meanwhile.
        conflict |= was.is_none() && disturbed && has_origin(&file);
        let (hash, text) = contents(file, bytes)?;
        let before = match &was {
            Some(Lower { node: Node::File { bytes, .. }, .. }) => {
                self.lower_file(&below).and_then(|file| contents(file, *bytes).ok())
            }
            _ => None,
        };
        let is_same = before.as_ref().is_some_and(|(its, _)| *its == hash);
        match &was {
            Some(Lower { node: Node::File { mode: its, .. }, .. }) if is_same => {
                if *its != mode {
                    self.add(&below, was, Some(after), None, conflict, Diff::None);
                }
            }
            _ => {
                let was_file = matches!(was, Some(Lower { node: Node::File { .. }, .. }));
                let diff = self.diff(was_file.then(|| before.and_then(|(_, text)| text)), Some(text));
                self.add(&below, was, Some(after), Some(hash), conflict, diff);
            }
        }
        Ok(())
    }

    /// A file or folder that is there, and was not when the run had ended.
    fn removed(&mut self, below: &Path, was: Lower) {
        let mut pending = vec![(below.to_path_buf(), was)];
        while let Some((below, was)) = pending.pop() {
            let is_folder = was.is_folder;
            self.removed_one(&below, was);
            if is_folder {
                pending.extend(self.in_lower(&below));
            }
        }
    }

    fn removed_one(&mut self, below: &Path, was: Lower) {
        let conflict = !was.is_folder && was.seen.changed >= self.began;
        let diff = match was.node {
            Node::File { bytes, .. } if bytes <= SHOWN.min(self.left_to_show) => {
                let text =
                    self.lower_file(below).and_then(|file| contents(file, bytes).ok()).and_then(|(_, text)| text);
                self.diff(Some(text), None)
            }
            Node::File { .. } => Diff::Large,
            _ => Diff::None,
        };
        self.add(below, Some(was), None, None, conflict, diff);
    }

    /// What is in a folder below.
    fn in_lower(&mut self, below: &Path) -> Vec<(PathBuf, Lower)> {
        let Some(folder) = self.lower_folder(below) else { return Vec::new() };
        let mut inside = Vec::new();
        for name in list(&folder).unwrap_or_default() {
            let below = below.join(&name);
            if below.as_os_str().len() > LONGEST || self.changes.len() >= self.room {
                self.left_out += 1;
            } else if let Some(was) = look(&folder, &name) {
                inside.push((below, was));
            }
        }
        inside
    }

    fn lower_file(&self, below: &Path) -> Option<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        openat2(&self.root.folder, below, flags, Mode::empty(), beneath()).ok()
    }

    /// The outer options say whether there is a file, the inner ones whether its contents are known.
    fn diff(&mut self, before: Option<Option<Vec<u8>>>, after: Option<Option<Vec<u8>>>) -> Diff {
        if before == Some(None) || after == Some(None) {
            return Diff::Large;
        }
        let (before, after) = (before.flatten(), after.flatten());
        let both = [&before, &after].map(|it| it.as_ref().map_or(0, Vec::len));
        let length = u64::try_from(both.iter().sum::<usize>()).unwrap_or(u64::MAX);
        let (Ok(before), Ok(after)) = (text(before), text(after)) else { return Diff::Binary };
        match self.left_to_show.checked_sub(length) {
            Some(left) => {
                self.left_to_show = left;
                Diff::Text { before, after }
            }
            None => Diff::Large,
        }
    }

    fn add(
        &mut self,
        below: &Path,
        was: Option<Lower>,
        after: Option<Node>,
        hash: Option<[u8; 32]>,
        conflict: bool,
        diff: Diff,
    ) {
        if self.changes.len() >= self.room {
            self.left_out += 1;
            return;
        }
        let path = self.root.path.join(below);
        let is_folder = matches!(after, Some(Node::Folder { .. }));
        let guarded = self.guarded.iter().any(|name| path.starts_with(name) || (!is_folder && name.starts_with(&path)));
        let proof = Proof { seen: was.as_ref().map(|was| was.seen), from: None, hash };
        let before = was.map(|was| was.node);
        let root = self.root.path.clone();
        self.changes.push(Change { path, root, before, after, from: None, guarded, conflict, diff, proof });
    }

    /// A file that was removed in one place and added in another was renamed. The overlay does not tell, contents do.
    fn pair_renames(&mut self) {
        // What is in a folder that becomes something else must go before that is made.
        let becomes: Vec<PathBuf> = self
            .changes
            .iter()
            .filter(|it| matches!(it.before, Some(Node::Folder { .. })) && it.kind() == ChangeKind::Type)
            .map(|it| it.path.clone())
            .collect();
        let mut removed: HashMap<u64, Vec<usize>> = HashMap::new();
        for (number, change) in self.changes.iter().enumerate() {
            if let (Some(Node::File { bytes, .. }), None, false) = (&change.before, &change.after, change.conflict)
                && *bytes > 0
                && !becomes.iter().any(|folder| change.path.starts_with(folder))
            {
                removed.entry(*bytes).or_default().push(number);
            }
        }
        let mut taken = BTreeSet::new();
        for number in 0..self.changes.len() {
            let Some(added) = self.changes.get(number) else { continue };
            let (None, Some(Node::File { bytes, .. }), Some(hash), false) =
                (&added.before, &added.after, added.proof.hash, added.conflict)
            else {
                continue;
            };
            let alike = removed.get(bytes).map(Vec::as_slice).unwrap_or_default();
            let source = alike.iter().take(MOST_ALIKE).copied().find(|candidate| {
                !taken.contains(candidate)
                    && self.changes.get(*candidate).is_some_and(|change| self.hash_of(&change.path) == Some(hash))
            });
            let Some(source) = source else { continue };
            taken.insert(source);
            let (from, seen, guarded) = match self.changes.get(source) {
                Some(change) => (change.path.clone(), change.proof.seen, change.guarded),
                None => continue,
            };
            if let Some(added) = self.changes.get_mut(number) {
                added.from = Some(from);
                added.proof.from = seen;
                added.guarded |= guarded;
            }
        }
        let mut number = 0;
        self.changes.retain(|_| {
            number += 1;
            !taken.contains(&(number - 1))
        });
    }

    fn hash_of(&self, path: &Path) -> Option<[u8; 32]> {
        let file = self.lower_file(path.strip_prefix(&self.root.path).ok()?)?;
        contents(file, u64::MAX).ok().map(|(hash, _)| hash)
    }
}

/// Opens a folder of the upper layer, which the run may have closed even for its owner.
fn open_closed(root: &OwnedFd, below: &Path) -> io::Result<OwnedFd> {
    let open = || openat2(root, openable(below), folder_flags(), Mode::empty(), beneath());
    match open() {
        Err(Errno::ACCESS) => {
            chmodat(root, below, Mode::RWXU, AtFlags::empty())?;
            Ok(open()?)
        }
        other => Ok(other?),
    }
}

fn open_closed_file(folder: &OwnedFd, name: &OsStr) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let open = || openat(folder, name, flags, Mode::empty());
    match open() {
        Err(Errno::ACCESS) => {
            chmodat(folder, name, Mode::RUSR, AtFlags::empty())?;
            Ok(open()?)
        }
        other => Ok(other?),
    }
}

/// The names in a folder of the upper layer.
fn names(folder: &OwnedFd) -> io::Result<BTreeSet<OsString>> {
    Ok(list(folder)?)
}

fn list(folder: &OwnedFd) -> Result<BTreeSet<OsString>, Errno> {
    let mut names = BTreeSet::new();
    for entry in Dir::read_from(folder)? {
        let name = OsString::from_vec(entry?.file_name().to_bytes().to_vec());
        if name != "." && name != ".." {
            names.insert(name);
        }
    }
    Ok(names)
}

fn look(folder: &OwnedFd, name: &OsStr) -> Option<Lower> {
    let data = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    let is_folder = FileType::from_raw_mode(data.st_mode).is_dir();
    Some(Lower { node: node(folder, name, &data), seen: Seen::of(&data), is_folder })
}

fn node(folder: &OwnedFd, name: &OsStr, data: &Stat) -> Node {
    let mode = data.st_mode & 0o7777;
    let what = match FileType::from_raw_mode(data.st_mode) {
        FileType::RegularFile => return Node::File { bytes: u64::try_from(data.st_size).unwrap_or(0), mode },
        FileType::Directory => return Node::Folder { mode },
        FileType::Symlink => {
            let target = readlinkat(folder, name, Vec::new()).map(|it| it.into_bytes()).unwrap_or_default();
            return Node::Link { target: PathBuf::from(OsString::from_vec(target)) };
        }
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        _ => "a device",
    };
    Node::Special { what }
}

/// What an overlay puts where something was removed.
fn is_whiteout(data: &Stat) -> bool {
    FileType::from_raw_mode(data.st_mode) == FileType::CharacterDevice && data.st_rdev == 0
}

/// Whether a folder covers the one below it instead of adding to it.
fn is_opaque(folder: &OwnedFd) -> bool {
    let mut value = [0_u8; 8];
    fgetxattr(folder, "user.overlay.opaque", value.as_mut_slice()).is_ok_and(|count| value.get(..count) == Some(b"y"))
}

/// Whether a file or folder of the upper layer began as a copy of one below.
fn has_origin(file: &OwnedFd) -> bool {
    let mut value = [0_u8; 256];
    !matches!(fgetxattr(file, "user.overlay.origin", value.as_mut_slice()), Err(Errno::NODATA | Errno::OPNOTSUPP))
}

/// The hash of a file, and what is in it where that is little enough to be shown.
fn contents(file: OwnedFd, bytes: u64) -> io::Result<([u8; 32], Option<Vec<u8>>)> {
    let mut file = File::from(file);
    let mut hash = blake3::Hasher::new();
    let mut kept = (bytes <= SHOWN).then(Vec::new);
    let mut piece = vec![0; 64 << 10];
    loop {
        let count = match file.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let piece = piece.get(..count).unwrap_or_default();
        hash.update(piece);
        // It may have grown meanwhile.
        kept = kept.filter(|it| it.len() + count <= usize::try_from(SHOWN).unwrap_or(usize::MAX));
        if let Some(kept) = &mut kept {
            kept.extend_from_slice(piece);
        }
    }
    Ok((hash.finalize().into(), kept))
}

fn text(bytes: Option<Vec<u8>>) -> Result<Option<String>, ()> {
    let Some(bytes) = bytes else { return Ok(None) };
    if bytes.contains(&0) {
        return Err(());
    }
    String::from_utf8(bytes).map(Some).map_err(drop)
}
