//! Claude Code's words. Measured on 2.1.325.
//!
//! `PreToolUse` is asked before every call, `PermissionRequest` where Claude Code would ask a person, also headless.
//! An Ask waits in the queue where an approver is connected; else it goes to Claude Code's own prompt, which without a
//! person is a denial, with our reason as its text. That prompt is what `PermissionRequest` fires for: there silence
//! leaves it to the person, so that nobody is asked twice for one call.
//!
//! The workspace is fixed when the session starts: the folder that Claude Code names in `CLAUDE_PROJECT_DIR`, if the
//! working directory is in it, else the working directory. The variable is set by Claude Code itself for its hooks;
//! later events, whatever their `cwd`, do not move the workspace.

use super::shape;
use crate::dialect::{Dialect, Person};
use crate::event::{Event, HookCall, Occasion};
use crate::hold::HeldInput;
use crate::hook_answer::Word;
use crate::{Agent, HookOutput};
use sayso_policy::explain::visible;
use serde_json::{Map, Value, json};

/// Tools that are themselves a question to a person. An allow here would answer in that person's place.
const QUESTIONS: &[&str] = &["AskUserQuestion", "ExitPlanMode"];

pub(super) struct ClaudeCode;

impl Dialect for ClaudeCode {
    fn agent(&self) -> Agent {
        Agent::CLAUDE_CODE
    }

    fn project_variable(&self) -> Option<&'static str> {
        Some("CLAUDE_PROJECT_DIR")
    }

    /// Claude Code itself runs a hook once and says so by a variable; other agents that read its settings do not.
    fn told_twice(&self) -> bool {
        std::env::var_os("CLAUDECODE").is_none()
    }

    fn read(&self, object: &Map<String, Value>) -> Result<Event, String> {
        shape::read(object).map(|event| event.of_provider("anthropic"))
    }

    fn person(&self, _: &Event) -> Person {
        Person::InQueueOrAtPrompt
    }

    fn rewrites(&self, event: &Event, call: &HookCall) -> bool {
        matches!(event.occasion, Occasion::BeforeTool(_)) && call.tool == "Bash"
    }

    fn say(&self, event: &Event, word: Word, why: &str) -> HookOutput {
        let is_question = event.call().is_some_and(|call| QUESTIONS.contains(&call.tool.as_str()));
        match (word, &event.occasion) {
            (Word::Allow(_), _) if is_question => HookOutput::silent(),
            (Word::Ask, Occasion::Permission(_)) => HookOutput::silent(),
            (word, Occasion::Permission(_)) => permission(word, why),
            (word, _) => before_tool(word, why),
        }
    }

    fn settings_changed(&self, _: &Event, what: &str) -> HookOutput {
        let what = visible(what);
        HookOutput::object(&json!({"systemMessage": format!(
            "Sayso: settings changed while this session runs ({what}). It is on record. If that was not you, look at \
             them: `sayso doctor` tells whether the guard is still in force."
        )}))
    }
}

/// The answer to `PreToolUse`.
pub(in crate::agent) fn before_tool(word: Word, why: &str) -> HookOutput {
    let decision = match word {
        Word::Allow(permit) => permit.spend(|| "allow"),
        Word::Held(input) => return held(input, Some(why)),
        Word::Ask => "ask",
        Word::Deny => "deny",
    };
    HookOutput::object(&json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": decision,
        "permissionDecisionReason": why,
    }}))
}

/// The answer to `PreToolUse` that replaces the input, whole.
pub(in crate::agent) fn held(input: HeldInput, why: Option<&str>) -> HookOutput {
    let mut answer = json!({
        "hookEventName": "PreToolUse",
        "permissionDecision": "allow",
        "updatedInput": input.into_input(),
    });
    if let (Some(why), Some(answer)) = (why, answer.as_object_mut()) {
        answer.insert("permissionDecisionReason".to_owned(), why.into());
    }
    HookOutput::object(&json!({"hookSpecificOutput": answer}))
}

/// The answer to `PermissionRequest`, which knows no Ask.
pub(in crate::agent) fn permission(word: Word, why: &str) -> HookOutput {
    let decision = match word {
        Word::Allow(permit) => permit.spend(|| json!({"behavior": "allow"})),
        // Nothing is rewritten here.
        Word::Held(_) | Word::Ask | Word::Deny => json!({"behavior": "deny", "message": why}),
    };
    HookOutput::object(&json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}))
}
