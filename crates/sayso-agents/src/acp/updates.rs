//! What the agent tells of its work: calls that it never asked about are seen here, and nowhere else.

use super::call;
use super::judge::Who;
use super::proxy::{Proxy, Routed, Side, Unfit, text};
use crate::pipe::{Message, message_line, text_member, value_at};
use sayso_gate::audit::{Ended, What};
use sayso_policy::{Request, Verdict};
use serde_json::{Value, json};

/// The event's name in the record for a call that ran and was never asked about.
const UNASKED: &str = "unasked";

impl Proxy {
    /// `session/update`: nearly all traffic, so that only the kinds that matter are read.
    pub(super) fn update(&self, message: &Message<'_>) -> Result<Routed, Unfit> {
        let Some(params) = message.params else { return Ok(Routed::pass()) };
        let Some(update) = value_at(params, "update") else { return Ok(Routed::pass()) };
        match text_member(update, "sessionUpdate").as_deref() {
            Some("tool_call" | "tool_call_update") => self.told_call(&Self::params(message)?),
            Some(kind @ ("plan" | "plan_update" | "usage_update")) => {
                let kind = kind.to_owned();
                self.told_progress(&kind, message);
                Ok(Routed::pass())
            }
            Some("current_mode_update" | "config_option_update") => self.told_mode(&Self::params(message)?),
            _ => Ok(Routed::pass()),
        }
    }

    fn told_call(&self, params: &Value) -> Result<Routed, Unfit> {
        let session = text(params, "sessionId")?;
        let update = params.get("update").unwrap_or(&Value::Null);
        let id = text(update, "toolCallId")?;
        let ok = match update.get("status").and_then(Value::as_str) {
            Some("completed") => Some(true),
            Some("failed") => Some(false),
            _ => None,
        };
        let ended = {
            let mut state = self.state();
            if state.waiting.is_loading(session) {
                return Ok(Routed::pass());
            }
            let agent = state.agent;
            let session = state.sessions.at(session);
            session.call(id).learn(update);
            let folder = session.folder.clone();
            match ok {
                None => None,
                Some(_) => session
                    .calls
                    .remove(id)
                    .map(|known| (call::understood(&known, id, agent, folder.as_deref()), known.asked, known.refused)),
            }
        };
        let (Some((understood, asked, refused)), Some(ok)) = (ended, ok) else { return Ok(Routed::pass()) };
        let who = self.who(Some(session));
        let tool = match &understood.call.request {
            Request::Tool { name, .. } => name.clone(),
            Request::Command(_) => String::new(),
        };
        self.judge.note(What::CallEnded, &who, "tool_call_update", |one| {
            one.call_id = Some(id.to_owned());
            one.tool = Some(tool.clone());
            one.ended = Some(Ended { ok: Some(ok), ..Ended::default() });
            one.text = (!asked).then(|| "It never asked.".to_owned());
        });
        if refused && ok {
            let why = format!("Sayso: the agent ran {tool} although it was denied.");
            return Ok(self.reported(Routed::pass(), &who, &why));
        }
        if asked {
            return Ok(Routed::pass());
        }
        let said = self.decide(understood, &who, UNASKED).settle();
        if said.verdict != Verdict::Deny {
            return Ok(Routed::pass());
        }
        let why = format!("Sayso: the agent ran {tool} without asking, and the policy denies it. {}", said.why());
        Ok(self.reported(Routed::pass(), &who, &why))
    }

    /// Tells the person at the editor, and stops the turn if that is wanted.
    fn reported(&self, routed: Routed, who: &Who, why: &str) -> Routed {
        let session = who.session.as_deref().unwrap_or_default();
        let chunk = json!({"sessionId": session, "update": {
            "sessionUpdate": "agent_message_chunk",
            "content": {"type": "text", "text": sayso_policy::explain::visible(why)},
        }});
        let routed = routed.and(Side::Client, message_line(None, "session/update", Some(chunk.to_string().as_bytes())));
        if !self.cancel_denied {
            return routed;
        }
        let cancel = json!({"sessionId": session}).to_string();
        routed.and(Side::Agent, message_line(None, "session/cancel", Some(cancel.as_bytes())))
    }

    /// Plans and usage are only kept.
    fn told_progress(&self, kind: &str, message: &Message<'_>) {
        let Ok(params) = Self::params(message) else { return };
        let session = params.get("sessionId").and_then(Value::as_str);
        let what = if kind == "usage_update" { What::Used } else { What::Planned };
        let cost =
            params.pointer("/update/cost/amount").and_then(Value::as_f64).filter(|cost| (0.0..1e9).contains(cost));
        if let (Some(session), Some(cost)) = (session, cost) {
            self.state().sessions.at(session).cost_told = (cost * 1e6) as u64;
        }
        let text = params.get("update").map(Value::to_string);
        self.judge.note(what, &self.who(session), kind, |one| one.text = text);
    }

    /// The agent changed its mode by itself: it is put back, and the person is told.
    fn told_mode(&self, params: &Value) -> Result<Routed, Unfit> {
        let session = text(params, "sessionId")?;
        let update = params.get("update").unwrap_or(&Value::Null);
        let told = super::modes::told(update);
        let mode = update.get("currentModeId").and_then(Value::as_str).map(str::to_owned).or(told.current);
        let Some(mode) = mode else { return Ok(Routed::pass()) };
        let back = {
            let mut state = self.state();
            let known = state.sessions.at(session);
            if known.mode.as_deref() == Some(mode.as_str()) {
                return Ok(Routed::pass());
            }
            known.mode.clone()
        };
        if self.may_be_in(&mode, session, "current_mode_update") {
            self.state().sessions.at(session).mode = Some(mode);
            return Ok(Routed::pass());
        }
        let why = format!("Sayso: the agent switched to the mode {mode:?} by itself, which the policy does not allow.");
        let mut routed = self.reported(Routed::pass(), &self.who(Some(session)), &why);
        let back = self.pin(session, back.as_deref().unwrap_or("default"), None);
        routed.said.extend(back.said);
        Ok(routed)
    }
}
