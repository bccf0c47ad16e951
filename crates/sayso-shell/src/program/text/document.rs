//! What texts say, and how much of it there may be.

use super::{Command, Facets, GoesBy, KeepsLines, Listens, Options, Place, Secret, Variable};
use std::rc::Rc;

/// A text and the name that mistakes in it are told with.
#[derive(Clone, Copy, Debug)]
pub struct Source<'t> {
    /// Its file.
    pub name: &'t str,
    /// What it says.
    pub text: &'t str,
}

/// Which words of the language a text may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Words {
    /// All of them.
    BuiltIn,
    /// Not `judge`, `always`, `known`, `family`, `listens`, `keeps-lines`, `prints-number`, `part`, `rehearses`, `secrets` and the
    /// style `raw`, not that a variable is harmless, no variable by itself or by how it begins or ends, and of facets only [`Facets::OWNERS`].
    Owner,
}

/// What texts that are read together say.
#[derive(Debug, Default)]
pub struct Document {
    /// Programs with a table.
    pub programs: Vec<Program>,
    /// Facets by name, of these and of programs without a table.
    pub facets: Vec<(String, Facets)>,
    /// Which files programs go by, by their names.
    pub goes_by: Vec<(String, GoesBy)>,
    /// Who takes commands from whoever types.
    pub listens: Vec<Listens>,
    /// Who passes lines on as they are.
    pub keeps_lines: Vec<KeepsLines>,
    /// Who prints a number and nothing else: programs, and the function that says when.
    pub numbers: Vec<(String, String)>,
    /// What variables of the environment do.
    pub env: Vec<Variable>,
    /// What variables do to programs of an owner, by their names.
    pub env_of: Vec<(String, Variable)>,
    /// Where commands hold secrets. Of several about an option the first counts.
    pub secrets: Vec<Secret>,
    /// Commands that have a facet though their program, with other words, has not: patterns, as a policy's sets hold them.
    pub parts: Vec<(Facets, String)>,
    /// Commands that read a secret from their standard input: a word, and one that must stand beside it.
    pub fed: Vec<(String, String)>,
    /// Options that hold a program back.
    pub rehearses: Vec<String>,
    /// What must come of commands.
    pub cases: Vec<Case>,
    /// Tables of options by the name that several programs use.
    pub options: Vec<(String, Rc<Options>)>,
}

/// A program with a table.
#[derive(Debug)]
pub struct Program {
    /// What its words do.
    pub command: Command,
    /// What is said of all programs of its text.
    pub family: Family,
}

/// What is said of all programs of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Family {
    /// `starts-others`: they are there to start another that their words name.
    pub starts_others: bool,
    /// `takes-data`: their operands are data. They read, print, compare, copy or remove what they are given, and do not go
    /// by what it says. What an option makes one of them run is an effect of its own.
    pub takes_data: bool,
    /// `takes-addresses`: their words may hold an address that they, or code that they hand words on to, connect to,
    /// beyond what their tables say. The others take data or prose, or say of every word what it is.
    pub takes_addresses: bool,
}

/// A command, and what must come of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The command.
    pub command: String,
    /// What stands behind the arrow.
    pub wanted: String,
    /// Where it stands.
    pub at: Place,
}

/// How much may come of a text, whatever it includes how often.
pub(crate) struct Limits {
    pub(super) commands: usize,
}

impl Limits {
    const COMMANDS: usize = 50_000;

    /// Counts a command with its subcommands; false: it is too much.
    pub(super) fn count(&mut self, command: &Command) -> bool {
        self.commands += 1;
        self.commands <= Self::COMMANDS && command.subs.iter().all(|sub| self.count(sub))
    }
}
