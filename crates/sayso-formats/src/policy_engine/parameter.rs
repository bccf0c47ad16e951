//! The parameters that matter for a tool. Content is left alone: a text about dangerous commands is no command.

use sayso_policy::normalise::guise::{analysed, guises};
use sayso_policy::shell::canonical;
use sayso_policy::{Facts, Operation, Request};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The parameters of a tool that are looked at; of any other tool all are.
const RELEVANT: &[(&str, &[&str])] = &[
    ("exec", &["command"]),
    ("process", &["command"]),
    ("write", &["file_path", "path"]),
    ("edit", &["file_path", "path"]),
];

/// Deepest nesting that is looked at.
const MAX_DEPTH: usize = 32;

fn relevant(tool: &str) -> Option<&'static [&'static str]> {
    let tool = tool.trim().to_lowercase();
    RELEVANT.iter().find(|(name, _)| *name == tool).map(|(_, names)| *names)
}

/// The names of those parameters; `None`: all.
pub(super) fn names(tool: &str) -> Option<&'static [&'static str]> {
    relevant(tool)
}

/// The texts that a tool's deny patterns look at, in every form that they may hide in.
pub(super) fn texts(operation: &Operation, tool: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut shell = true;
    match &operation.request {
        Request::Command(command) => found.push(String::from_utf8_lossy(command).into_owned()),
        Request::Tool { arguments, .. } => {
            let names = relevant(tool);
            collect(arguments, names, names.is_none(), 0, &mut found);
            shell = names.is_none_or(|names| names.contains(&"command"));
        }
    }
    let mut found: Vec<String> = found.iter().flat_map(|text| guises(text)).collect();
    if shell {
        found.extend(analysed(operation));
    }
    found
}

fn collect(value: &Value, names: Option<&[&str]>, inside: bool, depth: usize, found: &mut Vec<String>) {
    if depth > MAX_DEPTH {
        return;
    }
    match value {
        Value::String(text) => {
            if inside {
                found.push(text.clone());
            }
            // Arguments smuggled as JSON inside a string.
            if text.trim_start().starts_with(['{', '['])
                && let Ok(nested) = serde_json::from_str::<Value>(text)
            {
                collect(&nested, names, inside, depth + 1, found);
            }
        }
        Value::Number(number) if inside => found.push(number.to_string()),
        Value::Bool(flag) if inside => found.push(flag.to_string()),
        Value::Array(items) => {
            // The words of a command are read as one text too.
            let words: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            if inside && words.len() > 1 {
                found.push(words.join(" "));
            }
            items.iter().for_each(|item| collect(item, names, inside, depth + 1, found));
        }
        Value::Object(fields) => {
            for (key, value) in fields {
                let named = names.is_some_and(|names| names.iter().any(|name| name.eq_ignore_ascii_case(key)));
                collect(value, names, inside || named, depth + 1, found);
            }
        }
        _ => {}
    }
}

/// A path of the call that lies outside all of these folders, if there is one. Links are followed.
pub(super) fn outside(operation: &Operation, tool: &str, within: &[&str], facts: Facts<'_>) -> Option<String> {
    let names: Vec<&str> =
        relevant(tool).unwrap_or(&["file_path", "path"]).iter().copied().filter(|name| *name != "command").collect();
    let Request::Tool { arguments, .. } = &operation.request else { return None };
    let mut paths = Vec::new();
    collect(arguments, Some(&names), false, 0, &mut paths);
    paths.into_iter().filter(|path| !path.is_empty()).find(|path| {
        let Some(absolute) = absolute(path, operation) else { return true };
        let lexical = canonical::lexical(&absolute);
        let real = canonical(facts.files, &absolute);
        let inside =
            |path: &Path| within.iter().any(|folder| path.starts_with(folder.trim_end_matches('/')) || *folder == "/");
        !inside(&lexical)
            || (real.certain
                && !inside(&real.path)
                && !within.iter().any(|folder| {
                    let folder = canonical(facts.files, Path::new(folder));
                    folder.certain && real.path.starts_with(&folder.path)
                }))
    })
}

fn absolute(path: &str, operation: &Operation) -> Option<PathBuf> {
    let home = operation.home.as_deref();
    let path = match path.strip_prefix("~/") {
        Some(rest) => home?.join(rest),
        None => PathBuf::from(path),
    };
    if path.is_absolute() { Some(path) } else { operation.cwd.as_ref().map(|cwd| cwd.join(path)) }
}
