//! Names inside of patches, archives and folders: what would be written, where that can be read at little cost.
//!
//! INVARIANT: what is found here only ever adds to what a program would write, or says in more words what "something below
//! this folder" was. Where one header is not understood, nothing counts as understood.

mod archive;

pub(super) use archive::{of_tar, of_zip};

use super::View;
use crate::effect::{Carry, Verb};
use crate::files::Stands;
use crate::word::{Text, Word};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// An archive or patch of more bytes is not looked into.
const LARGEST: usize = 1 << 20;

/// So many names are told one by one.
const MOST: usize = 64;

/// So many are looked at.
const MOST_LOOKED_AT: usize = 16_384;

/// Of a folder that is copied, so many are told one by one.
const MOST_STEERING: usize = 256;

/// How a patch is read.
#[derive(Clone, Copy)]
pub(super) enum Headers {
    /// `git apply`, `git am`: as many leading components are taken off as this.
    Git(usize),
    /// `patch`: the same; `None` leaves only the last component, or the whole name.
    Patch(Option<usize>),
}

/// What stands in a patch.
pub(super) struct Patch {
    /// Every name in its headers.
    pub(super) names: Vec<Vec<u8>>,
    /// It may hold a script for `ed`, which runs commands.
    pub(super) is_script: bool,
}

/// Reads the headers of a patch. `None`: not all of them are understood, or there are none.
pub(super) fn of_patch(text: &[u8], headers: Headers) -> Option<Patch> {
    let mut found = Patch { names: Vec::new(), is_script: false };
    for line in text.split(|&b| b == b'\n') {
        // `patch` takes a patch that is indented, and mails have lines that end in a return.
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let start = line.iter().position(|b| !matches!(b, b' ' | b'\t' | b'X')).unwrap_or(line.len());
        let line = line.get(start..).unwrap_or_default();
        found.is_script |= is_ed_command(line);
        if line.to_ascii_lowercase().starts_with(b"content-transfer-encoding:") {
            let how = String::from_utf8_lossy(line.get(26..).unwrap_or_default()).trim().to_ascii_lowercase();
            if !matches!(how.as_str(), "7bit" | "8bit" | "binary") {
                return None;
            }
        }
        // A link that one part of a patch makes leads the next part astray.
        if line.ends_with(b"mode 120000") || line.ends_with(b"mode 160000") {
            return None;
        }
        let behind = |markers: [&[u8]; 4]| markers.iter().find_map(|marker| line.strip_prefix(*marker));
        if let Some(name) = behind([b"--- ", b"+++ ", b"*** ", b"Index: "]) {
            add(&mut found.names, name, headers)?;
        } else if let Some(name) = behind([b"rename from ", b"rename to ", b"copy from ", b"copy to "]) {
            // These have no `a/` and `b/`.
            let plain = match headers {
                Headers::Git(strip) => Headers::Git(strip.saturating_sub(1)),
                Headers::Patch(strip) => Headers::Patch(strip.map(|strip| strip.saturating_sub(1))),
            };
            add(&mut found.names, name, plain)?;
        } else if let Some(both) = line.strip_prefix(b"diff --git ") {
            let second = (0..both.len()).rev().find(|&at| both.get(at) == Some(&b' '))?;
            // Names with blanks cannot be told apart here.
            if both.iter().filter(|&&b| b == b' ').count() != 1 {
                return None;
            }
            add(&mut found.names, both.get(..second)?, headers)?;
            add(&mut found.names, both.get(second + 1..)?, headers)?;
        }
        if found.names.len() > MOST_LOOKED_AT {
            return None;
        }
    }
    found.names.sort_unstable();
    found.names.dedup();
    (!found.names.is_empty()).then_some(found)
}

/// `12a`, `3,4d`: what `ed` takes.
fn is_ed_command(line: &[u8]) -> bool {
    let Some((last, numbers)) = line.split_last() else { return false };
    matches!(last, b'a' | b'c' | b'd' | b'i' | b's')
        && !numbers.is_empty()
        && numbers.iter().all(|b| b.is_ascii_digit() || *b == b',')
}

fn add(names: &mut Vec<Vec<u8>>, header: &[u8], headers: Headers) -> Option<()> {
    let name = header.split(|&b| b == b'\t').next().unwrap_or(header);
    if name == b"/dev/null" || name.iter().all(|b| b"-*0123456789, ".contains(b)) {
        return Some(());
    }
    // Quoted names hold escapes, and behind a blank may stand a date or more of the name.
    if name.is_empty() || name.iter().any(|b| matches!(b, b'"' | b' ' | b'\\')) {
        return None;
    }
    let strips: &[usize] = match headers {
        Headers::Git(strip) | Headers::Patch(Some(strip)) => &[strip],
        Headers::Patch(None) => &[0, usize::MAX],
    };
    names.extend(strips.iter().filter_map(|&strip| without_leading(name, strip)));
    Some(())
}

/// Whether all options are such that what a patch or an archive names is what is written: no other names, no copies kept
/// beside, nothing found by likeness. Forgetting one here asks.
pub(super) fn has_only(view: &View<'_>, harmless: &[&str]) -> bool {
    view.inv.env.is_empty() && view.seen.iter().all(|seen| harmless.contains(&seen.opt.name.as_str()))
}

/// The name without its first components; `usize::MAX` leaves the last.
pub(super) fn without_leading(name: &[u8], strip: usize) -> Option<Vec<u8>> {
    let parts: Vec<&[u8]> = name.split(|&b| b == b'/').filter(|part| !part.is_empty()).collect();
    let from = if strip == usize::MAX { parts.len().checked_sub(1)? } else { strip };
    let rest = parts.get(from..).filter(|rest| !rest.is_empty())?;
    let absolute = strip == 0 && name.starts_with(b"/");
    let mut joined = if absolute { b"/".to_vec() } else { Vec::new() };
    joined.extend(rest.join(&b'/'));
    Some(joined)
}

/// The text of a file at little cost.
pub(super) fn text(view: &View<'_>, file: &Word) -> Option<Vec<u8>> {
    let path = super::join(view.base.as_deref(), file.exact()?);
    text_at(view, &path)
}

/// As [`text`], by its path.
pub(super) fn text_at(view: &View<'_>, path: &Path) -> Option<Vec<u8>> {
    if path.is_absolute() { view.inv.files.read(path, LARGEST) } else { None }
}

/// What comes in on standard input, where that is a text or a file of the call.
pub(super) fn on_stdin(view: &View<'_>) -> Option<Vec<u8>> {
    match (view.inv.stdin_text, view.inv.stdin_file) {
        (Some(text), _) => Some(text.to_owned()),
        (None, Some(file)) => text_at(view, file),
        (None, None) => None,
    }
}

/// The files of these names below `folder` are written. True: nothing else below it is.
pub(super) fn written(view: &mut View<'_>, folder: &Path, names: &[Vec<u8>], at: usize) -> bool {
    let files = || names.iter().filter(|name| !name.ends_with(b"/"));
    let all = files().count() <= MOST;
    for name in files().filter(|name| all || stands_out(name)).take(MOST) {
        let path = super::join(Some(folder), name);
        let word = Word::Exact(Text::from(path.as_os_str().as_bytes()));
        view.path_effect(Verb::Write, &word, at, false, Carry::Plain);
    }
    all
}

/// Of too many names, those of which files that steer something mostly are: hidden, in capitals, or at the top.
fn stands_out(name: &[u8]) -> bool {
    let mut parts = name.split(|&b| b == b'/').filter(|part| !part.is_empty() && *part != b".");
    let last = name.rsplit(|&b| b == b'/').next().unwrap_or(name);
    let capitals = last.iter().take_while(|b| b.is_ascii_uppercase()).count() > 3;
    capitals || parts.clone().count() == 1 || parts.any(|part| part.starts_with(b"."))
}

/// Of the names in a folder that is copied, those of which files that steer something are. Rules say for certain what is
/// guarded; `None`: there are more than are told one by one.
pub(super) fn steering(names: Vec<Vec<u8>>) -> Option<Vec<Vec<u8>>> {
    // A copy of a git store is guarded by any of its files.
    let of_git = |name: &Vec<u8>| name.split(|&b| b == b'/').any(|part| part == b".git");
    if let Some(store) = names.iter().find(|name| of_git(name)) {
        return Some(vec![store.clone()]);
    }
    let picked: Vec<Vec<u8>> = names.into_iter().filter(|name| may_steer(name)).collect();
    (picked.len() <= MOST_STEERING).then_some(picked)
}

/// Whether a file of this name may run or steer something later: it is hidden or in a hidden folder, written in capitals, or
/// of a kind of which such files are that are neither.
fn may_steer(name: &[u8]) -> bool {
    const ENDINGS: &[&[u8]] = &[
        b".toml",
        b".yml",
        b".yaml",
        b".json",
        b".jsonc",
        b".json5",
        b".properties",
        b".cmd",
        b".bat",
        b".cfg",
        b".ini",
        b".conf",
        b".rsp",
        b".dist",
        b".nix",
        b".pkl",
        b".pth",
        b".config",
        b".code-workspace",
        b".sublime-project",
        b".star",
        b".jsonnet",
    ];
    let last = name.rsplit(|&b| b == b'/').next().unwrap_or(name);
    let hidden = name.split(|&b| b == b'/').any(|part| part.starts_with(b".") && part != b".");
    let capital = last.first().is_some_and(u8::is_ascii_uppercase);
    let bare = !last.contains(&b'.');
    let module = last == b"sitecustomize.py" || last == b"usercustomize.py" || last.windows(7).any(|w| w == b".config");
    let wrapper = last.starts_with(b"gradle-wrapper") || last.ends_with(b".jar");
    let instructions = last.ends_with(b".md");
    hidden
        || capital
        || bare
        || module
        || wrapper
        || instructions
        || ENDINGS.iter().any(|ending| last.ends_with(ending))
}

/// The names of files below a folder, which is copied; `None`: they are not all known.
pub(super) fn of_folder(view: &View<'_>, folder: &Path) -> Option<Vec<Vec<u8>>> {
    const DEEPEST: usize = 12;
    let mut names = Vec::new();
    let mut open: Vec<(PathBuf, usize)> = vec![(folder.to_owned(), 0)];
    let mut looked_at = 0;
    while let Some((here, depth)) = open.pop() {
        for (name, stands) in view.inv.files.entries(&here, MOST_LOOKED_AT)? {
            looked_at += 1;
            if looked_at > MOST_LOOKED_AT || depth > DEEPEST {
                return None;
            }
            let path = here.join(&name);
            if stands == Stands::Folder {
                open.push((path, depth + 1));
            } else {
                names.push(path.strip_prefix(folder).ok()?.as_os_str().as_bytes().to_vec());
            }
        }
    }
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str, headers: Headers) -> Option<Vec<String>> {
        let patch = of_patch(text.as_bytes(), headers)?;
        Some(patch.names.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect())
    }

    #[test]
    fn a_patch_tells_the_files_that_it_changes() {
        let git = "diff --git a/src/a.rs b/src/b.rs\nrename from src/a.rs\nrename to src/b.rs\n";
        assert_eq!(names(git, Headers::Git(1)).unwrap(), ["src/a.rs", "src/b.rs"]);
        let plain = "--- a/x.c\t2020-01-01\n+++ b/x.c\t2020-01-01\n@@ -1 +1 @@\n-a\n+b\n";
        assert_eq!(names(plain, Headers::Patch(Some(1))).unwrap(), ["x.c"]);
        assert_eq!(names(plain, Headers::Patch(None)).unwrap(), ["a/x.c", "b/x.c", "x.c"]);
        assert_eq!(names("  --- a/.envrc\r\n  +++ b/.envrc\r\n", Headers::Patch(Some(1))).unwrap(), [".envrc"]);
        assert_eq!(
            names("--- /dev/null\n+++ b/.github/workflows/x.yml\n", Headers::Git(1)).unwrap(),
            [".github/workflows/x.yml"]
        );
    }

    #[test]
    fn a_patch_that_is_not_understood_tells_nothing() {
        assert!(names("", Headers::Git(1)).is_none());
        assert!(names("--- a/x 2020-01-01\n+++ b/x 2020-01-01\n", Headers::Patch(Some(1))).is_none());
        let link = "diff --git a/d b/d\nnew file mode 120000\n--- /dev/null\n+++ b/d\n@@ -0,0 +1 @@\n+.git/hooks\n";
        assert!(names(link, Headers::Git(1)).is_none());
        assert!(names("+++ \"b/\\056envrc\"\n", Headers::Git(1)).is_none());
        assert!(names("diff --git a/x y b/x y\n", Headers::Git(1)).is_none());
        assert!(names("Content-Transfer-Encoding: base64\n\n--- a/x\n+++ b/x\n", Headers::Git(1)).is_none());
        assert!(of_patch(b"--- a\n+++ a\n1a\n!id\n", Headers::Patch(None)).unwrap().is_script);
    }
}
