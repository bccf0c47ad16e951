//! Stage 6, continued: what an allow of a program or tool covers beside the program itself.
//!
//! `allow run = ["cp"]` would be useless if every path that `cp` names needed a rule too, and dangerous if it covered
//! them all. So an allow carries the *plain* effects of the program's operands, the ones that its name promises: reads,
//! writes and deletes inside the workspace, connections. It does not carry what the shell does (redirects), what an
//! option or variable makes of the program, guarded targets, or anything outside the workspace: the analysis marks
//! those [`Carry::Named`], and a rule must name them.
//!
//! The order matters. All rules have spoken of all effects by now; only an effect that none of them settled is carried,
//! so a rule with the effect's own verb always has the last word.

use crate::judging::Judging;
use crate::stage::built_in;
use crate::stage::opinions::OnEffect;
use crate::word::{Code, Stage, Verdict};
use sayso_shell::{Carry, Effect, HostTarget, PathTarget, RunId, Target, Verb};

/// An allow (or ask) of a program or tool covers the plain effects of its operands of which no rule speaks.
pub(super) fn carry(judging: &Judging<'_>, slots: &mut [OnEffect]) {
    let effects = &judging.operation.effects;
    let of_run = |slots: &[OnEffect], id: RunId| {
        effects
            .iter()
            .zip(slots)
            .find(|(effect, _)| matches!(&effect.target, Target::Program(own) if *own == id))
            .and_then(|(_, slot)| slot.carried)
    };
    let of_tool = |slots: &[OnEffect]| {
        effects
            .iter()
            .zip(slots)
            .find(|(effect, _)| matches!(effect.target, Target::Tool))
            .and_then(|(_, slot)| slot.carried)
    };
    for (index, effect) in effects.iter().enumerate() {
        if slots.get(index).is_none_or(|slot| slot.settled) || !may_be_carried(judging, effect, index) {
            continue;
        }
        let carried = match effect.run {
            Some(id) => of_run(slots, id),
            None => of_tool(slots),
        };
        let Some(carried) = carried.filter(|carried| carried.verdict != Verdict::Deny) else { continue };
        let covered = match (&effect.target, effect.verb) {
            (Target::Path(target), Verb::Write | Verb::Delete) => {
                judging.stays_inside(index, target, carried.by_preset)
            }
            // A preset knows no host: what the call itself writes out may be chosen to carry data away.
            (Target::Host(HostTarget::Exact { .. }), _) => carried.covers_hosts,
            _ => true,
        };
        if covered && let Some(slot) = slots.get_mut(index) {
            slot.settled = true;
            slot.by_owner = carried.covers_hosts && !carried.by_preset;
            slot.held.extend((carried.verdict == Verdict::Ask && carried.held).then_some(slot.opinions.len()));
            slot.opinions.push(built_in(
                Stage::Rules,
                carried.verdict,
                Code::Carried,
                format!("The rule for the {} covers this.", if effect.run.is_some() { "program" } else { "tool" }),
            ));
        }
    }
}

/// A secret variable that is sent to hosts which the owner allows, and nowhere else, is what it is there for.
pub(super) fn carry_secrets(judging: &Judging<'_>, slots: &mut [OnEffect]) {
    let effects = &judging.operation.effects;
    let allowed = |slot: &OnEffect| {
        slot.by_owner && slot.settled && slot.opinions.iter().all(|opinion| opinion.verdict == Verdict::Allow)
    };
    for (index, effect) in effects.iter().enumerate() {
        let secret =
            matches!(&effect.carry, Carry::Named { code, .. } if Code::of(*code) == Some(Code::SecretVariable));
        let Some(run) = effect.run.filter(|_| secret && slots.get(index).is_some_and(|slot| !slot.settled)) else {
            continue;
        };
        let own = || effects.iter().zip(slots.iter()).filter(|(other, _)| other.run == Some(run));
        let mut hosts = own().filter(|(other, _)| other.verb == Verb::Connect && other.certain).peekable();
        let sent = hosts.peek().is_some()
            && hosts
                .all(|(other, slot)| matches!(other.target, Target::Host(HostTarget::Exact { .. })) && allowed(slot));
        let stays = own().all(|(other, _)| !matches!(other.verb, Verb::Write | Verb::Delete));
        if sent
            && stays
            && let Some(slot) = slots.get_mut(index)
        {
            slot.settled = true;
            let text = "This is sent only to hosts that your rules allow.";
            slot.opinions.push(built_in(Stage::Rules, Verdict::Allow, Code::Carried, text));
        }
    }
}

pub(crate) fn may_be_carried(judging: &Judging<'_>, effect: &Effect, index: usize) -> bool {
    let literal = match &effect.target {
        // Whatever a listing happens to name is deleted by the dozen: that needs a yes of its own.
        Target::Path(PathTarget::Listed(_)) => effect.verb != Verb::Delete,
        Target::Path(_) => true,
        Target::Host(host) => !matches!(host, HostTarget::Unknown),
        _ => false,
    };
    literal && effect.certain && effect.carry == Carry::Plain && judging.guard(index).is_none()
}
