//! Hand-written commands and the simple commands that bash's grammar finds in each.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a failed unwrap is a failed test")]

mod reduce;

use sayso_shell::Dialect;
use sayso_shell::syntax::{Options, parse};

#[test]
fn every_known_answer_is_found() {
    let cases = include_str!("data/known-answers.jsonl");
    let (mut passed, mut failures) = (0, Vec::new());
    for line in cases.lines() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        let command = case["command"].as_str().unwrap();
        let found = parse(command.as_bytes(), Dialect::Bash, Options::default()).map(|tree| reduce::reduce(&tree));
        let problem = match (case["reject"].as_bool().unwrap(), found) {
            (true, Err(_)) => None,
            (true, Ok(found)) => Some(format!("accepted: {:?}", found.commands)),
            (false, Err(error)) => Some(format!("rejected: {error}")),
            (false, Ok(mut found)) => {
                let mut expected: Vec<Vec<String>> = serde_json::from_value(case["commands"].clone()).unwrap();
                expected.sort();
                found.commands.sort();
                let dynamic = found.commands.iter().flatten().any(|word| word == reduce::DYNAMIC);
                (found.opaque || found.commands != expected || dynamic != case["dynamic"].as_bool().unwrap())
                    .then(|| format!("found {:?}, expected {expected:?}", found.commands))
            }
        };
        match problem {
            None => passed += 1,
            Some(problem) => failures.push(format!("{command:?} ({}): {problem}", case["note"])),
        }
    }
    println!("known answers: {passed} of {}", cases.lines().count());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
