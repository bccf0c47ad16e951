//! Bare rulesets: ordered rules over operations, for programs that want no policy file.
//!
//! ```
//! use sayso_policy::{Matcher, Operation, Outcome, Rule, Ruleset};
//!
//! let ruleset = Ruleset::new(vec![
//!     Rule::new(Matcher::command("git").with_subcommands(["status", "log", "diff"]), Outcome::Allow),
//!     Rule::new(Matcher::command("git").with_subcommand("push").with_flag("--force"), Outcome::Deny),
//!     Rule::new(Matcher::command("git").with_subcommand("push"), Outcome::Allow),
//! ]);
//! assert_eq!(ruleset.evaluate(&Operation::execute("git status && git push origin main")), Outcome::Allow);
//! assert_eq!(ruleset.evaluate(&Operation::execute("git status; git push origin +main")), Outcome::Deny);
//! assert_eq!(ruleset.evaluate(&Operation::execute("git push $WHERE")), Outcome::Unknown);
//! assert_eq!(ruleset.evaluate(&Operation::execute("git commit -m x")), Outcome::Unknown);
//! ```
//!
//! For each thing that an operation would do, the first rule that matches it speaks. Any Deny makes the whole Deny; all
//! must be allowed for an Allow; what is left is Unknown, a question for a person.
//!
//! An allow of a command carries the plain effects of its operands. It does not carry output redirects, writes and
//! deletes outside the workspace, nor what a dangerous option, an environment prefix or inline code does: those need a
//! rule that names them or, for paths, one that is bound to a directory. A matcher that
//! only may match does not allow, and where it would deny it makes the outcome Unknown.

mod text;

use crate::judging::Judging;
use crate::matchers::Matcher;
use crate::pattern::Purpose;
use crate::word::{Facts, Operation, Outcome, Resolved, Tri};
use sayso_shell::{Carry, NoEnvironment, NoFiles, Target, Verb};

/// A matcher and what it means when it matches.
#[derive(Clone, Debug)]
pub struct Rule {
    matcher: Matcher,
    outcome: Outcome,
}

impl Rule {
    /// Pairs a matcher with an outcome. A rule whose outcome is [`Outcome::Unknown`] makes what it matches a question.
    #[must_use]
    pub fn new(matcher: Matcher, outcome: Outcome) -> Self {
        Self { matcher, outcome }
    }

    /// What it matches.
    #[must_use]
    pub fn matcher(&self) -> &Matcher {
        &self.matcher
    }

    /// What that means.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        self.outcome
    }
}

/// Rules in order; the first that matches speaks.
#[derive(Clone, Debug, Default)]
pub struct Ruleset {
    rules: Vec<Rule>,
}

impl Ruleset {
    /// Rules in this order.
    #[must_use]
    pub fn new(rules: Vec<Rule>) -> Self {
        Self { rules }
    }

    /// The rules.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Judges an operation by what is known of it already. Directories of matchers are taken as canonical.
    #[must_use]
    pub fn evaluate(&self, operation: &Operation) -> Outcome {
        self.evaluate_with(operation, Facts { files: &NoFiles, env: &NoEnvironment })
    }

    /// Judges an operation, and looks at files where a matcher's directory may be a link or a pattern may match.
    #[must_use]
    pub fn evaluate_with(&self, operation: &Operation, facts: Facts<'_>) -> Outcome {
        let judging = Judging::bare(operation, facts);
        let mut outcome = Outcome::Allow;
        let mut some = false;
        for index in effects(operation) {
            match self.judge(&judging, index).0 {
                Ruling::Deny => return Outcome::Deny,
                Ruling::Allow => some = true,
                Ruling::Doubt => outcome = Outcome::Unknown,
                Ruling::Nothing if needs_yes(operation, index) => outcome = Outcome::Unknown,
                Ruling::Nothing => {}
            }
        }
        // An operation of which no rule spoke is nobody's allow, not even one that does nothing.
        if some { outcome } else { Outcome::Unknown }
    }

    /// What is said of each effect, and by which rule, where one decided it.
    #[must_use]
    pub fn spoke(&self, operation: &Operation, facts: Facts<'_>) -> Vec<(Outcome, Option<usize>)> {
        let judging = Judging::bare(operation, facts);
        let one = |index| match self.judge(&judging, index) {
            (Ruling::Allow, rule) => (Outcome::Allow, rule),
            (Ruling::Deny, rule) => (Outcome::Deny, rule),
            (Ruling::Doubt | Ruling::Nothing, rule) => (Outcome::Unknown, rule),
        };
        effects(operation).map(one).collect()
    }

    /// What the rules say of one effect, and which of them.
    fn judge(&self, judging: &Judging<'_>, index: usize) -> (Ruling, Option<usize>) {
        let certain = judging.operation.effects.get(index).is_some_and(|effect| effect.certain);
        let mut doubt = false;
        let mut passed_by = false;
        for (at, rule) in self.rules.iter().enumerate() {
            let purpose = if rule.outcome == Outcome::Allow { Purpose::Permit } else { Purpose::Restrict };
            match (rule.outcome, rule.matcher.matches(judging, index, purpose)) {
                (_, Tri::No) | (Outcome::Allow, Tri::Maybe) => {}
                // An allow that does not carry this effect leaves it to a later rule that names it.
                (Outcome::Allow, Tri::Yes) if !covers(&rule.matcher, judging, index) => passed_by = true,
                (Outcome::Allow, Tri::Yes) => return (if doubt { Ruling::Doubt } else { Ruling::Allow }, Some(at)),
                (Outcome::Deny, Tri::Yes) if passed_by && !rule.matcher.names(judging, index, purpose) => doubt = true,
                (Outcome::Deny, Tri::Yes) if certain => return (Ruling::Deny, Some(at)),
                (Outcome::Unknown, Tri::Yes) if certain => return (Ruling::Doubt, Some(at)),
                (Outcome::Deny | Outcome::Unknown, _) => doubt = true,
            }
        }
        (if doubt { Ruling::Doubt } else { Ruling::Nothing }, None)
    }
}

/// What the rules say of one effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ruling {
    Allow,
    Deny,
    /// A rule that denies or asks may match.
    Doubt,
    Nothing,
}

/// Whether an allow that matches an effect carries it.
fn covers(matcher: &Matcher, judging: &Judging<'_>, index: usize) -> bool {
    let Some(effect) = judging.operation.effects.get(index) else { return false };
    match (&effect.carry, &effect.target) {
        (_, Target::Anything) => matcher.names(judging, index, Purpose::Permit),
        (Carry::Plain, Target::Path(_)) if leaves_workspace(judging.operation, index) => {
            matcher.is_bound() || matcher.names(judging, index, Purpose::Permit)
        }
        (Carry::Plain, _) => true,
        (Carry::Named { .. }, _) => matcher.names(judging, index, Purpose::Permit),
    }
}

/// The effects that rules speak of. The call itself is one where no effect decides instead of it.
fn effects(operation: &Operation) -> impl Iterator<Item = usize> {
    let decides =
        !operation.known || !operation.effects.iter().any(|effect| effect.verb != Verb::Call && effect.certain);
    (0..operation.effects.len())
        .filter(move |index| decides || operation.effects.get(*index).is_some_and(|effect| effect.verb != Verb::Call))
}

/// Whether a program writes or deletes something that is not known to be in the workspace. A relative path whose
/// working directory is not known stays where the program is, unless it climbs.
fn leaves_workspace(operation: &Operation, index: usize) -> bool {
    let Some(effect) = operation.effects.get(index) else { return true };
    if effect.run.is_none() || !matches!(effect.verb, Verb::Write | Verb::Delete) {
        return false;
    }
    match operation.resolved.get(index) {
        Some(Resolved { canonical: Some(path), .. }) => {
            !operation.workspace.root_for_allow().is_some_and(|root| path.starts_with(root))
        }
        Some(Resolved { lexical: Some(path), .. }) => path.is_absolute() || path.starts_with(".."),
        _ => true,
    }
}

/// Whether an effect must be allowed for the whole to be.
fn needs_yes(operation: &Operation, index: usize) -> bool {
    let Some(effect) = operation.effects.get(index) else { return true };
    let redirected_read = effect.run.is_none() && effect.verb == Verb::Read && operation.analysis.is_some();
    match &effect.target {
        _ if !effect.certain => false,
        Target::Wrapper(_) => false,
        // `< file` comes with the programs that read it.
        Target::Path(_) if redirected_read && effect.carry == Carry::Plain => false,
        _ => true,
    }
}
