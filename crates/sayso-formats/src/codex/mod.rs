//! Codex's `*.rules`: `prefix_rule` on the words of a command, `network_rule` on hosts; the strictest that matches wins.

mod starlark;

use crate::Error;
use crate::agent::pattern::{Command, Host};
use crate::agent::{AgentRules, Defaults, On, Order, Redirects, Rule};
use sayso_policy::{Source, Verdict};
use starlark::{Call, Value};

/// Most combinations of alternatives in one rule.
const MAX_PREFIXES: usize = 256;

/// Whether a text is such a file.
pub(crate) fn looks_like(name: &str, text: &str) -> bool {
    let begins =
        |line: &str| ["prefix_rule(", "network_rule(", "host_executable("].iter().any(|call| line.starts_with(call));
    name.ends_with(".rules") || text.lines().map(str::trim).any(begins)
}

pub(crate) fn lower(name: &str, text: &str) -> Result<AgentRules, Error> {
    let wrong = |line: u32, key: &str, message: String| Error {
        file: name.to_owned(),
        line: usize::try_from(line).unwrap_or(1),
        key: key.to_owned(),
        message,
    };
    if text.len() > sayso_policy::text::MAX_BYTES {
        return Err(wrong(1, "", "the file is too long".to_owned()));
    }
    let calls = starlark::read(text).map_err(|(line, message)| wrong(line, "", message))?;
    let mut rules = Vec::new();
    for call in &calls {
        let source = Source { file: name.into(), line: call.line, column: 1 };
        let read = match call.name.as_str() {
            "prefix_rule" => prefix_rule(call, source),
            "network_rule" => network_rule(call, source).map(Some),
            // It only narrows which paths a bare name may stand for; paths are not matched by names here at all.
            "host_executable" => Ok(None),
            other => Err((other.to_owned(), "there are prefix_rule, network_rule and host_executable".to_owned())),
        };
        rules.extend(read.map_err(|(key, message)| wrong(call.line, &key, message))?);
    }
    Ok(AgentRules {
        title: "Codex",
        rules,
        order: Order::Strictest,
        defaults: Defaults::all(Verdict::Ask),
        redirects: Redirects::Ask,
        transparent: &[],
    })
}

/// A key and what is wrong with it.
type Wrong = (String, String);

fn key(call: &Call, key: &str) -> String {
    format!("{}.{key}", call.name)
}

fn only(call: &Call, keys: &[&str]) -> Result<(), Wrong> {
    match call.arguments.iter().find(|(name, _)| !keys.contains(&name.as_str())) {
        Some((name, _)) => Err((key(call, name), format!("unknown key; there are {}", keys.join(", ")))),
        None => Ok(()),
    }
}

fn argument<'c>(call: &'c Call, name: &str) -> Option<&'c Value> {
    let found = call.arguments.iter().find(|(known, _)| known == name).map(|(_, value)| value);
    found.filter(|value| **value != Value::Word("None".to_owned()))
}

fn text<'c>(call: &'c Call, name: &str) -> Result<Option<&'c str>, Wrong> {
    match argument(call, name) {
        None => Ok(None),
        Some(Value::Text(text)) => Ok(Some(text)),
        Some(_) => Err((key(call, name), "expected a string".to_owned())),
    }
}

fn decision(call: &Call, words: &[(&str, Verdict)], default: Verdict) -> Result<Verdict, Wrong> {
    let Some(word) = text(call, "decision")? else { return Ok(default) };
    let known = || words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
    let found = words.iter().find(|(known, _)| *known == word).map(|(_, verdict)| *verdict);
    found.ok_or_else(|| (key(call, "decision"), format!("`{word}` is not one of {}", known())))
}

fn prefix_rule(call: &Call, source: Source) -> Result<Option<Rule>, Wrong> {
    only(call, &["pattern", "decision", "justification", "match", "not_match"])?;
    let words = [("allow", Verdict::Allow), ("prompt", Verdict::Ask), ("forbidden", Verdict::Deny)];
    let verdict = decision(call, &words, Verdict::Allow)?;
    let at = |message: &str| (key(call, "pattern"), message.to_owned());
    let Some(Value::List(parts)) = argument(call, "pattern") else {
        return Err(at("expected a list of words"));
    };
    let mut prefixes: Vec<Vec<String>> = vec![Vec::new()];
    for part in parts {
        let choices: Vec<&str> = match part {
            Value::Text(word) => vec![word],
            Value::List(words) => {
                let texts: Option<Vec<&str>> = words
                    .iter()
                    .map(|word| if let Value::Text(word) = word { Some(word.as_str()) } else { None })
                    .collect();
                texts.filter(|texts| !texts.is_empty()).ok_or_else(|| at("alternatives are a list of words"))?
            }
            Value::Word(_) => return Err(at("expected a word or a list of words")),
        };
        prefixes = prefixes
            .iter()
            .flat_map(|prefix| choices.iter().map(move |choice| [&prefix[..], &[(*choice).to_owned()]].concat()))
            .collect();
        if prefixes.len() > MAX_PREFIXES {
            return Err(at("too many combinations of alternatives"));
        }
    }
    if parts.is_empty() {
        return Err(at("a pattern needs at least one word"));
    }
    examples(call, &prefixes)?;
    let spaced = prefixes.iter().flatten().any(|word| word.is_empty() || word.contains(char::is_whitespace));
    if spaced && verdict == Verdict::Allow {
        // Words with blanks in them cannot be told from several: nothing is allowed by them.
        return Ok(None);
    }
    let commands: Vec<Command> = prefixes.iter().filter_map(|prefix| Command::prefix(&prefix.join(" "))).collect();
    // One alternative that is lost is as bad as all.
    let commands = if commands.len() == prefixes.len() { commands } else { Vec::new() };
    let shown = prefixes.first().map(|prefix| prefix.join(" ")).unwrap_or_default();
    Ok(Some(Rule { narrowed: false, verdict, on: On::commands(commands, verdict), source, text: shown }))
}

/// Each example says whether the rule matches it.
fn examples(call: &Call, prefixes: &[Vec<String>]) -> Result<(), Wrong> {
    for (name, expected) in [("match", true), ("not_match", false)] {
        let Some(value) = argument(call, name) else { continue };
        let at = |message: String| (key(call, name), message);
        let Value::List(items) = value else { return Err(at("expected a list of examples".to_owned())) };
        for item in items {
            let words: Vec<String> = match item {
                Value::Text(text) => {
                    text.split_whitespace().map(|word| word.trim_matches(['"', '\'']).to_owned()).collect()
                }
                Value::List(words) => words
                    .iter()
                    .map(|word| if let Value::Text(word) = word { word.clone() } else { String::new() })
                    .collect(),
                Value::Word(_) => return Err(at("an example is a text or a list of words".to_owned())),
            };
            if prefixes.iter().any(|prefix| words.starts_with(prefix)) != expected {
                let is = if expected { "is not matched" } else { "is matched" };
                return Err(at(format!("the example `{}` {is} by this rule", words.join(" "))));
            }
        }
    }
    Ok(())
}

fn network_rule(call: &Call, source: Source) -> Result<Rule, Wrong> {
    only(call, &["host", "protocol", "decision", "justification"])?;
    let words = [("allow", Verdict::Allow), ("prompt", Verdict::Ask), ("deny", Verdict::Deny)];
    let verdict = decision(call, &words, Verdict::Allow)?;
    let host = text(call, "host")?.ok_or_else(|| (key(call, "host"), "a rule needs a host".to_owned()))?;
    let pattern = Host::new(host).ok_or_else(|| (key(call, "host"), format!("`{host}` is not a host")))?;
    Ok(Rule { narrowed: false, verdict, on: On::Host(vec![pattern]), source, text: host.to_owned() })
}
