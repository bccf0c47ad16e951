//! What commands print into the substitution or pipe around them.
//!
//! Three things must be known before an output is: where the streams of the command lead, what it writes to each of
//! them, and that it ran at all.

use crate::program::Prints;
use crate::word::Word;

/// What the commands of a substitution, or of a part of a pipe, print.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Output(Printed);

/// What an [`Output`] comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Printed {
    /// Certainly nothing.
    Nothing,
    /// This.
    Known(Prints),
    /// This, or nothing at all: the program may not be there.
    Perhaps(Prints),
    /// Any text, perhaps one of somebody's choice.
    Anything,
}

/// Why nothing is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quiet {
    /// No command has run yet.
    NotBegun,
    /// The builtin is on the list: with these words it writes nothing to its standard output.
    Builtin,
    /// Its standard output leads elsewhere.
    LedAway,
}

impl Output {
    pub(crate) const ANYTHING: Self = Self(Printed::Anything);

    /// Nothing, for this reason.
    pub(crate) const fn nothing(_why: Quiet) -> Self {
        Self(Printed::Nothing)
    }

    /// What a description says of the output of a command that certainly is the one described.
    pub(crate) fn described(prints: Prints) -> Self {
        match prints {
            Prints::Unknown => Self::ANYTHING,
            known => Self(Printed::Known(known)),
        }
    }

    /// What a description says of the output of a program that may not be there.
    pub(crate) fn if_there(prints: Prints) -> Self {
        match prints {
            Prints::Exact(_) | Prints::Number => Self(Printed::Perhaps(prints)),
            prints => Self::described(prints),
        }
    }

    pub(crate) fn into_printed(self) -> Printed {
        self.0
    }

    /// Whether just this is printed.
    pub(crate) fn is_known(&self) -> bool {
        matches!(self.0, Printed::Known(_))
    }

    pub(crate) fn is_nothing(&self) -> bool {
        self.0 == Printed::Nothing
    }

    /// The shell may have stopped somewhere: there may be less.
    pub(crate) fn cut_short(&mut self) {
        if matches!(self.0, Printed::Known(Prints::Exact(_) | Prints::Number) | Printed::Perhaps(_)) {
            *self = Self::ANYTHING;
        }
    }

    /// This, and then more. `certain`: the command that prints it runs, once, and in this order.
    pub(crate) fn then(self, more: Self, certain: bool) -> Self {
        let printed = match (self.0, more.0) {
            (so_far, Printed::Nothing) => so_far,
            (Printed::Nothing, Printed::Known(Prints::Unknown)) => Printed::Anything,
            (Printed::Nothing, Printed::Perhaps(prints)) if certain => Printed::Perhaps(prints),
            // A listing bounds names: no name at all is within the bounds.
            (Printed::Nothing, Printed::Known(prints)) if certain || matches!(prints, Prints::Names(_)) => {
                Printed::Known(prints)
            }
            // `$(grep -c x f || echo 0)`: numbers, but nobody knows how many.
            (Printed::Nothing, Printed::Known(prints) | Printed::Perhaps(prints)) if prints.is_number() => {
                Printed::Perhaps(Prints::Number)
            }
            (Printed::Known(so_far) | Printed::Perhaps(so_far), Printed::Known(prints) | Printed::Perhaps(prints))
                if so_far.is_number() && prints.is_number() =>
            {
                Printed::Perhaps(Prints::Number)
            }
            (Printed::Known(Prints::Names(one)), Printed::Known(Prints::Names(two))) if one == two => {
                Printed::Known(Prints::Names(one))
            }
            _ => Printed::Anything,
        };
        Self(printed)
    }
}

/// Where a descriptor leads, seen from the innermost substitution or part of a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sink {
    /// Into the text that is collected.
    Here,
    /// Into `/dev/null`: it is not seen, and writing cannot fail.
    Nowhere,
    /// To a file, a terminal or another pipe; writing may fail.
    Elsewhere,
    /// Nobody knows.
    Perhaps,
}

impl Sink {
    /// Whether what is written may become part of the text that is collected.
    pub(crate) fn may_be_here(self) -> bool {
        matches!(self, Self::Here | Self::Perhaps)
    }

    fn or(self, other: Self) -> Self {
        if self == other { self } else { Self::Perhaps }
    }
}

/// Where the descriptors of the shell lead. Redirects are followed in their order: `2>&1 >f` is not `>f 2>&1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Streams {
    /// Descriptor 1.
    pub(crate) out: Sink,
    /// Descriptor 2.
    pub(crate) err: Sink,
    /// All others together.
    others: Sink,
}

impl Streams {
    /// Those of a shell whose output nobody collects.
    pub(crate) const OUTERMOST: Self = Self { out: Sink::Elsewhere, err: Sink::Elsewhere, others: Sink::Elsewhere };

    /// Those of a shell whose standard output is collected. What an outer shell collects is not told from it.
    pub(crate) fn collected(self) -> Self {
        let inherited = |sink: Sink| if sink.may_be_here() { Sink::Perhaps } else { sink };
        Self { out: Sink::Here, err: inherited(self.err), others: inherited(self.others) }
    }

    pub(crate) fn get(self, number: u32) -> Sink {
        match number {
            0 => Sink::Perhaps,
            1 => self.out,
            2 => self.err,
            _ => self.others,
        }
    }

    pub(crate) fn set(&mut self, number: u32, sink: Sink) {
        match number {
            1 => self.out = sink,
            2 => self.err = sink,
            // Standard input may be written to, and the others are not told apart.
            _ => self.others = if sink.may_be_here() { Sink::Perhaps } else { self.others },
        }
    }

    /// Nothing is known of any of them any more.
    pub(crate) const UNKNOWN: Self = Self { out: Sink::Perhaps, err: Sink::Perhaps, others: Sink::Perhaps };

    pub(crate) fn or(self, other: Self) -> Self {
        Self { out: self.out.or(other.out), err: self.err.or(other.err), others: self.others.or(other.others) }
    }
}

/// Whether a program that prints numbers prints exactly one, whatever it finds. All of these are there on any system.
pub(crate) fn prints_one_number(name: &str, argv: &[Word]) -> bool {
    match name {
        "nproc" | "getconf" => true,
        // A time that is none is told on standard error, and so is a user who is not there.
        "date" => {
            argv.iter().skip(1).all(|word| word.exact().is_some_and(|word| word == b"-u" || word.starts_with(b"+")))
        }
        "id" => argv.iter().skip(1).all(|word| word.exact().is_some_and(|word| word.starts_with(b"-"))),
        // Of several files it prints several.
        "wc" => argv.iter().skip(1).filter(|word| word.exact().is_none_or(|text| !text.starts_with(b"-"))).count() == 0,
        _ => false,
    }
}

/// Whether a word may ask a program what it is, or for its version: then it prints that, and not what its other words ask
/// for. Long options may be abbreviated.
pub(crate) fn tells_of_itself(argv: &[Word]) -> bool {
    let asks = |asked: &[u8], word: &[u8]| word.len() > 3 && asked.starts_with(word);
    argv.iter().skip(1).filter_map(Word::exact).any(|word| asks(b"--help", word) || asks(b"--version", word))
}

/// Whether a builtin of bash certainly writes nothing to its standard output, given these words (its name first).
/// What it writes to standard error is another question: see [`never_complains`].
pub(crate) fn is_silent(name: &str, argv: &[Word], assignments: usize) -> bool {
    let words = argv.get(1..).unwrap_or_default();
    let options = |word: &&Word| word.exact().is_some_and(|text| text.len() > 1 && text.starts_with(b"-"));
    let operands = || words.iter().skip_while(options);
    // Almost every builtin tells what it is for when it is asked to.
    let helps = |word: &Word| word.exact().map_or_else(|| word.may_be_option(), |text| text == b"--help");
    if !matches!(name, ":" | "true" | "false" | "test" | "[") && words.iter().any(helps) {
        return false;
    }
    match name {
        ":" | "true" | "false" | "test" | "[" | "unset" | "shift" | "let" | "break" | "continue" | "return"
        | "exit" | "logout" | "mapfile" | "readarray" | "getopts" | "unalias" | "disown" => true,
        // `wait` tells nothing; `read -e` echoes what is typed.
        "wait" => true,
        "read" => {
            words.iter().all(|word| word.exact().is_some_and(|text| !text.starts_with(b"-") || !text.contains(&b'e')))
        }
        // Without a name to set, or with `-p`, `-f` and `-F`, they print what is set.
        "declare" | "typeset" | "local" | "export" | "readonly" => {
            let leading = words.iter().take_while(options).filter_map(Word::exact);
            let plain = |text: &[u8]| text.iter().skip(1).all(|letter| b"aAgilnrtux".contains(letter));
            leading.clone().all(plain)
                && (assignments > 0 || operands().next().is_some_and(|word| word.exact().is_some()))
        }
        // `set`, `set -o` and `set +o` print the state of the shell.
        "set" => {
            !words.is_empty()
                && words.iter().all(|word| word.exact().is_some())
                && !matches!(words.last().and_then(Word::exact), Some(b"+"))
                && !matches!(words.last().and_then(Word::exact), Some([b'-' | b'+', letters @ ..]) if letters.contains(&b'o'))
        }
        "shopt" => {
            let mut leading = words.iter().take_while(options).filter_map(Word::exact).peekable();
            leading.peek().is_some()
                && leading.all(|text| matches!(text, b"-s" | b"-u" | b"-so" | b"-uo" | b"-os" | b"-ou" | b"-o"))
                && words
                    .iter()
                    .any(|word| word.exact().is_some_and(|text| text.starts_with(b"-s") || text.starts_with(b"-u")))
                && operands().next().is_some_and(|word| word.exact().is_some())
        }
        "trap" => {
            words.len() > 1
                && words.first().and_then(Word::exact).is_some_and(|text| !text.starts_with(b"-") || text == b"-")
        }
        "alias" => {
            !words.is_empty()
                && words
                    .iter()
                    .all(|word| word.exact().is_some_and(|text| text.contains(&b'=') && !text.starts_with(b"-")))
        }
        "printf" => words.first().and_then(Word::exact).is_some_and(|text| text.starts_with(b"-v")),
        "kill" => words.iter().all(|word| word.exact().is_some_and(|text| !matches!(text, [b'-', b'l' | b'L', ..]))),
        _ => false,
    }
}

/// Whether a command certainly writes nothing to standard error: it cannot fail, or fails in silence. `echo` complains
/// only where it cannot write.
pub(crate) fn never_complains(argv: &[Word]) -> bool {
    let exact = || argv.iter().all(|word| word.exact().is_some());
    match argv.first().and_then(Word::exact) {
        Some(b"echo" | b":" | b"true" | b"false") => exact(),
        _ => false,
    }
}

/// Whether a command certainly reads nothing of its standard input, so that the next one finds all of it.
pub(crate) fn never_reads(argv: &[Word]) -> bool {
    matches!(
        argv.first().and_then(Word::exact),
        Some(
            b"echo"
                | b":"
                | b"true"
                | b"false"
                | b"printf"
                | b"test"
                | b"["
                | b"cd"
                | b"pwd"
                | b"set"
                | b"export"
                | b"exit"
                | b"sleep"
        )
    )
}
