//! Calls at the corners of a pattern: the plainest that it matches, and those on which its conditions and exceptions turn.

use super::entry::Entry;
use crate::pattern::expand_braces;
use crate::text::{Arg, ExampleValue, Text, Who};
use crate::word::{Actor, ProviderKey, ToolCall};
use sayso_shell::Verb;
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// Alternatives that are tried of each condition.
const MOST_ALTERNATIVES: usize = 6;
/// Calls that one statement gives at most.
const MOST_CALLS: usize = 96;
/// Flags of one program that are tried beside its own.
const MOST_FLAGS: usize = 16;

/// What commonly follows a command: nothing, a name, a path inside, a path outside, an address, a script, a message.
const FOLLOWING: &[&str] = &[
    "",
    "x",
    "./x",
    "/etc/x",
    "x y",
    "https://example.org/x",
    "-d a=b https://example.org/x",
    "-X DELETE https://example.org/x",
    "-c 'select 1'",
    "-c 'delete from t'",
    "x 'select 1'",
    "--amend --no-edit",
    "-r x",
    "target",
];

/// Flags that any statement names, by the program and the word that stand before them.
#[derive(Debug, Default)]
pub(super) struct Flags<'a>(HashMap<&'a str, Vec<&'a str>>);

impl<'a> Flags<'a> {
    pub(super) fn of(patterns: impl Iterator<Item = &'a str>) -> Self {
        let mut all: HashMap<&str, Vec<&str>> = HashMap::new();
        for pattern in patterns {
            let mut flags = pattern.split(' ').filter(|word| word.starts_with('-') && word.len() > 1).peekable();
            if flags.peek().is_some() {
                let known = all.entry(subject(pattern)).or_default();
                for flag in flags {
                    if known.len() < MOST_FLAGS && !known.contains(&flag) {
                        known.push(flag);
                    }
                }
            }
        }
        Self(all)
    }
}

/// The program and its subcommand: all that stands before the first flag.
fn subject(pattern: &str) -> &str {
    pattern.split_once(" -").map_or(pattern, |(before, _)| before)
}

/// Calls on which a statement may turn.
pub(super) fn calls(entry: &Entry, flags: &Flags<'_>) -> Vec<ToolCall> {
    let mut found = Vec::new();
    for example in &entry.examples {
        found.extend(of_example(entry.verb, example));
    }
    match entry.verb {
        Verb::Run => {
            found.extend(commands(entry, flags).into_iter().map(|command| ToolCall::command(command.into_bytes())))
        }
        Verb::Call => found.extend(tools(entry)),
        verb => found.extend(concrete(&entry.pattern).iter().flat_map(|target| on(verb, target))),
    }
    let actors = actors(entry);
    let with_actor = |call: &ToolCall| {
        actors.iter().map(|actor| ToolCall { actor: actor.clone(), ..call.clone() }).collect::<Vec<_>>()
    };
    found.truncate(MOST_CALLS);
    let mut all: Vec<ToolCall> = found.iter().flat_map(with_actor).collect();
    all.extend(found);
    all
}

/// Calls that do this to one path or host.
pub(super) fn on(verb: Verb, target: &str) -> Vec<ToolCall> {
    let tool = |name: &str, arguments: Value| ToolCall::tool(name, arguments);
    let command = |text: String| ToolCall::command(text.into_bytes());
    let quoted = quoted(target);
    match verb {
        Verb::Read => vec![command(format!("cat {quoted}")), tool("file_read", json!({ "path": target }))],
        Verb::Write => vec![
            command(format!("tee {quoted}")),
            tool("file_write", json!({ "path": target, "content": "" })),
            command(format!("rm {quoted}")),
        ],
        Verb::Delete => vec![command(format!("rm {quoted}")), tool("file_delete", json!({ "path": target }))],
        Verb::Connect => vec![
            tool("web_fetch", json!({ "url": format!("https://{target}/") })),
            command(format!("curl https://{quoted}/")),
        ],
        Verb::Run | Verb::Call => Vec::new(),
    }
}

/// Calls that every policy has an opinion on, for changes that no pattern tells.
pub(super) fn plain() -> Vec<ToolCall> {
    let commands =
        ["ls", "x", "git status", "git push", "make", "curl https://example.org/", "rm x", "bash x", "cat x"];
    let mut all: Vec<ToolCall> = commands.iter().map(|text| ToolCall::command(text.as_bytes())).collect();
    for verb in [Verb::Read, Verb::Write, Verb::Delete] {
        all.extend(["./x", "/etc/x", "~/x", "/tmp/x"].iter().flat_map(|path| on(verb, path)));
    }
    all.extend(on(Verb::Connect, "example.org"));
    let tools = ["x", "web_search", "think", "session_spawn", "mcp:x/get_x", "mcp:x/x"];
    all.extend(tools.iter().map(|name| ToolCall::tool(*name, Value::Object(Map::new()))));
    all
}

fn of_example(verb: Verb, example: &ExampleValue) -> Vec<ToolCall> {
    match (verb, example) {
        (Verb::Run, ExampleValue::Text(text)) => vec![ToolCall::command(text.as_bytes())],
        (Verb::Call, ExampleValue::Text(name)) => vec![ToolCall::tool(name.as_str(), Value::Object(Map::new()))],
        (verb, ExampleValue::Text(target)) => on(verb, target),
        (_, ExampleValue::Arguments(_)) => Vec::new(),
    }
}

fn commands(entry: &Entry, flags: &Flags<'_>) -> Vec<String> {
    let Some(base) = command(&entry.pattern) else { return Vec::new() };
    let mut bases = vec![base];
    // Where an exception was added or taken away, what it excepts is the call to look at.
    bases.extend(entry.except.iter().filter_map(|it| command(it)));
    // A flag may be a fact that Sayso finds (`--only-reads`), which nobody can type: the call to look at does without.
    let plain = (!entry.pattern.contains('|')).then(|| command(subject(&entry.pattern))).flatten();
    bases.extend(plain.filter(|plain| !bases.contains(plain)));
    let mut found = Vec::new();
    for base in &bases {
        let behind = |words: &str| match (words, base.split_once(" | ")) {
            ("", _) => base.clone(),
            (words, None) => format!("{base} {words}"),
            (words, Some((first, rest))) => format!("{first} {words} | {rest}"),
        };
        found.extend(conditioned(entry, &behind));
        found.extend(FOLLOWING.iter().map(|words| behind(words)));
    }
    // Another statement may speak of the plain command; with one of the flags that it names it may not.
    if let Some(base) = bases.first().filter(|base| !base.contains(" | ")) {
        for flag in flags.0.get(subject(&entry.pattern)).into_iter().flatten() {
            found.push(format!("{base} {}", word(flag)));
            found.push(format!("{base} {} x", word(flag)));
        }
    }
    found
}

/// Commands for which the conditions of a rule hold, or just do not.
fn conditioned(entry: &Entry, behind: &dyn Fn(&str) -> String) -> Vec<String> {
    let Some(when) = &entry.when else { return Vec::new() };
    let mut found = Vec::new();
    let (hosts, not_hosts) = parted(&when.host);
    for host in &hosts {
        // Each program has its own way to be told a host.
        let base = behind("");
        let forms: &[&str] = match base.split(' ').next() {
            Some("psql" | "mysql" | "pg_dump" | "redis-cli") => &["H", "-h H -c 'select 1'", "-h H"],
            Some("nc" | "netcat" | "ncat") => &["H", "-z H 80", "H 80"],
            _ => &["H", "https://H/", "-s http://H/", "-d a=b http://H/", "-z H 80"],
        };
        for words in forms {
            found.push(behind(&words.replace('H', host)));
        }
        for port in not_hosts.iter().filter_map(|it| it.strip_prefix("x:")) {
            found.push(behind(&format!("http://{host}:{port}/")));
        }
    }
    for operand in alternatives(&when.operand) {
        found.push(behind(&quoted(&operand)));
    }
    for flag in alternatives(&when.flag) {
        found.push(behind(&flag));
        found.push(behind(&format!("{flag} x")));
    }
    for program in alternatives(&when.piped_to) {
        found.extend(command(&program).map(|program| format!("{} | {program}", behind("x"))));
    }
    for variable in alternatives(&when.env) {
        let set = if variable.contains('=') { variable } else { format!("{variable}=x") };
        found.push(format!("{set} {}", behind("x")));
    }
    // What tools make again, where a program is told of it before its options.
    if when.build_output.is_some() {
        let base = behind("");
        if let Some((name, rest)) = base.split_once(' ') {
            for words in [". -name '*.pyc'", "target", "node_modules"] {
                found.push(format!("{name} {words} {rest}"));
            }
        }
    }
    // What the session did before, done in the same call.
    for (verb, patterns) in &when.after {
        for target in alternatives(patterns) {
            let done = match verb.value {
                Verb::Read => format!("cat {}", quoted(&target)),
                Verb::Write => format!("touch {}", quoted(&target)),
                Verb::Delete => format!("rm {}", quoted(&target)),
                Verb::Connect => format!("curl https://{}/", quoted(&target)),
                Verb::Run => target.clone(),
                Verb::Call => continue,
            };
            found.push(format!("{done}; {}", behind("x")));
        }
    }
    if when.self_written.is_some() {
        for file in ["Makefile", "package.json", "Cargo.toml", "conftest.py", "build.gradle", "go.mod"] {
            found.push(format!("printf x > {file} && {}", behind("")));
        }
    }
    for folder in alternatives(&when.within) {
        found.push(behind(&quoted(&folder)));
    }
    found
}

fn tools(entry: &Entry) -> Vec<ToolCall> {
    let arguments = entry.when.as_ref().map(|when| arguments(&when.args)).unwrap_or_default();
    let names = concrete(&entry.pattern);
    let mut found: Vec<ToolCall> =
        names.iter().map(|name| ToolCall::tool(name.as_str(), Value::Object(arguments.clone()))).collect();
    if !arguments.is_empty() {
        found.extend(names.iter().map(|name| ToolCall::tool(name.as_str(), Value::Object(Map::new()))));
    }
    found
}

/// Arguments that every `arg` condition holds for.
fn arguments(args: &[Arg]) -> Map<String, Value> {
    let mut all = Map::new();
    for arg in args {
        let Some(text) = alternatives(&arg.patterns).into_iter().next() else { continue };
        let mut at = &mut all;
        let mut keys = arg.path.value.iter().peekable();
        while let Some(key) = keys.next() {
            if keys.peek().is_none() {
                at.insert(key.clone(), Value::String(text.clone()));
                break;
            }
            let inner = at.entry(key.clone()).or_insert_with(|| Value::Object(Map::new()));
            let Value::Object(inner) = inner else { break };
            at = inner;
        }
    }
    all
}

/// Those whom the conditions name, each as one who asks.
fn actors(entry: &Entry) -> Vec<Actor> {
    let Some(when) = &entry.when else { return Vec::new() };
    let one = |who: &Who| match who {
        Who::Provider(ProviderKey { provider, model }) => Actor {
            provider: Some(model.as_ref().map_or_else(|| provider.clone(), |model| format!("{provider}/{model}"))),
            ..Actor::default()
        },
        Who::Agent(agent) => Actor { agent: Some(agent.clone()), ..Actor::default() },
        Who::Team { team, member } => Actor { team: Some(team.clone()), member: member.clone(), ..Actor::default() },
        Who::Tenant(tenant) => Actor { tenant: Some(tenant.clone()), ..Actor::default() },
        Who::Subagent => Actor { subagent: true, ..Actor::default() },
    };
    when.actors.iter().take(MOST_ALTERNATIVES).map(|who| one(&who.value)).collect()
}

/// The plainest command that a `run` pattern matches; `None`: it is a regular expression.
fn command(pattern: &str) -> Option<String> {
    if pattern.starts_with("re:") {
        return None;
    }
    let stages = pattern.split('|').map(|stage| {
        let stage = stage.trim();
        // Of a set in a pipe any program will do, and shells are what such patterns name.
        let stage = if stage.starts_with('@') { "sh" } else { stage };
        stage.split_whitespace().map(word).collect::<Vec<_>>().join(" ")
    });
    Some(stages.collect::<Vec<_>>().join(" | "))
}

/// A word of a pattern as a command has it: `-m=pytest` is `-m pytest`.
fn word(pattern: &str) -> String {
    let plain = filled(pattern);
    match plain.split_once('=') {
        Some((flag, value)) if flag.starts_with('-') && !flag.starts_with("--") => format!("{flag} {}", quoted(value)),
        _ => quoted(&plain),
    }
}

/// Texts that a pattern of paths, hosts or tools matches.
fn concrete(pattern: &str) -> Vec<String> {
    if pattern.starts_with("re:") || pattern.starts_with('@') {
        return Vec::new();
    }
    expand_braces(pattern).unwrap_or_default().iter().take(MOST_ALTERNATIVES).map(|it| filled(it)).collect()
}

/// The alternatives of a list, exceptions left out.
fn alternatives(texts: &[Text]) -> Vec<String> {
    parted(texts).0
}

/// The alternatives of a list, and those of its exceptions.
fn parted(texts: &[Text]) -> (Vec<String>, Vec<String>) {
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for text in texts {
        match text.value.strip_prefix('!') {
            Some(rest) => without.extend(concrete(rest.trim_start())),
            None => with.extend(concrete(&text.value)),
        }
    }
    with.truncate(MOST_ALTERNATIVES);
    (with, without)
}

/// A text with something in the place of its wildcards.
fn filled(pattern: &str) -> String {
    pattern.replace("**", "x").replace(['*', '?'], "x")
}

/// A word that a shell reads as it is.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,~".contains(c);
    if !text.is_empty() && text.chars().all(plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', "")) }
}
