//! The gate with a memory: limits, grants and approvals, whatever keeps them.

pub(crate) mod bound;
mod budgets;
mod escalated;
mod foreign;
mod plans;
mod waited;
mod widths;

use sayso_gate::approval::{Approval, Offer, Presence, Refused, Remember, Reply, Standing, Width};
use sayso_gate::audit::{Event, Kind, Query};
use sayso_gate::store::{Answering, Store};
use sayso_gate::{
    Asking, Circumstances, Error, Expected, FactsOf, Gate, InForce, Judged, Memory, Otherwise, Outcome, Places,
    ProcessEnvironment, RealFiles, Unrecorded, Which,
};
use sayso_policy::{Answer, Facts, Layer, Person, PolicyText, ToolCall, Verdict, Workspace};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

pub(crate) struct World {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) memory: Memory,
    pub(crate) policy: String,
}

pub(crate) fn world(policy: &str) -> World {
    let dir = tempfile::tempdir().unwrap();
    let places = Places::below(&dir.path().join("home"), dir.path());
    std::fs::create_dir_all(dir.path().join("work/.git")).unwrap();
    World { memory: super::memory(module_path!(), &places), dir, policy: policy.to_owned() }
}

pub(crate) fn now() -> u64 {
    u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

pub(crate) const NOW: Asking = Asking::OwnPrompt;

impl World {
    pub(crate) fn gate(&self) -> Gate {
        let file = PolicyText { layer: Layer::Given, name: "t.toml".into(), text: self.policy.clone(), trusted: true };
        Gate::new(InForce::given(vec![file]).unwrap(), Box::new(Unrecorded)).with_memory(self.memory.clone())
    }

    pub(crate) fn store(&self) -> &dyn Store {
        self.memory.store().unwrap().as_ref()
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.dir.path().join("work").canonicalize().unwrap()
    }

    pub(crate) fn call(&self, session: &str, command: &str) -> ToolCall {
        let mut call = ToolCall::tool("Bash", serde_json::json!({ "command": command }));
        call.cwd = Some(self.work());
        call.workspace = Workspace::new(self.work(), None);
        call.actor.session = Some(session.to_owned());
        call.actor.agent = Some("coder".to_owned());
        call
    }

    pub(crate) fn judge(&self, session: &str, command: &str, asking: Asking) -> Judged {
        self.gate().judge(self.call(session, command), circumstances(asking), FactsOf::Gate).settle().record()
    }

    pub(crate) fn answer_of(&self, session: &str, command: &str) -> Answer {
        self.judge(session, command, NOW).decision.answer
    }

    /// Somebody waits for questions.
    pub(crate) fn attend(&self, name: &str) {
        let presence = Presence { id: name.into(), person: Person::named(name), via: "test".into() };
        self.store().attend(&presence, now()).unwrap();
    }

    pub(crate) fn reply(&self, id: &str, person: &Person, reply: &Reply) -> Result<Approval, Error> {
        let facts = Facts { files: &RealFiles, env: &ProcessEnvironment };
        self.store().answer(&Answering { id, person, via: "test", reply, policy: None, facts, now_ms: now() })
    }

    /// Judges a call that the queue holds, while somebody answers the question that it puts.
    pub(crate) fn judge_answered(&self, command: &str, answer: impl FnOnce(&Approval) + Send) -> Judged {
        self.attend("ann");
        self.meanwhile(answer, || self.judge("s", command, held(20_000)))
    }

    /// The same by this gate.
    pub(crate) fn judge_meanwhile(&self, gate: &Gate, asking: Asking, act: impl FnOnce(&Approval) + Send) -> Judged {
        self.meanwhile(act, || {
            gate.judge(self.call("s", "make x"), circumstances(asking), FactsOf::Gate).settle().record()
        })
    }

    /// Judges, and acts as soon as a question is put.
    pub(crate) fn meanwhile(&self, act: impl FnOnce(&Approval) + Send, judge: impl FnOnce() -> Judged) -> Judged {
        std::thread::scope(|scope| {
            let answering = scope.spawn(|| {
                let deadline = Instant::now() + Duration::from_secs(20);
                loop {
                    if let Some(first) = self.store().approvals(true, 10).unwrap().first() {
                        return act(first);
                    }
                    assert!(Instant::now() < deadline, "no question came");
                    std::thread::sleep(Duration::from_millis(5));
                }
            });
            let judged = judge();
            answering.join().unwrap();
            judged
        })
    }
}

pub(crate) fn circumstances(asking: Asking) -> Circumstances {
    Circumstances {
        way_in: "test".into(),
        peer: None,
        event: None,
        call_id: None,
        asking,
        expected: Expected::default(),
        findings: Vec::new(),
        can_hold: sayso_policy::CanHold::No,
    }
}

pub(crate) fn held(millis: u64) -> Asking {
    Asking::Queue { until: Instant::now() + Duration::from_millis(millis), otherwise: Otherwise::Nobody }
}

pub(crate) fn code(judged: &Judged) -> &str {
    judged.decision.reasons[0].code.as_str()
}

pub(crate) fn ann() -> Person {
    Person::named("ann")
}

pub(crate) const ASKS: &str = "default = \"ask\"\n[allow]\nrun = [\"true\", \"echo\"]\n";

#[test]
fn a_yes_lets_the_held_call_run_once() {
    let w = world(ASKS);
    let judged = w.judge_answered("make x", |approval| {
        assert_eq!(approval.question.command.as_deref(), Some("make x"));
        w.reply(&approval.question.id, &ann(), &Reply::allow_once()).unwrap();
    });
    assert_eq!(judged.decision.answer, Answer::Allow, "{:?}", judged.decision.reasons);
    assert_eq!(code(&judged), "approved");
    assert!(judged.permit.is_some());
    assert_eq!(w.answer_of("s", "make x"), Answer::Ask);
    let kinds = Query { kinds: vec![Kind::Approval], ..Query::default() };
    let mut events: Vec<String> = w
        .store()
        .events(&kinds)
        .unwrap()
        .iter()
        .map(|chained| match &chained.event {
            Event::Change(change) => change.what.clone(),
            other => panic!("{other:?}"),
        })
        .collect();
    events.reverse();
    assert_eq!(events, ["asked", "answered", "approved", "used"]);
}

#[test]
fn a_no_denies_it_and_the_same_call_again() {
    let w = world(ASKS);
    let judged = w.judge_answered("make x", |approval| {
        w.reply(&approval.question.id, &ann(), &Reply::deny()).unwrap();
    });
    assert_eq!((judged.decision.answer, code(&judged)), (Answer::Deny, "denied-by-person"));
    assert_eq!(code(&w.judge("s", "make x", NOW)), "denied-by-person");
    assert_eq!(w.answer_of("s", "make y"), Answer::Ask);
}

#[test]
fn a_yes_that_comes_late_lets_the_same_call_pass_and_no_other() {
    let w = world(ASKS);
    let judged = w.judge("s", "make x", held(1));
    assert_eq!((judged.decision.answer, code(&judged)), (Answer::Deny, "unanswered"));
    let id = w.store().approvals(true, 10).unwrap()[0].question.id.clone();
    // The same call again finds the question that waits.
    let _ = w.judge("s", "make x", held(1));
    assert_eq!(w.store().approvals(true, 10).unwrap().len(), 1);
    w.reply(&id, &ann(), &Reply::allow_once()).unwrap();
    assert_eq!(w.answer_of("s", "make y"), Answer::Ask);
    assert_eq!(w.judge("s", "make x", Asking::Nobody).decision.answer, Answer::Allow);
    assert_eq!(w.judge("s", "make x", Asking::Nobody).decision.answer, Answer::Deny);
}

#[test]
fn a_yes_to_one_session_is_none_to_another() {
    let w = world(ASKS);
    let _ = w.judge("s", "make x", held(1));
    let id = w.store().approvals(true, 10).unwrap()[0].question.id.clone();
    w.reply(&id, &ann(), &Reply::allow_once()).unwrap();
    assert_eq!(w.judge("t", "make x", Asking::Nobody).decision.answer, Answer::Deny);
    let mut other = w.call("s", "make x");
    other.actor.agent = Some("another".to_owned());
    assert_eq!(
        w.gate().judge(other, circumstances(Asking::Nobody), FactsOf::Gate).settle().record().decision.answer,
        Answer::Deny
    );
    assert_eq!(w.judge("s", "make x", Asking::Nobody).decision.answer, Answer::Allow);
}

#[test]
fn where_nobody_waits_for_questions_the_callers_prompt_is_used_at_once() {
    let w = world(ASKS);
    let until = Instant::now() + Duration::from_secs(60);
    let began = Instant::now();
    let judged = w.judge("s", "make x", Asking::Queue { until, otherwise: Otherwise::OwnPrompt });
    assert_eq!(judged.decision.answer, Answer::Ask);
    assert!(began.elapsed() < Duration::from_secs(30));
    assert!(w.store().approvals(false, 10).unwrap().is_empty(), "nobody is asked twice");
}

#[test]
fn when_the_time_is_over_the_question_goes_back_to_the_caller() {
    let w = world(ASKS);
    w.attend("ann");
    let until = Instant::now() + Duration::from_millis(100);
    let judged = w.judge("s", "make x", Asking::Queue { until, otherwise: Otherwise::OwnPrompt });
    assert_eq!(judged.decision.answer, Answer::Ask);
    let all = w.store().approvals(false, 10).unwrap();
    assert_eq!((all.len(), all[0].standing), (1, Standing::Cancelled));
    assert!(matches!(
        w.reply(&all[0].question.id, &ann(), &Reply::allow_once()),
        Err(Error::Refused(Refused::Over(Standing::Cancelled)))
    ));
}

pub(crate) const LEADS: &str = "default = \"ask\"\n[approvals.leads]\nmembers = [\"bob\", \"cat\", \"sso:leads\"]\nneed = 2\n\
                     [[rule]]\nid = \"push\"\nask = { run = \"make\" }\napprover = \"leads\"\n";

#[test]
fn those_whom_a_rule_names_answer_and_as_many_as_it_needs() {
    let w = world(LEADS);
    // The caller's own prompt is not theirs.
    let judged = w.judge("s", "make x", NOW);
    assert_eq!((judged.decision.answer, code(&judged)), (Answer::Deny, "unanswered"));
    let id = w.store().approvals(true, 10).unwrap()[0].question.id.clone();
    let yes = Reply::allow_once();
    assert!(matches!(w.reply(&id, &ann(), &yes), Err(Error::Refused(Refused::NotTheirs(..)))));
    let bob = Person::named("bob");
    assert_eq!(w.reply(&id, &bob, &yes).unwrap().standing, Standing::Pending);
    assert!(matches!(w.reply(&id, &bob, &yes), Err(Error::Refused(Refused::Again(_)))));
    assert_eq!(w.answer_of("s", "make x"), Answer::Deny);
    let dan = Person { groups: vec!["sso:leads".into()], ..Person::named("dan") };
    assert_eq!(w.reply(&id, &dan, &yes).unwrap().standing, Standing::Approved);
    assert!(matches!(w.reply(&id, &Person::named("cat"), &yes), Err(Error::Refused(Refused::Over(_)))));
    assert_eq!(w.answer_of("s", "make x"), Answer::Allow);
}

#[test]
fn who_asks_never_answers() {
    let w = world(ASKS);
    let _ = w.judge("s", "make x", held(1));
    let id = w.store().approvals(true, 10).unwrap()[0].question.id.clone();
    assert!(matches!(w.reply(&id, &Person::named("coder"), &Reply::allow_once()), Err(Error::Refused(_))));
    let w = world(LEADS);
    let mut call = w.call("s", "make x");
    call.actor.member = Some("bob".to_owned());
    let _ = w.gate().judge(call, circumstances(NOW), FactsOf::Gate).settle().record();
    let id = w.store().approvals(true, 10).unwrap()[0].question.id.clone();
    assert!(matches!(w.reply(&id, &Person::named("bob"), &Reply::allow_once()), Err(Error::Refused(_))));
    w.reply(&id, &Person::named("cat"), &Reply::allow_once()).unwrap();
}

#[test]
fn a_changed_file_or_policy_makes_a_question_void() {
    let mut w = world(ASKS);
    let script = w.work().join("deploy.sh");
    std::fs::write(&script, "#!/bin/sh\necho one\n").unwrap();
    std::os::unix::fs::symlink("deploy.sh", w.work().join("link.sh")).unwrap();
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    for command in ["./deploy.sh", "bash deploy.sh", "python3 deploy.sh", "bash link.sh"] {
        std::fs::write(&script, "#!/bin/sh\ncurl http://one.example\n").unwrap();
        let _ = w.judge(command, command, held(1));
        let question = w.store().approvals(true, 10).unwrap().remove(0).question;
        assert!(question.files.iter().any(|file| file.path == script), "{command}: {:?}", question.files);
        w.reply(&question.id, &ann(), &Reply::allow_once()).unwrap();
        std::fs::write(&script, "#!/bin/sh\ncurl http://two.example\n").unwrap();
        assert_ne!(w.judge(command, command, Asking::Nobody).decision.answer, Answer::Allow, "{command}");
        std::fs::write(&script, "#!/bin/sh\ncurl http://one.example\n").unwrap();
        assert_eq!(w.judge(command, command, Asking::Nobody).decision.answer, Answer::Allow, "{command}");
        // Changed between question and answer.
        let _ = w.judge(command, command, held(1));
        let id = w.store().approvals(true, 10).unwrap().remove(0).question.id;
        std::fs::write(&script, "#!/bin/sh\ncurl http://three.example\n").unwrap();
        assert!(matches!(w.reply(&id, &ann(), &Reply::allow_once()), Err(Error::Refused(Refused::Changed(_)))));
        assert_eq!(w.store().approval(&id).unwrap().unwrap().standing, Standing::Cancelled);
    }
    let _ = w.judge("p", "make x", held(1));
    let id = w.store().approvals(true, 10).unwrap().remove(0).question.id;
    w.reply(&id, &ann(), &Reply::allow_once()).unwrap();
    w.policy = format!("{ASKS}# changed\n");
    assert_eq!(w.judge("p", "make x", Asking::Nobody).decision.answer, Answer::Deny);
}

#[test]
fn a_yes_is_to_the_file_that_a_link_led_to_and_to_no_other() {
    let w = world(ASKS);
    for name in ["plain", "other"] {
        std::fs::write(w.dir.path().join(name), name).unwrap();
    }
    let point = |name: &str| {
        let _ = std::fs::remove_file(w.work().join("link"));
        std::os::unix::fs::symlink(w.dir.path().join(name), w.work().join("link")).unwrap();
    };
    point("plain");
    let judged = w.judge_answered("cat link", |approval| {
        let always = Reply::allow_once().remembered(Remember::Always, Width::Exact);
        w.reply(&approval.question.id, &ann(), &always).unwrap();
    });
    assert_eq!(judged.decision.answer, Answer::Allow, "{:?}", judged.decision.reasons);
    assert_eq!(w.answer_of("s", "cat link"), Answer::Allow);
    point("other");
    assert_eq!(w.answer_of("s", "cat link"), Answer::Ask);
    point("plain");
    assert_eq!(w.answer_of("s", "cat link"), Answer::Allow);
}

#[test]
fn a_file_changed_while_people_answer_voids_their_yes() {
    let w = world(ASKS);
    let script = w.work().join("x.py");
    std::fs::write(&script, "print(1)").unwrap();
    let judged = w.judge_answered("python3 x.py", |approval| {
        w.reply(&approval.question.id, &ann(), &Reply::allow_once()).unwrap();
        std::fs::write(&script, "print(2)").unwrap();
    });
    // Either the change came before the gate looked again, or the call was judged as it was when they answered.
    if judged.decision.answer == Answer::Allow {
        assert_eq!(code(&judged), "approved");
    } else {
        assert_eq!(code(&judged), "approval-void");
    }
}

#[test]
fn a_remembered_yes_has_the_width_that_was_chosen() {
    let w = world(ASKS);
    let _ = w.judge("s", "git push origin main", held(1));
    let question = w.store().approvals(true, 10).unwrap().remove(0).question;
    let widths: Vec<Width> = question.offers.iter().map(|offer| offer.width).collect();
    assert!(widths.contains(&Width::Exact), "{:#?}", question.offers);
    w.reply(&question.id, &ann(), &Reply::allow_once().remembered(Remember::Session, Width::Exact)).unwrap();
    for _ in 0..3 {
        assert_eq!(w.answer_of("s", "git push origin main"), Answer::Allow);
    }
    assert_eq!(w.answer_of("t", "git push origin main"), Answer::Ask, "sessions do not leak");
    assert_eq!(w.answer_of("s", "git push origin other"), Answer::Ask);
    let kept = w.store().grants(true, now()).unwrap();
    assert_eq!(kept.len(), 1);
    assert!(kept[0].used >= 2, "{kept:?}");
    let uses = w.store().uses(&kept[0].grant.id, 10).unwrap();
    assert_eq!(uses[0].command, "git push origin main");
    assert!(uses.iter().any(|one| one.target.contains("git")), "{uses:?}");
    assert!(w.store().revoke(&kept[0].grant.id, "ann", now()).unwrap());
    assert!(!w.store().revoke(&kept[0].grant.id, "ann", now()).unwrap());
    assert_eq!(w.answer_of("s", "git push origin main"), Answer::Ask);
}

#[test]
fn a_program_and_its_subcommand_can_be_remembered_for_the_workspace() {
    let w = world("default = \"ask\"\n[allow]\nconnect = [\"*\"]\n[deny]\nrun = [\"git push --force\"]\n");
    let _ = w.judge("s", "git push origin main", held(1));
    let question = w.store().approvals(true, 10).unwrap().remove(0).question;
    let offer = question.offers.iter().find(|offer| offer.width == Width::Program).expect("the program is offered");
    assert!(offer.words.contains("git push"), "{offer:?}");
    w.reply(&question.id, &ann(), &Reply::allow_once().remembered(Remember::Always, Width::Program)).unwrap();
    assert_eq!(
        w.answer_of("t", "git push origin other"),
        Answer::Allow,
        "{:#?}",
        w.judge("t", "git push origin other", NOW).decision.reasons
    );
    assert_eq!(w.answer_of("t", "git push --force"), Answer::Deny);
    assert_ne!(w.answer_of("t", "git push $X"), Answer::Allow);
    assert_eq!(w.answer_of("t", "git status"), Answer::Ask);
    // Somewhere else it does not count.
    let mut call = w.call("t", "git push origin other");
    call.workspace = Workspace::new(w.dir.path(), None);
    assert_eq!(w.gate().judge(call, circumstances(NOW), FactsOf::Gate).settle().record().decision.answer, Answer::Ask);
}

#[test]
fn what_runs_anything_is_offered_as_it_is_and_no_wider() {
    let w = world(ASKS);
    std::fs::write(w.work().join("x.py"), "print(1)").unwrap();
    for command in ["python3 x.py", "bash -c 'make x'", "sudo make x", "xargs make < f"] {
        let _ = w.judge(command, command, held(1));
        let question = w.store().approvals(true, 10).unwrap().remove(0).question;
        let named = |offer: &Offer| {
            let text = serde_json::to_string(&offer.selectors).unwrap();
            ["python", "bash", "sudo", "xargs"].iter().any(|name| text.contains(name))
        };
        assert!(!question.offers.iter().any(named), "{command}: {:?}", question.offers);
        if command.starts_with("python3") || command.starts_with("sudo") {
            let wide = Reply::allow_once().remembered(Remember::Always, Width::Program);
            assert!(matches!(w.reply(&question.id, &ann(), &wide), Err(Error::Refused(Refused::NotOffered(_)))));
        }
    }
}

#[test]
fn an_automated_approver_answers_once_and_is_recorded_as_such() {
    let w = world(ASKS);
    let _ = w.judge("s", "make x", held(1));
    let id = w.store().approvals(true, 10).unwrap().remove(0).question.id;
    let robot = Person { automated: true, ..Person::named("webhook:ci") };
    let always = Reply::allow_once().remembered(Remember::Always, Width::Exact);
    assert!(matches!(w.reply(&id, &robot, &always), Err(Error::Refused(Refused::NotOffered(_)))));
    let approval = w.reply(&id, &robot, &Reply::allow_once()).unwrap();
    assert!(approval.answers[0].person.automated);
    let judged = w.judge("s", "make x", NOW);
    assert!(judged.decision.reasons[0].text.contains("automated"), "{:?}", judged.decision.reasons);
}

#[test]
fn deny_always_is_remembered() {
    let w = world(ASKS);
    let _ = w.judge("s", "make x", held(1));
    let id = w.store().approvals(true, 10).unwrap().remove(0).question.id;
    w.reply(&id, &ann(), &Reply::deny().remembered(Remember::Always, Width::Exact)).unwrap();
    let judged = w.judge("other", "make x", NOW);
    assert_eq!((judged.decision.answer, code(&judged)), (Answer::Deny, "refused-before"));
}

#[test]
fn an_agent_cannot_bury_the_question_that_matters() {
    let w = world(ASKS);
    for n in 0..20 {
        assert_eq!(code(&w.judge("s", &format!("make {n}"), held(0))), "unanswered");
    }
    assert_eq!(code(&w.judge("s", "make more", held(0))), "too-many-pending");
    assert_eq!(code(&w.judge("t", "make more", held(0))), "unanswered");
}

#[test]
fn questions_and_answers_survive_a_restart() {
    let w = world(ASKS);
    let _ = w.judge("s", "make x", held(1));
    let again = super::reopened(module_path!(), &w.memory);
    let store = again.store().unwrap();
    let id = store.approvals(true, 10).unwrap().remove(0).question.id;
    w.reply(&id, &ann(), &Reply::allow_once()).unwrap();
    assert_eq!(store.approval(&id).unwrap().unwrap().standing, Standing::Approved);
}

#[test]
fn an_expired_question_cannot_be_answered() {
    let w = world(&LEADS.replace("need = 2", "expires = \"50ms\""));
    let _ = w.judge("s", "make x", NOW);
    let id = w.store().approvals(false, 10).unwrap().remove(0).question.id;
    std::thread::sleep(Duration::from_millis(80));
    let late = w.reply(&id, &Person::named("bob"), &Reply::allow_once());
    assert!(matches!(late, Err(Error::Refused(Refused::Over(Standing::Expired)))), "{late:?}");
    assert_eq!(w.answer_of("s", "make x"), Answer::Deny);
}

pub(crate) fn limits(keys: &str) -> World {
    world(&format!("default = \"allow\"\n[allow]\nrun = [\"*\"]\nconnect = [\"*\"]\n[deny]\nrun = [\"rm\"]\n{keys}"))
}

#[test]
fn calls_are_counted_by_session_agent_and_day() {
    let w = limits("[limits.session]\ncalls = 2\n[limits.agent]\ncalls = 5\n");
    assert_eq!([1, 2, 3].map(|_| w.answer_of("a", "true")), [Answer::Allow, Answer::Allow, Answer::Deny]);
    // A new session begins anew, but it is the same agent.
    assert_eq!([1, 2].map(|_| w.answer_of("b", "true")), [Answer::Allow, Answer::Allow]);
    assert_eq!([1, 2].map(|_| w.answer_of("c", "true")), [Answer::Allow, Answer::Deny]);
    let used = w.store().used(now()).unwrap();
    assert_eq!(used.iter().find(|used| used.key == "-/coder").unwrap().usage.calls, 5, "{used:#?}");
}

#[test]
fn a_call_that_names_no_session_is_limited_too() {
    let w = limits("[limits.session]\ncalls = 1\n");
    let answer = || {
        let mut call = w.call("x", "true");
        call.actor.session = None;
        w.gate().judge(call, circumstances(NOW), FactsOf::Gate).settle().record().decision.answer
    };
    assert_eq!([answer(), answer()], [Answer::Allow, Answer::Deny]);
}

#[test]
fn a_denied_call_and_a_rehearsal_use_nothing() {
    let w = limits("[limits.session]\ncalls = 1\n");
    assert_eq!(w.answer_of("a", "rm x"), Answer::Deny);
    let facts = FactsOf::Call(Facts { files: &RealFiles, env: &ProcessEnvironment });
    let gate = w.gate();
    let rehearsal = gate.judge(w.call("a", "true"), Circumstances::rehearsal(), facts);
    assert_eq!(rehearsal.rehearsed().1.answer, Answer::Allow);
    let rehearsal = gate.judge(w.call("a", "true"), Circumstances::rehearsal(), facts).settle().record();
    assert!(rehearsal.permit.is_none(), "a rehearsal lets nothing run");
    assert_eq!([1, 2].map(|_| w.answer_of("a", "true")), [Answer::Allow, Answer::Deny]);
    let dry = limits("[limits.session]\ncalls = 1\n[mode]\nrun = \"dry-run\"\n");
    assert_eq!([1, 2].map(|_| dry.answer_of("a", "true")), [Answer::DryRun, Answer::DryRun]);
    let shadow = limits("[limits.session]\ncalls = 1\n[mode]\nrun = \"shadow\"\n");
    assert_eq!([1, 2].map(|_| shadow.answer_of("a", "true")), [Answer::Allow, Answer::Allow]);
    assert!(dry.store().used(now()).unwrap().is_empty() && shadow.store().used(now()).unwrap().is_empty());
}

#[test]
fn only_denials_by_a_rule_or_a_person_stop_a_session() {
    let w = limits("[limits.session]\nblocked = 3\n[ask]\nrun = [\"make\"]\n");
    for n in 0..5 {
        assert_eq!(code(&w.judge("a", &format!("make {n}"), Asking::Nobody)), "unanswered");
    }
    assert_eq!(w.answer_of("a", "true"), Answer::Allow);
    for _ in 0..3 {
        assert_eq!(w.answer_of("a", "rm x"), Answer::Deny);
    }
    assert_eq!(code(&w.judge("a", "true", NOW)), "limit");
    assert_eq!(w.answer_of("b", "true"), Answer::Allow);
    let told = w.store().events(&Query { kinds: vec![Kind::Limit], ..Query::default() }).unwrap();
    assert_eq!(told.len(), 1, "a person is told once: {told:?}");
}

#[test]
fn rates_repeats_hosts_and_deletes_are_limited() {
    let w = limits("[limits.session]\nrate = \"3/1h\"\n");
    let answers: Vec<Answer> = (0..4).map(|n| w.answer_of("a", &format!("echo {n}"))).collect();
    assert_eq!(answers[2..], [Answer::Allow, Answer::Deny]);
    let w = limits("[limits.session]\nrepeats = 2\n");
    assert_eq!([1, 2, 3].map(|_| w.answer_of("a", "true")), [Answer::Allow, Answer::Allow, Answer::Deny]);
    assert_eq!(w.answer_of("a", "echo"), Answer::Allow);
    let w = limits("[limits.session]\nhosts = 2\n");
    let fetch = |host: &str| w.answer_of("a", &format!("curl https://{host}"));
    assert_eq!([fetch("a.example"), fetch("a.example"), fetch("b.example")], [Answer::Allow; 3]);
    assert_eq!([fetch("c.example"), fetch("b.example")], [Answer::Deny, Answer::Allow]);
    let w = world("default = \"allow\"\n[allow]\nrun = [\"*\"]\ndelete = [\"./**\"]\n[limits.session]\ndeletes = 3\n");
    assert_eq!(w.answer_of("a", "rm x y"), Answer::Allow, "{:?}", w.judge("z", "rm x y", NOW).decision.reasons);
    assert_eq!(w.answer_of("a", "rm x y"), Answer::Deny);
    assert_eq!([w.answer_of("a", "rm x"), w.answer_of("a", "true")], [Answer::Allow; 2]);
}

#[test]
fn a_person_can_let_one_call_pass_beyond_a_limit_and_a_grant_cannot() {
    let w = limits("[limits.session]\ncalls = 1\nat_limit = \"ask\"\n");
    assert_eq!(w.answer_of("a", "true"), Answer::Allow);
    assert_eq!(w.answer_of("a", "true"), Answer::Ask);
    let _ = w.judge("a", "true", held(1));
    let question = w.store().approvals(true, 10).unwrap().remove(0).question;
    assert!(question.offers.is_empty(), "{:?}", question.offers);
    let always = Reply::allow_once().remembered(Remember::Always, Width::Exact);
    assert!(w.reply(&question.id, &ann(), &always).is_err());
    w.reply(&question.id, &ann(), &Reply::allow_once()).unwrap();
    assert_eq!(w.judge("a", "true", Asking::Nobody).decision.answer, Answer::Allow);
    assert_eq!(w.judge("a", "true", Asking::Nobody).decision.answer, Answer::Deny);
}

#[test]
fn what_is_expected_is_reserved_and_what_was_used_is_settled() {
    let w = limits("[limits.session]\ntokens = 100\n");
    let judge = |tokens| {
        let expected = Expected { input_tokens: tokens, ..Expected::default() };
        w.gate()
            .judge(w.call("a", "true"), Circumstances { expected, ..circumstances(NOW) }, FactsOf::Gate)
            .settle()
            .record()
    };
    let first = judge(60);
    assert_eq!(first.decision.answer, Answer::Allow);
    assert_eq!(judge(60).decision.answer, Answer::Deny);
    let outcome = Outcome { input_tokens: Some(10), output_tokens: Some(5), ..Outcome::default() };
    assert!(w.gate().settle(&Which::Record(first.record.id.clone()), &outcome).unwrap());
    assert!(!w.gate().settle(&Which::Record(first.record.id), &outcome).unwrap(), "settled once");
    let second = judge(60);
    assert_eq!(second.decision.answer, Answer::Allow);
    let not_run = Outcome { not_run: true, ..Outcome::default() };
    assert!(w.gate().settle(&Which::Record(second.record.id), &not_run).unwrap());
    let used = w.store().used(now()).unwrap();
    assert_eq!((used[0].usage.input_tokens, used[0].usage.output_tokens, used[0].usage.calls), (10, 5, 1));
}

/// A store that is gone, damaged or closed to us.
#[test]
fn what_cannot_be_recorded_gives_back_what_was_reserved() {
    struct Full;
    impl sayso_gate::Recorder for Full {
        fn record(&self, _: &sayso_gate::Record) -> Result<(), Error> {
            Err(Error::Io { doing: "write", path: "/full".into(), source: std::io::ErrorKind::StorageFull.into() })
        }
    }
    let w = limits("[limits.session]\ncalls = 1\n");
    let file = PolicyText { layer: Layer::Given, name: "t.toml".into(), text: w.policy.clone(), trusted: true };
    let full = Gate::new(InForce::given(vec![file]).unwrap(), Box::new(Full)).with_memory(w.memory.clone());
    assert_eq!(
        code(&full.judge(w.call("a", "true"), circumstances(NOW), FactsOf::Gate).settle().record()),
        "record-failed"
    );
    assert_eq!(w.answer_of("a", "true"), Answer::Allow);
}

#[test]
fn an_operator_halts_everything_and_breaks_the_glass_for_a_while() {
    use sayso_gate::mode::{self, Switch};
    use sayso_policy::text::Mode;
    let w = world("default = \"deny\"\n");
    let switched = |mode, until_ms| Switch { mode, by: ann(), why: "a fire".into(), since_ms: now(), until_ms };
    assert_eq!(w.answer_of("a", "make x"), Answer::Deny);
    mode::switch(&w.memory, &switched(Mode::Off, Some(now() + 60_000)), false).unwrap();
    let judged = w.judge("a", "make x", NOW);
    assert_eq!((judged.decision.answer, code(&judged)), (Answer::Allow, "break-glass"));
    // Integrity stays.
    assert_eq!(w.answer_of("a", "sayso approvals list"), Answer::Deny);
    mode::switch(&w.memory, &switched(Mode::Halt, None), false).unwrap();
    let judged = w.judge("a", "true", NOW);
    assert_eq!(judged.decision.answer, Answer::Deny);
    assert!(judged.decision.reasons.iter().any(|reason| reason.code.as_str() == "halted"));
    mode::switch(&w.memory, &switched(Mode::DryRun, Some(now() + 60_000)), false).unwrap();
    assert_eq!(w.answer_of("a", "make x"), Answer::DryRun);
    mode::switch(&w.memory, &switched(Mode::Shadow, Some(now() + 60_000)), false).unwrap();
    let judged = w.judge("a", "make x", NOW);
    assert_eq!((judged.decision.answer, judged.decision.would), (Answer::Allow, Some(Verdict::Deny)));
    mode::end(&w.memory, &ann()).unwrap();
    assert_eq!(w.answer_of("a", "make x"), Answer::Deny);
}

#[test]
fn worktrees_of_one_repository_share_grants_and_a_forged_one_does_not() {
    let w = world(ASKS);
    let git = |arguments: &[&str]| {
        let done = std::process::Command::new("git")
            .args(["-c", "user.name=a", "-c", "user.email=a@b"])
            .args(arguments)
            .current_dir(w.work())
            .output()
            .unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    std::fs::remove_dir(w.work().join(".git")).unwrap();
    git(&["init", "-q"]);
    git(&["commit", "-q", "--allow-empty", "-m", "x"]);
    git(&["worktree", "add", "-q", "../tree"]);
    let folder = |name: &str| w.dir.path().canonicalize().unwrap().join(name);
    std::fs::create_dir(folder("forged")).unwrap();
    std::fs::copy(folder("tree").join(".git"), folder("forged").join(".git")).unwrap();
    let _ = w.judge("s", "jq . a.json", held(1));
    let question = w.store().approvals(true, 10).unwrap().remove(0).question;
    let wide =
        question.offers.iter().map(|offer| offer.width).find(|width| *width != Width::Exact).expect("a wider offer");
    w.reply(&question.id, &ann(), &Reply::allow_once().remembered(Remember::Always, wide)).unwrap();
    let answer = |name: &str| {
        let mut call = w.call("t", "jq . a.json");
        call.cwd = Some(folder(name));
        call.workspace = Workspace::new(folder(name), None);
        w.gate().judge(call, circumstances(NOW), FactsOf::Gate).settle().record().decision.answer
    };
    assert_eq!([answer("work"), answer("tree"), answer("forged")], [Answer::Allow, Answer::Allow, Answer::Ask]);
}

#[test]
fn many_threads_never_overspend() {
    let w = Arc::new(limits("[limits.session]\ncalls = 50\n"));
    let allowed: usize = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    let gate = w.gate();
                    (0..20)
                        .filter(|n| {
                            let judged = gate
                                .judge(w.call("a", &format!("echo {n}")), circumstances(NOW), FactsOf::Gate)
                                .settle()
                                .record();
                            judged.decision.answer == Answer::Allow
                        })
                        .count()
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    assert_eq!(allowed, 50);
}

#[test]
fn many_answers_at_once_and_one_counts() {
    let w = Arc::new(world(ASKS));
    for round in 0..5 {
        let _ = w.judge("s", &format!("make {round}"), held(1));
        let id = w.store().approvals(true, 10).unwrap().remove(0).question.id;
        let counted: usize = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..8)
                .map(|n| {
                    let (w, id) = (&w, &id);
                    let reply = if n % 2 == 0 { Reply::allow_once() } else { Reply::deny() };
                    scope.spawn(move || usize::from(w.reply(id, &Person::named(format!("p{n}")), &reply).is_ok()))
                })
                .collect();
            workers.into_iter().map(|worker| worker.join().unwrap()).sum()
        });
        assert_eq!(counted, 1);
        assert_eq!(w.store().approval(&id).unwrap().unwrap().answers.len(), 1);
    }
}

#[test]
fn a_yes_is_used_by_one_of_many_calls() {
    let w = Arc::new(world(ASKS));
    let _ = w.judge("s", "make x", held(1));
    let id = w.store().approvals(true, 10).unwrap().remove(0).question.id;
    w.reply(&id, &ann(), &Reply::allow_once()).unwrap();
    let allowed: usize = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| usize::from(w.judge("s", "make x", Asking::Nobody).permit.is_some())))
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    assert_eq!(allowed, 1);
}
