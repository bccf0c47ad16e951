//! The MCP servers that a client hands to its agent: each is put behind `sayso mcp`, so that its tools are judged
//! whatever the agent asks about.

use super::judge::Call;
use serde_json::{Map, Value, json};

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

/// The entry behind the gateway. What else the client wrote into it stays.
pub(super) fn wrapped(entry: &Value, gateway: &McpGateway) -> Value {
    let mut fields: Map<String, Value> = entry.as_object().cloned().unwrap_or_default();
    let mut arguments: Vec<Value> = gateway.arguments.iter().cloned().map(Value::from).collect();
    if let Some(url) = fields.get("url").cloned() {
        arguments.extend([Value::from("--url"), url]);
        let mut environment = fields.get("env").and_then(Value::as_array).cloned().unwrap_or_default();
        // A header is often a secret, and arguments can be seen by everybody on the machine.
        for (at, header) in fields.get("headers").and_then(Value::as_array).into_iter().flatten().enumerate() {
            let text = |key: &str| header.get(key).and_then(Value::as_str).unwrap_or_default();
            let variable = format!("SAYSO_MCP_HEADER_{at}");
            environment.push(json!({"name": variable, "value": format!("{}: {}", text("name"), text("value"))}));
            arguments.extend([Value::from("--header-from"), Value::from(variable)]);
        }
        for key in ["type", "url", "headers"] {
            fields.shift_remove(key);
        }
        fields.insert("env".to_owned(), Value::Array(environment));
    } else {
        arguments.push(Value::from("--"));
        arguments.extend(fields.get("command").cloned());
        arguments.extend(fields.get("args").and_then(Value::as_array).into_iter().flatten().cloned());
    }
    fields.insert("command".to_owned(), Value::from(gateway.program.clone()));
    fields.insert("args".to_owned(), Value::Array(arguments));
    Value::Object(fields)
}

/// A server that is not wrapped, as a call. Secrets of its environment are nobody's business.
pub(super) fn as_call(entry: &Value) -> Call {
    let mut shown = Map::new();
    for key in ["name", "command", "args", "url"] {
        if let Some(value) = entry.get(key) {
            // `command` would be read as shell text, which it is not.
            let key = if key == "command" { "program" } else { key };
            shown.insert(key.to_owned(), value.clone());
        }
    }
    Call::tool(MCP_SERVER, Value::Object(shown), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gateway() -> McpGateway {
        McpGateway { program: "/bin/sayso".to_owned(), arguments: vec!["mcp".to_owned()] }
    }

    #[test]
    fn a_program_is_put_behind_the_gateway_and_the_rest_stays() {
        let entry = json!({"name": "fs", "command": "npx", "args": ["-y", "x"], "env": [{"name": "A", "value": "b"}], "_meta": 1});
        let expected = json!({"name": "fs", "command": "/bin/sayso", "args": ["mcp", "--", "npx", "-y", "x"],
            "env": [{"name": "A", "value": "b"}], "_meta": 1});
        assert_eq!(wrapped(&entry, &gateway()), expected);
    }

    #[test]
    fn an_address_becomes_a_program_and_its_headers_stay_out_of_the_arguments() {
        let entry = json!({"type": "http", "name": "r", "url": "https://x", "headers": [{"name": "Authorization", "value": "Bearer s"}]});
        let expected = json!({"name": "r", "env": [{"name": "SAYSO_MCP_HEADER_0", "value": "Authorization: Bearer s"}],
            "command": "/bin/sayso", "args": ["mcp", "--url", "https://x", "--header-from", "SAYSO_MCP_HEADER_0"]});
        assert_eq!(wrapped(&entry, &gateway()), expected);
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
