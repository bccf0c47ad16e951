//! Mini-languages that programs read from their arguments: text in, findings out.
//!
//! A reader here knows just enough of its language to find every place where a script leaves its own input and output:
//! where it runs a command, writes or reads a file, connects, reads the environment, or takes in more code.
//!
//! INVARIANT: what a reader does not understand is [`Finding::Unclear`], never nothing. Every reader is linear in the
//! length of its text, does not recurse and does not panic on any bytes.

mod awk;
mod cursor;
mod envelope;
mod interactive;
mod jq;
mod psql;
mod sed;
mod sql;
mod sqlite;

pub use awk::read as awk;
pub use envelope::{Change, envelope};
pub use interactive::{ex, gdb, pager};
pub use jq::{Flavour, read as jq};
pub use psql::psql;
pub use sed::read as sed;
pub use sql::only_asks;
pub use sqlite::sqlite;

use crate::word::{Origin, Part, Shape, Single, Text, Word};

/// Something that a script does beyond turning its input into its output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// Has a shell run this text; opaque or dynamic where the script makes it up.
    Shell(Word),
    /// Writes this file.
    Write(Word),
    /// Reads this file.
    Read(Word),
    /// Connects to this host.
    Connect(Word),
    /// Takes in more code of its own language from this file.
    Load(Word),
    /// Changes the database it works on.
    Change,
    /// Reads the environment.
    Environment,
    /// Runs code of another language that is not looked into.
    Code(&'static str),
    /// Not understood; the sentence says what.
    Unclear(&'static str),
}

/// A word of which nothing is known but that it is one word.
#[must_use]
pub fn unknown() -> Word {
    Word::Dynamic(Shape::single(vec![Part::Hole], Origin::Unknown, Single::Told))
}

/// The script of a word as bytes: as it is if exact; with a number for a hole that can only hold one. `None`: it
/// cannot be read.
#[must_use]
pub fn text_of(word: &Word) -> Option<std::borrow::Cow<'_, [u8]>> {
    match word {
        Word::Exact(text) => Some(text.as_bytes().into()),
        // A number cannot leave the place it stands in, whatever its value: in the mini-languages a number only ever
        // continues a name, a number or a text.
        Word::Dynamic(shape) if shape.origin.is_number() => {
            let mut text = Vec::new();
            for part in &shape.parts {
                match part {
                    Part::Literal(literal) => text.extend_from_slice(literal.as_bytes()),
                    Part::Hole => text.push(b'1'),
                    Part::AnyBytes | Part::AnyByte | Part::Class(_) => return None,
                }
            }
            Some(text.into())
        }
        Word::Dynamic(_) | Word::Opaque => None,
    }
}

fn exact(bytes: &[u8]) -> Word {
    Word::Exact(Text::from(bytes))
}

/// Whether a name stands in a list of names with blanks between them.
fn listed(list: &str, name: &[u8]) -> bool {
    list.split(' ').any(|known| known.as_bytes() == name)
}

/// Findings in few words, for tests.
#[cfg(test)]
fn shown(findings: &[Finding]) -> String {
    let word = |word: &Word| word.exact_str().unwrap_or("?").to_owned();
    let shown: Vec<String> = findings
        .iter()
        .map(|finding| match finding {
            Finding::Shell(text) => format!("run {}", word(text)),
            Finding::Write(file) => format!("write {}", word(file)),
            Finding::Read(file) => format!("read {}", word(file)),
            Finding::Connect(host) => format!("connect {}", word(host)),
            Finding::Load(file) => format!("load {}", word(file)),
            Finding::Change => "change".to_owned(),
            Finding::Environment => "environment".to_owned(),
            Finding::Code(language) => format!("code {language}"),
            Finding::Unclear(_) => "unclear".to_owned(),
        })
        .collect();
    shown.join(", ")
}
