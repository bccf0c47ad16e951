//! The MCP servers that a client hands to its agent: each is put behind `sayso mcp`, so that its tools are judged
//! whatever the agent asks about.

use super::judge::AcpCall;
use serde_json::{Map, Value, json};
use std::path::Path;

/// The tool that a server is judged as where it cannot be wrapped.
pub(super) const MCP_SERVER: &str = "acp:mcp_server";

/// How to start the MCP gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpGateway {
    /// The program: this one, as an absolute path.
    pub program: String,
    /// Its arguments up to what tells the server: `mcp`, and the policy that was chosen.
    pub arguments: Vec<String>,
}

/// A server as the client names it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Server {
    /// Its traffic goes through this proxy anyway.
    OverAcp { id: String, name: String },
    /// A program, or an address.
    Outside(Value),
}

/// Reads the entries of `mcpServers`. `None` if one does not fit.
pub(super) fn read(entries: &Value) -> Option<Vec<Server>> {
    entries.as_array()?.iter().map(read_one).collect()
}

fn read_one(entry: &Value) -> Option<Server> {
    let text = |key: &str| entry.get(key).and_then(Value::as_str);
    let name = text("name")?;
    match entry.get("type") {
        None => {
            text("command")?;
        }
        Some(Value::String(kind)) => match kind.as_str() {
            "stdio" => {
                text("command")?;
            }
            "http" | "sse" => {
                text("url")?;
            }
            "acp" => {
                let id = text("serverId").or_else(|| text("id"))?;
                return Some(Server::OverAcp { id: id.to_owned(), name: name.to_owned() });
            }
            _ => return None,
        },
        Some(_) => return None,
    }
    let texts = |key: &str| match entry.get(key) {
        None | Some(Value::Null) => true,
        Some(Value::Array(items)) => items.iter().all(Value::is_string),
        Some(_) => false,
    };
    let pairs = |key: &str| match entry.get(key) {
        None | Some(Value::Null) => true,
        Some(Value::Array(items)) => items.iter().all(|item| {
            item.get("name").is_some_and(Value::is_string) && item.get("value").is_some_and(Value::is_string)
        }),
        Some(_) => false,
    };
    (texts("args") && pairs("env") && pairs("headers")).then(|| Server::Outside(entry.clone()))
}

/// What a server's gateway is told beside the server itself.
#[derive(Clone, Debug)]
pub(super) struct Around<'a> {
    /// The folder that the session is about.
    pub(super) workspace: Option<&'a Path>,
    pub(super) agent: Option<&'a str>,
    /// A folder of Sayso's own.
    pub(super) own: &'a Path,
}

/// The entry behind the gateway; what else the client wrote into it stays. `None` for a server that the gateway cannot
/// reach: only a rule lets it pass as it is.
pub(super) fn wrapped(entry: &Value, gateway: &McpGateway, around: &Around<'_>) -> Option<Result<Value, String>> {
    if entry.get("type").and_then(Value::as_str) == Some("sse") {
        return None;
    }
    let mut fields: Map<String, Value> = entry.as_object().cloned().unwrap_or_default();
    let mut arguments: Vec<String> = gateway.arguments.clone();
    if let Some(workspace) = around.workspace.and_then(Path::to_str) {
        arguments.extend(["--workspace".to_owned(), workspace.to_owned()]);
    }
    if let Some(agent) = around.agent {
        arguments.extend(["--agent".to_owned(), agent.to_owned()]);
    }
    let told = match fields.get("url").and_then(Value::as_str).map(str::to_owned) {
        Some(url) => by_address(&mut fields, &url, around.own),
        None => by_command(&fields),
    };
    Some(told.map(|more| {
        arguments.extend(more);
        fields.insert("command".to_owned(), Value::from(gateway.program.clone()));
        fields.insert("args".to_owned(), json!(arguments));
        Value::Object(fields)
    }))
}

/// A program: its variables are named, because the gateway hands on no others.
fn by_command(fields: &Map<String, Value>) -> Result<Vec<String>, String> {
    let texts = |key: &str| fields.get(key).and_then(Value::as_array).into_iter().flatten();
    let mut arguments = vec!["--name".to_owned(), policy_name(fields)];
    for variable in texts("env").filter_map(|one| one.get("name")?.as_str()) {
        if variable.is_empty() || variable.contains('=') {
            return Err(format!("its variable {variable:?} has an invalid name"));
        }
        arguments.extend(["--env".to_owned(), variable.to_owned()]);
    }
    arguments.push("--".to_owned());
    arguments.extend(fields.get("command").and_then(Value::as_str).map(str::to_owned));
    arguments.extend(texts("args").filter_map(Value::as_str).map(str::to_owned));
    Ok(arguments)
}

/// An address becomes a program. A header is often a secret, and arguments can be seen by everybody on the machine: the
/// headers go into the environment, and a file of Sayso's own says where.
fn by_address(fields: &mut Map<String, Value>, url: &str, own: &Path) -> Result<Vec<String>, String> {
    if url.contains("${") {
        return Err("its address contains a variable".to_owned());
    }
    let mut environment = fields.get("env").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut headers = Map::new();
    for (at, header) in fields.get("headers").and_then(Value::as_array).into_iter().flatten().enumerate() {
        let text = |key: &str| header.get(key).and_then(Value::as_str).unwrap_or_default();
        let variable = format!("SAYSO_MCP_HEADER_{at}");
        if headers.insert(text("name").to_owned(), Value::from(format!("${{{variable}}}"))).is_some() {
            return Err(format!("it has the header {:?} twice", text("name")));
        }
        environment.push(json!({"name": variable, "value": text("value")}));
    }
    let config = json!({"mcpServers": {policy_name(fields): {"url": url, "headers": headers}}}).to_string();
    let path = own.join(format!("{}.json", blake3::hash(config.as_bytes()).to_hex()));
    std::fs::write(&path, config).map_err(|error| format!("its address cannot be saved ({error})"))?;
    let path = path.to_str().ok_or("Sayso's own folder is not UTF-8")?.to_owned();
    for key in ["type", "url", "headers"] {
        fields.shift_remove(key);
    }
    fields.insert("env".to_owned(), Value::Array(environment));
    Ok(vec!["--config".to_owned(), path])
}

/// A server's name as policies write it: letters, digits, `-`, `.` and single `_`.
fn policy_name(fields: &Map<String, Value>) -> String {
    let mut name = String::new();
    for c in fields.get("name").and_then(Value::as_str).unwrap_or_default().chars().take(64) {
        let c = if c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_') { c } else { '-' };
        if !(c == '_' && name.ends_with('_')) {
            name.push(c);
        }
    }
    let name = name.trim_end_matches('_');
    if name.is_empty() { "server".to_owned() } else { name.to_owned() }
}

/// A server that is not wrapped, as a call. Secrets of its environment are nobody's business.
pub(super) fn as_call(entry: &Value) -> AcpCall {
    let mut shown = Map::new();
    for key in ["name", "command", "args", "url"] {
        if let Some(value) = entry.get(key) {
            // `command` would be read as shell text, which it is not.
            let key = if key == "command" { "program" } else { key };
            shown.insert(key.to_owned(), value.clone());
        }
    }
    AcpCall::tool(MCP_SERVER, Value::Object(shown), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gateway() -> McpGateway {
        McpGateway { program: "/bin/sayso".to_owned(), arguments: vec!["mcp".to_owned()] }
    }

    fn behind(entry: &Value, own: &Path) -> Option<Result<Value, String>> {
        wrapped(entry, &gateway(), &Around { workspace: Some(Path::new("/p")), agent: Some("gemini"), own })
    }

    #[test]
    fn a_program_is_put_behind_the_gateway_and_the_rest_stays() {
        let entry = json!({"name": "my fs__", "command": "npx", "args": ["-y", "x"], "env": [{"name": "A", "value": "b"}], "_meta": 1});
        let expected = json!({"name": "my fs__", "command": "/bin/sayso", "args": ["mcp", "--workspace", "/p", "--agent", "gemini",
            "--name", "my-fs", "--env", "A", "--", "npx", "-y", "x"], "env": [{"name": "A", "value": "b"}], "_meta": 1});
        assert_eq!(behind(&entry, Path::new("/")).unwrap().unwrap(), expected);
        let odd = json!({"name": "x", "command": "c", "env": [{"name": "A=B", "value": "c"}]});
        assert!(behind(&odd, Path::new("/")).unwrap().is_err());
    }

    #[test]
    fn an_address_becomes_a_program_and_its_headers_are_in_no_argument_and_no_file() {
        let own = tempfile::tempdir().unwrap();
        let entry = json!({"type": "http", "name": "r", "url": "https://x", "headers": [{"name": "Authorization", "value": "Bearer s3cret"}]});
        let wrapped = behind(&entry, own.path()).unwrap().unwrap();
        assert_eq!(wrapped["env"], json!([{"name": "SAYSO_MCP_HEADER_0", "value": "Bearer s3cret"}]));
        assert!(wrapped.get("url").is_none() && !wrapped["args"].to_string().contains("s3cret"));
        let file = wrapped["args"].as_array().unwrap().last().unwrap().as_str().unwrap();
        let expected =
            json!({"mcpServers": {"r": {"url": "https://x", "headers": {"Authorization": "${SAYSO_MCP_HEADER_0}"}}}});
        assert_eq!(serde_json::from_str::<Value>(&std::fs::read_to_string(file).unwrap()).unwrap(), expected);
        let old = json!({"type": "sse", "name": "r", "url": "https://x", "headers": []});
        assert!(behind(&old, own.path()).is_none());
    }

    #[test]
    fn an_entry_that_does_not_fit_is_not_taken() {
        for entry in [
            json!({"name": "x"}),
            json!({"name": "x", "type": "new", "url": "u"}),
            json!({"name": "x", "command": "c", "args": [1]}),
            json!({"name": "x", "command": "c", "env": {"A": "b"}}),
            json!("x"),
        ] {
            assert_eq!(read(&json!([entry.clone()])), None, "{entry}");
        }
    }
}
