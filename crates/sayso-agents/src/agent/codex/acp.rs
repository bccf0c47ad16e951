//! What Codex's adapter puts into the inputs of its calls. Measured on codex-acp 0.16 and 2.6.

use serde_json::{Map, Value};

/// Its own suggestions and book-keeping.
const REMARKS: &[&str] = &[
    "call_id",
    "turn_id",
    "process_id",
    "started_at_ms",
    "proposed_execpolicy_amendment",
    "proposed_network_policy_amendments",
    "available_decisions",
    "parsed_cmd",
    "reason",
    "source",
    "approval_id",
];

pub(super) fn is_remark(key: &str, _: &Value) -> bool {
    REMARKS.contains(&key)
}

/// The files that a patch changes.
pub(super) fn edited(input: &Map<String, Value>) -> Option<Vec<String>> {
    let changes = input.get("changes")?.as_object()?;
    let mut paths: Vec<String> = changes.keys().cloned().collect();
    for change in changes.values() {
        let moved = change.pointer("/update/move_path").or_else(|| change.get("move_path"));
        paths.extend(moved.and_then(Value::as_str).map(str::to_owned));
    }
    // A root that is granted for the rest of the session is more than this change.
    let granted = input.get("grant_root").is_some_and(|root| !root.is_null());
    (!paths.is_empty() && !granted).then_some(paths)
}
