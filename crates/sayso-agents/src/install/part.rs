//! One file that an installation changes.

use super::json_text;
use crate::Error;
use serde_json::Value;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// The largest settings file that is edited. Real ones have a thousandth of it.
const LARGEST: u64 = 16 * 1024 * 1024;

/// One file that an installation changes.
pub(crate) trait Part {
    /// Where it is.
    fn path(&self) -> &Path;

    /// Its content with Sayso in it. Content that has it already stays as it is.
    fn register(&self, before: Option<&str>) -> Result<String, String>;

    /// Its content without Sayso.
    fn unregister(&self, text: &str) -> Result<Left, String>;
}

/// What is left of a file without Sayso.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// Sayso was not in it.
    AsIs,
    /// This.
    Text(String),
    /// It was Sayso's alone.
    Nothing,
}

impl Left {
    /// The content afterwards, if this was the content before.
    pub(crate) fn of(self, before: &str) -> Option<String> {
        match self {
            Self::AsIs => Some(before.to_owned()),
            Self::Text(text) => Some(text),
            Self::Nothing => None,
        }
    }
}

/// A file that is all Sayso's.
pub(crate) struct OwnFile {
    pub(crate) path: PathBuf,
    pub(crate) content: String,
    /// What is in every version of it that Sayso wrote, and in nobody else's.
    pub(crate) mark: &'static str,
}

impl Part for OwnFile {
    fn path(&self) -> &Path {
        &self.path
    }

    fn register(&self, before: Option<&str>) -> Result<String, String> {
        match before {
            Some(text) if !text.trim().is_empty() && !text.contains(self.mark) => {
                Err("it already exists and is not Sayso's; move it away first".to_owned())
            }
            _ => Ok(self.content.clone()),
        }
    }

    fn unregister(&self, text: &str) -> Result<Left, String> {
        Ok(if text.contains(self.mark) { Left::Nothing } else { Left::AsIs })
    }
}

/// Where a file really is: settings behind a link stay behind it.
pub(crate) fn resolved(path: &Path) -> Result<PathBuf, Error> {
    match path.canonicalize() {
        Ok(real) => Ok(real),
        Err(_) if path.is_symlink() => Err(Error::Settings {
            path: path.to_owned(),
            why: "it is a broken link. Fix or remove the link first".to_owned(),
        }),
        // Not there yet: its folder may still be a link.
        Err(_) => Ok(match (path.parent().and_then(|folder| folder.canonicalize().ok()), path.file_name()) {
            (Some(folder), Some(name)) => folder.join(name),
            _ => path.to_owned(),
        }),
    }
}

/// The content of a file; `None` if it is not there.
pub(crate) fn read(path: &Path) -> Result<Option<String>, Error> {
    let refuse = |why: &str| Error::Settings { path: path.to_owned(), why: why.to_owned() };
    match std::fs::metadata(path) {
        // A pipe or a device would be read for ever.
        Ok(meta) if !meta.is_file() => return Err(refuse("it is not a file")),
        Ok(meta) if meta.len() > LARGEST => return Err(refuse("it is too large for settings")),
        _ => {}
    }
    match std::fs::read(path) {
        Ok(bytes) => String::from_utf8(bytes).map(Some).map_err(|_| refuse("it is not UTF-8")),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(Error::io("read", path, e)),
    }
}

/// The file's name, if a switch in it, found by a JSON pointer, stands at `wanted`.
pub(crate) fn is_set(path: &Path, pointer: &str, wanted: bool) -> Option<String> {
    let text = read(path).ok().flatten()?;
    let switch = json_text::value(&text)?.pointer(pointer).cloned()?;
    (switch == Value::Bool(wanted)).then(|| path.display().to_string())
}

/// Replaces a file's content whole, its mode kept; `None` removes it.
pub(crate) fn write(path: &Path, text: Option<&str>) -> Result<(), Error> {
    let Some(text) = text else {
        return match std::fs::remove_file(path) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(Error::io("remove", path, e)),
            _ => Ok(()),
        };
    };
    let failed = |e| Error::io("write", path, e);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!(".{}.sayso-new", std::process::id()));
    let temporary = PathBuf::from(temporary);
    let written = (|| {
        // Never through a link that somebody left there; and settings that only their owner may read hold secrets, which
        // nobody else reads meanwhile either.
        let mode = if path.exists() { 0o600 } else { 0o666 };
        let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(&temporary)?;
        std::io::Write::write_all(&mut file, text.as_bytes())?;
        if let Ok(meta) = std::fs::metadata(path) {
            std::fs::set_permissions(&temporary, meta.permissions())?;
        }
        file.sync_all()?;
        std::fs::rename(&temporary, path)
    })();
    written.map_err(|e| {
        let _ = std::fs::remove_file(&temporary);
        failed(e)
    })
}
