//! What a permission request is about: from the agent's `toolCall` to a call that can be judged.
//!
//! Every agent fills it differently (measured, see `docs/acp.md`): with a tool's name and its exact input; with an
//! input alone; with a title alone. A `kind` is never believed, a title only from the agent that is known to put its
//! command there. What is missing or odd is a call without a name, which no default allows.

use super::judge::AcpCall;
use super::sessions::KnownCall;
use crate::Agent;
use crate::agent::Acp;
use sayso_policy::Request;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// The name of a call that cannot be told what it is. Only a rule that names it allows it.
pub(super) const UNNAMED: &str = "acp:unnamed";

/// A call, and whether everything is known of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Understood {
    /// What it seems to be.
    pub(super) call: AcpCall,
    /// The input was not given in full: at best a person decides.
    pub(super) doubtful: bool,
    /// What else it may be, by all that was told of it. What denies one of these denies it; none of them allows it.
    pub(super) readings: Vec<AcpCall>,
}

/// Reads a tool call as its agent shows it. `known` has learned everything that was told of it.
pub(super) fn understood(known: &KnownCall, id: &str, agent: Option<Agent>, folder: Option<&Path>) -> Understood {
    let folder = folder.map(Path::to_owned);
    let here = folder.clone();
    let mut understood = match (&known.name, &known.raw_input) {
        (Some(name), Some(Value::Object(input))) => named(name, known, input, folder),
        (Some(name), _) => doubtful(AcpCall::tool(name.clone(), shown(known), folder)),
        (None, Some(Value::Object(input))) => by_input(known, input, agent, folder),
        (None, None) => by_title(known, id, agent, folder),
        (None, Some(_)) => unnamed(known, folder),
    };
    if understood.doubtful {
        understood.readings = readings(known, here.as_deref());
    }
    for call in std::iter::once(&mut understood.call).chain(&mut understood.readings) {
        call.kind.clone_from(&known.kind);
        call.id = Some(id.to_owned());
    }
    understood
}

/// What a call may be of which not everything is known. A kind, a title and text that it shows are not believed where
/// they would allow something, but an agent that says "edit" and names a file means to change it.
fn readings(known: &KnownCall, folder: Option<&Path>) -> Vec<AcpCall> {
    let folder = || folder.map(Path::to_owned);
    let kind = known.kind.as_deref().unwrap_or_default();
    let mut found = Vec::new();
    if !known.diffs.is_empty() || matches!(kind, "edit" | "delete" | "move") && !known.paths.is_empty() {
        found.push(AcpCall::tool("edit", json!({"paths": known.paths}), folder()));
    }
    let names = [known.name.as_ref(), known.title.as_ref(), known.first_title.as_ref()];
    for input in [&known.raw_input, &known.shown_input].into_iter().flatten().filter_map(Value::as_object) {
        for name in names.into_iter().flatten().filter(|name| is_name(name)) {
            found.push(AcpCall::tool(name.clone(), Value::Object(input.clone()), folder()));
        }
        if input.contains_key("command") {
            found.push(AcpCall::tool("shell", command_input(input), folder()));
        }
        if let "edit" | "delete" | "read" = kind {
            found.push(AcpCall::tool(kind, Value::Object(input.clone()), folder()));
        }
    }
    if let ("execute", Some(title)) = (kind, &known.title) {
        let bare = title.trim().trim_matches('`');
        found.push(AcpCall::tool("shell", json!({"command": bare}), folder()));
    }
    found
}

/// The files that an edit changes, if it shows a difference of each of them: then nothing else is changed.
fn edited(known: &KnownCall) -> Option<&[String]> {
    let whole = known.kind.as_deref() == Some("edit") && !known.diffs.is_empty();
    (whole && known.paths.iter().all(|path| known.diffs.contains(path))).then_some(&known.diffs)
}

pub(super) fn certain(call: AcpCall) -> Understood {
    Understood { call, doubtful: false, readings: Vec::new() }
}

fn doubtful(call: AcpCall) -> Understood {
    Understood { call, doubtful: true, readings: Vec::new() }
}

fn named(name: &str, known: &KnownCall, input: &Map<String, Value>, folder: Option<PathBuf>) -> Understood {
    let mut call = AcpCall::tool(name, Value::Object(input.clone()), folder);
    if let Request::Tool { server, .. } = &mut call.request {
        server.clone_from(&known.server);
    }
    certain(call)
}

/// An input without a tool's name.
fn by_input(
    known: &KnownCall,
    input: &Map<String, Value>,
    agent: Option<Agent>,
    folder: Option<PathBuf>,
) -> Understood {
    let command = input.get("command").filter(|command| command.is_string() || command.is_array());
    let acp = agent.map_or(&Acp::PLAIN, |agent| &agent.row().acp);
    let named = known.first_title.as_ref().filter(|name| {
        let is_command = command.is_some_and(|command| command.as_str() == Some(name));
        acp.first_title_is_tool && is_name(name) && *name != "bash" && !is_command
    });
    if let Some(name) = named {
        return certain(AcpCall::tool(name.clone(), Value::Object(input.clone()), folder));
    }
    // A server's tool may have a parameter of that name too, and then says of itself that it is something else.
    let is_shell = acp.command_is_shell || known.kind.as_deref().is_none_or(|kind| kind == "execute");
    if command.is_some() && is_shell {
        return certain(AcpCall::tool("shell", command_input(input), folder));
    }
    match (acp.edited)(input).filter(|_| command.is_none()) {
        Some(paths) => certain(AcpCall::tool("edit", json!({"paths": paths}), folder)),
        None => unnamed(known, folder),
    }
}

/// A command's input without what only comments on it.
fn command_input(input: &Map<String, Value>) -> Value {
    let remark = |key: &str, value: &Value| Agent::ALL.iter().any(|agent| (agent.row().acp.is_remark)(key, value));
    let kept = input.iter().filter(|(key, value)| !remark(key, value));
    Value::Object(kept.map(|(key, value)| (key.clone(), value.clone())).collect())
}

/// A call without an input. Some agents put the command into the title and begin the call's id with the tool's name; some
/// have shown an edit's differences before, and the request names the files.
fn by_title(known: &KnownCall, id: &str, agent: Option<Agent>, folder: Option<PathBuf>) -> Understood {
    let shows = agent.is_some_and(|agent| agent.row().acp.edits_show_differences);
    if let Some(paths) = edited(known).filter(|_| shows) {
        return certain(AcpCall::tool("edit", json!({"paths": paths}), folder));
    }
    let tool = id.split_once("__").map(|(tool, _)| tool).filter(|tool| is_name(tool));
    let titled = agent.is_none_or(|agent| agent.row().acp.title_is_command);
    let Some(tool) = tool.filter(|_| titled) else { return unnamed(known, folder) };
    match (tool, &known.title) {
        ("run_shell_command", Some(command)) => {
            // A folder that is not the session's is only a word: then no folder is known.
            let here = |stated: &String| folder.as_deref() == Some(Path::new(stated));
            let folder = folder.clone().filter(|_| known.elsewhere.as_ref().is_none_or(here));
            certain(AcpCall::tool(tool, json!({"command": command}), folder))
        }
        ("write_file" | "replace", _) => match edited(known) {
            Some(paths) => certain(AcpCall::tool("edit", json!({"paths": paths}), folder)),
            None => doubtful(AcpCall::tool(tool, shown(known), folder)),
        },
        _ => doubtful(AcpCall::tool(tool, shown(known), folder)),
    }
}

fn unnamed(known: &KnownCall, folder: Option<PathBuf>) -> Understood {
    doubtful(AcpCall::tool(UNNAMED, shown(known), folder))
}

/// Everything that a call shows. A title counts as a command against what denies.
pub(super) fn shown(known: &KnownCall) -> Value {
    let mut all = Map::new();
    if let Some(title) = &known.title {
        all.insert("command".to_owned(), Value::from(title.clone()));
    }
    if let Some(input) = known.raw_input.as_ref().filter(|input| !input.is_null()) {
        all.insert("input".to_owned(), input.clone());
    }
    if !known.paths.is_empty() {
        all.insert("paths".to_owned(), json!(known.paths));
    }
    Value::Object(all)
}

fn is_name(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(told: Value, agent: Option<Agent>) -> (String, Value, bool) {
        let mut known = KnownCall::default();
        known.learn(&told);
        let id = told["toolCallId"].as_str().unwrap_or("x").to_owned();
        let understood = understood(&known, &id, agent, Some(Path::new("/p")));
        match understood.call.request {
            Request::Tool { name, arguments, .. } => (name, arguments, understood.doubtful),
            Request::Command(_) => unreachable!(),
        }
    }

    #[test]
    fn the_command_is_found_where_each_agent_puts_it() {
        let claude = json!({"name": "Bash", "rawInput": {"command": "touch a"}, "title": "Terminal"});
        assert_eq!(read(claude, None), ("Bash".to_owned(), json!({"command": "touch a"}), false));
        let codex = json!({"title": "x", "rawInput": {"command": ["/bin/bash", "-lc", "touch a"], "cwd": "/p",
            "parsed_cmd": [{"cmd": "rm b"}], "reason": "r", "call_id": "c"}});
        let expected = json!({"command": ["/bin/bash", "-lc", "touch a"], "cwd": "/p"});
        assert_eq!(read(codex, Some(Agent::CODEX)), ("shell".to_owned(), expected, false));
        let gemini = json!({"toolCallId": "run_shell_command__1", "title": "touch a", "kind": "read"});
        let expected = ("run_shell_command".to_owned(), json!({"command": "touch a"}), false);
        assert_eq!(read(gemini.clone(), Some(Agent::GEMINI)), expected);
        assert_eq!(read(gemini, None), expected);
        let copilot = json!({"title": "harmless", "rawInput": {"command": "rm a", "commands": [{"identifier": "rm"}]}});
        assert_eq!(read(copilot, Some(Agent::COPILOT)), ("shell".to_owned(), json!({"command": "rm a"}), false));
    }

    #[test]
    fn a_title_is_no_command_of_another_agent() {
        let told = json!({"toolCallId": "run_shell_command__1", "title": "touch a"});
        assert_eq!(read(told, Some(Agent::COPILOT)).0, UNNAMED);
        assert_eq!(read(json!({"title": "touch a", "kind": "read"}), None).0, UNNAMED);
    }

    #[test]
    fn what_is_missing_or_odd_leaves_a_doubt() {
        for told in [
            json!({"name": "Bash"}),
            json!({"name": "Bash", "rawInput": "touch a"}),
            json!({"rawInput": ["touch", "a"]}),
            json!({"rawInput": {"path": "/x"}, "kind": "read"}),
            json!({"rawInput": {"command": 7}}),
            json!({"rawInput": {"command": "touch a"}, "kind": "other"}),
            json!({"title": "touch a", "kind": "execute"}),
            json!({"toolCallId": "write_file__1", "title": "Writing", "locations": [{"path": "/p/a"}]}),
            json!({}),
        ] {
            assert!(read(told.clone(), None).2, "{told}");
        }
    }

    fn readings_of(told: &[Value]) -> Vec<(String, Value)> {
        let mut known = KnownCall::default();
        told.iter().for_each(|one| known.learn(one));
        let understood = understood(&known, "x", None, Some(Path::new("/p")));
        assert!(understood.doubtful, "{told:?}");
        let one = |call: AcpCall| match call.request {
            Request::Tool { name, arguments, .. } => (name, arguments),
            Request::Command(_) => unreachable!(),
        };
        understood.readings.into_iter().map(one).collect()
    }

    #[test]
    fn what_is_not_known_in_full_is_read_in_every_way_that_could_deny_it() {
        // Codex, from version 2: differences first, then a request that names files; a move names only the old one.
        let diff = json!({"kind": "edit", "title": "Editing files", "content": [{"type": "diff", "path": "/p/new"}]});
        let asks = json!({"kind": "edit", "title": "Edit files", "locations": [{"path": "/p/old"}]});
        let paths = json!({"paths": ["/p/new", "/p/old"]});
        assert!(readings_of(&[diff, asks]).contains(&("edit".to_owned(), paths)));
        // Kimi: the input is a text, the title is the tool's name.
        let text = json!({"type": "content", "content": {"type": "text", "text": "{\"command\":\"touch a\"}"}});
        let told = json!({"kind": "execute", "title": "Bash", "content": [text]});
        let found = readings_of(&[told, json!({"title": "Bash"})]);
        for name in ["Bash", "shell"] {
            assert!(found.contains(&(name.to_owned(), json!({"command": "touch a"}))), "{found:?}");
        }
        let found = readings_of(&[json!({"kind": "execute", "title": "`rm a`"})]);
        assert_eq!(found, [("shell".to_owned(), json!({"command": "rm a"}))]);
    }

    #[test]
    fn a_tool_is_named_in_meta_too() {
        let qwen = json!({"kind": "edit", "title": "Edit a", "rawInput": {"file_path": "/p/a", "old_string": "x"},
            "_meta": {"toolName": "edit"}});
        let input = json!({"file_path": "/p/a", "old_string": "x"});
        assert_eq!(read(qwen, None), ("edit".to_owned(), input, false));
    }

    #[test]
    fn an_edit_that_shows_all_its_differences_is_known() {
        let content = json!([{"type": "diff", "path": "/p/a", "oldText": "", "newText": "x"}]);
        let gemini = json!({"toolCallId": "write_file__1", "kind": "edit", "title": "Writing to a", "content": content,
            "locations": [{"path": "/p/a"}]});
        let expected = ("edit".to_owned(), json!({"paths": ["/p/a"]}), false);
        assert_eq!(read(gemini, Some(Agent::GEMINI)), expected);
        let codex = json!({"kind": "edit", "title": "Edit files", "content": content, "locations": [{"path": "/p/a"}]});
        assert_eq!(read(codex, Some(Agent::CODEX)), expected);
        let more = json!({"kind": "edit", "content": content, "locations": [{"path": "/p/b"}]});
        assert_eq!(read(more, Some(Agent::CODEX)).0, UNNAMED);
    }

    #[test]
    fn an_opencode_call_is_named_by_its_first_title_only() {
        let mut known = KnownCall::default();
        known.learn(&json!({"title": "write", "rawInput": {}}));
        known.learn(&json!({"title": "read", "rawInput": {"filepath": "/p/a", "diff": "x"}}));
        let name_of = |known: &KnownCall| match understood(known, "c", Some(Agent::OPENCODE), None).call.request {
            Request::Tool { name, .. } => name,
            Request::Command(_) => unreachable!(),
        };
        assert_eq!(name_of(&known), "write");
        for (first, command, expected) in
            [("bash", "ls", "shell"), ("ls", "ls", "shell"), ("demo_run", "ls", "demo_run")]
        {
            let mut known = KnownCall::default();
            known.learn(&json!({"title": first, "rawInput": {"command": command}}));
            assert_eq!(name_of(&known), expected);
        }
    }
}
