//! Why a command stops, and with which exit code.

use std::process::ExitCode;

/// What a command ends with.
pub(crate) type Outcome = Result<ExitCode, Failure>;

/// Why a command stops.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Wrong usage or a bad policy: exit 2. The text says what to do next.
    Wrong(String),
    /// Anything else: exit 1.
    Internal(anyhow::Error),
}

impl Failure {
    /// Wrong usage or a bad policy.
    pub(crate) fn wrong(text: impl Into<String>) -> Self {
        Self::Wrong(text.into())
    }

    /// Says it on standard error. A closed pipe is no failure: whoever read had enough.
    pub(crate) fn report(&self) -> ExitCode {
        match self {
            Self::Wrong(text) => {
                eprintln!("{}", text.trim_end());
                ExitCode::from(2)
            }
            Self::Internal(error) if is_broken_pipe(error) => ExitCode::SUCCESS,
            Self::Internal(error) => {
                eprintln!("error: {error:#}");
                ExitCode::from(1)
            }
        }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Wrong(text) => f.write_str(text),
            Self::Internal(error) => write!(f, "{error:#}"),
        }
    }
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Internal(error.into())
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let is = |error: &std::io::Error| error.kind() == std::io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| {
        cause.downcast_ref::<std::io::Error>().is_some_and(is)
            || cause
                .downcast_ref::<serde_json::Error>()
                .is_some_and(|e| e.io_error_kind() == Some(std::io::ErrorKind::BrokenPipe))
    })
}
