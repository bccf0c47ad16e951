//! Which names of a project matter to a policy: of a hundred thousand files a handful.
//!
//! A search through a whole project asks of every rule whether something exists that it speaks of. So a folder's names are
//! sifted once, when it is listed: what no pattern can match by its last name is not kept in mind.

use super::super::{Anchor, Bases, Component, Components, Glob, PathKey, PathPattern, Purpose};
use super::Below;
use crate::index::AsIs;
use std::collections::HashSet;
use std::hash::BuildHasherDefault;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

type Numbers = HashSet<u64, BuildHasherDefault<AsIs>>;

/// The patterns of a policy, in a form in which one name is compared with all of them at once.
///
/// INVARIANT: whatever one of the patterns matches below the root is notable, and so are the name that the pattern is looked
/// up by and what is odd. More may be.
#[derive(Default)]
pub(crate) struct Watch {
    /// Last names without wildcards, as numbers: two names with one number only make one more name notable.
    names: Numbers,
    /// What last names end in, from the last dot on.
    endings: Numbers,
    /// Other last names, whatever folder they are in.
    anywhere: Vec<Glob>,
    /// Other last names, in the folders that these patterns match.
    inside: Vec<(PathPattern, Glob)>,
    /// What these match is meant with all below it.
    covering: Vec<PathPattern>,
    /// The last names of these, if none of them has wildcards.
    covering_names: Numbers,
    covering_wild: bool,
    root: PathBuf,
    bases: Bases,
    /// Some pattern can be compared with whole paths only.
    everything: bool,
}

impl Watch {
    /// What matters below `root`. A pattern that covers the root itself is left out: whether it speaks of something there
    /// does not depend on what exists.
    pub(crate) fn new<'p>(root: &Path, bases: &Bases, patterns: impl Iterator<Item = &'p PathPattern>) -> Self {
        let mut watch = Self { root: root.to_owned(), bases: bases.clone(), ..Self::default() };
        for pattern in patterns {
            match pattern {
                PathPattern::Anything => {}
                PathPattern::Regex(_) => watch.everything = true,
                PathPattern::Components(components) => {
                    let covers = pattern.covers_folder(root, bases);
                    if !covers && pattern.may_lie_below(root, bases) {
                        watch.add(components);
                        watch.add_key(&pattern.key());
                    }
                }
            }
        }
        watch
    }

    fn add(&mut self, components: &Components) {
        let (list, deep) = match components.list.split_last() {
            Some((Component::Deep, list)) => (list, true),
            _ => (components.list.as_slice(), false),
        };
        let Some((Component::One(last), above)) = list.split_last() else {
            // `./**` where the root lies above the workspace: all of it.
            self.everything |= deep;
            return;
        };
        let part = |list: &[Component]| {
            PathPattern::Components(Components { anchor: components.anchor.clone(), list: list.to_vec() })
        };
        if deep {
            self.covering.push(part(list));
            match last.literal() {
                Some(name) => {
                    self.covering_names.insert(Looked::at(name.as_bytes()).name);
                }
                None => self.covering_wild = true,
            }
        }
        let anywhere = components.anchor == Anchor::Root && matches!(above, [Component::Deep]);
        if let Some(name) = last.literal() {
            self.names.insert(Looked::at(name.as_bytes()).name);
        } else if !anywhere {
            self.inside.push((part(above), last.clone()));
        } else if let Some(ending) = last.ending() {
            self.endings.insert(Looked::at(ending).name);
        } else {
            self.anywhere.push(last.clone());
        }
    }

    /// The name that the pattern is looked up by, which may be a folder's: `part` of `/**/part/*.ts`. An index that is never
    /// asked for it never finds the pattern.
    fn add_key(&mut self, key: &PathKey) {
        let name = match key {
            PathKey::Under(path) => path.file_name().map(OsStrExt::as_bytes),
            PathKey::Holds(name) => Some(&**name),
            PathKey::Ends(_) | PathKey::Any => None,
        };
        self.names.extend(name.map(|name| Looked::at(name).name));
    }

    /// Whether all below this folder matters, because of what the folder itself is.
    pub(super) fn covers(&self, folder: &Path) -> bool {
        let named = || {
            let name = folder.file_name().map(|name| Looked::at(name.as_bytes()).name);
            self.covering_wild || name.is_some_and(|name| self.covering_names.contains(&name))
        };
        self.everything
            || named()
                && self.covering.iter().any(|pattern| pattern.matches_path(folder, &self.bases, Purpose::Restrict))
    }

    /// Of all names below a folder those that may matter.
    pub(crate) fn sift<'b>(&self, below: &'b Below) -> Vec<(&'b [u8], &'b Path)> {
        let mut here: Option<(&Path, Sifting<'_>)> = None;
        let mut found = Vec::new();
        for (name, folder) in below.names() {
            if here.as_ref().is_none_or(|(known, _)| !std::ptr::eq(*known, folder)) {
                let above = folder.ancestors().take_while(|above| above.starts_with(&self.root));
                let covered = above.into_iter().any(|above| self.covers(above));
                here = Some((folder, self.folder(folder, covered)));
            }
            if here.as_ref().is_some_and(|(_, sifting)| sifting.is_notable(name)) {
                found.push((name, folder));
            }
        }
        found
    }

    /// What is asked of the names in one folder.
    pub(super) fn folder(&self, folder: &Path, covered: bool) -> Sifting<'_> {
        let held = |pattern: &PathPattern| pattern.matches_path(folder, &self.bases, Purpose::Restrict);
        let inside = self.inside.iter().filter(|(above, _)| held(above)).map(|(_, last)| last).collect();
        // A blank in the name of a folder stands in the path of everything below it.
        let below = folder.strip_prefix(&self.root).unwrap_or(folder).as_os_str().as_bytes();
        let odd = below.iter().any(is_sign) || hides_pattern(below);
        Sifting { watch: self, inside, all: covered || self.everything || odd }
    }
}

/// The names of one folder, while they are listed.
pub(super) struct Sifting<'w> {
    watch: &'w Watch,
    inside: Vec<&'w Glob>,
    all: bool,
}

impl Sifting<'_> {
    pub(super) fn is_notable(&self, name: &[u8]) -> bool {
        let (watch, looked) = (self.watch, Looked::at(name));
        self.all
            || looked.odd
            || watch.names.contains(&looked.name)
            || looked.ending.is_some_and(|ending| watch.endings.contains(&ending))
            || watch.anywhere.iter().any(|glob| glob.matches(name))
            || self.inside.iter().any(|glob| glob.matches(name))
            || name.first() == Some(&b'.') && hides_pattern(name)
    }
}

/// A name as numbers, in one pass.
struct Looked {
    name: u64,
    /// From the last dot on.
    ending: Option<u64>,
    odd: bool,
}

impl Looked {
    fn at(name: &[u8]) -> Self {
        const START: u64 = 0xcbf2_9ce4_8422_2325;
        let with = |sum: u64, b: u8| (sum ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3);
        let mut looked = Self { name: START, ending: None, odd: false };
        for b in name {
            looked.name = with(looked.name, *b);
            looked.ending = if *b == b'.' { Some(with(START, *b)) } else { looked.ending.map(|sum| with(sum, *b)) };
            looked.odd |= is_sign(b);
        }
        looked
    }
}

/// Whether a byte separates names for somebody, or stands for others.
pub(super) fn is_sign(b: &u8) -> bool {
    b.is_ascii_whitespace() || matches!(b, b'\'' | b'"' | b'\\' | b'*' | b'?')
}

/// Without quotes a shell takes `.en[v]` for a pattern. `[id].ts` is common, and no pattern for what is hidden.
pub(super) fn hides_pattern(path: &[u8]) -> bool {
    path.split(|b| *b == b'/').any(|part| part.starts_with(b".") && part.contains(&b'['))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATTERNS: [&str; 22] = [
        "/**/.env",
        "/**/.env.*",
        "/**/*.pem",
        "/**/id_*",
        "/**/.git/config",
        "/**/config/**",
        "/**/.git/hooks/*",
        "/**/hooks/*.pem",
        "/**/*/config",
        "/**/.*/**",
        "./config",
        "./config/**",
        "./**/config",
        "./*",
        "./*/*.pem",
        "./.git/**/id_rsa",
        "./**",
        "/**",
        "~/**",
        "/w/app/hooks/**",
        "/w/**/a",
        "re:hooks/a$",
    ];

    fn bases() -> Bases {
        Bases {
            workspace: Some("/w/app".into()),
            permit_workspace: true,
            home: Some("/w".into()),
            beside: None,
            claimed_homes: Vec::new(),
        }
    }

    /// All paths of up to three names below the root.
    fn paths() -> Vec<PathBuf> {
        let names = ["a", "b.pem", ".env", ".env.local", "id_rsa", "x y", "config", "hooks", ".git"];
        let mut found = vec![PathBuf::from("/w/app")];
        let mut last = found.clone();
        for _ in 0..3 {
            last = last.iter().flat_map(|folder| names.iter().map(|name| folder.join(name))).collect();
            found.extend_from_slice(&last);
        }
        found
    }

    #[test]
    fn whatever_a_pattern_matches_is_notable() {
        let (root, bases, paths) = (Path::new("/w/app"), bases(), paths());
        for text in PATTERNS {
            let pattern = PathPattern::parse(text).unwrap();
            if pattern.covers_folder(root, &bases) {
                continue;
            }
            let watch = Watch::new(root, &bases, std::iter::once(&pattern));
            let mut some = 0;
            for path in paths.iter().skip(1).filter(|path| pattern.matches_path(path, &bases, Purpose::Restrict)) {
                let (folder, name) = (path.parent().unwrap(), path.file_name().unwrap());
                let covered = folder.ancestors().take_while(|above| above.starts_with(root)).any(|it| watch.covers(it));
                assert!(watch.folder(folder, covered).is_notable(name.as_bytes()), "{text} {}", path.display());
                some += 1;
            }
            assert!(some > 0, "{text} matches nothing here");
        }
    }

    #[test]
    fn the_folder_that_a_pattern_is_looked_up_by_is_notable() {
        let (root, bases) = (Path::new("/w/app"), bases());
        for (text, folder, name) in [
            ("/**/hooks/*.pem", "/w/app/a", "hooks"),
            ("./.git/*", "/w/app", ".git"),
            ("./a/**/*.pem", "/w/app", "a"),
            ("/w/app/a/*", "/w/app", "a"),
            ("/w/app/a/b/*.pem", "/w/app/a", "b"),
        ] {
            let pattern = PathPattern::parse(text).unwrap();
            let watch = Watch::new(root, &bases, std::iter::once(&pattern));
            let sifting = watch.folder(Path::new(folder), false);
            assert!(sifting.is_notable(name.as_bytes()), "{text}");
            assert!(!sifting.is_notable(b"other"), "{text}");
        }
    }

    #[test]
    fn what_no_pattern_is_about_is_not_notable() {
        let (root, bases) = (Path::new("/w/app"), bases());
        let patterns: Vec<PathPattern> = ["/**/.env", "/**/*.pem", "/**/.git/hooks/*", "/etc/**", "./**", "/**/id_*"]
            .iter()
            .map(|text| PathPattern::parse(text).unwrap())
            .collect();
        let watch = Watch::new(root, &bases, patterns.iter());
        let sifting = watch.folder(Path::new("/w/app/src"), false);
        for name in ["main.rs", "lib", "a.pem.txt", "env"] {
            assert!(!sifting.is_notable(name.as_bytes()), "{name}");
        }
        for name in ["x y", ".en[v]", "it's"] {
            assert!(sifting.is_notable(name.as_bytes()), "{name} is odd");
        }
    }
}
