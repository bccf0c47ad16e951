//! Regular expressions as JavaScript reads them.
//!
//! Rust's engines take `{` for a repetition where JavaScript takes it for itself, and know set operations in classes.
//! Look-around needs a backtracking engine, whose work is bounded; over the bound an expression counts as matching.

use fancy_regex::Regex;

/// A compiled expression.
#[derive(Clone, Debug)]
pub(crate) struct Expression {
    regex: Regex,
    pub(crate) text: String,
    case: bool,
}

impl Expression {
    /// One where case does not count.
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        Self::with_case(text, false)
    }

    /// One where case counts.
    pub(crate) fn exact_case(text: &str) -> Result<Self, String> {
        Self::with_case(text, true)
    }

    fn with_case(text: &str, case: bool) -> Result<Self, String> {
        let regex = Regex::new(&in_words(text, case)).map_err(|error| error.to_string())?;
        Ok(Self { regex, text: text.to_owned(), case })
    }

    /// The same in the policy language; `None` where it looks around.
    pub(crate) fn plain(&self) -> Option<String> {
        let looks = ["(?=", "(?!", "(?<=", "(?<!", "\\1", "\\2"].iter().any(|sign| self.text.contains(sign));
        (!looks).then(|| in_words(&self.text, self.case))
    }

    /// Whether it matches somewhere. An expression that gives up matches: it was written to restrict, or it is asked
    /// through [`Expression::surely_matches`].
    pub(crate) fn may_match(&self, text: &str) -> bool {
        self.regex.is_match(text).unwrap_or(true)
    }

    /// Whether it matches somewhere; one that gives up does not.
    pub(crate) fn surely_matches(&self, text: &str) -> bool {
        self.regex.is_match(text).unwrap_or(false)
    }
}

fn in_words(text: &str, case: bool) -> String {
    format!("({}:{})", if case { "?" } else { "?i" }, translated(text))
}

/// The same expression in Rust's words.
fn translated(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len() + 8);
    let mut class = false;
    let mut at = 0;
    while let Some(c) = chars.get(at).copied() {
        match c {
            '\\' => {
                out.push(c);
                at += 1;
                match chars.get(at) {
                    // `\/` and the like are themselves.
                    Some(next) => out.push(*next),
                    None => out.push('\\'),
                }
            }
            '[' if class => out.push_str("\\["),
            '[' => {
                class = true;
                out.push('[');
                if chars.get(at + 1) == Some(&'^') {
                    out.push('^');
                    at += 1;
                }
            }
            ']' if class => {
                class = false;
                out.push(']');
            }
            '&' | '~' if class => {
                out.push('\\');
                out.push(c);
            }
            '{' if !class && !is_repetition(chars.get(at..).unwrap_or_default()) => out.push_str("\\{"),
            '}' if !class && !closes_repetition(chars.get(..at).unwrap_or_default()) => out.push_str("\\}"),
            c => out.push(c),
        }
        at += 1;
    }
    out
}

/// `{2}`, `{2,}`, `{2,3}`.
fn is_repetition(rest: &[char]) -> bool {
    let inner: String = rest.iter().skip(1).take_while(|c| **c != '}').collect();
    let number = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    let closed = rest.contains(&'}');
    closed
        && match inner.split_once(',') {
            None => number(&inner),
            Some((least, most)) => number(least) && (most.is_empty() || number(most)),
        }
}

fn closes_repetition(before: &[char]) -> bool {
    let open = before.iter().rposition(|c| *c == '{');
    open.is_some_and(|open| {
        let mut group = before.get(open..).unwrap_or_default().to_vec();
        group.push('}');
        before.get(open.wrapping_sub(1)) != Some(&'\\') && is_repetition(&group)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_mean_what_javascript_means_by_them() {
        for (expression, text, expected) in [
            (r"curl.*\|\s*bash", "CURL x | Bash", true),
            (r"wget.*\|\s*sh", "wget -O- x |sh", true),
            (r":(){ :|:& };:", ":(){ :|:& };:", true),
            (r":(){ :|:& };:", "ls -la", false),
            (r"rm\s+-rf\s+/(?!tmp)", "rm -rf /etc", true),
            (r"rm\s+-rf\s+/(?!tmp)", "rm -rf /tmp/x", false),
            (r"a{2,3}b", "aab", true),
            (r"a{2,3}b", "a{2,3}b", false),
            (r"[[&&x]+", "[&x", true),
            (r"a{b", "xa{by", true),
            (r"\/etc\/", "/etc/x", true),
        ] {
            assert_eq!(Expression::new(expression).unwrap().may_match(text), expected, "{expression} on {text}");
        }
        assert!(Expression::new("(").is_err());
    }
}
