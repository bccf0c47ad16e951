//! Proof of an Allow.

use crate::Asking;
use sayso_policy::{Answer, Decision, Operation, Request};
use serde_json::Value;
use std::os::unix::ffi::OsStrExt;

/// Proof that one operation may run. Only the gate can make one, and it is used once: whoever forwards a call, runs it, or
/// tells its caller to, does that in [`Permit::spend`]. So every place where a call goes on is found by that name.
#[must_use = "an Allow that is not used is a call that does not run"]
#[derive(Debug)]
pub struct Permit {
    digest: String,
}

/// A call that runs if a person says yes at the caller's own prompt.
#[must_use = "a prompt that nobody answers is a call that does not run"]
#[derive(Debug)]
pub struct Prompt {
    digest: String,
}

impl Permit {
    /// INVARIANT: the only way to a permit without a person, and it needs a decision whose answer is Allow.
    pub(crate) fn of(digest: Option<&str>, decision: &Decision) -> Option<Self> {
        let digest = digest.filter(|_| decision.answer == Answer::Allow)?;
        Some(Self { digest: digest.to_owned() })
    }

    /// The digest of the operation it is for.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Lets the call go on.
    pub fn spend<T>(self, go_on: impl FnOnce() -> T) -> T {
        drop(self);
        go_on()
    }

    /// Gives it up until a person has said yes as well: the way in has a question of its own.
    pub fn once_asked(self) -> Prompt {
        Prompt { digest: self.digest }
    }
}

impl Prompt {
    /// INVARIANT: the caller shows a prompt for an Ask, and this is one.
    pub(crate) fn of(digest: Option<&str>, decision: &Decision, asking: Asking) -> Option<Self> {
        let digest = digest.filter(|_| decision.answer == Answer::Ask && asking.has_own_prompt())?;
        Some(Self { digest: digest.to_owned() })
    }

    /// A person said yes at the caller's own prompt. Never for silence, nor for what a person did not see.
    pub fn yes(self) -> Permit {
        Permit { digest: self.digest }
    }
}

/// What an operation is, as a hash: the tool, its arguments, where it runs, the programs its names resolve to, the
/// variables it brings, and the policy that judged it. Every part goes in with its length, so that no two operations read alike.
#[must_use]
pub fn digest(operation: &Operation, policy: &str) -> String {
    hashed(operation, policy, &operation.request)
}

/// The same as a step of a plan: a command that a tool is given is the command, whatever the tool is told beside it that
/// changes nothing.
pub(crate) fn step_digest(operation: &Operation) -> String {
    /// Arguments of an agent's shell tool that say nothing of what runs.
    const IDLE: [&str; 4] = ["description", "explanation", "timeout", "timeout_ms"];
    let command = sayso_policy::explain::effect::command_text(operation);
    let only_command = |arguments: &Value| {
        let idle = |(key, value): (&String, &Value)| {
            key == "command" && value.is_string()
                || IDLE.contains(&key.as_str()) && !value.is_object() && !value.is_array()
        };
        arguments.as_object().is_some_and(|all| all.iter().all(idle))
    };
    let plain = !operation.tool.mcp && !operation.tool.disguised;
    let request = match (&operation.request, command) {
        (Request::Tool { arguments, server: None, .. }, Some(text)) if plain && only_command(arguments) => {
            Request::Command(text.to_vec())
        }
        (request, _) => request.clone(),
    };
    hashed(operation, "", &request)
}

fn hashed(operation: &Operation, policy: &str, request: &Request) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut part = |bytes: &[u8]| {
        hasher.update(&u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_le_bytes());
        hasher.update(bytes);
    };
    part(policy.as_bytes());
    part(operation.tool.canonical.as_bytes());
    match request {
        Request::Command(bytes) => {
            part(b"command");
            part(bytes);
        }
        Request::Tool { name, arguments, server } => {
            part(b"tool");
            part(name.as_bytes());
            part(arguments.to_string().as_bytes());
            part(server.as_deref().unwrap_or_default().as_bytes());
        }
    }
    for path in [operation.cwd.as_deref(), operation.workspace.root(), operation.home.as_deref()] {
        part(path.map(|p| p.as_os_str().as_bytes()).unwrap_or_default());
    }
    for run in operation.analysis.iter().flat_map(|a| &a.runs) {
        part(run.program.path.as_ref().map(|p| p.as_os_str().as_bytes()).unwrap_or_default());
    }
    if !operation.claimed_homes.is_empty() {
        part(b"homes");
        operation.claimed_homes.iter().for_each(|home| part(home.as_os_str().as_bytes()));
    }
    if !operation.env.is_empty() {
        // No path of a program reads like this.
        part(b"env");
        for (name, value) in &operation.env {
            part(name.as_bytes());
            part(value.as_bytes());
        }
    }
    hasher.finalize().to_hex().to_string()
}
