//! Which rules might apply to an effect, found without trying all: ten thousand rules cost what twenty cost.
//!
//! Each rule is filed under the most selective literal text of its pattern: a program and its first word for `run`, the
//! longest literal part for paths, the name for hosts and tools. Rules without such text (`re:`, `*`) are filed under
//! "always try". To judge an effect, every key that its own words could be filed under is looked up, and the rules found
//! there are candidates: the index may name a rule that does not match, never leave out one that does. What is not
//! known of an effect (a program that is a variable) therefore has to look under every key of its kind.
//!
//! Keys are hashes (`key.rs`), and numbers are found in ascending order, because the first rule of a kind in a file
//! speaks for it.
//!
//! INVARIANT: the same numbers are found in the same order whether a table was compiled in this process or lies in an
//! image: there is one way to look, over one map from keys to numbers.

mod key;
mod numbers;
pub(crate) mod path;

pub(crate) use key::{Part, PathVerb};
pub(crate) use numbers::{AsIs, Built, Numbers};

use crate::image::ImageRules;
use crate::judging::Judging;
use crate::pattern::{HostPattern, RunPattern, ToolPattern, all_names, normal_host};
use crate::rule::{Pattern, Rule};
use crate::word::{Resolved, ToolName};
use key::Key;
use sayso_shell::{Effect, HostTarget, Run, Target, Verb, Word};

/// Rules, and how to find them.
#[derive(Debug)]
pub(crate) struct Table {
    pub rules: Rules,
    pub numbers: Numbers,
    /// Some rule names approvers of its own.
    pub approvers: bool,
}

/// Rules by number.
#[derive(Debug)]
pub(crate) enum Rules {
    Built(Vec<Rule>),
    /// Each is read when it is first a candidate.
    Image(ImageRules),
}

impl Table {
    pub(crate) fn new(rules: Vec<Rule>) -> Self {
        let mut built = Built::default();
        for (at, rule) in rules.iter().enumerate() {
            let Ok(at) = u32::try_from(at) else { break };
            match (&rule.pattern, rule.verb) {
                (Pattern::Run(pattern), _) => add_run(&mut built, pattern, at),
                (Pattern::Path(pattern), Verb::Read) => path::add(&mut built, PathVerb::Read, pattern, at),
                (Pattern::Path(pattern), Verb::Delete) => path::add(&mut built, PathVerb::Delete, pattern, at),
                (Pattern::Path(pattern), _) => path::add(&mut built, PathVerb::Write, pattern, at),
                (Pattern::Host(pattern), _) => add_host(&mut built, pattern, at),
                (Pattern::Tool(pattern), _) => add_tool(&mut built, pattern, at),
            }
        }
        let approvers = rules.iter().any(|rule| rule.approver.is_some());
        Self { rules: Rules::Built(rules), numbers: Numbers::Built(built), approvers }
    }

    pub(crate) fn rule(&self, at: u32) -> Option<&Rule> {
        match &self.rules {
            Rules::Built(rules) => rules.get(at as usize),
            Rules::Image(rules) => rules.get(at),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        match &self.rules {
            Rules::Built(rules) => rules.is_empty(),
            Rules::Image(rules) => rules.len() == 0,
        }
    }

    /// All rules.
    pub(crate) fn each(&self) -> impl Iterator<Item = &Rule> {
        let count = match &self.rules {
            Rules::Built(rules) => rules.len(),
            Rules::Image(rules) => rules.len(),
        };
        (0..u32::try_from(count).unwrap_or(u32::MAX)).filter_map(|at| self.rule(at))
    }

    /// Calls `each` with every rule that might speak of this effect by its own verb.
    pub(crate) fn candidates<'t>(&'t self, judging: &Judging<'_>, index: usize, each: &mut dyn FnMut(&'t Rule)) {
        let Some(effect) = judging.operation.effects.get(index) else { return };
        let mut visit = |at: u32| {
            if let Some(rule) = self.rule(at) {
                each(rule);
            }
        };
        match (&effect.target, effect.verb) {
            (Target::Path(target), verb) => {
                let empty = Resolved::default();
                let resolved = judging.operation.resolved.get(index).unwrap_or(&empty);
                let mut of = |of: PathVerb| {
                    path::candidates(&self.numbers, of, verb, target, resolved, judging.tree(), &mut visit);
                };
                match verb {
                    Verb::Read => of(PathVerb::Read),
                    Verb::Delete => {
                        of(PathVerb::Delete);
                        of(PathVerb::Write);
                    }
                    _ => of(PathVerb::Write),
                }
            }
            (Target::Host(target), _) => hosts(&self.numbers, target, &mut visit),
            (Target::Tool, _) => tools(&self.numbers, &judging.operation.tool, &mut visit),
            _ => self.run_candidates(judging, effect, &mut visit),
        }
    }

    /// Calls `each` with every `run` rule that might match the program of this effect.
    pub(crate) fn program_candidates<'t>(
        &'t self,
        judging: &Judging<'_>,
        effect: &Effect,
        each: &mut dyn FnMut(&'t Rule),
    ) {
        self.run_candidates(judging, effect, &mut |at| {
            if let Some(rule) = self.rule(at) {
                each(rule);
            }
        });
    }

    fn run_candidates(&self, judging: &Judging<'_>, effect: &Effect, visit: &mut dyn FnMut(u32)) {
        match crate::rule::run_of(effect).and_then(|id| judging.run(id)) {
            Some(run) => runs(&self.numbers, run, visit),
            None => always(&self.numbers, &[Key::new(Part::RunAny).with(SETS)], visit),
        }
    }
}

/// What all rules that name several programs are filed under. No program is called this.
const SETS: u8 = 0;

fn add_run(built: &mut Built, pattern: &RunPattern, at: u32) {
    let (Some(name), word) = pattern.key() else {
        let any = Key::new(Part::RunAny);
        match pattern.program_names() {
            Some(names) => {
                built.add(Part::RunAny, any.with(SETS), at);
                names.iter().for_each(|name| built.add(Part::RunAny, any.with_all(name.as_bytes()), at));
            }
            None => built.add(Part::RunAny, any, at),
        }
        return;
    };
    let keyed = |part: Part| Key::new(part).with_all(name.as_bytes());
    built.add(Part::RunNamed, Key::new(Part::RunNamed), at);
    match word {
        Some(word) => {
            built.add(Part::ProgramWords, keyed(Part::ProgramWords), at);
            built.add(Part::ProgramWord, keyed(Part::ProgramWord).with(0).with_exactly(word.as_bytes()), at);
        }
        None => built.add(Part::ProgramRest, keyed(Part::ProgramRest), at),
    }
}

fn runs(numbers: &Numbers, run: &Run, visit: &mut dyn FnMut(u32)) {
    let any = Key::new(Part::RunAny);
    let Some(base) = run.program.base.as_deref() else {
        // Nobody knows which program this is: every rule may be about it.
        always(numbers, &[any.with(SETS)], visit);
        numbers.all(Part::RunNamed, visit);
        return;
    };
    // `grm` is `rm`; an allow by the other name still does not match it.
    let plain = sayso_shell::program::plain_name(base);
    match plain {
        Some(plain) => always(numbers, &[any.with_all(base.as_bytes()), any.with_all(plain.as_bytes())], visit),
        None => always(numbers, &[any.with_all(base.as_bytes())], visit),
    }
    named(numbers, run, base, visit);
    if let Some(plain) = plain {
        named(numbers, run, plain, visit);
    }
}

/// Rules that must always be tried, and those of several programs that are filed under these keys: in one order, for the
/// first rule of a kind speaks.
fn always(numbers: &Numbers, sets: &[Key], visit: &mut dyn FnMut(u32)) {
    if !numbers.has(Part::RunAny) {
        return;
    }
    let mut found = Vec::new();
    sets.iter().for_each(|key| numbers.each(*key, &mut |at| found.push(at)));
    if found.is_empty() {
        numbers.each(Key::new(Part::RunAny), visit);
        return;
    }
    numbers.each(Key::new(Part::RunAny), &mut |at| found.push(at));
    found.sort_unstable();
    found.dedup();
    found.into_iter().for_each(visit);
}

fn named(numbers: &Numbers, run: &Run, base: &str, visit: &mut dyn FnMut(u32)) {
    let keyed = |part: Part| Key::new(part).with_all(base.as_bytes());
    if numbers.has(Part::ProgramRest) {
        numbers.each(keyed(Part::ProgramRest), visit);
    }
    if !numbers.has(Part::ProgramWords) {
        return;
    }
    let first = run.words.first().and_then(|index| run.argv.get(usize::from(*index)));
    let loose = !run.program.known && run.argv.iter().skip(1).any(Word::may_be_option);
    match first {
        Some(word) if !loose => match word.exact_str() {
            Some(text) => {
                let other = run.subcommand(0).filter(|name| *name != text);
                let program = keyed(Part::ProgramWord).with(0);
                for word in [Some(text), other].into_iter().flatten() {
                    numbers.each(program.with_exactly(word.as_bytes()), visit);
                }
            }
            None => numbers.each(keyed(Part::ProgramWords), visit),
        },
        None if !loose => {}
        _ => numbers.each(keyed(Part::ProgramWords), visit),
    }
}

fn add_host(built: &mut Built, pattern: &HostPattern, at: u32) {
    built.add(Part::HostAll, Key::new(Part::HostAll), at);
    match pattern.literal().or_else(|| pattern.suffix()) {
        Some(host) => built.add(Part::Host, Key::new(Part::Host).with_all(host.as_bytes()), at),
        None => built.add(Part::HostAny, Key::new(Part::HostAny), at),
    }
}

fn hosts(numbers: &Numbers, target: &HostTarget, visit: &mut dyn FnMut(u32)) {
    let HostTarget::Exact { host, .. } = target else {
        numbers.all(Part::HostAll, visit);
        return;
    };
    numbers.all(Part::HostAny, visit);
    if !numbers.has(Part::Host) {
        return;
    }
    let host = normal_host(host);
    let mut rest = Some(host.as_str());
    while let Some(suffix) = rest {
        numbers.each(Key::new(Part::Host).with_all(suffix.as_bytes()), visit);
        rest = suffix.split_once('.').map(|(_, rest)| rest);
    }
}

fn add_tool(built: &mut Built, pattern: &ToolPattern, at: u32) {
    if let Some(name) = pattern.literal() {
        built.add(Part::Tool, Key::new(Part::Tool).with_all(name.as_bytes()), at);
        return;
    }
    let prefix = pattern.literal_prefix();
    built.add(Part::ToolPrefix, Key::new(Part::ToolPrefix).with_all(prefix), at);
    let key = Key::new(Part::ToolLengths);
    let length = u32::try_from(prefix.len()).unwrap_or(u32::MAX);
    if !built.lists.get(&key.number()).is_some_and(|known| known.contains(&length)) {
        built.add(Part::ToolLengths, key, length);
    }
}

fn tools(numbers: &Numbers, tool: &ToolName, visit: &mut dyn FnMut(u32)) {
    let mut lengths = Vec::new();
    numbers.all(Part::ToolLengths, &mut |length| lengths.push(length));
    for name in all_names(tool) {
        if numbers.has(Part::Tool) {
            numbers.each(Key::new(Part::Tool).with_all(name.as_bytes()), visit);
        }
        for length in &lengths {
            if let Some(prefix) = name.as_bytes().get(..*length as usize) {
                numbers.each(Key::new(Part::ToolPrefix).with_all(prefix), visit);
            }
        }
    }
}
