//! Policy and operation to decision: every stage gives an opinion on every effect, and the strictest wins. The stages
//! have a file each in `stage/`; this is the order in which they speak.

use crate::foreign;
use crate::judging::Judging;
use crate::policy::{CompiledFile, Policy};
use crate::risk;
use crate::role::{self, Side};
use crate::stage::opinions::Opinions;
use crate::stage::{
    Inputs, ask, built_in, default, grants, hold, integrity, limits, mode, models, patterns, plan, rules, tools,
};
use crate::state::State;
use crate::text::Mode;
use crate::word::{Answer, Code, Decision, Facts, Operation, Stage, Verdict};

/// The stages in their order.
fn judge(inputs: &Inputs<'_, '_>) -> Decision {
    let mut said = Opinions::about(inputs.judging.operation);
    integrity::judge(inputs, &mut said);
    mode::judge(inputs, &mut said);
    tools::judge(inputs, &mut said);
    patterns::judge(inputs, &mut said);
    // `essential` says nothing of its own: it has mode, tools and limits leave out what does not reach such a tool.
    rules::judge(inputs, &mut said);
    models::judge(inputs, &mut said);
    plan::judge(inputs, &mut said);
    risk::judge(inputs, &mut said);
    limits::judge(inputs, &mut said);
    default::judge(inputs, &mut said);
    // Files of other systems go through stages of their own.
    foreign::judge(inputs, &mut said);
    grants::judge(inputs, &mut said);
    hold::judge(inputs, &mut said);
    ask::judge(inputs, said)
}

/// Judges an operation.
pub(crate) fn evaluate(policy: &Policy, operation: &Operation, state: &State, facts: Facts<'_>) -> Decision {
    let guards = policy.image.as_ref().map(|image| &image.guards);
    let ground = crate::ground::of(policy, operation, state, guards);
    let judging = Judging::on(ground, operation, facts, guards).after(&state.past);
    let mode = |file: &CompiledFile| policy.mode_of(file, state.mode);
    let more = policy.more_sides(&operation.actor);
    let by_all = |state: &State, counts: &dyn Fn(&CompiledFile) -> bool| {
        let by = |side: &Side| judge(&Inputs::new(policy, &judging, state, side, counts));
        let Some((first, rest)) = more.split_first() else { return by(&Side::default()) };
        if more.len() > role::MOST_SIDES {
            let text =
                "More combinations of `[for]` tables match this caller than Sayso judges, so nothing is allowed.";
            return denied(policy, text);
        }
        rest.iter().map(by).fold(by(first), role::stricter)
    };
    let mut decision = by_all(state, &|file| CompiledFile::counts_in(mode(file)));
    if policy.files.iter().any(|file| mode(file) == Mode::Shadow) || state.mode == Some(Mode::Shadow) {
        let enforced = State { mode: None, ..state.clone() };
        decision.would = Some(by_all(&enforced, &|_| true).verdict);
    }
    // Where nobody looks at a score and no file asks by it, none is worked out.
    if decision.answer != Answer::Allow || policy.files.iter().any(|file| file.risk.is_some()) {
        decision.risk = Some(risk::of(&judging));
    }
    // By what was looked at for the decision: a search through a whole project is not gone through twice.
    if policy.remembers() && matches!(decision.answer, Answer::Allow | Answer::Ask) {
        decision.deeds = Some(policy.deeds_of(&judging));
    }
    judging.tree().keep();
    decision
}

/// The policy itself cannot be read: nothing runs by what is left of it.
pub(crate) fn unreadable(policy: &Policy) -> Decision {
    denied(policy, "The policy in force cannot be read, so nothing is allowed.")
}

fn denied(policy: &Policy, text: &str) -> Decision {
    let opinion = built_in(Stage::Mode, Verdict::Deny, Code::PolicyUnreadable, text);
    Decision {
        verdict: Verdict::Deny,
        answer: Answer::Deny,
        would: None,
        unanswered: None,
        hold: None,
        reasons: vec![opinion.reason.clone()],
        effects: vec![ask::settle(None, vec![opinion])],
        policy_version: policy.version.clone(),
        deeds: None,
        risk: None,
    }
}
