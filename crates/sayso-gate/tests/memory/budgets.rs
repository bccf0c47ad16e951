//! Budgets whose counts were changed in the store's file: what the record says was used counts.

use super::bound::codes;
use super::*;
use sayso_gate::store::Keep;

const THREE: &str = "default = \"allow\"\n[limits.session]\ncalls = 3\n[limits.day]\ncalls = 100\n";

impl World {
    fn restored(&self) -> usize {
        let limits = Query { kinds: vec![Kind::Chain], rule: Some("budget-restored".into()), ..Query::default() };
        self.store().events(&limits).unwrap().len()
    }
}

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
fn what_is_given_back_is_said_too_and_nothing_is_held_against_those_who_used_less() {
    let w = world("default = \"allow\"\n[limits.session]\ncalls = 3\n");
    for _ in 0..10 {
        let judged = w.judge("s", "true", NOW);
        assert_eq!(judged.decision.answer, Answer::Allow);
        let outcome = Outcome { not_run: true, ..Outcome::default() };
        assert!(w.store().settle(&Which::Record(judged.record.id), &outcome, now()).unwrap());
    }
    assert_eq!(w.restored(), 0);
}

#[test]
fn the_record_of_a_large_budget_grows_far_slower_than_its_use() {
    let w = world("default = \"allow\"\n[limits.session]\ncalls = 100000\n");
    let gate = w.gate();
    for _ in 0..400 {
        let _ = gate.judge(w.call("s", "true"), circumstances(NOW), FactsOf::Gate).settle().record();
    }
    let limits = Query { kinds: vec![Kind::Chain], ..Query::default() };
    let said = w.store().events(&limits).unwrap().len();
    assert!(said < 220, "{said} records of 400 calls");
}
