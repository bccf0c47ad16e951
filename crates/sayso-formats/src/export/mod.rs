//! A policy of Sayso's own in the words of another system.
//!
//! INVARIANT: what another system cannot say is left stricter, never looser. Other systems match texts where Sayso judges
//! effects, so that a rule of theirs would allow more than the one it came from. So only commands that the policy
//! itself, asked about them, allows are written, word by word; where a deny cannot be said, the rest is denied.

mod native;
mod write;

use crate::Format;
use native::Native;
use sayso_policy::shell::{MemoryFiles, NoEnvironment};
use sayso_policy::{Answer, Facts, Operation, Policy, PolicyText, State, ToolCall, Verdict, Workspace};

/// A policy in another system's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// The format.
    pub format: Format,
    /// The file.
    pub text: String,
    /// What the format cannot say, and what stands instead.
    pub losses: Vec<String>,
}

/// A policy that a format cannot say without being looser.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this policy cannot be written as {} without allowing more: {why}", format.name())]
pub struct Unsayable {
    /// The format.
    pub format: Format,
    /// Why.
    pub why: String,
}

/// What is to be written.
#[derive(Debug)]
struct Said {
    /// For everything that is not named: Ask or Deny.
    rest: Verdict,
    /// Commands that are allowed, exactly as they stand.
    commands: Vec<String>,
    /// Patterns of `run` that are denied.
    denied: Vec<String>,
    /// Tools that are denied.
    denied_tools: Vec<String>,
}

/// Most commands that are written.
const MOST: usize = 60;

/// Writes these files, of which `policy` is made, in a format's words.
///
/// # Errors
/// If the format cannot say them without being looser.
pub fn export(format: Format, policy: &Policy, files: &[PolicyText]) -> Result<Exported, Unsayable> {
    let mut native = Native::read(files);
    let mut losses = Vec::new();
    let mut commands = Vec::new();
    if native.conditions.is_empty() {
        for command in native.commands.iter().filter(|command| allowed(policy, command)).take(MOST) {
            commands.push(command.clone());
        }
        if native.pipes && !in_one_pipe(policy, &commands) {
            let mut kept = Vec::new();
            for command in std::mem::take(&mut commands) {
                kept.push(command);
                if !in_one_pipe(policy, &kept) {
                    kept.pop();
                }
            }
            commands = kept;
        }
    } else {
        losses.push(format!("nothing is allowed: {} depend on more than a call's text", native.conditions.join(", ")));
    }
    let rest = if native.unsaid.is_empty() && native.conditions.is_empty() { Verdict::Ask } else { Verdict::Deny };
    if !native.unsaid.is_empty() {
        native.unsaid.truncate(8);
        losses.push(format!(
            "what is not named is denied, because these denies cannot be expressed: {}",
            native.unsaid.join(", ")
        ));
    }
    losses.push(
        "an allow is written for the exact command alone: with other arguments Sayso judges what they do".to_owned(),
    );
    losses.push("what is asked about by name is asked about, or denied, with everything else".to_owned());
    let said = Said { rest, commands, denied: native.denied, denied_tools: native.denied_tools };
    let text = write::write(format, &said, &mut losses).map_err(|why| Unsayable { format, why })?;
    Ok(Exported { format, text, losses })
}

/// Whether the policy allows a command, in an empty workspace.
fn allowed(policy: &Policy, command: &str) -> bool {
    let mut files = MemoryFiles::new();
    files.folder("/workspace");
    let facts = Facts { files: &files, env: &NoEnvironment };
    let mut call = ToolCall::command(command);
    call.cwd = Some("/workspace".into());
    call.workspace = Workspace::new("/workspace", None);
    let operation = Operation::new(call, facts);
    policy.evaluate(&operation, &State::default(), facts).answer == Answer::Allow
}

/// Whether these commands are allowed in one pipe, each before and behind each other.
fn in_one_pipe(policy: &Policy, commands: &[String]) -> bool {
    let twice: Vec<&str> = commands.iter().chain(commands).map(String::as_str).collect();
    twice.is_empty() || allowed(policy, &twice.join(" | "))
}
