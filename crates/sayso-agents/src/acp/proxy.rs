//! What is done with one message: passed as it came, changed, answered, or held.

use super::judge::{AcpAnswer, Judge, Who};
use super::pending::Waiting;
use super::sessions::Sessions;
use super::{McpGateway, Setting};
use crate::Agent;
use crate::pipe::{Message, Reader, Refused, error_line};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

/// JSON-RPC's numbers.
pub(super) const INVALID_PARAMS: i64 = -32602;
pub(super) const INVALID_REQUEST: i64 = -32600;
/// The largest parameters that are read whole: a tree takes many times its text in memory.
const LARGEST_GOVERNED: usize = 16 * 1024 * 1024;
/// Ours: the policy says no.
pub(super) const DENIED: i64 = -32010;
/// ACP's: the request was cancelled.
pub(super) const CANCELLED: i64 = -32800;

/// The two ends of the pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The editor.
    Client,
    /// The agent.
    Agent,
}

impl Side {
    /// The one across.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Client => Self::Agent,
            Self::Agent => Self::Client,
        }
    }
}

/// What becomes of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Onward {
    /// It goes on byte for byte.
    AsItCame,
    /// This goes on in its place.
    Instead(Vec<u8>),
    /// Nothing goes on.
    Nothing,
}

/// What becomes of a line, and what is said beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Routed {
    /// What goes to the other side.
    pub onward: Onward,
    /// Lines of our own, and to whom.
    pub said: Vec<(Side, Vec<u8>)>,
}

impl Routed {
    pub(super) fn pass() -> Self {
        Self { onward: Onward::AsItCame, said: Vec::new() }
    }

    pub(super) fn instead(line: Vec<u8>) -> Self {
        Self { onward: Onward::Instead(line), said: Vec::new() }
    }

    pub(super) fn say(to: Side, line: Vec<u8>) -> Self {
        Self { onward: Onward::Nothing, said: vec![(to, line)] }
    }

    pub(super) fn nothing() -> Self {
        Self { onward: Onward::Nothing, said: Vec::new() }
    }

    pub(super) fn and(mut self, to: Side, line: Vec<u8>) -> Self {
        self.said.push((to, line));
        self
    }
}

/// The proxy of one pipe. Both directions use it at once.
pub struct Proxy {
    pub(super) judge: Judge,
    pub(super) gateway: Option<McpGateway>,
    pub(super) cancel_denied: bool,
    /// The home folder of the agent's settings, if they count.
    pub(super) settings_home: Option<PathBuf>,
    agent_named: Option<String>,
    stated: sayso_policy::Stated,
    longest_line: usize,
    state: Mutex<State>,
    /// For what is decided later.
    pub(super) me: Weak<Self>,
    pub(super) voice: OnceLock<Voice>,
}

/// Says a line to a side, outside of the turn of any message.
pub(crate) type Voice = Box<dyn Fn(Side, Vec<u8>) + Send + Sync>;

/// What is remembered between messages.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) sessions: Sessions,
    pub(super) waiting: Waiting,
    /// The agent's name for policy and record.
    pub(super) agent_name: Option<String>,
    /// The agent, where it is one that we know.
    pub(super) agent: Option<Agent>,
    /// MCP servers that speak through this pipe: their names by id.
    pub(super) servers: Vec<(String, String)>,
}

/// Something about a request that does not fit.
pub(super) struct Unfit {
    pub(super) code: i64,
    pub(super) why: String,
}

impl Unfit {
    pub(super) fn params(why: impl Into<String>) -> Self {
        Self { code: INVALID_PARAMS, why: why.into() }
    }
}

impl Proxy {
    /// A proxy that has seen nothing yet. It asks at the editor only, until it has a voice of its own.
    #[must_use]
    pub fn new(setting: Setting) -> Arc<Self> {
        let agent_name = setting.agent.clone();
        let agent = agent_name.as_deref().and_then(|name| name.parse().ok());
        Arc::new_cyclic(|me| Self {
            gateway: setting.gateway.clone(),
            cancel_denied: setting.cancel_denied,
            settings_home: setting.settings_count.then(|| setting.places.home.clone()),
            longest_line: setting.longest_line,
            state: Mutex::new(State { agent_name: agent_name.clone(), agent, ..State::default() }),
            agent_named: agent_name,
            stated: setting.stated.clone(),
            judge: Judge::new(setting),
            me: me.clone(),
            voice: OnceLock::new(),
        })
    }

    /// Lets it speak outside of the turn of a message: then Sayso's own queue may hold a call.
    pub(crate) fn speaks_with(&self, voice: Voice) {
        let _ = self.voice.set(voice);
    }

    /// Decides about one line, its end included.
    pub(crate) fn line(&self, from: Side, reader: &mut Reader, line: &[u8]) -> Routed {
        if line.len() > self.longest_line {
            return Self::refused(from, &Refused::too_long(crate::pipe::skim(line), self.longest_line));
        }
        match reader.read(line) {
            Ok(None) => Routed::pass(),
            Ok(Some(message)) => self.message(from, &message),
            Err(refused) => Self::refused(from, &refused),
        }
    }

    /// The same for callers that keep no memory between lines.
    #[must_use]
    pub fn route(&self, from: Side, line: &[u8]) -> Routed {
        self.line(from, &mut Reader::default(), line)
    }

    /// A line that is not passed on: whoever waits for an answer gets an error, else whoever sent it.
    pub(crate) fn refused(from: Side, refused: &Refused) -> Routed {
        let why = format!("Sayso refused a message: {}", refused.why);
        let id = refused.skimmed.id.as_deref();
        let told = Routed::say(from, error_line(id.filter(|_| refused.skimmed.request), refused.code, &why, None));
        match id {
            Some(id) if refused.skimmed.answer && !refused.skimmed.request => {
                told.and(from.other(), error_line(Some(id), refused.code, &why, None))
            }
            _ => told,
        }
    }

    pub(super) fn message(&self, from: Side, message: &Message<'_>) -> Routed {
        let Some(method) = message.method.as_deref() else { return self.answered(from, message) };
        let routed = match from {
            Side::Client => self.clients(method, message),
            Side::Agent => self.agents(method, message),
        };
        routed.unwrap_or_else(|unfit| self.unfit(from, method, message, &unfit))
    }

    /// A request or notification of the client.
    fn clients(&self, method: &str, message: &Message<'_>) -> Result<Routed, Unfit> {
        match method {
            "initialize" => Ok(self.initialize(message)),
            "session/new" | "session/load" | "session/resume" | "session/fork" => self.start(method, message),
            "session/set_mode" => self.set_mode(message),
            "session/set_config_option" => self.set_option(message),
            "session/prompt" => Ok(self.prompt(message)),
            "session/cancel" => Ok(self.turn_cancelled(message)),
            _ if is_proxy_method(method) => Err(of_a_chain()),
            _ => Ok(Routed::pass()),
        }
    }

    /// A request or notification of the agent.
    fn agents(&self, method: &str, message: &Message<'_>) -> Result<Routed, Unfit> {
        match method {
            "session/update" => self.update(message),
            "session/request_permission" => self.permission(message),
            "mcp/message" => self.server_message(message),
            "$/cancel_request" => Ok(self.cancelled(message)),
            "terminal/output" | "terminal/release" | "terminal/wait_for_exit" | "terminal/kill" => Ok(Routed::pass()),
            _ if method.starts_with("fs/") || method.starts_with("terminal/") => self.act(method, message),
            _ if is_proxy_method(method) => Err(of_a_chain()),
            _ => Ok(Routed::pass()),
        }
    }

    /// A governed message that cannot be judged is answered with an error, and recorded.
    fn unfit(&self, from: Side, method: &str, message: &Message<'_>, unfit: &Unfit) -> Routed {
        self.judge.malformed(&self.who(None), method, &unfit.why);
        let why = format!("Sayso refused {method}: {} [call-malformed]", unfit.why);
        Routed::say(from, error_line(message.id, unfit.code, &why, None))
    }

    /// The parameters of a governed message, as a strict view.
    pub(super) fn params(message: &Message<'_>) -> Result<Value, Unfit> {
        let raw = message.params.ok_or_else(|| Unfit::params("It has no parameters."))?;
        if raw.len() > LARGEST_GOVERNED {
            return Err(Unfit::params("It is too large to judge."));
        }
        let params: Value = serde_json::from_slice(raw)
            .map_err(|error| Unfit::params(format!("Its parameters are invalid ({error}).")))?;
        if !params.is_object() {
            return Err(Unfit::params("Its parameters are not an object."));
        }
        if crate::pipe::folds_together(&params) {
            return Err(Unfit::params("Two of its keys differ only in case."));
        }
        Ok(params)
    }

    /// The raw id of a request that must be answered.
    pub(super) fn request_id<'m>(message: &Message<'m>) -> Result<&'m [u8], Unfit> {
        let fits = message.key().is_some();
        message
            .id
            .filter(|_| fits)
            .ok_or_else(|| Unfit { code: INVALID_REQUEST, why: "It is not a request with a valid id.".to_owned() })
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Who acts in a session.
    pub(super) fn who(&self, session: Option<&str>) -> Who {
        let state = self.state();
        Who {
            stated: self.stated.clone(),
            agent: state.agent_name.clone(),
            session: session.map(str::to_owned),
            workspace: session.and_then(|id| state.sessions.get(id)?.folder.clone()),
        }
    }

    /// The agent has told its name.
    pub(super) fn named(&self, name: &str) {
        let known = known_agent(name);
        let mut state = self.state();
        state.agent = state.agent.or(known);
        if self.agent_named.is_none() {
            let plain: String = name.chars().filter(|c| !c.is_control()).take(128).collect();
            state.agent_name = Some(known.map_or(plain, |agent| agent.name().to_owned()));
        }
    }

    /// A call that is denied, in the words of an error.
    pub(super) fn denied(id: &[u8], said: &AcpAnswer) -> Vec<u8> {
        error_line(Some(id), DENIED, &said.why(), Some(said.data()))
    }
}

/// The agent behind the name that an ACP agent gives itself.
fn known_agent(name: &str) -> Option<Agent> {
    let name = name.to_ascii_lowercase();
    let calls_itself = |agent: &&Agent| agent.row().acp.calls_itself.is_some_and(|part| name.contains(part));
    Agent::ALL.iter().find(calls_itself).copied()
}

/// Messages of a chain of proxies wrap others: where no chain is, they would hide them.
pub(super) fn is_proxy_method(method: &str) -> bool {
    method.starts_with("proxy/") || method.starts_with("_proxy/")
}

fn of_a_chain() -> Unfit {
    Unfit {
        code: INVALID_REQUEST,
        why: "It belongs to a chain of proxies: run `sayso acp` without a command as a component of it.".to_owned(),
    }
}

/// A text member of the parameters.
pub(super) fn text<'v>(params: &'v Value, key: &str) -> Result<&'v str, Unfit> {
    params.get(key).and_then(Value::as_str).ok_or_else(|| Unfit::params(format!("Its `{key}` is not a string.")))
}
