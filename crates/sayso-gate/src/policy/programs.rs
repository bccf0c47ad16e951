//! Texts about programs: `programs/*.prog` beside the managed and the user's policy file, and `.sayso/programs` of a project.
//!
//! They count as the policy file beside them does, with its version and its last good copy. A project's count once their
//! owner trusts them, the folder as a whole: a text that is added to it is as good as one that is changed.

use super::repository::Repository;
use super::source::{self, Found, LARGEST};
use super::trust::{Book, Standing, Trusted, hash, record};
use crate::audit::now_ms;
use crate::{Error, Places};
use rustix::fs::OFlags;
use sayso_policy::{Layer, Policy, PolicyText};
use serde_json::json;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Where a policy's texts about programs are, beside its file.
const FOLDER: &str = "programs";
/// Where a project's are.
const PROJECT_FOLDER: &str = ".sayso/programs";
/// How many texts a folder may hold.
const MOST: usize = 256;

/// The texts of the machine and of the user, those of the machine first.
pub(super) fn found(places: &Places) -> Vec<Found> {
    let folders = [(Layer::Managed, &places.managed), (Layer::User, &places.user)];
    let beside = |(layer, file): (Layer, &PathBuf)| Some((layer, file.parent()?.join(FOLDER)));
    let read = |(layer, folder): (Layer, PathBuf)| match listed(&folder) {
        Ok(files) => files.iter().filter_map(|file| one(places, &layer, &folder, file)).collect(),
        Err(why) => vec![Found { layer, path: folder, text: Err(why), lost: false }],
    };
    folders.into_iter().filter_map(beside).flat_map(read).collect()
}

fn one(places: &Places, layer: &Layer, folder: &Path, file: &Path) -> Option<Found> {
    match layer {
        Layer::Managed => source::managed_file(places, &[folder], file),
        _ => source::user_file(file),
    }
}

/// Where texts of the machine and of the user may be.
pub(super) fn folders(places: &Places) -> impl Iterator<Item = PathBuf> {
    [&places.managed, &places.user].into_iter().filter_map(|file| Some(file.parent()?.join(FOLDER)))
}

/// The texts in a folder, in the order of their names; none where there is no folder.
pub(super) fn listed(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let listing = match std::fs::read_dir(folder) {
        Ok(listing) => listing,
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(Vec::new()),
        Err(e) => return Err(format!("it cannot be read: {e}")),
    };
    let mut files = Vec::new();
    for entry in listing {
        let path = entry.map_err(|e| format!("it cannot be read: {e}"))?.path();
        if path.extension().is_some_and(|ending| ending == "prog") {
            files.push(path);
        }
        if files.len() > MOST {
            return Err(format!("it holds more than {MOST} texts"));
        }
    }
    files.sort();
    Ok(files)
}

/// A project's folder of texts: the nearest one between the workspace and the repository's root.
pub(super) fn project_folder(repository: &Repository, workspace: &Path) -> Option<PathBuf> {
    let is_folder = |folder: &PathBuf| std::fs::symlink_metadata(folder).is_ok_and(|meta| meta.is_dir());
    repository.chain(workspace).map(|folder| folder.join(PROJECT_FOLDER)).find(is_folder)
}

/// Where a project's folders of texts may be.
pub(super) fn project_folders<'r>(
    repository: &'r Repository,
    workspace: &'r Path,
) -> impl Iterator<Item = PathBuf> + 'r {
    repository.chain(workspace).map(|folder| folder.join(PROJECT_FOLDER))
}

/// All texts of a project's folder, as one text that can be trusted. Links are refused: they could lead anywhere.
fn whole(folder: &Path) -> Result<String, String> {
    let mut texts: Vec<(String, String)> = Vec::new();
    for path in listed(folder)? {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            return Err("the name of a text is not UTF-8".to_owned());
        };
        let (content, _) = crate::files::read_regular(&path, LARGEST, OFlags::NOFOLLOW)
            .map_err(|e| format!("{name} cannot be read: {e}"))?;
        let text = String::from_utf8(content).map_err(|_| format!("{name} is not UTF-8"))?;
        texts.push((name.to_owned(), text));
    }
    serde_json::to_string(&texts).map_err(|e| e.to_string())
}

/// The texts that a trusted folder held.
fn texts(places: &Places, root: &Path, trusted: &Trusted, note: &str) -> Vec<PolicyText> {
    let held: Vec<(String, String)> = serde_json::from_str(&trusted.text).unwrap_or_default();
    let text = |(name, text): (String, String)| {
        let shown = places.shown(&root.join(&trusted.file).join(name));
        PolicyText { layer: Layer::Project, name: format!("{shown}{note}"), text, trusted: true }
    };
    held.into_iter().map(text).collect()
}

/// How a project's texts stand, and those that count.
pub(super) fn of_project(
    places: &Places,
    repository: &Repository,
    workspace: &Path,
) -> Result<(Standing, Vec<PolicyText>), Error> {
    let trusted = Book::open(places, repository)?.files.into_iter().find(|one| is_on_chain(repository, workspace, one));
    let folder = project_folder(repository, workspace);
    Ok(match (trusted, folder) {
        (None, None) => (Standing::Nothing, Vec::new()),
        (None, Some(folder)) => (Standing::Untrusted(folder), Vec::new()),
        (Some(one), folder) => {
            let path = repository.root.join(&one.file);
            let now = folder.filter(|folder| *folder == path);
            let same = now.as_ref().is_some_and(|folder| whole(folder).is_ok_and(|text| text == one.text));
            let standing = match now {
                Some(folder) if same => Standing::Trusted(folder),
                Some(folder) => Standing::Changed(folder),
                None => Standing::Gone(path),
            };
            let note = if same { "" } else { " (as trusted)" };
            (standing, texts(places, &repository.root, &one, note))
        }
    })
}

fn is_on_chain(repository: &Repository, workspace: &Path, one: &Trusted) -> bool {
    one.file.ends_with(PROJECT_FOLDER)
        && project_folders(repository, workspace).any(|folder| folder == repository.root.join(&one.file))
}

/// Trusts a project's texts as they are, or drops what was trusted where they are gone. Tells whether there was any.
pub(super) fn trust(
    places: &Places,
    (repository, workspace): (&Repository, &Path),
    by: &str,
    book: &mut Book,
) -> Result<bool, Error> {
    let before = book.files.len();
    book.files.retain(|one| !is_on_chain(repository, workspace, one));
    let Some(folder) = project_folder(repository, workspace) else { return Ok(before != book.files.len()) };
    let refused = |why: String| Error::Unsafe { path: folder.clone(), why };
    let text = whole(&folder).map_err(refused)?;
    let file = folder.strip_prefix(&repository.root).unwrap_or(&folder).to_owned();
    let trusted = Trusted { file, hash: hash(&text), text, time_ms: now_ms() };
    Policy::compile(&texts(places, &repository.root, &trusted, "")).map_err(Error::Policy)?;
    record(places, ("trusted", by), &folder, json!({"hash": trusted.hash}))?;
    book.files.push(trusted);
    Ok(true)
}

/// Takes trust back. Tells whether there was any.
pub(super) fn distrust(repository: &Repository, workspace: &Path, book: &mut Book) -> bool {
    let before = book.files.len();
    book.files.retain(|one| !is_on_chain(repository, workspace, one));
    before != book.files.len()
}

/// How the texts about programs of a workspace's project stand.
///
/// # Errors
/// If the book of trust cannot be read.
pub fn programs_standing(places: &Places, workspace: &Path) -> Result<Standing, Error> {
    of_project(places, &Repository::of(workspace), workspace).map(|(standing, _)| standing)
}
