//! What the description says of parameters and of who may ask is what the code does.

use crate::client::Served;
use serde_json::Value;
use std::collections::BTreeSet;

/// Every address with its method, as the description has it; what stands in a path is filled in.
fn described(served: &Served) -> Vec<(String, String, Value)> {
    let (status, description) = served.get(&served.owner, "/v1/openapi.json");
    assert_eq!(status, 200);
    let paths = description["paths"].as_object().unwrap();
    let all = paths.iter().flat_map(|(path, methods)| {
        let path: Vec<&str> = path.split('/').map(|part| if part.starts_with('{') { "x" } else { part }).collect();
        let path = path.join("/");
        methods.as_object().unwrap().iter().map(move |(method, it)| (method.to_uppercase(), path.clone(), it.clone()))
    });
    all.collect()
}

/// The names between back-ticks behind `expected`, as serde lists what it knows.
fn known(told: &str) -> BTreeSet<String> {
    let expected = told.split("expected").nth(1).unwrap_or_else(|| panic!("{told}"));
    expected.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn the_parameters_that_are_described_are_those_that_are_understood() {
    let served = Served::with("default = \"ask\"\n");
    let mut looked_at = 0;
    for (method, path, it) in described(&served) {
        let parameters = it["parameters"].as_array().cloned().unwrap_or_default();
        let in_query = parameters.iter().filter(|parameter| parameter["in"] == "query");
        let names: BTreeSet<String> = in_query.map(|it| it["name"].as_str().unwrap().to_owned()).collect();
        if names.is_empty() {
            continue;
        }
        looked_at += 1;
        let answer = served.send(&method, Some(&served.owner), &format!("{path}?no-such-thing=1"), None);
        assert_eq!(answer.status, 400, "{method} {path}: {}", answer.body);
        let mut understood = known(answer.json()["error"]["text"].as_str().unwrap());
        // One query serves both addresses; each refuses what only the other has.
        if path == "/v1/audit" {
            understood.remove("format");
        }
        assert_eq!(names, understood, "{method} {path}");
    }
    assert!(looked_at > 10, "{looked_at}");
}

#[test]
fn what_needs_a_token_says_so_and_nothing_else_does() {
    let served = Served::with("default = \"ask\"\n");
    for (method, path, it) in described(&served) {
        let body = (method == "POST").then_some("{}");
        let answer = served.send(&method, None, &path, body);
        let open = it.get("security").is_none_or(|any| any.as_array().unwrap().contains(&serde_json::json!({})));
        assert_eq!(answer.status == 401, !open, "{method} {path}: {} {}", answer.status, answer.body);
    }
}

#[test]
fn every_refusal_is_described_with_the_same_body() {
    let served = Served::with("default = \"ask\"\n");
    for (method, path, it) in described(&served) {
        let responses = it["responses"].as_object().unwrap();
        for (status, response) in responses.iter().filter(|(status, _)| status.starts_with(['4', '5'])) {
            let named = response["$ref"] == "#/components/responses/Error";
            assert!(named || path == "/v1/ready", "{method} {path} {status}");
        }
    }
}

#[test]
fn every_schema_is_one() {
    let served = Served::with("default = \"ask\"\n");
    let (_, description) = served.get(&served.owner, "/v1/openapi.json");
    for (name, schema) in description["components"]["schemas"].as_object().unwrap() {
        jsonschema::draft202012::meta::validate(schema).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}
