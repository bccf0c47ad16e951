//! What a command's text says, before anything is expanded: the syntax tree.
//!
//! Text is borrowed from the source where the source has it in one piece; where a `\<newline>` or a backslash had to
//! go, or inside backticks, it is owned. Spans are byte offsets into the source handed to [`super::parse`], also for
//! what stands inside backticks.
//!
//! INVARIANT: every command that bash could run because of this text is in the tree, or a [`Part::Opaque`] stands in
//! the place that holds it.

pub use super::few::Few;
pub use crate::effect::Span;
use std::borrow::Cow;

/// Bytes of the source, or what became of them when quotes were removed.
pub type Bytes<'a> = Cow<'a, [u8]>;

/// A whole command text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree<'a> {
    /// The commands.
    pub body: List<'a>,
    /// The here-documents, which [`RedirectTarget::HereDocument`] refers to: their text follows later in the source
    /// than the operator that names them. Some may belong to an abandoned reading of the text: follow the ids.
    pub here_documents: Vec<HereDocument<'a>>,
    /// The first thing that the shell for which it was read takes for something else than bash does, if any.
    pub differs: Option<crate::dialect::Difference>,
    /// How much work the parser did, in steps (about one for each byte); for tests of growth.
    pub steps: u64,
}

impl<'a> Tree<'a> {
    /// The here-document with this id.
    #[must_use]
    pub fn here_document(&self, id: HereId) -> Option<&HereDocument<'a>> {
        self.here_documents.get(usize::try_from(id.0).ok()?)
    }
}

/// Commands one after another: `a; b & c`.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct List<'a> {
    /// In order. Empty only for a whole text without commands, `$()`, `` `` `` and arms of `case`.
    pub items: Few<Item<'a>>,
}

/// One command of a [`List`], with what ends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item<'a> {
    /// The command.
    pub and_or: AndOr<'a>,
    /// Ended by `&`: it runs in the background, in a subshell.
    pub background: bool,
}

/// `a && b || c`, equal in strength, from left to right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AndOr<'a> {
    /// The first.
    pub first: Pipeline<'a>,
    /// The others, each with what stands before it.
    pub rest: Vec<(Connector, Pipeline<'a>)>,
}

/// What joins two pipelines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connector {
    /// `&&`
    And,
    /// `||`
    Or,
}

/// `! time -p a | b |& c`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pipeline<'a> {
    /// An odd number of `!`.
    pub negated: bool,
    /// `time`, or `time -p`.
    pub timed: bool,
    /// From left to right. Empty for a lone `!` or `time`. `|&` stands as a redirect `2>&1` of the command before it.
    pub commands: Few<Command<'a>>,
    /// From its first word to the end of its last command.
    pub span: Span,
}

/// One command of a pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command<'a> {
    /// What kind.
    pub kind: CommandKind<'a>,
    /// The whole, redirects included, here-document texts not.
    pub span: Span,
}

/// Kinds of command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandKind<'a> {
    /// Assignments, words and redirects.
    Simple(Simple<'a>),
    /// A loop, a group, a condition.
    Compound(Box<Compound<'a>>),
    /// A function definition.
    Function(Box<Function<'a>>),
    /// `coproc [NAME] command`.
    Coproc(Box<Coproc<'a>>),
}

/// `A=1 program word >target`. No words: the assignments and redirects happen in the shell itself.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Simple<'a> {
    /// Assignments before the first word.
    pub assignments: Vec<Assignment<'a>>,
    /// The words, the command's name first. An argument of a declaration builtin (`declare`, `export`, ..., also
    /// `eval` and `let`) may hold a [`Part::Array`] after its literal `name=`.
    pub words: Vec<Word<'a>>,
    /// Redirects, in order, wherever they stood.
    pub redirects: Vec<Redirect<'a>>,
}

/// `name=value`, `name+=value`, `name[subscript]=value`, `name=(...)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment<'a> {
    /// The variable.
    pub name: Bytes<'a>,
    /// Its subscript.
    pub subscript: Option<Subscript<'a>>,
    /// `+=`.
    pub append: bool,
    /// What is assigned.
    pub value: AssignmentValue<'a>,
    /// All of it.
    pub span: Span,
}

/// The right side of an assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AssignmentValue<'a> {
    /// One word, perhaps empty. It is not split and not globbed.
    Scalar(Word<'a>),
    /// `( ... )`.
    Array(Array<'a>),
}

/// `(a [1]=b [k]+=c)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array<'a> {
    /// The elements in order.
    pub elements: Vec<ArrayElement<'a>>,
    /// With its parentheses.
    pub span: Span,
}

/// One element of an array literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayElement<'a> {
    /// `[subscript]=`, if written.
    pub subscript: Option<Subscript<'a>>,
    /// `+=` after the subscript.
    pub append: bool,
    /// The value; without a subscript it is expanded like an argument, perhaps to several.
    pub value: Word<'a>,
}

/// What stands in `[ ]`. `@` and `*` are ordinary text here.
///
/// For an indexed array it is arithmetic, for an associative one a string: which, the text alone does not say.
/// Expansions in it are found by the rules of double quotes, so that `'$(x)'` counts as running `x`.
pub type Subscript<'a> = Arithmetic<'a>;

/// Text that is evaluated as arithmetic once its expansions are done. Evaluation may run commands again: the value of
/// a variable named in it is itself arithmetic, and subscripts there are expanded.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Arithmetic<'a> {
    /// Text ([`Part::Quoted`]) and expansions.
    pub parts: Few<Part<'a>>,
    /// The text without its brackets.
    pub span: Span,
}

/// A word before expansion: parts side by side.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Word<'a> {
    /// The parts; none for an empty value (`a=`, `${x:-}`).
    pub parts: Few<Part<'a>>,
    /// Where.
    pub span: Span,
}

impl Word<'_> {
    /// The text, if it has no quotes and no expansion in it at all (braces, `~` and globs are just text here).
    #[must_use]
    pub fn plain(&self) -> Option<&[u8]> {
        match &*self.parts {
            [] => Some(b""),
            [Part::Literal { text, .. }] => Some(text),
            _ => None,
        }
    }
}

/// A piece of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// Unquoted text: `~`, braces and glob characters in it mean something. Never inside quotes.
    Literal {
        /// The text, `\<newline>` removed.
        text: Bytes<'a>,
        /// Where.
        span: Span,
    },
    /// Quoted text, exactly these bytes: `\x`, `'..'`, `$'..'`, `"..."` without expansions in it, and the text between
    /// expansions in double quotes, here-documents and arithmetic. May be empty.
    Quoted {
        /// The text, quotes and escapes removed.
        text: Bytes<'a>,
        /// How it was quoted.
        quote: Quote,
        /// Where, quotes included.
        span: Span,
    },
    /// `"..."` or `$"..."` with an expansion in it. (Without one it is a [`Part::Quoted`].)
    DoubleQuoted {
        /// [`Part::Quoted`] text and expansions; nested [`Part::DoubleQuoted`] only inside `${}` operands.
        parts: Vec<Part<'a>>,
        /// Where, quotes included.
        span: Span,
    },
    /// `$x` or `${x}`, nothing more: a name, a digit string, or one of `@*#?-$!`.
    Variable {
        /// The name without `$` and braces.
        name: Bytes<'a>,
        /// Where.
        span: Span,
    },
    /// Any other `${...}`.
    Parameter(Box<Parameter<'a>>),
    /// `$( )` or backticks.
    Command(Box<CommandSubstitution<'a>>),
    /// `<( )` or `>( )`.
    Process(Box<ProcessSubstitution<'a>>),
    /// `$(( ))` or `$[ ]`.
    Arithmetic(Box<Arithmetic<'a>>),
    /// `( ... )` of an array assignment in an argument of a declaration builtin.
    Array(Box<Array<'a>>),
    /// `@(a|b)` and the like; only when extended globs are switched on, and in `[[ ]]`.
    ExtendedGlob(Box<ExtendedGlob<'a>>),
    /// Something that is not understood, or means something else to another bash. Anything may happen here.
    Opaque {
        /// Why.
        why: super::Trouble,
        /// Where.
        span: Span,
    },
}

impl Part<'_> {
    /// Where it stands.
    #[must_use]
    pub fn span(&self) -> Span {
        match self {
            Self::Literal { span, .. }
            | Self::Quoted { span, .. }
            | Self::DoubleQuoted { span, .. }
            | Self::Variable { span, .. }
            | Self::Opaque { span, .. } => *span,
            Self::Parameter(it) => it.span,
            Self::Command(it) => it.span,
            Self::Process(it) => it.span,
            Self::Arithmetic(it) => it.span,
            Self::Array(it) => it.span,
            Self::ExtendedGlob(it) => it.span,
        }
    }
}

/// How text was quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quote {
    /// `\x`
    Backslash,
    /// `'..'`
    Single,
    /// `$'..'`
    AnsiC,
    /// `".."`, here-documents, arithmetic.
    Double,
}

/// `${...}` with an operator, a subscript, `#` or `!`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter<'a> {
    /// The name, the digits or the special character.
    pub name: Bytes<'a>,
    /// `[...]`.
    pub subscript: Option<Subscript<'a>>,
    /// `${!name}`: the value is the name of what is meant.
    pub indirect: bool,
    /// What is done with the value.
    pub operation: Operation<'a>,
    /// From `$` to `}`.
    pub span: Span,
}

/// What `${name...}` does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation<'a> {
    /// Nothing: `${x[1]}`, `${!x}`.
    Value,
    /// `${#x}`.
    Length,
    /// `${!x*}`, `${!x@}`: the names that begin so. (`${!x[@]}` is `indirect` with a subscript and `Value`.)
    Names,
    /// `${x:-word}` and its kin.
    Fallback {
        /// Which.
        kind: Fallback,
        /// With the colon: an empty value counts as unset.
        colon: bool,
        /// What follows.
        word: Word<'a>,
    },
    /// `${x#pattern}`, `${x##pattern}`, `${x%pattern}`, `${x%%pattern}`.
    Trim {
        /// `%`.
        suffix: bool,
        /// Doubled.
        longest: bool,
        /// The pattern.
        pattern: Word<'a>,
    },
    /// `${x/pattern/replacement}`.
    Replace {
        /// `//`.
        all: bool,
        /// `/#` or `/%` come as the first byte of the pattern.
        pattern: Word<'a>,
        /// `None` without the second slash.
        replacement: Option<Word<'a>>,
    },
    /// `${x:offset}`, `${x:offset:length}`.
    Substring {
        /// The offset.
        offset: Arithmetic<'a>,
        /// The length.
        length: Option<Arithmetic<'a>>,
    },
    /// `${x^}`, `${x^^}`, `${x,}`, `${x,,}`, `${x~}`, `${x~~}`.
    Case {
        /// `^`, `,` or `~`.
        operator: u8,
        /// Doubled.
        all: bool,
        /// The pattern, perhaps empty.
        pattern: Word<'a>,
    },
    /// `${x@Q}`: the letter. `P` expands the value as a prompt, which runs substitutions in it.
    Transform(u8),
}

/// The four fallbacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// `-`: use the word instead.
    Use,
    /// `=`: assign the word, then use it.
    Assign,
    /// `?`: print the word and stop.
    Error,
    /// `+`: use the word if there is a value.
    Alternative,
}

/// `$( )` or backticks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandSubstitution<'a> {
    /// The commands. `$(<f)` is a simple command with a redirect only.
    pub body: List<'a>,
    /// Backticks.
    pub backtick: bool,
    /// All of it.
    pub span: Span,
}

/// `<( )` or `>( )`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessSubstitution<'a> {
    /// The commands.
    pub body: List<'a>,
    /// `>( )`: the commands read what is written to the name.
    pub output: bool,
    /// All of it.
    pub span: Span,
}

/// `?(..)`, `*(..)`, `+(..)`, `@(..)`, `!(..)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtendedGlob<'a> {
    /// The character before the parenthesis.
    pub operator: u8,
    /// The alternatives between `|`.
    pub alternatives: Vec<Word<'a>>,
    /// All of it.
    pub span: Span,
}

/// Which descriptor a redirect is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Descriptor<'a> {
    /// None written.
    Default,
    /// `2>`.
    Number(u32),
    /// `{name}>`: bash picks one and assigns it to the variable (perhaps with a subscript).
    Variable(Bytes<'a>),
}

/// `2>file`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect<'a> {
    /// What stands before the operator.
    pub descriptor: Descriptor<'a>,
    /// The operator.
    pub operator: RedirectOperator,
    /// What stands after it.
    pub target: RedirectTarget<'a>,
    /// All of it, a here-document's text not.
    pub span: Span,
}

/// Redirect operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectOperator {
    /// `<`
    Read,
    /// `>`
    Write,
    /// `>>`
    Append,
    /// `>|`
    Clobber,
    /// `<>`
    ReadWrite,
    /// `<&`: a copy of a descriptor, or `-`.
    CopyInput,
    /// `>&`: a copy of a descriptor, `-`, or both outputs to a file where the word is no number.
    CopyOutput,
    /// `&>`
    WriteBoth,
    /// `&>>`
    AppendBoth,
    /// `<<<`
    HereString,
    /// `<<`, `<<-`
    HereDocument,
}

/// What a redirect points to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RedirectTarget<'a> {
    /// A word.
    Word(Word<'a>),
    /// A here-document: see [`Tree::here_document`].
    HereDocument(HereId),
}

/// Index of a here-document in its [`Tree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HereId(pub u32);

/// The text after `<<`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HereDocument<'a> {
    /// The delimiter, quotes removed.
    pub delimiter: Bytes<'a>,
    /// Some of the delimiter was quoted: the body is text only.
    pub quoted: bool,
    /// `<<-`: leading tabs were removed.
    pub strip_tabs: bool,
    /// The text ([`Part::Quoted`]) and expansions.
    pub body: Word<'a>,
    /// False if the text ended first; bash takes it with a warning.
    pub terminated: bool,
}

/// A compound command with the redirects after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compound<'a> {
    /// Which.
    pub kind: CompoundKind<'a>,
    /// Redirects of the whole.
    pub redirects: Vec<Redirect<'a>>,
}

/// Kinds of compound command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompoundKind<'a> {
    /// `{ ...; }`
    Group(List<'a>),
    /// `( ... )`
    Subshell(List<'a>),
    /// `if ... elif ... else ... fi`
    If {
        /// Condition and body, in order.
        branches: Vec<(List<'a>, List<'a>)>,
        /// `else`.
        otherwise: Option<List<'a>>,
    },
    /// `while`, `until`
    While {
        /// `until`.
        until: bool,
        /// The condition.
        condition: List<'a>,
        /// The body.
        body: List<'a>,
    },
    /// `for name in words`, `select name in words`
    For {
        /// `select`.
        select: bool,
        /// The variable.
        name: Word<'a>,
        /// The words; `None` without `in`: the positional parameters.
        words: Option<Vec<Word<'a>>>,
        /// The body.
        body: List<'a>,
    },
    /// `for ((a; b; c))`
    ForArithmetic {
        /// The three expressions, with the `;` between them as text in one piece.
        header: Arithmetic<'a>,
        /// The body.
        body: List<'a>,
    },
    /// `case word in ... esac`
    Case {
        /// The word.
        word: Word<'a>,
        /// The arms.
        arms: Vec<CaseArm<'a>>,
    },
    /// `(( ... ))`
    Arithmetic(Arithmetic<'a>),
    /// `[[ ... ]]`
    Condition(Condition<'a>),
}

/// `pattern | pattern ) commands ;;`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseArm<'a> {
    /// The patterns.
    pub patterns: Vec<Word<'a>>,
    /// The commands.
    pub body: List<'a>,
    /// How it ends.
    pub end: CaseEnd,
}

/// How an arm of `case` ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaseEnd {
    /// `;;`, or the `esac` after the last arm.
    Break,
    /// `;&`: the next arm's commands run too.
    FallThrough,
    /// `;;&`: the following patterns are tried too.
    Continue,
}

/// An expression in `[[ ]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition<'a> {
    /// `a || b || c`
    Or(Vec<Condition<'a>>),
    /// `a && b && c`
    And(Vec<Condition<'a>>),
    /// An odd number of `!`.
    Not(Box<Condition<'a>>),
    /// A lone word: not empty.
    Word(Word<'a>),
    /// `-f word`
    Unary {
        /// With its dash.
        operator: Bytes<'a>,
        /// What it is about.
        operand: Word<'a>,
    },
    /// `a == b`, `a -nt b`, `a =~ b`
    Binary {
        /// As written.
        operator: Bytes<'a>,
        /// Left.
        left: Word<'a>,
        /// Right: a pattern after `=`, `==` and `!=`, a regular expression after `=~`.
        right: Word<'a>,
    },
}

/// `name() body`, `function name body`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function<'a> {
    /// The name; bash takes almost any word.
    pub name: Word<'a>,
    /// The body, with redirects that hold for each call.
    pub body: Compound<'a>,
}

/// `coproc [NAME] command`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coproc<'a> {
    /// The name, where written: only before a compound command.
    pub name: Option<Word<'a>>,
    /// What runs.
    pub command: Command<'a>,
}
