//! A policy file as a typed document.

use super::lines::Lines;
use super::units::{Cost, Rate};
use super::{MAX_BYTES, Problem, read::Reader, section};
use crate::state::Scope;
use crate::word::{Actor, Answer, ProviderKey, Source, Verdict};
use sayso_shell::Verb;
use sayso_shell::bounds::{Leave, Need};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// A value and the bytes of the file that it was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub span: Range<usize>,
}

impl<T> Spanned<T> {
    /// A value and where it stands.
    pub fn new(value: T, span: Range<usize>) -> Self {
        Self { value, span }
    }
}

/// A string of the file: a pattern, a name, a sentence. Never blank.
pub type Text = Spanned<String>;

/// A policy file: typed and of valid shape. Patterns, sets and preset names are still text.
#[derive(Clone, Debug)]
pub struct File {
    /// Its name as shown to people.
    pub name: Arc<str>,
    /// Finds lines and columns.
    pub lines: Lines,
    /// Presets that are its defaults.
    pub extends: Vec<Text>,
    /// Preset rules that it switches off.
    pub disable: Vec<Text>,
    /// The verdict where nothing spoke.
    pub default: Defaults,
    /// The verdict where nobody answers. Only ever [`Verdict::Deny`].
    pub unanswered: Option<Spanned<Verdict>>,
    /// Presets that count as decisions. For a managed file alone, which the compiler checks.
    pub enforce: Vec<Text>,
    /// Verbs for which allows of lower files do not count. For a managed file alone.
    pub closed: Vec<Spanned<Verb>>,
    /// `[allow]`, `[ask]` and `[deny]`, in the order of the file.
    pub lists: Vec<Listed>,
    /// `[[rule]]`, in the order of the file.
    pub rules: Vec<RuleText>,
    /// `[set]`.
    pub sets: Vec<SetText>,
    /// `[tools]`.
    pub tools: Tools,
    /// `[patterns]`.
    pub patterns: Vec<ParamPatterns>,
    /// `[limits]`, at most one for each scope.
    pub limits: Vec<Limit>,
    /// `[actor]`.
    pub actor: Option<ActorText>,
    /// `trust_roles`.
    pub trust_roles: Option<Spanned<bool>>,
    /// `[for]`. No two are for the same.
    pub roles: Vec<RoleText>,
    /// `[models]`, and its layers for some actors.
    pub models: Vec<ModelsText>,
    /// `[plan]`.
    pub plan: Option<PlanText>,
    /// `[risk] ask_above`.
    pub ask_above: Option<Spanned<u8>>,
    /// `[approvals]`.
    pub approvals: Vec<Approval>,
    /// `[hold]`.
    pub hold: Option<HoldText>,
    /// `mode.run`.
    pub mode: Option<Spanned<Mode>>,
    /// `mode.pinned`. For a managed file alone.
    pub mode_pinned: Option<Spanned<bool>>,
    /// `[[test]]`.
    pub tests: Vec<PolicyTest>,
}

impl File {
    /// Where a span begins.
    #[must_use]
    pub fn source(&self, span: &Range<usize>) -> Source {
        self.lines.source(&self.name, span)
    }

    /// An error at a span.
    #[must_use]
    pub fn problem(&self, code: &'static str, span: &Range<usize>, message: impl Into<String>) -> Problem {
        Problem {
            code,
            message: message.into(),
            suggestion: None,
            source: self.source(span),
            span: span.clone(),
            warning: false,
        }
    }
}

/// `default`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Defaults {
    /// `default = "ask"`.
    pub every: Option<Spanned<Verdict>>,
    /// `default = { read = "allow" }`.
    pub by_verb: Vec<(Verb, Spanned<Verdict>)>,
}

impl Defaults {
    /// What the file states for this verb.
    #[must_use]
    pub fn of(&self, verb: Verb) -> Option<&Spanned<Verdict>> {
        self.by_verb.iter().find(|(v, _)| *v == verb).map(|(_, verdict)| verdict).or(self.every.as_ref())
    }
}

/// A line of `[allow]`, `[ask]` or `[deny]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Which table.
    pub verdict: Verdict,
    /// Which key, and where it stands.
    pub verb: Spanned<Verb>,
    /// At least one; at least one without `!`.
    pub patterns: Vec<Text>,
}

/// A `[[rule]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleText {
    /// The table as a whole.
    pub span: Range<usize>,
    /// Its name, unique in the file.
    pub id: Option<Text>,
    /// Its verdict, at the key that gave it.
    pub verdict: Spanned<Verdict>,
    /// Its verb, at the key that gave it.
    pub verb: Spanned<Verb>,
    /// At least one; at least one without `!`.
    pub patterns: Vec<Text>,
    /// Conditions, all of which must hold.
    pub when: Option<super::When>,
    /// Who decides. Only on an ask.
    pub approver: Option<Text>,
    /// The sentence.
    pub because: Option<Text>,
    /// No grant answers this ask. Only on an ask.
    pub always: bool,
    /// A hold answers this ask; at its key. Only on an ask.
    pub held: Option<Range<usize>>,
    /// It must match these.
    pub hits: Vec<Example>,
    /// It must not match these.
    pub misses: Vec<Example>,
}

/// `arg.PATH = PATTERNS`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arg {
    /// The path, at its last key.
    pub path: Spanned<Vec<String>>,
    /// Any of them. A number or truth value of the file is its text here.
    pub patterns: Vec<Text>,
}

/// An example of a rule.
pub type Example = Spanned<ExampleValue>;

/// What an example is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ExampleValue {
    /// A command, a path, a host or a tool's name, as fits the rule's verb.
    Text(String),
    /// Arguments of a call.
    Arguments(serde_json::Value),
}

/// An entry of `[set]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetText {
    /// Its name, without `@`.
    pub name: Text,
    /// At least one.
    pub members: Vec<Text>,
}

/// `[tools]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tools {
    /// Its own four keys.
    pub base: LayerText,
    /// `[tools.for]`.
    pub layers: Vec<PerActor>,
}

/// `[tools.for.WHO]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerActor {
    /// Whom it is for. No two layers of a file are for the same.
    pub who: Spanned<Who>,
    /// The four keys.
    pub layer: LayerText,
}

/// The four keys of a layer; an empty list is a key that was not given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LayerText {
    /// The table as a whole; empty if there is none.
    pub span: Range<usize>,
    /// A named list of tools.
    pub profile: Option<Spanned<Profile>>,
    /// Added.
    pub also: Vec<Text>,
    /// Nothing else.
    pub only: Vec<Text>,
    /// Not there.
    pub hide: Vec<Text>,
}

/// A named list of tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Profile {
    /// The least that is of use.
    Minimal,
    /// For writing code.
    Coding,
    /// For reading and thinking.
    Analysis,
    /// Everything.
    Full,
}

impl Profile {
    /// The word of the language.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Minimal => "minimal",
            Self::Coding => "coding",
            Self::Analysis => "analysis",
            Self::Full => "full",
        }
    }
}

/// Who asks, as `[tools.for]` and `when.for` name it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Who {
    /// `provider:openai`, `provider:openai/gpt-4`; trimmed and lower case.
    Provider(ProviderKey),
    /// `agent:coder`.
    Agent(String),
    /// `team:a`, `team:a/alice`.
    Team {
        /// The team.
        team: String,
        /// One member of it.
        member: Option<String>,
    },
    /// `tenant:acme`. Not in `[tools.for]`.
    Tenant(String),
    /// `subagent`.
    Subagent,
}

impl std::fmt::Display for Who {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Provider(ProviderKey { provider, model: None }) => write!(f, "provider:{provider}"),
            Self::Provider(ProviderKey { provider, model: Some(model) }) => write!(f, "provider:{provider}/{model}"),
            Self::Agent(agent) => write!(f, "agent:{agent}"),
            Self::Team { team, member: None } => write!(f, "team:{team}"),
            Self::Team { team, member: Some(member) } => write!(f, "team:{team}/{member}"),
            Self::Tenant(tenant) => write!(f, "tenant:{tenant}"),
            Self::Subagent => f.write_str("subagent"),
        }
    }
}

/// An entry of `[patterns]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamPatterns {
    /// The tool's name, or a pattern of names.
    pub tool: Text,
    /// Regular expressions that deny. One of `deny` and `ask` holds something.
    pub deny: Vec<Text>,
    /// Regular expressions that ask.
    pub ask: Vec<Text>,
    /// The parameters looked at; empty: those that matter for the tool.
    pub params: Vec<Text>,
}

/// `[limits.SCOPE]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The scope, at its key.
    pub scope: Spanned<Scope>,
    /// Calls.
    pub calls: Option<Spanned<u64>>,
    /// Tokens, both ways.
    pub tokens: Option<Spanned<u64>>,
    /// Tokens read.
    pub input_tokens: Option<Spanned<u64>>,
    /// Tokens written.
    pub output_tokens: Option<Spanned<u64>>,
    /// Money.
    pub cost: Option<Spanned<Cost>>,
    /// Time.
    pub wall: Option<Spanned<Duration>>,
    /// Denied calls.
    pub blocked: Option<Spanned<u64>>,
    /// The stretch of time that `blocked` is counted in; absent: the scope's life.
    pub blocked_per: Option<Duration>,
    /// Paths removed.
    pub deletes: Option<Spanned<u64>>,
    /// Bytes written.
    pub bytes_written: Option<Spanned<u64>>,
    /// Hosts.
    pub hosts: Option<Spanned<u64>>,
    /// The same call again.
    pub repeats: Option<Spanned<u64>>,
    /// Calls in a stretch of time.
    pub rate: Option<Spanned<Rate>>,
    /// [`Verdict::Ask`] or [`Verdict::Deny`]; absent: deny.
    pub at_limit: Option<Spanned<Verdict>>,
}

/// `[actor]`: at least one of its names is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActorText {
    /// The table as a whole.
    pub span: Range<usize>,
    /// The team.
    pub team: Option<Text>,
    /// The member of that team.
    pub member: Option<Text>,
    /// The tenant.
    pub tenant: Option<Text>,
}

/// `[for.WHO]`: other defaults for some actors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleText {
    /// Whom it is for.
    pub who: Spanned<Who>,
    /// Presets that are its defaults.
    pub extends: Vec<Text>,
    /// Rules of theirs that it switches off.
    pub disable: Vec<Text>,
    /// The verdict where nothing spoke.
    pub default: Defaults,
}

/// `[models]` or a layer of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelsText {
    /// Whom it is for; `None`: everybody.
    pub who: Option<Spanned<Who>>,
    /// Models that calls may come from.
    pub only: Vec<Text>,
    /// The model to use.
    pub model: Option<Text>,
    /// The model to use once too many calls were denied.
    pub fallback: Option<Text>,
    /// Where it stands.
    pub span: Range<usize>,
}

/// `[plan]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanText {
    /// Whose calls need an approved plan.
    pub require: Vec<Spanned<Who>>,
    /// How long an approved plan may be carried out.
    pub expires: Option<Spanned<std::time::Duration>>,
}

/// `[approvals.NAME]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    /// The name that `approver` uses.
    pub name: Text,
    /// At least one.
    pub members: Vec<Text>,
    /// How many must say yes, at least 1; absent: 1.
    pub need: Option<Spanned<u64>>,
    /// How long a question waits.
    pub expires: Option<Spanned<Duration>>,
    /// After how long which other group may answer too.
    pub escalate: Option<(Duration, Text)>,
}

/// `[hold]`. An empty list is a key that was not given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HoldText {
    /// The table as a whole.
    pub span: Range<usize>,
    /// What may run unasked if it is held.
    pub run: Vec<Text>,
    /// What is allowed anyway is held too.
    pub always: Option<Spanned<bool>>,
    /// How much the machine must hold.
    pub need: Option<Spanned<Need>>,
    /// Folders that may be written.
    pub write: Vec<Text>,
    /// What a run sees of caches.
    pub caches: Option<Spanned<Caches>>,
    /// Hosts that may be reached.
    pub connect: Vec<Text>,
    /// Variables that look like secrets, to be handed over all the same.
    pub env: Vec<Text>,
    /// What becomes of processes that are left behind.
    pub leave: Option<Spanned<Leave>>,
}

/// `hold.caches`. The stricter is the greater.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Caches {
    /// Seen as they are; changes are kept apart.
    #[default]
    Copy,
    /// One for each workspace.
    Private,
    /// An empty one for each run.
    None,
}

/// `mode.run`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Verdicts count.
    Enforce,
    /// Nothing runs; what would have been is recorded.
    DryRun,
    /// Everything runs; what would have been is recorded.
    Shadow,
    /// Everything is denied.
    Halt,
    /// Only audit and integrity remain.
    Off,
}

impl Mode {
    /// The word of the language.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Enforce => "enforce",
            Self::DryRun => "dry-run",
            Self::Shadow => "shadow",
            Self::Halt => "halt",
            Self::Off => "off",
        }
    }
}

/// A `[[test]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyTest {
    /// The table as a whole.
    pub span: Range<usize>,
    /// What is asked for.
    pub request: TestRequest,
    /// What must come of it.
    pub expect: Spanned<Answer>,
    /// A code that must be among the reasons.
    pub code: Option<Text>,
    /// What the case is for.
    pub because: Option<Text>,
    /// The working directory; absent: the workspace.
    pub cwd: Option<Text>,
    /// Who asks.
    pub actor: Actor,
}

/// What a `[[test]]` asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TestRequest {
    /// A shell command.
    Command(Text),
    /// A tool call.
    Tool {
        /// The tool.
        name: Text,
        /// Its arguments, an object.
        arguments: serde_json::Value,
    },
}

/// Reads a policy file. Any error refuses it whole; all errors are returned, in the order of the file.
///
/// # Errors
/// Everything that is wrong with the text, each with its place.
pub fn parse(name: &str, text: &str) -> Result<File, Vec<Problem>> {
    if text.len() > MAX_BYTES {
        let source = Source { file: Arc::from(name), line: 1, column: 1 };
        return Err(vec![Problem {
            code: "file-too-long",
            message: format!("this file is {} bytes long; the limit for a policy file is {MAX_BYTES}", text.len()),
            suggestion: Some("use patterns and sets instead of long lists".to_owned()),
            source,
            span: 0..0,
            warning: false,
        }]);
    }
    let mut reader = Reader::new(name, text);
    let (document, errors) = toml::de::DeTable::parse_recoverable(text);
    // What follows a syntax error was guessed by the parser's recovery: complaints about it would mislead. A
    // duplicate key leaves nothing to guess.
    if reader.syntax(&errors) {
        return Err(reader.into_problems());
    }
    let file = section::file(&mut reader, &document);
    let problems = reader.into_problems();
    if problems.is_empty() { Ok(file) } else { Err(problems) }
}
