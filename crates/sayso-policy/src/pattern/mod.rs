//! Patterns of the policy language. Each answers yes, no or maybe.
//!
//! INVARIANT: a pattern that is used to allow sees only what is certain and canonical; one that is used to ask or
//! deny also sees what is possible: the path as written, another spelling, an unknown value.

mod command;
mod glob;
mod host;
mod image;
mod kind;
mod path;
mod pipe;
mod text;
mod tool;

pub(crate) use command::{RunPattern, canonical_flags, compile_regex};
pub(crate) use glob::Glob;
pub(crate) use host::{HostPattern, is_link_local, is_loopback, normal_host};
pub(crate) use kind::RunKind;
pub(crate) use path::{
    Bases, Below, Component, Ground, PathKey, PathPattern, Tree, Watch, beside, is_output_name, may_name,
};
pub(crate) use pipe::{Line, Programs, too_long};
pub(crate) use text::{PatternError, expand_braces};
pub(crate) use tool::{ToolPattern, all_names};

/// What a match is for: to allow, or to ask or deny.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To allow: strict.
    Permit,
    /// To ask or deny: wide.
    Restrict,
}

impl Purpose {
    /// How an exception is looked at: what is excepted from an allow is restricted, and the reverse.
    pub(crate) fn opposite(self) -> Self {
        match self {
            Self::Permit => Self::Restrict,
            Self::Restrict => Self::Permit,
        }
    }
}
