//! The heart of Sayso: what an agent asks for, what the owner's policy says of it, and why.
//!
//! Pure: no I/O, no async. What must be known of files and environment is handed in as [`Facts`], what must be
//! remembered (usage, grants, counters) as [`State`].

pub mod compare;
mod compile;
mod condition;
mod evaluate;
pub mod explain;
mod filter;
pub mod foreign;
mod ground;
mod guard;
pub mod hold;
pub mod image;
mod index;
mod judging;
pub mod matchers;
pub mod normalise;
mod past;
mod pattern;
mod policy;
pub mod presets;
pub mod risk;
mod role;
mod rule;
mod ruleset;
mod set;
mod stage;
mod state;
mod strict;
pub mod text;
mod tool;
mod word;

pub use filter::{Listed, ToolDenied, available, filter_tools};
pub use matchers::{Matcher, Narrow};
pub use normalise::Kind;
pub use past::{Area, Deeds, EarlierCall, Known, Past, Wrote};
pub use policy::{Policy, PolicyText};
pub use risk::{Risk, RiskPoints, RiskWord};
pub use ruleset::{Rule, Ruleset};
pub use sayso_shell as shell;
pub use stage::grants::{GrantKeys, effects_to_name};
pub use stage::integrity::{Protected, registration_files};
pub use stage::limits::Allowance;
pub use stage::models::Route;
pub use stage::plan::USUAL_PLAN_MS;
pub use state::{
    Counting, Executable, Grant, GrantSelector, PlanStep, RecentCall, Scope, State, ToolFinding, Unknown, Usage,
};
pub use strict::Strict;
pub use word::*;

/// The page about embedding: its example is a test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/embedding.md")]
mod embedding {}
