//! What must be remembered, handed in as a value so that evaluation stays pure.

use crate::past::Past;
use crate::text::Mode;
use crate::word::{Actor, CanHold, Person, Verdict};
use sayso_shell::{Files, Run, Verb};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// Everything that a decision may depend on beyond policy and operation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Now, in milliseconds since 1970.
    pub now_ms: u64,
    /// What was used so far, by scope.
    pub usage: BTreeMap<Scope, Usage>,
    /// What this call would add to that, as far as it is known.
    pub takes: BTreeMap<Scope, Usage>,
    /// This call would use more of something than can be known beforehand.
    pub takes_unknown: Unknown,
    /// Calls so far within a stretch of time, for each that a `rate` is about.
    pub rates: BTreeMap<(Scope, Duration), u64>,
    /// Denied calls within a stretch of time, for each that a `blocked` is about.
    pub blocked: BTreeMap<(Scope, Duration), u64>,
    /// What the grants that are bound to an exact operation must be bound to.
    pub digest: Option<String>,
    /// What the grants of an approved plan's steps must be bound to.
    pub step: Option<String>,
    /// The workspace by the name under which grants know it: worktrees of one repository share it.
    pub workspace: Option<String>,
    /// Remembered answers that may apply to this actor and workspace.
    pub grants: Vec<Grant>,
    /// Earlier calls of this session by tool, for files that limit how often one tool is called.
    pub recent: Vec<RecentCall>,
    /// The mode that an operator switched on for all files whose mode is not pinned.
    pub mode: Option<Mode>,
    /// What whoever brings the call has found of its tool.
    pub findings: Vec<ToolFinding>,
    /// How strongly whoever brings the call can hold it.
    pub can_hold: CanHold,
    /// What the session has done so far.
    pub past: Past,
}

/// Something about the tool of a call that only whoever brings the call can know: what its server says of it is not what
/// was accepted, or the arguments do not fit its schema. It can only make a decision stricter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolFinding {
    /// Ask or Deny. An Allow says nothing.
    pub verdict: Verdict,
    /// The reason's code.
    pub code: crate::word::ReasonCode,
    /// The reason's sentence.
    pub text: String,
}

/// An earlier call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecentCall {
    /// The tool's canonical name.
    pub tool: String,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
}

/// What a limit is counted over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// One session.
    Session,
    /// One run.
    Run,
    /// One agent.
    Agent,
    /// One tenant.
    Tenant,
    /// One day.
    Day,
}

impl Scope {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Session, Self::Run, Self::Agent, Self::Tenant, Self::Day];

    /// The word of the language.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Run => "run",
            Self::Agent => "agent",
            Self::Tenant => "tenant",
            Self::Day => "day",
        }
    }
}

/// What was used so far in one scope, or what one call would add.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct Usage {
    /// Calls made.
    pub calls: u64,
    /// Tokens read by the model.
    pub input_tokens: u64,
    /// Tokens written by the model.
    pub output_tokens: u64,
    /// Cost in millionths of the currency's unit.
    pub cost_micros: u64,
    /// Milliseconds since the scope began.
    pub wall_ms: u64,
    /// Calls denied by a rule or a person.
    pub blocked: u64,
    /// Paths removed.
    pub deletes: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Different hosts contacted.
    pub hosts: u64,
    /// How often this very call was made already.
    pub repeats: u64,
}

impl Usage {
    /// The more of both, one by one.
    #[must_use]
    pub fn or_more(&self, other: &Self) -> Self {
        Self {
            calls: self.calls.max(other.calls),
            input_tokens: self.input_tokens.max(other.input_tokens),
            output_tokens: self.output_tokens.max(other.output_tokens),
            cost_micros: self.cost_micros.max(other.cost_micros),
            wall_ms: self.wall_ms.max(other.wall_ms),
            blocked: self.blocked.max(other.blocked),
            deletes: self.deletes.max(other.deletes),
            bytes_written: self.bytes_written.max(other.bytes_written),
            hosts: self.hosts.max(other.hosts),
            repeats: self.repeats.max(other.repeats),
        }
    }
}

/// What a call would use without anybody knowing how much.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unknown {
    /// How many paths it removes.
    pub deletes: bool,
    /// Which hosts it contacts.
    pub hosts: bool,
}

/// What the limits in force count, for whoever keeps the counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counting {
    /// The scopes that are limited, each once.
    pub scopes: Vec<Scope>,
    /// The stretches of time that a `rate` is about.
    pub windows: Vec<(Scope, Duration)>,
    /// The scopes in which different hosts are counted.
    pub hosts: Vec<Scope>,
    /// The scopes in which the same call again is counted.
    pub repeats: Vec<Scope>,
    /// How many denied calls stop a scope, in which stretch of time.
    pub blocked: Vec<(Scope, u64, Option<Duration>)>,
    /// The stretches of time that a `blocked` is about.
    pub blocked_windows: Vec<(Scope, Duration)>,
    /// How far back single calls of the session are looked at, in milliseconds.
    pub looks_back_ms: u64,
}

impl Counting {
    /// Nothing is limited.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.scopes.is_empty()
    }

    pub(crate) fn add(&mut self, scope: Scope) {
        if !self.scopes.contains(&scope) {
            self.scopes.push(scope);
        }
    }
}

/// A remembered answer of a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Grant {
    /// Its id.
    pub id: String,
    /// What it answers: a verb and a pattern of the policy language, or an exact operation by digest.
    pub selector: GrantSelector,
    /// The workspace it was given in, by its name in the store; it counts nowhere else. A yes to a program counts
    /// only where the program also starts inside it.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub workspace: Option<String>,
    /// The session it was given in, for grants that end with it.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub session: Option<String>,
    /// How often it may still be used; `None`: without bound.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub uses_left: Option<u32>,
    /// When it ends, in milliseconds since 1970.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub expires_ms: Option<u64>,
    /// Who gave it, all of them where several had to. It answers only an Ask that they could have answered.
    pub givers: Vec<Person>,
    /// Allow, or a remembered Deny.
    pub verdict: Verdict,
    /// Whom it was given to, where that is bound. A yes without a tenant is one to calls without a tenant.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(required))]
    pub actor: Actor,
    /// The step of an approved plan that it is for. Then its digest is the step's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanStep>,
}

/// A step of an approved plan, as the grant for it knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PlanStep {
    /// The plan, by its id.
    pub plan: String,
    /// Which step, counted from 1.
    pub step: u32,
    /// How many steps the plan has.
    pub of: u32,
    /// The grant of the step before it: while that is unused, this one does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// What asked when the plan was approved. It answers nothing else.
    #[serde(default)]
    pub asks: Vec<String>,
}

/// What a grant answers.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum GrantSelector {
    /// This exact operation, by its digest.
    Digest(String),
    /// Effects of this verb that match this pattern.
    Pattern {
        /// The verb.
        #[cfg_attr(feature = "openapi", schema(value_type = String))]
        verb: Verb,
        /// A pattern of the policy language.
        pattern: String,
        /// For a program: the file that its name meant. `None`: whatever the name means.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        program: Option<Executable>,
    },
}

/// The file that the name of a program meant when somebody said yes to the program.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Executable {
    /// Where it is, links followed; `None`: the name led nowhere.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, required))]
    pub path: Option<PathBuf>,
    /// What changes when it changes, where the user under whom calls run could change it. What the system looks after
    /// may be brought up to date: the path says enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stamp: Option<String>,
}

impl Executable {
    /// The file that a program's name means now.
    #[must_use]
    pub fn of(run: &Run, files: &dyn Files) -> Self {
        let path = run.program.path.as_deref().map(|path| sayso_shell::canonical(files, path).path);
        // Also where the name was found: who can change that folder can put another program there.
        let found = run.program.path.as_deref().into_iter().chain(path.as_deref());
        let stamp = found
            .clone()
            .any(|path| files.changeable(path))
            .then(|| path.as_deref().and_then(|path| files.stamp(path)).unwrap_or_else(|| "unknown".to_owned()));
        Self { stamp, path }
    }
}
