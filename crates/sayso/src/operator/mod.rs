//! Who sits at the terminal: a person, as far as that can be told, and not an agent's program.
//!
//! Where a server runs, its key is asked for: a program can make a terminal for itself, but does not know the key.
//! Where none runs, this is a tripwire and no wall: see SECURITY.md. It refuses what an agent's tool starts (by its
//! ancestors), what has no terminal of its own, and what does not read what is shown there.

mod hidden;

use crate::failure::Failure;
use rustix::process::{Pid, getpgrp, getuid};
use rustix::termios::tcgetpgrp;
use sayso_gate::Places;
use sayso_policy::Person;
use sayso_policy::shell::program::{Facets, facets};
use sayso_server::{ClientError, Running, SignedIn};
use std::fs::File;
use std::hash::BuildHasher as _;
use std::io::{BufRead as _, BufReader, IsTerminal as _, Read as _, Write as _, stdin};

/// Processes above this one that are looked at.
const MOST_ANCESTORS: usize = 64;

/// The person at the terminal, who has read there what is about to happen and confirmed it: with the key of the server
/// where one runs, else with a number that is shown.
pub(crate) fn confirmed(places: &Places, what: &str) -> Result<Person, Failure> {
    let (person, mut terminal) = at_terminal()?;
    if let Some(server) = Running::find(places) {
        writeln!(terminal, "{what}")?;
        sign_in(server, &mut terminal)?;
        return Ok(person);
    }
    let code = std::hash::RandomState::new().hash_one(std::process::id()) % 9000 + 1000;
    write!(terminal, "{what}\nType {code} to continue: ")?;
    terminal.flush()?;
    let mut typed = String::new();
    BufReader::new(&terminal).read_line(&mut typed)?;
    if typed.trim() != code.to_string() {
        return Err(Failure::wrong("error: that is not the number shown, so nothing was changed"));
    }
    Ok(person)
}

/// The server that takes answers. There is no other way to answer: without a server there is no secret that a program
/// of this user could not find.
pub(crate) fn server(places: &Places) -> Result<Running, Failure> {
    Running::find(places).ok_or_else(|| {
        Failure::wrong(
            "error: an answer needs the key of the server, and no server runs\n\n  \
             Start `sayso serve` in a terminal of your own: it shows the key.",
        )
    })
}

/// Asks for the server's key, which is not shown while it is typed, and signs in with it.
pub(crate) fn sign_in(server: Running, terminal: &mut File) -> Result<SignedIn, Failure> {
    keep_memory_closed();
    let key = hidden::line(terminal, "Key or address printed by `sayso serve` (not shown as you type): ")?;
    server.sign_in(&key).map_err(refused)
}

/// Signs in with the key that stands in this descriptor, for programs that keep it in no file.
pub(crate) fn sign_in_from(server: Running, descriptor: u32) -> Result<SignedIn, Failure> {
    if descriptor < 3 {
        return Err(Failure::wrong("error: --key-fd needs a file descriptor of its own, 3 or higher"));
    }
    keep_memory_closed();
    let unreadable = |error| Failure::wrong(format!("error: descriptor {descriptor} cannot be read: {error}"));
    let source = File::open(format!("/dev/fd/{descriptor}")).map_err(unreadable)?;
    let mut key = String::new();
    BufReader::new(source.take(256)).read_line(&mut key).map_err(unreadable)?;
    server.sign_in(&key).map_err(refused)
}

/// Why a server does not do it, as wrong usage where that is what it is.
pub(crate) fn refused(error: ClientError) -> Failure {
    match error {
        ClientError::Refused { .. } | ClientError::Another(_) => Failure::wrong(format!("error: {error}")),
        error => Failure::Internal(error.into()),
    }
}

/// Programs of the same user do not look into this process any more, and no crash writes its memory to a file. Root's
/// do.
pub(crate) fn keep_memory_closed() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        // Where the kernel refuses, all is as it was before; SECURITY.md says what that means.
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}

/// The person at the terminal, and the terminal.
pub(crate) fn at_terminal() -> Result<(Person, File), Failure> {
    let refused = |why: &str| {
        Failure::wrong(format!(
            "error: this command needs an interactive terminal: {why}\n\n  Run it yourself, in your own terminal."
        ))
    };
    if let Some(agent) = agent_above() {
        return Err(refused(&format!("`{agent}` started it")));
    }
    let terminal = File::options().read(true).write(true).open("/dev/tty");
    let terminal = terminal.map_err(|_| refused("there is no terminal here"))?;
    if !stdin().is_terminal() {
        return Err(refused("its input is not a terminal"));
    }
    if tcgetpgrp(&terminal).map_err(|_| refused("the terminal belongs to another session"))? != getpgrp() {
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
        if let Some(agent) = names.into_iter().find(Named::is_agent) {
            return Some(agent.name);
        }
        if parent <= 1 {
            return None;
        }
        pid = parent;
    }
    Some("a long line of programs".to_owned())
}

/// A name that a process goes by.
#[derive(Debug, PartialEq, Eq)]
struct Named {
    name: String,
    /// It is that of a folder in which its program or script lies.
    folder: bool,
}

impl Named {
    fn is_agent(&self) -> bool {
        // Many folders are called `llm`; few are called `gemini-cli`.
        let any = if self.folder { Facets::STARTS_AGENTS } else { Facets::STARTS_AGENTS.and(Facets::AGENT) };
        facets(&self.name).has(any)
    }
}

/// The parent of a process, and the names it goes by: its program's, and its script's.
fn process(pid: i32) -> Option<(i32, Vec<Named>)> {
    // As bytes: an attacker would give a process on the way up a name that is no text.
    let status = std::fs::read(format!("/proc/{pid}/status")).ok()?;
    let status = String::from_utf8_lossy(&status);
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let parent = field("PPid:")?.parse().ok()?;
    let name = |name: &str| Named { name: name.to_owned(), folder: false };
    let mut names: Vec<Named> = field("Name:").map(name).into_iter().collect();
    let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    for word in command.split(|byte| *byte == 0).take(3) {
        let word = String::from_utf8_lossy(word).into_owned();
        let parts: Vec<&str> = word.split('/').collect();
        let named =
            |(at, part): (usize, &&str)| Named { name: part.trim_end_matches(".js").to_owned(), folder: at > 0 };
        names.extend(parts.iter().rev().take(3).enumerate().map(named));
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
    fn agents_are_known_by_their_program_and_by_the_folder_of_their_script() {
        let is_agent = |name: &str, folder| Named { name: name.to_owned(), folder }.is_agent();
        // Those that an older list of this file held, by either.
        for name in [
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
        ] {
            assert!(is_agent(name, false) && is_agent(name, true), "{name}");
        }
        for name in ["qwen", "kimi", "crush", "kiro-cli", "llm"] {
            assert!(is_agent(name, false) && !is_agent(name, true), "{name}");
        }
        for name in ["bash", "node", "sayso", "sshd", ""] {
            assert!(!is_agent(name, false), "{name}");
        }
    }

    #[test]
    fn the_user_has_a_name() {
        assert!(!user_name().is_empty());
    }
}
