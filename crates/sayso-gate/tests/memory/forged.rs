//! Somebody writes to the store's file, past Sayso: what lets a call pass must be what the record says it is, and budgets
//! are used up as far as it says.

use super::sqlite::bound::{ASKING, codes};
use super::sqlite::*;
use rusqlite::Connection;
use sayso_gate::approval::{Approval, Refused, Remember, Reply, Width};
use sayso_gate::audit::Query;
use sayso_gate::store::Keep;
use sayso_gate::{Error, Judged};
use sayso_policy::Answer;
use std::path::PathBuf;

impl World {
    /// SQLite's file.
    pub(crate) fn file_of_store(&self) -> PathBuf {
        self.memory.places().state.join("sayso.db")
    }

    /// Somebody writes to the store's file, past Sayso.
    pub(crate) fn forge(&self, sql: &str) {
        let path = self.file_of_store();
        let changed = Connection::open(path).unwrap().execute(sql, []).unwrap();
        assert!(changed > 0, "{sql}");
    }
}

#[test]
fn a_yes_that_somebody_wrote_into_the_store_does_not_count() {
    let world = world(ASKING);
    let id = world.asks("make");
    let answered = world.asks("make other");
    world.says_yes(&answered);
    for sql in [
        format!("UPDATE approval SET standing = 'approved' WHERE id = '{id}'"),
        // With an answer, copied from one that was really given.
        format!(
            "INSERT INTO answer SELECT '{id}', person, time_ms, seq, body FROM answer WHERE approval = '{answered}'"
        ),
    ] {
        world.forge(&sql);
        let judged = world.again("make");
        assert_eq!(judged.decision.answer, Answer::Ask, "{sql}");
        assert!(codes(&judged).contains(&"not-in-record".to_owned()), "{:?}", codes(&judged));
    }
    assert_eq!(world.distrusted(), 1, "once, however often it is tried");
    // The one that was really given does.
    assert_eq!(world.again("make other").decision.answer, Answer::Allow);
}

#[test]
fn a_yes_is_used_once_even_if_somebody_says_that_it_was_not() {
    let world = world(ASKING);
    let id = world.asks("make");
    world.says_yes(&id);
    assert_eq!(world.again("make").decision.answer, Answer::Allow);
    world.forge(&format!("UPDATE approval SET used_ms = NULL WHERE id = '{id}'"));
    assert_eq!(world.again("make").decision.answer, Answer::Ask);
    assert_eq!(world.distrusted(), 1);
}

#[test]
fn a_no_does_not_become_a_yes_and_a_yes_moves_to_no_other_call() {
    let world = world(ASKING);
    let (no, yes) = (world.asks("make no"), world.asks("make yes"));
    world.reply(&no, &ann(), &Reply::deny()).unwrap();
    world.says_yes(&yes);
    world.forge(&format!("UPDATE approval SET standing = 'approved' WHERE id = '{no}'"));
    assert_eq!(world.again("make no").decision.answer, Answer::Ask);
    let digest: Approval = world.store().approval(&no).unwrap().unwrap();
    world.forge(&format!("UPDATE approval SET digest = '{}' WHERE id = '{yes}'", digest.question.digest));
    assert_eq!(world.again("make no").decision.answer, Answer::Ask);
    let body = format!(
        "replace(body, '{}', '{}')",
        world.store().approval(&yes).unwrap().unwrap().question.digest,
        digest.question.digest
    );
    world.forge(&format!("UPDATE approval SET body = {body} WHERE id = '{yes}'"));
    assert_eq!(world.again("make no").decision.answer, Answer::Ask);
}

#[test]
fn people_are_not_shown_another_question_than_the_one_that_was_asked() {
    let world = world(ASKING);
    let id = world.asks("make evil");
    world.forge(&format!("UPDATE approval SET body = replace(body, 'make evil', 'make nice') WHERE id = '{id}'"));
    let refused = world.reply(&id, &ann(), &Reply::allow_once());
    assert!(matches!(&refused, Err(Error::Refused(Refused::Changed(what))) if what == "the question"), "{refused:?}");
    assert_ne!(world.again("make evil").decision.answer, Answer::Allow);
}

#[test]
fn a_remembered_answer_that_somebody_wrote_or_brought_back_does_not_count() {
    let world = world(ASKING);
    let id = world.asks("make");
    world.reply(&id, &ann(), &Reply::allow_once().remembered(Remember::Always, Width::Exact)).unwrap();
    assert_eq!(world.again("make").decision.answer, Answer::Allow);
    assert_eq!(world.again("make").decision.answer, Answer::Allow);
    let real = world.store().grants(true, now()).unwrap().remove(0).grant;
    // The same for another call.
    let other = world.asks("make other");
    let exact = world.store().approval(&other).unwrap().unwrap().question.exact;
    let mine = world.store().approval(&id).unwrap().unwrap().question.exact;
    world.forge(&format!(
        "INSERT INTO remembered SELECT 'forged', site, session, given_ms, expires_ms, uses_left, revoked_ms, 0, NULL,
         replace(replace(body, '{mine}', '{exact}'), '{}', 'forged') FROM remembered WHERE id = '{}'",
        real.id, real.id
    ));
    let judged = world.again("make other");
    assert_eq!(judged.decision.answer, Answer::Ask);
    assert!(codes(&judged).contains(&"not-in-record".to_owned()), "{:?}", codes(&judged));
    // One that was taken back stays taken back.
    assert!(world.store().revoke(&real.id, "ann", now()).unwrap());
    world.forge(&format!("UPDATE remembered SET revoked_ms = NULL WHERE id = '{}'", real.id));
    assert_eq!(world.again("make").decision.answer, Answer::Ask);
    assert_eq!(world.store().verify(None).unwrap().problems, vec![]);
}

#[test]
fn letting_the_old_end_go_makes_nothing_count_that_did_not() {
    let world = world(ASKING);
    let remembered = |command: &str| {
        let id = world.asks(command);
        world.reply(&id, &ann(), &Reply::allow_once().remembered(Remember::Always, Width::Exact)).unwrap();
        // The call itself runs on the yes.
        assert_eq!(world.again(command).decision.answer, Answer::Allow);
        let all = world.store().grants(false, now()).unwrap();
        all.into_iter().find(|kept| kept.approval.as_deref() == Some(id.as_str())).unwrap().grant.id
    };
    let (revoked, ended, ends) = (remembered("make revoked"), remembered("make ended"), remembered("make ends"));
    world.store().revoke(&revoked, "ann", now()).unwrap();
    world.store().expire(&ended, now(), "ann", now() - 1).unwrap();
    world.store().expire(&ends, now() + 1_000_000, "ann", now()).unwrap();
    let (used, no) = (world.asks("make used"), world.asks("make no"));
    world.says_yes(&used);
    assert_eq!(world.again("make used").decision.answer, Answer::Allow);
    world.reply(&no, &ann(), &Reply::deny()).unwrap();
    world.forge("UPDATE remembered SET revoked_ms = NULL, expires_ms = NULL");
    world.forge("UPDATE approval SET used_ms = NULL, standing = 'approved'");
    assert!(world.store().prune(Keep::Last(0), "ann").unwrap().records > 0);
    for command in ["make revoked", "make ended", "make used", "make no"] {
        assert_ne!(world.again(command).decision.answer, Answer::Allow, "{command}");
    }
    assert_eq!(world.again("make ends").decision.answer, Answer::Allow);
    let events = world.store().events(&Query::default()).unwrap();
    let names: Vec<&str> = events.iter().map(|it| it.event.id()).collect();
    assert!(names.iter().any(|name| name.starts_with(&format!("{ends}-expires-"))), "{names:?}");
    assert_eq!(world.store().verify(None).unwrap().problems, vec![]);
}

#[test]
fn a_remembered_answer_that_ended_does_not_come_back() {
    let world = world(ASKING);
    let id = world.asks("make");
    world.reply(&id, &ann(), &Reply::allow_once().remembered(Remember::Always, Width::Exact)).unwrap();
    assert_eq!(world.again("make").decision.answer, Answer::Allow);
    let grant = world.store().grants(true, now()).unwrap().remove(0).grant.id;
    // Twice: the earliest end counts.
    assert!(world.store().expire(&grant, now() + 1_000_000, "ann", now()).unwrap());
    assert_eq!(world.again("make").decision.answer, Answer::Allow);
    assert!(world.store().expire(&grant, now(), "ann", now()).unwrap());
    assert_eq!(world.again("make").decision.answer, Answer::Ask);
    world.forge("UPDATE remembered SET expires_ms = NULL");
    let judged = world.again("make");
    assert_eq!(judged.decision.answer, Answer::Ask);
    assert!(codes(&judged).contains(&"not-in-record".to_owned()), "{:?}", codes(&judged));
}

#[test]
fn a_record_that_hangs_on_nothing_is_no_witness() {
    let world = world(ASKING);
    let id = world.asks("make");
    let hash = |text: &str| blake3::hash(text.as_bytes()).to_hex().to_string();
    let connection = Connection::open(world.file_of_store()).unwrap();
    let asked: String =
        connection.query_row("SELECT body FROM approval WHERE id = ?1", [&id], |row| row.get(0)).unwrap();
    let given = serde_json::json!({"person": {"name": "ann"}, "via": "page", "time_ms": now(),
        "reply": {"verdict": "allow", "remember": "once", "width": "exact"}});
    let given = given.to_string();
    let record = serde_json::json!({"kind": "approval", "id": format!("{id}-answered-0"), "time_ms": now(), "what": "answered",
        "about": id, "by": "ann", "verdict": "allow", "detail": {"question": hash(&asked), "given": hash(&given)}});
    let run = |sql: &str, values: &[&dyn rusqlite::ToSql]| assert_eq!(connection.execute(sql, values).unwrap(), 1);
    run("UPDATE approval SET standing = 'approved' WHERE id = ?1", &[&id]);
    run("INSERT INTO answer VALUES (?1, 'ann', 0, 0, ?2)", &[&id, &given]);
    let sql = "INSERT INTO event (seq, id, time_ms, kind, body, prev, hash)
               SELECT seq + 1, ?1, 0, 'approval', ?2, hash, hash FROM event ORDER BY seq DESC LIMIT 1";
    run(sql, &[&format!("{id}-answered-0"), &record.to_string()]);
    drop(connection);
    let judged = world.again("make");
    assert_eq!(judged.decision.answer, Answer::Ask, "{:?}", codes(&judged));
    assert!(!world.store().verify(None).unwrap().problems.is_empty());
}

const THREE: &str = "default = \"allow\"\n[limits.session]\ncalls = 3\n[limits.day]\ncalls = 100\n";

fn used_up(judged: &Judged) {
    assert_eq!((judged.decision.answer, codes(judged)), (Answer::Deny, vec!["limit".to_owned()]));
}

#[test]
fn a_budget_whose_counts_were_deleted_or_lowered_is_still_used_up() {
    for forged in ["DELETE FROM usage", "UPDATE usage SET calls = 0", "UPDATE usage SET key = key || 'x'"] {
        for another_process in [false, true] {
            let mut w = world(THREE);
            for _ in 0..3 {
                assert_eq!(w.answer_of("s", "true"), Answer::Allow);
            }
            w.forge(forged);
            if another_process {
                w.anew();
            }
            used_up(&w.judge("s", "true", NOW));
            assert!(w.restored() > 0, "{forged}");
            assert_eq!(w.answer_of("another", "true"), Answer::Allow);
            assert_eq!(w.store().verify(None).unwrap().problems, vec![]);
        }
    }
}

#[test]
fn what_the_record_says_of_a_budget_outlives_the_old_end_of_the_chain() {
    let mut w = world(THREE);
    for _ in 0..3 {
        let _ = w.judge("s", "true", NOW);
    }
    w.store().prune(Keep::Last(0), "ann").unwrap();
    w.forge("DELETE FROM usage");
    w.anew();
    used_up(&w.judge("s", "true", NOW));
}

#[test]
fn how_long_a_session_lasts_begins_anew_for_nobody() {
    let w = world("default = \"allow\"\n[limits.session]\nwall = \"1h\"\n");
    assert_eq!(w.answer_of("s", "true"), Answer::Allow);
    w.forge(&format!("UPDATE usage SET began_ms = {}, last_ms = {0}", now() + 1_000_000));
    assert_eq!(w.answer_of("s", "true"), Answer::Allow);
    let began = w.store().used(now()).unwrap()[0].began_ms;
    assert!(began <= now(), "{began}");
}

#[test]
fn without_its_memory_nothing_that_needs_it_passes() {
    let w = limits("[limits.session]\ncalls = 9\n");
    let state = w.memory.places().own_folder("").unwrap();
    std::fs::write(state.join("sayso.db"), "this is no database, but long enough to look at it".repeat(100)).unwrap();
    let judged = w.judge("a", "true", NOW);
    assert_eq!((judged.decision.answer, code(&judged)), (Answer::Deny, "store-failed"));
    let w = world(ASKS);
    let state = w.memory.places().own_folder("").unwrap();
    std::fs::create_dir(state.join("sayso.db")).unwrap();
    let judged = w.judge("a", "make x", NOW);
    assert_eq!((judged.decision.answer, code(&judged)), (Answer::Deny, "store-failed"));
    assert_eq!(w.answer_of("a", "true"), Answer::Allow, "what needs no memory runs");
}
