//! The names of MCP tools, in every spelling that agents use.
//!
//! | spelling | who writes it |
//! |---|---|
//! | `mcp__server__tool` | Claude Code, Codex |
//! | `mcp_server_tool` | Gemini CLI |
//! | `server/tool` | Copilot's permission requests |
//! | `mcp-server-tool` | Sayso, for Copilot's `server-tool` and the like |
//! | `mcp:server/tool` | Sayso |
//! | `mcp.server.tool`, `mcp:server:tool` | seen elsewhere |
//!
//! Servers and tools may themselves hold the separator, so a spelling can have several readings.

/// More readings than this are not listed: the name then means nothing certain.
const MAX_READINGS: usize = 16;

/// A way to read an MCP name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reading<'a> {
    pub(crate) server: &'a str,
    pub(crate) tool: &'a str,
}

impl Reading<'_> {
    pub(crate) fn canonical(&self) -> String {
        format!("mcp:{}/{}", self.server, self.tool)
    }
}

/// All readings of a plain lower-case name; none if it is no MCP name.
pub(crate) fn readings(name: &str) -> Vec<Reading<'_>> {
    // Overlapping separators are tried at every place: `a___b` is `a` + `_b` and `a_` + `b`.
    if let Some(rest) = name.strip_prefix("mcp__") {
        return splits(rest, "__");
    }
    if let Some(rest) = name.strip_prefix("mcp_") {
        return splits(rest, "_");
    }
    if let Some(rest) = name.strip_prefix("mcp-") {
        return splits(rest, "-");
    }
    if let Some(rest) = name.strip_prefix("mcp:") {
        let found = splits(rest, "/");
        return if found.is_empty() { splits(rest, ":") } else { found };
    }
    if let Some(rest) = name.strip_prefix("mcp.") {
        return splits(rest, ".");
    }
    splits(name, "/")
}

fn splits<'a>(text: &'a str, separator: &str) -> Vec<Reading<'a>> {
    let mut found = Vec::new();
    for at in 0..text.len() {
        let (Some(server), Some(rest)) = (text.get(..at), text.get(at..)) else { continue };
        if let Some(tool) = rest.strip_prefix(separator)
            && !server.is_empty()
            && !tool.is_empty()
        {
            found.push(Reading { server, tool });
            if found.len() > MAX_READINGS {
                break;
            }
        }
    }
    found
}

/// Whether a list of readings was cut short.
pub(crate) fn too_many(readings: &[Reading<'_>]) -> bool {
    readings.len() > MAX_READINGS
}

/// The tool's own name, where the way in knows the server for certain: a spelling with `mcp` and that server in front
/// is stripped of both; anything else is the tool's name as it stands, `github_search` of `github` too.
pub(crate) fn tool_of_server<'a>(name: &'a str, server: &str) -> &'a str {
    let as_written = written_server(server);
    for server in [server, as_written.as_str()] {
        for (before, after) in [("mcp__", "__"), ("mcp:", "/"), ("mcp_", "_"), ("mcp.", "."), ("mcp:", ":"), ("", "/")]
        {
            if let Some(tool) = name
                .strip_prefix(before)
                .and_then(|rest| rest.strip_prefix(server))
                .and_then(|rest| rest.strip_prefix(after))
                && !tool.is_empty()
            {
                return tool;
            }
        }
    }
    name
}

/// A server's name as agents write it into a tool's name: what is no letter, digit, `-` or `_` becomes `_`.
pub(crate) fn written_server(server: &str) -> String {
    server.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_has_its_readings() {
        for (name, expected) in [
            ("mcp__demo__echo", "mcp:demo/echo"),
            ("mcp__my_srv__do_it", "mcp:my_srv/do_it"),
            ("mcp__a__b__c", "mcp:a/b__c mcp:a__b/c"),
            ("mcp__a___b", "mcp:a/_b mcp:a_/b"),
            ("mcp_demo_echo", "mcp:demo/echo"),
            ("mcp_a_b_c", "mcp:a/b_c mcp:a_b/c"),
            ("demo/echo", "mcp:demo/echo"),
            ("a/b/c", "mcp:a/b/c mcp:a/b/c"),
            ("mcp:demo/echo", "mcp:demo/echo"),
            ("mcp:demo:echo", "mcp:demo/echo"),
            ("mcp.demo.echo", "mcp:demo/echo"),
            ("mcp__demo", ""),
            ("mcp-demo-echo", "mcp:demo/echo"),
            ("mcp-github-mcp-get_issue", "mcp:github/mcp-get_issue mcp:github-mcp/get_issue"),
            ("mcp_demo", ""),
            ("mcp:", ""),
            ("mcp__", ""),
            ("/x", ""),
            ("x/", ""),
            ("file_read", ""),
            ("bash", ""),
        ] {
            let found: Vec<_> = readings(name).iter().map(Reading::canonical).collect();
            assert_eq!(found.join(" "), expected, "{name}");
        }
    }

    #[test]
    fn a_known_server_is_stripped_only_from_a_full_spelling() {
        for (name, server, tool) in [
            ("mcp__demo__echo", "demo", "echo"),
            ("mcp_demo_echo", "demo", "echo"),
            ("demo/echo", "demo", "echo"),
            ("github_search", "github", "github_search"),
            ("mcp__other__echo", "demo", "mcp__other__echo"),
            ("mcp__claude_ai_mail__send", "claude.ai mail", "send"),
            ("echo", "demo", "echo"),
        ] {
            assert_eq!(tool_of_server(name, server), tool, "{name}");
        }
    }

    #[test]
    fn a_name_of_separators_does_not_explode() {
        let long = format!("mcp_{}", "a_".repeat(2000));
        assert!(too_many(&readings(&long)));
    }
}
