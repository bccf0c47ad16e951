//! Tools nobody knows: every argument that looks like a path, a URL or a command may be used as one.
//!
//! Such effects are not certain. They count against asks and denies and need no yes of their own; the call does.

use super::draft::{Draft, Reach};
use super::shell::run_command;
use crate::normalise::arguments::{Found, Role, walk};
use crate::normalise::url::{is_url, urls_in};
use sayso_shell::dialect::Shells;
use sayso_shell::{Dialect, Verb};
use serde_json::Value;
use std::path::PathBuf;

/// Commands beyond this many are not analysed.
const MAX_COMMANDS: usize = 8;
/// Longer strings than this are no paths.
const MAX_PATH: usize = 4096;

const ANY_USE: &[Verb] = &[Verb::Read, Verb::Write, Verb::Delete];

/// Adds what the arguments of an unknown tool may do.
pub(crate) fn describe(arguments: &Value, draft: &mut Draft<'_>) {
    let mut commands: Vec<Vec<u8>> = Vec::new();
    walk(arguments, &role, &mut |found| match found {
        Found::Text(Role::Command, text) => commands.push(text.as_bytes().to_owned()),
        // The words of one command, or several commands.
        Found::Whole(Role::Command, Value::Array(items)) => {
            let words: Vec<_> = items.iter().filter_map(Value::as_str).collect();
            words.iter().for_each(|word| loose(draft, "", word));
            commands.push(words.join(" ").into_bytes());
            let whole = words.iter().filter(|word| word.contains(char::is_whitespace));
            commands.extend(whole.map(|word| word.as_bytes().to_owned()));
        }
        Found::Loose { key, text } => loose(draft, key, text),
        Found::TooMuch => draft.unclear(),
        Found::Text(..) | Found::Whole(..) | Found::Wrong => {}
    });
    if commands.len() > MAX_COMMANDS {
        draft.unclear();
    }
    let cwd = draft.scene.cwd.map(PathBuf::from);
    for command in commands.iter().take(MAX_COMMANDS) {
        run_command(draft, command, cwd.clone(), Shells::only(Dialect::Other), false);
    }
}

fn role(key: &str) -> Role {
    match key {
        "command" | "cmd" | "script" | "commandline" | "commands" | "shellcommand" | "bashcommand" => Role::Command,
        _ => Role::Other,
    }
}

/// A string under a parameter nobody knows: whatever it may be.
pub(crate) fn loose(draft: &mut Draft<'_>, key: &str, text: &str) {
    for url in urls_in(text) {
        draft.url(url, false);
    }
    if is_url(text) || matches!(key, "url" | "uri" | "href" | "host" | "hostname" | "domain") {
        draft.url(text, false);
    }
    // `--file=/etc/passwd` names the file behind its sign.
    let value = match text.split_once('=') {
        Some((option, value)) if option.starts_with('-') => value,
        _ => text,
    };
    if is_path_like(key, value) && !is_web(value) {
        draft.path(ANY_USE, value, Reach::Exact, false);
    }
}

/// A URL that no tool takes for a path.
fn is_web(text: &str) -> bool {
    is_url(text) && !text.trim_ascii_start().get(..5).is_some_and(|begin| begin.eq_ignore_ascii_case("file:"))
}

fn is_path_like(key: &str, text: &str) -> bool {
    let text = text.trim();
    if text.is_empty() || text.len() > MAX_PATH || text.contains(['\n', '\r']) {
        return false;
    }
    if names_path(key) || text.starts_with(['/', '~', '.', '@']) {
        return true;
    }
    !text.contains(char::is_whitespace) && (text.contains('/') || has_extension(text))
}

/// Parameters whose value is a path whatever it looks like.
fn names_path(key: &str) -> bool {
    ["path", "file", "dir", "folder", "directory", "filename", "destination", "dest", "src"]
        .iter()
        .any(|word| key == *word || key.ends_with(word) || key.strip_suffix('s').is_some_and(|one| one.ends_with(word)))
}

/// `server.key`, `main.rs`: a short suffix with a letter.
fn has_extension(text: &str) -> bool {
    text.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty()
            && (1..=8).contains(&extension.len())
            && extension.bytes().all(|b| b.is_ascii_alphanumeric())
            && extension.bytes().any(|b| b.is_ascii_alphabetic())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_from_prose() {
        for (key, text, expected) in [
            ("", "/etc/passwd", true),
            ("", "~/.ssh/id_rsa", true),
            ("", ".env", true),
            ("", "a/b", true),
            ("", "server.key", true),
            ("x", "hello world", false),
            ("x", "hello", false),
            ("filepath", "hello", true),
            ("outputfiles", "a b", true),
            ("x", "and/or maybe", false),
            ("x", "1.5", false),
            ("x", "a\nb/c", false),
            ("x", "", false),
        ] {
            assert_eq!(is_path_like(key, text), expected, "{key} {text}");
        }
    }
}
