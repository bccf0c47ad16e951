//! One call before the gate.

use super::call::McpCall;
use crate::Error;
use crate::entrance::Entrance;
use sayso_gate::audit::{Spool, What};
use sayso_gate::limit::{Outcome, Which};
use sayso_gate::policy::Live;
use sayso_gate::reason;
use sayso_gate::{
    Aside, Asking, Circumstances, Draft, FactsOf, Gate, Judged, Memory, Otherwise, Places, ProcessEnvironment,
    RealFiles,
};
use sayso_policy::shell::Effect;
use sayso_policy::{
    Actor, Answer, Facts, Operation, PolicyText, Reason, Request, Resolved, Stated, ToolCall, ToolFinding, available,
};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The event's name in the record.
const EVENT: &str = "tools/call";

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
    /// Who asks, as the owner states it.
    pub stated: Stated,
}

/// What a call would do, as a person is asked about it.
#[derive(PartialEq)]
pub(crate) struct Look {
    policy: String,
    effects: Vec<Effect>,
    /// Where its paths lead.
    resolved: Vec<Resolved>,
}

impl Look {
    /// What a call was judged by.
    pub(crate) fn of(operation: Operation, policy: &str) -> Self {
        Self { policy: policy.to_owned(), effects: operation.effects, resolved: operation.resolved }
    }
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
        let policy = Live::of(places, setting.given.as_deref(), Some(&setting.workspace))?;
        let gate = Gate::over(policy, Box::new(Spool::open(places)?)).with_memory(Memory::of(places));
        Ok(Self { actor: actor(&setting), setting, gate: Arc::new(gate) })
    }

    /// The same for another session.
    pub(crate) fn of_another_session(&self) -> Self {
        Self { actor: actor(&self.setting), setting: self.setting.clone(), gate: Arc::clone(&self.gate) }
    }

    /// Judges a call and records it, where nobody has to be waited for; else the judgement is set aside.
    pub(crate) fn judge_at_once(
        &self,
        server: &str,
        call: &McpCall,
        findings: Vec<ToolFinding>,
    ) -> Result<Judged, Box<Aside>> {
        let circumstances = self.circumstances(server, call, findings, Asking::Nobody);
        let judgement = self.gate.judge(self.tool_call(server, call), circumstances, FactsOf::Gate);
        judgement.at_once().map(Draft::record)
    }

    /// Judges a call, or goes on with a judgement that was set aside, waits for whoever must be waited for, and records it.
    pub(crate) fn judge(
        &self,
        server: &str,
        call: &McpCall,
        aside: Option<Box<Aside>>,
        findings: Vec<ToolFinding>,
        asking: Asking,
    ) -> Judged {
        // What has been found since then counts too.
        let judgement = match aside.filter(|aside| aside.circumstances().findings == findings) {
            Some(aside) => aside.take_up(&self.gate, FactsOf::Gate).asking(asking),
            None => {
                let circumstances = self.circumstances(server, call, findings, asking);
                self.gate.judge(self.tool_call(server, call), circumstances, FactsOf::Gate)
            }
        };
        judgement.settle().record()
    }

    /// Why a yes to what was shown does not hold any more: the policy denies the call by now, or what it would do has
    /// changed while the person read. Time has passed, so it is judged again for that.
    pub(crate) fn void(&self, server: &str, call: &McpCall, shown: Option<&Look>) -> Option<Vec<Reason>> {
        let facts = FactsOf::Call(Facts { files: &RealFiles, env: &ProcessEnvironment });
        let again = self.gate.judge(self.tool_call(server, call), Circumstances::rehearsal(), facts);
        let (operation, decision) = again.rehearsed();
        // An operator may have switched the mode meanwhile: in a rehearsal nothing runs either.
        if matches!(decision.answer, Answer::Deny | Answer::DryRun) {
            return Some(decision.reasons);
        }
        let now = operation.map(|operation| Look::of(operation, &decision.policy_version));
        let same = now.is_some() && now.as_ref() == shown;
        let text = "What the call would do, or the policy, has changed since the question was put.";
        (!same).then(|| vec![reason::built_in(reason::UNANSWERED, text.to_owned())])
    }

    /// Whether calls are counted.
    pub(crate) fn has_limits(&self) -> bool {
        self.gate.in_force().policy.has_limits()
    }

    /// What became of a call that was let through.
    pub(crate) fn settle(&self, record: String, not_run: bool) {
        // A reservation that is not settled expires: nothing is laxer for it.
        let _ = self.gate.settle(&Which::Record(record), &Outcome { not_run, ..Outcome::default() });
    }

    /// Takes down what a person answered at the client's own prompt.
    pub(crate) fn note_answer(&self, server: &str, call: &McpCall, answer: &str) {
        self.entrance(server).note(What::PromptAnswered, self.actor.clone(), "elicitation/create", |happening| {
            happening.tool = Some(format!("mcp:{server}/{}", call.tool));
            happening.call_id.clone_from(&call.id);
            happening.text = Some(answer.to_owned());
        });
    }

    /// Records a call that does not run for a reason of the gateway's own.
    pub(crate) fn refuse(&self, server: &str, call: &McpCall, reason: &Reason) {
        let tool = format!("mcp:{server}/{}", call.tool);
        self.entrance(server).refuse(EVENT, call.id.clone(), self.actor.clone(), &tool, reason);
    }

    /// Whether a tool is there for this actor.
    pub(crate) fn shows(&self, server: &str, tool: &str) -> bool {
        available(&self.gate.in_force().policy, &self.actor, &(server, tool)).is_ok()
    }

    fn tool_call(&self, server: &str, call: &McpCall) -> ToolCall {
        let (name, arguments) = (call.tool.clone(), call.arguments.clone());
        let request = Request::Tool { name, arguments, server: Some(server.to_owned()) };
        let folder = Some(self.setting.workspace.clone());
        self.entrance(server).call(request, self.actor.clone(), folder.clone(), folder)
    }

    fn circumstances(&self, server: &str, call: &McpCall, findings: Vec<ToolFinding>, asking: Asking) -> Circumstances {
        Circumstances { findings, ..self.entrance(server).circumstances(EVENT, call.id.clone(), asking) }
    }

    fn entrance(&self, server: &str) -> Entrance<'_> {
        Entrance::new(&self.setting.places, format!("mcp {server}"))
    }
}

/// Who asks, in a session of its own.
fn actor(setting: &JudgeSetting) -> Actor {
    let session = Some(format!("mcp-{}", super::own_id::random()));
    setting.stated.of(Actor { agent: setting.agent.clone(), session, ..Actor::default() })
}

/// Who can be asked: the queue, while an approver is connected; else the client's user, where the client can ask.
pub(crate) fn asking(elicitation: bool, patience: Duration) -> Asking {
    let otherwise = if elicitation { Otherwise::OwnPrompt } else { Otherwise::Nobody };
    match Instant::now().checked_add(patience) {
        Some(until) => Asking::Queue { until, otherwise },
        None => Asking::Nobody,
    }
}
