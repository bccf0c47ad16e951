//! A yes to a call whose effects are known is a yes to those effects, never to the tool.
//!
//! Other systems' files, and rules about tools, ask about the call itself. If the answer were remembered as "calling
//! bash", one yes to `make` would let `curl .. | sh` pass. So it is remembered as what the call would do, and counts
//! for a later call only if every effect of that one was named.

use super::{could_answer, in_force, selects};
use crate::judging::Judging;
use crate::pattern::Purpose;
use crate::stage::rules::may_be_carried;
use crate::state::{Grant, State};
use crate::word::{Facts, Operation, Opinion, Verdict};
use sayso_shell::{Effect, RunId, Target, Verb};

/// The effects that a remembered yes to a call must name one by one, by their place; `None`: no pattern could, so that
/// only this very call can be remembered.
#[must_use]
pub fn effects_to_name(operation: &Operation, facts: Facts<'_>) -> Option<Vec<usize>> {
    to_name(&Judging::new(operation, facts, None))
}

/// The remembered yeses that together name everything the call would do; none if something is missing.
pub(super) fn allowed<'s>(judging: &Judging<'_>, state: &'s State, asks: &[&Opinion]) -> Vec<&'s Grant> {
    let mut used: Vec<&Grant> = Vec::new();
    let Some(places) = to_name(judging) else { return used };
    for index in places {
        let Some(effect) = judging.operation.effects.get(index) else { return Vec::new() };
        let named = state.grants.iter().find(|grant| {
            grant.verdict == Verdict::Allow
                && in_force(grant, judging, state)
                && asks.iter().all(|ask| could_answer(grant, ask))
                && selects(grant, judging, state, effect, index, Purpose::Permit)
        });
        match named {
            Some(grant) if used.iter().any(|known| known.id == grant.id) => {}
            Some(grant) => used.push(grant),
            None => return Vec::new(),
        }
    }
    used
}

/// The remembered no to anything that the call would do.
pub(super) fn refused<'s>(judging: &Judging<'_>, state: &'s State) -> Option<&'s Grant> {
    let says_no = |grant: &&Grant| {
        let about = |(index, effect): (usize, &Effect)| {
            !matches!(effect.target, Target::Tool) && selects(grant, judging, state, effect, index, Purpose::Restrict)
        };
        grant.verdict == Verdict::Deny
            && in_force(grant, judging, state)
            && judging.operation.effects.iter().enumerate().any(about)
    };
    state.grants.iter().find(says_no)
}

fn to_name(judging: &Judging<'_>) -> Option<Vec<usize>> {
    let effects = &judging.operation.effects;
    if judging.analysis().is_some_and(|analysis| analysis.opaque) {
        return None;
    }
    let mut places = Vec::new();
    for (index, effect) in effects.iter().enumerate() {
        match &effect.target {
            // A maybe-effect counts against denies alone; a wrapper is judged by what it starts.
            _ if !effect.certain => {}
            Target::Tool | Target::Wrapper(_) => {}
            Target::Code { .. } | Target::Anything => return None,
            Target::Path(target)
                if effect.run.is_some_and(|id| is_started(effects, id))
                    && effect.verb == Verb::Read
                    && may_be_carried(judging, effect, index)
                    && judging.stays_inside(index, target, false) => {}
            _ => places.push(index),
        }
    }
    // A call that does nothing which could be named is not answered by naming nothing.
    (!places.is_empty()).then_some(places)
}

/// Whether the program itself is among the effects, so that it must be named.
fn is_started(effects: &[Effect], id: RunId) -> bool {
    effects.iter().any(|effect| matches!(&effect.target, Target::Program(own) if *own == id))
}
