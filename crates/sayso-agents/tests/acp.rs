//! The ACP proxy, message by message: what is passed, answered, changed and refused.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::allow_attributes,
    reason = "a failed unwrap is a failed test"
)]

use sayso_agents::acp::{McpGateway, Onward, Proxy, Routed, Setting, Side};
use sayso_gate::Places;
use sayso_gate::audit::{Log, Query};
use sayso_policy::{Layer, PolicyText};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

const POLICY: &str = r#"
[allow]
run = ["touch", "git status"]
read = ["./**"]
write = ["./**"]
tool = ["mcp:demo/echo"]

[ask]
run = ["mkdir"]

[deny]
run = ["rm"]
read = ["@secrets"]
write = ["./denied*"]
"#;

struct Pipe {
    proxy: Arc<Proxy>,
    folder: tempfile::TempDir,
}

impl Pipe {
    fn with(policy: &str, change: impl FnOnce(&mut Setting)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        std::fs::create_dir(&home).unwrap();
        std::fs::create_dir(folder.path().join("project")).unwrap();
        let mut setting = Setting::new(Places::below(&home, folder.path()));
        setting.given = Some(vec![PolicyText {
            layer: Layer::Given,
            name: "test.toml".to_owned(),
            text: policy.to_owned(),
            trusted: true,
        }]);
        change(&mut setting);
        Self { proxy: Proxy::new(setting), folder }
    }

    /// A session that has begun.
    fn new(policy: &str) -> Self {
        let pipe = Self::with(policy, |_| {});
        pipe.begin(json!({"sessionId": "s"}));
        pipe
    }

    fn begin(&self, result: Value) -> Routed {
        let new = json!({"jsonrpc": "2.0", "id": 2, "method": "session/new", "params": {"cwd": self.project(), "mcpServers": []}});
        assert_eq!(self.client(&new), Routed { onward: Onward::AsItCame, said: vec![] });
        self.agent(&json!({"jsonrpc": "2.0", "id": 2, "result": result}))
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("project").canonicalize().unwrap()
    }

    fn path(&self, name: &str) -> String {
        self.project().join(name).display().to_string()
    }

    fn client(&self, message: &Value) -> Routed {
        self.proxy.route(Side::Client, format!("{message}\n").as_bytes())
    }

    fn agent(&self, message: &Value) -> Routed {
        self.proxy.route(Side::Agent, format!("{message}\n").as_bytes())
    }

    /// What the agent is told at once.
    fn answer(&self, message: &Value) -> Value {
        let routed = self.agent(message);
        assert_eq!(routed.onward, Onward::Nothing, "{message}");
        match routed.said.as_slice() {
            [(Side::Agent, line)] => serde_json::from_slice(line).unwrap(),
            other => panic!("{message} gave {other:?}"),
        }
    }

    fn verdicts(&self) -> Vec<String> {
        let places = Places::below(&self.folder.path().join("home"), self.folder.path());
        let stored = Log::open(&places).unwrap().query(&Query::default()).unwrap();
        stored.iter().map(|one| format!("{} {}", one.record.tool, one.record.verdict)).collect()
    }
}

fn permission(id: u64, tool_call: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": {"sessionId": "s",
        "toolCall": tool_call, "options": [
            {"optionId": "a2", "name": "Always", "kind": "allow_always"},
            {"optionId": "a1", "name": "Yes", "kind": "allow_once"},
            {"optionId": "r1", "name": "No", "kind": "reject_once"}]}})
}

fn bash(id: u64, command: &str) -> Value {
    permission(
        id,
        json!({"toolCallId": format!("c{id}"), "name": "Bash", "kind": "read", "title": "t", "rawInput": {"command": command}}),
    )
}

fn chosen(answer: &Value) -> &str {
    answer.pointer("/result/outcome/optionId").and_then(Value::as_str).unwrap_or("none")
}

fn instead(routed: &Routed) -> Value {
    match &routed.onward {
        Onward::Instead(line) => {
            assert!(line.ends_with(b"\n"));
            serde_json::from_slice(line).unwrap()
        }
        other => panic!("{other:?}"),
    }
}

fn passed() -> Routed {
    Routed { onward: Onward::AsItCame, said: vec![] }
}

#[test]
fn allow_takes_the_option_that_allows_once_and_deny_the_one_that_rejects_once() {
    let pipe = Pipe::new(POLICY);
    assert_eq!(
        pipe.answer(&bash(1, "touch a")),
        json!({"jsonrpc": "2.0", "id": 1, "result": {"outcome": {"outcome": "selected", "optionId": "a1"}}})
    );
    let denied = pipe.answer(&bash(2, "rm a"));
    assert_eq!(chosen(&denied), "r1");
    assert!(denied["result"]["_meta"]["sayso"]["why"].as_str().unwrap().contains("deny"), "{denied}");
    assert_eq!(chosen(&pipe.answer(&bash(3, "cat .env"))), "r1");
    assert_eq!(pipe.verdicts(), ["bash_execute deny", "bash_execute deny", "bash_execute allow"]);
}

#[test]
fn without_an_option_that_rejects_once_deny_cancels() {
    let pipe = Pipe::new(POLICY);
    let mut asked = bash(1, "rm a");
    asked["params"]["options"] =
        json!([{"optionId": "r", "kind": "reject_always"}, {"optionId": "a", "kind": "allow_once"}]);
    assert_eq!(pipe.answer(&asked)["result"]["outcome"], json!({"outcome": "cancelled"}));
}

#[test]
fn nothing_is_allowed_for_ever_on_the_owners_behalf() {
    let pipe = Pipe::new(POLICY);
    let mut asked = bash(1, "touch a");
    asked["params"]["options"] =
        json!([{"optionId": "a", "kind": "allow_always"}, {"optionId": "r", "kind": "reject_once"}]);
    let shown = instead(&pipe.agent(&asked));
    assert_eq!(shown["params"]["options"], json!([{"optionId": "r", "kind": "reject_once"}]));
}

#[test]
fn an_ask_goes_to_the_editor_without_the_answers_that_the_agent_would_remember() {
    let pipe = Pipe::new(POLICY);
    let shown = instead(&pipe.agent(&bash(7, "mkdir a")));
    assert_eq!(shown["id"], 7);
    let kinds: Vec<_> = shown["params"]["options"].as_array().unwrap().iter().map(|o| o["kind"].clone()).collect();
    assert_eq!(kinds, ["allow_once", "reject_once"]);
    let why = shown["params"]["toolCall"]["content"][0]["content"]["text"].as_str().unwrap();
    assert!(why.contains("Sayso: ask"), "{why}");

    let yes = json!({"jsonrpc": "2.0", "id": 7, "result": {"outcome": {"outcome": "selected", "optionId": "a1"}}});
    assert_eq!(pipe.client(&yes), passed());
    assert!(matches!(pipe.agent(&bash(8, "mkdir a")).onward, Onward::Instead(_)), "one yes is for one call");
    let always = json!({"jsonrpc": "2.0", "id": 8, "result": {"outcome": {"outcome": "selected", "optionId": "a2"}}});
    assert_eq!(instead(&pipe.client(&always))["result"]["outcome"], json!({"outcome": "cancelled"}));
}

#[test]
fn a_rule_may_leave_always_to_the_agent() {
    let pipe = Pipe::new(&POLICY.replace("\"mcp:demo/echo\"", "\"acp:allow_always\""));
    let shown = instead(&pipe.agent(&bash(7, "mkdir a")));
    assert_eq!(shown["params"]["options"].as_array().unwrap().len(), 3);
}

#[test]
fn missing_or_odd_input_is_asked_about_and_still_denied() {
    let pipe = Pipe::new(POLICY);
    for (at, call) in [
        json!({"toolCallId": "x"}),
        json!({"toolCallId": "x1", "name": "Bash"}),
        json!({"toolCallId": "x2", "name": "Bash", "rawInput": null, "title": "touch a"}),
        json!({"toolCallId": "x3", "name": "Bash", "rawInput": {}}),
        json!({"toolCallId": "x4", "rawInput": "touch a"}),
        json!({"toolCallId": "x5", "rawInput": ["touch", "a"]}),
        json!({"toolCallId": "x6", "title": "touch a", "kind": "execute"}),
        json!({"toolCallId": "x7", "rawInput": {"command": 7}}),
        json!({"toolCallId": "x8", "rawInput": {"file_path": "/p"}, "kind": "read", "title": "git status"}),
        json!({"toolCallId": "mcp_demo_echo__1", "title": "echo (demo MCP Server)"}),
    ]
    .into_iter()
    .enumerate()
    {
        let routed = pipe.agent(&permission(100 + at as u64, call.clone()));
        assert!(matches!(routed.onward, Onward::Instead(_)), "{call} gave {routed:?}");
    }
    let hidden = json!({"toolCallId": "y", "title": "rm -rf a"});
    let routed = pipe.agent(&permission(200, hidden));
    assert!(!matches!(routed.onward, Onward::AsItCame), "{routed:?}");
}

#[test]
fn each_agents_own_words_are_understood() {
    let pipe = Pipe::new(POLICY);
    let codex = json!({"toolCallId": "c", "title": "x", "kind": "execute", "rawInput": {"call_id": "c", "command": ["/bin/bash", "-lc", "touch a"],
        "cwd": pipe.project(), "parsed_cmd": [{"type": "unknown", "cmd": "touch a"}], "available_decisions": ["approved"]}});
    assert_eq!(chosen(&pipe.answer(&permission(1, codex))), "a1");
    let codex = json!({"toolCallId": "d", "title": "touch a", "rawInput": {"command": ["/bin/bash", "-lc", "rm a"]}});
    assert_eq!(chosen(&pipe.answer(&permission(2, codex))), "r1");
    let gemini = json!({"toolCallId": "run_shell_command__1", "title": "touch a", "kind": "execute", "locations": [],
        "content": [{"type": "content", "content": {"type": "text", "text": format!("[current working directory {}] (x)", pipe.project().display())}}]});
    assert_eq!(chosen(&pipe.answer(&permission(3, gemini))), "a1");
    let copilot =
        json!({"toolCallId": "e", "title": "touch a", "rawInput": {"command": "rm a", "commands": ["touch"]}});
    assert_eq!(chosen(&pipe.answer(&permission(4, copilot))), "r1");
    let server = json!({"toolCallId": "f", "name": "mcp__demo__echo", "rawInput": {"text": "yo"}, "_meta": {"claudeCode": {"mcpServer": {"name": "demo"}}}});
    assert_eq!(chosen(&pipe.answer(&permission(5, server))), "a1");
}

fn update(update: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}})
}

#[test]
fn what_a_request_leaves_out_is_denied_by_what_was_told_of_the_call() {
    let diff =
        |pipe: &Pipe, name: &str| json!({"type": "diff", "path": pipe.path(name), "oldText": "", "newText": "x"});
    let told = |id: &str, more: Value| {
        let mut told = json!({"sessionUpdate": "tool_call", "toolCallId": id, "status": "pending"});
        told.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        update(told)
    };
    let pipe = Pipe::new(POLICY);
    // An edit that names files and has no input.
    for (id, call) in [
        (
            1,
            json!({"toolCallId": "a", "kind": "edit", "title": "Edit files", "locations": [{"path": pipe.path("denied")}]}),
        ),
        (2, json!({"toolCallId": "b", "title": "Edit files", "content": [diff(&pipe, "denied")]})),
        (3, json!({"toolCallId": "c", "kind": "delete", "title": "x", "locations": [{"path": pipe.path("denied")}]})),
        (
            4,
            json!({"toolCallId": "d", "kind": "edit", "title": "x", "rawInput": {"file_path": pipe.path("denied"), "content": "x"}}),
        ),
        (
            5,
            json!({"toolCallId": "e", "kind": "edit", "title": "x", "rawInput": {"file_path": pipe.path("denied")}, "_meta": {"toolName": "write_file"}}),
        ),
        (6, json!({"toolCallId": "f", "kind": "execute", "title": "`rm a`"})),
    ] {
        assert_eq!(chosen(&pipe.answer(&permission(id, call.clone()))), "r1", "{call}");
    }
    // The difference came before, and the request names only the file that is moved.
    pipe.agent(&told("g", json!({"kind": "edit", "title": "Editing files", "content": [diff(&pipe, "denied")]})));
    let asks = json!({"toolCallId": "g", "title": "Edit files", "locations": [{"path": pipe.path("old")}]});
    assert_eq!(chosen(&pipe.answer(&permission(7, asks))), "r1");
    // The input came as text.
    let text = json!([{"type": "content", "content": {"type": "text", "text": "{\"command\": \"rm a\"}"}}]);
    pipe.agent(&told("h", json!({"kind": "execute", "title": "Bash", "content": text})));
    let asks = json!({"toolCallId": "h", "title": "Bash", "content": [{"type": "content", "content": {"type": "text", "text": "Requesting approval"}}]});
    assert_eq!(chosen(&pipe.answer(&permission(8, asks))), "r1");
    // What nothing denies is asked about: it is not known in full.
    pipe.agent(&told("i", json!({"kind": "edit", "title": "x", "locations": [{"path": pipe.path("fine")}]})));
    let routed = pipe.agent(&permission(9, json!({"toolCallId": "i"})));
    assert!(matches!(routed.onward, Onward::Instead(_)), "{routed:?}");
}

#[test]
fn an_edit_that_is_known_in_full_and_allowed_asks_nobody() {
    for name in ["gemini", "codex"] {
        let pipe = Pipe::with(POLICY, |setting| setting.agent = Some(name.to_owned()));
        pipe.begin(
            json!({"sessionId": "s", "modes": {"currentModeId": "read-only", "availableModes": [{"id": "read-only"}]}}),
        );
        let edit = |id: u64, file: &str| {
            let path = pipe.path(file);
            permission(
                id,
                json!({"toolCallId": format!("write_file__{id}"), "kind": "edit", "title": "Writing",
                "content": [{"type": "diff", "path": path, "oldText": "", "newText": "x"}], "locations": [{"path": path}]}),
            )
        };
        assert_eq!(chosen(&pipe.answer(&edit(1, "fine"))), "a1", "{name}");
        assert_eq!(chosen(&pipe.answer(&edit(2, "denied"))), "r1", "{name}");
    }
}

#[test]
fn an_agent_that_should_tell_its_mode_and_does_not_is_put_into_one_that_asks() {
    let pipe = Pipe::with(POLICY, |setting| setting.agent = Some("codex".to_owned()));
    let routed = pipe.begin(json!({"sessionId": "s"}));
    let [(Side::Agent, line)] = routed.said.as_slice() else { panic!("{routed:?}") };
    let set: Value = serde_json::from_slice(line).unwrap();
    assert_eq!((&set["method"], &set["params"]["modeId"]), (&json!("session/set_mode"), &json!("read-only")));
    let routed = pipe.agent(&json!({"jsonrpc": "2.0", "id": set["id"], "error": {"code": 1, "message": "no"}}));
    let told: Value = serde_json::from_slice(&routed.said[0].1).unwrap();
    assert_eq!(told["error"]["code"], -32010, "{told}");
}

#[test]
fn copilots_modes_are_known_by_their_addresses() {
    for (mode, starts) in [("agent", true), ("plan", true), ("autopilot", false)] {
        let pipe = Pipe::with(POLICY, |setting| setting.agent = Some("copilot".to_owned()));
        let id = format!("https://agentclientprotocol.com/protocol/session-modes#{mode}");
        let routed =
            pipe.begin(json!({"sessionId": "s", "modes": {"currentModeId": id, "availableModes": [{"id": id}]}}));
        assert_eq!(routed == passed(), starts, "{mode}: {routed:?}");
    }
}

#[test]
fn a_permission_request_may_rely_on_what_was_told_before() {
    let pipe = Pipe::new(POLICY);
    let told = json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": {
        "sessionUpdate": "tool_call", "toolCallId": "c", "name": "Bash", "rawInput": {"command": "rm a"}, "status": "pending", "title": "t"}}});
    assert_eq!(pipe.agent(&told), passed());
    assert_eq!(chosen(&pipe.answer(&permission(1, json!({"toolCallId": "c"})))), "r1");
}

#[test]
fn a_governed_request_that_does_not_fit_is_answered_with_an_error() {
    let pipe = Pipe::new(POLICY);
    let good = bash(1, "touch a");
    let change = |pointer: &str, value: Value| {
        let mut bad = good.clone();
        *bad.pointer_mut(pointer).unwrap() = value;
        bad
    };
    let mut all = vec![
        change("/params/sessionId", json!(1)),
        change("/params/toolCall", json!([])),
        change("/params/toolCall/toolCallId", json!(null)),
        change("/params/options", json!({})),
        change("/params/options/0/optionId", json!(7)),
        change("/params/options/0/optionId", json!("a1")),
        change("/params", json!([])),
        change("/params", json!("x")),
        json!({"jsonrpc": "2.0", "id": 1, "method": "session/request_permission"}),
    ];
    for path in [json!(null), json!(7), json!("relative"), json!("./x")] {
        all.push(json!({"id": 1, "method": "fs/read_text_file", "params": {"sessionId": "s", "path": path}}));
    }
    all.push(json!({"id": 1, "method": "fs/write_text_file", "params": {"sessionId": "s", "path": "/x"}}));
    all.push(json!({"id": 1, "method": "fs/write_text_file", "params": {"sessionId": "s", "path": "/x", "Path": "/y", "content": ""}}));
    all.push(json!({"id": 1, "method": "terminal/create", "params": {"sessionId": "s", "command": ["ls"]}}));
    all.push(json!({"id": 1, "method": "terminal/create", "params": {"sessionId": "s", "command": "ls", "args": "x"}}));
    for bad in all {
        let answer = pipe.answer(&bad);
        assert_eq!(answer["id"], 1, "{bad}");
        assert!(answer["error"]["message"].as_str().unwrap().contains("call-malformed"), "{bad} gave {answer}");
    }
    for id in [json!(null), json!(9_007_199_254_740_993_u64)] {
        let answer = pipe.answer(&change("/id", id));
        assert!(answer["error"].is_object());
    }
    let notification =
        json!({"method": "fs/write_text_file", "params": {"sessionId": "s", "path": "/x", "content": ""}});
    assert_eq!(pipe.answer(&notification)["id"], Value::Null);
}

#[test]
fn lines_that_two_readers_could_read_differently_are_refused_with_an_error() {
    let pipe = Pipe::new(POLICY);
    let hidden = r#"{"id":5,"method":"fs/write_text_file","params":{"sessionId":"s","path":"/etc/x","content":""}}"#;
    for line in [
        hidden.replace("\"id\":5", "\"id\":5,\"method\":\"x\""),
        hidden.replace("\"id\":5", "\"id\":5,\"METHOD\":\"x\""),
        hidden.replace("\"path\":\"/etc/x\"", "\"path\":\"/etc/x\",\"p\\u0061th\":\"/tmp/y\""),
    ] {
        for side in [Side::Agent, Side::Client] {
            let routed = pipe.proxy.route(side, line.as_bytes());
            assert_eq!(routed.onward, Onward::Nothing, "{line}");
            let [(to, answer)] = routed.said.as_slice() else { panic!("{routed:?}") };
            assert_eq!(*to, side);
            let answer: Value = serde_json::from_slice(answer).unwrap();
            assert_eq!(answer["id"], 5, "{line}");
        }
    }
    for line in
        [format!("[{hidden}]"), hidden.replace(",", "\r,"), format!("{hidden}\r{hidden}"), format!("{hidden} {hidden}")]
    {
        let routed = pipe.proxy.route(Side::Agent, line.as_bytes());
        assert!(routed.onward == Onward::Nothing && !routed.said.is_empty(), "{line}");
    }
    let routed = pipe.proxy.route(Side::Agent, b"{\"id\":5,\"result\":\"\xff\"}\n");
    assert_eq!(routed.onward, Onward::Nothing);
    assert_eq!(routed.said.len(), 2, "the client that waits is told too: {routed:?}");
}

#[test]
fn a_governed_method_is_seen_however_it_is_written() {
    let pipe = Pipe::new(POLICY);
    let params = r#"{"sessionId":"s","path":"/etc/passwd","content":"x"}"#;
    for line in [
        format!(r#"{{"id":1,"method":"fs\/write_text_file","params":{params}}}"#),
        format!(r#"{{"params":{params},"id":1,"\u006dethod":"fs/write_text_fil\u0065"}}"#),
        format!(r#"{{"x":{{"method":"ping"}},"params":{params},"method":"fs/write_text_file","id":1}}"#),
    ] {
        let routed = pipe.proxy.route(Side::Agent, line.as_bytes());
        assert_eq!(routed.onward, Onward::Nothing, "{line}");
    }
}

#[test]
fn what_makes_the_client_act_is_judged() {
    let pipe = Pipe::new(POLICY);
    let act = |method: &str, mut params: Value| {
        params["sessionId"] = json!("s");
        json!({"jsonrpc": "2.0", "id": 3, "method": method, "params": params})
    };
    assert_eq!(pipe.agent(&act("fs/read_text_file", json!({"path": pipe.path("a")}))), passed());
    assert_eq!(pipe.agent(&act("fs/write_text_file", json!({"path": pipe.path("a"), "content": "x"}))), passed());
    for denied in [
        act("fs/read_text_file", json!({"path": pipe.path(".env")})),
        act("fs/write_text_file", json!({"path": pipe.path("denied.md"), "content": "x"})),
        act("fs/write_text_file", json!({"path": pipe.path("sub/../denied.md"), "content": "x"})),
        act("terminal/create", json!({"command": "rm", "args": ["a"]})),
        act("terminal/create", json!({"command": "touch a; rm b"})),
        act("terminal/create", json!({"command": "touch", "args": ["a", "; rm b"]})),
        act("terminal/create", json!({"command": "sh", "args": ["-c", "rm b"]})),
    ] {
        let answer = pipe.answer(&denied);
        assert_eq!(answer["error"]["code"], -32010, "{denied} gave {answer}");
    }
    assert_eq!(
        pipe.agent(&act("terminal/create", json!({"command": "touch", "args": ["a"], "cwd": pipe.project()}))),
        passed()
    );
    for harmless in ["terminal/output", "terminal/release", "terminal/wait_for_exit", "terminal/kill"] {
        assert_eq!(pipe.agent(&act(harmless, json!({"terminalId": "t"}))), passed());
    }
}

#[test]
fn where_the_protocol_has_no_question_sayso_asks_the_client_itself() {
    let pipe = Pipe::new(POLICY);
    let mkdir = json!({"jsonrpc": "2.0", "id": "t/1", "method": "terminal/create", "params": {"sessionId": "s", "command": "mkdir", "args": ["a"]}});
    let question = |pipe: &Pipe| {
        let routed = pipe.agent(&mkdir);
        assert_eq!(routed.onward, Onward::Nothing);
        let [(Side::Client, line)] = routed.said.as_slice() else { panic!("{routed:?}") };
        let asked: Value = serde_json::from_slice(line).unwrap();
        assert_eq!(asked["method"], "session/request_permission");
        assert_eq!(asked["params"]["toolCall"]["title"], "mkdir a");
        asked["id"].clone()
    };
    let answer = |id: &Value, option: &str| json!({"jsonrpc": "2.0", "id": id, "result": {"outcome": {"outcome": "selected", "optionId": option}}});

    let id = question(&pipe);
    let routed = pipe.client(&answer(&id, "sayso-allow"));
    assert_eq!(
        routed,
        Routed { onward: Onward::Nothing, said: vec![(Side::Client, format!("{mkdir}\n").into_bytes())] }
    );

    for no in ["sayso-reject", "other"] {
        let id = question(&pipe);
        let routed = pipe.client(&answer(&id, no));
        let [(Side::Agent, line)] = routed.said.as_slice() else { panic!("{routed:?}") };
        let told: Value = serde_json::from_slice(line).unwrap();
        assert_eq!((&told["id"], &told["error"]["code"]), (&json!("t/1"), &json!(-32010)));
    }
}

#[test]
fn a_question_is_cancelled_with_its_request() {
    let pipe = Pipe::new(POLICY);
    let mkdir = json!({"jsonrpc": "2.0", "id": 9, "method": "terminal/create", "params": {"sessionId": "s", "command": "mkdir a"}});
    let routed = pipe.agent(&mkdir);
    let asked: Value = serde_json::from_slice(&routed.said[0].1).unwrap();
    let cancel = json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 9}});
    let routed = pipe.agent(&cancel);
    assert_eq!(routed.onward, Onward::Nothing);
    let said: Vec<(Side, Value)> =
        routed.said.iter().map(|(to, line)| (*to, serde_json::from_slice(line).unwrap())).collect();
    assert_eq!((said[0].0, &said[0].1["id"], &said[0].1["error"]["code"]), (Side::Agent, &json!(9), &json!(-32800)));
    assert_eq!((said[1].0, &said[1].1["params"]["requestId"]), (Side::Client, &asked["id"]));
    assert_eq!(pipe.agent(&cancel), passed(), "one that is not ours passes");
}

#[test]
fn a_write_that_a_person_has_just_agreed_to_is_not_asked_about_again() {
    let pipe = Pipe::new("default = \"ask\"\n");
    let path = pipe.path("a");
    let asked = permission(
        1,
        json!({"toolCallId": "c", "name": "Write", "rawInput": {"file_path": path, "content": "x"},
        "content": [{"type": "diff", "path": path, "oldText": null, "newText": "x"}]}),
    );
    assert!(matches!(pipe.agent(&asked).onward, Onward::Instead(_)));
    pipe.client(&json!({"id": 1, "result": {"outcome": {"outcome": "selected", "optionId": "a1"}}}));
    let write = |content: &str| json!({"id": 2, "method": "fs/write_text_file", "params": {"sessionId": "s", "path": path, "content": content}});
    assert_eq!(pipe.agent(&write("other")).onward, Onward::Nothing);
    assert_eq!(pipe.agent(&write("x")), passed());
    assert_eq!(pipe.agent(&write("x")).onward, Onward::Nothing);
}

#[test]
fn modes_that_silence_are_refused_until_a_rule_allows_them() {
    let set = |mode: &str| json!({"jsonrpc": "2.0", "id": 4, "method": "session/set_mode", "params": {"sessionId": "s", "modeId": mode}});
    let option = |id: &str, value: Value| json!({"jsonrpc": "2.0", "id": 4, "method": "session/set_config_option", "params": {"sessionId": "s", "configId": id, "value": value}});
    let refused = |pipe: &Pipe, message: &Value| {
        let routed = pipe.client(message);
        let [(Side::Client, line)] = routed.said.as_slice() else { panic!("{message} gave {routed:?}") };
        assert_eq!(routed.onward, Onward::Nothing);
        assert_eq!(serde_json::from_slice::<Value>(line).unwrap()["error"]["code"], -32010);
    };
    let pipe = Pipe::new(POLICY);
    for mode in ["bypassPermissions", "acceptEdits", "yolo", "auto", "full-access", "no such mode"] {
        refused(&pipe, &set(mode));
        refused(&pipe, &option("mode", json!(mode)));
    }
    refused(&pipe, &option("allow_all", json!(true)));
    for mode in ["default", "plan"] {
        assert_eq!(pipe.client(&set(mode)), passed());
    }
    assert_eq!(pipe.client(&option("model", json!("big"))), passed());

    let pipe = Pipe::new(&format!(
        "{POLICY}\n[[rule]]\nid = \"edits\"\nallow = {{ tool = \"acp:set_mode\" }}\nwhen = {{ arg.mode = \"acceptEdits\" }}\n"
    ));
    assert_eq!(pipe.client(&set("acceptEdits")), passed());
    refused(&pipe, &set("bypassPermissions"));
    let pipe = Pipe::new(&POLICY.replace("[deny]", "[deny]\ntool = [\"acp:set_mode\"]"));
    refused(&pipe, &set("plan"));
}

#[test]
fn the_rule_in_the_documentation_does_what_it_says() {
    let page = include_str!("../../../docs/acp.md");
    let rule = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let pipe = Pipe::new(rule);
    let set = |mode: &str| json!({"id": 4, "method": "session/set_mode", "params": {"sessionId": "s", "modeId": mode}});
    assert_eq!(pipe.client(&set("acceptEdits")), passed());
    assert_eq!(pipe.client(&set("bypassPermissions")).onward, Onward::Nothing);
}

#[test]
fn a_session_that_starts_in_a_silencing_mode_is_put_back_first() {
    let pipe = Pipe::with(POLICY, |_| {});
    let result = json!({"sessionId": "s", "modes": {"currentModeId": "yolo", "availableModes": [{"id": "default"}, {"id": "yolo"}]},
        "configOptions": [{"id": "mode", "category": "mode", "currentValue": "yolo"}, {"id": "model", "currentValue": "m"}], "extra": 1});
    let routed = pipe.begin(result.clone());
    assert_eq!(routed.onward, Onward::Nothing);
    let [(Side::Agent, line)] = routed.said.as_slice() else { panic!("{routed:?}") };
    let set: Value = serde_json::from_slice(line).unwrap();
    assert_eq!(
        (&set["method"], &set["params"]),
        (&json!("session/set_mode"), &json!({"sessionId": "s", "modeId": "default"}))
    );
    let routed = pipe.agent(&json!({"jsonrpc": "2.0", "id": set["id"], "result": {}}));
    let [(Side::Client, line)] = routed.said.as_slice() else { panic!("{routed:?}") };
    let started: Value = serde_json::from_slice(line).unwrap();
    assert_eq!(started["id"], 2);
    assert_eq!(started["result"]["modes"]["currentModeId"], "default");
    assert_eq!(started["result"]["configOptions"][0]["currentValue"], "default");
    assert_eq!(started["result"]["extra"], 1);

    let pipe = Pipe::with(POLICY, |_| {});
    let set: Value = serde_json::from_slice(&pipe.begin(result).said[0].1).unwrap();
    let routed = pipe.agent(&json!({"jsonrpc": "2.0", "id": set["id"], "error": {"code": 1, "message": "no"}}));
    let told: Value = serde_json::from_slice(&routed.said[0].1).unwrap();
    assert_eq!((&told["id"], &told["error"]["code"]), (&json!(2), &json!(-32010)));
}

#[test]
fn an_answer_to_a_start_that_cannot_be_read_starts_nothing() {
    let pipe = Pipe::with(POLICY, |_| {});
    let new = json!({"id": 2, "method": "session/new", "params": {"cwd": pipe.project(), "mcpServers": []}});
    assert_eq!(pipe.client(&new), passed());
    let odd = br#"{"id":2,"result":{"sessionId":"s","x":"\ud800","modes":{"currentModeId":"yolo"}}}"#;
    let routed = pipe.proxy.route(Side::Agent, odd);
    assert!(routed.onward == Onward::Nothing && routed.said.len() == 1, "{routed:?}");
}

#[test]
fn an_agent_that_switches_its_mode_by_itself_is_put_back() {
    let pipe = Pipe::with(POLICY, |_| {});
    pipe.begin(json!({"sessionId": "s", "modes": {"currentModeId": "plan", "availableModes": []}}));
    let switched = json!({"method": "session/update", "params": {"sessionId": "s", "update": {"sessionUpdate": "current_mode_update", "currentModeId": "bypassPermissions"}}});
    let routed = pipe.agent(&switched);
    assert_eq!(routed.onward, Onward::AsItCame);
    let methods: Vec<(Side, Value)> = routed
        .said
        .iter()
        .map(|(to, line)| (*to, serde_json::from_slice::<Value>(line).unwrap()["method"].clone()))
        .collect();
    assert_eq!(methods, [(Side::Client, json!("session/update")), (Side::Agent, json!("session/set_mode"))]);
}

#[test]
fn what_a_client_sets_in_meta_is_judged_too() {
    let pipe = Pipe::with(POLICY, |_| {});
    let new = json!({"id": 2, "method": "session/new", "params": {"cwd": "/", "mcpServers": [], "_meta": {"claudeCode": {"options": {"permissionMode": "bypassPermissions"}}}}});
    assert_eq!(pipe.client(&new).onward, Onward::Nothing);
}

#[test]
fn servers_go_behind_the_gateway_and_without_one_need_a_rule() {
    let servers = json!([{"name": "fs", "command": "npx", "args": ["x"], "env": []}]);
    let new = json!({"jsonrpc": "2.0", "id": 2, "method": "session/new", "params": {"_meta": {"z": 1}, "cwd": "/p", "mcpServers": servers}});
    let pipe = Pipe::with(POLICY, |setting| {
        setting.gateway = Some(McpGateway { program: "/bin/sayso".to_owned(), arguments: vec!["mcp".to_owned()] });
    });
    for method in ["session/new", "session/load", "session/resume", "session/fork"] {
        let mut start = new.clone();
        start["method"] = json!(method);
        start["id"] = json!(method);
        start["params"]["sessionId"] = json!("s");
        let changed = instead(&pipe.client(&start));
        let expected = json!(["mcp", "--workspace", "/p", "--name", "fs", "--", "npx", "x"]);
        assert_eq!(changed["params"]["mcpServers"][0]["args"], expected, "{method}");
        assert_eq!(changed["params"]["_meta"], json!({"z": 1}));
    }
    assert_eq!(Pipe::with(POLICY, |_| {}).client(&new).onward, Onward::Nothing);
    let allowing = POLICY.replace("\"mcp:demo/echo\"", "\"acp:mcp_server\"");
    assert_eq!(Pipe::with(&allowing, |_| {}).client(&new), passed());
    let mut odd = new.clone();
    odd["params"]["mcpServers"] = json!([{"name": "x", "type": "future", "url": "u"}]);
    assert_eq!(Pipe::with(&allowing, |_| {}).client(&odd).onward, Onward::Nothing);
}

#[test]
fn a_server_that_speaks_through_the_client_is_judged_in_place() {
    let pipe = Pipe::with(POLICY, |_| {});
    let new = json!({"id": 2, "method": "session/new", "params": {"cwd": "/p", "mcpServers": [{"type": "acp", "name": "demo", "serverId": "d1"}]}});
    assert_eq!(pipe.client(&new), passed());
    let call = |server: &str, tool: &str| json!({"id": 3, "method": "mcp/message", "params": {"serverId": server, "requestId": "r", "method": "tools/call", "params": {"name": tool, "arguments": {}}}});
    assert_eq!(pipe.agent(&call("d1", "echo")), passed());
    assert_eq!(pipe.agent(&call("d1", "other")).onward, Onward::Nothing);
    assert_eq!(pipe.agent(&call("d2", "echo")).onward, Onward::Nothing);
    let mut both = call("d1", "echo");
    both["params"]["connectionId"] = json!("d2");
    assert_eq!(pipe.agent(&both).onward, Onward::Nothing, "one server's name is no cover for another");
    let list = json!({"id": 3, "method": "mcp/message", "params": {"serverId": "d1", "requestId": "r", "method": "tools/list"}});
    assert_eq!(pipe.agent(&list), passed());
}

#[test]
fn a_call_that_ran_without_asking_is_marked_and_a_denied_one_reported() {
    for cancel in [false, true] {
        let pipe = Pipe::with(POLICY, |setting| setting.cancel_denied = cancel);
        pipe.begin(json!({"sessionId": "s"}));
        let update = |update: Value| json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}});
        let ran = |id: &str, command: &str| {
            pipe.agent(&update(json!({"sessionUpdate": "tool_call", "toolCallId": id, "name": "Bash", "rawInput": {}, "status": "pending", "title": "Terminal"})));
            pipe.agent(&update(
                json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "rawInput": {"command": command}}),
            ));
            pipe.agent(&update(json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "status": "completed"})))
        };
        assert_eq!(ran("a", "touch a"), passed());
        assert_eq!(ran("b", "mkdir b"), passed());
        let routed = ran("c", "rm c");
        assert_eq!(routed.onward, Onward::AsItCame);
        let said: Vec<Side> = routed.said.iter().map(|(to, _)| *to).collect();
        assert_eq!(said, if cancel { vec![Side::Client, Side::Agent] } else { vec![Side::Client] });
        assert!(String::from_utf8_lossy(&routed.said[0].1).contains("without asking"));

        assert_eq!(chosen(&pipe.answer(&bash(1, "rm d"))), "r1");
        assert_eq!(chosen(&pipe.answer(&bash(2, "rm e"))), "r1");
        let ran = pipe
            .agent(&update(json!({"sessionUpdate": "tool_call_update", "toolCallId": "c2", "status": "completed"})));
        assert!(String::from_utf8_lossy(&ran.said[0].1).contains("although it was denied"));
        let asked =
            pipe.agent(&update(json!({"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "failed"})));
        assert_eq!(asked, passed());
        assert_eq!(pipe.verdicts().len(), 5, "three that were not asked about, two that were");
    }
}

#[test]
fn what_a_turn_used_counts_for_the_limits() {
    let pipe = Pipe::new(&format!("{POLICY}\n[limits.session]\ntokens = 100\n"));
    let turn = |id: u64, tokens: u64| {
        let prompt = json!({"id": id, "method": "session/prompt", "params": {"sessionId": "s", "prompt": []}});
        assert_eq!(pipe.client(&prompt), passed());
        let chosen = chosen(&pipe.answer(&bash(id + 100, "touch a"))).to_owned();
        let done = json!({"id": id, "result": {"stopReason": "end_turn", "usage": {"inputTokens": tokens, "outputTokens": 1}}});
        assert_eq!(pipe.agent(&done), passed());
        chosen
    };
    assert_eq!(turn(10, 60), "a1");
    assert_eq!(turn(11, 60), "a1");
    assert_eq!(turn(12, 60), "r1", "121 tokens are used");
}

#[test]
fn a_call_that_the_person_rejects_takes_nothing_from_the_limits() {
    let pipe = Pipe::new(&format!("{POLICY}\n[limits.session]\ncalls = 2\n"));
    for id in 1..5 {
        assert!(matches!(pipe.agent(&bash(id, "mkdir a")).onward, Onward::Instead(_)), "{id}");
        let no = json!({"id": id, "result": {"outcome": {"outcome": "selected", "optionId": "r1"}}});
        assert_eq!(pipe.client(&no), passed());
    }
    assert_eq!(chosen(&pipe.answer(&bash(8, "touch a"))), "a1");
}

#[test]
fn what_is_told_while_a_session_is_loaded_has_happened_long_ago() {
    let pipe = Pipe::with(POLICY, |_| {});
    let load = json!({"id": 1, "method": "session/load", "params": {"sessionId": "s", "cwd": pipe.project(), "mcpServers": []}});
    assert_eq!(pipe.client(&load), passed());
    let ended = json!({"method": "session/update", "params": {"sessionId": "s", "update": {"sessionUpdate": "tool_call",
        "toolCallId": "a", "name": "Bash", "rawInput": {"command": "rm a"}, "status": "completed", "title": "t"}}});
    assert_eq!(pipe.agent(&ended), passed());
    assert_eq!(pipe.agent(&json!({"id": 1, "result": {}})), passed());
    assert_eq!(pipe.agent(&ended).said.len(), 1);
    assert_eq!(pipe.verdicts(), ["bash_execute deny"]);
}

#[test]
fn everything_else_passes_byte_for_byte() {
    let pipe = Pipe::new(POLICY);
    for line in [
        "{\"jsonrpc\":\"2.0\",\"method\":\"_vendor/thing\",\"params\":{\"z\":1,\"a\":[2 , 3]},\"_meta\":{\"x\":null}}\n",
        "{ \"method\" : \"session/prompt\", \"id\" : 1.0 }\r\n",
        "{\"id\":\"x\\/y\",\"result\":{\"content\":\"\\ud83d\"}}\n",
        "{\"method\":\"session/update\",\"params\":{\"update\":{\"sessionUpdate\":\"agent_message_chunk\",\"method\":\"fs/write_text_file\"},\"sessionId\":\"s\"}}\n",
        "{\"method\":\"elicitation/create\",\"id\":3,\"params\":{}}\n",
        "\n",
        "{\"method\":\"authenticate\",\"id\":4}",
    ] {
        for side in [Side::Client, Side::Agent] {
            assert_eq!(pipe.proxy.route(side, line.as_bytes()), passed(), "{line}");
        }
    }
}

#[test]
fn the_messages_of_a_chain_hide_nothing_where_no_chain_is() {
    let pipe = Pipe::new(POLICY);
    for method in ["proxy/successor", "_proxy/successor", "_proxy/successor/request", "proxy/initialize"] {
        for side in [Side::Client, Side::Agent] {
            let line = json!({"id": 1, "method": method, "params": {"method": "fs/write_text_file", "params": {}}})
                .to_string();
            assert_eq!(pipe.proxy.route(side, line.as_bytes()).onward, Onward::Nothing);
        }
    }
}
