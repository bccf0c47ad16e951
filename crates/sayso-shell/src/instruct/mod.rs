//! Which files a command executes or takes its instructions from.
//!
//! A person says yes to `make`; what runs stands in the Makefile, in what it includes, in the scripts that its recipes
//! name, and in the files of the tools that they call. An attacker would have the word answered for, and then change one
//! of them. So a yes is bound to all of them.
//! This is asked only where somebody is asked, never for a call that a rule allows.
//!
//! Only files that are there are given: one that appears later is there then, and makes the list another one. Where in
//! doubt a file is given that is none; a yes to that very call then asks once more after the file has changed.

mod command;
mod follow;
mod git;
mod look;
mod named;
mod own;
mod project;
mod scripts;
mod variable;

pub use named::{named, options_with_files};
pub use own::{OwnFiles, may_fit};

use crate::effect::{Run, RunId};
use crate::files::Files;
use crate::program::goes_by::{self, Steered};
use crate::word::Word;
use crate::{Analysis, program};
use command::{is_data_of_git, modules};
use follow::Language;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Files that are given.
const MOST_FILES: usize = 512;
/// Files that name files that name files.
const DEEPEST: usize = 16;
/// The largest file whose words are looked at.
const LARGEST: usize = 256 * 1024;
/// Folders above the one that a program starts in; programs look there too.
const MOST_ABOVE: usize = 64;
/// Folders in which one program is at work.
const MOST_PLACES: usize = 32;

/// What is known about where a command would run.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    /// What the command would do.
    pub analysis: &'a Analysis,
    /// The working directory.
    pub cwd: Option<&'a Path>,
    /// The home folder.
    pub home: Option<&'a Path>,
    /// The workspace.
    pub workspace: Option<&'a Path>,
    /// Facts about files.
    pub files: &'a dyn Files,
}

/// The files that a command executes or takes its instructions from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instructions {
    /// Those that are there, in order.
    pub files: Vec<PathBuf>,
    /// Why there may be more; for people.
    pub open: Option<&'static str>,
}

/// The files that a command executes or takes its instructions from; the system's own programs are left aside.
#[must_use]
pub fn instructions(scene: Scene<'_>) -> Instructions {
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
    for (id, run) in (0..).zip(&scene.analysis.runs) {
        search.run(RunId(id), run);
    }
    search.reads();
    search.follow();
    Instructions { files: search.found.into_iter().collect(), open: search.open }
}

struct Search<'a> {
    scene: Scene<'a>,
    found: BTreeSet<PathBuf>,
    /// Files whose own words are still to be looked at, those that fewest others lead to first.
    queue: VecDeque<Waiting>,
    /// The names in folders.
    listed: HashMap<PathBuf, Option<look::Names>>,
    /// Tools, by the first name of their line, and folders in which their files were looked for.
    worked: HashSet<(usize, PathBuf)>,
    looks: usize,
    tries: usize,
    open: Option<&'static str>,
}

/// A file of instructions.
struct Waiting {
    file: PathBuf,
    trail: Trail,
}

/// How a file was found.
#[derive(Clone, Debug)]
struct Trail {
    /// Whose it is: an index into the runs.
    run: usize,
    /// Files that led to it.
    deep: usize,
    /// Where the program that reads it is at work.
    places: Rc<[PathBuf]>,
    /// In what language it is read, if it does not say so itself.
    by: Option<Language>,
    /// A module of another is loaded from it.
    module: bool,
    /// It is a program that is installed for all projects, or part of one: which tools it may start is no concern of
    /// this one.
    installed: bool,
}

impl Trail {
    /// Of a file that the command itself leads to.
    fn of(run: usize, places: &[PathBuf]) -> Self {
        Self { run, deep: 0, places: places.into(), by: None, module: false, installed: false }
    }

    fn read_as(self, by: Option<Language>) -> Self {
        Self { by, ..self }
    }
}

/// Programs here are the system's: who can change them needs no question to be answered.
const SYSTEM: [&str; 9] =
    ["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/libexec", "/lib", "/nix/store", "/snap"];

fn is_system(path: &Path) -> bool {
    SYSTEM.iter().any(|folder| path.starts_with(folder))
}

/// Files for the machine or for a loader name no others in words.
fn is_machine_code(content: &[u8]) -> bool {
    [&b"\x7fELF"[..], b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe"].iter().any(|head| content.starts_with(head))
}

const TOO_MANY: &str = "it takes its instructions from more files than are looked at";
const NOT_KNOWN: &str = "it takes its instructions from a file that is not known";

impl<'a> Search<'a> {
    /// What one program goes by: files that its words name, and files that it looks for by itself.
    fn run(&mut self, id: RunId, run: &'a Run) {
        let Some(name) = run.program.base.as_deref() else { return };
        let Some(start) = run.cwd.as_deref() else {
            if !self.is_reader(id, run) || !run.env.is_empty() {
                self.open = Some("it runs in a folder that is not known");
            }
            return;
        };
        let at = usize::try_from(id.0).unwrap_or(usize::MAX);
        if let Some(path) = run.program.path.as_ref().filter(|path| !is_system(path)) {
            let installed =
                !self.scene.workspace.is_some_and(|root| path.starts_with(root)) && !path.starts_with(start);
            self.add_if_there(path.clone(), &Trail { installed, ..Trail::of(at, &[start.to_path_buf()]) });
        }
        let mut places = vec![start.to_path_buf()];
        self.variables(run, at, start, &mut places);
        self.settings(run, at, start, &mut places);
        let passes_on = program::starts_others(name);
        let goes_by_words = !passes_on && !run.program.builtin && !self.is_reader(id, run);
        // What is not known, or chosen by a pattern only when it runs, may be any file.
        let values = run.options.iter().filter_map(|option| option.value.as_ref());
        if goes_by_words && run.argv.iter().chain(values).any(|word| word.exact_str().is_none()) {
            self.open = Some(NOT_KNOWN);
        }
        let tools = tools(run, name, goes_by_words);
        let words = self.words(id, run, name);
        // Folders first: a file may be named from one of them, whatever stands first in the command.
        for word in &words {
            for base in places.clone() {
                let path = self.at(&base, word);
                if places.contains(&path) || !self.is_folder(&path) {
                    continue;
                }
                if places.len() < MOST_PLACES {
                    places.push(path);
                } else {
                    self.open = Some(TOO_MANY);
                }
            }
        }
        let by = Language::of_interpreter(name);
        let written = self.written(id);
        for word in &words {
            for base in places.clone() {
                for path in self.meant(&base, word, by) {
                    if written.contains(&path) {
                        continue;
                    }
                    if let Some(parent) = path.parent().filter(|_| !tools.is_empty() && places.len() < MOST_PLACES)
                        && !places.iter().any(|place| place == parent)
                    {
                        places.push(parent.to_path_buf());
                    }
                    self.add(path, &Trail::of(at, &places).read_as(by));
                }
            }
        }
        let trail = Trail::of(at, &places);
        for module in modules(name, run) {
            for base in &places {
                for ending in Language::Python.endings() {
                    self.add_if_there(base.join(format!("{module}{ending}")), &trail);
                }
            }
        }
        for tool in tools {
            for place in &places {
                self.at_work(tool, place, &trail);
            }
            let home = self.scene.home.into_iter().flat_map(|home| tool.home.iter().map(move |name| (home, name)));
            for (home, pattern) in home {
                self.named(home, pattern, &trail);
            }
        }
    }

    /// The files that a word of a command means: one of that name, or a module (`node -r ./setup`).
    fn meant(&mut self, base: &Path, word: &str, by: Option<Language>) -> Vec<PathBuf> {
        let path = self.at(base, word);
        if self.is_file(&path) {
            return vec![path];
        }
        if by.is_none() && !word.contains('/') {
            return Vec::new();
        }
        let endings = by.filter(|by| *by != Language::Plain).unwrap_or(Language::Script).endings();
        let more: Vec<PathBuf> = endings.iter().map(|ending| self.at(base, &format!("{word}{ending}"))).collect();
        more.into_iter().filter(|path| self.is_file(path)).collect()
    }
}

/// The tools that a command starts: the program, and those that it is told to start (`poetry run pytest`).
fn tools(run: &Run, name: &str, goes_by_words: bool) -> Vec<&'static Steered> {
    let taught = run.program.taught.as_ref().and_then(crate::program::Entry::goes_by);
    let mut found: Vec<&'static Steered> = goes_by::of(name).into_iter().chain(taught).collect();
    if goes_by_words && !is_data_of_git(run, name) {
        for word in run.argv.iter().skip(1).filter_map(Word::exact_str) {
            let tool = goes_by::named_in_file(word.rsplit('/').next().unwrap_or_default());
            if let Some(tool) = tool.filter(|tool| !found.iter().any(|known| std::ptr::eq(*known, *tool))) {
                found.push(tool);
            }
        }
    }
    found
}
