//! JSON Schema of the policy language, for editors. Made from the table of keys, so that it cannot fall behind.

use super::keys::{self, Shape, Table};
use serde_json::{Map, Value, json};

/// The schema of a policy file (draft 2020-12). Editors complete and check by it; only the parser decides.
#[must_use]
pub fn schema() -> Value {
    let mut definitions = Map::new();
    let mut schema = Map::new();
    schema.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    schema.insert("title".to_owned(), json!("Sayso policy"));
    schema.extend(object(&keys::FILE, &mut definitions));
    schema.insert("$defs".to_owned(), Value::Object(definitions));
    Value::Object(schema)
}

fn object(table: &'static Table, definitions: &mut Map<String, Value>) -> Map<String, Value> {
    let mut properties = Map::new();
    for key in table.keys {
        let mut property = shape(&key.shape, definitions);
        if let Value::Object(property) = &mut property {
            property.insert("description".to_owned(), json!(key.about));
        }
        properties.insert(key.name.to_owned(), property);
    }
    let mut object = Map::new();
    object.insert("type".to_owned(), json!("object"));
    object.insert("properties".to_owned(), Value::Object(properties));
    object.insert("additionalProperties".to_owned(), json!(false));
    if !table.required.is_empty() {
        object.insert("required".to_owned(), json!(table.required));
    }
    // What a list of keys cannot say.
    if table.name == keys::RULE.name {
        object.insert("oneOf".to_owned(), exactly_one(keys::VERDICTS));
    } else if table.name == keys::TEST.name {
        object.insert("oneOf".to_owned(), exactly_one(&["command", "tool"]));
    } else if table.name == keys::PATTERNS.name {
        object.insert("anyOf".to_owned(), exactly_one(&["deny", "ask"]));
    }
    object
}

fn exactly_one(keys: &[&str]) -> Value {
    keys.iter().map(|key| json!({ "required": [key] })).collect()
}

fn shape(shape: &'static Shape, definitions: &mut Map<String, Value>) -> Value {
    match shape {
        Shape::Text => text(),
        Shape::Texts => one_or_many(&text()),
        Shape::Word(words) => json!({ "enum": words }),
        Shape::Words(words) => one_or_many(&json!({ "enum": words })),
        Shape::Flag => json!({ "type": "boolean" }),
        Shape::Count => json!({ "type": "integer", "minimum": 0 }),
        Shape::Duration => json!({ "type": "string", "pattern": "^([0-9]+(ms|s|m|min|h|d|w))+$", "examples": ["15m"] }),
        Shape::Cost => {
            json!({ "type": "string", "pattern": "^[0-9]+(\\.[0-9]{1,6})? [A-Z]{3}$", "examples": ["5.00 USD"] })
        }
        Shape::Bytes => json!({ "anyOf": [
            { "type": "integer", "minimum": 0 },
            { "type": "string", "pattern": "^[0-9]+ ?(B|[kKMG]B|[KMG]iB)$", "examples": ["10MB"] },
        ] }),
        Shape::Rate => {
            json!({ "type": "string", "pattern": "^[0-9]+ ?/ ?([0-9]+[a-z]+|[a-z]+)$", "examples": ["30/1m"] })
        }
        Shape::Table(table) => reference(table, definitions),
        Shape::Tables(table) => json!({ "type": "array", "items": reference(table, definitions) }),
        Shape::Named(inner) => json!({ "type": "object", "additionalProperties": self::shape(inner, definitions) }),
        Shape::Either(shapes) => {
            let choices: Vec<Value> = shapes.iter().map(|inner| self::shape(inner, definitions)).collect();
            json!({ "anyOf": choices })
        }
        Shape::Arguments => json!({ "type": "object" }),
        Shape::ArgumentPatterns => {
            let value = json!({ "anyOf": [text(), { "type": ["boolean", "integer"] }] });
            let nested = json!({ "anyOf": [
                one_or_many(&value),
                { "type": "object", "additionalProperties": { "$ref": "#/$defs/arg" }, "minProperties": 1 },
            ] });
            definitions.insert("arg".to_owned(), nested);
            json!({ "type": "object", "additionalProperties": { "$ref": "#/$defs/arg" }, "minProperties": 1 })
        }
        Shape::Examples => one_or_many(&json!({ "anyOf": [text(), { "type": "object" }] })),
    }
}

fn text() -> Value {
    json!({ "type": "string", "pattern": "\\S" })
}

fn one_or_many(item: &Value) -> Value {
    json!({ "anyOf": [item, { "type": "array", "items": item, "minItems": 1 }] })
}

fn reference(table: &'static Table, definitions: &mut Map<String, Value>) -> Value {
    if !definitions.contains_key(table.name) {
        definitions.insert(table.name.to_owned(), Value::Null);
        let object = object(table, definitions);
        definitions.insert(table.name.to_owned(), Value::Object(object));
    }
    json!({ "$ref": format!("#/$defs/{}", table.name) })
}
