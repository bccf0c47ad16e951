//! Where servers were told to copy the heads of the record, noted for every later process to protect.
//!
//! A head elsewhere tells on whoever puts an earlier record in this one's place, as long as nobody takes the head away
//! too. Where it is only the server knows that was started with it; a hook judges calls without one.
//!
//! INVARIANT: notes only add to what is protected. One that is missing or cannot be read takes nothing away.

use crate::files::read_regular;
use crate::places::write_own;
use crate::{Error, Places};
use rustix::fs::OFlags;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The name of the file.
const FILE: &str = "anchors.json";
const LARGEST: usize = 1024 * 1024;
/// As many are kept, the latest.
const MOST: usize = 64;

/// Notes that heads are copied to this file, or into this pipe, from now on.
///
/// # Errors
/// If that cannot be written, or the name is no text.
pub fn note(places: &Places, path: &Path) -> Result<(), Error> {
    let io = |what| move |error| Error::io(what, path, error);
    let path = std::path::absolute(path).map_err(io("find"))?;
    // A device is the system's: a call that prints does nothing to the record.
    if path.starts_with("/dev") || path.starts_with("/proc") {
        return Ok(());
    }
    let before = all(places);
    let mut notes = before.clone();
    notes.retain(|known| *known != path);
    notes.push(path);
    notes.drain(..notes.len().saturating_sub(MOST));
    if notes == before {
        return Ok(());
    }
    let file = places.own_folder("")?.join(FILE);
    let text = serde_json::to_vec_pretty(&notes).map_err(|e| Error::io("write", &file, std::io::Error::from(e)))?;
    write_own(&file, &text)
}

/// Every place that is noted.
pub(crate) fn all(places: &Places) -> Vec<PathBuf> {
    match read_regular(&places.state.join(FILE), LARGEST, OFlags::NOFOLLOW) {
        Ok((text, meta)) if meta.uid() == rustix::process::geteuid().as_raw() && meta.mode() & 0o022 == 0 => {
            serde_json::from_slice(&text).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}
