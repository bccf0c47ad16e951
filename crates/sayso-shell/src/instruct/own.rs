//! The files of its own that a program goes by: its recipes and settings, not the sources that it works on.
//!
//! `make` goes by the Makefile, `cargo` by Cargo.toml and build.rs. Who writes one of these has the next build run what it
//! says. That the sources themselves are run by tests is what tests are for, and every edit would count.

use super::{MOST_PLACES, RunId, Scene, Search, Trail, git, goes_by, is_system, scripts, tools};
use crate::effect::{Opt, Run};
use crate::files::Kind;
use crate::option::Does;
use crate::program::goes_by::Steered;
use crate::word::Word;
use crate::{canonical, program};
use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};

/// What a program goes by where nothing else is named: the entry of the project, which is a source like any other.
const SOURCES: [&str; 4] = ["index.js", "index.mjs", "index.cjs", "main.nf"];

/// The files of its own that one program goes by, there or not.
pub struct OwnFiles<'a> {
    search: Search<'a>,
    run: usize,
    tools: Vec<&'static Steered>,
    /// Where the program is at work, links followed.
    places: Vec<PathBuf>,
    /// Files that its options name as recipes, and the program itself where it lies in the workspace.
    named: Vec<PathBuf>,
    /// The scripts that its files lead to, looked for when one is asked about.
    scripts: OnceCell<scripts::Reached>,
}

impl std::fmt::Debug for OwnFiles<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OwnFiles").field("places", &self.places).field("named", &self.named).finish_non_exhaustive()
    }
}

impl<'a> OwnFiles<'a> {
    /// Those of one run of a command; `None` where it goes by none, or where it runs is not known.
    #[must_use]
    pub fn of(scene: Scene<'a>, id: RunId) -> Option<Self> {
        let at = usize::try_from(id.0).ok()?;
        let run = scene.analysis.runs.get(at)?;
        let name = run.program.base.as_deref()?;
        let start = canonical(scene.files, run.cwd.as_deref()?).path;
        let mut search = Search {
            scene,
            found: BTreeSet::new(),
            queue: VecDeque::new(),
            listed: HashMap::new(),
            worked: HashSet::new(),
            looks: 0,
            tries: 0,
            open: None,
        };
        let passes_on = program::starts_others(name);
        let goes_by_words = !passes_on && !run.program.builtin && !search.is_reader(id, run);
        let tools = tools(run, name, goes_by_words);
        let mut named = recipes(run, &start, &search);
        let inside = |path: &&PathBuf| scene.workspace.is_some_and(|root| path.starts_with(root));
        named.extend(run.program.path.as_ref().filter(inside).cloned());
        if tools.is_empty() && named.is_empty() {
            return None;
        }
        let mut places = vec![start.clone()];
        let words = search.words(id, run, name);
        for word in &words {
            let path = search.at(&start, word);
            if places.len() < MOST_PLACES && search.is_folder(&path) {
                let path = canonical(scene.files, &path).path;
                if !places.contains(&path) {
                    places.push(path);
                }
            }
        }
        // Also where it is made only now.
        let project = run.options.iter().filter(|option| option.name == "--project-directory");
        for word in project.filter_map(|option| option.value.as_ref().and_then(Word::exact_str)) {
            let path = canonical(scene.files, &search.at(&start, word)).path;
            if places.len() < MOST_PLACES && !places.contains(&path) {
                places.push(path);
            }
        }
        for file in &named {
            let folder = file.parent().map(Path::to_path_buf).filter(|folder| !is_system(folder));
            places.extend(folder.filter(|folder| places.len() < MOST_PLACES && !places.contains(folder)));
        }
        Some(Self { search, run: at, tools, places, named, scripts: OnceCell::new() })
    }

    /// Whether it goes by this file, or would if it were there. A canonical path.
    #[must_use]
    pub fn includes(&self, path: &Path) -> bool {
        if self.named.iter().any(|named| named == path) {
            return true;
        }
        let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
            return false;
        };
        if SOURCES.contains(&name) {
            return false;
        }
        let at = |base: &Path, pattern: &str| {
            let (inner, last) = pattern.rsplit_once('/').unwrap_or(("", pattern));
            goes_by::matches(last, name)
                && match inner {
                    "" => folder == base,
                    inner => folder.strip_prefix(base).is_ok_and(|below| below == Path::new(inner)),
                }
        };
        self.tools.iter().any(|tool| {
            let in_project = self.places.iter().any(|place| {
                tool.names.iter().any(|pattern| match pattern.strip_prefix("**/") {
                    Some(last) => goes_by::matches(last, name) && folder.starts_with(place),
                    None => self.search.above(place).iter().any(|base| at(base, pattern)),
                })
            });
            let home = self.search.scene.home;
            let in_store = || {
                tool.repository
                    && self
                        .repositories()
                        .any(|(folder, _)| git::files(&folder, self.search.scene.files).iter().any(|file| file == path))
            };
            in_project || home.is_some_and(|home| tool.home.iter().any(|pattern| at(home, pattern))) || in_store()
        })
    }

    /// The repositories that it works in, by their top folders.
    fn repositories(&self) -> impl Iterator<Item = (PathBuf, git::Repository)> {
        let of = |place: &PathBuf| {
            let above = self.search.above(place).into_iter();
            above.filter_map(|folder| git::of(&folder, self.search.scene.files).map(|it| (folder, it))).next()
        };
        let goes_by_any = self.tools.iter().any(|tool| tool.repository);
        self.places.iter().filter(move |_| goes_by_any).filter_map(of)
    }

    /// Whether a repository that it works in has git start something by itself: what its settings name in the work tree and,
    /// where the command `changes` something, hooks.
    #[must_use]
    pub fn has_programs(&self, changes: bool) -> bool {
        let runs =
            |path: &PathBuf| matches!(canonical(self.search.scene.files, path).kind, Kind::File { executable: true });
        self.repositories().any(|(_, found)| !found.named.is_empty() || changes && found.hooks.iter().any(runs))
    }

    /// Whether one of its files has a shell run this script, or takes it in, or may do so: not all of them were read to the
    /// end. A canonical path.
    #[must_use]
    pub fn leads_to(&self, path: &Path) -> bool {
        let scripts = self.scripts.get_or_init(|| self.scripts());
        scripts.more || scripts.files.contains(path)
    }

    fn scripts(&self) -> scripts::Reached {
        let files = self.search.scene.files;
        let plain = |pattern: &&&str| !pattern.contains('*') && !SOURCES.contains(*pattern);
        let own = self.tools.iter().flat_map(|tool| tool.names.iter().filter(plain));
        let mut from = self.named.clone();
        for name in own {
            for base in self.places.iter().flat_map(|place| self.search.above(place)) {
                let path = canonical(files, &base.join(name)).path;
                if !from.contains(&path) && matches!(files.kind(&path), Kind::File { .. }) {
                    from.push(path);
                }
            }
        }
        scripts::reached(files, from, &self.places)
    }

    /// Whether names in a folder, or with `deep` in any folder below it, may be among these files. `last`: the pattern of the
    /// names; `None`: any.
    #[must_use]
    pub fn may_be_among(&self, folder: &Path, deep: bool, last: Option<&str>) -> bool {
        let there = |found: &Path| if deep { found.starts_with(folder) } else { found == folder };
        let at = |place: &Path, pattern: &str| {
            let (inner, name) = pattern.rsplit_once('/').unwrap_or(("", pattern));
            may_fit(name, last)
                && match inner {
                    "**" => folder.starts_with(place) || deep && place.starts_with(folder),
                    "" => self.search.above(place).iter().any(|base| there(base)),
                    inner => self.search.above(place).iter().any(|base| there(&base.join(inner))),
                }
        };
        let names = || self.tools.iter().flat_map(|tool| tool.names).filter(|name| !SOURCES.contains(name));
        let named = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            may_fit(name, last) && path.parent().is_some_and(there)
        };
        // What is not there yet may become a file as well as a folder: `mv x Makefile` writes one of the two.
        let is_folder = || matches!(self.search.scene.files.kind(folder), Kind::Folder { .. });
        let becomes = || self.includes(folder) && !is_folder();
        self.named.iter().any(named)
            || self.places.iter().any(|place| names().any(|pattern| at(place, pattern)))
            || becomes()
    }

    /// Those that are there.
    #[must_use]
    pub fn there(mut self) -> super::Instructions {
        let trail = Trail::of(self.run, &self.places);
        for path in std::mem::take(&mut self.named) {
            self.search.add_if_there(path, &trail);
        }
        for tool in &self.tools {
            for place in &self.places {
                self.search.at_work(tool, place, &trail);
            }
        }
        let is_own = |path: &PathBuf| path.file_name().is_none_or(|name| !SOURCES.iter().any(|source| name == *source));
        let files = self.search.found.into_iter().filter(is_own).collect();
        super::Instructions { files, open: self.search.open }
    }
}

/// The files that options name as recipes (`make -f x.mk`), and those that steer some program (`--manifest-path`).
fn recipes(run: &Run, start: &Path, search: &Search<'_>) -> Vec<PathBuf> {
    let named = |option: &Opt| {
        let value = option.value.as_ref().and_then(Word::exact_str)?;
        let path = canonical(search.scene.files, &search.at(start, value)).path;
        let steers = || path.file_name().and_then(|name| name.to_str()).is_some_and(goes_by::steers);
        match program::does(run, &option.name)? {
            Does::Recipe | Does::Runs => Some(path),
            Does::Reads if steers() => Some(path),
            _ => None,
        }
    };
    run.options.iter().filter_map(named).collect()
}

/// Whether a name, in which a star stands for anything, may be one of those that a pattern of the shell means.
#[must_use]
pub fn may_fit(name: &str, pattern: Option<&str>) -> bool {
    let Some(pattern) = pattern.filter(|pattern| !pattern.contains(['[', '?', '{', '\\', '('])) else { return true };
    let (begin, end) = (pattern.split('*').next().unwrap_or(""), pattern.rsplit('*').next().unwrap_or(""));
    match name.split_once('*') {
        None if !pattern.contains('*') => name == pattern,
        None => name.starts_with(begin) && name.ends_with(end),
        // What ends alike on both sides may be the same.
        Some((_, tail)) => tail.ends_with(end) || end.ends_with(tail),
    }
}
