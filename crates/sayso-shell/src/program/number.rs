//! Programs that print numbers: what they print cannot be anything that arithmetic would run.

use super::built::{NUMBERS, NUMBERS_BY_NAME};
use super::{Description, Prints};
use crate::word::Word;

/// A function that a text names: whether a program prints a number with these words.
pub(super) type Says = fn(&Asked<'_>) -> bool;

/// What is known of a command that may print a number.
pub(super) struct Asked<'a> {
    argv: &'a [Word],
    description: &'a Description,
    input: &'a Prints,
}

/// Whether a program prints a number and nothing else, by its name, its words and what it reads.
pub(crate) fn prints_number(name: &str, argv: &[Word], description: &Description, input: &Prints) -> bool {
    let says = NUMBERS_BY_NAME.find(name).and_then(|at| NUMBERS.get(at));
    says.is_some_and(|says| says(&Asked { argv, description, input }))
}

impl<'a> Asked<'a> {
    /// Its words behind the name, if all are exact.
    fn words(&self) -> Option<Vec<&'a [u8]>> {
        self.argv.iter().skip(1).map(Word::exact).collect()
    }

    /// It passes on a number that it reads, and nothing else.
    fn passes_on(&self) -> bool {
        *self.input == Prints::Number && self.description.effects.is_empty() && self.description.words.is_empty()
    }
}

pub(super) fn always(_: &Asked<'_>) -> bool {
    true
}

pub(super) fn date(asked: &Asked<'_>) -> bool {
    let mut formats = asked.argv.iter().skip(1).filter_map(Word::exact).filter(|word| word.starts_with(b"+"));
    let format = formats.next();
    format.is_some_and(|format| directives(format, b"sYmdHMSjNuwVUWCyeklIGg")) && formats.next().is_none()
}

pub(super) fn stat(asked: &Asked<'_>) -> bool {
    let options = &asked.description.options;
    let mut formats = options.iter().filter(|option| option.name == "--format");
    let format = formats.next().and_then(|option| option.value.as_ref()).and_then(Word::exact);
    let other = ["--printf", "--file-system", "--terse", "-x", "-s", "-n", "-r"];
    format.is_some_and(|format| directives(&[b"+", format].concat(), b"sbBahiugXYZWd"))
        && formats.next().is_none()
        && !options.iter().any(|option| other.contains(&option.name.as_str()))
}

pub(super) fn id(asked: &Asked<'_>) -> bool {
    asked.words().is_some_and(|words| {
        let (options, users): (Vec<&[u8]>, Vec<&[u8]>) = words.into_iter().partition(|word| word.starts_with(b"-"));
        let option = |word: &&[u8]| matches!(*word, b"-u" | b"-g" | b"-ur" | b"-gr" | b"--user" | b"--group");
        !options.is_empty() && options.iter().all(option) && users.len() < 2
    })
}

/// `git rev-list --count`
pub(super) fn revisions(asked: &Asked<'_>) -> bool {
    let first = asked.description.words.first().and_then(|at| asked.argv.get(usize::from(*at))).and_then(Word::exact);
    first == Some(b"rev-list") && asked.argv.iter().any(|word| word.exact() == Some(b"--count"))
}

pub(super) fn getconf(asked: &Asked<'_>) -> bool {
    matches!(
        asked.words().as_deref(),
        Some([b"_NPROCESSORS_ONLN"
            | b"_NPROCESSORS_CONF"
            | b"PAGESIZE"
            | b"PAGE_SIZE"
            | b"LONG_BIT"
            | b"ARG_MAX"
            | b"CLK_TCK"
            | b"_PHYS_PAGES"
            | b"OPEN_MAX"])
    )
}

pub(super) fn tput(asked: &Asked<'_>) -> bool {
    matches!(asked.words().as_deref(), Some([b"cols" | b"lines" | b"colors"]))
}

pub(super) fn pgrep(asked: &Asked<'_>) -> bool {
    asked.argv.iter().any(|word| matches!(word.exact(), Some(b"-c" | b"--count" | b"-fc" | b"-cf")))
}

pub(super) fn tr(asked: &Asked<'_>) -> bool {
    match asked.words().as_deref() {
        // Nothing but digits is left.
        Some([b"-cd" | b"-dc", b"0-9" | b"[:digit:]" | b"0-9\\n"]) => true,
        Some([b"-d", _]) => *asked.input == Prints::Number,
        _ => false,
    }
}

/// What is read is printed, or some lines of it.
pub(super) fn passed_on(asked: &Asked<'_>) -> bool {
    asked.passes_on() && asked.words().is_some()
}

/// The same without a word.
pub(super) fn passed_on_alone(asked: &Asked<'_>) -> bool {
    asked.passes_on() && asked.words().is_some_and(|words| words.is_empty())
}

pub(super) fn awk(asked: &Asked<'_>) -> bool {
    *asked.input == Prints::Number
        && matches!(asked.words().as_deref(), Some([b"{print $1}" | b"{ print $1 }" | b"{print $NF}" | b"{print}"]))
}

pub(super) fn grep(asked: &Asked<'_>) -> bool {
    match asked.words().as_deref() {
        Some([b"-o" | b"-oE" | b"-Eo" | b"-oP" | b"-Po" | b"-om1" | b"-m1o", pattern]) => digits_alone(pattern),
        Some([b"-o" | b"-oE" | b"-Eo" | b"-oP" | b"-Po", pattern, file]) => {
            digits_alone(pattern) && !file.starts_with(b"-")
        }
        _ => false,
    }
}

/// `+%Y%m%d`: nothing but directives that print digits.
fn directives(format: &[u8], letters: &[u8]) -> bool {
    let Some(mut rest) = format.strip_prefix(b"+") else { return false };
    let mut any = false;
    while let [b'%', tail @ ..] = rest {
        let tail = match tail {
            [b'-' | b'0', tail @ ..] => tail,
            tail => tail,
        };
        match tail {
            [letter, tail @ ..] if letters.contains(letter) => rest = tail,
            _ => return false,
        }
        any = true;
    }
    any && rest.is_empty()
}

/// A regular expression that matches digits and nothing else.
pub(crate) fn digits_alone(pattern: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(pattern) else { return false };
    let rest = text.replace("[[:digit:]]", "0").replace("[0-9]", "0").replace("[1-9]", "0").replace("\\d", "0");
    let rest = rest.replace("\\+", "+").replace("\\b", "").replace("\\{", "{").replace("\\}", "}");
    rest.contains('0') && rest.bytes().all(|b| b.is_ascii_digit() || b"+*?^$(){},".contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_of_digits_are_told_from_others() {
        for format in ["+%s", "+%Y%m%d", "+%-H", "+%s%N"] {
            assert!(directives(format.as_bytes(), b"sYmdHN"), "{format}");
        }
        for format in ["+", "+%b", "+a%s", "+%s[", "+%", "+%s%", "%s"] {
            assert!(!directives(format.as_bytes(), b"sYmdHN"), "{format}");
        }
    }

    #[test]
    fn patterns_of_digits_are_told_from_others() {
        for pattern in ["[0-9]*", "[0-9]\\+", "^[0-9]+$", "\\d+", "[[:digit:]]{3}", "([0-9]+)"] {
            assert!(digits_alone(pattern.as_bytes()), "{pattern}");
        }
        for pattern in [".*", "x[0-9]+", "[^0-9]+", "[0-9]+.", "\\D", "[0-9a]+", "[0-9]+|.+", ""] {
            assert!(!digits_alone(pattern.as_bytes()), "{pattern}");
        }
    }
}
