//! Which names an expression of find can print.

use super::find::{Primary, primary};
use crate::effect::Sieve;
use crate::word::{Text, Word};

/// One term of an expression, its words taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Term<'a> {
    Open,
    Close,
    Not,
    Or,
    /// Asks for this name.
    Name(&'a Word),
    Prune,
    /// Prints, runs, writes or deletes.
    Acts,
    /// Any other test.
    Tests,
}

/// The names that can come out of this expression. `Sieve::All` where its tests do not bound them.
///
/// Every way through the expression must ask for a name: alternatives that only cut branches off (`-prune`) print
/// nothing, as long as some other prints by itself.
pub(super) fn sieve(expression: &[Word]) -> Sieve {
    terms(expression)
        .and_then(|terms| bounded(&terms))
        .and_then(|names| names.into_iter().map(Word::as_pattern).collect::<Option<Vec<Text>>>())
        .filter(|names| !names.is_empty())
        .map_or(Sieve::All, Sieve::Named)
}

/// The terms, if every word is known and understood.
fn terms(expression: &[Word]) -> Option<Vec<Term<'_>>> {
    let exact = |at: usize| expression.get(at).and_then(Word::exact);
    let mut terms = Vec::new();
    let mut at = 0;
    while let Some(word) = expression.get(at) {
        at += 1;
        terms.push(match word.exact()? {
            b"(" => Term::Open,
            b")" => Term::Close,
            b"!" | b"-not" => Term::Not,
            b"-o" | b"-or" => Term::Or,
            b"-name" | b"-iname" => {
                at += 1;
                Term::Name(expression.get(at - 1)?)
            }
            b"-prune" => Term::Prune,
            b"-print" | b"-print0" | b"-ls" => Term::Acts,
            b"-printf" => {
                at += 1;
                Term::Acts
            }
            other => match primary(other.strip_prefix(b"-")?) {
                Primary::Harmless(count) => {
                    at += count;
                    Term::Tests
                }
                Primary::Reads => {
                    at += 1;
                    Term::Tests
                }
                Primary::Writes(count) => {
                    at += count;
                    Term::Acts
                }
                Primary::Deletes => Term::Acts,
                Primary::Runs => {
                    let ends = |end: &usize| match exact(*end) {
                        Some(b";") => true,
                        Some(b"+") => exact(end - 1) == Some(b"{}"),
                        _ => false,
                    };
                    at = (at..expression.len()).find(ends)? + 1;
                    Term::Acts
                }
                Primary::Unknown => return None,
            },
        });
    }
    Some(terms)
}

fn bounded<'a>(terms: &[Term<'a>]) -> Option<Vec<&'a Word>> {
    let open = terms.iter().position(|term| *term == Term::Open);
    let close = terms.iter().rposition(|term| *term == Term::Close);
    let (Some(open), Some(close)) = (open, close) else {
        return if open.is_none() && close.is_none() { any_of(terms) } else { None };
    };
    let (before, inside, after) = (terms.get(..open)?, terms.get(open + 1..close)?, terms.get(close + 1..)?);
    let nested = inside.iter().any(|term| matches!(term, Term::Open | Term::Close));
    if nested || before.last() == Some(&Term::Not) {
        return None;
    }
    if before.iter().chain(after).any(|term| *term == Term::Or) {
        // `( -path x -o -path y ) -prune -o -name z -print`: only the way that prints counts.
        let [Term::Prune, Term::Or, rest @ ..] = after else { return None };
        let cuts = before.is_empty() && !inside.contains(&Term::Acts) && rest.contains(&Term::Acts);
        return if cuts { any_of(rest) } else { None };
    }
    if before.contains(&Term::Acts) || inside.contains(&Term::Acts) {
        return None;
    }
    all_of(before).or_else(|| any_of(inside)).or_else(|| all_of(after))
}

/// Alternatives: each must be bounded.
fn any_of<'a>(terms: &[Term<'a>]) -> Option<Vec<&'a Word>> {
    let mut names = Vec::new();
    for way in terms.split(|term| *term == Term::Or) {
        if way.contains(&Term::Prune) && !way.contains(&Term::Acts) && terms.contains(&Term::Acts) {
            continue;
        }
        names.extend(all_of(way)?);
    }
    Some(names)
}

/// Tests that all must hold: one that asks for a name bounds what the actions behind it see.
fn all_of<'a>(terms: &[Term<'a>]) -> Option<Vec<&'a Word>> {
    let mut negated = false;
    for term in terms {
        match term {
            Term::Acts => return None,
            Term::Name(name) if !negated => return Some(vec![name]),
            _ => negated = *term == Term::Not && !negated,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expression: &str, expected: &str) {
        let words: Vec<Word> = expression.split(' ').map(|word| Word::Exact(word.into())).collect();
        let found = match sieve(&words) {
            Sieve::Named(names) => {
                names.iter().map(|name| name.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
            }
            _ => "all".to_owned(),
        };
        assert_eq!(found, expected, "{expression}");
    }

    #[test]
    fn a_test_on_the_name_bounds_what_is_found() {
        check("-name *.rs", "*.rs");
        check("-type f -name *.rs -print0", "*.rs");
        check("-name *.ts -o -name *.tsx", "*.ts *.tsx");
        check("-type f ( -name *.ts -o -name *.tsx ) -print", "*.ts *.tsx");
        check("-path ./target -prune -o -name *.rs -print", "*.rs");
        check("-name *.rs -not -path */target/*", "*.rs");
        check("( -path ./a -o -path ./b ) -prune -o -name *.c -print", "*.c");
        check("-name *.rs -exec grep x {} +", "*.rs");
    }

    #[test]
    fn what_a_name_does_not_bound_is_all() {
        check("-type f", "all");
        check("-name *.rs -o -type f", "all");
        check("! -name *.rs", "all");
        check("-not -name *.rs", "all");
        check("! ( -name *.rs )", "all");
        check("-type f -o ( -name *.rs )", "all");
        check("-exec cat {} ; -name *.rs", "all");
        check("-print -name *.rs", "all");
        check("-path ./target -prune -o -name *.rs", "all");
        check("-name a , -name b", "all");
        check("-not -wholename -name -print", "all");
        check("-path -name", "all");
        check("-newer -name -type f", "all");
        check("( -print -o -name a ) -name b", "all");
        check("! ! -name a", "a");
        check("-frob -name a", "all");
        check("( ( -name a ) -o -type f )", "all");
        check("( -name a", "all");
    }
}
