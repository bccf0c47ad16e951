//! What an agent tells its hook, in Sayso's words. Dialects make these; nothing here knows an agent's JSON.

use crate::{Agent, HookSetting};
use sayso_gate::Sessions;
use sayso_gate::audit::Ended;
use sayso_policy::{Actor, Stated};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Something that an agent tells its hook.
#[derive(Debug)]
pub(crate) struct Event {
    /// The agent's own word for it.
    pub(crate) name: String,
    /// What it is about.
    pub(crate) occasion: Occasion,
    /// The session.
    pub(crate) session: Option<String>,
    /// What tells sessions apart whose ids collide.
    pub(crate) transcript: Option<String>,
    /// Where the agent is.
    pub(crate) cwd: Option<PathBuf>,
    /// The project's folder, where the event itself names it.
    pub(crate) project: Option<PathBuf>,
    /// The subagents it comes from, the innermost first; empty for the agent itself.
    pub(crate) subagents: Vec<String>,
    /// The kind of agent or subagent, as the agent reports it.
    pub(crate) kind: Option<String>,
    /// Its model, as `provider/model`, as the agent reports it.
    pub(crate) model: Option<String>,
    /// Who asks, as the owner states it in the registration.
    pub(crate) stated: Stated,
}

/// What an event is about.
#[derive(Debug)]
pub(crate) enum Occasion {
    /// A call is about to run; or why what was sent is no call.
    BeforeTool(Result<HookCall, String>),
    /// The agent would ask a person about a call.
    Permission(Result<HookCall, String>),
    /// A call has run, or failed.
    AfterTool(After),
    /// A session begins.
    SessionStart,
    /// A session ends.
    SessionEnd,
    /// A subagent begins, of this kind; nothing is decided.
    SubagentStart(Option<String>),
    /// Settings of the agent changed, these.
    ConfigChange(String),
    /// Nothing that is decided or kept.
    Other,
    /// Something about a tool that this version does not know. It may be the event that matters.
    Unknown,
}

/// A call, before it runs.
#[derive(Clone, Debug)]
pub(crate) struct HookCall {
    /// The tool, as the agent calls it.
    pub(crate) tool: String,
    /// Its arguments.
    pub(crate) input: Value,
    /// The MCP server, where the agent tells for certain.
    pub(crate) server: Option<String>,
    /// The agent's own id of the call.
    pub(crate) id: Option<String>,
}

/// How a call went.
#[derive(Debug, Default)]
pub(crate) struct After {
    /// The tool, as the agent calls it.
    pub(crate) tool: Option<String>,
    /// The agent's own id of the call.
    pub(crate) id: Option<String>,
    /// In numbers.
    pub(crate) ended: Ended,
    /// The error, if it failed.
    pub(crate) error: Option<String>,
    /// The command, where the agent repeats it: as the model wrote it, or as it ran.
    pub(crate) command: Option<String>,
    /// It was interrupted, or did not start: nothing can be said of how it ran.
    pub(crate) interrupted: bool,
    /// It goes on after this.
    pub(crate) background: bool,
}

impl Event {
    /// One that tells nothing yet but its name.
    pub(crate) fn new(name: String, occasion: Occasion) -> Self {
        Self {
            name,
            occasion,
            session: None,
            transcript: None,
            cwd: None,
            project: None,
            subagents: Vec::new(),
            kind: None,
            model: None,
            stated: Stated::default(),
        }
    }

    /// The model that it reports, of this provider where it names none.
    pub(crate) fn of_provider(mut self, provider: &str) -> Self {
        let named = |model: String| if model.contains('/') { model } else { format!("{provider}/{model}") };
        self.model = self.model.filter(|model| !model.trim().is_empty()).map(named);
        self
    }

    /// The call that is to be judged.
    pub(crate) fn call(&self) -> Option<&HookCall> {
        match &self.occasion {
            Occasion::BeforeTool(Ok(call)) | Occasion::Permission(Ok(call)) => Some(call),
            _ => None,
        }
    }

    /// Who asks. The agent that started a subagent is its ceiling.
    pub(crate) fn actor(&self, agent: Agent) -> Actor {
        let main = Actor { agent: Some(agent.name().to_owned()), session: self.session.clone(), ..Actor::default() };
        let main = self.stated.of(main);
        let mut actor = self.subagents.iter().rev().fold(main, |parent, id| Actor {
            subagent: true,
            run: Some(id.clone()),
            parent: Some(Box::new(parent.clone())),
            ..parent
        });
        if self.kind.is_some() || self.model.is_some() {
            let reported = actor.reported.get_or_insert_default();
            reported.agents.extend(self.kind.clone());
            reported.provider.clone_from(&self.model);
        }
        actor
    }

    /// The folder the session is about. The first word of a session fixes it; no later one moves it.
    pub(crate) fn workspace(&self, agent: Agent, setting: &HookSetting) -> Result<Option<PathBuf>, sayso_gate::Error> {
        match (self.folder(setting), self.session_key(agent)) {
            (Some(now), Some(key)) => Sessions::open(&setting.places)?.workspace(&key, &now).map(Some),
            (folder, _) => Ok(folder),
        }
    }

    /// The folder the session is about, by what this event alone says: the project's, if the agent is in it.
    fn folder(&self, setting: &HookSetting) -> Option<PathBuf> {
        let canonical = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let cwd = self.cwd.as_deref().map(canonical);
        let project = self.project.as_deref().or(setting.project_folder.as_deref());
        match (cwd, project.filter(|path| path.is_absolute()).map(canonical)) {
            (Some(cwd), Some(project)) if cwd.starts_with(&project) => Some(project),
            (Some(cwd), _) => Some(cwd),
            (None, _) => self.project.as_deref().map(canonical),
        }
    }

    /// What a session is known by.
    fn session_key(&self, agent: Agent) -> Option<String> {
        let session = self.session.as_deref()?;
        Some(format!("{agent}\0{session}\0{}", self.transcript.as_deref().unwrap_or_default()))
    }
}
