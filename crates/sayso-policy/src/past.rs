//! What a session has done so far, as far as rules ask about it.
//!
//! A rule may say `when.after.read = "@secrets"` or `when.self_written = true`. Whether an earlier call did that is
//! found when the call may run ([`crate::Policy::deeds`]), kept by whoever keeps memory, and handed in again with
//! [`crate::State`] as a [`Past`], which is looked at only where a rule needs it.

use crate::index::Table;
use crate::judging::Judging;
use crate::rule::{Pattern, Rule, run_of};
use crate::stage::held_inside::is_below;
use crate::word::{Operation, Tri};
use sayso_shell::program::Facets;
use sayso_shell::{Effect, Kind, PathTarget, RunId, Target, Verb};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// A call that ran earlier, as reasons name it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EarlierCall {
    /// The id of its record.
    pub id: String,
    /// When, in milliseconds since 1970.
    pub time_ms: u64,
    /// What it was, secrets taken out.
    pub command: String,
}

/// What is known of the earlier calls of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// Conditions (`after.VERB`, by their key) that held in an earlier call; whether for certain.
    pub after: BTreeMap<String, (bool, EarlierCall)>,
    /// Files that were written, canonical, with the last call that did.
    pub written: BTreeMap<PathBuf, EarlierCall>,
    /// Where more was written than these: whatever changed there since this moment counts.
    pub areas: Vec<(Area, EarlierCall)>,
    /// That moment: the session's first write. A folder that is moved brings what was written into it before.
    pub since_ms: u64,
    /// Contents that somebody said yes to.
    pub approved: BTreeSet<String>,
    /// Nothing is really written: what a file holds is told by the call that wrote it.
    pub rehearsed: bool,
    /// It could not be read whole: every condition may hold.
    pub lost: bool,
}

/// What a session has done so far, looked at when a rule first asks. By default nothing.
#[derive(Clone, Default)]
pub struct Past(Option<Arc<Cell>>);

struct Cell {
    load: Box<dyn Fn() -> Known + Send + Sync>,
    known: OnceLock<Known>,
}

impl Past {
    /// A past that is loaded when a rule first asks.
    pub fn when_asked(load: impl Fn() -> Known + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(Cell { load: Box::new(load), known: OnceLock::new() })))
    }

    /// What is known; `None`: nothing is kept.
    #[must_use]
    pub fn known(&self) -> Option<&Known> {
        self.0.as_ref().map(|cell| cell.known.get_or_init(|| (cell.load)()))
    }

    /// Whether a rule has asked.
    #[must_use]
    pub fn was_asked(&self) -> bool {
        self.0.as_ref().is_some_and(|cell| cell.known.get().is_some())
    }
}

impl std::fmt::Debug for Past {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Past").field(&self.0.as_ref().and_then(|cell| cell.known.get())).finish()
    }
}

impl PartialEq for Past {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(one), Some(two)) => Arc::ptr_eq(one, two),
            _ => false,
        }
    }
}

/// What is to be remembered of a call that may run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deeds {
    /// Keys of the conditions that held, and whether for certain.
    pub after: Vec<(String, bool)>,
    /// Files that it writes, canonical.
    pub written: Vec<PathBuf>,
    /// Where it may write more than these, and nobody sees what.
    pub areas: Vec<Area>,
}

/// Where files may be written that nobody knows by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Area {
    /// The folder, canonical.
    pub folder: PathBuf,
    /// In folders below it too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deep: bool,
    /// The pattern that their names match; absent: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names: Option<String>,
}

impl Area {
    /// Everywhere.
    #[must_use]
    pub fn everywhere() -> Self {
        Self { folder: PathBuf::from("/"), deep: true, names: None }
    }

    /// Whether a file may be among those that are written there.
    #[must_use]
    pub fn may_hold(&self, path: &Path) -> bool {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name().map(|name| name.to_string_lossy())) else {
            return true;
        };
        let there = if self.deep { folder.starts_with(&self.folder) } else { folder == self.folder };
        there && sayso_shell::instruct::may_fit(&name, self.names.as_deref())
    }
}

impl Deeds {
    /// Files may be written there.
    pub fn add(&mut self, area: Area) {
        /// More places are taken for everywhere.
        const MOST: usize = 16;
        if self.areas.len() >= MOST {
            self.areas = vec![Area::everywhere()];
        } else if !self.areas.contains(&area) {
            self.areas.push(area);
        }
    }

    /// Nobody knows what it does.
    pub(crate) fn unknown() -> Self {
        Self { areas: vec![Area::everywhere()], ..Self::default() }
    }

    /// Nothing has to be remembered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.after.is_empty() && self.written.is_empty() && self.areas.is_empty()
    }
}

/// A file that a program goes by and that the session wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrote {
    /// Where it is.
    pub path: PathBuf,
    /// What a yes is remembered by: of the file's content. `None`: it is written by this very call.
    pub content: Option<String>,
    /// The call that wrote it; `None`: this one.
    pub call: Option<EarlierCall>,
}

/// `when.after`: an effect of an earlier call, or of this one.
#[derive(Clone, Debug)]
pub(crate) struct After {
    pub verb: Verb,
    /// Names the condition in what is kept.
    pub key: String,
    pub any: Vec<Pattern>,
    pub except: Vec<Pattern>,
    /// The same as rules, to be looked up; made when an effect is first compared.
    pub table: OnceLock<Arc<Table>>,
}

impl After {
    /// As rules that only restrict, whose code is the condition's key. Whether one effect is such a one is what they say of
    /// it: a search through a project is compared with the few of them that names there lead to.
    pub(crate) fn rules(&self) -> impl Iterator<Item = Rule> {
        let except: Arc<[Pattern]> = self.except.clone().into();
        self.any.iter().map(move |pattern| {
            Rule::silent(self.verb, pattern.clone(), Arc::clone(&except), Cow::Owned(self.key.clone()))
        })
    }

    /// Whether one effect is such a one.
    fn is(&self, judging: &Judging<'_>, index: usize) -> Tri {
        let table = self.table.get_or_init(|| Arc::new(Table::new(self.rules().collect())));
        let mut found = Tri::No;
        table.candidates(judging, index, &mut |rule| {
            if found != Tri::Yes {
                found = found.max(rule.matches(judging, index));
            }
        });
        found
    }

    /// Whether an effect comes after such a one.
    pub(crate) fn holds(&self, judging: &Judging<'_>, index: usize) -> Tri {
        let before = match judging.past().known() {
            Some(known) if known.lost => Tri::Maybe,
            Some(known) => match known.after.get(&self.key) {
                Some((true, _)) => Tri::Yes,
                Some((false, _)) => Tri::Maybe,
                None => Tri::No,
            },
            None => Tri::No,
        };
        if before == Tri::Yes {
            return before;
        }
        let Some(own) = judging.operation.effects.get(index) else { return before };
        let others = judging.operation.effects.iter().enumerate().filter(|(at, _)| *at != index);
        let beside = others.map(|(at, effect)| {
            let found = self.is(judging, at);
            // What stands later in the text may come first all the same: in a loop, a function, the background.
            if effect.span.start > own.span.end { found.min(Tri::Maybe) } else { found }
        });
        before.max(beside.max().unwrap_or(Tri::No))
    }

    /// The sentence that names the earlier call.
    pub(crate) fn because(&self, judging: &Judging<'_>) -> Option<String> {
        let earlier = judging.past().known().and_then(|known| known.after.get(&self.key));
        let verb = match self.verb {
            Verb::Read => "read",
            Verb::Write => "wrote",
            Verb::Delete => "deleted",
            Verb::Connect => "connected",
            Verb::Run => "ran",
            Verb::Call => "called",
        };
        Some(match earlier {
            Some((certain, call)) => {
                let maybe = if *certain { "" } else { "may have " };
                format!("An earlier call {maybe}{verb} it, {}.", named(call))
            }
            None if judging.past().known().is_some_and(|known| known.lost) => {
                "What this session did before is not known.".to_owned()
            }
            None => format!("This very call {verb} it too."),
        })
    }
}

/// `14:05:09 UTC, call 01ABC: printf x > Makefile`.
fn named(call: &EarlierCall) -> String {
    let seconds = call.time_ms / 1000;
    let (hours, minutes, seconds) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    let command: String = call.command.chars().take(120).collect();
    let more = if call.command.chars().count() > 120 { "..." } else { "" };
    format!("at {hours:02}:{minutes:02}:{seconds:02} UTC (call {}: `{command}{more}`)", call.id)
}

/// The clock of files is behind that of calls, by no more than this.
const CLOCKS_MS: u64 = 50;

/// Which of a program's own files this session or call wrote, and whether for certain.
#[derive(Clone, Debug, Default)]
pub(crate) struct SelfWritten {
    pub answer: Option<Tri>,
    pub files: Vec<Wrote>,
}

impl SelfWritten {
    /// Of one run.
    pub(crate) fn by(judging: &Judging<'_>, id: RunId) -> Self {
        let mut found = Self::default();
        let known = judging.past().known();
        let Some(own) = judging.own_files(id) else {
            // Nobody knows what it goes by, or by nothing.
            return found;
        };
        for (index, effect) in judging.operation.effects.iter().enumerate() {
            found.look_at(judging, (id, &own), index, effect);
        }
        let Some(known) = known else { return found };
        if known.lost {
            found.is(Tri::Maybe);
        }
        for (path, call) in known.written.iter().filter(|(path, _)| own.includes(path) || own.leads_to(path)) {
            found.written_before(judging, path, call, known);
        }
        if !known.areas.is_empty() {
            let there = own.there();
            if there.open.is_some() {
                found.is(Tri::Maybe);
            }
            for path in there.files.iter().filter(|path| !known.written.contains_key(*path)) {
                let Some((_, call)) = known.areas.iter().find(|(area, _)| area.may_hold(path)) else { continue };
                match judging.facts.files.changed_ms(path) {
                    // Nothing was really written, so the file's own times say nothing; the call named it.
                    _ if known.rehearsed && known.areas.iter().any(|(area, _)| area.folder == *path) => {
                        found.written_before(judging, path, call, known);
                    }
                    Some(changed) if changed.saturating_add(CLOCKS_MS) < known.since_ms => {}
                    _ => found.written_before(judging, path, call, known),
                }
            }
        }
        found
    }

    fn is(&mut self, answer: Tri) {
        self.answer = self.answer.max(Some(answer));
    }

    fn written_before(&mut self, judging: &Judging<'_>, path: &Path, call: &EarlierCall, known: &Known) {
        let content = if known.rehearsed { None } else { content(judging, path) };
        let content = content.unwrap_or_else(|| format!("{} {}", call.id, path.display()));
        if known.approved.contains(&content) || self.files.iter().any(|file| file.path == path) {
            return;
        }
        self.is(Tri::Yes);
        self.files.push(Wrote { path: path.to_owned(), content: Some(content), call: Some(call.clone()) });
    }

    /// Whether an effect of this very call writes such a file.
    fn look_at(
        &mut self,
        judging: &Judging<'_>,
        own: (RunId, &sayso_shell::instruct::OwnFiles<'_>),
        at: usize,
        effect: &Effect,
    ) {
        let (id, own) = own;
        let (Verb::Write, Target::Path(target)) = (effect.verb, &effect.target) else { return };
        if effect.run.is_some_and(|by| is_below(judging, by, id)) {
            return;
        }
        // In a loop, a function or the background it may come first though it stands behind.
        let later = judging.run(id).is_some_and(|run| effect.span.start > run.span.end);
        let found = if later || !effect.certain { Tri::Maybe } else { Tri::Yes };
        match writes(judging, at, effect, target) {
            Writes::File(path) if own.includes(&path) || own.leads_to(&path) => {
                self.is(found);
                self.files.push(Wrote { path, content: None, call: None });
            }
            Writes::Somewhere(area) if own.may_be_among(&area.folder, area.deep, area.names.as_deref()) => {
                self.is(Tri::Maybe)
            }
            Writes::Anywhere => self.is(Tri::Maybe),
            Writes::File(_) | Writes::Somewhere(_) | Writes::Nothing => {}
        }
    }

    /// The sentence that names the file and the call that wrote it.
    pub(crate) fn because(&self, root: Option<&Path>) -> Option<String> {
        let file = self.files.first()?;
        let shown = root.and_then(|root| file.path.strip_prefix(root).ok()).unwrap_or(&file.path).display();
        let text = match &file.call {
            Some(call) => format!("`{shown}` was written by this session {}.", named(call)),
            None => format!("This very call writes `{shown}`."),
        };
        Some(match self.files.len() {
            1 => text,
            more => format!("{text} So were {} more of its files.", more - 1),
        })
    }
}

/// What a yes to a file is remembered by.
fn content(judging: &Judging<'_>, path: &Path) -> Option<String> {
    const LARGEST: usize = 8 * 1024 * 1024;
    let mut hasher = blake3::Hasher::new();
    hasher.update(path.as_os_str().as_encoded_bytes());
    hasher.update(&[0]);
    let whole = judging.facts.files.read_through(path, LARGEST, &mut |piece| {
        hasher.update(piece);
    });
    whole.then(|| hasher.finalize().to_hex().to_string())
}

/// What one effect writes.
enum Writes {
    File(PathBuf),
    /// Files that are not known by name.
    Somewhere(Area),
    Anywhere,
    /// Nothing that others go by: what a build makes, and what a repository holds anyway.
    Nothing,
}

fn writes(judging: &Judging<'_>, at: usize, effect: &Effect, target: &PathTarget) -> Writes {
    let resolved = judging.operation.resolved.get(at).and_then(|resolved| resolved.canonical.clone());
    let path = match (target, resolved) {
        (PathTarget::Exact(_), Some(path)) => {
            if !matches!(judging.facts.files.kind(&path), Kind::Folder { .. }) {
                return Writes::File(path);
            }
            Some(path)
        }
        (PathTarget::Exact(path), None) if path.is_absolute() => {
            return Writes::File(sayso_shell::canonical::lexical(path));
        }
        (_, resolved) => resolved.or_else(|| target.place().map(Path::to_path_buf)),
    };
    let program = effect.run.and_then(|id| judging.run(id)).map(|run| run.program.facets());
    if program.is_some_and(|facets| facets.has(Facets::BUILDS)) {
        return Writes::Nothing;
    }
    // What is checked out or merged was in the repository before; a patch may say anything.
    if program.is_some_and(|facets| facets.has(Facets::REPOSITORY)) && !takes_a_file(judging, effect.run) {
        return Writes::Nothing;
    }
    let (deep, names) = match target {
        PathTarget::Glob { pattern, .. } => {
            let text = String::from_utf8_lossy(pattern.as_bytes()).into_owned();
            (text.contains('/'), Some(text.rsplit('/').next().unwrap_or_default().to_owned()))
        }
        _ => (true, None),
    };
    match path.filter(|path| path.is_absolute()) {
        Some(folder) => Writes::Somewhere(Area { folder, deep, names }),
        None => Writes::Anywhere,
    }
}

/// Whether a program reads a file, or what it is given on its input.
fn takes_a_file(judging: &Judging<'_>, id: Option<RunId>) -> bool {
    let Some(run) = id.and_then(|id| judging.run(id)) else { return true };
    let reads = |effect: &&Effect| {
        effect.verb == Verb::Read
            && (effect.run == id || effect.span.start >= run.span.start && effect.span.end <= run.span.end)
    };
    run.pipe.is_some_and(|place| place.place > 0) || judging.operation.effects.iter().any(|effect| reads(&effect))
}

/// What is to be remembered of a call for the conditions of these tables ([`After::rules`]).
pub(crate) fn deeds<'t>(
    judging: &Judging<'_>,
    tables: impl Iterator<Item = &'t Table> + Clone,
    self_written: bool,
) -> Deeds {
    let mut deeds = Deeds::default();
    for index in 0..judging.operation.effects.len() {
        for table in tables.clone() {
            table.candidates(judging, index, &mut |rule| {
                let known = deeds.after.iter().position(|(key, _)| *key == rule.code);
                let known = known.and_then(|at| deeds.after.get_mut(at));
                if known.as_ref().is_some_and(|(_, certain)| *certain) {
                    return;
                }
                match (rule.matches(judging, index), known) {
                    (Tri::No, _) => {}
                    (found, Some((_, certain))) => *certain = found == Tri::Yes,
                    (found, None) => deeds.after.push((rule.code.to_string(), found == Tri::Yes)),
                }
            });
        }
    }
    if self_written {
        for (at, effect) in judging.operation.effects.iter().enumerate() {
            let (Verb::Write, Target::Path(target)) = (effect.verb, &effect.target) else { continue };
            match writes(judging, at, effect, target) {
                Writes::File(path) => {
                    if !deeds.written.contains(&path) {
                        deeds.written.push(path);
                    }
                }
                Writes::Somewhere(area) => deeds.add(area),
                Writes::Anywhere => deeds.add(Area::everywhere()),
                Writes::Nothing => {}
            }
        }
        if holds(judging.operation) {
            deeds.add(Area::everywhere());
        }
    }
    deeds
}

/// Whether the call is run by `sayso run`, which holds it to what may be written.
pub(crate) fn holds(operation: &Operation) -> bool {
    let runs = operation.analysis.iter().flat_map(|analysis| &analysis.runs);
    runs.into_iter().any(|run| run.program.facets().has(Facets::HOLDS) && run.subcommand(0) == Some("run"))
}

/// Everything that a program of the call goes by and that the session wrote: what a yes to the call is a yes to.
pub(crate) fn wrote(judging: &Judging<'_>) -> Vec<Wrote> {
    let mut found: Vec<Wrote> = Vec::new();
    let runs: BTreeSet<RunId> = judging.operation.effects.iter().filter_map(run_of).collect();
    for id in runs {
        for file in judging.self_written(id).files {
            if !found.contains(&file) {
                found.push(file);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Facts, Policy, PolicyText, ToolCall};
    use sayso_shell::{MemoryFiles, NoEnvironment};

    /// A policy that asks about a thousand kinds of files, and a project with two thousand files of which `there` are two.
    fn compared(there: [&str; 2]) -> (usize, Deeds) {
        let names: Vec<String> = (0..1000).map(|at| format!("\"/**/secret{at}.key{at}\"")).collect();
        let text = format!(
            "[[rule]]\nid = \"x\"\nask = {{ connect = \"*\" }}\nwhen = {{ after.read = [{}] }}\n",
            names.join(", ")
        );
        let text = PolicyText { layer: crate::Layer::User, name: "p".into(), text, trusted: true };
        let policy = Policy::compile(&[text]).unwrap();
        let plain = (0..2000).map(|at| format!("/app/src/module{at}.ts"));
        let mut files = MemoryFiles::new();
        plain.chain(there.map(str::to_owned)).for_each(|path| {
            files.file(&path, b"");
        });
        let facts = Facts { files: &files, env: &NoEnvironment };
        let call = ToolCall { cwd: Some("/app".into()), ..ToolCall::command(b"grep -rn foo /app") };
        let operation = policy.operation(call, facts);
        let judging = Judging::new(&operation, facts, None);
        let mut compared = 0;
        for index in 0..operation.effects.len() {
            policy.files.iter().for_each(|file| file.after.candidates(&judging, index, &mut |_| compared += 1));
        }
        (compared, policy.deeds(&operation, facts))
    }

    #[test]
    fn a_search_is_compared_with_what_its_names_lead_to_and_no_more() {
        let (compared_with, deeds) = compared(["/app/src/a", "/app/src/secret7"]);
        assert_eq!((compared_with, deeds.after.len()), (0, 0));
        let (compared_with, deeds) = compared(["/app/src/secret7.key7", "/app/src/secret9.key9"]);
        assert_eq!((compared_with, deeds.after.len()), (2, 1));
    }
}
