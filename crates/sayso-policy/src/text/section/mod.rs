//! The tables of a policy file, a file each.

mod arguments;
mod case;
mod hold;
mod limits;
mod lists;
mod models;
mod plan;
mod role;
mod rule;
mod tools;
mod when;
mod who;

pub use when::When;

use super::file::{Approval, File, Mode, SetText, Spanned};
use super::keys;
use super::read::{DocValue, Reader};
use super::units;
use crate::word::Verdict;
use toml::de::DeTable;

const VERDICTS: &[(&str, Verdict)] = &[("allow", Verdict::Allow), ("ask", Verdict::Ask), ("deny", Verdict::Deny)];

/// The whole document.
pub(super) fn file(reader: &mut Reader, document: &toml::Spanned<DeTable<'_>>) -> File {
    let fields = reader.fields(document.get_ref(), document.span(), &keys::FILE);
    let texts = |reader: &mut Reader, key| fields.get(key).map(|value| reader.texts(value)).unwrap_or_default();
    let tables = |reader: &mut Reader, key| {
        let found: Vec<(&DeTable<'_>, _)> = match fields.get(key) {
            Some(value) => tables_of(reader, value, key),
            None => Vec::new(),
        };
        found
    };

    let extends = texts(reader, "extends");
    let disable = texts(reader, "disable");
    let enforce = texts(reader, "enforce");
    let default = fields.get("default").map(|value| lists::defaults(reader, value)).unwrap_or_default();
    let unanswered = fields.get("unanswered").and_then(|value| unanswered(reader, value));
    let closed = fields.get("closed").map(|value| lists::verbs(reader, value)).unwrap_or_default();

    let mut listed = Vec::new();
    for (word, verdict) in VERDICTS {
        if let Some(value) = fields.get(word) {
            listed.extend(lists::lists(reader, value, *verdict));
        }
    }
    listed.sort_by_key(|list| list.verb.span.start);

    let rules = tables(reader, "rule");
    let rules = rule::rules(reader, &rules);
    let sets = fields.get("set").map(|value| sets(reader, value)).unwrap_or_default();
    let tools = fields.get("tools").map(|value| tools::tools(reader, value)).unwrap_or_default();
    let patterns = fields.get("patterns").map(|value| tools::patterns(reader, value)).unwrap_or_default();
    let limits = fields.get("limits").map(|value| limits::limits(reader, value)).unwrap_or_default();
    let approvals = fields.get("approvals").map(|value| approvals(reader, value)).unwrap_or_default();
    let models = fields.get("models").map(|value| models::models(reader, value)).unwrap_or_default();
    let actor = fields.get("actor").and_then(|value| role::actor(reader, value));
    let trust_roles = fields.get("trust_roles").and_then(|value| reader.flag(value));
    let roles = fields.get("for").map(|value| role::roles(reader, value)).unwrap_or_default();
    let plan = fields.get("plan").and_then(|value| plan::plan(reader, value));
    let ask_above = fields.get("risk").and_then(|value| plan::ask_above(reader, value));
    let hold = fields.get("hold").and_then(|value| hold::hold(reader, value));
    let (mode, mode_pinned) = fields.get("mode").map(|value| mode(reader, value)).unwrap_or_default();
    let tests = tables(reader, "test");
    let tests = tests.into_iter().filter_map(|(table, span)| case::test(reader, table, span)).collect();

    File {
        name: reader.name.clone(),
        lines: reader.lines.clone(),
        extends,
        disable,
        default,
        unanswered,
        enforce,
        closed,
        lists: listed,
        rules,
        sets,
        tools,
        patterns,
        limits,
        approvals,
        actor,
        trust_roles,
        roles,
        models,
        plan,
        ask_above,
        hold,
        mode,
        mode_pinned,
        tests,
    }
}

/// `[[key]]`, each with its own span.
fn tables_of<'a, 'i>(
    reader: &mut Reader,
    value: &'a DocValue<'i>,
    key: &str,
) -> Vec<(&'a DeTable<'i>, std::ops::Range<usize>)> {
    let Some(items) = value.get_ref().as_array() else {
        let message = format!("`{key}` is a list of tables");
        reader.advise("wrong-type", value.span(), message, format!("write [[{key}]] before each of them"));
        return Vec::new();
    };
    let mut found = Vec::new();
    for item in items.iter() {
        if let Some(table) = reader.table(item, &format!("a table, as [[{key}]] begins one")) {
            found.push((table, item.span()));
        }
    }
    found
}

/// `unanswered`: silence is never a yes.
fn unanswered(reader: &mut Reader, value: &DocValue<'_>) -> Option<Spanned<Verdict>> {
    match value.get_ref().as_str() {
        Some("allow") => {
            reader.advise(
                "unanswered-allow",
                value.span(),
                "silence must not count as approval",
                "write \"deny\", and put what may run without approval in [allow]",
            );
            None
        }
        Some("ask") => {
            reader.advise(
                "unanswered-ask",
                value.span(),
                "nobody is left to ask",
                "remove the key: the agent's own prompt asks where there is one, and otherwise the call is denied",
            );
            None
        }
        _ => reader.word(value, "unknown-verdict", &[("deny", Verdict::Deny)]),
    }
}

/// `[set]`.
fn sets(reader: &mut Reader, value: &DocValue<'_>) -> Vec<SetText> {
    let Some(table) = reader.table(value, "a table of named lists") else { return Vec::new() };
    let mut sets = Vec::new();
    for (name, value) in reader.entries(table) {
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
        if name.value.starts_with('@') {
            let bare = name.value.trim_start_matches('@').to_owned();
            reader.advise("bad-name", name.span, "leave `@` out of a set's name", format!("write `{bare}`"));
        } else if !name.value.chars().all(plain) {
            let message = "a set's name may contain only letters, digits, `-`, `_` and `.`";
            reader.advise("bad-name", name.span, message, "for example `build-tools`");
        } else {
            let members = reader.texts(value);
            sets.push(SetText { name, members });
        }
    }
    sets
}

/// `[approvals]`.
fn approvals(reader: &mut Reader, value: &DocValue<'_>) -> Vec<Approval> {
    let Some(table) = reader.table(value, "tables such as [approvals.leads]") else { return Vec::new() };
    let mut approvals = Vec::new();
    for (name, value) in reader.entries(table) {
        let Some(table) = reader.table(value, "a table: members, need, expires") else { continue };
        let fields = reader.fields(table, name.span.clone(), &keys::APPROVAL);
        let members = fields.get("members").map(|value| reader.texts(value)).unwrap_or_default();
        let need = fields.get("need").and_then(|value| reader.count(value));
        let expires =
            fields.get("expires").and_then(|value| reader.notation(value, "bad-duration", units::duration, "15m"));
        if let Some(need) = &need {
            // A group stands for any number of people; names alone can be counted.
            let people = members.iter().all(|member| !member.value.contains(':'));
            let enough = !people || usize::try_from(need.value).is_ok_and(|need| need <= members.len());
            if need.value == 0 {
                let message = "with 0 approvals needed, nobody would be asked";
                reader.advise("bad-number", need.span.clone(), message, "use at least 1");
            } else if !enough && !members.is_empty() {
                let message = format!("{} must approve, but only {} can", need.value, members.len());
                reader.advise("bad-number", need.span.clone(), message, "add members, or lower `need`");
            }
        }
        let escalate = fields.get("escalate").and_then(|value| escalate(reader, value));
        approvals.push(Approval { name, members, need, expires, escalate });
    }
    climbs(reader, &approvals);
    approvals
}

/// `escalate = { wait = "5m", to = "managers" }`.
fn escalate(reader: &mut Reader, value: &DocValue<'_>) -> Option<(std::time::Duration, crate::text::Text)> {
    let table = reader.table(value, "a table: wait, to")?;
    let fields = reader.fields(table, value.span(), &keys::ESCALATE);
    let wait = fields.get("wait").and_then(|value| reader.notation(value, "bad-duration", units::duration, "5m"));
    let to = fields.get("to").and_then(|value| reader.text(value));
    Some((wait?.value, to?))
}

/// A group escalates to one that is there, and never back to itself.
fn climbs(reader: &mut Reader, approvals: &[Approval]) {
    let find = |name: &str| approvals.iter().find(|approval| approval.name.value == name);
    for approval in approvals {
        let Some((_, to)) = &approval.escalate else { continue };
        if find(&to.value).is_none() {
            let names = approvals.iter().map(|approval| approval.name.value.as_str());
            let message = format!("there is no `[approvals.{}]`", to.value);
            let near = crate::text::nearest(&to.value, names).map(|near| format!("did you mean `{near}`?"));
            reader.advise("unknown-approver", to.span.clone(), message, near.unwrap_or_else(|| "add it".to_owned()));
            continue;
        }
        let next = |at: &&Approval| at.escalate.as_ref().and_then(|(_, to)| find(&to.value));
        let circle = std::iter::successors(find(&to.value), next)
            .take(approvals.len())
            .any(|above| above.name.value == approval.name.value);
        if circle {
            let message = format!("`{}` escalates in a circle, back to itself", approval.name.value);
            reader.advise("circle", to.span.clone(), message, "escalate to a group above all of these");
        }
    }
}

/// `[mode]`.
fn mode(reader: &mut Reader, value: &DocValue<'_>) -> (Option<Spanned<Mode>>, Option<Spanned<bool>>) {
    if let Some(word) = value.get_ref().as_str() {
        let message = "`mode` is a table";
        reader.advise("wrong-type", value.span(), message, format!("write: mode = {{ run = {word:?} }}"));
        return (None, None);
    }
    let Some(table) = reader.table(value, "a table") else { return (None, None) };
    let fields = reader.fields(table, value.span(), &keys::MODE);
    let modes = [Mode::Enforce, Mode::DryRun, Mode::Shadow, Mode::Halt, Mode::Off].map(|mode| (mode.as_str(), mode));
    let run = fields.get("run").and_then(|value| reader.word(value, "unknown-mode", &modes));
    (run, fields.get("pinned").and_then(|value| reader.flag(value)))
}
