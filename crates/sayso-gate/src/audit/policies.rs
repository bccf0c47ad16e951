//! The texts of every policy that judged something, by its version.

use crate::audit::{Change, Kind};
use crate::{Error, Places};
use sayso_policy::{Layer, Policy, PolicyText};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The folder in which hooks leave texts for the next reader.
pub(super) const FOLDER: &str = "policies";

/// A policy that judged something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PolicyVersion {
    /// Its version, as records name it.
    pub version: String,
    /// Its files, in order.
    pub files: Vec<PolicyFile>,
}

/// One file of a policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PolicyFile {
    /// `managed`, `user`, `project` or `given`.
    pub layer: String,
    /// Its name as shown to people.
    pub name: String,
    /// Its content.
    pub text: String,
    /// Whether its allows count.
    pub trusted: bool,
}

impl PolicyVersion {
    /// The texts that a policy was made of.
    #[must_use]
    pub fn new(version: &str, files: &[PolicyText]) -> Self {
        let file = |file: &PolicyText| PolicyFile {
            layer: file.layer.to_string(),
            name: file.name.clone(),
            text: file.text.clone(),
            trusted: file.trusted,
        };
        Self { version: version.to_owned(), files: files.iter().map(file).collect() }
    }

    /// The texts, as the policy crate takes them.
    #[must_use]
    pub fn texts(&self) -> Vec<PolicyText> {
        let text = |file: &PolicyFile| PolicyText {
            layer: match file.layer.as_str() {
                "managed" => Layer::Managed,
                "user" => Layer::User,
                "project" => Layer::Project,
                _ => Layer::Given,
            },
            name: file.name.clone(),
            text: file.text.clone(),
            trusted: file.trusted,
        };
        self.files.iter().map(text).collect()
    }

    /// The policy, if these are the texts that gave it its version: a changed text, or another Sayso, gives another.
    #[must_use]
    pub fn policy(&self) -> Option<Policy> {
        Policy::compile(&self.texts()).ok().filter(|policy| policy.version() == self.version)
    }
}

/// The record that a policy is in force from here on.
pub(crate) fn loaded(version: &str, files: &[PolicyText]) -> Change {
    let mut change = Change::now(Kind::Policy, "loaded");
    change.about = Some(version.to_owned());
    change.by = Some("sayso".to_owned());
    change.detail = serde_json::json!({"files": files.iter().map(|file| &file.name).collect::<Vec<_>>()});
    change
}

/// Where a hook leaves the texts of a version. A version is the policy's own word, not the agent's, and yet nothing but
/// letters and digits may name a file.
pub(super) fn path(folder: &Path, version: &str) -> Option<PathBuf> {
    let plain = !version.is_empty() && version.len() <= 64 && version.bytes().all(|b| b.is_ascii_alphanumeric());
    plain.then(|| folder.join(version))
}

/// Whether the texts of a version were left already.
pub(crate) fn are_left(places: &Places, version: &str) -> bool {
    path(&places.state.join(FOLDER), version).is_some_and(|path| std::fs::symlink_metadata(path).is_ok())
}

/// Leaves the texts of a version for the next reader. Tells whether they were new.
pub(super) fn leave(places: &Places, version: &str, files: &[PolicyText]) -> Result<bool, Error> {
    let Some(path) = path(&places.state.join(FOLDER), version) else { return Ok(false) };
    if std::fs::symlink_metadata(&path).is_ok() {
        return Ok(false);
    }
    places.own_folder(FOLDER)?;
    let new = path.with_file_name(format!("{version}.{}", crate::audit::fresh_id()));
    crate::places::write_own(&new, &serde_json::to_vec(&PolicyVersion::new(version, files))?)?;
    let linked = std::fs::hard_link(&new, &path);
    let _ = std::fs::remove_file(&new);
    match linked {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
        Err(e) => Err(Error::io("write", &path, e)),
    }
}

/// What a hook has left.
pub(super) fn left(folder: &Path, version: &str) -> Option<PolicyVersion> {
    let content = std::fs::read(path(folder, version)?).ok()?;
    serde_json::from_slice(&content).ok().filter(|left: &PolicyVersion| left.version == version)
}

/// What was left in the folder in which this store stands.
pub(crate) fn left_beside(store: &Path, version: &str) -> Option<PolicyVersion> {
    left(&store.parent()?.join(FOLDER), version)
}
