//! Connections that mean harm, over real sockets: slow, endless, too many, cut off.

use super::*;
use crate::bounds::Bounds;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpStream, UnixStream};

const SOON: Duration = Duration::from_millis(300);

/// Everything quick but what a test is about.
fn bounds() -> Bounds {
    Bounds { head: SOON, body: SOON, idle: SOON, write: SOON, connections: 8, head_bytes: 4096 }
}

trait Stream: AsyncRead + AsyncWrite + Unpin {}
impl<S: AsyncRead + AsyncWrite + Unpin> Stream for S {}

/// Everything that comes until the other side ends.
async fn rest(stream: &mut impl Stream) -> String {
    let mut bytes = Vec::new();
    // An end that is not a good one is an end too.
    let _ = stream.read_to_end(&mut bytes).await;
    String::from_utf8(bytes).unwrap()
}

fn assert_refused(answer: &str, status: &str, code: &str) {
    assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("content-security-policy: default-src 'none'"), "{head}");
    let body: Value = serde_json::from_str(body).unwrap();
    assert_eq!(body["error"]["code"], code, "{answer}");
}

/// One answer of a connection that stays open.
async fn health(stream: &mut impl Stream, host: &str) -> String {
    stream.write_all(format!("GET /v1/health HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"}") {
        assert_ne!(stream.read_buf(&mut answer).await.unwrap(), 0, "{}", String::from_utf8_lossy(&answer));
    }
    String::from_utf8(answer).unwrap()
}

#[tokio::test]
async fn headers_a_byte_at_a_time_are_refused() {
    let server = Server::new(POLICY);
    let address = server.listen_within(bounds()).await;
    let path = server.listen_unix(bounds()).await;
    async fn dribble(mut stream: impl Stream) -> String {
        for byte in b"GET /v1/health HTTP/1.1\r\nHost: x\r\nX-Slow: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        {
            if stream.write_all(&[*byte]).await.is_err() {
                break;
            }
            tokio::time::sleep(SOON / 20).await;
        }
        rest(&mut stream).await
    }
    assert_refused(&dribble(TcpStream::connect(address).await.unwrap()).await, "408", "too-slow");
    assert_refused(&dribble(UnixStream::connect(path).await.unwrap()).await, "408", "too-slow");
}

#[tokio::test]
async fn a_connection_that_says_nothing_ends() {
    let server = Server::new(POLICY);
    let address = server.listen_within(bounds()).await;
    let mut silent = TcpStream::connect(address).await.unwrap();
    assert_eq!(rest(&mut silent).await, "");
    // Also one that had something to say before.
    let mut idle = TcpStream::connect(address).await.unwrap();
    health(&mut idle, &address.to_string()).await;
    health(&mut idle, &address.to_string()).await;
    assert_eq!(rest(&mut idle).await, "");
}

#[tokio::test]
async fn a_connection_between_requests_has_the_time_of_one_that_rests() {
    let server = Server::new(POLICY);
    let bounds = Bounds { idle: Duration::from_secs(600), ..bounds() };
    let address = server.listen_within(bounds).await;
    let mut stream = TcpStream::connect(address).await.unwrap();
    for _ in 0..3 {
        health(&mut stream, &address.to_string()).await;
        tokio::time::sleep(SOON * 2).await;
    }
    // But once it begins to ask it has to go on.
    stream.write_all(b"GET /v1/he").await.unwrap();
    assert_refused(&rest(&mut stream).await, "408", "too-slow");
}

#[tokio::test]
async fn a_body_that_never_ends_is_refused() {
    let server = Server::new(POLICY);
    let address = server.listen_within(bounds()).await;
    for how in ["Content-Length: 1000", "Transfer-Encoding: chunked"] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let head = format!(
            "POST /v1/decisions HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n{how}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let piece: &[u8] = if how.starts_with('C') { b" " } else { b"1\r\n \r\n" };
        for _ in 0..40 {
            if stream.write_all(piece).await.is_err() {
                break;
            }
            tokio::time::sleep(SOON / 20).await;
        }
        assert_refused(&rest(&mut stream).await, "408", "too-slow");
    }
}

#[tokio::test]
async fn a_body_without_end_and_without_pause_is_refused_by_its_length() {
    let server = Server::new(POLICY);
    let address = server.listen_within(Bounds { body: Duration::from_secs(600), ..bounds() }).await;
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut reading, mut writing) = stream.into_split();
    let endless = async {
        let head = format!(
            "POST /v1/decisions HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        );
        writing.write_all(head.as_bytes()).await.unwrap();
        let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
        while writing.write_all(chunk.as_bytes()).await.is_ok() {}
    };
    let answer = async {
        let mut answer = Vec::new();
        let _ = reading.read_to_end(&mut answer).await;
        String::from_utf8(answer).unwrap()
    };
    let ((), answer) = tokio::join!(endless, answer);
    assert_refused(&answer, "413", "body-unreadable");
}

#[tokio::test]
async fn headers_that_are_too_long_or_too_many_are_refused_with_a_reason() {
    let server = Server::new(POLICY);
    let address = server.listen_within(bounds()).await;
    let many: String = (0..300).map(|n| format!("A{n}: x\r\n")).collect();
    for header in [format!("X-Long: {}\r\n", "x".repeat(500_000)), many] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = format!("GET /v1/health HTTP/1.1\r\nHost: {address}\r\n{header}\r\n");
        // The answer may come before all is sent.
        let _ = stream.write_all(request.as_bytes()).await;
        assert_refused(&rest(&mut stream).await, "431", "headers-too-long");
    }
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(b"\x16\x03\x01 what is this\r\n\r\n").await.unwrap();
    assert_refused(&rest(&mut stream).await, "400", "not-http");
}

#[tokio::test]
async fn one_too_many_is_told_so_and_comes_in_when_another_left() {
    let server = Server::new(POLICY);
    let unhurried = Bounds { head: Duration::from_secs(600), ..bounds() };
    let (address, path) = (server.listen_within(unhurried).await, server.listen_unix(unhurried).await);
    let mut held = Vec::new();
    for _ in 0..unhurried.connections {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(b"GET").await.unwrap();
        held.push(stream);
    }
    let mut late = TcpStream::connect(address).await.unwrap();
    late.write_all(format!("GET /v1/health HTTP/1.1\r\nHost: {address}\r\n\r\n").as_bytes()).await.unwrap();
    assert_refused(&rest(&mut late).await, "503", "too-many-connections");
    // The other way in has room of its own.
    health(&mut UnixStream::connect(path).await.unwrap(), "sayso").await;
    held.pop();
    loop {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream
            .write_all(format!("GET /v1/health HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").as_bytes())
            .await
            .unwrap();
        if rest(&mut stream).await.starts_with("HTTP/1.1 200 ") {
            break;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_connections_that_are_cut_off_leave_nothing_behind() {
    let server = Server::new("default = \"ask\"\n");
    let (address, token) =
        (server.listen_within(Bounds { connections: 64, ..Bounds::default() }).await, server.token().await);
    let call = r#"{"tool":"web_search","wait":600}"#;
    let asking = format!(
        "POST /v1/decisions HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{call}",
        call.len()
    );
    let watching = format!("GET /v1/stream HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\r\n");
    let pieces = ["", "GET /v1/hea", asking.trim_end_matches('}'), &asking, &watching];
    for n in 0..10_000 {
        let mut stream = TcpStream::connect(address).await.unwrap();
        // What is written may come too late for one that was turned away.
        let _ = stream.write_all(pieces[n % pieces.len()].as_bytes()).await;
        if n % 3 == 0 {
            let _ = stream.shutdown().await;
        }
    }
    // All of them are gone: as many as there may be come in again.
    let mut held = Vec::new();
    while held.len() < 64 {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = format!("GET /v1/health HTTP/1.1\r\nHost: {address}\r\n\r\n");
        let _ = stream.write_all(request.as_bytes()).await;
        let mut first = [0; 12];
        if stream.read_exact(&mut first).await.is_ok() && &first == b"HTTP/1.1 200" {
            held.push(stream);
        }
    }
}

#[tokio::test]
async fn whoever_stops_sending_while_it_waits_has_left() {
    let server = Server::new("default = \"ask\"\n");
    let address = server.listen_within(Bounds { connections: 1, ..Bounds::default() }).await;
    let mut stream = TcpStream::connect(address).await.unwrap();
    let call = r#"{"tool":"web_search","wait":600}"#;
    let head = format!("POST /v1/decisions HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n");
    stream.write_all(format!("{head}Content-Length: {}\r\n\r\n{call}", call.len()).as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    assert_eq!(rest(&mut stream).await, "");
    // Its place is free.
    loop {
        let mut next = TcpStream::connect(address).await.unwrap();
        next.write_all(format!("GET /v1/health HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").as_bytes())
            .await
            .unwrap();
        if rest(&mut next).await.starts_with("HTTP/1.1 200 ") {
            break;
        }
    }
}

#[tokio::test]
async fn a_watcher_that_takes_nothing_is_dropped() {
    let server = Server::new(POLICY);
    let (path, token) = (server.listen_unix(Bounds { connections: 1, ..bounds() }).await, server.token().await);
    let mut stuck = UnixStream::connect(&path).await.unwrap();
    stuck
        .write_all(format!("GET /v1/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n").as_bytes())
        .await
        .unwrap();
    // More than the socket holds.
    let long = "x".repeat(20_000);
    for n in 0..60 {
        let call = json!({"tool": "web_search", "args": {"q": format!("{long}{n}")}});
        assert_eq!(server.send(post("/v1/decisions", &call)).await.0, StatusCode::OK);
    }
    loop {
        let mut next = UnixStream::connect(&path).await.unwrap();
        if next.write_all(b"GET /v1/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await.is_ok()
            && rest(&mut next).await.starts_with("HTTP/1.1 200 ")
        {
            break;
        }
    }
}

#[tokio::test]
async fn a_long_head_is_refused_though_it_comes_in_one_piece_or_behind_another_request() {
    let server = Server::new(POLICY);
    let address = server.listen_within(Bounds { head_bytes: Bounds::default().head_bytes, ..bounds() }).await;
    let get = |filler: &str| format!("GET /v1/health HTTP/1.1\r\nHost: {address}\r\n{filler}\r\n");
    let long = format!("X-Long: {}\r\n", "a".repeat(40 * 1024));
    let several = format!("X-Long: {}\r\n", "a".repeat(4 * 1024)).repeat(10);
    let blanks = format!("X-Long: {}x\r\n", " ".repeat(40 * 1024));
    for filler in [&long, &several, &blanks] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(get(filler).as_bytes()).await.unwrap();
        assert_refused(&rest(&mut stream).await, "431", "headers-too-long");
    }
    for filler in [&long, &several] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(format!("{}{}", get(""), get(filler)).as_bytes()).await.unwrap();
        let told = rest(&mut stream).await;
        assert!(told.starts_with("HTTP/1.1 200 ") && told.contains("headers-too-long"), "{told}");
    }
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(get(&format!("X-Long: {}\r\n", "a".repeat(31 * 1024))).as_bytes()).await.unwrap();
    assert!(rest(&mut stream).await.starts_with("HTTP/1.1 200 "));
}

#[tokio::test]
async fn a_long_body_that_comes_with_its_head_is_no_long_head() {
    let server = Server::new(POLICY);
    let address = server.listen_within(bounds()).await;
    let mut stream = TcpStream::connect(address).await.unwrap();
    let body = json!({"command": format!("echo {}", "a".repeat(100_000))}).to_string();
    let head = format!(
        "POST /v1/decisions HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    // Later requests of a connection are read in larger pieces than the first.
    for _ in 0..4 {
        stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
        let (mut answer, mut piece) = (Vec::new(), [0_u8; 4096]);
        while !answer.ends_with(b"}") {
            let many = stream.read(&mut piece).await.unwrap();
            assert!(many > 0, "{}", String::from_utf8_lossy(&answer));
            answer.extend_from_slice(&piece[..many]);
        }
        assert!(answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
    }
}

#[tokio::test]
async fn whoever_is_refused_before_the_body_can_still_send_it_and_hears_why() {
    let server = Server::new(POLICY);
    let address = server.listen_within(Bounds::default()).await;
    let path = server.listen_unix(Bounds::default()).await;
    async fn late(mut stream: impl Stream) {
        let head = "POST /v1/approvals/x/answer HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://evil.example\r\n\
                    Content-Type: application/json\r\nContent-Length: 4000\r\n\r\n";
        stream.write_all(head.as_bytes()).await.unwrap();
        // The answer is there before the first byte of the body.
        let mut answer = vec![0];
        stream.read_exact(&mut answer).await.unwrap();
        for _ in 0..4 {
            stream.write_all(&[b' '; 1000]).await.unwrap();
        }
        stream.shutdown().await.unwrap();
        stream.read_to_end(&mut answer).await.unwrap();
        let answer = String::from_utf8(answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 40"), "{answer}");
        assert!(answer.contains("\"error\""), "{answer}");
    }
    late(TcpStream::connect(address).await.unwrap()).await;
    late(UnixStream::connect(path).await.unwrap()).await;
}
