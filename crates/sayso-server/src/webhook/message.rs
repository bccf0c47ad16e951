//! What a receiver is told of a question.

use crate::app::App;
use crate::clock::now_ms;
use sayso_gate::approval::{Approval, Standing};
use sayso_policy::Person;
use sayso_policy::explain::visible;
use serde_json::{Value, json};

/// Letters kept of a text: a chat shows no more, the page of the link shows all.
const MOST: usize = 1000;
/// Effects told.
const EFFECTS: usize = 8;

/// A message on its way.
pub(super) struct Message {
    /// The same for every try, so that a receiver knows one that it has.
    pub(super) id: String,
    pub(super) body: String,
    /// After this nobody can use it any more.
    expires_ms: u64,
}

impl Message {
    /// `None`: it is nothing to this person.
    pub(super) fn about(app: &App, approval: &Approval, person: &Person, base: &str) -> Option<Self> {
        let question = &approval.question;
        if !question.may_be_answered_by(person) {
            return None;
        }
        let pending = approval.standing == Standing::Pending;
        let body = if pending {
            let link = app.links.make(question, person).map(|secret| format!("{base}/answer#{secret}"));
            let effects = question.effects.iter().take(EFFECTS);
            let effects: Vec<Value> = effects.map(|it| json!({"verb": it.verb, "target": shown(&it.target)})).collect();
            json!({
                "type": "approval_required",
                "approval": question.id,
                "for": person.name,
                "agent": question.actor.agent.as_deref().map(shown),
                "claimed": question.actor.is_claimed(),
                "session": question.actor.session.as_deref().map(shown),
                "workspace": question.workspace.as_deref().map(shown),
                "tool": shown(&question.tool),
                "command": question.command.as_deref().map(shown),
                "env": question.env.as_ref().map(|env| shown(&env.to_string())),
                "effects": effects,
                "reason": question.reasons.first().map(|reason| shown(&reason.text)),
                "asked_ms": question.asked_ms,
                "expires_ms": question.expires_ms,
                "page": base,
                "link": link,
            })
        } else {
            let answers: Vec<Value> = approval
                .answers
                .iter()
                .map(|given| json!({"by": given.person.name, "automated": given.person.automated, "via": given.via}))
                .collect();
            json!({"type": "approval_response", "approval": question.id, "for": person.name,
                "standing": approval.standing, "answers": answers})
        };
        let id = format!("{}-{}", question.id, approval.standing.as_str());
        // An end is worth telling for a while after the question would have ended by itself.
        let expires_ms = if pending { question.expires_ms } else { now_ms().saturating_add(60 * 60 * 1000) };
        Some(Self { id, body: body.to_string(), expires_ms })
    }

    /// Whether nobody needs it any more.
    pub(super) fn is_over(&self) -> bool {
        self.expires_ms <= now_ms()
    }
}

/// What an agent wrote, with everything that could hide made visible, and not too long.
fn shown(text: &str) -> String {
    let text = visible(text);
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.into_owned(),
    }
}
