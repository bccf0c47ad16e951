//! Everything that can go wrong in this crate.

use sayso_policy::text::Problem;
use std::path::{Path, PathBuf};

/// Everything that can go wrong in this crate. Whatever it is, the call at hand does not run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system refused.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// What was tried, as a verb: `read`, `write`, `create`.
        doing: &'static str,
        /// With what.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file or folder that somebody else could have written.
    #[error("{} is not safe to use: {why}", path.display())]
    Unsafe {
        /// Which.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// Policy files with errors.
    #[error("the policy is rejected: {}", first(.0))]
    Policy(Vec<Problem>),
    /// A file of another system with an error.
    #[error("the policy is rejected: {0}")]
    Foreign(#[from] sayso_formats::Error),
    /// The store refused.
    #[error("the store: {0}")]
    Store(Box<dyn std::error::Error + Send + Sync>),
    /// What was to be kept could not be, together with what others wrote at the same time.
    #[error("{0}")]
    NotKept(std::sync::Arc<str>),
    /// The store's file was deleted, moved or replaced while it was open.
    #[error("the database has moved: {0}")]
    Replaced(std::sync::Arc<str>),
    /// Records were changed or taken away behind Sayso's back.
    #[error("the record has been altered: {0}")]
    Altered(std::sync::Arc<str>),
    /// The store was written by a newer Sayso.
    #[error("the database has version {found}, and this Sayso supports up to {known}: use a newer Sayso")]
    NewerStore {
        /// What the file says.
        found: u32,
        /// What this program knows.
        known: u32,
    },
    /// Something could not be written as JSON.
    #[error("cannot write a record: {0}")]
    Json(#[from] serde_json::Error),
    /// A workspace of more files than are looked at.
    #[error("{} has more files than Sayso examines, so it cannot tell which of them a held run must not see", .0.display())]
    TooMuchToHold(PathBuf),
    /// There is no project file to trust.
    #[error("there is no .sayso.toml in {} or its parent folders, up to the repository's root", .0.display())]
    NoProjectFile(PathBuf),
    /// The home folder cannot be found out.
    #[error("this user's home folder is unknown")]
    NoHome,
    /// An answer to a question does not count.
    #[error("{0}")]
    Refused(crate::approval::Refused),
    /// A grant or a yes that another call was faster to use.
    #[error("{0} was used up by another call")]
    UsedUp(String),
    /// A grant or a yes that the chain knows nothing of, or something else.
    #[error("{0} is not in the record as stored")]
    Forged(String),
    /// A grant or a yes behind whose record others are missing: one of them may have said that it is over.
    #[error("records are missing from the chain after {0}")]
    Gap(String),
    /// A mode that cannot be switched.
    #[error("{0}")]
    Mode(String),
    /// Calls that make no plan.
    #[error("{0}")]
    Plan(String),
    /// There is no such version of the policy.
    #[error("there is no version {0} of the policy")]
    NoVersion(String),
    /// More than one begins like this.
    #[error("several versions of the policy start with {0}")]
    SeveralVersions(String),
    /// The policy in force is not the one that a change was made from.
    #[error("the policy has changed since: version {0} is in force now")]
    OtherVersion(String),
    /// Another process changes the policy, and does not end.
    #[error("another program is changing the policy and has locked {}; try again when it is done", .0.display())]
    PolicyBusy(PathBuf),
}

impl Error {
    /// An I/O error with what was tried.
    pub(crate) fn io(doing: &'static str, path: &Path, source: impl Into<std::io::Error>) -> Self {
        Self::Io { doing, path: path.to_owned(), source: source.into() }
    }
}

fn first(problems: &[Problem]) -> String {
    let Some(problem) = problems.iter().find(|p| !p.warning).or(problems.first()) else {
        return "for an unknown reason".to_owned();
    };
    format!("{}: {}", problem.source, problem.message)
}
