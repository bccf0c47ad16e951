//! Claude Code's settings: `permissions.allow`, `ask` and `deny`, of which the strictest that matches wins.

use crate::Error;
use crate::agent::pattern::{Command, Host, Place, is_plain_path};
use crate::agent::{AgentRules, ArgumentTest, Defaults, On, Order, Redirects, Rule};
use crate::document::{Node, Text};
use crate::regular::Expression;
use sayso_policy::Verdict;

const KEYS: &[&str] = &[
    "allow",
    "ask",
    "deny",
    "defaultMode",
    "additionalDirectories",
    "disableBypassPermissionsMode",
    "disableAutoMode",
    "denyInsteadOfPrompting",
    "blockReadsOutsideWorkingDirectories",
    "blockWritesOutsideWorkingDirectories",
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Default,
    AcceptEdits,
    Plan,
    DontAsk,
    Bypass,
}

const MODES: &[(&str, Mode)] = &[
    ("default", Mode::Default),
    ("manual", Mode::Default),
    ("auto", Mode::Default),
    ("acceptEdits", Mode::AcceptEdits),
    ("plan", Mode::Plan),
    ("dontAsk", Mode::DontAsk),
    ("bypassPermissions", Mode::Bypass),
];

pub(crate) fn lower(root: &Node<'_>) -> Result<AgentRules, Error> {
    let mut rules = Vec::new();
    let permissions = root.get("permissions")?;
    let mut defaults = Defaults { read_inside: Verdict::Allow, ..Defaults::all(Verdict::Ask) };
    if let Some(node) = &permissions {
        node.only(KEYS)?;
        for (key, verdict) in [("deny", Verdict::Deny), ("ask", Verdict::Ask), ("allow", Verdict::Allow)] {
            for item in node.get(key)?.map(|node| node.items()).transpose()?.unwrap_or_default() {
                let text = item.text()?;
                rules.extend(rule(&text, verdict).map_err(|why| item.wrong(why))?);
            }
        }
        defaults = defaults_of(node, defaults)?;
        for folder in node.texts_at("additionalDirectories")?.unwrap_or_default() {
            let places = places(&format!("/{}/**", folder.value.trim_end_matches('/')), Verdict::Allow);
            let on = if folder.value.starts_with('/') { On::Read(places) } else { On::Read(Vec::new()) };
            rules.push(Rule {
                narrowed: false,
                verdict: Verdict::Allow,
                on,
                source: folder.source,
                text: folder.value,
            });
        }
    }
    Ok(AgentRules {
        title: "Claude Code",
        rules,
        order: Order::Strictest,
        defaults,
        redirects: Redirects::AsFiles,
        transparent: &["timeout", "time", "nice", "nohup", "stdbuf"],
    })
}

fn defaults_of(node: &Node<'_>, mut defaults: Defaults) -> Result<Defaults, Error> {
    match node.word_at("defaultMode", MODES)?.unwrap_or(Mode::Default) {
        Mode::Default => {}
        Mode::AcceptEdits => defaults.write_inside = Verdict::Allow,
        Mode::Plan => (defaults.write_inside, defaults.write_outside) = (Verdict::Deny, Verdict::Deny),
        Mode::DontAsk => defaults = defaults.without_asking(),
        Mode::Bypass => {
            let disabled = node.get("disableBypassPermissionsMode")?.is_some();
            if !disabled {
                defaults = Defaults::all(Verdict::Allow);
            }
        }
    }
    if node.flag_at("denyInsteadOfPrompting", false)? {
        defaults = defaults.without_asking();
    }
    if node.flag_at("blockReadsOutsideWorkingDirectories", false)? {
        defaults.read_outside = Verdict::Deny;
    }
    if node.flag_at("blockWritesOutsideWorkingDirectories", false)? {
        defaults.write_outside = Verdict::Deny;
    }
    Ok(defaults)
}

/// `Tool` or `Tool(spec)`; none if Claude Code never consults it and it permits.
fn rule(text: &Text, verdict: Verdict) -> Result<Option<Rule>, String> {
    let written = text.value.trim();
    let (tool, spec) = match written.split_once('(') {
        Some((tool, rest)) => (tool.trim(), Some(rest.strip_suffix(')').ok_or("a rule ends with `)`")?.trim())),
        None => (written, None),
    };
    if tool.is_empty() {
        return Err("a rule begins with a tool's name".to_owned());
    }
    let spec = spec.filter(|spec| !matches!(*spec, "" | "*" | "**"));
    let allows = verdict == Verdict::Allow;
    let on = match (tool, spec) {
        ("Bash" | "PowerShell", None) => On::Command(vec![Command::any()]),
        ("Bash" | "PowerShell", Some(spec)) => On::commands(command(spec, allows), verdict),
        ("Read", spec) => On::Read(spec.map_or_else(Place::anywhere, |spec| places(spec, verdict))),
        ("Edit", spec) => On::Write(spec.map_or_else(Place::anywhere, |spec| places(spec, verdict))),
        // Accepted and never consulted: such an allow permits nothing, such a deny is meant as it reads.
        ("Glob" | "Grep" | "LS", Some(_)) | ("Write" | "NotebookEdit" | "MultiEdit", Some(_)) if allows => {
            return Ok(None);
        }
        ("Glob" | "Grep" | "LS", Some(spec)) => On::Read(places(spec, verdict)),
        ("Write" | "NotebookEdit" | "MultiEdit", Some(spec)) => On::Write(places(spec, verdict)),
        ("WebFetch", None) => On::Host(vec![Host::any()]),
        ("WebFetch", Some(spec)) => {
            let domain = spec.strip_prefix("domain:").ok_or("`WebFetch` takes `domain:HOST`")?;
            let host = Host::new(domain.trim()).ok_or_else(|| format!("`{domain}` is not a host"))?;
            On::Host(vec![host])
        }
        ("*", None) if !allows => On::Everything,
        ("*", _) => return Ok(None),
        (tool, None) if allows && tool.contains('*') && !tool.starts_with("mcp__") => return Ok(None),
        (tool, None) => On::Tool(sayso_policy::normalise::pattern_names(tool)),
        (tool, Some(spec)) => {
            let (names, value): (&'static [&'static str], &str) = match (tool, spec.split_once(':')) {
                ("Agent" | "Task", Some(("model", value))) => (&["model"], value),
                ("Agent" | "Task", _) => (&["subagent_type"], spec),
                ("Skill", _) => (&["skill", "command", "name"], spec),
                (_, Some((_, value))) => (&[], value),
                (_, None) => (&[], spec),
            };
            let expression = Expression::exact_case(&whole(value))?;
            let test = ArgumentTest::Values { names, expression };
            On::Arguments { tools: sayso_policy::normalise::pattern_names(tool), test }
        }
    };
    Ok(Some(Rule { narrowed: false, verdict, on, source: text.source.clone(), text: written.to_owned() }))
}

/// `*` is any run of characters; anchored at both ends.
fn whole(text: &str) -> String {
    let escaped = |part: &str| -> String {
        part.chars().flat_map(|c| (!c.is_alphanumeric()).then_some('\\').into_iter().chain([c])).collect()
    };
    format!("^{}$", text.split('*').map(escaped).collect::<Vec<_>>().join(".*"))
}

/// Exact unless there is a star; `:*` and ` *` at the end are whatever follows the words.
fn command(spec: &str, allows: bool) -> Vec<Command> {
    let mut texts = vec![spec.to_owned()];
    if !allows && spec.contains(['"', '\'']) {
        texts.push(spec.replace(['"', '\''], ""));
    }
    let one = |text: &String| match text.strip_suffix(":*").or_else(|| text.strip_suffix(" *")) {
        Some(prefix) if !prefix.contains('*') => Command::prefix(prefix),
        _ if text.contains('*') => Command::wild(text, false),
        _ => Command::exact(text),
    };
    texts.iter().filter_map(one).collect()
}

/// A gitignore pattern: `//` is the root, `~/` home, `/` and `./` the project, and a bare name is at any depth.
pub(crate) fn places(spec: &str, verdict: Verdict) -> Vec<Place> {
    let allows = verdict == Verdict::Allow;
    if !is_plain_path(spec) {
        // An allow that cannot be said permits nothing; a deny is for every path.
        return if allows { Vec::new() } else { Place::anywhere() };
    }
    let deep = |text: &str| {
        let text = text.trim_end_matches('/');
        if text.ends_with("**") { text.to_owned() } else { format!("{text}/**") }
    };
    let mut texts = Vec::new();
    if let Some(absolute) = spec.strip_prefix("//") {
        texts.push(deep(&format!("/{absolute}")));
    } else if spec.starts_with("~/") {
        texts.push(deep(spec));
    } else {
        let anchored = spec.starts_with('/') || spec.starts_with("./");
        let rest = spec.trim_start_matches("./").trim_start_matches('/');
        if anchored || rest.trim_end_matches('/').contains('/') {
            texts.push(deep(&format!("./{rest}")));
            if !allows && !anchored {
                texts.push(deep(&format!("/**/{rest}")));
            }
        } else {
            texts.push(deep(&format!("{}/**/{rest}", if allows { "." } else { "" })));
        }
    }
    let found: Vec<Place> = texts.iter().filter_map(|text| Place::new(text)).collect();
    if found.len() < texts.len() && !allows { Place::anywhere() } else { found }
}
