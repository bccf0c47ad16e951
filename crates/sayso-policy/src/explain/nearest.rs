//! The nearest changes that would weaken a verdict: each flag, redirect, assignment and operand is taken away once,
//! and the rest is judged again.

use super::effect::{bytes_of, command_text};
use super::pieces::{Kind, Piece, pieces};
use super::visible::visible_bytes;
use crate::word::{Answer, Decision, Facts, Operation, Reason, Request, ToolCall, Verdict};
use crate::{Policy, State};
use sayso_shell::Span;

/// How many pieces are tried at most: a command of thousands of words must not cost thousands of decisions.
const MOST_TRIES: usize = 48;

/// A change that weakens the verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// What is taken away.
    pub kind: Kind,
    /// Its text, safe to show.
    pub text: String,
    /// Where it stands in the command.
    pub span: Span,
    /// What would be said then.
    pub verdict: Verdict,
    /// Why, if that is no Allow.
    pub reason: Option<Reason>,
}

/// Every single change that weakens the verdict, the one that weakens it most first.
///
/// Judges the changed commands with the same facts and state; nothing is recorded or consumed.
#[must_use]
pub fn nearest(
    policy: &Policy,
    operation: &Operation,
    decision: &Decision,
    state: &State,
    facts: Facts<'_>,
) -> Vec<Change> {
    if decision.verdict == Verdict::Allow || decision.answer == Answer::DryRun {
        return Vec::new();
    }
    let (Some(text), Some(analysis)) = (command_text(operation), &operation.analysis) else {
        return Vec::new();
    };
    // The kind that an agent reported is not part of the operation: where it tightened, nothing here is comparable.
    let again = policy.evaluate(&policy.operation(with_text(operation, text.to_vec()), facts), state, facts);
    if again.verdict != decision.verdict {
        return Vec::new();
    }
    let mut changes: Vec<Change> = pieces(text, analysis)
        .into_iter()
        .take(MOST_TRIES)
        .filter_map(|piece| {
            let without = take_away(text, &piece)?;
            let weaker = policy.evaluate(&policy.operation(with_text(operation, without), facts), state, facts);
            (weaker.verdict < decision.verdict).then(|| Change {
                kind: piece.kind,
                text: shown(text, &piece),
                span: piece.span,
                verdict: weaker.verdict,
                reason: weaker.reasons.into_iter().next().filter(|_| weaker.verdict != Verdict::Allow),
            })
        })
        .collect();
    // Stable: of equals the leftmost comes first, flags before operands.
    changes.sort_by_key(|change| (change.verdict, change.kind));
    changes
}

/// The command without one piece, and without the blank before it.
fn take_away(text: &[u8], piece: &Piece) -> Option<Vec<u8>> {
    let range = bytes_of(piece.span);
    let (mut before, after) = (text.get(..range.start)?, text.get(range.end..)?);
    if let Some(shorter) = before.strip_suffix(b" ").filter(|_| after.is_empty() || after.starts_with(b" ")) {
        before = shorter;
    }
    Some([before, after].concat())
}

/// A letter of a cluster is shown as a flag.
fn shown(text: &[u8], piece: &Piece) -> String {
    let range = bytes_of(piece.span);
    let piece_text = text.get(range).map(visible_bytes).unwrap_or_default();
    if piece.kind == Kind::Flag && !piece_text.starts_with('-') { format!("-{piece_text}") } else { piece_text }
}

fn with_text(operation: &Operation, text: Vec<u8>) -> ToolCall {
    let request = match &operation.request {
        Request::Command(_) => Request::Command(text),
        Request::Tool { name, arguments, server } => {
            let mut arguments = arguments.clone();
            for key in ["command", "cmd", "script"] {
                if let Some(value) = arguments.get_mut(key).filter(|value| value.is_string()) {
                    *value = serde_json::Value::String(String::from_utf8_lossy(&text).into_owned());
                    break;
                }
            }
            Request::Tool { name: name.clone(), arguments, server: server.clone() }
        }
    };
    ToolCall {
        request,
        actor: operation.actor.clone(),
        cwd: operation.cwd.clone(),
        workspace: operation.workspace.clone(),
        home: operation.home.clone(),
        reported_kind: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without(text: &str, start: u32, end: u32) -> String {
        let piece = Piece { span: Span { start, end }, kind: Kind::Flag };
        String::from_utf8(take_away(text.as_bytes(), &piece).unwrap()).unwrap()
    }

    #[test]
    fn a_piece_goes_with_the_blank_before_it() {
        assert_eq!(without("git push --force origin", 9, 16), "git push origin");
        assert_eq!(without("git push --force", 9, 16), "git push");
        assert_eq!(without("A=1 git", 0, 3), " git");
        assert_eq!(without("rm -rf x", 4, 5), "rm -f x");
        assert_eq!(without("echo a>b;c", 6, 8), "echo a;c");
    }

    #[test]
    fn a_span_beyond_the_text_takes_nothing_away() {
        let piece = Piece { span: Span { start: 3, end: 99 }, kind: Kind::Operand };
        assert_eq!(take_away(b"abc", &piece), None);
    }
}
