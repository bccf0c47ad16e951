//! The README and other documents show real output: every command in them is run, and what it prints is compared, every
//! digit of it. Only the time that a decision took differs from run to run.
//!
//! With `SAYSO_UPDATE_DOCS` set, what has changed is written into the documents instead.

use crate::person::Person;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Programs that the commands name. They lie in a folder of the test's own, so that the output is the same everywhere.
const PROGRAMS: [&str; 7] = ["cat", "cargo", "curl", "git", "ls", "sort", "tail"];

#[test]
fn every_command_in_the_readme_prints_what_it_shows() {
    assert!(compare("README.md") >= 8, "the README lost its examples");
}

#[test]
fn the_commands_in_the_page_about_json_print_what_it_shows() {
    assert!(compare("docs/json.md") >= 1, "the page lost its example");
}

/// How many commands of a document were run.
fn compare(name: &str) -> usize {
    let file: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    let text = std::fs::read_to_string(&file).unwrap();
    let updates = std::env::var_os("SAYSO_UPDATE_DOCS").is_some();
    let mut updated = text.clone();
    let person = Person::new();
    // The project lies in the home folder, as people's projects do.
    let project = person.home().join("app");
    std::fs::create_dir_all(&project).unwrap();
    std::fs::write(project.join(".env"), "TOKEN=1\n").unwrap();
    let mut compared = 0;
    for block in text.split("```console\n").skip(1) {
        let block = block.split("```").next().unwrap();
        for shown in block.split("$ ").skip(1) {
            let (command, expected) = shown.split_once('\n').unwrap();
            let said = ran(&person, &project, command);
            if updates && said != normal(expected) {
                let old: Vec<&str> = expected.trim_end().lines().collect();
                let new: Vec<&str> = said.lines().collect();
                // Lines that are the same stay as they are written; times stay too.
                let line = |at: usize, new: &str| match old.get(at) {
                    Some(old) if normal(old) == new => (*old).to_owned(),
                    _ => new.replace("N µs", "18 µs"),
                };
                let lines: Vec<String> = new.iter().enumerate().map(|(at, new)| line(at, new)).collect();
                let from = format!("$ {command}\n{}", expected.trim_end());
                updated = updated.replace(&from, &format!("$ {command}\n{}", lines.join("\n")));
            } else {
                assert_eq!(said, normal(expected), "{name}: $ {command}");
            }
            compared += 1;
        }
    }
    if updated != text {
        std::fs::write(file, updated).unwrap();
    }
    compared
}

fn ran(person: &Person, project: &std::path::Path, command: &str) -> String {
    let programs = person.project().join("usr/bin");
    std::fs::create_dir_all(&programs).unwrap();
    for program in PROGRAMS {
        let from = std::path::Path::new("/bin/true").canonicalize().unwrap();
        if !programs.join(program).exists() {
            std::fs::copy(from, programs.join(program)).unwrap();
        }
    }
    let sayso = std::path::Path::new(env!("CARGO_BIN_EXE_sayso"));
    // The shell finds sayso; sayso finds only the test's programs.
    let script = format!("sayso() {{ PATH={} {} \"$@\"; }}\n{command}", programs.display(), sayso.display());
    let done = Command::new("bash")
        .arg("-c")
        .arg(script)
        .current_dir(project)
        .env_clear()
        .env("HOME", person.home())
        .env("PATH", "/usr/bin:/bin")
        .output()
        .unwrap();
    let text = String::from_utf8(done.stdout).unwrap() + &String::from_utf8(done.stderr).unwrap();
    normal(&text.replace(person.project().to_str().unwrap(), ""))
}

/// The time of a decision differs from run to run.
fn normal(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        for at in 1..words.len() {
            if words[at] == "µs" {
                words[at - 1] = "N".to_owned();
            }
        }
        let line = words.join(" ");
        // Columns are as wide as this machine's paths; carets must stand where they stand.
        let is_carets = line.bytes().all(|b| b == b' ' || b == b'^');
        lines.push(if is_carets { line.trim_end().to_owned() } else { narrow(&line) });
    }
    lines.join("\n").trim_end().to_owned()
}

/// Never more than two blanks between words.
fn narrow(line: &str) -> String {
    let mut out = line.trim_end().to_owned();
    while out.contains("   ") {
        out = out.replace("   ", "  ");
    }
    out
}
