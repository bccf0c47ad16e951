//! What bash really does, against what the analysis says it would do. Random commands run in a jail; every program
//! that bash started and every file it left must be within the analysis, unless that says it is opaque.
//! `SAYSO_JAIL_CASES` and `SAYSO_SEED` ask for more, or for others.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a failed unwrap is a failed test")]

mod generate;
mod jail;
#[path = "generate/values.rs"]
mod values;

use generate::Dice;
use jail::Deeds;
use sayso_shell::{Context, Dialect, Environment, MemoryFiles, Report, analyze};
use std::path::Path;

struct Jailed;

impl Environment for Jailed {
    fn get(&self, name: &str) -> Option<String> {
        match name {
            "HOME" => Some(jail::HOME.into()),
            "PATH" => Some("/j/stubs".into()),
            _ => None,
        }
    }
}

fn analysed(command: &str) -> Report {
    let files = MemoryFiles::new();
    let context = Context {
        cwd: Some(Path::new(jail::FOLDER)),
        home: Some(Path::new(jail::HOME)),
        workspace: Some(Path::new(jail::FOLDER)),
        env: &Jailed,
        files: &files,
        dialect: Dialect::Bash,
    };
    Report::from(&analyze(command.as_bytes(), &context))
}

/// What was done and is not in the analysis.
fn escapes(report: &Report, deeds: &Deeds) -> Vec<String> {
    if report.opaque {
        return Vec::new();
    }
    let mut escapes = Vec::new();
    for words in &deeds.programs {
        let known = report.programs.iter().any(|program| match &program.argv {
            None => program.name.as_ref().is_none_or(|name| words.first().is_some_and(|word| base(name) == word)),
            Some(argv) => matches(argv, words),
        });
        if !known {
            escapes.push(format!("ran {words:?}"));
        }
    }
    for file in &deeds.files {
        if !report.writes.iter().any(|path| path.as_ref().is_none_or(|path| path == file)) {
            escapes.push(format!("wrote {file:?}"));
        }
    }
    escapes
}

/// The stubs know only the last component of their name.
fn base(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// A word that is not known stands for any number of words.
fn matches(argv: &[Option<String>], words: &[String]) -> bool {
    match (argv, words) {
        ([], []) => true,
        ([None, rest @ ..], _) => {
            matches(rest, words) || words.split_first().is_some_and(|(_, tail)| matches(argv, tail))
        }
        ([Some(word), rest @ ..], [first, tail @ ..]) => (word == first || base(word) == first) && matches(rest, tail),
        _ => false,
    }
}

fn found(command: &str, both: &[Deeds; 2]) -> Vec<String> {
    let report = analysed(command);
    both.iter().flat_map(|deeds| escapes(&report, deeds)).collect()
}

/// The smallest part of a command that still escapes, by running halves, quarters and so on of it.
fn shrink(command: &str) -> String {
    let mut best = command.to_owned();
    let mut size = best.len() / 2;
    while size > 0 {
        let places: Vec<usize> = (0..best.len()).step_by(size).collect();
        let smaller: Vec<String> = places
            .iter()
            .filter_map(|at| Some(format!("{}{}", best.get(..*at)?, best.get((at + size).min(best.len())..)?)))
            .collect();
        let Some(deeds) = jail::run(&smaller) else { return best };
        match smaller.iter().zip(&deeds).find(|(text, both)| !found(text, both).is_empty()) {
            Some((text, _)) => best.clone_from(text),
            None => size /= 2,
        }
    }
    best
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn bash_does_nothing_that_the_analysis_does_not_name() {
    let cases = number("SAYSO_JAIL_CASES", 2_000);
    let seed = number("SAYSO_SEED", 1);
    let commands: Vec<String> = (0..cases)
        .map(|case| {
            let mut dice = Dice::new(seed.wrapping_mul(1_000_033).wrapping_add(case));
            // Half of them are about syntax, half about values.
            if case % 2 == 0 { generate::text(&mut dice, 2, true) } else { values::values(&mut dice) }
        })
        .filter(|command| !command.contains('\0'))
        .collect();
    let mut deeds = Vec::new();
    for some in commands.chunks(200) {
        let Some(more) = jail::run(some) else { return };
        deeds.extend(more);
    }
    let opaque = commands.iter().filter(|command| analysed(command).opaque).count();
    let programs: usize = deeds.iter().flatten().map(|deeds| deeds.programs.len()).sum();
    let files: usize = deeds.iter().flatten().map(|deeds| deeds.files.len()).sum();
    let escaped: Vec<(&String, Vec<String>)> = commands
        .iter()
        .zip(&deeds)
        .map(|(command, both)| (command, found(command, both)))
        .filter(|(_, escapes)| !escapes.is_empty())
        .collect();
    println!(
        "{} commands in the jail: {programs} programs started, {files} files left, {opaque} opaque, {} escaped",
        commands.len(),
        escaped.len(),
    );
    let mut why = std::collections::BTreeMap::new();
    for report in commands.iter().map(|command| analysed(command)).filter(|report| report.opaque) {
        for code in report.doubts.iter().map(|doubt| doubt.code).collect::<std::collections::BTreeSet<_>>() {
            *why.entry(code).or_insert(0) += 1;
        }
    }
    println!("  opaque ones hold {why:?}");
    for (command, escapes) in escaped.iter().take(10) {
        println!("  {:?}\n    of {command:?}\n    {escapes:?}", shrink(command));
    }
    assert!(escaped.is_empty(), "bash did what the analysis does not name");
    assert!(programs > commands.len() / 4, "the stubs were not found");
}

#[test]
fn the_jail_shows_what_was_run_and_written() {
    let commands = ["p1 a 'b c' || p2 > out".to_owned(), "nothing-here >&2; cd /tmp && : >>x".to_owned()];
    let Some(deeds) = jail::run(&commands) else { return };
    let words = |text: &str| text.split('|').map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(deeds[0][0].programs, [words("p1|a|b c")]);
    assert_eq!(deeds[0][1], Deeds { programs: vec![words("p1|a|b c"), words("p2")], files: vec!["/w/out".into()] });
    assert_eq!(deeds[1][0], Deeds { programs: vec![words("nothing-here")], files: vec!["/tmp/x".into()] });
}
