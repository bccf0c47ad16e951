//! `sayso log`.

use crate::person::Person;
use serde_json::json;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

fn call(person: &Person, tool: &str, input: &serde_json::Value) {
    let event = json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": person.project(),
        "permission_mode": "default", "tool_name": tool, "tool_input": input, "tool_use_id": "t"});
    assert_eq!(person.run_with(&["hook", "claude-code"], &event.to_string()).code, 0);
}

#[test]
fn an_empty_record_says_the_next_step() {
    assert_eq!(Person::new().run(&["log"]).out, "No decisions yet. `sayso install claude-code` guards an agent.\n");
}

#[test]
fn filters_narrow_and_hostile_text_is_escaped() {
    let person = Person::new();
    person.policy("default = \"deny\"\n[allow]\ntool = [\"web_search\"]\n");
    call(&person, "WebSearch", &json!({"query": "rust"}));
    call(&person, "Bash", &json!({"command": "echo \u{1b}[31m\u{202e}"}));
    let count = |arguments: &[&str]| person.run(&[&["log"], arguments].concat()).out.lines().count();
    assert_eq!(count(&[]), 2);
    assert_eq!(count(&["--verdict", "deny"]), 1);
    assert_eq!(count(&["--agent", "claude-code", "--since", "1h"]), 2);
    assert_eq!(count(&["--text", "rust"]), 1);
    assert_eq!(count(&["-n", "1"]), 1);
    assert_eq!(person.run(&["log", "--agent", "codex"]).out, "None of the 2 recorded decisions match.\n");
    assert!(person.run(&["log"]).out.chars().all(|c| c == '\n' || !c.is_control()));
    assert_eq!(person.run(&["log", "--since", "soon"]).code, 2);
}

#[test]
fn following_shows_what_comes() {
    let person = Person::new();
    let mut child = person.sayso().args(["log", "--follow", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    // Whether the first look comes before or after the call, the call is shown once.
    call(&person, "WebSearch", &json!({"query": "x"}));
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(line.contains("web_search"), "{line}");
}

/// A person with two decisions on record: one allowed, one denied.
fn two_decisions() -> Person {
    let person = Person::new();
    person.policy("default = \"deny\"\n[allow]\ntool = [\"web_search\"]\n");
    call(&person, "WebSearch", &json!({"query": "=cmd|' /C calc'!A0"}));
    call(&person, "Bash", &json!({"command": "+echo 1"}));
    person
}

#[test]
fn records_are_counted_by_what_they_have_in_common() {
    let person = two_decisions();
    assert_eq!(person.run(&["log", "--count"]).out, "       1  allow\n       1  deny\n");
    assert_eq!(person.run(&["log", "--count", "agent"]).out, "       2  claude-code\n");
    assert_eq!(person.run(&["log", "--count=kind", "--json"]).out.lines().count(), 2);
    assert_eq!(person.run(&["log", "--count", "tool", "--verdict", "deny"]).out, "       1  bash_execute\n");
    assert_eq!(person.run(&["log", "--count", "colour"]).code, 2);
}

#[test]
fn every_filter_is_there() {
    let person = two_decisions();
    let count = |arguments: &[&str]| person.run(&[&["log", "--json"], arguments].concat()).out.lines().count();
    assert_eq!(count(&["--all"]), 3, "two decisions and a policy");
    assert_eq!(count(&["--kind", "policy"]), 1);
    assert_eq!(count(&["--kind", "policy", "--kind", "decision"]), 3);
    assert_eq!(count(&["--rule", "default"]), 1);
    assert_eq!(count(&["--until", "1h"]), 0);
    assert_eq!(count(&["--since", "2020-01-01", "--until", "2999-12-31T00:00:00Z"]), 2);
    assert_eq!(person.run(&["log", "--kind", "nonsense"]).code, 2);
}

#[test]
fn an_export_holds_everything_and_no_formula() {
    let person = two_decisions();
    let lines = person.run(&["log", "export"]).out;
    let first: serde_json::Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!((lines.lines().count(), first["kind"].as_str()), (2, Some("decision")));
    assert_eq!(first["hash"].as_str().map(str::len), Some(64));

    let csv = person.run(&["log", "export", "--format", "csv", "--all"]).out;
    assert_eq!(csv.lines().count(), 4);
    assert!(csv.contains("\"'+echo 1\""), "{csv}");
    for cell in csv.lines().flat_map(|line| line.split("\",\"")) {
        assert!(!cell.trim_start_matches('"').starts_with(['=', '+', '-', '@']), "{cell}");
    }

    let file = person.project().join("out.jsonl");
    let to_file = || person.run(&["log", "export", "--output", file.to_str().unwrap()]);
    assert_eq!(to_file().code, 0);
    assert_eq!(std::fs::read_to_string(&file).unwrap().lines().count(), 2);
    assert_eq!(to_file().code, 2, "nothing is overwritten");
}

#[test]
fn a_record_that_was_changed_is_named_and_an_exported_head_proves() {
    let person = two_decisions();
    let head = person.project().join("head.json");
    let head = head.to_str().unwrap();
    let whole = person.run(&["log", "verify", "--replay"]);
    assert_eq!(whole.code, 0, "{whole:?}");
    assert!(whole.out.starts_with("The record is intact: 3 records, 1 to 3.\n"), "{}", whole.out);
    assert!(whole.out.contains("replayed   2 unchanged, 0 different, 0 skipped"), "{}", whole.out);
    assert_eq!(person.run(&["log", "head", "--export", head]).code, 0);
    let proved = person.run(&["log", "verify", "--head", head]).out;
    assert!(proved.contains("exported   up to 3, against anyone"), "{proved}");

    let store = person.home().join(".local/state/sayso/sayso.db");
    let tamper = |sql: &str| rusqlite::Connection::open(&store).unwrap().execute_batch(sql).unwrap();
    tamper("UPDATE event SET body = replace(body, '+echo', 'echo') WHERE seq = 3");
    let changed = person.run(&["log", "verify"]);
    assert_eq!(changed.code, 4);
    assert!(changed.out.contains("  record 3 was changed: its content\n"), "{}", changed.out);
    tamper("DELETE FROM event WHERE seq = 3; DELETE FROM head;");
    let missed = person.run(&["log", "verify"]);
    assert_eq!(missed.code, 4);
    assert!(missed.out.contains("no signed head stands for records 1 to 2"), "{}", missed.out);
    let cut = person.run(&["log", "verify", "--head", head, "--json"]);
    let json: serde_json::Value = serde_json::from_str(&cut.out).unwrap();
    assert_eq!((cut.code, &json["problems"][0]), (4, &json!({"problem": "heads-removed", "after": 0, "last": 2})));
    assert_eq!(json["problems"][1], json!({"problem": "cut-off", "last": 2, "head": 3}));
    person.file("no.json", "{}");
    assert_eq!(person.run(&["log", "verify", "--head", "no.json"]).code, 2);
}

#[test]
fn what_stood_in_the_spool_and_is_no_record_is_named_until_it_is_moved_away() {
    let person = two_decisions();
    let spool = person.home().join(".local/state/sayso/spool");
    std::fs::write(spool.join("current.jsonl"), "half a rec\n\u{0}\u{1}\n").unwrap();
    // Whoever reads first puts it aside.
    assert_eq!(person.run(&["log"]).code, 0);
    let verified = person.run(&["log", "verify"]);
    assert_eq!(verified.code, 0, "{}", verified.out);
    let said = "  spool      lines that are not hook records are not in the record: ~/.local/state/sayso/spool/";
    assert!(verified.out.contains(said), "{}", verified.out);
    let json: serde_json::Value = serde_json::from_str(&person.run(&["log", "verify", "--json"]).out).unwrap();
    let file = json["damaged"][0].as_str().unwrap().to_owned();
    assert!(file.ends_with(".damaged"), "{json}");
    std::fs::remove_file(spool.join(file.rsplit('/').next().unwrap())).unwrap();
    assert!(!person.run(&["log", "verify"]).out.contains("  spool "));
}

#[test]
fn old_records_go_when_told_twice_and_the_rest_is_verifiable() {
    let person = two_decisions();
    let said = person.run(&["log", "prune", "--keep", "1"]).out;
    assert!(said.starts_with("2 records would be deleted: 1 (of "), "{said}");
    assert_eq!(person.run(&["log", "--all"]).out.lines().count(), 3);
    assert_eq!(person.run(&["log", "prune", "--keep", "1", "--yes", "--json"]).out, "{\"records\":2,\"up_to\":2}\n");
    let verified = person.run(&["log", "verify"]);
    assert!(verified.out.contains("2 records, 3 to 4.\n  pruned     up to 2\n"), "{}", verified.out);
    assert_eq!(person.run(&["log", "prune"]).code, 2);
    assert_eq!(person.run(&["log", "prune", "--before", "30d", "--yes"]).out, "Nothing to delete.\n");
}

#[test]
fn every_command_in_the_page_prints_what_it_shows() {
    let page = include_str!("../../../../docs/audit.md");
    let person = Person::new();
    person.policy("default = \"deny\"\n[allow]\ntool = [\"web_search\"]\n");
    call(&person, "WebSearch", &json!({"query": "rust"}));
    call(&person, "Bash", &json!({"command": "make"}));
    let block = page.split("```console\n").nth(1).unwrap().split("```").next().unwrap();
    let examples: Vec<&str> = block.split("$ ").skip(1).collect();
    assert!(examples.len() > 5, "the page lost its examples");
    for example in examples {
        let (command, shown) = example.split_once('\n').unwrap();
        let words: Vec<&str> = command.split(' ').skip(1).collect();
        assert_eq!(normal(&person.run(&words).out), normal(shown), "$ {command}");
    }
}

/// Times and versions differ from run to run.
fn normal(text: &str) -> String {
    let digits = |word: &str| word.chars().filter(char::is_ascii_digit).count();
    let word = |word: &str| match word.trim_end_matches(')') {
        date if digits(date) == 8 && date.contains('-') => "DATE".to_owned(),
        time if digits(time) == 6 && time.contains(':') => "TIME".to_owned(),
        version if version.len() == 16 && version.bytes().all(|b| b.is_ascii_hexdigit()) => "VERSION".to_owned(),
        _ => word.to_owned(),
    };
    let line = |line: &str| line.split(' ').map(word).collect::<Vec<_>>().join(" ");
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn an_export_of_the_chain_is_verified_without_the_store_and_follows_its_keys() {
    let person = two_decisions();
    let first = person.run(&["log", "key"]).out;
    let rotated = person.run(&["log", "key", "rotate"]);
    assert_eq!(rotated.code, 0, "{}", rotated.err);
    let key = person.run(&["log", "key"]).out.split(' ').next().unwrap().to_owned();
    assert!(!first.starts_with(&key));
    assert_eq!(person.run(&["log", "verify"]).code, 0);
    assert_eq!(person.run(&["log", "export", "--format", "chain", "--output", "chain.jsonl"]).code, 0);
    let text = std::fs::read_to_string(person.project().join("chain.jsonl")).unwrap();

    // Another machine, which has no such store.
    let auditor = Person::new();
    auditor.file("chain.jsonl", &text);
    let verified = auditor.run(&["log", "verify", "chain.jsonl", "--key", &key]);
    assert_eq!(verified.code, 0, "{}{}", verified.out, verified.err);
    assert!(verified.out.starts_with("The record is intact: "), "{}", verified.out);
    assert!(!auditor.home().join(".local/state/sayso/sayso.db").exists(), "nothing is made for it");
    assert_eq!(auditor.run(&["log", "verify", "chain.jsonl", "--key", &"0".repeat(64)]).code, 4);
    // Whoever has the first key only, knows the one that followed: it was signed with the first.
    let first = first.split(' ').next().unwrap();
    let followed = auditor.run(&["log", "verify", "chain.jsonl", "--key", first]);
    assert!(followed.code == 0 && followed.out.contains("which followed the one you gave"), "{}", followed.out);
    let without = |n: usize| -> String {
        text.lines().enumerate().filter(|(at, _)| *at != n).map(|(_, line)| format!("{line}\n")).collect()
    };
    let changed = text.replacen("deny", "allow", 1);
    for broken in [without(1), without(2), changed] {
        auditor.file("broken.jsonl", &broken);
        let found = auditor.run(&["log", "verify", "broken.jsonl"]);
        assert_eq!(found.code, 4, "{}{}", found.out, found.err);
    }
    auditor.file("plain.jsonl", &person.run(&["log", "export"]).out);
    assert_eq!(auditor.run(&["log", "verify", "plain.jsonl"]).code, 2);
    assert_eq!(person.run(&["log", "export", "--format", "chain", "--verdict", "deny"]).code, 2);
}
