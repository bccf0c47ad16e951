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
    for command in [
        "git status --short",
        "cargo test 2>&1 | tail -20",
        "git log --oneline | head -5",
        "grep -rn 'fn main' src --include='*.rs' | head -20",
        "find . -name '*.rs' -not -path './target/*' | xargs grep -l 'unsafe' | sort | uniq",
        "cd src && ls -la && cat main.rs | head -50 && grep -n TODO *.rs && wc -l lib.rs main.rs",
        "for f in a b c; do echo \"$f\"; cat $f | wc -l; done; x=git; $x status && $x diff --stat",
    ] {
        let each = |f: &dyn Fn()| {
            let rounds = 20_000_u32;
            for _ in 0..rounds / 10 {
                f();
            }
            let start = Instant::now();
            for _ in 0..rounds {
                f();
            }
            start.elapsed().as_nanos() / u128::from(rounds)
        };
        let parsing = each(&|| {
            let _ = black_box(parse(black_box(command.as_bytes()), Dialect::Bash, Options::default()));
        });
        let all = each(&|| {
            black_box(analyze(black_box(command.as_bytes()), &context));
        });
        println!("{:>3} bytes  parse {parsing:>6} ns  analyze {all:>6} ns  {command}", command.len());
    }
}
