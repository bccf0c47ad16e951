//! Coming back to the stream: behind what was seen, and never silently somewhere else.

use super::stream::{bearer, closed, decision, next, socket};
use super::*;
use futures_util::SinkExt as _;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message};

impl Server {
    /// Asks for events with these headers besides the token; gives back the status and, if it is refused, the code.
    async fn follow(&self, path: &str, token: &str, headers: &[(&'static str, &str)]) -> (StatusCode, Value) {
        let mut request = with_token(path, token);
        for (name, value) in headers {
            request.headers_mut().append(*name, value.parse().unwrap());
        }
        let response = self.over(WayIn::Loopback(PORT)).answer(request).await;
        let status = response.status();
        if status == StatusCode::OK {
            // It goes on for ever.
            return (status, Value::Null);
        }
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        let body: Value = serde_json::from_slice(&bytes).unwrap();
        (status, body["error"]["code"].clone())
    }

    async fn newest(&self, token: &str) -> u64 {
        let (_, found) = self.send(with_token("/v1/audit?kind=all&limit=1", token)).await;
        found["records"][0]["seq"].as_u64().unwrap()
    }
}

#[tokio::test]
async fn a_number_that_the_record_has_not_come_to_is_refused_and_not_waited_for() {
    let server = Server::new(POLICY);
    let (address, token) = (server.listen().await, server.token().await);
    server.decide(1).await;
    let newest = server.newest(&token).await;
    let refused = (StatusCode::CONFLICT, json!("ahead-of-record"));
    for after in [newest + 1, newest + 1000, u64::MAX] {
        let path = format!("/v1/stream?after={after}");
        assert_eq!(server.follow(&path, &token, &[]).await, refused, "{after}");
        let header = [("last-event-id", &*after.to_string())];
        assert_eq!(server.follow("/v1/stream", &token, &header).await, refused, "{after}");
        // A WebSocket that says who it is at once is not opened.
        match socket(address, &path, &[("authorization", &bearer(&token))]).await {
            Err(Error::Http(answer)) => assert_eq!(answer.status(), 409, "{after}"),
            other => panic!("{other:?}"),
        }
        // One that says it in its first message is told why, and closed.
        let mut late = socket(address, &path, &[]).await.unwrap();
        late.send(Message::text(json!({"token": token}).to_string())).await.unwrap();
        assert_eq!(next(&mut late).await["error"]["code"], "ahead-of-record");
        assert_eq!(closed(late).await, (CloseCode::Policy, "ahead-of-record".to_owned()));
    }
    // Nobody learns how long the record is who may not know it.
    let path = format!("/v1/stream?after={}", u64::MAX);
    assert_eq!(server.follow(&path, "nothing", &[]).await, (StatusCode::UNAUTHORIZED, json!("signed-out")));

    // Behind the last record is where everybody begins.
    let path = format!("/v1/stream?after={newest}");
    assert_eq!(server.follow(&path, &token, &[]).await.0, StatusCode::OK);
    let mut watching = socket(address, &path, &[("authorization", &bearer(&token))]).await.unwrap();
    server.decide(2).await;
    assert_eq!(decision(&mut watching).await, 2);
}

#[tokio::test]
async fn a_last_event_id_that_is_no_number_is_refused_and_not_left_aside() {
    let server = Server::new(POLICY);
    let (address, token) = (server.listen().await, server.token().await);
    server.decide(1).await;
    for id in ["x", "", "-1", "+1", " 1x", "1.0", "0x1", "1,2", "18446744073709551616", "١"] {
        let said = server.follow("/v1/stream?after=0", &token, &[("last-event-id", id)]).await;
        assert_eq!(said, (StatusCode::BAD_REQUEST, json!("call-malformed")), "{id:?}");
        let headers = [("authorization", &*bearer(&token)), ("last-event-id", id)];
        match socket(address, "/v1/stream", &headers).await {
            Err(Error::Http(answer)) => assert_eq!(answer.status(), 400, "{id:?}"),
            other => panic!("{other:?}"),
        }
        // Before anybody is signed in, too.
        assert!(socket(address, "/v1/stream", &[("last-event-id", id)]).await.is_err(), "{id:?}");
    }
    let twice = server.follow("/v1/stream", &token, &[("last-event-id", "1"), ("last-event-id", "1")]).await;
    assert_eq!(twice, (StatusCode::BAD_REQUEST, json!("repeated-header")));
    for after in ["x", "-1", "1.5", ""] {
        let path = format!("/v1/stream?after={after}");
        assert_eq!(server.follow(&path, &token, &[]).await.0, StatusCode::BAD_REQUEST, "{after:?}");
    }
}

#[tokio::test]
async fn a_browser_that_comes_back_by_itself_goes_on_behind_its_last_event() {
    let server = Server::new(POLICY);
    let token = server.token().await;
    let mut seen = 0;
    for round in 0..5 {
        server.decide(round).await;
        let newest = server.newest(&token).await;
        // Its address still says where it began; the header says where it is.
        let mut request = with_token("/v1/stream?after=0", &token);
        request.headers_mut().insert("last-event-id", seen.to_string().parse().unwrap());
        let mut body = server.over(WayIn::Loopback(PORT)).answer(request).await.into_body();
        let mut text = String::new();
        while !text.contains(&format!("id: {newest}\n")) {
            let frame = body.frame().await.unwrap().unwrap();
            text.push_str(std::str::from_utf8(frame.data_ref().unwrap()).unwrap());
        }
        let ids: Vec<u64> =
            text.lines().filter_map(|line| line.strip_prefix("id: ")).map(|id| id.parse().unwrap()).collect();
        assert_eq!(ids, (seen + 1..=newest).collect::<Vec<_>>(), "each once, none left out");
        seen = newest;
    }
}
