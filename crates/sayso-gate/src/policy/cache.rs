//! Compiled policies, kept for processes that live for a millisecond.
//!
//! A copy is an image of the policy, labelled with everything that the policy depends on. It is used only if it and
//! its folder are this user's alone to write, if it is whole, and if looking at everything anew gives the same label.
//! Whatever is not so, or cannot be found out, means that the files are compiled, as if there were no copy.
//!
//! INVARIANT: a copy changes what a decision costs, never what it is. Who can write here can write the policy itself.

mod inputs;

use super::force::{InForce, Notice};
use crate::{Error, Places, reason};
use inputs::Inputs;
use rustix::fs::{Mode, OFlags};
use sayso_policy::{Code, Policy, image};
use std::ffi::OsStr;
use std::fs::File;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Where copies are.
const FOLDER: &str = "compiled";
/// Most copies that are kept: one for each workspace, the newest.
const MOST: usize = 64;
/// Most bytes that they take together.
const MOST_BYTES: u64 = 256 * 1024 * 1024;
/// What a notice may say in a copy. Others come with problems of a text, which a copy does not hold.
const NOTICES: [Code; 2] = [reason::UNTRUSTED, reason::TRUST_OUTDATED];

impl InForce {
    /// As [`InForce::load`], from a compiled copy where one is at hand and everything is as it was; otherwise one is
    /// left for the next process. What a copy does not hold: the texts of the files, and warnings about them.
    ///
    /// # Errors
    /// As [`InForce::load`].
    pub fn load_compiled(places: &Places, workspace: Option<&Path>) -> Result<Self, Error> {
        let Some(inputs) = Inputs::look(places, workspace) else { return Self::load(places, workspace) };
        let path = path(places, workspace);
        if let Some(found) = open(places, workspace, &path, &inputs) {
            return Ok(found);
        }
        let loaded = Self::load(places, workspace)?;
        // Without a copy the next process is slower, and nothing else.
        let _ = keep(places, workspace, &path, &inputs, &loaded);
        Ok(loaded)
    }
}

/// One for each workspace; a hash, because a path is too long for a name.
fn path(places: &Places, workspace: Option<&Path>) -> PathBuf {
    let name = match workspace {
        Some(workspace) => blake3::hash(workspace.as_os_str().as_bytes()).to_hex().to_string(),
        None => "nowhere".to_owned(),
    };
    places.state.join(FOLDER).join(name)
}

/// The policy in force by the copy at this path, if that may be used.
fn open(places: &Places, workspace: Option<&Path>, path: &Path, inputs: &Inputs) -> Option<InForce> {
    let (file, meta) = open_own(places, path)?;
    let (policy, note) = image::open(Box::new(ImageFile { file, length: meta.len() }), &inputs.label)?;
    let notices = read_notices(&note)?;
    // Records name the version, and are judged again by its texts. A copy has none to leave.
    if !crate::audit::are_left(places, policy.version()) {
        return None;
    }
    let again = {
        let (places, workspace) = (places.clone(), workspace.map(Path::to_owned));
        let path = path.to_owned();
        move || compile_again(&places, workspace.as_deref(), &path)
    };
    let policy = super::force::protecting(policy, places).or_else(again);
    Some(InForce { policy, files: Vec::new(), notices, floor: None })
}

/// A copy turned out to be damaged while it was used.
fn compile_again(places: &Places, workspace: Option<&Path>, path: &Path) -> Option<Policy> {
    let _ = std::fs::remove_file(path);
    let loaded = InForce::load(places, workspace).ok()?;
    // INVARIANT: a floor would be lost here. Without a policy, the call is denied.
    loaded.floor.is_none().then_some(loaded.policy)
}

/// A file that only this user can have written, in a folder of which the same is true.
pub(crate) fn open_own(places: &Places, path: &Path) -> Option<(File, std::fs::Metadata)> {
    // Opened first: where there is none, as in most projects, nothing more is asked.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
    let me = rustix::process::geteuid().as_raw();
    let mine = |meta: &std::fs::Metadata| meta.uid() == me && meta.mode() & 0o022 == 0;
    for folder in [places.state.as_path(), path.parent()?] {
        let meta = std::fs::symlink_metadata(folder).ok()?;
        if !meta.is_dir() || !mine(&meta) {
            return None;
        }
    }
    let meta = file.metadata().ok()?;
    (meta.is_file() && mine(&meta)).then_some((file, meta))
}

/// Leaves a copy, if what was loaded is a plain policy and surely that of these inputs.
fn keep(places: &Places, workspace: Option<&Path>, path: &Path, inputs: &Inputs, loaded: &InForce) -> Option<()> {
    let note = write_notices(loaded)?;
    // What changed while it was read, or may still change unseen, is not remembered.
    if !inputs.are_settled() || Inputs::look(places, workspace)? != *inputs {
        return None;
    }
    let image = image::write(&loaded.policy, &inputs.label, &note)?;
    leave_own(&places.own_folder(FOLDER).ok()?, path.file_name()?, &image)
}

/// Leaves a file in one of Sayso's own folders, in which the oldest make room for it.
pub(crate) fn leave_own(folder: &Path, name: impl AsRef<OsStr>, bytes: &[u8]) -> Option<()> {
    make_room(folder, u64::try_from(bytes.len()).ok()?);
    let path = folder.join(name.as_ref());
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!(".{}.new", crate::audit::fresh_id()));
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let file = rustix::fs::open(&temporary, flags, Mode::RUSR | Mode::WUSR).ok()?;
    // Not synced: half a copy after a crash is one that is not whole.
    let written = File::from(file).write_all(bytes).and_then(|()| std::fs::rename(&temporary, &path));
    if written.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    written.ok()
}

/// Removes the oldest copies until there is room for one more.
fn make_room(folder: &Path, wanted: u64) {
    let Ok(listing) = std::fs::read_dir(folder) else { return };
    let mut copies: Vec<(SystemTime, u64, PathBuf)> = listing
        .flatten()
        .filter_map(|entry| {
            let meta = entry.metadata().ok()?;
            Some((meta.modified().ok()?, meta.len(), entry.path()))
        })
        .collect();
    copies.sort();
    let mut count = copies.len();
    let mut bytes = copies.iter().fold(wanted, |sum, (_, length, _)| sum.saturating_add(*length));
    for (_, length, path) in copies {
        if count < MOST && bytes <= MOST_BYTES {
            return;
        }
        if std::fs::remove_file(path).is_ok() {
            count -= 1;
            bytes = bytes.saturating_sub(length);
        }
    }
}

/// Notices as bytes. `None`: what was loaded is more than a copy can say.
fn write_notices(loaded: &InForce) -> Option<Vec<u8>> {
    if loaded.floor.is_some() {
        return None;
    }
    let mut said: Vec<(&str, &str)> = Vec::new();
    for Notice { reason, problems, text } in &loaded.notices {
        if !problems.is_empty() || text.is_some() || !NOTICES.iter().any(|known| reason.code == *known) {
            return None;
        }
        said.push((reason.code.as_str(), &reason.text));
    }
    if said.is_empty() { Some(Vec::new()) } else { serde_json::to_vec(&said).ok() }
}

fn read_notices(note: &[u8]) -> Option<Vec<Notice>> {
    if note.is_empty() {
        return Some(Vec::new());
    }
    let said: Vec<(String, String)> = serde_json::from_slice(note).ok()?;
    let notice = |(code, text): (String, String)| {
        let code = Code::parse(&code).filter(|code| NOTICES.contains(code))?;
        Some(Notice { reason: reason::built_in(code, text), problems: Vec::new(), text: None })
    };
    said.into_iter().map(notice).collect()
}

/// An open file, read where it is asked for.
#[derive(Debug)]
struct ImageFile {
    file: File,
    length: u64,
}

impl image::Source for ImageFile {
    fn length(&self) -> u64 {
        self.length
    }

    fn read(&self, offset: u64, buffer: &mut [u8]) -> bool {
        self.file.read_exact_at(buffer, offset).is_ok()
    }
}
