//! What programs do with their words.
//!
//! The walker expands a simple command and hands it over as an [`Invocation`]; [`describe`] answers with a
//! [`Description`]: the words in order of meaning, the effects, and the commands that the program itself would start,
//! with which the walker goes on. [`describe`] also answers for programs without a table (path-like words count as
//! maybe-effects then) and for environment prefixes that change what runs.
//!
//! What a program does stands in a text, `programs/*.prog`, in the language that [`text`] describes; `build.rs` makes
//! tables of them. The files here hold what is asked of every program, and functions for what data does not say: a text
//! names them with `judge`. `programs/git/remote.prog` finds those of `git/remote.rs` by their bare names. Such a
//! function sees everything that was read (a [`View`]), runs after the table has spoken, and adds to it.
//! `docs/programs.md` says how to add a program.
//!
//! # Rules that hold for every table
//!
//! - An option that the table does not hold is a doubt `unknown-option` and an effect that needs its own yes. So leave
//!   out what you do not know, and list what is harmless.
//! - Plain effects (operands, `makes`) are carried by an allow of the program; `writes`, `runs`, `inline` and every
//!   [`Code`] are not, unless a pattern names the flag or the words.
//! - A subcommand whose plain form reads and whose other forms write (`git branch`) has the writing forms as options
//!   with a code (`changes-repository`). Where an operand makes the difference (`git branch new`), the judge adds an
//!   implied option (`--create`) with [`View::imply`], and the code is named by that flag. Implied options are part of
//!   the table, so that patterns can hold them.
//! - A word of unknown value that may be an option sets [`Description::open_options`]; if an option of the table is
//!   dangerous, there is an effect `dynamic-option` too, which only a rule for anything whatever covers.

mod address;
mod built;
pub mod case;
mod catalogue;
pub mod credential;
mod describe;
mod environment;
mod facet;
mod findings;
mod gnu;
pub(crate) mod goes_by;
mod hidden;
pub(crate) mod host;
mod index;
mod inside;
pub(crate) mod lines;
mod listen;
mod lister;
pub(crate) mod number;
mod path;
mod project;
mod rehearsal;
mod rewrite;
mod secret;
mod source;
mod spec;
pub mod taught;
pub mod text;
mod unknown;
mod variable;
mod view;
pub(crate) mod wrapper;

mod archive;
mod broad;
mod builder;
mod cargo;
mod checker;
mod cloud;
mod compare;
mod compiler;
mod container;
mod coreutils;
mod database;
mod gh;
mod git;
mod go;
mod json;
mod jvm;
mod language;
mod lint;
mod machine;
mod make;
mod network;
mod node;
mod npm;
mod pager;
mod pip;
mod pytest;
mod python;
mod search;
mod stream;
mod tame;
mod task;
mod terminal;
mod tester;

pub use catalogue::{BUILT_IN, Catalogue, Entry, Knowing, Lesson};
pub use describe::describe;
pub(crate) use describe::{by_table, dashed_name_may_exist};
pub use environment::changes_what_runs;
pub(crate) use environment::steers;
pub use facet::{Facets, commands, facets};
pub use gnu::plain as plain_name;
pub(crate) use gnu::without_gnu_prefix;
pub use hidden::paths_within;
pub use index::{all, canonical_name, spec, starts_others, takes_data};
pub use listen::listens_to_terminal;
pub use path::path_target;
pub(crate) use path::{join, leads_up};
pub use project::{is_fact, runs_project_code};
pub use rehearsal::rehearses;
pub(crate) use rewrite::read_again;
pub(crate) use search::left_out;
pub use search::{named as named_by_glob, suffixes_of_type};
pub use secret::is_secret_variable;
pub use spec::{Absent, Act, Judge, Operands, Role, Spec, canonical_flag, canonical_words, does, subcommand_depth};
pub use text::Code;
pub use variable::names_output;
pub(crate) use variable::{fills_in_variables, holds_command, pastes_variables};
pub use view::View;
pub(crate) use view::may_split;

use crate::effect::{Effect, Opt, RunId, Span, Stdin};
use crate::files::Files;
use crate::word::{Text, Word};
use crate::{Dialect, Doubt};
use std::path::{Path, PathBuf};

/// A simple command after expansion.
pub struct Invocation<'a> {
    /// Its id; effects refer to it.
    pub run: RunId,
    /// The program's base name, exact.
    pub name: &'a str,
    /// All words, the name first.
    pub argv: &'a [Word],
    /// Where each stands.
    pub spans: &'a [Span],
    /// Assignments in force for it alone.
    pub env: &'a [(Text, Word)],
    /// Working directory, if known.
    pub cwd: Option<&'a Path>,
    /// Home folder, if known.
    pub home: Option<&'a Path>,
    /// The workspace, if there is one.
    pub workspace: Option<&'a Path>,
    /// Where standard input comes from.
    pub stdin: Stdin,
    /// The text of a here-document or here-string on standard input, if exact.
    pub stdin_text: Option<&'a [u8]>,
    /// The file that standard input is read from, absolute, if known.
    pub stdin_file: Option<&'a Path>,
    /// What the left neighbour in a pipe prints.
    pub stdin_prints: Prints,
    /// Facts about files.
    pub files: &'a dyn Files,
    /// The programs that are known.
    pub programs: &'a Catalogue,
}

/// What a program makes of its words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// See [`crate::Run::words`].
    pub words: Vec<u16>,
    /// See [`crate::Run::subcommands`].
    pub subcommands: u8,
    /// See [`crate::Run::options`].
    pub options: Vec<Opt>,
    /// See [`crate::Run::open_options`].
    pub open_options: bool,
    /// Effects beyond starting the program itself.
    pub effects: Vec<Effect>,
    /// What is not understood.
    pub doubts: Vec<Doubt>,
    /// Commands it would start.
    pub starts: Vec<Start>,
    /// Commands it may start: its words read so, and nobody knows it.
    pub guesses: Vec<Start>,
    /// It only starts what follows, and needs no yes of its own.
    pub transparent: bool,
    /// What it prints, where that is certain and others may build on it.
    pub prints: Prints,
    /// What that rests on, where files say it.
    pub rests: Option<Rests>,
}

/// What an output rests on that files say: it is known only while this call has changed none of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rests {
    /// These, whether they exist or not, and all below them.
    pub paths: Vec<PathBuf>,
    /// It is certainly printed: what the program finds there cannot make it fail.
    pub surely: bool,
}

/// A command that a program would start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// A program with these words (`env A=1 git status`, `xargs grep x`). Words that stand for unknown names are
    /// dynamic, with their origin.
    Argv {
        /// The words, the name first.
        argv: Vec<Word>,
        /// Where each stands.
        spans: Vec<Span>,
        /// Assignments added for it; `None` in `env` clears all (`env -i`).
        env: Vec<(Text, Word)>,
        /// It runs elsewhere: other host, container, root folder or user. Its paths are not paths of this machine.
        elsewhere: bool,
        /// It starts in this folder instead (`env -C`, `git -C`): a word to be joined with the working directory.
        cwd: Option<Word>,
    },
    /// Text for a shell (`sh -c`, `eval`, `ssh host cmd`, `watch`).
    Shell {
        /// The text.
        text: Word,
        /// Where it stands.
        span: Span,
        /// Which shell.
        dialect: Dialect,
        /// As above.
        elsewhere: bool,
        /// Positional parameters, `$0` first.
        parameters: Vec<Word>,
    },
    /// A script in this file (`bash F`, `source F`).
    Script {
        /// The file.
        file: Word,
        /// Where it stands.
        span: Span,
        /// Which shell; a `#!` line may change it.
        dialect: Dialect,
        /// Positional parameters, `$0` first.
        parameters: Vec<Word>,
    },
}

/// What is known of a program's output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Prints {
    /// Nothing.
    #[default]
    Unknown,
    /// Exactly this (`echo`, `printf` of literals, `pwd`).
    Exact(Text),
    /// Names below this folder (`find d`, `git ls-files`, `rg -l`, `ls d`).
    Names(crate::effect::Listing),
    /// A number.
    Number,
}

impl Prints {
    /// Whether it prints nothing but digits.
    pub(crate) fn is_number(&self) -> bool {
        match self {
            Self::Number => true,
            Self::Exact(text) => {
                let bytes = text.as_bytes();
                let digits = bytes.strip_suffix(b"\n").unwrap_or(bytes);
                !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
            }
            Self::Unknown | Self::Names(_) => false,
        }
    }
}
