//! Who is at the other end of the socket.

use super::*;
use crate::bounds::Bounds;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpStream, UnixStream};

#[tokio::test]
async fn the_process_that_asked_over_the_socket_stands_in_the_record() {
    let server = Server::new(POLICY);
    let path = server.listen_unix(Bounds::default()).await;
    let address = server.listen().await;
    let call = r#"{"tool":"web_search","context":{"agent":"coder"}}"#;
    let asking = format!(
        "POST /v1/decisions HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{call}",
        call.len()
    );
    let mut answer = String::new();
    let mut socket = UnixStream::connect(&path).await.unwrap();
    socket.write_all(asking.as_bytes()).await.unwrap();
    socket.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    answer.clear();
    let mut tcp = TcpStream::connect(address).await.unwrap();
    tcp.write_all(asking.as_bytes()).await.unwrap();
    tcp.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    let (_, found) = server.send(with_token("/v1/audit?order=oldest", &server.token().await)).await;
    let exe = std::env::current_exe().unwrap().canonicalize().unwrap();
    let me = json!({"uid": rustix::process::getuid().as_raw(), "pid": std::process::id(), "exe": exe});
    assert_eq!(found["records"][0]["peer"], me);
    assert_eq!(found["records"][1]["peer"], Value::Null, "over TCP the system does not say");
}

#[tokio::test]
async fn being_the_owner_of_the_process_opens_nothing() {
    let server = Server::new("default = \"ask\"\n");
    let id = server.question(None, None).await;
    let path = server.listen_unix(Bounds::default()).await;
    for request in [
        "GET /v1/audit HTTP/1.1\r\n".to_owned(),
        "GET /v1/approvals HTTP/1.1\r\n".to_owned(),
        format!("POST /v1/approvals/{id}/answer HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 19\r\n"),
    ] {
        let mut socket = UnixStream::connect(&path).await.unwrap();
        let request = format!("{request}Host: sayso\r\nConnection: close\r\n\r\n{{\"verdict\":\"allow\"}}");
        socket.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
    }
}
