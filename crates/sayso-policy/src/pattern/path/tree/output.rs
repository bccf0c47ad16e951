//! Build output: what tools make again.
//!
//! A name is not enough, since `build` is a folder of sources elsewhere, and ignore files are not enough, since an agent
//! may write them and secrets and drafts are ignored too. So it takes both, and that git tracks nothing there.

use super::Tree;
use sayso_shell::Kind;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Folders that tools fill, and that nobody works in.
pub(super) const NAMES: &[&[u8]] = &[
    b"target",
    b"node_modules",
    b"dist",
    b"build",
    b"out",
    b"_build",
    b"dist-newstyle",
    b".stack-work",
    b"CMakeFiles",
    b"cmake-build-debug",
    b"cmake-build-release",
    b".gradle",
    b".next",
    b".nuxt",
    b".output",
    b".svelte-kit",
    b".angular",
    b".turbo",
    b".vite",
    b".parcel-cache",
    b".docusaurus",
    b".dart_tool",
    b"coverage",
    b".nyc_output",
    b"htmlcov",
    b"__pycache__",
    b".pytest_cache",
    b".mypy_cache",
    b".ruff_cache",
    b".hypothesis",
    b".tox",
    b".nox",
    b".eggs",
    b".venv",
    b"venv",
];

/// Whether a folder of this name is filled by tools.
pub(crate) fn is_output_name(name: &OsStr) -> bool {
    NAMES.contains(&name.as_bytes())
}

impl Tree<'_> {
    /// Whether this canonical path below `root` lies in, or is, a folder of build output, or nothing is there.
    pub(crate) fn is_build_output(&self, root: &Path, path: &Path) -> bool {
        let Ok(rest) = path.strip_prefix(root) else { return false };
        if rest.components().any(|component| component.as_os_str() == ".git") {
            return false;
        }
        let mut folder = root.to_owned();
        rest.components().any(|component| {
            folder.push(component);
            NAMES.contains(&component.as_os_str().as_bytes()) && self.is_made(root, &folder)
        })
    }

    fn is_made(&self, root: &Path, folder: &Path) -> bool {
        match self.files.kind(folder) {
            Kind::Missing => true,
            Kind::Folder { .. } => self.leaves_out(root, folder, true) && self.tracks(folder) == Some(false),
            _ => false,
        }
    }
}
