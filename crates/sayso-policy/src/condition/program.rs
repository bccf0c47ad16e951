//! Conditions on the program that an effect belongs to: its options, variables, operands, and its place in a pipeline.

use super::{EnvPattern, HostList, TextList, best};
use crate::judging::Judging;
use crate::pattern::{Line, Purpose, RunPattern, too_long};
use crate::rule::run_of;
use crate::word::{Code, Tri};
use sayso_shell::program::{Facets, is_fact};
use sayso_shell::{Carry, Effect, NamedBy, Run, RunId, Target, Verb};

/// Whether a program has these options, in any spelling.
pub(super) fn flags(run: &Run, names: &[String]) -> Tri {
    let present = names.iter().all(|name| run.options.iter().any(|option| option.name == *name));
    let open = run.open_options && !names.iter().any(|name| is_fact(name));
    match (present, open) {
        (true, _) => Tri::Yes,
        (false, true) => Tri::Maybe,
        (false, false) => Tri::No,
    }
}

/// Whether the program gets the value of such a variable that holds a secret.
pub(super) fn uses_secret(judging: &Judging<'_>, effect: &Effect, pattern: &EnvPattern) -> Tri {
    let id = run_of(effect);
    let used = |effect: &Effect| {
        matches!(&effect.carry, Carry::Named { code, by: NamedBy::Env(name) }
            if Code::of(*code) == Some(Code::SecretVariable) && pattern.name.matches(name.as_bytes()))
    };
    let mut own = judging.operation.effects.iter().filter(|effect| id.is_some() && run_of(effect) == id);
    (pattern.value.is_none() && own.any(used)).into()
}

/// Whether one of the words after the subcommand matches.
pub(super) fn operand(run: &Run, patterns: &TextList) -> Tri {
    let places = run.words.iter().skip(usize::from(run.subcommands));
    let words = places.filter_map(|index| run.argv.get(usize::from(*index)));
    best(words.map(|word| patterns.matches_word(word)))
}

/// Whether a program that matches stands behind this one in its pipeline.
pub(super) fn piped_to(judging: &Judging<'_>, run: &Run, patterns: &[RunPattern], purpose: Purpose) -> Tri {
    let (Some(mine), Some(programs)) = (run.pipe, judging.programs()) else { return Tri::No };
    let line = match programs.line(run) {
        Line::Whole(line) => line,
        Line::TooLong => return too_long(purpose),
    };
    let right = line.iter().filter(|other| other.place > mine.place);
    best(right.flat_map(|other| patterns.iter().map(move |pattern| judging.matches_run(pattern, other.id, purpose))))
}

/// Whether a shell stands behind this program in its pipeline.
pub(super) fn piped_to_shell(judging: &Judging<'_>, id: RunId) -> Tri {
    let Some(mine) = judging.pipe_place(id) else { return Tri::No };
    let shells = judging.shells(mine.pipeline, |run| run.program.facets().has(Facets::SHELL));
    let behind = |place: Option<u16>| place.is_some_and(|place| place > mine.place);
    match (behind(shells.certain), behind(shells.possible)) {
        (true, _) => Tri::Yes,
        (false, true) => Tri::Maybe,
        (false, false) => Tri::No,
    }
}

/// Something is connected to, and each of its hosts matches.
pub(super) fn connects_to(judging: &Judging<'_>, effect: &Effect, hosts: &HostList, purpose: Purpose) -> Tri {
    let id = run_of(effect);
    let mine = judging.operation.effects.iter().filter(|other| other.verb == Verb::Connect && run_of(other) == id);
    let answers = mine.map(|other| match &other.target {
        Target::Host(host) => hosts.matches(host, purpose),
        _ => Tri::Maybe,
    });
    answers.reduce(Tri::and).unwrap_or(Tri::No)
}

/// No path and no host is named: the program can only see what it is given on standard input.
pub(super) fn stdin_only(judging: &Judging<'_>, effect: &Effect) -> bool {
    let id = run_of(effect);
    !judging.operation.effects.iter().any(|other| {
        run_of(other) == id
            && (matches!(
                other.target,
                Target::Path(_) | Target::Host(_) | Target::Option(_) | Target::Code { .. } | Target::Anything
            ) || matches!(other.carry, Carry::Named { .. }))
    })
}

/// Whether the program of an effect does nothing but read.
pub(super) fn only_reads(judging: &Judging<'_>, effect: &Effect) -> bool {
    let Some(id) = run_of(effect) else { return false };
    judging.operation.effects.iter().filter(|other| run_of(other) == Some(id)).all(|other| {
        matches!(other.verb, Verb::Run | Verb::Read)
            && other.carry == Carry::Plain
            && matches!(other.target, Target::Program(_) | Target::Path(_))
    })
}
