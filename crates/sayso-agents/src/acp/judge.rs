//! From a call to what is said of it, in this way in's words.

use super::Setting;
use crate::entrance::Entrance;
use crate::told;
use sayso_gate::approval::Bound;
use sayso_gate::audit::{Happening, Spool, What};
use sayso_gate::{
    Aside, Asking, Circumstances, FactsOf, Gate, InForce, Judged, Judgement, Live, Memory, Outcome, Permit, Places,
    Prompt, RealFiles, Which, reason,
};
use sayso_policy::{Actor, Answer, CanHold, Decision, Facts, Holding, Operation, Reason, Request, ToolCall, Verdict};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// The name of this way in.
const WAY_IN: &str = "acp";

/// A call as this way in hands it to the gate.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AcpCall {
    pub(super) request: Request,
    pub(super) cwd: Option<PathBuf>,
    pub(super) kind: Option<String>,
    /// The agent's own id of it.
    pub(super) id: Option<String>,
    /// How strongly it can be held, if it is let through.
    pub(super) can_hold: CanHold,
}

impl AcpCall {
    /// A tool by name, run where the session is.
    pub(super) fn tool(name: impl Into<String>, arguments: Value, cwd: Option<PathBuf>) -> Self {
        Self {
            request: Request::Tool { name: name.into(), arguments, server: None },
            cwd,
            kind: None,
            id: None,
            can_hold: CanHold::No,
        }
    }
}

/// Who asks, and about which folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Who {
    pub(super) stated: sayso_policy::Stated,
    pub(super) agent: Option<String>,
    pub(super) session: Option<String>,
    pub(super) workspace: Option<PathBuf>,
}

impl Who {
    pub(super) fn actor(&self) -> Actor {
        let actor = Actor { agent: self.agent.clone(), session: self.session.clone(), ..Actor::default() };
        self.stated.of(actor)
    }
}

/// What is said of a call.
#[derive(Debug)]
pub(super) struct AcpAnswer {
    pub(super) answer: Answer,
    pub(super) verdict: Verdict,
    pub(super) reasons: Vec<Reason>,
    /// Whether it goes on.
    leave: Leave,
    /// The id of its record, under which limits know what it takes.
    pub(super) record: Option<String>,
    /// Whether it counts only under a hold, or is wanted under one.
    pub(super) hold: Option<Holding>,
    /// The policy that said so.
    pub(super) policy: String,
}

/// Whether a call goes on.
#[derive(Debug)]
pub(super) enum Leave {
    /// Now.
    Given(Permit),
    /// Once the person at the editor has said yes.
    Asked(Prompt),
    /// It does not.
    None,
}

/// What comes of judging a call without waiting for anybody.
pub(super) enum First {
    /// It is judged and recorded.
    Answered(AcpAnswer),
    /// Limits or remembered answers count, or people have to be asked.
    Needs(Needs),
}

/// A judgement that needs more than the policy.
pub(super) struct Needs {
    gate: Arc<Gate>,
    aside: Box<Aside>,
    /// The policy alone asks.
    pub(super) asks: bool,
}

impl First {
    /// Goes on with a judgement of this gate as far as nobody is waited for.
    pub(super) fn of(gate: &Arc<Gate>, judgement: Judgement<'_>) -> Self {
        let asks = seems(judgement.alone()) == Verdict::Ask;
        match judgement.at_once() {
            Ok(draft) => Self::Answered(AcpAnswer::from(draft.record())),
            Err(aside) => Self::Needs(Needs { gate: Arc::clone(gate), aside, asks }),
        }
    }

    /// Goes on to the end, asking nobody but the person at the editor.
    pub(super) fn settle(self) -> AcpAnswer {
        match self {
            Self::Answered(said) => said,
            Self::Needs(needs) => needs.settle(Asking::OwnPrompt),
        }
    }
}

impl Needs {
    /// Goes on, waits for whoever must be waited for, and records it.
    pub(super) fn settle(self, asking: Asking) -> AcpAnswer {
        AcpAnswer::from(self.aside.take_up(&self.gate, FactsOf::Gate).asking(asking).settle().record())
    }
}

/// How many waiting questions are looked through for one that is taken back.
const MOST_QUESTIONS: usize = 1000;
/// The most folders whose gate is kept.
const MOST_GATES: usize = 32;

/// Judges by the policy in force when the call comes: an editor keeps its agent for days, and a rule that was written
/// meanwhile counts.
pub(super) struct Judge {
    setting: Setting,
    memory: Memory,
    gates: Mutex<Vec<(Option<PathBuf>, Arc<Gate>)>>,
}

impl Judge {
    pub(super) fn new(setting: Setting) -> Self {
        Self { memory: Memory::of(&setting.places), gates: Mutex::default(), setting }
    }

    /// Judges a call and records it, asking nobody but the person at the editor.
    pub(super) fn judge(&self, call: AcpCall, who: &Who, event: &str) -> AcpAnswer {
        match self.gate(&call, who, event) {
            Ok(gate) => First::of(&gate, self.begin(&gate, call, who, event)).settle(),
            Err(said) => said,
        }
    }

    /// Judges a call by the policy alone. Nothing is recorded yet.
    pub(super) fn begin<'g>(&self, gate: &'g Gate, call: AcpCall, who: &Who, event: &str) -> Judgement<'g> {
        let mut circumstances = self.entrance().circumstances(event, call.id.clone(), Asking::OwnPrompt);
        circumstances.can_hold = call.can_hold;
        gate.judge(self.tool_call(call, who), circumstances, FactsOf::Gate)
    }

    /// Whether somebody waits for questions.
    pub(super) fn attended(&self) -> bool {
        let present = self.memory.store().and_then(|store| store.present(now_ms()));
        present.is_ok_and(|present| !present.is_empty())
    }

    /// Takes back the question about a call, if it still waits.
    pub(super) fn withdraw(&self, call: AcpCall, who: &Who) {
        let facts = Facts { files: &RealFiles, env: &crate::shell::in_pipe() };
        let operation = Operation::new(self.tool_call(call, who), facts);
        let exact = Bound::to(&operation, facts).exact;
        let Ok(store) = self.memory.store() else { return };
        let pending = store.approvals(true, MOST_QUESTIONS).unwrap_or_default();
        let actor = self.gate_of(who).map_or_else(|_| who.actor(), |gate| gate.owned(who.actor()));
        for one in pending.iter().filter(|one| one.question.exact == exact && one.question.actor == actor) {
            // If it cannot be taken back it expires, and an answer to it is for nobody.
            let _ = store.cancel(&one.question.id, "the agent withdrew its request", now_ms());
        }
    }

    /// What the policy alone says, with nobody asked and nothing recorded, or the operator's mode if that is stricter: what
    /// an agent is set to now lasts beyond a mode that loosens for a while. Gives no permit.
    pub(super) fn rehearse(&self, call: AcpCall, who: &Who) -> Verdict {
        let Ok(gate) = self.gate_of(who) else { return Verdict::Deny };
        let facts = FactsOf::Call(Facts { files: &RealFiles, env: &crate::shell::in_pipe() });
        let judgement = gate.judge(self.tool_call(call, who), Circumstances::rehearsal(), facts);
        let now = seems(judgement.alone());
        now.max(seems(judgement.past_mode().alone()))
    }

    /// What cannot be read is denied, and recorded where that can be.
    pub(super) fn malformed(&self, who: &Who, event: &str, why: &str) -> AcpAnswer {
        self.refuse(who, event, "unknown", reason::built_in(reason::CALL_MALFORMED, why))
    }

    fn refuse(&self, who: &Who, event: &str, tool: &str, reason: Reason) -> AcpAnswer {
        self.entrance().refuse(event, None, who.actor(), tool, &reason);
        AcpAnswer::refused(reason)
    }

    /// What became of a call that was let through. Limits that cannot be settled stay as they were reserved.
    pub(super) fn settle(&self, who: &Who, record: &str, outcome: &Outcome) {
        if let Ok(gate) = self.gate_of(who) {
            let _ = gate.settle(&Which::Record(record.to_owned()), outcome);
        }
    }

    /// A call that was let through and then did not run: what was reserved for it is given back.
    pub(super) fn not_run(&self, who: &Who, record: Option<&str>) {
        if let Some(record) = record {
            self.settle(who, record, &Outcome { not_run: true, ..Outcome::default() });
        }
    }

    /// Where things are.
    pub(super) fn places(&self) -> &Places {
        &self.setting.places
    }

    /// How strongly this machine can hold what the client starts.
    pub(super) fn can_hold(&self) -> CanHold {
        self.setting.can_hold
    }

    /// Where what a gateway must know is written down.
    pub(super) fn own_folder(&self) -> Result<PathBuf, String> {
        self.setting.places.own_folder("acp").map_err(|error| error.to_string())
    }

    /// Takes down what is no decision.
    pub(super) fn note(&self, what: What, who: &Who, event: &str, more: impl FnOnce(&mut Happening)) {
        self.entrance().note(what, who.actor(), event, |happening| {
            happening.workspace = who.workspace.as_ref().map(|root| root.display().to_string());
            more(happening);
        });
    }

    /// The gate for a call; where there is none, the call is denied, and that is recorded.
    pub(super) fn gate(&self, call: &AcpCall, who: &Who, event: &str) -> Result<Arc<Gate>, AcpAnswer> {
        self.gate_of(who).map_err(|error| {
            let why = format!("Sayso cannot judge this call: {error}.");
            self.refuse(who, event, &tool_name(call), reason::built_in(reason::INTERNAL_ERROR, why))
        })
    }

    fn gate_of(&self, who: &Who) -> Result<Arc<Gate>, sayso_gate::Error> {
        let mut gates = self.gates.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, gate)) = gates.iter().find(|(folder, _)| *folder == who.workspace) {
            return Ok(Arc::clone(gate));
        }
        let places = &self.setting.places;
        let policy = match &self.setting.ruleset {
            Some(rules) => Live::fixed(InForce::of(rules.clone().into(), Vec::new()).guarding(places)),
            None => Live::of(places, self.setting.given.as_deref(), who.workspace.as_deref())?,
        };
        let gate = Gate::over(policy, Box::new(Spool::open(places)?))
            .with_environment(Box::new(crate::shell::in_pipe()))
            .with_memory(self.memory.clone());
        let gate = Arc::new(gate);
        if gates.len() >= MOST_GATES {
            gates.remove(0);
        }
        gates.push((who.workspace.clone(), Arc::clone(&gate)));
        Ok(gate)
    }

    fn tool_call(&self, call: AcpCall, who: &Who) -> ToolCall {
        let made = self.entrance().call(call.request, who.actor(), call.cwd, who.workspace.clone());
        ToolCall { reported_kind: call.kind, ..made }
    }

    fn entrance(&self) -> Entrance<'_> {
        Entrance::new(&self.setting.places, WAY_IN)
    }
}

/// Milliseconds since 1970.
fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

fn tool_name(call: &AcpCall) -> String {
    match &call.request {
        Request::Command(_) => "bash_execute".to_owned(),
        Request::Tool { name, .. } => name.clone(),
    }
}

/// What a decision comes down to.
pub(super) fn seems(decision: &Decision) -> Verdict {
    match decision.answer {
        Answer::Allow => decision.verdict,
        Answer::Ask => Verdict::Ask.max(decision.verdict),
        Answer::Deny | Answer::DryRun => Verdict::Deny,
    }
}

impl From<Judged> for AcpAnswer {
    fn from(judged: Judged) -> Self {
        let Judged { decision, permit, prompt, record, .. } = judged;
        let leave = match (permit, prompt) {
            (Some(permit), _) => Leave::Given(permit),
            (None, Some(prompt)) => Leave::Asked(prompt),
            (None, None) => Leave::None,
        };
        let (answer, verdict) = (decision.answer, decision.verdict);
        Self {
            answer,
            verdict,
            reasons: decision.reasons,
            leave,
            record: Some(record.id),
            hold: decision.hold,
            policy: decision.policy_version,
        }
    }
}

impl AcpAnswer {
    /// It does not run, for this one reason.
    fn refused(reason: Reason) -> Self {
        Self {
            answer: Answer::Deny,
            verdict: Verdict::Deny,
            reasons: vec![reason],
            leave: Leave::None,
            record: None,
            hold: None,
            policy: String::new(),
        }
    }

    /// Takes away whether it goes on.
    pub(super) fn leave(&mut self) -> Leave {
        std::mem::replace(&mut self.leave, Leave::None)
    }

    /// Its permit, where it may run now: nobody is there to ask.
    pub(super) fn allowed(mut self) -> Result<Permit, Self> {
        match self.leave() {
            Leave::Given(permit) => Ok(permit),
            Leave::Asked(_) | Leave::None => Err(self),
        }
    }

    /// Why, for the agent and its user. Nothing in it moves a cursor.
    pub(super) fn why(&self) -> String {
        told::why(self.answer, self.verdict, &self.reasons, told::line)
    }

    /// The same for programs.
    pub(super) fn data(&self) -> Value {
        let codes: Vec<&str> = self.reasons.iter().take(3).map(|reason| reason.code.as_str()).collect();
        json!({"sayso": {"answer": self.answer.as_str(), "reasons": codes}})
    }
}
