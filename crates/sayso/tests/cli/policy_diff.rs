//! `sayso policy diff`.

use crate::person::Person;
use serde_json::Value;

const OLD: &str = "[allow]\nrun = [\"ls\"]\n";
const NEW: &str = "[allow]\nrun = [\"ls\", \"terraform plan\"]\n[deny]\nrun = [\"git push\"]\n";

fn person() -> Person {
    let person = Person::new();
    person.file("old.toml", OLD);
    person.file("new.toml", NEW);
    person
}

#[test]
fn the_text_and_the_smallest_calls_that_are_judged_differently_are_shown() {
    let said = person().run(&["policy", "diff", "old.toml", "new.toml"]);
    assert_eq!(
        said.out,
        "--- old.toml
+++ new.toml
@@ -1,2 +1,4 @@
 [allow]
-run = [\"ls\"]
+run = [\"ls\", \"terraform plan\"]
+[deny]
+run = [\"git push\"]

Looser  terraform plan
    was  ask    default  [default]
    now  allow  new.toml:2:14  [terraform-plan]

Stricter  git push
    was  ask    default  [default]
    now  deny   new.toml:4:8  [git-push]
"
    );
    assert_eq!((said.code, said.err.as_str()), (4, ""));
}

#[test]
fn a_policy_and_itself_give_nothing_and_write_nothing() {
    let person = person();
    for name in ["old.toml", "preset:developer"] {
        let said = person.run(&["policy", "diff", name, name]);
        assert_eq!((said.code, said.out.as_str(), said.err.as_str()), (0, "", ""), "{name}");
    }
    assert_eq!(std::fs::read_dir(person.home()).unwrap().count(), 0);
}

#[test]
fn what_none_found_is_a_proof_for_is_said() {
    let person = person();
    person.file("stricter.toml", "[allow]\nrun = [\"ls\"]\n[ask]\nrun = [\"ls -a\"]\n");
    let said = person.run(&["policy", "diff", "--no-looser", "old.toml", "stricter.toml"]);
    let proof = "\nNothing is looser: every change adds a restriction or removes an allow.\n";
    assert_eq!((said.code, said.out.as_str()), (0, proof));
    person.file("comment.toml", &format!("# A comment.\n{OLD}"));
    let said = person.run(&["policy", "diff", "old.toml", "comment.toml"]);
    assert!(said.out.ends_with("\nThe rules are the same, so every call is judged as before.\n"), "{}", said.out);
    person.file("tools.toml", "[deny]\ntool = [\"mcp:db/*\"]\n");
    person.file("hidden.toml", "[deny]\ntool = [\"mcp:db/*\"]\n[allow]\ntool = [\"mcp:db/get\"]\n");
    let said = person.run(&["policy", "diff", "--no-looser", "tools.toml", "hidden.toml"]);
    assert_eq!(
        (said.code, said.out.as_str()),
        (0, "\nNothing is looser: every overlap of the `tool` patterns was tried.\n")
    );
    // A limit is tried where it is just reached.
    person.file("limit.toml", &format!("{OLD}[limits.session]\ncalls = 9\n"));
    let said = person.run(&["policy", "diff", "--no-looser", "limit.toml", "old.toml"]);
    assert_eq!(said.code, 4, "{}", said.out);
    assert!(said.out.contains("Looser  ls   (calls of this session at 9)"), "{}", said.out);
    // What cannot be tried is named, and is no proof.
    person.file("risk.toml", &format!("{OLD}[risk]\nask_above = 9\n"));
    let said = person.run(&["policy", "diff", "--no-looser", "risk.toml", "old.toml"]);
    assert_eq!(said.code, 3, "{}", said.out);
    assert!(said.out.contains("which is not a proof") && said.out.contains("[risk]"), "{}", said.out);
}

#[test]
fn real_calls_that_are_judged_differently_are_grouped_by_the_rule_that_decided() {
    let person = person();
    let line = |command: &str| format!("{{\"id\": 1, \"command\": \"{command}\", \"cwd\": \"/\"}}\n");
    let calls: String = ["terraform plan", "terraform plan", "git push", "ls"].iter().map(|it| line(it)).collect();
    let file = person.file("calls.jsonl", &calls);
    let on = ["policy", "diff", "old.toml", "new.toml", "--on", file.to_str().unwrap()];
    let said = person.run(&on).out;
    assert!(
        said.ends_with(
            "
3 of 4 calls are judged differently.
       2  ask -> allow  new.toml:2:14  [terraform-plan]
            terraform plan
       1  ask -> deny  new.toml:4:8  [git-push]
            git push
"
        ),
        "{said}"
    );
    let json: Value = serde_json::from_str(&person.run(&[&on[..], &["--json"]].concat()).out).unwrap();
    assert_eq!((&json["calls"]["calls"], &json["looser"]["call"]), (&4.into(), &"terraform plan".into()), "{json}");
    person.file("calls.jsonl", "{\"id\": 1}\n");
    assert_eq!(person.run(&on).code, 2);
}

#[test]
fn a_file_is_read_from_git_and_the_record_is_judged_by_both() {
    let person = person();
    let git = |arguments: &[&str]| {
        let fixed = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"];
        let done = std::process::Command::new("git").args(fixed).args(arguments).current_dir(person.project()).output();
        assert!(done.unwrap().status.success(), "{arguments:?}");
    };
    person.file("policy.toml", OLD);
    git(&["init", "-q"]);
    git(&["add", "policy.toml"]);
    git(&["commit", "-q", "-m", "a"]);
    person.file("policy.toml", NEW);
    let said = person.run(&["policy", "diff", "HEAD:policy.toml", "policy.toml"]);
    assert!(said.code == 4 && said.out.starts_with("--- HEAD:policy.toml\n+++ policy.toml\n"), "{said:?}");
    let event = serde_json::json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": person.project(),
        "permission_mode": "default", "tool_name": "Bash", "tool_input": {"command": "git push"}, "tool_use_id": "t"});
    assert_eq!(person.run_with(&["hook", "claude-code"], &event.to_string()).code, 0);
    let said = person.run(&["policy", "diff", "HEAD:policy.toml", "policy.toml", "--on", "record"]).out;
    assert!(said.contains("\n1 of 1 calls are judged differently.\n"), "{said}");
    for wrong in ["HEAD:nothing.toml", "--output=x:y", "nothing.toml", "ffffffff"] {
        assert_eq!(person.run(&["policy", "diff", "--", wrong, "policy.toml"]).code, 2, "{wrong}");
    }
}
