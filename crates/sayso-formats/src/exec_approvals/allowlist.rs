//! The allowlist: globs on the resolved path of a program, or its bare name through PATH, and its arguments.

use crate::Error;
use crate::document::Node;
use crate::glob::Glob;
use crate::regular::Expression;
use sayso_policy::shell::{Run, Word};
use sayso_policy::{Facts, Operation, Source};
use sha2::{Digest as _, Sha256};
use std::path::{Component, Path};

/// One entry.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pattern: String,
    arguments: Option<Expression>,
    /// When and for what the original last used it; nothing is decided by it.
    last_used: Option<String>,
    /// SHA-256 of the file that it names: another content is another program.
    content: Option<String>,
    pub(super) source: Option<Source>,
}

impl Entry {
    /// A table or a bare pattern; blank ones are none.
    pub(super) fn read(node: &Node<'_>) -> Result<Option<Self>, Error> {
        if node.value.is_string() {
            let entry = Self::of(&node.text()?.value, None);
            return Ok(entry.map(|entry| Self { source: Some(node.source()), ..entry }));
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
            "sha256",
        ])?;
        let content = match node.get("sha256")? {
            Some(node) => Some(hash(&node.text()?.value).ok_or_else(|| node.wrong("a SHA-256 has 64 hex digits"))?),
            None => None,
        };
        let pattern = node.get("pattern")?.ok_or_else(|| node.wrong("an entry needs `pattern`"))?.text()?.value;
        let arguments = match node.get("argPattern")? {
            Some(node) => Some(Expression::new(&node.text()?.value).map_err(|error| node.wrong(error))?),
            None => None,
        };
        let entry = Self::of(&pattern, arguments).map(|entry| Self {
            last_used: last_used(node),
            content,
            source: Some(node.source()),
            ..entry
        });
        Ok(entry)
    }

    fn of(pattern: &str, arguments: Option<Expression>) -> Option<Self> {
        let pattern = pattern.trim();
        (!pattern.is_empty()).then(|| Self {
            pattern: pattern.to_owned(),
            arguments,
            last_used: None,
            content: None,
            source: None,
        })
    }

    pub(super) fn pattern(&self) -> &str {
        &self.pattern
    }

    pub(super) fn last_used(&self) -> Option<&str> {
        self.last_used.as_deref()
    }

    pub(super) fn covers(&self, run: &Run, operation: &Operation, facts: Facts<'_>) -> bool {
        self.names(run, operation)
            && self.holds(run, facts)
            && self.arguments.as_ref().is_none_or(|expression| arguments_match(expression, run))
    }

    /// Whether the file is the one that was listed, where the entry says which.
    fn holds(&self, run: &Run, facts: Facts<'_>) -> bool {
        let Some(listed) = &self.content else { return true };
        let bytes = run.program.path.as_deref().and_then(|path| facts.files.read(path, MAX_SCRIPT));
        bytes.is_some_and(|bytes| {
            Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect::<String>() == *listed
        })
    }

    /// Whether it names one file by its path: what that file does is trusted with it.
    pub(super) fn trusts_script(&self) -> bool {
        self.pattern.contains(['/', '~'])
    }

    fn names(&self, run: &Run, operation: &Operation) -> bool {
        let Some(called) = run.argv.first().and_then(Word::exact_str) else { return false };
        if run.program.builtin {
            // A builtin has no path: it is listed by its name, as it is.
            return run.program.shadow.is_none() && self.pattern == called;
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

/// Largest file of which a hash is made.
const MAX_SCRIPT: usize = 4 << 20;

/// 64 hex digits, lower case; `sha256:` may stand before them.
fn hash(text: &str) -> Option<String> {
    let text = text.trim();
    let digits = text.strip_prefix("sha256:").unwrap_or(text).to_lowercase();
    (digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(digits)
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
