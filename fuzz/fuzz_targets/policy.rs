//! Any text as a policy file: an answer, never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sayso_policy::{Layer, Policy, PolicyText};

fuzz_target!(|text: &str| {
    let file = PolicyText { layer: Layer::Project, name: "fuzz.toml".into(), text: text.to_owned(), trusted: false };
    let _ = Policy::compile(&[file]);
});
