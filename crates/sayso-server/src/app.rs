//! What all requests share.

use crate::attendance::Attendance;
use crate::bounds::Crowd;
use crate::error::{ApiError, Error};
use crate::judges::Judges;
use crate::key::Keys;
use crate::link::Links;
use crate::metrics::Metrics;
use crate::server::News;
use crate::tail::Tail;
use crate::token::Tokens;
use crate::waiting::Waiting;
use crate::watch::Watched;
use crate::who::{Caller, Role};
use sayso_gate::approval::Question;
use sayso_gate::audit::Log;
use sayso_gate::policy::project_of;
use sayso_gate::store::Store;
use sayso_gate::{EffectiveMode, Gate, Live, Memory, Once, Places, Recorder, Sessions};
use sayso_policy::explain::visible;
use sayso_policy::{Actor, PolicyText};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;

/// Tokens that were not good, in a minute, before more of them are not even looked at.
const MOST_FAILURES: u32 = 60;
/// So many ask the store for what is remembered at the same time, on a thread each: a thousand callers who wait for
/// people come all at once.
const MOST_REMEMBERING: usize = 64;
/// Workspaces whose policy is kept in memory.
const MOST_GATES: usize = 64;

/// What all requests share.
pub(crate) struct App {
    pub(crate) places: Places,
    pub(crate) keys: Keys,
    pub(crate) tokens: Tokens,
    /// Whether the store's tokens count for more than asking.
    pub(crate) trust_tokens: bool,
    failures: Mutex<(u32, Option<Instant>)>,
    pub(crate) tail: Tail,
    pub(crate) metrics: Metrics,
    pub(crate) watched: Watched,
    pub(crate) judges: Arc<Judges>,
    /// Whoever asks the store for what is remembered takes one.
    turns: Arc<Semaphore>,
    pub(crate) waiting: Waiting,
    /// How often each caller waits, and watches.
    pub(crate) waiters: Crowd,
    pub(crate) watchers: Crowd,
    pub(crate) attendance: Attendance,
    /// One-time links that are good.
    pub(crate) links: Links,
    pub(crate) sessions: Sessions,
    pub(crate) about: About,
    log: Log,
    /// The store, as all gates have it: what they say is recorded together.
    recorder: Arc<dyn Recorder + Send + Sync>,
    /// Files named on the command line: then no others count.
    given: Vec<PolicyText>,
    gates: Mutex<Gates>,
    /// Limits, grants and approvals, shared by all gates.
    memory: Memory,
    /// Says in the terminal which key is next, and why.
    pub(crate) announce: Announce,
}

/// Says a key, and why it is said.
pub(crate) type Announce = Box<dyn Fn(&str, News) + Send + Sync>;

/// By workspace, and by the folder of another project that restricts. Each follows its policy files as they change.
type Gates = HashMap<(Option<PathBuf>, Option<PathBuf>), Arc<Gate>>;

/// What the page says about this server.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// The folder in which the try-box begins.
    pub folder: String,
    /// Whether tokens of the store may do more than ask: whoever can write the store can add one.
    pub trust_tokens: bool,
    /// The name under which whoever holds the key answers.
    pub owner: String,
    /// What to do next, as a command.
    pub next: String,
    /// Where signed heads of the record are appended.
    pub anchor: Option<PathBuf>,
    /// Looks what this machine can hold, and which agents run held. It may take a moment.
    pub hold: Option<fn(&Places) -> HoldStatus>,
}

/// What this machine can hold, and which agents run held.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
pub struct HoldStatus {
    /// `whole`, `files` or `none`.
    pub level: String,
    /// Those that are guarded here.
    pub agents: Vec<HeldAgent>,
}

/// Whether an agent runs held.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
pub struct HeldAgent {
    /// Its name.
    pub agent: String,
    /// How it was seen to hold commands: `whole` or `files`; absent: not at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held: Option<String>,
    /// Why not, and what to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl App {
    pub(crate) fn new(
        places: Places,
        keys: Keys,
        given: Vec<PolicyText>,
        about: About,
        announce: Announce,
    ) -> Result<Self, Error> {
        let log = Log::open(&places)?;
        let sessions = Sessions::open(&places)?;
        let tokens = Tokens::of(&places)?;
        let gates = Mutex::new(HashMap::new());
        let memory = Memory::with(&places, Arc::clone(log.store()));
        let recorder: Arc<dyn Recorder + Send + Sync> = Arc::clone(log.store()) as _;
        let app = Self {
            recorder,
            places,
            keys,
            tokens,
            trust_tokens: about.trust_tokens,
            failures: Mutex::default(),
            tail: Tail::new(),
            metrics: Metrics::new(),
            watched: Watched::default(),
            judges: Judges::new(),
            turns: Arc::new(Semaphore::new(MOST_REMEMBERING)),
            waiting: Waiting::default(),
            waiters: Crowd::default(),
            watchers: Crowd::default(),
            attendance: Attendance::default(),
            links: Links::default(),
            sessions,
            about,
            log,
            given,
            gates,
            memory,
            announce,
        };
        app.gate(None)?;
        Ok(app)
    }

    /// The gate for a workspace.
    pub(crate) fn gate(&self, workspace: Option<&Path>) -> Result<Arc<Gate>, sayso_gate::Error> {
        self.gate_beside(workspace, None)
    }

    /// The gate of a call's workspace.
    ///
    /// INVARIANT: the workspace is its caller's word. Where the call runs in another project, what that one restricts
    /// holds too.
    pub(crate) fn gate_at(&self, workspace: Option<&Path>, cwd: Option<&Path>) -> Result<Arc<Gate>, sayso_gate::Error> {
        let elsewhere = cwd.filter(|cwd| workspace != Some(cwd) && self.given.is_empty());
        let folder = elsewhere.map(|cwd| cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned()));
        let folder = folder.filter(|cwd| workspace != Some(cwd));
        let beside = folder.map(|folder| project_of(&self.places, &folder)).transpose()?.flatten();
        self.gate_beside(workspace, beside.as_deref())
    }

    fn gate_beside(&self, workspace: Option<&Path>, beside: Option<&Path>) -> Result<Arc<Gate>, sayso_gate::Error> {
        let owned = |folder: Option<&Path>| folder.filter(|_| self.given.is_empty()).map(Path::to_owned);
        let key = (owned(workspace), owned(beside));
        if let Some(gate) = lock(&self.gates).get(&key) {
            return Ok(Arc::clone(gate));
        }
        let given = Some(self.given.as_slice()).filter(|given| !given.is_empty());
        let policy = match given {
            Some(_) => Live::of(&self.places, given, None)?,
            None => Live::follow_beside(&self.places, key.0.as_deref(), key.1.as_deref())?,
        };
        let gate = Gate::sharing(policy, Arc::clone(&self.recorder)).with_memory(self.memory.clone());
        let gate = Arc::new(gate);
        let mut gates = lock(&self.gates);
        if gates.len() >= MOST_GATES {
            gates.clear();
        }
        gates.insert(key, Arc::clone(&gate));
        Ok(gate)
    }

    /// Has every gate look at its policy files now: who was told that another policy is in force is judged by it.
    pub(crate) fn renew(&self) {
        let gates: Vec<Arc<Gate>> = lock(&self.gates).values().cloned().collect();
        gates.iter().for_each(|gate| drop(gate.in_force_now()));
    }

    /// The gate that a question came from.
    pub(crate) fn gate_of(&self, question: &Question) -> Result<Arc<Gate>, sayso_gate::Error> {
        self.gate_at(question.workspace.as_deref().map(Path::new), question.cwd.as_deref().map(Path::new))
    }

    /// Whoever holds this token.
    pub(crate) fn caller(&self, token: &str, now: Instant) -> Result<Caller, ApiError> {
        if let Some(via) = self.keys.knows(token, now) {
            return Ok(Caller::owner(&self.about.owner, via));
        }
        if let Some(mut caller) = self.tokens.holder(token) {
            if !self.trust_tokens {
                caller.role = Role::Agent;
            }
            return Ok(caller);
        }
        let mut failures = lock(&self.failures);
        if failures.1.is_none_or(|since| now.duration_since(since) > Duration::from_secs(60)) {
            *failures = (0, Some(now));
        }
        failures.0 = failures.0.saturating_add(1);
        Err(if failures.0 > MOST_FAILURES { ApiError::too_many_failures() } else { ApiError::signed_out() })
    }

    /// Whether the policy is what was named on the command line, and not the files of this machine and user.
    pub(crate) fn is_fixed(&self) -> bool {
        !self.given.is_empty()
    }

    /// Does what waits for the store on a thread of its own, in turn.
    pub(crate) async fn remembering<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(|error| ApiError::internal(&error))?;
        let working = move || {
            let _turn = turn;
            work()
        };
        tokio::task::spawn_blocking(working).await.map_err(|error| ApiError::internal(&error))
    }

    /// Puts the name and tenant of a token on what is asked with it. Without that token nobody asks under them: a yes, a
    /// limit and a record are for whoever asked. What was seen of files since the request came may be used.
    pub(crate) fn sign(&self, caller: &Caller, actor: &mut Actor, looked: Option<&Once<'_>>) -> Result<(), ApiError> {
        caller.sign(actor);
        let foreign_name = caller.person.is_none();
        let foreign_tenant = caller.tenant.is_none() && caller.role == Role::Agent;
        if (foreign_name && actor.agent.is_some() || foreign_tenant && actor.tenant.is_some())
            && !looked.is_some_and(|looked| self.tokens.are_none(looked))
            && self.tokens.are_for(actor.agent.as_deref().filter(|_| foreign_name), actor.tenant.as_deref())
        {
            return Err(ApiError::needs_that_token());
        }
        Ok(())
    }

    /// Limits, grants, approvals and the operator's mode.
    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The store.
    pub(crate) fn store(&self) -> Arc<dyn Store> {
        Arc::clone(self.log.store())
    }

    /// Reads the record.
    pub(crate) fn with_log<T>(&self, read: impl FnOnce(&Log) -> T) -> T {
        read(&self.log)
    }
}

/// A panic elsewhere leaves nothing half done in what these locks guard.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The mode and what is in force, in words: `enforcing preset developer`, `halted: every call is denied (preset developer)`.
#[must_use]
pub fn enforcing(mode: &EffectiveMode, files: &str) -> String {
    let word = match mode.run {
        "halt" => "halted",
        "dry-run" => "dry-run",
        "shadow" => "watching only",
        "off" => "switched off",
        _ => return format!("enforcing {files}"),
    };
    format!("{word}: {} ({files})", mode.meaning)
}

/// What is in force, in words: `preset developer`, `~/.config/sayso/policy.toml`.
#[must_use]
pub fn in_words(files: &[PolicyText]) -> String {
    let name = |file: &PolicyText| match file.name.strip_prefix("preset:") {
        Some(preset) => format!("preset {}", visible(preset)),
        None => visible(&file.name).into_owned(),
    };
    files.iter().map(name).collect::<Vec<_>>().join(", ")
}
