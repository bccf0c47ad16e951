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
        rusqlite::Connection::open(self.app.places.state.join("sayso.db")).unwrap().execute_batch(sql).unwrap();
    }
}

#[tokio::test]
async fn a_store_that_was_taken_away_allows_nothing_and_is_not_ready() {
    for ending in ["", "-wal"] {
        let server = Server::new(ALLOWS);
        assert_eq!(server.decide_true().await["verdict"], "allow");
        assert!(server.why_not_ready().await.is_empty());
        std::fs::remove_file(format!("{}{ending}", server.app.places.state.join("sayso.db").display())).unwrap();
        let told = server.decide_true().await;
        assert_eq!((&told["verdict"], &told["reasons"][0]["code"]), (&json!("deny"), &json!("store-replaced")));
        assert_eq!(server.why_not_ready().await, ["store-replaced"]);
    }
}

/// What a server said at its terminal.
type Said = Arc<Mutex<Vec<String>>>;

fn watched(server: &Server) -> Said {
    let said = Said::default();
    let told = Arc::clone(&said);
    crate::watch::begin(&server.app, Arc::new(move |text: &str| told.lock().unwrap().push(text.to_owned())));
    said
}

async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_store_that_was_taken_away_sets_off_the_alarm_without_being_asked() {
    for replaced in [false, true] {
        let server = Server::new(ALLOWS);
        assert_eq!(server.decide_true().await["verdict"], "allow");
        let token = server.token().await;
        let said = watched(&server);
        until("it was never checked", || server.app.watched.state().checked_ms.is_some()).await;
        assert_eq!(*said.lock().unwrap(), Vec::<String>::new());
        let path = server.app.places.state.join("sayso.db");
        if replaced {
            std::fs::copy(&path, path.with_extension("copy")).unwrap();
            std::fs::rename(path.with_extension("copy"), &path).unwrap();
        } else {
            std::fs::remove_file(&path).unwrap();
        }
        until("it said nothing", || !said.lock().unwrap().is_empty()).await;
        let alarm = said.lock().unwrap().remove(0);
        assert!(alarm.starts_with("ALARM: the database is gone: ") && alarm.contains("sayso.db"), "{alarm}");
        assert_eq!(server.why_not_ready().await, ["store-replaced"]);
        let (code, status) = server.send(with_token("/v1/status", &token)).await;
        assert_eq!(code, StatusCode::OK, "{status}");
        assert!(status["alarm"].as_str().unwrap().contains("sayso.db"), "{status}");
        assert!(status["notices"][0].as_str().unwrap().contains("sayso.db"), "{status}");
        tokio::time::sleep(Duration::from_millis(1500)).await;
        assert_eq!(*said.lock().unwrap(), Vec::<String>::new(), "once is enough");
    }
}

#[tokio::test]
async fn a_record_that_was_changed_is_noticed_without_being_asked() {
    let server = Server::new(ALLOWS);
    for _ in 0..300 {
        server.decide_true().await;
    }
    let said = watched(&server);
    until("it was never checked", || server.app.watched.state().checked_ms.is_some()).await;
    assert!(server.why_not_ready().await.is_empty());
    // An old one, which no look at the newest records finds.
    server.forge("UPDATE event SET body = replace(body, 'nowhere', 'NOWHERE') WHERE seq = 20");
    server.until_ready_says("chain-broken", true).await;
    assert!(said.lock().unwrap().iter().any(|text| text.starts_with("ALARM") && text.contains("record 20")));
    let told = server.decide_true().await;
    assert_eq!((&told["verdict"], &told["reasons"][0]["code"]), (&json!("deny"), &json!("record-altered")), "{told}");
    let token = server.token().await;
    let (_, status) = server.send(with_token("/v1/status", &token)).await;
    assert!(status["alarm"].as_str().unwrap().contains("record 20"), "{status}");
    server.forge("UPDATE event SET body = replace(body, 'NOWHERE', 'nowhere') WHERE seq = 20");
    server.until_ready_says("chain-broken", false).await;
    assert_eq!(server.decide_true().await["verdict"], "allow");
}

/// Puts these bytes over what the file holds of a record in the middle, past SQLite.
fn overwrite(server: &Server, bytes: &[u8]) {
    server.forge("PRAGMA wal_checkpoint(TRUNCATE)");
    let found = std::process::Command::new("grep").args(["-abo", "nowhere", &database(server)]).output().unwrap();
    let found: Vec<usize> = String::from_utf8_lossy(&found.stdout)
        .lines()
        .filter_map(|line| line.split(':').next()?.parse().ok())
        .collect();
    let source = server.app.places.state.join("bytes");
    std::fs::write(&source, bytes).unwrap();
    let (from, to) = (format!("if={}", source.display()), format!("of={}", database(server)));
    let at = format!("seek={}", found[found.len() / 2]);
    elsewhere("dd", &[&from, &to, &at, "bs=1", "conv=notrunc", "status=none"]);
}

/// What somebody does to the store behind the server's back, and whether the next decision notices it by itself.
type Tampering = (&'static str, fn(&Server), bool);

/// In another process: whoever closes a descriptor of the file gives up all locks of its own on it.
fn elsewhere(program: &str, arguments: &[&str]) {
    assert!(std::process::Command::new(program).args(arguments).status().unwrap().success());
}

fn database(server: &Server) -> String {
    server.app.places.state.join("sayso.db").display().to_string()
}

const TAMPERING: [Tampering; 13] = [
    (
        "changed in the middle",
        |s| s.forge("UPDATE event SET body = replace(body, 'nowhere', 'NOWHERE') WHERE seq = 20"),
        false,
    ),
    ("a column changed", |s| s.forge("UPDATE event SET verdict = 'deny' WHERE seq = 20"), false),
    ("deleted in the middle", |s| s.forge("DELETE FROM event WHERE seq = 20"), false),
    ("deleted at the beginning", |s| s.forge("DELETE FROM event WHERE seq < 10"), false),
    (
        "moved up",
        |s| s.forge("UPDATE event SET seq = -seq WHERE seq > 20; UPDATE event SET seq = 1 - seq WHERE seq < 0"),
        true,
    ),
    (
        "renumbered",
        |s| s.forge("DELETE FROM event WHERE seq = 20; UPDATE event SET seq = seq - 1 WHERE seq > 20"),
        true,
    ),
    ("deleted at the end", |s| s.forge("DELETE FROM event WHERE seq > 20"), true),
    ("deleted at the end, with the heads", |s| s.forge("DELETE FROM head; DELETE FROM event WHERE seq > 20"), true),
    ("all deleted", |s| s.forge("DELETE FROM head; DELETE FROM event"), true),
    (
        "replaced by others at the end",
        |s| {
            s.forge("DELETE FROM head; DELETE FROM event WHERE seq > 20");
            // Another process, which knows nothing of what was there, writes more than was taken away.
            let other = sayso_gate::store::open(&s.app.places).unwrap();
            for _ in 0..400 {
                let change = sayso_gate::audit::Change::now(sayso_gate::audit::Kind::Mode, "x");
                other.append(&[change.into()], &[]).unwrap();
            }
            // Whole in itself, but for the heads that the note of its end speaks of.
            let problems = other.verify(None).unwrap().problems;
            assert!(
                problems.iter().all(|it| matches!(it, sayso_gate::audit::Problem::HeadsRemoved { .. })),
                "{problems:?}"
            );
        },
        true,
    ),
    (
        "an older copy, in the place of what it holds",
        |s| {
            s.forge(&format!(
                "ATTACH '{}.older' AS older; DELETE FROM event; INSERT INTO event SELECT * FROM older.event",
                database(s)
            ));
        },
        true,
    ),
    ("a word overwritten in the file", |s| overwrite(s, b"NOWHERE"), false),
    ("a page overwritten in the file", |s| overwrite(s, &[0; 4096]), false),
];

#[test]
fn whatever_is_done_to_the_record_nothing_is_allowed_once_it_is_noticed() {
    std::thread::scope(|scope| {
        for tampering in TAMPERING {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let named = std::thread::Builder::new().name(tampering.0.to_owned());
            named.spawn_scoped(scope, move || runtime.block_on(nothing_is_allowed_after(tampering))).unwrap();
        }
    });
}

async fn nothing_is_allowed_after((what, tamper, at_once): Tampering) {
    let server = Server::new(ALLOWS);
    for n in 0..200 {
        server.decide_true().await;
        if n == 50 {
            server.app.store().back_up(std::path::Path::new(&format!("{}.older", database(&server)))).unwrap();
        }
    }
    let said = watched(&server);
    until("it was never checked", || server.app.watched.state().checked_ms.is_some()).await;
    assert!(server.why_not_ready().await.is_empty(), "{what}");
    tamper(&server);
    if at_once {
        let told = server.decide_true().await;
        let code = &told["reasons"][0]["code"];
        assert_eq!((&told["verdict"], code), (&json!("deny"), &json!("record-altered")), "{what}: {told}");
        assert_eq!(server.why_not_ready().await, ["chain-broken"], "{what}");
    }
    // Where the file itself is damaged, that may be found first.
    let deadline = Instant::now() + Duration::from_secs(60);
    while !server.why_not_ready().await.iter().any(|code| ["chain-broken", "store-replaced"].contains(&code.as_str())) {
        assert!(Instant::now() < deadline, "{what} was never noticed");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    until("no alarm", || said.lock().unwrap().iter().any(|text| text.starts_with("ALARM"))).await;
    for _ in 0..3 {
        let told = server.decide_true().await;
        assert_eq!(told["verdict"], "deny", "{what}: {told}");
        let code = told["reasons"][0]["code"].as_str().unwrap();
        assert!(["record-altered", "record-failed", "store-replaced"].contains(&code), "{what}: {told}");
    }
}

#[tokio::test]
async fn a_server_that_starts_with_a_record_found_altered_allows_nothing_until_it_has_looked() {
    let server = Server::new(ALLOWS);
    server.decide_true().await;
    let store = server.app.store();
    let change = || sayso_gate::audit::Change::now(sayso_gate::audit::Kind::Mode, "x").into();
    // So many that a look at all of them takes a while.
    store.append(&(0..4_000).map(|_| change()).collect::<Vec<_>>(), &[]).unwrap();
    let watch = sayso_gate::store::Watch::over(&store);
    let found = watch.step(usize::MAX).unwrap().unwrap();
    watch.say(&found, Some("records 4 to 5 are gone")).unwrap();
    assert_eq!(store.alarm(), None);
    let _said = watched(&server);
    assert!(store.alarm().is_some());
    let told = server.decide_true().await;
    assert_eq!((&told["verdict"], &told["reasons"][0]["code"]), (&json!("deny"), &json!("record-altered")), "{told}");
    server.until_ready_says("chain-broken", false).await;
    assert_eq!(server.decide_true().await["verdict"], "allow", "all that is there is whole");
}

#[tokio::test]
async fn newest_records_that_are_gone_are_noticed() {
    let server = Server::new(ALLOWS);
    for _ in 0..20 {
        server.decide_true().await;
    }
    let said = watched(&server);
    until("it was never checked", || server.app.watched.state().checked_ms.is_some()).await;
    assert!(server.why_not_ready().await.is_empty());
    // The rest hangs together as before.
    server.forge("DELETE FROM event WHERE seq > 10");
    server.until_ready_says("chain-broken", true).await;
    let alarms = |text: &String| text.starts_with("ALARM") && text.contains("records 11 to ");
    until("no alarm", || said.lock().unwrap().iter().any(alarms)).await;
}

#[tokio::test]
async fn a_chain_that_cannot_be_read_is_an_alarm() {
    let server = Server::new(ALLOWS);
    server.decide_true().await;
    let said = watched(&server);
    until("it was never checked", || server.app.watched.state().checked_ms.is_some()).await;
    server.forge("DELETE FROM chain");
    server.until_ready_says("chain-broken", true).await;
    assert!(said.lock().unwrap().iter().any(|text| text.starts_with("ALARM") && text.contains("cannot be read")));
}

#[tokio::test]
async fn heads_are_copied_elsewhere_and_tell_of_a_store_of_an_earlier_time() {
    let elsewhere = tempfile::tempdir().unwrap();
    let anchor = elsewhere.path().join("heads.jsonl");
    let server = Server::with(ALLOWS, About { anchor: Some(anchor.clone()), ..About::default() });
    for _ in 0..20 {
        server.decide_true().await;
    }
    let _said = watched(&server);
    until("no head was copied", || std::fs::read_to_string(&anchor).is_ok_and(|text| text.ends_with('\n'))).await;
    let heads: Vec<sayso_gate::audit::Head> =
        std::fs::read_to_string(&anchor).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(server.app.store().verify_with(heads.clone()).unwrap().problems, []);
    // Everything of this chain behind its fifth record goes, with the heads: it is whole in itself.
    server.forge("DELETE FROM head; DELETE FROM event WHERE seq > 5");
    let found = server.app.store().verify_with(heads).unwrap();
    assert!(!found.problems.is_empty());
}

#[tokio::test]
async fn a_server_that_starts_with_a_store_of_an_earlier_time_says_so_by_the_heads_elsewhere() {
    let elsewhere = tempfile::tempdir().unwrap();
    for cut_off in [false, true] {
        let anchor = elsewhere.path().join(format!("heads-{cut_off}.jsonl"));
        let server = Server::with(ALLOWS, About { anchor: Some(anchor.clone()), ..About::default() });
        for _ in 0..20 {
            server.decide_true().await;
        }
        // What a server that has stopped left there, and perhaps half a line of one that crashed.
        crate::watch::end(&server.app);
        if cut_off {
            let whole = std::fs::read_to_string(&anchor).unwrap();
            std::fs::write(&anchor, whole + "{\"chain\":").unwrap();
        }
        server.forge("DELETE FROM head; DELETE FROM event WHERE seq > 5");
        // By a process that has not seen what was there.
        sayso_gate::store::open(&server.app.places).unwrap().sign_head().unwrap();
        assert_eq!(server.app.store().verify(None).unwrap().problems, [], "it is whole in itself");
        let said = watched(&server);
        server.until_ready_says("anchor-fails", true).await;
        server.until_ready_says("chain-broken", true).await;
        until("no alarm", || said.lock().unwrap().iter().filter(|text| text.starts_with("ALARM")).count() > 1).await;
        assert!(said.lock().unwrap().iter().any(|text| text.contains("heads-")), "{said:?}");
        // It stands in the record, for those who come later.
        let store = server.app.store();
        until("nothing was recorded", || store.last_checked().unwrap().is_some_and(|last| last.problems > 0)).await;
    }
}

#[tokio::test]
async fn a_line_elsewhere_that_is_no_head_stays_an_alarm() {
    let elsewhere = tempfile::tempdir().unwrap();
    let anchor = elsewhere.path().join("heads.jsonl");
    std::fs::write(&anchor, "nonsense").unwrap();
    let server = Server::with(ALLOWS, About { anchor: Some(anchor.clone()), ..About::default() });
    server.decide_true().await;
    let said = watched(&server);
    server.until_ready_says("anchor-fails", true).await;
    assert!(said.lock().unwrap().iter().any(|text| text.contains("line 1 of")), "{said:?}");
    let text = std::fs::read_to_string(&anchor).unwrap();
    assert!(text.starts_with("nonsense\n{"), "{text}");
}

#[tokio::test]
async fn a_pipe_that_nobody_reads_is_told_and_keeps_nobody_waiting() {
    let elsewhere = tempfile::tempdir().unwrap();
    let anchor = elsewhere.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&anchor).status().unwrap();
    assert!(made.success());
    let server = Server::with(ALLOWS, About { anchor: Some(anchor.clone()), ..About::default() });
    server.decide_true().await;
    let _said = watched(&server);
    server.until_ready_says("anchor-fails", true).await;
    until("it was never checked", || server.app.watched.state().checked_ms.is_some()).await;
}
