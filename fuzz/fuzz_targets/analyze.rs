//! Any bytes as a command: no panic, no hang, no stack overflow.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sayso_shell::{Context, Dialect, MemoryFiles, NoEnvironment, analyze};
use std::path::Path;

fuzz_target!(|command: &[u8]| {
    let files = MemoryFiles::new();
    let context = Context {
        cwd: Some(Path::new("/app")),
        home: Some(Path::new("/home/ann")),
        workspace: Some(Path::new("/app")),
        env: &NoEnvironment,
        files: &files,
        dialect: Dialect::Bash,
    };
    let _ = analyze(command, &context);
});
