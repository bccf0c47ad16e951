//! Trains the model of `src/risk`: how many points an effect of each kind adds.
//!
//! ```text
//! cargo run --release -p sayso-policy --example risk_train -- [--corpus FILE.jsonl] [--write]
//! ```
//!
//! It learns from `data/risk.tsv`, commands that were labelled by hand, and `data/risk-real.tsv`, of which only the counts of
//! effects and the labels are kept; `--corpus` makes the second anew from the commands themselves. A part of both is held
//! out: of the first all commands that begin with the same program are on one side, since they resemble each other. Points
//! are never negative. `--write` writes `src/risk/model.rs`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::allow_attributes,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a tool for whoever changes the model, which nobody else runs"
)]

use sayso_policy::risk::{Counts, Feature, HIGHEST};
use sayso_policy::shell::{MemoryFiles, NoEnvironment};
use sayso_policy::{Facts, Layer, Policy, PolicyText, ToolCall, Workspace};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

const FEATURES: usize = Feature::ALL.len();
/// The share that is held out, in percent.
const HELD_OUT: u8 = 30;
const ROUNDS: usize = 20_000;
const STEP: f64 = 0.5;
/// How strongly the points are drawn to [`PRIOR`]: what the data says nothing of must still be worth something.
const PULL: f64 = 0.002;
/// What one effect of each kind is worth before any data is seen, in the order of the features.
const PRIOR: [f64; FEATURES] = [
    0.8, 1.0, 1.0, 2.0, 2.0, 0.6, 2.0, 3.0, 1.0, 2.0, 4.0, 3.0, 4.0, 4.0, 0.3, 0.1, 3.0, 4.0, 0.2, 1.5, 4.0, 1.5, 3.0,
    1.0, 2.0, 2.0,
];

/// One labelled call.
struct Example {
    counts: [f64; FEATURES],
    risky: bool,
    held_out: bool,
    weight: f64,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let corpus = arguments.iter().position(|it| it == "--corpus").and_then(|at| arguments.get(at + 1));
    if let Some(corpus) = corpus {
        extract(Path::new(corpus), &folder.join("data/risk-real.tsv"));
    }
    let mut own = own(&std::fs::read_to_string(folder.join("data/risk.tsv")).expect("data/risk.tsv"));
    let mut real = real(&std::fs::read_to_string(folder.join("data/risk-real.tsv")).expect("data/risk-real.tsv"));
    balance(&mut own);
    balance(&mut real);
    let train: Vec<&Example> = own.iter().chain(&real).filter(|it| !it.held_out).collect();
    let (weights, bias) = fit(&train);
    let points = points(&weights, bias);
    println!("{:<22}{:>8}{:>8}", "feature", "weight", "points");
    for ((feature, weight), points) in Feature::ALL.iter().zip(weights).zip(points) {
        println!("{:<22}{weight:>8.2}{points:>8}", feature.as_str());
    }
    println!();
    for (name, all) in [("labelled by hand", &own), ("real commands", &real)] {
        let risky = all.iter().filter(|it| it.risky).count();
        println!("{name}: {} commands, {risky} risky", all.len());
        for (part, held_out) in [("trained on", false), ("held out", true)] {
            let of: Vec<&Example> = all.iter().filter(|it| it.held_out == held_out).collect();
            println!("  {part:<12}{:>5}   AUC {:.3}", of.len(), auc(&of, &points));
        }
        let seen: BTreeSet<String> =
            all.iter().filter(|it| !it.held_out).map(|it| format!("{:?}", it.counts)).collect();
        let new: Vec<&Example> =
            all.iter().filter(|it| it.held_out && !seen.contains(&format!("{:?}", it.counts))).collect();
        let risky = new.iter().filter(|it| it.risky).count();
        println!(
            "  of which with counts unlike any that were trained on: {} ({risky} risky), AUC {:.3}",
            new.len(),
            auc(&new, &points)
        );
    }
    if arguments.iter().any(|it| it == "--write") {
        write(&folder.join("src/risk/model.rs"), &points);
    }
}

fn policy() -> Policy {
    let text =
        PolicyText { layer: Layer::User, name: "none".into(), text: "default = \"ask\"\n".into(), trusted: true };
    Policy::compile(&[text]).expect("an empty policy")
}

fn project() -> MemoryFiles {
    let mut files = MemoryFiles::new();
    for path in [
        "/app/Cargo.toml",
        "/app/src/main.rs",
        "/app/src/lib.rs",
        "/app/README.md",
        "/app/package.json",
        "/app/.git/HEAD",
    ] {
        files.file(path, b"");
    }
    files
}

fn counts(policy: &Policy, files: &MemoryFiles, command: &str) -> Counts {
    let facts = Facts { files, env: &NoEnvironment };
    let call = ToolCall {
        cwd: Some("/app".into()),
        workspace: Workspace::new("/app", Some(Path::new("/home/me"))),
        home: Some("/home/me".into()),
        ..ToolCall::command(command.as_bytes())
    };
    policy.risk_counts(&policy.operation(call, facts), facts)
}

fn numbers(counts: &Counts) -> [f64; FEATURES] {
    let mut found = [0.0; FEATURES];
    found.iter_mut().zip(counts.each()).for_each(|(slot, (_, count))| *slot = f64::from(count));
    found
}

/// Whether what is known by this name is held out.
fn is_held_out(name: &str) -> bool {
    blake3::hash(name.as_bytes()).as_bytes()[0] % 100 < HELD_OUT
}

fn own(text: &str) -> Vec<Example> {
    let (policy, files) = (policy(), project());
    let one = |line: &str| {
        let (label, command) = line.split_once('\t').expect("LABEL<TAB>COMMAND");
        let program = command.trim_start_matches("sudo ").split_whitespace().next().unwrap_or_default();
        let counts = numbers(&counts(&policy, &files, command));
        Example { counts, risky: label == "1", held_out: is_held_out(program), weight: 1.0 }
    };
    text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).map(one).collect()
}

fn real(text: &str) -> Vec<Example> {
    let one = |line: &str| {
        let mut parts = line.split('\t');
        let (id, label, found) = (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap_or_default());
        let mut counts = [0.0; FEATURES];
        for (name, count) in found.split(',').filter_map(|one| one.split_once(':')) {
            let at = Feature::ALL.iter().position(|feature| feature.as_str() == name).expect("a feature");
            counts[at] = count.parse().expect("a count");
        }
        let risky = matches!(label, "destructive" | "system-write" | "secrets" | "network" | "install");
        Example { counts, risky, held_out: is_held_out(id), weight: 1.0 }
    };
    text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).map(one).collect()
}

/// Keeps of each command its id, its label and the counts of its effects.
fn extract(corpus: &Path, to: &Path) {
    let (policy, files) = (policy(), project());
    let mut out = String::from(
        "# Real commands: id, label, and how many effects of each kind Sayso finds. The commands are not kept.\n",
    );
    for line in std::fs::read_to_string(corpus).expect("the corpus").lines() {
        let line: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
        let found = counts(&policy, &files, line["command"].as_str().unwrap());
        let found: Vec<String> = found
            .each()
            .filter(|(_, count)| *count > 0)
            .map(|(feature, count)| format!("{}:{count}", feature.as_str()))
            .collect();
        let id: String = line["id"].as_str().unwrap().chars().take(12).collect();
        let _ = writeln!(out, "{id}\t{}\t{}", line["label"].as_str().unwrap(), found.join(","));
    }
    std::fs::write(to, out).expect("data/risk-real.tsv");
}

/// Both labels of a source weigh as much, and both sources.
fn balance(all: &mut [Example]) {
    for risky in [false, true] {
        let number = all.iter().filter(|it| it.risky == risky && !it.held_out).count().max(1);
        let weight = 0.25 / number as f64;
        all.iter_mut().filter(|it| it.risky == risky).for_each(|it| it.weight = weight);
    }
}

/// Logistic regression with weights that are not negative, by projected gradient descent.
fn fit(train: &[&Example]) -> ([f64; FEATURES], f64) {
    let (mut weights, mut bias) = (PRIOR, -2.0);
    for _ in 0..ROUNDS {
        let mut slope = [0.0; FEATURES];
        let mut lean = 0.0;
        for example in train {
            let sum: f64 = bias + weights.iter().zip(example.counts).map(|(weight, count)| weight * count).sum::<f64>();
            let wrong = (1.0 / (1.0 + (-sum).exp()) - f64::from(u8::from(example.risky))) * example.weight;
            slope.iter_mut().zip(example.counts).for_each(|(slope, count)| *slope += wrong * count);
            lean += wrong;
        }
        for ((weight, slope), prior) in weights.iter_mut().zip(slope).zip(PRIOR) {
            *weight = (*weight - STEP * (slope + PULL * (*weight - prior))).max(0.0);
        }
        bias -= STEP * lean;
    }
    (weights, bias)
}

/// The weights so that what is as likely risky as not has 25 points, where `moderate` begins.
fn points(weights: &[f64; FEATURES], bias: f64) -> [u8; FEATURES] {
    let scale = 25.0 / (-bias).max(0.5);
    weights.map(|weight| (weight * scale).round().clamp(0.0, f64::from(HIGHEST)) as u8)
}

fn score(example: &Example, points: &[u8; FEATURES]) -> f64 {
    let sum: f64 = example.counts.iter().zip(points).map(|(count, points)| count * f64::from(*points)).sum();
    sum.min(f64::from(HIGHEST))
}

/// How likely a risky call scores higher than one that is not; equal scores count half.
fn auc(all: &[&Example], points: &[u8; FEATURES]) -> f64 {
    let of =
        |risky: bool| all.iter().filter(move |it| it.risky == risky).map(|it| score(it, points)).collect::<Vec<f64>>();
    let (risky, calm) = (of(true), of(false));
    let mut won = 0.0;
    for one in &risky {
        for other in &calm {
            won += if one > other {
                1.0
            } else if (one - other).abs() < f64::EPSILON {
                0.5
            } else {
                0.0
            };
        }
    }
    won / (risky.len() * calm.len()).max(1) as f64
}

fn write(to: &Path, points: &[u8; FEATURES]) {
    let lines: String =
        Feature::ALL.iter().zip(points).map(|(it, points)| format!("    {points}, // {}\n", it.as_str())).collect();
    let text = format!(
        "//! Written by `examples/risk_train.rs`: train again instead of changing it.\n\nuse super::Feature;\n\n/// The version of the model.\npub(super) const VERSION: &str = \"1\";\n/// What one effect of each kind adds, in the order of the features.\npub(super) const POINTS: [u8; Feature::ALL.len()] = [\n{lines}];\n"
    );
    std::fs::write(to, text).expect("src/risk/model.rs");
}
