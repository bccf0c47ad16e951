//! What a call would do, as data. This is the vocabulary between the shell, the tools and the policy.

use crate::program::Code;
use crate::word::{Shape, Text, Word};
use std::path::{Path, PathBuf};

/// A half-open range of bytes in the command's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// Index of a [`Run`] in its [`crate::Analysis`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(pub u32);

/// The kinds of effect that a policy speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verb {
    /// Start a program, or code of a language.
    Run,
    /// Read a path.
    Read,
    /// Create or change a path.
    Write,
    /// Remove a path.
    Delete,
    /// Open a connection to a host.
    Connect,
    /// Call a tool.
    Call,
}

impl Verb {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Run, Self::Read, Self::Write, Self::Delete, Self::Connect, Self::Call];

    /// The word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Read => "read",
            Self::Write => "write",
            Self::Delete => "delete",
            Self::Connect => "connect",
            Self::Call => "call",
        }
    }

    /// The word within a sentence: "reading `./x`".
    #[must_use]
    pub const fn gerund(self) -> &'static str {
        match self {
            Self::Run => "running",
            Self::Read => "reading",
            Self::Write => "writing",
            Self::Delete => "deleting",
            Self::Connect => "connecting to",
            Self::Call => "calling",
        }
    }
}

/// One thing that a call would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// What is done.
    pub verb: Verb,
    /// To what.
    pub target: Target,
    /// The part of the command that causes it; empty for tools' arguments.
    pub span: Span,
    /// The program that causes it. `None`: the shell itself (a redirect), or a tool.
    pub run: Option<RunId>,
    /// Whether an allow of that program covers it.
    pub carry: Carry,
    /// False for a maybe-effect: a path-like argument of something nobody knows. It counts against denies and asks
    /// (as maybe) and needs no yes of its own.
    pub certain: bool,
}

/// What an effect is done to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A program is started: see the run.
    Program(RunId),
    /// A wrapper that only starts what follows (`env`, `xargs`, `timeout`): asks and denies may name it, but it
    /// needs no yes of its own.
    Wrapper(RunId),
    /// Inline code of a real language (`python -c`), or a script that could not be read: nobody can see through it.
    Code {
        /// Who runs it.
        run: RunId,
        /// `python`, `node`, `perl`, ...; `unknown` where even that is open.
        language: &'static str,
    },
    /// Something of this run that is not understood or is dangerous in itself, and is no path and no host: an
    /// unknown option, an environment prefix that changes what runs, code fetched and installed.
    Option(RunId),
    /// There may be more effects than listed. Only a rule that allows anything whatever covers this.
    Anything,
    /// A path.
    Path(PathTarget),
    /// A host.
    Host(HostTarget),
    /// The tool itself.
    Tool,
}

/// What [`Target::Code`] calls the language of shells.
pub const SHELL_CODE: &str = "sh";

impl Target {
    /// Whether it is code that a shell runs.
    #[must_use]
    pub fn is_shell_code(&self) -> bool {
        matches!(self, Self::Code { language: SHELL_CODE | "bash" | "zsh" | "fish", .. })
    }
}

/// A path as far as it is known. Lexical: joined with the working directory, `..` kept, links not resolved. A
/// relative path here means that the working directory is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathTarget {
    /// This path.
    Exact(PathBuf),
    /// This path and all below it (`rm -r d`, `grep -r x d`, `cp -r d e`).
    Below(PathBuf),
    /// Those of the files below a folder that a search opens (`rg x d`, `grep -r --include='*.rs' x d`).
    Sifted(Listing),
    /// What matches a shell pattern in (or below) `base`; `pattern` is relative to it.
    Glob {
        /// The folder up to the first component with a pattern character.
        base: PathBuf,
        /// The rest, as a shell pattern.
        pattern: Text,
        /// With all below what matches (`grep -r x *`).
        below: bool,
    },
    /// Some of the names that a listing gives.
    Listed(Listing),
    /// Names, sizes and times of these, as their folder tells them, and nothing of what they hold (`stat f`, `ls -l f`).
    Told(Box<Self>),
    /// Unknown but for its shape.
    Unknown(Option<Shape>),
}

impl PathTarget {
    /// Whether what links below it lead to is meant too.
    #[must_use]
    pub fn follows_links(&self) -> bool {
        !matches!(self, Self::Sifted(listing) if !matches!(listing.sieve, Sieve::Sources(_)))
    }

    /// The path, or the folder in which or below which it lies; `None`: nobody knows.
    #[must_use]
    pub fn place(&self) -> Option<&Path> {
        match self {
            Self::Exact(path) | Self::Below(path) | Self::Glob { base: path, .. } => Some(path),
            Self::Sifted(listing) | Self::Listed(listing) => Some(&listing.folder),
            Self::Told(of) => of.place(),
            Self::Unknown(_) => None,
        }
    }
}

/// Files below a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// The folder; relative where the working directory is not known.
    pub folder: PathBuf,
    /// Which of them.
    pub sieve: Sieve,
    /// The working directory in which their names, as they are told, mean them. `None`: in every one, or it is not known.
    pub from: Option<PathBuf>,
}

impl Listing {
    /// All files below this folder.
    #[must_use]
    pub fn all(folder: PathBuf) -> Self {
        Self::new(folder, Sieve::All)
    }

    /// Those below this folder that the sieve lets through.
    #[must_use]
    pub fn new(folder: PathBuf, sieve: Sieve) -> Self {
        Self { folder, sieve, from: None }
    }

    /// Told by names that begin in this folder.
    #[must_use]
    pub fn told_from(self, from: Option<&Path>) -> Self {
        Self { from: from.map(Path::to_owned), ..self }
    }
}

impl std::fmt::Display for Listing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.folder.display())?;
        match &self.sieve {
            Sieve::All => Ok(()),
            Sieve::Visible => write!(f, " visible"),
            Sieve::Searched => write!(f, " searched"),
            Sieve::Unignored => write!(f, " unignored"),
            Sieve::Tracked => write!(f, " tracked"),
            Sieve::Without(out) => {
                out.files.iter().try_for_each(|name| write!(f, " !{}", name.to_string_lossy()))?;
                out.folders.iter().try_for_each(|name| write!(f, " !{}/", name.to_string_lossy()))?;
                if out.ignored { write!(f, " unignored") } else { Ok(()) }
            }
            Sieve::Named(names) | Sieve::Sources(names) => {
                names.iter().try_for_each(|name| write!(f, " {}", name.to_string_lossy()))
            }
        }
    }
}

/// Which of the files below a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Sieve {
    /// All.
    #[default]
    All,
    /// Those that are not hidden: no component below the folder begins with a dot, unless an ignore file takes it in
    /// again (`!.env`).
    Visible,
    /// Those that are not hidden, and that no ignore file leaves out: what ripgrep opens by itself.
    Searched,
    /// Those that git tracks or its ignore files do not leave out (`git add .`).
    Unignored,
    /// Those that git tracks: its index holds them.
    Tracked,
    /// Those whose name matches one of these shell patterns; a leading dot is as any other character.
    Named(Vec<Text>),
    /// As `Named`, by a program that opens what a link of such a name leads to (`black src`).
    Sources(Vec<Text>),
    /// All but these.
    Without(Box<LeftOut>),
}

/// What a search passes over by name: text, `*` and `?`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Files of these names.
    pub files: Vec<Text>,
    /// Folders of these names, with all below them.
    pub folders: Vec<Text>,
    /// And what ignore files leave out.
    pub ignored: bool,
}

impl LeftOut {
    /// The sieve that leaves these out.
    #[must_use]
    pub(crate) fn sieve(self) -> Sieve {
        if self == Self::default() { Sieve::All } else { Sieve::Without(Box::new(self)) }
    }
}

/// A host as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostTarget {
    /// This host, lower case, without port; `port` where it was written.
    Exact {
        /// Name or address.
        host: String,
        /// Port, where written.
        port: Option<u16>,
    },
    /// A host that the tool's configuration names (`git push origin`, `npm publish`): the label is for people.
    Configured(String),
    /// Unknown.
    Unknown,
}

/// Whether an allow of a program covers an effect that it causes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Carry {
    /// A plain effect of an operand (DESIGN: "What an allow covers").
    Plain,
    /// Never carried: it needs a rule of its own verb, or a `run` pattern that names it this way.
    Named {
        /// Why it needs a yes of its own.
        code: Code,
        /// What a `run` pattern must hold to name it.
        by: NamedBy,
    },
}

/// What a `run` pattern must hold so that it covers a [`Carry::Named`] effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamedBy {
    /// This flag, in its canonical spelling (`--output`, `-c`).
    Flag(String),
    /// These leading words (`install`; `remote`, `add`).
    Words(Vec<String>),
    /// One more task beside the first of a runner (`make lint test`): these words, the last of which is its name. A
    /// pattern that names no task means every task; one that names another does not mean this.
    Task(Vec<String>),
    /// `when.env` with this variable.
    Env(String),
    /// The program alone, written as itself and not as a glob or `*` (`python3` for a script it runs).
    Program,
    /// Nothing in a `run` pattern can: only a rule of the effect's own verb.
    Nothing,
}

/// A program that would be started, with everything rules can ask about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// All words, the name first.
    pub argv: Vec<Word>,
    /// Where each word of `argv` stands. Words that a wrapper made up have the wrapper's span.
    pub spans: Vec<Span>,
    /// The whole simple command.
    pub span: Span,
    /// What the name resolves to.
    pub program: Program,
    /// Assignments before the name and by wrappers (`env A=1`), in order.
    pub env: Vec<(Text, Word)>,
    /// The working directory it starts in. `None`: not known.
    pub cwd: Option<PathBuf>,
    /// Operands in order, subcommand words first; indexes into `argv`.
    pub words: Vec<u16>,
    /// How many of `words` are subcommand words by the program's table; 0 for programs without a table.
    pub subcommands: u8,
    /// Options in canonical spelling.
    pub options: Vec<Opt>,
    /// An operand or option is of unknown value and could be an option: a flag a rule looks for may be there.
    pub open_options: bool,
    /// The pipeline it stands in, and its place there.
    pub pipe: Option<PipePlace>,
    /// The wrapper that starts it.
    pub parent: Option<RunId>,
    /// It reads standard input that was redirected or piped.
    pub stdin: Stdin,
    /// It may be no command at all: words of a program that nobody knows read like one.
    pub guessed: bool,
}

impl Run {
    /// The name as called, if it is certain and UTF-8.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.argv.first().and_then(Word::exact_str)
    }

    /// The subcommand at this place of `words` in its table's spelling: `install` for `npm i`. `None` for a word that
    /// is no subcommand.
    #[must_use]
    pub fn subcommand(&self, at: usize) -> Option<&'static str> {
        let mut node = self.program.spec()?;
        let mut name = None;
        for index in self.words.iter().take(usize::from(self.subcommands)).take(at + 1) {
            let (sub, canonical) = node.sub(self.argv.get(usize::from(*index))?.exact_str()?)?;
            node = sub;
            name = Some(canonical);
        }
        name.filter(|_| at < usize::from(self.subcommands))
    }
}

/// What a program name means.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Program {
    /// The last component of the name as called, where certain: `git` for `/usr/bin/git`.
    pub base: Option<String>,
    /// The absolute path it resolves to, on PATH or as written, links not resolved.
    pub path: Option<PathBuf>,
    /// A shell builtin (or a function, see `shadow`).
    pub builtin: bool,
    /// Why this is not the program of that name. An allow by bare name does not match then.
    pub shadow: Option<Shadow>,
    /// Sayso has a table for it.
    pub known: bool,
    /// What its owner's text says of it.
    pub taught: Option<crate::program::Entry>,
}

impl Program {
    /// Its table.
    #[must_use]
    pub fn spec(&self) -> Option<&'static crate::program::Spec> {
        match &self.taught {
            Some(taught) => taught.spec(),
            None => crate::program::spec(self.base.as_deref()?),
        }
    }

    /// What is known of it, by its name.
    #[must_use]
    pub fn facets(&self) -> crate::program::Facets {
        let facets = self.base.as_deref().map_or(crate::program::Facets::NONE, crate::program::facets);
        self.taught.as_ref().map_or(facets, |taught| facets.and(taught.facets()))
    }
}

/// Why a name does not mean the program of that name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shadow {
    /// A function of the same call.
    Function,
    /// An alias of the same call.
    Alias,
    /// Found inside the workspace.
    Workspace,
    /// Found in a folder that anybody may write to.
    WorldWritable,
    /// Written or changed by the same call.
    Written,
    /// The call itself changed PATH or `hash`ed it.
    Path,
}

/// One option in canonical spelling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opt {
    /// `--force` for `-f` where the table says so; as written, one letter each, where there is no table.
    pub name: String,
    /// Its value, joined or in the next word.
    pub value: Option<Word>,
    /// Where it stands.
    pub span: Span,
    /// The table knows it.
    pub known: bool,
    /// Not written but implied (`git push +main` implies `--force`).
    pub implied: bool,
}

/// A place in a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PipePlace {
    /// Which pipeline of the command.
    pub pipeline: u16,
    /// 0 is the leftmost.
    pub place: u16,
}

/// Where standard input comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Stdin {
    /// Whatever the shell has.
    #[default]
    Inherited,
    /// The pipe to the left.
    Pipe,
    /// `< file`.
    File,
    /// `<<` or `<<<`.
    Text,
}
