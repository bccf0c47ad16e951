//! The text of a shell command, and what it would really do.
//!
//! This crate knows syntax and programs, not policy. It is pure: what it must know of files and of the environment
//! it asks through [`Files`] and [`Environment`].
//!
//! INVARIANT: nothing that the shell of [`Context::dialect`] would run, write, delete, read by redirect or connect to is missing from an
//! [`Analysis`] unless [`Analysis::opaque`] is set.

pub mod bounds;
mod builtin;
pub mod canonical;
mod certain;
pub mod dialect;
pub mod doubt;
pub mod effect;
pub mod files;
pub mod git_store;
pub mod instruct;
pub mod limit;
pub mod option;
pub mod program;
pub mod report;
pub mod resolve;
pub mod script;
pub mod syntax;
mod value;
mod walk;
pub mod word;
pub use canonical::{Canonical, canonical};
pub use dialect::Dialect;
pub use doubt::Doubt;
pub use effect::{
    Carry, Effect, HostTarget, LeftOut, Listing, NamedBy, Opt, PathTarget, PipePlace, Program, Run, RunId, SHELL_CODE,
    Shadow, Sieve, Span, Stdin, Target, Verb,
};
pub use files::{Files, Kind, Mark, MemoryFiles, NoFiles, Stands, Visit};
pub use program::{Code, named_by_glob, suffixes_of_type};
pub use report::Report;
pub use word::{Origin, Part, Shape, Single, Text, Word};

use std::path::Path;

/// Variables of the environment in which the command would run.
pub trait Environment {
    /// The value of a variable; `None` if it is unset or not known.
    fn get(&self, name: &str) -> Option<String>;

    /// Variables that the call brings itself, where they are not what they are in the place where it would run
    /// anyway. They count as if they were set before the command.
    fn given(&self) -> &[(String, String)] {
        &[]
    }

    /// The shells that may read a command there.
    fn shells(&self) -> dialect::Shells {
        dialect::Shells::default()
    }

    /// Folders that the caller says are its home, where its owner's machine knows another one.
    fn claimed_homes(&self) -> &[std::path::PathBuf] {
        &[]
    }

    /// The value that the owner's machine knows of a variable for which a call that is not the owner's may claim another.
    /// `None`: it knows none, or the call is the owner's own.
    fn known(&self, _: &str) -> Option<String> {
        None
    }

    /// The programs that are known there.
    fn programs(&self) -> &program::Catalogue {
        &program::BUILT_IN
    }
}

impl<E: Environment + ?Sized> Environment for &E {
    fn get(&self, name: &str) -> Option<String> {
        (**self).get(name)
    }

    fn given(&self) -> &[(String, String)] {
        (**self).given()
    }

    fn shells(&self) -> dialect::Shells {
        (**self).shells()
    }

    fn claimed_homes(&self) -> &[std::path::PathBuf] {
        (**self).claimed_homes()
    }

    fn known(&self, name: &str) -> Option<String> {
        (**self).known(name)
    }

    fn programs(&self) -> &program::Catalogue {
        (**self).programs()
    }
}

/// An environment of which nothing is known.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoEnvironment;

impl Environment for NoEnvironment {
    fn get(&self, _: &str) -> Option<String> {
        None
    }
}

/// What is known about where a command would run.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The working directory; `None`: not known.
    pub cwd: Option<&'a Path>,
    /// The home folder; `None`: not known.
    pub home: Option<&'a Path>,
    /// The workspace: programs found in it are not the programs of their name.
    pub workspace: Option<&'a Path>,
    /// The environment; `PATH` is taken from here.
    pub env: &'a dyn Environment,
    /// Facts about files.
    pub files: &'a dyn Files,
    /// Which shell.
    pub dialect: Dialect,
}

/// What a command would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Analysis {
    /// Every program that would be started, wrappers and builtins included.
    pub runs: Vec<Run>,
    /// Everything that would be done, in order of appearance.
    pub effects: Vec<Effect>,
    /// What is not sure, and why.
    pub doubts: Vec<Doubt>,
    /// There may be more than is listed.
    pub opaque: bool,
}

impl Analysis {
    /// The run with this id.
    #[must_use]
    pub fn run(&self, id: RunId) -> Option<&Run> {
        self.runs.get(usize::try_from(id.0).ok()?)
    }
}

/// Works out what a command would do.
///
/// A text that cannot be read (a syntax error, a NUL, over a limit) gives an opaque analysis.
#[must_use]
pub fn analyze(command: &[u8], context: &Context<'_>) -> Analysis {
    let options = syntax::Options { extended_globs: command.starts_with(b"shopt -s extglob\n") };
    let tree = match syntax::parse(command, context.dialect, options) {
        Ok(tree) => tree,
        Err(error) => return Analysis::unreadable(error),
    };
    let sources = walk::Sources::new();
    let trees = walk::Trees::new();
    walk::Walker::new(context, command, &sources, &trees, &tree).finish()
}

impl Analysis {
    fn unreadable(error: syntax::SyntaxError) -> Self {
        let code = Code::Syntax;
        let effect = Effect {
            verb: Verb::Run,
            target: Target::Anything,
            span: error.span,
            run: None,
            carry: Carry::Named { code, by: NamedBy::Nothing },
            certain: true,
        };
        let doubt = Doubt { code, text: error.trouble.sentence().to_owned(), span: error.span };
        Self { runs: Vec::new(), effects: vec![effect], doubts: vec![doubt], opaque: true }
    }
}
