//! Why a hold was not made.

use crate::step::Step;
use std::path::PathBuf;

/// Why nothing ran.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The bounds cannot be kept as they are written.
    #[error("cannot hold a run to these bounds: {path}: {why}", path = .path.display())]
    Bounds {
        /// What is wrong with them.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// A step of making the hold failed.
    #[error("could not make the hold, nothing ran: {step}: {why}", step = .step.text())]
    Step {
        /// The step.
        step: Step,
        /// What the system said.
        why: String,
    },
    /// A standard stream would let the run out.
    #[error("could not make the hold, nothing ran: standard stream {number} is {what}")]
    Stream {
        /// Its number.
        number: usize,
        /// What it is.
        what: &'static str,
    },
    /// The program is not there.
    #[error("{program}: not found", program = .program.display())]
    NotFound {
        /// What was to be run.
        program: PathBuf,
    },
    /// The program cannot be executed.
    #[error("{program}: {why}", program = .program.display())]
    NotExecutable {
        /// What was to be run.
        program: PathBuf,
        /// What the system said.
        why: String,
    },
    /// Something else went wrong around the hold.
    #[error("could not make the hold: {0}")]
    System(#[from] std::io::Error),
}

impl Error {
    /// The exit code of a command that ends with this: 127 where the program is not there, else 126.
    #[must_use]
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::NotFound { .. } => 127,
            _ => 126,
        }
    }
}
