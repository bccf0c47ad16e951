//! HTTP on both sides: one server's sessions, streams and resumption pass through, and every message is judged.

use super::client::{HttpUpstream, whole};
use super::link::is_events;
use super::sse::{Event, Events, message as event_of};
use super::{EVENTS, LARGEST_BODY, SESSION, one_line};
use crate::Error;
use crate::mcp::guard::{FromClient, FromServer, Guard, Held, Port};
use crate::mcp::judge::Judge;
use crate::mcp::pins::Pins;
use crate::mcp::setting::{GatewaySetting, Reach, ServerSetting};
use crate::pipe::{Message, Reader, error_line};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, header};
use axum::routing::any;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{mpsc, oneshot};
use tokio_stream::wrappers::ReceiverStream;

/// How many sessions are told apart; the calls of others are judged all the same, and nobody can be asked there.
const MOST_SESSIONS: usize = 4_096;

/// Headers that are about one connection, or that we say ourselves.
const OF_ONE_CONNECTION: &[&str] = &[
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "host",
    "content-length",
    "accept-encoding",
    "expect",
    "origin",
];

struct Proxy {
    upstream: HttpUpstream,
    make: Box<dyn Fn() -> Arc<Guard> + Send + Sync>,
    /// For requests outside of sessions.
    common: Arc<Guard>,
    sessions: Mutex<Sessions>,
}

#[derive(Default)]
struct Sessions {
    by_id: HashMap<Vec<u8>, Arc<Guard>>,
    order: VecDeque<Vec<u8>>,
}

type Reply = Response<Body>;

/// Everything, as it is served.
pub(super) fn router(setting: &GatewaySetting, server: &ServerSetting) -> Result<Router, Error> {
    let Reach::Url { url, headers } = &server.reach else { return Ok(Router::new()) };
    let upstream = HttpUpstream::new(url, headers)
        .map_err(|why| Error::io("reach", Path::new(url), std::io::Error::other(why)))?;
    let pins = Pins::open(&setting.judge.places)?;
    let judge = Judge::new(setting.judge.clone())?;
    let (limits, name, reached) = (setting.limits, server.name.clone(), server.reach.in_words());
    let make = move || {
        let judge = Arc::new(judge.of_another_session());
        Arc::new(Guard::new(name.clone(), reached.clone(), judge, pins.clone(), limits))
    };
    let common = make();
    let proxy = Arc::new(Proxy { upstream, make: Box::new(make), common, sessions: Mutex::default() });
    let router = Router::new().route("/", any(handle)).route("/mcp", any(handle));
    Ok(router.layer(DefaultBodyLimit::max(LARGEST_BODY)).with_state(proxy))
}

async fn handle(State(proxy): State<Arc<Proxy>>, method: Method, headers: HeaderMap, body: Bytes) -> Reply {
    match method {
        Method::POST => post(proxy, headers, body).await,
        Method::GET | Method::DELETE => {
            let guard = proxy.guard(&headers);
            let ends = headers.get(SESSION).filter(|_| method == Method::DELETE).cloned();
            let answer = proxy.forward(method, &headers, Vec::new()).await;
            if let (Some(id), Ok(answer)) = (ends, &answer)
                && answer.status().is_success()
            {
                proxy.forget(id.as_bytes());
            }
            passed(answer, guard).await
        }
        _ => refusal(StatusCode::METHOD_NOT_ALLOWED, None, "method not allowed"),
    }
}

async fn post(proxy: Arc<Proxy>, headers: HeaderMap, body: Bytes) -> Reply {
    let mut reader = Reader::default();
    let message = match reader.read(&body) {
        Ok(Some(message)) => message,
        Ok(None) => return refusal(StatusCode::BAD_REQUEST, None, "there is no message"),
        Err(refused) => return refusal(StatusCode::BAD_REQUEST, refused.skimmed.id.as_deref(), &refused.why),
    };
    if let Some(why) = differs(&headers, &message) {
        return refusal(StatusCode::BAD_REQUEST, message.id, &why);
    }
    let greets = message.method.as_deref() == Some("initialize");
    let guard = if greets { (proxy.make)() } else { proxy.guard(&headers) };
    if greets {
        // Whoever gives no session away has only this to be remembered by.
        proxy.common.hear_client(&message);
    }
    match tokio::task::block_in_place(|| guard.hear_client(&message)) {
        FromClient::Pass => run(proxy, guard, headers, body.to_vec(), greets).await,
        FromClient::Run(permit) => permit.spend(|| run(proxy, guard, headers, body.to_vec(), greets)).await,
        FromClient::RunThis(line, permit) => permit.spend(|| run(proxy, guard, headers, line, greets)).await,
        FromClient::Answer(line) => json(StatusCode::OK, line),
        FromClient::Nothing => empty(StatusCode::ACCEPTED),
        FromClient::Decide(held) => decide(proxy, guard, headers, held).await,
    }
}

/// Forwards a message and passes on what comes back.
async fn run(proxy: Arc<Proxy>, guard: Arc<Guard>, headers: HeaderMap, body: Vec<u8>, greets: bool) -> Reply {
    let answer = proxy.forward(Method::POST, &headers, body).await;
    if let (true, Ok(answer)) = (greets, &answer)
        && let Some(id) = answer.headers().get(SESSION)
    {
        proxy.remember(id.as_bytes(), &guard);
    }
    passed(answer, guard).await
}

/// A call that waits for a person or for the server's tools. What we ask the client goes out on the stream of this
/// very call; only then must the answer be a stream.
async fn decide(proxy: Arc<Proxy>, guard: Arc<Guard>, headers: HeaderMap, held: Box<Held>) -> Reply {
    let (say, mut said) = mpsc::channel::<Vec<u8>>(16);
    let (done, decided) = oneshot::channel();
    let (thread_proxy, thread_guard, thread_headers) = (Arc::clone(&proxy), Arc::clone(&guard), headers.clone());
    let handle = tokio::runtime::Handle::current();
    tokio::task::spawn_blocking(move || {
        let to_server =
            ToServer { proxy: thread_proxy, guard: Arc::clone(&thread_guard), headers: thread_headers, handle };
        let _ = done.send(thread_guard.decide(*held, &ToClient(say), &to_server));
    });
    let asked = said.recv().await;
    let Some(first) = asked else {
        // Nobody was asked: the sender is gone, so it is decided.
        return match decided.await {
            Ok(FromClient::RunThis(line, permit)) => permit.spend(|| run(proxy, guard, headers, line, false)).await,
            Ok(FromClient::Answer(line)) => json(StatusCode::OK, line),
            _ => empty(StatusCode::ACCEPTED),
        };
    };
    let (out, stream) = mpsc::channel::<Result<Bytes, std::io::Error>>(64);
    tokio::spawn(async move {
        let _ = out.send(Ok(event_of(&first).into())).await;
        while let Some(line) = said.recv().await {
            let _ = out.send(Ok(event_of(&line).into())).await;
        }
        match decided.await {
            Ok(FromClient::RunThis(line, permit)) => {
                match permit.spend(|| proxy.forward(Method::POST, &headers, line)).await {
                    Ok(answer) if is_events(answer.headers()) => relay(answer.into_body(), guard, out).await,
                    Ok(answer) => {
                        let body = whole(answer.into_body()).await.unwrap_or_default();
                        let body = checked(&guard, &body).unwrap_or_else(|| body.to_vec());
                        let _ = out.send(Ok(event_of(&body).into())).await;
                    }
                    Err(why) => {
                        let _ = out.send(Ok(event_of(&error_line(None, -32603, &why, None)).into())).await;
                    }
                }
            }
            Ok(FromClient::Answer(line)) => {
                let _ = out.send(Ok(event_of(&line).into())).await;
            }
            _ => {}
        }
    });
    stream_reply(StatusCode::OK, HeaderMap::new(), stream)
}

struct ToClient(mpsc::Sender<Vec<u8>>);

impl Port for ToClient {
    fn send(&self, line: &[u8]) -> bool {
        self.0.blocking_send(line.to_vec()).is_ok()
    }
}

/// Requests of our own to the server, in the client's session.
struct ToServer {
    proxy: Arc<Proxy>,
    guard: Arc<Guard>,
    headers: HeaderMap,
    handle: tokio::runtime::Handle,
}

impl Port for ToServer {
    fn send(&self, line: &[u8]) -> bool {
        let (proxy, guard, headers, line) =
            (Arc::clone(&self.proxy), Arc::clone(&self.guard), self.headers.clone(), line.trim_ascii_end().to_vec());
        self.handle.spawn(async move {
            let Ok(answer) = proxy.forward(Method::POST, &headers, line).await else { return };
            if !is_events(answer.headers()) {
                let body = whole(answer.into_body()).await.unwrap_or_default();
                let _ = checked(&guard, &body);
                return;
            }
            let mut body = answer.into_body();
            let mut events = Events::default();
            while let Some(Ok(frame)) = body.frame().await {
                if frame.data_ref().is_some_and(|bytes| !events.feed(bytes)) {
                    return;
                }
                while let Some(event) = events.next() {
                    if let Some(data) = event.data {
                        let _ = checked(&guard, &data);
                    }
                }
            }
        });
        true
    }
}

impl Proxy {
    async fn forward(&self, method: Method, headers: &HeaderMap, body: Vec<u8>) -> Result<Response<Incoming>, String> {
        self.upstream.send(method, carried(headers), body).await
    }

    fn guard(&self, headers: &HeaderMap) -> Arc<Guard> {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let of_session = headers.get(SESSION).and_then(|id| sessions.by_id.get(id.as_bytes()));
        of_session.map_or_else(|| Arc::clone(&self.common), Arc::clone)
    }

    fn remember(&self, id: &[u8], guard: &Arc<Guard>) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        if sessions.order.len() >= MOST_SESSIONS
            && let Some(oldest) = sessions.order.pop_front()
        {
            sessions.by_id.remove(&oldest);
        }
        if sessions.by_id.insert(id.to_vec(), Arc::clone(guard)).is_none() {
            sessions.order.push_back(id.to_vec());
        }
    }

    fn forget(&self, id: &[u8]) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.by_id.remove(id);
        sessions.order.retain(|other| other != id);
    }
}

/// Headers that are carried over: all but those of one connection.
fn carried(headers: &HeaderMap) -> HeaderMap {
    let named: Vec<String> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(',').map(|name| name.trim().to_ascii_lowercase()))
        .collect();
    let stays = |name: &HeaderName| {
        !OF_ONE_CONNECTION.contains(&name.as_str()) && !named.iter().any(|other| other == name.as_str())
    };
    headers.iter().filter(|(name, _)| stays(name)).map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// From 2026-07-28 on, headers repeat the method and the name for whatever is in between. They must tell the same.
fn differs(headers: &HeaderMap, message: &Message<'_>) -> Option<String> {
    let header = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    if header("mcp-method").is_some_and(|method| Some(method) != message.method.as_deref()) {
        return Some("the header Mcp-Method does not match the message".to_owned());
    }
    let name = message.params.filter(|_| headers.contains_key("mcp-name")).and_then(|params| {
        let name = ["name", "uri"].iter().find_map(|key| crate::mcp::upstream::json_member(params, key))?;
        serde_json::from_slice::<String>(&name).ok()
    });
    (header("mcp-name").is_some() && header("mcp-name") != name.as_deref())
        .then(|| "the header Mcp-Name does not match the message".to_owned())
}

/// What the server answered, judged.
async fn passed(answer: Result<Response<Incoming>, String>, guard: Arc<Guard>) -> Reply {
    let answer = match answer {
        Ok(answer) => answer,
        Err(why) => {
            return refusal(
                StatusCode::BAD_GATEWAY,
                None,
                &format!("the MCP server cannot be reached: {why} [mcp-server-gone]"),
            );
        }
    };
    let (status, headers) = (answer.status(), carried(answer.headers()));
    if is_events(answer.headers()) {
        let (out, stream) = mpsc::channel(64);
        tokio::spawn(relay(answer.into_body(), guard, out));
        return stream_reply(status, headers, stream);
    }
    let body = match whole(answer.into_body()).await {
        Ok(body) => body,
        Err(why) => {
            return refusal(
                StatusCode::BAD_GATEWAY,
                None,
                &format!("the MCP server's answer cannot be passed on: {why} [mcp-result-too-large]"),
            );
        }
    };
    let instead = checked(&guard, &body).unwrap_or_else(|| body.to_vec());
    let mut reply = Response::new(Body::from(instead));
    *reply.status_mut() = status;
    *reply.headers_mut() = headers;
    reply
}

/// A stream of the server's, event by event; those that nothing is said of as they came.
async fn relay(mut body: Incoming, guard: Arc<Guard>, out: mpsc::Sender<Result<Bytes, std::io::Error>>) {
    let mut events = Events::default();
    loop {
        let frame = tokio::select! {
            frame = body.frame() => frame,
            // Nobody listens any more: the server should know.
            () = out.closed() => return,
        };
        let Some(Ok(frame)) = frame else { break };
        if frame.data_ref().is_some_and(|bytes| !events.feed(bytes)) {
            let _ = out.send(Err(std::io::Error::other("an event is too long"))).await;
            return;
        }
        while let Some(event) = events.next() {
            if out.send(Ok(shown(&guard, event).into())).await.is_err() {
                return;
            }
        }
    }
}

fn shown(guard: &Guard, event: Event) -> Vec<u8> {
    let instead = event.data.as_deref().filter(|data| !data.is_empty()).and_then(|data| checked(guard, data));
    match instead {
        Some(data) => event.with_data(&data),
        None => event.raw,
    }
}

/// A message of the server; what to pass on instead, `None`: as it is.
fn checked(guard: &Guard, data: &[u8]) -> Option<Vec<u8>> {
    let line = one_line(data);
    let mut reader = Reader::default();
    match reader.read(&line) {
        Ok(None) => None,
        Ok(Some(message)) => match tokio::task::block_in_place(|| guard.hear_server(&message)) {
            FromServer::Pass => None,
            FromServer::Instead(line) => Some(line.trim_ascii_end().to_vec()),
            FromServer::Nothing => Some(Vec::new()),
        },
        // What is not JSON-RPC (a page of words with an HTTP error) is nobody's message.
        Err(refused) if !begins_like_json(data) && !refused.skimmed.answer => None,
        Err(refused) => {
            let why = format!("Sayso: the server's answer was not passed on: {}", refused.why);
            Some(error_line(refused.skimmed.id.as_deref(), -32603, &why, None).trim_ascii_end().to_vec())
        }
    }
}

/// Whether a lenient reader may take this for JSON: behind space and a byte order mark, an object or an array.
fn begins_like_json(data: &[u8]) -> bool {
    let data = data.trim_ascii_start();
    let data = data.strip_prefix(b"\xef\xbb\xbf").unwrap_or(data).trim_ascii_start();
    matches!(data.first(), Some(b'{' | b'['))
}

fn stream_reply(
    status: StatusCode,
    headers: HeaderMap,
    stream: mpsc::Receiver<Result<Bytes, std::io::Error>>,
) -> Reply {
    let mut reply = Response::new(Body::from_stream(ReceiverStream::new(stream)));
    *reply.status_mut() = status;
    *reply.headers_mut() = headers;
    reply.headers_mut().entry(header::CONTENT_TYPE).or_insert(HeaderValue::from_static(EVENTS));
    reply.headers_mut().entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-cache"));
    reply
}

pub(super) fn json(status: StatusCode, line: Vec<u8>) -> Reply {
    let mut reply = Response::new(Body::from(line.trim_ascii_end().to_vec()));
    *reply.status_mut() = status;
    reply.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    reply
}

pub(super) fn empty(status: StatusCode) -> Reply {
    let mut reply = Response::new(Body::empty());
    *reply.status_mut() = status;
    reply
}

pub(super) fn refusal(status: StatusCode, id: Option<&[u8]>, why: &str) -> Reply {
    json(status, error_line(id, -32600, &format!("Sayso: {why}"), None))
}
