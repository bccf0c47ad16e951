//! The description as a whole.

use super::{Address, Described, Schemas, keep, named};
use crate::error::ErrorBody;
use serde_json::{Map, Value, json};
use utoipa::openapi::{RefOr, Schema};

/// Refusals that any address may answer with: what is no request, a token that is not good, a request from elsewhere, too
/// many failures, a fault of the server's, a server that is full or stops.
const EVERYWHERE: [u16; 6] = [400, 401, 403, 429, 500, 503];

/// Describes these addresses.
pub(crate) fn document(addresses: &[Address]) -> Value {
    let (mut asked, mut told) = (Schemas::new(), Schemas::new());
    let mut paths: Map<String, Value> = Map::new();
    let error = named::<ErrorBody>(&mut told);
    for address in addresses {
        let described = describe(address);
        described.asked.into_iter().for_each(|(name, schema)| keep(&mut asked, name, schema));
        described.told.into_iter().for_each(|(name, schema)| keep(&mut told, name, schema));
        paths.entry(address.path).or_insert_with(|| json!({}))[address.method] = Value::Object(described.operation);
    }
    told.values_mut().for_each(as_it_is_written);
    asked.into_iter().for_each(|(name, schema)| keep(&mut told, name, schema));
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Sayso",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "A gate between AI agents and their tools. Served on 127.0.0.1 and on a socket of the owner's. A GET \
                            changes nothing. What shows the record or answers needs a token; asking for a decision on this \
                            machine does not. A parameter or a word in a body that is not known is refused. Times are milliseconds since 1970.",
            "license": {"name": env!("CARGO_PKG_LICENSE")},
        },
        "servers": [{"url": "http://127.0.0.1:7171"}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {
                "type": "http",
                "scheme": "bearer",
                "description": "From /v1/session, or created with `sayso token create`.",
            }},
            "responses": {"Error": {
                "description": "What went wrong, with a stable code.",
                "content": {"application/json": {"schema": error}},
            }},
            "schemas": told,
        },
    });
    in_one_line(&mut document);
    document
}

/// Doc comments are broken into lines for those who read the code.
fn in_one_line(value: &mut Value) {
    match value {
        Value::String(words) if words.contains('\n') => *words = words.replace('\n', " "),
        Value::Array(all) => all.iter_mut().for_each(in_one_line),
        Value::Object(object) => object.values_mut().for_each(in_one_line),
        _ => {}
    }
}

pub(super) fn describe(address: &Address) -> Described {
    let mut described =
        Described { path: address.path, operation: Map::new(), asked: Schemas::new(), told: Schemas::new() };
    let mut words = address.words.iter().map(|line| line.trim());
    described.operation.insert("operationId".to_owned(), json!(address.name));
    described.operation.insert("summary".to_owned(), json!(words.next()));
    for status in EVERYWHERE.iter().chain(address.refuses) {
        described.add_refusal(*status);
    }
    (address.describe)(&mut described);
    let more = words.filter(|line| !line.is_empty()).map(str::to_owned);
    let who = described.operation.get("description").and_then(Value::as_str).map(str::to_owned);
    let description: Vec<String> = more.chain(who).collect();
    if !description.is_empty() {
        described.operation.insert("description".to_owned(), json!(description.join(" ")));
    }
    if let Some(Value::Object(responses)) = described.operation.get_mut("responses") {
        responses.sort_keys();
    }
    described
}

/// The doc comment of a type.
pub(super) fn words_of(schema: &RefOr<Schema>) -> Value {
    json!(schema).get("description").cloned().unwrap_or_else(|| json!("As asked."))
}

/// What is said of a type, narrowed to how it is written. Defaults are for those who read. An `Option` in an answer is either always written, and then
/// required, or left out where it is nothing, and then never `null`. Of alternatives one is written, which may look like
/// another one too: `oneOf` would refuse that.
fn as_it_is_written(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            let required = object.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
            if let Some(Value::Object(properties)) = object.get_mut("properties") {
                let optional = properties.iter_mut().filter(|(name, _)| !required.contains(&json!(name)));
                optional.for_each(|(_, property)| without_null(property));
                properties.values_mut().filter_map(Value::as_object_mut).for_each(|it| drop(it.remove("default")));
            }
            object.values_mut().for_each(as_it_is_written);
            if let Some(any) = object.remove("oneOf") {
                object.insert("anyOf".to_owned(), any);
            }
        }
        Value::Array(all) => all.iter_mut().for_each(as_it_is_written),
        _ => {}
    }
}

/// The same without `null`.
pub(super) fn without_null(schema: &mut Value) {
    let null = json!("null");
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|kind| *kind != null);
        if let [one] = types.as_slice() {
            schema["type"] = one.clone();
        }
    }
    if let Some(Value::Array(all)) = schema.get_mut("oneOf") {
        all.retain(|one| *one != json!({"type": "null"}));
        if let [one] = all.as_slice() {
            *schema = one.clone();
        }
    }
}
