//! The stream over real sockets, as a WebSocket and as server-sent events.

use super::*;
use crate::Role;
use crate::bounds::Bounds;
use crate::connection;
use futures_util::{SinkExt as _, StreamExt as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::watch;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{Error, Message, protocol::frame::coding::CloseCode};
use tokio_tungstenite::{WebSocketStream, client_async};

impl Server {
    /// Serves over TCP, and looks for new records.
    pub(super) async fn listen(&self) -> SocketAddr {
        self.listen_within(Bounds::of_this_process()).await
    }

    pub(super) async fn listen_within(&self, bounds: Bounds) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = self.over(WayIn::Loopback(address.port()));
        tokio::spawn(connection::serve(listener, router, bounds, for_ever()));
        tokio::spawn(crate::tail::watch(Arc::clone(&self.app)));
        address
    }

    /// Serves over a socket.
    pub(super) async fn listen_unix(&self, bounds: Bounds) -> PathBuf {
        let path = self._folder.path().join("test.sock");
        let listener = UnixListener::bind(&path).unwrap();
        tokio::spawn(connection::serve(listener, self.over(WayIn::Socket), bounds, for_ever()));
        tokio::spawn(crate::tail::watch(Arc::clone(&self.app)));
        path
    }

    pub(super) async fn decide(&self, number: u64) {
        let session = format!("s{}", number % 2);
        let call = json!({"tool": "web_search", "call_id": number.to_string(), "context": {"session": session}});
        let (status, told) = self.send(post("/v1/decisions", &call)).await;
        assert_eq!(status, StatusCode::OK, "{told}");
    }
}

/// Nobody says stop.
fn for_ever() -> watch::Receiver<bool> {
    let (stop, stopped) = watch::channel(false);
    std::mem::forget(stop);
    stopped
}

pub(super) type Headers<'a> = &'a [(&'static str, &'a str)];

/// Asks for a WebSocket at an address like `/v1/stream?after=1`.
pub(super) async fn socket(
    address: SocketAddr,
    path: &str,
    headers: Headers<'_>,
) -> Result<WebSocketStream<TcpStream>, Error> {
    let mut request = format!("ws://{address}{path}").into_client_request().unwrap();
    for (name, value) in headers {
        request.headers_mut().insert(*name, value.parse().unwrap());
    }
    let stream = TcpStream::connect(address).await.unwrap();
    client_async(request, stream).await.map(|(socket, _)| socket)
}

pub(super) fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

/// The next record; pings in between are answered by the client itself.
pub(super) async fn next<S: AsyncRead + AsyncWrite + Unpin>(socket: &mut WebSocketStream<S>) -> Value {
    loop {
        match socket.next().await.unwrap().unwrap() {
            Message::Text(text) => return serde_json::from_str(&text).unwrap(),
            Message::Ping(_) | Message::Pong(_) => {}
            other => panic!("{other:?}"),
        }
    }
}

/// The number of the next decision; that a policy came into force is recorded too.
pub(super) async fn decision<S: AsyncRead + AsyncWrite + Unpin>(socket: &mut WebSocketStream<S>) -> u64 {
    loop {
        if let Some(number) = number(&next(socket).await) {
            return number;
        }
    }
}

pub(super) fn number(told: &Value) -> Option<u64> {
    (told["type"] == "decision").then(|| told["call_id"].as_str().unwrap().parse().unwrap())
}

/// Why the server closed.
pub(super) async fn closed(mut socket: WebSocketStream<TcpStream>) -> (CloseCode, String) {
    loop {
        match socket.next().await.unwrap().unwrap() {
            Message::Close(Some(frame)) => return (frame.code, frame.reason.to_string()),
            Message::Close(None) => panic!("closed without a reason"),
            _ => {}
        }
    }
}

/// Follows by server-sent events.
struct Events {
    lines: tokio::io::Lines<BufReader<TcpStream>>,
}

impl Events {
    async fn open(address: SocketAddr, path: &str, token: &str) -> Self {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut lines = BufReader::new(stream).lines();
        assert_eq!(lines.next_line().await.unwrap().as_deref(), Some("HTTP/1.1 200 OK"));
        while lines.next_line().await.unwrap().is_some_and(|line| !line.is_empty()) {}
        Self { lines }
    }

    async fn decision(&mut self) -> u64 {
        loop {
            if let Some(number) = number(&self.next().await) {
                return number;
            }
        }
    }

    async fn next(&mut self) -> Value {
        loop {
            let line = self.lines.next_line().await.unwrap().unwrap();
            if let Some(data) = line.strip_prefix("data: ") {
                return serde_json::from_str(data).unwrap();
            }
        }
    }
}

#[tokio::test]
async fn a_websocket_tells_what_server_sent_events_tell() {
    let server = Server::new("default = \"ask\"\n");
    let (address, token) = (server.listen().await, server.token().await);
    let mut socket = socket(address, "/v1/stream", &[("authorization", &bearer(&token))]).await.unwrap();
    let mut events = Events::open(address, "/v1/stream", &token).await;
    let (_, told) = server.send(post("/v1/decisions", &json!({"tool": "web_search", "wait": 0}))).await;
    let id = told["approval"].as_str().unwrap();
    let mut reply = post(&format!("/v1/approvals/{id}/answer"), &json!({"verdict": "deny"}));
    reply.headers_mut().insert("authorization", bearer(&token).parse().unwrap());
    assert_eq!(server.send(reply).await.0, StatusCode::OK);
    let mut kinds = BTreeSet::new();
    while !kinds.contains("approval_response") {
        let told = next(&mut socket).await;
        assert_eq!(told, events.next().await);
        kinds.insert(told["type"].as_str().unwrap().to_owned());
        if told["type"] == "approval_response" {
            assert_eq!(told["approval"]["id"], id, "{told}");
        }
    }
    for kind in ["approval_required", "approval_response", "decision"] {
        assert!(kinds.contains(kind), "{kind}: {kinds:?}");
    }
}

#[tokio::test]
async fn a_browser_says_its_token_in_the_first_message() {
    let server = Server::new(POLICY);
    let (address, token) = (server.listen().await, server.token().await);
    let ours = format!("http://{address}");
    let open = async || socket(address, "/v1/stream?after=0", &[("origin", &ours)]).await.unwrap();
    server.decide(1).await;
    let mut watching = open().await;
    watching.send(Message::text(json!({"token": token}).to_string())).await.unwrap();
    assert_eq!(decision(&mut watching).await, 1);
    // Whoever asks whether anybody is there is answered.
    watching.send(Message::Ping("x".into())).await.unwrap();
    assert_eq!(watching.next().await.unwrap().unwrap(), Message::Pong("x".into()));

    for (said, code) in [
        (json!({"token": "0".repeat(64)}).to_string(), "signed-out"),
        (json!({"token": token, "role": "admin"}).to_string(), "call-malformed"),
        (token.clone(), "call-malformed"),
        (String::new(), "call-malformed"),
    ] {
        let mut refused = open().await;
        refused.send(Message::text(said)).await.unwrap();
        assert_eq!(next(&mut refused).await["error"]["code"], code);
        assert_eq!(closed(refused).await, (CloseCode::Policy, code.to_owned()));
    }
    let mut binary = open().await;
    binary.send(Message::binary(json!({"token": token}).to_string())).await.unwrap();
    assert_eq!(closed(binary).await, (CloseCode::Policy, "signed-out".to_owned()));
    let mut long = open().await;
    long.send(Message::text("x".repeat(100_000))).await.unwrap();
    assert!(!matches!(long.next().await, Some(Ok(Message::Text(_)))), "nothing is told");
}

#[tokio::test]
async fn a_page_of_another_origin_gets_no_socket() {
    let server = Server::new(POLICY);
    let (address, token) = (server.listen().await, server.token().await);
    let sign = bearer(&token);
    for (headers, status) in [
        (vec![("origin", "https://evil.example")], 403),
        (vec![("origin", "null")], 403),
        (vec![("origin", "http://127.0.0.1:1")], 403),
        (vec![("sec-fetch-site", "cross-site")], 403),
        (vec![("host", "evil.example")], 403),
        (vec![("authorization", "Bearer nothing")], 401),
        (vec![("authorization", &sign), ("origin", "https://evil.example")], 403),
        (vec![("sec-websocket-version", "8")], 400),
    ] {
        match socket(address, "/v1/stream", &headers).await {
            Err(Error::Http(answer)) => assert_eq!(answer.status(), status, "{headers:?}"),
            other => panic!("{headers:?}: {other:?}"),
        }
    }
    // Addresses are logged: a token there is refused, whoever it belongs to.
    let path = format!("/v1/stream?token={token}");
    assert!(matches!(socket(address, &path, &[]).await, Err(Error::Http(answer)) if answer.status() == 400));
}

#[tokio::test]
async fn a_socket_keeps_the_walls_of_tenants_and_sessions() {
    let server = Server::trusting(POLICY);
    let address = server.listen().await;
    let [a, b] = ["a", "b"].map(|tenant| server.made(tenant, Role::Admin, Some(tenant)));
    let mut of_a = socket(address, "/v1/stream", &[("authorization", &bearer(&a))]).await.unwrap();
    let path = "/v1/stream?session=s1";
    let mut of_b = socket(address, path, &[("authorization", &bearer(&b))]).await.unwrap();
    for number in 1..=6 {
        let (token, tenant) = if number < 4 { (&a, "a") } else { (&b, "b") };
        let (session, id) = (format!("s{}", number % 2), number.to_string());
        let call = json!({"tool": "web_search", "call_id": id, "context": {"tenant": tenant, "session": session}});
        assert_eq!(server.as_one(token, post("/v1/decisions", &call)).await.0, StatusCode::OK);
    }
    for number in [1, 2, 3] {
        assert_eq!(decision(&mut of_a).await, number);
    }
    assert_eq!(decision(&mut of_b).await, 5);
}

#[tokio::test]
async fn an_agent_is_told_how_its_own_questions_stand_and_nothing_else() {
    let server = Server::trusting("default = \"ask\"\n");
    let address = server.listen().await;
    let [bot, other] = ["bot", "other"].map(|name| server.made(name, Role::Agent, None));
    let alice = server.made("alice", Role::Approver, None);
    let ask = async |token: &str, query: &str| {
        let call = json!({"tool": "web_search", "args": {"query": query}, "wait": 0});
        let (_, told) = server.as_one(token, post("/v1/decisions", &call)).await;
        told["approval"].as_str().unwrap().to_owned()
    };
    let mut by_socket = socket(address, "/v1/stream", &[("authorization", &bearer(&bot))]).await.unwrap();
    let mut by_events = Events::open(address, "/v1/stream", &bot).await;
    let (_, mine) = (ask(&other, "theirs").await, ask(&bot, "mine").await);
    let yes = post(&format!("/v1/approvals/{mine}/answer"), &json!({"verdict": "allow"}));
    assert_eq!(server.as_one(&alice, yes).await.0, StatusCode::OK);
    for told in
        [[next(&mut by_socket).await, next(&mut by_socket).await], [by_events.next().await, by_events.next().await]]
    {
        let [asked, answered] = told;
        assert_eq!((&asked["type"], &asked["approval"]["id"]), (&json!("approval_required"), &json!(mine)));
        assert_eq!((&answered["type"], &answered["approval"]["id"]), (&json!("approval_response"), &json!(mine)));
        assert_eq!(answered["approval"]["standing"], "approved");
        // Neither who was asked nor who answered.
        assert_eq!(answered.as_object().unwrap().len(), 3, "{answered}");
        assert_eq!(answered["approval"].as_object().unwrap().len(), 3, "{answered}");
    }
}

#[tokio::test]
async fn what_came_between_two_connections_is_told_once_and_in_order() {
    let server = Server::new(POLICY);
    let (address, token) = (server.listen().await, server.token().await);
    let sign = bearer(&token);
    let (mut seen, mut got, total) = (0, 0, 300);
    let writer = async {
        for number in 1..=total {
            server.decide(number).await;
        }
    };
    let reader = async {
        while got < total {
            // Goes away after a few, and comes back behind the last one.
            let path = format!("/v1/stream?after={seen}");
            let mut socket = socket(address, &path, &[("authorization", &sign)]).await.unwrap();
            for _ in 0..(seen % 17 + 1).min(total - got) {
                let told = next(&mut socket).await;
                seen += 1;
                assert_eq!(told["seq"], seen);
                if let Some(number) = number(&told) {
                    got += 1;
                    assert_eq!(number, got);
                }
            }
        }
    };
    tokio::join!(writer, reader);
}

#[tokio::test]
async fn nothing_is_left_out_right_after_somebody_came() {
    let server = Server::new(POLICY);
    let (address, token) = (server.listen().await, server.token().await);
    for number in 1..=10 {
        // The one before is gone by now or not; either way the next record is told.
        let mut socket = socket(address, "/v1/stream", &[("authorization", &bearer(&token))]).await.unwrap();
        server.decide(number).await;
        assert_eq!(decision(&mut socket).await, number);
    }
}

#[tokio::test]
async fn a_watcher_that_reads_nothing_for_long_reads_it_all_later() {
    let server = Server::new(POLICY);
    // However long the decisions take on a busy machine.
    let bounds = Bounds { write: std::time::Duration::from_secs(3600), ..Bounds::default() };
    let (path, token) = (server.listen_unix(bounds).await, server.token().await);
    let mut request = "ws://sayso/v1/stream".into_client_request().unwrap();
    request.headers_mut().insert("authorization", bearer(&token).parse().unwrap());
    let (mut socket, _) = client_async(request, UnixStream::connect(path).await.unwrap()).await.unwrap();
    // More than is kept for the slow, and more than the socket holds.
    let total = 1500;
    for number in 1..=total {
        server.decide(number).await;
    }
    for number in 1..=total {
        assert_eq!(decision(&mut socket).await, number);
    }
}

#[tokio::test]
async fn a_token_that_was_taken_back_ends_its_stream() {
    let server = Server::trusting(POLICY);
    let token = server.made("alice", Role::Admin, None);
    let caller = server.app.caller(&token, std::time::Instant::now()).unwrap();
    let bearer = crate::who::Bearer(token.into());
    let asked = crate::follow::FollowQuery::default();
    let begun = crate::follow::Follower::begin(Arc::clone(&server.app), caller, bearer, asked).await;
    let follower = begun.unwrap_or_else(|error| panic!("{error:?}"));
    assert!(follower.is_welcome());
    server.app.tokens.revoke("alice").unwrap();
    assert!(!follower.is_welcome());
}

#[tokio::test]
async fn a_server_that_stops_says_so() {
    let server = Server::new(POLICY);
    let (address, token) = (server.listen().await, server.token().await);
    let socket_of = async || socket(address, "/v1/stream", &[("authorization", &bearer(&token))]).await;
    let watching = socket_of().await.unwrap();
    server.app.tail.close();
    assert_eq!(closed(watching).await, (CloseCode::Restart, "come-back".to_owned()));
    assert!(matches!(socket_of().await, Err(Error::Http(answer)) if answer.status() == 503));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_watchers_each_get_everything_in_order() {
    let server = Server::new(POLICY);
    let (address, token) = (server.listen().await, server.token().await);
    let total = 40;
    let mut watchers = tokio::task::JoinSet::new();
    for place in 0..1000_u64 {
        let token = token.clone();
        if place % 2 == 0 {
            let mut events = Events::open(address, "/v1/stream", &token).await;
            watchers.spawn(async move {
                for number in 1..=total {
                    assert_eq!(events.decision().await, number);
                }
            });
        } else {
            let mut socket = socket(address, "/v1/stream", &[("authorization", &bearer(&token))]).await.unwrap();
            watchers.spawn(async move {
                for number in 1..=total {
                    assert_eq!(decision(&mut socket).await, number);
                }
            });
        }
    }
    for number in 1..=total {
        server.decide(number).await;
    }
    let mut told = 0;
    while let Some(watcher) = watchers.join_next().await {
        watcher.unwrap();
        told += 1;
    }
    assert_eq!(told, 1000);
}
