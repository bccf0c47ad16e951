//! `sayso approvals`, `grants`, `limits`, `policy` and `mode`.

use crate::person::{Person, first};
use crate::pty::{agent_above, at_terminal, the_key, the_number};
use crate::served::serve;
use serde_json::{Value, json};

const LEADS: &str = "default = \"ask\"\n[allow]\nrun = [\"true\"]\n[approvals.leads]\nmembers = [\"nobody-here\"]\n\
                     [[rule]]\nid = \"make\"\nask = { run = \"make\" }\napprover = \"leads\"\nbecause = \"Leads decide.\"\n";

/// What the hook says to a command.
fn hook(person: &Person, command: &str) -> (String, String) {
    let event = json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": person.project(),
        "permission_mode": "default", "tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "t"});
    let said = person.run_with(&["hook", "claude-code"], &event.to_string());
    let answer: Value = serde_json::from_str(&said.out).unwrap_or_default();
    let field = |name: &str| answer["hookSpecificOutput"][name].as_str().unwrap_or(&said.err).to_owned();
    (field("permissionDecision"), field("permissionDecisionReason"))
}

#[test]
fn a_question_for_named_approvers_waits_in_the_queue() {
    let person = Person::new();
    person.policy(LEADS);
    assert_eq!(person.run(&["approvals", "list"]).out, "Nothing is pending.\n");
    let (decision, why) = hook(&person, "make all\u{1b}[2J");
    assert_eq!(decision, "deny", "{why}");
    assert!(why.contains("It is pending as "), "{why}");
    let listed = person.run(&["approvals", "list", "--json"]).out;
    let question: Value = serde_json::from_str(&listed).unwrap();
    let id = question["id"].as_str().unwrap();
    assert_eq!(
        (question["standing"].as_str(), question["addressees"][0]["name"].as_str()),
        (Some("pending"), Some("leads"))
    );
    let shown = person.run(&["approvals", "show", id.get(..16).unwrap()]);
    assert_eq!(shown.code, 0, "{}", shown.err);
    assert!(shown.out.contains("Leads decide.") && shown.out.contains("\\x1b"), "{}", shown.out);
    assert!(shown.out.chars().all(|c| c == '\n' || !c.is_control()), "{}", shown.out);
    assert!(person.run(&["approvals", "list"]).out.contains("leads"));
    assert_eq!(person.run(&["approvals", "show", "nonsense"]).code, 2);
}

#[test]
fn a_list_that_is_cut_says_how_many_more_there_are() {
    let person = Person::new();
    person.policy(LEADS);
    for target in ["one", "two", "three"] {
        assert_eq!(hook(&person, &format!("make {target}")).0, "deny");
    }
    let short = person.run(&["approvals", "list", "--limit", "1"]).out;
    assert!(short.contains("make three") && !short.contains("make one"), "{short}");
    assert!(short.ends_with("\n... and 2 more. Use --limit 0 to show all, or narrow with --agent or --session.\n"));
    for all in [&["approvals", "list"][..], &["approvals", "list", "--limit", "0"]] {
        let all = person.run(all).out;
        assert!(all.contains("make one") && !all.contains("more"), "{all}");
    }
    let lines = person.run(&["approvals", "list", "--json", "--limit", "2"]);
    assert_eq!((lines.out.lines().count(), lines.err.starts_with("... and 1 more.")), (2, true), "{}", lines.err);
    let lines = person.run(&["approvals", "list", "--json", "--agent", "claude-code"]);
    assert_eq!((lines.out.lines().count(), lines.err.as_str()), (3, ""));
    assert_eq!(person.run(&["approvals", "list", "--agent", "codex"]).out, "Nothing is pending.\n");
}

/// What a terminal would obey, or what turns its text around, is no more in JSON than elsewhere.
#[test]
fn json_for_programs_harms_no_terminal() {
    let person = Person::new();
    person.policy(LEADS);
    hook(&person, "make a\u{9b}2J\u{202e}b\u{85}");
    let listed = person.run(&["approvals", "list", "--json"]).out;
    let question: Value = serde_json::from_str(&listed).unwrap();
    let shown = person.run(&["approvals", "show", question["id"].as_str().unwrap(), "--json"]).out;
    for text in [&listed, &shown] {
        assert!(text.contains("\\u009b") && text.contains("\\u202e") && text.contains("\\u0085"), "{text:?}");
        assert!(!text.contains(['\u{9b}', '\u{202e}', '\u{85}']), "{text:?}");
    }
    assert!(serde_json::from_str::<Value>(&shown).unwrap().to_string().contains('\u{9b}'));
}

#[test]
fn answers_need_a_person_at_a_terminal() {
    let person = Person::new();
    person.policy(LEADS);
    hook(&person, "make all");
    let listed = person.run(&["approvals", "list", "--json"]).out;
    let id = serde_json::from_str::<Value>(&listed).unwrap()["id"].as_str().unwrap().to_owned();
    for arguments in [
        &["approvals", "answer", &id, "allow"][..],
        &["approvals", "watch"],
        &["mode", "off", "--for", "1h", "--because", "x"],
        &["mode", "enforce"],
    ] {
        let said = person.run_with(arguments, "y\n1234\n");
        assert_eq!(said.code, 2, "{arguments:?}: {}", said.out);
        assert!(first(&said.err).starts_with("error: this command needs an interactive terminal"), "{}", said.err);
    }
    let still: Value = serde_json::from_str(&person.run(&["approvals", "list", "--json"]).out).unwrap();
    assert_eq!(still["standing"], "pending");
}

/// No tool call of an agent runs these.
#[test]
fn an_agents_call_of_an_operators_command_is_denied() {
    let person = Person::new();
    person.policy("default = \"allow\"\n[allow]\nrun = [\"*\"]\n");
    for command in [
        "sayso approvals answer x allow",
        "sayso grants revoke x",
        "sayso policy rollback x",
        "sayso history --write",
        "sayso history codex --since 1d --write",
        "sayso mode off --for 1h --because x",
        "script -qc 'sayso approvals answer x allow' /dev/null",
        "env HOME=/x sayso approvals watch",
    ] {
        let (decision, why) = hook(&person, command);
        assert_eq!(decision, "deny", "{command}: {why}");
    }
}

#[test]
fn limits_count_across_hooks_and_are_shown() {
    let person = Person::new();
    person.policy("default = \"allow\"\n[allow]\nrun = [\"*\"]\n[limits.session]\ncalls = 2\n");
    assert!(person.run(&["limits"]).out.starts_with("Nothing counted yet"));
    let said: Vec<String> = (0..3).map(|_| hook(&person, "true").0).collect();
    assert_eq!(said, ["allow", "allow", "deny"]);
    let used: Value = serde_json::from_str(&person.run(&["limits", "--json"]).out).unwrap();
    assert_eq!((used["scope"].as_str(), used["usage"]["calls"].as_u64()), (Some("session"), Some(2)));
    assert!(person.run(&["limits"]).out.contains("2 calls"));
    assert_eq!(person.run(&["check", "true"]).code, 0, "check uses nothing and counts nothing");
}

#[test]
fn anybody_may_halt_and_everything_stops_at_once() {
    let person = Person::new();
    person.policy("default = \"allow\"\n[allow]\nrun = [\"*\"]\n");
    assert_eq!(hook(&person, "true").0, "allow");
    assert_eq!(person.run(&["mode"]).out, "enforce: each policy file's own mode applies.\n");
    let said = person.run(&["mode", "halt", "--because", "an \u{1b}[31malarm"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.starts_with("halt: since ") && said.out.contains("\\x1b"), "{}", said.out);
    let (decision, why) = hook(&person, "true");
    assert_eq!(decision, "deny");
    assert!(why.contains("halted") || why.contains("operator-mode"), "{why}");
    let shown: Value = serde_json::from_str(&person.run(&["mode", "--json"]).out).unwrap();
    assert_eq!(shown["switch"]["mode"], "halt");
    assert_eq!(person.run(&["mode", "shadow"]).code, 2);
}

#[test]
fn versions_of_the_policy_are_kept_and_compared() {
    let person = Person::new();
    person.policy("default = \"ask\"\n[allow]\nrun = [\"true\"]\n");
    hook(&person, "true");
    person.policy("default = \"ask\"\n[allow]\nrun = [\"true\", \"echo\"]\n");
    hook(&person, "true");
    let versions = person.run(&["policy", "versions", "--json"]).out;
    let versions: Vec<Value> = versions.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(versions.len(), 2, "{versions:?}");
    assert_eq!(versions.iter().map(|v| v["in_force"].as_bool().unwrap()).collect::<Vec<_>>(), [false, true]);
    let old = versions[0]["version"].as_str().unwrap();
    let diff = person.run(&["policy", "diff", old.get(..8).unwrap()]).out;
    assert!(diff.contains("-run = [\"true\"]\n+run = [\"true\", \"echo\"]\n"), "{diff}");
    let shown = person.run(&["policy", "show", old]).out;
    assert!(shown.starts_with(&format!("policy {old}\n")) && shown.contains("run = [\"true\"]"), "{shown}");
    assert!(person.run(&["policy", "show"]).out.contains("\"echo\""));
    assert_eq!(person.run(&["policy", "rollback", old]).code, 2, "needs a terminal");
    assert_eq!(person.run(&["policy", "show", "ffff"]).code, 2);
}

#[test]
fn a_person_at_a_terminal_answers_with_the_servers_key_and_the_call_passes() {
    let person = Person::new();
    let name = String::from_utf8(std::process::Command::new("id").arg("-un").output().unwrap().stdout).unwrap();
    person.policy(&LEADS.replace("nobody-here", name.trim()).replace("default = \"ask\"", "default = \"allow\""));
    assert_eq!(hook(&person, "make all").0, "deny");
    let listed = person.run(&["approvals", "list", "--json"]).out;
    let id = serde_json::from_str::<Value>(&listed).unwrap()["id"].as_str().unwrap().to_owned();
    let answer = ["approvals", "answer", &id, "allow", "--always"];
    let (code, shown) = at_terminal(&person, &answer, &mut the_number());
    if agent_above(&shown) {
        return;
    }
    assert_eq!(code, 2, "{shown}");
    assert!(shown.contains("needs the key of the server, and no server runs"), "{shown}");

    let mut served = serve(&person);
    let (code, shown) = at_terminal(&person, &answer, &mut the_key(&served.key()));
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("approved"), "{shown}");
    assert!(!shown.contains(&served.key()), "what is typed is not shown: {shown}");
    assert_eq!(hook(&person, "make all").0, "allow");
    assert_eq!(hook(&person, "make all").0, "allow");
    assert_eq!(hook(&person, "make other").0, "deny");
    let said = person.run(&["approvals", "list", "--all", "--json"]).out;
    assert!(said.contains("\"via\":\"terminal\""), "{said}");
    let granted: Value = serde_json::from_str(&person.run(&["grants", "list", "--json"]).out).unwrap();
    assert_eq!(granted["givers"][0]["name"].as_str(), Some(name.trim()));
    let id = granted["id"].as_str().unwrap();
    assert!(person.run(&["grants", "list"]).out.contains(id));
    assert!(person.run(&["grants", "uses", id]).out.contains("make all"));
    let (_, shown) = at_terminal(&person, &["grants", "revoke", id], &mut the_key(&served.next_key()));
    assert!(shown.contains("Revoked."), "{shown}");
    assert_eq!(hook(&person, "make all").0, "deny");
    let off = ["mode", "off", "--for", "10m", "--because", "a fire"];
    let (code, shown) = at_terminal(&person, &off, &mut the_key("0000-0000"));
    assert_eq!(code, 2, "{shown}");
    served.stop();

    // Without a server, what is not an answer needs the number that is shown.
    let (_, shown) = at_terminal(&person, &off, &mut the_number());
    assert!(shown.contains("off: since"), "{shown}");
    assert_eq!(hook(&person, "make all").0, "allow");
    assert!(at_terminal(&person, &["mode", "enforce"], &mut the_number()).1.contains("enforce: each"));
    assert_eq!(hook(&person, "make all").0, "deny");
}

#[test]
fn a_person_who_watches_signs_in_once_and_answers() {
    let person = Person::new();
    person.policy("default = \"ask\"\n");
    let served = serve(&person);
    let call = json!({"tool": "web_search", "args": {"query": "rust"}, "wait": 0, "cwd": person.project()});
    let first = served.question(None, &call);
    let mut key = the_key(&served.key());
    let mut answered = 0;
    let mut second = None;
    let mut over = false;
    let (_, shown) = at_terminal(&person, &["approvals", "watch"], &mut |shown| {
        if let Some(key) = key(shown) {
            return Some(key);
        }
        if shown.matches("q quit: ").count() > answered {
            answered += 1;
            if answered == 1 {
                let call =
                    json!({"tool": "web_search", "args": {"query": "other"}, "wait": 0, "cwd": person.project()});
                second = Some(served.question(None, &call));
                // What is typed on is for a question that nobody has seen yet.
                return Some("a\na\na".to_owned());
            }
            // What means nothing is asked again, and does not put the question off.
            return Some(if answered == 2 { "perhaps" } else { "d" }.to_owned());
        }
        // Once both are answered.
        (shown.contains("denied") && !std::mem::replace(&mut over, true)).then(|| "\u{3}".to_owned())
    });
    if agent_above(&shown) {
        return;
    }
    let standing = |id: &str| {
        let told = served.send("GET", &format!("/v1/approvals/{id}"), &[], "");
        told.body["standing"].as_str().unwrap().to_owned()
    };
    assert_eq!((standing(&first), standing(&second.unwrap())), ("approved".to_owned(), "denied".to_owned()), "{shown}");
    assert!(shown.contains("`perhaps` is not one of these."), "{shown}");
}

#[test]
fn a_person_who_watches_can_leave_a_question_for_later_and_quit() {
    let person = Person::new();
    person.policy("default = \"ask\"\n");
    let served = serve(&person);
    let call = |what: &str| json!({"tool": "web_search", "args": {"query": what}, "wait": 0, "cwd": person.project()});
    let ids = [served.question(None, &call("rust")), served.question(None, &call("other"))];
    let mut key = the_key(&served.key());
    let mut prompts = 0;
    let (code, shown) = at_terminal(&person, &["approvals", "watch"], &mut |shown| {
        if let Some(key) = key(shown) {
            return Some(key);
        }
        (shown.matches("q quit: ").count() > prompts).then(|| {
            prompts += 1;
            if prompts == 1 { "l" } else { "q" }.to_owned()
        })
    });
    if agent_above(&shown) {
        return;
    }
    assert_eq!((code, prompts), (0, 2), "{shown}");
    for id in ids {
        let told = served.send("GET", &format!("/v1/approvals/{id}"), &[], "");
        assert_eq!(told.body["standing"], "pending", "{shown}");
    }
}

#[test]
fn a_program_hands_the_key_over_in_a_descriptor_of_its_own() {
    let person = Person::new();
    person.policy("default = \"ask\"\n");
    let served = serve(&person);
    let call = json!({"tool": "web_search", "args": {}, "wait": 0, "cwd": person.project()});
    let id = served.question(None, &call);
    let sayso = person.sayso();
    let answer = |key: &str, fd: &str| {
        let line =
            format!("exec {} approvals answer {id} allow --key-fd {fd} 3<<<\"$KEY\"", sayso.get_program().display());
        let mut bash = std::process::Command::new("bash");
        bash.args(["-c", &line]).env_clear().env("HOME", person.home()).env("KEY", key).output().unwrap()
    };
    for (key, fd) in [("0000-0000", "3"), (served.key().as_str(), "0"), (served.key().as_str(), "9")] {
        assert_eq!(answer(key, fd).status.code(), Some(2), "{key} {fd}");
    }
    let said = answer(&served.key(), "3");
    assert_eq!(said.status.code(), Some(0), "{}", String::from_utf8_lossy(&said.stderr));
    assert_eq!(String::from_utf8_lossy(&said.stdout), "approved\n");
}

#[test]
fn the_page_about_asking_people_says_what_happens() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/approvals.md")).unwrap();
    let person = Person::new();
    person.policy(page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap());
    let (decision, why) = hook(&person, "make deploy");
    assert_eq!(decision, "deny");
    assert!(why.contains("Deploys are decided by a lead."), "{why}");
    assert!(person.run(&["approvals", "list"]).out.contains("leads"));
    // Every command line of the page is one that the command knows.
    let lines = page.split("```console\n").skip(1).flat_map(|block| block.split("```").next().unwrap().lines());
    for line in lines.filter_map(|line| line.strip_prefix("$ sayso ")) {
        let words: Vec<String> = line
            .split('"')
            .enumerate()
            .flat_map(|(at, part)| match at % 2 {
                0 => part.split_whitespace().map(str::to_owned).collect::<Vec<_>>(),
                _ => vec![part.to_owned()],
            })
            .collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let said = person.run(&words);
        assert!(!said.err.contains("Usage:"), "{line}: {}", said.err);
    }
}
