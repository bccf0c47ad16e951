//! What an agent's settings were before Sayso came, so that they can be put back byte for byte.

use crate::Error;
use sayso_gate::Places;
use serde::{Deserialize, Serialize};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A note beside the kept text.
#[derive(Serialize, Deserialize)]
struct Note {
    /// The settings file.
    path: PathBuf,
    /// Whether it was there at all.
    existed: bool,
    /// The hash of what `install` wrote: while the file has it, nobody else has changed it.
    installed: String,
    /// Folders that `install` made for it, the innermost first.
    #[serde(default)]
    made: Vec<PathBuf>,
}

/// What was there before Sayso, if the file is still as `install` left it: `Some(None)` means that there was none.
pub(super) fn original(places: &Places, path: &Path, now: Option<&str>) -> Result<Option<Option<String>>, Error> {
    let (kept, note) = files(places, path);
    let Some(note) = read_note(&note) else { return Ok(None) };
    if note.path != path || now.map(hash).as_deref() != Some(note.installed.as_str()) {
        return Ok(None);
    }
    if !note.existed {
        return Ok(Some(None));
    }
    std::fs::read_to_string(&kept).map(|text| Some(Some(text))).map_err(|e| Error::io("read", &kept, e))
}

/// Keeps what to come back to. Tells where.
pub(super) fn remember(
    places: &Places,
    path: &Path,
    original: Option<&str>,
    installed: Option<&str>,
) -> Result<Option<PathBuf>, Error> {
    places.own_folder("install")?;
    let (kept, note_path) = files(places, path);
    let mut made = read_note(&note_path).map(|note| note.made).unwrap_or_default();
    made.extend(path.ancestors().skip(1).take_while(|folder| !folder.exists()).map(Path::to_owned));
    let note = Note {
        path: path.to_owned(),
        existed: original.is_some(),
        installed: installed.map(hash).unwrap_or_default(),
        made,
    };
    std::fs::write(&kept, original.unwrap_or_default()).map_err(|e| Error::io("write", &kept, e))?;
    let json = serde_json::to_vec(&note).map_err(sayso_gate::Error::from)?;
    std::fs::write(&note_path, json).map_err(|e| Error::io("write", &note_path, e))?;
    Ok(original.is_some().then_some(kept))
}

/// Sayso is out of the way again: nothing is left to put back.
pub(super) fn forget(places: &Places, path: &Path, removed: bool) {
    let (kept, note_path) = files(places, path);
    let made = read_note(&note_path).map(|note| note.made).unwrap_or_default();
    for folder in made.iter().filter(|folder| removed && path.starts_with(folder)) {
        // Only an empty folder goes: the agent may have put something there meanwhile.
        let _ = std::fs::remove_dir(folder);
    }
    let _ = std::fs::remove_file(kept);
    let _ = std::fs::remove_file(note_path);
}

fn read_note(path: &Path) -> Option<Note> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

fn files(places: &Places, path: &Path) -> (PathBuf, PathBuf) {
    let name = blake3::hash(path.as_os_str().as_bytes()).to_hex();
    let folder = places.state.join("install");
    (folder.join(format!("{name}.before")), folder.join(format!("{name}.json")))
}

fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}
