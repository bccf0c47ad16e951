//! Who asks: what the owner states, what is registered, what an agent says of itself, and the defaults that follow.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a failed unwrap is a failed test")]

mod imaged;

use imaged::Both;
use proptest::prelude::*;
use sayso_policy::shell::{MemoryFiles, NoEnvironment};
use sayso_policy::text::Problem;
use sayso_policy::{
    Actor, CanHold, Decision, Facts, Layer, Policy, PolicyText, Reported, State, Stated, ToolCall, Verdict, Workspace,
};
use serde_json::json;
use std::path::Path;

fn text(layer: Layer, text: &str) -> PolicyText {
    PolicyText { name: format!("{layer}.toml"), layer, text: text.into(), trusted: true }
}

fn compiled(texts: &[PolicyText]) -> Policy {
    Policy::compile(texts).unwrap_or_else(|problems| panic!("{problems:#?}"))
}

fn refused(texts: &[PolicyText]) -> Vec<Problem> {
    Policy::compile(texts).map(|_| ()).unwrap_err()
}

fn named(agent: &str) -> Actor {
    Actor { agent: Some(agent.into()), ..Actor::default() }
}

/// A product, and the kind that it reports.
fn reporting(product: &str, kind: &str) -> Actor {
    let reported = Reported { agents: vec![kind.into()], ..Reported::default() };
    Actor { reported: Some(Box::new(reported)), ..named(product) }
}

fn anonymous(actor: Actor) -> Actor {
    Actor { asker: Some("anybody".into()), ..actor }
}

fn files() -> MemoryFiles {
    let mut files = MemoryFiles::new();
    for program in ["cat", "ls", "make", "curl", "git", "rm", "npm", "cargo", "grep", "tee", "docker", "kubectl"] {
        files.program(format!("/usr/bin/{program}"), b"");
    }
    files.file("/app/Makefile", b"all:\n\ttrue\n");
    files.file("/app/README.md", b"hello");
    files
}

fn call(command: &str, actor: Actor) -> ToolCall {
    ToolCall {
        actor,
        cwd: Some("/app".into()),
        workspace: Workspace::new("/app", Some(Path::new("/home/ann"))),
        home: Some("/home/ann".into()),
        ..ToolCall::command(command.as_bytes())
    }
}

fn judged(texts: &[PolicyText], call: ToolCall, state: &State) -> Decision {
    let policy = compiled(texts);
    let files = files();
    let facts = Facts { files: &files, env: &NoEnvironment };
    let operation = policy.operation(call, facts);
    Both::new(policy).evaluate(&operation, state, facts)
}

fn of_command(texts: &[PolicyText], command: &str, actor: Actor) -> Verdict {
    judged(texts, call(command, actor), &State::default()).verdict
}

#[test]
fn what_the_owner_states_of_this_machine_is_known_of_every_call() {
    let policy = compiled(&[text(Layer::User, "[actor]\nteam = \"a\"\nmember = \"alice\"\ntenant = \"t1\"\n")]);
    let known = policy.owned(named("claude-code"), false);
    assert_eq!(
        (known.team.as_deref(), known.member.as_deref(), known.tenant.as_deref()),
        (Some("a"), Some("alice"), Some("t1"))
    );
    // Once more changes nothing.
    assert_eq!(policy.owned(known.clone(), false), known);
    // A registration says more of one way in than the file says of all.
    let registered = Stated { team: Some("b".into()), ..Stated::default() };
    let known = policy.owned(registered.of(named("claude-code")), false);
    assert_eq!(
        (known.team.as_deref(), known.member.as_deref(), known.tenant.as_deref()),
        (Some("b"), None, Some("t1"))
    );
}

#[test]
fn what_a_managed_file_states_stands_and_the_rest_is_a_report() {
    let texts =
        [text(Layer::Managed, "[actor]\nteam = \"a\"\n"), text(Layer::User, "[actor]\nteam = \"b\"\ntenant = \"t\"\n")];
    let policy = compiled(&texts);
    let registered = Stated { team: Some("c".into()), member: Some("eve".into()), ..Stated::default() };
    let known = policy.owned(registered.of(named("codex")), false);
    assert_eq!((known.team.as_deref(), known.member.as_deref(), known.tenant.as_deref()), (Some("a"), None, Some("t")));
    let reported = known.reported.unwrap();
    assert_eq!((reported.team.as_deref(), reported.member.as_deref()), (Some("c"), Some("eve")));
    // Whoever only wants to know may ask about anybody.
    assert_eq!(policy.owned(registered.of(named("codex")), true).team.as_deref(), Some("c"));
}

#[test]
fn a_caller_without_a_token_is_of_the_owners_team_and_its_own_word_is_a_report() {
    let rules = "default = \"ask\"\n[actor]\nteam = \"a\"\n\
                 [[rule]]\nid = \"ours\"\nallow = { run = \"ls\" }\nwhen = { for = \"team:a\" }\n\
                 [[rule]]\nid = \"theirs\"\nallow = { run = \"cat\" }\nwhen = { for = [\"team:b\", \"agent:coder\"] }\n\
                 [[rule]]\nid = \"none-of-theirs\"\ndeny = { run = \"rm\" }\nwhen = { for = \"team:b\" }\n";
    let texts = [text(Layer::User, rules)];
    let claims = anonymous(Actor { team: Some("b".into()), ..named("coder") });
    assert_eq!(of_command(&texts, "ls", claims.clone()), Verdict::Allow);
    assert_eq!(of_command(&texts, "cat README.md", claims.clone()), Verdict::Ask);
    assert_eq!(of_command(&texts, "rm x", claims.clone()), Verdict::Deny);
    // With a token the name is its own.
    let proven = Actor { asker: Some("token coder".into()), ..named("coder") };
    assert_eq!(of_command(&texts, "cat README.md", proven), Verdict::Allow);
    // The owner's own question says what it means.
    assert_eq!(of_command(&texts, "cat README.md", Actor { team: Some("b".into()), ..named("coder") }), Verdict::Allow);
}

#[test]
fn a_projects_file_says_neither_who_asks_nor_whom_to_believe() {
    for (line, wrong) in [(2, "[actor]\nteam = \"a\"\n"), (2, "trust_roles = true\n")] {
        let problems = refused(&[text(Layer::Project, &format!("# project\n{wrong}"))]);
        assert_eq!((problems[0].code, problems[0].source.line), ("owner-only", line), "{problems:?}");
        compiled(&[text(Layer::User, wrong)]);
        compiled(&[text(Layer::Managed, wrong)]);
        compiled(&[text(Layer::Given, wrong)]);
    }
}

#[test]
fn unknown_names_are_refused_with_their_place() {
    for (wrong, code, word) in [
        ("[actor]\nteams = \"a\"\n", "unknown-key", "teams"),
        ("[actor]\nagent = \"a\"\n", "unknown-key", "agent"),
        ("[actor]\nmember = \"alice\"\n", "missing-key", "\"alice\""),
        ("[actor]\nteam = \"a/alice\"\n", "bad-name", "\"a/alice\""),
        ("[actor]\nteam = 3\n", "wrong-type", "3"),
        ("actor = \"a\"\n", "wrong-type", "\"a\""),
        ("[actor]\n", "blank", "[actor]"),
        ("trust_roles = \"yes\"\n", "wrong-type", "\"yes\""),
        ("[for.\"agnt:reviewer\"]\nextends = [\"reviewer\"]\n", "unknown-actor", "\"agnt:reviewer\""),
        ("[for.reviewer]\nextends = [\"reviewer\"]\n", "unknown-actor", "reviewer"),
        ("[for.\"agent:reviewer\"]\nextends = [\"reviwer\"]\n", "unknown-preset", "\"reviwer\""),
        ("[for.\"agent:reviewer\"]\nextend = [\"reviewer\"]\n", "unknown-key", "extend"),
        ("[for.\"agent:a\"]\ndefault = \"ask\"\n", "missing-key", "\"agent:a\""),
        ("[for.\"agent:a\"]\nextends = [\"reviewer\"]\ndisable = [\"no-such\"]\n", "unknown-rule", "\"no-such\""),
        (
            "[for.\"agent:a\"]\nextends = [\"full\"]\n[for.\"agent: a\"]\nextends = [\"full\"]\n",
            "duplicate-key",
            "\"agent: a\"",
        ),
    ] {
        let problems = refused(&[text(Layer::User, wrong)]);
        let said =
            problems.iter().find(|problem| problem.code == code).unwrap_or_else(|| panic!("{wrong}: {problems:?}"));
        assert_eq!(wrong.get(said.span.clone()), Some(word), "{wrong}: {said:?}");
    }
}

const ROLES: &str = "extends = [\"developer\"]\n[for.\"agent:reviewer\"]\nextends = [\"reviewer\"]\n\
                     [for.\"agent:deployer\"]\nextends = [\"deployer\"]\n[for.\"agent:free\"]\nextends = [\"full\"]\n";

#[test]
fn a_kind_of_agent_has_other_presets_in_place_of_the_files_own() {
    let texts = [text(Layer::User, ROLES)];
    for (command, developer, reviewer, free) in [
        ("cat README.md", Verdict::Allow, Verdict::Allow, Verdict::Allow),
        ("touch x", Verdict::Allow, Verdict::Deny, Verdict::Allow),
        ("rm x", Verdict::Allow, Verdict::Deny, Verdict::Allow),
        ("make", Verdict::Allow, Verdict::Ask, Verdict::Allow),
        ("curl https://example.org", Verdict::Ask, Verdict::Deny, Verdict::Allow),
    ] {
        assert_eq!(of_command(&texts, command, named("claude-code")), developer, "developer: {command}");
        assert_eq!(of_command(&texts, command, named("reviewer")), reviewer, "reviewer: {command}");
        // A report adds a side and takes none away: never looser than what is stated.
        assert_eq!(
            of_command(&texts, command, reporting("claude-code", "reviewer")),
            developer.max(reviewer),
            "{command}"
        );
        assert_eq!(of_command(&texts, command, reporting("claude-code", "free")), developer.max(free), "{command}");
        // Believed, it counts as if it were stated: all that is known of the agent must agree.
        let believed = [text(Layer::User, &format!("trust_roles = true\n{ROLES}"))];
        assert_eq!(of_command(&believed, command, reporting("claude-code", "free")), free, "believed: {command}");
        // What it started does no more than the agent itself.
        let below = Actor { subagent: true, parent: Some(Box::new(named("reviewer"))), ..named("free") };
        assert_eq!(of_command(&texts, command, below), reviewer.max(free), "below: {command}");
    }
}

#[test]
fn every_group_of_a_file_meets_every_group_of_the_others() {
    // What an agent reports brings one more group into the second file, which takes the place of none.
    let one = "default = \"ask\"\n[for.\"agent:x\"]\nextends = [\"developer\"]\n[for.\"agent:claude-code\"]\n\
               extends = [\"reviewer\"]\n[for.\"agent:helper\"]\nextends = [\"developer\"]\n";
    let two = "default = \"ask\"\n[for.\"agent:helper\"]\nextends = [\"developer\"]\n";
    let texts = [text(Layer::Managed, one), text(Layer::User, two)];
    let stated = Actor { product: Some("claude-code".into()), ..named("x") };
    let reported = Reported { agents: vec!["helper".into()], ..Reported::default() };
    let reporting = Actor { reported: Some(Box::new(reported)), ..stated.clone() };
    for command in ["git add a", "git commit -m x", "touch x", "make"] {
        let (silent, told) =
            (of_command(&texts, command, stated.clone()), of_command(&texts, command, reporting.clone()));
        assert!(told >= silent && silent >= Verdict::Ask, "{command}: {silent:?}, with a report {told:?}");
    }
    // Nor does the order of tables count.
    let ops = |first: &str, second: &str| format!("default = \"ask\"\n{first}{second}");
    let (a, b) = ("[for.\"agent:x\"]\nextends = [\"reviewer\"]\n", "[for.\"team:ops\"]\nextends = [\"developer\"]\n");
    let actor = Actor { team: Some("ops".into()), ..named("x") };
    let alike = [text(Layer::Managed, &ops(a, b)), text(Layer::User, &ops(a, b))];
    let turned = [text(Layer::Managed, &ops(b, a)), text(Layer::User, &ops(a, b))];
    assert_eq!(of_command(&turned, "git add a", actor.clone()), of_command(&alike, "git add a", actor));
}

#[test]
fn what_two_sides_ask_goes_to_the_people_of_both() {
    let texts = [text(
        Layer::User,
        "extends = [\"developer\"]\n[for.\"agent:x\"]\nextends = [\"developer\"]\n[for.\"team:ops\"]\nextends = \
         [\"deployer\"]\n[approvals.publishers]\nmembers = [\"boss\"]\n",
    )];
    let actor = Actor { team: Some("ops".into()), ..named("x") };
    let said = judged(&texts, call("git push", actor), &State::default());
    let codes: Vec<String> = said.reasons.iter().map(|reason| reason.code.as_str().to_owned()).collect();
    assert_eq!(said.verdict, Verdict::Ask);
    assert!(codes.contains(&"git-push".to_owned()) && codes.contains(&"publishing".to_owned()), "{codes:?}");
    assert!(said.addressees().iter().any(|to| to.as_ref().is_some_and(|to| to.name == "publishers")), "{said:?}");
}

#[test]
fn the_eighth_parent_is_a_ceiling_too() {
    let texts = [text(Layer::User, ROLES)];
    let below = |actor: Actor| Actor { subagent: true, parent: Some(Box::new(actor)), ..named("free") };
    let mut actor = named("reviewer");
    for depth in 1..=8 {
        actor = below(actor);
        assert_eq!(of_command(&texts, "touch q", actor.clone()), Verdict::Deny, "{depth}");
    }
}

#[test]
fn a_believed_report_satisfies_an_allow_and_only_then() {
    let rule = "default = \"ask\"\n[[rule]]\nid = \"a\"\nallow = { run = \"ls\" }\nwhen = { for = [\"agent:explore\", \"provider:openai/gpt-5\"] }\n";
    let model = Reported { provider: Some("openai/gpt-5".into()), ..Reported::default() };
    let by_model = Actor { reported: Some(Box::new(model)), ..named("codex") };
    for actor in [reporting("claude-code", "explore"), by_model] {
        assert_eq!(of_command(&[text(Layer::User, rule)], "ls", actor.clone()), Verdict::Ask);
        let believing = format!("trust_roles = true\n{rule}");
        assert_eq!(of_command(&[text(Layer::User, &believing)], "ls", actor.clone()), Verdict::Allow);
        // A managed file's own word reaches below it, a user's does not reach above.
        let user = text(Layer::User, rule);
        assert_eq!(
            of_command(&[text(Layer::Managed, "trust_roles = true\n"), user.clone()], "ls", actor.clone()),
            Verdict::Allow
        );
        let above = [text(Layer::Managed, rule), text(Layer::User, "trust_roles = true\n")];
        assert_eq!(of_command(&above, "ls", actor), Verdict::Ask);
    }
    // The product that is registered is known, whatever kind the owner states beside it.
    let stated: Stated = "agent:coder".parse().unwrap();
    assert_eq!(of_command(&[text(Layer::User, rule)], "ls", stated.of(named("explore"))), Verdict::Allow);
}

#[test]
fn a_reported_model_is_looked_for_in_the_list_of_models() {
    let texts =
        [text(Layer::User, "default = \"allow\"\n[allow]\nrun = [\"*\"]\n[models]\nonly = [\"anthropic/*\"]\n")];
    let model = |model: &str| {
        let reported = Reported { provider: Some(model.into()), ..Reported::default() };
        Actor { reported: Some(Box::new(reported)), ..named("codex") }
    };
    assert_eq!(of_command(&texts, "ls", model("anthropic/claude-opus-4-6")), Verdict::Allow);
    let decision = judged(&texts, call("ls", model("openai/gpt-5.4")), &State::default());
    assert_eq!((decision.verdict, decision.reasons[0].code.as_str()), (Verdict::Ask, "model-not-listed"));
}

#[test]
fn a_reviewers_build_is_held_or_asks() {
    let texts = [text(Layer::User, "extends = [\"developer\"]\n[for.\"agent:reviewer\"]\nextends = [\"reviewer\"]\n")];
    let held = State { can_hold: CanHold::Whole, ..State::default() };
    for actor in [named("reviewer"), reporting("claude-code", "reviewer")] {
        let alone = judged(&texts, call("make", actor.clone()), &State::default());
        assert_eq!((alone.verdict, alone.reasons[0].code.as_str()), (Verdict::Ask, "builds-are-held"));
        let decision = judged(&texts, call("make", actor), &held);
        assert_eq!(decision.verdict, Verdict::Allow);
        assert!(decision.hold.is_some_and(|hold| hold.decides().is_some()), "{:?}", decision.hold);
    }
}

// ---- what an agent says of itself only tightens

const WHO: [&str; 8] =
    ["agent:a", "agent:b", "provider:p", "provider:p/m", "team:t", "team:t/u", "tenant:n", "subagent"];
const COMMANDS: [&str; 5] = ["ls", "cat README.md", "make", "curl https://example.org", "touch x"];
const TOOLS: [&str; 3] = ["file_read", "gizmo", "mcp:srv/go"];
const PRESETS: [&str; 4] = ["developer", "reviewer", "full", "read-only"];

#[derive(Clone, Debug)]
struct Names {
    agent: Option<&'static str>,
    provider: Option<&'static str>,
    team: Option<&'static str>,
    member: Option<&'static str>,
    tenant: Option<&'static str>,
}

fn names() -> impl Strategy<Value = Names> {
    let of = |names: [&'static str; 2]| prop::option::of(prop::sample::select(names.to_vec()));
    (of(["a", "b"]), of(["p", "p/m"]), of(["t", "s"]), of(["u", "v"]), of(["n", "o"])).prop_map(
        |(agent, provider, team, member, tenant)| Names {
            agent,
            provider,
            team,
            member: member.filter(|_| team.is_some()),
            tenant,
        },
    )
}

fn as_actor(names: &Names) -> Actor {
    let name = |name: Option<&str>| name.map(str::to_owned);
    Actor {
        agent: name(names.agent),
        provider: name(names.provider),
        team: name(names.team),
        member: name(names.member),
        tenant: name(names.tenant),
        ..Actor::default()
    }
}

fn policy_text() -> impl Strategy<Value = String> {
    let who = || prop::sample::select(WHO.to_vec());
    let rule = (
        prop::sample::select(vec!["allow", "ask", "deny"]),
        prop::sample::select(vec!["run", "tool"]),
        prop::collection::vec(who(), 1..3),
        0..3_usize,
    )
        .prop_map(|(verdict, verb, whom, what)| {
            let pattern =
                if verb == "run" { ["ls", "{cat,make}", "*"][what] } else { ["gizmo", "mcp:srv/*", "*"][what] };
            format!("[[rule]]\n{verdict} = {{ {verb} = {pattern:?} }}\nwhen = {{ for = {whom:?} }}\n")
        });
    let layer =
        (0..7_usize, prop::sample::select(vec!["only", "hide", "also"]), 0..3_usize).prop_map(|(whom, key, what)| {
            let whom = ["agent:a", "agent:b", "provider:p", "provider:p/m", "team:t", "team:t/u", "subagent"][whom];
            (whom, format!("[tools.for.{whom:?}]\n{key} = [{:?}]\n", ["gizmo", "bash_execute", "mcp:srv/*"][what]))
        });
    let role = (0..8_usize, prop::sample::select(PRESETS.to_vec()))
        .prop_map(|(whom, preset)| (WHO[whom], format!("[for.{:?}]\nextends = [{preset:?}]\n", WHO[whom])));
    let models =
        (prop::option::of(who()), prop::sample::select(vec!["p/*", "p/m", "q/*"])).prop_map(
            |(whom, only)| match whom {
                Some(whom) => format!("[models.for.{whom:?}]\nonly = [{only:?}]\n"),
                None => format!("[models]\nonly = [{only:?}]\n"),
            },
        );
    let once = |found: Vec<(&'static str, String)>| {
        let mut seen = std::collections::BTreeSet::new();
        found.into_iter().filter(|(whom, _)| seen.insert(*whom)).map(|(_, text)| text).collect::<String>()
    };
    (
        prop::sample::select(PRESETS.to_vec()),
        prop::sample::select(vec!["ask", "allow", "deny"]),
        prop::option::of(prop::sample::select(vec!["[actor]\nteam = \"t\"\n", "[actor]\ntenant = \"n\"\n"])),
        prop::collection::vec(rule, 0..5),
        prop::collection::vec(layer, 0..4).prop_map(once),
        prop::collection::vec(role, 0..4).prop_map(once),
        prop::option::of(models),
    )
        .prop_map(|(preset, default, actor, rules, layers, roles, models)| {
            let (actor, models) = (actor.unwrap_or_default(), models.unwrap_or_default());
            format!("extends = [{preset:?}]\ndefault = {default:?}\n{actor}{layers}{roles}{models}{}", rules.concat())
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    /// Whatever an agent says of its kind, its model, its team: no decision becomes looser, no tool appears.
    #[test]
    fn a_claimed_role_never_satisfies_an_allow_nor_loosens_a_decision(
        policy in policy_text(),
        stated in names(),
        said in names(),
        subagent in any::<bool>(),
        without_token in any::<bool>(),
        managed in any::<bool>(),
        what in 0..COMMANDS.len() + TOOLS.len(),
        holds in any::<bool>(),
    ) {
        let texts = [text(if managed { Layer::Managed } else { Layer::User }, &policy)];
        let policy = Both::new(compiled(&texts));
        let plain = compiled(&texts);
        let call_of = |actor: Actor| match COMMANDS.get(what) {
            Some(command) => call(command, actor),
            None => ToolCall {
                request: ToolCall::tool(TOOLS[what - COMMANDS.len()], json!({})).request,
                ..call("", actor)
            },
        };
        let silent = Actor { subagent, ..as_actor(&stated) };
        // In a report, or as the word of a caller who proves nothing.
        let (silent, speaking) = if without_token {
            (anonymous(Actor { subagent, ..Actor::default() }), anonymous(Actor { subagent, ..as_actor(&said) }))
        } else {
            let said = as_actor(&said);
            let reported = Reported {
                agents: said.agent.into_iter().collect(),
                provider: said.provider,
                team: said.team,
                member: said.member,
                tenant: said.tenant,
            };
            (silent.clone(), Actor { reported: Some(Box::new(reported)), ..silent })
        };
        let files = files();
        let facts = Facts { files: &files, env: &NoEnvironment };
        let state = State { can_hold: if holds { CanHold::Whole } else { CanHold::No }, ..State::default() };
        let judge = |actor: Actor| policy.evaluate(&plain.operation(call_of(actor), facts), &state, facts);
        let (without, with) = (judge(silent.clone()), judge(speaking.clone()));
        prop_assert!(with.verdict >= without.verdict, "{:?} became {:?}: {:?}", without.verdict, with.verdict, with.reasons);
        if with.verdict == Verdict::Allow && without.hold.is_some_and(|hold| hold.decides().is_some()) {
            prop_assert!(with.hold.is_some_and(|hold| hold.decides().is_some()), "it needs no hold any more");
        }
        for tool in TOOLS {
            let name = &plain.operation(ToolCall::tool(tool, json!({})), facts).tool;
            let (hidden, still) = (plain.hides(name, &silent).is_some(), plain.hides(name, &speaking).is_some());
            prop_assert!(!hidden || still, "{tool} appeared");
        }
    }
}
