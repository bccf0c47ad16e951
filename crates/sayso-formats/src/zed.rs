//! Zed's `agent.tool_permissions`: for each tool expressions that always deny, confirm or allow, and a default.

use crate::Error;
use crate::agent::pattern::Command;
use crate::agent::{AgentRules, ArgumentTest, Defaults, On, Order, Redirects, Rule};
use crate::document::Node;
use crate::regular::Expression;
use sayso_policy::Verdict;

const DEFAULTS: &[(&str, Verdict)] = &[("allow", Verdict::Allow), ("confirm", Verdict::Ask), ("deny", Verdict::Deny)];

const LISTS: &[(&str, Verdict)] =
    &[("always_deny", Verdict::Deny), ("always_confirm", Verdict::Ask), ("always_allow", Verdict::Allow)];

/// The arguments that a tool's expressions look at.
const INPUTS: &[(&str, &[&str])] = &[
    ("edit_file", &["path"]),
    ("delete_path", &["path"]),
    ("move_path", &["source_path", "destination_path"]),
    ("copy_path", &["source_path", "destination_path"]),
    ("create_directory", &["path"]),
    ("restore_file_from_disk", &["paths", "path"]),
    ("save_file", &["paths", "path"]),
    ("fetch", &["url"]),
    ("web_search", &["query"]),
];

pub(crate) fn lower(root: &Node<'_>) -> Result<AgentRules, Error> {
    let mut rules = Vec::new();
    let agent = root.get("agent")?;
    let node = agent.map(|agent| agent.get("tool_permissions")).transpose()?.flatten();
    let mut defaults = Defaults { read_inside: Verdict::Allow, ..Defaults::all(Verdict::Ask) };
    if let Some(node) = node {
        node.only(&["default", "tools"])?;
        let all = node.word_at("default", DEFAULTS)?.unwrap_or(Verdict::Ask);
        defaults = Defaults { read_inside: Verdict::Allow, ..Defaults::all(all) };
        let mut last = Vec::new();
        for (tool, node) in node.get("tools")?.map(|node| node.entries()).transpose()?.unwrap_or_default() {
            node.only(&["default", "always_allow", "always_deny", "always_confirm"])?;
            for (key, verdict) in LISTS {
                for item in node.get(key)?.map(|node| node.items()).transpose()?.unwrap_or_default() {
                    rules.push(read(tool, &item, *verdict)?);
                }
            }
            if let Some(verdict) = node.word_at("default", DEFAULTS)? {
                let on = if tool == "terminal" { On::Command(vec![Command::any()]) } else { On::Tool(names(tool)) };
                last.push(Rule {
                    narrowed: false,
                    verdict,
                    on,
                    source: node.source(),
                    text: format!("{tool}.default"),
                });
            }
        }
        // Deny before confirm before allow, and a tool's default behind all of them.
        rules.sort_by_key(|rule| std::cmp::Reverse(rule.verdict));
        rules.append(&mut last);
    }
    Ok(AgentRules { title: "Zed", rules, order: Order::First, defaults, redirects: Redirects::Ask, transparent: &[] })
}

fn names(tool: &str) -> Vec<String> {
    // `mcp:server:tool` is Zed's spelling.
    match tool.strip_prefix("mcp:").and_then(|rest| rest.split_once(':')) {
        Some((server, tool)) => vec![format!("mcp:{}/{}", server.to_lowercase(), tool.to_lowercase())],
        None => sayso_policy::normalise::pattern_names(tool),
    }
}

fn read(tool: &str, node: &Node<'_>, verdict: Verdict) -> Result<Rule, Error> {
    node.only(&["pattern", "case_sensitive"])?;
    let pattern = node.get("pattern")?.ok_or_else(|| node.wrong("a rule needs `pattern`"))?;
    let text = pattern.text()?.value;
    let case = node.flag_at("case_sensitive", false)?;
    let on = if tool == "terminal" {
        let command = Command::expression(&text, case).map_err(|error| pattern.wrong(error))?;
        On::Command(vec![command])
    } else {
        let expression = if case { Expression::exact_case(&text) } else { Expression::new(&text) };
        let expression = expression.map_err(|error| pattern.wrong(error))?;
        let inputs = INPUTS.iter().find(|(name, _)| *name == tool).map_or(&[][..], |(_, names)| *names);
        // Anything else might be in an argument that nobody named.
        let inputs = if verdict == Verdict::Allow { inputs } else { &[] };
        On::Arguments { tools: names(tool), test: ArgumentTest::Values { names: inputs, expression } }
    };
    Ok(Rule { narrowed: false, verdict, on, source: node.source(), text })
}
