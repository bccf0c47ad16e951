//! What programs do with their words: a table, one file for each family.
//!
//! The walker expands a simple command and hands it over as an [`Invocation`]; the table answers with a
//! [`Description`]: the words in order of meaning, the effects, and the commands that the program itself would start,
//! with which the walker goes on.

use crate::effect::{Effect, Opt, RunId, Span, Stdin};
use crate::files::Files;
use crate::word::{Text, Word};
use crate::{Dialect, Doubt};
use std::path::Path;

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
    /// Where standard input comes from.
    pub stdin: Stdin,
    /// The text of a here-document or here-string on standard input, if exact.
    pub stdin_text: Option<&'a [u8]>,
    /// Facts about files.
    pub files: &'a dyn Files,
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
    /// It only starts what follows, and needs no yes of its own.
    pub transparent: bool,
    /// What it prints, where that is certain and others may build on it.
    pub prints: Prints,
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
    Names(std::path::PathBuf),
    /// A number.
    Number,
}
