//! OpenCode's `permission`: a map from permission to action, or to patterns with actions; the last that matches wins.

use crate::Error;
use crate::agent::pattern::{Command, Place, is_plain_path};
use crate::agent::{AgentRules, Defaults, On, Order, Redirects, Rule};
use crate::document::Node;
use sayso_policy::{Source, Verdict};

const ACTIONS: &[(&str, Verdict)] = &[("allow", Verdict::Allow), ("ask", Verdict::Ask), ("deny", Verdict::Deny)];

pub(crate) fn lower(root: &Node<'_>) -> Result<AgentRules, Error> {
    let mut rules = Vec::new();
    let mut defaults = Defaults::all(Verdict::Allow);
    defaults.read_outside = Verdict::Ask;
    defaults.write_outside = Verdict::Ask;
    // Files with variables are not read unless the file says so.
    let own = Source { file: "OpenCode".into(), line: 1, column: 1 };
    for (pattern, verdict) in [("*.env", Verdict::Deny), ("*.env.*", Verdict::Deny), ("*.env.example", Verdict::Allow)]
    {
        let on = On::Read(places(pattern, verdict));
        rules.push(Rule {
            narrowed: false,
            verdict,
            on,
            source: own.clone(),
            text: format!("read {pattern}, by default"),
        });
    }
    if let Some(node) = root.get("permission")? {
        if node.value.is_string() {
            let verdict = action(&node)?;
            rules.push(Rule {
                narrowed: false,
                verdict,
                on: On::Everything,
                source: node.source(),
                text: "permission".to_owned(),
            });
        } else {
            for (permission, node) in node.entries_as_written()? {
                read(permission, &node, &mut rules, &mut defaults)?;
            }
        }
    }
    // The last that matches wins.
    rules.reverse();
    Ok(AgentRules {
        title: "OpenCode",
        rules,
        order: Order::First,
        defaults,
        redirects: Redirects::AsFiles,
        transparent: &[],
    })
}

fn action(node: &Node<'_>) -> Result<Verdict, Error> {
    let text = node.text()?.value;
    let found = ACTIONS.iter().find(|(word, _)| *word == text).map(|(_, verdict)| *verdict);
    found.ok_or_else(|| node.wrong(format!("`{text}` is not one of allow, ask, deny")))
}

fn read(permission: &str, node: &Node<'_>, rules: &mut Vec<Rule>, defaults: &mut Defaults) -> Result<(), Error> {
    let entries = if node.value.is_string() { vec![("*", node.clone())] } else { node.entries_as_written()? };
    for (pattern, node) in entries {
        let verdict = action(&node)?;
        let all = pattern == "*";
        let on = match permission {
            "*" if all => On::Everything,
            "bash" if all => On::Command(vec![Command::any()]),
            "bash" => {
                let pattern = home(pattern);
                On::commands(Command::wild(&pattern, true).into_iter().collect(), verdict)
            }
            "read" => On::Read(places(pattern, verdict)),
            "edit" | "write" | "patch" => On::Write(places(pattern, verdict)),
            "external_directory" => {
                if all {
                    (defaults.read_outside, defaults.write_outside) = (verdict, verdict);
                    continue;
                }
                On::Write(places(pattern, verdict))
            }
            "doom_loop" => continue,
            name => {
                let names = sayso_policy::normalise::pattern_names(name);
                if !all {
                    // What the pattern is compared with differs from tool to tool: an allow of a part is left out, and
                    // what restricts a part restricts the whole.
                    if verdict == Verdict::Allow {
                        continue;
                    }
                }
                On::Tool(names)
            }
        };
        rules.push(Rule {
            narrowed: false,
            verdict,
            on,
            source: node.source(),
            text: format!("{permission} {pattern}"),
        });
    }
    Ok(())
}

fn home(pattern: &str) -> String {
    match pattern.strip_prefix("$HOME/") {
        Some(rest) => format!("~/{rest}"),
        None => pattern.to_owned(),
    }
}

/// `*` is any run of characters, slashes too; relative to the project.
fn places(pattern: &str, verdict: Verdict) -> Vec<Place> {
    if pattern == "*" || pattern == "**" {
        return Place::anywhere();
    }
    let pattern = home(pattern);
    let allows = verdict == Verdict::Allow;
    if !is_plain_path(&pattern) {
        return if allows { Vec::new() } else { Place::anywhere() };
    }
    let mut texts = Vec::new();
    match (pattern.strip_suffix("/*"), pattern.starts_with(['/', '~'])) {
        (Some(folder), true) => texts.push(format!("{folder}/**")),
        (Some(folder), false) => texts.push(format!("./{}/**", folder.trim_start_matches("./"))),
        (None, true) => texts.push(pattern.clone()),
        (None, false) => texts.push(format!("./{}", pattern.trim_start_matches("./"))),
    }
    if pattern.starts_with('*') {
        // At any depth.
        texts.push(format!("{}/**/{}", if allows { "." } else { "" }, pattern.trim_start_matches("**/")));
    } else if !allows && pattern.contains('*') && !pattern.ends_with("/*") {
        return Place::anywhere();
    }
    let found: Vec<Place> = texts.iter().filter_map(|text| Place::new(text)).collect();
    if found.len() < texts.len() && !allows { Place::anywhere() } else { found }
}
