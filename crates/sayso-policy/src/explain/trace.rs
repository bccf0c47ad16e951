//! A decision as data for machines and the page: the opinion of every stage on every effect.

use super::effect;
use super::nearest::Change;
use crate::shell::Span;
use crate::word::{Actor, Answer, Decision, EffectOpinions, Holding, Operation, Reason, Stage, Verdict};
use serde::Serialize;

/// What is said of a call, and why.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Trace {
    /// What the caller is told.
    pub verdict: Answer,
    /// What the policy says; differs from `verdict` in dry-run and shadow.
    pub would_be: Verdict,
    /// The mode that decides: `enforce`, `halt`, `dry-run`, `shadow` or `off`.
    pub mode: &'static str,
    /// The mode in force on this machine that was looked past, because policies were named to judge by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub looks_past: Option<&'static str>,
    /// The hold under which this is, or would be, allowed: `whole` or `files`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held: Option<&'static str>,
    /// What is said of holding the run: `required-whole`, `wanted-whole`, `would-allow-whole`, or the same with `files`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub hold: Option<Holding>,
    /// Why, the decisive reason first.
    pub reasons: Vec<Reason>,
    /// Who asked, with what the owner states of calls on this machine; absent: nothing is known of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor: Option<Actor>,
    /// The tool, canonical.
    pub tool: String,
    /// There may be more to it than could be seen.
    pub opaque: bool,
    /// What the call would do, and what was said of it.
    pub effects: Vec<TracedEffect>,
    /// What the analysis is not sure of.
    pub doubts: Vec<TracedDoubt>,
    /// Small changes that would weaken the verdict, the one that weakens it most first.
    pub nearest: Vec<TracedChange>,
    /// How much could go wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk: Option<crate::risk::Risk>,
    /// Which policy.
    pub policy_version: String,
}

/// An effect, and every opinion on it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TracedEffect {
    /// What is done: `run`, `read`, `write`, `delete`, `connect`, `call`; `null`: the call as a whole.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub verb: Option<&'static str>,
    /// To what, for people.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub target: Option<String>,
    /// Where it stands in the command: from which byte to which.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub span: Option<[u32; 2]>,
    /// It will happen, and not only perhaps.
    pub certain: bool,
    /// The strictest opinion.
    pub verdict: Verdict,
    /// The opinions, in order of the stages.
    pub opinions: Vec<TracedOpinion>,
}

/// What one stage says of one effect.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TracedOpinion {
    /// Who speaks.
    pub stage: Stage,
    /// What it says.
    pub verdict: Verdict,
    /// Only perhaps: something about the call is not known.
    pub maybe: bool,
    /// It decided.
    pub decisive: bool,
    /// Why.
    pub reason: Reason,
}

/// Something that the analysis is not sure of.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TracedDoubt {
    /// Stable, kebab-case.
    pub code: &'static str,
    /// A sentence, about this case.
    pub text: String,
    /// Where it stands in the command: from which byte to which.
    pub span: [u32; 2],
}

/// A change that would weaken the verdict.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TracedChange {
    /// What is taken away.
    pub without: String,
    /// Where it stands in the command: from which byte to which.
    pub span: [u32; 2],
    /// What would be said then.
    pub verdict: Verdict,
    /// Why, if that is no Allow.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub reason: Option<Reason>,
}

/// Verdict, reasons, effects with their opinions, and the changes that would weaken it.
#[must_use]
pub fn trace(operation: &Operation, decision: &Decision, changes: &[Change], mode: &'static str) -> Trace {
    let doubts = operation.analysis.iter().flat_map(|analysis| &analysis.doubts);
    Trace {
        verdict: decision.answer,
        would_be: decision.verdict,
        mode,
        looks_past: None,
        held: decision.hold.and_then(Holding::decides),
        hold: decision.hold,
        reasons: decision.reasons.clone(),
        actor: Some(&operation.actor).filter(|actor| actor.is_known()).cloned(),
        tool: operation.tool.canonical.clone(),
        opaque: operation.analysis.as_ref().is_some_and(|analysis| analysis.opaque),
        effects: decision.effects.iter().map(|opinions| effect_of(operation, opinions)).collect(),
        doubts: doubts
            .map(|doubt| TracedDoubt { code: doubt.code.as_str(), text: doubt.text.clone(), span: ends(doubt.span) })
            .collect(),
        nearest: changes.iter().map(change_of).collect(),
        risk: decision.risk.clone(),
        policy_version: decision.policy_version.clone(),
    }
}

fn effect_of(operation: &Operation, opinions: &EffectOpinions) -> TracedEffect {
    let effect = opinions.effect.and_then(|index| operation.effects.get(index));
    let said = opinions.opinions.iter().enumerate().map(|(index, opinion)| TracedOpinion {
        stage: opinion.stage,
        verdict: opinion.verdict,
        maybe: opinion.maybe,
        decisive: opinions.decisive == Some(index),
        reason: opinion.reason.clone(),
    });
    TracedEffect {
        verb: effect.map(effect::verb),
        target: effect.map(|it| effect::target(operation, it)),
        span: effect.map(|it| ends(it.span)),
        certain: effect.is_none_or(|it| it.certain),
        verdict: opinions.verdict,
        opinions: said.collect(),
    }
}

fn change_of(change: &Change) -> TracedChange {
    TracedChange {
        without: change.text.clone(),
        span: ends(change.span),
        verdict: change.verdict,
        reason: change.reason.clone(),
    }
}

fn ends(span: Span) -> [u32; 2] {
    [span.start, span.end]
}
