//! Arguments against the tool's own schema, before anything else is said of them.
//!
//! A schema is the server's text and may be made to take for ever, to overflow the stack or to fetch something. So
//! it is measured first; one that cannot be checked safely is said to be so, and the call asks.

use jsonschema::{PatternOptions, Validator};
use sayso_policy::explain::visible;
use serde_json::Value;
use std::collections::HashSet;

/// How many parts a schema may have once its references are followed.
const LARGEST: usize = 20_000;
/// How deep arguments may nest where a schema refers to itself: each level may double the work.
const DEEPEST_RECURSIVE: usize = 12;
/// How many problems are told.
const TOLD: usize = 5;

/// What can be said of arguments.
#[derive(Debug)]
pub(crate) enum Checker {
    /// The tool says nothing of its arguments.
    Anything,
    /// It does.
    Schema { validator: Box<Validator>, recursive: bool },
    /// It does, in a way that cannot be checked; why.
    Unusable(String),
}

impl Checker {
    /// For a schema.
    pub(crate) fn new(schema: Option<&Value>) -> Self {
        let Some(schema) = schema else { return Self::Anything };
        let mut measure = Measure { root: schema, left: LARGEST, on_the_way: HashSet::new(), recursive: false };
        if let Err(why) = measure.schema(schema, 0) {
            return Self::Unusable(why.to_owned());
        }
        let recursive = measure.recursive;
        let options = jsonschema::options().with_pattern_options(PatternOptions::regex());
        match options.build(schema) {
            Ok(validator) => Self::Schema { validator: Box::new(validator), recursive },
            Err(error) => Self::Unusable(visible(&error.to_string()).chars().take(300).collect()),
        }
    }

    /// What is wrong with arguments, a sentence each; none if they fit.
    pub(crate) fn problems(&self, arguments: &Value) -> Vec<String> {
        let Self::Schema { validator, recursive } = self else { return Vec::new() };
        if *recursive && depth(arguments) > DEEPEST_RECURSIVE {
            return vec![format!("the arguments nest deeper than {DEEPEST_RECURSIVE} levels")];
        }
        if validator.is_valid(arguments) {
            return Vec::new();
        }
        let told = |error: jsonschema::ValidationError<'_>| {
            let place = error.instance_path().to_string();
            let place = if place.is_empty() { String::new() } else { format!("{place}: ") };
            let text: String = format!("{place}{error}").chars().take(300).collect();
            visible(&text).into_owned()
        };
        validator.iter_errors(arguments).take(TOLD).map(told).collect()
    }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or(0),
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

struct Measure<'a> {
    root: &'a Value,
    left: usize,
    /// References that are being followed without having gone deeper into the arguments.
    on_the_way: HashSet<String>,
    recursive: bool,
}

/// Keywords that look at the same value again.
const IN_PLACE: &[&str] = &["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"];
/// Keywords whose content is not a schema.
const PLAIN: &[&str] = &["enum", "const", "default", "examples", "example", "required", "description", "title"];

impl Measure<'_> {
    fn schema(&mut self, schema: &Value, depth: usize) -> Result<(), &'static str> {
        if depth > 64 {
            return Err("the schema nests too deep");
        }
        self.left = self.left.checked_sub(1).ok_or("the schema is too large once its references are followed")?;
        let Some(fields) = schema.as_object() else {
            return schema.as_array().into_iter().flatten().try_for_each(|one| self.schema(one, depth + 1));
        };
        for (key, value) in fields {
            match key.as_str() {
                "$ref" | "$dynamicRef" | "$recursiveRef" => self.reference(value, depth)?,
                "$defs" | "definitions" => {}
                plain if PLAIN.contains(&plain) => {}
                in_place if IN_PLACE.contains(&in_place) => self.schemas(value, depth)?,
                // Deeper into the arguments: a reference met there ends at their depth.
                _ => {
                    let on_the_way = std::mem::take(&mut self.on_the_way);
                    let deeper = self.deeper(value, depth, &on_the_way);
                    self.on_the_way = on_the_way;
                    deeper?;
                }
            }
        }
        Ok(())
    }

    fn deeper(&mut self, value: &Value, depth: usize, before: &HashSet<String>) -> Result<(), &'static str> {
        // What was begun above is not walked again: it would have no end.
        let seen: Vec<String> = before.iter().map(|pointer| format!("above {pointer}")).collect();
        self.on_the_way.extend(seen);
        self.on_the_way.extend(before.iter().filter(|p| p.starts_with("above ")).cloned());
        self.schemas(value, depth)
    }

    fn schemas(&mut self, value: &Value, depth: usize) -> Result<(), &'static str> {
        match value {
            Value::Object(fields) if !fields.keys().any(|key| key.starts_with('$') || key == "type") => fields
                .values()
                .filter(|v| v.is_object() || v.is_array())
                .try_for_each(|one| self.schema(one, depth + 1)),
            other => self.schema(other, depth + 1),
        }
    }

    fn reference(&mut self, value: &Value, depth: usize) -> Result<(), &'static str> {
        let pointer = value.as_str().ok_or("the schema has a reference that is not text")?;
        if !pointer.starts_with('#') {
            return Err("the schema refers to another document, which is not fetched");
        }
        if self.on_the_way.contains(&format!("above {pointer}")) {
            self.recursive = true;
            return Ok(());
        }
        if !self.on_the_way.insert(pointer.to_owned()) {
            return Err("the schema refers to itself without end");
        }
        let root = self.root;
        let path = pointer.trim_start_matches('#');
        // A name instead of a path may stand anywhere: the whole is measured for it.
        let target = root.pointer(path).unwrap_or(root);
        self.schema(target, depth + 1)?;
        self.on_the_way.remove(pointer);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn arguments_are_held_to_the_schema() {
        let schema = json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
            "properties": {"path": {"type": "string"}, "type": {"type": "string"}, "n": {"type": "integer", "minimum": 1}}, "required": ["path"]});
        let checker = Checker::new(Some(&schema));
        assert!(checker.problems(&json!({"path": "a", "type": "x"})).is_empty());
        let problems = checker.problems(&json!({"path": 7, "n": 0}));
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert!(problems.iter().any(|p| p.starts_with("/path: ")), "{problems:?}");
        assert!(checker.problems(&json!({}))[0].contains("path"));
    }

    #[test]
    fn a_schema_that_cannot_be_checked_safely_says_so() {
        let mut doubling = json!({"$defs": {"d0": {"type": "string"}}, "$ref": "#/$defs/d40"});
        for n in 1..=40 {
            let below = format!("#/$defs/d{}", n - 1);
            doubling["$defs"][format!("d{n}")] = json!({"anyOf": [{"$ref": below}, {"$ref": below}]});
        }
        for schema in [
            json!({"$ref": "https://example.org/schema.json"}),
            json!({"$ref": "file:///etc/passwd"}),
            json!({"properties": {"a": {"$ref": "other.json"}}}),
            json!({"anyOf": [{"$ref": "#"}, {"type": "object"}]}),
            json!({"$defs": {"a": {"allOf": [{"$ref": "#/$defs/b"}]}, "b": {"not": {"$ref": "#/$defs/a"}}}, "$ref": "#/$defs/a"}),
            doubling,
            json!({"type": "nonsense"}),
        ] {
            assert!(matches!(Checker::new(Some(&schema)), Checker::Unusable(_)), "{schema}");
        }
    }

    #[test]
    fn a_schema_that_refers_to_itself_is_fine_up_to_a_depth() {
        let schema = json!({"type": "object", "properties": {"child": {"$ref": "#"}, "name": {"type": "string"}},
            "additionalProperties": false});
        let checker = Checker::new(Some(&schema));
        assert!(matches!(checker, Checker::Schema { recursive: true, .. }), "{checker:?}");
        assert!(checker.problems(&json!({"child": {"child": {"name": "x"}}})).is_empty());
        assert!(!checker.problems(&json!({"child": {"child": {"name": 1}}})).is_empty());
        let deep = (0..40).fold(json!({}), |inner, _| json!({"child": inner}));
        assert!(checker.problems(&deep)[0].contains("nest"));
    }

    #[test]
    fn a_pattern_that_would_take_for_ever_does_not() {
        let schema = json!({"properties": {"a": {"pattern": "^(a+)+$"}}});
        let text = "a".repeat(50_000) + "!";
        assert!(!Checker::new(Some(&schema)).problems(&json!({"a": text})).is_empty());
    }
}
