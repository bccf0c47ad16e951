//! Why an effect needs a yes of its own, and what the analysis is not sure of.

/// A reason for [`crate::Carry::Named`] and [`crate::Doubt`]. It stays this until it is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Code {
    /// An option that the table of its program does not hold.
    UnknownOption,
    /// A subcommand that the table of its program does not hold.
    UnknownSubcommand,
    /// A word of unknown value may be an option that matters, or decides which subcommand runs.
    DynamicOption,
    /// An option writes a file though the program is one that reads.
    WritesFile,
    /// An option starts a program.
    RunsCommand,
    /// It runs code of a file: a script, a plugin, a configuration that is code.
    RunsCode,
    /// Code stands in the command itself.
    InlineCode,
    /// Refs, index, stash, configuration or work tree of a repository change.
    ChangesRepository,
    /// Settings of a program, a user or a project change.
    ChangesSettings,
    /// Code is fetched and installed.
    Installs,
    /// Something leaves for a registry, forge or other service where others see it.
    Publishes,
    /// State at a service is changed: an issue is closed, a workflow started.
    ChangesService,
    /// A server is started.
    Serves,
    /// Processes are signalled.
    Signals,
    /// The machine changes: services, users, disks, kernel.
    ChangesSystem,
    /// Secrets, or the whole environment, are shown.
    ShowsSecrets,
    /// The value of a variable whose name says that it holds a secret goes into a word.
    SecretVariable,
    /// An environment prefix changes what runs.
    Environment,
    /// Another computer runs something.
    Remote,
    /// Files are changed though the program's plain form reads.
    ChangesFiles,
    /// A script in the command is not understood.
    UnclearScript,
    /// An option makes a program talk to another host than the one it is set up for.
    OtherHost,
    /// Text for a shell is not known.
    DynamicText,
    /// Which program runs is not known.
    DynamicProgram,
    /// Shells read it differently, or it belongs to a shell that is not followed.
    Dialect,
    /// From here on the shell reads commands by other rules.
    OtherGrammar,
    /// Which names are aliased is not known.
    Alias,
    /// A redirect leads nobody knows where.
    Redirect,
    /// A script is not known, or is not of a shell.
    UnknownScript,
    /// A shell loads code.
    LoadsCode,
    /// A program may be written by this very command.
    WrittenProgram,
    /// A script may be written by this very command.
    WrittenScript,
    /// A script cannot be read.
    UnreadableScript,
    /// A script is not there.
    MissingScript,
    /// A script runs itself.
    ScriptLoop,
    /// A script is on another machine.
    ScriptElsewhere,
    /// A trap changes more than is followed.
    Trap,
    /// More work than is done for one command.
    TooMuchWork,
    /// Nested more deeply than is followed.
    TooDeep,
    /// Text is expanded again, and may run commands.
    ExpandsAgain,
    /// Arithmetic evaluates a value again, and may run commands.
    EvaluatesAgain,
    /// Arithmetic on a value that is not known.
    ArithmeticOnUnknown,
    /// It is not understood as a command of a shell.
    Syntax,
    /// A name that no variable or function can have.
    OddName,
    /// A construct that is not followed.
    NotUnderstood,
    /// A function starts itself without end.
    ForkBomb,
    /// A tool is asked to run outside of its sandbox.
    LeavesSandbox,
    /// A tool sends input that is not seen.
    UnseenInput,
    /// There may be more than is seen.
    Opaque,
    /// Arguments of a tool that can be read in several ways.
    UnclearArguments,
}

impl Code {
    /// Those that a text may name.
    pub const OF_TEXTS: &[Self] = &[
        Self::UnknownOption,
        Self::UnknownSubcommand,
        Self::DynamicOption,
        Self::WritesFile,
        Self::RunsCommand,
        Self::RunsCode,
        Self::InlineCode,
        Self::ChangesRepository,
        Self::ChangesSettings,
        Self::Installs,
        Self::Publishes,
        Self::ChangesService,
        Self::Serves,
        Self::Signals,
        Self::ChangesSystem,
        Self::ShowsSecrets,
        Self::SecretVariable,
        Self::Environment,
        Self::Remote,
        Self::ChangesFiles,
        Self::UnclearScript,
        Self::OtherHost,
    ];

    /// The others: what only a shell or a tool does.
    pub const OF_CALLS: &[Self] = &[
        Self::DynamicText,
        Self::DynamicProgram,
        Self::Dialect,
        Self::OtherGrammar,
        Self::Alias,
        Self::Redirect,
        Self::UnknownScript,
        Self::LoadsCode,
        Self::WrittenProgram,
        Self::WrittenScript,
        Self::UnreadableScript,
        Self::MissingScript,
        Self::ScriptLoop,
        Self::ScriptElsewhere,
        Self::Trap,
        Self::TooMuchWork,
        Self::TooDeep,
        Self::ExpandsAgain,
        Self::EvaluatesAgain,
        Self::ArithmeticOnUnknown,
        Self::Syntax,
        Self::OddName,
        Self::NotUnderstood,
        Self::ForkBomb,
        Self::LeavesSandbox,
        Self::UnseenInput,
        Self::Opaque,
        Self::UnclearArguments,
    ];

    /// The code of this name that a text may use.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::OF_TEXTS.iter().find(|code| code.as_str() == word).copied()
    }

    /// The stable kebab-case code.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UnknownOption => "unknown-option",
            Self::UnknownSubcommand => "unknown-subcommand",
            Self::DynamicOption => "dynamic-option",
            Self::WritesFile => "writes-file",
            Self::RunsCommand => "runs-command",
            Self::RunsCode => "runs-code",
            Self::InlineCode => "inline-code",
            Self::ChangesRepository => "changes-repository",
            Self::ChangesSettings => "changes-settings",
            Self::Installs => "installs",
            Self::Publishes => "publishes",
            Self::ChangesService => "changes-service",
            Self::Serves => "serves",
            Self::Signals => "signals",
            Self::ChangesSystem => "changes-system",
            Self::ShowsSecrets => "shows-secrets",
            Self::SecretVariable => "secret-variable",
            Self::Environment => "environment",
            Self::Remote => "runs-elsewhere",
            Self::ChangesFiles => "changes-files",
            Self::UnclearScript => "unclear-script",
            Self::OtherHost => "other-host",
            Self::DynamicText => "dynamic-text",
            Self::DynamicProgram => "dynamic-program",
            Self::Dialect => "dialect",
            Self::OtherGrammar => "other-grammar",
            Self::Alias => "alias",
            Self::Redirect => "redirect",
            Self::UnknownScript => "unknown-script",
            Self::LoadsCode => "loads-code",
            Self::WrittenProgram => "written-program",
            Self::WrittenScript => "written-script",
            Self::UnreadableScript => "unreadable-script",
            Self::MissingScript => "missing-script",
            Self::ScriptLoop => "script-loop",
            Self::ScriptElsewhere => "script-elsewhere",
            Self::Trap => "trap",
            Self::TooMuchWork => "too-much-work",
            Self::TooDeep => "too-deep",
            Self::ExpandsAgain => "expands-again",
            Self::EvaluatesAgain => "evaluates-again",
            Self::ArithmeticOnUnknown => "arithmetic-on-unknown",
            Self::Syntax => "syntax",
            Self::OddName => "odd-name",
            Self::NotUnderstood => "not-understood",
            Self::ForkBomb => "fork-bomb",
            Self::LeavesSandbox => "leaves-sandbox",
            Self::UnseenInput => "unseen-input",
            Self::Opaque => "opaque",
            Self::UnclearArguments => "unclear-arguments",
        }
    }
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
