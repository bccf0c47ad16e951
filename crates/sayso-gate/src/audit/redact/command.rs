//! The command that a word stands in: what its program takes as secrets, by the table.

use super::table::{ASSIGNED, FED, LOGINS, NAMED_OPERANDS, OPERANDS, OPTIONS, SLASHED, Takes, WRAPPERS};

/// Words before the operands that matter.
const MOST: usize = 12;

/// The words of a command so far that are no options.
#[derive(Clone, Debug, Default)]
pub(super) struct Command<'a> {
    words: Vec<&'a str>,
    /// How many there were.
    count: usize,
    /// A wrapper came first: its options and numbers are none of the program's.
    wrapped: bool,
    /// Of which tables one of them may be a program.
    known: u8,
}

impl<'a> Command<'a> {
    /// Adds a word.
    pub(super) fn add(&mut self, word: &'a str) {
        let before_program = self.words.is_empty();
        if before_program && WRAPPERS.contains(&word) {
            self.wrapped = true;
            return;
        }
        let is_assignment = before_program && word.split_once('=').is_some_and(|(name, _)| is_variable(name));
        let of_wrapper = before_program && self.wrapped && word.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        if word.starts_with('-') || is_assignment || of_wrapper {
            return;
        }
        self.count += 1;
        if self.words.len() < MOST {
            self.known |= may_be_known(base(word));
            self.words.push(word);
        }
    }

    /// What an option takes, and where its joined value begins, if it has one.
    pub(super) fn option<'w>(&self, word: &'w str) -> Option<(Takes, &'w str, &'w str)> {
        let options = if self.may_be_in(IN_OPTIONS) { OPTIONS } else { &[] };
        let own = options.iter().filter(|(programs, ..)| programs.iter().any(|program| self.is(program)));
        for (_, options, takes) in own {
            for option in *options {
                if let Some(value) = word.strip_prefix(option) {
                    let long = option.starts_with("--") || option.len() > 3 || option.starts_with('/');
                    // `--userfoo` is another option.
                    if long && !value.is_empty() && !value.starts_with(['=', ':']) {
                        continue;
                    }
                    let (name, value) = match value.strip_prefix(['=', ':']).filter(|_| long) {
                        Some(value) => (word.get(..=option.len()).unwrap_or(word), value),
                        None => (*option, value),
                    };
                    return Some((*takes, name, value));
                }
                // `-su ann:x`: the last of several letters.
                let cluster = option.len() == 2 && word.len() > 2 && word.len() < 8 && !word.starts_with("--");
                if cluster && word.starts_with('-') && *takes == Takes::Login && ends_cluster(word, option) {
                    return Some((*takes, word, ""));
                }
            }
        }
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        let login = LOGINS.contains(&name) || name.starts_with("--") && name.ends_with("creds");
        login.then(|| (Takes::Login, word.get(..word.len() - value.len()).unwrap_or(word), value))
    }

    /// Whether the next operand is a secret.
    pub(super) fn hides_next_operand(&self) -> bool {
        // No program of the table has them further back.
        if self.count > MOST || !self.may_be_in(IN_OPERANDS) {
            return false;
        }
        OPERANDS.iter().any(|(command, from)| {
            let mut behind = 0;
            let stands = |name: &str| {
                let here = self.words.iter().enumerate().skip(behind);
                let found = here.filter(|(_, word)| same(name, base(word))).map(|(at, _)| at).next();
                behind = found.map_or(behind, |at| at + 1);
                found.is_some()
            };
            command.split(' ').all(stands) && self.count >= behind + from
        })
    }

    /// Whether an operand is `user/password@place`.
    pub(super) fn is_slashed(&self) -> bool {
        self.may_be_in(IN_SLASHED) && SLASHED.iter().any(|command| self.is(command))
    }

    /// Whether it prints its own words.
    pub(super) fn prints(&self) -> bool {
        matches!(self.words.first(), Some(&"echo" | &"printf"))
    }

    /// Whether `NAME=value` is one whatever its name.
    pub(super) fn hides_assignments(&self) -> bool {
        self.may_be_in(IN_ASSIGNED) && ASSIGNED.iter().any(|command| self.is(command))
    }

    /// Whether a secret's name is followed by the secret.
    pub(super) fn names_operands(&self) -> bool {
        self.may_be_in(IN_NAMED_OPERANDS) && NAMED_OPERANDS.iter().any(|command| self.is(command))
    }

    fn may_be_in(&self, table: u8) -> bool {
        self.known & table != 0
    }

    /// Whether the program is this one, wherever it stands: another may start it (`docker exec db mysql`). The words of
    /// a subcommand stand somewhere behind it.
    fn is(&self, command: &str) -> bool {
        (0..self.words.len()).any(|at| {
            let mut names = command.split(' ');
            let (program, rest) = (self.words.get(at), self.words.get(at + 1..).unwrap_or_default());
            names.next().zip(program).is_some_and(|(name, word)| same(name, base(word)))
                && names.all(|name| rest.iter().any(|word| same(name, word)))
        })
    }
}

/// Whether a word is this one of the table: `mysql*` is all that begin so.
fn same(name: &str, word: &str) -> bool {
    match name.strip_suffix('*') {
        Some(begin) => word.starts_with(begin),
        None => word == name,
    }
}

/// The name of a program without the folder it stands in.
fn base(word: &str) -> &str {
    if word.starts_with("./") { word } else { word.rsplit('/').next().unwrap_or(word) }
}

/// The tables that a program may stand in, a bit for each.
const IN_OPTIONS: u8 = 1;
const IN_OPERANDS: u8 = 2;
const IN_SLASHED: u8 = 4;
const IN_ASSIGNED: u8 = 8;
const IN_NAMED_OPERANDS: u8 = 16;

/// The tables in which a word may be a program. Every word of a record is looked at, and most are in none: one look, by its
/// first letters, with nothing to be made when a hook starts.
fn may_be_known(word: &str) -> u8 {
    KNOWN.get(first_letters(word.as_bytes())).copied().unwrap_or(0)
}

const PLACES: usize = 2048;

/// By the first letters of programs, which tables hold one that begins so.
static KNOWN: [u8; PLACES] = {
    let mut known = known_of([0; PLACES], SLASHED, IN_SLASHED);
    known = known_of(known, ASSIGNED, IN_ASSIGNED);
    known = known_of(known, NAMED_OPERANDS, IN_NAMED_OPERANDS);
    let mut options = OPTIONS;
    while let [(programs, ..), rest @ ..] = options {
        known = known_of(known, programs, IN_OPTIONS);
        options = rest;
    }
    let mut operands = OPERANDS;
    while let [(command, _), rest @ ..] = operands {
        known = known_of(known, &[*command], IN_OPERANDS);
        operands = rest;
    }
    known
};

#[expect(clippy::indexing_slicing, reason = "worked out when this is compiled: no index is beyond the last place")]
const fn known_of(mut known: [u8; PLACES], mut commands: &[&str], table: u8) -> [u8; PLACES] {
    while let [command, rest @ ..] = commands {
        let name = command.as_bytes();
        known[first_letters(name)] |= table;
        // `7z*`: the third letter may be any.
        let mut third = if matches!(name, [_, _, b'*', ..]) { 0 } else { u8::MAX };
        while third < u8::MAX {
            known[first_letters(&[name[0], name[1], third])] |= table;
            third += 1;
        }
        commands = rest;
    }
    known
}

/// A number for the first three letters of a name, or the first two of one that has no more.
const fn first_letters(name: &[u8]) -> usize {
    let letters = match name {
        [a, b, b' ' | b'*', ..] | [a, b] => [*a, *b, 0, 0],
        [a, b, c, ..] => [*a, *b, *c, 0],
        [a] => [*a, 0, 0, 0],
        [] => [0; 4],
    };
    (u32::from_le_bytes(letters).wrapping_mul(0x9E37_79B1) >> 21) as usize % PLACES
}

fn ends_cluster(word: &str, option: &str) -> bool {
    let letters = word.get(1..).unwrap_or_default();
    letters.bytes().all(|byte| byte.is_ascii_alphabetic()) && letters.ends_with(option.get(1..).unwrap_or(" "))
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Whether a command reads a secret from its standard input.
pub(super) fn is_fed(command: &str) -> bool {
    let words = || command.split(|c: char| c.is_whitespace() || c == '\'' || c == '"');
    let has = |name: &str| name.is_empty() || words().any(|word| word.rsplit('/').next() == Some(name));
    FED.iter().any(|(program, option)| has(program) && has(option))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_of_the_table_may_be_one() {
        let named =
            |commands: &'static [&'static str], table: u8| commands.iter().map(move |command| (*command, table));
        let options = OPTIONS.iter().flat_map(|(programs, ..)| named(programs, IN_OPTIONS));
        let operands = OPERANDS.iter().map(|(command, _)| (*command, IN_OPERANDS));
        let others = [(SLASHED, IN_SLASHED), (ASSIGNED, IN_ASSIGNED), (NAMED_OPERANDS, IN_NAMED_OPERANDS)];
        let others = others.into_iter().flat_map(|(commands, table)| named(commands, table));
        for (command, table) in options.chain(operands).chain(others) {
            let may_be = |word: &str| may_be_known(word) & table != 0;
            let program = command.split(' ').next().unwrap();
            assert!(may_be(program.trim_end_matches('*')), "{command}");
            assert!(!program.starts_with('*') && program.trim_end_matches('*').len() > 1, "{command}");
            for rest in ["8.4", "a", "-x", "_"] {
                assert!(may_be(&program.replace('*', rest)), "{command} {rest}");
            }
        }
        let others = ["ls", "cat", "cargo", "head", "src", "README.md", "make", "rm", "sed", "test"];
        assert!(others.iter().filter(|word| may_be_known(word) != 0).count() < 5);
    }
}
