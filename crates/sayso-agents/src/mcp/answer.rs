//! What the model is told where the server is not.

use crate::pipe::{error_line, result_line};
use sayso_gate::reason;
use sayso_policy::explain::visible;
use sayso_policy::{Answer, Decision, Reason};
use serde_json::json;

/// How much of the reasons is told.
const LONGEST: usize = 2_000;

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
    let head = match decision.answer {
        Answer::DryRun => format!("Sayso, dry run: nothing was run; it would have been: {}.", decision.verdict),
        _ => "Sayso: deny.".to_owned(),
    };
    let nobody = decision.reasons.first().is_some_and(|first| first.code == reason::UNANSWERED);
    let next = match decision.answer {
        Answer::DryRun => "Go on as if it had been done.",
        _ if nobody => {
            "Tell the user what you need and why: they can allow it in their policy; then try the same call again."
        }
        _ => "Do not try it again in another form: reach the goal another way, or tell the user what you need and why.",
    };
    told(&head, &decision.reasons, next)
}

/// The same for reasons of the gateway's own.
pub(crate) fn refused(reasons: &[Reason], next: &str) -> String {
    told("Sayso: deny.", reasons, next)
}

fn told(head: &str, reasons: &[Reason], next: &str) -> String {
    let mut parts = vec![head.to_owned()];
    parts.extend(reasons.iter().take(3).map(sentence));
    let told: String = parts.join(" ").chars().take(LONGEST).collect();
    format!("{told} {next}")
}

/// A reason as one sentence: what, the code, and the place of the rule.
pub(crate) fn sentence(reason: &Reason) -> String {
    let place = reason.source.as_ref().map(|source| format!(", {source}")).unwrap_or_default();
    let text: Vec<_> = reason.text.lines().map(visible).collect();
    format!("{} [{}{}]", text.join("\n"), reason.code, visible(&place))
}
