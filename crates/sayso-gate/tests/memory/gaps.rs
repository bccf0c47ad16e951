//! Records that were taken out of the store: what they said over must not count again.

use super::sqlite::bound::{ASKING, codes};
use super::sqlite::*;
use sayso_gate::approval::{Remember, Reply, Width};
use sayso_gate::store::Keep;
use sayso_gate::{Judged, Memory, Places};
use sayso_policy::Answer;

const ALWAYS: Remember = Remember::Always;

impl World {
    /// A yes that is remembered for this very call, and used once.
    fn granted(&self, command: &str) -> String {
        let id = self.asks(command);
        self.reply(&id, &ann(), &Reply::allow_once().remembered(ALWAYS, Width::Exact)).unwrap();
        assert_eq!(self.again(command).decision.answer, Answer::Allow);
        let all = self.store().grants(false, now()).unwrap();
        all.into_iter().find(|kept| kept.approval.as_deref() == Some(id.as_str())).unwrap().grant.id
    }

    fn used(&self, command: &str) -> String {
        let id = self.asks(command);
        self.says_yes(&id);
        assert_eq!(self.again(command).decision.answer, Answer::Allow);
        id
    }

    /// Another process: it has seen nothing of the store yet.
    pub(crate) fn anew(&mut self) {
        let places = Places::below(&self.dir.path().join("home"), self.dir.path());
        self.memory = Memory::of(&places);
    }
}

fn asks_for_a_gap(judged: &Judged) {
    assert_eq!(judged.decision.answer, Answer::Ask, "{:?}", judged.decision.reasons);
    assert!(codes(judged).contains(&"record-gap".to_owned()), "{:?}", codes(judged));
}

/// The same for a process that has seen the record as it was: where the last one is gone, it stops altogether.
fn asks_for_a_gap_or_stops(judged: &Judged) {
    match judged.decision.answer {
        Answer::Deny => assert_eq!(codes(judged).first().map(String::as_str), Some("record-altered")),
        _ => asks_for_a_gap(judged),
    }
}

#[test]
fn a_used_yes_whose_use_was_taken_out_of_the_record_does_not_count_again() {
    for between in [false, true] {
        let mut w = world(ASKING);
        let id = w.used("make");
        if between {
            w.used("make other");
        }
        w.forge(&format!("DELETE FROM event WHERE id = '{id}-used'"));
        w.forge(&format!("UPDATE approval SET used_ms = NULL WHERE id = '{id}'"));
        asks_for_a_gap_or_stops(&w.again("make"));
        w.anew();
        asks_for_a_gap(&w.again("make"));
    }
}

#[test]
fn a_revoked_answer_whose_end_was_taken_out_of_the_record_does_not_come_back() {
    let mut w = world(ASKING);
    let grant = w.granted("make");
    w.used("make other");
    assert!(w.store().revoke(&grant, "ann", now()).unwrap());
    assert_eq!(w.again("make").decision.answer, Answer::Ask);
    w.forge(&format!("DELETE FROM event WHERE id = '{grant}-revoked'"));
    w.forge("UPDATE remembered SET revoked_ms = NULL");
    asks_for_a_gap_or_stops(&w.again("make"));
    w.anew();
    asks_for_a_gap(&w.again("make"));
    // An end that was set is none that can be taken away either.
    let grant = w.granted("make ended");
    assert!(w.store().expire(&grant, now(), "ann", now()).unwrap());
    w.forge(&format!("DELETE FROM event WHERE id >= '{grant}-expires-' AND id < '{grant}-expires-~'"));
    w.forge("UPDATE remembered SET expires_ms = NULL");
    asks_for_a_gap_or_stops(&w.again("make ended"));
    w.anew();
    asks_for_a_gap(&w.again("make ended"));
}

#[test]
fn a_gap_does_not_concern_what_was_answered_behind_it() {
    let mut w = world(ASKING);
    let (before, id) = (w.granted("make before"), w.used("make"));
    w.forge(&format!("DELETE FROM event WHERE id = '{id}-answered-0'"));
    asks_for_a_gap(&w.again("make before"));
    // One answer, and it counts again.
    let after = w.granted("make before");
    assert_ne!(before, after);
    w.anew();
    assert_eq!(w.again("make before").decision.answer, Answer::Allow);
    assert!(!w.store().verify(None).unwrap().problems.is_empty());
}

#[test]
fn a_record_cut_off_at_its_end_is_noticed_by_what_was_signed_and_by_who_saw_more() {
    // The head that was signed when the yes was used is still there.
    let mut w = world(ASKING);
    let id = w.used("make");
    w.forge(&format!("UPDATE approval SET used_ms = NULL WHERE id = '{id}'"));
    w.forge(&format!("DELETE FROM event WHERE seq >= (SELECT seq FROM event WHERE id = '{id}-used')"));
    w.anew();
    asks_for_a_gap(&w.again("make"));
    // The same with the heads taken out too: the process that saw more notices, a new one cannot.
    let w = world(ASKING);
    let id = w.used("make");
    w.forge(&format!("UPDATE approval SET used_ms = NULL WHERE id = '{id}'"));
    w.forge(&format!("DELETE FROM head WHERE seq >= (SELECT seq FROM event WHERE id = '{id}-used')"));
    w.forge(&format!("DELETE FROM event WHERE seq >= (SELECT seq FROM event WHERE id = '{id}-used')"));
    let judged = w.again("make");
    assert_eq!((judged.decision.answer, codes(&judged).remove(0).as_str()), (Answer::Deny, "record-altered"));
    // What was never asked about before does not pass either, and the denials are recorded.
    let judged = w.again("true");
    assert_eq!((judged.decision.answer, codes(&judged).remove(0).as_str()), (Answer::Deny, "record-altered"));
}

#[test]
fn a_record_without_gaps_lets_what_was_answered_count_for_every_process() {
    let mut w = world(ASKING);
    w.granted("make");
    for n in 0..3 {
        w.used(&format!("make {n}"));
        w.anew();
        assert_eq!(w.again("make").decision.answer, Answer::Allow);
    }
    assert!(w.store().prune(Keep::Last(0), "ann").unwrap().records > 0);
    w.anew();
    assert_eq!(w.again("make").decision.answer, Answer::Allow);
    assert_eq!(w.distrusted(), 0);
    assert_eq!(w.store().verify(None).unwrap().problems, vec![]);
}

#[test]
fn a_record_that_says_that_a_yes_is_over_counts_whatever_is_done_to_it() {
    for forged in [
        "UPDATE event SET id = 'x' || seq WHERE id = '{}'",
        "UPDATE event SET id = id || '-x' WHERE id = '{}'",
        "UPDATE event SET id = 'x' || seq, body = replace(body, '{}', 'x' || seq) WHERE id = '{}'",
        "UPDATE event SET body = '{}' WHERE id = '{}'",
        "UPDATE event SET body = replace(body, 'revoked', 'x') WHERE id = '{}'",
        "UPDATE event SET hash = prev WHERE id = '{}'",
        "UPDATE event SET kind = 'mode' WHERE id = '{}'",
    ] {
        let mut w = world(ASKING);
        let (id, grant) = (w.used("make once"), w.granted("make"));
        assert!(w.store().revoke(&grant, "ann", now()).unwrap());
        let ended = w.granted("make ended");
        assert!(w.store().expire(&ended, now(), "ann", now()).unwrap());
        let sql = "SELECT id FROM event WHERE id >= ?1 || '-expires-' AND id < ?1 || '-expires-~'";
        let end: String = {
            let file = rusqlite::Connection::open(w.file_of_store()).unwrap();
            file.query_row(sql, [&ended], |row| row.get(0)).unwrap()
        };
        for name in [format!("{id}-used"), format!("{grant}-revoked"), end] {
            w.forge(&forged.replace("{}", &name));
        }
        w.forge("UPDATE approval SET used_ms = NULL");
        w.forge("UPDATE remembered SET revoked_ms = NULL, expires_ms = NULL");
        for another_process in [false, true] {
            if another_process {
                w.anew();
            }
            for command in ["make once", "make", "make ended"] {
                let answer = w.again(command).decision.answer;
                // Where the last record that it has written is not the same any more, a process stops altogether.
                assert!(answer == Answer::Ask || answer == Answer::Deny && !another_process, "{forged}: {command}");
            }
        }
    }
}
