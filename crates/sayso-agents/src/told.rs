//! What an agent is told of a call: the answer, why, and what to do next. The same words, whichever way the call came.

use sayso_gate::reason;
use sayso_policy::explain::visible;
use sayso_policy::{Answer, Reason, Verdict};

/// How much of the answer and its reasons is told.
const LONGEST: usize = 2_000;
/// How many reasons are told.
const MOST: usize = 3;

/// The answer and why, each reason written by `sentence`.
pub(crate) fn why(answer: Answer, verdict: Verdict, reasons: &[Reason], sentence: fn(&Reason) -> String) -> String {
    let head = match answer {
        Answer::DryRun => format!("Sayso (dry run): nothing ran; the decision would have been {verdict}."),
        answer => format!("Sayso: {}.", answer.as_str()),
    };
    let parts: Vec<String> = std::iter::once(head).chain(reasons.iter().take(MOST).map(sentence)).collect();
    parts.join(" ").chars().take(LONGEST).collect()
}

/// The same, and what to do next. That is kept whole: reasons may hold much of the agent's own text.
pub(crate) fn why_and_next(
    answer: Answer,
    verdict: Verdict,
    reasons: &[Reason],
    sentence: fn(&Reason) -> String,
) -> String {
    let why = why(answer, verdict, reasons, sentence);
    match next(answer, reasons) {
        "" => why,
        next => format!("{why} {next}"),
    }
}

fn next(answer: Answer, reasons: &[Reason]) -> &'static str {
    let nobody = reasons.first().is_some_and(|first| first.code == reason::UNANSWERED);
    match answer {
        Answer::Deny if nobody => {
            "Tell the user what you need and why. They can answer with `sayso approvals`, or allow it in their \
             policy; then try the same call again."
        }
        Answer::Deny => "Do not retry it in another form. Find another way, or tell the user what you need and why.",
        Answer::Ask => "This needs a person's approval.",
        Answer::Allow => "",
        Answer::DryRun => "Continue as if it had been done.",
    }
}

/// A reason as one line: what, the code, and the place of the rule. Nothing in it moves a cursor.
pub(crate) fn line(reason: &Reason) -> String {
    visible(&format!("{} {}", reason.text, code_and_place(reason))).into_owned()
}

/// The same where lines of its text may stay lines.
pub(crate) fn lines(reason: &Reason) -> String {
    let text: Vec<_> = reason.text.lines().map(visible).collect();
    format!("{} {}", text.join("\n"), visible(&code_and_place(reason)))
}

fn code_and_place(reason: &Reason) -> String {
    let place = reason.source.as_ref().map(|source| format!(", {source}")).unwrap_or_default();
    format!("[{}{place}]", reason.code)
}
