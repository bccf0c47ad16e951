//! One writer for each format.

use super::Said;
use crate::Format;
use sayso_policy::Verdict;
use serde_json::{Value, json};

/// The file, or why there can be none.
pub(super) fn write(format: Format, said: &Said, losses: &mut Vec<String>) -> Result<String, String> {
    let value = match format {
        Format::ClaudeCode => claude_code(said),
        Format::Opencode => return Ok(opencode(said)),
        Format::Gemini => return Ok(gemini(said)),
        Format::Zed => zed(said, losses),
        Format::Codex => return codex(said),
        Format::Cursor => cursor(said)?,
        Format::Copilot => return copilot(said),
        Format::Toolcap => toolcap(said, losses),
        Format::Ferrumdeck => ferrumdeck(said, losses),
        Format::Wundr => wundr(said, losses),
        Format::ExecApprovals => exec_approvals(said, losses),
        Format::PolicyEngine => {
            return Err("its essential tools (message, gateway, ...) always pass".to_owned());
        }
    };
    Ok(format!("{value:#}\n"))
}

fn only_asks(said: &Said) -> Result<(), String> {
    match said.rest {
        Verdict::Deny => Err("it cannot deny what no rule names".to_owned()),
        _ => Ok(()),
    }
}

fn claude_code(said: &Said) -> Value {
    let allow: Vec<String> = said.commands.iter().map(|command| format!("Bash({command})")).collect();
    let mut deny: Vec<String> = said.denied.iter().map(|pattern| format!("Bash({pattern}:*)")).collect();
    deny.extend(said.denied_tools.iter().cloned());
    let (mode, ask) = match said.rest {
        Verdict::Deny => {
            deny.push("Read".to_owned());
            ("dontAsk", Vec::new())
        }
        _ => ("default", vec!["Read"]),
    };
    json!({ "permissions": { "allow": allow, "ask": ask, "deny": deny, "defaultMode": mode } })
}

/// Written by hand: the order counts, the last that matches wins.
fn opencode(said: &Said) -> String {
    let rest = said.rest.as_str();
    let mut bash = vec![("*".to_owned(), rest)];
    bash.extend(said.commands.iter().map(|command| (command.clone(), "allow")));
    bash.extend(said.denied.iter().map(|pattern| (format!("{pattern} *"), "deny")));
    let line = |(key, action): &(String, &str)| format!("      {}: {}", json!(key), json!(action));
    let bash = bash.iter().map(line).collect::<Vec<_>>().join(",\n");
    let mut entries = vec![format!("    \"*\": \"{rest}\""), format!("    \"external_directory\": \"{rest}\"")];
    entries.push(format!("    \"bash\": {{\n{bash}\n    }}"));
    entries.extend(said.denied_tools.iter().map(|tool| format!("    {}: \"deny\"", json!(tool))));
    format!("{{\n  \"permission\": {{\n{}\n  }}\n}}\n", entries.join(",\n"))
}

fn gemini(said: &Said) -> String {
    let mut out = String::new();
    let mut rule = |keys: String, decision: &str, priority: u16| {
        out.push_str(&format!("[[rule]]\n{keys}\ndecision = \"{decision}\"\npriority = {priority}\n\n"));
    };
    let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
    for pattern in &said.denied {
        rule(format!("toolName = \"run_shell_command\"\ncommandPrefix = {}", quoted(pattern)), "deny", 999);
    }
    for tool in &said.denied_tools {
        rule(format!("toolName = {}", quoted(tool)), "deny", 999);
    }
    if said.rest == Verdict::Deny && !said.commands.is_empty() {
        // Gemini asks about an allowed command that redirects, where the policy denies it.
        rule("toolName = \"run_shell_command\"\nargsPattern = \"[<>]\"".to_owned(), "deny", 999);
    }
    for command in &said.commands {
        let exact = format!("{}$", escaped(command));
        rule(format!("toolName = \"run_shell_command\"\ncommandRegex = {}", quoted(&exact)), "allow", 100);
    }
    let rest = if said.rest == Verdict::Deny { "deny" } else { "ask_user" };
    rule("toolName = \"*\"".to_owned(), rest, 1);
    out
}

fn zed(said: &Said, losses: &mut Vec<String>) -> Value {
    let pattern = |text: String| json!({ "pattern": text, "case_sensitive": true });
    let closed = said.rest == Verdict::Deny || !said.denied.is_empty();
    let rest = if closed { "deny" } else { "confirm" };
    let mut allow: Vec<Value> =
        said.commands.iter().map(|command| pattern(format!("^{}$", escaped(command)))).collect();
    if closed && !allow.is_empty() {
        // An allowed command that redirects may be asked about, and no pattern can be sure to see the redirect.
        allow.clear();
        losses.push("allowed commands: with a redirect they would ask instead of being denied".to_owned());
    }
    if !said.denied.is_empty() {
        losses.push("denies of commands by subcommand and flag: what is not allowed is denied".to_owned());
    }
    let mut tools = serde_json::Map::new();
    tools.insert("terminal".to_owned(), json!({ "default": rest, "always_allow": allow }));
    for tool in &said.denied_tools {
        tools.insert(tool.clone(), json!({ "default": "deny" }));
    }
    // Reading is always allowed by Zed, unless a rule says otherwise.
    for tool in ["read_file", "list_directory", "grep", "find_path", "diagnostics"] {
        tools.entry(tool.to_owned()).or_insert_with(|| json!({ "default": rest }));
    }
    json!({ "agent": { "tool_permissions": { "default": rest, "tools": tools } } })
}

fn codex(said: &Said) -> Result<String, String> {
    only_asks(said)?;
    if !said.denied_tools.is_empty() {
        return Err("its rules cover only commands, and the policy denies tools".to_owned());
    }
    let words = |text: &str| json!(text.split_whitespace().collect::<Vec<_>>()).to_string();
    let mut out = String::from("# Allowing a prefix would allow any arguments, so there are no allows.\n");
    for pattern in &said.denied {
        // Flags may stand anywhere, so the program and its words are denied with any.
        let bare = pattern.split_whitespace().take_while(|word| !word.starts_with('-')).collect::<Vec<_>>().join(" ");
        out.push_str(&format!("prefix_rule(pattern = {}, decision = \"forbidden\")\n", words(&bare)));
    }
    Ok(out)
}

fn cursor(said: &Said) -> Result<Value, String> {
    only_asks(said)?;
    if !said.denied_tools.is_empty() {
        return Err("it cannot name the tools that the policy denies".to_owned());
    }
    let deny: Vec<String> =
        said.denied.iter().map(|pattern| format!("Shell({})", pattern.replacen(' ', ":", 1))).collect();
    // Reading in the project needs no rule in Cursor: all of it is denied rather than allowed unasked.
    let deny: Vec<String> = deny.into_iter().chain(["Read(**)".to_owned()]).collect();
    Ok(json!({ "permissions": { "allow": [], "deny": deny } }))
}

fn copilot(said: &Said) -> Result<String, String> {
    only_asks(said)?;
    let mut out =
        String::from("# Allowing a command would allow any arguments, so there are no allows.\n--deny-tool read\n");
    for pattern in &said.denied {
        let bare = pattern.split_whitespace().take_while(|word| !word.starts_with('-')).collect::<Vec<_>>().join(" ");
        out.push_str(&format!("--deny-tool 'shell({bare})'\n"));
    }
    if !said.denied_tools.is_empty() {
        return Err("it cannot name the tools that the policy denies".to_owned());
    }
    Ok(out)
}

/// Rules that deny, and nothing that allows: a matcher has no way to end behind its words.
fn toolcap(said: &Said, losses: &mut Vec<String>) -> Value {
    let mut rules = Vec::new();
    if said.rest == Verdict::Deny {
        for kind in ["read", "edit", "delete", "move", "search", "execute", "fetch", "think", "switch_mode", "other"] {
            rules.push(json!({ "match": { "kind": kind }, "outcome": "deny" }));
        }
        rules.push(json!({ "match": { "any_execute": true }, "outcome": "deny" }));
    }
    for pattern in &said.denied {
        let (flags, words): (Vec<&str>, Vec<&str>) =
            pattern.split_whitespace().skip(1).partition(|word| word.starts_with('-'));
        let mut matcher = serde_json::Map::new();
        matcher.insert("command".to_owned(), json!(pattern.split_whitespace().next()));
        if !words.is_empty() {
            matcher.insert("subcommands".to_owned(), json!([words.join(" ")]));
        }
        if !flags.is_empty() {
            matcher.insert("flags".to_owned(), json!(flags));
        }
        rules.push(json!({ "match": matcher, "outcome": "deny" }));
    }
    for tool in &said.denied_tools {
        rules.push(json!({ "match": { "tool": tool }, "outcome": "deny" }));
    }
    if !said.commands.is_empty() {
        losses.push("allowed commands: they ask instead".to_owned());
    }
    json!({ "rules": rules })
}

fn ferrumdeck(said: &Said, losses: &mut Vec<String>) -> Value {
    losses.push("commands: it knows tools by name alone, so every tool is asked about, or denied".to_owned());
    let deny = said.rest == Verdict::Deny || !said.denied.is_empty();
    let action = if deny { "deny" } else { "approval_required" };
    json!({ "tool_allowlist": { "allowed": [], "approval_required": [], "denied": said.denied_tools }, "default_action": action })
}

fn wundr(said: &Said, losses: &mut Vec<String>) -> Value {
    losses.push("it can neither ask nor check commands, so no tool is available".to_owned());
    let mut deny = vec!["*".to_owned()];
    deny.extend(said.denied_tools.iter().cloned());
    json!({ "tools": { "deny": deny } })
}

fn exec_approvals(said: &Said, losses: &mut Vec<String>) -> Value {
    let ask = if said.rest == Verdict::Deny || !said.denied.is_empty() { "off" } else { "on-miss" };
    if !said.denied.is_empty() {
        losses.push("it can deny commands only by allowing the others: what is not allowed is denied".to_owned());
    }
    losses.push("tools other than commands are denied".to_owned());
    let entry = |command: &String| {
        let (program, rest) = command.split_once(' ').unwrap_or((command, ""));
        json!({ "pattern": program, "argPattern": format!("^{}$", escaped(rest)) })
    };
    let list: Vec<Value> = said.commands.iter().map(entry).collect();
    let deny = json!({ "security": "deny", "ask": "off" });
    let tools = ["file_read", "file_write", "file_delete", "file_list", "web_fetch"];
    let policies: serde_json::Map<String, Value> =
        tools.iter().map(|tool| ((*tool).to_owned(), deny.clone())).collect();
    json!({
        "exec": { "security": "allowlist", "ask": ask, "askFallback": "deny", "safeBins": [], "allowlist": list },
        "toolPolicies": policies,
    })
}

/// A text of which no character means anything to a regular expression.
fn escaped(text: &str) -> String {
    text.chars()
        .flat_map(|c| (!c.is_alphanumeric() && c != ' ' && c != '_').then_some('\\').into_iter().chain([c]))
        .collect()
}
