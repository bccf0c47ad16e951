//! In which circumstances calls are tried: with nothing used, with each limit just reached, held, and by those for whom the
//! files have layers of tools of their own.

use crate::policy::{Policy, PolicyText};
use crate::state::{Scope, State, Usage};
use crate::word::{Actor, CanHold, ToolCall};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Circumstances, and how they are told.
#[derive(Debug)]
pub(super) struct Standing {
    /// `held`, `after 5 calls`; `None`: a call by itself.
    pub(super) told: Option<String>,
    pub(super) state: State,
}

/// Circumstances that are tried at most, beyond a call by itself.
const MOST: usize = 24;
/// Tools that every policy may list or hide.
const TOOLS: &[&str] = &[
    "bash_execute",
    "file_read",
    "file_write",
    "file_edit",
    "file_delete",
    "web_fetch",
    "web_search",
    "session_spawn",
    "memory_get",
    "memory_search",
    "think",
    "todo_write",
    "mcp:x/get_x",
    "mcp:x/x",
    "x",
];

/// A call by itself, and held where `[hold]` has changed.
pub(super) fn plain(holds: bool) -> Vec<Standing> {
    let mut all = vec![Standing { told: None, state: State::default() }];
    if holds {
        let state = State { can_hold: CanHold::Whole, ..State::default() };
        all.push(Standing { told: Some("held".to_owned()), state });
    }
    all
}

/// Each limit of the two, just reached.
pub(super) fn at_limits(old: &Policy, new: &Policy) -> Vec<Standing> {
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    for scope in Scope::ALL {
        for policy in [old, new] {
            for limit in policy.allowances(scope, Usage::default(), &[]) {
                if !seen.insert((scope, limit.key, limit.most, limit.per)) || all.len() >= MOST {
                    continue;
                }
                let mut state = State::default();
                let mut usage = Usage::default();
                match (limit.key, limit.per) {
                    ("rate", Some(per)) => state.rates.extend([((scope, per), limit.most)]),
                    ("blocked", Some(per)) => state.blocked.extend([((scope, per), limit.most)]),
                    (key, _) => set(&mut usage, key, limit.most),
                }
                state.usage = BTreeMap::from([(scope, usage)]);
                // What not every call uses stops only those that use it.
                let mut takes = Usage::default();
                if matches!(limit.key, "deletes" | "bytes_written" | "hosts") {
                    set(&mut takes, limit.key, 1);
                }
                state.takes = BTreeMap::from([(scope, takes)]);
                let told = format!("{} of this {} at {}", limit.key.replace('_', " "), scope.as_str(), limit.most);
                all.push(Standing { told: Some(told), state });
            }
        }
    }
    all
}

fn set(usage: &mut Usage, key: &str, value: u64) {
    match key {
        "calls" => usage.calls = value,
        "tokens" | "input_tokens" => usage.input_tokens = value,
        "output_tokens" => usage.output_tokens = value,
        "cost" => usage.cost_micros = value,
        "wall" => usage.wall_ms = value,
        "blocked" => usage.blocked = value,
        "deletes" => usage.deletes = value,
        "bytes_written" => usage.bytes_written = value,
        "hosts" => usage.hosts = value,
        _ => usage.repeats = value,
    }
}

/// Calls of every tool that the layers of these files name, by everybody for whom there are layers.
pub(super) fn of_layers(texts: &[&[PolicyText]]) -> Vec<ToolCall> {
    let mut names: BTreeSet<String> = TOOLS.iter().map(|name| (*name).to_owned()).collect();
    let mut actors = vec![Actor::default()];
    for text in texts.iter().flat_map(|texts| texts.iter()) {
        let Ok(table) = text.text.parse::<toml::Table>() else { continue };
        let Some(tools) = table.get("tools").and_then(toml::Value::as_table) else { continue };
        named(tools, &mut names);
        for (who, layer) in tools.get("for").and_then(toml::Value::as_table).into_iter().flatten() {
            if let Some(layer) = layer.as_table() {
                named(layer, &mut names);
            }
            actors.extend(actor(who));
        }
    }
    let call = |name: &String, actor: &Actor| ToolCall {
        actor: actor.clone(),
        ..ToolCall::tool(name.as_str(), Value::Object(Map::new()))
    };
    actors.iter().flat_map(|actor| names.iter().map(move |name| call(name, actor))).collect()
}

fn named(layer: &toml::Table, names: &mut BTreeSet<String>) {
    for key in ["only", "also", "hide"] {
        let list = layer.get(key).and_then(toml::Value::as_array).into_iter().flatten();
        let plain = list.filter_map(toml::Value::as_str).map(|name| name.trim_start_matches('!'));
        names.extend(plain.filter(|name| !name.starts_with('@')).map(|name| name.replace('*', "x")));
    }
}

fn actor(who: &str) -> Option<Actor> {
    let (kind, name) = who.split_once(':').unwrap_or((who, ""));
    let named = || Some(name.to_owned());
    Some(match kind {
        "agent" => Actor { agent: named(), ..Actor::default() },
        "provider" => Actor { provider: named(), ..Actor::default() },
        "tenant" => Actor { tenant: named(), ..Actor::default() },
        "team" => {
            let (team, member) = name.split_once('/').map_or((name, None), |(team, member)| (team, Some(member)));
            Actor { team: Some(team.to_owned()), member: member.map(str::to_owned), ..Actor::default() }
        }
        "subagent" => Actor { subagent: true, ..Actor::default() },
        _ => return None,
    })
}
