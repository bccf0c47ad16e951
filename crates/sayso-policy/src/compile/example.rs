//! Rules carry their own examples, checked when the file is loaded.

use crate::judging::Judging;
use crate::rule::{Pattern, Rule};
use crate::text::{ExampleValue, File, MAX_PROBLEMS, Problem, RuleText};
use crate::word::{Facts, Operation, Resolved, ToolCall, Tri, Workspace};
use sayso_shell::{Carry, Effect, Files, HostTarget, Kind, NoEnvironment, PathTarget, Span, Target, Verb};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A file system in which nothing exists: examples mean the same everywhere.
struct Nowhere;

impl Files for Nowhere {
    fn kind(&self, _: &Path) -> Kind {
        Kind::Missing
    }
    fn list(&self, _: &Path, _: usize) -> Option<Vec<std::ffi::OsString>> {
        Some(Vec::new())
    }
    fn read(&self, _: &Path, _: usize) -> Option<Vec<u8>> {
        None
    }
    fn stamp(&self, _: &Path) -> Option<String> {
        None
    }
    fn identity(&self, _: &Path) -> Option<(u64, u64)> {
        None
    }

    fn changeable(&self, _: &Path) -> bool {
        true
    }
}

/// The workspace and home of examples.
const WORKSPACE: &str = "/workspace/project";
const HOME: &str = "/home/owner";

/// Checks `hits` and `misses` against the rules made of one `[[rule]]`.
pub(super) fn check(file: &File, text: &RuleText, rules: &[Rule], problems: &mut Vec<Problem>) {
    for (examples, wanted) in [(&text.hits, true), (&text.misses, false)] {
        for example in examples {
            let answer = matches(rules, text.verb.value, &example.value);
            let fine = if wanted { answer == Tri::Yes } else { answer == Tri::No };
            if fine || problems.len() >= MAX_PROBLEMS {
                continue;
            }
            let (code, message) = match (wanted, answer) {
                (true, Tri::No) => ("example-not-hit", "the rule does not match this example from its `hits`"),
                (true, _) => ("example-not-hit", "the rule may or may not match this example from its `hits`"),
                (false, Tri::Yes) => ("example-hit", "the rule matches this example from its `misses`"),
                (false, _) => ("example-hit", "the rule may match this example from its `misses`"),
            };
            problems.push(file.problem(code, &example.span, message));
        }
    }
}

fn matches(rules: &[Rule], verb: Verb, example: &ExampleValue) -> Tri {
    let facts = Facts { files: &Nowhere, env: &NoEnvironment };
    let operation = operation(rules, verb, example, facts);
    let judging = Judging::new(&operation, facts, None);
    let mut best = Tri::No;
    for rule in rules {
        for index in 0..operation.effects.len() {
            best = best.max(rule.matches(&judging, index));
        }
    }
    best
}

fn operation(rules: &[Rule], verb: Verb, example: &ExampleValue, facts: Facts<'_>) -> Operation {
    let call = match (verb, example) {
        (Verb::Run, ExampleValue::Text(command)) => ToolCall::command(command.as_bytes()),
        (Verb::Call, ExampleValue::Text(name)) => ToolCall::tool(name.as_str(), Value::Object(serde_json::Map::new())),
        (_, ExampleValue::Text(_)) => ToolCall::tool("example", Value::Object(serde_json::Map::new())),
        (_, ExampleValue::Arguments(arguments)) => ToolCall::tool(example_tool(rules), arguments.clone()),
    };
    let call = ToolCall {
        cwd: Some(WORKSPACE.into()),
        workspace: Workspace::new(WORKSPACE, Some(Path::new(HOME))),
        home: Some(HOME.into()),
        ..call
    };
    let mut operation = Operation::new(call, facts);
    if let ExampleValue::Text(text) = example
        && !matches!(verb, Verb::Run | Verb::Call)
    {
        operation.effects = vec![effect(verb, text)];
        operation.resolved = operation.effects.iter().map(|effect| resolved(effect, facts)).collect();
    }
    operation
}

fn effect(verb: Verb, text: &str) -> Effect {
    let target = if verb == Verb::Connect {
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if port.parse::<u16>().is_ok() && !host.contains(':') => (host, port.parse().ok()),
            _ => (text, None),
        };
        Target::Host(HostTarget::Exact { host: host.to_ascii_lowercase(), port })
    } else {
        let path: PathBuf = match text.strip_prefix("~/") {
            Some(rest) => Path::new(HOME).join(rest),
            None => Path::new(WORKSPACE).join(text),
        };
        Target::Path(PathTarget::Exact(path))
    };
    Effect { verb, target, span: Span::default(), run: None, carry: Carry::Plain, certain: true }
}

fn resolved(effect: &Effect, facts: Facts<'_>) -> Resolved {
    match &effect.target {
        Target::Path(PathTarget::Exact(path)) => {
            let canonical = sayso_shell::canonical(facts.files, path).path;
            Resolved { lexical: Some(canonical.clone()), canonical: Some(canonical) }
        }
        _ => Resolved::default(),
    }
}

/// A tool that the rule's pattern means: the pattern itself with its wildcards filled in.
fn example_tool(rules: &[Rule]) -> String {
    let name = rules.iter().find_map(|rule| match &rule.pattern {
        Pattern::Tool(pattern) => pattern.an_instance(),
        _ => None,
    });
    name.unwrap_or_else(|| "example".to_owned())
}
