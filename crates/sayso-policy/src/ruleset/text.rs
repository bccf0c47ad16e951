//! Rulesets as TOML, and behind a gate.

use super::{Rule, Ruleset};
use crate::foreign::{Foreign, Remark, Stages};
use crate::matchers::{Compilation, Matcher, ReadOnlyGit, SafeNpm};
use crate::normalise::Kind;
use crate::policy::Policy;
use crate::word::{Code, Facts, Operation, Outcome, Verdict};
use serde::Deserialize;

/// Deepest nesting of matchers.
const MAX_DEPTH: usize = 32;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileText {
    #[serde(default)]
    rules: Vec<RuleText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleText {
    r#match: MatchText,
    outcome: OutcomeText,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum OutcomeText {
    Allow,
    Deny,
    Unknown,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Texts {
    One(String),
    Many(Vec<String>),
}

/// The keys of a matcher all narrow it.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct MatchText {
    command: Option<String>,
    subcommands: Option<Texts>,
    flags: Option<Texts>,
    any_execute: bool,
    piped_to_shell: bool,
    kind: Option<Kind>,
    path: Option<Texts>,
    domain: Option<Texts>,
    tool: Option<Texts>,
    group: Option<GroupText>,
    within_directory: Option<Texts>,
    and: Vec<MatchText>,
    or: Vec<MatchText>,
    not: Option<Box<MatchText>>,
}

#[derive(Clone, Copy, Deserialize)]
enum GroupText {
    Compilation,
    ReadOnlyGit,
    SafeNpm,
}

impl Ruleset {
    /// Reads rules from TOML.
    ///
    /// ```
    /// use sayso_policy::{Operation, Outcome, Ruleset};
    ///
    /// let ruleset = Ruleset::from_toml(r#"
    ///     [[rules]]
    ///     match = { command = "git", subcommands = ["push"], flags = ["--force"] }
    ///     outcome = "deny"
    ///     [[rules]]
    ///     match = { group = "ReadOnlyGit" }
    ///     outcome = "allow"
    /// "#).unwrap();
    /// assert_eq!(ruleset.evaluate(&Operation::execute("git status")), Outcome::Allow);
    /// assert_eq!(ruleset.evaluate(&Operation::execute("git push -f")), Outcome::Deny);
    /// assert!(Ruleset::from_toml("[[rules]]\nmatch = { comand = \"git\" }\noutcome = \"allow\"").is_err());
    /// ```
    ///
    /// # Errors
    /// The text is no TOML, holds a key that matchers do not have, or a matcher that matches nothing in particular. The
    /// message names the place.
    pub fn from_toml(text: &str) -> Result<Self, String> {
        let file: FileText = toml::from_str(text).map_err(|error| error.to_string())?;
        let rule = |rule: RuleText| {
            let outcome = match rule.outcome {
                OutcomeText::Allow => Outcome::Allow,
                OutcomeText::Deny => Outcome::Deny,
                OutcomeText::Unknown => Outcome::Unknown,
            };
            Ok(Rule::new(rule.r#match.matcher(0)?, outcome))
        };
        let rules = file
            .rules
            .into_iter()
            .enumerate()
            .map(|(at, text)| rule(text).map_err(|why: String| format!("rule {}: {why}", at + 1)));
        Ok(Self::new(rules.collect::<Result<_, _>>()?))
    }
}

impl Texts {
    fn all(self) -> Vec<String> {
        match self {
            Self::One(text) => vec![text],
            Self::Many(texts) => texts,
        }
    }
}

impl MatchText {
    fn matcher(self, depth: usize) -> Result<Matcher, String> {
        if depth > MAX_DEPTH {
            return Err("matchers are nested too deeply".to_owned());
        }
        let mut all = Vec::new();
        let list = |texts: Option<Texts>| texts.map(Texts::all);
        let (subcommands, flags) = (list(self.subcommands), list(self.flags));
        if self.command.is_some() || subcommands.is_some() || flags.is_some() {
            let mut matcher = Matcher::command(self.command.as_deref().unwrap_or("*"));
            if let Some(names) = subcommands {
                matcher = matcher.with_subcommands(names);
            }
            for flag in flags.unwrap_or_default() {
                matcher = matcher.with_flag(&flag);
            }
            all.push(matcher);
        }
        if self.any_execute {
            all.push(Matcher::any_execute());
        }
        all.extend(self.kind.map(Matcher::kind));
        type Made = fn(&str) -> Matcher;
        for (texts, make) in [
            (self.path, Matcher::path as Made),
            (self.domain, Matcher::fetch as Made),
            (self.tool, Matcher::tool as Made),
        ] {
            if let Some(texts) = texts {
                all.push(any(texts.all().iter().map(|text| make(text)).collect())?);
            }
        }
        all.extend(self.group.map(|group| match group {
            GroupText::Compilation => Compilation::matcher(),
            GroupText::ReadOnlyGit => ReadOnlyGit::matcher(),
            GroupText::SafeNpm => SafeNpm::matcher(),
        }));
        let inner =
            |list: Vec<Self>| list.into_iter().map(|text| text.matcher(depth + 1)).collect::<Result<Vec<_>, _>>();
        if !self.and.is_empty() {
            all.push(Matcher::and(inner(self.and)?));
        }
        if !self.or.is_empty() {
            all.push(Matcher::or(inner(self.or)?));
        }
        if let Some(not) = self.not {
            all.push(Matcher::not(not.matcher(depth + 1)?));
        }
        if self.piped_to_shell && all.is_empty() {
            all.push(Matcher::any_execute());
        }
        if let Some(folders) = self.within_directory {
            all.push(any(folders.all().iter().map(Matcher::within_directory).collect())?);
        }
        let matcher = match all.len() {
            0 => return Err("a matcher needs at least one key".to_owned()),
            1 => all.pop().unwrap_or_else(|| Matcher::or(Vec::new())),
            _ => Matcher::and(all),
        };
        Ok(if self.piped_to_shell { matcher.piped_to_shell() } else { matcher })
    }
}

fn any(matchers: Vec<Matcher>) -> Result<Matcher, String> {
    if matchers.is_empty() { Err("an empty list matches nothing".to_owned()) } else { Ok(Matcher::or(matchers)) }
}

/// A ruleset on the stages of a policy.
#[derive(Debug)]
struct Behind(Ruleset);

impl Stages for Behind {
    fn rules(&self, operation: &Operation, facts: Facts<'_>) -> Vec<Remark> {
        let (verdict, code, text) = match self.0.evaluate_with(operation, facts) {
            Outcome::Allow => (Verdict::Allow, Code::ForeignRule, "A rule allows every part of this."),
            Outcome::Deny => (Verdict::Deny, Code::ForeignRule, "A rule denies a part of this."),
            Outcome::Unknown => (Verdict::Ask, Code::ForeignDefault, "No rule certainly covers a part of this."),
        };
        vec![Remark::new(verdict, code, text)]
    }
}

/// A policy of these rules alone: what they do not know asks, and what protects Sayso itself stays in force.
///
/// ```
/// use sayso_policy::{Facts, Matcher, Operation, Outcome, Policy, Rule, Ruleset, State, Verdict};
/// use sayso_policy::shell::{NoEnvironment, NoFiles};
///
/// let policy = Policy::from(Ruleset::new(vec![Rule::new(Matcher::command("git"), Outcome::Allow)]));
/// let facts = Facts { files: &NoFiles, env: &NoEnvironment };
/// let judge = |command: &str| policy.evaluate(&Operation::execute(command), &State::default(), facts).verdict;
/// assert_eq!(judge("git status"), Verdict::Allow);
/// assert_eq!(judge("make"), Verdict::Ask);
/// ```
impl From<Ruleset> for Policy {
    fn from(ruleset: Ruleset) -> Self {
        // The version is made from the rules as they are shown: another ruleset is another policy.
        let text = format!("{ruleset:?}");
        Self::from_foreign(vec![Foreign { name: "ruleset".to_owned(), text, stages: Box::new(Behind(ruleset)) }])
            .with_integrity()
    }
}
