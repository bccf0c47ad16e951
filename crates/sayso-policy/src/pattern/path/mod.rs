//! Patterns on paths: `./src/**`, `~/.ssh/*`, `/etc/**`, `re:...`.
//!
//! Compared component by component with canonical paths, so that no link, `..`, missing tail or sibling prefix
//! escapes. `X/**` also matches `X` itself.

mod bases;
mod reach;
mod tree;

pub(crate) use bases::{Bases, beside};
pub(crate) use tree::{Below, Ground, Tree, Watch, is_output_name, may_name};

use super::glob::{Token, overlap, shape_tokens};
use super::{Glob, PatternError, Purpose};
use crate::word::{Resolved, Tri};
use regex::bytes::Regex;
use sayso_shell::{Listing, Origin, Part, PathTarget, Shape, Single, Verb};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Workspace,
    Home,
    Root,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Component {
    /// `**`: any components, none too.
    Deep,
    /// One component.
    One(Glob),
}

/// A pattern on paths.
#[derive(Clone, Debug)]
pub(crate) enum PathPattern {
    /// Whatever path.
    Anything,
    /// Components below an anchor.
    Components(Components),
    /// `re:` on the canonical path.
    Regex(Regex),
}

/// Components below an anchor.
#[derive(Clone, Debug)]
pub(crate) struct Components {
    pub(super) anchor: Anchor,
    pub(super) list: Vec<Component>,
}

impl Components {
    pub(crate) fn list(&self) -> &[Component] {
        &self.list
    }
}

/// What a path pattern may be looked up by, so that one of ten thousand is found without trying all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PathKey {
    /// Begins with exactly these components below the root (`/etc/ssl/**`).
    Under(PathBuf),
    /// Has this literal component somewhere (`/**/.env`).
    Holds(Box<[u8]>),
    /// Its last component ends so, from the last dot on (`/**/*.pem`).
    Ends(Box<[u8]>),
    /// Must be tried.
    Any,
}

impl PathPattern {
    /// Reads one pattern, alternatives already expanded, sets already resolved.
    pub(crate) fn parse(text: &str) -> Result<Self, PatternError> {
        if let Some(re) = text.strip_prefix("re:") {
            return compile_regex(re).map(Self::Regex);
        }
        let (anchor, rest) = if text == "." || text == "./" {
            (Anchor::Workspace, "")
        } else if text == "~" {
            (Anchor::Home, "")
        } else if let Some(rest) = text.strip_prefix("~/") {
            (Anchor::Home, rest)
        } else if let Some(rest) = text.strip_prefix('/') {
            (Anchor::Root, rest)
        } else if text.starts_with('~') {
            return Err(PatternError::new("`~` means the owner's home folder and must be followed by `/`"));
        } else {
            (Anchor::Workspace, text.strip_prefix("./").unwrap_or(text))
        };
        let mut list = Vec::new();
        for part in rest.split('/').filter(|part| !part.is_empty() && *part != ".") {
            if part == ".." {
                return Err(PatternError::new(
                    "patterns cannot contain `..`; paths are compared after `..` is resolved",
                )
                .suggest("name the folder itself"));
            }
            if part == "**" {
                if list.last() != Some(&Component::Deep) {
                    list.push(Component::Deep);
                }
            } else if part.contains("**") {
                return Err(PatternError::new("`**` must stand alone between slashes").suggest(part.replace("**", "*")));
            } else {
                list.push(Component::One(Glob::new(part)));
            }
        }
        Ok(Self::Components(Components { anchor, list }))
    }

    /// The pattern and everything below what it matches, as `within` means it.
    pub(crate) fn with_all_below(mut self) -> Self {
        if let Self::Components(components) = &mut self
            && components.list.last() != Some(&Component::Deep)
        {
            components.list.push(Component::Deep);
        }
        self
    }

    /// Whether it begins at some place, rather than with `/**`.
    pub(crate) fn names_a_place(&self) -> bool {
        match self {
            Self::Components(components) => {
                components.anchor != Anchor::Root || components.list.first() != Some(&Component::Deep)
            }
            Self::Anything | Self::Regex(_) => true,
        }
    }

    /// The literal names that stand behind a leading `/**`, but for the last component.
    pub(crate) fn leading_names(&self) -> impl Iterator<Item = &[u8]> {
        let list = match self {
            Self::Components(components) if !self.names_a_place() => components.list.as_slice(),
            _ => &[],
        };
        let last = list.len().saturating_sub(1);
        list.iter().take(last).filter_map(|component| match component {
            Component::One(glob) => glob.literal().map(str::as_bytes),
            Component::Deep => None,
        })
    }

    /// Whether it is the path of one file, without wildcards.
    pub(crate) fn is_one_file(&self) -> bool {
        let literal = |component: &Component| matches!(component, Component::One(glob) if glob.literal().is_some());
        matches!(self, Self::Components(components) if components.list.iter().all(literal) && !components.list.is_empty())
    }

    /// What it may be looked up by.
    pub(crate) fn key(&self) -> PathKey {
        let Self::Components(components) = self else { return PathKey::Any };
        if components.anchor == Anchor::Root {
            let mut prefix = PathBuf::from("/");
            for component in &components.list {
                match component {
                    Component::One(glob) if glob.literal().is_some() => {
                        prefix.push(glob.literal().unwrap_or_default());
                    }
                    _ => break,
                }
            }
            if prefix.parent().is_some() {
                return PathKey::Under(prefix);
            }
        }
        // The last literal component is the rarest.
        let literal = components.list.iter().rev().find_map(|component| match component {
            Component::One(glob) => glob.literal().map(|text| PathKey::Holds(text.as_bytes().into())),
            Component::Deep => None,
        });
        let ending = || match components.list.last() {
            Some(Component::One(glob)) => glob.ending().map(|text| PathKey::Ends(text.into())),
            _ => None,
        };
        literal.or_else(ending).unwrap_or(PathKey::Any)
    }

    /// Whether some component of this pattern says one of the marker's own words, so that it names what the marker
    /// guards instead of covering it by accident.
    pub(crate) fn names(&self, guard: &Self) -> bool {
        let (Self::Components(mine), Self::Components(guard)) = (self, guard) else {
            return matches!(self, Self::Anything | Self::Regex(_));
        };
        const GENERIC: [&str; 8] = ["etc", "home", "root", "usr", "var", "lib", "Library", "proc"];
        guard.list.iter().any(|marker| {
            let Component::One(marker) = marker else { return false };
            let Some(word) = marker.literal().or_else(|| std::str::from_utf8(marker.literal_text()).ok()) else {
                return false;
            };
            !GENERIC.contains(&word)
                && mine.list.iter().any(|component| match component {
                    Component::One(glob) => glob.is_specific() && (glob == marker || glob.matches(word.as_bytes())),
                    Component::Deep => false,
                })
        })
    }

    /// Matches one effect's target.
    pub(crate) fn matches(
        &self,
        verb: Verb,
        target: &PathTarget,
        resolved: &Resolved,
        bases: &Bases,
        tree: &Tree<'_>,
        purpose: Purpose,
    ) -> Tri {
        if matches!(self, Self::Anything) {
            return Tri::Yes;
        }
        match target {
            PathTarget::Exact(path) if path.is_relative() => self.floating(path, purpose),
            PathTarget::Exact(_) => self.exact(resolved, bases, purpose),
            PathTarget::Told(of) => self.told(verb, of, resolved, bases, tree, purpose),
            PathTarget::Unknown(shape) => self.unknown(shape.as_ref(), purpose),
            PathTarget::Glob { .. } => self.glob(verb, target, resolved, bases, tree, purpose),
            PathTarget::Below(path)
            | PathTarget::Sifted(Listing { folder: path, .. })
            | PathTarget::Listed(Listing { folder: path, .. })
                if path.is_relative() =>
            {
                match purpose {
                    Purpose::Permit => Tri::No,
                    Purpose::Restrict => self.floating(path, purpose),
                }
            }
            // Names that are listed exist.
            PathTarget::Listed(_) => self.below(Verb::Read, target, resolved, bases, tree, purpose),
            PathTarget::Below(_) | PathTarget::Sifted(_) => self.below(verb, target, resolved, bases, tree, purpose),
        }
    }

    /// Whether this canonical path matches.
    pub(crate) fn matches_path(&self, path: &Path, bases: &Bases, purpose: Purpose) -> bool {
        self.compare(path, bases, purpose, Glob::matches)
    }

    fn compare(&self, path: &Path, bases: &Bases, purpose: Purpose, one: fn(&Glob, &[u8]) -> bool) -> bool {
        match self {
            Self::Anything => true,
            Self::Regex(regex) => regex.is_match(path.as_os_str().as_bytes()),
            Self::Components(components) => {
                let matches = |base: &Path| match path.strip_prefix(base) {
                    Ok(rest) => components.match_list(&split(rest), one),
                    Err(_) => false,
                };
                components.anchors(bases, purpose).any(matches)
            }
        }
    }

    fn exact(&self, resolved: &Resolved, bases: &Bases, purpose: Purpose) -> Tri {
        match purpose {
            Purpose::Permit => {
                resolved.canonical.as_deref().is_some_and(|path| self.matches_path(path, bases, purpose)).into()
            }
            Purpose::Restrict => {
                let forms = || [resolved.canonical.as_deref(), resolved.lexical.as_deref()].into_iter().flatten();
                if forms().any(|path| self.matches_path(path, bases, purpose)) {
                    Tri::Yes
                } else if resolved.canonical.is_none()
                    // Another case of the same letters is the same file on some file systems.
                    || forms().any(|path| self.compare(path, bases, purpose, Glob::matches_folded))
                {
                    Tri::Maybe
                } else {
                    Tri::No
                }
            }
        }
    }

    /// What is told of a file stands in its folder, and whoever may list that may know it. So a rule against a file's
    /// content says nothing of it, and one against all in a folder does.
    fn told(
        &self,
        verb: Verb,
        of: &PathTarget,
        resolved: &Resolved,
        bases: &Bases,
        tree: &Tree<'_>,
        purpose: Purpose,
    ) -> Tri {
        match of {
            PathTarget::Exact(path) if path.is_absolute() && purpose == Purpose::Restrict => {
                let folder =
                    |path: &Option<PathBuf>| path.as_deref().map(|path| path.parent().unwrap_or(path).to_owned());
                let folders = Resolved { canonical: folder(&resolved.canonical), lexical: folder(&resolved.lexical) };
                self.exact(&folders, bases, purpose)
            }
            PathTarget::Glob { base, .. } | PathTarget::Listed(Listing { folder: base, .. }) if base.is_absolute() => {
                self.exact(resolved, bases, purpose)
            }
            other => self.matches(verb, other, resolved, bases, tree, purpose),
        }
    }

    /// A folder and all below it.
    fn below(
        &self,
        verb: Verb,
        target: &PathTarget,
        resolved: &Resolved,
        bases: &Bases,
        tree: &Tree<'_>,
        purpose: Purpose,
    ) -> Tri {
        if purpose == Purpose::Permit {
            let covered = self.covers_below()
                && resolved.canonical.as_deref().is_some_and(|path| self.matches_path(path, bases, purpose));
            return covered.into();
        }
        let itself = self.exact(resolved, bases, purpose);
        if itself != Tri::No {
            return itself;
        }
        let Some(folder) = resolved.canonical.as_deref() else { return Tri::Maybe };
        // Links lead anywhere.
        let follows = verb != Verb::Delete && target.follows_links();
        let leads_on =
            || follows && tree.found(target, folder, true).is_none_or(|found| found.targets().next().is_some());
        if !self.may_lie_below(folder, bases) && !leads_on() {
            return Tri::No;
        }
        // A recursive write may create what does not exist yet, at a place that somebody cared to name.
        if verb == Verb::Write
            && matches!(target, PathTarget::Below(_))
            && (self.names_a_place() || self.reaches_from(folder))
        {
            return Tri::Maybe;
        }
        match self.any_found(tree, tree.found(target, folder, verb != Verb::Delete), bases) {
            // What a recursive delete finds, it deletes; what a recursive read finds, it may skip.
            Some(true) if verb == Verb::Delete => Tri::Yes,
            Some(true) | None => Tri::Maybe,
            Some(false) => Tri::No,
        }
    }

    /// What a shell pattern expands to: files that exist.
    fn glob(
        &self,
        verb: Verb,
        target: &PathTarget,
        resolved: &Resolved,
        bases: &Bases,
        tree: &Tree<'_>,
        purpose: Purpose,
    ) -> Tri {
        let PathTarget::Glob { pattern, .. } = target else { return Tri::Maybe };
        let Some(base) = resolved.canonical.as_deref() else {
            return if purpose == Purpose::Permit { Tri::No } else { Tri::Maybe };
        };
        let climbs = pattern.as_bytes().split(|b| *b == b'/').any(|part| part == b"..");
        if purpose == Purpose::Permit {
            let covers = |path: &Path| self.matches_path(path, bases, purpose);
            // What is removed is the link itself, not what it leads to.
            let stays = || tree.goes_through(base, pattern, verb != Verb::Delete, covers);
            return (!climbs && self.covers_below() && covers(base) && stays()).into();
        }
        // What covers a folder is about whatever there is in it.
        if climbs || self.covers_folder(base, bases) {
            return Tri::Maybe;
        }
        match self.any_found(tree, tree.found(target, base, true), bases) {
            Some(true) | None => Tri::Maybe,
            Some(false) => Tri::No,
        }
    }

    /// Whether this restricts one of the paths that exist; `None`: not known.
    fn any_found(&self, tree: &Tree<'_>, found: Option<std::rc::Rc<tree::Found>>, bases: &Bases) -> Option<bool> {
        let found = found?;
        Some(match self.last_name() {
            Some(glob) => tree.any_name(&found, |name| glob.matches(name)),
            None => tree.any(&found, |path| self.matches_path(path, bases, Purpose::Restrict)),
        })
    }

    /// The one component of a pattern such as `/**/*.pem`.
    fn last_name(&self) -> Option<&Glob> {
        match self {
            Self::Components(Components { anchor: Anchor::Root, list }) => match list.as_slice() {
                [Component::Deep, Component::One(glob)] => Some(glob),
                _ => None,
            },
            _ => None,
        }
    }

    /// A relative path below an unknown folder: only its own components can be compared, from the end.
    fn floating(&self, path: &Path, purpose: Purpose) -> Tri {
        let Self::Components(components) = self else {
            return if purpose == Purpose::Permit { Tri::No } else { Tri::Maybe };
        };
        if purpose == Purpose::Permit {
            return components.is_everything().into();
        }
        let parts = split(path);
        if parts.first() == Some(&&b".."[..]) {
            return Tri::Maybe;
        }
        if let Some(Component::Deep) = components.list.first()
            && components.anchor == Anchor::Root
            && components.match_list(&parts, Glob::matches)
        {
            return Tri::Yes;
        }
        // As far as both reach from the end; a trailing `**` says nothing about a name.
        let mut mine = components.list.iter().rev();
        let mut theirs = parts.iter().rev();
        loop {
            match (mine.next(), theirs.next()) {
                (Some(Component::One(glob)), Some(part)) if glob.matches_folded(part) => {}
                (Some(Component::Deep), Some(_)) => {
                    return if matches!(components.list.last(), Some(Component::Deep)) { Tri::No } else { Tri::Maybe };
                }
                (Some(_), Some(_)) | (None, _) => return Tri::No,
                (Some(_), None) => return Tri::Maybe,
            }
        }
    }

    fn unknown(&self, shape: Option<&Shape>, purpose: Purpose) -> Tri {
        let Self::Components(components) = self else {
            return if purpose == Purpose::Permit { Tri::No } else { Tri::Maybe };
        };
        if purpose == Purpose::Permit {
            return components.is_everything().into();
        }
        let Some(shape) = shape else { return Tri::Maybe };
        // A hole may hold `../..`, so what stands before it bounds nothing.
        let mut theirs = vec![Token::Many];
        let tail = match shape.parts.iter().position(|part| matches!(part, Part::Hole)) {
            Some(at) if shape.origin != Origin::Number => shape.parts.get(at..).unwrap_or_default(),
            _ => &shape.parts,
        };
        theirs.extend(shape_tokens(&Shape::single(tail.to_vec(), Origin::Unknown, Single::Told)));
        if shape.splits() {
            theirs.push(Token::Many);
        }
        if overlap(&components.tokens(), &theirs) { Tri::Maybe } else { Tri::No }
    }
}

impl Components {
    /// `/**`.
    fn is_everything(&self) -> bool {
        self.anchor == Anchor::Root && self.list == [Component::Deep]
    }

    /// The folders that this pattern's anchor means.
    fn anchors<'b>(&self, bases: &'b Bases, purpose: Purpose) -> impl Iterator<Item = &'b Path> {
        let (root, workspaces, homes) = match self.anchor {
            Anchor::Root => (Some(Path::new("/")), None, None),
            Anchor::Workspace => (None, Some(bases.workspaces(purpose)), None),
            Anchor::Home => (None, None, Some(bases.homes(purpose))),
        };
        root.into_iter().chain(workspaces.into_iter().flatten()).chain(homes.into_iter().flatten())
    }

    /// Whether anything below this folder could match where the anchor means this one.
    fn may_lie_below(&self, folder: &Path, base: &Path) -> bool {
        if base.starts_with(folder) {
            return true;
        }
        let Ok(rest) = folder.strip_prefix(base) else { return false };
        let parts = split(rest);
        let mut list = self.list.iter();
        for part in parts {
            match list.next() {
                Some(Component::Deep) => return true,
                Some(Component::One(glob)) if glob.matches_folded(part) => {}
                _ => return false,
            }
        }
        list.next().is_some()
    }

    /// The two-pointer match of globs, with components for characters.
    fn match_list(&self, parts: &[&[u8]], one: fn(&Glob, &[u8]) -> bool) -> bool {
        let (mut p, mut t) = (0, 0);
        let mut deep: Option<(usize, usize)> = None;
        while t < parts.len() {
            match (self.list.get(p), parts.get(t)) {
                (Some(Component::Deep), _) => {
                    deep = Some((p, t));
                    p += 1;
                }
                (Some(Component::One(glob)), Some(part)) if one(glob, part) => {
                    p += 1;
                    t += 1;
                }
                _ => match deep {
                    Some((at, from)) => {
                        deep = Some((at, from + 1));
                        p = at + 1;
                        t = from + 1;
                    }
                    None => return false,
                },
            }
        }
        self.list.get(p..).unwrap_or_default().iter().all(|component| *component == Component::Deep)
    }

    /// The whole as tokens over the text of a path; anchors other than the root are any text.
    fn tokens(&self) -> Vec<Token> {
        let mut out = Vec::new();
        if self.anchor != Anchor::Root {
            out.push(Token::Many);
        }
        for component in &self.list {
            match component {
                Component::Deep => out.push(Token::Many),
                Component::One(glob) => {
                    // The slash may be missing where an unknown text starts the path anew.
                    if out.last() != Some(&Token::Many) {
                        out.push(Token::Byte(b'/'));
                    }
                    out.extend(glob.tokens());
                }
            }
        }
        out
    }
}

/// A regular expression on paths, which need not be UTF-8.
pub(super) fn compile_regex(text: &str) -> Result<Regex, PatternError> {
    Regex::new(text).map_err(|error| PatternError::new(format!("invalid regular expression: {error}")))
}

fn split(path: &Path) -> Vec<&[u8]> {
    path.components()
        .filter_map(|component| match component {
            std::path::Component::Normal(name) => Some(name.as_bytes()),
            std::path::Component::ParentDir => Some(&b".."[..]),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests;
