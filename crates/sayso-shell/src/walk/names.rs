//! Filters of names: what stands between a program that lists names and one that reads them.
//!
//! What comes out is still bounded by the listing only if the filter prints whole lines of its standard input and
//! nothing else. `sort list.txt`, `head -c 6`, `grep -o` and `shuf -e` print what somebody chose, so all that is not known
//! to pass lines on counts as not passing them.

use crate::effect::{Listing, Sieve, Verb};
use crate::program::Description;
use crate::program::lines::{Expressions, KeepsLines, keeps_lines};
use crate::word::{Text, Word};

/// What a filter lets through of the names that it is given; `None`: it may print something else.
pub(crate) fn passed(
    name: &str,
    argv: &[Word],
    env: &[(Text, Word)],
    filter: &Description,
    given: &Listing,
) -> Option<Listing> {
    let KeepsLines { options, pattern } = keeps_lines(name)?;
    let expressions = pattern;
    let operands: Vec<&Word> =
        filter.words.iter().filter_map(|at| argv.get(usize::from(*at))).filter(|w| w.exact() != Some(b"-")).collect();
    let pattern = expressions.is_some() && !filter.options.iter().any(|option| option.name == "--regexp");
    let whole = !filter.open_options
        && filter.starts.is_empty()
        && operands.len() == usize::from(pattern)
        && !filter.effects.iter().any(|effect| matches!(effect.verb, Verb::Read | Verb::Run))
        && filter.options.iter().all(|option| options.contains(&option.name.as_str()))
        && env.iter().all(|(name, _)| name.as_bytes().starts_with(b"LC_") || name.as_bytes() == b"LANG");
    if !whole {
        return None;
    }
    let pattern = operands.first().filter(|_| pattern).and_then(|word| word.exact_str());
    let extended = expressions == Some(Expressions::Extended)
        || filter.options.iter().any(|option| option.name == "--extended-regexp");
    let endings = pattern.filter(|_| selects(filter)).and_then(|pattern| endings(pattern, extended));
    Some(match endings {
        // Names that one of two sieves lets through are let through by either.
        Some(names) => Listing { sieve: Sieve::Named(names), ..given.clone() },
        None => given.clone(),
    })
}

/// Whether a search lets through what its one pattern, a regular expression, matches.
fn selects(filter: &Description) -> bool {
    let other = ["--invert-match", "--fixed-strings", "--perl-regexp", "--null-data"];
    !filter.options.iter().any(|option| other.contains(&option.name.as_str()))
}

/// `\.rs$`, `^src/.*\.ts$`, `\.tsx\?$` and `\.(js|ts)$` as patterns on names; `None`: it matches other names too.
fn endings(pattern: &str, extended: bool) -> Option<Vec<Text>> {
    let body = pattern.strip_suffix('$')?;
    let (before, ending) = body.rsplit_once("\\.").or_else(|| body.rsplit_once("[.]"))?;
    // Nothing before the ending may begin another alternative, or reach over it.
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"_-/^.*".contains(&b);
    if !before.bytes().all(plain) {
        return None;
    }
    let (open, or, close, maybe) = if extended { ("(", "|", ")", "?") } else { ("\\(", "\\|", "\\)", "\\?") };
    let list = match ending.strip_prefix(open) {
        Some(list) => list.strip_suffix(close)?,
        None if ending.contains(or) => return None,
        None => ending,
    };
    let mut names = Vec::new();
    for ending in list.split(or) {
        let (ending, shorter) = match ending.strip_suffix(maybe) {
            Some(ending) => (ending, ending.get(..ending.len().saturating_sub(1))),
            None => (ending, None),
        };
        for ending in std::iter::once(ending).chain(shorter) {
            if ending.is_empty() || !ending.bytes().all(|b| b.is_ascii_alphanumeric()) {
                return None;
            }
            names.push(Text::from(format!("*.{ending}").as_str()));
        }
    }
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, extended: bool, expected: &str) {
        let found = endings(pattern, extended)
            .map(|names| names.iter().map(|name| name.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" "));
        assert_eq!(found.as_deref().unwrap_or("any"), expected, "{pattern}");
    }

    #[test]
    fn an_anchored_ending_bounds_the_names() {
        check("\\.rs$", false, "*.rs");
        check("^src/.*\\.rs$", false, "*.rs");
        check("[.]py$", true, "*.py");
        check("\\.tsx?$", true, "*.tsx *.ts");
        check("\\.tsx\\?$", false, "*.tsx *.ts");
        check("\\.(js|ts|tsx)$", true, "*.js *.ts *.tsx");
        check("\\.\\(js\\|ts\\)$", false, "*.js *.ts");
    }

    #[test]
    fn what_may_match_otherwise_bounds_nothing() {
        for pattern in [
            "\\.rs",
            "rs$",
            "env|\\.rs$",
            "\\.(rs|)$",
            "\\.(rs|..v)$",
            "(\\.rs$",
            "\\.rs|env$",
            "x?\\.r?$",
            "\\.$",
            "\\.[a-z]*$",
        ] {
            check(pattern, true, "any");
        }
        for pattern in ["env\\|\\.rs$", "\\.rs\\|env$", "\\.tsx?$", "\\.rs*$", "a\n\\.rs$"] {
            check(pattern, false, "any");
        }
    }
}
