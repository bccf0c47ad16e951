//! The presets on commands that agents really typed, where that corpus is at hand.
//!
//! `SAYSO_CORPUS` names its folder; else it is looked for beside the repository. The numbers are printed.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed unwrap is a failed test")]

mod imaged;
mod machine;

use imaged::Both;
use machine::{Machine, command_in_app};
use sayso_policy::shell::bounds::Need;
use sayso_policy::shell::dialect::{InShell, Shells};
use sayso_policy::{Answer, CanHold, Facts, Holding, Operation, Policy, PolicyText, State};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// An empty project.
const MACHINE: Machine = Machine(&[]);

struct Line {
    command: String,
    label: String,
    high: bool,
}

fn corpus() -> Option<Vec<Line>> {
    let folder = std::env::var_os("SAYSO_CORPUS")
        .map(PathBuf::from)
        .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus"));
    let text = std::fs::read_to_string(folder.join("real-commands.jsonl")).ok()?;
    let field = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).unwrap().to_owned();
    Some(
        text.lines()
            .map(|line| {
                let value: Value = serde_json::from_str(line).unwrap();
                Line {
                    command: field(&value, "command"),
                    label: field(&value, "label"),
                    high: field(&value, "confidence") == "high",
                }
            })
            .collect(),
    )
}

fn judge<'l>(preset: &str, lines: &'l [Line]) -> Vec<(&'l Line, Answer, Vec<String>)> {
    judge_in("bash", preset, lines)
}

fn judge_in<'l>(shell: &str, preset: &str, lines: &'l [Line]) -> Vec<(&'l Line, Answer, Vec<String>)> {
    let policy = Both::new(Policy::compile(&[PolicyText::preset(preset)]).unwrap());
    let env = InShell { env: MACHINE, shells: Shells::named(shell).unwrap() };
    let facts = Facts { files: &MACHINE, env: &env };
    lines
        .iter()
        .map(|line| {
            let call = command_in_app(&line.command);
            let decision = policy.evaluate(&Operation::new(call, facts), &State::default(), facts);
            (line, decision.answer, decision.reasons.iter().map(|reason| reason.code.to_string()).collect())
        })
        .collect()
}

fn table(preset: &str, judged: &[(&Line, Answer, Vec<String>)]) {
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (line, answer, _) in judged {
        let count = counts.entry(line.label.as_str()).or_default();
        count.1 += 1;
        count.0 += usize::from(*answer == Answer::Allow);
    }
    for (label, (allowed, all)) in counts {
        println!("{preset:10} {label:18} {allowed:4} of {all:4} allowed");
    }
}

fn short(command: &str) -> String {
    command.chars().take(110).collect::<String>().replace('\n', "\\n")
}

/// Compilers, build and test tools; workspace scripts and inline code may ask.
fn builds(command: &str) -> bool {
    const TOOLS: [&str; 22] = [
        "cargo ",
        "make",
        "cmake",
        "gcc",
        "g++",
        "clang",
        "go ",
        "npm test",
        "npm run",
        "pnpm test",
        "pnpm run",
        "yarn test",
        "yarn build",
        "pytest",
        "-m pytest",
        "tsc",
        "eslint",
        "ruff",
        "mypy",
        "npx tsc",
        "jest",
        "rustc",
    ];
    const SCRIPTS: [&str; 9] = ["python3 ", "python ", "./", "node ", "bash ", "sh ", "python3.", "/app/", "npx "];
    let starts = |part: &str, list: &[&str]| list.iter().any(|tool| part.starts_with(tool));
    let parts: Vec<&str> =
        command.split(['|', ';', '&', '\n']).map(str::trim).filter(|part| !part.is_empty()).collect();
    parts.iter().any(|part| starts(part, &TOOLS) || part.contains("-m pytest"))
        && parts.iter().all(|part| !starts(part, &SCRIPTS) || part.contains("-m pytest"))
}

#[test]
fn read_only_allows_reading_and_nothing_else() {
    let Some(lines) = corpus() else {
        println!("no corpus here: set SAYSO_CORPUS");
        return;
    };
    let judged = judge("read-only", &lines);
    table("read-only", &judged);
    let readonly: Vec<_> = judged.iter().filter(|(line, ..)| line.label == "readonly").collect();
    let missed: Vec<_> = readonly.iter().filter(|(_, answer, _)| *answer != Answer::Allow).collect();
    for (line, answer, why) in &missed {
        println!("missed: {} {why:?}: {}", answer.as_str(), short(&line.command));
    }
    let wrong: Vec<_> = judged
        .iter()
        .filter(|(line, answer, _)| {
            *answer == Answer::Allow && line.label != "readonly" && line.label != "readonly-outside"
        })
        .collect();
    for (line, ..) in &wrong {
        println!("wrong: {} {}: {}", line.label, if line.high { "high" } else { "medium" }, short(&line.command));
    }
    assert!(wrong.iter().all(|(line, ..)| !line.high), "something else than reading was allowed");
    assert!(missed.len() * 100 <= readonly.len(), "{} of {} missed", missed.len(), readonly.len());
}

#[test]
fn another_shell_asks_hardly_more_than_bash() {
    let Some(lines) = corpus() else {
        println!("no corpus here: set SAYSO_CORPUS");
        return;
    };
    for preset in ["developer", "read-only"] {
        let bash = judge(preset, &lines);
        let allowed = bash.iter().filter(|(_, answer, _)| *answer == Answer::Allow).count();
        for (shell, most) in [("zsh", 1), ("bash,zsh", 1), ("sh", 2)] {
            let other = judge_in(shell, preset, &lines);
            let more: Vec<_> = bash
                .iter()
                .zip(&other)
                .filter(|(bash, other)| bash.1 == Answer::Allow && other.1 != Answer::Allow)
                .collect();
            for (_, (line, _, why)) in &more {
                println!("{preset} {shell}: {why:?}: {}", short(&line.command));
            }
            println!("{preset} {shell}: {} of {allowed} that bash may run ask", more.len());
            assert!(more.len() * 100 <= lines.len() * most, "{shell} asks {} times more", more.len());
        }
    }
}

#[test]
fn developer_allows_work_and_asks_before_harm() {
    let Some(lines) = corpus() else {
        println!("no corpus here: set SAYSO_CORPUS");
        return;
    };
    let judged = judge("developer", &lines);
    table("developer", &judged);
    let share = |name: &str, wanted: &dyn Fn(&Line) -> bool| {
        let of: Vec<_> = judged.iter().filter(|(line, ..)| wanted(line)).collect();
        let missed: Vec<_> = of.iter().filter(|(_, answer, _)| *answer != Answer::Allow).collect();
        for (line, answer, why) in &missed {
            println!("{name} missed: {} {why:?}: {}", answer.as_str(), short(&line.command));
        }
        println!("{name}: {} of {} allowed", of.len() - missed.len(), of.len());
        assert!(missed.len() * 10 <= of.len(), "{name}: {} of {} missed", missed.len(), of.len());
    };
    share("workspace-write", &|line| line.label == "workspace-write");
    share("build", &|line| line.label == "build-run" && builds(&line.command));
    let harm = ["secrets", "system-write", "destructive", "network", "install"];
    let wrong: Vec<_> = judged
        .iter()
        .filter(|(line, answer, _)| *answer == Answer::Allow && harm.contains(&line.label.as_str()))
        .collect();
    for (line, ..) in &wrong {
        println!("wrong: {} {}: {}", line.label, if line.high { "high" } else { "medium" }, short(&line.command));
    }
    assert!(wrong.iter().all(|(line, ..)| !line.high), "harm was allowed");
}

/// Runs that are held answer for what nobody can see through; what is harmful by its text is not among them.
#[test]
fn a_hold_spares_most_questions_and_lets_no_harm_run_unheld() {
    let Some(lines) = corpus() else {
        println!("no corpus here: set SAYSO_CORPUS");
        return;
    };
    let policy = Both::new(Policy::compile(&[PolicyText::preset("developer")]).unwrap());
    let env = InShell { env: MACHINE, shells: Shells::named("bash").unwrap() };
    let facts = Facts { files: &MACHINE, env: &env };
    let judge = |line: &Line, can_hold: CanHold| {
        let operation = Operation::new(command_in_app(&line.command), facts);
        policy.evaluate(&operation, &State { can_hold, ..State::default() }, facts)
    };
    let harm = ["secrets", "system-write", "destructive", "network", "install"];
    let (mut before, mut after, mut held) = (0, 0, 0);
    for line in &lines {
        let (unheld, now) = (judge(line, CanHold::No), judge(line, CanHold::Whole));
        before += usize::from(unheld.answer == Answer::Ask);
        after += usize::from(now.answer == Answer::Ask);
        match now.hold {
            Some(Holding::Required(_)) => {
                held += 1;
                assert_eq!(unheld.hold, Some(Holding::WouldAllow(Need::Whole)), "{}", line.command);
                if harm.contains(&line.label.as_str()) {
                    println!("held: {}: {}", line.label, short(&line.command));
                }
            }
            _ => assert_eq!(unheld.answer, now.answer, "without a hold nothing changes: {}", line.command),
        }
        if now.answer == Answer::Ask {
            let why: Vec<String> = now.reasons.iter().map(|reason| reason.code.to_string()).collect();
            println!("asks: {} {why:?}: {}", line.label, short(&line.command));
        }
    }
    println!("{before} ask without a hold, {after} with one; {held} run held");
    assert!(after <= 55, "{after} of {before} still ask");
}
