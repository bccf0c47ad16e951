//! The names that git tracks, as its index holds them.
//!
//! Only a file that is understood to its end counts: what is split, sparse, damaged or too long is not known.

use sayso_shell::{Files, Kind};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// A longer index is not read: that would take longer than a person waits for a hook.
const MAX_INDEX: usize = 16 << 20;

/// Most bytes of a file that says where the repository is.
const MAX_POINTER: usize = 4096;

/// What a repository tracks: names below its top, sorted.
pub(super) struct Index {
    /// All names, one behind the other.
    text: Vec<u8>,
    /// Where each name ends in `text`.
    ends: Vec<u32>,
}

/// The folders above a path in which a repository begins, innermost first.
pub(super) fn tops<'p>(files: &dyn Files, path: &'p Path) -> impl Iterator<Item = &'p Path> {
    path.ancestors().skip(1).filter(move |folder| files.kind(&folder.join(".git")) != Kind::Missing)
}

impl Index {
    /// The index of the repository that begins here; `None`: not known.
    pub(super) fn of(files: &dyn Files, top: &Path) -> Option<Self> {
        let file = repository(files, top)?.join("index");
        match files.kind(&file) {
            Kind::Missing => Some(Self { text: Vec::new(), ends: Vec::new() }),
            Kind::File { .. } => {
                let bytes = files.read(&file, MAX_INDEX)?;
                // The length of a hash is not said in the file, so what fits is taken.
                [20, 32].into_iter().find_map(|hash| Self::read(&bytes, hash))
            }
            _ => None,
        }
    }

    /// Whether it holds this name, or one below it.
    pub(super) fn holds(&self, path: &Path) -> bool {
        let wanted = path.as_os_str().as_bytes();
        let first = self.ends.len().min(self.before(wanted));
        let below = [wanted, b"/"].concat();
        self.name(first) == Some(wanted) || self.name(self.before(&below)).is_some_and(|name| name.starts_with(&below))
    }

    /// How many names are smaller.
    fn before(&self, wanted: &[u8]) -> usize {
        let (mut low, mut high) = (0, self.ends.len());
        while low < high {
            let middle = low.midpoint(high);
            match self.name(middle) {
                Some(name) if name < wanted => low = middle + 1,
                _ => high = middle,
            }
        }
        low
    }

    fn name(&self, at: usize) -> Option<&[u8]> {
        let end = usize::try_from(*self.ends.get(at)?).ok()?;
        let start = match at.checked_sub(1) {
            Some(before) => usize::try_from(*self.ends.get(before)?).ok()?,
            None => 0,
        };
        self.text.get(start..end)
    }

    fn read(bytes: &[u8], hash: usize) -> Option<Self> {
        let body = bytes.get(..bytes.len().checked_sub(hash)?)?;
        let mut rest = body.strip_prefix(b"DIRC")?;
        let version = number(&mut rest)?;
        let count = number(&mut rest)?;
        if !matches!(version, 2..=4) {
            return None;
        }
        let mut index = Self { text: Vec::new(), ends: Vec::new() };
        let mut name: Vec<u8> = Vec::new();
        for _ in 0..count {
            let entry = rest;
            // Times, device, mode, owner and size, then the hash and flags.
            take(&mut rest, 40 + hash)?;
            let flags = short(&mut rest)?;
            if flags & 0x4000 != 0 {
                if version < 3 {
                    return None;
                }
                short(&mut rest)?;
            }
            let before = name.clone();
            let kept = if version == 4 { before.len().checked_sub(distance(&mut rest)?)? } else { 0 };
            name.truncate(kept);
            let end = rest.iter().position(|b| *b == 0)?;
            name.extend_from_slice(take(&mut rest, end)?);
            take(&mut rest, 1)?;
            if version < 4 {
                // Entries are padded to eight bytes.
                let length = entry.len() - rest.len();
                let padding = take(&mut rest, length.next_multiple_of(8) - length)?;
                if padding.iter().any(|b| *b != 0) {
                    return None;
                }
            }
            let said = usize::from(flags & 0xfff);
            if name.is_empty() || said != name.len().min(0xfff) || name < before {
                return None;
            }
            index.text.extend_from_slice(&name);
            index.ends.push(u32::try_from(index.text.len()).ok()?);
        }
        // Extensions that must be understood have a small letter: there are names elsewhere then.
        while !rest.is_empty() {
            let signature = take(&mut rest, 4)?;
            if !signature.first()?.is_ascii_uppercase() {
                return None;
            }
            let size = usize::try_from(number(&mut rest)?).ok()?;
            take(&mut rest, size)?;
        }
        Some(index)
    }
}

/// The folder of the repository that begins here: `.git`, or what a file of that name says (work trees, submodules).
fn repository(files: &dyn Files, top: &Path) -> Option<PathBuf> {
    let place = top.join(".git");
    match files.kind(&place) {
        Kind::Folder { .. } => Some(place),
        Kind::File { .. } => {
            let text = files.read(&place, MAX_POINTER)?;
            let folder = text.strip_prefix(b"gitdir: ")?;
            let folder = folder.strip_suffix(b"\n").unwrap_or(folder);
            Some(top.join(std::ffi::OsString::from_vec(folder.to_vec())))
        }
        _ => None,
    }
}

fn take<'b>(rest: &mut &'b [u8], count: usize) -> Option<&'b [u8]> {
    let (taken, left) = rest.split_at_checked(count)?;
    *rest = left;
    Some(taken)
}

fn number(rest: &mut &[u8]) -> Option<u32> {
    take(rest, 4)?.try_into().ok().map(u32::from_be_bytes)
}

fn short(rest: &mut &[u8]) -> Option<u16> {
    take(rest, 2)?.try_into().ok().map(u16::from_be_bytes)
}

/// A number of seven bits a byte, as version 4 writes how much of the name before it is dropped.
fn distance(rest: &mut &[u8]) -> Option<usize> {
    let mut value: usize = 0;
    for at in 0..5 {
        let byte = *take(rest, 1)?.first()?;
        if at > 0 {
            value = value.checked_add(1)?;
        }
        value = value.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// An index as git itself writes it.
    fn written(version: &str, names: &[&str], format: &str) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let git = |arguments: &[&str]| {
            let done = Command::new("git")
                .args(arguments)
                .current_dir(folder.path())
                .env("GIT_CONFIG_GLOBAL", "/dev/null")
                .env("GIT_CONFIG_SYSTEM", "/dev/null")
                .output()
                .unwrap();
            assert!(done.status.success(), "{done:?}");
        };
        git(&["init", "-q", "--object-format", format]);
        for name in names {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        }
        git(&["add", "--force", "--all"]);
        git(&["update-index", "--index-version", version]);
        std::fs::read(folder.path().join(".git/index")).unwrap()
    }

    fn index(bytes: &[u8]) -> Option<Index> {
        let mut files = sayso_shell::MemoryFiles::new();
        files.file("/r/.git/index", bytes);
        Index::of(&files, Path::new("/r"))
    }

    #[test]
    fn what_git_writes_is_read_in_every_version() {
        let names = [".env", "dist/a.js", "dist-new/b", "src/deep/er/x.rs", "src/deep/y.rs", "z"];
        for (version, format) in [("2", "sha1"), ("3", "sha1"), ("4", "sha1"), ("2", "sha256"), ("4", "sha256")] {
            let found = index(&written(version, &names, format)).unwrap();
            for name in names.iter().chain(&["dist", "src", "src/deep"]) {
                assert!(found.holds(Path::new(name)), "{name} in version {version} {format}");
            }
            for name in ["dis", "dist/a", "src/deep/er/x", "zz", "env", "src/de"] {
                assert!(!found.holds(Path::new(name)), "{name} in version {version} {format}");
            }
        }
    }

    #[test]
    fn what_is_damaged_is_not_known() {
        let good = written("2", &["a", "b/c"], "sha1");
        for length in 0..good.len() {
            assert!(index(&good[..length]).is_none_or(|index| index.holds(Path::new("a"))), "{length}");
        }
        let mut split = good.clone();
        let tail = split.split_off(split.len() - 20);
        split.extend_from_slice(b"link\0\0\0\0");
        split.extend_from_slice(&tail);
        assert!(index(&split).is_none());
    }
}
