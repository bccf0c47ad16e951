//! Codex's requirements for a whole machine: hooks in them run without trust, and no user can switch them off.

use super::install;
use crate::Agent;
use crate::install::Setting;
use crate::install::command::{CALL_SECONDS, HookCommand, NOTE_SECONDS, Ours, ours};
use crate::install::part::{Left, Part};
use serde_json::json;
use std::path::{Path, PathBuf};
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

/// `requirements.toml` with Sayso in it.
pub(super) struct Requirements {
    path: PathBuf,
    /// Event, command, time-out.
    entries: Vec<(&'static str, String, u32)>,
}

pub(super) fn requirements(setting: &Setting) -> Result<Requirements, String> {
    let command = HookCommand::new(Agent::CODEX, setting)?;
    let entry = |(event, decides): &(&'static str, bool)| {
        let seconds = install::kept_seconds(event, if *decides { CALL_SECONDS } else { NOTE_SECONDS });
        (*event, command.guarded_line(seconds), seconds)
    };
    let path = install::folder(setting).join("requirements.toml");
    Ok(Requirements { path, entries: install::EVENTS.iter().map(entry).collect() })
}

/// Sayso's first hook in such a text.
pub(super) fn registered(text: &str) -> Option<Ours> {
    text.lines().find_map(|line| {
        let command = line.trim().strip_prefix("command = ")?.parse::<toml_edit::Value>().ok()?;
        ours(&json!({"command": command.as_str()?}), Agent::CODEX)
    })
}

impl Part for Requirements {
    fn path(&self) -> &Path {
        &self.path
    }

    fn register(&self, before: Option<&str>) -> Result<String, String> {
        let text = before.unwrap_or_default();
        let mut config = parse(text)?;
        if self.entries.iter().all(|entry| self.has(&config, entry)) {
            return Ok(text.to_owned());
        }
        take_out(&mut config)?;
        let hooks = config.entry("hooks").or_insert_with(|| {
            let mut table = Table::new();
            table.set_implicit(true);
            Item::Table(table)
        });
        let hooks = hooks.as_table_mut().ok_or("its `hooks` is not a separate table")?;
        for (event, command, seconds) in &self.entries {
            let mut handler = Table::new();
            handler.insert("type", value("command"));
            handler.insert("command", value(command));
            handler.insert("timeout", value(i64::from(*seconds)));
            let mut handlers = ArrayOfTables::new();
            handlers.push(handler);
            let mut group = Table::new();
            group.insert("matcher", value("*"));
            group.insert("hooks", Item::ArrayOfTables(handlers));
            let groups = hooks.entry(event).or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
            groups
                .as_array_of_tables_mut()
                .ok_or_else(|| format!("its `hooks.{event}` is not a list of tables"))?
                .push(group);
        }
        let text = config.to_string();
        parse(&text).map(|_| text)
    }

    fn unregister(&self, text: &str) -> Result<Left, String> {
        let mut config = parse(text)?;
        Ok(if take_out(&mut config)? { Left::Text(config.to_string()) } else { Left::AsIs })
    }
}

impl Requirements {
    fn has(&self, config: &DocumentMut, (event, command, seconds): &(&'static str, String, u32)) -> bool {
        let groups = config.get("hooks").and_then(|hooks| hooks.get(event)).and_then(Item::as_array_of_tables);
        groups.into_iter().flatten().any(|group| {
            let handlers = group.get("hooks").and_then(Item::as_array_of_tables);
            let right = |handler: &Table| {
                handler.get("command").and_then(Item::as_str) == Some(command)
                    && handler.get("timeout").and_then(Item::as_integer) == Some(i64::from(*seconds))
            };
            group.get("matcher").and_then(Item::as_str) == Some("*") && handlers.into_iter().flatten().any(right)
        })
    }
}

/// Takes every group of Sayso's out; tells whether there was one.
fn take_out(config: &mut DocumentMut) -> Result<bool, String> {
    let mut found = false;
    let Some(hooks) = config.get_mut("hooks") else { return Ok(false) };
    let hooks = hooks.as_table_mut().ok_or("its `hooks` is not a separate table")?;
    let mut empty = Vec::new();
    for (event, item) in hooks.iter_mut() {
        let Some(groups) = item.as_array_of_tables_mut() else { continue };
        let before = groups.len();
        groups.retain(|group| !group_is_ours(group));
        found |= groups.len() < before;
        if groups.is_empty() && before > 0 {
            empty.push(event.get().to_owned());
        }
    }
    for event in empty {
        hooks.remove(&event);
    }
    if found && hooks.is_empty() {
        config.remove("hooks");
    }
    Ok(found)
}

fn group_is_ours(group: &Table) -> bool {
    let handlers = group.get("hooks").and_then(Item::as_array_of_tables);
    let command = |handler: &Table| handler.get("command").and_then(Item::as_str).map(ToOwned::to_owned);
    let mut commands = handlers.into_iter().flatten().filter_map(command);
    commands.any(|command| ours(&json!({"command": command}), Agent::CODEX).is_some())
}

fn parse(text: &str) -> Result<DocumentMut, String> {
    text.parse().map_err(|error: toml_edit::TomlError| format!("it is not valid TOML ({})", error.message()))
}
