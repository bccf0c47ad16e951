//! Who sits at the terminal: a person, as far as that can be told, and not an agent's program.
//!
//! Under one user this is a tripwire and no wall: see SECURITY.md. It refuses what an agent's tool starts (by its
//! ancestors), what has no terminal of its own, and what does not read what is shown there.

use crate::failure::Failure;
use rustix::process::{Pid, getpgrp, getuid};
use rustix::termios::tcgetpgrp;
use sayso_policy::Person;
use std::fs::File;
use std::hash::BuildHasher as _;
use std::io::{BufRead as _, BufReader, IsTerminal as _, Write as _, stdin};

/// Processes above this one that are looked at.
const MOST_ANCESTORS: usize = 64;
/// Programs that are agents, by the name of their program or script.
const AGENTS: [&str; 14] = [
    "claude",
    "claude-code",
    "codex",
    "gemini",
    "gemini-cli",
    "copilot",
    "opencode",
    "cursor",
    "cursor-agent",
    "openclaw",
    "zed",
    "aider",
    "goose",
    "amp",
];

/// The person at the terminal, who has read there what is about to happen and confirmed it.
pub(crate) fn confirmed(what: &str) -> Result<Person, Failure> {
    let (person, mut terminal) = at_terminal()?;
    let code = std::hash::RandomState::new().hash_one(std::process::id()) % 9000 + 1000;
    write!(terminal, "{what}\nType {code} to go on: ")?;
    terminal.flush()?;
    let mut typed = String::new();
    BufReader::new(&terminal).read_line(&mut typed)?;
    if typed.trim() != code.to_string() {
        return Err(Failure::wrong("error: that is not the number that was shown, so nothing has changed"));
    }
    Ok(person)
}

/// The person at the terminal, and the terminal.
pub(crate) fn at_terminal() -> Result<(Person, File), Failure> {
    let refused = |why: &str| {
        Failure::wrong(format!(
            "error: this is for a person at a terminal: {why}\n\n  Run it yourself, in a terminal of your own."
        ))
    };
    if let Some(agent) = agent_above() {
        return Err(refused(&format!("`{agent}` started it")));
    }
    let terminal = File::options().read(true).write(true).open("/dev/tty");
    let terminal = terminal.map_err(|_| refused("there is no terminal here"))?;
    if !stdin().is_terminal() {
        return Err(refused("its input is not the terminal"));
    }
    if tcgetpgrp(&terminal).map_err(|_| refused("the terminal is not its own"))? != getpgrp() {
        return Err(refused("it runs in the background"));
    }
    Ok((Person::named(user_name()), terminal))
}

/// The name of the user who runs this, by the user database: no variable changes it.
pub(crate) fn user_name() -> String {
    let uid = getuid().as_raw().to_string();
    let database = std::fs::read("/etc/passwd").unwrap_or_default();
    let database = String::from_utf8_lossy(&database).into_owned();
    let name = database.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == uid).then(|| name.to_owned())
    });
    name.unwrap_or_else(|| format!("user {uid}"))
}

/// The agent that started this, or started what started it.
fn agent_above() -> Option<String> {
    let mut pid = rustix::process::getppid().map(Pid::as_raw_nonzero).map(|pid| pid.get())?;
    for _ in 0..MOST_ANCESTORS {
        let (parent, names) = process(pid)?;
        if let Some(agent) = names.iter().find(|name| AGENTS.contains(&name.as_str())) {
            return Some(agent.clone());
        }
        if parent <= 1 {
            return None;
        }
        pid = parent;
    }
    Some("a long line of programs".to_owned())
}

/// The parent of a process, and the names it goes by: its program's, and its script's.
fn process(pid: i32) -> Option<(i32, Vec<String>)> {
    // As bytes: an attacker would give a process on the way up a name that is no text.
    let status = std::fs::read(format!("/proc/{pid}/status")).ok()?;
    let status = String::from_utf8_lossy(&status);
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let parent = field("PPid:")?.parse().ok()?;
    let mut names: Vec<String> = field("Name:").map(str::to_owned).into_iter().collect();
    let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    for word in command.split(|byte| *byte == 0).take(3) {
        let word = String::from_utf8_lossy(word).into_owned();
        let parts: Vec<&str> = word.split('/').collect();
        names.extend(parts.iter().rev().take(3).map(|part| part.trim_end_matches(".js").to_owned()));
    }
    Some((parent, names))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_a_parent_and_a_name() {
        let me = i32::try_from(std::process::id()).unwrap();
        let (parent, names) = process(me).unwrap();
        assert!(parent > 0 && !names.is_empty());
        assert_eq!(process(-5), None);
    }

    #[test]
    fn the_user_has_a_name() {
        assert!(!user_name().is_empty());
    }
}
