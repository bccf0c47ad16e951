//! Why an effect needs a yes of its own.

/// A reason for [`crate::Carry::Named`], as a stable code.
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
}

impl Code {
    /// All of them.
    pub const ALL: &[Self] = &[
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

    /// The code of this name.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|code| code.as_str() == word).copied()
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
        }
    }
}
