//! What past calls teach: each is judged again, by one policy or by two, and grouped by what decided.
//!
//! One engine for everything that asks "what if": `log replay` (the policy of the time), `policy diff` (two policies),
//! `history` and the page's Activity (the policy in force, with rules that it does not have yet). Calls come from the
//! record ([`PastCall::recorded`]) or from wherever else somebody has kept them; nothing is recorded, and nothing is counted
//! against a limit.

mod answers;
mod flips;
mod proposal;
mod recorded;
mod savings;
mod tried;

pub use answers::{Answered, Answers, Refusal};
pub use flips::{Flip, Flips};
pub use proposal::{Advice, Ask, Denial, Proposal, Rulebook, allowing, denying, proposals};
pub(crate) use recorded::{Brought, why_less};
pub use savings::{Saving, Savings, savings};
pub use tried::tried;

use crate::audit::redact_text;
use sayso_policy::{CanHold, Decision, Facts, Operation, Past, Policy, Reason, Request, State, ToolCall, Verdict};

/// What became of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It is not known.
    #[default]
    Unknown,
    /// It ran.
    Ran,
    /// It ran, and failed.
    Failed,
    /// A person refused it.
    Refused,
}

/// A call that was made.
#[derive(Clone, Debug)]
pub struct PastCall {
    /// The call, as it arrived.
    pub call: ToolCall,
    /// What it brought along.
    pub(crate) brought: Brought,
    /// How strongly whoever brought it could hold it.
    pub(crate) can_hold: CanHold,
    /// What its session had done before, as far as its record says.
    pub(crate) past: Past,
    /// When, in milliseconds since 1970, if that is known.
    pub time_ms: Option<u64>,
    /// What became of it.
    pub outcome: Outcome,
    /// How long it waited for a person, in milliseconds, if that is known.
    pub waited_ms: Option<u64>,
}

impl PastCall {
    /// A call of which nothing else is known.
    #[must_use]
    pub fn new(call: ToolCall) -> Self {
        Self {
            call,
            brought: Brought::default(),
            can_hold: CanHold::No,
            past: Past::default(),
            time_ms: None,
            outcome: Outcome::Unknown,
            waited_ms: None,
        }
    }

    /// The same with variables that it brought.
    #[must_use]
    pub fn bringing(self, variables: Vec<(String, String)>) -> Self {
        Self { brought: Brought::given(variables), ..self }
    }

    /// The same, made by one who could hold it.
    #[must_use]
    pub fn held(self) -> Self {
        Self { can_hold: CanHold::Whole, ..self }
    }

    /// Judges it by a policy, as it was made. Facts on disk are those of today.
    pub fn judge(&self, policy: &Policy, facts: Facts<'_>) -> (Operation, Decision) {
        let env = self.brought.beside(facts.env);
        let facts = Facts { env: &env, ..facts };
        let operation = policy.operation(self.call.clone(), facts);
        let decision = self.judge_again(policy, &operation, facts);
        (operation, decision)
    }

    /// Judges what was made of it before by another policy. Both must know the same programs.
    pub fn judge_again(&self, policy: &Policy, operation: &Operation, facts: Facts<'_>) -> Decision {
        let env = self.brought.beside(facts.env);
        let facts = Facts { env: &env, ..facts };
        let now_ms = self.time_ms.unwrap_or_default();
        let state = State { now_ms, can_hold: self.can_hold, past: self.past.clone(), ..State::default() };
        policy.evaluate(operation, &state, facts)
    }

    /// The call for people: its command, or its tool and arguments, secrets taken out.
    #[must_use]
    pub fn shown(&self) -> String {
        /// Longer ones are cut.
        const LONGEST: usize = 200;
        let text = match &self.call.request {
            Request::Command(bytes) => redact_text(&String::from_utf8_lossy(bytes)),
            Request::Tool { name, arguments, .. } => match command_of(arguments) {
                Some(command) => redact_text(command),
                None => format!("{name} {}", crate::audit::redact_arguments(arguments, LONGEST)),
            },
        };
        text.chars().take(LONGEST).collect()
    }

    /// What is the same for calls that cannot be told apart, whoever repeats them.
    #[must_use]
    pub fn likeness(&self) -> String {
        let call = &self.call;
        let actor = (&call.actor.agent, &call.actor.tenant, call.actor.subagent);
        format!("{:?} {:?} {:?} {:?} {actor:?}", call.request, call.cwd, call.workspace.root(), self.brought)
    }
}

/// The command among a tool's arguments, by the names that agents give it.
fn command_of(arguments: &serde_json::Value) -> Option<&str> {
    ["command", "cmd"].iter().find_map(|key| arguments.get(*key)?.as_str())
}

/// What a policy says of a call, and what decided.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = SaidOfCall))]
pub struct Said {
    /// The verdict.
    pub verdict: Verdict,
    /// The code of the decisive reason.
    pub code: String,
    /// Who gave it.
    pub layer: String,
    /// Where its rule stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

impl Said {
    /// What a decision says.
    #[must_use]
    pub fn of(decision: &Decision) -> Self {
        let first = decision.reasons.first();
        Self {
            verdict: decision.verdict,
            code: first.map(|reason| reason.code.to_string()).unwrap_or_default(),
            layer: first.map(|reason| reason.layer.to_string()).unwrap_or_default(),
            source: first.and_then(source),
        }
    }
}

fn source(reason: &Reason) -> Option<String> {
    reason.source.as_ref().map(ToString::to_string)
}
