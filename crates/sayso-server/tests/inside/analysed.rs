//! How often a call is analysed on its way through the API.

use super::*;
use sayso_gate::analysed;
use std::time::Duration;

const POLICY: &str = "default = \"ask\"\n[allow]\ntool = [\"web_search\"]\n[deny]\ntool = [\"file_delete\"]\n";

impl Server {
    /// How often these calls are analysed, at the least: a machine that stands still for longer than what was seen of files
    /// is good for has them analysed again, rightly.
    async fn analyses(&self, body: &Value, verdict: &str) -> u64 {
        let mut least = u64::MAX;
        for _ in 0..5 {
            let before = analysed();
            let (status, told) = self.send(post("/v1/decisions", body)).await;
            let first = told.as_array().map_or(&told, |list| &list[0]);
            assert_eq!((status, &first["verdict"]), (StatusCode::OK, &json!(verdict)), "{told}");
            least = least.min(analysed() - before);
        }
        least
    }
}

/// Not a test of its own: counts in a process where nobody else does.
#[tokio::test]
#[ignore = "is run by the next one"]
async fn counted() {
    for limits in ["", "[limits.session]\ncalls = 1000\n"] {
        let server = Server::new(&format!("{POLICY}{limits}"));
        for (tool, verdict) in [("web_search", "allow"), ("file_delete", "deny"), ("web_fetch", "ask")] {
            let call = json!({"tool": tool, "args": {"url": "https://a.example"}});
            assert_eq!(server.analyses(&call, verdict).await, 1, "{tool} {limits:?}");
            assert_eq!(server.analyses(&json!([call, call]), verdict).await, 2, "{tool} in a list {limits:?}");
        }
        let comes_back = json!({"tool": "web_fetch", "args": {"url": "https://b.example"}, "wait": 0});
        assert_eq!(server.analyses(&comes_back, "ask").await, 1, "the question is put, nobody waits {limits:?}");

        // Time passes while people look at it: what would run is compared with what they saw.
        let before = analysed();
        let call = json!({"tool": "web_fetch", "args": {"url": "https://c.example"}, "wait": 60});
        let waits = tokio::spawn(send(server.over(WayIn::Loopback(PORT)), post("/v1/decisions", &call)));
        let token = server.token().await;
        let id = loop {
            let asked = server.app.store().approvals(true, 10).unwrap();
            let about = |words: &Option<Value>| words.as_ref().is_some_and(|words| words["url"] == "https://c.example");
            match asked.iter().find(|one| about(&one.question.arguments)) {
                Some(one) => break one.question.id.clone(),
                None => tokio::time::sleep(Duration::from_millis(10)).await,
            }
        };
        let answer = post(&format!("/v1/approvals/{id}/answer"), &json!({"verdict": "allow"}));
        assert_eq!(server.send(signed(answer, &token)).await.0, StatusCode::OK);
        assert_eq!(waits.await.unwrap().1["verdict"], "allow");
        assert!((2..=3).contains(&(analysed() - before)), "once for people, once after they answered");
    }
}

#[test]
fn a_call_is_analysed_once() {
    let words = ["api::tests::analysed::counted", "--exact", "--ignored", "--nocapture", "--test-threads=1"];
    let run = std::process::Command::new(std::env::current_exe().unwrap()).args(words).output().unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && said.contains("1 passed"), "{said}{}", String::from_utf8_lossy(&run.stderr));
}
