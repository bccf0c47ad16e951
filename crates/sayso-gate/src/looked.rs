//! By which facts a call is judged.

use crate::files::Once;
use sayso_policy::Facts;
use sayso_shell::{Environment, Files};

/// Whose facts a call is judged by.
#[derive(Clone, Copy)]
pub enum FactsOf<'a> {
    /// The gate's: this machine's files and this process's environment, unless it was given others.
    Gate,
    /// The call's own: a server's callers have environments of their own.
    Call(Facts<'a>),
    /// The same, with files as others have looked at them, after this call had come.
    Shared(&'a Once<'a>, &'a dyn Environment),
}

/// Files, each looked at once, and an environment.
pub(crate) struct Looked<'a> {
    files: Seen<'a>,
    env: &'a dyn Environment,
}

enum Seen<'a> {
    Here(Once<'a>),
    ByOthers(&'a Once<'a>),
}

impl<'a> Looked<'a> {
    /// Of this gate's facts, or others.
    pub(crate) fn at(facts: FactsOf<'a>, files: &'a dyn Files, env: &'a dyn Environment) -> Self {
        match facts {
            FactsOf::Gate => Self { files: Seen::Here(Once::over(files)), env },
            FactsOf::Call(Facts { files, env }) => Self { files: Seen::Here(Once::over(files)), env },
            FactsOf::Shared(seen, env) => Self { files: Seen::ByOthers(seen), env },
        }
    }

    pub(crate) fn once(&self) -> &Once<'a> {
        match &self.files {
            Seen::Here(once) => once,
            Seen::ByOthers(once) => once,
        }
    }

    pub(crate) fn facts(&self) -> Facts<'_> {
        Facts { files: self.once(), env: self.env }
    }
}
