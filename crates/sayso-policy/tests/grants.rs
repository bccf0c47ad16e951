//! Remembered answers: what they answer, and above all what they do not.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::allow_attributes,
    reason = "a failed unwrap is a failed test"
)]

use sayso_policy::shell::{MemoryFiles, NoEnvironment, Verb};
use sayso_policy::{
    Actor, Code, Decision, Executable, Facts, Grant, GrantKeys, GrantSelector, Layer, Operation, Person, Policy,
    PolicyText, Stage, State, ToolCall, ToolFinding, Verdict, Workspace,
};

const SITE: &str = "site";

fn policy(text: &str) -> Policy {
    let file = PolicyText { layer: Layer::User, name: "p.toml".into(), text: text.into(), trusted: true };
    Policy::compile(&[file]).unwrap()
}

fn by_pattern(verb: Verb, pattern: &str) -> Grant {
    Grant {
        id: "g1".to_owned(),
        selector: GrantSelector::Pattern { verb, pattern: pattern.to_owned(), program: None },
        workspace: Some(SITE.to_owned()),
        session: None,
        uses_left: None,
        expires_ms: None,
        givers: vec![Person::named("ann")],
        verdict: Verdict::Allow,
        actor: Actor::default(),
        plan: None,
    }
}

fn exactly() -> Grant {
    Grant { selector: GrantSelector::Digest("this".to_owned()), ..by_pattern(Verb::Run, "unused") }
}

fn decide(policy: &Policy, command: &str, grants: Vec<Grant>) -> Decision {
    decide_as(policy, command, Actor::default(), State { grants, ..State::default() })
}

fn decide_as(policy: &Policy, command: &str, actor: Actor, state: State) -> Decision {
    let mut files = MemoryFiles::new();
    files.file("/w/a.txt", b"");
    let facts = Facts { files: &files, env: &NoEnvironment };
    let mut call = ToolCall::command(command);
    call.actor = actor;
    call.cwd = Some("/w".into());
    call.workspace = Workspace::new("/w", None);
    call.home = Some("/home/u".into());
    let state = State { digest: Some("this".to_owned()), workspace: Some(SITE.to_owned()), ..state };
    let operation = Operation::new(call, facts);
    let decision = policy.evaluate(&operation, &state, facts);
    // Whatever answers it is found by its key too.
    let keys = GrantKeys::of(&operation, state.digest.as_deref());
    let wanted = |grant: &Grant| {
        let key = grant.selector.key(grant.verdict);
        keys.exact.contains(&key) || keys.beginning.iter().any(|beginning| key.starts_with(beginning))
    };
    let found = State { grants: state.grants.iter().filter(|grant| wanted(grant)).cloned().collect(), ..state };
    assert_eq!(policy.evaluate(&operation, &found, facts), decision, "{command}");
    decision
}

const ASKS: &str = "default = \"ask\"\n[ask]\nrun = [\"git push\"]\n";

#[test]
fn a_grant_answers_its_own_ask_and_says_which_it_was() {
    let decision =
        decide(&policy(ASKS), "git push", vec![by_pattern(Verb::Run, "git push"), by_pattern(Verb::Connect, "x")]);
    let run = decision.effects.iter().find(|effect| effect.effect == Some(0)).unwrap();
    assert_eq!(run.verdict, Verdict::Allow, "{decision:#?}");
    assert_eq!(decision.granted().next(), Some((Some(0), "g1")));
}

#[test]
fn an_exact_grant_answers_every_ask_of_its_call() {
    let decision = decide(&policy(ASKS), "git push origin main && curl https://example.org", vec![exactly()]);
    assert_eq!(decision.verdict, Verdict::Allow, "{:#?}", decision.reasons);
}

/// The verdict on the first effect.
fn first(policy: &Policy, command: &str, grant: Grant) -> Verdict {
    let decision = decide(policy, command, vec![grant]);
    decision.effects.iter().find(|effect| effect.effect == Some(0)).unwrap().verdict
}

#[test]
fn shells_interpreters_and_wrappers_are_never_granted_by_name() {
    let policy = policy("default = \"ask\"\n");
    for (command, pattern) in [
        ("bash -c 'rm -rf x'", "bash"),
        ("python3 x.py", "python3"),
        ("python3 x.py", "python3 x.py"),
        ("node x.js", "node"),
        ("sudo ls", "sudo"),
        ("sudo ls", "sudo ls"),
        ("ssh host ls", "ssh"),
        ("npx thing", "npx"),
        ("awk '{print}' f", "awk"),
    ] {
        let decision = decide(&policy, command, vec![by_pattern(Verb::Run, pattern)]);
        assert_ne!(decision.verdict, Verdict::Allow, "{command} by {pattern}: {decision:#?}");
    }
    // What is not a shell, but starts a program all the same.
    assert_ne!(decide(&policy, "find . -exec rm {} +", vec![by_pattern(Verb::Run, "find")]).verdict, Verdict::Allow);
}

#[test]
fn a_grant_by_pattern_does_not_answer_what_a_deny_may_mean() {
    let policy = policy("default = \"ask\"\n[ask]\nrun = [\"git push\"]\n[deny]\nrun = [\"git push --force\"]\n");
    assert_eq!(first(&policy, "git push origin main", by_pattern(Verb::Run, "git push")), Verdict::Allow);
    assert_eq!(first(&policy, "git push $F", by_pattern(Verb::Run, "git push")), Verdict::Ask);
    assert_eq!(first(&policy, "git push --force", by_pattern(Verb::Run, "git push")), Verdict::Deny);
    assert_eq!(first(&policy, "git push --force", exactly()), Verdict::Deny);
}

#[test]
fn an_ask_that_says_always_is_never_answered_by_a_grant() {
    let policy = policy("default = \"ask\"\n[[rule]]\nid = \"a\"\nask = { run = \"git push\" }\nalways = true\n");
    assert_eq!(first(&policy, "git push", exactly()), Verdict::Ask);
}

#[test]
fn limits_are_never_answered_by_a_grant() {
    let policy = policy("default = \"ask\"\n[limits.session]\ncalls = 1\nat_limit = \"ask\"\n");
    let usage = sayso_policy::Usage { calls: 1, ..Default::default() };
    let mut state = State { grants: vec![exactly()], ..State::default() };
    assert_eq!(decide_as(&policy, "ls", Actor::default(), state.clone()).verdict, Verdict::Allow);
    state.usage.insert(sayso_policy::Scope::Session, usage);
    assert_eq!(decide_as(&policy, "ls", Actor::default(), state).verdict, Verdict::Ask);
}

#[test]
fn what_was_found_of_a_tool_only_tightens_and_is_never_answered_by_a_grant() {
    let finding = |verdict, code: Code| ToolFinding { verdict, code: code.into(), text: "Found.".to_owned() };
    let found = |text: &str, findings: Vec<ToolFinding>| {
        let state = State { grants: vec![exactly(), by_pattern(Verb::Run, "ls")], findings, ..State::default() };
        decide_as(&policy(text), "ls", Actor::default(), state)
    };
    for text in ["default = \"allow\"\n", "default = \"ask\"\n", "[mode]\nrun = \"off\"\n"] {
        assert_eq!(found(text, Vec::new()).verdict, Verdict::Allow, "{text}");
        assert_eq!(found(text, vec![finding(Verdict::Allow, Code::McpNewTool)]).verdict, Verdict::Allow, "{text}");
        for (verdict, code) in [(Verdict::Ask, Code::McpChangedTool), (Verdict::Deny, Code::McpArguments)] {
            let decision = found(text, vec![finding(verdict, code)]);
            assert_eq!(
                (decision.verdict, decision.reasons[0].code.built_in()),
                (verdict, Some(code)),
                "{text}: {decision:#?}"
            );
            let opinion = decision.effects.iter().flat_map(|effect| &effect.opinions).find(|it| it.reason.code == code);
            assert_eq!(opinion.unwrap().stage, Stage::Tools);
            assert!(!decision.denied_by_rule(), "wrong arguments are no blocked call");
        }
    }
    // A grant for this call, given before, does not make a deny of it milder either.
    assert_eq!(found("[deny]\nrun = [\"ls\"]\n", vec![finding(Verdict::Ask, Code::McpNewTool)]).verdict, Verdict::Deny);
}

#[test]
fn an_exact_grant_answers_an_ask_about_parameters() {
    let policy = policy("default = \"ask\"\n[patterns.bash_execute]\nask = [\"prod\"]\n");
    assert_eq!(decide(&policy, "echo prod", vec![exactly()]).verdict, Verdict::Allow);
    assert_eq!(decide(&policy, "echo prod", vec![by_pattern(Verb::Run, "echo")]).verdict, Verdict::Ask);
}

#[test]
fn only_those_whom_the_rules_own_file_names_can_answer() {
    let text = "default = \"ask\"\n[approvals.leads]\nmembers = [\"bob\", \"sso:leads\"]\nneed = 2\n\
                [[rule]]\nid = \"p\"\nask = { run = \"git push\" }\napprover = \"leads\"\n";
    let hostile =
        "[approvals.leads]\nmembers = [\"ann\"]\n[[rule]]\nid = \"q\"\nask = { run = \"x\" }\napprover = \"leads\"\n";
    let texts = [(Layer::User, text, true), (Layer::Project, hostile, false)]
        .map(|(layer, text, trusted)| PolicyText { layer, name: "p".into(), text: text.into(), trusted });
    let policy = Policy::compile(&texts).unwrap();
    let bob = Person::named("bob");
    let eve = Person { groups: vec!["sso:leads".into()], ..Person::named("eve") };
    for (givers, verdict) in [
        (vec![Person::named("ann")], Verdict::Ask),
        (vec![bob.clone()], Verdict::Ask),
        (vec![bob.clone(), bob.clone()], Verdict::Ask),
        (vec![bob, eve], Verdict::Allow),
    ] {
        let grant = Grant { givers, ..exactly() };
        assert_eq!(first(&policy, "git push", grant.clone()), verdict, "{:?}", grant.givers);
    }
}

#[test]
fn sessions_workspaces_agents_uses_and_time_bound_a_grant() {
    let policy = policy(ASKS);
    let one = Actor { session: Some("one".into()), agent: Some("coder".into()), ..Actor::default() };
    let bound = Grant {
        session: Some("one".into()),
        actor: one.clone(),
        expires_ms: Some(10),
        uses_left: Some(1),
        ..exactly()
    };
    let verdict = |grant: &Grant, actor: &Actor, now_ms| {
        let state = State { grants: vec![grant.clone()], now_ms, ..State::default() };
        decide_as(&policy, "git push", actor.clone(), state).verdict
    };
    assert_eq!(verdict(&bound, &one, 9), Verdict::Allow);
    assert_eq!(verdict(&bound, &one, 10), Verdict::Ask);
    assert_eq!(verdict(&bound, &Actor { session: Some("two".into()), ..one.clone() }, 9), Verdict::Ask);
    assert_eq!(verdict(&bound, &Actor { session: None, ..one.clone() }, 9), Verdict::Ask);
    assert_eq!(verdict(&bound, &Actor { agent: Some("other".into()), ..one.clone() }, 9), Verdict::Ask);
    assert_eq!(verdict(&Grant { uses_left: Some(0), ..bound.clone() }, &one, 9), Verdict::Ask);
    assert_eq!(verdict(&Grant { workspace: Some("else".into()), ..bound.clone() }, &one, 9), Verdict::Ask);
    assert_eq!(verdict(&Grant { givers: Vec::new(), ..bound }, &one, 9), Verdict::Ask);
}

#[test]
fn a_yes_to_a_program_counts_where_the_program_starts_inside_the_workspace() {
    let policy = policy("default = \"ask\"\n[allow]\nrun = [\"cd\", \"pushd\", \"env\"]\n");
    let mut files = MemoryFiles::new();
    for folder in ["/w/sub", "/evil"] {
        files.file(format!("{folder}/Makefile"), b"");
    }
    files.link("/w/out", "/evil");
    let facts = Facts { files: &files, env: &NoEnvironment };
    let verdict = |command: &str, cwd: Option<&str>, root: &str, grant: Grant| {
        let mut call = ToolCall::command(command);
        call.cwd = cwd.map(Into::into);
        call.workspace = Workspace::new(root, Some(std::path::Path::new("/home/u")));
        let state = State { workspace: Some(SITE.to_owned()), grants: vec![grant], ..State::default() };
        policy.evaluate(&Operation::new(call, facts), &state, facts).verdict
    };
    let yes = || by_pattern(Verb::Run, "deploytool");
    for (command, cwd, expected) in [
        ("deploytool y", Some("/w"), Verdict::Allow),
        ("deploytool y", Some("/w/sub"), Verdict::Allow),
        ("cd sub && deploytool y", Some("/w"), Verdict::Allow),
        ("deploytool y", Some("/evil"), Verdict::Ask),
        ("deploytool y", Some("/w/out"), Verdict::Ask),
        ("deploytool y", None, Verdict::Ask),
        ("cd ../evil && deploytool y", Some("/w"), Verdict::Ask),
        ("cd out && deploytool y", Some("/w"), Verdict::Ask),
        ("cd \"$X\" && deploytool y", Some("/w"), Verdict::Ask),
        ("(cd /evil; deploytool y)", Some("/w"), Verdict::Ask),
        ("pushd /evil; deploytool y", Some("/w"), Verdict::Ask),
        ("env -C /evil deploytool y", Some("/w"), Verdict::Ask),
    ] {
        assert_eq!(verdict(command, cwd, "/w", yes()), expected, "{command} in {cwd:?}");
    }
    // A home folder is no workspace to be inside of; a remembered no counts wherever the session goes.
    assert_eq!(verdict("deploytool y", Some("/home/u"), "/home/u", yes()), Verdict::Ask);
    let no = Grant { verdict: Verdict::Deny, ..yes() };
    assert_eq!(verdict("deploytool y", Some("/evil"), "/w", no), Verdict::Deny);
}

#[test]
fn a_yes_without_a_tenant_is_none_to_a_tenant() {
    let policy = policy(ASKS);
    let tenant = |name: Option<&str>| Actor { tenant: name.map(str::to_owned), ..Actor::default() };
    let verdict = |given: Option<&str>, used: Option<&str>, verdict| {
        let grant = Grant { actor: tenant(given), verdict, ..exactly() };
        let state = State { grants: vec![grant], ..State::default() };
        decide_as(&policy, "git push", tenant(used), state).verdict
    };
    for (given, used, expected) in [
        (None, None, Verdict::Allow),
        (Some("a"), Some("a"), Verdict::Allow),
        (None, Some("a"), Verdict::Ask),
        (Some("a"), None, Verdict::Ask),
        (Some("a"), Some("b"), Verdict::Ask),
    ] {
        assert_eq!(verdict(given, used, Verdict::Allow), expected, "{given:?} {used:?}");
    }
    assert_eq!(verdict(None, Some("a"), Verdict::Deny), Verdict::Deny);
}

#[test]
fn a_remembered_no_turns_an_ask_into_a_denial_and_beats_a_yes() {
    let policy = policy(&format!("{ASKS}[allow]\nrun = [\"ls\"]\n"));
    let no = Grant { verdict: Verdict::Deny, id: "no".into(), ..exactly() };
    let decision = decide(&policy, "git push", vec![exactly(), no.clone()]);
    assert_eq!(decision.verdict, Verdict::Deny);
    assert_eq!(decision.reasons[0].code.as_str(), "refused-before");
    assert!(decision.denied_by_rule());
    let no_push = Grant { verdict: Verdict::Deny, ..by_pattern(Verb::Run, "git push") };
    assert_eq!(decide(&policy, "git push -f", vec![no_push.clone()]).verdict, Verdict::Deny);
    // It answers questions; what a rule allows is not asked.
    assert_eq!(decide(&policy, "ls", vec![no]).verdict, Verdict::Allow);
    assert_eq!(decide(&policy, "git status", vec![no_push]).verdict, Verdict::Ask);
}

#[test]
fn a_wide_path_does_not_reach_what_is_guarded() {
    let policy = policy("default = \"ask\"\n[allow]\nrun = [\"tee\"]\n");
    let write = by_pattern(Verb::Write, "./**");
    let on =
        |path: &str| decide(&policy, &format!("echo x > {path}"), vec![write.clone(), by_pattern(Verb::Run, "echo")]);
    assert_eq!(on("a.txt").verdict, Verdict::Allow, "{:#?}", on("a.txt"));
    for guarded in [".git/hooks/pre-commit", ".env", "../x", ".envrc"] {
        assert_eq!(on(guarded).verdict, Verdict::Ask, "{guarded}");
    }
}

/// What a PATH of these folders says.
struct OnPath;

impl sayso_policy::shell::Environment for OnPath {
    fn get(&self, name: &str) -> Option<String> {
        (name == "PATH").then(|| "/home/u/bin:/usr/bin".to_owned())
    }
}

#[test]
fn a_yes_to_a_program_follows_its_file_where_its_user_could_change_it() {
    let policy = policy("default = \"ask\"\n");
    let verdict = |given: &MemoryFiles, now: &MemoryFiles| {
        let operation = |files: &MemoryFiles| {
            let facts = Facts { files, env: &OnPath };
            let mut call = ToolCall::command("frob x");
            call.cwd = Some("/w".into());
            call.workspace = Workspace::new("/w", None);
            Operation::new(call, facts)
        };
        let run = operation(given).analysis.unwrap().runs.remove(0);
        let mut grant = by_pattern(Verb::Run, "frob");
        grant.selector = GrantSelector::Pattern {
            verb: Verb::Run,
            pattern: "frob".into(),
            program: Some(Executable::of(&run, given)),
        };
        let state = State { grants: vec![grant], workspace: Some(SITE.to_owned()), ..State::default() };
        let facts = Facts { files: now, env: &OnPath };
        policy.evaluate(&operation(now), &state, facts).verdict
    };
    let machine = |system: Option<&[u8]>, own: Option<&[u8]>| {
        let mut files = MemoryFiles::new();
        files.folder("/w").folder("/home/u/bin").folder("/usr/bin");
        if let Some(content) = system {
            files.program("/usr/bin/frob", content);
        }
        if let Some(content) = own {
            files.program("/home/u/bin/frob", content);
        }
        files
    };
    let system = machine(Some(b"1"), None);
    assert_eq!(verdict(&system, &system), Verdict::Allow);
    assert_eq!(verdict(&system, &machine(Some(b"2"), None)), Verdict::Allow, "a package was brought up to date");
    assert_eq!(verdict(&system, &machine(Some(b"1"), Some(b"1"))), Verdict::Ask, "another comes first");
    let own = machine(None, Some(b"1"));
    assert_eq!(verdict(&own, &own), Verdict::Allow);
    assert_eq!(verdict(&own, &machine(None, Some(b"2"))), Verdict::Ask, "it was written over");
    let none = machine(None, None);
    assert_eq!(verdict(&none, &none), Verdict::Allow);
    assert_eq!(verdict(&none, &own), Verdict::Ask, "it was not there");
}

#[test]
fn a_yes_to_calling_a_tool_counts_only_where_nobody_knows_what_the_tool_does() {
    let policy = policy("default = \"allow\"\n[ask]\ntool = [\"bash_execute\", \"mcp:x/y\"]\n");
    let judge = |call: ToolCall| {
        let files = MemoryFiles::new();
        let facts = Facts { files: &files, env: &NoEnvironment };
        let grants = vec![by_pattern(Verb::Call, "bash_execute"), by_pattern(Verb::Call, "mcp:x/y")];
        let state = State { grants, workspace: Some(SITE.to_owned()), ..State::default() };
        policy.evaluate(&Operation::new(call, facts), &state, facts).verdict
    };
    let arguments = serde_json::json!({ "command": "make" });
    assert_eq!(judge(ToolCall::tool("bash_execute", arguments)), Verdict::Ask);
    assert_eq!(judge(ToolCall::tool("mcp__x__y", serde_json::json!({ "n": 1 }))), Verdict::Allow);
}
