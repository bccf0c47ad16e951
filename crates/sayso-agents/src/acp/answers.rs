//! Answers: most pass as they came; some are for us, or say something that we wait for.

use super::pending::Pending;
use super::proxy::{Proxy, Routed, Side};
use crate::pipe::Message;
use sayso_gate::Outcome;
use sayso_gate::audit::{Ended, What};
use serde_json::Value;

impl Proxy {
    pub(super) fn answered(&self, by: Side, message: &Message<'_>) -> Routed {
        let pending = {
            let mut state = self.state();
            if state.waiting.is_empty() {
                return Routed::pass();
            }
            // A request that the queue holds was never passed on: an answer to it is nobody's.
            message.key().filter(|id| !state.waiting.is_held(id)).and_then(|id| state.waiting.take(by, &id))
        };
        match pending {
            None | Some(Pending::Queued(_)) => Routed::pass(),
            Some(Pending::Permission(asked)) => self.permission_answered(message, *asked),
            Some(Pending::Question { held }) => self.question_answered(message, held),
            Some(Pending::Initialize) => self.initialized(message),
            Some(Pending::Start { session, folder }) => self.started(message, session, folder),
            Some(Pending::Prompt { session }) => self.prompted(message, &session),
            Some(Pending::Pin { start }) => Self::pinned(message, start),
        }
    }

    fn initialized(&self, message: &Message<'_>) -> Routed {
        let result = message.result.and_then(|raw| serde_json::from_slice::<Value>(raw).ok());
        if let Some(name) = result.as_ref().and_then(|result| result.pointer("/agentInfo/name")?.as_str()) {
            self.named(name);
        }
        Routed::pass()
    }

    /// What a turn used goes to the limits, with the call that was let through last: a turn without one is only
    /// recorded.
    fn count_turn(&self, session: &str, input_tokens: Option<u64>, output_tokens: Option<u64>) {
        let (record, cost) = {
            let mut state = self.state();
            let known = state.sessions.at(session);
            let cost = known.cost_told.saturating_sub(known.cost_counted);
            known.cost_counted = known.cost_told;
            (known.last_record.take(), cost)
        };
        let cost_micros = (cost > 0).then_some(cost);
        if let Some(record) = record {
            let outcome = Outcome { input_tokens, output_tokens, cost_micros, ..Outcome::default() };
            self.judge.settle(&self.who(Some(session)), &record, &outcome);
        }
    }

    /// A prompt's answer tells what it used.
    pub(super) fn prompt(&self, message: &Message<'_>) -> Routed {
        let params = message.params.unwrap_or_default();
        let session = crate::pipe::text_member(params, "sessionId");
        if let (Some(id), Some(session)) = (message.key(), session) {
            self.state().waiting.add(Side::Agent, id, Pending::Prompt { session });
        }
        Routed::pass()
    }

    fn prompted(&self, message: &Message<'_>, session: &str) -> Routed {
        let result = message.result.and_then(|raw| serde_json::from_slice::<Value>(raw).ok());
        if let Some(usage) = result.as_ref().and_then(|result| result.get("usage")).filter(|usage| usage.is_object()) {
            let count = |key: &str| usage.get(key).and_then(Value::as_u64);
            self.count_turn(session, count("inputTokens"), count("outputTokens"));
            let ended =
                Ended { input_tokens: count("inputTokens"), output_tokens: count("outputTokens"), ..Ended::default() };
            self.judge.note(What::Used, &self.who(Some(session)), "session/prompt", |one| {
                one.ended = Some(ended);
                one.text = Some(usage.to_string());
            });
        }
        Routed::pass()
    }
}
