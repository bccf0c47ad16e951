//! The examples of `docs/hooks.md` are what is said.

use crate::session::Session;
use sayso_agents::Agent;
use serde_json::Value;

const PAGE: &str = include_str!("../../../../docs/hooks.md");

/// Fenced blocks: what stands behind the fence, and the text.
fn blocks() -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut lines = PAGE.lines();
    while let Some(line) = lines.next() {
        if let Some(info) = line.strip_prefix("```") {
            let text: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            blocks.push((info.to_owned(), text.join("\n")));
        }
    }
    blocks
}

/// `...` at the end of a text stands for the rest of it.
fn holds(wanted: &Value, got: &Value) -> bool {
    match (wanted, got) {
        (Value::Object(wanted), Value::Object(got)) => {
            wanted.len() == got.len()
                && wanted.iter().all(|(key, value)| got.get(key).is_some_and(|got| holds(value, got)))
        }
        (Value::String(wanted), Value::String(got)) => match wanted.strip_suffix("...") {
            Some(begin) => got.starts_with(begin.trim_end()),
            None => wanted == got,
        },
        (wanted, got) => wanted == got,
    }
}

#[test]
fn the_examples_of_the_page_are_what_is_said() {
    let blocks = blocks();
    let policy = &blocks.iter().find(|(info, _)| info == "toml policy").unwrap().1;
    let mut examples = 0;
    for pair in blocks.windows(2) {
        let [(info, input), (answer, wanted)] = pair else { continue };
        let Some(agent) = info.strip_prefix("json in ") else { continue };
        assert_eq!(answer, "json out", "{input}");
        let session = Session::with(agent.parse::<Agent>().unwrap(), policy);
        let input = input.replace("\"/p", "\"$P");
        let output = session.hook(session.here(&input).as_bytes());
        examples += 1;
        if wanted.is_empty() {
            assert_eq!((output.exit, output.stdout.as_slice()), (0, &b""[..]), "{input}");
            continue;
        }
        let got: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{input}: {output:?}"));
        assert!(holds(&serde_json::from_str(wanted).unwrap(), &got), "{input}\nwanted {wanted}\ngot {got}");
    }
    assert!(examples >= 8);
}
