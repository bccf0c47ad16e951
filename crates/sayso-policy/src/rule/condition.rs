//! `when`: conditions of a rule, all of which must hold.

use crate::judging::Judging;
use crate::pattern::{Glob, HostPattern, Line, PathPattern, Purpose, RunPattern, too_long};
use crate::rule::run_of;
use crate::text::Who;
use crate::word::{Actor, Request, Tri};
use sayso_shell::program::is_fact;
use sayso_shell::{Carry, Effect, HostTarget, NamedBy, PathTarget, Run, RunId, Target, Verb, Word};
use serde_json::Value;

/// A pattern on a plain text: a glob or `re:`.
#[derive(Clone, Debug)]
pub(crate) enum TextPattern {
    Glob(Glob),
    Regex(regex::Regex),
}

/// A list of text patterns: any of them, none of the `!` ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct TextList {
    pub any: Vec<TextPattern>,
    pub except: Vec<TextPattern>,
}

impl TextPattern {
    pub(crate) fn matches(&self, text: &str) -> bool {
        match self {
            Self::Glob(glob) => glob.matches(text.as_bytes()),
            Self::Regex(regex) => regex.is_match(text),
        }
    }

    fn matches_word(&self, word: &Word) -> Tri {
        match (self, word) {
            (Self::Glob(glob), Word::Exact(text)) => glob.matches(text.as_bytes()).into(),
            (Self::Regex(regex), Word::Exact(text)) => regex.is_match(&text.to_string_lossy()).into(),
            (Self::Glob(glob), Word::Dynamic(shape)) if !glob.may_match(shape) => Tri::No,
            _ => Tri::Maybe,
        }
    }
}

impl TextList {
    pub(crate) fn is_empty(&self) -> bool {
        self.any.is_empty() && self.except.is_empty()
    }

    fn matches(&self, text: &str) -> bool {
        (self.any.is_empty() || self.any.iter().any(|pattern| pattern.matches(text)))
            && !self.except.iter().any(|pattern| pattern.matches(text))
    }

    fn matches_word(&self, word: &Word) -> Tri {
        let any = if self.any.is_empty() {
            Tri::Yes
        } else {
            self.any.iter().map(|pattern| pattern.matches_word(word)).max().unwrap_or(Tri::No)
        };
        let except = self.except.iter().map(|pattern| pattern.matches_word(word)).max().unwrap_or(Tri::No);
        any.and(!except)
    }
}

/// A variable, and a value if one was written.
#[derive(Clone, Debug)]
pub(crate) struct EnvPattern {
    pub name: Glob,
    pub value: Option<Glob>,
}

/// Conditions. Lists are any-of; an empty list is no condition.
#[derive(Clone, Debug, Default)]
pub(crate) struct Conditions {
    pub args: Vec<(Vec<String>, TextList)>,
    pub within: Vec<PathPattern>,
    pub actors: Vec<Who>,
    /// Canonical names; the inner list is one flag as written (`-rf` is two).
    pub flags: Vec<Vec<String>>,
    pub env: Vec<EnvPattern>,
    pub operand: TextList,
    pub piped_to: Vec<RunPattern>,
    pub hosts: HostList,
    pub stdin_only: Option<bool>,
    pub build_output: Option<bool>,
}

impl Conditions {
    /// Whether they hold for every call of an actor or for none.
    pub(crate) fn asks_only_who(&self) -> bool {
        let Self { args, within, actors: _, flags, env, operand, piped_to, hosts, stdin_only, build_output } = self;
        args.is_empty()
            && within.is_empty()
            && flags.is_empty()
            && env.is_empty()
            && operand.is_empty()
            && piped_to.is_empty()
            && hosts.is_empty()
            && stdin_only.is_none()
            && build_output.is_none()
    }
}

/// A list of hosts: any of them, none of the `!` ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct HostList {
    pub any: Vec<HostPattern>,
    pub except: Vec<HostPattern>,
}

impl HostList {
    fn is_empty(&self) -> bool {
        self.any.is_empty() && self.except.is_empty()
    }

    fn matches(&self, host: &HostTarget, purpose: Purpose) -> Tri {
        let best = |list: &[HostPattern], purpose| {
            list.iter().map(|pattern| pattern.matches(host, purpose)).max().unwrap_or(Tri::No)
        };
        let any = if self.any.is_empty() { Tri::Yes } else { best(&self.any, purpose) };
        // To be sure that something is not excepted, it is looked at the other way.
        let except = best(
            &self.except,
            match purpose {
                Purpose::Permit => Purpose::Restrict,
                Purpose::Restrict => Purpose::Permit,
            },
        );
        any.and(!except)
    }
}

impl Conditions {
    /// Whether `when.host` says which hosts are meant.
    pub(crate) fn names_hosts(&self) -> bool {
        !self.hosts.any.is_empty()
    }

    /// Whether `when.env` names this variable.
    pub(crate) fn names_env(&self, name: &str) -> bool {
        self.env.iter().any(|pattern| pattern.name.is_specific() && pattern.name.matches(name.as_bytes()))
    }

    pub(crate) fn hold(&self, judging: &Judging<'_>, effect: &Effect, purpose: Purpose) -> Tri {
        let run = run_of(effect).and_then(|id| judging.run(id));
        let mut result = Tri::Yes;
        for (path, patterns) in &self.args {
            result = result.and(argument(judging, path, patterns));
        }
        if !self.actors.is_empty() {
            result = result.and(self.actors.iter().any(|who| is(who, &judging.operation.actor)).into());
        }
        if !self.within.is_empty() {
            result = result.and(self.within(judging, effect, purpose));
        }
        if self.needs_run() {
            let Some(run) = run else { return Tri::No };
            result = result.and(self.run_conditions(judging, effect, run, purpose));
        }
        result
    }

    fn needs_run(&self) -> bool {
        !self.flags.is_empty()
            || !self.env.is_empty()
            || !self.operand.is_empty()
            || !self.piped_to.is_empty()
            || !self.hosts.is_empty()
            || self.stdin_only.is_some()
            || self.build_output.is_some()
    }

    fn run_conditions(&self, judging: &Judging<'_>, effect: &Effect, run: &Run, purpose: Purpose) -> Tri {
        let mut result = Tri::Yes;
        if !self.flags.is_empty() {
            let any = self.flags.iter().map(|names| flags(run, names)).max().unwrap_or(Tri::No);
            result = result.and(any);
        }
        if !self.env.is_empty() {
            let any = self.env.iter().map(|pattern| pattern.holds(run).max(pattern.is_used(judging, run_of(effect))));
            let any = any.max().unwrap_or(Tri::No);
            result = result.and(any);
        }
        if !self.operand.is_empty() {
            let words = run.words.iter().skip(usize::from(run.subcommands));
            let any = words
                .filter_map(|index| run.argv.get(usize::from(*index)))
                .map(|word| self.operand.matches_word(word))
                .max()
                .unwrap_or(Tri::No);
            result = result.and(any);
        }
        if !self.piped_to.is_empty() {
            result = result.and(piped_to(&self.piped_to, judging, run, purpose));
        }
        if !self.hosts.is_empty() {
            result = result.and(connects_to(&self.hosts, judging, effect, purpose));
        }
        if let Some(wanted) = self.build_output {
            let only = judging.removes_build_output(run_of(effect));
            result = result.and((only == wanted).into());
        }
        if let Some(wanted) = self.stdin_only {
            let only = stdin_only(judging, effect);
            result = result.and(if wanted { only } else { !only });
        }
        result
    }

    /// Bounds the working directory and every path named; never covers a connect or an unknown program.
    fn within(&self, judging: &Judging<'_>, effect: &Effect, purpose: Purpose) -> Tri {
        let id = run_of(effect);
        let inside_path = |index: usize, verb: Verb, target: &PathTarget| {
            self.within
                .iter()
                .map(|pattern| judging.matches_path(pattern, index, verb, target, purpose))
                .max()
                .unwrap_or(Tri::No)
        };
        let mut result = Tri::Yes;
        if let Some(run) = id.and_then(|id| judging.run(id)) {
            if !run.program.known && !run.program.builtin && purpose == Purpose::Permit {
                return Tri::No;
            }
            result = result.and(judging.folder_within(run.cwd.as_deref(), &self.within, purpose));
        } else if !matches!(effect.target, Target::Path(_)) {
            result = result.and(judging.folder_within(judging.operation.cwd.as_deref(), &self.within, purpose));
        }
        for (index, other) in judging.operation.effects.iter().enumerate() {
            let same = std::ptr::eq(other, effect)
                || (id.is_some() && run_of(other) == id)
                || (id.is_none() && other.run.is_none());
            if !same {
                continue;
            }
            match &other.target {
                Target::Path(target) => result = result.and(inside_path(index, other.verb, target)),
                Target::Host(_) | Target::Anything if purpose == Purpose::Permit => return Tri::No,
                _ => {}
            }
        }
        result
    }
}

impl EnvPattern {
    /// Whether the program gets the value of such a variable that holds a secret.
    fn is_used(&self, judging: &Judging<'_>, id: Option<RunId>) -> Tri {
        let used = |effect: &Effect| {
            matches!(&effect.carry, Carry::Named { code: "secret-variable", by: NamedBy::Env(name) }
                if self.name.matches(name.as_bytes()))
        };
        let effects = judging.operation.effects.iter();
        let mut own = effects.filter(|effect| id.is_some() && run_of(effect) == id);
        (self.value.is_none() && own.any(used)).into()
    }

    fn holds(&self, run: &Run) -> Tri {
        run.env
            .iter()
            .filter(|(name, _)| self.name.matches(name.as_bytes()))
            .map(|(_, value)| match (&self.value, value) {
                (None, _) => Tri::Yes,
                (Some(glob), Word::Exact(text)) => glob.matches(text.as_bytes()).into(),
                (Some(glob), Word::Dynamic(shape)) if !glob.may_match(shape) => Tri::No,
                _ => Tri::Maybe,
            })
            .max()
            .unwrap_or(Tri::No)
    }
}

fn flags(run: &Run, names: &[String]) -> Tri {
    let present = names.iter().all(|name| run.options.iter().any(|option| option.name == *name));
    let open = run.open_options && !names.iter().any(|name| is_fact(name));
    match (present, open) {
        (true, _) => Tri::Yes,
        (false, true) => Tri::Maybe,
        (false, false) => Tri::No,
    }
}

fn piped_to(patterns: &[RunPattern], judging: &Judging<'_>, run: &Run, purpose: Purpose) -> Tri {
    let (Some(mine), Some(programs)) = (run.pipe, judging.programs()) else { return Tri::No };
    let line = match programs.line(run) {
        Line::Whole(line) => line,
        Line::TooLong => return too_long(purpose),
    };
    let right = line.iter().filter(|other| other.place > mine.place);
    let answers =
        right.flat_map(|other| patterns.iter().map(move |pattern| judging.matches_run(pattern, other.id, purpose)));
    answers.max().unwrap_or(Tri::No)
}

/// Something is connected to, and each of its hosts matches.
fn connects_to(hosts: &HostList, judging: &Judging<'_>, effect: &Effect, purpose: Purpose) -> Tri {
    let id = run_of(effect);
    let mine = judging.operation.effects.iter().filter(|other| other.verb == Verb::Connect && run_of(other) == id);
    let answers = mine.map(|other| match &other.target {
        Target::Host(host) => hosts.matches(host, purpose),
        _ => Tri::Maybe,
    });
    answers.reduce(Tri::and).unwrap_or(Tri::No)
}

/// No path and no host is named: the program can only see what it is given on standard input.
fn stdin_only(judging: &Judging<'_>, effect: &Effect) -> Tri {
    let id = run_of(effect);
    let named = judging.operation.effects.iter().any(|other| {
        run_of(other) == id
            && (matches!(
                other.target,
                Target::Path(_) | Target::Host(_) | Target::Option(_) | Target::Code { .. } | Target::Anything
            ) || matches!(other.carry, Carry::Named { .. }))
    });
    (!named).into()
}

/// An argument by path; lists on the way are any-of.
fn argument(judging: &Judging<'_>, path: &[String], patterns: &TextList) -> Tri {
    let Request::Tool { arguments, .. } = &judging.operation.request else { return Tri::No };
    let mut found = Vec::new();
    collect(arguments, path, &mut found);
    found.iter().any(|text| patterns.matches(text)).into()
}

fn collect(value: &Value, path: &[String], found: &mut Vec<String>) {
    match (value, path.split_first()) {
        (Value::Array(items), _) => items.iter().for_each(|item| collect(item, path, found)),
        (Value::Object(map), Some((key, rest))) => {
            if let Some(value) = map.get(key) {
                collect(value, rest, found);
            }
        }
        (Value::String(text), None) => found.push(text.clone()),
        (Value::Number(number), None) => found.push(number.to_string()),
        (Value::Bool(flag), None) => found.push(flag.to_string()),
        _ => {}
    }
}

/// Whether an actor is meant.
pub(crate) fn is(who: &Who, actor: &Actor) -> bool {
    let same = |a: &str, b: Option<&String>| b.is_some_and(|b| b.trim().eq_ignore_ascii_case(a));
    match who {
        Who::Provider(key) => actor.provider_key().is_some_and(|actual| {
            actual.provider == key.provider && (key.model.is_none() || actual.model == key.model)
        }),
        Who::Agent(agent) => same(agent, actor.agent.as_ref()),
        Who::Team { team, member } => {
            same(team, actor.team.as_ref())
                && member.as_ref().is_none_or(|member| {
                    actor.member.as_ref().is_some_and(|actual| {
                        actual.trim().trim_start_matches('@').eq_ignore_ascii_case(member.trim_start_matches('@'))
                    })
                })
        }
        Who::Tenant(tenant) => same(tenant, actor.tenant.as_ref()),
        Who::Subagent => actor.subagent,
    }
}
