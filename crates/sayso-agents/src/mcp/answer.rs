//! What the model is told where the server is not.

use crate::pipe::{error_line, result_line};
use crate::told;
use sayso_policy::{Answer, Decision, Reason, Verdict};
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
    told::why_and_next(answer, decision.verdict, &decision.reasons, told::lines)
}

/// The same for reasons of the gateway's own.
pub(crate) fn refused(reasons: &[Reason], next: &str) -> String {
    let why = told::why(Answer::Deny, Verdict::Deny, reasons, told::lines);
    format!("{why} {next}")
}
