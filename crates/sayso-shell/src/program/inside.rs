//! Names inside of patches, archives and folders: what would be written, where that can be read at little cost.
//!
//! INVARIANT: what is found here only ever adds to what a program would write, or says in more words what "something below
//! this folder" was. Where one header is not understood, nothing counts as understood.

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
const MOST_LOOKED_AT: usize = 4096;

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
    // Quoted names hold escapes, and a date may stand behind a blank.
    if name.starts_with(b"\"") || name.is_empty() {
        return None;
    }
    let whole = name.trim_ascii_end();
    let first = whole.split(|&b| b == b' ').next().unwrap_or(whole);
    for name in [whole, first] {
        if name == b"/dev/null" || name.iter().all(|b| b"-*0123456789, ".contains(b)) {
            continue;
        }
        let strips: &[usize] = match headers {
            Headers::Git(strip) | Headers::Patch(Some(strip)) => &[strip],
            Headers::Patch(None) => &[0, usize::MAX],
        };
        names.extend(strips.iter().filter_map(|&strip| without_leading(name, strip)));
    }
    Some(())
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

/// Names in an archive that is not compressed, or tells its names uncompressed.
pub(super) fn of_archive(bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
    if bytes.starts_with(b"PK") { of_zip(bytes) } else { of_tar(bytes) }
}

/// The central directory of a zip file.
fn of_zip(bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
    let number = |at: usize, len: usize| -> Option<usize> {
        let field = bytes.get(at..at + len)?;
        Some(field.iter().rev().fold(0, |sum, byte| (sum << 8) | usize::from(*byte)))
    };
    let end = (0..bytes.len().saturating_sub(21))
        .rev()
        .take(1 << 16)
        .find(|&at| bytes.get(at..at + 4) == Some(b"PK\x05\x06"))?;
    let (count, mut at) = (number(end + 10, 2)?, number(end + 16, 4)?);
    let mut names = Vec::new();
    for _ in 0..count.min(MOST_LOOKED_AT + 1) {
        if bytes.get(at..at + 4) != Some(b"PK\x01\x02") {
            return None;
        }
        let (name, extra, comment) = (number(at + 28, 2)?, number(at + 30, 2)?, number(at + 32, 2)?);
        names.push(bytes.get(at + 46..at + 46 + name)?.to_vec());
        at += 46 + name + extra + comment;
    }
    (names.len() <= MOST_LOOKED_AT && count < 0xffff).then_some(names)
}

/// The headers of a tar archive. Names that stand in a header of their own are read too; others are not understood.
fn of_tar(bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
    let field = |at: usize, len: usize| -> Option<&[u8]> {
        let field = bytes.get(at..at + len)?;
        Some(field.split(|&b| b == 0).next().unwrap_or(field))
    };
    let mut names = Vec::new();
    let mut longer: Option<Vec<u8>> = None;
    let mut at = 0;
    while let Some(header) = bytes.get(at..at + 512) {
        if header.iter().all(|&b| b == 0) {
            break;
        }
        if header.get(257..262) != Some(b"ustar") || names.len() > MOST_LOOKED_AT {
            return None;
        }
        let digits = field(at + 124, 12)?;
        let size = usize::from_str_radix(std::str::from_utf8(digits).ok()?.trim_matches([' ', '\0']), 8).ok()?;
        let content = bytes.get(at + 512..at + 512 + size)?;
        match header.get(156)? {
            b'L' => longer = Some(content.split(|&b| b == 0).next().unwrap_or(content).to_vec()),
            b'x' => longer = path_of_pax(content).or(longer),
            b'K' => {}
            // Global headers, sparse files, volumes.
            b'g' | b'S' | b'M' | b'V' | b'D' => return None,
            _ => {
                let (prefix, name) = (field(at + 345, 155)?, field(at, 100)?);
                let joined = if prefix.is_empty() { name.to_vec() } else { [prefix, name].join(&b'/') };
                names.push(longer.take().unwrap_or(joined));
            }
        }
        at += 512 + size.div_ceil(512) * 512;
    }
    (!names.is_empty()).then_some(names)
}

/// `NN path=name` in the records of an extended header.
fn path_of_pax(records: &[u8]) -> Option<Vec<u8>> {
    let record = records.split(|&b| b == b'\n').find_map(|record| {
        let (_, entry) = record.split_at_checked(record.iter().position(|&b| b == b' ')? + 1)?;
        entry.strip_prefix(b"path=")
    })?;
    Some(record.to_vec())
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

/// Whether a file of this name is likely to run or steer something later. Rules say for certain what is guarded; this only
/// picks names to show them.
pub(super) fn may_steer(name: &[u8]) -> bool {
    const FOLDERS: &[&str] = &[
        ".agents",
        ".buildkite",
        ".cargo",
        ".circleci",
        ".claude",
        ".codex",
        ".continue",
        ".cursor",
        ".devcontainer",
        ".forgejo",
        ".gemini",
        ".git",
        ".gitea",
        ".githooks",
        ".github",
        ".gitlab",
        ".husky",
        ".idea",
        ".kiro",
        ".mvn",
        ".opencode",
        ".roo",
        ".vscode",
        ".windsurf",
        ".woodpecker",
        ".yarn",
        ".zed",
    ];
    const FILES: &[&str] = &[
        ".bazelrc",
        ".cursorrules",
        ".envrc",
        ".gitlab-ci.yml",
        ".mcp.json",
        ".mise.toml",
        ".npmrc",
        ".pnpmfile.cjs",
        ".pre-commit-config.yaml",
        ".tool-versions",
        ".travis.yml",
        ".windsurfrules",
        ".yarnrc.yml",
        "AGENTS.md",
        "CLAUDE.md",
        "GEMINI.md",
        "Jenkinsfile",
        "azure-pipelines.yml",
        "bitbucket-pipelines.yml",
        "gradle.properties",
        "gradlew",
        "lefthook.yaml",
        "lefthook.yml",
        "mise.toml",
        "mvnw",
        "netlify.toml",
        "opencode.json",
        "opencode.jsonc",
        "pip.conf",
        "rust-toolchain",
        "rust-toolchain.toml",
        "sitecustomize.py",
        "vercel.json",
    ];
    let is = |part: &[u8], list: &[&str]| list.iter().any(|known| known.as_bytes() == part);
    let last = name.rsplit(|&b| b == b'/').next().unwrap_or(name);
    is(last, FILES) || name.split(|&b| b == b'/').any(|part| is(part, FOLDERS))
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
        assert!(names("+++ \"b/\\056envrc\"\n", Headers::Git(1)).is_none());
        assert!(names("diff --git a/x y b/x y\n", Headers::Git(1)).is_none());
        assert!(names("Content-Transfer-Encoding: base64\n\n--- a/x\n+++ b/x\n", Headers::Git(1)).is_none());
        assert!(of_patch(b"--- a\n+++ a\n1a\n!id\n", Headers::Patch(None)).unwrap().is_script);
    }

    #[test]
    fn an_archive_tells_its_names() {
        let mut tar = vec![0_u8; 512];
        tar[..7].copy_from_slice(b".envrc\0");
        tar[124..136].copy_from_slice(b"00000000003\0");
        tar[156] = b'0';
        tar[257..262].copy_from_slice(b"ustar");
        tar.extend([b'x'; 3]);
        tar.resize(1024, 0);
        tar.resize(2048, 0);
        assert_eq!(of_archive(&tar).unwrap(), [b".envrc".to_vec()]);
        assert!(of_archive(b"\x1f\x8b").is_none());
        assert!(of_archive(b"").is_none());
        let mut zip = b"PK\x01\x02".to_vec();
        zip.resize(46, 0);
        zip[28] = 3;
        zip.extend(b"a/b");
        let end = zip.len();
        zip.extend(b"PK\x05\x06");
        zip.resize(end + 22, 0);
        zip[end + 10] = 1;
        assert_eq!(of_archive(&zip).unwrap(), [b"a/b".to_vec()]);
    }
}
