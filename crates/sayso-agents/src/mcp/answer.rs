//! What the model is told where the server is not.

use crate::pipe::{error_line, result_line};
use crate::told;
use sayso_policy::{Answer, Code, Decision, Reason, Verdict};
use serde_json::json;

/// A tool error: the model reads it and can act on it, unlike an error of the protocol.
pub(crate) fn tool_error(id: &[u8], text: &str) -> Vec<u8> {
    result_line(id, &json!({"content": [{"type": "text", "text": text}], "isError": true}))
}

/// A request that cannot be taken as one.
pub(crate) fn malformed(id: Option<&[u8]>, why: &str) -> Vec<u8> {
    error_line(id, -32602, &format!("Sayso: {why} [call-malformed]"), None)
}

/// Why a call does not run, and what to do next.
pub(crate) fn denied(decision: &Decision) -> String {
    // An Ask that nobody here can be asked is none.
    let answer = if decision.answer == Answer::DryRun { Answer::DryRun } else { Answer::Deny };
    match next(decision).filter(|_| answer == Answer::Deny) {
        Some(next) => refused(&decision.reasons, next),
        None => told::why_and_next(answer, decision.verdict, &decision.reasons, told::lines),
    }
}

/// What helps where something was found of the tool itself. Where a rule denies the call too, nothing does.
fn next(decision: &Decision) -> Option<&'static str> {
    let strictest = decision.effects.iter().map(|effect| effect.verdict).max()?;
    let effects = decision.effects.iter().filter(|effect| effect.verdict == strictest);
    let deciding: Vec<_> = effects.flat_map(|effect| &effect.opinions).filter(|it| it.verdict == strictest).collect();
    let found = deciding.iter().find(|opinion| opinion.is_finding())?;
    match strictest {
        Verdict::Ask => Some(
            "A person must look at this tool first: `sayso mcp pins show` shows it, `sayso mcp pins accept` accepts it. \
             Tell the user, and go on without it.",
        ),
        Verdict::Deny if deciding.iter().all(|opinion| opinion.is_finding()) => match found.reason.code.built_in() {
            Some(Code::McpArguments) => Some("Put them right and call it again."),
            _ => Some("Use a tool of its list."),
        },
        _ => None,
    }
}

/// The same for reasons of the gateway's own.
pub(crate) fn refused(reasons: &[Reason], next: &str) -> String {
    let why = told::why(Answer::Deny, Verdict::Deny, reasons, told::lines);
    format!("{why} {next}")
}
