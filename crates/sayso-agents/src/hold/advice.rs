//! What an agent is told of a call that would be allowed if it ran held.

use super::rewrite::quoted;
use crate::event::HookCall;
use serde_json::Value;

/// A longer command is not repeated.
const LONGEST: usize = 600;

/// How the agent can have it run held by itself.
pub(crate) fn advice(call: &HookCall) -> Option<String> {
    let command = call.input.get(super::COMMAND).and_then(Value::as_str)?;
    let sayso = super::sayso().map_or_else(|| "sayso".to_owned(), |path| quoted(&path));
    let plain = |c: char| c.is_ascii_alphanumeric() || " _./,:@%+=-".contains(c);
    // A first word with `=` would be a variable's.
    let simple = command.chars().all(plain) && !command.split(' ').next().unwrap_or_default().contains('=');
    let run = match command {
        _ if command.len() > LONGEST => format!("{sayso} run -- COMMAND"),
        _ if simple => format!("{sayso} run -- {}", command.trim()),
        _ => format!("{sayso} run -- bash -c {}", quoted(command)),
    };
    Some(format!("It needs no approval if it runs held to the policy: run it as `{run}`."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_way_to_run_it_held_is_told() {
        let told = |command: &str| {
            let call = HookCall { tool: "Bash".into(), input: json!({"command": command}), server: None, id: None };
            advice(&call).unwrap()
        };
        assert!(told("npm test").ends_with("run -- npm test`."), "{}", told("npm test"));
        assert!(told("make && ./x 'a'").ends_with(r"run -- bash -c 'make && ./x '\''a'\'''`."));
        assert!(told("A=1 make").ends_with("run -- bash -c 'A=1 make'`."));
        assert!(told(&"x".repeat(5000)).ends_with("run -- COMMAND`."));
    }
}
