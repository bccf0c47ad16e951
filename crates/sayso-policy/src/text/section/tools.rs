//! `[tools]` and `[patterns]`.

use super::who;
use crate::text::file::{LayerText, ParamPatterns, PerActor, Profile, Tools, Who};
use crate::text::keys;
use crate::text::read::{DocValue, Fields, Reader};
use std::collections::HashMap;
use std::ops::Range;

/// `[tools]`.
pub(super) fn tools(reader: &mut Reader, value: &DocValue<'_>) -> Tools {
    let Some(table) = reader.table(value, "a table") else { return Tools::default() };
    let fields = reader.fields(table, value.span(), &keys::TOOLS);
    let base = layer(reader, fields, value.span());
    let layers = fields.get("for").map(|value| layers(reader, value)).unwrap_or_default();
    Tools { base, layers }
}

fn layers(reader: &mut Reader, value: &DocValue<'_>) -> Vec<PerActor> {
    let Some(table) = reader.table(value, "tables such as [tools.for.\"agent:coder\"]") else { return Vec::new() };
    let mut layers = Vec::new();
    let mut seen: HashMap<Who, u32> = HashMap::new();
    for (name, value) in reader.entries(table) {
        let Some(table) = reader.table(value, "a table: profile, also, only, hide") else { continue };
        let fields = reader.fields(table, value.span(), &keys::LAYER);
        let layer = layer(reader, fields, value.span());
        let Some(who) = who::who(reader, &name) else { continue };
        if let Who::Tenant(_) = who.value {
            let message = "tenants cannot have a tools layer";
            reader.advise("unknown-actor", who.span, message, "use a [[rule]] with when.for");
            continue;
        }
        if table.is_empty() {
            reader.advise("blank", name.span.clone(), "this layer is empty", "give profile, also, only or hide");
        }
        // `provider:OpenAI` and `provider:openai` are one: the second would silently replace the first.
        let line = reader.lines.place(who.span.start).0;
        if let Some(first) = seen.insert(who.value.clone(), line) {
            let message = format!("the layer on line {first} is already for `{}` too", who.value);
            reader.advise("duplicate-key", who.span.clone(), message, "keep one, or merge the two");
        }
        layers.push(PerActor { who, layer });
    }
    layers
}

/// The four keys that `[tools]` and its layers share.
fn layer(reader: &mut Reader, fields: Fields<'_, '_>, span: Range<usize>) -> LayerText {
    let profiles = [Profile::Minimal, Profile::Coding, Profile::Analysis, Profile::Full].map(|p| (p.as_str(), p));
    let profile = fields.get("profile").and_then(|value| reader.word(value, "unknown-profile", &profiles));
    let patterns = |reader: &mut Reader, key| fields.get(key).map(|value| reader.patterns(value)).unwrap_or_default();
    let also = patterns(reader, "also");
    let only = patterns(reader, "only");
    let hide = patterns(reader, "hide");
    LayerText { span, profile, also, only, hide }
}

/// `[patterns]`.
pub(super) fn patterns(reader: &mut Reader, value: &DocValue<'_>) -> Vec<ParamPatterns> {
    let Some(table) = reader.table(value, "a table of regular expressions by tool") else { return Vec::new() };
    let mut found = Vec::new();
    for (tool, value) in reader.entries(table) {
        let Some(table) = value.get_ref().as_table() else {
            let deny = reader.texts(value);
            found.push(ParamPatterns { tool, deny, ask: Vec::new(), params: Vec::new() });
            continue;
        };
        let fields = reader.fields(table, value.span(), &keys::PATTERNS);
        let texts = |reader: &mut Reader, key| fields.get(key).map(|value| reader.texts(value)).unwrap_or_default();
        let (deny, ask, params) = (texts(reader, "deny"), texts(reader, "ask"), texts(reader, "params"));
        if fields.get("deny").is_none() && fields.get("ask").is_none() {
            let message = "this has no regular expressions";
            reader.advise("blank", tool.span.clone(), message, "give `deny` or `ask`");
        }
        found.push(ParamPatterns { tool, deny, ask, params });
    }
    found
}
