//! What the files of a project name in their turn: other files, tools that go by files of their own, and folders.

use super::follow::{self, Asked, MODULE, Named, Words};
use super::look::Base;
use super::{DEEPEST, LARGEST, Search, Steered, TOO_MANY, Trail, Waiting, git, goes_by, is_system};
use crate::files::Kind;
use crate::word::Word;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Folders that one file names.
const MOST_NAMED: usize = 64;

impl Search<'_> {
    /// What the files found so far name in their turn.
    pub(super) fn follow(&mut self) {
        while let Some(waiting) = self.queue.pop_front() {
            if !self.tries(1) {
                return;
            }
            if waiting.trail.deep >= DEEPEST {
                self.open = Some(TOO_MANY);
                continue;
            }
            let Some(content) = self.scene.files.read(&waiting.file, LARGEST) else {
                if !self.is_compiled(&waiting.file) {
                    self.open = Some("it takes its instructions from a file that is too large to be looked at");
                }
                continue;
            };
            if !super::is_machine_code(&content) {
                self.file(&waiting, &content);
            }
        }
    }

    fn file(&mut self, waiting: &Waiting, content: &[u8]) {
        let run = self.scene.analysis.runs.get(waiting.trail.run);
        let asked: Vec<&str> = run
            .iter()
            .flat_map(|run| {
                run.argv.iter().skip(1).filter_map(Word::exact_str).chain((0..4).filter_map(|at| run.subcommand(at)))
            })
            .collect();
        let asked = match () {
            () if waiting.trail.module => Asked::Module,
            // The words of `make test` say nothing of what its recipes ask of others.
            () if waiting.trail.deep > 0 => Asked::All,
            () => Asked::Words(&asked),
        };
        let (language, words) = follow::words(&waiting.file, content, waiting.trail.by, &asked);
        if words.full {
            self.open = Some(TOO_MANY);
        }
        if words.unreadable && !waiting.trail.installed {
            self.open = Some("a file that it goes by holds what is no text");
        }
        if words.lost && !waiting.trail.installed {
            self.open = Some("it goes to a folder that is not known before it runs");
        }
        let bases: Vec<Base> = bases(waiting).iter().map(|path| self.base(path)).collect();
        let trail = Trail { deep: waiting.trail.deep + 1, by: None, module: false, ..waiting.trail.clone() };
        let trail = trail.read_as((language == follow::Language::Git).then_some(language));
        if waiting.trail.installed {
            for (named, base) in words.named.iter().flat_map(|named| bases.iter().map(move |base| (named, base))) {
                self.named_in_file(base, named, named.endings, &trail);
            }
            return;
        }
        let folders = self.folders(&bases, &words, &trail);
        let known = run.and_then(|run| run.program.base.as_deref()).and_then(goes_by::of);
        let taught = run.and_then(|run| run.program.taught.as_ref()?.goes_by());
        let own = [known, taught];
        for folder in &folders {
            own.into_iter().flatten().for_each(|tool| self.at_work(tool, folder, &trail));
        }
        for tool in &words.tools {
            for place in bases.iter().map(|base| &base.path).chain(&folders) {
                self.at_work(tool, place, &trail);
            }
        }
        let is_base = |folder: &&PathBuf| bases.iter().any(|base| base.path == **folder);
        let folders: Vec<Base> = folders.iter().filter(|folder| !is_base(folder)).map(|path| self.base(path)).collect();
        for named in &words.named {
            // An attacker would have the gate spend its time here: what is not looked for makes a yes hold once.
            if !self.tries(bases.len() + if words.moves { folders.len() } else { 0 }) {
                return;
            }
            for base in &bases {
                self.named_in_file(base, named, named.endings, &trail);
            }
            let from_folders = words.moves || named.taken_in && language.has_search_path();
            for base in folders.iter().filter(|_| from_folders) {
                // Of the many that a module may be called only a few are looked for here.
                let endings = if named.endings.len() <= 4 { named.endings } else { &[] };
                self.named_in_file(base, named, endings, &trail);
            }
        }
    }

    /// The folders that a file names. What lies in one that is taken in is bound too.
    fn folders(&mut self, bases: &[Base], words: &Words, trail: &Trail) -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> = Vec::new();
        for named in &words.named {
            for (at, base) in bases.iter().enumerate() {
                for path in self.named_paths(base, &named.text, at == 0) {
                    if path == Path::new("/") || is_system(&path) || found.contains(&path) || !self.is_folder(&path) {
                        continue;
                    }
                    if named.whole {
                        self.whole(&path, trail);
                    }
                    if found.len() < MOST_NAMED {
                        found.push(path);
                    } else if words.moves {
                        self.open = Some(TOO_MANY);
                    }
                }
            }
        }
        found
    }

    /// What a word of a file may lead to. An absolute one is the same from everywhere.
    fn named_paths(&mut self, base: &Base, text: &str, first: bool) -> Vec<PathBuf> {
        // `$(TOP)/x.mk`, `$(dirname "$0")/lib.sh`: what stands before the slash is not known.
        let rest = text.trim_start_matches('/');
        let mut found = Vec::new();
        if first && (rest.len() < text.len() || text.starts_with('~')) {
            found.push(self.at(&base.path, text));
        }
        if !base.may_hold(rest) {
            return found;
        }
        match with_star(rest) {
            Some((folder, pattern)) => {
                let folder = self.at(&base.path, folder);
                let names = self.matching(&folder, pattern);
                found.extend(names.iter().map(|name| folder.join(OsStr::from_bytes(name))));
            }
            None => found.push(self.at(&base.path, rest)),
        }
        found
    }

    fn named_in_file(&mut self, base: &Base, named: &Named, endings: &[&str], trail: &Trail) {
        let paths = self.named_paths(base, &named.text, true);
        let held = base.may_hold(&named.text);
        if paths.is_empty() && !held {
            return;
        }
        let mut trail = trail.clone();
        trail.by = named.by.or(trail.by);
        for path in paths {
            self.one_in_file(path, named.taken_in, &trail);
        }
        for ending in endings.iter().filter(|_| held) {
            let taken_in = named.taken_in || named.text.starts_with('.');
            trail.module = *ending == MODULE;
            let path = self.at(&base.path, &format!("{}{ending}", named.text));
            self.one_in_file(path, taken_in, &trail);
        }
    }

    fn one_in_file(&mut self, path: PathBuf, taken_in: bool, trail: &Trail) {
        if self.found.contains(&path) {
            return;
        }
        let kind = self.kind(&path);
        if matches!(kind, Kind::File { .. }) && !is_system(&path) && (taken_in || self.is_script(&path, &kind)) {
            self.add(path, trail);
        }
    }

    /// A folder of hooks, of rules, of plugins.
    fn whole(&mut self, folder: &Path, trail: &Trail) {
        for name in self.matching(folder, "*") {
            let path = folder.join(OsStr::from_bytes(&name));
            let kind = self.kind(&path);
            let is_plain = path.extension().is_none() || self.is_script(&path, &kind);
            if matches!(kind, Kind::File { .. }) && is_plain {
                self.add(path, trail);
            }
        }
    }

    /// The files that a tool goes by where it is at work.
    pub(super) fn at_work(&mut self, tool: &'static Steered, place: &Path, trail: &Trail) {
        let above = self.above(place);
        let mut searched = above.iter().skip(1).any(|folder| self.has_worked(tool, folder));
        for folder in above {
            if !self.worked.insert((tool.key, folder.clone())) {
                continue;
            }
            for pattern in tool.names {
                // A search of all folders below begins where the program is at work, not above.
                if !pattern.starts_with("**/") || folder == place && !std::mem::replace(&mut searched, true) {
                    self.named(&folder, pattern, trail);
                }
            }
            if tool.repository {
                for file in git::files(&folder, self.scene.files) {
                    self.add_if_there(file, &trail.clone().read_as(None));
                }
            }
        }
    }

    fn has_worked(&self, tool: &'static Steered, folder: &Path) -> bool {
        self.worked.contains(&(tool.key, folder.to_path_buf()))
    }
}

/// From where the words of a file may be meant: its own folder, and those in which the program is at work.
fn bases(waiting: &Waiting) -> Vec<PathBuf> {
    let places = &waiting.trail.places;
    let folder = waiting.file.parent().unwrap_or(Path::new("/")).to_path_buf();
    let mut bases = vec![folder];
    bases.extend(places.iter().filter(|place| !waiting.file.starts_with(place)).cloned());
    bases.extend(places.iter().filter(|place| waiting.file.starts_with(place)).cloned());
    let mut seen = Vec::new();
    bases.retain(|base| {
        !seen.contains(base) && {
            seen.push(base.clone());
            true
        }
    });
    bases
}

/// `scripts/*.sh`: the folder, and the pattern of the names in it.
fn with_star(text: &str) -> Option<(&str, &str)> {
    let (folder, name) = text.rsplit_once('/').unwrap_or((".", text));
    (name.matches('*').count() == 1 && !folder.contains('*')).then_some((folder, name))
}
