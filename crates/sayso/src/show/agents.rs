//! Which agents are on this machine, and whether Sayso guards them.

use sayso_agents::Agent;
use sayso_agents::install::{Scope, Setting, registrations};
use sayso_gate::Places;
use std::path::PathBuf;
use std::time::Duration;

/// An agent that was found.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) agent: Agent,
    version: Option<String>,
    /// Sayso is registered in its settings, and asked.
    pub(crate) guarded: bool,
}

impl Found {
    /// `Claude Code 2.1.325`
    pub(crate) fn title(&self) -> String {
        match &self.version {
            Some(version) => format!("{} {version}", self.agent.title()),
            None => self.agent.title().to_owned(),
        }
    }

    /// What guards it.
    pub(crate) fn install(&self) -> String {
        format!("sayso install {}", self.agent)
    }
}

/// Looks for agents on PATH.
pub(crate) fn find(places: &Places) -> Vec<Found> {
    let project = std::env::current_dir().unwrap_or_default();
    let program = this_program().unwrap_or_default();
    let found = sayso_agents::find::find(Duration::from_secs(3)).into_iter().map(|found| {
        let setting = Setting::here(Scope::User, places.clone(), project.clone(), program.clone()).of(found.agent);
        let guarded = registrations(found.agent, &setting).iter().any(|registration| registration.in_force);
        Found { agent: found.agent, version: found.version, guarded }
    });
    found.collect()
}

/// This program, as an agent's settings name it.
pub(crate) fn this_program() -> std::io::Result<PathBuf> {
    std::env::current_exe()?.canonicalize()
}

/// The program to register as an agent's hook: the small one where it lies beside this one.
pub(crate) fn hook_program() -> std::io::Result<PathBuf> {
    let this = this_program()?;
    let small = this.with_file_name("sayso-hook");
    Ok(if small.is_file() { small } else { this })
}
