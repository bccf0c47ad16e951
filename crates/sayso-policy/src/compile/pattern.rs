//! Lists and `[[rule]]`s of a file to rules.

use super::example;
use crate::condition::Condition;
use crate::pattern::{HostPattern, PathPattern, PatternError, RunKind, RunPattern, ToolPattern, expand_braces};
use crate::rule::{Pattern, Rule, in_words};
use crate::set::{self, SetKind};
use crate::text::{File, MAX_PROBLEMS, Problem, RuleText, SetText, Text, nearest};
use crate::word::{Approvers, Escalation, Layer};
use sayso_shell::Verb;
use sayso_shell::program::Catalogue;
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Compiles one file.
pub(crate) struct Compiler<'f> {
    pub file: &'f File,
    layer: Layer,
    pub(crate) programs: &'f Catalogue,
    problems: &'f mut Vec<Problem>,
    sets: HashMap<&'f str, &'f SetText>,
    approvers: HashMap<&'f str, Arc<Approvers>>,
    /// What agents report of themselves counts as if it were stated.
    pub(crate) believes: bool,
    /// Texts that sets and alternatives were resolved to.
    resolved: usize,
}

/// Sets in sets: deeper than this is a mistake.
const MAX_SET_DEPTH: usize = 16;
/// One text stands for at most so many.
const MOST_OF_ONE: usize = 100_000;
/// A file stands for at most so many. A long set that many rules name would take all memory.
const MOST_OF_ALL: usize = 500_000;

impl<'f> Compiler<'f> {
    pub(crate) fn new(file: &'f File, layer: Layer, programs: &'f Catalogue, problems: &'f mut Vec<Problem>) -> Self {
        let sets = file.sets.iter().map(|set| (set.name.value.as_str(), set)).collect();
        let approvers = approvers(file).collect();
        Self { file, layer, programs, problems, sets, approvers, believes: false, resolved: 0 }
    }

    /// The same for a preset of a file: approvers that it names are the file's.
    pub(crate) fn within(mut self, file: &'f File) -> Self {
        for (name, group) in approvers(file) {
            self.approvers.entry(name).or_insert(group);
        }
        self
    }

    /// Keeps a problem. Nobody reads on after so many, and to find the word that was meant costs more with each name
    /// that the file has.
    fn report(&mut self, problem: impl FnOnce(&Self) -> Problem) {
        if self.problems.len() < MAX_PROBLEMS {
            let problem = problem(self);
            self.problems.push(problem);
        }
    }

    /// All rules, lists first.
    pub(super) fn rules(&mut self) -> Vec<Rule> {
        let mut rules = Vec::new();
        self.check_sets();
        for list in &self.file.lists {
            let except = self.exceptions(&list.patterns, list.verb.value);
            for text in list.patterns.iter().filter(|text| !text.value.starts_with('!')) {
                let sentence: Arc<str> = in_words(list.verdict, list.verb.value, &text.value).into();
                for pattern in self.patterns(text, list.verb.value) {
                    rules.push(Rule {
                        verdict: list.verdict,
                        verb: list.verb.value,
                        pattern,
                        except: except.clone(),
                        when: Arc::new([]),
                        code: Cow::Owned(slug(&text.value)),
                        sentence: sentence.clone(),
                        layer: self.layer.clone(),
                        source: Some(self.file.source(&text.span)),
                        approver: None,
                        always: false,
                        held: false,
                    });
                }
            }
        }
        for rule in &self.file.rules {
            self.rule(rule, &mut rules);
        }
        rules
    }

    fn rule(&mut self, rule: &RuleText, rules: &mut Vec<Rule>) {
        let verb = rule.verb.value;
        let except = self.exceptions(&rule.patterns, verb);
        let when: Arc<[Condition]> =
            rule.when.as_ref().map_or_else(Default::default, |when| self.conditions(when, rule));
        let approvers = rule.approver.as_ref().and_then(|name| self.approvers.get(name.value.as_str()).cloned());
        // A preset's approvers may be missing: then whoever may answer is asked.
        let of_preset = matches!(self.layer, Layer::Preset(_));
        if let (Some(approver), None, false) = (&rule.approver, &approvers, of_preset) {
            self.report(|this| {
                let names = this.file.approvals.iter().map(|approval| approval.name.value.as_str());
                let message = format!("there is no `[approvals.{}]`", approver.value);
                let mut problem = this.file.problem("unknown-approver", &approver.span, message);
                problem.suggestion = nearest(&approver.value, names).map(|best| format!("did you mean `{best}`?"));
                problem
            });
        }
        let first = rules.len();
        for text in rule.patterns.iter().filter(|text| !text.value.starts_with('!')) {
            let sentence: Arc<str> = match &rule.because {
                Some(because) => because.value.as_str().into(),
                None => in_words(rule.verdict.value, verb, &text.value).into(),
            };
            for pattern in self.patterns(text, verb) {
                rules.push(Rule {
                    verdict: rule.verdict.value,
                    verb,
                    pattern,
                    except: except.clone(),
                    when: when.clone(),
                    code: Cow::Owned(rule.id.as_ref().map_or_else(|| slug(&text.value), |id| id.value.clone())),
                    sentence: sentence.clone(),
                    layer: self.layer.clone(),
                    source: Some(self.file.source(&text.span)),
                    approver: approvers.clone(),
                    always: rule.always,
                    // Only what starts is held; what else it does is known, or bounded.
                    held: rule.held.is_some() && verb == Verb::Run && !rule.always,
                });
            }
        }
        let compiled = rules.get(first..).unwrap_or_default();
        // A preset's examples are checked by a test, not in every process.
        if !compiled.is_empty() && (cfg!(test) || !matches!(self.layer, Layer::Preset(_))) {
            example::check(self.file, rule, compiled, self.problems);
        }
    }

    fn exceptions(&mut self, texts: &[Text], verb: Verb) -> Arc<[Pattern]> {
        let mut found = Vec::new();
        for text in texts {
            if let Some(rest) = text.value.strip_prefix('!') {
                let inner = Text::new(rest.trim_start().to_owned(), text.span.clone());
                found.extend(self.patterns(&inner, verb));
            }
        }
        found.into()
    }

    /// The patterns that one text stands for.
    pub(crate) fn patterns(&mut self, text: &Text, verb: Verb) -> Vec<Pattern> {
        let kind = SetKind::of(verb);
        let mut found = Vec::new();
        for expanded in self.expand(&text.value, &text.span, kind) {
            if expanded == "@anything" {
                found.push(match kind {
                    SetKind::Run => Pattern::Run(RunPattern::Anything),
                    SetKind::Path => Pattern::Path(PathPattern::Anything),
                    SetKind::Host => Pattern::Host(HostPattern::Anything),
                    SetKind::Tool => Pattern::Tool(ToolPattern::Anything),
                });
                continue;
            }
            if let Some(kind) = expanded.strip_prefix('@').and_then(RunKind::named) {
                found.push(Pattern::Run(RunPattern::Kind(kind)));
                continue;
            }
            let parsed: Result<Vec<Pattern>, PatternError> = match kind {
                SetKind::Run => {
                    let span = text.span.clone();
                    let programs = self.programs;
                    let mut set = |name: &str| Ok(self.piped(name, &span));
                    RunPattern::parse_in(&expanded, programs, &mut set).map(|pattern| vec![Pattern::Run(pattern)])
                }
                SetKind::Path => PathPattern::parse(&expanded).map(|pattern| vec![Pattern::Path(pattern)]),
                SetKind::Host => HostPattern::parse(&expanded).map(|pattern| vec![Pattern::Host(pattern)]),
                SetKind::Tool => {
                    ToolPattern::parse(&expanded).map(|patterns| patterns.into_iter().map(Pattern::Tool).collect())
                }
            };
            match parsed {
                Ok(patterns) => found.extend(patterns),
                Err(error) => self.complain(&text.span, &error),
            }
        }
        found
    }

    /// The commands of a set within a pipe: those of a kind by their programs.
    fn piped(&mut self, set: &str, span: &Range<usize>) -> Vec<String> {
        let texts = self.expand(&format!("@{set}"), span, SetKind::Run);
        let programs = self.programs;
        let commands = |text: String| match text.strip_prefix('@').and_then(set::built_in) {
            Some(kind) => {
                kind.all(programs).iter().flat_map(|command| expand_braces(command).unwrap_or_default()).collect()
            }
            None => vec![text],
        };
        texts.into_iter().flat_map(commands).collect()
    }

    /// Resolves a set and alternatives to plain texts. `@anything` stays as it is.
    pub(crate) fn expand(&mut self, text: &str, span: &Range<usize>, kind: SetKind) -> Vec<String> {
        let mut done = Vec::new();
        let mut open = vec![(text.to_owned(), 0)];
        while let Some((text, depth)) = open.pop() {
            // What a run does decides whether it is of a kind, not a list of names. A file's own set goes first.
            let is_kind = kind == SetKind::Run
                && text
                    .strip_prefix('@')
                    .is_some_and(|name| RunKind::named(name).is_some() && !self.sets.contains_key(name));
            if text == "@anything" || is_kind {
                done.push(text);
            } else if let Some(name) = text.strip_prefix('@').filter(|name| !name.contains(['|', ' '])) {
                if depth > MAX_SET_DEPTH {
                    self.complain(span, &PatternError::new(format!("the set `@{name}` contains itself")));
                    continue;
                }
                match self.members(name, span, kind) {
                    Some(members) => open.extend(members.into_iter().rev().map(|member| (member, depth + 1))),
                    None => continue,
                }
            } else {
                match expand_braces(&text) {
                    Ok(texts) => done.extend(texts),
                    Err(error) => self.complain(span, &error),
                }
            }
            if done.len() + open.len() > MOST_OF_ONE {
                self.complain(span, &PatternError::new("this expands to more than 100,000 patterns"));
                return Vec::new();
            }
        }
        self.resolved = self.resolved.saturating_add(done.len());
        if self.resolved > MOST_OF_ALL {
            let error = PatternError::new("the file so far expands to more than 500,000 patterns");
            self.complain(span, &error.suggest("use long sets in fewer rules"));
            return Vec::new();
        }
        done
    }

    fn members(&mut self, name: &str, span: &Range<usize>, kind: SetKind) -> Option<Vec<String>> {
        if let Some(own) = self.sets.get(name) {
            return Some(own.members.iter().map(|member| member.value.clone()).collect());
        }
        match set::built_in(name) {
            Some(set) if set.kind == kind => Some(set.all(self.programs)),
            Some(set) => {
                let message =
                    format!("`@{name}` is a set of {}, but {} are expected here", set.kind.noun(), kind.noun());
                self.report(|this| this.file.problem("wrong-set", span, message));
                None
            }
            None => {
                self.report(|this| {
                    let mut candidates: Vec<&str> = set::names().collect();
                    candidates.extend(this.file.sets.iter().map(|set| set.name.value.as_str()));
                    let mut problem = this.file.problem("unknown-set", span, format!("there is no set `@{name}`"));
                    problem.suggestion = nearest(name, candidates).map(|best| format!("did you mean `@{best}`?"));
                    problem
                });
                None
            }
        }
    }

    /// Members of sets that no list uses are checked for sets that do not exist.
    fn check_sets(&mut self) {
        for set in &self.file.sets {
            for member in &set.members {
                let Some(name) = member.value.strip_prefix('@').filter(|name| *name != set::ANYTHING) else { continue };
                let known = self.sets.contains_key(name) || set::built_in(name).is_some();
                if !known {
                    self.members(name, &member.span, SetKind::Run);
                }
            }
        }
    }

    pub(crate) fn complain(&mut self, span: &Range<usize>, error: &PatternError) {
        self.report(|this| {
            let mut problem = this.file.problem("bad-pattern", span, error.message.clone());
            problem.suggestion.clone_from(&error.suggestion);
            problem
        });
    }
}

/// Those whom a file calls by a name.
fn approvers(file: &File) -> impl Iterator<Item = (&str, Arc<Approvers>)> {
    file.approvals.iter().map(|approval| (approval.name.value.as_str(), Arc::new(group(file, approval, 0))))
}

/// A group and those that it escalates to. A circle is a problem of the file; `depth` ends it here.
fn group(file: &File, approval: &crate::text::Approval, depth: usize) -> Approvers {
    let need = approval.need.as_ref().map_or(1, |need| u32::try_from(need.value).unwrap_or(u32::MAX));
    let millis = |expires: &std::time::Duration| u64::try_from(expires.as_millis()).unwrap_or(u64::MAX);
    let above = |name: &str| file.approvals.iter().find(|approval| approval.name.value == name);
    let escalate = approval.escalate.as_ref().filter(|_| depth < 8).and_then(|(wait, to)| {
        Some(Escalation { wait_ms: millis(wait), to: Box::new(group(file, above(&to.value)?, depth + 1)) })
    });
    Approvers {
        name: approval.name.value.clone(),
        file: file.name.to_string(),
        members: approval.members.iter().map(|member| member.value.clone()).collect(),
        need,
        expires_ms: approval.expires.as_ref().map(|expires| millis(&expires.value)),
        escalate,
    }
}

/// A code made from a pattern's text: `git push --force` is `git-push-force`, `@secrets` is `secrets`.
#[must_use]
pub fn slug(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            out.push(c.to_ascii_lowercase());
        } else if !out.ends_with('-') && !out.is_empty() {
            out.push('-');
        }
    }
    let slug: String = out.trim_end_matches('-').chars().take(48).collect();
    if slug.is_empty() { "rule".to_owned() } else { slug }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_made_from_the_text() {
        assert_eq!(slug("git push --force"), "git-push-force");
        assert_eq!(slug("@secrets"), "secrets");
        assert_eq!(slug("{curl,wget} | @shells"), "curl-wget-shells");
        assert_eq!(slug("./**"), "rule");
    }
}
