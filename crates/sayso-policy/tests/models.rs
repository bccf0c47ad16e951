//! Models, escalation and stretches of time in the policy's language.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::allow_attributes,
    reason = "a failed unwrap is a failed test"
)]

use sayso_policy::shell::{NoEnvironment, NoFiles};
use sayso_policy::{Actor, Facts, Layer, Operation, Policy, PolicyText, Scope, State, Verdict};
use std::time::Duration;

fn compile(text: &str) -> Result<Policy, String> {
    let file = PolicyText { layer: Layer::User, name: "p.toml".into(), text: text.into(), trusted: true };
    Policy::compile(&[file]).map_err(|problems| problems.iter().map(|it| format!("{it:?}\n")).collect())
}

fn actor(agent: &str, provider: Option<&str>) -> Actor {
    Actor { agent: Some(agent.into()), provider: provider.map(str::to_owned), ..Actor::default() }
}

const MODELS: &str = r#"
default = "allow"
[allow]
run = ["*"]
[models]
only = ["anthropic/*", "google/*"]
[models.for."agent:weatherbot"]
use = "google/gemini-2.0-flash"
fallback = "anthropic/claude-opus-4-6"
"#;

#[test]
fn a_model_outside_the_list_asks_and_an_unknown_one_does_not() {
    let policy = compile(MODELS).unwrap();
    let facts = Facts { files: &NoFiles, env: &NoEnvironment };
    for (provider, expected) in [
        (None, Verdict::Allow),
        (Some("anthropic/claude-opus-4-6"), Verdict::Allow),
        (Some("Google/gemini"), Verdict::Allow),
        (Some("openai/gpt-5"), Verdict::Ask),
        (Some("anthropics/x"), Verdict::Ask),
    ] {
        let mut operation = Operation::execute("true");
        operation.actor = actor("coder", provider);
        let decision = policy.evaluate(&operation, &State::default(), facts);
        assert_eq!(decision.verdict, expected, "{provider:?}: {:?}", decision.reasons);
        if expected == Verdict::Ask {
            assert_eq!(decision.reasons[0].code.as_str(), "model-not-listed");
            assert_eq!(decision.reasons[0].source.as_ref().unwrap().line, 5);
        }
        // What a subagent says does not hide its parent's model.
        operation.actor = Actor { parent: Some(Box::new(actor("coder", Some("openai/gpt-5")))), ..actor("sub", None) };
        assert_eq!(policy.evaluate(&operation, &State::default(), facts).verdict, Verdict::Ask);
    }
}

#[test]
fn a_model_that_the_agent_reports_counts_too() {
    let policy = compile(MODELS).unwrap();
    let facts = Facts { files: &NoFiles, env: &NoEnvironment };
    let says = |stated: Option<&str>, reported: &str| {
        let mut operation = Operation::execute("true");
        operation.actor = actor("coder", stated);
        let reported = Some(reported.to_owned());
        operation.actor.reported =
            Some(Box::new(sayso_policy::Reported { provider: reported, ..sayso_policy::Reported::default() }));
        policy.evaluate(&operation, &State::default(), facts).verdict
    };
    assert_eq!(says(None, "openai/gpt-5"), Verdict::Ask);
    assert_eq!(says(None, "anthropic/x"), Verdict::Allow);
    // It only tightens: it takes the place of nothing that is stated.
    assert_eq!(says(Some("openai/gpt-5"), "anthropic/x"), Verdict::Ask);
    assert_eq!(says(Some("anthropic/x"), "openai/gpt-5"), Verdict::Ask);
}

#[test]
fn an_agent_is_routed_to_its_model_and_to_its_fallback() {
    let policy = compile(MODELS).unwrap();
    let route = |agent: &str, fallback| policy.route(&actor(agent, None), fallback);
    assert_eq!(route("weatherbot", false).model.as_deref(), Some("google/gemini-2.0-flash"));
    assert_eq!(route("weatherbot", true).model.as_deref(), Some("anthropic/claude-opus-4-6"));
    assert!(route("weatherbot", true).fallback && !route("weatherbot", false).fallback);
    assert_eq!(route("coder", true).model, None);
}

#[test]
fn denied_calls_are_counted_in_their_stretch_of_time() {
    let policy =
        compile("default = \"allow\"\n[allow]\nrun = [\"*\"]\n[limits.session]\nblocked = \"3/1h\"\n").unwrap();
    let hour = (Scope::Session, Duration::from_secs(3600));
    assert_eq!(policy.counting(None).blocked_windows, [hour]);
    let facts = Facts { files: &NoFiles, env: &NoEnvironment };
    for (denied, expected) in [(2, Verdict::Allow), (3, Verdict::Deny)] {
        let mut state = State::default();
        state.usage.entry(Scope::Session).or_default().blocked = 9;
        state.blocked.insert(hour, denied);
        assert_eq!(policy.evaluate(&Operation::execute("true"), &state, facts).verdict, expected);
    }
}

#[test]
fn what_is_wrong_is_refused_with_its_place() {
    for (text, message) in [
        ("[models]\nonly = [\"anthropic\"]\n", "names no model"),
        ("[models]\nonly = [\"a/*\"]\nuse = \"b/c\"\n", "is not in `only`"),
        ("[models]\nuse = \"b/*\"\n", "must be one model"),
        ("[models]\nfallbck = \"b/c\"\n", "fallbck"),
        ("[models.for.\"agnt:x\"]\nuse = \"b/c\"\n", "names nobody"),
        ("[limits.session]\nblocked = \"3/soon\"\n", "bad-rate"),
        ("[approvals.a]\nmembers = \"x\"\nescalate = { wait = \"5m\", to = \"b\" }\n", "no `[approvals.b]`"),
        ("[approvals.a]\nmembers = \"x\"\nescalate = { wait = \"5m\", to = \"a\" }\n", "circle"),
        (
            "[approvals.a]\nmembers = \"x\"\nescalate = { wait = \"5m\", to = \"b\" }\n[approvals.b]\nmembers = \"y\"\nescalate = { wait = \"5m\", to = \"a\" }\n",
            "circle",
        ),
    ] {
        let problems = compile(text).err().unwrap_or_else(|| panic!("{text} was taken"));
        assert!(problems.contains(message), "{text}: {problems}");
    }
}
