//! One server behind the gateway: its guard, the way to it, and the requests that wait for it.

use super::answer::tool_error;
use super::guard::{FromClient, FromServer, Guard, Port};
use super::multiplexer::Routes;
use super::own_id::Reply;
use crate::pipe::{Id, Message, Reader, Refused, Skimmed, error_line, message_line, replaced};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// How often a server may be started again, within [`WITHIN`].
const MOST_STARTS: usize = 5;
const WITHIN: Duration = Duration::from_secs(600);
/// How long a server that was started again may take to greet.
const GREETING: Duration = Duration::from_secs(60);
/// How many requests may wait for one server.
const MOST_PENDING: usize = 10_000;
/// JSON-RPC's number for what went wrong inside.
const INTERNAL: i64 = -32603;

/// Nobody takes lines there any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gone;

/// The way to a server.
pub(crate) trait Link: Send + Sync {
    /// Starts it. What it says goes to [`Upstream::line_from_server`], its end, with this number, to [`Upstream::gone`].
    fn start(&self, upstream: &Arc<Upstream>, life: u64) -> std::io::Result<()>;
    /// Sends a line.
    fn send(&self, line: &[u8]) -> Result<(), Gone>;
    /// It has ended by itself.
    fn forget(&self);
    /// Ends it.
    fn close(&self);
}

/// One server behind the gateway.
pub(crate) struct Upstream {
    pub(crate) guard: Guard,
    /// Its place among several; their requests to the client carry it.
    pub(crate) index: usize,
    link: Box<dyn Link>,
    client: Arc<dyn Port>,
    /// With several servers: who answers what.
    routes: Option<Arc<Routes>>,
    pending: Mutex<HashMap<Id, Pending>>,
    life: Mutex<Life>,
    /// Held while the server is started again.
    reviving: Mutex<()>,
    /// Hears that there is something to wait for.
    clock: OnceLock<Thread>,
    timeout: Duration,
}

#[derive(Default)]
struct Pending {
    id: Vec<u8>,
    call: bool,
    since: Option<Instant>,
    progress: Option<Vec<u8>>,
    /// The life of the server that it was sent to.
    life: u64,
}

#[derive(Default)]
struct Life {
    up: bool,
    /// How often it was started.
    number: u64,
    starts: VecDeque<Instant>,
    /// The parameters of the client's greeting, for a server that is started again.
    greeting: Option<Vec<u8>>,
    why: String,
}

impl Upstream {
    pub(crate) fn new(
        guard: Guard,
        index: usize,
        link: Box<dyn Link>,
        client: Arc<dyn Port>,
        routes: Option<Arc<Routes>>,
        timeout: Duration,
    ) -> Arc<Self> {
        Arc::new(Self {
            guard,
            index,
            link,
            client,
            routes,
            pending: Mutex::default(),
            life: Mutex::default(),
            reviving: Mutex::default(),
            clock: OnceLock::new(),
            timeout,
        })
    }

    /// Starts the server for the first time.
    pub(crate) fn start(self: &Arc<Self>) -> std::io::Result<()> {
        {
            let mut life = lock(&self.life);
            (life.up, life.number) = (true, 1);
        }
        self.link.start(self, 1).inspect_err(|error| self.down(format!("it cannot be started: {error}")))
    }

    /// Who is woken when a request waits.
    pub(crate) fn set_clock(&self, clock: Thread) {
        let _ = self.clock.set(clock);
    }

    fn down(&self, why: String) {
        let mut life = lock(&self.life);
        (life.up, life.why) = (false, why);
    }

    /// Ends the server.
    pub(crate) fn close(&self) {
        self.link.close();
    }

    /// A message of the client; `line` is the whole of it, its end included.
    pub(crate) fn hear_client(self: &Arc<Self>, message: &Message<'_>, line: &[u8]) {
        if message.method.as_deref() == Some("initialize") {
            lock(&self.life).greeting = message.params.map(<[u8]>::to_vec);
        }
        let step = self.guard.hear_client(message);
        self.act(step, message, line);
    }

    fn act(self: &Arc<Self>, step: FromClient, message: &Message<'_>, line: &[u8]) {
        match step {
            FromClient::Pass => self.forward(message, line),
            FromClient::Run(permit) => permit.spend(|| self.forward(message, line)),
            FromClient::RunThis(other, permit) => permit.spend(|| self.forward_line(&other)),
            FromClient::Answer(answer) => {
                self.client.say(answer);
            }
            FromClient::Nothing => {}
            FromClient::Decide(held) => {
                let id = message.id.map(<[u8]>::to_vec);
                let upstream = Arc::clone(self);
                let decide = move || {
                    let (to_client, to_server) = (Arc::clone(&upstream.client), Arc::clone(&upstream));
                    match upstream.guard.decide(*held, &*to_client, &to_server) {
                        FromClient::RunThis(line, permit) => permit.spend(|| upstream.forward_line(&line)),
                        FromClient::Answer(answer) => {
                            upstream.client.say(answer);
                        }
                        FromClient::Pass | FromClient::Run(_) | FromClient::Nothing | FromClient::Decide(_) => {}
                    }
                };
                if std::thread::Builder::new().name("mcp-decide".to_owned()).spawn(decide).is_err()
                    && let Some(id) = id
                {
                    self.client.say(tool_error(&id, "Sayso: deny. Too many messages are pending [internal-error]."));
                }
            }
        }
    }

    fn forward_line(self: &Arc<Self>, line: &[u8]) {
        let mut reader = Reader::default();
        if let Ok(Some(message)) = reader.read(line) {
            self.forward(&message, line);
        }
    }

    /// Sends a message on, and remembers whom to answer.
    fn forward(self: &Arc<Self>, message: &Message<'_>, line: &[u8]) {
        let request = message.method.is_some() && message.id.is_some();
        if request && !self.remember(message) {
            self.client.say(error_line(
                message.id,
                INTERNAL,
                "Sayso: too many requests are pending for this server.",
                None,
            ));
            return;
        }
        let ended;
        let line = if line.ends_with(b"\n") {
            line
        } else {
            ended = [line, b"\n"].concat();
            &ended
        };
        if lock(&self.life).up && self.link.send(line).is_ok() || !request {
            return;
        }
        // It is gone; to start it again takes time, which nobody else should have to wait for.
        let (upstream, line, key) = (Arc::clone(self), line.to_vec(), message.key());
        let again = move || {
            let life = upstream.revived();
            let waits = key.is_none_or(|key| {
                lock(&upstream.pending).get_mut(&key).is_some_and(|one| {
                    one.life = life.unwrap_or_default();
                    true
                })
            });
            // Whoever was told meanwhile that the server is gone must not be answered twice.
            if life.is_none() || waits && upstream.link.send(&line).is_err() {
                upstream.fail(u64::MAX);
            }
        };
        if std::thread::Builder::new().name("mcp-restart".to_owned()).spawn(again).is_err() {
            self.fail(u64::MAX);
        }
    }

    fn remember(&self, message: &Message<'_>) -> bool {
        let (Some(id), Some(key)) = (message.id, message.key()) else { return true };
        let mut pending = lock(&self.pending);
        if pending.len() >= MOST_PENDING {
            return false;
        }
        let call = message.method.as_deref() == Some("tools/call");
        let progress = message.params.filter(|_| call).and_then(progress_token);
        let life = lock(&self.life).number;
        pending.insert(key, Pending { id: id.to_vec(), call, since: Some(Instant::now()), progress, life });
        if pending.len() == 1
            && let Some(clock) = self.clock.get()
        {
            clock.unpark();
        }
        true
    }

    /// Starts the server again, within limits, and greets it in the client's place. The number of its new life;
    /// `None`: it stays gone.
    fn revived(self: &Arc<Self>) -> Option<u64> {
        let _one = lock(&self.reviving);
        let (number, greeting) = {
            let mut life = lock(&self.life);
            if life.up {
                return Some(life.number);
            }
            let now = Instant::now();
            while life.starts.front().is_some_and(|at| now.duration_since(*at) > WITHIN) {
                life.starts.pop_front();
            }
            if life.starts.len() >= MOST_STARTS {
                let minutes = WITHIN.as_secs() / 60;
                life.why = format!("it stopped {MOST_STARTS} times within {minutes} minutes and is not started again");
                return None;
            }
            life.starts.push_back(now);
            life.number += 1;
            (life.number, life.greeting.clone())
        };
        eprintln!("sayso: starting the MCP server {} again", self.guard.server);
        self.link.close();
        if let Err(error) = self.link.start(self, number) {
            self.down(format!("it cannot be started: {error}"));
            return None;
        }
        if let Some(greeting) = greeting {
            let greeted = self.guard.request(&Straight(self), "initialize", Some(&greeting), GREETING);
            let initialized = message_line(None, "notifications/initialized", None);
            if !matches!(greeted, Some(Some(_))) || self.link.send(&initialized).is_err() {
                self.down("it was started again and did not greet".to_owned());
                self.link.close();
                return None;
            }
        }
        lock(&self.life).up = true;
        Some(number)
    }

    /// A request of the gateway's own, also to a server that must be started again for it.
    pub(crate) fn request(self: &Arc<Self>, method: &str, params: Option<&[u8]>, patience: Duration) -> Option<Reply> {
        if method == "initialize" {
            lock(&self.life).greeting = params.map(<[u8]>::to_vec);
        }
        self.guard.request(self, method, params, patience)
    }

    /// A line of the server.
    pub(crate) fn line_from_server(&self, reader: &mut Reader, line: &[u8]) {
        match reader.read(line) {
            Ok(None) => {}
            Ok(Some(message)) => self.hear_server(&message, line),
            Err(refused) => self.refused_from_server(&refused),
        }
    }

    fn hear_server(&self, message: &Message<'_>, line: &[u8]) {
        let step = self.guard.hear_server(message);
        if step == FromServer::Nothing {
            return;
        }
        if message.method.is_none() {
            // An answer that nobody waits for any more was given in the server's place.
            let known = message.key().is_none_or(|id| lock(&self.pending).remove(&id).is_some());
            if !known {
                return;
            }
            if let (Some(routes), Some(result)) = (&self.routes, message.result) {
                routes.note_task(self.index, result);
            }
        } else if message.method.as_deref() == Some("notifications/progress") {
            self.progressed(message);
        }
        let renamed = match (&self.routes, message.method.as_deref()) {
            (Some(_), Some("notifications/cancelled")) => renamed(message, &["params", "requestId"], self.index),
            (Some(_), Some(_)) if message.id.is_some() => renamed(message, &["id"], self.index),
            _ => None,
        };
        let sent = match (&step, &renamed) {
            (_, Some(line)) => self.client.send(line),
            (FromServer::Instead(line), None) => self.client.send(line),
            _ if line.ends_with(b"\n") => self.client.send(line),
            _ => self.client.send(&[line, b"\n"].concat()),
        };
        let _ = sent; // A client that is gone ends the gateway by itself.
    }

    /// A line of the server that is not passed on. Whoever waits for it is told.
    fn refused_from_server(&self, refused: &Refused) {
        eprintln!("sayso: a message of the MCP server {} is not passed on: {}", self.guard.server, refused.why);
        self.answer_in_place(&refused.skimmed, &refused.why);
    }

    /// The same for one that was too long to be looked at.
    pub(crate) fn too_long_from_server(&self, skimmed: &Skimmed, longest: usize) {
        let why = format!("The server's answer is longer than {longest} bytes [mcp-result-too-large].");
        self.answer_in_place(skimmed, &why);
    }

    fn answer_in_place(&self, skimmed: &Skimmed, why: &str) {
        let Some(id) = &skimmed.id else { return };
        if skimmed.request {
            // The server asked, and waits.
            let _ = self.link.send(&error_line(Some(id), -32600, why, None));
        } else if let Some(key) = Id::read(id) {
            if self.guard.hears(&key, None) {
                return;
            }
            let pending = lock(&self.pending).remove(&key);
            if let Some(pending) = pending {
                self.tell(&pending, why);
            }
        }
    }

    /// The server has ended, in this life of its.
    pub(crate) fn gone(&self, life: u64, how: &str) {
        let current = {
            let mut now = lock(&self.life);
            let current = now.number == life;
            if current {
                (now.up, now.why) = (false, how.to_owned());
            }
            current
        };
        if current {
            self.link.forget();
            self.guard.server_gone();
        }
        self.fail(life);
    }

    /// Everybody who waits for the server in this life of its, or an earlier one, is told that it is gone.
    fn fail(&self, life: u64) {
        let why = lock(&self.life).why.clone();
        let mut waiting = Vec::new();
        lock(&self.pending).retain(|_, one| {
            let stays = one.life > life;
            if !stays {
                waiting.push(std::mem::take(one));
            }
            stays
        });
        let text = format!("The MCP server {} is gone: {why} [mcp-server-gone].", self.guard.server);
        waiting.iter().for_each(|pending| self.tell(pending, &text));
    }

    /// One request failed on its way.
    pub(crate) fn failed(&self, id: &[u8], why: &str) {
        let Some(key) = Id::read(id) else { return };
        if self.guard.hears(&key, None) {
            return;
        }
        let pending = lock(&self.pending).remove(&key);
        if let Some(pending) = pending {
            self.tell(
                &pending,
                &format!("The MCP server {} cannot be reached: {why} [mcp-server-gone].", self.guard.server),
            );
        }
    }

    fn tell(&self, pending: &Pending, why: &str) {
        let line = if pending.call {
            tool_error(&pending.id, &format!("Sayso: {why}"))
        } else {
            error_line(Some(&pending.id), INTERNAL, &format!("Sayso: {why}"), None)
        };
        self.client.say(line);
    }

    fn progressed(&self, message: &Message<'_>) {
        let Some(token) = message.params.and_then(|params| json_member(params, "progressToken")) else { return };
        let mut pending = lock(&self.pending);
        if let Some(one) = pending.values_mut().find(|one| one.progress.as_ref() == Some(&token)) {
            one.since = Some(Instant::now());
        }
    }

    /// Whether anything is still to be answered.
    pub(crate) fn is_busy(&self) -> bool {
        self.guard.is_busy() || !lock(&self.pending).is_empty()
    }

    /// Whether a request of this id waits for this server.
    pub(crate) fn waits_for(&self, id: &Id) -> bool {
        lock(&self.pending).contains_key(id)
    }

    /// Answers requests that have waited too long. Tells whether any still wait.
    pub(crate) fn expire(&self) -> bool {
        let mut late = Vec::new();
        let some = {
            let mut pending = lock(&self.pending);
            let is_late = |one: &Pending| one.since.is_none_or(|since| since.elapsed() >= self.timeout);
            let ids: Vec<Id> = pending.iter().filter(|(_, one)| is_late(one)).map(|(id, _)| id.clone()).collect();
            late.extend(ids.iter().filter_map(|id| pending.remove(id)));
            !pending.is_empty()
        };
        for one in late {
            let why = format!(
                "The MCP server {} gave no answer within {} seconds [mcp-timeout].",
                self.guard.server,
                self.timeout.as_secs()
            );
            self.tell(&one, &why);
            let params = [b"{\"requestId\":".as_slice(), &one.id, b",\"reason\":\"No answer in time.\"}"].concat();
            let _ = self.link.send(&message_line(None, "notifications/cancelled", Some(&params)));
        }
        some
    }
}

/// Lines to the server, which is started again if it must be. Not for the thread that reads the client.
impl Port for Arc<Upstream> {
    fn send(&self, line: &[u8]) -> bool {
        if lock(&self.life).up && self.link.send(line).is_ok() {
            return true;
        }
        self.revived().is_some() && self.link.send(line).is_ok()
    }
}

/// Lines to a server that is just being started.
struct Straight<'a>(&'a Arc<Upstream>);

impl Port for Straight<'_> {
    fn send(&self, line: &[u8]) -> bool {
        self.0.link.send(line).is_ok()
    }
}

/// A message whose id names the server it came from: several servers count from one.
fn renamed(message: &Message<'_>, path: &[&str], index: usize) -> Option<Vec<u8>> {
    let id = match path {
        ["id"] => message.id?.to_vec(),
        _ => json_member(message.params?, "requestId")?,
    };
    let name = serde_json::Value::from(format!("sayso-{index}:{}", String::from_utf8_lossy(&id))).to_string();
    let mut line = replaced(message.line, path, name.as_bytes())?;
    line.push(b'\n');
    Some(line)
}

/// The raw JSON of a member.
pub(crate) fn json_member(object: &[u8], key: &str) -> Option<Vec<u8>> {
    let fields: HashMap<String, &serde_json::value::RawValue> = serde_json::from_slice(object).ok()?;
    fields.get(key).map(|raw| raw.get().as_bytes().to_vec())
}

fn progress_token(params: &[u8]) -> Option<Vec<u8>> {
    memchr::memmem::find(params, b"progressToken")?;
    json_member(&json_member(params, "_meta")?, "progressToken")
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
