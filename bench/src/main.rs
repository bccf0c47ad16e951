//! Parsing a command, and understanding it, next to what published parsers need for parsing alone.
//!
//! They do less: a tree of syntax, without values, programs or effects. The ratio is to Sayso's parser in this run.

use sayso_shell::syntax::{Options, parse};
use sayso_shell::{Context, Dialect, MemoryFiles, NoEnvironment, analyze};
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

const COMMANDS: [(&str, &str); 2] = [
    ("27 bytes", "git log --oneline -n 10 src"),
    ("81 bytes", "grep -rn 'fn main' src --include='*.rs' | sort | uniq -c | head -20 && git status"),
];

fn main() {
    println!("| command | who | time | ratio |\n|---|---|---|---|");
    let files = MemoryFiles::new();
    for (name, command) in COMMANDS {
        let context = Context {
            cwd: Some(Path::new("/app")),
            home: Some(Path::new("/home/ann")),
            workspace: Some(Path::new("/app")),
            env: &NoEnvironment,
            files: &files,
            dialect: Dialect::Bash,
        };
        let ours = time(|| {
            let _ = black_box(parse(black_box(command.as_bytes()), Dialect::Bash, Options { extended_globs: false }));
        });
        let line = |who: &str, took: Duration| {
            let ratio = took.as_nanos() as f64 / ours.as_nanos() as f64;
            println!("| {name} | {who} | {:.2} µs | {ratio:.1} x |", took.as_nanos() as f64 / 1_000.0);
        };
        line("sayso-shell, parse", ours);
        line("sayso-shell, parse + effects", time(|| drop(black_box(analyze(black_box(command.as_bytes()), &context)))));
        line(
            "yash-syntax, parse",
            time(|| {
                let _ = black_box(black_box(command).parse::<yash_syntax::syntax::List>());
            }),
        );
        let options = brush_parser::ParserOptions::default();
        line(
            "brush-parser, tokenize + parse",
            time(|| {
                // A reader each time: the tokenizer of strings remembers the last ones it saw.
                let mut parser = brush_parser::Parser::new(black_box(command).as_bytes(), &options);
                let _ = black_box(parser.parse_program());
            }),
        );
    }
}

/// The median time of one call.
fn time(mut work: impl FnMut()) -> Duration {
    for _ in 0..500 {
        work();
    }
    let mut samples: Vec<Duration> = (0..301)
        .map(|_| {
            let began = Instant::now();
            for _ in 0..100 {
                work();
            }
            began.elapsed() / 100
        })
        .collect();
    samples.sort();
    samples.get(samples.len() / 2).copied().unwrap_or_default()
}
