//! Policy and operation to decision: every stage gives an opinion on every effect, the strictest wins. The stages have a
//! file each in `stage/`; this is the order in which they speak.

use crate::foreign;
use crate::judging::Judging;
use crate::policy::{CompiledFile, Policy};
use crate::stage::slot::Slot;
use crate::stage::{self, carried, default, essential, grants, integrity, limits, mode, patterns, rules, tools};
use crate::state::State;
use crate::text::Mode;
use crate::word::{
    Answer, Decision, EffectOpinions, Facts, Layer, Operation, Opinion, Reason, Stage, Verdict, code_info,
};
use sayso_shell::Target;

/// Judges an operation.
pub(crate) fn evaluate(policy: &Policy, operation: &Operation, state: &State, facts: Facts<'_>) -> Decision {
    let guards = policy.image.as_ref().map(|image| &image.guards);
    let ground = crate::ground::of(policy, operation, state, guards);
    let judging = Judging::on(ground, operation, facts, guards);
    let mode = |file: &CompiledFile| policy.mode_of(file, state.mode);
    let mut decision = judge(policy, &judging, state, |file| CompiledFile::counts_in(mode(file)));
    if policy.files.iter().any(|file| mode(file) == Mode::Shadow) || state.mode == Some(Mode::Shadow) {
        let enforced = State { mode: None, ..state.clone() };
        decision.would = Some(judge(policy, &judging, &enforced, |_| true).verdict);
    }
    judging.tree().keep();
    decision
}

/// The policy itself cannot be read: nothing runs by what is left of it.
pub(crate) fn unreadable(policy: &Policy) -> Decision {
    let text = "The policy in force cannot be read, so nothing is allowed by it.";
    let opinion = stage::built_in(Stage::Mode, Verdict::Deny, "policy-unreadable", text);
    Decision {
        verdict: Verdict::Deny,
        answer: Answer::Deny,
        would: None,
        unanswered: None,
        reasons: vec![opinion.reason.clone()],
        effects: vec![settle(None, vec![opinion])],
        policy_version: policy.version.clone(),
    }
}

fn judge(policy: &Policy, judging: &Judging<'_>, state: &State, counts: impl Fn(&CompiledFile) -> bool) -> Decision {
    let operation = judging.operation;
    let files: Vec<&CompiledFile> = policy.files.iter().filter(|file| counts(file)).collect();
    let mut call = Vec::new();
    let mut slots: Vec<Slot> = Vec::with_capacity(operation.effects.len());
    for index in 0..operation.effects.len() {
        let opinion = if policy.integrity { integrity::judge(judging, &policy.protected, index) } else { None };
        slots.push(Slot { opinions: opinion.into_iter().collect(), settled: false, carried: None, by_owner: false });
    }
    if policy.integrity {
        call.extend(integrity::judge_call(judging, &policy.protected));
    }
    let dry_run = whole_call(policy, &files, judging, state, &mut call);
    for (index, slot) in slots.iter_mut().enumerate() {
        rules::judge_all(policy, &files, judging, index, slot);
    }
    carried::carry(judging, &mut slots);
    carried::carry_secrets(judging, &mut slots);
    // An operator's switch reaches foreign files too, which have no mode of ours.
    let hears_foreign = !policy.foreign.is_empty() && (policy.pinned || state.mode.is_none_or(CompiledFile::counts_in));
    let silent_allows = (files.is_empty() && !hears_foreign)
        || (files.len() < policy.files.len() && files.iter().all(|file| file.states_no_default()));
    // A foreign file has a default of its own; alone, it needs none of ours.
    if !policy.files.is_empty() || !hears_foreign {
        default::judge(&files, judging, &mut slots, silent_allows);
    }
    let foreign = match hears_foreign {
        true => hear_foreign(policy, judging, state, &mut slots, &mut call),
        false => foreign::Spoken::default(),
    };
    if !state.grants.is_empty() {
        grants::answer(judging, state, &mut slots, &mut call);
    }
    // A foreign file alone answers as its own system does, which looks at no files.
    if judging.tree().ran_out() && (!policy.files.is_empty() || policy.integrity) {
        // INVARIANT: what was not looked at to the end allows nothing, whatever was found so far.
        let text =
            "There are more files here than Sayso looks at for one call, so it cannot tell what this call is about.";
        call.push(stage::built_in(Stage::Default, Verdict::Ask, "too-many-files", text));
    }
    keep_words_to_themselves(operation, &mut slots);
    let mut decision = conclude(policy, operation, slots, call, dry_run, !files.is_empty());
    if foreign.rehearsed && decision.verdict != Verdict::Deny {
        decision.answer = Answer::DryRun;
    }
    decision.unanswered = match policy.files.is_empty() {
        true => foreign.unanswered,
        false => policy.unanswered().max(foreign.unanswered),
    };
    if !state.findings.is_empty() {
        // INVARIANT: a file that lets unanswered calls pass speaks of its own questions, not of a tool that changed.
        decision.unanswered = decision.unanswered.filter(|then| *then != Verdict::Allow);
    }
    decision
}

/// What is said of an effect that a file names must not quote the file. What a rule says is its owner's own text.
fn keep_words_to_themselves(operation: &Operation, slots: &mut [Slot]) {
    for index in operation.provenance.effects() {
        let opinions = slots.get_mut(index).map(|slot| slot.opinions.as_mut_slice()).unwrap_or_default();
        opinions.iter_mut().filter(|opinion| opinion.reason.layer == Layer::BuiltIn).for_each(without_words);
    }
}

/// Leaves of a reason what its code means, whatever the call.
fn without_words(opinion: &mut Opinion) {
    let known = code_info(&opinion.reason.code).map(|info| info.title);
    known.unwrap_or("A file that this command follows says so.").clone_into(&mut opinion.reason.text);
}

/// Foreign files speak of the call, which is the last effect, or of others.
fn hear_foreign(
    policy: &Policy,
    judging: &Judging<'_>,
    state: &State,
    slots: &mut [Slot],
    call: &mut Vec<Opinion>,
) -> foreign::Spoken {
    if policy.foreign.is_empty() {
        return foreign::Spoken::default();
    }
    let mut spoken = foreign::judge(&policy.foreign, judging, state);
    // Another system's words quote what they are about, also where they are about the whole call.
    if !judging.operation.provenance.is_empty() {
        let of_effects = spoken.effects.iter_mut().map(|(_, opinion)| opinion);
        spoken.call.iter_mut().chain(of_effects).for_each(without_words);
    }
    call.append(&mut spoken.call);
    for (effect, opinion) in spoken.effects.drain(..) {
        let index = effect.unwrap_or(slots.len().saturating_sub(1));
        match slots.get_mut(index) {
            Some(slot) => slot.opinions.push(opinion),
            None => call.push(opinion),
        }
    }
    spoken
}

/// Modes, tool layers, parameter patterns and limits speak of the call as a whole. Returns whether this is a
/// rehearsal.
fn whole_call(
    policy: &Policy,
    files: &[&CompiledFile],
    judging: &Judging<'_>,
    state: &State,
    call: &mut Vec<Opinion>,
) -> Option<bool> {
    let operation = judging.operation;
    let mut dry_run = mode::judge_switch(policy, state, call);
    call.extend(tools::found(&state.findings));
    for file in files {
        let essential = essential::is(file, &operation.tool);
        if let Some(first) = mode::judge(policy, file, state, essential, call) {
            dry_run = Some(dry_run.unwrap_or(false) || first);
        }
        let tools = tools::judge(&file.tools, &file.layer, &operation.tool, &operation.actor);
        call.extend(essential::hears_tools(tools, essential));
        patterns::judge(&file.patterns, &file.layer, operation, call);
        let mut limited = Vec::new();
        limits::judge(&file.limits, &file.layer, state, &mut limited);
        call.extend(essential::hears_limits(limited, essential));
    }
    dry_run
}

fn conclude(
    policy: &Policy,
    operation: &Operation,
    slots: Vec<Slot>,
    call: Vec<Opinion>,
    dry_run: Option<bool>,
    own_files: bool,
) -> Decision {
    let mut effects: Vec<EffectOpinions> = Vec::with_capacity(slots.len() + 1);
    if !call.is_empty() {
        effects.push(settle(None, call));
    }
    for (index, slot) in slots.into_iter().enumerate() {
        effects.push(settle(Some(index), slot.opinions));
    }
    if operation.analysis.as_ref().is_some_and(|analysis| analysis.opaque)
        && !operation.effects.iter().any(|effect| matches!(effect.target, Target::Anything))
        && own_files
    {
        // INVARIANT: whatever the table of effects says, an opaque command is at least asked about.
        let opinion = stage::built_in(
            Stage::Default,
            Verdict::Ask,
            "opaque",
            "Not everything that this call would do can be seen.",
        );
        effects.push(settle(None, vec![opinion]));
    }
    let verdict = effects.iter().map(|effect| effect.verdict).max().unwrap_or(Verdict::Ask);
    let integrity = effects
        .iter()
        .flat_map(|effect| &effect.opinions)
        .any(|opinion| opinion.stage == Stage::Integrity && opinion.verdict == Verdict::Deny);
    let answer = match dry_run {
        Some(_) if !integrity => Answer::DryRun,
        _ => verdict.into(),
    };
    Decision {
        verdict,
        answer,
        would: None,
        unanswered: None,
        reasons: reasons(&effects, verdict),
        effects,
        policy_version: policy.version.clone(),
    }
}

/// The strictest opinion, but for Asks that a grant answers.
fn settle(effect: Option<usize>, opinions: Vec<Opinion>) -> EffectOpinions {
    let granted = opinions.iter().any(|opinion| opinion.stage == Stage::Grants);
    let counts = |opinion: &Opinion| !(granted && opinion.verdict == Verdict::Ask);
    let verdict = opinions.iter().filter(|o| counts(o)).map(|o| o.verdict).max().unwrap_or(Verdict::Allow);
    let decisive = opinions.iter().position(|opinion| {
        opinion.verdict == verdict
            && counts(opinion)
            && (!granted || opinion.stage == Stage::Grants || verdict == Verdict::Deny)
    });
    EffectOpinions { effect, verdict, opinions, decisive }
}

/// Why, the decisive reasons first, each once.
fn reasons(effects: &[EffectOpinions], verdict: Verdict) -> Vec<Reason> {
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
