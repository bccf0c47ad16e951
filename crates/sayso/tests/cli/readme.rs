//! The README shows real output: every command in it is run, and what it prints is compared.

use crate::person::Person;
use std::process::Command;

/// Programs that the commands name. They lie in a folder of the test's own, so that the README is the same everywhere.
const PROGRAMS: [&str; 7] = ["cat", "cargo", "curl", "git", "ls", "sort", "tail"];

#[test]
fn every_command_in_the_readme_prints_what_it_shows() {
    let readme = include_str!("../../../../README.md");
    let person = Person::new();
    // The project lies in the home folder, as people's projects do.
    let project = person.home().join("app");
    std::fs::create_dir_all(&project).unwrap();
    std::fs::write(project.join(".env"), "TOKEN=1\n").unwrap();
    let mut compared = 0;
    for block in readme.split("```console\n").skip(1) {
        let block = block.split("```").next().unwrap();
        for shown in block.split("$ ").skip(1) {
            let (command, expected) = shown.split_once('\n').unwrap();
            assert_eq!(ran(&person, &project, command), normal(expected), "$ {command}");
            compared += 1;
        }
    }
    assert!(compared >= 8, "the README lost its examples");
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

/// Times differ from run to run, versions and lines of presets from one change of them to the next.
fn normal(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let mut line = line.to_owned();
        if line.contains("\"preset:") {
            line = line.replace(|c: char| c.is_ascii_digit(), "9");
            while line.contains("99") {
                line = line.replace("99", "9");
            }
        }
        let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        for at in 1..words.len() {
            if words[at] == "µs" {
                words[at - 1] = "N".to_owned();
            }
            if words[at - 1] == "policy" && words[at].len() == 6 && words[at].bytes().all(|b| b.is_ascii_hexdigit()) {
                words[at] = "VERSION".to_owned();
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
