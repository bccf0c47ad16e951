//! Finding and reading the policy files, and who may have written them.

use crate::Places;
use crate::files::read_regular;
use crate::policy::repository::Repository;
use rustix::fs::OFlags;
use sayso_policy::Layer;
use std::fs::Metadata;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The name of a project's file.
pub(super) const PROJECT_FILE: &str = ".sayso.toml";
/// The largest policy file.
pub(super) const LARGEST: usize = 8 * 1024 * 1024;

/// A policy file that is there.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) layer: Layer,
    pub(super) path: PathBuf,
    /// Its text, or why it is not used.
    pub(super) text: Result<String, String>,
    /// It is behind a link that leads nowhere: nobody else can have written it, and its owner means a file.
    pub(super) lost: bool,
}

/// The managed file, if there is one. Only root may have written it.
pub(super) fn managed(places: &Places) -> Option<Found> {
    managed_file(places, &[], &places.managed)
}

/// A file of the machine, below the folder of the managed policy. Only root may have written it and these folders.
pub(super) fn managed_file(places: &Places, below: &[&Path], path: &Path) -> Option<Found> {
    find(Layer::Managed, path, OFlags::empty(), |meta| {
        let closed = |meta: &Metadata| meta.uid() == places.managed_owner && meta.mode() & 0o022 == 0;
        let folder_closed = |folder: &Path| std::fs::metadata(folder).is_ok_and(|meta| closed(&meta));
        let mut folders = places.managed.parent().into_iter().chain(below.iter().copied());
        if places.managed.parent().is_some() && folders.all(folder_closed) && closed(meta) {
            Ok(())
        } else {
            Err("it or its folder is writable by someone other than root".to_owned())
        }
    })
}

/// The user's file, if there is one. It may be a link (people keep such files in repositories of their own), but
/// what it leads to must be the user's.
pub(super) fn user(places: &Places) -> Option<Found> {
    user_file(&places.user)
}

/// A file of the user, on the same terms.
pub(super) fn user_file(path: &Path) -> Option<Found> {
    find(Layer::User, path, OFlags::empty(), |meta| {
        let owner = meta.uid();
        if owner != rustix::process::geteuid().as_raw() && owner != 0 {
            Err("it belongs to another user".to_owned())
        } else if meta.mode() & 0o002 != 0 {
            Err("anyone can write to it".to_owned())
        } else {
            Ok(())
        }
    })
}

/// The project's file nearest to the workspace, up to the repository's root.
pub(super) fn project(repository: &Repository, workspace: &Path) -> Option<Found> {
    repository.chain(workspace).find_map(|folder| project_file(&folder.join(PROJECT_FILE)))
}

/// A project's file at this path. It came with the repository: a link in its place could lead anywhere.
pub(super) fn project_file(path: &Path) -> Option<Found> {
    find(Layer::Project, path, OFlags::NOFOLLOW, |_| Ok(()))
}

fn find(
    layer: Layer,
    path: &Path,
    flags: OFlags,
    check: impl FnOnce(&Metadata) -> Result<(), String>,
) -> Option<Found> {
    let mut lost = false;
    let text = match read_regular(path, LARGEST, flags) {
        Ok((content, meta)) => {
            check(&meta).and_then(|()| String::from_utf8(content).map_err(|_| "it is not UTF-8".to_owned()))
        }
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            lost = !flags.contains(OFlags::NOFOLLOW) && leads_nowhere(path);
            if !lost {
                return None;
            }
            Err("it is a link to a missing file".to_owned())
        }
        Err(e) => Err(format!("it cannot be read: {e}")),
    };
    Some(Found { layer, path: path.to_owned(), text, lost })
}

/// Whether a file that is not there is named by a link, or in a folder that is: its owner means one, and whoever moved
/// what the link leads to must not get another policy by that.
pub(super) fn leads_nowhere(path: &Path) -> bool {
    let nearest = path.ancestors().find_map(|place| Some((place, std::fs::symlink_metadata(place).ok()?)));
    nearest.is_some_and(|(place, meta)| meta.is_symlink() && std::fs::metadata(place).is_err())
}
