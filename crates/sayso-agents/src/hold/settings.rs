//! An agent's settings, as far as they decide what becomes of a rewritten call.
//!
//! Of two hooks that rewrite one call the agent runs one text, and which is not known. So nothing is held where
//! another hook is asked before commands: whether it rewrites cannot be seen. Which hooks there are stands in files of the
//! user, of the machine and of the project. The first two are compared with what they were when the agent was seen to
//! hold, by what the system says of the files; what a project brings is looked at each time.

use super::caller::identity;
use crate::Agent;
use crate::agent::Steering;
use crate::install::command::ours;
use crate::install::json_text;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The largest file that is looked at. Real ones have a thousandth of it.
const LARGEST: u64 = 4 * 1024 * 1024;
/// Files that may register or be a hook.
const KINDS: &[&str] = &["json", "jsonc", "toml", "js", "ts", "mjs", "cjs", "mts", "cts"];
/// How far packages are looked through.
const MOST_OF_PACKAGES: usize = 20_000;
const DEEPEST: usize = 7;
/// What in settings decides what becomes of a command.
const DECIDES: &[&str] = &[
    "hooks",
    "hooksConfig",
    "disableAllHooks",
    "allow_managed_hooks_only",
    "env",
    "shell",
    "shell_environment_policy",
    "sandbox",
    "sandbox_mode",
    "sandbox_workspace_write",
    "features",
    "profile",
    "profiles",
    "tools",
];

/// Where an agent's settings are.
#[derive(Clone, Debug)]
pub(crate) struct Where {
    /// The folder of its user's settings.
    pub(crate) user: PathBuf,
    /// `/`, but for tests.
    pub(crate) root: PathBuf,
}

impl Where {
    /// As the environment has it.
    pub(crate) fn of(agent: Agent, home: &Path) -> Self {
        let user = agent.row().settings.find(home, |name| std::env::var_os(name).map(PathBuf::from));
        Self { user, root: "/".into() }
    }

    /// The files that are there, of the user and of the machine.
    fn files(&self, steering: &Steering) -> Vec<PathBuf> {
        let user = steering.user.iter().map(|path| self.user.join(path));
        let managed = steering.managed.iter().map(|path| self.root.join(path));
        user.chain(managed).flat_map(|path| listed(&path)).collect()
    }

    /// What the system says of the files: as long as that is the same, so are they.
    pub(crate) fn stamps(&self, steering: &Steering) -> String {
        let mut hasher = blake3::Hasher::new();
        for path in self.files(steering) {
            put(&mut hasher, path.as_os_str().as_encoded_bytes());
            put(&mut hasher, identity(&path).unwrap_or_default().as_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }

    /// What the files say.
    pub(crate) fn contents(&self, steering: &Steering) -> String {
        let mut hasher = blake3::Hasher::new();
        for path in self.files(steering) {
            put(&mut hasher, path.as_os_str().as_encoded_bytes());
            put(&mut hasher, &meant(&path));
        }
        hasher.finalize().to_hex().to_string()
    }

    /// Another hook that is asked before commands, in the files of the user and of the machine.
    pub(crate) fn other_hook(&self, steering: &Steering) -> Option<PathBuf> {
        let packages = steering.packages.iter().flat_map(|path| brought(&self.user.join(path)));
        self.files(steering).into_iter().chain(packages).find(|path| has_other(path, steering))
    }
}

/// Files with hooks that packages below a folder bring.
fn brought(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![(folder.to_owned(), 0)];
    let mut looked = 0;
    while let Some((folder, depth)) = open.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            looked += 1;
            let path = entry.path();
            if looked > MOST_OF_PACKAGES {
                // Somebody must have looked at all of them.
                found.push(folder);
                return found;
            }
            if path.is_dir() && depth < DEEPEST && entry.file_name() != "node_modules" {
                open.push((path, depth + 1));
            } else if entry.file_name() == "hooks.json" {
                found.push(path);
            }
        }
    }
    found
}

/// The same in the files of a project: those of the folder that the session is about, of the agent's own, and of those
/// in between.
pub(crate) fn other_hook_of_project(steering: &Steering, workspace: &Path, folder: &Path) -> Option<PathBuf> {
    let between = folder.ancestors().take_while(|it| it.starts_with(workspace) && *it != workspace);
    let folders = std::iter::once(workspace).chain(between);
    let files = folders.flat_map(|folder| steering.project.iter().map(|path| folder.join(path)).collect::<Vec<_>>());
    files.flat_map(|path| listed(&path)).find(|path| has_other(path, steering))
}

/// A file, or the files in a folder; nothing if it is not there.
fn listed(path: &Path) -> Vec<PathBuf> {
    match std::fs::metadata(path) {
        Err(_) if std::fs::symlink_metadata(path).is_err() => Vec::new(),
        Ok(meta) if meta.is_dir() => {
            let Ok(listing) = std::fs::read_dir(path) else { return vec![path.to_owned()] };
            let mut files: Vec<PathBuf> = listing.filter_map(|entry| Some(entry.ok()?.path())).collect();
            files.sort();
            files
        }
        _ => vec![path.to_owned()],
    }
}

/// Whether a file registers a hook that is asked before commands and is not Sayso's. One that cannot be understood may.
fn has_other(path: &Path, steering: &Steering) -> bool {
    let kind = path.extension().and_then(|it| it.to_str()).unwrap_or_default();
    if !KINDS.contains(&kind) {
        // What else lies in a folder of hooks or plugins is not run.
        return false;
    }
    let Some(text) = read(path) else { return true };
    match kind {
        "json" | "jsonc" => match json_text::value(&text) {
            Some(settings) => is_other(&settings, steering),
            None => !text.trim().is_empty(),
        },
        "toml" => match text.parse::<toml_edit::DocumentMut>() {
            Ok(table) => {
                let mut commands = Vec::new();
                if let Some(hooks) = table.get("hooks").and_then(toml_edit::Item::as_table_like) {
                    // What it trusts of hooks elsewhere is none.
                    hooks.iter().filter(|(key, _)| *key != "state").for_each(|(_, it)| commands_in(it, &mut commands));
                }
                commands.iter().any(|command| !is_ours(&serde_json::json!({"command": command})))
            }
            Err(_) => true,
        },
        _ => !text.contains(steering.own_plugin),
    }
}

fn is_other(settings: &Value, steering: &Steering) -> bool {
    let hooks = settings.get("hooks").unwrap_or(&Value::Null);
    let handlers = steering.before.iter().filter_map(|event| hooks.get(event));
    let plugins = steering.plugins.and_then(|key| settings.get(key));
    handlers.flat_map(handlers_in).any(|handler| !is_ours(handler))
        || plugins
            .is_some_and(|listed| !matches!(listed, Value::Null) && listed.as_array().is_none_or(|it| !it.is_empty()))
}

fn is_ours(handler: &Value) -> bool {
    Agent::ALL.iter().any(|agent| ours(handler, *agent).is_some())
}

/// What hooks in TOML run; something that is no command stands for one that is not ours.
fn commands_in(item: &toml_edit::Item, commands: &mut Vec<String>) {
    if let Some(table) = item.as_table_like() {
        for (key, item) in table.iter() {
            match item.as_str() {
                Some(text) if matches!(key, "command" | "url" | "exec") => commands.push(text.to_owned()),
                _ => commands_in(item, commands),
            }
        }
    } else if let Some(tables) = item.as_array_of_tables() {
        for table in tables {
            commands_in(&toml_edit::Item::Table(table.clone()), commands);
        }
    } else if let Some(array) = item.as_array() {
        for value in array {
            commands_in(&toml_edit::Item::Value(value.clone()), commands);
        }
    }
}

/// The handlers of an event, in either shape: entries, or groups of them.
fn handlers_in(event: &Value) -> Vec<&Value> {
    match event {
        Value::Array(entries) => entries.iter().flat_map(handlers_in).collect(),
        Value::Object(entry) => match entry.get("hooks") {
            Some(group) => handlers_in(group),
            None => vec![event],
        },
        Value::Null => Vec::new(),
        _ => vec![event],
    }
}

/// A file's content, without what agents themselves write into it at every turn.
fn meant(path: &Path) -> Vec<u8> {
    let Some(text) = read(path) else { return b"?".to_vec() };
    if path.extension().is_some_and(|it| it == "toml")
        && let Ok(mut table) = text.parse::<toml_edit::DocumentMut>()
    {
        // Not the model, nor which hooks elsewhere are trusted: those are looked at where they stand.
        table.retain(|key, _| DECIDES.contains(&key));
        if let Some(hooks) = table.get_mut("hooks").and_then(toml_edit::Item::as_table_like_mut) {
            hooks.remove("state");
        }
        return table.to_string().into_bytes();
    }
    match json_text::value(&text) {
        Some(Value::Object(settings)) => {
            let kept = settings.into_iter().filter(|(key, _)| DECIDES.contains(&key.as_str()) || key == "plugin");
            Value::Object(kept.collect()).to_string().into_bytes()
        }
        _ => text.into_bytes(),
    }
}

fn read(path: &Path) -> Option<String> {
    let small = std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() <= LARGEST);
    small.then(|| std::fs::read_to_string(path).ok()).flatten()
}

fn put(hasher: &mut blake3::Hasher, part: &[u8]) {
    hasher.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
    hasher.update(part);
}
