//! Other systems' rule files, read as they are and lowered to the stages of `sayso-policy`.
//!
//! Each format brings its own default and quirks; several files together give the strictest. A key that nobody knows
//! refuses the file, because it might have been a restriction.

mod agent;
mod claude_code;
mod codex;
mod copilot;
mod cursor;
mod document;
mod exec_approvals;
mod export;
mod ferrumdeck;
mod gemini;
mod given;
mod glob;
mod import;
mod opencode;
mod plain;
mod policy_engine;
mod regular;
mod tool_name;
mod toolcap;
mod wundr;
mod zed;

pub use export::{Exported, Unsayable, export};
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
    /// Claude Code's settings.
    ClaudeCode,
    /// Codex's rule files.
    Codex,
    /// Gemini's policies.
    Gemini,
    /// Copilot's options on tools.
    Copilot,
    /// OpenCode's permissions.
    Opencode,
    /// Cursor's permissions.
    Cursor,
    /// Zed's tool permissions.
    Zed,
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
    pub const ALL: [Self; 12] = [
        Self::Wundr,
        Self::ExecApprovals,
        Self::Ferrumdeck,
        Self::PolicyEngine,
        Self::Toolcap,
        Self::ClaudeCode,
        Self::Codex,
        Self::Gemini,
        Self::Copilot,
        Self::Opencode,
        Self::Cursor,
        Self::Zed,
    ];

    /// The name of the outside contract.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Wundr => "wundr",
            Self::ExecApprovals => "exec-approvals",
            Self::Ferrumdeck => "ferrumdeck",
            Self::PolicyEngine => "policy-engine",
            Self::Toolcap => "toolcap",
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Copilot => "copilot",
            Self::Opencode => "opencode",
            Self::Cursor => "cursor",
            Self::Zed => "zed",
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
    let stages: Box<dyn Stages> = match lowered(format, name, text)?.1 {
        Lowered::Wundr(file) => file,
        Lowered::ExecApprovals(file) => Box::new(file),
        Lowered::Ferrumdeck(file) => Box::new(file),
        Lowered::PolicyEngine(file) => Box::new(file),
        Lowered::Toolcap(file, _) => Box::new(file),
        Lowered::Agent(rules) => Box::new(rules),
    };
    Ok(Foreign { name: name.to_owned(), text: text.to_owned(), stages })
}

/// A file that was read.
enum Lowered {
    Wundr(Box<wundr::Wundr>),
    ExecApprovals(exec_approvals::ExecApprovals),
    Ferrumdeck(ferrumdeck::Ferrumdeck),
    PolicyEngine(policy_engine::PolicyEngine),
    /// With its text, which its import looks at again.
    Toolcap(toolcap::Toolcap, Document),
    Agent(agent::AgentRules),
}

fn lowered(format: Option<Format>, name: &str, text: &str) -> Result<(Format, Lowered), Error> {
    // Two are written in no notation that others share.
    match format.or_else(|| detect_text(name, text)) {
        Some(Format::Codex) => return Ok((Format::Codex, Lowered::Agent(codex::lower(name, text)?))),
        Some(Format::Copilot) => return Ok((Format::Copilot, Lowered::Agent(copilot::lower(name, text)?))),
        _ => {}
    }
    let document = Document::read(name, text)?;
    let root = document.root();
    let Some(format) = format.or_else(|| detect(&root)) else {
        return Err(root.wrong("no format has these keys; name the format with --policy-format"));
    };
    let lowered = match format {
        Format::Wundr => Lowered::Wundr(Box::new(wundr::lower(&root)?)),
        Format::ExecApprovals => Lowered::ExecApprovals(exec_approvals::lower(&root)?),
        Format::Ferrumdeck => Lowered::Ferrumdeck(ferrumdeck::lower(&root)?),
        Format::PolicyEngine => Lowered::PolicyEngine(policy_engine::lower(&root)?),
        Format::Toolcap => {
            let file = toolcap::lower(&root)?;
            return Ok((format, Lowered::Toolcap(file, document)));
        }
        Format::ClaudeCode => Lowered::Agent(claude_code::lower(&root)?),
        Format::Gemini => Lowered::Agent(gemini::lower(&root)?),
        Format::Opencode => Lowered::Agent(opencode::lower(&root)?),
        Format::Cursor => Lowered::Agent(cursor::lower(&root)?),
        Format::Zed => Lowered::Agent(zed::lower(&root)?),
        Format::Codex | Format::Copilot => return Err(root.wrong("this file is not in a supported notation")),
    };
    Ok((format, lowered))
}

/// A format that is told by its text.
fn detect_text(name: &str, text: &str) -> Option<Format> {
    if codex::looks_like(name, text) {
        return Some(Format::Codex);
    }
    copilot::looks_like(text).then_some(Format::Copilot)
}

/// The format whose own keys a file has.
fn detect(root: &document::Node<'_>) -> Option<Format> {
    let has = |key: &str| root.value.get(key).is_some();
    if let Some(permissions) = root.value.get("permissions") {
        let rules = |key: &str| permissions.get(key).and_then(serde_json::Value::as_array).into_iter().flatten();
        let cursor = |rule: &serde_json::Value| {
            rule.as_str().is_some_and(|rule| rule.starts_with("Shell(") || rule.starts_with("Mcp("))
        };
        let any = rules("allow").chain(rules("deny")).any(cursor);
        return Some(if any { Format::Cursor } else { Format::ClaudeCode });
    }
    if root.value.get("agent").is_some_and(|agent| agent.get("tool_permissions").is_some()) {
        return Some(Format::Zed);
    }
    let own: [(Format, &[&str]); 7] = [
        (Format::Toolcap, &["rules"]),
        (Format::Gemini, &["rule", "safety_checker"]),
        (Format::Opencode, &["permission"]),
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
