//! `[actor]` and `[for]`.

use super::{lists, who};
use crate::text::file::{ActorText, RoleText, Who};
use crate::text::keys;
use crate::text::read::{DocValue, Reader};
use std::collections::HashMap;

/// `[actor]`.
pub(super) fn actor(reader: &mut Reader, value: &DocValue<'_>) -> Option<ActorText> {
    let table = reader.table(value, "a table: team, member, tenant")?;
    let fields = reader.fields(table, value.span(), &keys::ACTOR);
    let mut name = |key| fields.get(key).and_then(|value| reader.text(value));
    let (team, member, tenant) = (name("team"), name("member"), name("tenant"));
    for (key, name) in [("team", &team), ("member", &member), ("tenant", &tenant)] {
        let Some(name) = name else { continue };
        let odd = |c: char| c.is_control() || c.is_whitespace() || matches!(c, '/' | ',' | ':');
        if name.value.contains(odd) {
            let message = format!("`{}` is not a name", name.value);
            let suggestion = match (key, name.value.split_once('/')) {
                ("team", Some((team, member))) => format!("write: team = {team:?}, member = {member:?}"),
                _ => "leave out spaces, `/`, `,` and `:`".to_owned(),
            };
            reader.advise("bad-name", name.span.clone(), message, suggestion);
        }
    }
    if let (Some(member), None) = (&member, &team) {
        let message = "a member belongs to a team, and none is given";
        reader.advise("missing-key", member.span.clone(), message, "add: team = ...");
    }
    if team.is_none() && tenant.is_none() && member.is_none() {
        if table.is_empty() {
            reader.advise("blank", value.span(), "this table is empty", "give team, member or tenant, or remove it");
        }
        return None;
    }
    Some(ActorText { span: value.span(), team, member, tenant })
}

/// `[for]`.
pub(super) fn roles(reader: &mut Reader, value: &DocValue<'_>) -> Vec<RoleText> {
    let Some(table) = reader.table(value, "tables such as [for.\"agent:reviewer\"]") else { return Vec::new() };
    let mut roles = Vec::new();
    let mut seen: HashMap<Who, u32> = HashMap::new();
    for (name, value) in reader.entries(table) {
        let who = who::who(reader, &name);
        let Some(table) = reader.table(value, "a table: extends, disable, default") else { continue };
        let fields = reader.fields(table, name.span.clone(), &keys::ROLE);
        let extends = fields.get("extends").map(|value| reader.texts(value)).unwrap_or_default();
        let disable = fields.get("disable").map(|value| reader.texts(value)).unwrap_or_default();
        let default = fields.get("default").map(|value| lists::defaults(reader, value)).unwrap_or_default();
        let Some(who) = who else { continue };
        let line = reader.lines.place(who.span.start).0;
        if let Some(first) = seen.insert(who.value.clone(), line) {
            let message = format!("the table on line {first} is already for `{}` too", who.value);
            reader.advise("duplicate-key", who.span.clone(), message, "keep one, or merge the two");
        }
        roles.push(RoleText { who, extends, disable, default });
    }
    roles
}
