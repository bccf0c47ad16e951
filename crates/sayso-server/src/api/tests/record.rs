//! The record under a running server: taken away, changed behind its back, and vouched for elsewhere.

use super::*;
use std::sync::Mutex;
use std::time::{Duration, Instant};

const ALLOWS: &str = "default = \"allow\"\n";

impl Server {
    async fn why_not_ready(&self) -> Vec<String> {
        let (status, body) = self.send(get("/v1/ready")).await;
        let why: Vec<String> =
            body["reasons"].as_array().unwrap().iter().map(|why| why["code"].as_str().unwrap().to_owned()).collect();
        assert_eq!(status == StatusCode::OK, why.is_empty(), "{body}");
        why
    }

    async fn decide_true(&self) -> Value {
        self.send(post("/v1/decisions", &json!({"command": "true", "cwd": "/nowhere"}))).await.1
    }

    /// Waits until it is, or is not, ready for this reason.
    async fn until_ready_says(&self, code: &str, says: bool) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while self.why_not_ready().await.contains(&code.to_owned()) != says {
            assert!(Instant::now() < deadline, "it never said {code}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    fn forge(&self, sql: &str) {
        rusqlite::Connection::open(self.app.store().path()).unwrap().execute_batch(sql).unwrap();
    }
}

#[tokio::test]
async fn a_store_that_was_taken_away_allows_nothing_and_is_not_ready() {
    for ending in ["", "-wal"] {
        let server = Server::new(ALLOWS);
        assert_eq!(server.decide_true().await["verdict"], "allow");
        assert!(server.why_not_ready().await.is_empty());
        std::fs::remove_file(format!("{}{ending}", server.app.store().path().display())).unwrap();
        let told = server.decide_true().await;
        assert_eq!((&told["verdict"], &told["reasons"][0]["code"]), (&json!("deny"), &json!("store-replaced")));
        assert_eq!(server.why_not_ready().await, ["store-replaced"]);
    }
}

#[tokio::test]
async fn a_record_that_was_changed_is_noticed_without_being_asked() {
    let server = Server::new(ALLOWS);
    for _ in 0..300 {
        server.decide_true().await;
    }
    let said = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&said);
    crate::watch::begin(&server.app, Arc::new(move |text: &str| told.lock().unwrap().push(text.to_owned())));
    let deadline = Instant::now() + Duration::from_secs(60);
    while server.app.watched.state().checked_ms.is_none() {
        assert!(Instant::now() < deadline, "it was never checked");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(server.why_not_ready().await.is_empty());
    // An old one, which no look at the newest records finds.
    server.forge("UPDATE event SET body = replace(body, 'nowhere', 'NOWHERE') WHERE seq = 20");
    server.until_ready_says("chain-broken", true).await;
    assert!(said.lock().unwrap().iter().any(|text| text.starts_with("ALARM") && text.contains("record 20")));
    let token = server.token().await;
    let (_, status) = server.send(with_token("/v1/status", &token)).await;
    assert!(status["alarm"].as_str().unwrap().contains("record 20"), "{status}");
    server.forge("UPDATE event SET body = replace(body, 'NOWHERE', 'nowhere') WHERE seq = 20");
    server.until_ready_says("chain-broken", false).await;
}

#[tokio::test]
async fn heads_are_copied_elsewhere_and_tell_of_a_store_of_an_earlier_time() {
    let elsewhere = tempfile::tempdir().unwrap();
    let anchor = elsewhere.path().join("heads.jsonl");
    let server = Server::with(ALLOWS, About { anchor: Some(anchor.clone()), ..About::default() });
    for _ in 0..20 {
        server.decide_true().await;
    }
    crate::watch::begin(&server.app, Arc::new(|_: &str| {}));
    let deadline = Instant::now() + Duration::from_secs(60);
    while std::fs::read_to_string(&anchor).map_or(0, |text| text.lines().count()) == 0 {
        assert!(Instant::now() < deadline, "no head was copied");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let heads: Vec<sayso_gate::audit::Head> =
        std::fs::read_to_string(&anchor).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(server.app.store().verify_with(heads.clone()).unwrap().problems, []);
    // Everything of this chain behind its fifth record goes, with the heads: it is whole in itself.
    server.forge("DELETE FROM head; DELETE FROM event WHERE seq > 5");
    let found = server.app.store().verify_with(heads).unwrap();
    assert!(!found.problems.is_empty());
}
