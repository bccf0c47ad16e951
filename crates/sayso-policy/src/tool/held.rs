//! What a held run wants beyond its bounds, as calls: `sayso run` makes them, to have them judged like any other.
//!
//! An agent that calls a tool by one of these names asks for the same effect, and nobody does it for them.

use super::BuiltIn;
use super::draft::{Draft, Reach};
use crate::normalise::Kind;
use sayso_shell::{HostTarget, Verb};
use serde_json::{Map, Value};

/// They belong to a command that runs: whoever hides the shell hides them.
const OF_SHELL: &[&str] = &["bash_execute"];

pub(super) const TOOLS: &[BuiltIn] = &[
    BuiltIn { canonical: "held_connect", implies: OF_SHELL, aliases: &[], kind: Kind::Fetch, describe: connect },
    BuiltIn { canonical: "held_write", implies: OF_SHELL, aliases: &[], kind: Kind::Edit, describe: write },
    BuiltIn { canonical: "held_changes", implies: OF_SHELL, aliases: &[], kind: Kind::Edit, describe: changes },
];

/// `{"host": "paste.example", "port": 443}`
fn connect(_: &BuiltIn, arguments: &Value, draft: &mut Draft<'_>) {
    draft.known = true;
    let host = only(arguments, &["host", "port"]).and_then(|all| text(all, "host")).filter(|host| !host.is_empty());
    let port = arguments.get("port").map(|port| port.as_u64().and_then(|port| u16::try_from(port).ok()));
    match (host, port) {
        (None, _) | (_, Some(None)) => draft.unclear(),
        (Some(host), port) => {
            draft.connect(HostTarget::Exact { host: host.to_ascii_lowercase(), port: port.flatten() }, true);
        }
    }
}

/// `{"path": "/opt/tool/state"}`
fn write(_: &BuiltIn, arguments: &Value, draft: &mut Draft<'_>) {
    draft.known = true;
    match only(arguments, &["path"]).and_then(|all| text(all, "path")) {
        Some(path) => draft.path(&[Verb::Write], path, Reach::Exact, true),
        None => draft.unclear(),
    }
}

/// `{"changes": [{"change": "changed", "path": "...", "diff": "..."}, {"change": "renamed", "from": "...", ...}]}`. Whatever
/// else a change says is for people.
fn changes(_: &BuiltIn, arguments: &Value, draft: &mut Draft<'_>) {
    draft.known = true;
    let all = only(arguments, &["changes", "hosts"]).and_then(|all| all.get("changes")).and_then(Value::as_array);
    let Some(all) = all.filter(|all| !all.is_empty()) else { return draft.unclear() };
    for change in all.iter().map(Value::as_object) {
        let word = change.and_then(|change| text(change, "change"));
        let path = change.and_then(|change| text(change, "path"));
        let from = change.and_then(|change| text(change, "from"));
        match (word, path, from) {
            (Some("removed"), Some(path), None) => draft.path(&[Verb::Delete], path, Reach::Exact, true),
            (Some("renamed"), Some(path), Some(from)) => {
                draft.path(&[Verb::Write], path, Reach::Exact, true);
                draft.path(&[Verb::Delete], from, Reach::Exact, true);
            }
            (Some("added" | "changed" | "mode" | "type"), Some(path), None) => {
                draft.path(&[Verb::Write], path, Reach::Exact, true);
            }
            _ => draft.unclear(),
        }
    }
}

/// The members of an object, if there are no others than these.
fn only<'v>(arguments: &'v Value, keys: &[&str]) -> Option<&'v Map<String, Value>> {
    arguments.as_object().filter(|all| all.keys().all(|key| keys.contains(&key.as_str())))
}

fn text<'v>(members: &'v Map<String, Value>, key: &str) -> Option<&'v str> {
    members.get(key).and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use crate::{Facts, Layer, Policy, PolicyText, State, ToolCall, Verdict};
    use sayso_shell::{NoEnvironment, NoFiles};
    use serde_json::json;

    #[test]
    fn what_a_held_run_wants_is_judged_by_its_effects() {
        let text = "default = \"ask\"\n[allow]\nconnect = [\"good.example\"]\nwrite = [\"/a/**\"]\n[deny]\nconnect = [\"bad.example\"]\nwrite = [\"/b/**\"]\n";
        let file = PolicyText { layer: Layer::User, name: "policy.toml".into(), text: text.into(), trusted: true };
        let policy = Policy::compile(&[file]).unwrap();
        let say = |name: &str, arguments| {
            let facts = Facts { files: &NoFiles, env: &NoEnvironment };
            policy.evaluate(&policy.operation(ToolCall::tool(name, arguments), facts), &State::default(), facts).verdict
        };
        for (name, arguments, verdict) in [
            ("held_connect", json!({"host": "good.example", "port": 443}), Verdict::Allow),
            ("held_connect", json!({"host": "BAD.example", "port": 443}), Verdict::Deny),
            ("held_connect", json!({"host": "other.example"}), Verdict::Ask),
            ("held_connect", json!({"host": "good.example", "port": 70_000}), Verdict::Ask),
            ("held_connect", json!({"host": "good.example", "path": "/b/x"}), Verdict::Ask),
            // Nothing is known of files here, so no path is certain.
            ("held_write", json!({"path": "/a/x"}), Verdict::Ask),
            ("held_changes", json!({"changes": [{"change": "added", "path": "/a/x"}]}), Verdict::Ask),
            (
                "held_changes",
                json!({"changes": [{"change": "renamed", "path": "/a/x", "from": "/b/x"}]}),
                Verdict::Deny,
            ),
            ("held_changes", json!({"changes": []}), Verdict::Ask),
            ("held_changes", json!({"changes": ["/a/x"]}), Verdict::Ask),
        ] {
            assert_eq!(say(name, arguments.clone()), verdict, "{name} {arguments}");
        }
    }
}
