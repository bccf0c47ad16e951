//! Which rules might speak of an effect, found without trying all: ten thousand rules cost what twenty cost.

use crate::judging::Judging;
use crate::pattern::{HostPattern, PathKey, PathPattern, RunPattern, ToolPattern, Tree, all_names, normal_host};
use crate::rule::{Pattern, Rule};
use crate::word::{Resolved, ToolName};
use sayso_shell::{Effect, HostTarget, PathTarget, Run, Target, Verb, Word};
use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Rules, and how to find them.
#[derive(Debug, Default)]
pub(crate) struct Table {
    pub rules: Vec<Rule>,
    run: RunIndex,
    read: PathIndex,
    write: PathIndex,
    delete: PathIndex,
    connect: HostIndex,
    call: ToolIndex,
}

impl Table {
    pub(crate) fn new(rules: Vec<Rule>) -> Self {
        let mut table = Self::default();
        for (at, rule) in rules.iter().enumerate() {
            let Ok(at) = u32::try_from(at) else { break };
            match (&rule.pattern, rule.verb) {
                (Pattern::Run(pattern), _) => table.run.add(pattern, at),
                (Pattern::Path(pattern), Verb::Read) => table.read.add(pattern, at),
                (Pattern::Path(pattern), Verb::Delete) => table.delete.add(pattern, at),
                (Pattern::Path(pattern), _) => table.write.add(pattern, at),
                (Pattern::Host(pattern), _) => table.connect.add(pattern, at),
                (Pattern::Tool(pattern), _) => table.call.add(pattern, at),
            }
        }
        table.rules = rules;
        table
    }

    /// Calls `each` with every rule that might speak of this effect by its own verb.
    pub(crate) fn candidates<'t>(&'t self, judging: &Judging<'_>, index: usize, each: &mut dyn FnMut(&'t Rule)) {
        let Some(effect) = judging.operation.effects.get(index) else { return };
        let mut visit = |at: u32| {
            if let Some(rule) = self.rules.get(at as usize) {
                each(rule);
            }
        };
        match (&effect.target, effect.verb) {
            (Target::Path(target), verb) => {
                let empty = Resolved::default();
                let resolved = judging.operation.resolved.get(index).unwrap_or(&empty);
                let tree = judging.tree();
                match verb {
                    Verb::Read => self.read.candidates(verb, target, resolved, tree, &mut visit),
                    Verb::Delete => {
                        self.delete.candidates(verb, target, resolved, tree, &mut visit);
                        self.write.candidates(verb, target, resolved, tree, &mut visit);
                    }
                    _ => self.write.candidates(verb, target, resolved, tree, &mut visit),
                }
            }
            (Target::Host(target), _) => self.connect.candidates(target, &mut visit),
            (Target::Tool, _) => self.call.candidates(&judging.operation.tool, &mut visit),
            _ => self.run_candidates(judging, effect, &mut visit),
        }
    }

    /// Calls `each` with every `run` rule that might match the program of this effect.
    pub(crate) fn program_candidates<'t>(
        &'t self,
        judging: &Judging<'_>,
        effect: &Effect,
        each: &mut dyn FnMut(&'t Rule),
    ) {
        self.run_candidates(judging, effect, &mut |at| {
            if let Some(rule) = self.rules.get(at as usize) {
                each(rule);
            }
        });
    }

    fn run_candidates(&self, judging: &Judging<'_>, effect: &Effect, visit: &mut dyn FnMut(u32)) {
        match crate::rule::run_of(effect).and_then(|id| judging.run(id)) {
            Some(run) => self.run.candidates(run, visit),
            None => self.run.any.iter().for_each(|at| visit(*at)),
        }
    }
}

#[derive(Debug, Default)]
struct RunIndex {
    by_name: HashMap<Box<str>, NameBucket>,
    any: Vec<u32>,
}

#[derive(Debug, Default)]
struct NameBucket {
    by_word: HashMap<Box<str>, Vec<u32>>,
    rest: Vec<u32>,
}

impl RunIndex {
    fn add(&mut self, pattern: &RunPattern, at: u32) {
        match pattern.key() {
            (Some(name), Some(word)) => {
                let bucket = self.by_name.entry(name.to_ascii_lowercase().into()).or_default();
                bucket.by_word.entry(word.into()).or_default().push(at);
            }
            (Some(name), None) => self.by_name.entry(name.to_ascii_lowercase().into()).or_default().rest.push(at),
            _ => self.any.push(at),
        }
    }

    fn candidates(&self, run: &Run, visit: &mut dyn FnMut(u32)) {
        self.any.iter().for_each(|at| visit(*at));
        let Some(base) = run.program.base.as_deref() else {
            // Nobody knows which program this is: every rule may be about it.
            for bucket in self.by_name.values() {
                bucket.all(visit);
            }
            return;
        };
        let bucket = if base.bytes().any(|b| b.is_ascii_uppercase()) {
            self.by_name.get(base.to_ascii_lowercase().as_str())
        } else {
            self.by_name.get(base)
        };
        let Some(bucket) = bucket else { return };
        bucket.rest.iter().for_each(|at| visit(*at));
        if bucket.by_word.is_empty() {
            return;
        }
        let first = run.words.first().and_then(|index| run.argv.get(usize::from(*index)));
        let loose = !run.program.known && run.argv.iter().skip(1).any(Word::may_be_option);
        match first {
            Some(word) if !loose => match word.exact_str() {
                Some(text) => {
                    let other = run.subcommand(0).filter(|name| *name != text);
                    let words = [Some(text), other];
                    let found = words.into_iter().flatten().filter_map(|word| bucket.by_word.get(word));
                    found.flatten().for_each(|at| visit(*at));
                }
                None => bucket.by_word.values().flatten().for_each(|at| visit(*at)),
            },
            None if !loose => {}
            _ => bucket.by_word.values().flatten().for_each(|at| visit(*at)),
        }
    }
}

impl NameBucket {
    fn all(&self, visit: &mut dyn FnMut(u32)) {
        self.rest.iter().chain(self.by_word.values().flatten()).for_each(|at| visit(*at));
    }
}

/// Path patterns by their literal part, without regard to case.
#[derive(Debug, Default)]
pub(crate) struct PathIndex {
    under: HashMap<Box<[u8]>, Vec<u32>>,
    holds: HashMap<Box<[u8]>, Vec<u32>>,
    ends: HashMap<Box<[u8]>, Vec<u32>>,
    any: Vec<u32>,
    /// By the names that they begin with behind `/**`, for folders from which they go on.
    leads: HashMap<Box<[u8]>, Vec<u32>>,
    /// Those that name a place and not just a name: they may be about what does not exist yet.
    placed: Vec<u32>,
    all: Vec<u32>,
}

impl PathIndex {
    pub(crate) fn add(&mut self, pattern: &PathPattern, at: u32) {
        self.all.push(at);
        if pattern.names_a_place() {
            self.placed.push(at);
        }
        for name in pattern.leading_names() {
            self.leads.entry(name.to_ascii_lowercase().into()).or_default().push(at);
        }
        match pattern.key() {
            PathKey::Under(path) => {
                self.under.entry(path.as_os_str().as_bytes().to_ascii_lowercase().into()).or_default().push(at);
            }
            PathKey::Holds(name) => self.holds.entry(name.to_ascii_lowercase().into()).or_default().push(at),
            PathKey::Ends(text) => self.ends.entry(text.to_ascii_lowercase().into()).or_default().push(at),
            PathKey::Any => self.any.push(at),
        }
    }

    pub(crate) fn candidates(
        &self,
        verb: Verb,
        target: &PathTarget,
        resolved: &Resolved,
        tree: &Tree<'_>,
        visit: &mut dyn FnMut(u32),
    ) {
        let Some(canonical) = resolved.canonical.as_deref() else {
            self.all.iter().for_each(|at| visit(*at));
            return;
        };
        let lexical = resolved.lexical.as_deref().filter(|lexical| lexical.as_os_str() != canonical.as_os_str());
        match target {
            PathTarget::Exact(path) if path.is_absolute() => {
                self.any.iter().for_each(|at| visit(*at));
                for path in std::iter::once(canonical).chain(lexical) {
                    self.literal(path, visit);
                }
            }
            PathTarget::Below(path) | PathTarget::Listed(path) | PathTarget::Glob { base: path, .. }
                if path.is_absolute() =>
            {
                let Some(found) = tree.all_below(canonical) else {
                    self.all.iter().for_each(|at| visit(*at));
                    return;
                };
                // A folder of ten thousand files asks about each of them, but each pattern is tried once.
                let mut once: Vec<u32> = self.any.clone();
                if verb == Verb::Write {
                    // What does not exist yet may be created.
                    once.extend(&self.placed);
                    if let Some(name) = canonical.file_name() {
                        once.extend(self.leads.get(&*name.as_bytes().to_ascii_lowercase()).into_iter().flatten());
                    }
                }
                for path in std::iter::once(canonical).chain(lexical).chain(found.iter().map(|path| path.as_path())) {
                    self.literal(path, &mut |at| once.push(at));
                    // As many as there are patterns, however many files there are.
                    if once.len() > 2 * self.all.len() + 64 {
                        once.sort_unstable();
                        once.dedup();
                    }
                }
                once.sort_unstable();
                once.dedup();
                once.into_iter().for_each(visit);
            }
            _ => self.all.iter().for_each(|at| visit(*at)),
        }
    }

    fn literal(&self, path: &Path, visit: &mut dyn FnMut(u32)) {
        if self.under.is_empty() && self.holds.is_empty() && self.ends.is_empty() {
            return;
        }
        let folded = path.as_os_str().as_bytes().to_ascii_lowercase();
        let ending = folded.iter().rposition(|b| matches!(b, b'.' | b'/')).and_then(|from| folded.get(from..));
        if let Some(rules) = ending.and_then(|ending| self.ends.get(ending)) {
            rules.iter().for_each(|at| visit(*at));
        }
        let mut start = 1;
        for end in (1..=folded.len()).filter(|end| folded.get(*end).is_none_or(|b| *b == b'/')) {
            if let Some(rules) = folded.get(..end).and_then(|prefix| self.under.get(prefix)) {
                rules.iter().for_each(|at| visit(*at));
            }
            if let Some(rules) = folded.get(start..end).and_then(|name| self.holds.get(name)) {
                rules.iter().for_each(|at| visit(*at));
            }
            start = end + 1;
        }
    }
}

#[derive(Debug, Default)]
struct HostIndex {
    exact: HashMap<Box<str>, Vec<u32>>,
    any: Vec<u32>,
    all: Vec<u32>,
}

impl HostIndex {
    fn add(&mut self, pattern: &HostPattern, at: u32) {
        self.all.push(at);
        match pattern.literal() {
            Some(host) => self.exact.entry(host.into()).or_default().push(at),
            None => match pattern.suffix() {
                Some(suffix) => self.exact.entry(suffix.into()).or_default().push(at),
                None => self.any.push(at),
            },
        }
    }

    fn candidates(&self, target: &HostTarget, visit: &mut dyn FnMut(u32)) {
        let HostTarget::Exact { host, .. } = target else {
            self.all.iter().for_each(|at| visit(*at));
            return;
        };
        self.any.iter().for_each(|at| visit(*at));
        let host = normal_host(host);
        let mut rest = Some(host.as_str());
        while let Some(suffix) = rest {
            self.exact.get(suffix).into_iter().flatten().for_each(|at| visit(*at));
            rest = suffix.split_once('.').map(|(_, rest)| rest);
        }
    }
}

#[derive(Debug, Default)]
struct ToolIndex {
    exact: HashMap<Box<str>, Vec<u32>>,
    prefix: HashMap<Box<[u8]>, Vec<u32>>,
    /// The lengths that occur in `prefix`.
    lengths: Vec<usize>,
}

impl ToolIndex {
    fn add(&mut self, pattern: &ToolPattern, at: u32) {
        if let Some(name) = pattern.literal() {
            self.exact.entry(name.into()).or_default().push(at);
            return;
        }
        let prefix = pattern.literal_prefix();
        if !self.lengths.contains(&prefix.len()) {
            self.lengths.push(prefix.len());
        }
        self.prefix.entry(prefix.into()).or_default().push(at);
    }

    fn candidates(&self, tool: &ToolName, visit: &mut dyn FnMut(u32)) {
        for name in all_names(tool) {
            self.exact.get(name).into_iter().flatten().for_each(|at| visit(*at));
            for length in &self.lengths {
                if let Some(prefix) = name.as_bytes().get(..*length) {
                    self.prefix.get(prefix).into_iter().flatten().for_each(|at| visit(*at));
                }
            }
        }
    }
}
