//! Any JSON as a tool call, judged by a preset: an answer, never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sayso_policy::shell::{MemoryFiles, NoEnvironment};
use sayso_policy::{Facts, Operation, Policy, PolicyText, State, ToolCall};
use std::sync::OnceLock;

fuzz_target!(|input: (&str, &str)| {
    static POLICY: OnceLock<Option<Policy>> = OnceLock::new();
    let Some(policy) = POLICY.get_or_init(|| Policy::compile(&[PolicyText::preset("developer")]).ok()) else { return };
    let (name, arguments) = input;
    let Ok(arguments) = serde_json::from_str(arguments) else { return };
    let files = MemoryFiles::new();
    let facts = Facts { files: &files, env: &NoEnvironment };
    let operation = Operation::new(ToolCall::tool(name, arguments), facts);
    let _ = policy.evaluate(&operation, &State::default(), facts);
});
