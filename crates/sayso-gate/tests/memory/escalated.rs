//! Higher tiers, counts that begin anew, and denied calls in a stretch of time.

use super::*;
use sayso_gate::store::{Memo, Remembered, Subject};
use sayso_policy::{Actor, Counting, Scope};

const TIERS: &str = "default = \"ask\"\n[approvals.leads]\nmembers = \"lea\"\nescalate = { wait = \"WAIT\", to = \"managers\" }\n\
    [approvals.managers]\nmembers = \"mia\"\n[[rule]]\nask = { run = \"make\" }\napprover = \"leads\"\n";

fn asked(w: &World) -> String {
    let _ = w.judge("s", "make x", NOW);
    w.store().approvals(false, 10).unwrap().remove(0).question.id
}

fn told(w: &World) -> usize {
    let all = Query { kinds: vec![Kind::Approval], ..Query::default() };
    let is = |event: &Event| matches!(event, Event::Change(change) if change.what == "escalated");
    w.store().events(&all).unwrap().iter().filter(|stored| is(&stored.event)).count()
}

#[test]
fn a_higher_group_may_answer_once_it_has_waited_and_the_chain_says_so_once() {
    let w = world(&TIERS.replace("WAIT", "80ms"));
    let id = asked(&w);
    let mia = Person::named("mia");
    let early = w.reply(&id, &mia, &Reply::allow_once());
    assert!(matches!(early, Err(Error::Refused(Refused::NotTheirs(..)))), "{early:?}");
    std::thread::sleep(Duration::from_millis(120));
    let again = super::super::reopened(module_path!(), &w.memory);
    assert_eq!(again.store().unwrap().approval(&id).unwrap().unwrap().escalated.as_deref(), Some("managers"));
    assert_eq!(w.reply(&id, &mia, &Reply::allow_once()).unwrap().standing, Standing::Approved);
    let late = w.reply(&id, &Person::named("lea"), &Reply::allow_once());
    assert!(matches!(late, Err(Error::Refused(Refused::Over(_)))), "{late:?}");
    assert_eq!(told(&w), 1);
    // The yes of the higher group is one to the call.
    assert_eq!(w.answer_of("s", "make x"), Answer::Allow);
}

#[test]
fn somebody_may_escalate_at_once_and_the_lower_group_keeps_the_question() {
    let w = world(&TIERS.replace("WAIT", "1h"));
    let id = asked(&w);
    let up = w.store().escalate(&id, "lea", now()).unwrap().unwrap();
    assert_eq!(up.escalated.as_deref(), Some("managers"));
    assert!(w.store().escalate(&id, "lea", now()).unwrap().is_some());
    assert_eq!(told(&w), 1);
    assert_eq!(w.reply(&id, &Person::named("lea"), &Reply::allow_once()).unwrap().standing, Standing::Approved);
    assert!(w.store().escalate(&id, "lea", now()).unwrap().is_none());
}

fn at(w: &World, now_ms: u64, denies: bool) -> Remembered {
    let actor = Actor { session: Some("s".into()), agent: Some("coder".into()), ..Actor::default() };
    let hour = (Scope::Session, Duration::from_secs(3600));
    let counting = Counting { scopes: vec![Scope::Session], blocked_windows: vec![hour], ..Counting::default() };
    let subject = Subject {
        now_ms,
        actor: &actor,
        site: None,
        digest: "d",
        grants: None,
        counting: &counting,
        hosts: &[],
        call: "c",
    };
    let mut found = Remembered::default();
    let store = super::super::reopened(module_path!(), &w.memory);
    let mut judge = |remembered| {
        found = remembered;
        if denies { Memo::denied() } else { Memo::default() }
    };
    store.store().unwrap().turn(&subject, &mut judge).unwrap();
    found
}

#[test]
fn a_denied_call_is_forgotten_after_its_hour_across_restarts() {
    let w = world(ASKS);
    let (start, minute) = (now(), 60_000);
    for _ in 0..3 {
        at(&w, start, true);
    }
    let denied = |now_ms| *at(&w, now_ms, false).blocked.values().next().unwrap();
    assert_eq!(denied(start + 59 * minute), 3);
    assert_eq!(denied(start + 61 * minute), 0);
    // For the session's life they stay.
    assert_eq!(at(&w, start + 61 * minute, false).usage[&Scope::Session].blocked, 3);
}

#[test]
fn a_session_falls_back_once_and_its_count_begins_anew() {
    let w = limits("[limits.session]\nblocked = 2\n[models]\nuse = \"a/small\"\nfallback = \"a/large\"\n");
    let actor = w.call("s", "true").actor;
    let model = || w.gate().route(&actor).unwrap().model.unwrap();
    assert_eq!(model(), "a/small");
    assert_eq!([1, 2].map(|_| w.answer_of("s", "rm x")), [Answer::Deny; 2]);
    assert_eq!(w.answer_of("s", "true"), Answer::Deny);
    assert_eq!(model(), "a/large");
    assert_eq!(w.answer_of("s", "true"), Answer::Allow);
    assert_eq!([1, 2].map(|_| w.answer_of("s", "rm x")), [Answer::Deny; 2]);
    // A second time nothing begins anew.
    assert_eq!(model(), "a/large");
    assert_eq!(w.answer_of("s", "true"), Answer::Deny);
    assert_eq!(w.restored(), 0);
}

#[test]
fn a_reset_session_goes_on_and_the_chain_says_who_did_it() {
    let w = limits("[limits.session]\ncalls = 1\nblocked = 1\n");
    assert_eq!([1, 2].map(|_| w.answer_of("s", "true")), [Answer::Allow, Answer::Deny]);
    assert_eq!(w.store().reset_session("s", "ann", now()).unwrap(), 1);
    assert_eq!(w.answer_of("s", "true"), Answer::Allow);
    assert_eq!(w.store().reset_session("nobody", "ann", now()).unwrap(), 0);
    assert_eq!(w.restored(), 0);
    let all = Query { kinds: vec![Kind::Limit], ..Query::default() };
    let by = w.store().events(&all).unwrap().into_iter().filter_map(|stored| match stored.event {
        Event::Change(change) if change.what == "reset" => change.by,
        _ => None,
    });
    assert_eq!(by.collect::<Vec<_>>(), ["ann"]);
}
