//! Holds every answer that these tests get to the description.

use crate::client::{Answer, Served};
use jsonschema::Validator;
use serde_json::{Value, json};
use std::collections::HashMap;

/// What the answers of one server must be.
pub(crate) struct Described {
    document: Value,
}

impl Described {
    pub(crate) fn new(document: Value) -> Self {
        Self { document }
    }

    /// What an answer is not that the description says of its address.
    pub(crate) fn check(&self, method: &str, target: &str, answer: &Answer) -> Result<(), String> {
        let (status, body) = (answer.status, &answer.body);
        let path = target.split('?').next().unwrap();
        let Some(operation) = self.operation(method, path) else {
            return if [404, 405].contains(&status) { Ok(()) } else { Err(format!("no such address, but {status}")) };
        };
        let response = self.followed(&operation["responses"][status.to_string()]);
        let kind = answer.head.lines().find_map(|line| line.strip_prefix("content-type: ")).unwrap_or_default();
        let kind = kind.split(';').next().unwrap();
        let content = &response["content"][kind];
        if !content.is_object() {
            return Err(format!("{status} with {kind:?} is not described: {body}"));
        }
        if kind != "application/json" {
            return Ok(());
        }
        let told: Value = serde_json::from_str(body).map_err(|error| error.to_string())?;
        let validator = self.validator(&content["schema"]);
        let wrong: Vec<String> = validator.iter_errors(&told).map(|error| error.to_string()).collect();
        if wrong.is_empty() { Ok(()) } else { Err(format!("{status}: {wrong:#?}\n{told}")) }
    }

    fn operation(&self, method: &str, path: &str) -> Option<&Value> {
        let paths = self.document["paths"].as_object().unwrap();
        let found = paths.iter().filter(|(template, _)| fits(template, path));
        // `/v1/policy/versions` is no `/v1/policy/{x}`: what is written out goes first.
        let found = found.min_by_key(|(template, _)| template.matches('{').count())?;
        found.1.get(method.to_lowercase())
    }

    fn followed<'d>(&'d self, value: &'d Value) -> &'d Value {
        match value["$ref"].as_str() {
            Some(to) => self.document.pointer(to.strip_prefix('#').unwrap()).unwrap(),
            None => value,
        }
    }

    fn validator(&self, schema: &Value) -> Validator {
        let mut whole: HashMap<String, Value> = serde_json::from_value(schema.clone()).unwrap();
        whole.insert("components".to_owned(), self.document["components"].clone());
        jsonschema::draft202012::new(&json!(whole)).unwrap()
    }
}

fn fits(template: &str, path: &str) -> bool {
    let (template, path): (Vec<&str>, Vec<&str>) = (template.split('/').collect(), path.split('/').collect());
    template.len() == path.len() && template.iter().zip(&path).all(|(part, said)| part.starts_with('{') || part == said)
}

#[test]
fn an_answer_that_is_not_as_described_is_noticed() {
    let served = Served::with("default = \"ask\"\n");
    let described = Described::new(served.get(&served.owner, "/v1/openapi.json").1);
    let check = |path: &str, status: u16, body: &str| {
        let answer = Answer { status, head: "content-type: application/json".to_owned(), body: body.to_owned() };
        described.check("GET", path, &answer).is_ok()
    };
    assert!(check("/v1/approvals?all=true", 200, r#"{"approvals": [], "next": null}"#));
    assert!(!check("/v1/approvals", 200, r#"{"approvals": [{"id": "x"}], "next": null}"#));
    assert!(!check("/v1/approvals", 200, r#"{"approvals": []}"#));
    assert!(!check("/v1/approvals", 302, "{}"));
    assert!(check("/v1/approvals/x", 404, r#"{"error": {"code": "a", "text": "b"}}"#));
    assert!(!check("/v1/approvals/x", 404, r#"{"error": {"code": 1, "text": "b"}}"#));
    assert!(!check("/v1/nowhere", 200, "{}"));
}
