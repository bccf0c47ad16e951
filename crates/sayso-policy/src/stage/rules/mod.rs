//! Stage 6: the verbs and `[[rule]]`s.

mod carried;

pub(crate) use carried::may_be_carried;

use super::opinions::{Carried, OnEffect, Opinions};
use super::{FileInForce, Inputs};
use crate::condition::Condition;
use crate::index::Table;
use crate::judging::Judging;
use crate::rule::Rule;
use crate::word::{Layer, Opinion, Stage, Tri, Verdict};
use sayso_shell::{Carry, Effect, Verb};

/// What one file says of one effect.
#[derive(Clone, Copy, Default)]
struct FileRules<'p> {
    deny: Option<&'p Rule>,
    ask: Option<&'p Rule>,
    /// A deny or ask that only perhaps matches.
    maybe: Option<&'p Rule>,
    allow: Option<&'p Rule>,
    /// The allow or ask is a preset's.
    by_preset: bool,
}

impl<'p> FileRules<'p> {
    fn spoke(&self) -> bool {
        self.deny.is_some() || self.ask.is_some() || self.allow.is_some()
    }

    fn hear(&mut self, rule: &'p Rule, answer: Tri) {
        let slot = match (rule.verdict, answer) {
            (_, Tri::No) | (Verdict::Allow, Tri::Maybe) => return,
            (Verdict::Allow, Tri::Yes) => &mut self.allow,
            (_, Tri::Maybe) => &mut self.maybe,
            (Verdict::Ask, Tri::Yes) => &mut self.ask,
            (Verdict::Deny, Tri::Yes) => &mut self.deny,
        };
        // The first of a kind in the file speaks for it.
        if slot.is_none() {
            *slot = Some(rule);
        }
    }

    /// Whether the allow or ask covers a host that the call writes out: its owner wrote it, or it says which hosts.
    fn covers_hosts(&self) -> bool {
        let rule = self.ask.or(self.allow);
        rule.is_some_and(|rule| !self.by_preset || rule.when.iter().any(Condition::names_hosts))
    }

    /// The verdict and whose rule it is. A maybe beside an allow is an Ask.
    fn verdict(&self) -> Option<(Verdict, &'p Rule, bool)> {
        self.deny
            .map(|rule| (Verdict::Deny, rule, false))
            .or(self.ask.map(|rule| (Verdict::Ask, rule, false)))
            .or(self.maybe.map(|rule| (Verdict::Ask, rule, true)))
            .or(self.allow.map(|rule| (Verdict::Allow, rule, false)))
    }
}

/// What a file says of an effect. Its presets are defaults: where the file speaks, their asks and allows fall
/// silent; their denies stay.
fn judge_file<'p>(in_force: &FileInForce<'p>, judging: &Judging<'_>, index: usize) -> FileRules<'p> {
    let Some(effect) = judging.operation.effects.get(index) else { return FileRules::default() };
    let file = in_force.file;
    let mut said = FileRules::default();
    table(&file.own, judging, index, effect, &mut said);
    if !file.counts_allow {
        said.allow = None;
    }
    let own_spoke = said.spoke();
    for preset in in_force.presets() {
        let mut default = FileRules::default();
        table(&preset.table, judging, index, effect, &mut default);
        if said.deny.is_none() {
            said.deny = default.deny;
        }
        if said.maybe.is_none() {
            said.maybe = default.maybe.filter(|rule| rule.verdict == Verdict::Deny || !own_spoke);
        }
        if !own_spoke {
            if said.ask.is_none() && default.ask.is_some() {
                said.ask = default.ask;
                said.by_preset = true;
            }
            if said.allow.is_none() && default.allow.is_some() && file.counts_allow {
                said.allow = default.allow;
                said.by_preset = true;
            }
        }
    }
    said
}

fn table<'p>(table: &'p Table, judging: &Judging<'_>, index: usize, effect: &Effect, said: &mut FileRules<'p>) {
    table
        .candidates(judging, index, &mut |rule| said.hear(rule, tempered(rule, rule.matches(judging, index), judging)));
    // Effects that no plain allow carries may be named by a `run` rule.
    if matches!(effect.carry, Carry::Named { .. }) && !matches!(effect.verb, Verb::Call) && said.allow.is_none() {
        table.program_candidates(judging, effect, &mut |rule| {
            let speaks = rule.verb == Verb::Run && rule.verdict != Verdict::Deny;
            if speaks && rule.names(judging, index, effect) {
                said.hear(rule, tempered(rule, Tri::Yes, judging));
            }
        });
    }
}

/// INVARIANT: an Ask because of what an agent reports settles nothing. It stands beside what is said without the report, a
/// Deny of the default among it, and never in its place.
fn tempered(rule: &Rule, answer: Tri, judging: &Judging<'_>) -> Tri {
    let actor = &judging.operation.actor;
    let reported = || rule.when.iter().any(|condition| condition.holds_by_report(actor));
    match answer {
        Tri::Yes if rule.verdict == Verdict::Ask && reported() => Tri::Maybe,
        answer => answer,
    }
}

/// A rule's opinion.
fn opinion(rule: &Rule, verdict: Verdict, maybe: bool, (judging, index): (&Judging<'_>, usize)) -> Opinion {
    let mut reason = rule.reason();
    for more in rule.when.iter().filter_map(|condition| condition.because(judging, index)) {
        reason.text = format!("{} {more}", reason.text);
    }
    if maybe {
        reason.text = format!("{} This may apply here: not everything in this call is known.", reason.text);
    }
    Opinion {
        stage: Stage::Rules,
        verdict,
        maybe,
        reason,
        approver: rule.approver.clone(),
        always: rule.always,
        grant: None,
    }
}

/// What the rules of all files say of each effect, and what their allows carry.
pub(crate) fn judge(inputs: &Inputs<'_, '_>, said: &mut Opinions) {
    for (index, on) in said.each() {
        judge_effect(inputs, index, on);
    }
    carried::carry(inputs.judging, &mut said.effects);
    carried::carry_secrets(inputs.judging, &mut said.effects);
}

fn judge_effect(inputs: &Inputs<'_, '_>, index: usize, on: &mut OnEffect) {
    let Inputs { policy, judging, .. } = inputs;
    let Some(effect) = judging.operation.effects.get(index) else { return };
    let mut strictest: Option<Verdict> = None;
    let mut by_preset = true;
    let mut covers_hosts = false;
    let mut held = true;
    for one in &inputs.files {
        let file = one.file;
        let mut said = judge_file(one, judging, index);
        if policy.closed.contains(&effect.verb) && file.layer != Layer::Managed {
            said.allow = None;
        }
        covers_hosts |= said.covers_hosts();
        on.by_owner |= said.allow.is_some() && !said.by_preset;
        let Some((verdict, rule, maybe)) = said.verdict() else { continue };
        // A file's own hold answers its rules, and those of its presets.
        let lifts = rule.held && rule.verdict == Verdict::Ask && one.hold().is_some_and(|hold| hold.lifts);
        on.held.extend(lifts.then_some(on.opinions.len()));
        held &= lifts || verdict != Verdict::Ask;
        on.opinions.push(opinion(rule, verdict, maybe, (judging, index)));
        // Beside a rule that asks for certain, one that perhaps denies changes no verdict, but who may answer it.
        if let (Verdict::Ask, false, Some(perhaps)) = (verdict, maybe, said.maybe)
            && perhaps.verdict == Verdict::Deny
        {
            held = false;
            on.opinions.push(opinion(perhaps, Verdict::Ask, true, (judging, index)));
        }
        if maybe {
            // An Ask because something is unknown settles nothing: an allow beside it stays an allow.
            if said.allow.is_some() {
                strictest = strictest.max(Some(Verdict::Allow));
                on.settled = true;
                by_preset &= said.by_preset;
            }
        } else {
            strictest = strictest.max(Some(verdict));
            on.settled = true;
            by_preset &= said.by_preset;
        }
    }
    on.carried = strictest.map(|verdict| Carried { verdict, by_preset, covers_hosts, held });
}
