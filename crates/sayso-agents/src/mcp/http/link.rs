//! The way to a server behind HTTP, for clients that speak lines.

use super::client::{HttpUpstream, whole};
use super::sse::Events;
use super::{EVENTS, RESUME, SESSION, VERSION, one_line, runtime};
use crate::mcp::upstream::{Gone, Link, Upstream, json_member};
use crate::pipe::{Id, Reader};
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How often a stream that ended without an answer is taken up again.
const MOST_RESUMED: usize = 100;
/// How long to wait before that, where the server does not say.
const PAUSE: Duration = Duration::from_secs(1);
/// How long a server may take to hear that a session is over.
const GOODBYE: Duration = Duration::from_secs(2);
/// What the server may ask us to wait, at most.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// The way to a server behind HTTP.
pub(crate) struct HttpLink {
    url: String,
    headers: Vec<(String, String)>,
    running: Mutex<Option<Arc<Running>>>,
}

struct Running {
    http: HttpUpstream,
    upstream: Arc<Upstream>,
    life: u64,
    session: Mutex<Session>,
}

/// What a server wants to see in every request after its greeting.
#[derive(Clone, Debug, Default)]
struct Session {
    id: Option<HeaderValue>,
    version: Option<HeaderValue>,
    over: bool,
}

impl HttpLink {
    pub(crate) fn new(url: String, headers: Vec<(String, String)>) -> Self {
        Self { url, headers, running: Mutex::new(None) }
    }
}

impl Link for HttpLink {
    fn start(&self, upstream: &Arc<Upstream>, life: u64) -> std::io::Result<()> {
        let http = HttpUpstream::new(&self.url, &self.headers).map_err(std::io::Error::other)?;
        runtime().map_err(std::io::Error::other)?;
        let running = Running { http, upstream: Arc::clone(upstream), life, session: Mutex::default() };
        *lock(&self.running) = Some(Arc::new(running));
        Ok(())
    }

    fn send(&self, line: &[u8]) -> Result<(), Gone> {
        let running = lock(&self.running).clone().ok_or(Gone)?;
        if lock(&running.session).over {
            return Err(Gone);
        }
        let line = line.to_vec();
        runtime().map_err(|_| Gone)?.spawn(running.post(line));
        Ok(())
    }

    fn forget(&self) {
        lock(&self.running).take();
    }

    fn close(&self) {
        let Some(running) = lock(&self.running).take() else { return };
        let session = std::mem::replace(&mut *lock(&running.session), Session { over: true, ..Session::default() });
        let Ok(runtime) = runtime() else { return };
        if session.id.is_some() {
            // Not waited for inside the runtime: whoever drops a session may be one of its own threads.
            let (tell, ended) = std::sync::mpsc::channel();
            let headers = session.headers();
            runtime.spawn(async move {
                let delete = running.http.send(Method::DELETE, headers, Vec::new());
                let _ = tokio::time::timeout(GOODBYE, delete).await;
                let _ = tell.send(());
            });
            let _ = ended.recv_timeout(GOODBYE);
        }
    }
}

impl Session {
    fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if let Some(id) = &self.id {
            headers.insert(SESSION, id.clone());
        }
        if let Some(version) = &self.version {
            headers.insert(VERSION, version.clone());
        }
        headers
    }
}

/// What is waited for on a stream.
struct Waits {
    id: Option<Vec<u8>>,
    key: Option<Id>,
    greeting: bool,
}

impl Running {
    async fn post(self: Arc<Self>, line: Vec<u8>) {
        let (waits, initialized, method) = {
            let mut reader = Reader::default();
            let Ok(Some(message)) = reader.read(&line) else { return };
            let method = message.method.as_deref().map(str::to_owned);
            let asks = message.id.filter(|_| method.is_some()).map(<[u8]>::to_vec);
            let key = asks.as_deref().and_then(Id::read);
            let waits = Waits { id: asks, key, greeting: method.as_deref() == Some("initialize") };
            (waits, method.as_deref() == Some("notifications/initialized"), method)
        };
        let mut headers = lock(&self.session).headers();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(header::ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        // From 2026-07-28 on, what is between us and the server reads the method there.
        if headers.get(VERSION).is_some_and(|version| version.as_bytes() >= b"2026-07-28".as_slice())
            && let Some(value) = method.as_deref().and_then(|method| HeaderValue::from_str(method).ok())
        {
            headers.insert("mcp-method", value);
        }
        let body = line.trim_ascii_end().to_vec();
        if let Err(why) = self.exchange(Method::POST, headers, body, &waits).await
            && let Some(id) = &waits.id
        {
            tokio::task::block_in_place(|| self.upstream.failed(id, &why));
        }
        if initialized {
            tokio::spawn(Arc::clone(&self).listen());
        }
    }

    /// One request and all that comes back for it.
    async fn exchange(&self, method: Method, headers: HeaderMap, body: Vec<u8>, waits: &Waits) -> Result<(), String> {
        let answer = self.http.send(method, headers, body).await?;
        let status = answer.status();
        if status == StatusCode::NOT_FOUND && lock(&self.session).id.is_some() {
            lock(&self.session).over = true;
            let upstream = Arc::clone(&self.upstream);
            let life = self.life;
            tokio::task::block_in_place(|| upstream.gone(life, "its session is over"));
            return Err("its session is over".to_owned());
        }
        if waits.greeting
            && let Some(id) = answer.headers().get(SESSION)
        {
            lock(&self.session).id = Some(id.clone());
        }
        if !status.is_success() {
            return self.failure(answer, waits).await;
        }
        if status == StatusCode::ACCEPTED {
            return if waits.id.is_some() {
                Err("it accepted the request and does not answer".to_owned())
            } else {
                Ok(())
            };
        }
        if is_events(answer.headers()) {
            return self.events(answer, waits).await;
        }
        let body = whole(answer.into_body()).await?;
        if !body.is_empty() {
            self.hear(&body, waits);
        }
        Ok(())
    }

    /// A server may explain itself in JSON-RPC even where HTTP says that it failed.
    async fn failure(&self, answer: Response<Incoming>, waits: &Waits) -> Result<(), String> {
        let status = answer.status();
        let body = whole(answer.into_body()).await.unwrap_or_default();
        let mut reader = Reader::default();
        if let Ok(Some(message)) = reader.read(&one_line(&body))
            && message.error.is_some()
            && message.key().is_some()
            && message.key() == waits.key
        {
            self.hear(&body, waits);
            return Ok(());
        }
        Err(match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                format!("it requires authentication (HTTP {status}); pass a key with --header")
            }
            status => format!("it answers HTTP {status}"),
        })
    }

    /// Reads a stream, and takes it up again where it ends before the answer.
    async fn events(&self, answer: Response<Incoming>, waits: &Waits) -> Result<(), String> {
        let mut answer = answer;
        let mut last: Option<Vec<u8>> = None;
        let mut pause = PAUSE;
        for _ in 0..MOST_RESUMED {
            let mut body = answer.into_body();
            let mut events = Events::default();
            while let Some(frame) = body.frame().await {
                let Ok(frame) = frame else { break };
                let Some(bytes) = frame.data_ref() else { continue };
                if !events.feed(bytes) {
                    return Err("an event of its stream is too long".to_owned());
                }
                while let Some(event) = events.next() {
                    if let Some(id) = event.id {
                        last = Some(id);
                    }
                    if let Some(retry) = event.retry {
                        pause = Duration::from_millis(retry).min(LONGEST_PAUSE);
                    }
                    if let Some(data) = event.data.filter(|data| !data.is_empty())
                        && self.hear(&data, waits)
                    {
                        return Ok(());
                    }
                }
            }
            let over = lock(&self.session).over;
            let Some(id) = last.as_deref().and_then(|id| HeaderValue::from_bytes(id).ok()).filter(|_| !over) else {
                break;
            };
            tokio::time::sleep(pause).await;
            let mut headers = lock(&self.session).headers();
            headers.insert(header::ACCEPT, HeaderValue::from_static(EVENTS));
            headers.insert(RESUME, id);
            answer = self.http.send(Method::GET, headers, Vec::new()).await?;
            if !answer.status().is_success() {
                break;
            }
        }
        Err("its stream ended without an answer".to_owned())
    }

    /// A message of the server; whether it is the one that is waited for.
    fn hear(&self, data: &[u8], waits: &Waits) -> bool {
        let line = one_line(data);
        let mut reader = Reader::default();
        let awaited = match reader.read(&line) {
            Ok(Some(message)) => {
                let awaited = message.method.is_none() && message.key().is_some() && message.key() == waits.key;
                if awaited && waits.greeting {
                    let version = message.result.and_then(|result| json_member(result, "protocolVersion"));
                    let version = version.and_then(|raw| serde_json::from_slice::<String>(&raw).ok());
                    lock(&self.session).version = version.and_then(|version| HeaderValue::from_str(&version).ok());
                }
                awaited
            }
            _ => false,
        };
        tokio::task::block_in_place(|| self.upstream.line_from_server(&mut Reader::default(), &line));
        awaited
    }

    /// What the server says unasked, where it offers a stream for that.
    async fn listen(self: Arc<Self>) {
        let waits = Waits { id: None, key: None, greeting: false };
        let mut headers = lock(&self.session).headers();
        headers.insert(header::ACCEPT, HeaderValue::from_static(EVENTS));
        let Ok(answer) = self.http.send(Method::GET, headers, Vec::new()).await else { return };
        if answer.status().is_success() && is_events(answer.headers()) {
            let _ = self.events(answer, &waits).await;
        }
    }
}

pub(super) fn is_events(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case(EVENTS))
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
