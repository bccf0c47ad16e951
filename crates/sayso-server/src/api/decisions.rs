//! `POST /v1/decisions`: judges a call by the gate, records it, and answers; with `wait`, once people have answered.

use super::batch::{self, Each};
use super::body::{self, Keys, Written};
use super::call::Calls;
use crate::app::App;
use crate::error::ApiError;
use crate::judges::Pending;
use crate::waiting;
use crate::who::Caller;
use crate::wire::line::{Fields, Id};
use crate::wire::{self, CallEnvironment};
use axum::extract::State;
use sayso_gate::{Asking, Circumstances, Expected, Gate, Held, Judged, Once, RealFiles, Recorded, Unsaid};
use sayso_policy::{Answer, Facts, Reason, ToolCall};
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use utoipa::ToSchema;

/// The longest that a caller may wait; questions end earlier.
pub(super) const LONGEST_WAIT: u64 = 24 * 60 * 60;

/// What is said of a list, in its order, or of one call.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = Decisions)]
pub(super) enum Told {
    /// Of one.
    One(Answered),
    /// Of a list.
    List(Vec<Each>),
}

/// The decision. Whatever is not `allow` must not run.
#[derive(Serialize, ToSchema)]
#[schema(as = Decision)]
pub(super) struct Answered {
    /// The caller's own id, given back.
    #[schema(value_type = Value)]
    id: Id,
    verdict: Answer,
    /// Why, the decisive reason first.
    reasons: Vec<Reason>,
    /// The id of the record.
    record: String,
    /// The question that people were asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    approval: Option<String>,
}

/// A call on its way to the gate.
pub(super) struct Asked {
    gate: Arc<Gate>,
    call: ToolCall,
    env: CallEnvironment,
    circumstances: Circumstances,
}

/// Judges one call, or a list of them.
pub(super) async fn decisions(
    State(app): State<Arc<App>>,
    caller: Caller,
    Keys(body, _): Keys<Calls>,
) -> Result<Written<Told>, ApiError> {
    if batch::is_list(&body) {
        return batch::decide(app, caller, body).await.map(|told| Written(Told::List(told)));
    }
    let (id, fields) = body::read(&body)?;
    // The buffer of the connection hangs on it, and the caller may wait for people.
    drop(body);
    let wait = wait(&fields)?;
    // Before anybody is asked: whoever has no place to wait has asked nothing.
    let _place = wait.map(|_| app.waiters.enter(&caller)).transpose()?;
    let said = match ahead(&app, caller, fields).await? {
        Ahead::Said(said) => said,
        Ahead::Needs(asked) => remembering(&app, asked, wait).await?,
    };
    Ok(Written(Told::One(said.to(id))))
}

impl Answered {
    /// What was said, counted.
    pub(super) fn of(app: &App, id: Id, recorded: Recorded, approval: Option<String>) -> Self {
        Said::of(app, recorded, approval).to(id)
    }
}

/// What is told of a judgement. The rest of it ends on the thread that made it.
struct Said {
    verdict: Answer,
    reasons: Vec<Reason>,
    record: String,
    approval: Option<String>,
}

impl Said {
    /// Counted.
    fn of(app: &App, recorded: Recorded, approval: Option<String>) -> Self {
        app.metrics.judged(&recorded);
        let Recorded { decision, id, .. } = recorded;
        Self { verdict: decision.answer, reasons: decision.reasons, record: id, approval }
    }

    /// The same of what was said with what is remembered.
    fn with_question(app: &App, mut judged: Judged, approval: Option<String>) -> Self {
        let question = judged.question.take().or(approval);
        Self::of(app, judged.into(), question)
    }

    fn to(self, id: Id) -> Answered {
        let Self { verdict, reasons, record, approval } = self;
        Answered { id, verdict, reasons, record, approval }
    }
}

/// What comes of a first look at a call.
enum Ahead {
    Said(Said),
    /// Limits or remembered answers count, or people have to be asked.
    Needs(Box<Asked>),
}

/// Judges and records a call that needs nothing else, together with others.
async fn ahead(app: &Arc<App>, caller: Caller, fields: Fields) -> Result<Ahead, ApiError> {
    let (answer, answered) = oneshot::channel();
    let ready = Arc::clone(app);
    app.judges.judge(Box::new(move |looked| {
        let asked = asked(&ready, &caller, &fields, looked);
        let unsaid = asked.as_ref().ok().and_then(|asked| asked.ahead(looked));
        match unsaid {
            Some(unsaid) => {
                let tell = move |recorded| drop(answer.send(Ok(Ahead::Said(Said::of(&ready, recorded, None)))));
                Some(Pending { unsaid, tell: Box::new(tell) })
            }
            None => {
                // Whoever went away cancels nothing, and is told nothing.
                let _ = answer.send(asked.map(|asked| Ahead::Needs(Box::new(asked))));
                None
            }
        }
    }));
    app.judges.keep_watch();
    answered.await.map_err(|error| ApiError::internal(&error))?
}

/// Judges a call with what is remembered, and by people. That waits for the disk, on a thread of its own.
async fn remembering(app: &Arc<App>, asked: Box<Asked>, wait: Option<Duration>) -> Result<Said, ApiError> {
    let ready = Arc::clone(app);
    let first = app.remembering(move || {
        let held = match wait {
            None => Held::Judged(Box::new(asked.judge(Asking::OwnPrompt))),
            Some(_) => asked.hold(),
        };
        match held {
            Held::Judged(judged) => Ok(Said::with_question(&ready, *judged, None)),
            Held::Waits(question) => Err((asked, question)),
        }
    });
    let (asked, question) = match first.await? {
        Ok(said) => return Ok(said),
        Err(waits) => waits,
    };
    waiting::wait(app, &question, wait.unwrap_or_default()).await?;
    // Made again from the call: a changed file, PATH or policy is another call than the one people saw.
    let ready = Arc::clone(app);
    let judge = move || Said::with_question(&ready, asked.judge(Asking::Ticket { asked: true }), Some(question));
    let said = app.remembering(judge).await?;
    app.tail.look_now();
    Ok(said)
}

/// Seconds, or `true`: as long as the question lasts.
pub(super) fn wait(fields: &Fields) -> Result<Option<Duration>, ApiError> {
    match fields.value("wait").map_err(ApiError::malformed)? {
        None | Some(Value::Bool(false)) => Ok(None),
        Some(Value::Bool(true)) => Ok(Some(Duration::from_secs(LONGEST_WAIT))),
        Some(Value::Number(seconds)) if seconds.as_u64().is_some_and(|seconds| seconds <= LONGEST_WAIT) => {
            Ok(seconds.as_u64().map(Duration::from_secs))
        }
        Some(_) => Err(ApiError::malformed(format!("`wait` must be true, or seconds from 0 to {LONGEST_WAIT}."))),
    }
}

pub(super) fn asked(app: &App, caller: &Caller, fields: &Fields, looked: &Once<'_>) -> Result<Asked, ApiError> {
    fields.only(&wire::OF_A_CALL).map_err(ApiError::malformed)?;
    let (mut call, env) = wire::call_in(fields, looked).map_err(ApiError::malformed)?;
    app.sign(caller, &mut call.actor, Some(looked))?;
    // The first call of a session fixes its folder; later ones cannot move it. Those of other callers are other sessions.
    if let Some(session) = &call.actor.session
        && let Some(root) = call.workspace.root()
    {
        let whose = (call.actor.asker.as_deref().unwrap_or_default(), call.actor.tenant.as_deref());
        let fixed = app.sessions.workspace_of(whose, session, root)?;
        if fixed != root {
            call.workspace = wire::workspace_of(looked, &fixed, &call, &env);
        }
    }
    let circumstances = Circumstances {
        way_in: "http".to_owned(),
        peer: caller.peer.clone(),
        event: None,
        call_id: fields.string("call_id").map_err(ApiError::malformed)?,
        asking: Asking::OwnPrompt,
        expected: Expected::default(),
    };
    Ok(Asked { gate: app.gate(call.workspace.root())?, call, env, circumstances })
}

impl Asked {
    pub(super) fn judge(&self, asking: Asking) -> Judged {
        let circumstances = Circumstances { asking, ..self.circumstances.clone() };
        self.gate.judge_in(self.call.clone(), &circumstances, self.facts())
    }

    pub(super) fn ahead(&self, looked: &Once<'_>) -> Option<Unsaid> {
        self.gate.judge_ahead(&self.call, &self.circumstances, (looked, &self.env))
    }

    pub(super) fn hold(&self) -> Held {
        self.gate.judge_or_hold(self.call.clone(), &self.circumstances, self.facts())
    }

    fn facts(&self) -> Facts<'_> {
        Facts { files: &RealFiles, env: &self.env }
    }
}
