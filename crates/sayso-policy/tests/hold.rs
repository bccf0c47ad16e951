//! What a hold lifts, and what it does not: `cases/hold.txt`, and how files and ways in agree.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed unwrap is a failed test")]

mod imaged;
mod machine;

use imaged::Both;
use machine::{Machine, command_in_app};
use sayso_policy::shell::bounds::Need;
use sayso_policy::shell::dialect::{InShell, Shells};
use sayso_policy::shell::{Files, Kind};
use sayso_policy::{
    Answer, CanHold, Decision, Facts, Grant, GrantSelector, Holding, Layer, Operation, Person, Policy, PolicyText,
    State, ToolCall, Verdict,
};
use std::ffi::OsString;
use std::path::Path;

const MACHINE: Machine = Machine(&["/app/sub", "/app/src"]);

fn file(layer: Layer, text: &str, trusted: bool) -> PolicyText {
    PolicyText { layer, name: "p.toml".into(), text: text.into(), trusted }
}

fn policy(files: &[PolicyText]) -> Both {
    Both::new(Policy::compile(files).unwrap_or_else(|problems| panic!("{problems:#?}")))
}

fn judge_call(policy: &Both, call: ToolCall, state: &State) -> Decision {
    let env = InShell { env: MACHINE, shells: Shells::named("bash").unwrap() };
    let facts = Facts { files: &MACHINE, env: &env };
    policy.evaluate(&Operation::new(call, facts), state, facts)
}

fn judge(policy: &Both, command: &str, can_hold: CanHold) -> Decision {
    judge_call(policy, command_in_app(command), &State { can_hold, ..State::default() })
}

/// What the cases call a decision.
fn word(decision: &Decision) -> String {
    match (decision.answer, decision.hold) {
        (Answer::Allow, Some(Holding::Required(_))) => "held".to_owned(),
        (Answer::Allow, Some(Holding::Wanted(_))) => "wanted".to_owned(),
        (answer, Some(Holding::Wanted(_))) => format!("{}, wanted", answer.as_str()),
        (answer, None) => answer.as_str().to_owned(),
        (answer, Some(hold)) => format!("{} {}", answer.as_str(), hold.as_str()),
    }
}

#[test]
fn the_preset_developer_holds_what_nobody_can_see_through() {
    let policy = policy(&[PolicyText::preset("developer")]);
    let mut wrong = String::new();
    for line in include_str!("cases/hold.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (expected, command) = line.split_once("  ").unwrap();
        let command = command.trim();
        let decision = judge(&policy, command, CanHold::Whole);
        let said = word(&decision);
        if said != expected {
            let why: Vec<String> = decision.reasons.iter().map(|reason| reason.code.to_string()).collect();
            wrong += &format!("{expected:10} but {said}: {command}   {why:?}\n");
        }
        // Where nothing can be held, what is held asks, and says what would answer it; all else stays as it is.
        for can_hold in [CanHold::No, CanHold::Files] {
            let weak = judge(&policy, command, can_hold);
            let expected = if said == "held" { "ask would-allow-whole" } else { said.as_str() };
            if word(&weak) != expected {
                wrong += &format!("{expected:10} unheld, but {}: {command}\n", word(&weak));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// A repository at `/app` whose settings name a folder of hooks in it.
struct Repository;

impl Files for Repository {
    fn kind(&self, path: &Path) -> Kind {
        match path.to_str() {
            Some("/app/.git" | "/app/tools" | "/app/tools/hooks") => Kind::Folder { world_writable: false },
            Some("/app/.git/config" | "/app/.git/HEAD" | "/app/tools/hooks/pre-commit") => {
                Kind::File { executable: true }
            }
            _ => MACHINE.kind(path),
        }
    }
    fn list(&self, folder: &Path, limit: usize) -> Option<Vec<OsString>> {
        match folder.to_str() {
            Some("/app/tools/hooks") => Some(vec!["pre-commit".into()]),
            _ => MACHINE.list(folder, limit),
        }
    }
    fn read(&self, path: &Path, _: usize) -> Option<Vec<u8>> {
        path.ends_with(".git/config").then(|| b"[core]\n\thooksPath = tools/hooks\n".to_vec())
    }
    fn identity(&self, _: &Path) -> Option<(u64, u64)> {
        None
    }
    fn stamp(&self, _: &Path) -> Option<String> {
        None
    }
    fn changeable(&self, _: &Path) -> bool {
        true
    }
}

#[test]
fn git_is_held_where_it_starts_hooks_or_goes_by_what_the_session_wrote() {
    let policy = policy(&[PolicyText::preset("developer")]);
    let env = InShell { env: MACHINE, shells: Shells::named("bash").unwrap() };
    let facts = Facts { files: &Repository, env: &env };
    let said = |command: &str| {
        let state = State { can_hold: CanHold::Whole, ..State::default() };
        word(&policy.evaluate(&Operation::new(command_in_app(command), facts), &state, facts))
    };
    // It has a hook, which changes of the repository start.
    for command in ["git commit -m x", "git -C sub switch other", "cd sub && git merge topic", "git stash"] {
        assert_eq!(said(command), "wanted", "{command}");
    }
    for command in ["git status", "git log -1", "git -C sub diff", "git stash list", "echo x > notes.txt && git show"] {
        assert_eq!(said(command), "allow", "{command}");
    }
    assert_eq!(said("cp a tools/hooks/pre-commit && git status"), "wanted");
    // Without hooks git starts nothing.
    assert_eq!(word(&judge(&policy, "git commit -m x", CanHold::Whole)), "allow");
}

const HELD: &str = "default = 'ask'\n[allow]\nread = './**'\n[hold]\nrun = '@scripts'\n";

#[test]
fn an_ask_of_one_file_is_lifted_by_that_file_alone() {
    let held = file(Layer::User, HELD, true);
    let command = "./x.sh";
    let of = |files: &[PolicyText]| word(&judge(&policy(files), command, CanHold::Whole));
    assert_eq!(of(std::slice::from_ref(&held)), "held");
    // Another file asks by its own default and says nothing of holds.
    assert_eq!(of(&[file(Layer::Managed, "default = 'ask'", true), held.clone()]), "ask");
    assert_eq!(of(&[file(Layer::Managed, "[deny]\nrun = 'sudo'", true), held.clone()]), "held");
    assert_eq!(of(&[file(Layer::Managed, HELD, true), held.clone()]), "held");
    // A rule of any file.
    assert_eq!(of(&[file(Layer::Project, "[ask]\nrun = '*'", true), held.clone()]), "ask");
    assert_eq!(of(&[file(Layer::Project, "[deny]\nrun = '*'", true), held.clone()]), "deny");
    // What came with a repository lifts nothing, its own asks included, and can make a hold stricter.
    assert_eq!(of(&[file(Layer::Project, HELD, false)]), "ask");
    assert_eq!(of(&[file(Layer::Project, HELD, false), held.clone()]), "ask");
    let files = "[hold]\nrun = '@scripts'\nneed = 'files'\n";
    let whole = file(Layer::Project, "[hold]\nneed = 'whole'", false);
    let loose = file(Layer::User, files, true);
    let only = policy(std::slice::from_ref(&loose));
    assert_eq!(judge(&only, command, CanHold::Files).hold, Some(Holding::Required(Need::Files)));
    let both = policy(&[loose, whole]);
    assert_eq!(judge(&both, command, CanHold::Files).hold, Some(Holding::WouldAllow(Need::Whole)));
    assert_eq!(judge(&both, command, CanHold::Whole).hold, Some(Holding::Required(Need::Whole)));
}

#[test]
fn a_rule_is_lifted_only_if_it_says_so() {
    let rule = |more: &str| {
        let text = format!("[allow]\nrun = 'ls'\n[hold]\nneed = 'files'\n[[rule]]\nask = {{ run = 'make' }}\n{more}\n");
        policy(&[file(Layer::User, &text, true)])
    };
    assert_eq!(word(&judge(&rule(""), "make", CanHold::Whole)), "ask");
    assert_eq!(word(&judge(&rule("held = 'allow'"), "make", CanHold::Whole)), "held");
    assert_eq!(word(&judge(&rule("held = 'allow'"), "make", CanHold::No)), "ask would-allow-files");
    assert_eq!(word(&judge(&rule("held = 'allow'\nalways = true"), "make", CanHold::Whole)), "ask");
    assert_eq!(word(&judge(&rule("held = 'allow'"), "make; unknown-thing", CanHold::Whole)), "ask");
    // Without a section nothing is held.
    let bare = policy(&[file(Layer::User, "[[rule]]\nask = { run = 'make' }\nheld = 'allow'", true)]);
    assert_eq!(word(&judge(&bare, "make", CanHold::Whole)), "ask");
    // The rule of a file that nobody trusts is an ask.
    let theirs =
        file(Layer::Project, "[hold]\nneed = 'files'\n[[rule]]\nask = { run = 'make' }\nheld = 'allow'", false);
    let mine = file(Layer::User, "[allow]\nrun = 'make'", true);
    assert_eq!(word(&judge(&policy(&[theirs, mine]), "make", CanHold::Whole)), "ask");
}

#[test]
fn a_file_that_extends_a_preset_may_change_its_hold_or_switch_it_off() {
    let with = |text: &str| policy(&[file(Layer::User, &format!("extends = ['developer']\n{text}"), true)]);
    assert_eq!(word(&judge(&with(""), "python3 x.py", CanHold::Whole)), "held");
    assert_eq!(word(&judge(&with("disable = 'hold'"), "python3 x.py", CanHold::Whole)), "ask");
    assert_eq!(word(&judge(&with("disable = 'hold'"), "make", CanHold::Whole)), "allow");
    let only = with("[hold]\nrun = ['@scripts', '!python3']\nalways = false");
    assert_eq!(word(&judge(&only, "python3 x.py", CanHold::Whole)), "ask");
    assert_eq!(word(&judge(&only, "./x.sh", CanHold::Whole)), "held");
    assert_eq!(word(&judge(&only, "make", CanHold::Whole)), "allow");
    let hosts = with("[hold]\nconnect = 'example.org'\n[allow]\nrun = 'curl'");
    assert_eq!(word(&judge(&hosts, "curl https://example.org/ && python3 x.py", CanHold::Whole)), "held");
    assert_eq!(word(&judge(&hosts, "curl https://example.com/ && python3 x.py", CanHold::Whole)), "ask");
    let narrow = with("[hold]\nwrite = './target/**'");
    assert_eq!(word(&judge(&narrow, "python3 x.py > target/log", CanHold::Whole)), "held");
    assert_eq!(word(&judge(&narrow, "python3 x.py > log", CanHold::Whole)), "ask");
}

#[test]
fn only_a_command_for_a_shell_can_be_held() {
    let policy = policy(&[PolicyText::preset("developer")]);
    let state = State { can_hold: CanHold::Whole, ..State::default() };
    let call = |tool: &str| {
        let command = command_in_app("");
        ToolCall { request: ToolCall::tool(tool, serde_json::json!({"command": "python3 x.py"})).request, ..command }
    };
    assert_eq!(word(&judge_call(&policy, call("Bash"), &state)), "held");
    assert_eq!(judge_call(&policy, call("mcp:host/bash"), &state).hold, None);
    assert_ne!(judge_call(&policy, call("mcp:host/bash"), &state).answer, Answer::Allow);
}

#[test]
fn answers_count_beside_a_hold_and_refusals_before_it() {
    let policy = policy(&[PolicyText::preset("developer")]);
    let grant = |pattern: &str, verdict: Verdict| Grant {
        id: "g".into(),
        selector: GrantSelector::pattern(sayso_policy::shell::Verb::Run, pattern).unwrap(),
        workspace: None,
        session: None,
        uses_left: None,
        expires_ms: None,
        givers: vec![Person::named("alice")],
        verdict,
        actor: sayso_policy::Actor::default(),
        plan: None,
    };
    let with = |grants: Vec<Grant>, command: &str| {
        word(&judge_call(
            &policy,
            command_in_app(command),
            &State { can_hold: CanHold::Whole, grants, ..State::default() },
        ))
    };
    let push = || vec![grant("git push", Verdict::Allow)];
    assert_eq!(with(Vec::new(), "git stash drop && python3 x.py"), "ask, wanted");
    assert_eq!(with(vec![grant("git stash drop", Verdict::Allow)], "git stash drop && python3 x.py"), "held");
    // A push goes to a host that no hold lets a run reach.
    assert_eq!(with(push(), "git push && python3 x.py"), "ask");
    assert_eq!(with(vec![grant("frobnicate", Verdict::Deny)], "frobnicate"), "deny");
}

#[test]
fn limits_modes_and_findings_are_not_lifted() {
    let limited = format!("{HELD}[limits.session]\ncalls = 1\nat_limit = 'ask'");
    let limited = policy(&[file(Layer::User, &limited, true)]);
    let mut state = State { can_hold: CanHold::Whole, ..State::default() };
    state.usage.insert(sayso_policy::Scope::Session, sayso_policy::Usage { calls: 1, ..Default::default() });
    assert_eq!(judge_call(&limited, command_in_app("./x.sh"), &state).answer, Answer::Ask);
    assert_eq!(judge_call(&limited, command_in_app("./x.sh"), &state).hold, None);
    let halted = policy(&[file(Layer::User, &format!("{HELD}[mode]\nrun = 'halt'"), true)]);
    assert_eq!(word(&judge(&halted, "./x.sh", CanHold::Whole)), "deny");
    let rehearsed = policy(&[file(Layer::User, &format!("{HELD}[mode]\nrun = 'dry-run'"), true)]);
    assert_eq!(word(&judge(&rehearsed, "./x.sh", CanHold::Whole)), "dry-run");
    let watched = policy(&[file(Layer::User, &format!("{HELD}[patterns]\nbash_execute = {{ ask = 'x.sh' }}"), true)]);
    assert_eq!(word(&judge(&watched, "./x.sh", CanHold::Whole)), "ask");
}
