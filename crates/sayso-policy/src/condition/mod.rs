//! Conditions: what a rule's `when` and a ruleset's matcher require of a call, answered yes, no or maybe.
//!
//! Both use this one enum. A rule has a flat list, all of which must hold; a matcher is a tree of [`Condition::All`],
//! [`Condition::Any`] and [`Condition::Not`]. The answer depends on the [`Purpose`]: a condition of an allow says yes
//! only for what is certain, one of an ask or deny says maybe where something is not known.

mod call;
mod command;
mod place;
mod program;
mod text;
mod when;

pub(crate) use call::is_actor;
pub(crate) use command::Command;
pub(crate) use text::{EnvPattern, HostList, TextList, TextPattern};

use crate::judging::Judging;
use crate::normalise::Kind;
use crate::past::{After, Known};
use crate::pattern::{HostPattern, PathPattern, Purpose, RunPattern, ToolPattern};
use crate::rule::{Pattern, run_of};
use crate::set;
use crate::text::Who;
use crate::word::Tri;
use sayso_shell::{Carry, Target, Verb};
use std::path::PathBuf;

/// What is required of one effect, of its program, or of the call that it belongs to.
#[derive(Clone, Debug)]
pub(crate) enum Condition {
    /// `when.arg`: an argument by its path.
    Argument(Vec<String>, TextList),
    /// `when.for`: one of these asks. Where the file believes what agents report, also for an allow.
    Actor {
        any: Vec<Who>,
        believes: bool,
    },
    /// `when.within`: everything that the program touches lies within one of these.
    Within(Vec<PathPattern>),
    /// `when.flag`, canonical names; the inner list is one flag as written (`-rf` is two).
    Flags(Vec<Vec<String>>),
    /// `when.env`: one of these variables is set for the program.
    Env(Vec<EnvPattern>),
    /// `when.operand`: one of the words after the subcommand.
    Operand(TextList),
    /// `when.piped_to`: one of these stands behind the program in its pipeline.
    PipedTo(Vec<RunPattern>),
    /// `when.host`: the program connects, and only to such hosts.
    ConnectsTo(HostList),
    /// `when.stdin_only`: the program names no path and no host.
    StdinOnly(bool),
    /// `when.build_output`: the program deletes nothing but build output.
    BuildOutput(bool),
    /// `when.after`: an earlier call of the session, or this one, did such a thing.
    After(After),
    /// `when.self_written`: the session or this call wrote a file that the program goes by.
    SelfWritten(bool),

    /// Commands of a program.
    Command(Command),
    /// Operations of a kind.
    Kind(Kind),
    /// Calls of a tool.
    Tool(Vec<ToolPattern>),
    /// An effect of one of these verbs on such a path.
    Path(&'static [Verb], PathPattern),
    /// A connection to such a host.
    Host(HostPattern),
    /// Everything that the program touches lies in this directory.
    InDirectory(PathBuf),
    /// A shell stands behind the program in its pipeline.
    PipedToShell,
    /// The program does nothing but read.
    OnlyReads,

    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
    /// A pattern that could not be read: it allows nothing, and may deny anything.
    Broken,
}

impl Condition {
    pub(crate) fn tool(pattern: &str) -> Self {
        ToolPattern::parse(pattern).map_or(Self::Broken, Self::Tool)
    }

    pub(crate) fn path(verbs: &'static [Verb], pattern: &str) -> Self {
        PathPattern::parse(pattern).map_or(Self::Broken, |pattern| Self::Path(verbs, pattern))
    }

    pub(crate) fn host(pattern: &str) -> Self {
        HostPattern::parse(pattern).map_or(Self::Broken, Self::Host)
    }

    /// The commands of a built-in set.
    pub(crate) fn set(name: &str) -> Self {
        let members = set::built_in(name).map_or_else(Vec::new, |set| set.all(&sayso_shell::program::BUILT_IN));
        let mut patterns = Vec::new();
        for text in members.iter().flat_map(|member| crate::pattern::expand_braces(member).unwrap_or_default()) {
            patterns.extend(RunPattern::parse(&text, &mut |_| Ok(Vec::new())).ok());
        }
        Self::Command(Command::of_patterns(patterns))
    }

    /// Whether it holds for an effect.
    pub(crate) fn holds(&self, judging: &Judging<'_>, index: usize, purpose: Purpose) -> Tri {
        let Some(effect) = judging.operation.effects.get(index) else { return broken(purpose) };
        let run = || run_of(effect).and_then(|id| judging.run(id));
        match self {
            Self::Broken => broken(purpose),
            Self::All(all) => all_hold(all, judging, index, purpose),
            Self::Any(any) => best(any.iter().map(|one| one.holds(judging, index, purpose))),
            // To be sure that something does not match, it is looked at the other way.
            Self::Not(inner) => !inner.holds(judging, index, purpose.opposite()),

            Self::Argument(path, patterns) => call::argument(judging, path, patterns).into(),
            Self::Actor { any, believes } => call::asks(any, &judging.operation.actor, purpose, *believes).into(),
            Self::Kind(kind) => call::is_of_kind(judging, *kind, purpose).into(),
            Self::Tool(patterns) => ToolPattern::any_matches(patterns, &judging.operation.tool, purpose).into(),

            Self::Within(patterns) => place::within(judging, index, patterns, purpose),
            Self::InDirectory(directory) => match judging.directory(directory) {
                Some(directory) => place::in_directory(judging, index, &directory),
                None => broken(purpose),
            },
            Self::Path(verbs, pattern) => place::path(judging, index, verbs, pattern, purpose),
            Self::Host(pattern) => match &effect.target {
                Target::Host(host) => pattern.matches(host, purpose),
                _ => Tri::No,
            },

            Self::Command(command) => run_of(effect).map_or(Tri::No, |id| command.matches(judging, id, purpose)),
            Self::Flags(flags) => {
                run().map_or(Tri::No, |run| best(flags.iter().map(|names| program::flags(run, names))))
            }
            Self::Env(patterns) => run().map_or(Tri::No, |run| {
                let used = |pattern: &EnvPattern| program::uses_secret(judging, effect, pattern);
                best(patterns.iter().map(|pattern| pattern.holds(run).max(used(pattern))))
            }),
            Self::Operand(patterns) => run().map_or(Tri::No, |run| program::operand(run, patterns)),
            Self::PipedTo(patterns) => run().map_or(Tri::No, |run| program::piped_to(judging, run, patterns, purpose)),
            Self::PipedToShell => run_of(effect).map_or(Tri::No, |id| program::piped_to_shell(judging, id)),
            Self::ConnectsTo(hosts) => run().map_or(Tri::No, |_| program::connects_to(judging, effect, hosts, purpose)),
            Self::StdinOnly(wanted) => {
                run().map_or(Tri::No, |_| (program::stdin_only(judging, effect) == *wanted).into())
            }
            Self::BuildOutput(wanted) => {
                run().map_or(Tri::No, |_| (judging.removes_build_output(run_of(effect)) == *wanted).into())
            }
            Self::After(after) => after.holds(judging, index),
            Self::SelfWritten(wanted) => run_of(effect).map_or(Tri::No, |id| {
                let found = judging.self_written(id).answer.unwrap_or(Tri::No);
                if *wanted { found } else { !found }
            }),
            Self::OnlyReads => program::only_reads(judging, effect).into(),
        }
    }

    /// Whether a rule that matches this effect names it, so that it speaks of what no plain allow carries.
    pub(crate) fn names(&self, judging: &Judging<'_>, index: usize, purpose: Purpose) -> bool {
        let Some(effect) = judging.operation.effects.get(index) else { return false };
        match self {
            Self::Command(command) => {
                let (Carry::Named { by, .. }, Some(run)) =
                    (&effect.carry, run_of(effect).and_then(|id| judging.run(id)))
                else {
                    return false;
                };
                effect.target != Target::Anything && command.names(by, run, &judging.bases)
            }
            Self::Kind(Kind::Execute) => true,
            Self::Path(..) | Self::Host(_) => self.holds(judging, index, purpose) == Tri::Yes,
            Self::All(all) => all.iter().any(|one| one.names(judging, index, purpose)),
            Self::Any(any) => any
                .iter()
                .any(|one| one.names(judging, index, purpose) && one.holds(judging, index, purpose) == Tri::Yes),
            _ => false,
        }
    }

    /// Whether all that this matches is bound to a directory.
    pub(crate) fn is_bound(&self) -> bool {
        match self {
            Self::InDirectory(_) => true,
            Self::All(all) => all.iter().any(Self::is_bound),
            Self::Any(any) => !any.is_empty() && any.iter().all(Self::is_bound),
            _ => false,
        }
    }

    /// Why it holds, where that is not in the call itself.
    pub(crate) fn because(&self, judging: &Judging<'_>, index: usize) -> Option<String> {
        let effect = judging.operation.effects.get(index)?;
        match self {
            Self::After(after) => after.because(judging),
            Self::SelfWritten(true) => {
                judging.self_written(run_of(effect)?).because(judging.operation.workspace.root())
            }
            _ => None,
        }
    }

    /// Whether it is about who asks, and does not hold for what is stated of them.
    pub(crate) fn holds_by_report(&self, actor: &crate::word::Actor) -> bool {
        matches!(self, Self::Actor { any, believes } if !call::asks(any, actor, Purpose::Permit, *believes))
    }

    /// Whether it holds for every call of an actor or for none.
    pub(crate) fn asks_only_who(&self) -> bool {
        matches!(self, Self::Actor { .. })
    }

    /// Whether `when.host` says which hosts are meant.
    pub(crate) fn names_hosts(&self) -> bool {
        matches!(self, Self::ConnectsTo(hosts) if !hosts.any.is_empty())
    }

    /// Whether `when.env` names this variable.
    pub(crate) fn names_env(&self, name: &str) -> bool {
        matches!(self, Self::Env(patterns) if patterns.iter().any(|pattern| pattern.names(name)))
    }

    /// What `when.after` looks for in calls, and what it excepts.
    pub(crate) fn earlier(&self) -> impl Iterator<Item = &Pattern> {
        let after = if let Self::After(after) = self { Some(after) } else { None };
        after.into_iter().flat_map(|after| after.any.iter().chain(&after.except))
    }

    /// Whether `when.after` may hold, as far as earlier calls decide it.
    pub(crate) fn may_come_after(&self, known: &Known) -> bool {
        !matches!(self, Self::After(after) if !known.lost && !known.after.contains_key(&after.key))
    }

    /// The paths of `when.within`.
    pub(crate) fn paths(&self) -> &[PathPattern] {
        match self {
            Self::Within(patterns) => patterns,
            _ => &[],
        }
    }
}

/// Whether all of these hold.
pub(crate) fn all_hold(all: &[Condition], judging: &Judging<'_>, index: usize, purpose: Purpose) -> Tri {
    all.iter().map(|one| one.holds(judging, index, purpose)).min().unwrap_or(Tri::Yes)
}

/// The answer for a list that is any-of.
fn best(answers: impl Iterator<Item = Tri>) -> Tri {
    answers.max().unwrap_or(Tri::No)
}

/// The answer where a condition cannot be looked at: it permits nothing, and may restrict anything.
fn broken(purpose: Purpose) -> Tri {
    if purpose == Purpose::Permit { Tri::No } else { Tri::Maybe }
}
