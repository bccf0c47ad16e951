//! What a change of policy means: the smallest call that one policy lets pass and the other does not.
//!
//! Calls are made from the patterns of both: the corners of every statement that changed, and for names, hosts and paths
//! the shortest word of every overlap of patterns. Each is judged by both policies before it is told, so that what is
//! told is true; what was not found is a proof only where [`Compared::proof`] says so.

mod corner;
mod entry;
mod section;
mod standing;
mod words;

use crate::policy::{Policy, PolicyText};
use crate::word::{Decision, Facts, Request, ToolCall, Verdict, Workspace};
use corner::Flags;
use entry::{Changed, Statements};
use sayso_shell::{MemoryFiles, NoEnvironment, Verb};
use standing::Standing;
use std::collections::HashSet;
use std::path::Path;
use words::Steps;

/// Where the calls are made, so that they mean the same everywhere.
const WORKSPACE: &str = "/home/dev/project";
const HOME: &str = "/home/dev";
/// Calls that are judged at most.
const MOST_CALLS: usize = 150_000;
/// Calls that are kept to choose the smallest from.
const MOST_KEPT: usize = 4_000;

/// A policy, and the texts that it was compiled from.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// Compiled.
    pub policy: &'a Policy,
    /// Its texts.
    pub texts: &'a [PolicyText],
}

/// What a change of policy means.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The smallest call that is judged milder now.
    pub looser: Option<Witness>,
    /// The smallest call that is judged more strictly now.
    pub stricter: Option<Witness>,
    /// How far "no call is judged milder" is proven, where none was found.
    pub proof: Proof,
    /// How many statements changed.
    pub changed: usize,
    /// How many calls were judged by both.
    pub tried: usize,
}

/// How far it is proven that no call is judged milder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// Nothing that a verdict depends on changed.
    Same,
    /// Everything that changed can only tighten.
    OnlyTightens,
    /// Every overlap of the patterns on these was tried, and nothing else could loosen.
    Exhausted(Vec<Verb>),
    /// It is not: these changes could loosen, and not all that they might mean was tried.
    Open(Vec<String>),
}

/// A call that both policies have judged.
#[derive(Clone, Debug)]
pub struct Witness {
    /// The call.
    pub call: ToolCall,
    /// What the earlier policy says.
    pub old: Decision,
    /// What the later one says.
    pub new: Decision,
    /// In which circumstances, where that is not a call by itself: `held`, `calls of this session at 5`.
    pub given: Option<String>,
}

impl Witness {
    /// The call as people read it.
    #[must_use]
    pub fn shown(&self) -> String {
        let mut text = match &self.call.request {
            Request::Command(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Request::Tool { name, arguments, .. } => match arguments.as_object().is_some_and(serde_json::Map::is_empty)
            {
                true => name.clone(),
                false => format!("{name} {arguments}"),
            },
        };
        let actor = &self.call.actor;
        for (word, name) in
            [("agent", &actor.agent), ("provider", &actor.provider), ("team", &actor.team), ("tenant", &actor.tenant)]
        {
            if let Some(name) = name {
                text.push_str(&format!("   ({word} {name})"));
            }
        }
        if actor.subagent {
            text.push_str("   (subagent)");
        }
        if let Some(given) = &self.given {
            text.push_str(&format!("   ({given})"));
        }
        text
    }

    /// Calls that one policy lets run come first, then those that could be typed, then the shortest.
    fn rank(&self, implied: &HashSet<String>) -> (bool, bool, bool, usize, String) {
        let allowed = self.new.verdict == Verdict::Allow || self.old.verdict == Verdict::Allow;
        let shown = self.shown();
        (!allowed, self.given.is_some(), self.names_any(implied), shown.len(), shown)
    }

    /// Whether it spells out an option that commands only imply: `curl --sends` says what `curl -d x` does.
    fn names_any(&self, implied: &HashSet<String>) -> bool {
        self.shown().split(' ').any(|word| implied.contains(word))
    }
}

fn smallest(found: Vec<Witness>, implied: &HashSet<String>) -> Option<Witness> {
    found.into_iter().min_by_key(|it| it.rank(implied))
}

/// Compares two policies.
#[must_use]
pub fn compare(old: Side<'_>, new: Side<'_>) -> Compared {
    let (changed, statements) = entry::changed((old.policy, old.texts), (new.policy, new.texts));
    let count = changed.gone.len() + changed.new.len() + changed.sections.len();
    if changed.is_empty() {
        return Compared { looser: None, stricter: None, proof: Proof::Same, changed: 0, tried: 0 };
    }
    let differs = |name: &str| changed.sections.iter().any(|it| it == name);
    let holds = differs("hold") || changed.entries().any(|entry| entry.held);
    let mut trial = Trial::new(old.policy, new.policy, standing::plain(holds));
    let exhausted = trial.overlaps(&changed, &statements);
    let patterns = statements.iter().flat_map(|it| &it.entries).filter(|entry| entry.verb == Verb::Run);
    let flags = Flags::of(patterns.flat_map(|it| std::iter::once(&it.pattern).chain(&it.except)).map(String::as_str));
    for entry in changed.entries() {
        corner::calls(entry, &flags).into_iter().for_each(|call| trial.judge(call));
    }
    corner::plain().into_iter().for_each(|call| trial.judge(call));
    if differs("tools") {
        standing::of_layers(&[old.texts, new.texts]).into_iter().for_each(|call| trial.judge(call));
    }
    if differs("limits") {
        let standings = standing::at_limits(old.policy, new.policy);
        corner::plain().iter().for_each(|call| trial.judge_in(call, &standings));
    }
    let proof = proof(&changed, &exhausted);
    let tried = trial.seen.len();
    let Trial { looser, stricter, implied, .. } = trial;
    Compared {
        looser: smallest(looser, &implied),
        stricter: smallest(stricter, &implied),
        proof,
        changed: count,
        tried,
    }
}

/// The widest call that a rule more would let pass, of those at the corners of its patterns: the one that does most. Both
/// policies have the same texts but for that rule.
#[must_use]
pub fn widest(old: Side<'_>, new: Side<'_>) -> Option<Witness> {
    let (changed, _) = entry::changed((old.policy, old.texts), (new.policy, new.texts));
    let flags = Flags::default();
    let mut trial = Trial::new(old.policy, new.policy, standing::plain(false));
    for entry in &changed.new {
        corner::calls(entry, &flags).into_iter().for_each(|call| trial.judge(call));
    }
    let implied = trial.implied;
    let allowed = trial.looser.into_iter().filter(|it| it.new.verdict == Verdict::Allow);
    allowed.max_by_key(|it| (!it.names_any(&implied), it.new.effects.len(), it.shown().len()))
}

fn proof(changed: &Changed, exhausted: &[Verb]) -> Proof {
    let mut open: Vec<String> = Vec::new();
    let mut tried: Vec<Verb> = Vec::new();
    for entry in changed.may_loosen() {
        if exhausted.contains(&entry.verb) && entry.when.is_none() {
            tried.push(entry.verb);
        } else {
            open.push(format!("{} {} `{}`", word(entry.verdict), word_of(entry.verb), entry.pattern));
        }
    }
    open.extend(changed.sections_may_loosen().map(|name| format!("[{name}]")));
    tried.sort_unstable();
    tried.dedup();
    match (open.is_empty(), tried.is_empty()) {
        (true, true) => Proof::OnlyTightens,
        (true, false) => Proof::Exhausted(tried),
        (false, _) => Proof::Open(open),
    }
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "allow",
        Verdict::Ask => "ask",
        Verdict::Deny => "deny",
    }
}

/// A verb's key in a policy file.
fn word_of(verb: Verb) -> &'static str {
    if verb == Verb::Call { "tool" } else { verb.as_str() }
}

/// Judges calls by both policies and keeps those that they differ on.
struct Trial<'a> {
    old: &'a Policy,
    new: &'a Policy,
    files: MemoryFiles,
    standings: Vec<Standing>,
    seen: HashSet<String>,
    looser: Vec<Witness>,
    stricter: Vec<Witness>,
    /// Options that commands were seen to imply.
    implied: HashSet<String>,
}

impl<'a> Trial<'a> {
    fn new(old: &'a Policy, new: &'a Policy, standings: Vec<Standing>) -> Self {
        let mut files = MemoryFiles::new();
        let below = |path: &str| format!("{WORKSPACE}/{path}");
        files.file(below(".git/HEAD"), b"ref: refs/heads/main\n").file(below(".git/config"), b"");
        files.folder(below("x")).folder(HOME).open_folder("/tmp").folder("/etc");
        Self {
            old,
            new,
            files,
            standings,
            seen: HashSet::new(),
            looser: Vec::new(),
            stricter: Vec::new(),
            implied: HashSet::new(),
        }
    }

    fn judge(&mut self, call: ToolCall) {
        let key = format!("{:?} {:?}", call.request, call.actor);
        if self.seen.len() >= MOST_CALLS || !self.seen.insert(key) {
            return;
        }
        let standings = std::mem::take(&mut self.standings);
        self.judge_in(&call, &standings);
        self.standings = standings;
    }

    /// Judges a call in each of these circumstances.
    fn judge_in(&mut self, call: &ToolCall, standings: &[Standing]) {
        let call = ToolCall {
            cwd: Some(WORKSPACE.into()),
            workspace: Workspace::new(WORKSPACE, Some(Path::new(HOME))),
            home: Some(HOME.into()),
            ..call.clone()
        };
        let facts = Facts { files: &self.files, env: &NoEnvironment };
        let operations = [self.old, self.new].map(|policy| policy.operation(call.clone(), facts));
        let [of_old, of_new] = &operations;
        let options = of_old.analysis.iter().flat_map(|it| &it.runs).flat_map(|run| &run.options);
        self.implied.extend(options.filter(|option| option.implied).map(|option| option.name.clone()));
        for standing in standings {
            let old = self.old.evaluate(of_old, &standing.state, facts);
            let new = self.new.evaluate(of_new, &standing.state, facts);
            let kept = match new.verdict.cmp(&old.verdict) {
                std::cmp::Ordering::Less => &mut self.looser,
                std::cmp::Ordering::Greater => &mut self.stricter,
                std::cmp::Ordering::Equal => continue,
            };
            if kept.len() < MOST_KEPT {
                kept.push(Witness { call: call.clone(), old, new, given: standing.told.clone() });
            }
        }
    }

    /// Judges the shortest word of every overlap of patterns. -> the verbs for which there are no others
    fn overlaps(&mut self, changed: &Changed, statements: &[Statements; 2]) -> Vec<Verb> {
        let mut exhausted = Vec::new();
        for verb in Verb::ALL.into_iter().filter(|verb| *verb != Verb::Run) {
            if !changed.entries().any(|entry| entry.verb == verb) {
                continue;
            }
            let separator = matches!(verb, Verb::Read | Verb::Write | Verb::Delete).then_some(b'/');
            let mut all = true;
            let mut seen = HashSet::new();
            let mut steps: Vec<Steps> = Vec::new();
            let of_changed = changed.entries().map(|entry| (entry, true));
            let others = statements.iter().flat_map(|it| &it.entries).map(|entry| (entry, false));
            for (entry, is_changed) in of_changed.chain(others).filter(|(entry, _)| entry.verb == verb) {
                for pattern in std::iter::once(&entry.pattern).chain(&entry.except) {
                    if pattern.starts_with("re:") || pattern.starts_with('@') {
                        all &= !is_changed;
                    } else if seen.insert(pattern) {
                        steps.extend(Steps::read(&absolute(verb, pattern), separator, is_changed));
                    }
                }
            }
            let words = words::shortest(&steps);
            for word in &words.words {
                match verb {
                    Verb::Call => self.judge(ToolCall::tool(word.as_str(), serde_json::json!({}))),
                    verb => corner::on(verb, word).into_iter().for_each(|call| self.judge(call)),
                }
            }
            if all && words.all && self.seen.len() < MOST_CALLS {
                exhausted.push(verb);
            }
        }
        exhausted
    }
}

/// A pattern of paths from the root on.
fn absolute(verb: Verb, pattern: &str) -> String {
    if !matches!(verb, Verb::Read | Verb::Write | Verb::Delete) {
        return pattern.to_owned();
    }
    match pattern {
        "." => WORKSPACE.to_owned(),
        "~" => HOME.to_owned(),
        _ => match (pattern.strip_prefix("./"), pattern.strip_prefix("~/")) {
            (Some(rest), _) => format!("{WORKSPACE}/{rest}"),
            (_, Some(rest)) => format!("{HOME}/{rest}"),
            _ if pattern.starts_with('/') => pattern.to_owned(),
            _ => format!("{WORKSPACE}/{pattern}"),
        },
    }
}

#[cfg(test)]
mod tests;
