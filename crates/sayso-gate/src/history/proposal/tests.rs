//! Proposals, by what they are made from.

use super::need::{folder, reaches, runs_what_follows};
use super::*;
use crate::Home;
use crate::history::Outcome;
use sayso_policy::{GrantSelector, ToolCall, Workspace};
use sayso_shell::{MemoryFiles, NoEnvironment, Verb};
use std::path::Path;

#[test]
fn a_path_is_proposed_as_the_project_or_package_that_it_is_in() {
    let home = Path::new("/home/u");
    let of = |path: &str, is_file| folder(Path::new(path), Some(home), None, is_file);
    assert_eq!(of("/home/u/other/src/x.rs", true).as_deref(), Some("~/other/**"));
    assert_eq!(of("/home/u/.config/tool/a.toml", true).as_deref(), Some("~/.config/tool/**"));
    assert_eq!(of("/home/u/notes.txt", true).as_deref(), Some("~/notes.txt"));
    assert_eq!(of("/opt/tool/lib/x", true).as_deref(), Some("/opt/tool/**"));
    assert_eq!(of("/etc/hosts", true).as_deref(), Some("/etc/hosts"));
    // Beside a project that lies deeper, so does the other one.
    let beside = |path: &str| folder(Path::new(path), Some(home), Some(Path::new("/home/u/src/app")), true);
    assert_eq!(beside("/home/u/src/other/a/b.rs").as_deref(), Some("~/src/other/**"));
    assert_eq!(beside("/home/u/notes/a/b.rs").as_deref(), Some("~/notes/**"));
    // Nothing as wide as a home or the whole system.
    for wide in ["/home/u", "/", "/etc"] {
        assert_eq!(of(wide, false), None, "{wide}");
    }
    assert_eq!(of("/home/u/a b/x", true), None, "a pattern would mean more than the path");
}

#[test]
fn what_runs_or_reaches_anything_is_told_by_what_it_does_with_its_words() {
    assert!(reaches("curl") && reaches("wget") && reaches("git clone"));
    assert!(!reaches("terraform plan") && !reaches("ls"));
    assert!(runs_what_follows("npx") || GrantSelector::pattern(Verb::Run, "npx").is_err());
    for name in ["bash", "python3", "sudo", "env", "xargs", "ssh"] {
        assert!(GrantSelector::pattern(Verb::Run, name).is_err(), "{name}");
    }
    for name in ["terraform plan", "make", "acmectl"] {
        let name = (name, runs_what_follows(name), reaches(name), GrantSelector::pattern(Verb::Run, name).is_ok());
        assert_eq!(name, (name.0, false, false, true));
    }
    assert!(proposed("default = \"ask\"\n", &[("make b0", 1, 0)]).0.len() == 1);
}

mod teams;

const HOME: &str = "/home/u";
const WORKSPACE: &str = "/home/u/src/app";

/// Past calls with how often each was made, and how often refused.
fn proposed(policy: &str, calls: &[(&str, usize, usize)]) -> (Vec<Proposal>, usize, usize) {
    let dir = tempfile::tempdir().unwrap();
    let places = Places::find(Home::At(dir.path())).unwrap();
    let text = PolicyText {
        layer: sayso_policy::Layer::User,
        name: "p.toml".to_owned(),
        text: policy.to_owned(),
        trusted: true,
    };
    let in_force = Arc::new(InForce::given(vec![text]).unwrap());
    let mut files = MemoryFiles::new();
    files.folder(WORKSPACE).folder("/home/u/other").file("/home/u/other/a.txt", b"").file("/home/u/other/b.txt", b"");
    let facts = Facts { files: &files, env: &NoEnvironment };
    let mut asks = Vec::new();
    for (command, ran, refused) in calls {
        let call = ToolCall {
            cwd: Some(WORKSPACE.into()),
            workspace: Workspace::new(WORKSPACE, Some(Path::new(HOME))),
            home: Some(HOME.into()),
            ..ToolCall::command(command.as_bytes())
        };
        let outcome = if *ran == 0 { Outcome::Refused } else { Outcome::Ran };
        let past = PastCall { outcome, ..PastCall::new(call) };
        let (operation, decision) = past.judge(&in_force.policy, facts);
        if decision.verdict == Verdict::Ask {
            asks.push(Ask { past, operation, decision, policy: 0, calls: ran + refused, refused: *refused });
        }
    }
    let before: usize = asks.iter().map(|ask| ask.calls).sum();
    let rulebook = Rulebook::new(&places, vec![in_force]);
    let found = proposals(&asks, &rulebook, 20, facts);
    // What is left is counted by judging again with the rules as they would be written.
    let rules: String = found.iter().map(|it| it.rule.as_str()).collect::<Vec<_>>().join("\n");
    let with = rulebook.with(&rules).unwrap();
    let open = (0..asks.len()).collect();
    let passed: usize = saved(&asks, &open, &with, facts).iter().map(|at| asks[*at].calls).sum();
    (found, before, before - passed)
}

fn rules(found: &[Proposal]) -> String {
    found.iter().map(|it| it.rule.as_str()).collect::<Vec<_>>().join("")
}

#[test]
fn what_proposals_save_together_is_what_is_not_asked_any_more() {
    let (found, before, after) = proposed(
        "extends = [\"developer\"]\n",
        &[
            ("terraform plan", 7, 0),
            ("terraform plan -out=x", 2, 0),
            ("terraform apply", 3, 1),
            ("cat ../../other/a.txt", 4, 0),
            ("cd ../../other && terraform plan", 2, 0),
            ("acmectl status web", 5, 0),
            ("bash -c \"$X\"", 9, 0),
            ("git push", 6, 0),
            ("ls", 50, 0),
        ],
    );
    assert_eq!(found.iter().map(|it| it.saved).sum::<usize>(), before - after, "{found:#?}");
    assert!(before - after >= 16, "{found:#?}");
    let first: Vec<usize> = found.iter().map(|it| it.saved).collect();
    assert!(first.is_sorted_by(|a, b| a >= b), "the best first: {first:?}");
    let rules = rules(&found);
    assert!(rules.contains("terraform plan") && rules.contains("acmectl status"), "{rules}");
    // A rule asks about these on purpose, or nobody can see what they would run.
    assert!(!rules.contains("git push") && !rules.contains("bash"), "{rules}");
}

#[test]
fn a_program_that_reaches_whatever_it_is_given_is_proposed_with_its_host_alone() {
    let (found, ..) = proposed("default = \"ask\"\n", &[("curl https://docs.rs/serde", 3, 0)]);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].rule.contains("when = { host = \"docs.rs\" }"), "{}", found[0].rule);
    let (found, ..) = proposed("default = \"ask\"\n", &[("curl \"$URL\"", 3, 0), ("curl", 3, 0)]);
    assert_eq!(found, [], "no host is known");
}

#[test]
fn nothing_is_proposed_for_what_runs_anything_or_what_people_refuse() {
    let runs_anything = [
        "bash -c x",
        "bash",
        "python3 -c x",
        "python3 - x.py",
        "python3 -m pdb x.py",
        "python3 /tmp/x.py",
        "sudo ls",
        "env FOO=1 bash",
        "ssh host ls",
        "xargs rm",
        "curl \"$X\"",
        "psql -c 'update t set x = 1'",
        "kill 4242",
        "node -e 1",
        "python3 delete_all.py",
        "./drop.sh",
        "make deploy-x",
        "acmectl exec x",
        "aws --profile p x rm",
    ];
    for command in runs_anything {
        let (found, ..) = proposed("default = \"ask\"\n", &[(command, 30, 0)]);
        let rules = rules(&found);
        let name = command.split(' ').next().unwrap();
        assert!(!rules.contains(&format!("\"{name}")), "{command}: {rules}");
    }
    assert_eq!(proposed("default = \"ask\"\n", &[("acmectl wipe", 0, 4)]).0, []);
    assert_eq!(proposed("default = \"ask\"\n", &[("acmectl wipe", 4, 4)]).0, [], "as often as not");
    let (found, ..) = proposed("default = \"ask\"\n", &[("acmectl get", 10, 1)]);
    assert_eq!((found[0].saved, found[0].refused), (11, 1));
}

#[test]
fn a_rule_that_asks_or_denies_is_not_proposed_away() {
    let policy = "[ask]\nrun = [\"acmectl get\"]\n[deny]\nrun = [\"acmectl wipe\"]\n";
    let calls = [("acmectl get x", 9, 0), ("acmectl wipe x", 9, 0), ("acmectl list", 2, 0)];
    let (found, ..) = proposed(policy, &calls);
    assert_eq!(rules(&found), "[[rule]]\nallow = { run = \"acmectl list\" }\n");
}

#[test]
fn the_widest_call_that_a_proposal_lets_pass_is_told() {
    let (found, ..) = proposed("default = \"ask\"\n", &[("acmectl get pods", 3, 0)]);
    let widest = found[0].widest.as_ref().unwrap();
    assert!(widest.starts_with("acmectl get ") && widest != "acmectl get pods", "{widest}");
}

#[test]
fn scripts_of_the_project_are_proposed_by_their_paths_and_never_as_the_interpreter() {
    let developer = "extends = [\"developer\"]\n";
    let (found, before, after) = proposed(
        developer,
        &[
            ("python3 scripts/a.py --fast", 5, 0),
            ("python3 scripts/b.py", 4, 0),
            ("cd /home/u/src/app && python3 scripts/c.py", 3, 0),
            ("python3 web/manage.py migrate", 6, 0),
            ("python3 -c 'import os'", 30, 0),
            ("python3 - scripts/a.py <<'E'\nx\nE", 30, 0),
            ("python3 /tmp/x.py", 30, 0),
            ("node -e 1 scripts/a.js", 30, 0),
            ("python3 x.py", 30, 0),
        ],
    );
    assert_eq!(
        rules(&found),
        "[[rule]]\nallow = { run = [\"python3 x.py\", \"python3 scripts/*\", \"python3 web/manage.py migrate\", \
         \"!python3 *{delete,deploy,destroy,drop,publish,purge,release,remove,reset,teardown,wipe}*\", \
         \"!python3 * *{delete,deploy,destroy,drop,publish,purge,release,remove,reset,teardown,wipe}*\"] }\n\
         when = { within = \".\" }\n"
    );
    assert_eq!((found[0].saved, before - after), (48, 48), "{found:#?}");
}

#[test]
fn the_narrowest_rule_for_one_call_is_tried_before_it_is_told() {
    let developer = "extends = [\"developer\"]\n";
    let cases = [
        ("terraform plan", "allow = { run = \"terraform plan\" }"),
        ("acmectl pods list", "allow = { run = \"acmectl pods list\" }"),
        ("curl https://docs.rs/serde", "when = { host = \"docs.rs\" }"),
        ("tee /home/u/other/a.txt", "allow = { write = \"/home/u/other/a.txt\" }"),
        ("python3 scripts/a.py", "allow = { run = \"python3 scripts/a.py\" }"),
    ];
    for (command, wanted) in cases {
        let Advice::Rule { rule, .. } = advised(developer, command) else { panic!("{command}") };
        assert!(rule.contains(wanted), "{command}: {rule}");
    }
    for command in ["bash -c \"$X\"", "python3 -c 'x'", "git push", "sudo ls", "env FOO=1 \"$X\"", "rm -rf src"] {
        let advice = advised(developer, command);
        assert!(matches!(&advice, Advice::Instead(text) if !text.is_empty()), "{command}: {advice:?}");
    }
}

#[test]
fn the_narrowest_rule_that_refuses_a_call_refuses_it() {
    let cases = [
        ("terraform apply -auto-approve", "terraform apply -auto-approve"),
        ("acmectl wipe db", "acmectl wipe db"),
        ("git push origin main", "git push"),
    ];
    for (command, pattern) in cases {
        let (ask, in_force, files) = judged("extends = [\"developer\"]\n", command);
        let dir = tempfile::tempdir().unwrap();
        let places = Places::find(Home::At(dir.path())).unwrap();
        let facts = Facts { files: &files, env: &NoEnvironment };
        let rulebook = Rulebook::new(&places, vec![in_force]);
        let found = denying(&ask.past, &ask.operation, &ask.decision, &rulebook, facts).unwrap();
        assert!(found.rule.contains(&format!("deny = {{ run = \"{pattern}")), "{command}: {}", found.rule);
    }
}

fn judged(policy: &str, command: &str) -> (Ask, Arc<InForce>, MemoryFiles) {
    let text = PolicyText {
        layer: sayso_policy::Layer::User,
        name: "p.toml".to_owned(),
        text: policy.to_owned(),
        trusted: true,
    };
    let in_force = Arc::new(InForce::given(vec![text]).unwrap());
    let mut files = MemoryFiles::new();
    files.folder(WORKSPACE).file("/home/u/other/a.txt", b"");
    let call = ToolCall {
        cwd: Some(WORKSPACE.into()),
        workspace: Workspace::new(WORKSPACE, Some(Path::new(HOME))),
        home: Some(HOME.into()),
        ..ToolCall::command(command.as_bytes())
    };
    let past = PastCall::new(call);
    let (operation, decision) = past.judge(&in_force.policy, Facts { files: &files, env: &NoEnvironment });
    (Ask { past, operation, decision, policy: 0, calls: 1, refused: 0 }, in_force, files)
}

fn advised(policy: &str, command: &str) -> Advice {
    let (ask, in_force, files) = judged(policy, command);
    let dir = tempfile::tempdir().unwrap();
    let places = Places::find(Home::At(dir.path())).unwrap();
    allowing(&ask, &Rulebook::new(&places, vec![in_force]), Facts { files: &files, env: &NoEnvironment })
}
