//! What makes the client act: reading and writing files, starting programs, speaking to MCP servers on the agent's
//! behalf. The protocol has no question for these, so where the policy says ask, Sayso asks the client itself.

use super::call;
use super::judge::{AcpAnswer, AcpCall, Leave, Who};
use super::later::HeldRequest;
use super::pending::{Held, Pending};
use super::proxy::{CANCELLED, DENIED, Proxy, Routed, Side, Unfit, text};
use super::terminal::Terminal;
use crate::pipe::{Id, Message, error_line, message_line};
use sayso_gate::audit::What;
use sayso_gate::{Permit, Prompt};
use sayso_policy::explain::visible;
use sayso_policy::{CanHold, Holding, Request};
use serde_json::{Value, json};
use std::path::Path;

/// The options of our own questions.
const ALLOW: &str = "sayso-allow";
const REJECT: &str = "sayso-reject";
/// How much of a request a question shows.
const TITLE: usize = 400;

impl Proxy {
    /// A request that makes the client act.
    pub(super) fn act(&self, method: &str, message: &Message<'_>) -> Result<Routed, Unfit> {
        Self::request_id(message)?;
        let params = Self::params(message)?;
        let session = text(&params, "sessionId")?;
        let who = self.who(Some(session));
        let folder = who.workspace.clone();
        let terminal = match method {
            "terminal/create" if self.judge.can_hold() != CanHold::No => Terminal::of(&params, &who),
            _ => None,
        };
        let mut call = match method {
            "fs/read_text_file" => AcpCall::tool("read_text_file", json!({"path": path(&params)?}), folder),
            "fs/write_text_file" => {
                let arguments = json!({"path": path(&params)?, "content": text(&params, "content")?});
                AcpCall::tool("write_text_file", arguments, folder)
            }
            "terminal/create" => AcpCall::tool("terminal", command(&params)?, folder),
            // What a later version of the protocol lets a client do.
            _ => AcpCall::tool(format!("acp:{}", method.replace('/', "_")), params.clone(), folder),
        };
        if terminal.is_some() {
            call.can_hold = self.judge.can_hold();
        }
        // One yes is enough: the person at the editor has just seen exactly this write.
        let agreed = method == "fs/write_text_file" && {
            let (path, content) = (text(&params, "path")?, text(&params, "content")?);
            self.state().sessions.at(session).take_agreed(path, content)
        };
        self.gated(method, message, call, &who, agreed, terminal)
    }

    /// A message to an MCP server that speaks through the client.
    pub(super) fn server_message(&self, message: &Message<'_>) -> Result<Routed, Unfit> {
        let params = Self::params(message)?;
        let method = text(&params, "method")?;
        if method != "tools/call" {
            return Ok(Routed::pass());
        }
        Self::request_id(message)?;
        let inner = params.get("params").filter(|inner| inner.is_object());
        let inner = inner.ok_or_else(|| Unfit::params("The call's parameters are not an object."))?;
        let arguments = inner.get("arguments").cloned().unwrap_or_else(|| json!({}));
        let id = match (params.get("serverId"), params.get("connectionId")) {
            (Some(id), None) | (None, Some(id)) => id.as_str().unwrap_or_default(),
            // Which of the two a client goes by is its own affair, and the other could be any server's.
            _ => "",
        };
        let server = {
            let state = self.state();
            state.servers.iter().find(|(known, _)| known == id && !id.is_empty()).map(|(_, name)| name.clone())
        };
        let mut call = AcpCall::tool(text(inner, "name")?, arguments, None);
        if let Request::Tool { server: named, .. } = &mut call.request {
            *named = Some(server.unwrap_or_else(|| "unknown".to_owned()));
        }
        self.gated("mcp/message", message, call, &self.who(None), false, None)
    }

    fn gated(
        &self,
        method: &str,
        message: &Message<'_>,
        mut call: AcpCall,
        who: &Who,
        agreed: bool,
        terminal: Option<Terminal>,
    ) -> Result<Routed, Unfit> {
        let asked = HeldRequest::of(message)?;
        call.id = Some(String::from_utf8_lossy(&asked.id).into_owned());
        let (title, asking) = (title(method, &call), who.clone());
        let then = move |proxy: &Self, asked: &HeldRequest, mut said: AcpAnswer| {
            let permit = match said.leave() {
                Leave::Given(permit) => permit,
                Leave::Asked(prompt) if agreed => prompt.yes(),
                Leave::Asked(prompt) if asking.session.is_some() => {
                    return proxy.question(asked, &title, (&said, prompt), &asking);
                }
                Leave::Asked(_) | Leave::None => {
                    return Ok(Routed::say(Side::Agent, Self::denied(&asked.id, &said)));
                }
            };
            proxy.let_through(&asking, said.record.clone());
            Ok(proxy.sent_on(asked, &said, permit, &asking, terminal))
        };
        if agreed {
            return then(self, &asked, self.judge.judge(call, who, method));
        }
        self.decided(call::certain(call), who, method, asked, false, Box::new(then))
    }

    /// A request that goes on: as it came, or so that what the client starts is held.
    fn sent_on(
        &self,
        asked: &HeldRequest,
        said: &AcpAnswer,
        permit: Permit,
        who: &Who,
        terminal: Option<Terminal>,
    ) -> Routed {
        let (need, required) = match said.hold {
            Some(Holding::Required(need)) => (need, true),
            Some(Holding::Wanted(need)) => (need, false),
            Some(Holding::WouldAllow(_)) | None => return permit.spend(Routed::pass),
        };
        let terminal = terminal.filter(|_| self.judge.can_hold().meets(need));
        match (terminal, required) {
            (Some(terminal), _) => {
                let record = said.record.clone().unwrap_or_default();
                let (terms, how) = ((said.policy.clone(), record), (need, required));
                match terminal.held(permit, self.judge.places(), (&asked.id, who), terms, how) {
                    Ok(line) => Routed::instead(line),
                    Err(error) => {
                        let why = format!("Sayso: deny. It could not be held ({error}), so it does not run.");
                        Routed::say(Side::Agent, error_line(Some(&asked.id), DENIED, &visible(&why), None))
                    }
                }
            }
            (None, false) => {
                self.judge.note(What::NotHeld, who, "terminal/create", |it| {
                    it.held = Some(sayso_gate::audit::Held { record: said.record.clone(), ..Default::default() });
                });
                permit.spend(Routed::pass)
            }
            // It must not have come to this; it does not run unheld.
            (None, true) => {
                let why = "Sayso: deny. It cannot be held, so it does not run.";
                Routed::say(Side::Agent, error_line(Some(&asked.id), DENIED, why, None))
            }
        }
    }

    /// Asks the person at the editor, and holds the request meanwhile.
    fn question(
        &self,
        asked: &HeldRequest,
        title: &str,
        (said, prompt): (&AcpAnswer, Prompt),
        who: &Who,
    ) -> Result<Routed, Unfit> {
        let session = who.session.clone().unwrap_or_default();
        let mut state = self.state();
        let (key, own) = state.waiting.own_id();
        let (line, id, record) = (asked.whole(), asked.id.clone(), said.record.clone());
        let held = Held { line, id, session: session.clone(), record, prompt };
        if !state.waiting.add(Side::Client, key, Pending::Question { held }) {
            return Err(Unfit::params("Too many requests are pending."));
        }
        drop(state);
        let call_id: &str = own.trim_matches('"');
        let params = json!({
            "sessionId": session,
            "toolCall": {
                "toolCallId": call_id,
                "title": title,
                "status": "pending",
                "content": [{"type": "content", "content": {"type": "text", "text": said.why()}}],
            },
            "options": [
                {"optionId": ALLOW, "name": "Allow", "kind": "allow_once"},
                {"optionId": REJECT, "name": "Reject", "kind": "reject_once"},
            ],
        });
        let request =
            message_line(Some(own.as_bytes()), "session/request_permission", Some(params.to_string().as_bytes()));
        Ok(Routed::say(Side::Client, request))
    }

    /// The person has answered a question of ours: the answer is not the agent's, but the request goes on or is denied.
    pub(super) fn question_answered(&self, message: &Message<'_>, held: Held) -> Routed {
        let who = self.who(Some(&held.session));
        let result: Value = message.result.and_then(|raw| serde_json::from_slice(raw).ok()).unwrap_or_default();
        let chosen = result.pointer("/outcome/optionId").and_then(Value::as_str);
        let outcome = result.pointer("/outcome/outcome").and_then(Value::as_str);
        if outcome == Some("selected") && chosen == Some(ALLOW) {
            self.let_through(&who, held.record);
            return held.prompt.yes().spend(|| Routed::say(Side::Client, held.line));
        }
        self.judge.not_run(&who, held.record.as_deref());
        let why = "Sayso: deny. The person who was asked did not approve it.";
        Routed::say(Side::Agent, error_line(Some(&held.id), DENIED, why, None))
    }

    /// The agent takes a request back. If it is one that we hold, the question goes with it.
    pub(super) fn cancelled(&self, message: &Message<'_>) -> Routed {
        let params: Value = message.params.and_then(|raw| serde_json::from_slice(raw).ok()).unwrap_or_default();
        let asked = params.get("requestId").and_then(|id| Id::read(id.to_string().as_bytes()));
        if let Some(queued) = asked.as_ref().and_then(|id| self.state().waiting.take_held(id)) {
            return Routed::say(Side::Agent, self.withdrawn(queued));
        }
        let Some((question, held)) = asked.and_then(|id| self.state().waiting.take_question(&id)) else {
            return Routed::pass();
        };
        self.judge.not_run(&self.who(Some(&held.session)), held.record.as_deref());
        let routed =
            Routed::say(Side::Agent, error_line(Some(&held.id), CANCELLED, "The request was cancelled.", None));
        let Id::Text(text) = question else { return routed };
        let params = json!({"requestId": String::from_utf8_lossy(&text)});
        routed.and(Side::Client, message_line(None, "$/cancel_request", Some(params.to_string().as_bytes())))
    }
}

/// ACP's paths are absolute; where another one would lead depends on the client.
fn path(params: &Value) -> Result<&str, Unfit> {
    let path = text(params, "path")?;
    if Path::new(path).is_absolute() { Ok(path) } else { Err(Unfit::params("Its `path` is not absolute.")) }
}

/// A program and its arguments. Some clients start it without a shell, some hand the words to one as they are, so
/// words that a shell would read differently count in both readings.
fn command(params: &Value) -> Result<Value, Unfit> {
    let program = text(params, "command")?;
    let mut arguments = json!({"command": program});
    let fields = arguments.as_object_mut().ok_or_else(|| Unfit::params("Its command is invalid."))?;
    let words: Vec<&str> = match params.get("args") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(items)) => {
            let words: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
            words.ok_or_else(|| Unfit::params("One of its `args` is not a string."))?
        }
        Some(_) => return Err(Unfit::params("Its `args` are not a list.")),
    };
    let plain = |word: &&str| word.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_./,:@%+=".contains(&b));
    if words.iter().all(plain) {
        fields.insert("args".to_owned(), json!(words));
    } else {
        let quoted: Vec<String> = words.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''"))).collect();
        let both = [quoted.join(" "), words.join(" ")].map(|rest| format!("{program} {rest}"));
        fields.shift_remove("command");
        fields.insert("commands".to_owned(), json!(both));
    }
    match params.get("cwd") {
        None | Some(Value::Null) => {}
        Some(Value::String(cwd)) if Path::new(cwd).is_absolute() => {
            fields.insert("cwd".to_owned(), json!(cwd));
        }
        Some(_) => return Err(Unfit::params("Its `cwd` is not an absolute path.")),
    }
    match params.get("env") {
        None | Some(Value::Null) => {}
        Some(env) => {
            fields.insert("env".to_owned(), env.clone());
        }
    }
    Ok(arguments)
}

fn title(method: &str, call: &AcpCall) -> String {
    let Request::Tool { name, arguments, .. } = &call.request else { return method.to_owned() };
    let text = |key: &str| arguments.get(key).and_then(Value::as_str).map(str::to_owned);
    let what = match method {
        "fs/read_text_file" => format!("Read {}", text("path").unwrap_or_default()),
        "fs/write_text_file" => format!("Write {}", text("path").unwrap_or_default()),
        "terminal/create" => {
            let words = arguments.get("args").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
            let first = text("command").or_else(|| arguments.pointer("/commands/0")?.as_str().map(str::to_owned));
            std::iter::once(first.unwrap_or_default().as_str()).chain(words).collect::<Vec<_>>().join(" ")
        }
        _ => format!("{name} {arguments}"),
    };
    visible(&what.chars().take(TITLE).collect::<String>()).into_owned()
}
