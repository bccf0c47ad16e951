//! Stage 6: the verbs and `[[rule]]`s.

use super::slot::{Carried, Slot};
use crate::condition::Condition;
use crate::index::Table;
use crate::judging::Judging;
use crate::policy::{CompiledFile, Policy};
use crate::rule::Rule;
use crate::word::{Layer, Opinion, Stage, Tri, Verdict};
use sayso_shell::{Carry, Effect, Verb};

/// What one file says of one effect.
#[derive(Clone, Copy, Default)]
pub(crate) struct Said<'p> {
    pub deny: Option<&'p Rule>,
    pub ask: Option<&'p Rule>,
    /// A deny or ask that only perhaps matches.
    pub maybe: Option<&'p Rule>,
    pub allow: Option<&'p Rule>,
    /// The allow or ask is a preset's.
    pub by_preset: bool,
}

impl<'p> Said<'p> {
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
    pub(crate) fn covers_hosts(&self) -> bool {
        let rule = self.ask.or(self.allow);
        rule.is_some_and(|rule| !self.by_preset || rule.when.iter().any(Condition::names_hosts))
    }

    /// The verdict and whose rule it is. A maybe beside an allow is an Ask.
    pub(crate) fn verdict(&self) -> Option<(Verdict, &'p Rule, bool)> {
        self.deny
            .map(|rule| (Verdict::Deny, rule, false))
            .or(self.ask.map(|rule| (Verdict::Ask, rule, false)))
            .or(self.maybe.map(|rule| (Verdict::Ask, rule, true)))
            .or(self.allow.map(|rule| (Verdict::Allow, rule, false)))
    }
}

/// What a file says of an effect. Its presets are defaults: where the file speaks, their asks and allows fall
/// silent; their denies stay.
pub(crate) fn judge<'p>(file: &'p CompiledFile, judging: &Judging<'_>, index: usize) -> Said<'p> {
    let Some(effect) = judging.operation.effects.get(index) else { return Said::default() };
    let mut said = Said::default();
    table(&file.own, judging, index, effect, &mut said);
    if !file.counts_allow {
        said.allow = None;
    }
    let own_spoke = said.spoke();
    for preset in &file.presets {
        let mut default = Said::default();
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

fn table<'p>(table: &'p Table, judging: &Judging<'_>, index: usize, effect: &Effect, said: &mut Said<'p>) {
    table.candidates(judging, index, &mut |rule| said.hear(rule, rule.matches(judging, index)));
    // Effects that no plain allow carries may be named by a `run` rule.
    if matches!(effect.carry, Carry::Named { .. }) && !matches!(effect.verb, Verb::Call) && said.allow.is_none() {
        table.program_candidates(judging, effect, &mut |rule| {
            let speaks = rule.verb == Verb::Run && rule.verdict != Verdict::Deny;
            if speaks && rule.names(judging, index, effect) {
                said.hear(rule, Tri::Yes);
            }
        });
    }
}

/// A rule's opinion.
pub(crate) fn opinion(rule: &Rule, verdict: Verdict, maybe: bool) -> Opinion {
    let mut reason = rule.reason();
    if maybe {
        reason.text = format!("{} It may apply here: not everything in this call is known.", reason.text);
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

/// What all files say of one effect.
pub(crate) fn judge_all(
    policy: &Policy,
    files: &[&CompiledFile],
    judging: &Judging<'_>,
    index: usize,
    slot: &mut Slot,
) {
    let Some(effect) = judging.operation.effects.get(index) else { return };
    let mut strictest: Option<Verdict> = None;
    let mut by_preset = true;
    let mut covers_hosts = false;
    for file in files {
        let mut said = judge(file, judging, index);
        if policy.closed.contains(&effect.verb) && file.layer != Layer::Managed {
            said.allow = None;
        }
        covers_hosts |= said.covers_hosts();
        slot.by_owner |= said.allow.is_some() && !said.by_preset;
        let Some((verdict, rule, maybe)) = said.verdict() else { continue };
        slot.opinions.push(opinion(rule, verdict, maybe));
        // Beside a rule that asks for certain, one that perhaps denies changes no verdict, but who may answer it.
        if let (Verdict::Ask, false, Some(perhaps)) = (verdict, maybe, said.maybe)
            && perhaps.verdict == Verdict::Deny
        {
            slot.opinions.push(opinion(perhaps, Verdict::Ask, true));
        }
        if maybe {
            // An Ask because something is unknown settles nothing: an allow beside it stays an allow.
            if said.allow.is_some() {
                strictest = strictest.max(Some(Verdict::Allow));
                slot.settled = true;
                by_preset &= said.by_preset;
            }
        } else {
            strictest = strictest.max(Some(verdict));
            slot.settled = true;
            by_preset &= said.by_preset;
        }
    }
    slot.carried = strictest.map(|verdict| Carried { verdict, by_preset, covers_hosts });
}
