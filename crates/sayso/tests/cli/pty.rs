//! A terminal of its own, as a person has one, and as a program can make one.

use crate::person::Person;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::Command;

/// Runs a command at a terminal of its own. `types` sees everything that was shown so far, and says what is typed next;
/// what it said before is not said again.
pub(crate) fn at_terminal(
    person: &Person,
    arguments: &[&str],
    types: &mut dyn FnMut(&str) -> Option<String>,
) -> (i32, String) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap().into_string().unwrap();
    let theirs = || File::options().read(true).write(true).open(&name).unwrap();
    let sayso = person.sayso();
    let mut command = Command::new("setsid");
    command
        .args(["--ctty", "--wait"])
        .arg(sayso.get_program())
        .args(arguments)
        .current_dir(person.project())
        .env_clear();
    command.env("HOME", person.home()).env("PATH", "/usr/bin:/bin");
    let mut child = command.stdin(theirs()).stdout(theirs()).stderr(theirs()).spawn().unwrap();
    // Our own hold on their side of the terminal would keep it open for ever.
    drop(command);
    let mut terminal = File::from(ours);
    let mut shown = String::new();
    let mut buffer = [0; 4096];
    // The terminal of a program that has ended is an error to read.
    while let Ok(length) = terminal.read(&mut buffer) {
        if length == 0 {
            break;
        }
        shown.push_str(&String::from_utf8_lossy(&buffer[..length]));
        if let Some(line) = types(&shown) {
            writeln!(terminal, "{line}").unwrap();
        }
    }
    (child.wait().unwrap().code().unwrap_or(-1), shown)
}

/// Types this once, when the terminal asks for the key.
pub(crate) fn the_key(key: &str) -> impl FnMut(&str) -> Option<String> + use<> {
    let mut key = Some(key.to_owned());
    move |shown| if shown.contains("as you type): ") { key.take() } else { None }
}

/// Types the number that is shown, once.
pub(crate) fn the_number() -> impl FnMut(&str) -> Option<String> {
    let mut typed = false;
    move |shown| {
        let rest = shown.split("Type ").nth(1).filter(|_| !typed)?;
        let code = rest.split_once(" to continue: ")?.0.to_owned();
        typed = true;
        Some(code)
    }
}

/// Whether these tests were themselves started by an agent, from which nobody at a terminal is believed.
pub(crate) fn agent_above(shown: &str) -> bool {
    shown.contains("started it")
}
