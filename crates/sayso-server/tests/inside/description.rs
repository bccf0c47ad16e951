//! The description is that of the routes, and holds together.

use super::super::openapi::OPENAPI;
use sayso_gate::wire::{OF_A_CALL, OF_A_CONTEXT};
use serde_json::Value;
use std::collections::BTreeSet;

fn described() -> Value {
    serde_json::from_str(&OPENAPI).unwrap()
}

/// Every value in it, with its key.
fn walk<'v>(value: &'v Value, look: &mut dyn FnMut(&'v str, &'v Value)) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                look(key, value);
                walk(value, look);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| walk(item, look)),
        _ => {}
    }
}

/// The properties of a schema and of its parts.
fn properties(schema: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    walk(schema, &mut |key, value| {
        if let ("properties", Value::Object(all)) = (key, value) {
            found.extend(all.keys().cloned());
        }
    });
    found
}

#[test]
fn what_is_read_key_by_key_is_described_whole() {
    let described = &described()["components"]["schemas"];
    let set = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect::<BTreeSet<String>>();
    assert_eq!(properties(&described["Call"]), set(&OF_A_CALL));
    assert_eq!(properties(&described["Context"]), set(&OF_A_CONTEXT));
}

#[test]
fn every_reference_leads_somewhere_and_every_schema_is_used() {
    let described = described();
    let mut found = BTreeSet::new();
    walk(&described, &mut |key, value| {
        if let ("$ref", Value::String(to)) = (key, value) {
            found.insert(to.clone());
        }
    });
    assert!(found.len() > 30, "{}", found.len());
    for reference in &found {
        assert!(described.pointer(reference.strip_prefix('#').unwrap()).is_some(), "{reference}");
    }
    for name in described["components"]["schemas"].as_object().unwrap().keys() {
        assert!(found.contains(&format!("#/components/schemas/{name}")), "{name}");
    }
}

#[test]
fn every_operation_has_a_name_of_its_own_and_a_sentence() {
    let described = described();
    assert_eq!(described["info"]["version"], env!("CARGO_PKG_VERSION"));
    let operations: Vec<&Value> =
        described["paths"].as_object().unwrap().values().flat_map(|it| it.as_object().unwrap().values()).collect();
    let names: BTreeSet<&str> = operations.iter().map(|it| it["operationId"].as_str().unwrap()).collect();
    assert_eq!(names.len(), operations.len());
    for operation in operations {
        let summary = operation["summary"].as_str().unwrap();
        assert!(summary.ends_with(['.', '?']), "{summary}");
    }
}

#[test]
fn the_words_are_for_users_and_not_for_rustdoc() {
    walk(&described(), &mut |key, value| {
        if let ("description" | "summary", Value::String(words)) = (key, value) {
            assert!(!words.contains("[`") && !words.contains("INVARIANT"), "{words}");
        }
    });
}

#[test]
fn bodies_take_nothing_that_is_not_described() {
    let described = described();
    for (path, methods) in described["paths"].as_object().unwrap() {
        let Some(body) = methods["post"].get("requestBody") else { continue };
        let name = body.pointer("/content/application~1json/schema/$ref").unwrap().as_str().unwrap();
        let schema = described.pointer(name.strip_prefix('#').unwrap()).unwrap();
        let closed = |it: &Value| it["additionalProperties"] == false || it["unevaluatedProperties"] == false;
        let each = schema["oneOf"].as_array().map(|all| all.iter().map(|it| it.get("items").unwrap_or(it)).all(closed));
        assert!(each.unwrap_or_else(|| closed(schema)), "{path}: {schema}");
    }
}
