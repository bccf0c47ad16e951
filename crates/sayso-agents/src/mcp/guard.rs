//! What stands between one client and one server: every message passes here, in either direction.
//!
//! Transport is not known here. A driver reads lines, hands each to [`Guard::hear_client`] or [`Guard::hear_server`],
//! and does what they say. What may take long (a person is asked, the server's tools must be fetched first) is handed
//! back as [`FromClient::Decide`], and the driver calls [`Guard::decide`] on a thread of its own.

use super::answer::{denied, malformed, refused, tool_error};
use super::asking::{Round, Shown};
use super::call::McpCall;
use super::elicit;
use super::findings;
use super::judge::{self, Judge, Look};
use super::own_id::{Reply, Waiting};
use super::pins::Pins;
use super::result::{self, Redact, Shape};
use super::schema::Checker;
use super::suspicion;
use super::tools::{Tools, next_cursor};
use crate::pipe::{Id, Message, Reader, error_line, message_line, replaced, result_line};
use sayso_gate::{Aside, Permit, reason};
use sayso_policy::{Answer, Code, Layer, Reason};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How many calls may wait for a person at once.
pub(super) const MOST_HELD: usize = 64;

/// Somebody who takes whole lines.
pub(crate) trait Port: Send + Sync {
    /// Passes a line on; `false` if nobody takes it any more.
    fn send(&self, line: &[u8]) -> bool;

    /// Says something of our own, without waiting until it is taken: whoever reads a side must not wait for that side.
    fn say(&self, line: Vec<u8>) -> bool {
        self.send(&line)
    }
}

/// What is between a client and its server.
pub(crate) struct Guard {
    /// The server, by the name its owner gave it.
    pub(crate) server: String,
    pub(super) reached: String,
    pub(super) judge: Arc<Judge>,
    pub(super) pins: Pins,
    pub(super) limits: Limits,
    pub(super) tools: Mutex<Tools>,
    /// The client can ask its user.
    elicitation: AtomicBool,
    /// Requests of our own.
    pub(super) waiting: Waiting,
    /// Calls that wait for a person; `true`: the client has given up on it.
    held: Mutex<HashMap<Id, Arc<AtomicBool>>>,
    /// Questions whose answers come with a second call, the oldest first.
    pub(super) rounds: Mutex<VecDeque<Round>>,
    /// Calls that are counted and have not ended, with the ids of their records.
    running: Mutex<HashMap<Id, String>>,
}

/// What a server may give, and how long things may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The largest result that is passed on, in bytes.
    pub largest_result: usize,
    /// What is taken out of results.
    pub redact: Redact,
    /// How long a person is waited for.
    pub patience: Duration,
    /// How long a server may take for an answer.
    pub timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            largest_result: 1024 * 1024,
            redact: Redact::Keys,
            patience: Duration::from_secs(300),
            timeout: Duration::from_secs(600),
        }
    }
}

/// What to do with a message of the client.
#[derive(Debug)]
pub(crate) enum FromClient {
    /// Pass it on as it came: it is no call.
    Pass,
    /// A call that may run, as it came.
    Run(Permit),
    /// A call that may run, in these words.
    RunThis(Vec<u8>, Permit),
    /// Do not pass it on; tell the client this.
    Answer(Vec<u8>),
    /// Nothing.
    Nothing,
    /// Call [`Guard::decide`] where waiting hurts nobody.
    Decide(Box<Held>),
}

/// A call that cannot be answered at once.
#[derive(Debug)]
pub(crate) struct Held {
    pub(super) line: Vec<u8>,
    pub(super) id: Vec<u8>,
    key: Id,
    pub(super) call: McpCall,
    /// How far it is judged, if it is.
    aside: Option<Box<Aside>>,
    given_up: Arc<AtomicBool>,
}

/// What to do with a message of the server.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FromServer {
    /// Pass it on as it came.
    Pass,
    /// Pass this on instead.
    Instead(Vec<u8>),
    /// Nothing.
    Nothing,
}

/// What a call's way leads to.
pub(super) enum Way {
    Run(Permit),
    /// Another line than the one that came.
    RunThis(Vec<u8>, Permit),
    /// The client is to ask, and to call again.
    Ask(Value),
    Told(String),
    /// Somebody has to be waited for; how far the call is judged, if it is.
    Slow(Option<Box<Aside>>),
}

impl Guard {
    pub(crate) fn new(server: String, reached: String, judge: Arc<Judge>, pins: Pins, limits: Limits) -> Self {
        // What cannot be kept or read is told when its tools are looked at: nothing of it is settled then.
        let _ = pins.begin(&server, &reached);
        Self {
            server,
            reached,
            judge,
            pins,
            limits,
            tools: Mutex::default(),
            elicitation: AtomicBool::new(false),
            waiting: Waiting::default(),
            held: Mutex::default(),
            rounds: Mutex::default(),
            running: Mutex::default(),
        }
    }

    /// A message of the client.
    pub(crate) fn hear_client(&self, message: &Message<'_>) -> FromClient {
        match message.method.as_deref() {
            None if self.takes(message) => FromClient::Nothing,
            Some("initialize") => {
                self.initialize(message);
                FromClient::Pass
            }
            Some("tools/call") => self.call(message),
            Some("notifications/cancelled") if self.gives_up(message) => FromClient::Nothing,
            _ => FromClient::Pass,
        }
    }

    /// A message of the server.
    pub(crate) fn hear_server(&self, message: &Message<'_>) -> FromServer {
        if message.method.is_none() {
            if self.takes(message) {
                return FromServer::Nothing;
            }
            self.ended(message);
            return message.result.map_or(FromServer::Pass, |result| self.result(message, result));
        }
        if message.method.as_deref() == Some("notifications/tools/list_changed") {
            // Whatever the client does about it: before the next call we look ourselves.
            let mut tools = lock(&self.tools);
            (tools.complete, tools.doubtful) = (false, true);
        }
        FromServer::Pass
    }

    /// Whether a message is the answer to a request of ours; then it has reached us.
    pub(crate) fn takes(&self, message: &Message<'_>) -> bool {
        message.key().is_some_and(|id| self.waiting.takes(&id, message.result))
    }

    /// Whether any call waits for a person, or for the server's tools.
    pub(crate) fn is_busy(&self) -> bool {
        !lock(&self.held).is_empty()
    }

    /// Whether a call of this id waits for a person.
    pub(crate) fn holds(&self, id: &Id) -> bool {
        lock(&self.held).contains_key(id)
    }

    /// The same for an answer that could not be read.
    pub(crate) fn hears(&self, id: &Id, result: Option<&[u8]>) -> bool {
        self.waiting.takes(id, result)
    }

    /// A request of our own. `None`: no answer; `Some(None)`: an error.
    pub(crate) fn request(
        &self,
        to: &dyn Port,
        method: &str,
        params: Option<&[u8]>,
        patience: Duration,
    ) -> Option<Reply> {
        let awaited = self.waiting.expect();
        if !to.send(&message_line(Some(&awaited.id), method, params)) {
            return None;
        }
        awaited.answer(patience)
    }

    /// The server is gone: nobody answers us any more, and another one may know other tools.
    pub(crate) fn server_gone(&self) {
        self.waiting.give_up();
        lock(&self.running).clear();
        let mut tools = lock(&self.tools);
        (tools.complete, tools.doubtful) = (false, true);
    }

    /// Whether the client can ask its user, as it says itself. It says so once; a proxy may say it for it.
    pub(crate) fn client_can_ask(&self, can: bool) {
        self.elicitation.store(can, Ordering::Relaxed);
    }

    fn initialize(&self, message: &Message<'_>) {
        let params: Option<Value> = message.params.and_then(|params| serde_json::from_slice(params).ok());
        let can = params.as_ref().and_then(|params| params.get("capabilities")).is_some_and(elicit::can_ask);
        self.client_can_ask(can);
    }

    fn call(&self, message: &Message<'_>) -> FromClient {
        let (Some(id), Some(key)) = (message.id, message.key()) else {
            // A call without an answer is none that the protocol knows, and one whose id readers round differently
            // might be answered to another.
            let why = "The call has no id that can be relied on.";
            return if message.id.is_some() { FromClient::Answer(malformed(None, why)) } else { FromClient::Nothing };
        };
        let call = match McpCall::read(message) {
            Ok(call) => call,
            Err(why) => return FromClient::Answer(malformed(message.id, &why)),
        };
        match self.way(&call) {
            Way::Run(permit) => FromClient::Run(permit),
            Way::RunThis(line, permit) => FromClient::RunThis(line, permit),
            Way::Ask(result) => FromClient::Answer(result_line(id, &result)),
            Way::Told(text) => FromClient::Answer(tool_error(id, &text)),
            Way::Slow(aside) => {
                let given_up = Arc::new(AtomicBool::new(false));
                let mut held = lock(&self.held);
                if held.len() >= MOST_HELD || held.insert(key.clone(), Arc::clone(&given_up)).is_some() {
                    let why = "Sayso: deny. Too many calls are pending, or one with this id is [unanswered].";
                    return FromClient::Answer(tool_error(id, why));
                }
                let (line, id) = (message.line.to_vec(), id.to_vec());
                FromClient::Decide(Box::new(Held { line, id, key, call, aside, given_up }))
            }
        }
    }

    /// The quick way, on the thread that reads: everything that needs neither a person nor the server.
    fn way(&self, call: &McpCall) -> Way {
        if call.answer.is_some() {
            return Way::Slow(None);
        }
        let tool = match self.tool(&call.tool) {
            Some(tool) if !tool.open => tool,
            _ => return Way::Slow(None),
        };
        if matches!(tool.checker(), Checker::Unusable(_)) {
            return Way::Slow(None);
        }
        let findings = findings::of_arguments(&tool, call).into_iter().collect();
        match self.judge.judge_at_once(&self.server, call, findings) {
            Err(aside) => Way::Slow(Some(aside)),
            Ok(judged) => match judged.permit {
                Some(permit) => Way::Run(permit),
                None => Way::Told(denied(&judged.decision)),
            },
        }
    }

    /// The slow way: fetches the server's tools where they are not known, asks a person where one must be asked.
    pub(crate) fn decide(&self, mut held: Held, to_client: &dyn Port, to_server: &dyn Port) -> FromClient {
        let aside = held.aside.take();
        let way = self.slow_way(&held, aside, to_client, to_server);
        lock(&self.held).remove(&held.key);
        if held.given_up.load(Ordering::SeqCst) {
            return FromClient::Nothing;
        }
        match way {
            Way::Run(permit) => {
                let mut line = held.line;
                line.push(b'\n');
                FromClient::RunThis(line, permit)
            }
            Way::RunThis(line, permit) => FromClient::RunThis(line, permit),
            Way::Ask(result) => FromClient::Answer(result_line(&held.id, &result)),
            Way::Told(text) => FromClient::Answer(tool_error(&held.id, &text)),
            Way::Slow(_) => {
                FromClient::Answer(tool_error(&held.id, "Sayso: deny. It could not be decided [internal-error]."))
            }
        }
    }

    fn slow_way(&self, held: &Held, aside: Option<Box<Aside>>, to_client: &dyn Port, to_server: &dyn Port) -> Way {
        let call = &held.call;
        if call.answer.is_some() {
            return self.second_round(held);
        }
        if self.tool(&call.tool).is_none() && !lock(&self.tools).complete && !self.fetch(call, to_server) {
            let text = format!("The MCP server {} is unavailable or does not list its tools.", self.server);
            let reason = own_reason(Code::McpServerGone, text);
            self.judge.refuse(&self.server, call, &reason);
            return Way::Told(refused(&[reason], "Try again later, or go on without it."));
        }
        let tool = self.tool(&call.tool);
        let findings = match self.findings(tool.as_deref(), call) {
            Ok(findings) => findings,
            Err(error) => return Way::Told(self.failed(call, &error)),
        };
        let elicitation = match call.asks_in_rounds() {
            true => call.client_can_ask(),
            false => self.elicitation.load(Ordering::Relaxed),
        };
        let asking = judge::asking(elicitation, self.limits.patience);
        let judged = self.judge.judge(&self.server, call, aside, findings, asking);
        let record = judged.record.id;
        let decision = judged.decision;
        let way = match (decision.answer, judged.permit, judged.prompt) {
            (Answer::Allow, Some(permit), _) => Way::Run(permit),
            (Answer::Ask, _, Some(prompt)) if elicitation => {
                let look = judged.operation.map(|operation| Look::of(operation, &decision.policy_version));
                self.ask(held, tool.as_deref(), &decision, Shown { look, prompt }, to_client)
            }
            _ => Way::Told(denied(&decision)),
        };
        if self.judge.has_limits() {
            match way {
                Way::Run(_) | Way::Ask(_) => drop(lock(&self.running).insert(held.key.clone(), record)),
                _ => self.judge.settle(record, true),
            }
        }
        way
    }

    /// A call that was counted has ended.
    fn ended(&self, message: &Message<'_>) {
        let mut running = lock(&self.running);
        if !running.is_empty()
            && let Some(record) = message.key().and_then(|key| running.remove(&key))
        {
            drop(running);
            self.judge.settle(record, false);
        }
    }

    pub(super) fn failed(&self, call: &McpCall, error: &crate::Error) -> String {
        let reason = own_reason(reason::INTERNAL_ERROR, format!("Sayso cannot judge this call: {error}."));
        self.judge.refuse(&self.server, call, &reason);
        refused(&[reason], "Tell the user.")
    }

    /// A server's greeting, its words to the model withheld if they are suspicious.
    pub(crate) fn greeting<'a>(&self, result: &'a [u8]) -> Cow<'a, [u8]> {
        let shape = Shape::of(result);
        let instructions = shape.as_ref().and_then(|shape| shape.instructions);
        let Some(instructions) = instructions else { return result.into() };
        let code = match serde_json::from_str::<Value>(instructions.get()) {
            Ok(text) => match suspicion::of_text(&text) {
                Some(found) => found.code(),
                None => return result.into(),
            },
            // Its client may read it all the same.
            Err(_) => "mcp-hidden-characters",
        };
        let told = format!("[Sayso withholds the server's instructions: {code}]");
        replaced(result, &["instructions"], Value::from(told).to_string().as_bytes()).map_or(b"{}".into(), Cow::Owned)
    }

    /// INVARIANT: whatever stands in one result, each part is looked at. A server puts next to each other what no honest
    /// one does, so that one part would hide another; and writes what we cannot read and its client can.
    fn result(&self, message: &Message<'_>, result: &[u8]) -> FromServer {
        let Some(shape) = Shape::of(result) else {
            if !result.starts_with(b"{") {
                return FromServer::Pass;
            }
            let why = "Sayso: the server's answer is not passed on: it cannot be read [call-malformed].";
            return FromServer::Instead(error_line(message.id, -32603, why, None));
        };
        let mut line: Cow<'_, [u8]> = message.line.into();
        if shape.instructions.is_some()
            && let Cow::Owned(greeting) = self.greeting(result)
        {
            let Some(other) = replaced(&line, &["result"], &greeting) else { return FromServer::Nothing };
            line = other.into();
        }
        if let Some(tools) = shape.tools
            && let Some(shown) = self.list(tools.get(), next_cursor(result).is_none())
        {
            let Some(other) = replaced(&line, &["result", "tools"], shown.as_bytes()) else {
                return FromServer::Nothing;
            };
            line = other.into();
        }
        let (largest, redact) = (self.limits.largest_result, self.limits.redact);
        let Cow::Owned(mut line) = line else {
            return result::checked(message, &shape, largest, redact).map_or(FromServer::Pass, FromServer::Instead);
        };
        let mut reader = Reader::default();
        let Ok(Some(changed)) = reader.read(&line) else { return FromServer::Nothing };
        let Some(shape) = changed.result.and_then(Shape::of) else { return FromServer::Nothing };
        if let Some(checked) = result::checked(&changed, &shape, largest, redact) {
            return FromServer::Instead(checked);
        }
        line.push(b'\n');
        FromServer::Instead(line)
    }

    /// The client gives up on a call that waits for a person: nobody else has heard of it.
    fn gives_up(&self, message: &Message<'_>) -> bool {
        #[derive(serde::Deserialize)]
        struct Cancelled<'a> {
            #[serde(borrow, rename = "requestId")]
            request: &'a RawValue,
        }
        let Some(Ok(cancelled)) = message.params.map(serde_json::from_slice::<Cancelled<'_>>) else { return false };
        let held = lock(&self.held);
        let given_up = Id::read(cancelled.request.get().as_bytes()).and_then(|id| held.get(&id));
        given_up.is_some_and(|flag| {
            flag.store(true, Ordering::SeqCst);
            true
        })
    }
}

/// A reason of the gateway's own.
pub(crate) fn own_reason(code: Code, text: String) -> Reason {
    Reason { code: code.into(), text, layer: Layer::BuiltIn, source: None }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
