//! How a session begins, and how it is kept out of modes in which nothing is asked.

use super::judge::AcpAnswer;
use super::modes::{self, Chosen};
use super::pending::{Pending, PinnedStart};
use super::proxy::{DENIED, Proxy, Routed, Side, Unfit, text};
use super::servers::{self, Around, McpGateway, Server};
use crate::Agent;
use crate::pipe::{Message, error_line, message_line, replaced};
use sayso_gate::audit::What;
use sayso_policy::Verdict;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// What a mode is called that an agent should have told of and did not.
const UNTOLD: &str = "unnamed";
/// Where such a session is put, whatever modes it offers.
const UNTOLD_BACK: &str = "read-only";

impl Proxy {
    /// The agent's answer tells who it is.
    pub(super) fn initialize(&self, message: &Message<'_>) -> Routed {
        if let Some(id) = message.key() {
            self.state().waiting.add(Side::Agent, id, Pending::Initialize);
        }
        Routed::pass()
    }

    /// `session/new`, `load`, `resume` and `fork`: what the client hands to the agent.
    pub(super) fn start(&self, method: &str, message: &Message<'_>) -> Result<Routed, Unfit> {
        let id = Self::request_id(message)?;
        let params = Self::params(message)?;
        let folder = match params.get("cwd") {
            None | Some(Value::Null) if method != "session/new" => None,
            _ => Some(text(&params, "cwd")?),
        };
        let folder = folder.map(|folder| canonical(Path::new(folder)));
        let session = match method {
            "session/new" | "session/fork" => None,
            _ => Some(text(&params, "sessionId")?.to_owned()),
        };
        for (key, value) in modes::in_meta(&params) {
            if let Some(refused) = self.unless_allowed(&value, &format!("{method} _meta.{key}")) {
                return Ok(Routed::say(Side::Client, Self::denied(id, &refused)));
            }
        }
        let routed = match self.servers(message, &params)? {
            Ok(routed) => routed,
            Err(refused) => return Ok(Routed::say(Side::Client, Self::denied(id, &refused))),
        };
        let key = message.key().ok_or_else(|| Unfit::params("Its id is invalid."))?;
        if !self.state().waiting.add(Side::Agent, key, Pending::Start { session, folder }) {
            return Err(Unfit::params("Another request with this id is pending, or too many are."));
        }
        Ok(routed)
    }

    /// The MCP servers of a session, behind the gateway; where there is none, only those that a rule allows.
    fn servers(&self, message: &Message<'_>, params: &Value) -> Result<Result<Routed, AcpAnswer>, Unfit> {
        let entries = match params.get("mcpServers") {
            None | Some(Value::Null) => return Ok(Ok(Routed::pass())),
            Some(entries) => entries,
        };
        let read = servers::read(entries).ok_or_else(|| Unfit::params("One of its `mcpServers` is invalid."))?;
        let mut new = Vec::with_capacity(read.len());
        for (server, entry) in read.into_iter().zip(entries.as_array().into_iter().flatten()) {
            match (server, &self.gateway) {
                (Server::OverAcp { id, name }, _) => {
                    let mut state = self.state();
                    state.servers.retain(|(known, _)| *known != id);
                    state.servers.truncate(256);
                    state.servers.push((id, name));
                    new.push(entry.clone());
                }
                (Server::Outside(entry), gateway) => {
                    match gateway.as_ref().and_then(|one| self.behind(&entry, one, params)) {
                        Some(wrapped) => new.push(wrapped.map_err(Unfit::params)?),
                        None => {
                            let said = self.judge.judge(servers::as_call(&entry), &self.who(None), "mcpServers");
                            match said.allowed() {
                                Ok(permit) => permit.spend(|| new.push(entry)),
                                Err(said) => return Ok(Err(said)),
                            }
                        }
                    }
                }
            }
        }
        if Some(&new) == entries.as_array() {
            return Ok(Ok(Routed::pass()));
        }
        let value = Value::Array(new).to_string();
        let line = replaced(message.line, &["params", "mcpServers"], value.as_bytes());
        let mut line = line.ok_or_else(|| Unfit::params("Its `mcpServers` cannot be changed."))?;
        line.push(b'\n');
        Ok(Ok(Routed::instead(line)))
    }

    /// A server behind the gateway, if that can reach it.
    fn behind(&self, entry: &Value, gateway: &McpGateway, params: &Value) -> Option<Result<Value, String>> {
        let workspace = params.get("cwd").and_then(Value::as_str).map(Path::new);
        let agent = self.state().agent_name.clone();
        let own = self.judge.own_folder();
        let around = |own| Around { workspace, agent: agent.as_deref(), own };
        match &own {
            Ok(own) => servers::wrapped(entry, gateway, &around(own)),
            Err(why) => Some(Err(why.clone())),
        }
    }

    /// The agent has answered the start of a session.
    pub(super) fn started(&self, message: &Message<'_>, session: Option<String>, folder: Option<PathBuf>) -> Routed {
        let Some(raw) = message.result else { return Routed::pass() };
        let Ok(result) = serde_json::from_slice::<Value>(raw) else {
            // A mode may be hidden in what cannot be read.
            let why = "Sayso: deny. The agent's answer to the session start cannot be parsed [call-malformed].";
            return Routed::say(Side::Client, error_line(message.id, DENIED, why, None));
        };
        let named = result.get("sessionId").and_then(Value::as_str).map(str::to_owned);
        let Some(session) = named.or(session) else { return Routed::pass() };
        let told = modes::told(&result);
        let agent = {
            let mut state = self.state();
            let known = state.sessions.at(&session);
            known.folder = folder.or(known.folder.take());
            known.mode_options.clone_from(&told.options);
            state.agent
        };
        let who = self.who(Some(&session));
        self.judge.note(What::SessionStarted, &who, "session/new", |_| {});
        let mode = match told.current.clone() {
            Some(mode) => mode,
            None if self.may_ask_nobody(agent, &session) => UNTOLD.to_owned(),
            None => return Routed::pass(),
        };
        if self.may_be_in(&mode, &session, "session/new") {
            self.state().sessions.at(&session).mode = Some(mode);
            return Routed::pass();
        }
        let id = message.id.unwrap_or(b"null");
        let fallback = modes::fallback(&told.available, agent);
        let Some(back) = fallback.or_else(|| (mode == UNTOLD).then(|| UNTOLD_BACK.to_owned())) else {
            let why = format!(
                "Sayso: deny. The agent starts in the mode {mode:?}, which the policy does not allow, and offers no other."
            );
            return Routed::say(Side::Client, error_line(Some(id), DENIED, &why, None));
        };
        let held = in_mode(message.line, &result, &back);
        self.state().sessions.at(&session).mode = Some(back.clone());
        self.pin(&session, &back, Some(PinnedStart { id: id.to_vec(), line: held, mode }))
    }

    /// Whether an agent that tells of no mode may ask nobody: one that has such modes does, unless its settings say else.
    fn may_ask_nobody(&self, agent: Option<Agent>, session: &str) -> bool {
        let Some(asks) = agent.and_then(|agent| agent.row().acp.untold) else { return false };
        let folder = self.state().sessions.at(session).folder.clone();
        !self.settings_home.as_deref().is_some_and(|home| asks(home, folder.as_deref()))
    }

    /// Puts a session back into a mode that asks.
    pub(super) fn pin(&self, session: &str, mode: &str, start: Option<PinnedStart>) -> Routed {
        let mut state = self.state();
        let (key, own) = state.waiting.own_id();
        let failed = start.as_ref().map(not_pinned);
        if !state.waiting.add(Side::Agent, key, Pending::Pin { start }) {
            return failed.map_or_else(Routed::nothing, |line| Routed::say(Side::Client, line));
        }
        let params = json!({"sessionId": session, "modeId": mode}).to_string();
        Routed::say(Side::Agent, message_line(Some(own.as_bytes()), "session/set_mode", Some(params.as_bytes())))
    }

    /// The agent has answered our change of its mode.
    pub(super) fn pinned(message: &Message<'_>, start: Option<PinnedStart>) -> Routed {
        match start {
            Some(start) if message.error.is_some() => Routed::say(Side::Client, not_pinned(&start)),
            Some(start) => Routed::say(Side::Client, start.line),
            None => Routed::nothing(),
        }
    }

    pub(super) fn set_mode(&self, message: &Message<'_>) -> Result<Routed, Unfit> {
        let id = Self::request_id(message)?;
        let params = Self::params(message)?;
        let (session, mode) = (text(&params, "sessionId")?, text(&params, "modeId")?);
        Ok(self.change_mode(id, session, mode, "session/set_mode"))
    }

    pub(super) fn set_option(&self, message: &Message<'_>) -> Result<Routed, Unfit> {
        let id = Self::request_id(message)?;
        let params = Self::params(message)?;
        let (session, option) = (text(&params, "sessionId")?, text(&params, "configId")?);
        let value = params.get("value").ok_or_else(|| Unfit::params("It has no `value`."))?;
        let event = "session/set_config_option";
        let mode_options = {
            let state = self.state();
            state.sessions.get(session).map(|known| known.mode_options.clone()).unwrap_or_default()
        };
        match modes::set_option(option, value, &mode_options) {
            None => Ok(Routed::pass()),
            Some(Chosen::Mode(mode)) => Ok(self.change_mode(id, session, &mode, event)),
            Some(Chosen::Option(call)) => {
                let said = self.judge.judge(call, &self.who(Some(session)), event);
                Ok(match said.allowed() {
                    Ok(permit) => permit.spend(Routed::pass),
                    Err(said) => Routed::say(Side::Client, Self::denied(id, &said)),
                })
            }
        }
    }

    fn change_mode(&self, id: &[u8], session: &str, mode: &str, event: &str) -> Routed {
        let agent = self.state().agent;
        let who = self.who(Some(session));
        // A mode that asks needs no yes of its own, whatever an operator has switched on; a rule against it still counts.
        let free = modes::asks(mode, agent) && self.judge.rehearse(modes::set_mode(mode), &who) != Verdict::Deny;
        let said = (!free).then(|| self.judge.judge(modes::set_mode(mode), &who, event));
        let into = || {
            self.state().sessions.at(session).mode = Some(mode.to_owned());
            Routed::pass()
        };
        match said.map(AcpAnswer::allowed) {
            None => into(),
            Some(Ok(permit)) => permit.spend(into),
            Some(Err(said)) => Routed::say(Side::Client, Self::denied(id, &said)),
        }
    }

    /// Whether a session may be in a mode that it was not put into by the client.
    pub(super) fn may_be_in(&self, mode: &str, session: &str, event: &str) -> bool {
        let agent = self.state().agent;
        let who = self.who(Some(session));
        match self.judge.rehearse(modes::set_mode(mode), &who) {
            Verdict::Allow => true,
            Verdict::Ask if modes::asks(mode, agent) => true,
            _ => {
                self.judge.note(What::SettingsChanged, &who, event, |one| one.text = Some(format!("mode {mode}")));
                false
            }
        }
    }

    /// What the client would set in passing.
    fn unless_allowed(&self, mode: &str, event: &str) -> Option<AcpAnswer> {
        let agent = self.state().agent;
        if modes::asks(mode, agent) {
            return None;
        }
        let said = self.judge.judge(modes::set_mode(mode), &self.who(None), event);
        said.allowed().map_or_else(Some, |permit| permit.spend(|| None))
    }
}

/// The answer to a start, with another mode in both places where it may stand.
fn in_mode(line: &[u8], result: &Value, mode: &str) -> Vec<u8> {
    let value = Value::from(mode).to_string();
    let mut out = line.to_vec();
    if result.pointer("/modes/currentModeId").is_some() {
        out = replaced(&out, &["result", "modes", "currentModeId"], value.as_bytes()).unwrap_or(out);
    }
    if let Some(Value::Array(options)) = result.get("configOptions") {
        let mut options = options.clone();
        let told = modes::told(result).options;
        for option in &mut options {
            let is_mode = option.get("id").and_then(Value::as_str).is_some_and(|id| told.iter().any(|one| one == id));
            if let (true, Some(fields)) = (is_mode, option.as_object_mut()) {
                fields.insert("currentValue".to_owned(), Value::from(mode));
            }
        }
        let options = Value::Array(options).to_string();
        out = replaced(&out, &["result", "configOptions"], options.as_bytes()).unwrap_or(out);
    }
    out.push(b'\n');
    out
}

fn not_pinned(start: &PinnedStart) -> Vec<u8> {
    let why = format!(
        "Sayso: deny. The agent starts in the mode {:?}, which the policy does not allow, and does not switch.",
        start.mode
    );
    error_line(Some(&start.id), DENIED, &why, None)
}

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
