//! Cursor's `permissions`: `Shell(git)`, `Read(src/**)`, `Write(...)`, `WebFetch(host)`, `Mcp(server:tool)`; a deny wins.

use crate::Error;
use crate::agent::pattern::{Command, Host, Place};
use crate::agent::{AgentRules, Defaults, On, Order, Redirects, Rule};
use crate::claude_code::places;
use crate::document::{Node, Text};
use sayso_policy::Verdict;

pub(crate) fn lower(root: &Node<'_>) -> Result<AgentRules, Error> {
    let mut rules = Vec::new();
    if let Some(node) = root.get("permissions")? {
        node.only(&["allow", "deny"])?;
        for (key, verdict) in [("deny", Verdict::Deny), ("allow", Verdict::Allow)] {
            for item in node.get(key)?.map(|node| node.items()).transpose()?.unwrap_or_default() {
                rules.push(rule(&item.text()?, verdict).map_err(|why| item.wrong(why))?);
            }
        }
    }
    Ok(AgentRules {
        title: "Cursor",
        rules,
        order: Order::Strictest,
        defaults: Defaults { read_inside: Verdict::Allow, ..Defaults::all(Verdict::Ask) },
        redirects: Redirects::Ask,
        transparent: &[],
    })
}

fn rule(text: &Text, verdict: Verdict) -> Result<Rule, String> {
    let written = text.value.trim();
    let inner = written.split_once('(').and_then(|(kind, rest)| Some((kind.trim(), rest.strip_suffix(')')?.trim())));
    let (kind, spec) =
        inner.ok_or_else(|| format!("`{written}` is not a rule; use Shell(git), Read(src/**), Write(src/**)"))?;
    let all = matches!(spec, "*" | "**");
    let paths = |spec: &str| if all { Place::anywhere() } else { places(spec, verdict) };
    let on = match kind {
        "Shell" if all => On::Command(vec![Command::any()]),
        "Shell" => {
            // `git` is every use of git; `npm:run test` names its arguments.
            let text = spec.replacen(':', " ", 1);
            let command = if text.contains('*') { Command::wild(&text, true) } else { Command::prefix(&text) };
            On::commands(command.into_iter().collect(), verdict)
        }
        "Read" => On::Read(paths(spec)),
        "Write" => On::Write(paths(spec)),
        "WebFetch" if all => On::Host(vec![Host::any()]),
        "WebFetch" => On::Host(vec![Host::new(spec).ok_or_else(|| format!("`{spec}` is not a host"))?]),
        "Mcp" => {
            let (server, tool) = spec.split_once(':').ok_or("`Mcp` takes `server:tool`")?;
            On::Tool(vec![format!("mcp:{}/{}", server.trim().to_lowercase(), tool.trim().to_lowercase())])
        }
        other => return Err(format!("`{other}` is not one of Shell, Read, Write, WebFetch, Mcp")),
    };
    Ok(Rule { narrowed: false, verdict, on, source: text.source.clone(), text: written.to_owned() })
}
