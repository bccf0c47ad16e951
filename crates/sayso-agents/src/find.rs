//! Which agents are on this machine.

use crate::Agent;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a Sayso may take to say its version.
const PATIENCE: Duration = Duration::from_secs(3);

/// An agent that was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// Which.
    pub agent: Agent,
    /// Its program, as PATH has it.
    pub program: PathBuf,
    /// What it says its version is.
    pub version: Option<String>,
}

impl Agent {
    /// Its program on PATH.
    #[must_use]
    pub fn program(self) -> Option<PathBuf> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders: Vec<PathBuf> = std::env::split_paths(&path).filter(|folder| folder.is_absolute()).collect();
        let in_folders = |name: &&str| folders.iter().map(|folder| folder.join(name)).find(|file| file.is_file());
        self.row().programs.iter().find_map(in_folders)
    }
}

/// Looks for agents that have hooks on PATH and asks each for its version, all at once: some need seconds to start.
#[must_use]
pub fn find(patience: Duration) -> Vec<Found> {
    let mut asked = Vec::new();
    for agent in Agent::ALL.iter().copied().filter(|agent| agent.has_hooks()) {
        if let Some(program) = agent.program() {
            let child = ask(&program);
            asked.push((agent, program, child));
        }
    }
    let until = Instant::now() + patience;
    let found = asked.into_iter().map(|(agent, program, child)| Found {
        agent,
        program,
        version: child.and_then(|child| answer(child, until)),
    });
    found.collect()
}

/// What a program says its version is.
#[must_use]
pub fn version_of(program: &Path) -> Option<String> {
    ask(program).and_then(|child| answer(child, Instant::now() + PATIENCE))
}

fn ask(program: &Path) -> Option<Child> {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command.spawn().ok()
}

/// The first word that looks like a version.
fn answer(mut child: Child, until: Instant) -> Option<String> {
    loop {
        match child.try_wait() {
            Ok(Some(_)) => break,
            Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(20)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
    let output = child.wait_with_output().ok()?;
    version_in(&String::from_utf8_lossy(&output.stdout))
}

fn version_in(text: &str) -> Option<String> {
    let is_version =
        |word: &&str| word.len() < 40 && word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.');
    let word = text.split_whitespace().map(|word| word.trim_end_matches(['.', ','])).find(is_version);
    word.map(|version| sayso_policy::explain::visible(version).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_in_what_agents_say() {
        for (said, version) in [
            ("2.1.325 (Claude Code)\n", Some("2.1.325")),
            ("codex-cli 0.166.0\n", Some("0.166.0")),
            ("GitHub Copilot CLI 1.0.102.\nRun 'copilot update' to check for updates.\n", Some("1.0.102")),
            ("no version at all", None),
            ("1.0\u{1b}[31m", Some("1.0\\e[31m")),
        ] {
            let found = version_in(said);
            match version {
                Some(version) if said.contains('\u{1b}') => {
                    assert!(!found.unwrap().contains('\u{1b}'), "{version}");
                }
                version => assert_eq!(found.as_deref(), version),
            }
        }
    }
}
