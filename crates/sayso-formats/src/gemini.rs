//! Gemini's policies: rules in TOML, of which the one with the highest priority that matches wins.

use crate::Error;
use crate::agent::pattern::Command;
use crate::agent::{AgentRules, ArgumentTest, Defaults, On, Order, Redirects, Rule};
use crate::document::Node;
use crate::regular::Expression;
use sayso_policy::Verdict;

const DECISIONS: &[(&str, Verdict)] = &[("allow", Verdict::Allow), ("ask_user", Verdict::Ask), ("deny", Verdict::Deny)];

const KEYS: &[&str] = &[
    "toolName",
    "mcpName",
    "subagent",
    "toolAnnotations",
    "argsPattern",
    "commandPrefix",
    "commandRegex",
    "decision",
    "priority",
    "modes",
    "interactive",
    "allowRedirection",
    "denyMessage",
    "description",
];

pub(crate) fn lower(root: &Node<'_>) -> Result<AgentRules, Error> {
    root.only(&["rule", "safety_checker"])?;
    if let Some(node) = root.get("safety_checker")? {
        return Err(node.wrong("safety checkers are programs of Gemini; Sayso cannot run them"));
    }
    let mut rules = Vec::new();
    for node in root.get("rule")?.map(|node| node.items()).transpose()?.unwrap_or_default() {
        node.only(KEYS)?;
        let priority = node.number_at("priority")?.unwrap_or(0);
        if priority > 999 {
            return Err(node.wrong("a priority is 0 to 999"));
        }
        for rule in read(&node)? {
            rules.push((priority, rule));
        }
    }
    // Of the same priority, the stricter first: which of them wins is not said.
    rules.sort_by_key(|(priority, rule)| (std::cmp::Reverse(*priority), std::cmp::Reverse(rule.verdict)));
    Ok(AgentRules {
        title: "Gemini",
        rules: rules.into_iter().map(|(_, rule)| rule).collect(),
        order: Order::First,
        defaults: Defaults { read_inside: Verdict::Allow, ..Defaults::all(Verdict::Ask) },
        redirects: Redirects::Ask,
        transparent: &[],
    })
}

fn read(node: &Node<'_>) -> Result<Vec<Rule>, Error> {
    let decision = node.word_at("decision", DECISIONS)?;
    let verdict = decision.ok_or_else(|| node.wrong("a rule needs `decision`: allow, deny or ask_user"))?;
    let conditions = ["modes", "interactive", "subagent", "toolAnnotations"];
    let narrow = conditions.iter().any(|key| node.value.get(key).is_some());
    if narrow && verdict == Verdict::Allow {
        // It is for some modes only, which a call does not tell: nothing is allowed by it.
        return Ok(Vec::new());
    }
    let prefixes = node.texts_at("commandPrefix")?;
    let expression = node.get("commandRegex")?;
    let arguments = node.get("argsPattern")?;
    if let Some(arguments) = arguments.as_ref().filter(|_| prefixes.is_some() || expression.is_some()) {
        return Err(arguments.wrong("it does not count beside a pattern of commands: give it a rule of its own"));
    }
    let text = |what: &str| format!("{what} ({verdict})");
    // A Deny for some modes only denies in all.
    let narrowed = narrow && verdict == Verdict::Ask;
    let made = |on: On, what: &str| Rule { verdict, narrowed, on, source: node.source(), text: text(what) };
    let mut rules = Vec::new();
    for prefix in prefixes.iter().flatten() {
        let command = Command::prefix(&prefix.value).ok_or_else(|| node.wrong("a prefix begins with a program"))?;
        rules.push(made(On::Command(vec![command]), &prefix.value));
    }
    if let Some(expression) = &expression {
        let text = expression.text()?.value;
        let command = Command::expression(&format!("^(?:{text})"), true).map_err(|error| expression.wrong(error))?;
        rules.push(made(On::Command(vec![command]), &text));
    }
    let tools = tools(node)?;
    if let Some(arguments) = arguments {
        let text = arguments.text()?.value;
        let expression = Expression::exact_case(&text).map_err(|error| arguments.wrong(error))?;
        let tools = tools.unwrap_or_else(|| vec!["*".to_owned()]);
        rules.push(made(On::Arguments { tools, test: ArgumentTest::Json(expression) }, &text));
    } else if prefixes.is_none() && expression.is_none() {
        let on = match tools {
            None => return Err(node.wrong("a rule needs `toolName`, `mcpName` or a pattern of commands")),
            Some(tools) if tools.iter().any(|tool| tool == "*") => On::Everything,
            Some(tools) if tools.iter().all(|tool| tool == "bash_execute") => On::Command(vec![Command::any()]),
            Some(tools) => On::Tool(tools),
        };
        rules.push(made(on, &node.key()));
    }
    Ok(rules)
}

/// The tools that a rule names; `None`: it names none.
fn tools(node: &Node<'_>) -> Result<Option<Vec<String>>, Error> {
    let names = node.texts_at("toolName")?;
    let server = node.get("mcpName")?.map(|node| node.text()).transpose()?.map(|text| text.value.to_lowercase());
    let Some(server) = server else {
        return Ok(names.map(|names| names.iter().flat_map(|name| pattern_names(&name.value)).collect()));
    };
    let names: Vec<String> = names.map_or_else(
        || vec!["*".to_owned()],
        |names| names.into_iter().map(|name| name.value.to_lowercase()).collect(),
    );
    Ok(Some(names.iter().map(|name| format!("mcp:{server}/{name}")).collect()))
}

/// `mcp_srv_*` is all of a server, `mcp_*_tool` a tool of any.
fn pattern_names(name: &str) -> Vec<String> {
    let rest = name.strip_prefix("mcp_").filter(|_| name.contains('*'));
    match rest {
        Some("*") => vec!["mcp:*".to_owned()],
        Some(rest) => match rest.strip_suffix("_*").or_else(|| rest.strip_suffix('*')) {
            Some(server) if !server.contains('*') => vec![format!("mcp:{}/*", server.to_lowercase())],
            _ => vec![format!("mcp:*/{}", rest.trim_start_matches("*_").to_lowercase())],
        },
        None => sayso_policy::normalise::pattern_names(name),
    }
}
