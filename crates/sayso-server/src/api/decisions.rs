//! `POST /v1/decisions`: judges a call by the gate, records it, and answers; with `wait`, once people have answered.

use super::batch::{self, Each};
use super::body::{self, Keys, Written};
use super::call::Calls;
use crate::app::App;
use crate::error::ApiError;
use crate::judges::Pending;
use crate::waiting;
use crate::who::Caller;
use axum::extract::State;
use sayso_gate::plan::PlannedCall;
use sayso_gate::wire::line::{Fields, Id};
use sayso_gate::wire::{self, CallEnvironment};
use sayso_gate::{Aside, Asking, Circumstances, Draft, FactsOf, Gate, Judged, Once, RealFiles, Recorded, Unsaid};
use sayso_policy::{Answer, Facts, Holding, Reason, ToolCall};
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
    /// The hold under which the call is, or would be, allowed: `whole` or `files`. An allow with it counts only for a run
    /// that is held so.
    #[serde(skip_serializing_if = "Option::is_none")]
    held: Option<&'static str>,
    /// Why, the decisive reason first.
    reasons: Vec<Reason>,
    /// The id of the record.
    record: String,
    /// The question that people were asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    approval: Option<String>,
}

/// A call on its way to the gate.
pub(super) struct PreparedCall {
    at: At,
    call: ToolCall,
    circumstances: Circumstances,
}

/// A judgement that needs more than the policy: limits or remembered answers count, or people have to be asked.
pub(super) struct Needs {
    pub(super) at: At,
    pub(super) aside: Box<Aside>,
}

/// Where a call is judged, and in which environment.
pub(super) struct At {
    gate: Arc<Gate>,
    env: CallEnvironment,
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
        Ahead::Concluded(said) => said,
        Ahead::Needs(needs) => remembering(&app, needs, wait).await?,
    };
    Ok(Written(Told::One(said.to(id))))
}

impl Answered {
    /// What was said, counted.
    pub(super) fn of(app: &App, id: Id, recorded: Recorded, approval: Option<String>) -> Self {
        Conclusion::of(app, recorded, approval).to(id)
    }
}

/// What is told of a judgement. The rest of it ends on the thread that made it.
struct Conclusion {
    verdict: Answer,
    held: Option<&'static str>,
    reasons: Vec<Reason>,
    record: String,
    approval: Option<String>,
}

impl Conclusion {
    /// Counted.
    fn of(app: &App, recorded: Recorded, approval: Option<String>) -> Self {
        app.metrics.judged(&recorded);
        let Recorded { decision, permit, id, .. } = recorded;
        // The call goes on in the caller's hands, as soon as it reads this.
        let verdict = match (permit, decision.answer) {
            (Some(permit), _) => permit.spend(|| Answer::Allow),
            (None, Answer::Allow) => Answer::Deny,
            (None, answer) => answer,
        };
        let held = decision.hold.and_then(Holding::decides);
        Self { verdict, held, reasons: decision.reasons, record: id, approval }
    }

    /// The same of what was said with what is remembered.
    fn with_question(app: &App, mut judged: Judged, approval: Option<String>) -> Self {
        let question = judged.question.take().or(approval);
        Self::of(app, judged.into(), question)
    }

    fn to(self, id: Id) -> Answered {
        let Self { verdict, held, reasons, record, approval } = self;
        Answered { id, verdict, held, reasons, record, approval }
    }
}

/// What comes of a first look at a call.
enum Ahead {
    Concluded(Conclusion),
    Needs(Needs),
}

/// Judges and records a call that needs nothing else, together with others.
async fn ahead(app: &Arc<App>, caller: Caller, fields: Fields) -> Result<Ahead, ApiError> {
    let (answer, answered) = oneshot::channel();
    let ready = Arc::clone(app);
    app.judges.judge(Box::new(move |looked| {
        let judged = prepare(&ready, &caller, &fields, looked).map(|call| call.judge(looked));
        match judged {
            Ok(Ok(unsaid)) => {
                let tell =
                    move |recorded| drop(answer.send(Ok(Ahead::Concluded(Conclusion::of(&ready, recorded, None)))));
                Some(Pending { unsaid, tell: Box::new(tell) })
            }
            // Whoever went away cancels nothing, and is told nothing.
            Ok(Err(needs)) => {
                let _ = answer.send(Ok(Ahead::Needs(needs)));
                None
            }
            Err(error) => {
                let _ = answer.send(Err(error));
                None
            }
        }
    }));
    app.judges.keep_watch();
    answered.await.map_err(|error| ApiError::internal(&error))?
}

/// Goes on with what is remembered, and with people. That waits for the disk, on a thread of its own.
async fn remembering(app: &Arc<App>, needs: Needs, wait: Option<Duration>) -> Result<Conclusion, ApiError> {
    let ready = Arc::clone(app);
    let first = app.remembering(move || {
        let Needs { at, aside } = needs;
        let draft = at.settle(*aside, asking(wait));
        let held = draft.waits().filter(|_| wait.is_some_and(|wait| wait > Duration::ZERO));
        let Some(question) = held else { return Ok(Conclusion::with_question(&ready, draft.record(), None)) };
        let (call, circumstances) = draft.into_call();
        Err((Box::new(PreparedCall { at, call, circumstances }), question))
    });
    let (asked, question) = match first.await? {
        Ok(said) => {
            if said.approval.is_some() {
                app.tail.look_now();
            }
            return Ok(said);
        }
        Err(waits) => waits,
    };
    waiting::wait(app, &question, wait.unwrap_or_default()).await?;
    // Made again from the call: a changed file, PATH or policy is another call than the one people saw.
    let ready = Arc::clone(app);
    let judge = move || Conclusion::with_question(&ready, asked.judge_again(), Some(question));
    let said = app.remembering(judge).await?;
    app.tail.look_now();
    Ok(said)
}

/// Who can be asked: the caller itself, unless it waits for people or comes back.
pub(super) fn asking(wait: Option<Duration>) -> Asking {
    if wait.is_some() { Asking::Ticket { asked: false } } else { Asking::OwnPrompt }
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

pub(super) fn prepare(
    app: &App,
    caller: &Caller,
    fields: &Fields,
    looked: &Once<'_>,
) -> Result<PreparedCall, ApiError> {
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
        peer: caller.peer.clone(),
        call_id: fields.string("call_id").map_err(ApiError::malformed)?,
        can_hold: wire::can_hold(fields).map_err(ApiError::malformed)?,
        ..Circumstances::of("http".to_owned(), Asking::OwnPrompt)
    };
    let at = At { gate: app.gate_at(call.workspace.root(), call.cwd.as_deref())?, env };
    Ok(PreparedCall { at, call, circumstances })
}

impl PreparedCall {
    /// The same as a step of a plan, and where it is judged.
    pub(super) fn planned(self) -> (Arc<Gate>, PlannedCall) {
        (self.at.gate, PlannedCall { call: self.call, env: Box::new(self.at.env) })
    }

    /// What is said of it once it is recorded, where the policy alone says it.
    pub(super) fn judge(self, looked: &Once<'_>) -> Result<Unsaid, Needs> {
        let Self { at, call, circumstances } = self;
        let judgement = at.gate.judge(call, circumstances, FactsOf::Shared(looked, &at.env));
        let aside = match judgement.at_once() {
            Ok(draft) => return Ok(draft.together()),
            Err(aside) => aside,
        };
        Err(Needs { at, aside })
    }

    /// Judges it after people were asked.
    fn judge_again(self) -> Judged {
        let Self { at, call, circumstances } = self;
        let circumstances = Circumstances { asking: Asking::Ticket { asked: true }, ..circumstances };
        at.gate.judge(call, circumstances, at.facts()).settle().record()
    }
}

impl At {
    /// Goes on with a judgement that was set aside.
    pub(super) fn settle(&self, aside: Aside, asking: Asking) -> Draft<'_> {
        aside.take_up(&self.gate, self.facts()).asking(asking).settle()
    }

    fn facts(&self) -> FactsOf<'_> {
        FactsOf::Call(Facts { files: &RealFiles, env: &self.env })
    }
}
