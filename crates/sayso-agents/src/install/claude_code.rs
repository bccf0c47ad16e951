//! Where Claude Code keeps its hooks, and what Sayso's look like there.

use super::json_text::{self, Kind, Node};
use super::{Scope, Setting};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The events that Sayso answers.
const EVENTS: &[&str] = &["PreToolUse", "PermissionRequest", "SessionStart"];
/// In seconds. The hook answers well before.
const TIMEOUT: u32 = 10;

/// Claude Code's settings file.
pub(super) fn settings_path(setting: &Setting) -> PathBuf {
    match setting.scope {
        Scope::User => match &setting.agent_folder {
            Some(folder) => folder.join("settings.json"),
            None => setting.places.home.join(".claude/settings.json"),
        },
        Scope::Project => setting.project.join(".claude/settings.json"),
        Scope::Managed if cfg!(target_os = "macos") => {
            setting.root.join("Library/Application Support/ClaudeCode/managed-settings.json")
        }
        Scope::Managed => setting.root.join("etc/claude-code/managed-settings.json"),
    }
}

/// The settings with Sayso registered for each of its events. A text that has it already stays as it is.
pub(super) fn register(before: Option<&str>, setting: &Setting) -> Result<String, String> {
    if !setting.program.is_absolute() {
        return Err(format!("{} is not an absolute path", setting.program.display()));
    }
    let program = setting.program.to_str().ok_or("Sayso's own path is not UTF-8")?;
    let mut text = match before {
        Some(text) if !text.trim().is_empty() => text.to_owned(),
        _ => "{}\n".to_owned(),
    };
    for event in EVENTS {
        text = ensure(&text, event, &group(program, setting)?)?;
    }
    Ok(text)
}

/// The settings without Sayso; `None` if it is not in them.
pub(super) fn unregister(text: &str) -> Result<Option<String>, String> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let mut now = text.to_owned();
    for event in EVENTS {
        let before = now.clone();
        while let Some((group, handler)) = find(&now, event)? {
            now = take_out(&now, event, group, handler)?;
        }
        // What was empty before Sayso came is somebody else's, and stays.
        if now != before {
            now = drop_empty(&now, &["hooks", event])?;
        }
    }
    if now == text {
        return Ok(None);
    }
    drop_empty(&now, &["hooks"]).map(Some)
}

/// What else in the settings bears on Sayso.
pub(super) fn notices(text: &str) -> Vec<String> {
    let Ok(settings) = serde_json::from_str::<Value>(text) else { return Vec::new() };
    let mut notices = Vec::new();
    if settings.get("disableAllHooks") == Some(&Value::Bool(true)) {
        notices.push("`disableAllHooks` is on in these settings: Sayso will not be asked until it is off.".to_owned());
    }
    notices
}

/// One group of hooks, for every tool. Started without a shell; a failure of the hook blocks the call.
fn group(program: &str, setting: &Setting) -> Result<Value, String> {
    // The home folder is written down here, so that no later change of the environment leads to another policy.
    // Managed settings are for every user: `~` is each one's own by the user database.
    let home = match setting.scope {
        Scope::Managed => "~",
        Scope::User | Scope::Project => setting.places.home.to_str().ok_or("the home folder's path is not UTF-8")?,
    };
    Ok(json!({"matcher": "*", "hooks": [{
        "type": "command",
        "command": program,
        "args": ["hook", "claude-code", "--home", home],
        "timeout": TIMEOUT,
        "onFailure": "block",
    }]}))
}

/// The text with exactly this group of Sayso's for an event.
fn ensure(text: &str, event: &str, group: &Value) -> Result<String, String> {
    let root = object(json_text::parse(text)?, "the settings")?;
    let Some(hooks) = root.member("hooks")? else {
        return Ok(json_text::push(text, &root, Some("hooks"), &json!({event: [group]})));
    };
    if !matches!(hooks.value.kind, Kind::Object(_)) {
        return Err("its `hooks` are not an object".to_owned());
    }
    let Some(groups) = hooks.value.member(event)? else {
        return Ok(json_text::push(text, &hooks.value, Some(event), &json!([group])));
    };
    if !matches!(groups.value.kind, Kind::Array(_)) {
        return Err(format!("its `hooks.{event}` is not an array"));
    }
    let Some((place, handler)) = find(text, event)? else {
        return Ok(json_text::push(text, &groups.value, None, group));
    };
    let Some(found) = groups.value.items().get(place) else { return Ok(text.to_owned()) };
    if found.value(text) == *group {
        return Ok(text.to_owned());
    }
    let alone = found.value(text).get("hooks").and_then(Value::as_array).is_none_or(|handlers| handlers.len() == 1);
    if alone {
        return Ok(json_text::replace(text, found, group));
    }
    ensure(&take_out(text, event, place, handler)?, event, group)
}

fn object(node: Node, what: &str) -> Result<Node, String> {
    if matches!(node.kind, Kind::Object(_)) { Ok(node) } else { Err(format!("{what} are not an object")) }
}

/// The first handler of Sayso's for an event: which group, which handler in it.
fn find(text: &str, event: &str) -> Result<Option<(usize, usize)>, String> {
    let root = json_text::parse(text)?;
    let Some(hooks) = root.member("hooks")? else { return Ok(None) };
    let Some(groups) = hooks.value.member(event)? else { return Ok(None) };
    for (place, group) in groups.value.items().iter().enumerate() {
        let Some(handlers) = group.member("hooks")? else { continue };
        let ours = handlers.value.items().iter().position(|handler| is_ours(&handler.value(text)));
        if let Some(handler) = ours {
            return Ok(Some((place, handler)));
        }
    }
    Ok(None)
}

/// Registered by `install`, or by hand in the same words.
fn is_ours(handler: &Value) -> bool {
    let command = handler.get("command").and_then(Value::as_str).unwrap_or_default();
    let is_sayso = |program: &str| Path::new(program).file_name().is_some_and(|name| name == "sayso");
    match handler.get("args").and_then(Value::as_array) {
        Some(args) => {
            let start: Vec<&str> = args.iter().take(2).filter_map(Value::as_str).collect();
            is_sayso(command) && start == ["hook", "claude-code"]
        }
        None => {
            let words: Vec<&str> = command.split_whitespace().take(3).collect();
            matches!(words.as_slice(), [program, "hook", "claude-code"] if is_sayso(program))
        }
    }
}

/// The text without one handler, and without its group if that has no other.
fn take_out(text: &str, event: &str, place: usize, handler: usize) -> Result<String, String> {
    let root = json_text::parse(text)?;
    let groups = root.member("hooks")?.map(|hooks| hooks.value.member(event)).transpose()?.flatten();
    let Some(groups) = groups else { return Ok(text.to_owned()) };
    let Some(group) = groups.value.items().get(place) else { return Ok(text.to_owned()) };
    match group.member("hooks")? {
        Some(handlers) if handlers.value.items().len() > 1 => Ok(json_text::remove(text, &handlers.value, handler)),
        _ => Ok(json_text::remove(text, &groups.value, place)),
    }
}

/// The text without the member at this path, if that is empty.
fn drop_empty(text: &str, path: &[&str]) -> Result<String, String> {
    let root = json_text::parse(text)?;
    let Some((last, above)) = path.split_last() else { return Ok(text.to_owned()) };
    let mut parent = &root;
    for key in above {
        let Some(member) = parent.member(key)? else { return Ok(text.to_owned()) };
        parent = &member.value;
    }
    let Kind::Object(members) = &parent.kind else { return Ok(text.to_owned()) };
    let empty = |node: &Node| match &node.kind {
        Kind::Object(members) => members.is_empty(),
        Kind::Array(items) => items.is_empty(),
        Kind::Other => false,
    };
    match members.iter().position(|member| member.key == *last && empty(&member.value)) {
        Some(index) => Ok(json_text::remove(text, parent, index)),
        None => Ok(text.to_owned()),
    }
}
