//! What happened around calls, as it is kept: how a call ended, sessions that began and ended, settings that changed.
//!
//! A decision is a [`Record`](crate::Record). This is everything else that a way in hears from an agent. It goes
//! through the same spool, a line each, told apart by its `what`.

use crate::audit::record::{fresh_id_at, kept, now_ms};
use crate::audit::redact;
use sayso_policy::Actor;
use serde::{Deserialize, Serialize};

/// What happened. Fields that a later version adds are tolerated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Happening {
    /// What it was.
    pub what: What,
    /// Unique; begins with the time, so that ids sort.
    pub id: String,
    /// When, in milliseconds since 1970.
    pub time_ms: u64,
    /// Which way in: `hook claude-code`.
    pub way_in: String,
    /// The way in's own word for it: `PostToolUse`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// Whose doing it was.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(required))]
    pub actor: Actor,
    /// The agent's own id of the call, for one that ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// The tool as the agent calls it, for a call that ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// How it went, for a call that ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
    /// In words: the error, the file that changed; secrets taken out, long text cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// It came from the spool without the mark that Sayso's own processes leave there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unverified: bool,
}

/// Kinds of happenings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// A call has run, or failed.
    CallEnded,
    /// A session began; its workspace is fixed from here on.
    SessionStarted,
    /// A session ended.
    SessionEnded,
    /// An agent started another one, whose ceiling it is.
    SubagentStarted,
    /// A person answered at the caller's own prompt.
    PromptAnswered,
    /// Settings of the agent changed while it ran: somebody may be switching the guard off.
    SettingsChanged,
    /// The agent told what it plans.
    Planned,
    /// The agent told what it used of tokens or money.
    Used,
}

/// How a call went, as the agent tells it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct Ended {
    /// Whether it succeeded; `None`: the agent does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ok: Option<bool>,
    /// How long it took, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Tokens that the model read for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens that the model wrote for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
}

impl Happening {
    /// Something that happens now.
    #[must_use]
    pub fn new(what: What, way_in: impl Into<String>, actor: Actor) -> Self {
        let time_ms = now_ms();
        Self {
            what,
            id: fresh_id_at(time_ms),
            time_ms,
            way_in: way_in.into(),
            event: None,
            actor,
            call_id: None,
            tool: None,
            workspace: None,
            ended: None,
            text: None,
            unverified: false,
        }
    }

    /// The same with an agent's text made fit to be kept.
    pub(crate) fn fit(&self) -> Self {
        let cut = |text: &Option<String>, most| text.as_deref().map(|text| redact::cut(text, most));
        Self {
            event: cut(&self.event, 128),
            call_id: cut(&self.call_id, 128),
            tool: cut(&self.tool, 256),
            text: self.text.as_deref().map(kept),
            ..self.clone()
        }
    }
}
