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

#[cfg(test)]
mod tests {
    use super::*;

    /// As much of JSON Schema as the schema uses.
    fn valid(schema: &Value, value: &Value, root: &Value) -> bool {
        schema.as_object().unwrap().iter().all(|(word, rule)| match word.as_str() {
            "$ref" => {
                let name = rule.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
                valid(&root["$defs"][name], value, root)
            }
            "type" => {
                let is = |name: &Value| match name.as_str().unwrap() {
                    "string" => value.is_string(),
                    "integer" => value.is_i64() || value.is_u64(),
                    "boolean" => value.is_boolean(),
                    "array" => value.is_array(),
                    "object" => value.is_object(),
                    other => panic!("type {other}"),
                };
                rule.as_array().map_or_else(|| is(rule), |names| names.iter().any(is))
            }
            "enum" => rule.as_array().unwrap().contains(value),
            "pattern" => {
                let pattern = regex::Regex::new(rule.as_str().unwrap()).unwrap();
                value.as_str().is_none_or(|text| pattern.is_match(text))
            }
            "minimum" => value.as_i64().is_none_or(|number| number >= rule.as_i64().unwrap()),
            "items" => value.as_array().is_none_or(|items| items.iter().all(|item| valid(rule, item, root))),
            "minItems" => value.as_array().is_none_or(|items| items.len() as u64 >= rule.as_u64().unwrap()),
            "minProperties" => value.as_object().is_none_or(|object| object.len() as u64 >= rule.as_u64().unwrap()),
            "anyOf" => rule.as_array().unwrap().iter().any(|choice| valid(choice, value, root)),
            "oneOf" => rule.as_array().unwrap().iter().filter(|choice| valid(choice, value, root)).count() == 1,
            "required" => rule.as_array().unwrap().iter().all(|key| value.get(key.as_str().unwrap()).is_some()),
            "properties" => {
                let properties = rule.as_object().unwrap();
                properties.iter().all(|(key, rule)| value.get(key).is_none_or(|value| valid(rule, value, root)))
            }
            "additionalProperties" => {
                let Some(object) = value.as_object() else { return true };
                let mut others = object.iter().filter(|(key, _)| schema["properties"].get(key.as_str()).is_none());
                others.all(|(_, value)| rule.is_object() && valid(rule, value, root))
            }
            "$schema" | "$defs" | "title" | "description" | "examples" => true,
            other => panic!("the validator of this test does not know {other}"),
        })
    }

    fn validates(policy: &str) -> bool {
        let value: Value = serde_json::to_value(toml::from_str::<toml::Table>(policy).unwrap()).unwrap();
        let schema = schema();
        valid(&schema, &value, &schema)
    }

    #[test]
    fn the_example_of_the_design_is_valid() {
        assert!(validates(include_str!("example.toml")));
        assert!(validates(""));
        assert!(validates(
            "default = { read = 'allow' }\n[[rule]]\ndeny = { run = ['a', 'b'] }\nwhen.arg.a.b = [1, 'x']"
        ));
    }

    #[test]
    fn the_schema_refuses_what_the_parser_refuses() {
        for bad in [
            "defualt = 'ask'",
            "default = 'maybe'",
            "unanswered = 'allow'",
            "[allow]\nrun = []",
            "[allow]\nrun = [5]",
            "[allow]\nrun = '  '",
            "[allow]\ncall = 'x'",
            "[[rule]]\nid = 'x'",
            "[[rule]]\nallow = { run = 'x' }\ndeny = { run = 'x' }",
            "[[rule]]\ndeny = { run = 'x' }\nwhen.fro = 'x'",
            "[[rule]]\ndeny = { run = 'x' }\nwhen.arg.a = {}",
            "[tools]\nprofile = 'codng'",
            "[tools.for.subagent]\nhid = 'x'",
            "[patterns]\nx = { params = 'y' }",
            "[limits.week]\ncalls = 5",
            "[limits.day]\ncalls = -5",
            "[limits.day]\ncost = '5'",
            "[approvals.x]\nneed = 1",
            "[mode]\nrun = 'of'",
            "[[test]]\nexpect = 'ask'",
            "[[test]]\ncommand = 'x'\ntool = 'y'\nexpect = 'ask'",
        ] {
            assert!(crate::text::parse("p.toml", bad).is_err(), "{bad}");
            assert!(!validates(bad), "{bad}");
        }
    }
}
