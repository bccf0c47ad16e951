//! Everything that can go wrong in this crate.

use std::path::PathBuf;

/// Everything that can go wrong in this crate.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No such agent, or none that this version answers.
    #[error("there is no agent named {0:?}{meant} (known agents: {known})", meant = meant(.0), known = known())]
    UnknownAgent(String),
    /// The gate refused.
    #[error(transparent)]
    Gate(#[from] sayso_gate::Error),
    /// An agent's settings that cannot be edited safely.
    #[error("{} was left unchanged: {why}", path.display())]
    Settings {
        /// The file.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// An agent that Sayso cannot be put in the way of in this scope.
    #[error("cannot install for {agent} there: {why}")]
    CannotInstall {
        /// The agent.
        agent: &'static str,
        /// Why not.
        why: String,
    },
    /// The system refused.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// What was tried, as a verb.
        doing: &'static str,
        /// With what.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The settings changed between the plan and its execution.
    #[error("{} has changed since the change was shown; review it again", .0.display())]
    Changed(PathBuf),
}

impl Error {
    pub(crate) fn io(doing: &'static str, path: &std::path::Path, source: std::io::Error) -> Self {
        Self::Io { doing, path: path.to_owned(), source }
    }
}

/// `; did you mean "codex"?`
fn meant(name: &str) -> String {
    let near = sayso_policy::text::nearest(name, crate::Agent::ALL.iter().map(|agent| agent.name()));
    near.map(|near| format!("; did you mean {near:?}?")).unwrap_or_default()
}

fn known() -> String {
    let names: Vec<_> = crate::Agent::ALL.iter().map(|agent| agent.name()).collect();
    names.join(", ")
}
