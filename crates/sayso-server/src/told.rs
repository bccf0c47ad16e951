//! One record of the chain as watchers are told of it: written once, however many follow.

use crate::app::App;
use crate::who::{Caller, Role};
use axum::extract::ws::Utf8Bytes;
use sayso_gate::approval::{Approval, Standing};
use sayso_gate::audit::{Chained, Change, Event, Kind};
use sayso_policy::Actor;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

/// One record of the chain as watchers are told of it.
pub(crate) struct Told {
    /// Its number.
    pub(crate) seq: u64,
    /// What it is: `decision`, `approval_required`, `approval_response`, or the kind of the record.
    pub(crate) name: &'static str,
    /// The question that it is about.
    pub(crate) question: Option<String>,
    /// The object, as JSON on one line; shared, so that a thousand watchers hold it once.
    json: Utf8Bytes,
    /// For whoever asked: how their question stands, and nothing of who is asked.
    in_brief: Option<Utf8Bytes>,
    actor: Actor,
    approval: Option<Box<Approval>>,
}

impl Told {
    /// `None`: it cannot be written, or the store fails.
    pub(crate) fn of(app: &App, chained: Chained) -> Option<Self> {
        let seq = chained.seq;
        let (name, actor, value, approval) = match chained.event {
            Event::Decision(record) => ("decision", record.actor.clone(), serde_json::to_value(&*record).ok()?, None),
            Event::Happening(it) => ("happening", it.actor.clone(), serde_json::to_value(&*it).ok()?, None),
            Event::Change(change) => {
                let approval = match (change.kind, &change.about) {
                    (Kind::Approval, Some(id)) => {
                        app.store().approval(id).ok()?.map(|approval| Box::new(approval.brief()))
                    }
                    _ => None,
                };
                (name_of(&change), change.actor.clone(), serde_json::to_value(&*change).ok()?, approval)
            }
        };
        let question = approval.as_ref().map(|approval| approval.question.id.clone());
        let mut object = json!({"seq": seq, "type": name});
        if let (Value::Object(object), Value::Object(fields)) = (&mut object, value) {
            object.extend(fields);
            if let Some(approval) = &approval {
                object.insert("approval".to_owned(), serde_json::to_value(approval).ok()?);
            }
        }
        let in_brief = approval
            .as_ref()
            .map(|approval| json!({"seq": seq, "type": name, "approval": Stands::of(approval)}).to_string().into());
        Some(Self { seq, name, question, json: object.to_string().into(), in_brief, actor, approval })
    }

    /// What somebody may be told: an admin everything of their tenant, an approver what is addressed to them, and an
    /// agent how its own questions stand. `None`: this is none of their business.
    pub(crate) fn words_for(&self, caller: &Caller) -> Option<Utf8Bytes> {
        let question = self.approval.as_ref().map(|approval| &approval.question);
        match caller.role {
            Role::Admin => caller.is_of_their_tenant(&self.actor).then(|| self.json.clone()),
            Role::Approver => question.is_some_and(|question| caller.may_see(question)).then(|| self.json.clone()),
            Role::Agent => self.in_brief.clone().filter(|_| question.is_some_and(|question| caller.asked(question))),
        }
    }

    /// Whether it belongs to this session.
    pub(crate) fn is_of(&self, session: &str) -> bool {
        self.actor.session.as_deref() == Some(session)
    }
}

/// What whoever asked may know of their question.
#[derive(Serialize, ToSchema)]
#[schema(as = ApprovalStands)]
pub(crate) struct Stands {
    id: String,
    standing: Standing,
    /// When it ends.
    expires_ms: u64,
}

impl Stands {
    pub(crate) fn of(approval: &Approval) -> Self {
        let question = &approval.question;
        Self { id: question.id.clone(), standing: approval.standing, expires_ms: question.expires_ms }
    }
}

fn name_of(change: &Change) -> &'static str {
    match (change.kind, change.what.as_str()) {
        (Kind::Approval, "asked") => "approval_required",
        (Kind::Approval, _) => "approval_response",
        (kind, _) => kind.as_str(),
    }
}
