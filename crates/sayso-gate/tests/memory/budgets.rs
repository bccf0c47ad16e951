//! What the record says of budgets.

use super::*;

impl World {
    pub(crate) fn restored(&self) -> usize {
        let limits = Query { kinds: vec![Kind::Chain], rule: Some("budget-restored".into()), ..Query::default() };
        self.store().events(&limits).unwrap().len()
    }
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
