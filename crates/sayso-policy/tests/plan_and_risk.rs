//! `[plan]` and `[risk]`: what they say of calls, and what is wrong with a file.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::allow_attributes,
    reason = "a failed unwrap is a failed test"
)]

use sayso_policy::shell::{MemoryFiles, NoEnvironment};
use sayso_policy::{
    Actor, Answer, Decision, Facts, Grant, GrantSelector, Layer, Person, PlanStep, Policy, PolicyText, State, ToolCall,
    Verdict, Workspace, image,
};
use std::path::Path;

fn text(text: &str) -> PolicyText {
    PolicyText { layer: Layer::User, name: "p.toml".into(), text: text.to_owned(), trusted: true }
}

fn judged(policy: &str, agent: &str, command: &str, state: &State) -> Decision {
    let policy = Policy::compile(&[text(policy)]).unwrap();
    let mut files = MemoryFiles::new();
    files.file("/app/x", b"");
    let facts = Facts { files: &files, env: &NoEnvironment };
    let call = ToolCall {
        cwd: Some("/app".into()),
        workspace: Workspace::new("/app", Some(Path::new("/home/me"))),
        home: Some("/home/me".into()),
        actor: Actor { agent: Some(agent.to_owned()), ..Actor::default() },
        ..ToolCall::command(command.as_bytes())
    };
    let operation = policy.operation(call, facts);
    let decision = policy.evaluate(&operation, state, facts);
    // A compiled image says the same of everything.
    let (imaged, _) = image::open(Box::new(image::write(&policy, b"", b"").unwrap()), b"").unwrap();
    assert_eq!(imaged.evaluate(&operation, state, facts), decision);
    assert_eq!(imaged.plan_lasts_ms(), policy.plan_lasts_ms());
    decision
}

fn codes(decision: &Decision) -> Vec<String> {
    decision.reasons.iter().map(|reason| reason.code.to_string()).collect()
}

const ALLOWS: &str =
    "default = \"ask\"\n[allow]\nrun = [\"*\"]\nread = [\"/**\"]\nwrite = [\"./**\"]\nconnect = [\"*\"]\n";

#[test]
fn whoever_must_plan_asks_with_the_line_that_says_so() {
    let policy = format!("{ALLOWS}[plan]\nrequire = [\"agent:deployer\", \"subagent\"]\n");
    let decision = judged(&policy, "deployer", "ls", &State::default());
    assert_eq!(decision.answer, Answer::Ask);
    assert_eq!(codes(&decision), ["no-plan"]);
    assert!(decision.reasons[0].source.as_ref().unwrap().to_string().starts_with("p.toml:8"), "{decision:?}");
    assert_eq!(judged(&policy, "coder", "ls", &State::default()).answer, Answer::Allow);
}

#[test]
fn what_scores_higher_than_the_file_wants_asks() {
    let policy = format!("{ALLOWS}[risk]\nask_above = 30\n");
    let calm = judged(&policy, "a", "ls", &State::default());
    assert_eq!((calm.answer, calm.risk.unwrap().score), (Answer::Allow, 0));
    let risky = judged(&policy, "a", "curl https://x.example", &State::default());
    assert_eq!(risky.answer, Answer::Ask, "{risky:?}");
    assert_eq!(codes(&risky), ["risk-above"]);
    let risk = risky.risk.unwrap();
    assert!(risk.score > 30 && risk.points.iter().any(|it| it.feature == "connects"), "{risk:?}");
    // Without it an allowed call is not scored, and one that asks is.
    assert_eq!(judged(ALLOWS, "a", "curl https://x.example", &State::default()).risk, None);
    assert!(judged("default = \"ask\"\n", "a", "ls", &State::default()).risk.is_some());
}

fn grant(plan: Option<PlanStep>) -> Grant {
    Grant {
        id: "g".into(),
        selector: GrantSelector::Digest("d".into()),
        workspace: None,
        session: None,
        uses_left: plan.is_some().then_some(1),
        expires_ms: None,
        givers: vec![Person::named("ann")],
        verdict: Verdict::Allow,
        actor: Actor::default(),
        plan,
    }
}

#[test]
fn only_a_step_of_a_plan_answers_and_only_what_asked_then() {
    for (section, code) in
        [("[plan]\nrequire = [\"agent:a\"]\n", "no-plan"), ("[risk]\nask_above = 10\n", "risk-above")]
    {
        let policy = format!("{ALLOWS}{section}");
        let command = "curl https://x.example";
        let asked = judged(&policy, "a", command, &State::default());
        let asks: Vec<String> = asked.asks().map(|(_, opinion)| opinion.ask_key()).collect();
        let with = |grant: Grant| {
            let state =
                State { digest: Some("d".into()), step: Some("d".into()), grants: vec![grant], ..State::default() };
            judged(&policy, "a", command, &state).answer
        };
        assert_eq!(with(grant(None)), Answer::Ask, "a saved answer to this very call is no plan: {code}");
        let step = |asks: Vec<String>| PlanStep { plan: "p".into(), step: 1, of: 1, after: None, asks };
        assert_eq!(with(grant(Some(step(asks)))), Answer::Allow, "{code}");
        assert_eq!(with(grant(Some(step(Vec::new())))), Answer::Ask, "it did not ask then: {code}");
    }
}

#[test]
fn an_approved_plan_lasts_as_long_as_the_file_says() {
    let compiled = Policy::compile(&[text("[plan]\nexpires = \"30m\"\n")]).unwrap();
    assert_eq!(compiled.plan_lasts_ms(), 30 * 60 * 1000);
    assert_eq!(Policy::compile(&[text(ALLOWS)]).unwrap().plan_lasts_ms(), sayso_policy::USUAL_PLAN_MS);
}

#[test]
fn wrong_sections_are_refused_at_the_place() {
    for (wrong, says) in [
        ("[plan]\nrequire = [\"agnt:deployer\"]\n", "names nobody"),
        ("[plan]\nrequires = [\"agent:deployer\"]\n", "requires"),
        ("[plan]\nexpires = \"soon\"\n", "soon"),
        ("[risk]\nask_above = 100\n", "nothing can be above"),
        ("[risk]\nask_above = -1\n", "whole number"),
        ("[risk]\nask_over = 5\n", "ask_over"),
        ("[risk]\nask_above = \"high\"\n", "whole number"),
    ] {
        let problems = Policy::compile(&[text(wrong)]).unwrap_err();
        let found = problems.iter().any(|problem| {
            let said = format!("{} {}", problem.message, problem.suggestion.clone().unwrap_or_default());
            said.contains(says) && problem.source.line == 2
        });
        assert!(found, "{wrong}: {problems:?}");
    }
}
