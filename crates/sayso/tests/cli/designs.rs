//! The commands of `docs/designs.md`, run as they stand there.

use crate::person::Person;

/// The words of a command, with what stands in single quotes as one.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (at, part) in command.split('\'').enumerate() {
        match at % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    words
}

#[test]
fn every_command_of_the_designs_gives_the_verdict_that_stands_behind_it() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/designs.md")).unwrap();
    let person = Person::new();
    for fence in page.split("```json ").skip(1) {
        let (name, rest) = fence.split_once('\n').unwrap();
        person.file(name.trim(), rest.split("```").next().unwrap());
    }
    let commands = page.lines().filter(|line| line.starts_with("| ")).filter_map(|line| {
        let cell = line.rsplit(" | ").next()?.trim_matches(['|', ' ', '`']);
        cell.strip_prefix("sayso ")?.split_once(" => ")
    });
    let (mut count, mut wrong) = (0, Vec::new());
    for (command, expected) in commands {
        count += 1;
        let words = words(command);
        let said = person.run(&words.iter().map(String::as_str).collect::<Vec<_>>());
        let first = said.out.lines().next().unwrap_or_default();
        let (verdict, code) = expected.split_once(' ').unwrap_or((expected, ""));
        if first.split_whitespace().next() != Some(verdict) || !first.contains(code) {
            wrong.push(format!("{command}: {first}{} instead of {expected}", said.err));
        }
    }
    assert!(count > 25, "{count} commands");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
