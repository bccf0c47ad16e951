//! Kinds of runs, by what they do rather than by their names: builds, scripts, inline code.
//!
//! `@builds`, `@scripts` and `@code` stand for them. A program is of a kind by its facets and by what the analysis found
//! of this very run: `python3 x.py` is a script, `python3 -c 'x'` is code, `python3 --version` is neither.

use super::Purpose;
use super::command::is_what_it_says;
use crate::word::{Code, Tri};
use sayso_shell::program::{Facets, is_fact};
use sayso_shell::{Analysis, Carry, Effect, Run, RunId, Shadow, Target};

/// A kind of run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunKind {
    /// It compiles, formats or tests the project, or runs code of it.
    Builds,
    /// An interpreter or a shell with a script file, or a program of the project itself.
    Scripts,
    /// Code that the command itself holds, in a language that Sayso does not read.
    Code,
}

impl RunKind {
    /// The kind that a set's name stands for.
    pub(crate) fn named(set: &str) -> Option<Self> {
        Some(match set {
            "builds" => Self::Builds,
            "scripts" => Self::Scripts,
            "code" => Self::Code,
            _ => return None,
        })
    }

    const fn bit(self) -> u8 {
        match self {
            Self::Builds => 1,
            Self::Scripts => 2,
            Self::Code => 4,
        }
    }

    /// Whether a run is of this kind.
    pub(super) fn matches(self, kinds: &[Kinds], id: RunId, run: &Run, purpose: Purpose) -> Tri {
        let found = usize::try_from(id.0).ok().and_then(|at| kinds.get(at)).is_some_and(|kinds| kinds.has(self));
        if run.guessed {
            return if found && purpose == Purpose::Restrict { Tri::Maybe } else { Tri::No };
        }
        // By its name alone it is a build: the name must mean what it says.
        let found = found && (purpose == Purpose::Restrict || self != Self::Builds || is_what_it_says(run));
        // Which program it is, and so what it does, is open.
        if !found && run.program.base.is_none() && purpose == Purpose::Restrict { Tri::Maybe } else { found.into() }
    }

    /// Whether a rule for this kind names an effect of a run that is of it: the code that makes it one.
    pub(crate) fn names(self, effect: &Effect) -> bool {
        let Carry::Named { code, .. } = &effect.carry else { return false };
        let code = Code::of(*code);
        match self {
            Self::Builds => false,
            Self::Scripts => {
                matches!(effect.target, Target::Code { .. } | Target::Option(_)) && code == Some(Code::RunsCode)
            }
            Self::Code => matches!(effect.target, Target::Code { .. }) && code == Some(Code::InlineCode),
        }
    }
}

/// The kinds of one run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Kinds(u8);

impl Kinds {
    fn has(self, kind: RunKind) -> bool {
        self.0 & kind.bit() != 0
    }

    fn add(&mut self, kind: RunKind) {
        self.0 |= kind.bit();
    }
}

/// The kinds of every run of an analysis.
pub(super) fn kinds(analysis: &Analysis) -> Vec<Kinds> {
    let mut found = vec![Kinds::default(); analysis.runs.len()];
    for (kinds, run) in found.iter_mut().zip(&analysis.runs) {
        if run.program.facets().has(Facets::BUILDS) || run.options.iter().any(|option| is_fact(&option.name)) {
            kinds.add(RunKind::Builds);
        }
        if is_script(run) {
            kinds.add(RunKind::Scripts);
        }
    }
    for effect in &analysis.effects {
        let Target::Code { run, .. } = effect.target else { continue };
        let Some(kinds) = usize::try_from(run.0).ok().and_then(|at| found.get_mut(at)) else { continue };
        let inline = matches!(&effect.carry, Carry::Named { code, .. } if Code::of(*code) == Some(Code::InlineCode));
        kinds.add(if inline { RunKind::Code } else { RunKind::Scripts });
    }
    found
}

/// A program that lies in the project or where anybody may write, or a shell that is given a file or takes one in. What a shell is given
/// as text is part of the command, and judged as such.
fn is_script(run: &Run) -> bool {
    let own = matches!(run.program.shadow, Some(Shadow::Workspace | Shadow::WorldWritable | Shadow::Written));
    let text = || run.options.iter().any(|option| option.name == "-c");
    let named = run.program.path.is_some() || run.name().is_some_and(|name| name.contains('/'));
    let sources = run.program.builtin && run.program.facets().has(Facets::READS_PLAIN);
    own && named || sources || run.program.facets().has(Facets::SHELL) && !run.words.is_empty() && !text()
}
