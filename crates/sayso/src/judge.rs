//! Judging without consequences: `check`, `why` and `test` consume nothing and record nothing.

use crate::choice::{PolicyChoice, text};
use crate::command::log::time::now_ms;
use crate::failure::Failure;
use crate::show::mode::ShownMode;
use sayso_gate::fact::Rehearsal;
use sayso_gate::history::{Advice, Ask, Rulebook, allowing};
use sayso_gate::mode::Switch;
use sayso_gate::plan::{Plan, PlannedCall};
use sayso_gate::{Circumstances, EffectiveMode, FactsOf, Gate, Home, InForce, KeptFiles, Memory, Places, Unrecorded};
use sayso_policy::explain::{Change, nearest};
use sayso_policy::hold::Lowered;
use sayso_policy::shell::Environment;
use sayso_policy::text::{Problem, render};
use sayso_policy::{Actor, CanHold, Decision, Facts, Layer, Operation, PolicyText, State, ToolCall};
use std::cell::RefCell;
use std::collections::HashMap;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

/// A gate that keeps no record.
pub(crate) struct Judge {
    gate: Gate,
    /// Where the operator's mode is looked up; `None`: policies were named, and nothing else counts.
    places: Option<Places>,
    /// What one judgement finds out about the workspace the next one need not.
    files: KeptFiles,
    /// What the sessions of the calls would have done.
    sessions: RefCell<Rehearsal>,
}

/// What was said of a call. Without an operation Sayso failed on it.
pub(crate) struct Judged {
    /// The call as it was understood.
    pub(crate) operation: Option<Operation>,
    /// The decision.
    pub(crate) decision: Decision,
    /// The mode that decided.
    pub(crate) mode: &'static str,
}

impl Judge {
    /// By the policies that were named, or else by those in force for this call.
    pub(crate) fn choose(choice: &PolicyChoice, call: &ToolCall) -> Result<Self, Failure> {
        match choice.policy()? {
            Some(named) => Ok(Self::over(named)),
            None => Self::in_force_at(&Places::find(Home::Environment)?, call.workspace.root()),
        }
    }

    /// The policy it judges by.
    pub(crate) fn in_force(&self) -> std::sync::Arc<InForce> {
        self.gate.in_force()
    }

    /// By the policies in force in a workspace.
    pub(crate) fn in_force_at(places: &Places, workspace: Option<&Path>) -> Result<Self, Failure> {
        let mut judge = Self::over(InForce::load(places, workspace).map_err(refused)?);
        judge.gate = judge.gate.with_memory(Memory::of(places));
        judge.places = Some(places.clone());
        Ok(judge)
    }

    /// The same as if nobody had switched the mode: for whoever changes rules.
    pub(crate) fn past_mode(self) -> Self {
        Self { gate: self.gate.without_memory(), places: None, ..self }
    }

    /// The operator's switch, where it counts.
    fn switch(&self) -> Option<Switch> {
        sayso_gate::mode::in_force(self.places.as_ref()?, now_ms())
    }

    /// The mode under which it judges, and what it looks past.
    pub(crate) fn mode(&self) -> ShownMode {
        let in_force = self.gate.in_force();
        let own = EffectiveMode::of(&in_force.policy, self.switch().as_ref());
        if self.places.is_some() {
            return ShownMode::Decides(own);
        }
        let here = || {
            let switch = sayso_gate::mode::in_force(&Places::find(Home::Environment).ok()?, now_ms());
            switch.map(|switch| EffectiveMode::switched(&switch))
        };
        ShownMode::LookedPast { own, here: here() }
    }

    fn over(in_force: InForce) -> Self {
        Self {
            gate: Gate::new(in_force, Box::new(Unrecorded)),
            places: None,
            files: KeptFiles::here(),
            sessions: RefCell::default(),
        }
    }

    /// Says on standard error what the owner should know about the policy files.
    pub(crate) fn say_notices(&self) {
        for notice in &self.gate.in_force().notices {
            eprintln!("note: {}", sayso_policy::explain::visible(&notice.reason.text));
        }
    }

    /// Judges a call that its caller could hold in this way.
    pub(crate) fn judge(&self, call: ToolCall, env: &dyn Environment, can_hold: CanHold) -> Judged {
        let facts = Facts { files: &self.files, env };
        let circumstances = Circumstances { can_hold, ..Circumstances::rehearsal() };
        let past = self.sessions.borrow().past(call.actor.session.as_deref());
        let mode = EffectiveMode::of(&self.gate.in_force().policy, self.switch().as_ref()).run;
        let (operation, mut decision) = self.gate.rehearse(call, circumstances, FactsOf::Call(facts), past.clone());
        if let Some(operation) = &operation {
            let policy = &self.gate.in_force().policy;
            self.sessions.borrow_mut().note(policy, operation, &decision, &past, facts);
            decision.risk.get_or_insert_with(|| policy.risk(operation, facts));
        }
        Judged { operation, decision, mode }
    }

    /// Judges calls as a plan.
    pub(crate) fn plan(&self, calls: &[PlannedCall]) -> Result<Plan, sayso_gate::Error> {
        self.gate.plan(calls, "check")
    }

    /// The bounds of held runs in a workspace.
    pub(crate) fn bounds(&self, actor: &Actor, workspace: &Path, home: Option<&Path>) -> anyhow::Result<Lowered> {
        let env: Vec<std::ffi::OsString> = std::env::vars_os().map(|(name, _)| name).collect();
        let places = Places::find(Home::Environment)?;
        Ok(sayso_gate::hold::bounds(&places, &self.gate.in_force(), workspace, home, (actor, &env))?)
    }

    /// The narrowest rule that would let a call pass that is asked about; `None`: there is no place for rules.
    pub(crate) fn advice(&self, ask: &Ask, env: &dyn Environment) -> Option<Advice> {
        let places = Places::find(Home::Environment).ok()?;
        let in_force = self.in_force();
        // A file of another system has no such rules.
        if in_force.files.is_empty() {
            return None;
        }
        let rulebook = Rulebook::new(&places, vec![in_force]);
        Some(allowing(ask, &rulebook, Facts { files: &self.files, env }))
    }

    /// The single changes that would weaken a decision.
    pub(crate) fn nearest(
        &self,
        operation: &Operation,
        decision: &Decision,
        env: &dyn Environment,
        can_hold: CanHold,
    ) -> Vec<Change> {
        let switch = self.switch();
        // Under a mode that an operator switched on, no change of the call weakens what is said of it.
        if switch.is_some() {
            return Vec::new();
        }
        let facts = Facts { files: &self.files, env };
        let state = State { can_hold, ..State::default() };
        nearest(&self.gate.in_force().policy, operation, decision, &state, facts)
    }
}

/// A judge for each workspace that turns up in a stream of calls.
pub(crate) enum Judges {
    /// The policies that were named.
    Given(Box<Judge>),
    /// Those in force, by workspace.
    InForce {
        /// Where policies are.
        places: Places,
        /// Loaded once for each workspace.
        by_workspace: HashMap<Option<PathBuf>, Judge>,
    },
}

impl Judges {
    /// By the policies that were named, or else by those in force for each call.
    pub(crate) fn new(choice: &PolicyChoice) -> Result<Self, Failure> {
        match choice.policy()? {
            Some(named) => Ok(Self::Given(Box::new(Judge::over(named)))),
            None => Ok(Self::InForce { places: Places::find(Home::Environment)?, by_workspace: HashMap::new() }),
        }
    }

    /// Judges a call.
    pub(crate) fn judge(&mut self, call: ToolCall, env: &dyn Environment, can_hold: CanHold) -> Result<Judged, String> {
        match self {
            Self::Given(judge) => Ok(judge.judge(call, env, can_hold)),
            Self::InForce { places, by_workspace } => {
                let workspace = call.workspace.root().map(Path::to_owned);
                if !by_workspace.contains_key(&workspace) {
                    let judge =
                        Judge::in_force_at(places, workspace.as_deref()).map_err(|failure| failure.to_string())?;
                    by_workspace.insert(workspace.clone(), judge);
                }
                match by_workspace.get(&workspace) {
                    Some(judge) => Ok(judge.judge(call, env, can_hold)),
                    None => Err("Internal error. Treat this as a deny, and please report the bug.".to_owned()),
                }
            }
        }
    }
}

/// What the gate says of a policy, as a failure of this program.
pub(crate) fn refused(error: sayso_gate::Error) -> Failure {
    match error {
        sayso_gate::Error::Policy(problems) => Failure::wrong(rendered(&problems, &[])),
        sayso_gate::Error::Foreign(_) => Failure::wrong(format!("error: {error}")),
        error => Failure::Internal(error.into()),
    }
}

/// Problems of policy files, each with its line and a caret.
pub(crate) fn rendered(problems: &[Problem], files: &[PolicyText]) -> String {
    let colour = crate::show::paint::wanted(std::io::stderr().is_terminal());
    let one = |problem: &Problem| match files.iter().find(|file| file.name == *problem.source.file) {
        Some(file) => render(problem, &file.text, colour),
        None => format!("error: {}: {}", problem.source, problem.message),
    };
    problems.iter().map(one).collect::<Vec<_>>().join("\n\n")
}

/// One file that was named, or else those in force here.
pub(crate) fn files_or_in_force(file: Option<&Path>) -> Result<Vec<PolicyText>, Failure> {
    if let Some(file) = file {
        let mut text = text(&file.to_string_lossy())?;
        // What a project's file may not say, it may not say here.
        if file.file_name().is_some_and(|name| name == ".sayso.toml") {
            text.layer = Layer::Project;
        }
        return Ok(vec![text]);
    }
    let in_force =
        InForce::load(&Places::find(Home::Environment)?, Some(&std::env::current_dir()?)).map_err(refused)?;
    for notice in &in_force.notices {
        let files = notice.text.as_slice();
        eprintln!("{}\n{}", notice.reason.text, rendered(&notice.problems, files));
    }
    Ok(in_force.files)
}
