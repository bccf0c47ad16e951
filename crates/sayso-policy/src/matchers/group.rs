//! Groups of matchers that hold only what their names say.

use super::Matcher;
use crate::condition::Condition;

/// Reading a git repository: `git status`, `git log`, `git branch -a`, and nothing that changes it.
///
/// ```
/// use sayso_policy::matchers::ReadOnlyGit;
/// use sayso_policy::{Operation, Outcome, Rule, Ruleset};
///
/// let ruleset = Ruleset::new(vec![Rule::new(ReadOnlyGit::matcher(), Outcome::Allow)]);
/// assert_eq!(ruleset.evaluate(&Operation::execute("git branch -a")), Outcome::Allow);
/// assert_eq!(ruleset.evaluate(&Operation::execute("git branch -D main")), Outcome::Unknown);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ReadOnlyGit;

impl ReadOnlyGit {
    /// The matcher.
    #[must_use]
    pub fn matcher() -> Matcher {
        Matcher::of(Condition::All(vec![Condition::set("read-only-git"), Condition::OnlyReads]))
    }
}

/// Compiling and checking what is in the workspace: `cargo build`, `tsc`, `go vet`, `make`.
///
/// ```
/// use sayso_policy::matchers::Compilation;
/// use sayso_policy::{Matcher, Operation, Outcome, Rule, Ruleset};
///
/// let more = Matcher::or(vec![Compilation::matcher(), Matcher::command("zig").with_subcommand("build")]);
/// let ruleset = Ruleset::new(vec![Rule::new(more, Outcome::Allow)]);
/// assert_eq!(ruleset.evaluate(&Operation::execute("cargo test && zig build")), Outcome::Allow);
/// assert_eq!(ruleset.evaluate(&Operation::execute("go test -exec evil ./...")), Outcome::Unknown);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Compilation;

impl Compilation {
    /// The matcher.
    #[must_use]
    pub fn matcher() -> Matcher {
        // Recipes from elsewhere are not the workspace's.
        let elsewhere = ["-f", "-C", "-I"].map(|flag| Matcher::command("make").with_flag(flag));
        Matcher::and(vec![Matcher::of(Condition::set("compilation")), Matcher::not(Matcher::or(elsewhere.to_vec()))])
    }
}

/// npm commands that install, publish and configure nothing.
///
/// ```
/// use sayso_policy::matchers::SafeNpm;
/// use sayso_policy::{Operation, Outcome, Rule, Ruleset};
///
/// let ruleset = Ruleset::new(vec![Rule::new(SafeNpm::matcher(), Outcome::Allow)]);
/// assert_eq!(ruleset.evaluate(&Operation::execute("npm ls")), Outcome::Allow);
/// assert_eq!(ruleset.evaluate(&Operation::execute("npm config set registry x")), Outcome::Unknown);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SafeNpm;

impl SafeNpm {
    /// The matcher.
    #[must_use]
    pub fn matcher() -> Matcher {
        Matcher::of(Condition::set("safe-npm"))
    }
}
