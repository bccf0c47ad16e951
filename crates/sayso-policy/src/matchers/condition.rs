//! What a matcher asks, and how surely an effect answers.

use super::Asked;
use crate::normalise::Kind;
use crate::pattern::{HostPattern, PathPattern, Purpose, RunPattern, ToolPattern};
use crate::set;
use crate::word::Tri;
use sayso_shell::program::{Facets, facets};
use sayso_shell::{Carry, Effect, NamedBy, RunId, Target, Verb};
use std::path::{Path, PathBuf};

/// What a matcher asks of an effect.
#[derive(Clone, Debug)]
pub(super) enum Condition {
    Command(Command),
    Kind(Kind),
    Tool(Vec<ToolPattern>),
    Path(&'static [Verb], PathPattern),
    Host(HostPattern),
    Within(PathBuf),
    PipedToShell,
    /// The program does nothing but read.
    OnlyReads,
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
    /// A pattern that could not be read: it allows nothing, and may deny anything.
    Broken,
}

/// Commands of one program.
#[derive(Clone, Debug)]
pub(super) struct Command {
    program: String,
    subcommands: Vec<String>,
    flags: Vec<String>,
    /// One pattern for each subcommand; `None` if one cannot be read.
    patterns: Option<Vec<RunPattern>>,
}

impl Command {
    pub(super) fn new(program: &str) -> Self {
        Self { program: program.to_owned(), subcommands: Vec::new(), flags: Vec::new(), patterns: None }.compiled()
    }

    pub(super) fn with_subcommands<S: AsRef<str>>(mut self, subcommands: impl IntoIterator<Item = S>) -> Self {
        self.subcommands.extend(subcommands.into_iter().map(|subcommand| subcommand.as_ref().to_owned()));
        self.compiled()
    }

    pub(super) fn with_flag(mut self, flag: &str) -> Self {
        self.flags.push(flag.to_owned());
        self.compiled()
    }

    fn compiled(mut self) -> Self {
        // These texts become a pattern, so nothing in them may be one: a name with a blank is no program's.
        let is_word = |text: &str| {
            !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || matches!(c, '|' | '{' | '}' | '@'))
        };
        let program = is_word(&self.program) && !self.program.starts_with("re:");
        let flags = self.flags.iter().all(|flag| is_word(flag) && flag.starts_with('-'));
        let words = |text: &String| text.split_whitespace().all(|word| is_word(word) && !word.starts_with('-'));
        if !(program && flags && self.subcommands.iter().all(words)) {
            self.patterns = None;
            return self;
        }
        let flags: String = self.flags.iter().map(|flag| format!(" {flag}")).collect();
        let parse = |text: &str| RunPattern::parse(text, &mut |_| Ok(Vec::new())).ok();
        self.patterns = if self.subcommands.is_empty() {
            parse(&format!("{}{flags}", self.program)).map(|pattern| vec![pattern])
        } else {
            self.subcommands.iter().map(|words| parse(&format!("{} {words}{flags}", self.program))).collect()
        };
        self
    }

    /// A rule for a program as a whole means each of its subcommands; what an option does it does not mean.
    fn means_every_subcommand(&self, by: &NamedBy) -> bool {
        let whole = self.subcommands.is_empty() && !matches!(self.program.as_str(), "" | "*");
        whole && matches!(by, NamedBy::Words(_) | NamedBy::Task(_))
    }

    fn matches(&self, asked: &Asked<'_>, id: RunId, purpose: Purpose) -> Tri {
        let (Some(patterns), Some(programs)) = (&self.patterns, &asked.programs) else {
            return broken(purpose);
        };
        patterns.iter().map(|pattern| pattern.matches(programs, id, &asked.bases, purpose)).max().unwrap_or(Tri::No)
    }
}

fn broken(purpose: Purpose) -> Tri {
    if purpose == Purpose::Permit { Tri::No } else { Tri::Maybe }
}

impl Condition {
    pub(super) fn tool(pattern: &str) -> Self {
        ToolPattern::parse(pattern).map_or(Self::Broken, Self::Tool)
    }

    pub(super) fn path(verbs: &'static [Verb], pattern: &str) -> Self {
        PathPattern::parse(pattern).map_or(Self::Broken, |pattern| Self::Path(verbs, pattern))
    }

    pub(super) fn host(pattern: &str) -> Self {
        HostPattern::parse(pattern).map_or(Self::Broken, Self::Host)
    }

    /// The commands of a built-in set.
    pub(super) fn set(name: &str) -> Self {
        let members = set::built_in(name).map_or_else(Vec::new, set::BuiltIn::all);
        let mut patterns = Vec::new();
        for text in members.iter().flat_map(|member| crate::pattern::expand_braces(member).unwrap_or_default()) {
            patterns.extend(RunPattern::parse(&text, &mut |_| Ok(Vec::new())).ok());
        }
        Self::Command(Command {
            program: String::new(),
            subcommands: Vec::new(),
            flags: Vec::new(),
            patterns: Some(patterns),
        })
    }

    pub(super) fn matches(&self, asked: &Asked<'_>, index: usize, purpose: Purpose) -> Tri {
        let Some(effect) = asked.effect(index) else { return broken(purpose) };
        match self {
            Self::Broken => broken(purpose),
            Self::Command(command) => match asked.run_of(effect) {
                Some(id) => command.matches(asked, id, purpose),
                None => Tri::No,
            },
            Self::Kind(kind) => is_of_kind(asked, *kind, purpose).into(),
            Self::Tool(patterns) => ToolPattern::any_matches(patterns, &asked.operation.tool, purpose).into(),
            Self::Path(verbs, pattern) => path(asked, index, effect, verbs, pattern, purpose),
            Self::Host(pattern) => match &effect.target {
                Target::Host(host) => pattern.matches(host, purpose),
                _ => Tri::No,
            },
            Self::Within(directory) => match asked.directory(directory) {
                Some(directory) => within(asked, effect, index, &directory),
                None => broken(purpose),
            },
            Self::PipedToShell => match asked.run_of(effect) {
                Some(id) => piped_to_shell(asked, id),
                None => Tri::No,
            },
            Self::OnlyReads => only_reads(asked, effect).into(),
            Self::All(all) => all.iter().map(|one| one.matches(asked, index, purpose)).min().unwrap_or(Tri::Yes),
            Self::Any(any) => any.iter().map(|one| one.matches(asked, index, purpose)).max().unwrap_or(Tri::No),
            // To be sure that something does not match, it is looked at the other way.
            Self::Not(inner) => !inner.matches(asked, index, opposite(purpose)),
        }
    }

    /// Whether a rule that matches this effect names it, so that it speaks of what no plain allow carries.
    pub(super) fn names(&self, asked: &Asked<'_>, index: usize, purpose: Purpose) -> bool {
        let Some(effect) = asked.effect(index) else { return false };
        match self {
            Self::Command(command) => {
                let (Carry::Named { by, .. }, Some(run)) =
                    (&effect.carry, asked.run_of(effect).and_then(|id| asked.run(id)))
                else {
                    return false;
                };
                effect.target != Target::Anything
                    && (command.means_every_subcommand(by)
                        || command.patterns.iter().flatten().any(|pattern| pattern.names(by, run, &asked.bases)))
            }
            Self::Kind(Kind::Execute) => true,
            Self::Path(..) | Self::Host(_) => self.matches(asked, index, purpose) == Tri::Yes,
            Self::All(all) => all.iter().any(|one| one.names(asked, index, purpose)),
            Self::Any(any) => {
                any.iter().any(|one| one.names(asked, index, purpose) && one.matches(asked, index, purpose) == Tri::Yes)
            }
            Self::Kind(_)
            | Self::Tool(_)
            | Self::Within(_)
            | Self::PipedToShell
            | Self::OnlyReads
            | Self::Not(_)
            | Self::Broken => false,
        }
    }
}

impl Condition {
    /// Whether all that this matches is bound to a directory.
    pub(super) fn is_bound(&self) -> bool {
        match self {
            Self::Within(_) => true,
            Self::All(all) => all.iter().any(Self::is_bound),
            Self::Any(any) => !any.is_empty() && any.iter().all(Self::is_bound),
            _ => false,
        }
    }
}

fn opposite(purpose: Purpose) -> Purpose {
    match purpose {
        Purpose::Permit => Purpose::Restrict,
        Purpose::Restrict => Purpose::Permit,
    }
}

/// What an agent reports counts only against it.
fn is_of_kind(asked: &Asked<'_>, kind: Kind, purpose: Purpose) -> bool {
    let (derived, reported) = (asked.operation.kind, asked.operation.reported_kind);
    match purpose {
        Purpose::Permit => derived == kind && reported.is_none_or(|reported| reported == kind),
        Purpose::Restrict => derived == kind || reported == Some(kind),
    }
}

fn path(
    asked: &Asked<'_>,
    index: usize,
    effect: &Effect,
    verbs: &[Verb],
    pattern: &PathPattern,
    purpose: Purpose,
) -> Tri {
    let Target::Path(target) = &effect.target else { return Tri::No };
    let edits = asked.operation.kind == Kind::Edit && asked.operation.analysis.is_none();
    let part_of_edit = edits && effect.verb == Verb::Read && verbs.contains(&Verb::Write) && purpose == Purpose::Permit;
    if !verbs.contains(&effect.verb) && !part_of_edit {
        return Tri::No;
    }
    let resolved = asked.resolved(index).cloned().unwrap_or_default();
    pattern.matches(effect.verb, target, &resolved, &asked.bases, &asked.tree, purpose)
}

/// Whether an effect stays in a directory, and with it all that its program does.
fn within(asked: &Asked<'_>, effect: &Effect, index: usize, directory: &Path) -> Tri {
    let id = asked.run_of(effect);
    match &effect.target {
        // What connects, what cannot be seen through and what an option does is nowhere.
        Target::Host(_) | Target::Anything => return Tri::No,
        Target::Option(_) | Target::Code { .. } => return Tri::Maybe,
        Target::Path(_) | Target::Program(_) | Target::Wrapper(_) | Target::Tool => {}
    }
    if let Some(run) = id.and_then(|id| asked.run(id))
        && !run.program.known
        && !run.program.builtin
    {
        return Tri::Maybe;
    }
    let executes = asked.operation.analysis.is_some();
    let mut answer = if executes { folder_within(asked.folder(id), directory) } else { Tri::Yes };
    for (at, other) in asked.operation.effects.iter().enumerate() {
        // A redirect belongs to no program, so it bounds them all.
        if matches!(other.target, Target::Path(_)) && (at == index || other.run == id || other.run.is_none()) {
            answer = answer.and(path_within(asked, at, directory));
        }
    }
    answer
}

fn folder_within(folder: Option<&Path>, directory: &Path) -> Tri {
    folder.map_or(Tri::Maybe, |folder| folder.starts_with(directory).into())
}

fn path_within(asked: &Asked<'_>, index: usize, directory: &Path) -> Tri {
    match asked.resolved(index).and_then(|resolved| resolved.canonical.as_deref()) {
        Some(path) => {
            let inside = Tri::from(path.starts_with(directory));
            let climbs = matches!(
                asked.effect(index).map(|effect| &effect.target),
                Some(Target::Path(sayso_shell::PathTarget::Glob { pattern, .. }))
                    if pattern.as_bytes().split(|byte| *byte == b'/').any(|part| part == b"..")
            );
            if climbs { inside.and(Tri::Maybe) } else { inside }
        }
        None => Tri::Maybe,
    }
}

/// Whether a shell stands behind this program in its pipeline.
fn piped_to_shell(asked: &Asked<'_>, id: RunId) -> Tri {
    let Some(mine) = asked.place(id) else { return Tri::No };
    let shells = asked.shells(mine.pipeline, |base| facets(base).has(Facets::SHELL));
    let behind = |place: Option<u16>| place.is_some_and(|place| place > mine.place);
    match (behind(shells.certain), behind(shells.possible)) {
        (true, _) => Tri::Yes,
        (false, true) => Tri::Maybe,
        (false, false) => Tri::No,
    }
}

/// Whether the program of an effect does nothing but read.
fn only_reads(asked: &Asked<'_>, effect: &Effect) -> bool {
    let Some(id) = asked.run_of(effect) else { return false };
    asked.operation.effects.iter().filter(|other| asked.run_of(other) == Some(id)).all(|other| {
        matches!(other.verb, Verb::Run | Verb::Read)
            && other.carry == Carry::Plain
            && matches!(other.target, Target::Program(_) | Target::Path(_))
    })
}
