//! What the words of a command name, and which programs go by what they are given.

use super::{Search, Trail};
use crate::Code;
use crate::effect::{Effect, PathTarget, Run, RunId, Target, Verb};
use crate::program::{self, Facets, facets};
use crate::word::Word;
use std::collections::BTreeSet;
use std::path::PathBuf;

impl<'a> Search<'a> {
    /// The words of a command that may name a file or folder, in every way that options are written.
    pub(super) fn words(&self, id: RunId, run: &'a Run, name: &str) -> Vec<String> {
        let mut found = Vec::new();
        let value = |option: &'a crate::Opt| option.value.as_ref().and_then(Word::exact_str);
        if is_data_of_git(run, name) {
            let places =
                run.options.iter().filter(|option| matches!(option.name.as_str(), "-C" | "--git-dir" | "--work-tree"));
            return places.filter_map(value).map(str::to_owned).collect();
        }
        if program::starts_others(name) {
            // What it starts is a program of its own; what its options name is not (`bash --rcfile x`).
            let written = self.written(id);
            let values = run.options.iter().filter_map(value).filter(|word| {
                let path = run.cwd.as_deref().map(|cwd| self.at(cwd, word));
                path.is_some_and(|path| !written.contains(&path))
            });
            return values.map(str::to_owned).collect();
        }
        if self.is_reader(id, run) {
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
    pub(super) fn is_reader(&self, id: RunId, run: &Run) -> bool {
        let name = run.program.base.as_deref().unwrap_or_default();
        if run.program.builtin {
            return !matches!(name, "." | "source" | "eval" | "exec");
        }
        let by_run = |effect: &&Effect| effect.run == Some(id);
        let runs = |effect: &Effect| match &effect.target {
            Target::Code { .. } | Target::Anything => true,
            Target::Option(_) => {
                let runs = [Code::RunsCommand, Code::RunsCode, Code::Remote, Code::InlineCode];
                matches!(&effect.carry, crate::Carry::Named { code, .. } if runs.contains(code))
            }
            _ => false,
        };
        program::takes_data(name) && !self.scene.analysis.effects.iter().filter(by_run).any(runs)
    }

    /// What the call itself writes is no instruction to it.
    pub(super) fn written(&self, id: RunId) -> Vec<PathBuf> {
        let writes = |effect: &&Effect| effect.run == Some(id) && matches!(effect.verb, Verb::Write | Verb::Delete);
        let path = |effect: &Effect| match &effect.target {
            Target::Path(PathTarget::Exact(path)) => Some(path.clone()),
            _ => None,
        };
        self.scene.analysis.effects.iter().filter(writes).filter_map(path).collect()
    }

    /// What is read by name: by programs that go by it, and by readers whose output another program goes by.
    pub(super) fn reads(&mut self) {
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
                Target::Path(PathTarget::Exact(path)) => self.add_if_there(path.clone(), &Trail::of(at, &[])),
                Target::Path(target) if reader => match target.place() {
                    Some(folder) => {
                        self.add_if_there(folder.to_owned(), &Trail::of(at, &[]));
                        self.below(folder, |_| true, &Trail::of(at, &[]));
                    }
                    None => self.open = Some("it takes its instructions from a file that is not known"),
                },
                _ => {}
            }
        }
    }
}

/// Every file name that a word may hold: the word, what follows a `=`, what is joined to an option, parts of a list.
pub(super) fn spellings(text: &str, found: &mut Vec<String>) {
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

/// `python -m package.module`, `-mpackage`.
pub(super) fn modules(name: &str, run: &Run) -> Vec<String> {
    let is_python = |name: &str| facets(name).has(Facets::READS_PYTHON);
    if !program::canonical_name(name).is_some_and(is_python) {
        return Vec::new();
    }
    let values = run.options.iter().filter(|option| option.name == "-m");
    values.filter_map(|option| Some(option.value.as_ref()?.exact_str()?.replace('.', "/"))).collect()
}

/// What most of git's subcommands are given is data to them.
pub(super) fn is_data_of_git(run: &Run, name: &str) -> bool {
    facets(name).has(Facets::REPOSITORY)
        && !matches!(run.subcommand(0), Some("apply" | "am" | "bisect" | "submodule" | "config" | "fast-import"))
}
