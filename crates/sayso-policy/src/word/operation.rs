//! A normalised tool call.

use crate::word::{Actor, Provenance, Request, ToolCall, Workspace};
use sayso_shell::{Analysis, Effect, Environment, Files, Kind};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What may be asked of the world while a call is normalised and judged.
#[derive(Clone, Copy)]
pub struct Facts<'a> {
    /// Files.
    pub files: &'a dyn Files,
    /// The environment in which a command would run.
    pub env: &'a dyn Environment,
}

/// A tool's name in normal form.
///
/// A pattern is compared with it in one of two ways: [`ToolName::allows`] for an allow, [`ToolName::restricts`] for an
/// ask or a deny. Patterns are brought to the same form by [`crate::normalise::pattern_names`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ToolName {
    /// The canonical name: trimmed, lower case, aliases resolved (`bash` is `bash_execute`). For an MCP tool
    /// `mcp:server/tool`.
    pub canonical: String,
    /// Equivalent names of this very tool, `canonical` first: as the agent spelled it (`exec`), and wider names that
    /// mean it too (`file_write` for an edit). A pattern that matches one of them means this tool. Empty for an
    /// ambiguous MCP name and for a disguised one.
    pub names: Vec<String>,
    /// Alternative interpretations of the name: more than one for an ambiguous MCP spelling (`mcp_a_b_c`). Never
    /// empty; holds `canonical`. An allow must match all of them, an ask or deny any.
    pub readings: Vec<String>,
    /// Names that only asks and denies look at: what a disguised name looks like, and what this call does under
    /// another tool's name (a patch that deletes is `file_delete` too).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resembles: Vec<String>,
    /// The name holds characters that no tool's name has (look-alikes, invisible ones, pattern characters), or it
    /// does not say which tool it means. No allow matches it, `*` neither.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub disguised: bool,
    /// It is an MCP tool, by at least one reading. MCP tools are never aliased to built-in ones.
    pub mcp: bool,
    /// As it arrived.
    pub raw: String,
}

impl ToolName {
    /// Whether an allow whose pattern is `matches` speaks of this tool.
    pub fn allows(&self, matches: impl Fn(&str) -> bool) -> bool {
        !self.disguised
            && !self.readings.is_empty()
            && (self.names.iter().any(|name| matches(name)) || self.readings.iter().all(|reading| matches(reading)))
    }

    /// Whether an ask or a deny whose pattern is `matches` speaks of this tool.
    pub fn restricts(&self, matches: impl Fn(&str) -> bool) -> bool {
        self.names.iter().chain(&self.readings).chain(&self.resembles).any(|name| matches(name))
    }
}

/// What a path effect resolves to: found once, compared many times.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Resolved {
    /// Canonical form: absolute, no links, no `..`; `None` where that cannot be known.
    pub canonical: Option<PathBuf>,
    /// Lexically cleaned form as written; denies look at this one too.
    pub lexical: Option<PathBuf>,
}

/// A normalised tool call: what it is called, who asks, and what it would do.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    /// The tool.
    pub tool: ToolName,
    /// Derived from tool and arguments alone.
    pub kind: crate::normalise::Kind,
    /// The kind that the agent reports, where it says more than `kind`. Asks and denies look at both; an allow that
    /// names a kind needs this to be `None` or the same.
    pub reported_kind: Option<crate::normalise::Kind>,
    /// Who asks.
    pub actor: Actor,
    /// The working directory, if known.
    pub cwd: Option<PathBuf>,
    /// The workspace.
    pub workspace: Workspace,
    /// The home folder, if known.
    pub home: Option<PathBuf>,
    /// Folders that the caller says are its home, where they are not `home`. They add to what rules restrict, and to no
    /// allow.
    pub claimed_homes: Vec<PathBuf>,
    /// Variables that the call brings itself, by name.
    pub env: Vec<(String, String)>,
    /// What it would do. The `call` itself is the last one.
    pub effects: Vec<Effect>,
    /// Parallel to `effects`.
    pub resolved: Vec<Resolved>,
    /// The analysis of its command, if it has one; of all of them, if it has several.
    pub analysis: Option<Analysis>,
    /// The working directory, canonical; `None` where that cannot be known.
    pub folder: Option<PathBuf>,
    /// The working directory of each run of `analysis`, canonical; parallel to its runs.
    pub folders: Vec<Option<PathBuf>>,
    /// The text that the spans of `analysis` and `effects` point into.
    pub command: Option<Vec<u8>>,
    /// Whether the tool's effects are known, so that they decide instead of the call itself.
    pub known: bool,
    /// As it arrived.
    pub request: Request,
    /// Which of its words come out of files. They are judged, and not shown.
    pub provenance: Provenance,
}

/// A directory that somebody vouches for. Of anything else nothing is known.
struct Declared<'p>(&'p Path);

impl Files for Declared<'_> {
    fn kind(&self, path: &Path) -> Kind {
        match self.0.is_absolute() && self.0.starts_with(path) {
            true => Kind::Folder { world_writable: false },
            false => Kind::Unknown,
        }
    }
    fn list(&self, _: &Path, _: usize) -> Option<Vec<OsString>> {
        None
    }
    fn read(&self, _: &Path, _: usize) -> Option<Vec<u8>> {
        None
    }
    fn stamp(&self, _: &Path) -> Option<String> {
        None
    }
    fn changeable(&self, _: &Path) -> bool {
        true
    }
    fn identity(&self, _: &Path) -> Option<(u64, u64)> {
        None
    }
}

impl Operation {
    /// Normalises a call and works out its effects.
    #[must_use]
    pub fn new(call: ToolCall, facts: Facts<'_>) -> Self {
        crate::normalise::operation(call, facts)
    }

    /// A shell command of which nothing else is known: no working directory, no files, no PATH.
    #[must_use]
    pub fn execute(command: impl AsRef<[u8]>) -> Self {
        Self::blind(ToolCall::command(command.as_ref()))
    }

    /// The same in a working directory, which is the workspace too. The directory is taken at its word: it exists, and no
    /// part of its path is a link. Nothing else is looked up, so what a command names in it satisfies no matcher about
    /// directories; [`Operation::in_directory_with`] looks.
    ///
    /// ```
    /// use sayso_policy::matchers::Compilation;
    /// use sayso_policy::{Operation, Outcome, Rule, Ruleset};
    ///
    /// let ruleset = Ruleset::new(vec![Rule::new(Compilation::matcher().within_directory("/srv/app"), Outcome::Allow)]);
    /// let judge = |folder: &str| ruleset.evaluate(&Operation::execute("cargo build").in_directory(folder));
    /// assert_eq!(judge("/srv/app/web"), Outcome::Allow);
    /// assert_eq!(judge("/srv/app-evil"), Outcome::Unknown);
    /// assert_eq!(judge("/srv/app/../other"), Outcome::Unknown);
    /// ```
    #[must_use]
    pub fn in_directory(self, folder: impl Into<PathBuf>) -> Self {
        let folder = sayso_shell::canonical::lexical(&folder.into());
        let files = Declared(&folder);
        self.in_directory_with(folder.clone(), Facts { files: &files, env: &sayso_shell::NoEnvironment })
    }

    /// The same in a working directory, which is the workspace too, with files to look at.
    ///
    /// ```
    /// use sayso_policy::shell::{MemoryFiles, NoEnvironment};
    /// use sayso_policy::{Facts, Matcher, Operation, Outcome, Rule, Ruleset};
    ///
    /// let mut files = MemoryFiles::new();
    /// files.folder("/srv/app/web").folder("/srv/other");
    /// let facts = Facts { files: &files, env: &NoEnvironment };
    /// let ruleset = Ruleset::new(vec![Rule::new(Matcher::command("cat").within_directory("/srv/app"), Outcome::Allow)]);
    /// let judge = |folder: &str| {
    ///     let show = Operation::execute("cat main.js").in_directory_with(folder, facts);
    ///     ruleset.evaluate_with(&show, facts)
    /// };
    /// assert_eq!(judge("/srv/app/web"), Outcome::Allow);
    /// assert_eq!(judge("/srv/other"), Outcome::Unknown);
    /// ```
    #[must_use]
    pub fn in_directory_with(self, folder: impl Into<PathBuf>, facts: Facts<'_>) -> Self {
        let folder = folder.into();
        let call = ToolCall {
            actor: self.actor,
            home: self.home,
            workspace: Workspace::new(folder.clone(), None),
            cwd: Some(folder),
            ..ToolCall::new(self.request)
        };
        Self::new(call, facts)
    }

    /// A call of a tool of which nothing else is known.
    ///
    /// ```
    /// use sayso_policy::{Matcher, Operation, Outcome, Rule, Ruleset};
    ///
    /// let ruleset = Ruleset::new(vec![Rule::new(Matcher::fetch("docs.rs"), Outcome::Allow)]);
    /// let fetch = Operation::tool("web_fetch", serde_json::json!({"url": "https://docs.rs/serde"}));
    /// assert_eq!(ruleset.evaluate(&fetch), Outcome::Allow);
    /// ```
    #[must_use]
    pub fn tool(name: impl Into<String>, arguments: serde_json::Value) -> Self {
        Self::blind(ToolCall::tool(name, arguments))
    }

    fn blind(call: ToolCall) -> Self {
        Self::new(call, Facts { files: &sayso_shell::NoFiles, env: &sayso_shell::NoEnvironment })
    }
}
