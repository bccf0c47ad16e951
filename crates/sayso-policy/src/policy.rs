//! A policy: files in force, compiled.

use crate::condition::Condition;
use crate::hold::HoldSection;
use crate::image::Image;
use crate::index::Table;
use crate::judging::Judging;
use crate::past::{self, Deeds, Past, Wrote};
use crate::risk::RiskSection;
use crate::role::{Group, Role};
use crate::stage::essential;
use crate::stage::integrity::Protected;
use crate::stage::limits::{self, Allowance, LimitRule};
use crate::stage::models::ModelRule;
use crate::stage::patterns::ParamRule;
use crate::stage::plan::PlanSection;
use crate::stage::tools::{self, ToolLayer};
use crate::state::{Counting, Scope, State, Usage};
use crate::text::{Mode, Problem};
use crate::word::{
    Actor, Decision, Facts, Layer, Operation, Reason, Request, Stated, ToolCall, ToolName, Tri, Verdict,
};
use sayso_shell::program::{Catalogue, Knowing};
use sayso_shell::{NoEnvironment, NoFiles, Target, Verb};
use std::collections::BTreeMap;
use std::time::Duration;

/// The text of one policy file, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyText {
    /// Which layer it is. [`Layer::Managed`], [`Layer::User`], [`Layer::Project`] or [`Layer::Given`].
    pub layer: Layer,
    /// Its name as shown to people.
    pub name: String,
    /// Its content.
    pub text: String,
    /// False for a project file that its owner has not trusted: only its Ask and Deny count.
    pub trusted: bool,
}

impl PolicyText {
    /// Whether it describes programs and holds no rules. Which of the two a file is, its ending says; behind it may stand in
    /// brackets which version is meant.
    #[must_use]
    pub fn teaches(&self) -> bool {
        self.name.split(" (").next().is_some_and(|file| file.ends_with(".prog"))
    }

    /// A file that does nothing but extend a preset, as `--policy preset:NAME` means.
    #[must_use]
    pub fn preset(name: &str) -> Self {
        Self {
            layer: Layer::Given,
            name: format!("preset:{name}"),
            text: format!("extends = [{name:?}]\n"),
            trusted: true,
        }
    }
}

/// Files in force, compiled. After this nothing can fail on configuration.
#[derive(Debug)]
pub struct Policy {
    pub(crate) files: Vec<CompiledFile>,
    pub(crate) foreign: Vec<crate::foreign::Foreign>,
    pub(crate) version: String,
    pub(crate) closed: Vec<Verb>,
    pub(crate) protected: Protected,
    pub(crate) integrity: bool,
    /// The managed file pins the mode.
    pub(crate) pinned: bool,
    pub(crate) warnings: Vec<Problem>,
    /// The programs that are known: Sayso's own, and those that the files teach.
    pub(crate) programs: Catalogue,
    /// Where it lies, if it was not compiled in this process.
    pub(crate) image: Option<Image>,
}

/// One file.
#[derive(Debug)]
pub(crate) struct CompiledFile {
    pub layer: Layer,
    pub own: Table,
    pub presets: Vec<CompiledPreset>,
    /// False for an untrusted project file.
    pub counts_allow: bool,
    /// By verb, what the file or else its presets state.
    pub defaults: Defaults,
    pub mode: Mode,
    pub tools: Vec<ToolLayer>,
    pub patterns: Vec<ParamRule>,
    /// Tools that must always work, where this file may say so.
    pub essential: Vec<crate::pattern::ToolPattern>,
    pub limits: Vec<LimitRule>,
    pub unanswered: Option<Verdict>,
    /// `[models]`.
    pub models: Vec<ModelRule>,
    /// `[actor]`.
    pub actor: Option<Stated>,
    /// What agents report of themselves counts as if it were stated.
    pub trusts_roles: bool,
    /// `[for]`.
    pub roles: Vec<Role>,
    /// `[plan]`.
    pub plan: PlanSection,
    /// `[risk]`.
    pub risk: Option<RiskSection>,
    /// `[hold]`, its presets' included.
    pub hold: Option<HoldSection>,
    /// What its rules, and those of its presets, ask about earlier calls.
    /// Each as rules whose code is its key.
    pub after: Table,
    pub self_written: bool,
}

/// A preset that a file extends.
#[derive(Debug)]
pub(crate) struct CompiledPreset {
    pub table: Table,
    /// Whose defaults it belongs to.
    pub group: Group,
}

/// A verdict for each verb.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Defaults(pub [Option<Verdict>; Verb::ALL.len()]);

impl Policy {
    /// Whether whoever asks may read every file that words of the operation come from, for certain and unasked.
    #[must_use]
    pub fn lets_read_sources(&self, operation: &Operation, facts: Facts<'_>) -> bool {
        operation.provenance.files().iter().all(|file| {
            let Some(path) = file.to_str() else { return false };
            let read = ToolCall {
                actor: operation.actor.clone(),
                cwd: operation.cwd.clone(),
                workspace: operation.workspace.clone(),
                home: operation.home.clone(),
                ..ToolCall::tool("file_read", serde_json::json!({ "path": path }))
            };
            self.evaluate(&self.operation(read, facts), &State::default(), facts).verdict == Verdict::Allow
        })
    }
}

impl Defaults {
    pub(crate) fn get(&self, verb: Verb) -> Option<Verdict> {
        self.0.get(slot(verb)).copied().flatten()
    }

    pub(crate) fn set(&mut self, verb: Verb, verdict: Verdict) {
        if let Some(slot) = self.0.get_mut(slot(verb)) {
            *slot = Some(verdict);
        }
    }
}

fn slot(verb: Verb) -> usize {
    Verb::ALL.iter().position(|one| *one == verb).unwrap_or_default()
}

impl Policy {
    /// Compiles files. Any problem refuses the whole: all problems are returned.
    ///
    /// # Errors
    /// Everything that is wrong with the files, each with its place.
    pub fn compile(files: &[PolicyText]) -> Result<Self, Vec<Problem>> {
        crate::compile::compile(files)
    }

    /// Names what belongs to the Sayso that runs here, beyond the places it uses everywhere.
    #[must_use]
    pub fn protecting(mut self, protected: Protected) -> Self {
        self.protected = protected;
        self
    }

    /// Identifies the content of all files in force.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Whether some file says what is held.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.files.iter().any(|file| file.holds().next().is_some())
    }

    /// The programs that are known: Sayso's own, and those that the files teach.
    #[must_use]
    pub fn programs(&self) -> &Catalogue {
        &self.programs
    }

    /// Normalises a call and works out what it would do, by the programs that this policy knows.
    #[must_use]
    pub fn operation(&self, mut call: ToolCall, facts: Facts<'_>) -> Operation {
        if self.files.iter().any(|file| file.actor.is_some()) {
            call.actor = self.owned(call.actor, true);
        }
        let env = Knowing { env: facts.env, programs: &self.programs };
        Operation::new(call, Facts { env: &env, ..facts })
    }

    /// What is worth saying about the files though it is no error.
    #[must_use]
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }

    /// Judges an operation.
    pub fn evaluate(&self, operation: &Operation, state: &State, facts: Facts<'_>) -> Decision {
        let decision = crate::evaluate::evaluate(self, operation, state, facts);
        match self.image.as_ref().and_then(|image| image.instead(operation, state, facts)) {
            None => decision,
            Some(Some(instead)) => instead,
            Some(None) => crate::evaluate::unreadable(self),
        }
    }

    /// How to compile this policy anew, should the image that it lies in turn out to be damaged while it judges.
    /// Without that, such a call is denied.
    #[must_use]
    pub fn or_else(mut self, again: impl Fn() -> Option<Self> + Send + Sync + 'static) -> Self {
        if let Some(image) = &mut self.image {
            image.again = Some(Box::new(again));
        }
        self
    }

    /// Why a tool is not there for an actor; `None`: it is. What is hidden is denied, and not listed.
    #[must_use]
    pub fn hides(&self, tool: &ToolName, actor: &Actor) -> Option<Reason> {
        let actor = &self.owned(actor.clone(), true);
        self.files
            .iter()
            .filter(|file| CompiledFile::counts_in(file.mode))
            .find_map(|file| {
                tools::hiding(file, tool, actor).filter(|found| !(found.closed_list && essential::is(file, tool)))
            })
            .map(|found| found.opinion.reason)
            .or_else(|| self.foreign_hides(tool, actor))
    }

    /// Why every call of a tool is denied, whatever its arguments are; `None`: some may pass.
    pub(crate) fn denies_every_call(&self, tool: &str, server: Option<&str>, actor: &Actor) -> Option<Reason> {
        let facts = Facts { files: &NoFiles, env: &NoEnvironment };
        let arguments = serde_json::Value::Object(serde_json::Map::new());
        let mut call = ToolCall::tool(tool, arguments);
        if let Request::Tool { server: of, .. } = &mut call.request {
            *of = server.map(str::to_owned);
        }
        call.actor = actor.clone();
        let operation = self.operation(call, facts);
        let judging = Judging::new(&operation, facts, self.image.as_ref().map(|image| &image.guards));
        let about = operation.effects.iter().position(|effect| matches!(effect.target, Target::Tool))?;
        let mut found = None;
        let sides = self.sides(&operation.actor);
        for (at, file) in self.files.iter().enumerate().filter(|(_, file)| CompiledFile::counts_in(file.mode)) {
            let speaks = |preset: &&CompiledPreset| sides.iter().any(|side| side.group(at) == preset.group);
            for table in file.presets.iter().filter(speaks).map(|preset| &preset.table).chain([&file.own]) {
                table.candidates(&judging, about, &mut |rule| {
                    let whatever = rule.when.iter().all(Condition::asks_only_who);
                    if rule.verdict == Verdict::Deny && whatever && rule.matches(&judging, about) == Tri::Yes {
                        found.get_or_insert_with(|| rule.reason());
                    }
                });
            }
        }
        found
    }

    fn foreign_hides(&self, tool: &ToolName, actor: &Actor) -> Option<Reason> {
        let found = self.foreign.iter().find_map(|file| {
            let hidden = crate::foreign::hidden(file.stages.as_ref(), tool, actor);
            hidden.filter(|_| !file.stages.essential(tool))
        })?;
        let layer = found.layer.map_or(Layer::Given, Layer::Tools);
        Some(Reason { code: found.code.into(), text: found.text, layer, source: found.source })
    }

    /// What the limits in force count, which needs a memory. A file that only watches or rehearses counts nothing.
    #[must_use]
    pub fn counting(&self, operator: Option<Mode>) -> Counting {
        let mut counting = Counting::default();
        for file in &self.files {
            if matches!(self.mode_of(file, operator), Mode::Enforce | Mode::Halt) {
                limits::count(&file.limits, &mut counting);
            }
        }
        if operator.is_none_or(|mode| mode == Mode::Enforce || mode == Mode::Halt) {
            for file in self.foreign.iter().filter(|file| file.stages.has_limits()) {
                file.stages.counts().iter().for_each(|scope| counting.add(*scope));
                counting.looks_back_ms = counting.looks_back_ms.max(file.stages.looks_back_ms());
                let per = file.stages.blocked_per();
                let new = per.map(|per| (Scope::Session, per)).filter(|new| !counting.blocked_windows.contains(new));
                counting.blocked_windows.extend(new);
                counting.blocked.extend(file.stages.most_blocked().map(|most| (Scope::Session, most, per)));
            }
        }
        counting
    }

    /// The limits of a scope in the files that count, and how much of them is used.
    #[must_use]
    pub fn allowances(&self, scope: Scope, used: Usage, rates: &[(Duration, u64)]) -> Vec<Allowance> {
        let state = State {
            usage: BTreeMap::from([(scope, used)]),
            rates: rates.iter().map(|(per, calls)| ((scope, *per), *calls)).collect(),
            ..State::default()
        };
        let counting = self.files.iter().filter(|file| matches!(file.mode, Mode::Enforce | Mode::Halt));
        counting.flat_map(|file| limits::allowances(&file.limits, scope, &state)).collect()
    }

    /// Whether a limit of any file has something to say with so much used: if none has, what is said of a call is what is
    /// said of it without limits. Files of other systems count for themselves, and may always.
    #[must_use]
    pub fn limits_speak(&self, state: &State) -> bool {
        let speaks = |file: &CompiledFile| !limits::reached(&file.limits, &file.layer, state).is_empty();
        self.files.iter().any(speaks) || !self.foreign.is_empty()
    }

    /// Whether any file sets limits, which need a memory.
    #[must_use]
    pub fn has_limits(&self) -> bool {
        !self.counting(None).is_empty()
    }

    /// Whether some rule asks what the session did before: then what calls do has to be remembered.
    #[must_use]
    pub fn remembers(&self) -> bool {
        self.files.iter().any(|file| file.self_written || !file.after.is_empty())
    }

    /// Whether some rule asks which files the session wrote.
    #[must_use]
    pub fn remembers_writes(&self) -> bool {
        self.files.iter().any(|file| file.self_written)
    }

    /// What is to be remembered of a call if it may run. A decision that did not deny it says so already
    /// ([`Decision::deeds`]).
    #[must_use]
    pub fn deeds(&self, operation: &Operation, facts: Facts<'_>) -> Deeds {
        if !self.remembers() {
            return Deeds::default();
        }
        let (state, guards) = (State::default(), self.image.as_ref().map(|image| &image.guards));
        let ground = crate::ground::of(self, operation, &state, guards);
        let found = self.deeds_of(&Judging::on(ground, operation, facts, guards));
        match self.image.as_ref().and_then(|image| image.spare_if_damaged()) {
            None => found,
            Some(spare) => spare.map_or_else(Deeds::unknown, |policy| policy.deeds(operation, facts)),
        }
    }

    /// The same of a call that is being judged.
    pub(crate) fn deeds_of(&self, judging: &Judging<'_>) -> Deeds {
        past::deeds(judging, self.files.iter().map(|file| &file.after), self.remembers_writes())
    }

    /// The files that programs of the call go by and that the session wrote, as far as nobody has said yes to them.
    #[must_use]
    pub fn wrote(&self, operation: &Operation, past: &Past, facts: Facts<'_>) -> Vec<Wrote> {
        if !self.remembers_writes() {
            return Vec::new();
        }
        let guards = self.image.as_ref().map(|image| &image.guards);
        past::wrote(&Judging::new(operation, facts, guards).after(past))
    }

    /// Whether any file says something of holding runs.
    #[must_use]
    pub fn has_hold(&self) -> bool {
        self.holds()
    }

    /// Whether any rule names approvers of its own, which need a queue.
    #[must_use]
    pub fn has_approvers(&self) -> bool {
        self.files.iter().any(|file| {
            let mut tables = std::iter::once(&file.own).chain(file.presets.iter().map(|preset| &preset.table));
            tables.any(|table| table.approvers)
        })
    }

    /// Whether the managed file pins the mode: then an operator can halt, and nothing else.
    #[must_use]
    pub fn mode_is_pinned(&self) -> bool {
        self.pinned
    }

    /// The mode that decides: what an operator switched on, or else the most notable of the files, with the layer of that
    /// file.
    #[must_use]
    pub fn mode_in_force(&self, operator: Option<Mode>) -> (Mode, Option<Layer>) {
        if let Some(mode) = operator.filter(|mode| *mode == Mode::Halt || !self.pinned) {
            return (mode, None);
        }
        let of = |wanted: Mode| self.files.iter().find(|file| file.mode == wanted).map(|file| file.layer.clone());
        let notable = [Mode::Halt, Mode::DryRun, Mode::Shadow, Mode::Off];
        let found = notable.into_iter().find_map(|mode| Some((mode, Some(of(mode)?))));
        found.unwrap_or((Mode::Enforce, None))
    }

    /// The mode of a file: its own, or what an operator switched on for all.
    pub(crate) fn mode_of(&self, file: &CompiledFile, operator: Option<Mode>) -> Mode {
        match operator {
            Some(Mode::Halt) => Mode::Halt,
            Some(mode) if !self.pinned => mode,
            _ => file.mode,
        }
    }

    /// What happens to an Ask that nobody can answer or nobody answered in time. `None`: the agent's own prompt where
    /// it has one, else deny.
    #[must_use]
    pub fn unanswered(&self) -> Option<Verdict> {
        self.files.iter().filter_map(|file| file.unanswered).max()
    }
}

impl CompiledFile {
    /// Whether a file's opinions count towards the verdict in this mode.
    pub(crate) fn counts_in(mode: Mode) -> bool {
        !matches!(mode, Mode::Shadow | Mode::Off)
    }
}
