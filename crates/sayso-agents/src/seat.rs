//! Whether a person sits before the agent, at a terminal: found out from the agent's own process.
//!
//! Some agents do not tell their hooks whether anybody can be asked, and without anybody a question runs the call, or
//! never ends. So whoever started the hook is looked at: it must have a terminal, no argument that makes it work
//! without a person, and no other agent above it, which would be the one that types.
//!
//! INVARIANT: what cannot be found out means that nobody is there. An agent's tool calls change neither the arguments
//! nor the terminal of the agent itself.

use sayso_policy::shell::program::{Facets, facets};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// How an agent is started with a person before it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Seat {
    /// Its program or script, by name.
    pub(crate) programs: &'static [&'static str],
    /// Options that leave a person there.
    pub(crate) switches: &'static [&'static str],
    /// The same, followed by a value.
    pub(crate) options: &'static [&'static str],
    /// Variables that make it work without one where they are `true`.
    pub(crate) absent: &'static [&'static str],
}

/// Processes above the hook that are looked at.
const MOST_ANCESTORS: usize = 32;

impl Seat {
    /// Whether a person sits there.
    pub(crate) fn is_taken(&self) -> bool {
        if self.absent.iter().any(|name| std::env::var_os(name).is_some_and(|value| value == "true")) {
            return false;
        }
        let mut at = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get());
        let mut found = false;
        for _ in 0..MOST_ANCESTORS {
            let Some(pid) = at.filter(|pid| *pid > 1) else { return found };
            let Ok(line) = std::fs::read(format!("/proc/{pid}/cmdline")) else { return false };
            let words: Vec<&OsStr> = line.split(|byte| *byte == 0).map(OsStr::from_bytes).collect();
            match started(&words) {
                Some((name, arguments)) if self.programs.contains(&name) => {
                    if !has_terminal(pid) || !self.leaves_a_person(arguments) {
                        return false;
                    }
                    found = true;
                }
                Some(_) => return false,
                None => {}
            }
            at = parent(pid);
        }
        false
    }

    fn leaves_a_person(&self, arguments: &[&OsStr]) -> bool {
        let mut rest = arguments.iter().filter_map(|word| word.to_str()).filter(|word| !word.is_empty());
        while let Some(word) = rest.next() {
            let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
            if self.options.contains(&name) {
                if value.is_none() && rest.next().is_none() {
                    return false;
                }
            } else if !self.switches.contains(&name) || value.is_some() {
                return false;
            }
        }
        true
    }
}

/// The agent that a process is, and its arguments: by its program, or by the script that an interpreter runs. What an agent
/// started has no person before it.
fn started<'a>(words: &'a [&'a OsStr]) -> Option<(&'a str, &'a [&'a OsStr])> {
    let name = |word: &'a OsStr| {
        let file = Path::new(word).file_name()?.to_str()?;
        [Some(file), file.strip_suffix(".js")].into_iter().flatten().find(|name| facets(name).has(Facets::AGENT))
    };
    let interpreter = |word: &OsStr| {
        let file = Path::new(word).file_name().and_then(OsStr::to_str).unwrap_or_default();
        ["node", "bun", "deno"].contains(&file)
    };
    let first = words.first()?;
    if let Some(agent) = name(first) {
        return Some((agent, words.get(1..)?));
    }
    if !interpreter(first) {
        return None;
    }
    let at = words.iter().skip(1).position(|word| !word.as_bytes().starts_with(b"-"))? + 1;
    Some((name(words.get(at)?)?, words.get(at + 1..)?))
}

/// Whether its input and its output are a terminal.
fn has_terminal(pid: i32) -> bool {
    [0, 1].iter().all(|descriptor| {
        let leads = std::fs::read_link(format!("/proc/{pid}/fd/{descriptor}")).unwrap_or_default();
        leads.starts_with("/dev/pts") || leads.as_os_str().as_bytes().starts_with(b"/dev/tty")
    })
}

fn parent(pid: i32) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in brackets, may hold anything.
    stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEAT: Seat =
        Seat { programs: &["gemini"], switches: &["-y", "--yolo"], options: &["-m", "--model"], absent: &[] };

    fn person(line: &str) -> Option<bool> {
        let words: Vec<&OsStr> = line.split(' ').map(OsStr::new).collect();
        started(&words).map(|(name, arguments)| SEAT.programs.contains(&name) && SEAT.leaves_a_person(arguments))
    }

    #[test]
    fn only_arguments_that_are_known_to_leave_a_person_do() {
        for (line, wanted) in [
            ("node /usr/lib/bin/gemini", Some(true)),
            ("node --max-old-space-size=4096 /usr/bin/gemini --yolo -m x", Some(true)),
            ("/usr/bin/gemini --model=x", Some(true)),
            ("node /x/gemini.js -y", Some(true)),
            ("node /usr/bin/gemini -p do", Some(false)),
            ("node /usr/bin/gemini --prompt=do", Some(false)),
            ("node /usr/bin/gemini -yp do", Some(false)),
            ("node /usr/bin/gemini do", Some(false)),
            ("node /usr/bin/gemini --acp", Some(false)),
            ("node /usr/bin/gemini --new-option", Some(false)),
            ("node /usr/bin/gemini -m", Some(false)),
            ("node /usr/bin/gemini --yolo=x", Some(false)),
            ("claude -p x", Some(false)),
            ("crush", Some(false)),
            ("node /x/qwen.js", Some(false)),
            ("bash -c gemini", None),
            ("node /x/server.js gemini", None),
            ("", None),
        ] {
            assert_eq!(person(line), wanted, "{line}");
        }
    }

    #[test]
    fn nobody_sits_before_a_test() {
        assert!(!SEAT.is_taken());
    }
}
