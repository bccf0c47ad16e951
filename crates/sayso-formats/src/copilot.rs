//! Copilot's options on tools, as a text: `--allow-tool 'shell(git:*)' --deny-tool 'shell(git push)'`. A deny wins.

use crate::Error;
use crate::agent::pattern::{Command, Host, Place};
use crate::agent::{AgentRules, Defaults, On, Order, Redirects, Rule};
use sayso_policy::{Source, Verdict};

/// Whether a text is a list of such options.
pub(crate) fn looks_like(text: &str) -> bool {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    first.is_some_and(|line| line.starts_with("--") || line.starts_with("copilot "))
}

pub(crate) fn lower(name: &str, text: &str) -> Result<AgentRules, Error> {
    let mut rules = Vec::new();
    let mut defaults = Defaults { read_inside: Verdict::Allow, ..Defaults::all(Verdict::Ask) };
    let mut listed: Option<Vec<(String, Source)>> = None;
    for (at, line) in text.lines().enumerate() {
        let number = u32::try_from(at + 1).unwrap_or(u32::MAX);
        let source = Source { file: name.into(), line: number, column: 1 };
        let wrong =
            |key: &str, message: String| Error { file: name.to_owned(), line: at + 1, key: key.to_owned(), message };
        let line = line.trim().trim_end_matches('\\');
        if line.starts_with('#') {
            continue;
        }
        let mut words = words(line).ok_or_else(|| wrong("", "unterminated quote".to_owned()))?.into_iter();
        while let Some(word) = words.next() {
            let (option, joined) = match word.split_once('=') {
                Some((option, value)) => (option.to_owned(), Some(value.to_owned())),
                None => (word.clone(), None),
            };
            let mut value =
                || joined.clone().or_else(|| words.next()).ok_or_else(|| wrong(&option, "missing value".to_owned()));
            match option.as_str() {
                "copilot" => {}
                "--allow-tool" => {
                    rules.push(rule(&value()?, Verdict::Allow, &source).map_err(|why| wrong(&option, why))?)
                }
                "--deny-tool" => {
                    rules.push(rule(&value()?, Verdict::Deny, &source).map_err(|why| wrong(&option, why))?)
                }
                "--excluded-tools" => {
                    for tool in value()?.split(',') {
                        rules.push(rule(tool, Verdict::Deny, &source).map_err(|why| wrong(&option, why))?);
                    }
                }
                "--available-tools" => {
                    let tools = value()?;
                    listed
                        .get_or_insert_default()
                        .extend(tools.split(',').map(|tool| (tool.trim().to_owned(), source.clone())));
                }
                "--allow-all-tools" => {
                    (defaults.command, defaults.tool, defaults.write_inside) =
                        (Verdict::Allow, Verdict::Allow, Verdict::Allow);
                }
                "--allow-all-paths" => {
                    defaults.read_outside = defaults.read_inside;
                    defaults.write_outside = defaults.write_inside;
                }
                "--allow-all-urls" => defaults.connect = Verdict::Allow,
                "--allow-all" | "--yolo" => defaults = Defaults::all(Verdict::Allow),
                other => return Err(wrong(other, "this is not an option about tools".to_owned())),
            }
        }
    }
    if listed.is_some() {
        return Err(Error {
            file: name.to_owned(),
            line: 1,
            key: "--available-tools".to_owned(),
            message: "the available tools cannot be derived from Copilot's names; leave that to Copilot".to_owned(),
        });
    }
    Ok(AgentRules {
        title: "Copilot",
        rules,
        order: Order::Strictest,
        defaults,
        redirects: Redirects::Ask,
        transparent: &[],
    })
}

fn rule(text: &str, verdict: Verdict, source: &Source) -> Result<Rule, String> {
    let written = text.trim();
    let (kind, spec) = match written.split_once('(') {
        Some((kind, rest)) => (kind.trim(), Some(rest.strip_suffix(')').ok_or("a rule ends with `)`")?.trim())),
        None => (written, None),
    };
    let on = match (kind, spec) {
        ("", _) => return Err("a rule names a tool".to_owned()),
        ("shell", None) => On::Command(vec![Command::any()]),
        ("shell", Some(spec)) => {
            let text = spec.strip_suffix(":*").unwrap_or(spec);
            On::commands(Command::prefix(text).into_iter().collect(), verdict)
        }
        ("write", _) => On::Write(Place::anywhere()),
        ("read", _) => On::Read(Place::anywhere()),
        ("url", None) => On::Host(vec![Host::any()]),
        ("url", Some(spec)) => {
            let host = spec.split("://").last().and_then(|rest| rest.split('/').next()).unwrap_or(spec);
            // A path on a host is less than the host: such a rule permits nothing, and restricts the whole host.
            let whole = spec.trim_end_matches('/').ends_with(host);
            let pattern = Host::new(host).ok_or_else(|| format!("`{host}` is not a host"))?;
            On::Host(if verdict == Verdict::Allow && !whole { Vec::new() } else { vec![pattern] })
        }
        (server, None) => On::Tool(vec![format!("mcp:{}/*", server.to_lowercase()), server.to_lowercase()]),
        (server, Some(tool)) => On::Tool(vec![format!("mcp:{}/{}", server.to_lowercase(), tool.to_lowercase())]),
    };
    Ok(Rule { narrowed: false, verdict, on, source: source.clone(), text: written.to_owned() })
}

/// Words of a line, with quotes.
fn words(line: &str) -> Option<Vec<String>> {
    let mut found = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => found.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    found.extend(word);
    quote.is_none().then_some(found)
}
