//! Stage 9: what nobody can see through runs without a question where the kernel holds it to the policy.
//!
//! Judging text cannot bound code. `make` does what the Makefile says, and a held `make` can do no more than that within
//! the bounds that the policy gives ([`crate::hold`]). So an Ask whose only reason is that nobody can see what a program
//! would do is answered by a hold, if `[hold]` names the program. An Ask that has any other reason is not.
//!
//! INVARIANT: a call is held as a whole, so all of it must be fit for that. One Ask that a hold does not answer, or one
//! known effect beyond the bounds, and nothing is lifted.

use super::opinions::{OnEffect, Opinions};
use super::{FileInForce, Inputs, built_in, held_inside, repository};
use crate::hold::HoldSection;
use crate::judging::Judging;
use crate::pattern::{Purpose, RunKind, RunPattern, is_loopback};
use crate::policy::CompiledFile;
use crate::rule::{Pattern, run_of};
use crate::word::{Actor, Code, Holding, Opinion, Stage, Tri, Verdict};
use sayso_shell::bounds::Need;
use sayso_shell::program::Facets;
use sayso_shell::{Carry, Effect, HostTarget, Run, RunId, Target, Verb};

/// What is said of holding the call; where a hold answers its Asks and can be made, they are answered.
pub(crate) fn judge(inputs: &Inputs<'_, '_>, said: &mut Opinions) {
    let Some(holds) = Holds::of(inputs) else { return };
    let open = || said.effects.iter().enumerate().filter(|(_, on)| asks(&on.opinions).next().is_some());
    let asked: Vec<usize> = open().map(|(index, _)| index).collect();
    // Most calls: nothing asks, and no hold is about what runs.
    if asked.is_empty() && !holds.wanted() || denied(said) || holds.leaves(said) {
        return;
    }
    let need = holds.need();
    let lifts = !asked.is_empty()
        && asks(&said.call).next().is_none()
        && !unclear(inputs.judging)
        && open().all(|(index, on)| holds.answers(index, on));
    // `sayso run` holds what it starts, whoever cannot.
    let inside = lifts && holds.held_inside(need, &asked);
    let can = inside || inputs.state.can_hold.meets(need);
    said.hold = match (lifts, can) {
        _ if inside => None,
        (true, true) => Some(Holding::Required(need)),
        (true, false) => Some(Holding::WouldAllow(need)),
        (false, _) => holds.wanted().then_some(Holding::Wanted(need)),
    };
    if lifts && can {
        for index in asked {
            if let Some(on) = said.effects.get_mut(index) {
                let text = "The run is held to what the policy allows, so nobody is asked.";
                on.opinions.push(built_in(Stage::Hold, Verdict::Allow, Code::Held, text));
            }
        }
    }
}

/// The Asks that nothing has answered yet.
fn asks(opinions: &[Opinion]) -> impl Iterator<Item = (usize, &Opinion)> {
    let answered = opinions.iter().any(|opinion| opinion.stage == Stage::Grants);
    let asks = opinions.iter().enumerate().filter(|(_, opinion)| opinion.verdict == Verdict::Ask);
    asks.filter(move |_| !answered)
}

fn denied(said: &Opinions) -> bool {
    let mut all = said.effects.iter().flat_map(|on| &on.opinions).chain(&said.call);
    all.any(|opinion| opinion.verdict == Verdict::Deny)
}

/// Whether the next stage asks about the call as a whole, because not all of it could be looked at.
fn unclear(judging: &Judging<'_>) -> bool {
    let opaque = judging.analysis().is_some_and(|analysis| analysis.opaque);
    let listed = || judging.operation.effects.iter().any(|effect| matches!(effect.target, Target::Anything));
    judging.tree().ran_out() || opaque && !listed()
}

/// A file with `[hold]`, and which of the call's programs it covers.
struct Hold<'a> {
    section: &'a HoldSection,
    file: &'a CompiledFile,
    /// Parallel to the runs of the analysis.
    covered: Vec<bool>,
}

/// The holds of all files that count.
struct Holds<'a, 'j> {
    inputs: &'a Inputs<'a, 'j>,
    holds: Vec<Hold<'a>>,
}

impl<'a, 'j> Holds<'a, 'j> {
    /// `None`: no file says anything of holds, the call runs no command in a shell, or no hold is about its programs.
    fn of(inputs: &'a Inputs<'a, 'j>) -> Option<Self> {
        let judging = inputs.judging;
        if inputs.files.iter().all(|one| one.hold().is_none()) || inputs.hears_foreign() {
            return None;
        }
        // Only what a shell is given can be given to another program instead.
        let runs = judging.analysis().map(|analysis| analysis.runs.len()).filter(|_| is_command(judging))?;
        let held = |one: &FileInForce<'a>| {
            let section = one.hold()?;
            Some(Hold { section, file: one.file, covered: covered(judging, section, runs) })
        };
        let holds = inputs.files.iter().filter_map(held).collect();
        Some(Self { inputs, holds })
    }

    /// The strictest that any file wants.
    fn need(&self) -> Need {
        self.holds.iter().map(|hold| hold.section.need).max().unwrap_or_default()
    }

    /// Whether a file wants these programs held whoever allows them.
    fn wanted(&self) -> bool {
        self.holds.iter().any(|hold| hold.section.always && hold.covered.contains(&true))
    }

    /// Whether all that asks is held by what the call itself starts.
    fn held_inside(&self, need: Need, asked: &[usize]) -> bool {
        let judging = self.inputs.judging;
        // It judges again for nobody in particular, and holds to the bounds of that.
        let policy = self.inputs.policy;
        if policy.sides(&judging.operation.actor) != policy.sides(&policy.owned(Actor::default(), false)) {
            return false;
        }
        let run = |index: &usize| judging.operation.effects.get(*index).and_then(run_of);
        held_inside::holder(judging, &self.inputs.policy.protected, need).is_some_and(|holder| {
            asked.iter().all(|at| run(at).is_some_and(|run| held_inside::is_below(judging, run, holder)))
        })
    }

    /// Whether a hold answers every open Ask about an effect.
    fn answers(&self, index: usize, on: &OnEffect) -> bool {
        asks(&on.opinions).all(|(at, ask)| match ask.stage {
            _ if ask.always => false,
            Stage::Rules => on.held.contains(&at),
            Stage::Default => self.answers_default(index, ask),
            _ => false,
        })
    }

    /// An Ask of the default is answered if its reason is that nobody can see, by the `[hold]` of every file that says
    /// ask: what another file would lift is its own affair.
    fn answers_default(&self, index: usize, ask: &Opinion) -> bool {
        let judging = self.inputs.judging;
        let Some(effect) = judging.operation.effects.get(index) else { return false };
        if judging.guard(index).is_some() || !ask.reason.code.built_in().is_some_and(|code| nobody_sees(effect, code)) {
            return false;
        }
        let Some(run) = run_of(effect).or_else(|| words_of(judging, effect)) else { return false };
        let covers = |hold: &Hold<'_>| hold.section.lifts && hold.covers(run);
        let lifted_by =
            |file: &CompiledFile| self.holds.iter().any(|hold| std::ptr::eq(hold.file, file) && covers(hold));
        let asks =
            |one: &FileInForce<'_>| one.defaults().get(effect.verb).is_some_and(|default| default >= Verdict::Ask);
        self.holds.iter().any(covers) && self.inputs.files.iter().all(|one| !asks(one) || lifted_by(one.file))
    }

    /// Whether a known effect lies beyond what a held run could do.
    fn leaves(&self, said: &Opinions) -> bool {
        let judging = self.inputs.judging;
        let away = |run: &Run| run.program.facets().has(Facets::OTHER_USER.and(Facets::REACHES_OUT));
        judging.analysis().is_some_and(|analysis| analysis.runs.iter().any(away))
            || judging
                .operation
                .effects
                .iter()
                .zip(&said.effects)
                .enumerate()
                .any(|(index, (effect, _))| effect.certain && !self.inside(index, effect))
    }

    /// Whether a held run could do this, as far as it is known.
    fn inside(&self, index: usize, effect: &Effect) -> bool {
        let judging = self.inputs.judging;
        if let Carry::Named { code, .. } = &effect.carry
            && Code::of(*code).is_some_and(is_elsewhere)
        {
            return false;
        }
        match (&effect.target, effect.verb) {
            (Target::Path(target), Verb::Write | Verb::Delete) => {
                judging.guard(index).is_none()
                    && self.holds.iter().all(|hold| match &hold.section.write {
                        Some(list) => {
                            let matches =
                                |pattern, purpose| judging.matches_path(pattern, index, effect.verb, target, purpose);
                            list.any.iter().any(|one| matches(&one.pattern, Purpose::Permit) == Tri::Yes)
                                && list.except.iter().all(|one| matches(&one.pattern, Purpose::Restrict) == Tri::No)
                        }
                        None => judging.stays_inside(index, target, true) || self.may_be_written(index),
                    })
            }
            (Target::Host(host), _) => self.reaches(index, host),
            _ => true,
        }
    }

    /// Whether a rule lets a folder with all in it be written, in which this lies.
    fn may_be_written(&self, index: usize) -> bool {
        let mut found = false;
        for one in &self.inputs.files {
            for table in one.tables() {
                table.candidates(self.inputs.judging, index, &mut |rule| {
                    let folder = matches!(&rule.pattern, Pattern::Path(pattern) if pattern.is_folder());
                    found |= folder
                        && rule.verdict == Verdict::Allow
                        && rule.verb == Verb::Write
                        && rule.matches(self.inputs.judging, index) == Tri::Yes;
                });
            }
        }
        found
    }

    /// Whether a held run could reach a host.
    fn reaches(&self, index: usize, host: &HostTarget) -> bool {
        let judging = self.inputs.judging;
        // Its own servers are inside, and nobody else's are there.
        if let HostTarget::Exact { host, .. } = host
            && is_loopback(host)
        {
            return true;
        }
        let named = self.holds.iter().all(|hold| {
            hold.section.connect.iter().any(|one| one.pattern.matches(host, Purpose::Permit) == Tri::Yes)
                && hold.section.connect_except.iter().all(|one| one.matches(host, Purpose::Restrict) == Tri::No)
        });
        let mut allowed = false;
        for one in &self.inputs.files {
            for table in one.tables() {
                table.candidates(judging, index, &mut |rule| {
                    allowed |= rule.verdict == Verdict::Allow
                        && rule.verb == Verb::Connect
                        && rule.when.is_empty()
                        && rule.matches(judging, index) == Tri::Yes;
                });
            }
        }
        named || allowed
    }
}

impl Hold<'_> {
    fn covers(&self, run: RunId) -> bool {
        usize::try_from(run.0).ok().and_then(|at| self.covered.get(at)).copied().unwrap_or_default()
    }
}

/// The program in whose words something stands that nobody can see through: the shell meets it while it makes them.
fn words_of(judging: &Judging<'_>, effect: &Effect) -> Option<RunId> {
    let (span, runs) = (effect.span, &judging.analysis()?.runs);
    let around = (0_u32..).map(RunId).zip(runs).filter(|(_, run)| {
        matches!(effect.target, Target::Anything)
            && span.start < span.end
            && run.span.start <= span.start
            && span.end <= run.span.end
    });
    around.min_by_key(|(_, run)| run.span.end - run.span.start).map(|(id, _)| id)
}

/// Which programs a hold is about: those that it names, and what they start, since what starts in a hold stays in it.
fn covered(judging: &Judging<'_>, section: &HoldSection, runs: usize) -> Vec<bool> {
    let code = section.run.iter().any(|pattern| matches!(pattern, RunPattern::Kind(RunKind::Code)));
    let named = |at: usize| {
        let Some(id) = u32::try_from(at).ok().map(RunId) else { return false };
        let unknown = || {
            let run = judging.run(id);
            code && (run.is_some_and(nobody_knows) || repository::starts_something(judging, id))
        };
        (section.run.iter().any(|pattern| judging.matches_run(pattern, id, Purpose::Permit) == Tri::Yes) || unknown())
            && section.run_except.iter().all(|pattern| judging.matches_run(pattern, id, Purpose::Restrict) == Tri::No)
    };
    let excepted = |at: usize| {
        let Some(id) = u32::try_from(at).ok().map(RunId) else { return true };
        section.run_except.iter().any(|pattern| judging.matches_run(pattern, id, Purpose::Restrict) != Tri::No)
    };
    let own: Vec<bool> = (0..runs).map(named).collect();
    let started = |at: usize| {
        let mut parent = judging.analysis().and_then(|analysis| analysis.runs.get(at)?.parent);
        for _ in 0..sayso_shell::limit::MAX_DEPTH {
            let Some(id) = parent else { return false };
            let Ok(at) = usize::try_from(id.0) else { return false };
            if own.get(at).copied().unwrap_or_default() {
                return true;
            }
            parent = judging.run(id).and_then(|run| run.parent);
        }
        false
    };
    (0..runs).map(|at| own.get(at).copied().unwrap_or_default() || started(at) && !excepted(at)).collect()
}

/// Whether this is a program of which Sayso has no text: it is code that nobody can see through, as any other. Only here:
/// a rule that allows code does not mean every such program.
fn nobody_knows(run: &Run) -> bool {
    let program = &run.program;
    !program.known && !program.builtin && program.shadow.is_none() && program.base.is_some() && !run.guessed
}

/// Whether an Ask of the default has no other reason than that nobody can see what would happen.
fn nobody_sees(effect: &Effect, code: Code) -> bool {
    match effect.target {
        Target::Program(_) => code == Code::Default,
        Target::Code { .. } => code == Code::Code,
        Target::Option(_) => matches!(
            code,
            Code::RunsCode
                | Code::InlineCode
                | Code::RunsCommand
                | Code::UnclearScript
                | Code::Environment
                | Code::UnknownOption
                | Code::UnknownSubcommand
                | Code::DynamicOption
        ),
        Target::Anything => code == Code::Opaque,
        _ => false,
    }
}

/// What is done where no hold reaches, or to what no hold lets near.
fn is_elsewhere(code: Code) -> bool {
    matches!(
        code,
        Code::LeavesSandbox
            | Code::UnseenInput
            | Code::RunsElsewhere
            | Code::ChangesSystem
            | Code::ChangesService
            | Code::Publishes
            | Code::Signals
    )
}

/// Whether the call is a command for a shell, and nothing else.
fn is_command(judging: &Judging<'_>) -> bool {
    let operation = judging.operation;
    operation.tool.canonical == "bash_execute" && !operation.tool.mcp && !operation.tool.disguised
}
