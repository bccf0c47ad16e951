//! How long parsing and the whole analysis take: `cargo run --release -p sayso-shell --example speed`.

use sayso_shell::syntax::{Options, parse};
use sayso_shell::{Context, Dialect, Environment, MemoryFiles, analyze};
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

struct Env;

impl Environment for Env {
    fn get(&self, name: &str) -> Option<String> {
        (name == "PATH").then(|| "/usr/local/bin:/usr/bin:/bin".to_owned())
    }
}

fn main() {
    let mut files = MemoryFiles::new();
    files.folder("/w/src").folder("/home/me").folder("/usr/local/bin");
    for name in ["git", "head", "cargo", "tail", "ls", "grep", "find", "xargs", "sort", "uniq", "cat", "wc"] {
        files.program(format!("/usr/bin/{name}"), b"");
    }
    let context = Context {
        cwd: Some(Path::new("/w")),
        home: Some(Path::new("/home/me")),
        workspace: Some(Path::new("/w")),
        env: &Env,
        files: &files,
        dialect: Dialect::Bash,
    };
    let only = std::env::args().nth(1);
    for command in [
        "git status --short",
        "cargo test 2>&1 | tail -20",
        "git log --oneline | head -5",
        "grep -rn 'fn main' src --include='*.rs' | head -20",
        "find . -name '*.rs' -not -path './target/*' | xargs grep -l 'unsafe' | sort | uniq",
        "cd src && ls -la && cat main.rs | head -50 && grep -n TODO *.rs && wc -l lib.rs main.rs",
        "for f in a b c; do echo \"$f\"; cat $f | wc -l; done; x=git; $x status && $x diff --stat",
    ] {
        if only.as_ref().is_some_and(|only| !command.contains(only.as_str())) {
            continue;
        }
        // The fastest of many short rounds: what else runs on the machine disturbs the rest.
        let each = |f: &dyn Fn()| {
            let round = || {
                let start = Instant::now();
                (0..50).for_each(|_| f());
                start.elapsed().as_nanos() / 50
            };
            (0..std::env::var("ROUNDS").ok().and_then(|r| r.parse().ok()).unwrap_or(2_000))
                .map(|_| round())
                .min()
                .unwrap_or_default()
        };
        let parsing = each(&|| {
            let _ = black_box(parse(black_box(command.as_bytes()), Dialect::Bash, Options::default()));
        });
        let all = each(&|| {
            black_box(analyze(black_box(command.as_bytes()), &context));
        });
        println!("{:>3} bytes  parse {parsing:>6} ns  analyze {all:>6} ns  {command}", command.len());
    }
    corpus(&context);
}

/// The mean over real one-liners, if the corpus is there (`SAYSO_CORPUS`, else beside the workspace).
fn corpus(context: &Context<'_>) {
    let folder = std::env::var("SAYSO_CORPUS")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpus").to_owned());
    let Ok(text) = std::fs::read_to_string(Path::new(&folder).join("oneliners.jsonl")) else { return };
    let commands: Vec<String> = text
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter_map(|case| case.get("command")?.as_str().map(str::to_owned))
        .collect();
    let count = commands.len().max(1);
    let bytes: usize = commands.iter().map(String::len).sum();
    let mut all = 0;
    for command in &commands {
        let round = || {
            let start = Instant::now();
            black_box(analyze(black_box(command.as_bytes()), context));
            start.elapsed().as_nanos()
        };
        all += (0..10).map(|_| round()).min().unwrap_or_default();
    }
    println!("{count} one-liners, mean {} bytes: analyze {} ns", bytes / count, all / count as u128);
}
