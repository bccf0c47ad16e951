//! A word as a path.

use crate::effect::{Listing, PathTarget};
use crate::word::{Origin, Part, Shape, Text, Word};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

/// What a word means as a path seen from `base` (the working directory; `None`: not known). `below`: with all below it.
#[must_use]
pub fn path_target(word: &Word, base: Option<&Path>, below: bool) -> PathTarget {
    match word {
        Word::Exact(text) => {
            let path = join(base, text.as_bytes());
            if below { PathTarget::Below(path) } else { PathTarget::Exact(path) }
        }
        Word::Dynamic(shape) => shaped(shape, base, below),
        Word::Opaque => PathTarget::Unknown(None),
    }
}

/// `base` joined with a path, `.` components left out, `..` kept.
pub(crate) fn join(base: Option<&Path>, bytes: &[u8]) -> PathBuf {
    let path = Path::new(OsStr::from_bytes(bytes));
    let plain = !bytes.is_empty() && !bytes.starts_with(b"./") && bytes != b"." && !contains(bytes, b"/.");
    match base {
        Some(base) if plain => joined(base, path),
        Some(base) => clean(&joined(base, path)),
        None if plain => path.to_owned(),
        None => clean(path),
    }
}

/// As `Path::join`, which makes room twice.
fn joined(base: &Path, path: &Path) -> PathBuf {
    let mut whole = PathBuf::with_capacity(base.as_os_str().len() + 1 + path.as_os_str().len());
    whole.push(base);
    whole.push(path);
    whole
}

fn contains(bytes: &[u8], two: &[u8; 2]) -> bool {
    bytes.windows(2).any(|w| w == two)
}

fn clean(path: &Path) -> PathBuf {
    let cleaned: PathBuf = path.components().filter(|c| !matches!(c, Component::CurDir)).collect();
    if cleaned.as_os_str().is_empty() { PathBuf::from(".") } else { cleaned }
}

fn shaped(shape: &Shape, base: Option<&Path>, below: bool) -> PathTarget {
    let hole = shape.parts.iter().any(|p| matches!(p, Part::Hole));
    if let Origin::Listing(listing) = &shape.origin {
        let bare = match shape.parts.as_slice() {
            [Part::Hole] => true,
            [Part::Literal(text), Part::Hole] => text.as_bytes() == b"./",
            _ => false,
        };
        // The same names mean other files in another folder.
        if listing.from.as_deref().is_some_and(|from| base != Some(from)) {
            return PathTarget::Unknown(Some(shape.clone()));
        }
        if bare {
            // A name that is listed may be a folder's, and then what is below it is no longer bounded by its name.
            let listing = if below { Listing::all(listing.folder.clone()) } else { Listing::clone(listing) };
            return PathTarget::Listed(listing);
        }
    }
    if hole {
        return PathTarget::Unknown(Some(shape.clone()));
    }
    glob(shape, base, below)
}

/// Splits a glob at the last slash before its first pattern character.
fn glob(shape: &Shape, base: Option<&Path>, below: bool) -> PathTarget {
    let mut pattern = Vec::new();
    let mut literal_prefix = 0;
    let mut open = true;
    for part in &shape.parts {
        match part {
            Part::Literal(text) => {
                if open {
                    literal_prefix = text.as_bytes().len();
                    pattern.extend_from_slice(text.as_bytes());
                } else {
                    escape_into(&mut pattern, text.as_bytes());
                }
            }
            Part::AnyBytes => pattern.push(b'*'),
            Part::AnyByte => pattern.push(b'?'),
            Part::Class(text) => pattern.extend_from_slice(text.as_bytes()),
            Part::Hole => return PathTarget::Unknown(Some(shape.clone())),
        }
        open = false;
    }
    let slash = pattern.iter().take(literal_prefix).rposition(|&b| b == b'/');
    let (folder, tail_at) = match slash {
        Some(0) => (&b"/"[..], 1),
        Some(at) => (pattern.get(..at).unwrap_or_default(), at + 1),
        None => (&b""[..], 0),
    };
    if leads_up(pattern.get(tail_at..).unwrap_or_default(), below) {
        return PathTarget::Unknown(Some(shape.clone()));
    }
    let folder =
        if folder.is_empty() { base.map_or_else(|| PathBuf::from("."), Path::to_owned) } else { join(base, folder) };
    let mut tail = Vec::with_capacity(pattern.len());
    escape_into(&mut tail, pattern.get(tail_at..literal_prefix).unwrap_or_default());
    tail.extend_from_slice(pattern.get(literal_prefix.max(tail_at)..).unwrap_or_default());
    PathTarget::Glob { base: folder, pattern: Text::from(tail), below }
}

/// Whether a pattern may lead out of the folder in which it looks: `s*/../x`, and `.*/x` where `.*` finds `..`, as it
/// does in many shells.
pub(crate) fn leads_up(pattern: &[u8], below: bool) -> bool {
    let last = pattern.split(|&b| b == b'/').count().saturating_sub(1);
    pattern.split(|&b| b == b'/').enumerate().any(|(at, name)| match name {
        b".." => true,
        [b'.', rest @ ..] => (below || at < last) && matches!(rest, [b'*' | b'?' | b'[', ..] | [b'.', b'*', ..]),
        _ => false,
    })
}

/// Literal text inside a pattern: what the shell had quoted must not become a pattern.
fn escape_into(pattern: &mut Vec<u8>, literal: &[u8]) {
    for &byte in literal {
        if matches!(byte, b'*' | b'?' | b'[' | b'\\') {
            pattern.push(b'\\');
        }
        pattern.push(byte);
    }
}

/// Devices that are no files to a policy.
pub(crate) fn is_stream(bytes: &[u8]) -> bool {
    bytes.starts_with(b"/dev/")
        && (matches!(bytes, b"/dev/null" | b"/dev/stdin" | b"/dev/stdout" | b"/dev/stderr" | b"/dev/tty")
            || bytes.strip_prefix(b"/dev/fd/").is_some_and(|n| !n.is_empty() && n.iter().all(u8::is_ascii_digit)))
}
