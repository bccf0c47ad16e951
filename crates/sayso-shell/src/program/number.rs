//! Programs that print numbers: what they print cannot be anything that arithmetic would run.

use super::{Description, Prints};
use crate::word::Word;

/// Whether a program prints a number and nothing else, by its name, its words and what it reads.
pub(crate) fn prints_number(name: &str, argv: &[Word], description: &Description, input: &Prints) -> bool {
    let words = || -> Option<Vec<&[u8]>> { argv.iter().skip(1).map(Word::exact).collect() };
    match name {
        "nproc" => true,
        "date" => {
            let mut formats = argv.iter().skip(1).filter_map(Word::exact).filter(|word| word.starts_with(b"+"));
            let format = formats.next();
            format.is_some_and(|format| directives(format, b"sYmdHMSjNuwVUWCyeklIGg")) && formats.next().is_none()
        }
        "stat" => {
            let mut formats = description.options.iter().filter(|option| option.name == "--format");
            let format = formats.next().and_then(|option| option.value.as_ref()).and_then(Word::exact);
            let other = ["--printf", "--file-system", "--terse", "-x", "-s", "-n", "-r"];
            format.is_some_and(|format| directives(&[b"+", format].concat(), b"sbBahiugXYZWd"))
                && formats.next().is_none()
                && !description.options.iter().any(|option| other.contains(&option.name.as_str()))
        }
        "id" => words().is_some_and(|words| {
            let (options, users): (Vec<&[u8]>, Vec<&[u8]>) = words.into_iter().partition(|word| word.starts_with(b"-"));
            let option = |word: &&[u8]| matches!(*word, b"-u" | b"-g" | b"-ur" | b"-gr" | b"--user" | b"--group");
            !options.is_empty() && options.iter().all(option) && users.len() < 2
        }),
        "git" => {
            let subcommand = description.words.first().and_then(|at| argv.get(usize::from(*at))).and_then(Word::exact);
            subcommand == Some(b"rev-list") && argv.iter().any(|word| word.exact() == Some(b"--count"))
        }
        "getconf" => matches!(
            words().as_deref(),
            Some([b"_NPROCESSORS_ONLN"
                | b"_NPROCESSORS_CONF"
                | b"PAGESIZE"
                | b"PAGE_SIZE"
                | b"LONG_BIT"
                | b"ARG_MAX"
                | b"CLK_TCK"
                | b"_PHYS_PAGES"
                | b"OPEN_MAX"])
        ),
        "tput" => matches!(words().as_deref(), Some([b"cols" | b"lines" | b"colors"])),
        "pgrep" => argv.iter().any(|word| matches!(word.exact(), Some(b"-c" | b"--count" | b"-fc" | b"-cf"))),
        "tr" => match words().as_deref() {
            // Nothing but digits is left.
            Some([b"-cd" | b"-dc", b"0-9" | b"[:digit:]" | b"0-9\\n"]) => true,
            Some([b"-d", _]) => *input == Prints::Number,
            _ => false,
        },
        "cat" | "head" | "tail" | "sort" | "uniq" | "xargs" | "tac" => {
            *input == Prints::Number
                && description.effects.is_empty()
                && (description.words.is_empty() && words().is_some_and(|words| name != "xargs" || words.is_empty()))
        }
        "awk" | "gawk" | "mawk" => {
            *input == Prints::Number
                && matches!(words().as_deref(), Some([b"{print $1}" | b"{ print $1 }" | b"{print $NF}" | b"{print}"]))
        }
        "grep" | "egrep" => match words().as_deref() {
            Some([b"-o" | b"-oE" | b"-Eo" | b"-oP" | b"-Po" | b"-om1" | b"-m1o", pattern]) => digits_alone(pattern),
            Some([b"-o" | b"-oE" | b"-Eo" | b"-oP" | b"-Po", pattern, file]) => {
                digits_alone(pattern) && !file.starts_with(b"-")
            }
            _ => false,
        },
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
