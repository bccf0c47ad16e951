//! A decision as data for machines and the page: the opinion of every stage on every effect.

use super::effect;
use super::nearest::Change;
use crate::word::{Decision, Operation};
use serde_json::{Value, json};

/// Verdict, reasons, effects with their opinions, and the changes that would weaken it.
#[must_use]
pub fn trace(operation: &Operation, decision: &Decision, changes: &[Change]) -> Value {
    let effects: Vec<Value> = decision.effects.iter().map(|opinions| effect_value(operation, opinions)).collect();
    let doubts: Vec<Value> = operation
        .analysis
        .iter()
        .flat_map(|analysis| &analysis.doubts)
        .map(|doubt| json!({"code": doubt.code, "text": doubt.text, "span": [doubt.span.start, doubt.span.end]}))
        .collect();
    json!({
        "verdict": decision.answer.as_str(),
        "would_be": decision.verdict.as_str(),
        "reasons": decision.reasons,
        "tool": operation.tool.canonical,
        "opaque": operation.analysis.as_ref().is_some_and(|analysis| analysis.opaque),
        "effects": effects,
        "doubts": doubts,
        "nearest": changes.iter().map(change_value).collect::<Vec<_>>(),
        "policy_version": decision.policy_version,
    })
}

fn effect_value(operation: &Operation, opinions: &crate::word::EffectOpinions) -> Value {
    let effect = opinions.effect.and_then(|index| operation.effects.get(index));
    let said: Vec<Value> = opinions
        .opinions
        .iter()
        .enumerate()
        .map(|(index, opinion)| {
            json!({
                "stage": opinion.stage,
                "verdict": opinion.verdict.as_str(),
                "maybe": opinion.maybe,
                "decisive": opinions.decisive == Some(index),
                "reason": opinion.reason,
            })
        })
        .collect();
    json!({
        "verb": effect.map(effect::verb),
        "target": effect.map(|it| effect::target(operation, it)),
        "span": effect.map(|it| [it.span.start, it.span.end]),
        "certain": effect.is_none_or(|it| it.certain),
        "verdict": opinions.verdict.as_str(),
        "opinions": said,
    })
}

fn change_value(change: &Change) -> Value {
    json!({
        "without": change.text,
        "span": [change.span.start, change.span.end],
        "verdict": change.verdict.as_str(),
        "reason": change.reason,
    })
}
