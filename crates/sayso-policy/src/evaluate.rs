//! Policy and operation to decision: every stage gives an opinion on every effect, the strictest wins.

use crate::foreign;
use crate::judging::Judging;
use crate::policy::{CompiledFile, Policy};
use crate::rule::{run_of, verb_word};
use crate::stage::{self, grants, integrity, limits, patterns, rules, tools};
use crate::state::State;
use crate::text::Mode;
use crate::word::{
    Answer, Decision, EffectOpinions, Facts, Layer, Operation, Opinion, Reason, Stage, Verdict, code_info,
};
use sayso_shell::{Carry, Effect, HostTarget, NamedBy, PathTarget, RunId, Target, Verb};
use std::borrow::Cow;

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

/// What is known about one effect while the stages speak.
struct Slot {
    opinions: Vec<Opinion>,
    /// A rule said for certain that it may, or that somebody decides.
    settled: bool,
    /// The rules' verdict on a program or tool, which plain effects of its operands share.
    carried: Option<Carried>,
    /// An owner's own rule allows it, by its own verb or as part of the program.
    by_owner: bool,
}

#[derive(Clone, Copy)]
struct Carried {
    verdict: Verdict,
    /// Every allow that counts is a preset's: the temporary folder is inside the workspace then.
    by_preset: bool,
    /// An allow of a file's own, or one whose conditions say which hosts: a host that the call writes out is covered.
    covers_hosts: bool,
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
        ask_rules(policy, &files, judging, index, slot);
    }
    carry(judging, &mut slots);
    carry_secrets(judging, &mut slots);
    // An operator's switch reaches foreign files too, which have no mode of ours.
    let hears_foreign = !policy.foreign.is_empty() && (policy.pinned || state.mode.is_none_or(CompiledFile::counts_in));
    let silent_allows = (files.is_empty() && !hears_foreign)
        || (files.len() < policy.files.len() && files.iter().all(|file| file.states_no_default()));
    // A foreign file has a default of its own; alone, it needs none of ours.
    if !policy.files.is_empty() || !hears_foreign {
        speak_default(&files, judging, &mut slots, silent_allows);
    }
    let foreign = match hears_foreign {
        true => hear_foreign(policy, judging, state, &mut slots, &mut call),
        false => foreign::Spoken::default(),
    };
    if !state.grants.is_empty() {
        remember(judging, state, &mut slots, &mut call);
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
    let mut dry_run = None;
    if state.mode == Some(Mode::Halt) {
        call.push(Opinion { reason: halted(), ..stage::built_in(Stage::Mode, Verdict::Deny, "halted", "") });
    }
    if state.mode == Some(Mode::DryRun) && !policy.pinned && policy.files.is_empty() {
        dry_run = Some(false);
    }
    for file in files {
        let essential = file.is_essential(&operation.tool);
        match policy.mode_of(file, state.mode) {
            Mode::Halt if state.mode.is_none() => call.push(Opinion {
                reason: Reason { layer: file.layer.clone(), ..halted() },
                ..stage::built_in(Stage::Mode, Verdict::Deny, "halted", "")
            }),
            Mode::DryRun if !essential => {
                dry_run = Some(dry_run.unwrap_or(false) || file.dry_run_first);
            }
            _ => {}
        }
        if let Some(found) = tools::judge(&file.tools, &file.layer, &operation.tool, &operation.actor)
            && !(found.closed_list && essential)
        {
            call.push(found.opinion);
        }
        patterns::judge(&file.patterns, &file.layer, operation, call);
        let mut limited = Vec::new();
        limits::judge(&file.limits, &file.layer, state, &mut limited);
        call.extend(limited.into_iter().filter(|found| !(found.blocked && essential)).map(|found| found.opinion));
    }
    dry_run
}

fn halted() -> Reason {
    Reason {
        code: Cow::Borrowed("halted"),
        text: "Everything is denied: the mode is `halt`.".to_owned(),
        layer: Layer::BuiltIn,
        source: None,
    }
}

fn ask_rules(policy: &Policy, files: &[&CompiledFile], judging: &Judging<'_>, index: usize, slot: &mut Slot) {
    let Some(effect) = judging.operation.effects.get(index) else { return };
    let mut strictest: Option<Verdict> = None;
    let mut by_preset = true;
    let mut covers_hosts = false;
    for file in files {
        let mut said = rules::judge(file, judging, index);
        if policy.closed.contains(&effect.verb) && file.layer != Layer::Managed {
            said.allow = None;
        }
        covers_hosts |= said.covers_hosts();
        slot.by_owner |= said.allow.is_some() && !said.by_preset;
        let Some((verdict, rule, maybe)) = said.verdict() else { continue };
        slot.opinions.push(rules::opinion(rule, verdict, maybe));
        // Beside a rule that asks for certain, one that perhaps denies changes no verdict, but who may answer it.
        if let (Verdict::Ask, false, Some(perhaps)) = (verdict, maybe, said.maybe)
            && perhaps.verdict == Verdict::Deny
        {
            slot.opinions.push(rules::opinion(perhaps, Verdict::Ask, true));
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

/// An allow (or ask) of a program or tool covers the plain effects of its operands of which no rule speaks.
fn carry(judging: &Judging<'_>, slots: &mut [Slot]) {
    let effects = &judging.operation.effects;
    let of_run = |slots: &[Slot], id: RunId| {
        effects
            .iter()
            .zip(slots)
            .find(|(effect, _)| matches!(&effect.target, Target::Program(own) if *own == id))
            .and_then(|(_, slot)| slot.carried)
    };
    let of_tool = |slots: &[Slot]| {
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
            slot.opinions.push(stage::built_in(
                Stage::Rules,
                carried.verdict,
                "carried",
                format!("Covered by the rule for the {}.", if effect.run.is_some() { "program" } else { "tool" }),
            ));
        }
    }
}

/// A secret variable that is sent to hosts which the owner allows, and nowhere else, is what it is there for.
fn carry_secrets(judging: &Judging<'_>, slots: &mut [Slot]) {
    let effects = &judging.operation.effects;
    let allowed = |slot: &Slot| {
        slot.by_owner && slot.settled && slot.opinions.iter().all(|opinion| opinion.verdict == Verdict::Allow)
    };
    for (index, effect) in effects.iter().enumerate() {
        let secret = matches!(&effect.carry, Carry::Named { code: "secret-variable", .. });
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
            let text = "Sent only to hosts that your rules allow.";
            slot.opinions.push(stage::built_in(Stage::Rules, Verdict::Allow, "carried", text));
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

/// Where no rule settled an effect, `default` speaks.
fn speak_default(files: &[&CompiledFile], judging: &Judging<'_>, slots: &mut [Slot], silent_allows: bool) {
    let operation = judging.operation;
    for (index, (effect, slot)) in operation.effects.iter().zip(slots.iter_mut()).enumerate() {
        let needs_none = !effect.certain
            || matches!(effect.target, Target::Wrapper(_))
            || (matches!(effect.target, Target::Tool) && operation.known);
        if slot.settled || needs_none {
            continue;
        }
        let stated = files.iter().filter_map(|file| file.defaults.get(effect.verb)).max();
        let (verdict, why) = match stated {
            Some(verdict) => (verdict, "default"),
            None if silent_allows => (Verdict::Allow, "mode"),
            None => (Verdict::Ask, "default"),
        };
        let opaque = matches!(effect.target, Target::Code { .. } | Target::Option(_) | Target::Anything)
            || (matches!(effect.target, Target::Tool) && !operation.known);
        let guard = judging.guard(index);
        let (verdict, code, text) = if silent_allows && stated.is_none() {
            (verdict, why, "The mode lets this pass.".to_owned())
        } else if let Some(guard) = guard {
            (
                verdict.max(Verdict::Ask),
                guard.code,
                format!("This is {}; only a rule that names it allows it.", guard.what),
            )
        } else if opaque {
            opaque_reason(judging, effect, verdict)
        } else {
            (verdict, "default", format!("No rule speaks of {} this.", verb_word(effect.verb)))
        };
        slot.opinions.push(stage::built_in(Stage::Default, verdict, code, text));
    }
}

/// What cannot be seen through is at least asked about, under every default.
fn opaque_reason(judging: &Judging<'_>, effect: &Effect, verdict: Verdict) -> (Verdict, &'static str, String) {
    let name = || {
        run_of(effect)
            .and_then(|id| judging.run(id))
            .and_then(|run| run.program.base.clone())
            .unwrap_or_else(|| "a program".to_owned())
    };
    let (code, text) = match (&effect.target, &effect.carry) {
        (Target::Code { language, .. }, _) => ("code", format!("Nobody can see what this {language} code does.")),
        (Target::Anything, Carry::Named { code: code @ ("leaves-sandbox" | "unseen-input" | "environment"), .. }) => {
            (*code, code_info(code).map_or_else(String::new, |info| info.title.to_owned()))
        }
        (Target::Option(_), Carry::Named { code: code @ "secret-variable", by: NamedBy::Env(variable) }) => {
            (*code, format!("`{}` gets the value of {variable}, which is a secret by its name.", name()))
        }
        (_, Carry::Named { code: code @ "secret-variable", by: NamedBy::Env(variable) }) => (
            *code,
            format!("The value of {variable}, which is a secret by its name, goes into another variable or a test."),
        ),
        (Target::Anything, _) => ("opaque", "Not everything that this call would do can be seen.".to_owned()),
        (Target::Tool, _) => {
            ("unknown-tool", format!("Nobody knows what `{}` does.", judging.operation.tool.canonical))
        }
        (_, Carry::Named { code, .. }) => {
            (*code, format!("`{}` is used in a way that needs a rule of its own ({code}).", name()))
        }
        _ => ("opaque", "Not everything that this call would do can be seen.".to_owned()),
    };
    (verdict.max(Verdict::Ask), code, text)
}

fn remember(judging: &Judging<'_>, state: &State, slots: &mut [Slot], call: &mut Vec<Opinion>) {
    fn asks(opinions: &[Opinion]) -> Vec<&Opinion> {
        let strictest = opinions.iter().map(|opinion| opinion.verdict).max();
        let asked = opinions.iter().filter(|opinion| opinion.verdict == Verdict::Ask);
        if strictest == Some(Verdict::Ask) { asked.collect() } else { Vec::new() }
    }
    let about_call = asks(call);
    if !about_call.is_empty()
        && let Some(said) = grants::judge_call(judging, state, &about_call)
    {
        call.push(said);
    }
    for (index, (effect, slot)) in judging.operation.effects.iter().zip(slots.iter_mut()).enumerate() {
        let asked = asks(&slot.opinions);
        if !asked.is_empty() {
            let said = grants::judge(judging, state, effect, index, &asked);
            slot.opinions.extend(said);
        }
    }
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

impl CompiledFile {
    fn states_no_default(&self) -> bool {
        [Verb::Run, Verb::Read, Verb::Write, Verb::Delete, Verb::Connect, Verb::Call]
            .into_iter()
            .all(|verb| self.defaults.get(verb).is_none())
    }
}
