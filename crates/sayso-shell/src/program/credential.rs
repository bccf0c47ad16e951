//! Which words of which program hold a secret, for those who show or record commands.
//!
//! What is said here is about text: a record is made of commands that no shell has read, in programs that no table
//! describes, and of words that another program hands on (`docker exec db mysql -px`). So a command is a program's name and
//! words that stand somewhere behind it; a name that ends with `*` is all that begin like it.

/// What an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// A secret, joined to it or as the next word.
    Secret,
    /// A secret that is joined to it; alone it makes the program ask.
    Joined,
    /// `user:password`, `user%password`, `user,password` or `file:password`.
    Login,
    /// The next two words.
    Pair,
}

/// Where a command holds a secret.
#[derive(Clone, Copy, Debug)]
pub enum Hides {
    /// In one of these options, besides those that have a secret's name.
    Option(&'static [&'static str], Takes),
    /// In its operands, from this one on.
    OperandsFrom(usize),
    /// In a word that says who signs in: `ann/password@db`.
    Slashed,
    /// In operands `NAME=value`, whatever their name.
    Assignments,
    /// In the operand behind the name of a secret: `nmcli ... password x`, `yarn config set npmAuthToken x`.
    BehindName,
}

/// Commands, and where they hold a secret.
#[derive(Debug)]
pub struct Credential {
    /// A program each, and the words that must stand behind its name.
    pub commands: &'static [&'static str],
    /// Where.
    pub hides: Hides,
}

/// Every fact of this kind; of several about an option the first counts.
pub static CREDENTIALS: &[Credential] = &super::built::CREDENTIALS;

/// What reads a secret from its standard input: a word of the command, and a word that must stand beside it.
pub static FED: &[(&str, &str)] = &super::built::FED;

impl Hides {
    /// A bit for each kind.
    #[must_use]
    pub const fn bit(self) -> u8 {
        match self {
            Self::Option(..) => 1,
            Self::OperandsFrom(_) => 2,
            Self::Slashed => 4,
            Self::Assignments => 8,
            Self::BehindName => 16,
        }
    }
}

/// The kinds of which a fact may be about a program of this name, a bit for each. Every word of a record is looked at, and
/// most are in none: one look, by its first letters, with nothing to be made when a hook starts.
#[must_use]
pub fn may_hide(word: &str) -> u8 {
    KNOWN.get(first_letters(word.as_bytes())).copied().unwrap_or(0)
}

/// A bit for the first letter of a name.
#[must_use]
pub const fn letter(name: &str) -> u32 {
    match name.as_bytes() {
        [first, ..] => 1 << (*first % 32),
        [] => 0,
    }
}

/// The first letters of the programs of each fact, a bit for each: most facts are about other programs than the one at hand,
/// and their names need not be compared.
pub static LETTERS: [u32; super::built::CREDENTIALS.len()] = {
    let mut letters = [0; super::built::CREDENTIALS.len()];
    let (mut left, mut credentials): (&mut [u32], _) = (&mut letters, CREDENTIALS);
    while let ([first, others @ ..], [Credential { commands, .. }, rest @ ..]) = (left, credentials) {
        *first = letters_of(commands);
        (left, credentials) = (others, rest);
    }
    letters
};

const fn letters_of(mut commands: &[&str]) -> u32 {
    let mut letters = 0;
    while let [command, rest @ ..] = commands {
        letters |= letter(command);
        commands = rest;
    }
    letters
}

const PLACES: usize = 2048;

/// By the first letters of programs, which kinds there are.
static KNOWN: [u8; PLACES] = {
    let mut known = [0; PLACES];
    let mut credentials = CREDENTIALS;
    while let [Credential { commands, hides }, rest @ ..] = credentials {
        known = known_of(known, commands, hides.bit());
        credentials = rest;
    }
    known
};

#[expect(clippy::indexing_slicing, reason = "worked out when this is compiled: no index is beyond the last place")]
const fn known_of(mut known: [u8; PLACES], mut commands: &[&str], kind: u8) -> [u8; PLACES] {
    while let [command, rest @ ..] = commands {
        let name = command.as_bytes();
        known[first_letters(name)] |= kind;
        // `7z*`: the third letter may be any.
        let mut third = if matches!(name, [_, _, b'*', ..]) { 0 } else { u8::MAX };
        while third < u8::MAX {
            known[first_letters(&[name[0], name[1], third])] |= kind;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_with_a_secret_is_found_by_its_first_letters() {
        for Credential { commands, hides } in CREDENTIALS {
            for command in *commands {
                let may_be = |word: &str| may_hide(word) & hides.bit() != 0;
                let program = command.split(' ').next().unwrap();
                assert!(may_be(program.trim_end_matches('*')), "{command}");
                assert!(!program.starts_with('*') && program.trim_end_matches('*').len() > 1, "{command}");
                for rest in ["8.4", "a", "-x", "_"] {
                    assert!(may_be(&program.replace('*', rest)), "{command} {rest}");
                }
            }
        }
        let others = ["ls", "cat", "cargo", "head", "src", "README.md", "make", "rm", "sed", "test"];
        assert!(others.iter().filter(|word| may_hide(word) != 0).count() < 5);
    }
}
