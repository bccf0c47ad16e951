//! Whether a section beside the rules changed in a way that only tightens: fewer things held, more tools hidden, smaller
//! limits.

use crate::policy::{Policy, PolicyText};
use crate::state::{Scope, Usage};
use std::collections::BTreeSet;
use toml::{Table, Value};

/// Whether this section only tightens from one policy to the other. What is not understood is no.
pub(super) fn only_tightens(name: &str, old: (&Policy, &[PolicyText]), new: (&Policy, &[PolicyText])) -> bool {
    match name {
        "limits" => limits(old.0, new.0) && same_keys(&tables(name, old.1), &tables(name, new.1)),
        "tools" => pairs(name, old.1, new.1).is_some_and(|all| all.iter().all(|(old, new)| layer(old, new))),
        "hold" => pairs(name, old.1, new.1).is_some_and(|all| all.iter().all(|(old, new)| hold(old, new))),
        _ => false,
    }
}

fn tables(name: &str, texts: &[PolicyText]) -> Vec<Table> {
    let of = |text: &PolicyText| text.text.parse::<Table>().unwrap_or_default();
    let of = |text| of(text).get(name).and_then(Value::as_table).cloned().unwrap_or_default();
    texts.iter().map(of).collect()
}

/// The section of each file before and after; `None`: files came or went, or their sets changed.
fn pairs(name: &str, old: &[PolicyText], new: &[PolicyText]) -> Option<Vec<(Table, Table)>> {
    let (before, after) = (tables(name, old), tables(name, new));
    let same_sets = tables("set", old) == tables("set", new);
    (before.len() == after.len() && same_sets).then(|| before.into_iter().zip(after).collect())
}

/// Every limit that there was is there, and no larger.
fn limits(old: &Policy, new: &Policy) -> bool {
    Scope::ALL.into_iter().all(|scope| {
        let of = |policy: &Policy| policy.allowances(scope, Usage::default(), &[]);
        let after = of(new);
        of(old).iter().all(|old| {
            let as_strict = |it: &&crate::stage::limits::Allowance| {
                it.key == old.key && it.per == old.per && it.most <= old.most && it.at_limit >= old.at_limit
            };
            after.iter().any(|it| as_strict(&it))
        })
    })
}

/// Nothing but numbers and what is said at them differs.
fn same_keys(old: &[Table], new: &[Table]) -> bool {
    let keys = |tables: &[Table]| -> BTreeSet<String> {
        tables.iter().flat_map(|table| table.iter()).map(|(scope, _)| scope.clone()).collect()
    };
    keys(old).is_subset(&keys(new))
}

fn list(table: &Table, key: &str) -> BTreeSet<String> {
    let of = |value: &Value| match value {
        Value::String(one) => vec![one.clone()],
        Value::Array(many) => many.iter().map(ToString::to_string).collect(),
        other => vec![other.to_string()],
    };
    table.get(key).map(of).unwrap_or_default().into_iter().map(|it| it.trim_matches('"').to_owned()).collect()
}

fn others_equal(old: &Table, new: &Table, lists: &[&str]) -> bool {
    let mut keys: BTreeSet<&String> = old.keys().collect();
    keys.extend(new.keys());
    keys.into_iter().filter(|key| !lists.contains(&key.as_str())).all(|key| old.get(key) == new.get(key))
}

/// A layer of tools, and those below it.
fn layer(old: &Table, new: &Table) -> bool {
    let plain = |key: &str| !list(old, key).iter().chain(&list(new, key)).any(|it| it.starts_with('!'));
    let narrower = |key: &str| plain(key) && list(new, key).is_subset(&list(old, key));
    let only = match (old.contains_key("only"), new.contains_key("only")) {
        (false, _) => true,
        (true, false) => false,
        (true, true) => narrower("only"),
    };
    let hides = plain("hide") && list(old, "hide").is_subset(&list(new, "hide"));
    let layers = match (old.get("for").and_then(Value::as_table), new.get("for").and_then(Value::as_table)) {
        (None, None) => true,
        // A layer replaces a wider one's, so that another one may loosen.
        (Some(old), Some(new)) => {
            old.len() == new.len()
                && old.iter().all(|(who, layer_of)| {
                    match (layer_of.as_table(), new.get(who).and_then(Value::as_table)) {
                        (Some(old), Some(new)) => layer(old, new),
                        _ => false,
                    }
                })
        }
        _ => false,
    };
    only && hides && layers && narrower("also") && others_equal(old, new, &["only", "hide", "also", "for"])
}

/// What may run unasked if it is held, and within which bounds.
fn hold(old: &Table, new: &Table) -> bool {
    const LISTS: &[&str] = &["run", "write", "connect", "env"];
    // Where none was given, another default counts.
    let given = |key: &str| key != "write" || (old.contains_key(key) == new.contains_key(key));
    let narrower = |key: &&str| {
        let (old, new) = (list(old, key), list(new, key));
        let plain = !old.iter().chain(&new).any(|it| it.starts_with('!'));
        given(key) && plain && new.is_subset(&old)
    };
    let always = new.get("always").is_none_or(|value| value.as_bool() != Some(true));
    // What is no longer named is no longer held where a rule allows it.
    let run = list(old, "run") == list(new, "run") || always;
    !old.is_empty() && !new.is_empty() && run && LISTS.iter().all(narrower) && others_equal(old, new, LISTS)
}
