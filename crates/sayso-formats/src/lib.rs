//! Other systems' rule files, read as they are and lowered to the stages of `sayso-policy`.
//!
//! Each format brings its own default and quirks; several files together give the strictest. A key that nobody knows
//! refuses the file, because it might have been a restriction.

mod document;
mod exec_approvals;
mod ferrumdeck;
mod given;
mod glob;
mod import;
mod policy_engine;
mod regular;
mod tool_name;
mod toolcap;
mod wundr;

pub use given::{foreign_name, marked, part};
pub use import::{Imported, import};

use document::Document;
use sayso_policy::foreign::{Foreign, Stages};

/// Whose file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Wundr's tool policies: layers of allow and deny lists.
    Wundr,
    /// Execution approvals of Wundr and OpenClaw: security, ask and allowlists.
    ExecApprovals,
    /// FerrumDeck's tiers and budgets.
    Ferrumdeck,
    /// OpenClaw's policy engine plugin: seven steps.
    PolicyEngine,
    /// Toolcap's ordered rules.
    Toolcap,
}

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Error {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The key, `tools.allow[0]`; empty: the file as a whole.
    pub key: String,
    /// What is wrong.
    pub message: String,
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: ", self.file, self.line)?;
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.message)
    }
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 5] = [Self::Wundr, Self::ExecApprovals, Self::Ferrumdeck, Self::PolicyEngine, Self::Toolcap];

    /// The name of the outside contract.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Wundr => "wundr",
            Self::ExecApprovals => "exec-approvals",
            Self::Ferrumdeck => "ferrumdeck",
            Self::PolicyEngine => "policy-engine",
            Self::Toolcap => "toolcap",
        }
    }

    /// By its name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }
}

/// Reads a file. Without a format it is the one whose keys the file has.
///
/// # Errors
/// The file cannot be read, holds what its format does not have, or fits no format.
pub fn read(format: Option<Format>, name: &str, text: &str) -> Result<Foreign, Error> {
    let document = Document::read(name, text)?;
    let root = document.root();
    let format = match format.or_else(|| detect(&root)) {
        Some(format) => format,
        None => return Err(root.wrong("no format has these keys; name it with --policy-format")),
    };
    let stages: Box<dyn Stages> = match format {
        Format::Wundr => Box::new(wundr::lower(&root)?),
        Format::ExecApprovals => Box::new(exec_approvals::lower(&root)?),
        Format::Ferrumdeck => Box::new(ferrumdeck::lower(&root)?),
        Format::PolicyEngine => Box::new(policy_engine::lower(&root)?),
        Format::Toolcap => Box::new(toolcap::lower(&root)?),
    };
    Ok(Foreign { name: name.to_owned(), text: text.to_owned(), stages })
}

/// The format whose own keys a file has.
fn detect(root: &document::Node<'_>) -> Option<Format> {
    let has = |key: &str| root.value.get(key).is_some();
    let own: [(Format, &[&str]); 5] = [
        (Format::Toolcap, &["rules"]),
        (Format::Ferrumdeck, &["tool_allowlist", "default_action", "budget"]),
        (Format::ExecApprovals, &["exec", "toolPolicies", "charter", "defaults"]),
        (
            Format::PolicyEngine,
            &["plugins", "denyPatterns", "allowlists", "dryRun", "maxBlockedRetries", "riskTiers", "pathAllowlists"],
        ),
        (Format::Wundr, &["tools", "agents", "groups"]),
    ];
    own.into_iter().find(|(_, keys)| keys.iter().any(|key| has(key))).map(|(format, _)| format)
}
