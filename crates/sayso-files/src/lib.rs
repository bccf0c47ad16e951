//! The files and the environment of this machine, for whoever judges calls without a gate and its store.
//!
//! ```
//! use sayso_files::{ProcessEnvironment, RealFiles};
//! use sayso_policy::{Facts, Matcher, Operation, Outcome, Rule, Ruleset, ToolCall};
//!
//! let ruleset = Ruleset::new(vec![Rule::new(Matcher::command("ls").within_directory("/usr"), Outcome::Allow)]);
//! let facts = Facts { files: &RealFiles, env: &ProcessEnvironment };
//! let call = ToolCall { cwd: Some("/usr".into()), ..ToolCall::command(b"ls bin") };
//! assert_eq!(ruleset.evaluate_with(&Operation::new(call, facts), facts), Outcome::Allow);
//! ```

pub mod files;

pub use files::{Once, ProcessEnvironment, RealFiles};
