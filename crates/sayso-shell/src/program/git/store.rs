//! Which store git takes its configuration from. That file names programs: pagers, hooks, file system monitors.
//!
//! What is called `.git` is guarded, so that nothing changes its configuration unasked. But git also takes a folder for a store
//! that looks like one (`HEAD`, `objects`, `refs`), and a file `.git` leads to one of any name. Those are files like any other.

use crate::effect::NamedBy;
use crate::files::Kind;
use crate::program::{Code, View, join};
use std::path::{Component, Path, PathBuf};

/// Beyond this nothing is looked for: git would be led by a folder that far above only by intent.
const MANY: usize = 64;

/// Asks where the store that git would find is no `.git`.
pub(super) fn check(view: &mut View<'_>) {
    if view.path.first().is_some_and(|sub| matches!(*sub, "clone" | "init" | "version" | "help")) {
        return;
    }
    let Some(base) = view.base.as_deref().filter(|base| base.is_absolute()) else { return };
    if let Some(found) = unguarded(view, base) {
        view.named(Code::RunsCode, NamedBy::Nothing, 0);
        let text =
            format!("{} is a git store under another name, and its configuration can name programs", found.display());
        view.doubt(Code::RunsCode, text, 0);
    }
}

/// The store that git would find from this folder, if it is none that is guarded by its name.
fn unguarded(view: &View<'_>, base: &Path) -> Option<PathBuf> {
    let files = view.inv.files;
    for folder in plain(base).ancestors().take(MANY) {
        if is_named(folder) {
            return None;
        }
        let link = folder.join(".git");
        match files.kind(&link) {
            Kind::Missing => {}
            Kind::File { .. } => {
                let text = files.read(&link, 4096).unwrap_or_default();
                let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
                let to = line.strip_prefix(b"gitdir:").map(<[u8]>::trim_ascii)?;
                let to = plain(&join(Some(folder), to));
                return (!is_named(&to)).then_some(to);
            }
            Kind::Link(to) => {
                let to = plain(&folder.join(to));
                return (!is_named(&to)).then_some(to);
            }
            _ => return None,
        }
        let stands = |name: &str| files.kind(&folder.join(name)) != Kind::Missing;
        if stands("HEAD") && (stands("objects") || stands("commondir")) && (stands("refs") || stands("commondir")) {
            return Some(folder.to_owned());
        }
    }
    None
}

/// Whether a part of a path is `.git`.
fn is_named(path: &Path) -> bool {
    path.components().any(|part| matches!(part, Component::Normal(name) if name == ".git"))
}

/// Without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => _ = out.pop(),
            Component::CurDir => {}
            part => out.push(part),
        }
    }
    out
}
