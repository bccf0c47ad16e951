//! One call before the gate.

use super::call::Call;
use crate::Error;
use sayso_gate::audit::{Happening, Spool, What};
use sayso_gate::limit::{Expected, Outcome, Which};
use sayso_gate::policy::Live;
use sayso_gate::reason;
use sayso_gate::{
    Asking, Circumstances, Gate, InForce, Judged, Memory, Otherwise, Places, ProcessEnvironment, RealFiles, Record,
    Recorder as _,
};
use sayso_policy::shell::Effect;
use sayso_policy::{
    Actor, Answer, Decision, Facts, Operation, PolicyText, Reason, Request, Resolved, ToolCall, Workspace, available,
};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Who asks, from where, and by which policy that is judged.
#[derive(Clone, Debug)]
pub struct JudgeSetting {
    /// Where policy and record are.
    pub places: Places,
    /// Files that the owner named: then no others count.
    pub given: Option<Vec<PolicyText>>,
    /// The folder that all this is about; fixed when the gateway starts.
    pub workspace: PathBuf,
    /// The agent, by the name its owner gave.
    pub agent: Option<String>,
}

/// What a call would do, as a person is asked about it.
#[derive(PartialEq)]
pub(crate) struct Look {
    policy: String,
    effects: Vec<Effect>,
    /// Where its paths lead.
    resolved: Vec<Resolved>,
}

/// Judges the calls of one session.
pub(crate) struct Judge {
    setting: JudgeSetting,
    actor: Actor,
    gate: Arc<Gate>,
}

impl Judge {
    /// Over the policy in force, which is followed as its files change.
    pub(crate) fn new(setting: JudgeSetting) -> Result<Self, Error> {
        let places = &setting.places;
        let policy = match &setting.given {
            Some(files) => Live::fixed(InForce::given(files.clone())?.guarding(places)),
            None => Live::follow(places, Some(&setting.workspace))?,
        };
        let gate = Gate::over(policy, Box::new(Spool::open(places)?)).with_memory(Memory::of(places));
        Ok(Self { actor: actor(&setting), setting, gate: Arc::new(gate) })
    }

    /// The same for another session.
    pub(crate) fn of_another_session(&self) -> Self {
        Self { actor: actor(&self.setting), setting: self.setting.clone(), gate: Arc::clone(&self.gate) }
    }

    /// Whether a call needs neither a person nor what is remembered: what would be said of it is said at once.
    pub(crate) fn is_plain(&self, server: &str, call: &Call) -> bool {
        let facts = Facts { files: &RealFiles, env: &ProcessEnvironment };
        !self.has_limits() && self.gate.rehearse(self.tool_call(server, call), facts).1.answer != Answer::Ask
    }

    /// What a call would do now, before a person is asked.
    pub(crate) fn look(&self, server: &str, call: &Call) -> Option<Look> {
        self.look_and_judge(server, call).0
    }

    /// Why a yes to what was shown does not hold any more: the policy denies the call by now, or what it would do has
    /// changed while the person read.
    pub(crate) fn void(&self, server: &str, call: &Call, shown: Option<&Look>) -> Option<Vec<Reason>> {
        let (now, decision) = self.look_and_judge(server, call);
        if decision.answer == Answer::Deny {
            return Some(decision.reasons);
        }
        let same = now.is_some() && now.as_ref() == shown;
        let text = "What the call would do, or the policy, has changed since the question was put.";
        (!same).then(|| vec![reason::built_in(reason::UNANSWERED, text.to_owned())])
    }

    fn look_and_judge(&self, server: &str, call: &Call) -> (Option<Look>, Decision) {
        let facts = Facts { files: &RealFiles, env: &ProcessEnvironment };
        let policy = self.gate.in_force().policy.version().to_owned();
        let (operation, decision) = self.gate.rehearse(self.tool_call(server, call), facts);
        let look = |operation: Operation| Look { policy, effects: operation.effects, resolved: operation.resolved };
        (operation.map(look), decision)
    }

    /// Whether calls are counted.
    pub(crate) fn has_limits(&self) -> bool {
        self.gate.in_force().policy.has_limits()
    }

    /// Judges a call and records it.
    pub(crate) fn judge(&self, server: &str, call: &Call, asking: Asking) -> Judged {
        self.gate.judge(self.tool_call(server, call), &self.circumstances(server, call, asking))
    }

    /// What became of a call that was let through.
    pub(crate) fn settle(&self, record: String, not_run: bool) {
        // A reservation that is not settled expires: nothing is laxer for it.
        let _ = self.gate.settle(&Which::Record(record), &Outcome { not_run, ..Outcome::default() });
    }

    /// Takes down what a person answered at the client's own prompt.
    pub(crate) fn note_answer(&self, server: &str, call: &Call, answer: &str) {
        let mut happening = Happening::new(What::PromptAnswered, format!("mcp {server}"), self.actor.clone());
        happening.event = Some("elicitation/create".to_owned());
        happening.tool = Some(format!("mcp:{server}/{}", call.tool));
        happening.call_id.clone_from(&call.id);
        happening.text = Some(answer.to_owned());
        let _ = Spool::open(&self.setting.places).and_then(|spool| spool.note(&happening));
    }

    /// Records a call that does not run for a reason of the gateway's own.
    pub(crate) fn refuse(&self, server: &str, call: &Call, reason: &Reason) {
        let circumstances = self.circumstances(server, call, Asking::Nobody);
        let tool = format!("mcp:{server}/{}", call.tool);
        let record = Record::refused(&circumstances, self.actor.clone(), &tool, reason);
        // It is denied already: that this cannot be recorded makes it no stricter.
        let _ = Spool::open(&self.setting.places).and_then(|spool| spool.record(&record));
    }

    /// Whether a tool is there for this actor.
    pub(crate) fn shows(&self, server: &str, tool: &str) -> bool {
        available(&self.gate.in_force().policy, &self.actor, &(server, tool)).is_ok()
    }

    fn tool_call(&self, server: &str, call: &Call) -> ToolCall {
        let home = &self.setting.places.home;
        ToolCall {
            request: Request::Tool {
                name: call.tool.clone(),
                arguments: call.arguments.clone(),
                server: Some(server.to_owned()),
            },
            actor: self.actor.clone(),
            cwd: Some(self.setting.workspace.clone()),
            workspace: Workspace::new(self.setting.workspace.clone(), Some(home)),
            home: Some(home.clone()),
            reported_kind: None,
        }
    }

    fn circumstances(&self, server: &str, call: &Call, asking: Asking) -> Circumstances {
        Circumstances {
            way_in: format!("mcp {server}"),
            peer: None,
            event: Some("tools/call".to_owned()),
            call_id: call.id.clone(),
            asking,
            expected: Expected::default(),
        }
    }
}

/// Who asks, in a session of its own.
fn actor(setting: &JudgeSetting) -> Actor {
    let session = Some(format!("mcp-{}", super::own_id::random()));
    Actor { agent: setting.agent.clone(), session, ..Actor::default() }
}

/// Who can be asked: the queue, while an approver is connected; else the client's user, where the client can ask.
pub(crate) fn asking(elicitation: bool, patience: Duration) -> Asking {
    let otherwise = if elicitation { Otherwise::OwnPrompt } else { Otherwise::Nobody };
    match Instant::now().checked_add(patience) {
        Some(until) => Asking::Queue { until, otherwise },
        None => Asking::Nobody,
    }
}
