//! Stage 10: what is left of the opinions becomes the decision. An Ask goes to its addressees
//! ([`Decision::addressees`]), what becomes of it where nobody can answer says `unanswered`, and a rehearsal answers a stub.

use super::opinions::{Opinions, Rehearsal};
use super::{Inputs, built_in};
use crate::word::{Answer, Code, Decision, EffectOpinions, Holding, Layer, Operation, Opinion, Reason, Stage, Verdict};
use sayso_shell::Target;

/// The decision that these opinions make.
pub(crate) fn judge(inputs: &Inputs<'_, '_>, mut said: Opinions) -> Decision {
    let (policy, operation) = (inputs.policy, inputs.judging.operation);
    // A foreign file alone answers as its own system does, which looks at no files.
    if inputs.judging.tree().ran_out() && (!policy.files.is_empty() || policy.integrity) {
        // INVARIANT: what was not looked at to the end allows nothing, whatever was found so far.
        let text =
            "There are more files here than Sayso examines for one call, so it cannot tell what this call affects.";
        said.call.push(built_in(Stage::Default, Verdict::Ask, Code::TooManyFiles, text));
    }
    keep_words_to_themselves(operation, &mut said);
    let effects = settled(inputs, said.call, said.effects.into_iter().map(|effect| effect.opinions));
    let verdict = effects.iter().map(|effect| effect.verdict).max().unwrap_or(Verdict::Ask);
    let answer = match said.rehearsal {
        Rehearsal::DryRun if !denied_by_integrity(&effects) => Answer::DryRun,
        Rehearsal::OfForeignFile if verdict != Verdict::Deny => Answer::DryRun,
        _ => verdict.into(),
    };
    let unanswered = match policy.files.is_empty() {
        true => said.unanswered,
        false => policy.unanswered().max(said.unanswered),
    };
    // INVARIANT: a file that lets unanswered calls pass speaks of its own questions, not of a tool that changed.
    let about_rules = |then: &Verdict| inputs.state.findings.is_empty() || *then != Verdict::Allow;
    let unanswered = unanswered.filter(about_rules);
    Decision {
        verdict,
        answer,
        would: None,
        unanswered,
        hold: said.hold.filter(|hold| answer == verdict.into() && stands(*hold, verdict)),
        reasons: reasons(&effects, verdict),
        effects,
        policy_version: policy.version.clone(),
        deeds: None,
        risk: None,
    }
}

/// What is said of an effect that a file names must not quote the file. What a rule says is its owner's own text.
fn keep_words_to_themselves(operation: &Operation, said: &mut Opinions) {
    for index in operation.provenance.effects() {
        let opinions = said.effects.get_mut(index).map(|effect| effect.opinions.as_mut_slice()).unwrap_or_default();
        opinions.iter_mut().filter(|opinion| opinion.reason.layer == Layer::BuiltIn).for_each(without_words);
    }
}

/// Leaves of a reason what its code means, whatever the call.
pub(crate) fn without_words(opinion: &mut Opinion) {
    let known = opinion.reason.code.built_in().map(Code::title);
    known.unwrap_or("A file that this command follows decides this.").clone_into(&mut opinion.reason.text);
}

fn settled(
    inputs: &Inputs<'_, '_>,
    call: Vec<Opinion>,
    of_effects: impl Iterator<Item = Vec<Opinion>>,
) -> Vec<EffectOpinions> {
    let operation = inputs.judging.operation;
    let mut effects: Vec<EffectOpinions> = Vec::with_capacity(operation.effects.len() + 1);
    if !call.is_empty() {
        effects.push(settle(None, call));
    }
    for (index, opinions) in of_effects.enumerate() {
        effects.push(settle(Some(index), opinions));
    }
    if operation.analysis.as_ref().is_some_and(|analysis| analysis.opaque)
        && !operation.effects.iter().any(|effect| matches!(effect.target, Target::Anything))
        && !inputs.files.is_empty()
    {
        // INVARIANT: whatever the table of effects says, an opaque command is at least asked about.
        effects.push(settle(None, vec![built_in(Stage::Default, Verdict::Ask, Code::Opaque, Code::Opaque.title())]));
    }
    effects
}

/// Whether what was said of holding the run fits the verdict.
///
/// INVARIANT: an Allow that needs a hold is told as one, and nothing else is.
fn stands(hold: Holding, verdict: Verdict) -> bool {
    match hold {
        Holding::Required(_) => verdict == Verdict::Allow,
        Holding::WouldAllow(_) => verdict == Verdict::Ask,
        Holding::Wanted(_) => verdict != Verdict::Deny,
    }
}

/// Whether an opinion answers the Asks beside it.
fn answers(opinion: &Opinion) -> bool {
    matches!(opinion.stage, Stage::Grants | Stage::Hold)
}

/// The strictest opinion, but for Asks that a grant or a hold answers.
pub(crate) fn settle(effect: Option<usize>, opinions: Vec<Opinion>) -> EffectOpinions {
    let granted = opinions.iter().any(answers);
    let counts = |opinion: &Opinion| !(granted && opinion.verdict == Verdict::Ask);
    let verdict = opinions.iter().filter(|o| counts(o)).map(|o| o.verdict).max().unwrap_or(Verdict::Allow);
    let decisive = opinions.iter().position(|opinion| {
        opinion.verdict == verdict && counts(opinion) && (!granted || answers(opinion) || verdict == Verdict::Deny)
    });
    EffectOpinions { effect, verdict, opinions, decisive }
}

fn denied_by_integrity(effects: &[EffectOpinions]) -> bool {
    let mut opinions = effects.iter().flat_map(|effect| &effect.opinions);
    opinions.any(|opinion| opinion.stage == Stage::Integrity && opinion.verdict == Verdict::Deny)
}

/// Why, the decisive reasons first, each once.
pub(crate) fn reasons(effects: &[EffectOpinions], verdict: Verdict) -> Vec<Reason> {
    let mut found: Vec<Reason> = Vec::new();
    for effect in effects.iter().filter(|effect| effect.verdict == verdict) {
        for opinion in effect.opinions.iter().filter(|opinion| opinion.verdict == verdict) {
            let known =
                found.iter().any(|reason| reason.code == opinion.reason.code && reason.source == opinion.reason.source);
            if !known {
                found.push(opinion.reason.clone());
            }
        }
    }
    found
}
