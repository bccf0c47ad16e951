//! `[models]`.

use super::who;
use crate::text::file::ModelsText;
use crate::text::keys::{self, Table};
use crate::text::read::{DocValue, Fields, Reader};
use std::ops::Range;

/// The section and its layers.
pub(super) fn models(reader: &mut Reader, value: &DocValue<'_>) -> Vec<ModelsText> {
    let Some(table) = reader.table(value, "a table: only, use, fallback") else { return Vec::new() };
    let fields = reader.fields(table, value.span(), &keys::MODELS);
    let mut found = vec![ModelsText { who: None, ..layer(reader, &fields, value.span()) }];
    let layers = fields.get("for").and_then(|value| reader.table(value, "tables such as [models.for.\"agent:coder\"]"));
    for (name, value) in layers.map(|table| reader.entries(table)).unwrap_or_default() {
        let Some(who) = who::who(reader, &name) else { continue };
        let Some(table) = reader.table(value, "a table: only, use, fallback") else { continue };
        let layer_keys: &'static Table = &keys::MODEL_LAYER;
        let fields = reader.fields(table, name.span.clone(), layer_keys);
        found.push(ModelsText { who: Some(who), ..layer(reader, &fields, name.span.clone()) });
    }
    found
}

fn layer(reader: &mut Reader, fields: &Fields<'_, '_>, span: Range<usize>) -> ModelsText {
    let text = |reader: &mut Reader, key| fields.get(key).and_then(|value| reader.text(value));
    let only = fields.get("only").map(|value| reader.texts(value)).unwrap_or_default();
    let (model, fallback) = (text(reader, "use"), text(reader, "fallback"));
    for name in only.iter().chain(&model).chain(&fallback) {
        let whole = name
            .value
            .split_once('/')
            .is_some_and(|(provider, model)| !provider.trim().is_empty() && !model.trim().is_empty());
        if !whole {
            let message = format!("`{}` names no model", name.value);
            reader.advise("bad-model", name.span.clone(), message, "write provider/model, as in \"anthropic/*\"");
        }
    }
    for name in model.iter().chain(&fallback) {
        if name.value.contains('*') {
            let message = "this must be one model";
            reader.advise("bad-model", name.span.clone(), message, "write it without `*`");
        } else if !only.is_empty()
            && !only.iter().any(|pattern| crate::stage::models::covers(&pattern.value, &name.value))
        {
            let message = format!("`{}` is not in `only`", name.value);
            reader.advise("bad-model", name.span.clone(), message, "add it to `only`, or use another");
        }
    }
    ModelsText { who: None, only, model, fallback, span }
}
