//! Where a path that a tool was given may lead.
//!
//! Tools differ in what they do to a path before they open it: some trim it, expand `~`, decode `file:` URIs, take a
//! mention's `@` away, or replace exotic blanks. Each of these is a place that the call may reach, so each counts.

use super::url::{self, Address};
use std::path::{Path, PathBuf};

/// A place that a path may lead to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Joined with the working directory, `..` kept; relative only where that is not known.
    At(PathBuf),
    /// It cannot be said.
    Unknown,
}

/// Every place that this text may lead to. The text as it stands comes first.
pub(crate) fn places(text: &str, cwd: Option<&Path>, home: Option<&Path>) -> Vec<Place> {
    let mut spellings = vec![text.to_owned()];
    for change in [trimmed, without_at, with_plain_blanks, without_uri] {
        for at in 0..spellings.len() {
            if let Some(changed) = spellings.get(at).and_then(|spelling| change(spelling))
                && !spellings.contains(&changed)
            {
                spellings.push(changed);
            }
        }
    }
    let mut places = Vec::with_capacity(spellings.len());
    for spelling in &spellings {
        if spelling.contains('\0') {
            push(&mut places, Place::Unknown);
            continue;
        }
        push(&mut places, Place::At(joined(spelling, cwd)));
        if let Some(rest) = spelling.strip_prefix('~') {
            push(&mut places, in_home(rest, home));
        }
    }
    places
}

fn push(places: &mut Vec<Place>, place: Place) {
    if !places.contains(&place) {
        places.push(place);
    }
}

/// Joins a path with the working directory as the kernel would.
pub(crate) fn joined(path: &str, cwd: Option<&Path>) -> PathBuf {
    match cwd {
        Some(cwd) if path.is_empty() => cwd.to_owned(),
        Some(cwd) => cwd.join(path),
        None if path.is_empty() => PathBuf::from("."),
        None => PathBuf::from(path),
    }
}

fn in_home(rest: &str, home: Option<&Path>) -> Place {
    match (home, rest.strip_prefix('/')) {
        (Some(home), _) if rest.is_empty() => Place::At(home.to_owned()),
        // Joining would let `~//etc` start again at the root.
        (Some(home), Some(rest)) => Place::At(home.join(rest.trim_start_matches('/'))),
        _ => Place::Unknown,
    }
}

fn trimmed(text: &str) -> Option<String> {
    let trimmed = text.trim();
    (trimmed.len() < text.len()).then(|| trimmed.to_owned())
}

fn without_at(text: &str) -> Option<String> {
    text.strip_prefix('@').map(str::to_owned)
}

fn with_plain_blanks(text: &str) -> Option<String> {
    let exotic = |c: char| matches!(c, '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}');
    text.contains(exotic).then(|| text.replace(exotic, " "))
}

fn without_uri(text: &str) -> Option<String> {
    if !text.get(..5).is_some_and(|begin| begin.eq_ignore_ascii_case("file:")) {
        return None;
    }
    match url::address(text) {
        Address::File(path) => Some(path),
        // Not to be read as a file of this machine for certain: NUL makes it unknown.
        _ => Some("\0".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> String {
        let places = places(text, Some(Path::new("/w")), Some(Path::new("/home/a")));
        let told = |place: &Place| match place {
            Place::At(path) => path.display().to_string(),
            Place::Unknown => "?".to_owned(),
        };
        places.iter().map(told).collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn every_place_that_a_tool_may_make_of_a_path_counts() {
        for (text, expected) in [
            ("a/b", "/w/a/b"),
            ("/etc/x", "/etc/x"),
            ("../x", "/w/../x"),
            ("", "/w"),
            ("~", "/w/~ | /home/a"),
            ("~/x", "/w/~/x | /home/a/x"),
            ("~//etc", "/w/~//etc | /home/a/etc"),
            ("~bob/x", "/w/~bob/x | ?"),
            (" /etc/x ", "/w/ /etc/x  | /etc/x"),
            ("@/etc/x", "/w/@/etc/x | /etc/x"),
            ("@~/x", "/w/@~/x | /w/~/x | /home/a/x"),
            ("a\u{a0}b", "/w/a\u{a0}b | /w/a b"),
            ("file:///etc/%70asswd", "/w/file:///etc/%70asswd | /etc/passwd"),
            ("file://host/x", "/w/file://host/x | ?"),
            ("a\0b", "?"),
        ] {
            assert_eq!(told(text), expected, "{text:?}");
        }
    }

    #[test]
    fn an_unknown_working_directory_leaves_a_path_relative() {
        assert_eq!(places("x", None, None), [Place::At("x".into())]);
        assert_eq!(places("~/x", None, None), [Place::At("~/x".into()), Place::Unknown]);
    }
}
