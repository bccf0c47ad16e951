//! The command that a word stands in: what its program takes as secrets, by the table.

use super::name::{ends_in_tokens, is_secret_name};
use super::table::{BEFORE, LOGINS};
use sayso_shell::program::credential::{CREDENTIALS, Credential, FED, Hides, LETTERS, Takes, letter, may_hide};
use sayso_shell::program::{Facets, facets};

/// Programs whose words are those of the command that they start. None of them takes a secret of its own.
const WRAPPERS: Facets = Facets::ONLY_STARTS.and(Facets::OTHER_USER).and(Facets::FEEDS);
/// Words before the operands that matter.
const MOST: usize = 12;

const OPTION: u8 = Hides::Option(&[], Takes::Secret).bit();
const OPERANDS: u8 = Hides::OperandsFrom(0).bit();

/// The words of a command so far that are no options.
#[derive(Clone, Debug, Default)]
pub(super) struct Command<'a> {
    words: Vec<Operand<'a>>,
    /// How many there were.
    count: usize,
    /// A wrapper came first: its options and numbers are none of the program's.
    wrapped: bool,
    /// Of which facts one of them may be the program, a bit for each kind.
    known: u8,
}

/// A word that is no option. What is known of it is found once: the table is long, and is gone through for every option.
#[derive(Clone, Copy, Debug)]
struct Operand<'a> {
    word: &'a str,
    /// Without the folder that it stands in.
    base: &'a str,
    /// Of which facts it may be the program.
    known: u8,
}

impl Operand<'_> {
    /// Whether it may be the program of such a command, by the kind of the fact and the first letter.
    fn may_begin(&self, command: &str, kind: u8) -> bool {
        self.known & kind != 0 && self.base.as_bytes().first() == command.as_bytes().first()
    }
}

impl<'a> Command<'a> {
    /// What a program is told in another way than by its words: a line of what it reads, a word with commands in it.
    pub(super) fn within(program: &'a str) -> Self {
        let mut command = Self::default();
        command.add(program);
        command
    }

    /// The program, if it takes secrets as words behind others: in what it reads it may be told them too.
    pub(super) fn takes_operands(&self) -> Option<&'a str> {
        self.words.first().filter(|operand| operand.known & OPERANDS != 0).map(|operand| operand.base)
    }

    /// Adds a word.
    pub(super) fn add(&mut self, word: &'a str) {
        let before_program = self.words.is_empty();
        if before_program && (BEFORE.contains(&word) || facets(base(word)).has(WRAPPERS)) {
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
            let base = base(word);
            let known = may_hide(base);
            self.known |= known;
            self.words.push(Operand { word, base, known });
        }
    }

    /// What an option takes, and where its joined value begins, if it has one.
    pub(super) fn option<'w>(&self, word: &'w str) -> Option<(Takes, &'w str, &'w str)> {
        for hides in self.hidden(OPTION) {
            let Hides::Option(options, takes) = hides else { continue };
            for option in options {
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
                    return Some((takes, name, value));
                }
                // `--proxy-us ann:x`: a beginning of it that no other option is likely to have.
                let (name, value) = word.split_once('=').unwrap_or((word, ""));
                let rest = option.strip_prefix(name).filter(|_| name.starts_with("--") && name.len() > 3);
                if rest.is_some_and(|rest| !rest.starts_with('-')) {
                    return Some((takes, word.get(..word.len() - value.len()).unwrap_or(word), value));
                }
                // `-su ann:x`: the last of several letters.
                let cluster = option.len() == 2 && word.len() > 2 && word.len() < 8 && !word.starts_with("--");
                if cluster && word.starts_with('-') && takes == Takes::Login && ends_cluster(word, option) {
                    return Some((takes, word, ""));
                }
            }
        }
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        let login =
            LOGINS.contains(&name) || name.starts_with("--") && (name.ends_with("creds") || name.ends_with("cred"));
        login.then(|| (Takes::Login, word.get(..word.len() - value.len()).unwrap_or(word), value))
    }

    /// Whether the next operand is a secret.
    pub(super) fn hides_next_operand(&self) -> bool {
        // No program of the table has them further back.
        if self.count > MOST || !self.may_hide(OPERANDS) {
            return false;
        }
        CREDENTIALS.iter().any(|Credential { commands, hides }| {
            let Hides::OperandsFrom(from) = hides else { return false };
            let may_be = |command: &&&str| self.words.iter().any(|operand| operand.may_begin(command, OPERANDS));
            commands.iter().filter(may_be).any(|command| {
                let mut behind = 0;
                let stands = |name: &str| {
                    let here = self.words.iter().enumerate().skip(behind);
                    let found = here.filter(|(_, operand)| same(name, operand.base)).map(|(at, _)| at).next();
                    behind = found.map_or(behind, |at| at + 1);
                    found.is_some()
                };
                command.split(' ').all(stands) && self.count >= behind + from
            })
        })
    }

    /// Whether an operand is `user/password@place`.
    pub(super) fn is_slashed(&self) -> bool {
        self.hidden(Hides::Slashed.bit()).next().is_some()
    }

    /// Whether that is so of a word without a place as well: the program itself is one of those, and no operand is named so.
    pub(super) fn is_slashed_alone(&self) -> bool {
        let first = Self { words: self.words.iter().copied().take(1).collect(), ..self.clone() };
        first.is_slashed()
    }

    /// Whether it prints its own words.
    pub(super) fn prints(&self) -> bool {
        self.words.first().is_some_and(|operand| facets(operand.base).has(Facets::PRINTS_WORDS))
    }

    /// Whether `NAME=value` is one whatever its name.
    pub(super) fn hides_assignments(&self) -> bool {
        self.hidden(Hides::Assignments.bit()).next().is_some()
    }

    /// Whether a secret's name is followed by the secret.
    pub(super) fn names_operands(&self) -> bool {
        self.hidden(Hides::BehindName.bit()).next().is_some()
    }

    /// The facts of this kind about one of the programs.
    fn hidden(&self, kind: u8) -> impl Iterator<Item = Hides> {
        let all = if self.may_hide(kind) { CREDENTIALS } else { &[] };
        let known = self.words.iter().filter(|operand| operand.known & kind != 0);
        let letters = known.fold(0, |letters, operand| letters | letter(operand.base));
        let own = all.iter().zip(&LETTERS).filter(move |(own, first)| own.hides.bit() == kind && *first & letters != 0);
        let own = own.map(|(own, _)| own);
        let ours = move |own: &&Credential| own.commands.iter().any(|command| self.is(command, kind));
        own.filter(ours).map(|own| own.hides)
    }

    fn may_hide(&self, kind: u8) -> bool {
        self.known & kind != 0
    }

    /// Whether the program is this one, wherever it stands: another may start it (`docker exec db mysql`). The words of
    /// a subcommand stand somewhere behind it.
    fn is(&self, command: &str, kind: u8) -> bool {
        self.words.iter().enumerate().filter(|(_, operand)| operand.may_begin(command, kind)).any(|(at, program)| {
            let mut names = command.split(' ');
            let rest = self.words.get(at + 1..).unwrap_or_default();
            names.next().is_some_and(|name| same(name, program.base))
                && names.all(|name| rest.iter().any(|operand| same(name, operand.word)))
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

fn ends_cluster(word: &str, option: &str) -> bool {
    let letters = word.get(1..).unwrap_or_default();
    letters.bytes().all(|byte| byte.is_ascii_alphabetic()) && letters.ends_with(option.get(1..).unwrap_or(" "))
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Whether a command reads a secret from its standard input.
pub(super) fn is_fed(command: &str) -> bool {
    let words = || command.split(|c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '(' | ')'));
    let has = |name: &str| name.is_empty() || words().any(|word| word.rsplit('/').next() == Some(name));
    let says = |option: &str| match option.as_bytes() {
        // `read -r TOKEN`
        b"NAME" => words().any(|word| is_variable(word) && (is_secret_name(word) || ends_in_tokens(word))),
        // `sudo -kS`
        [b'-', letter] if letter.is_ascii_alphabetic() => words().any(|word| is_cluster(word, *letter)),
        _ => has(option),
    };
    FED.iter().any(|(program, option)| has(program) && says(option))
}

/// Whether a word is some letters behind one dash, with this one among them.
fn is_cluster(word: &str, letter: u8) -> bool {
    let letters = word.strip_prefix('-').unwrap_or_default().as_bytes();
    letters.len() <= 4 && letters.contains(&letter) && letters.iter().all(u8::is_ascii_alphabetic)
}
