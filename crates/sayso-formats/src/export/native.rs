//! What a policy's text says, as far as other systems may say it too.

use sayso_policy::{PolicyText, presets};
use toml::{Table, Value};

/// What there is to write.
#[derive(Debug, Default)]
pub(super) struct Native {
    /// Commands that an allow names, without anything behind them.
    pub commands: Vec<String>,
    /// Patterns of `run` that are denied and that others can say.
    pub denied: Vec<String>,
    pub denied_tools: Vec<String>,
    /// Denies that nobody else can say.
    pub unsaid: Vec<String>,
    /// Keys whose meaning depends on who asks, when, and what was before.
    pub conditions: Vec<String>,
    /// Some rule is about commands in a pipe.
    pub pipes: bool,
}

/// Programs that change the shell they run in, so that what follows is another thing.
const CHANGING: &[&str] = &[
    "cd", "pushd", "popd", "export", "set", "unset", "source", ".", "eval", "exec", "alias", "trap", "shopt", "env",
    "command", "builtin", "xargs",
];

impl Native {
    pub(super) fn read(files: &[PolicyText]) -> Self {
        let mut native = Self::default();
        for file in files {
            // It compiled, so it can be read.
            let table: Table = toml::from_str(&file.text).unwrap_or_default();
            for preset in texts(table.get("extends")).iter().chain(&texts(table.get("enforce"))) {
                let text = presets::text(preset).unwrap_or_default();
                native.add(&toml::from_str(text).unwrap_or_default());
            }
            native.add(&table);
        }
        native.commands.sort();
        native.commands.dedup();
        native
    }

    fn add(&mut self, table: &Table) {
        for (key, value) in table {
            match key.as_str() {
                "allow" => self.allows(value),
                "deny" => self.denies(value),
                "ask" => self.pipes |= value.to_string().contains(" | "),
                "default" => {
                    if value.to_string().contains("deny") {
                        self.unsaid.push("default = deny".to_owned());
                    }
                }
                "rule" => self.rules(value),
                "extends" | "set" | "unanswered" | "disable" | "version" | "description" | "name" | "schema"
                | "$schema" => {}
                other => self.conditions.push(other.to_owned()),
            }
        }
    }

    fn allows(&mut self, lists: &Value) {
        for pattern in texts(lists.get("run")) {
            for command in alternatives(&pattern) {
                let first = command.split_whitespace().next().unwrap_or_default();
                if plain(&command) && !CHANGING.contains(&first) {
                    self.commands.push(command.split_whitespace().collect::<Vec<_>>().join(" "));
                }
            }
        }
    }

    fn denies(&mut self, lists: &Value) {
        let Some(table) = lists.as_table() else { return };
        for (verb, list) in table {
            for pattern in texts(Some(list)) {
                self.pipes |= pattern.contains('|');
                let each = alternatives(&pattern);
                match verb.as_str() {
                    "run" if each.iter().all(|pattern| plain(pattern)) => self.denied.extend(each),
                    "tool" if each.iter().all(|pattern| is_tool(pattern)) => self.denied_tools.extend(each),
                    _ => self.unsaid.push(format!("{verb} {pattern}")),
                }
            }
        }
    }

    fn rules(&mut self, rules: &Value) {
        for rule in rules.as_array().into_iter().flatten().filter_map(Value::as_table) {
            let restricts = rule.contains_key("deny") || rule.contains_key("ask");
            if !restricts {
                continue;
            }
            let id = rule.get("id").and_then(Value::as_str).unwrap_or("a rule");
            self.pipes |= rule.contains_key("when") || Value::Table(rule.clone()).to_string().contains('|');
            if rule.contains_key("deny") {
                self.unsaid.push(id.to_owned());
            }
            let when = rule.get("when").and_then(Value::as_table);
            if when
                .is_some_and(|when| when.contains_key("for") || when.contains_key("within") || when.contains_key("arg"))
            {
                self.conditions.push(format!("conditions of {id}"));
            }
        }
    }
}

fn texts(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// `{a,b}` written out; nested ones stay as they are, and so are not plain.
fn alternatives(pattern: &str) -> Vec<String> {
    let mut done = Vec::new();
    let mut open = vec![pattern.to_owned()];
    while let Some(next) = open.pop() {
        let group = next
            .split_once('{')
            .and_then(|(before, rest)| rest.split_once('}').map(|(inner, after)| (before, inner, after)));
        match group {
            Some((before, inner, after)) if !inner.contains('{') && done.len() + open.len() < 500 => {
                open.extend(inner.split(',').map(|one| format!("{before}{}{after}", one.trim())));
            }
            _ => done.push(next),
        }
    }
    done
}

/// A program, words and flags that mean themselves.
fn plain(pattern: &str) -> bool {
    let word = |word: &str| {
        !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-./+=:".contains(&byte))
    };
    let begins = pattern.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    begins && !pattern.starts_with("re:") && pattern.split_whitespace().all(word)
}

fn is_tool(pattern: &str) -> bool {
    !pattern.is_empty() && pattern.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
