//! What real agents sent to their hooks, kept outside this repository: `SAYSO_CAPTURES` names the folder, else
//! `../shared/agents/captures` beside the workspace is tried.

use crate::answer::meaning;
use crate::session::Session;
use sayso_agents::Agent;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The texts that hooks were given, by whom.
fn hook_inputs(folder: &Path) -> Vec<(Agent, String)> {
    let mut found = Vec::new();
    for agents in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
        let agent = match agents.file_name().unwrap().to_str().unwrap() {
            "claude-code" | "acp-claude" => Agent::CLAUDE_CODE,
            "cli-codex" | "acp-codex" => Agent::CODEX,
            "cli-gemini" | "acp-gemini" => Agent::GEMINI,
            _ => continue,
        };
        for file in std::fs::read_dir(&agents).unwrap().map(|entry| entry.unwrap().path()) {
            let capture: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
            let calls = capture.get("hook_calls").and_then(Value::as_array).into_iter().flatten();
            found.extend(calls.filter_map(|call| Some((agent, call.get("raw")?.as_str()?.to_owned()))));
        }
    }
    found
}

#[test]
fn what_real_agents_sent_is_understood() {
    let folder = std::env::var_os("SAYSO_CAPTURES").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/agents/captures"),
        PathBuf::from,
    );
    if !folder.is_dir() {
        eprintln!("no captures at {}: nothing checked", folder.display());
        return;
    }
    let inputs = hook_inputs(&folder);
    assert!(inputs.len() > 50, "only {} captures in {}", inputs.len(), folder.display());
    for (agent, input) in inputs {
        let session = Session::with(
            agent,
            "default = \"ask\"\n[allow]\nrun = [\"touch\"]\nread = [\"/**\"]\nwrite = [\"/**\"]\n",
        );
        let output = session.hook(input.as_bytes());
        let (said, why) = meaning(agent, &output);
        let record = session.records().pop().unwrap_or_else(|| panic!("nothing recorded for {input}"));
        assert!(record.reasons.iter().all(|reason| reason.code != "call-malformed"), "{input}");
        assert_eq!(record.actor.agent.as_deref(), Some(agent.name()));
        assert!(record.actor.session.is_some() && record.cwd.is_some() && record.workspace.is_some(), "{input}");
        if input.contains("touch proof") {
            assert_eq!(record.command.as_deref(), Some("touch proof"));
            // To Codex an allow is silence.
            let allowed = if agent == Agent::CODEX { "silent" } else { "allow" };
            assert_eq!(said, allowed, "{why} {input}");
        } else {
            assert!(["allow", "ask", "deny"].contains(&said), "{said} {input}");
        }
    }
}
