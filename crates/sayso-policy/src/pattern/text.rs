//! What all patterns share as text: `{a,b}` alternatives and errors.

/// What is wrong with a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PatternError {
    /// A sentence.
    pub message: String,
    /// What to write instead.
    pub suggestion: Option<String>,
}

impl PatternError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), suggestion: None }
    }

    pub(crate) fn suggest(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = Some(suggestion.into());
        self
    }
}

/// Most patterns that one text may stand for: `{a,b}{c,d}...` grows fast.
const MAX_ALTERNATIVES: usize = 1_000;

/// Expands `{a,b}` alternatives, nested ones too. `re:` is left alone: braces count there.
pub(crate) fn expand_braces(text: &str) -> Result<Vec<String>, PatternError> {
    if text.starts_with("re:") || !text.contains(['{', '}']) {
        return Ok(vec![text.to_owned()]);
    }
    let mut done = Vec::new();
    let mut open = vec![text.to_owned()];
    while let Some(next) = open.pop() {
        match split_first_group(&next)? {
            None => done.push(next),
            Some((before, options, after)) => {
                // Pushed in reverse so that the order of the text is kept.
                open.extend(options.into_iter().rev().map(|option| format!("{before}{option}{after}")));
            }
        }
        if done.len() + open.len() > MAX_ALTERNATIVES {
            return Err(PatternError::new(format!("more than {MAX_ALTERNATIVES} alternatives in one pattern"))
                .suggest("write several patterns"));
        }
    }
    Ok(done)
}

/// The text before the first `{`, its alternatives, and the text after its `}`.
type Group<'t> = (&'t str, Vec<&'t str>, &'t str);

fn split_first_group(text: &str) -> Result<Option<Group<'_>>, PatternError> {
    let Some((before, rest)) = text.split_once('{') else {
        return if text.contains('}') { Err(PatternError::new("a `}` without its `{`")) } else { Ok(None) };
    };
    if before.contains('}') {
        return Err(PatternError::new("a `}` without its `{`"));
    }
    let mut depth = 0_usize;
    let mut from = 0;
    let mut options = Vec::new();
    for (at, c) in rest.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            '}' | ',' if depth == 0 => {
                options.push(rest.get(from..at).unwrap_or_default());
                from = at + 1;
                if c == '}' {
                    return Ok(Some((before, options, rest.get(from..).unwrap_or_default())));
                }
            }
            _ => {}
        }
    }
    Err(PatternError::new("a `{` without its `}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternatives_expand_in_order_and_nested() {
        assert_eq!(expand_braces("git {a,b{1,2}} x").unwrap(), ["git a x", "git b1 x", "git b2 x"]);
        assert_eq!(expand_braces("plain").unwrap(), ["plain"]);
        assert_eq!(expand_braces("re:a{2,3}").unwrap(), ["re:a{2,3}"]);
    }

    #[test]
    fn unbalanced_and_exploding_braces_are_errors() {
        for bad in ["{a", "a}", "}{", "a}{b}", &"{a,b}".repeat(20)] {
            assert!(expand_braces(bad).is_err(), "{bad}");
        }
    }
}
