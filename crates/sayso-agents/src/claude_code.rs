//! Claude Code's words. Measured on 2.1.325.
//!
//! `PreToolUse` is asked before every call, `PermissionRequest` where Claude Code would ask a person, also headless.
//! An Ask goes to Claude Code's own prompt; without a person that prompt is a denial, with our reason as its text.
//!
//! The workspace is fixed when the session starts: the folder that Claude Code names in `CLAUDE_PROJECT_DIR`, if the
//! working directory is in it, else the working directory. The variable is set by Claude Code itself for its hooks;
//! later events, whatever their `cwd`, do not move the workspace.

use crate::{HookOutput, HookSetting};
use sayso_gate::audit::Spool;
use sayso_gate::{Asking, Circumstances, Gate, InForce, Judged, Permit, Record, Recorder, Sessions, reason};
use sayso_policy::explain::visible;
use sayso_policy::{Actor, Answer, Reason, Request, ToolCall, Verdict, Workspace};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// Where Claude Code tells its hooks which project it was started for.
pub const PROJECT_VARIABLE: &str = "CLAUDE_PROJECT_DIR";

const NAME: &str = "claude-code";

/// Tools that are themselves a question to a person. An allow here would answer in that person's place.
const QUESTIONS: &[&str] = &["AskUserQuestion", "ExitPlanMode"];

/// Events that speak of a tool after the fact: nothing is left to decide.
const AFTERWARDS: &[&str] = &["PostToolUse", "PostToolUseFailure", "PostToolBatch", "PermissionDenied"];

/// Answers one event.
#[must_use]
pub fn hook(input: &[u8], setting: &HookSetting) -> HookOutput {
    let event = match Event::read(input) {
        Ok(event) => event,
        Err(why) => return HookOutput::blocked(&format!("{why} [call-malformed].")),
    };
    match (event.name.as_str(), &event.call) {
        ("PreToolUse", Ok(call)) => judge(&event, call, setting).before_tool(call),
        ("PermissionRequest", Ok(call)) => judge(&event, call, setting).permission(call),
        ("PreToolUse", Err(why)) => before_tool("deny", &malformed(&event, why, setting).why()),
        ("PermissionRequest", Err(why)) => permission_denied(&malformed(&event, why, setting).why()),
        ("SessionStart", _) => start(&event, setting),
        (name, _) if AFTERWARDS.contains(&name) => HookOutput::silent(),
        // An event of a later version that is about a tool may be the one that matters.
        (_, call) if event.about_tool => HookOutput::blocked(&match call {
            Ok(call) => format!("This Sayso does not know the event {} about {}.", event.name, call.tool),
            Err(why) => format!("This Sayso does not know the event {}. {why}", event.name),
        }),
        _ => HookOutput::silent(),
    }
}

/// An event, as far as Sayso looks at it.
struct Event {
    name: String,
    session: Option<String>,
    transcript: Option<String>,
    cwd: Option<PathBuf>,
    subagent: Option<String>,
    about_tool: bool,
    call: Result<Call, String>,
}

/// The tool part of an event.
struct Call {
    tool: String,
    input: Value,
    server: Option<String>,
    id: Option<String>,
}

impl Event {
    /// The strict view: what is there must have the type it always has.
    fn read(input: &[u8]) -> Result<Self, String> {
        let object = match serde_json::from_slice(input) {
            Ok(Value::Object(object)) => object,
            Ok(_) => return Err("What the agent sent is not an object".to_owned()),
            Err(error) => return Err(format!("What the agent sent is not JSON ({error})")),
        };
        let name = text(&object, "hook_event_name")?.ok_or("What the agent sent names no event")?;
        Ok(Self {
            session: text(&object, "session_id")?,
            transcript: text(&object, "transcript_path")?,
            cwd: text(&object, "cwd")?.map(PathBuf::from).filter(|cwd| cwd.is_absolute()),
            subagent: text(&object, "agent_id")?,
            about_tool: object.contains_key("tool_name") || object.contains_key("tool_input"),
            call: Call::read(&object),
            name,
        })
    }

    fn actor(&self) -> Actor {
        let main = Actor { agent: Some(NAME.to_owned()), session: self.session.clone(), ..Actor::default() };
        match &self.subagent {
            None => main,
            Some(id) => Actor { subagent: true, run: Some(id.clone()), parent: Some(Box::new(main.clone())), ..main },
        }
    }

    /// The folder the session is about, by what this event alone says.
    fn folder(&self, setting: &HookSetting) -> Option<PathBuf> {
        let canonical = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let cwd = self.cwd.as_deref().map(canonical);
        let project = setting.project_folder.as_deref().filter(|p| p.is_absolute()).map(canonical);
        match (cwd, project) {
            (Some(cwd), Some(project)) if cwd.starts_with(&project) => Some(project),
            (cwd, _) => cwd,
        }
    }

    /// What a session is known by. The transcript's path tells apart sessions whose ids collide.
    fn session_key(&self) -> Option<String> {
        let session = self.session.as_deref()?;
        Some(format!("{NAME}\0{session}\0{}", self.transcript.as_deref().unwrap_or_default()))
    }

    /// The folder the session is about.
    fn workspace(&self, setting: &HookSetting) -> Result<Option<PathBuf>, sayso_gate::Error> {
        match (self.folder(setting), self.session_key()) {
            (Some(now), Some(key)) => Sessions::open(&setting.places)?.workspace(&key, &now).map(Some),
            (folder, _) => Ok(folder),
        }
    }
}

impl Call {
    fn read(object: &Map<String, Value>) -> Result<Self, String> {
        let tool = text(object, "tool_name")?.filter(|tool| !tool.trim().is_empty());
        let input = object.get("tool_input").filter(|input| input.is_object());
        let server = match object.get("mcp_server") {
            None | Some(Value::Null) => None,
            Some(Value::Object(server)) => text(server, "name")?,
            Some(_) => return Err("The call's `mcp_server` is not an object".to_owned()),
        };
        Ok(Self {
            tool: tool.ok_or("The call names no tool")?,
            input: input.ok_or("The call's `tool_input` is not an object")?.clone(),
            server,
            id: text(object, "tool_use_id")?,
        })
    }
}

/// A member that is a string, if it is there at all.
fn text(object: &Map<String, Value>, key: &str) -> Result<Option<String>, String> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!("What the agent sent has a `{key}` that is not text")),
    }
}

/// A session starts: its workspace is fixed here, if no call was faster.
fn start(event: &Event, setting: &HookSetting) -> HookOutput {
    // If it cannot be remembered, neither can a decision be recorded: the first call says so.
    let _ = event.workspace(setting);
    HookOutput::silent()
}

/// What is said of a call.
struct Said {
    answer: Answer,
    verdict: Verdict,
    reasons: Vec<Reason>,
    permit: Option<Permit>,
}

fn judge(event: &Event, call: &Call, setting: &HookSetting) -> Said {
    let workspace = match event.workspace(setting) {
        Ok(workspace) => workspace,
        Err(error) => return Said::failed(event, call, &error, setting),
    };
    let in_force = match &setting.given {
        Some(files) => InForce::given(files.clone()),
        None => InForce::load(&setting.places, workspace.as_deref()),
    };
    let gate = in_force.and_then(|policy| Ok(Gate::new(policy, Box::new(Spool::open(&setting.places)?))));
    let gate = match gate {
        Ok(gate) => gate,
        Err(error) => return Said::failed(event, call, &error, setting),
    };
    let home = setting.places.home.clone();
    let tool_call = ToolCall {
        request: Request::Tool { name: call.tool.clone(), arguments: call.input.clone(), server: call.server.clone() },
        actor: event.actor(),
        cwd: event.cwd.clone(),
        workspace: workspace.map_or_else(Workspace::unknown, |root| Workspace::new(root, Some(&home))),
        home: Some(home),
        reported_kind: None,
    };
    Said::from(gate.judge(tool_call, &circumstances(event, call.id.clone())))
}

fn circumstances(event: &Event, call_id: Option<String>) -> Circumstances {
    Circumstances {
        way_in: format!("hook {NAME}"),
        event: Some(event.name.clone()),
        call_id,
        asking: Asking::OwnPrompt,
    }
}

impl From<Judged> for Said {
    fn from(judged: Judged) -> Self {
        let decision = judged.decision;
        Self { answer: decision.answer, verdict: decision.verdict, reasons: decision.reasons, permit: judged.permit }
    }
}

impl Said {
    /// Sayso cannot judge: the call does not run. Recorded where that can be.
    fn failed(event: &Event, call: &Call, error: &sayso_gate::Error, setting: &HookSetting) -> Self {
        let why = format!("Sayso cannot judge this call: {error}.");
        Self::refused(event, &call.tool, reason::built_in(reason::INTERNAL_ERROR, why), setting)
    }

    fn refused(event: &Event, tool: &str, reason: Reason, setting: &HookSetting) -> Self {
        let record = Record::refused(&circumstances(event, None), event.actor(), tool, &reason);
        // It is denied already: that this cannot be recorded makes it no stricter.
        let _ = Spool::open(&setting.places).and_then(|spool| spool.record(&record));
        Self { answer: Answer::Deny, verdict: Verdict::Deny, reasons: vec![reason], permit: None }
    }

    /// The answer to `PreToolUse`.
    fn before_tool(self, call: &Call) -> HookOutput {
        let why = self.why();
        match (self.answer, self.permit) {
            (Answer::Allow, Some(_)) if is_question(call) => HookOutput::silent(),
            (Answer::Allow, Some(permit)) => allowed_before_tool(permit, &why),
            (Answer::Ask, _) => before_tool("ask", &why),
            (Answer::Allow | Answer::Deny | Answer::DryRun, _) => before_tool("deny", &why),
        }
    }

    /// The answer to `PermissionRequest`: silence leaves it to the person whom Claude Code is about to ask.
    fn permission(self, call: &Call) -> HookOutput {
        let why = self.why();
        match (self.answer, self.permit) {
            (Answer::Ask, _) => HookOutput::silent(),
            (Answer::Allow, Some(_)) if is_question(call) => HookOutput::silent(),
            (Answer::Allow, Some(permit)) => permission_allowed(permit),
            (Answer::Allow | Answer::Deny | Answer::DryRun, _) => permission_denied(&why),
        }
    }

    /// Why, and what to do next, for the agent and its user. Nothing in it moves a cursor.
    fn why(&self) -> String {
        let head = match self.answer {
            Answer::DryRun => format!("Sayso, dry run: nothing was run; it would have been: {}.", self.verdict),
            answer => format!("Sayso: {}.", answer.as_str()),
        };
        let mut parts = vec![head];
        parts.extend(self.reasons.iter().take(3).map(sentence));
        let next = match self.answer {
            Answer::Deny => {
                "Do not try it again in another form: reach the goal another way, or tell the user what you need and why."
            }
            Answer::Ask => "A person must say yes to this.",
            Answer::Allow => "",
            Answer::DryRun => "Go on as if it had been done.",
        };
        parts.push(next.to_owned());
        parts.retain(|part| !part.is_empty());
        parts.join(" ")
    }
}

fn is_question(call: &Call) -> bool {
    QUESTIONS.contains(&call.tool.as_str())
}

/// A reason as one sentence: what, the code, and the place of the rule.
fn sentence(reason: &Reason) -> String {
    let place = reason.source.as_ref().map(|source| format!(", {source}")).unwrap_or_default();
    visible(&format!("{} [{}{place}]", reason.text, reason.code)).into_owned()
}

fn malformed(event: &Event, why: &str, setting: &HookSetting) -> Said {
    Said::refused(event, "unknown", reason::built_in(reason::CALL_MALFORMED, format!("{why}.")), setting)
}

/// To say allow takes a permit.
fn allowed_before_tool(permit: Permit, why: &str) -> HookOutput {
    drop(permit);
    before_tool("allow", why)
}

fn before_tool(decision: &str, why: &str) -> HookOutput {
    HookOutput::object(&json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": decision,
        "permissionDecisionReason": why,
    }}))
}

/// To say allow takes a permit.
fn permission_allowed(permit: Permit) -> HookOutput {
    drop(permit);
    permission(&json!({"behavior": "allow"}))
}

fn permission_denied(why: &str) -> HookOutput {
    permission(&json!({"behavior": "deny", "message": why}))
}

fn permission(decision: &Value) -> HookOutput {
    HookOutput::object(&json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}))
}
