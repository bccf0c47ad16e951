//! HTTP on our own side, lines behind: each client has a session, with servers of its own.

use super::proxy::{empty, refusal};
use super::sse::message as event_of;
use super::{EVENTS, LARGEST_BODY, SESSION, VERSION};
use crate::Error;
use crate::mcp::guard::Port;
use crate::mcp::hub::Hub;
use crate::mcp::own_id;
use crate::mcp::setting::GatewaySetting;
use crate::mcp::upstream::json_member;
use crate::pipe::{Id, Reader};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use axum::routing::any;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::ReceiverStream;

/// How many clients are served at once: each has processes of its own.
const MOST_SESSIONS: usize = 64;
/// After this long without a word a session may have to make room for another.
const IDLE: Duration = Duration::from_secs(600);
/// How many lines wait for a client that does not read, or listens nowhere.
const MOST_WAITING: usize = 1_000;
/// The versions of the protocol that are spoken here.
const VERSIONS: &[&str] = &["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

type Reply = Response<Body>;
type Line = Vec<u8>;

struct Front {
    setting: GatewaySetting,
    sessions: Mutex<HashMap<String, Arc<Session>>>,
}

struct Session {
    hub: Hub,
    streams: Arc<Streams>,
    last: Mutex<Instant>,
}

impl Drop for Session {
    fn drop(&mut self) {
        self.hub.close();
    }
}

/// Where the lines for one client go.
#[derive(Default)]
struct Streams {
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    /// By the id of the request that opened it, the newest last.
    asked: Vec<(Id, Vec<u8>, Sender<Line>)>,
    /// For what nobody asked for.
    unasked: Option<Sender<Line>>,
    waiting: VecDeque<Vec<u8>>,
}

/// Everything, as it is served.
pub(super) fn router(setting: GatewaySetting) -> Result<Router, Error> {
    let front = Arc::new(Front { setting, sessions: Mutex::default() });
    let router = Router::new().route("/", any(handle)).route("/mcp", any(handle));
    Ok(router.layer(DefaultBodyLimit::max(LARGEST_BODY)).with_state(front))
}

async fn handle(State(front): State<Arc<Front>>, method: Method, headers: HeaderMap, body: Bytes) -> Reply {
    let version = headers.get(VERSION).map(|value| value.to_str().unwrap_or_default());
    if version.is_some_and(|version| !VERSIONS.contains(&version)) {
        return refusal(StatusCode::BAD_REQUEST, None, "this protocol version is not supported");
    }
    match method {
        Method::POST => post(&front, &headers, body).await,
        Method::GET => match front.session(&headers) {
            Ok(session) if accepts(&headers, EVENTS) => session.listen(),
            Ok(_) => refusal(StatusCode::NOT_ACCEPTABLE, None, "the answer is text/event-stream"),
            Err(reply) => *reply,
        },
        Method::DELETE => match front.session(&headers) {
            Ok(_) => {
                let id = headers.get(SESSION).and_then(|id| id.to_str().ok()).unwrap_or_default();
                let ended = lock(&front.sessions).remove(id);
                let _ = tokio::task::spawn_blocking(move || drop(ended)).await;
                empty(StatusCode::OK)
            }
            Err(reply) => *reply,
        },
        _ => refusal(StatusCode::METHOD_NOT_ALLOWED, None, "method not allowed"),
    }
}

async fn post(front: &Arc<Front>, headers: &HeaderMap, body: Bytes) -> Reply {
    if !accepts(headers, EVENTS) || !accepts(headers, "application/json") {
        return refusal(StatusCode::NOT_ACCEPTABLE, None, "the answer is application/json or text/event-stream");
    }
    let line = super::one_line(&body);
    let mut reader = Reader::default();
    let (key, id, greets, token) = match reader.read(&line) {
        Ok(Some(message)) => {
            let asks = message.method.is_some() && message.id.is_some();
            let token = message.params.and_then(|params| json_member(&json_member(params, "_meta")?, "progressToken"));
            let greets = message.method.as_deref() == Some("initialize");
            (message.key().filter(|_| asks), message.id.map(<[u8]>::to_vec), greets, token)
        }
        Ok(None) => return refusal(StatusCode::BAD_REQUEST, None, "there is no message"),
        Err(refused) => return refusal(StatusCode::BAD_REQUEST, refused.skimmed.id.as_deref(), &refused.why),
    };
    let (session, fresh) = if greets && !headers.contains_key(SESSION) {
        match Front::open(front).await {
            Ok((session, id)) => (session, Some(id)),
            Err(why) => return refusal(StatusCode::SERVICE_UNAVAILABLE, id.as_deref(), &why),
        }
    } else {
        match front.session(headers) {
            Ok(session) => (session, None),
            Err(reply) => return *reply,
        }
    };
    *lock(&session.last) = Instant::now();
    let Some(key) = key else {
        session.take(line).await;
        return empty(StatusCode::ACCEPTED);
    };
    let (sender, lines) = channel(MOST_WAITING);
    lock(&session.streams.open).asked.push((key.clone(), token.unwrap_or_default(), sender));
    session.take(line).await;
    let mut reply = answer(lines);
    if let Some(id) = fresh.and_then(|id| HeaderValue::from_str(&id).ok()) {
        reply.headers_mut().insert(SESSION, id);
    }
    reply
}

/// A stream that ends with the answer.
fn answer(lines: Receiver<Line>) -> Reply {
    events(ReceiverStream::new(lines).map(|line| event(&line)))
}

fn event(line: &[u8]) -> Result<Bytes, std::convert::Infallible> {
    Ok(event_of(line).into())
}

fn events(stream: impl tokio_stream::Stream<Item = Result<Bytes, std::convert::Infallible>> + Send + 'static) -> Reply {
    let mut reply = Response::new(Body::from_stream(stream));
    reply.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(EVENTS));
    reply.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    reply
}

impl Front {
    async fn open(front: &Arc<Self>) -> Result<(Arc<Session>, String), String> {
        {
            let mut sessions = lock(&front.sessions);
            if sessions.len() >= MOST_SESSIONS {
                let idle =
                    sessions.iter().max_by_key(|(_, session)| lock(&session.last).elapsed()).map(|(id, _)| id.clone());
                let idle =
                    idle.filter(|id| sessions.get(id).is_some_and(|session| lock(&session.last).elapsed() > IDLE));
                let idle = idle.ok_or("too many clients are connected")?;
                let ended = sessions.remove(&idle);
                std::thread::spawn(move || drop(ended));
            }
        }
        let streams = Arc::new(Streams::default());
        let (client, setting) = (Arc::clone(&streams), front.setting.clone());
        let hub = tokio::task::spawn_blocking(move || Hub::start(&setting, client)).await;
        let hub = hub.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
        let session = Arc::new(Session { hub, streams, last: Mutex::new(Instant::now()) });
        let id = format!("{}{}", own_id::random(), own_id::random());
        lock(&front.sessions).insert(id.clone(), Arc::clone(&session));
        Ok((session, id))
    }

    fn session(&self, headers: &HeaderMap) -> Result<Arc<Session>, Box<Reply>> {
        let Some(id) = headers.get(SESSION).and_then(|id| id.to_str().ok()) else {
            return Err(Box::new(refusal(
                StatusCode::BAD_REQUEST,
                None,
                "the header Mcp-Session-Id is missing; initialize first",
            )));
        };
        let session = lock(&self.sessions).get(id).cloned();
        session
            .ok_or_else(|| Box::new(refusal(StatusCode::NOT_FOUND, None, "there is no such session; initialize again")))
    }
}

impl Session {
    async fn take(self: &Arc<Self>, line: Vec<u8>) {
        let session = Arc::clone(self);
        let _ = tokio::task::spawn_blocking(move || session.hub.line_from_client(&mut Reader::default(), &line)).await;
    }

    /// The stream for what nobody asked for. A new one takes the place of the one before.
    fn listen(&self) -> Reply {
        let (sender, lines) = channel(MOST_WAITING);
        let mut open = lock(&self.streams.open);
        for line in std::mem::take(&mut open.waiting) {
            let _ = sender.try_send(line);
        }
        open.unasked = Some(sender);
        events(ReceiverStream::new(lines).map(|line| event(&line)))
    }
}

impl Port for Streams {
    fn send(&self, line: &[u8]) -> bool {
        let mut reader = Reader::default();
        let Ok(Some(message)) = reader.read(line) else { return true };
        let mut open = lock(&self.open);
        if message.method.is_none() {
            let at = message.key().and_then(|key| open.asked.iter().position(|(id, ..)| *id == key));
            if let Some(at) = at {
                let (.., sender) = open.asked.remove(at);
                let _ = sender.try_send(line.to_vec());
            }
            return true;
        }
        open.asked.retain(|(.., sender)| !sender.is_closed());
        let token = message.params.and_then(|params| json_member(params, "progressToken"));
        let of_token = |stream: &&(Id, Vec<u8>, Sender<Line>)| token.as_ref().is_some_and(|token| stream.1 == *token);
        // What a program says while it works on something is most likely about that.
        let stream = open.asked.iter().find(of_token).or(open.asked.last()).map(|(.., sender)| sender);
        for sender in stream.into_iter().chain(&open.unasked) {
            if sender.try_send(line.to_vec()).is_ok() {
                return true;
            }
        }
        if open.waiting.len() >= MOST_WAITING {
            open.waiting.pop_front();
        }
        open.waiting.push_back(line.to_vec());
        true
    }
}

fn accepts(headers: &HeaderMap, kind: &str) -> bool {
    let wanted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut wanted =
        wanted.flat_map(|value| value.split(',')).map(|one| one.split(';').next().unwrap_or_default().trim());
    let family = kind.split('/').next().unwrap_or_default();
    wanted.any(|one| one == kind || one == "*/*" || one.strip_suffix("/*") == Some(family))
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
