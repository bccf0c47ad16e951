//! Globs as execution approvals read them: `*` stays in a folder, `**` does not, `?` is one character; case does not
//! count.

/// A compiled glob.
#[derive(Clone, Debug)]
pub(crate) struct Glob {
    tokens: Vec<Token>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Char(char),
    /// `?`
    One,
    /// `*`
    Run,
    /// `**`
    Deep,
}

impl Glob {
    pub(crate) fn new(pattern: &str) -> Self {
        let mut tokens = Vec::new();
        for c in pattern.trim().chars().flat_map(char::to_lowercase) {
            match (c, tokens.last()) {
                ('*', Some(Token::Run)) => {
                    tokens.pop();
                    tokens.push(Token::Deep);
                }
                ('*', Some(Token::Deep)) => {}
                ('*', _) => tokens.push(Token::Run),
                ('?', _) => tokens.push(Token::One),
                (c, _) => tokens.push(Token::Char(c)),
            }
        }
        Self { tokens }
    }

    /// Work is the product of the lengths, whatever the pattern.
    pub(crate) fn matches(&self, text: &str) -> bool {
        let mut reached = vec![false; self.tokens.len() + 1];
        if let Some(first) = reached.first_mut() {
            *first = true;
        }
        self.skip_empty(&mut reached);
        for c in text.chars().flat_map(char::to_lowercase) {
            let mut next = vec![false; reached.len()];
            for (at, token) in self.tokens.iter().enumerate() {
                if !reached.get(at).copied().unwrap_or(false) {
                    continue;
                }
                let (stays, moves) = match token {
                    Token::Char(wanted) => (false, *wanted == c),
                    Token::One => (false, c != '/'),
                    Token::Run => (c != '/', false),
                    Token::Deep => (true, false),
                };
                for (index, yes) in [(at, stays), (at + 1, moves)] {
                    if let Some(slot) = next.get_mut(index) {
                        *slot |= yes;
                    }
                }
            }
            self.skip_empty(&mut next);
            reached = next;
        }
        reached.last().copied().unwrap_or(false)
    }

    /// A star may stand for nothing.
    fn skip_empty(&self, reached: &mut [bool]) {
        for (at, token) in self.tokens.iter().enumerate() {
            let here = reached.get(at).copied().unwrap_or(false);
            if here
                && matches!(token, Token::Run | Token::Deep)
                && let Some(slot) = reached.get_mut(at + 1)
            {
                *slot = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_know_folders_and_case_does_not_count() {
        for (pattern, text, expected) in [
            ("/usr/bin/*", "/usr/bin/git", true),
            ("/usr/*", "/usr/bin/git", false),
            ("/usr/**", "/usr/bin/git", true),
            ("/usr/bin/gi?", "/usr/bin/git", true),
            ("/usr/bin/gi?", "/usr/bin/gi/", false),
            ("/USR/BIN/GIT", "/usr/bin/git", true),
            ("**/bin/git", "/usr/bin/git", true),
            ("git", "git2", false),
            ("git*", "git2", true),
            ("", "", true),
        ] {
            assert_eq!(Glob::new(pattern).matches(text), expected, "{pattern} {text}");
        }
    }
}
