//! Rules of other systems on the stages of this one.
//!
//! A foreign file speaks of calls in its own words and with its own default. It does so stage by stage, in Sayso's
//! order, so that several files together give the strictest and grants, approvals and records work as they do for
//! Sayso's own files.

use crate::judging::Judging;
use crate::pattern::{HostPattern, PathPattern, Purpose, RunPattern};
use crate::policy::Policy;
use crate::stage::Inputs;
use crate::stage::ask::without_words;
use crate::stage::integrity::Protected;
use crate::stage::opinions::{Opinions, Rehearsal};
use crate::state::{Scope, State};
use crate::word::{
    Actor, Approvers, Code, Facts, Layer, Operation, Opinion, Reason, Source, Stage, ToolName, Tri, Verdict,
};
use sayso_shell::{HostTarget, PathTarget, RunId, Target};
use std::sync::Arc;
use std::time::Duration;

/// What a foreign file says of a call at one stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// Its verdict.
    pub verdict: Verdict,
    /// A stable code.
    pub code: Code,
    /// A sentence.
    pub text: String,
    /// Where the rule stands, if a rule spoke.
    pub source: Option<Source>,
    /// The effect it is about; `None`: the call.
    pub effect: Option<usize>,
    /// What becomes of an Ask that nobody can answer, where the file says so.
    pub unanswered: Option<Verdict>,
    /// The file's own layer that speaks, as `[tools.for]` would call it: `agent:coder`. `None`: the file as a whole.
    pub layer: Option<String>,
    /// Whom an Ask is for, where the file says so.
    pub approver: Option<Arc<Approvers>>,
}

impl Remark {
    /// A remark on the call as a whole.
    pub fn new(verdict: Verdict, code: Code, text: impl Into<String>) -> Self {
        Self {
            verdict,
            code,
            text: text.into(),
            source: None,
            effect: None,
            unanswered: None,
            layer: None,
            approver: None,
        }
    }

    /// Said by this layer of the file.
    #[must_use]
    pub fn by_layer(mut self, layer: impl Into<String>) -> Self {
        self.layer = Some(layer.into());
        self
    }

    /// With the place of the rule.
    #[must_use]
    pub fn at(mut self, source: Option<Source>) -> Self {
        self.source = source;
        self
    }
}

/// What a foreign file's mode means for one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The other stages speak.
    Enforced,
    /// The file lets this pass and says nothing else: it is switched off, or this call is exempt.
    Passed,
    /// A rehearsal: the caller gets a stub, and nothing else of the file is looked at.
    Rehearsed,
}

/// A foreign file, stage by stage. Whatever a file does not have stays silent; its default is its last word at `rules`.
pub trait Stages: std::fmt::Debug + Send + Sync {
    /// Stage 2: its mode.
    fn mode(&self, _operation: &Operation) -> Standing {
        Standing::Enforced
    }

    /// Stage 3: why a tool is not there for an actor.
    fn tools(&self, _tool: &ToolName, _actor: &Actor) -> Option<Remark> {
        None
    }

    /// Stage 4: expressions on parameters.
    fn patterns(&self, _operation: &Operation) -> Vec<Remark> {
        Vec::new()
    }

    /// Stage 5: whether closed lists and the counter of denied calls do not reach this tool.
    fn essential(&self, _tool: &ToolName) -> bool {
        false
    }

    /// Stage 6: its rules and its default.
    fn rules(&self, operation: &Operation, facts: Facts<'_>) -> Vec<Remark>;

    /// Stage 7: budgets that are used up.
    fn limits(&self, _operation: &Operation, _state: &State) -> Vec<Remark> {
        Vec::new()
    }

    /// Whether `limits` or `blocked` may ever speak: then somebody has to remember.
    fn has_limits(&self) -> bool {
        false
    }

    /// The scopes whose usage its limits look at, where it has any.
    fn counts(&self) -> &'static [Scope] {
        &[Scope::Session]
    }

    /// How far back in the session its limits look at single calls, in milliseconds.
    fn looks_back_ms(&self) -> u64 {
        0
    }

    /// How long denied calls count, in each session; `None`: as long as it lasts.
    fn blocked_per(&self) -> Option<Duration> {
        None
    }

    /// How many denied calls stop a session, where that is limited.
    fn most_blocked(&self) -> Option<u64> {
        None
    }

    /// The model that an actor is routed to, and the one in its place once too many calls were denied.
    fn route(&self, _actor: &Actor) -> (Option<String>, Option<String>) {
        (None, None)
    }

    /// Stage 7 as well: too many denied calls, which does not reach essential tools.
    fn blocked(&self, _state: &State) -> Option<Remark> {
        None
    }
}

/// One foreign file, ready to be judged by.
#[derive(Debug)]
pub struct Foreign {
    /// Its name as shown to people.
    pub name: String,
    /// Its content, which the policy's version is made from.
    pub text: String,
    /// Its stages.
    pub stages: Box<dyn Stages>,
}

/// Has foreign files speak of a call, stage by stage. They speak of the call, which is the last effect, or of others.
pub(crate) fn judge(inputs: &Inputs<'_, '_>, said: &mut Opinions) {
    if !inputs.hears_foreign() {
        return;
    }
    let operation = inputs.judging.operation;
    let (of_call, of_effects) = (said.call.len(), said.effects.iter().map(|on| on.opinions.len()).collect::<Vec<_>>());
    for Foreign { stages, .. } in &inputs.policy.foreign {
        judge_file(stages.as_ref(), inputs, said);
    }
    // Another system's words quote what they are about, also where they are about the whole call.
    if !operation.provenance.is_empty() {
        said.call.iter_mut().skip(of_call).for_each(without_words);
        for (on, known) in said.effects.iter_mut().zip(of_effects) {
            on.opinions.iter_mut().skip(known).for_each(without_words);
        }
    }
}

fn judge_file(stages: &dyn Stages, inputs: &Inputs<'_, '_>, said: &mut Opinions) {
    let (operation, state) = (inputs.judging.operation, inputs.state);
    match stages.mode(operation) {
        Standing::Enforced => {}
        Standing::Passed => {
            let remark = Remark::new(Verdict::Allow, Code::Mode, "The file's mode lets this pass.");
            return on_effect(said, Stage::Mode, remark);
        }
        Standing::Rehearsed => {
            let text = "This is a dry run: nothing runs, and the caller gets a stub.";
            said.rehearsal = said.rehearsal.max(Rehearsal::OfForeignFile);
            return on_effect(said, Stage::Mode, Remark::new(Verdict::Allow, Code::Mode, text));
        }
    }
    let essential = stages.essential(&operation.tool);
    let tools = hidden(stages, &operation.tool, &operation.actor).filter(|_| !essential);
    said.call.extend(tools.map(|remark| opinion(Stage::Tools, remark)));
    said.call.extend(stages.patterns(operation).into_iter().map(|remark| opinion(Stage::Patterns, remark)));
    for remark in stages.rules(operation, inputs.judging.facts) {
        if remark.verdict == Verdict::Ask {
            said.unanswered = said.unanswered.max(Some(remark.unanswered.unwrap_or(Verdict::Deny)));
        }
        on_effect(said, Stage::Rules, remark);
    }
    for actor in operation.actor.as_reported() {
        let reported = Operation { actor, ..operation.clone() };
        let stricter = stages.rules(&reported, inputs.judging.facts).into_iter();
        stricter
            .filter(|remark| remark.verdict != Verdict::Allow)
            .for_each(|remark| on_effect(said, Stage::Rules, remark));
    }
    let blocked = stages.blocked(state).filter(|_| !essential);
    let limits = stages.limits(operation, state).into_iter().chain(blocked);
    said.call.extend(limits.map(|remark| Opinion { always: true, ..opinion(Stage::Limits, remark) }));
}

/// A remark on an effect; without an index, on the call as the last of them.
fn on_effect(said: &mut Opinions, stage: Stage, remark: Remark) {
    let index = remark.effect.unwrap_or(said.effects.len().saturating_sub(1));
    match said.effects.get_mut(index) {
        Some(on) => on.opinions.push(opinion(stage, remark)),
        None => said.call.push(opinion(stage, remark)),
    }
}

/// For an actor and all above it: a subagent has no more than its parent.
pub(crate) fn hidden(stages: &dyn Stages, tool: &ToolName, actor: &Actor) -> Option<Remark> {
    for current in actor.and_above() {
        // INVARIANT: what an agent reports of itself is judged beside what is stated, in place of none.
        let found = stages
            .tools(tool, current)
            .or_else(|| current.as_reported().iter().find_map(|reported| stages.tools(tool, reported)));
        if found.is_some() {
            return found;
        }
    }
    None
}

fn opinion(stage: Stage, remark: Remark) -> Opinion {
    Opinion {
        stage,
        verdict: remark.verdict,
        maybe: false,
        reason: Reason {
            code: remark.code.into(),
            text: remark.text,
            layer: remark.layer.map_or(Layer::Given, Layer::Tools),
            source: remark.source,
        },
        approver: remark.approver,
        always: false,
        grant: None,
    }
}

impl Policy {
    /// Judges by foreign files too, beside those of the policy's own language. The strictest wins.
    #[must_use]
    pub fn with_foreign(mut self, files: Vec<Foreign>) -> Self {
        if files.is_empty() {
            return self;
        }
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.version.as_bytes());
        for part in files.iter().flat_map(|file| [file.name.as_bytes(), file.text.as_bytes()]) {
            hasher.update(&part.len().to_le_bytes());
            hasher.update(part);
        }
        self.version = hasher.finalize().to_hex().chars().take(16).collect();
        self.foreign.extend(files);
        self
    }

    /// A policy of foreign files alone. Each answers as its own system would, so integrity is off: see
    /// [`Policy::with_integrity`].
    #[must_use]
    pub fn from_foreign(files: Vec<Foreign>) -> Self {
        let empty = Self {
            files: Vec::new(),
            foreign: Vec::new(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            closed: Vec::new(),
            protected: Protected::default(),
            integrity: false,
            pinned: false,
            warnings: Vec::new(),
            programs: sayso_shell::program::Catalogue::default(),
            image: None,
        };
        empty.with_foreign(files)
    }

    /// Switches on what nothing lifts, for a policy that came without it.
    #[must_use]
    pub fn with_integrity(mut self) -> Self {
        self.integrity = true;
        self
    }
}

/// One call while patterns are compared with it: what they ask again and again is found out once.
pub struct MatchInput<'a>(Judging<'a>);

impl<'a> MatchInput<'a> {
    /// About this call.
    #[must_use]
    pub fn about(operation: &'a Operation, facts: Facts<'a>) -> Self {
        Self(Judging::new(operation, facts, None))
    }

    /// The call.
    #[must_use]
    pub fn operation(&self) -> &'a Operation {
        self.0.operation
    }
}

impl std::fmt::Debug for MatchInput<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("MatchInput").field(&self.0.operation.tool.canonical).finish()
    }
}

/// A pattern on commands of the policy language (`git push --force`), for files that name commands.
#[derive(Clone, Debug)]
pub struct CommandPattern(RunPattern);

impl CommandPattern {
    /// Reads a pattern; `None` if it is none.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        RunPattern::parse(text, &mut |_| Ok(Vec::new())).ok().map(Self)
    }

    /// Whether a program of a call matches, strictly as an allow asks.
    #[must_use]
    pub fn permits(&self, input: &MatchInput<'_>, run: RunId) -> bool {
        input.0.matches_run(&self.0, run, Purpose::Permit) == Tri::Yes
    }

    /// Whether a program of a call matches, widely as an ask or deny does.
    #[must_use]
    pub fn restricts(&self, input: &MatchInput<'_>, run: RunId) -> Tri {
        input.0.matches_run(&self.0, run, Purpose::Restrict)
    }
}

/// A pattern on paths of the policy language (`./src/**`), for files that name paths.
#[derive(Clone, Debug)]
pub struct PlacePattern(PathPattern);

impl PlacePattern {
    /// Reads a pattern; `None` if it is none.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        PathPattern::parse(text).ok().map(Self)
    }

    /// Whether the path of an effect matches, strictly as an allow asks.
    #[must_use]
    pub fn permits(&self, input: &MatchInput<'_>, effect: usize) -> bool {
        self.matches(input, effect, Purpose::Permit) == Tri::Yes
    }

    /// Whether the path of an effect matches, widely as an ask or deny does.
    #[must_use]
    pub fn restricts(&self, input: &MatchInput<'_>, effect: usize) -> Tri {
        self.matches(input, effect, Purpose::Restrict)
    }

    fn matches(&self, input: &MatchInput<'_>, index: usize, purpose: Purpose) -> Tri {
        let Some(effect) = input.operation().effects.get(index) else { return Tri::No };
        let target = match &effect.target {
            // Other systems do not tell a file's name from what it holds.
            Target::Path(PathTarget::Told(of)) => of,
            Target::Path(target) => target,
            _ => return Tri::No,
        };
        input.0.matches_path(&self.0, index, effect.verb, target, purpose)
    }
}

/// A pattern on hosts of the policy language (`*.example.org`), for files that name hosts.
#[derive(Clone, Debug)]
pub struct AddressPattern(HostPattern);

impl AddressPattern {
    /// Reads a pattern; `None` if it is none.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        HostPattern::parse(text).ok().map(Self)
    }

    /// Whether a host matches, strictly as an allow asks.
    #[must_use]
    pub fn permits(&self, target: &HostTarget) -> bool {
        self.0.matches(target, Purpose::Permit) == Tri::Yes
    }

    /// Whether a host matches, widely as an ask or deny does.
    #[must_use]
    pub fn restricts(&self, target: &HostTarget) -> Tri {
        self.0.matches(target, Purpose::Restrict)
    }
}
