//! Which files a command executes or takes its instructions from.
//!
//! A person says yes to `make`; what runs stands in the Makefile, in what it includes, and in the scripts that its recipes
//! name. An attacker would have the word answered for, and then change one of them. So a yes is bound to all of them.
//! This is asked only where somebody is asked, never for a call that a rule allows.
//!
//! Only files that are there are given: one that appears later is there then, and makes the list another one. Where in
//! doubt a file is given that is none; a yes to that very call then asks once more after the file has changed.

mod follow;
mod git;
mod named;
mod steer;

pub use named::{named, options_with_files};

use crate::effect::{Effect, PathTarget, Run, RunId, Target, Verb};
use crate::files::{Files, Kind};
use crate::word::Word;
use crate::{Analysis, canonical, program};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Files that are given.
const MOST_FILES: usize = 512;
/// Names that are looked for.
const MOST_LOOKS: usize = 20_000;
/// Names of one folder.
const MOST_NAMES: usize = 10_000;
/// Folders that are searched with all below them.
const MOST_FOLDERS: usize = 2_000;
/// Files that name files that name files.
const DEEPEST: usize = 8;
/// The largest file whose words are looked at.
const LARGEST: usize = 256 * 1024;
/// A larger program is not looked at at all.
const LARGEST_PROGRAM: usize = 1024 * 1024 * 1024;
/// Folders above the one that a program starts in; programs look there too.
const MOST_ABOVE: usize = 8;
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
    let mut search =
        Search { scene, found: BTreeSet::new(), queue: Vec::new(), listed: BTreeMap::new(), looks: 0, open: None };
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
    /// Files whose own words are still to be looked at.
    queue: Vec<Waiting>,
    /// The names in folders.
    listed: BTreeMap<PathBuf, Option<BTreeSet<Vec<u8>>>>,
    looks: usize,
    open: Option<&'static str>,
}

/// A file of instructions.
struct Waiting {
    file: PathBuf,
    deep: usize,
    /// Whose it is: an index into the runs.
    run: usize,
    /// Where the program that reads it is at work.
    places: Vec<PathBuf>,
}

/// Programs here are the system's: who can change them needs no question to be answered.
const SYSTEM: [&str; 9] =
    ["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/libexec", "/lib", "/nix/store", "/snap"];

/// Files for the machine or for a loader name no others in words.
fn is_machine_code(content: &[u8]) -> bool {
    [&b"\x7fELF"[..], b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe"].iter().any(|head| content.starts_with(head))
}

const TOO_MANY: &str = "it takes its instructions from more files than are looked at";

impl<'a> Search<'a> {
    /// What one program goes by: files that its words name, and files that it looks for by itself.
    fn run(&mut self, id: RunId, run: &'a Run) {
        let Some(name) = run.program.base.as_deref() else { return };
        let Some(start) = run.cwd.as_deref() else {
            if !self.is_reader(id, run) {
                self.open = Some("it runs in a folder that is not known");
            }
            return;
        };
        let at = usize::try_from(id.0).unwrap_or(usize::MAX);
        if let Some(path) =
            run.program.path.as_ref().filter(|path| !SYSTEM.iter().any(|folder| path.starts_with(folder)))
        {
            self.add_if_there(path.clone(), at, &[start.to_path_buf()]);
        }
        let steered = steer::of(name);
        // What is not known, or chosen by a pattern only when it runs, may be any file.
        let values = run.options.iter().filter_map(|option| option.value.as_ref());
        let unknown = run.argv.iter().chain(values).any(|word| word.exact().is_none());
        if unknown && !run.program.builtin && !self.is_reader(id, run) && !program::starts_others(name) {
            self.open = Some("it takes its instructions from a file that is not known");
        }
        let words = self.words(id, run, name);
        let mut places = vec![start.to_path_buf()];
        // Folders first: a file may be named from one of them, whatever stands first in the command.
        for word in &words {
            for base in places.clone() {
                let path = self.at(&base, word);
                if places.len() < MOST_PLACES && !places.contains(&path) && self.is_folder(&path) {
                    places.push(path);
                }
            }
        }
        let written = self.written(id);
        for word in &words {
            for base in places.clone() {
                let path = self.at(&base, word);
                if written.contains(&path) || !self.is_file(&path) {
                    continue;
                }
                if let Some(parent) = path.parent().filter(|_| steered.is_some() && places.len() < MOST_PLACES)
                    && !places.iter().any(|place| place == parent)
                {
                    places.push(parent.to_path_buf());
                }
                self.add(path, at, 0, &places);
            }
        }
        for module in modules(name, run) {
            for base in places.clone() {
                for ending in [".py", "/__init__.py", "/__main__.py"] {
                    self.add_if_there(base.join(format!("{module}{ending}")), at, &places);
                }
            }
        }
        let Some(steered) = steered else { return };
        for place in places.clone() {
            for folder in self.above(&place) {
                for pattern in steered.names {
                    // A search of all folders below begins where the program is at work, not above.
                    if !pattern.starts_with("**/") || folder == place {
                        self.named(&folder, pattern, at, &places);
                    }
                }
                if name == "git" {
                    for file in git::files(&folder, self.scene.files) {
                        self.add_if_there(file, at, &places);
                    }
                }
            }
        }
        if let Some(home) = self.scene.home {
            for pattern in steered.home {
                self.named(home, pattern, at, &places);
            }
        }
    }

    /// The words of a command that may name a file or folder, in every way that options are written.
    fn words(&self, id: RunId, run: &'a Run, name: &str) -> Vec<String> {
        let mut found = Vec::new();
        let value = |option: &'a crate::Opt| option.value.as_ref().and_then(Word::exact_str);
        if is_data_of_git(run, name) {
            let places =
                run.options.iter().filter(|option| matches!(option.name.as_str(), "-C" | "--git-dir" | "--work-tree"));
            return places.filter_map(value).map(str::to_owned).collect();
        }
        if self.is_reader(id, run) || program::starts_others(name) {
            // The script of a filter is none of its data.
            let scripts =
                run.options.iter().filter(|option| matches!(option.name.as_str(), "-f" | "--file" | "--from-file"));
            return scripts.filter_map(value).map(str::to_owned).collect();
        }
        let mut is_output = false;
        for word in run.argv.iter().skip(1) {
            let Some(text) = word.exact_str() else { continue };
            // Of a program that nobody knows, what is named like an output is one.
            let skip = std::mem::replace(&mut is_output, !run.program.known && is_output_option(text));
            if !skip {
                spellings(text, &mut found);
            }
        }
        for value in run.options.iter().filter_map(value) {
            spellings(value, &mut found);
        }
        found.retain(|word| !word.is_empty() && !word.contains('\0') && word.len() < 4096);
        let mut seen = BTreeSet::new();
        found.retain(|word| seen.insert(word.clone()));
        found
    }

    /// Whether a program only reads, prints or moves what it is given.
    fn is_reader(&self, id: RunId, run: &Run) -> bool {
        let name = run.program.base.as_deref().unwrap_or_default();
        if run.program.builtin {
            return !matches!(name, "." | "source" | "eval" | "exec");
        }
        let by_run = |effect: &&Effect| effect.run == Some(id);
        let runs = |effect: &Effect| match &effect.target {
            Target::Code { .. } | Target::Anything => true,
            Target::Option(_) => {
                matches!(&effect.carry, crate::Carry::Named { code, .. } if code.starts_with("runs-") || *code == "inline-code")
            }
            _ => false,
        };
        program::takes_data(name) && !self.scene.analysis.effects.iter().filter(by_run).any(runs)
    }

    /// What the call itself writes is no instruction to it.
    fn written(&self, id: RunId) -> Vec<PathBuf> {
        let writes = |effect: &&Effect| effect.run == Some(id) && matches!(effect.verb, Verb::Write | Verb::Delete);
        let path = |effect: &Effect| match &effect.target {
            Target::Path(PathTarget::Exact(path)) => Some(path.clone()),
            _ => None,
        };
        self.scene.analysis.effects.iter().filter(writes).filter_map(path).collect()
    }

    /// What is read by name: by programs that go by it, and by readers whose output another program goes by.
    fn reads(&mut self) {
        let analysis = self.scene.analysis;
        let runs = || (0..).map(RunId).zip(&analysis.runs);
        let others: Vec<(RunId, &Run)> = runs().filter(|(id, run)| !self.is_reader(*id, run)).collect();
        if others.is_empty() && !analysis.opaque {
            return;
        }
        let code = |effect: &Effect| matches!(effect.target, Target::Code { .. } | Target::Anything);
        let unknown_word = |run: &Run| run.argv.iter().any(|word| word.exact().is_none());
        // `bash -c "$(cat x)"`, `eval "$(cat x)"`, `. <(cat x)`: nobody says which output becomes a command.
        let unclear =
            analysis.opaque || analysis.effects.iter().any(code) || others.iter().any(|(_, run)| unknown_word(run));
        for effect in analysis.effects.iter().filter(|effect| effect.verb == Verb::Read && effect.certain) {
            let by = effect.run.and_then(|id| Some((id, analysis.run(id)?)));
            let reader = by.is_none_or(|(id, run)| self.is_reader(id, run));
            let feeds = |run: &Run| {
                let right = |other: &&(RunId, &Run)| match (run.pipe, other.1.pipe) {
                    (Some(one), Some(other)) => one.pipeline == other.pipeline && one.place < other.place,
                    _ => false,
                };
                others.iter().any(|other| right(&other))
            };
            let name = by.and_then(|(_, run)| run.program.base.as_deref()).unwrap_or_default();
            if by.is_some_and(|(_, run)| is_data_of_git(run, name)) && !unclear {
                continue;
            }
            if reader && !unclear && !by.is_some_and(|(_, run)| feeds(run)) {
                continue;
            }
            let at = effect.run.and_then(|id| usize::try_from(id.0).ok()).unwrap_or(usize::MAX);
            match &effect.target {
                Target::Path(PathTarget::Exact(path)) => self.add_if_there(path.clone(), at, &[]),
                Target::Path(target) if reader => match target.place() {
                    Some(folder) => {
                        self.add_if_there(folder.to_owned(), at, &[]);
                        self.below(folder, |_| true, at, &[]);
                    }
                    None => self.open = Some("it takes its instructions from a file that is not known"),
                },
                _ => {}
            }
        }
    }

    /// What the files found so far name in their turn.
    fn follow(&mut self) {
        while let Some(waiting) = self.queue.pop() {
            if waiting.deep >= DEEPEST {
                self.open = Some(TOO_MANY);
                continue;
            }
            let Some(content) = self.scene.files.read(&waiting.file, LARGEST) else {
                if !self.is_compiled(&waiting.file) {
                    self.open = Some("it takes its instructions from a file that is too large to be looked at");
                }
                continue;
            };
            if is_machine_code(&content) {
                continue;
            }
            let run = self.scene.analysis.runs.get(waiting.run);
            let asked: Vec<&str> =
                run.iter().flat_map(|run| run.argv.iter().skip(1)).filter_map(Word::exact_str).collect();
            let steered = run.and_then(|run| run.program.base.as_deref()).and_then(steer::of);
            let folder = waiting.file.parent().unwrap_or(Path::new("/")).to_path_buf();
            let mut bases = vec![folder];
            bases.extend(waiting.places.iter().filter(|place| !waiting.file.starts_with(place)).cloned());
            bases.extend(waiting.places.iter().filter(|place| waiting.file.starts_with(place)).cloned());
            bases.dedup();
            let words = follow::words(&waiting.file, &content, &asked);
            if words.len() >= follow::MOST_WORDS {
                self.open = Some(TOO_MANY);
            }
            for named in words {
                for base in &bases {
                    self.named_in_file(base, &named, &waiting, steered);
                }
            }
        }
    }

    /// Whether a file that is too large to be read whole is a compiled program.
    fn is_compiled(&self, file: &Path) -> bool {
        let mut head = Vec::new();
        let read = self.scene.files.read_through(file, LARGEST_PROGRAM, &mut |piece| {
            if head.is_empty() {
                head.extend_from_slice(piece.get(..4).unwrap_or_default());
            }
        });
        read && is_machine_code(&head)
    }

    fn named_in_file(&mut self, base: &Path, named: &follow::Named, from: &Waiting, steered: Option<&steer::Steered>) {
        if let Some((folder, pattern)) = with_star(&named.text) {
            let folder = self.at(base, folder);
            for name in self.matching(&folder, pattern) {
                let path = folder.join(OsStr::from_bytes(&name));
                self.one_in_file(path, named.taken_in, from, steered);
            }
            return;
        }
        let path = self.at(base, &named.text);
        self.one_in_file(path.clone(), named.taken_in, from, steered);
        // `$(TOP)/x.mk`, `$(dirname "$0")/lib.sh`: what stands before the slash is not known.
        if let Some(rest) = named.text.strip_prefix('/') {
            let path = self.at(base, rest);
            self.one_in_file(path, named.taken_in, from, steered);
        }
        for ending in named.endings {
            let path = self.at(base, &format!("{}{ending}", named.text));
            self.one_in_file(path, named.taken_in || named.text.starts_with('.'), from, steered);
        }
    }

    fn one_in_file(&mut self, path: PathBuf, taken_in: bool, from: &Waiting, steered: Option<&steer::Steered>) {
        if self.found.contains(&path) {
            return;
        }
        if self.is_file(&path) {
            let script = || {
                let begin = self.scene.files.read(&path, LARGEST);
                follow::is_script(&path, begin.as_deref().unwrap_or_default())
            };
            if taken_in || script() {
                self.add(path, from.run, from.deep + 1, &from.places);
            }
        } else if self.is_folder(&path) {
            if let Some(steered) = steered.filter(|_| path != Path::new("/")) {
                for pattern in steered.names.iter().filter(|pattern| !pattern.starts_with("**/")) {
                    self.named(&path, pattern, from.run, &from.places);
                }
            }
            // A folder of hooks, of rules, of playbooks.
            if taken_in && from.file.file_name().is_some_and(|name| name == "config" || name == ".gitconfig") {
                self.named(&path, "*", from.run, &from.places);
            }
        }
    }

    /// The files of this name in a folder, or of all folders below it.
    fn named(&mut self, folder: &Path, pattern: &str, run: usize, places: &[PathBuf]) {
        if let Some(name) = pattern.strip_prefix("**/") {
            let name = name.as_bytes().to_vec();
            return self.below(folder, |found| found == name, run, places);
        }
        let (inner, name) = pattern.rsplit_once('/').map_or(("", pattern), |(inner, name)| (inner, name));
        let folder = if inner.is_empty() { folder.to_path_buf() } else { folder.join(inner) };
        for name in self.matching(&folder, name) {
            self.add_if_there(folder.join(OsStr::from_bytes(&name)), run, places);
        }
    }

    fn matching(&mut self, folder: &Path, pattern: &str) -> Vec<Vec<u8>> {
        let Some(names) = self.list(folder) else { return Vec::new() };
        if !pattern.contains('*') {
            return names.get(pattern.as_bytes()).cloned().into_iter().collect();
        }
        let fits = |name: &&Vec<u8>| std::str::from_utf8(name).is_ok_and(|name| steer::matches(pattern, name));
        names.iter().filter(fits).cloned().collect()
    }

    /// All files below a folder whose names are wanted; not those in folders that tools fill.
    fn below(&mut self, folder: &Path, wanted: impl Fn(&[u8]) -> bool, run: usize, places: &[PathBuf]) {
        const FILLED: [&[u8]; 7] = [b".git", b"node_modules", b"target", b"__pycache__", b".venv", b"venv", b".tox"];
        let mut folders = vec![folder.to_path_buf()];
        let mut seen = 0;
        while let Some(folder) = folders.pop() {
            seen += 1;
            if seen > MOST_FOLDERS || self.found.len() >= MOST_FILES {
                self.open = Some(TOO_MANY);
                return;
            }
            let Some(names) = self.list(&folder) else { continue };
            for name in names.clone() {
                let path = folder.join(OsStr::from_bytes(&name));
                let kind = self.scene.files.kind(&path);
                self.looks += 1;
                match kind {
                    Kind::Folder { .. } if !FILLED.contains(&name.as_slice()) => folders.push(path),
                    Kind::File { .. } | Kind::Link(_) if wanted(&name) => self.add_if_there(path, run, places),
                    _ => {}
                }
            }
        }
    }

    fn add_if_there(&mut self, path: PathBuf, run: usize, places: &[PathBuf]) {
        if self.is_file(&path) {
            self.add(path, run, 0, places);
        }
    }

    fn add(&mut self, file: PathBuf, run: usize, deep: usize, places: &[PathBuf]) {
        let real = canonical(self.scene.files, &file).path;
        if self.found.contains(&real) {
            return;
        }
        if self.found.len() >= MOST_FILES {
            self.open = Some(TOO_MANY);
            return;
        }
        self.found.insert(real);
        self.queue.push(Waiting { file, deep, run, places: places.to_vec() });
    }

    /// This folder and those above it, up to the workspace.
    fn above(&self, place: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for folder in place.ancestors().take(MOST_ABOVE) {
            found.push(folder.to_path_buf());
            if Some(folder) == self.scene.workspace {
                break;
            }
        }
        found
    }

    fn at(&self, base: &Path, word: &str) -> PathBuf {
        match (word.strip_prefix("~/"), self.scene.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => program::join(Some(base), word.as_bytes()),
        }
    }

    fn is_file(&mut self, path: &Path) -> bool {
        self.is(path, |kind| matches!(kind, Kind::File { .. }))
    }

    fn is_folder(&mut self, path: &Path) -> bool {
        self.is(path, |kind| matches!(kind, Kind::Folder { .. }))
    }

    /// What stands at a path, links followed. The folder's names say first whether it is worth a look.
    fn is(&mut self, path: &Path, wanted: impl Fn(&Kind) -> bool) -> bool {
        let plain = !path.components().any(|part| matches!(part, std::path::Component::ParentDir));
        if let (true, Some(folder), Some(name)) = (plain, path.parent(), path.file_name())
            && let Some(names) = self.list(folder)
            && !names.contains(name.as_bytes())
        {
            return false;
        }
        if self.looks >= MOST_LOOKS {
            self.open = Some(TOO_MANY);
            return false;
        }
        self.looks += 1;
        wanted(&canonical(self.scene.files, path).kind)
    }

    /// The names in a folder, read once; `None`: it is none, cannot be read, or holds too many.
    fn list(&mut self, folder: &Path) -> Option<&BTreeSet<Vec<u8>>> {
        if !self.listed.contains_key(folder) {
            if self.looks >= MOST_LOOKS {
                self.open = Some(TOO_MANY);
                return None;
            }
            self.looks += 1;
            let names = self.scene.files.list(folder, MOST_NAMES);
            if names.is_none() && matches!(self.scene.files.kind(folder), Kind::Folder { .. }) {
                self.open = Some(TOO_MANY);
            }
            let names = names.map(|names| names.into_iter().map(|name| name.as_bytes().to_vec()).collect());
            self.listed.insert(folder.to_path_buf(), names);
        }
        self.listed.get(folder).and_then(Option::as_ref)
    }
}

/// Every file name that a word may hold: the word, what follows a `=`, what is joined to an option, parts of a list.
fn spellings(text: &str, found: &mut Vec<String>) {
    let mut push = |word: &str| {
        let word = word.strip_prefix('@').unwrap_or(word);
        if !word.is_empty() {
            found.push(word.to_owned());
            if word.contains([',', ':', ';']) {
                found.extend(word.split([',', ':', ';']).filter(|part| !part.is_empty()).map(str::to_owned));
            }
        }
    };
    push(text);
    if let Some((_, value)) = text.split_once('=') {
        push(value);
        if let Some((_, value)) = value.split_once('=') {
            push(value);
        }
    }
    if text.starts_with('-') && !text.starts_with("--") {
        // `-fx.mk`, `-sfx.mk`: which letters are options, only the program's table says.
        for (at, _) in text.char_indices().skip(2).take(16) {
            push(text.get(at..).unwrap_or_default());
        }
    }
}

fn is_output_option(text: &str) -> bool {
    text == "-o" || text.starts_with("--out")
}

/// `scripts/*.sh`: the folder, and the pattern of the names in it.
fn with_star(text: &str) -> Option<(&str, &str)> {
    let (folder, name) = text.rsplit_once('/').unwrap_or((".", text));
    (name.matches('*').count() == 1 && !folder.contains('*')).then_some((folder, name))
}

/// `python -m package.module`, `-mpackage`.
fn modules(name: &str, run: &Run) -> Vec<String> {
    if program::canonical_name(name) != Some("python") {
        return Vec::new();
    }
    let values = run.options.iter().filter(|option| option.name == "-m");
    values.filter_map(|option| Some(option.value.as_ref()?.exact_str()?.replace('.', "/"))).collect()
}

/// What most of git's subcommands are given is data to them.
fn is_data_of_git(run: &Run, name: &str) -> bool {
    name == "git"
        && !matches!(run.subcommand(0), Some("apply" | "am" | "bisect" | "submodule" | "config" | "fast-import"))
}
