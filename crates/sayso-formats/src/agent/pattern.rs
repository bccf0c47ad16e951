//! Patterns of agents as patterns of the policy language.

use crate::regular::Expression;
use sayso_policy::foreign::{AddressPattern, CommandPattern, MatchInput, PlacePattern};
use sayso_policy::shell::{HostTarget, RunId, Word};
use sayso_policy::{Operation, Tri};

pub(crate) use crate::wundr::wild;

/// A pattern on the words of one program.
#[derive(Debug)]
pub(crate) struct Command {
    test: Test,
    /// The same as a pattern with subcommands and flags, which asks and denies look at too.
    wider: Option<(String, CommandPattern)>,
}

#[derive(Debug)]
enum Test {
    Any,
    /// The text to allow by, the text to restrict by, and what they mean.
    Words {
        permit: String,
        restrict: String,
        permits: CommandPattern,
        restricts: CommandPattern,
    },
    /// One that the policy language cannot say.
    Expression(Expression),
}

/// What stands before a program's name if it is called by a path.
const FOLDER: &str = "(?:[^ ]*/)?";

impl Command {
    pub(crate) fn any() -> Self {
        Self { test: Test::Any, wider: None }
    }

    /// These words and nothing else.
    pub(crate) fn exact(text: &str) -> Option<Self> {
        Self::words(text, &escaped(&single_blanks(text)))
    }

    /// These words, and whatever follows.
    pub(crate) fn prefix(text: &str) -> Option<Self> {
        Self::words(text, &format!("{}(?: .*)?", escaped(&single_blanks(text))))
    }

    /// `*` is any run of characters, `?` one where `one` says so; ` *` at the end may be nothing at all.
    pub(crate) fn wild(text: &str, one: bool) -> Option<Self> {
        let text = single_blanks(text);
        if text == "*" || text == "**" {
            return Some(Self::any());
        }
        let (body, open) = match text.strip_suffix(" *") {
            Some(body) => (body, "(?: .*)?"),
            None => (text.as_str(), ""),
        };
        let mut expression = String::new();
        for c in body.chars() {
            match c {
                '*' => expression.push_str(".*"),
                '?' if one => expression.push('.'),
                c => expression.push_str(&escaped(&c.to_string())),
            }
        }
        Self::words(body, &format!("{expression}{open}"))
    }

    /// An expression on the words, joined with single blanks, which it may match anywhere.
    pub(crate) fn expression(text: &str, case: bool) -> Result<Self, String> {
        let expression = if case { Expression::exact_case(text)? } else { Expression::new(text)? };
        let Some(plain) =
            expression.plain().and_then(|plain| CommandPattern::parse(&format!("re:{plain}")).map(|p| (plain, p)))
        else {
            return Ok(Self { test: Test::Expression(expression), wider: None });
        };
        let (plain, pattern) = plain;
        let text = format!("re:{plain}");
        Ok(Self {
            test: Test::Words { permit: text.clone(), restrict: text, permits: pattern.clone(), restricts: pattern },
            wider: None,
        })
    }

    fn words(text: &str, expression: &str) -> Option<Self> {
        let permit = format!("re:(?s)^{expression}$");
        let restrict = format!("re:(?s)^{FOLDER}{expression}$");
        let test = Test::Words {
            permits: CommandPattern::parse(&permit)?,
            restricts: CommandPattern::parse(&restrict)?,
            permit,
            restrict,
        };
        let plain = text
            .split_whitespace()
            .all(|word| crate::import::is_plain(word.trim_start_matches('-')) && !word.contains('*'));
        let wider = plain.then(|| CommandPattern::parse(text).map(|pattern| (text.to_owned(), pattern))).flatten();
        Some(Self { test, wider })
    }

    pub(crate) fn is_any(&self) -> bool {
        matches!(self.test, Test::Any)
    }

    pub(crate) fn permits(&self, asked: &MatchInput<'_>, run: RunId) -> bool {
        match &self.test {
            Test::Any => true,
            Test::Words { permits, .. } => permits.permits(asked, run),
            Test::Expression(expression) => {
                joined(asked.operation(), run).is_some_and(|text| expression.surely_matches(&text))
            }
        }
    }

    pub(crate) fn restricts(&self, asked: &MatchInput<'_>, run: RunId) -> Tri {
        let own = match &self.test {
            Test::Any => Tri::Yes,
            Test::Words { restricts, .. } => restricts.restricts(asked, run),
            Test::Expression(expression) => match joined(asked.operation(), run) {
                Some(text) => expression.may_match(&text).into(),
                None => Tri::Maybe,
            },
        };
        let wider = self.wider.as_ref().map_or(Tri::No, |(_, pattern)| pattern.restricts(asked, run));
        own.max(wider)
    }

    /// Patterns of `run` that allow the same; `None` if there are none.
    pub(crate) fn permit_texts(&self) -> Option<Vec<String>> {
        match &self.test {
            Test::Any => Some(vec!["@anything".to_owned()]),
            Test::Words { permit, .. } => Some(vec![permit.clone()]),
            Test::Expression(_) => None,
        }
    }

    /// Patterns of `run` that restrict the same.
    pub(crate) fn restrict_texts(&self) -> Option<Vec<String>> {
        match &self.test {
            Test::Any => Some(vec!["@anything".to_owned()]),
            Test::Words { restrict, .. } => {
                Some(std::iter::once(restrict.clone()).chain(self.wider.iter().map(|(text, _)| text.clone())).collect())
            }
            Test::Expression(_) => None,
        }
    }
}

/// A pattern on paths.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) text: String,
    pattern: PlacePattern,
}

impl Place {
    pub(crate) fn new(text: &str) -> Option<Self> {
        PlacePattern::parse(text).map(|pattern| Self { text: text.to_owned(), pattern })
    }

    pub(crate) fn anywhere() -> Vec<Self> {
        Self::new("/**").into_iter().collect()
    }

    pub(crate) fn is_any(&self) -> bool {
        self.text == "/**"
    }

    pub(crate) fn permits(&self, asked: &MatchInput<'_>, effect: usize) -> bool {
        self.pattern.permits(asked, effect)
    }

    pub(crate) fn restricts(&self, asked: &MatchInput<'_>, effect: usize) -> Tri {
        self.pattern.restricts(asked, effect)
    }
}

/// A pattern on hosts; `None`: any.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) text: String,
    pattern: Option<AddressPattern>,
}

impl Host {
    pub(crate) fn any() -> Self {
        Self { text: "@anything".to_owned(), pattern: None }
    }

    pub(crate) fn new(text: &str) -> Option<Self> {
        let plain =
            text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.:*[]_".contains(&byte)) && !text.is_empty();
        let pattern = plain.then(|| AddressPattern::parse(text)).flatten()?;
        Some(Self { text: text.to_owned(), pattern: Some(pattern) })
    }

    pub(crate) fn is_any(&self) -> bool {
        self.pattern.is_none()
    }

    pub(crate) fn permits(&self, target: &HostTarget) -> bool {
        self.pattern.as_ref().is_none_or(|pattern| pattern.permits(target))
    }

    pub(crate) fn restricts(&self, target: &HostTarget) -> Tri {
        self.pattern.as_ref().map_or(Tri::Yes, |pattern| pattern.restricts(target))
    }
}

/// The words of a program joined with single blanks, if all are certain.
fn joined(operation: &Operation, run: RunId) -> Option<String> {
    let run = operation.analysis.as_ref()?.run(run)?;
    let words: Option<Vec<&str>> = run.argv.iter().map(Word::exact_str).collect();
    words.map(|words| words.join(" "))
}

fn single_blanks(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text of which no character means anything to a regular expression.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if c.is_ascii_punctuation()
            && !matches!(c, '_' | '/' | '"' | '\'' | ',' | ':' | ';' | '<' | '>' | '=' | '!' | '%' | '@' | '`')
        {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Whether no character of a path means anything to the policy language but `*` and `?`.
pub(crate) fn is_plain_path(text: &str) -> bool {
    !text.is_empty()
        && !text.contains(['{', '}', '[', ']', '!', '@', '\\', '\n', '|'])
        && !text.starts_with("re:")
        && !text.split('/').any(|part| part == "..")
}
