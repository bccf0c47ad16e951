//! Codex runs no hook that its owner has not trusted: a hash of each stands in the user's `config.toml`. Measured on
//! 0.166.0: with this record the hook runs, and after any change of command, time-out or matcher it silently does not.

use super::install;
use crate::install::hooks_json::{HooksFile, Placed};
use crate::install::part::{Left, Part, read};
use crate::install::{Finding, Setting};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use std::path::{Path, PathBuf};
use toml_edit::{DocumentMut, Item, Table, value};

/// The trust that Codex keeps for hooks of Sayso's.
pub(super) struct Trust {
    path: PathBuf,
    hooks: HooksFile,
}

/// What Codex makes of a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trusted {
    /// It runs.
    Yes,
    /// It changed since it was trusted: it does not run.
    Changed,
    /// It never was: it does not run.
    Never,
}

impl Trust {
    pub(super) fn new(setting: &Setting) -> Result<Self, String> {
        Ok(Self { path: config(setting), hooks: install::hooks(setting)? })
    }

    /// What Codex makes of each of Sayso's hooks, with the text of its configuration as it is.
    fn state(&self, hooks: &str, config: Option<&str>) -> Result<Vec<(Placed, Trusted)>, String> {
        let config = parse(config.unwrap_or_default())?;
        let kept = |key: &String| {
            let entry = table(&config).and_then(|state| state.get(key));
            entry.and_then(|entry| entry.get("trusted_hash")).and_then(Item::as_str)
        };
        let of = |placed: Placed| {
            let hash = hash_of(&placed);
            let kept: Vec<Option<&str>> = self.keys(&placed).iter().map(kept).collect();
            let trusted = if kept.iter().all(|kept| *kept == Some(hash.as_str())) {
                Trusted::Yes
            } else if kept.iter().flatten().any(|kept| *kept != hash) {
                Trusted::Changed
            } else {
                Trusted::Never
            };
            (placed, trusted)
        };
        Ok(self.hooks.placed(hooks)?.into_iter().map(of).collect())
    }

    /// `<file>:<event>:<group>:<handler>`. Codex resolves the folder where `CODEX_HOME` names it, and takes it as it is
    /// written below the home folder: seen with links. Trust is for the hook, so it is recorded under both names.
    fn keys(&self, placed: &Placed) -> Vec<String> {
        let path = &self.hooks.path;
        let mut paths = vec![path.clone()];
        // The folder may not be there yet; what it is below is.
        let real = path.ancestors().skip(1).find_map(|folder| {
            let rest = path.strip_prefix(folder).ok()?;
            Some(folder.canonicalize().ok()?.join(rest))
        });
        paths.extend(real);
        let place = format!("{}:{}:{}", snake(&placed.event), placed.entry, placed.handler);
        let mut keys: Vec<String> = paths.iter().map(|path| format!("{}:{place}", path.display())).collect();
        keys.dedup();
        keys
    }

    fn hooks_text(&self) -> Result<Option<String>, String> {
        read(&self.hooks.path).map_err(|error| error.to_string())
    }
}

/// The user's own configuration, where trust is kept for every layer.
fn config(setting: &Setting) -> PathBuf {
    setting.folder_of(&super::ROW).join("config.toml")
}

/// Hooks that Codex does not run because they are not trusted.
pub(super) fn missing(setting: &Setting, hooks: &str) -> Vec<Finding> {
    let config = config(setting);
    let unknown = |text: String| vec![Finding { code: "trust-unknown", text }];
    let text = match read(&config) {
        Ok(text) => text,
        Err(error) => return unknown(error.to_string()),
    };
    let state = match Trust::new(setting).and_then(|trust| trust.state(hooks, text.as_deref())) {
        Ok(state) => state,
        Err(why) => return unknown(format!("{}: {why}", config.display())),
    };
    let with = |wanted: Trusted| -> Vec<&str> {
        state.iter().filter(|(_, trusted)| *trusted == wanted).map(|(placed, _)| placed.event.as_str()).collect()
    };
    let mut all = Vec::new();
    for (wanted, code, how) in [
        (Trusted::Changed, "trust-outdated", "has changed since you trusted it"),
        (Trusted::Never, "not-trusted", "is not trusted"),
    ] {
        let events = with(wanted);
        if !events.is_empty() {
            let events = events.join(", ");
            let scope = setting.scope.name();
            let text = format!(
                "Codex does not run the hook: it {how} ({events}). Start codex and trust it there, or run: sayso install codex --{scope} --trust"
            );
            all.push(Finding { code, text });
        }
    }
    all
}

impl Part for Trust {
    fn path(&self) -> &Path {
        &self.path
    }

    fn register(&self, before: Option<&str>) -> Result<String, String> {
        let hooks = self.hooks.register(self.hooks_text()?.as_deref())?;
        let text = before.unwrap_or_default();
        let wrong: Vec<Placed> = self
            .state(&hooks, before)?
            .into_iter()
            .filter(|(_, trusted)| *trusted != Trusted::Yes)
            .map(|(placed, _)| placed)
            .collect();
        if wrong.is_empty() {
            return Ok(text.to_owned());
        }
        let mut config = parse(text)?;
        for placed in &wrong {
            let state = child(child(config.as_table_mut(), "hooks")?, "state")?;
            for key in self.keys(placed) {
                let entry = state.entry(&key).or_insert_with(|| Item::Table(Table::new()));
                let entry = entry.as_table_like_mut().ok_or("its `hooks.state` has an entry that is not a table")?;
                entry.insert("trusted_hash", value(hash_of(placed)));
            }
        }
        checked(config.to_string())
    }

    fn unregister(&self, text: &str) -> Result<Left, String> {
        let Some(hooks) = self.hooks_text()? else { return Ok(Left::AsIs) };
        let mut config = parse(text)?;
        let mut found = false;
        for placed in self.hooks.placed(&hooks)? {
            let hooks = config.get_mut("hooks").and_then(Item::as_table_like_mut);
            let state = hooks.and_then(|hooks| hooks.get_mut("state")).and_then(Item::as_table_like_mut);
            if let Some(state) = state {
                for key in self.keys(&placed) {
                    found |= state.remove(&key).is_some();
                }
            }
        }
        if !found {
            return Ok(Left::AsIs);
        }
        drop_empty(&mut config);
        checked(config.to_string()).map(Left::Text)
    }
}

/// INVARIANT: what is written can be read again. A configuration that Codex cannot read would stop it altogether.
fn checked(text: String) -> Result<String, String> {
    parse(&text).map(|_| text)
}

fn parse(text: &str) -> Result<DocumentMut, String> {
    text.parse().map_err(|error: toml_edit::TomlError| format!("it is not valid TOML ({})", error.message()))
}

fn table(config: &DocumentMut) -> Option<&dyn toml_edit::TableLike> {
    config.get("hooks")?.get("state")?.as_table_like()
}

fn child<'a>(parent: &'a mut dyn toml_edit::TableLike, key: &str) -> Result<&'a mut dyn toml_edit::TableLike, String> {
    let fresh = || {
        let mut table = Table::new();
        // Only its own tables have headers.
        table.set_implicit(true);
        Item::Table(table)
    };
    let item = parent.entry(key).or_insert_with(fresh);
    item.as_table_like_mut().ok_or_else(|| format!("its `{key}` is not a table"))
}

fn drop_empty(config: &mut DocumentMut) {
    let empty = |item: Option<&Item>| item.and_then(Item::as_table_like).is_some_and(|table| table.is_empty());
    if let Some(hooks) = config.get_mut("hooks").and_then(Item::as_table_like_mut)
        && empty(hooks.get("state"))
    {
        hooks.remove("state");
    }
    if empty(config.get("hooks")) {
        config.remove("hooks");
    }
}

/// Codex's hash of a hook: the SHA-256 of its parts as compact JSON with sorted keys, what is absent filled in.
fn hash_of(placed: &Placed) -> String {
    let mut handler = Map::new();
    let given = |key: &str| placed.value.get(key).filter(|value| !value.is_null()).cloned();
    handler.insert("async".to_owned(), given("async").unwrap_or(Value::Bool(false)));
    handler.insert("command".to_owned(), given("command").unwrap_or_default());
    if let Some(message) = given("statusMessage") {
        handler.insert("statusMessage".to_owned(), message);
    }
    let timeout = given("timeout").unwrap_or_else(|| 600.into());
    let kept = timeout.as_u64().map(|seconds| install::kept_seconds(&placed.event, seconds).into());
    handler.insert("timeout".to_owned(), kept.unwrap_or(timeout));
    handler.insert("type".to_owned(), Value::from("command"));
    let mut whole = Map::new();
    whole.insert("event_name".to_owned(), snake(&placed.event).into());
    whole.insert("hooks".to_owned(), Value::Array(vec![Value::Object(handler)]));
    if let Some(matcher) = &placed.matcher {
        whole.insert("matcher".to_owned(), matcher.clone());
    }
    let digest = Sha256::digest(Value::Object(whole).to_string().as_bytes());
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

/// `PreToolUse` -> `pre_tool_use`
fn snake(event: &str) -> String {
    let mut out = String::new();
    for c in event.chars() {
        if c.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}
