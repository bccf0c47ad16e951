//! Prints what commands would do, as JSON: `cargo run -p sayso-shell --example look -- 'COMMAND'...`.

use sayso_shell::{Context, Dialect, MemoryFiles, NoEnvironment, Report, analyze};
use std::path::Path;

fn main() {
    let mut files = MemoryFiles::new();
    files.folder("/w/src").folder("/home/me");
    for command in std::env::args().skip(1) {
        let context = Context {
            cwd: Some(Path::new("/w")),
            home: Some(Path::new("/home/me")),
            workspace: Some(Path::new("/w")),
            env: &NoEnvironment,
            files: &files,
            dialect: Dialect::Bash,
        };
        let analysis = analyze(command.as_bytes(), &context);
        println!("{}", serde_json::to_string(&Report::from(&analysis)).unwrap_or_default());
    }
}
