//! Folders as bytes: what is kept of a workspace between decisions.
//!
//! A folder is found by its path below the root, and counts only where its mark is the one that the system tells now. Bytes
//! that are not what they should be hold nothing; they never make a decision fail.

use super::remembered::folded;
use sayso_shell::{Mark, Stands};
use std::collections::{HashSet, VecDeque};
use std::ffi::OsStr;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// What is kept of one workspace, at most.
const MOST_BYTES: usize = 32 << 20;
const MOST_KEPT: usize = 50_000;

/// Places that are tried for one path: names can be made so that all of them begin at the same one.
const MOST_TRIED: usize = 64;

/// One folder: the folders and links in it, and those of its names that matter.
#[derive(Clone)]
pub(super) struct Record {
    bytes: Rc<Vec<u8>>,
    items: Range<usize>,
    mark: Option<Mark>,
    /// Of its files only those that matter are in it.
    sifted: bool,
}

/// One name in a folder.
#[derive(Clone, Copy)]
pub(super) struct Item<'r> {
    pub(super) name: &'r [u8],
    pub(super) stands: Stands,
    /// Some pattern may be about it.
    pub(super) notable: bool,
}

impl Record {
    /// The names, in the order of the folder.
    pub(super) fn items(&self) -> impl Iterator<Item = Item<'_>> {
        let mut rest = self.bytes.get(self.items.clone()).unwrap_or_default();
        std::iter::from_fn(move || {
            let ([kind, low, high], behind) = rest.split_first_chunk()?;
            let (name, behind) = behind.split_at_checked(usize::from(u16::from_le_bytes([*low, *high])))?;
            rest = behind;
            let stands = match kind & 3 {
                1 => Stands::Folder,
                2 => Stands::Link,
                _ => Stands::File,
            };
            Some(Item { name, stands, notable: kind & NOTABLE != 0 })
        })
    }

    pub(super) fn is_sifted(&self) -> bool {
        self.sifted
    }

    pub(super) fn mark(&self) -> Option<Mark> {
        self.mark
    }

    fn raw(&self) -> &[u8] {
        self.bytes.get(self.items.clone()).unwrap_or_default()
    }
}

const NOTABLE: u8 = 4;

/// A folder while it is listed.
pub(super) struct Written {
    bytes: Vec<u8>,
    /// Some name is longer than names are.
    broken: bool,
    sifted: bool,
}

impl Written {
    /// With `sifted`, what does not matter is told of each name.
    pub(super) fn new(sifted: bool) -> Self {
        Self { bytes: Vec::new(), broken: false, sifted }
    }

    pub(super) fn add(&mut self, name: &[u8], stands: Stands, notable: bool) {
        let kind = match stands {
            Stands::Folder => 1,
            Stands::Link => 2,
            Stands::File if notable => 0,
            Stands::File => return,
        };
        let Ok(length) = u16::try_from(name.len()) else {
            self.broken = true;
            return;
        };
        self.bytes.push(kind | if notable { NOTABLE } else { 0 });
        self.bytes.extend_from_slice(&length.to_le_bytes());
        self.bytes.extend_from_slice(name);
    }

    /// `None`: a name does not fit.
    pub(super) fn record(self, mark: Option<Mark>) -> Option<Record> {
        let Self { bytes, broken, sifted } = self;
        (!broken).then(|| Record { items: 0..bytes.len(), bytes: Rc::new(bytes), mark, sifted })
    }
}

/// What was kept of a workspace: a table of places by path, the places, and their texts.
pub(super) struct Kept {
    /// As it was read: to copy it would take longer than to look through it.
    bytes: Rc<Vec<u8>>,
    slots: usize,
    folders: usize,
}

/// Both counts.
const HEAD: usize = 8;
/// Where a path and the items stand, how long they are, and the mark.
const PLACE: usize = 4 * 4 + 8 * 3 + 4;

impl Kept {
    pub(super) fn read(bytes: Vec<u8>) -> Option<Self> {
        let slots = usize::try_from(u32_at(&bytes, 0)?).ok()?;
        let folders = usize::try_from(u32_at(&bytes, 4)?).ok()?;
        let long = HEAD.checked_add(slots.checked_mul(4)?)?.checked_add(folders.checked_mul(PLACE)?)?;
        (slots.is_power_of_two() && slots > folders && long <= bytes.len()).then(|| Self {
            bytes: Rc::new(bytes),
            slots,
            folders,
        })
    }

    /// The folder at this path below the root, if it is as it was.
    pub(super) fn find(&self, path: &Path, mark: Mark) -> Option<Record> {
        self.at(path).filter(|record| record.mark == Some(mark))
    }

    /// The same, whatever has become of it since.
    fn at(&self, path: &Path) -> Option<Record> {
        let path = path.as_os_str().as_bytes();
        let mut slot = self.first_slot(path);
        for _ in 0..MOST_TRIED {
            let folder = usize::try_from(u32_at(&self.bytes, HEAD + slot * 4)?).ok()?.checked_sub(1)?;
            if folder >= self.folders {
                return None;
            }
            let place = HEAD + self.slots * 4 + folder * PLACE;
            if self.bytes.get(self.range(place)?) == Some(path) {
                let mark = Mark {
                    device: u64_at(&self.bytes, place + 16)?,
                    inode: u64_at(&self.bytes, place + 24)?,
                    changed: (u64_at(&self.bytes, place + 32)?.cast_signed(), u32_at(&self.bytes, place + 40)?),
                };
                let items = self.range(place + 8)?;
                return Some(Record { bytes: Rc::clone(&self.bytes), items, mark: Some(mark), sifted: true });
            }
            slot = (slot + 1) & (self.slots - 1);
        }
        None
    }

    /// The paths of all folders.
    fn paths(&self) -> impl Iterator<Item = PathBuf> {
        (0..self.folders).filter_map(|folder| {
            let path = self.bytes.get(self.range(HEAD + self.slots * 4 + folder * PLACE)?)?;
            Some(PathBuf::from(OsStr::from_bytes(path)))
        })
    }

    fn range(&self, at: usize) -> Option<Range<usize>> {
        let from = usize::try_from(u32_at(&self.bytes, at)?).ok()?;
        let long = usize::try_from(u32_at(&self.bytes, at + 4)?).ok()?;
        Some(from..from.checked_add(long)?)
    }

    fn first_slot(&self, path: &[u8]) -> usize {
        first_slot(path, self.slots)
    }
}

fn first_slot(path: &[u8], slots: usize) -> usize {
    let sum = folded(path, 0xcbf2_9ce4_8422_2325, 0x9e37_79b9_7f4a_7c15);
    usize::try_from(sum & 0xffff_ffff).unwrap_or(0) & slots.saturating_sub(1)
}

/// Everything that is known below `root`: what was `seen` now, else what was kept before. A folder that is not there any
/// more is not reached from the one that it was in.
pub(super) fn write<'s>(
    root: &Path,
    kept: Option<&Kept>,
    seen: impl Iterator<Item = &'s Path>,
    found: impl Fn(&Path) -> Option<Rc<Record>>,
    sifted: impl Fn(&Path, Rc<Record>) -> Option<Rc<Record>>,
) -> Option<Vec<u8>> {
    let whole = |path: &Path| if path.as_os_str().is_empty() { root.to_owned() } else { root.join(path) };
    let known = |path: &Path| found(&whole(path)).or_else(|| kept?.at(path).map(Rc::new));
    // Not every search begins at the root.
    let below = seen.filter_map(|path| path.strip_prefix(root).ok()).map(Path::to_owned);
    let all = below.chain(kept.into_iter().flat_map(Kept::paths));
    let mut reached: HashSet<PathBuf> =
        all.filter(|path| path.parent().is_none_or(|above| known(above).is_none())).collect();
    let mut open: VecDeque<PathBuf> = reached.iter().cloned().collect();
    let mut records: Vec<(PathBuf, Rc<Record>)> = Vec::new();
    while let Some(path) = open.pop_front() {
        let Some(record) = known(&path) else { continue };
        for item in record.items().filter(|item| item.stands == Stands::Folder) {
            let inner = path.join(OsStr::from_bytes(item.name));
            if reached.insert(inner.clone()) {
                open.push_back(inner);
            }
        }
        if record.mark.is_some() {
            let record = sifted(&whole(&path), record)?;
            records.push((path, record));
        }
        if records.len() > MOST_KEPT {
            return None;
        }
    }
    let slots = (records.len() * 2 + 1).next_power_of_two();
    let mut table = vec![0_u32; slots];
    let mut places = Vec::with_capacity(records.len() * PLACE);
    let mut texts: Vec<u8> = Vec::new();
    let texts_at = HEAD + slots * 4 + records.len() * PLACE;
    for (number, (path, record)) in (1_u32..).zip(&records) {
        let path = path.as_os_str().as_bytes();
        let first = first_slot(path, slots);
        let tried = (first..first + MOST_TRIED).map(|slot| slot & (slots - 1));
        // A folder that finds no room is listed anew each time.
        if let Some(slot) = tried.into_iter().find(|slot| table.get(*slot) == Some(&0)) {
            *table.get_mut(slot)? = number;
        }
        for text in [path, record.raw()] {
            places.extend_from_slice(&u32::try_from(texts_at + texts.len()).ok()?.to_le_bytes());
            places.extend_from_slice(&u32::try_from(text.len()).ok()?.to_le_bytes());
            texts.extend_from_slice(text);
        }
        let mark = record.mark?;
        places.extend_from_slice(&mark.device.to_le_bytes());
        places.extend_from_slice(&mark.inode.to_le_bytes());
        places.extend_from_slice(&mark.changed.0.to_le_bytes());
        places.extend_from_slice(&mark.changed.1.to_le_bytes());
        if texts.len() > MOST_BYTES {
            return None;
        }
    }
    let mut bytes = Vec::with_capacity(texts_at + texts.len());
    bytes.extend_from_slice(&u32::try_from(slots).ok()?.to_le_bytes());
    bytes.extend_from_slice(&u32::try_from(records.len()).ok()?.to_le_bytes());
    table.iter().for_each(|slot| bytes.extend_from_slice(&slot.to_le_bytes()));
    bytes.extend_from_slice(&places);
    bytes.extend_from_slice(&texts);
    Some(bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().copied().map(u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().copied().map(u64::from_le_bytes)
}
