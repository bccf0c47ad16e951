//! The last version of each policy file that compiled, so that a slip of the pen does not lift a policy.

use crate::files::read_regular;
use crate::{Error, Places};
use rustix::fs::OFlags;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Keeps this text as the last good one of that file. Nothing is written if it is kept already.
pub(super) fn keep(places: &Places, file: &Path, text: &str) -> Result<(), Error> {
    if last(places, file).as_deref() == Some(text) {
        return Ok(());
    }
    places.own_folder("last-good")?;
    let content = format!("{}\n{text}", blake3::hash(text.as_bytes()).to_hex());
    crate::places::write_own(&path(places, file), content.as_bytes())
}

/// The last good text of a file, if one was kept and is whole.
pub(super) fn last(places: &Places, file: &Path) -> Option<String> {
    let (content, _) = read_regular(&path(places, file), super::source::LARGEST + 100, OFlags::NOFOLLOW).ok()?;
    let content = String::from_utf8(content).ok()?;
    let (hash, text) = content.split_once('\n')?;
    (blake3::hash(text.as_bytes()).to_hex().as_str() == hash).then(|| text.to_owned())
}

fn path(places: &Places, file: &Path) -> PathBuf {
    places.state.join("last-good").join(blake3::hash(file.as_os_str().as_bytes()).to_hex().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_copy_does_not_count() {
        let dir = tempfile::tempdir().unwrap();
        let places = Places::below(dir.path(), dir.path());
        let file = Path::new("/etc/x.toml");
        assert_eq!(last(&places, file), None);
        keep(&places, file, "default = \"ask\"\n").unwrap();
        assert_eq!(last(&places, file).as_deref(), Some("default = \"ask\"\n"));
        let kept = path(&places, file);
        let text = std::fs::read_to_string(&kept).unwrap().replace("ask", "allow");
        std::fs::write(&kept, text).unwrap();
        assert_eq!(last(&places, file), None);
    }
}
