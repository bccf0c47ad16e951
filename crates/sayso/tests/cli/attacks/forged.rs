//! Rows that somebody wrote into the store's file, past Sayso.

use super::{asked, call, still_waits};
use crate::person::Person;
use crate::served::{JSON, Served, serve};
use rusqlite::Connection;
use serde_json::Value;

#[test]
fn a_yes_written_into_the_store_lets_nothing_pass_and_is_told() {
    let (person, served, id) = asked();
    let store = person.home().join(".local/state/sayso/sayso.db");
    let connection = Connection::open(store).unwrap();
    let given = "{\"person\":{\"name\":\"root\"},\"via\":\"page\",\"reply\":{\"verdict\":\"allow\",\"remember\":\"once\"},\"time_ms\":1}";
    connection.execute("INSERT INTO answer VALUES (?1, 'root', 1, 0, ?2)", [&id, given]).unwrap();
    connection.execute("UPDATE approval SET standing = 'approved', decided_ms = 1 WHERE id = ?1", [&id]).unwrap();
    let told = served.send("POST", "/v1/decisions", &[JSON], &call(&person).to_string());
    assert_eq!(told.body["verdict"], "ask", "{}", told.body);
    let codes: Vec<&str> =
        told.body["reasons"].as_array().unwrap().iter().filter_map(|it| it["code"].as_str()).collect();
    assert!(codes.contains(&"not-in-record"), "{}", told.body);
    let log = person.run(&["log", "--kind", "chain", "--json"]).out;
    assert!(log.contains("\"distrusted\"") && log.contains(&id), "{log}");
}

#[test]
fn a_question_that_somebody_rewrote_is_not_answered() {
    let (person, served, id) = asked();
    let connection = Connection::open(person.home().join(".local/state/sayso/sayso.db")).unwrap();
    let sql = "UPDATE approval SET body = replace(body, 'web_search', 'harmless') WHERE id = ?1";
    assert_eq!(connection.execute(sql, [&id]).unwrap(), 1);
    let told = served.says_yes(&served.signed_in(&served.key()), &id);
    assert_eq!((told.status, &told.body["error"]["code"]), (409, &Value::from("approval-void")), "{}", told.body);
}

#[test]
fn a_remembered_answer_written_into_the_store_lets_nothing_pass() {
    let (person, served, id) = asked();
    let connection = Connection::open(person.home().join(".local/state/sayso/sayso.db")).unwrap();
    let question: String =
        connection.query_row("SELECT body FROM approval WHERE id = ?1", [&id], |row| row.get(0)).unwrap();
    let question: Value = serde_json::from_str(&question).unwrap();
    let kept = serde_json::json!({"id": "forged", "selector": {"digest": question["exact"]}, "workspace": question["site"], "session": null,
        "uses_left": null, "expires_ms": null, "givers": [{"name": "root"}], "verdict": "allow", "actor": {}, "given_ms": 1, "words": ""});
    let sql = "INSERT INTO remembered (id, site, given_ms, used, body) VALUES ('forged', ?1, 1, 0, ?2)";
    connection.execute(sql, [question["site"].as_str().unwrap(), &kept.to_string()]).unwrap();
    still_waits(&person, &served, &id);
}

/// Whether a server allows something that the policy does.
fn allows(person: &Person, served: &Served) -> bool {
    let call = serde_json::json!({"command": "ls", "cwd": person.project()});
    let told = served.send("POST", "/v1/decisions", &[JSON], &call.to_string());
    told.body["verdict"] == "allow"
}

#[test]
fn newest_records_that_were_deleted_while_no_server_ran_stop_the_next_one() {
    let person = Person::new();
    person.policy("default = \"allow\"\n");
    let served = serve(&person);
    for _ in 0..5 {
        assert!(allows(&person, &served));
    }
    served.stop();
    let served = serve(&person);
    assert!(allows(&person, &served), "nothing is missing");
    served.stop();
    let state = person.home().join(".local/state/sayso");
    let connection = Connection::open(state.join("sayso.db")).unwrap();
    connection
        .execute_batch("DELETE FROM event WHERE seq > (SELECT max(seq) - 3 FROM event); DELETE FROM head;")
        .unwrap();
    drop(connection);
    let served = serve(&person);
    assert!(!allows(&person, &served), "the newest records are missing");
    let ready = served.send("GET", "/v1/ready", &[], "");
    assert_eq!(
        (ready.status, &ready.body["reasons"][0]["code"]),
        (503, &Value::from("chain-broken")),
        "{}",
        ready.body
    );
    served.stop();
    let verified = person.run(&["log", "verify"]);
    assert!(verified.code == 4 && verified.out.contains("Records have been removed."), "{}", verified.out);
    let doctor = person.run(&["doctor"]);
    assert!(doctor.out.contains("the record has been altered"), "{}", doctor.out);
    // Nobody is at a terminal here.
    assert_ne!(person.run(&["log", "accept"]).code, 0);
    let served = serve(&person);
    assert!(!allows(&person, &served), "it stands until the owner accepts it");
    drop(served);
    // Nor does it help to remove the note.
    std::fs::remove_file(state.join("end.json")).unwrap();
    assert!(!allows(&person, &serve(&person)));
}
