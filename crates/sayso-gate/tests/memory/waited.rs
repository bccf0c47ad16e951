//! A call that waited for people is judged by the rules, the switch and the folders of the moment in which it may run.

use super::*;
use sayso_gate::Live;
use sayso_gate::mode::{self, Switch};
use sayso_policy::text::Mode;

fn halted() -> Switch {
    Switch { mode: Mode::Halt, by: ann(), why: "a fire".into(), since_ms: now(), until_ms: None }
}

#[test]
fn a_halt_stops_a_call_that_waits_for_an_answer() {
    let w = world(ASKS);
    let judged = w.judge_answered("make x", |approval| {
        mode::switch(&w.memory, &halted(), false).unwrap();
        w.reply(&approval.question.id, &ann(), &Reply::allow_once()).unwrap();
    });
    let codes: Vec<&str> = judged.decision.reasons.iter().map(|reason| reason.code.as_str()).collect();
    assert_eq!(judged.decision.answer, Answer::Deny, "{codes:?}");
    assert!(codes.contains(&"halted") && codes.contains(&"operator-mode"), "{codes:?}");
    assert!(judged.permit.is_none());
    // The yes was not used up: the fire is out, and the call passes once.
    mode::end(&w.memory, &ann()).unwrap();
    assert_eq!([w.answer_of("s", "make x"), w.answer_of("s", "make x")], [Answer::Allow, Answer::Ask]);
}

#[test]
fn a_halt_stops_a_call_that_goes_back_to_the_callers_prompt() {
    let w = world(ASKS);
    w.attend("ann");
    let until = Instant::now() + Duration::from_secs(20);
    let asking = Asking::Queue { until, otherwise: Otherwise::OwnPrompt };
    let judged = w.judge_meanwhile(&w.gate(), asking, |approval| {
        mode::switch(&w.memory, &halted(), false).unwrap();
        w.store().cancel(&approval.question.id, "nobody is left", now()).unwrap();
    });
    assert_eq!(judged.decision.answer, Answer::Deny, "{:?}", judged.decision.reasons);
}

#[test]
fn a_yes_is_to_the_folder_that_a_link_led_to_and_to_no_other() {
    let w = world(ASKS);
    for name in ["one", "two"] {
        std::fs::create_dir(w.work().join(name)).unwrap();
    }
    let point = |name: &str| {
        let _ = std::fs::remove_file(w.work().join("link"));
        std::os::unix::fs::symlink(name, w.work().join("link")).unwrap();
    };
    // The call's own folder, and one that the command goes to.
    for (session, command, cwd) in [("a", "deploytool go", "link"), ("b", "cd link && deploytool go", "")] {
        let judge = |asking| {
            let mut call = w.call(session, command);
            call.cwd = Some(w.work().join(cwd));
            w.gate().judge(call, circumstances(asking), FactsOf::Gate).settle().record()
        };
        point("one");
        let question = judge(Asking::Ticket { asked: false }).question.unwrap();
        w.reply(&question, &ann(), &Reply::allow_once().remembered(Remember::Always, Width::Exact)).unwrap();
        point("two");
        assert_eq!(judge(NOW).decision.answer, Answer::Ask, "{command}");
        point("one");
        assert_eq!(judge(NOW).decision.answer, Answer::Allow, "{command}");
        assert_eq!(judge(NOW).decision.answer, Answer::Allow, "{command}");
    }
}

#[test]
fn a_policy_that_is_tightened_meanwhile_judges_the_call_that_waits() {
    let w = world(ASKS);
    let places = Places::below(&w.dir.path().join("home"), w.dir.path());
    std::fs::create_dir_all(places.user.parent().unwrap()).unwrap();
    let follow = || {
        std::fs::write(&places.user, ASKS).unwrap();
        let live = Live::follow(&places, Some(&w.work())).unwrap();
        Gate::over(live, Box::new(Unrecorded)).with_memory(w.memory.clone())
    };
    let tighten = || std::fs::write(&places.user, format!("{ASKS}[deny]\nrun = [\"make\"]\n")).unwrap();
    w.attend("ann");
    let until = Instant::now() + Duration::from_secs(20);
    let asking = Asking::Queue { until, otherwise: Otherwise::OwnPrompt };
    let judged = w.judge_meanwhile(&follow(), asking, |approval| {
        tighten();
        w.store().cancel(&approval.question.id, "the policy has changed", now()).unwrap();
    });
    assert_eq!(judged.decision.answer, Answer::Deny, "{:?}", judged.decision.reasons);
    assert!(judged.decision.denied_by_rule(), "{:?}", judged.decision.reasons);
    // A yes to what the old one asked is none under the new one.
    let judged = w.judge_meanwhile(&follow(), asking, |approval| {
        tighten();
        w.reply(&approval.question.id, &ann(), &Reply::allow_once()).unwrap();
    });
    assert_eq!((judged.decision.answer, code(&judged)), (Answer::Deny, "approval-void"));
}
