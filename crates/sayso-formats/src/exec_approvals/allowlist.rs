//! The allowlist: globs on the resolved path of a program, or its bare name through PATH, and its arguments.

use crate::Error;
use crate::document::Node;
use crate::glob::Glob;
use crate::regular::Expression;
use sayso_policy::Operation;
use sayso_policy::shell::{Run, Word};
use std::path::{Component, Path};

/// One entry.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pattern: String,
    arguments: Option<Expression>,
    /// When and for what the original last used it; nothing is decided by it.
    last_used: Option<String>,
}

impl Entry {
    /// A table or a bare pattern; blank ones are none.
    pub(super) fn read(node: &Node<'_>) -> Result<Option<Self>, Error> {
        if node.value.is_string() {
            return Ok(Self::of(&node.text()?.value, None));
        }
        node.only(&[
            "id",
            "pattern",
            "argPattern",
            "lastUsedAt",
            "lastUsedCommand",
            "lastResolvedPath",
            "source",
            "commandText",
            "description",
        ])?;
        let pattern = node.get("pattern")?.ok_or_else(|| node.wrong("an entry needs `pattern`"))?.text()?.value;
        let arguments = match node.get("argPattern")? {
            Some(node) => Some(Expression::new(&node.text()?.value).map_err(|error| node.wrong(error))?),
            None => None,
        };
        let entry = Self::of(&pattern, arguments).map(|entry| Self { last_used: last_used(node), ..entry });
        Ok(entry)
    }

    fn of(pattern: &str, arguments: Option<Expression>) -> Option<Self> {
        let pattern = pattern.trim();
        (!pattern.is_empty()).then(|| Self { pattern: pattern.to_owned(), arguments, last_used: None })
    }

    pub(super) fn pattern(&self) -> &str {
        &self.pattern
    }

    pub(super) fn last_used(&self) -> Option<&str> {
        self.last_used.as_deref()
    }

    pub(super) fn covers(&self, run: &Run, operation: &Operation) -> bool {
        self.names(run, operation) && self.arguments.as_ref().is_none_or(|expression| arguments_match(expression, run))
    }

    fn names(&self, run: &Run, operation: &Operation) -> bool {
        let Some(called) = run.argv.first().and_then(Word::exact_str) else { return false };
        if run.program.builtin {
            return false;
        }
        if !self.pattern.contains(['/', '\\', '~']) {
            // A bare name means what PATH means by it; a path of the same last name is another program.
            return !called.contains('/') && run.program.shadow.is_none() && Glob::new(&self.pattern).matches(called);
        }
        let Some(pattern) = expand_home(&self.pattern, operation.home.as_deref()) else { return false };
        let Some(path) = run.program.path.as_deref() else { return false };
        // What a function or the call itself put in its place is not at this path.
        let replaced = matches!(
            run.program.shadow,
            Some(
                sayso_policy::shell::Shadow::Function
                    | sayso_policy::shell::Shadow::Alias
                    | sayso_policy::shell::Shadow::Written
            )
        );
        let plain = !path.components().any(|part| part == Component::ParentDir);
        !replaced && plain && path.to_str().is_some_and(|path| Glob::new(&pattern).matches(path))
    }
}

/// `~` is the home folder.
pub(super) fn expand_home(pattern: &str, home: Option<&Path>) -> Option<String> {
    match pattern.strip_prefix('~') {
        Some(rest) => Some(format!("{}{rest}", home?.to_str()?)),
        None => Some(pattern.to_owned()),
    }
}

/// The arguments, joined with blanks; all of them must be known.
fn arguments_match(expression: &Expression, run: &Run) -> bool {
    let words: Option<Vec<&str>> = run.argv.iter().skip(1).map(Word::exact_str).collect();
    words.is_some_and(|words| expression.surely_matches(&words.join(" ")))
}

/// The original's record of an entry's last use, in words.
fn last_used(node: &Node<'_>) -> Option<String> {
    let said: Vec<String> = [("lastUsedAt", "at"), ("lastUsedCommand", "for"), ("lastResolvedPath", "as")]
        .iter()
        .filter_map(|(key, word)| {
            let value = node.value.get(key).filter(|value| !value.is_null())?;
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            Some(format!("{word} {text}"))
        })
        .collect();
    (!said.is_empty()).then(|| said.join(" "))
}
