//! Variables that come with a call: judged as if they were set before the command, and part of what a yes is bound to.

use crate::client::Served;
use serde_json::{Value, json};

const POLICY: &str = "default = \"ask\"\n[allow]\nrun = [\"make\", \"git\", \"ls\", \"echo\"]\n";

fn decide(served: &Served, command: &str, env: &Value) -> Value {
    served.decide(None, &json!({"command": command, "cwd": "/nowhere", "env": env, "wait": 0}))
}

#[test]
fn a_variable_that_changes_what_runs_asks_wherever_it_stands() {
    let served = Served::with(POLICY);
    for (command, name, value) in [
        ("make", "MAKEFILES", "evil.mk"),
        ("git status", "LD_PRELOAD", "/tmp/evil.so"),
        ("git status", "GIT_DIR", "/tmp/evil"),
        ("git status", "HOME", "/tmp/evil"),
        ("ls", "PATH", "/tmp/evil:/usr/bin"),
        ("ls", "PATH", "bin:/usr/bin"),
        // The shell itself goes by these, where no program is started.
        ("echo", "BASH_ENV", "/tmp/evil"),
        ("echo", "LD_PRELOAD", "/tmp/evil.so"),
        ("echo", "BASH_FUNC_echo%%", "() { evil; }"),
        ("echo", "POSIXLY_CORRECT", "1"),
    ] {
        let told = decide(&served, command, &json!({name: value}));
        assert_eq!(told["verdict"], "ask", "{command} with {name}: {told}");
        let told = served.decide(
            None,
            &json!({"tool": "Bash", "args": {"command": command}, "cwd": "/nowhere", "wait": 0,
            "env": {name: value}}),
        );
        assert_eq!(told["verdict"], "ask", "{command} with {name}, as a tool: {told}");
    }
    let own = std::env::var("PATH").unwrap();
    for env in [json!({}), json!({"PATH": own}), json!({"PATH": "/usr/bin:/bin"}), json!({"CI": "1", "LANG": "x"})] {
        assert_eq!(decide(&served, "ls", &env)["verdict"], "allow", "{env}");
    }
    // The caller's text is evaluated as if the command had assigned it.
    for command in ["[[ $X -eq 1 ]]", "echo ${!X}", "echo $((X))"] {
        assert_eq!(decide(&served, command, &json!({"X": "1"}))["verdict"], "allow", "{command}");
        assert_ne!(decide(&served, command, &json!({"X": "a[$(id)]"}))["verdict"], "allow", "{command}");
    }
    let home = json!({"command": "ls", "cwd": "/nowhere", "home": "/nowhere", "env": {"HOME": "/nowhere"}, "wait": 0});
    assert_eq!(served.decide(None, &home)["verdict"], "allow");
}

#[test]
fn a_rule_that_names_a_variable_sees_the_ones_that_come_with_the_call() {
    let served = Served::with(
        "default = \"ask\"\n[allow]\nrun = [\"make\"]\n[[rule]]\nid = \"prod\"\ndeny = { run = \"make\" }\n\
         when = { env = \"TARGET=prod\" }\n[[rule]]\nid = \"flags\"\nallow = { run = \"make\" }\n\
         when = { env = \"MAKEFLAGS=-j*\" }\n",
    );
    for (env, verdict) in [
        (json!({"TARGET": "prod"}), "deny"),
        (json!({"TARGET": "test"}), "allow"),
        (json!({"MAKEFLAGS": "-j8"}), "allow"),
        (json!({"MAKEFLAGS": "--eval=x"}), "ask"),
    ] {
        assert_eq!(decide(&served, "make", &env)["verdict"], verdict, "{env}");
    }
    // What the command says itself comes last.
    assert_eq!(decide(&served, "TARGET=test make", &json!({"TARGET": "prod"}))["verdict"], "allow");
}

#[test]
fn a_yes_is_for_the_variables_it_was_asked_with() {
    let served = Served::with(POLICY);
    let asked = decide(&served, "make", &json!({"MAKEFILES": "mine.mk"}));
    assert_eq!(asked["verdict"], "ask");
    let (_, card) = served.get(&served.owner, &format!("/v1/approvals/{}", asked["approval"].as_str().unwrap()));
    assert_eq!(card["env"], json!({"MAKEFILES": "mine.mk"}), "{card}");
    let targets: Vec<&str> =
        card["effects"].as_array().unwrap().iter().filter_map(|it| it["target"].as_str()).collect();
    assert!(targets.iter().any(|target| target.ends_with("make with MAKEFILES=mine.mk")), "{targets:?}");
    served.say_yes(&asked, "once", "exact");
    for other in [json!({"MAKEFILES": "evil.mk"}), json!({"MAKEFILES": "mine.mk", "X": "1"})] {
        assert_eq!(decide(&served, "make", &other)["verdict"], "ask", "{other}");
    }
    let same = decide(&served, "make", &json!({"MAKEFILES": "mine.mk"}));
    assert_eq!(same["verdict"], "allow", "{same}");

    // The record names them, and no secret among them.
    let told = decide(&served, "make", &json!({"API_TOKEN": "hunter2", "CI": "1"}));
    let (_, found) = served.get(&served.owner, "/v1/audit?limit=10");
    let records = found["records"].as_array().unwrap();
    let record = records.iter().find(|record| record["id"] == told["record"]).unwrap();
    assert_eq!(record["env"], json!({"API_TOKEN": "[redacted]", "CI": "1"}), "{record}");
}

#[test]
fn more_than_is_followed_asks_and_what_no_process_can_have_is_refused() {
    let served = Served::with(POLICY);
    let many: serde_json::Map<String, Value> = (0..300).map(|n| (format!("V{n}"), json!("x"))).collect();
    assert_eq!(decide(&served, "ls", &Value::Object(many))["verdict"], "ask");
    for env in [json!({"": "x"}), json!({"A=B": "x"}), json!({"A\u{0}": "x"}), json!({"A": "x\u{0}"})] {
        let (status, told) = served.post(None, "/v1/decisions", &json!({"command": "ls", "env": env}));
        assert_eq!((status, &told["error"]["code"]), (400, &json!("call-malformed")), "{env}: {told}");
    }
}
