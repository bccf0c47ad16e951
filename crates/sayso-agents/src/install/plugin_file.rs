//! Plugins for agents that run plugins instead of programs. What they say is written down in [`crate::plugin`].

use super::Setting;
use super::command::{CALL_SECONDS, HookCommand, Ours};
use crate::Agent;
use serde_json::json;

/// How every plugin asks Sayso, and fails closed: the files that are written stand alone, so it is in each of them.
const ASK: &str = include_str!("ask.js");

/// A plugin with its constants in place.
pub(crate) fn filled(mark: &str, source: &str, agent: Agent, setting: &Setting) -> Result<String, String> {
    let command = HookCommand::new(agent, setting)?;
    let patience = u64::from(CALL_SECONDS) * 1000;
    let whole = format!("// {mark}, removed by `sayso uninstall {}`.\n{ASK}{source}", agent.name());
    Ok(whole
        .replace("\"@PROGRAM@\"", &json!(command.program()).to_string())
        .replace("\"@ARGUMENTS@\"", &json!(command.arguments(CALL_SECONDS)).to_string())
        .replace("\"@PATIENCE_MS@\"", &patience.to_string()))
}

/// The program and the home folder that a plugin of ours starts.
pub(crate) fn registered(text: &str) -> Option<Ours> {
    let after = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "));
    let program: String = serde_json::from_str(after("const PROGRAM")?).ok()?;
    let arguments: Vec<String> = serde_json::from_str(after("const ARGUMENTS")?).ok()?;
    Some(Ours::of(program, &arguments))
}
