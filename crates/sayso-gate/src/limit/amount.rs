//! What a call takes from the budgets, as far as its effects tell beforehand.

use super::Expected;
use sayso_policy::{Facts, Operation, Request, Unknown, Usage};
use sayso_shell::{Effect, Files, HostTarget, Kind, PathTarget, Target, Verb};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Entries of folders that are counted; a call that removes more than that removes more than anybody knows.
const MOST_COUNTED: u64 = 100_000;
/// Arguments of tools that end up in a file.
const CONTENT: [&str; 12] = [
    "content",
    "contents",
    "file_text",
    "insert_text",
    "new_source",
    "new_str",
    "new_string",
    "new_text",
    "newText",
    "patch",
    "diff",
    "text",
];
/// How deep arguments are looked at.
const DEEPEST: usize = 16;

/// What a call takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Takes {
    pub usage: Usage,
    /// The hosts it contacts, each once.
    pub hosts: Vec<String>,
    pub unknown: Unknown,
}

impl Takes {
    pub(crate) fn of(operation: &Operation, expected: Expected, facts: Facts<'_>) -> Self {
        let usage = Usage {
            calls: 1,
            input_tokens: expected.input_tokens,
            output_tokens: expected.output_tokens,
            cost_micros: expected.cost_micros,
            bytes_written: written(operation),
            ..Usage::default()
        };
        let mut takes = Self { usage, ..Self::default() };
        for (index, effect) in operation.effects.iter().enumerate().filter(|(_, effect)| effect.certain) {
            match (&effect.target, effect.verb) {
                (Target::Path(target), Verb::Delete) => {
                    let resolved = operation.resolved.get(index).and_then(|resolved| resolved.canonical.as_deref());
                    match removed(target, resolved, facts.files) {
                        Some(count) => takes.usage.deletes = takes.usage.deletes.saturating_add(count),
                        None => takes.unknown.deletes = true,
                    }
                }
                (Target::Host(host), _) => takes.contacts(host),
                _ => {}
            }
        }
        takes
    }

    fn contacts(&mut self, host: &HostTarget) {
        let name = match host {
            HostTarget::Exact { host, .. } => host.trim_end_matches('.').to_lowercase(),
            HostTarget::Configured(label) => format!("host of {label}"),
            HostTarget::Unknown => {
                self.unknown.hosts = true;
                return;
            }
        };
        if !self.hosts.contains(&name) {
            self.hosts.push(name);
        }
    }
}

/// How many paths are removed; `None`: nobody knows. For patterns, at most.
fn removed(target: &PathTarget, resolved: Option<&Path>, files: &dyn Files) -> Option<u64> {
    match target {
        PathTarget::Exact(path) if path.is_absolute() => Some(1),
        PathTarget::Below(path) => entries(resolved.unwrap_or(path), files).map(|below| below.saturating_add(1)),
        PathTarget::Sifted(_) | PathTarget::Glob { .. } | PathTarget::Listed(_) => {
            entries(resolved.or_else(|| target.place())?, files)
        }
        // Nothing is removed by telling a name.
        PathTarget::Told(_) => Some(0),
        PathTarget::Exact(_) | PathTarget::Unknown(_) => None,
    }
}

/// Everything below a folder, links not followed.
fn entries(folder: &Path, files: &dyn Files) -> Option<u64> {
    if !folder.is_absolute() {
        return None;
    }
    let most = usize::try_from(MOST_COUNTED).unwrap_or(usize::MAX);
    let mut count: u64 = 0;
    let mut open: Vec<PathBuf> = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        match files.kind(&folder) {
            Kind::Folder { .. } => {}
            Kind::Unknown => return None,
            _ => continue,
        }
        for name in files.list(&folder, most)? {
            count += 1;
            if count > MOST_COUNTED {
                return None;
            }
            let path = folder.join(name);
            if matches!(files.kind(&path), Kind::Folder { .. }) {
                open.push(path);
            }
        }
    }
    Some(count)
}

/// The bytes that a call is seen to write: what a file tool was given, or at most the command itself, which holds what
/// it echoes. What a program writes on its own is counted when the outcome tells.
fn written(operation: &Operation) -> u64 {
    let writes =
        |effect: &Effect| effect.verb == Verb::Write && effect.certain && matches!(effect.target, Target::Path(_));
    if !operation.effects.iter().any(writes) {
        return 0;
    }
    let length = match (&operation.request, &operation.command) {
        (_, Some(command)) | (Request::Command(command), None) => command.len(),
        (Request::Tool { arguments, .. }, None) => content(arguments, false, 0),
    };
    u64::try_from(length).unwrap_or(u64::MAX)
}

fn content(value: &Value, counts: bool, depth: usize) -> usize {
    if depth > DEEPEST {
        return 0;
    }
    match value {
        Value::String(text) if counts => text.len(),
        Value::Array(items) => items.iter().map(|item| content(item, counts, depth + 1)).sum(),
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| content(value, counts || CONTENT.contains(&key.as_str()), depth + 1)).sum()
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sayso_policy::ToolCall;
    use sayso_shell::{MemoryFiles, NoEnvironment};
    use serde_json::json;

    fn takes(request: Request) -> Takes {
        let mut files = MemoryFiles::new();
        for path in ["/w/a", "/w/d/x", "/w/d/e/y", "/w/d/e/z"] {
            files.file(path, b"");
        }
        let facts = Facts { files: &files, env: &NoEnvironment };
        let call = ToolCall { cwd: Some("/w".into()), ..ToolCall::new(request) };
        Takes::of(&Operation::new(call, facts), Expected::default(), facts)
    }

    fn command(text: &str) -> Takes {
        takes(Request::Command(text.into()))
    }

    fn tool(name: &str, arguments: Value) -> Takes {
        takes(Request::Tool { name: name.to_owned(), arguments, server: None })
    }

    #[test]
    fn deletes_are_counted_with_everything_below() {
        assert_eq!(command("ls").usage.deletes, 0);
        assert_eq!(command("rm a").usage.deletes, 1);
        assert_eq!(command("rm a b c").usage.deletes, 3);
        assert_eq!(command("rm -rf d").usage.deletes, 5);
        assert!(command("rm $X").unknown.deletes);
        assert!(!command("rm a").unknown.deletes);
    }

    #[test]
    fn hosts_are_counted_once_each() {
        let hosts = command("curl https://a.example/x https://A.example:8080/y https://b.example").hosts;
        assert_eq!(hosts, ["a.example", "b.example"]);
        assert!(command("curl $URL").unknown.hosts);
    }

    #[test]
    fn bytes_are_those_of_the_content() {
        assert_eq!(tool("Write", json!({"file_path": "/w/n", "content": "12345"})).usage.bytes_written, 5);
        assert_eq!(
            tool("Edit", json!({"file_path": "/w/n", "old_string": "123456789", "new_string": "12"}))
                .usage
                .bytes_written,
            2
        );
        assert_eq!(tool("Read", json!({"file_path": "/w/n"})).usage.bytes_written, 0);
        assert_eq!(command("echo hello > n").usage.bytes_written, 14);
        assert_eq!(command("echo hello").usage.bytes_written, 0);
    }
}
