//! The file of `sayso mcp --config`: the list of servers as clients write it.

use super::setting::{Reach, ServerSetting};
use serde_json::{Map, Value};
use std::path::PathBuf;

/// Reads a list of servers: `{"mcpServers": {NAME: {"command", "args", "env", "cwd"} | {"url", "headers"}}}`. VS Code's
/// `servers` and Zed's `context_servers` are read too. `${NAME}` in values, headers and addresses is the variable of
/// that name.
///
/// # Errors
/// If something in it is not understood, with its place.
pub fn read_config(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<Vec<ServerSetting>, String> {
    let root: Value = serde_json::from_str(text).map_err(|error| format!("it is not JSON ({error})"))?;
    let servers = ["mcpServers", "servers", "context_servers"].iter().find_map(|key| root.get(key)?.as_object());
    let servers = servers.ok_or("it has no object `mcpServers`")?;
    let mut found = Vec::new();
    for (name, server) in servers {
        let wrong = |what: &str| format!("the server `{name}` {what}");
        let fields = server.as_object().ok_or_else(|| wrong("is not an object"))?;
        if fields.get("disabled") == Some(&Value::Bool(true)) || fields.get("enabled") == Some(&Value::Bool(false)) {
            continue;
        }
        check_name(name).map_err(|what| wrong(&what))?;
        let reach = reach(fields, variable).map_err(|what| wrong(&what))?;
        found.push(ServerSetting { name: name.clone(), reach });
    }
    if found.is_empty() {
        return Err("it names no server".to_owned());
    }
    Ok(found)
}

/// A name that can stand in front of a tool's name, and in a policy.
///
/// # Errors
/// If it cannot.
pub fn check_name(name: &str) -> Result<(), String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || name.len() > 64 || !name.chars().all(fits) || name.contains("__") || name.ends_with('_') {
        return Err("needs a name of letters, digits, `-`, `.` and single `_`".to_owned());
    }
    Ok(())
}

fn reach(fields: &Map<String, Value>, variable: &dyn Fn(&str) -> Option<String>) -> Result<Reach, String> {
    let text = |key: &str| match fields.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => expanded(text, variable).map(Some),
        Some(_) => Err(format!("has a `{key}` that is not text")),
    };
    let pairs = |key: &str| match fields.get(key) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Object(pairs)) => pairs
            .iter()
            .map(|(name, value)| match value {
                Value::String(value) => Ok((name.clone(), expanded(value, variable)?)),
                _ => Err(format!("has a `{key}.{name}` that is not text")),
            })
            .collect(),
        Some(_) => Err(format!("has an `{key}` that is not an object")),
    };
    let url = ["url", "serverUrl", "httpUrl"].iter().find_map(|key| text(key).transpose()).transpose()?;
    match (text("command")?, url) {
        (Some(command), None) => {
            let arguments = match fields.get("args") {
                None | Some(Value::Null) => Vec::new(),
                Some(Value::Array(items)) => items
                    .iter()
                    .map(|item| match item {
                        Value::String(text) => expanded(text, variable),
                        _ => Err("has an argument that is not text".to_owned()),
                    })
                    .collect::<Result<_, _>>()?,
                Some(_) => return Err("has `args` that are not a list".to_owned()),
            };
            let command = std::iter::once(command).chain(arguments).map(Into::into).collect();
            let env = pairs("env")?.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
            Ok(Reach::Command { command, env, cwd: text("cwd")?.map(PathBuf::from) })
        }
        (None, Some(url)) => Ok(Reach::Url { url, headers: pairs("headers")? }),
        (Some(_), Some(_)) => Err("has both a `command` and a `url`".to_owned()),
        (None, None) => Err("has neither a `command` nor a `url`".to_owned()),
    }
}

/// `${NAME}` becomes the variable of that name. One that is not set is an error: an empty key helps nobody.
fn expanded(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, behind)) = after.split_once('}') else { break };
        out.push_str(before);
        out.push_str(&variable(name).ok_or_else(|| format!("needs the variable {name}, which is not set"))?);
        rest = behind;
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<ServerSetting>, String> {
        read_config(text, &|name| (name == "KEY").then(|| "secret".to_owned()))
    }

    #[test]
    fn servers_are_read_as_clients_write_them() {
        let servers = read(
            r#"{"mcpServers": {"files": {"command": "npx", "args": ["-y", "x"], "env": {"A": "b${KEY}"}},
                "off": {"command": "x", "disabled": true},
                "web": {"type": "http", "url": "https://example.org/mcp", "headers": {"Authorization": "Bearer ${KEY}"}}}}"#,
        )
        .unwrap();
        assert_eq!(servers.len(), 2);
        let Reach::Command { command, env, .. } = &servers[0].reach else { panic!("a command") };
        assert_eq!((command.len(), env[0].1.to_str()), (3, Some("bsecret")));
        assert_eq!(
            servers[1].reach,
            Reach::Url {
                url: "https://example.org/mcp".into(),
                headers: vec![("Authorization".into(), "Bearer secret".into())]
            }
        );
    }

    #[test]
    fn what_is_not_understood_is_refused_with_its_place() {
        for (text, why) in [
            ("[", "not JSON"),
            ("{}", "mcpServers"),
            (r#"{"mcpServers": {}}"#, "no server"),
            (r#"{"mcpServers": {"a": {}}}"#, "`a` has neither"),
            (r#"{"mcpServers": {"a": {"command": "x", "url": "y"}}}"#, "both"),
            (r#"{"mcpServers": {"a": {"command": "x", "args": [1]}}}"#, "argument"),
            (r#"{"mcpServers": {"a__b": {"command": "x"}}}"#, "name"),
            (r#"{"mcpServers": {"a b": {"command": "x"}}}"#, "name"),
            (r#"{"mcpServers": {"a": {"url": "x", "headers": {"K": "${NONE}"}}}}"#, "NONE"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
