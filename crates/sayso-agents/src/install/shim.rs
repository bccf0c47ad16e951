//! Plugins for agents that run plugins instead of programs. What they say is written down in [`crate::plugin`].

use super::command::{CALL_SECONDS, HookCommand};
use super::part::OwnFile;
use super::{Scope, Setting};
use crate::Agent;
use serde_json::json;

/// How every plugin asks Sayso, and fails closed: the files that are written stand alone, so it is in each of them.
const ASK: &str = include_str!("shim/ask.js");
/// In every plugin file that Sayso wrote.
const OPENCODE_MARK: &str = "Written by `sayso install opencode`";
const OPENCLAW_MARK: &str = "Written by `sayso install openclaw`";

/// OpenCode's plugin: a file in a folder that OpenCode looks into by itself. Measured on 1.18.33.
pub(super) fn opencode(setting: &Setting) -> Result<OwnFile, String> {
    let path = match setting.scope {
        Scope::User => setting.agent_folder_or(".config/opencode").join("plugins/sayso.js"),
        Scope::Project => setting.project.join(".opencode/plugins/sayso.js"),
        Scope::Managed => return Err("OpenCode has no machine-wide plugins".to_owned()),
    };
    let content = filled(OPENCODE_MARK, include_str!("shim/opencode.js"), Agent::OpenCode, setting)?;
    Ok(OwnFile { path, content, mark: OPENCODE_MARK })
}

/// OpenClaw's plugin: a package in a folder that OpenClaw looks into by itself. Measured on 2026.9.6.
pub(super) fn openclaw(setting: &Setting) -> Result<Vec<OwnFile>, String> {
    let folder = match setting.scope {
        Scope::User => setting.agent_folder_or(".openclaw").join("extensions/sayso"),
        Scope::Project => {
            return Err("OpenClaw only runs a workspace's plugins once they are enabled by hand".to_owned());
        }
        Scope::Managed => return Err("OpenClaw has no machine-wide plugins".to_owned()),
    };
    let described = format!("{OPENCLAW_MARK}: puts every tool call to Sayso before it runs.");
    let package = json!({
        "name": "sayso", "version": env!("CARGO_PKG_VERSION"), "private": true, "type": "module",
        "description": described, "openclaw": {"extensions": ["./index.js"]},
    });
    let manifest = json!({
        "id": "sayso", "name": "Sayso", "version": env!("CARGO_PKG_VERSION"), "description": described,
        "activation": {"onStartup": true},
        "configSchema": {"type": "object", "additionalProperties": false, "properties": {}},
    });
    let own = |name: &str, content: String| OwnFile { path: folder.join(name), content, mark: OPENCLAW_MARK };
    let pretty = |value: &serde_json::Value| format!("{value:#}\n");
    Ok(vec![
        own("index.js", filled(OPENCLAW_MARK, include_str!("shim/openclaw.js"), Agent::OpenClaw, setting)?),
        own("package.json", pretty(&package)),
        own("openclaw.plugin.json", pretty(&manifest)),
    ])
}

/// A plugin with its constants in place.
fn filled(mark: &str, source: &str, agent: Agent, setting: &Setting) -> Result<String, String> {
    let command = HookCommand::new(agent, setting)?;
    let patience = u64::from(CALL_SECONDS) * 1000;
    let whole = format!("// {mark}, removed by `sayso uninstall {}`.\n{ASK}{source}", agent.name());
    Ok(whole
        .replace("\"@PROGRAM@\"", &json!(command.program()).to_string())
        .replace("\"@ARGUMENTS@\"", &json!(command.arguments(CALL_SECONDS)).to_string())
        .replace("\"@PATIENCE_MS@\"", &patience.to_string()))
}

/// The program and the home folder that a plugin of ours starts.
pub(super) fn constants(text: &str) -> Option<super::command::Ours> {
    let after = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "));
    let program: String = serde_json::from_str(after("const PROGRAM")?).ok()?;
    let arguments: Vec<String> = serde_json::from_str(after("const ARGUMENTS")?).ok()?;
    Some(super::command::Ours::of(program, &arguments))
}
