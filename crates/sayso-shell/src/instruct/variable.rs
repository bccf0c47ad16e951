//! Files that a command names by variables (`BASH_ENV=x`) and by settings (`git -c core.hooksPath=x`).
//!
//! What a variable means is not known, only that it changes what runs. So whatever its value may name is bound; and where
//! that cannot be told, a yes holds once.

use super::command::spellings;
use super::follow::Language;
use super::{MOST_PLACES, NOT_KNOWN, Search, Trail, is_system};
use crate::canonical;
use crate::effect::{Opt, Run};
use crate::files::Kind;
use crate::option::Does;
use crate::program::{self, Code, Facets, facets};
use crate::word::Word;
use std::path::{Path, PathBuf};

/// Variables that name folders in which modules, headers or a repository are looked for: what is found there is known by
/// who looks for it. All others are taken with everything in them.
const SEARCHED: &[&str] = &[
    "PYTHONPATH",
    "NODE_PATH",
    "RUBYLIB",
    "RUBYOPT",
    "PERL5LIB",
    "PERL5OPT",
    "PERLLIB",
    "CLASSPATH",
    "CPATH",
    "C_INCLUDE_PATH",
    "LIBRARY_PATH",
    "PKG_CONFIG_PATH",
    "CFLAGS",
    "CXXFLAGS",
    "CPPFLAGS",
    "LDFLAGS",
    "CGO_CFLAGS",
    "CGO_LDFLAGS",
    "RUSTFLAGS",
    "GOPATH",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "MAKEFLAGS",
    "GNUMAKEFLAGS",
    "PYTEST_ADDOPTS",
];

/// Whether folders that a variable names are only looked in.
pub(super) fn is_searched(name: &str) -> bool {
    SEARCHED.contains(&name)
}

/// How the name of something to load may go on.
const LOADED: &[&str] = &[
    ".js",
    ".mjs",
    ".cjs",
    ".ts",
    "/index.js",
    "/package.json",
    ".py",
    "/__init__.py",
    ".rb",
    ".pm",
    ".pl",
    ".lua",
    ".sh",
    ".so",
    ".jar",
];

/// What a variable or a setting names.
struct Value<'v> {
    text: &'v str,
    /// Folders in it are only looked in, not taken with everything.
    searched: bool,
    /// How files are read that it names.
    by: Option<Language>,
}

impl Search<'_> {
    /// The variables that a program is started with.
    pub(super) fn variables(&mut self, run: &Run, at: usize, start: &Path, places: &mut Vec<PathBuf>) {
        // Folders that are searched come first: another variable may name what lies in one.
        let mut values: Vec<(&str, &Word)> =
            run.env.iter().filter_map(|(name, value)| Some((name.as_str()?, value))).collect();
        values.sort_by_key(|(name, _)| !is_searched(name));
        for (name, value) in values {
            let steers = program::steers(name, value);
            match value.exact_str() {
                Some(text) if steers => {
                    let by = name.starts_with("GIT_CONFIG").then_some(Language::Git);
                    self.value(&Value { text, searched: is_searched(name), by }, at, start, places);
                }
                Some(text) => self.scripts(text, at, places),
                None if steers => self.open = Some("a variable that changes what runs has a value that is not known"),
                None => {}
            }
        }
    }

    /// The options of a program that are settings for it, or name what it runs.
    pub(super) fn settings(&mut self, run: &Run, at: usize, start: &Path, places: &mut Vec<PathBuf>) {
        for option in run.options.iter().filter(|option| runs(run, option)) {
            let is_git = run.program.base.as_deref().is_some_and(|base| facets(base).has(Facets::REPOSITORY));
            let by = is_git.then_some(Language::Git);
            match option.value.as_ref().map(Word::exact_str) {
                Some(Some(text)) => self.value(&Value { text, searched: false, by }, at, start, places),
                Some(None) => self.open = Some(NOT_KNOWN),
                None => {}
            }
        }
    }

    fn value(&mut self, value: &Value<'_>, at: usize, start: &Path, places: &mut Vec<PathBuf>) {
        let parts = parts(value.text);
        for part in &parts {
            for base in places.clone() {
                let path = self.at(&base, part);
                if is_system(&path) {
                    continue;
                }
                match self.kind(&path) {
                    Kind::File { .. } => self.add(path, &Trail::of(at, places).read_as(value.by)),
                    Kind::Folder { .. } => {
                        let real = canonical(self.scene.files, &path).path;
                        if !value.searched && start.starts_with(real) {
                            // Everything that is worked on lies there.
                            self.open = Some("a variable or setting names the folder in which all else lies");
                        } else if !value.searched {
                            self.below(&path, |_| true, &Trail::of(at, places).read_as(value.by));
                        }
                        if places.len() < MOST_PLACES && !places.contains(&path) {
                            places.push(path);
                        }
                    }
                    _ => {}
                }
            }
        }
        for (part, base) in parts.iter().flat_map(|part| places.iter().map(move |base| (part, base))) {
            for ending in LOADED {
                for part in [part.clone(), part.replace("::", "/"), dotted(part)] {
                    let path = self.at(base, &format!("{part}{ending}"));
                    self.add_if_there(path, &Trail::of(at, places).read_as(value.by));
                }
            }
        }
    }

    /// Scripts that the value of any other variable names.
    fn scripts(&mut self, text: &str, at: usize, places: &[PathBuf]) {
        for part in parts(text) {
            for base in places {
                let path = self.at(base, &part);
                let kind = self.kind(&path);
                if matches!(kind, Kind::File { .. }) && !is_system(&path) && self.is_script(&path, &kind) {
                    self.add(path, &Trail::of(at, places));
                }
            }
        }
    }
}

/// `plug.in` may be `plug/in`; a path is none of these.
fn dotted(part: &str) -> String {
    if part.contains('/') { part.to_owned() } else { part.replace('.', "/") }
}

/// Whether the value of an option says what runs.
fn runs(run: &Run, option: &Opt) -> bool {
    matches!(program::does(run, &option.name), Some(Does::Runs | Does::Named(Code::RunsCommand | Code::RunsCode)))
}

/// Parts of a value that are looked at.
const MOST_PARTS: usize = 256;

/// Every name that a value may hold: it is a path, a list, options, or a command.
fn parts(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let words = text.split(|c: char| c.is_whitespace() || "'\"!|<>()&".contains(c));
    for word in std::iter::once(text).chain(words).filter(|word| !word.is_empty() && word.len() < 4096) {
        spellings(word, &mut found);
        if found.len() > MOST_PARTS {
            break;
        }
    }
    found.retain(|part| !part.contains('\0'));
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|part| seen.insert(part.clone()));
    found
}
