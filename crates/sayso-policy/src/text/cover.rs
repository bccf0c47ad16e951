//! Whether one pattern covers another, as far as their texts alone can tell.
//!
//! "No" here means "not for certain". Looked up by hash, so that ten thousand rules are compared in no time.

use super::lint::Claim;
use crate::set::SetKind;
use crate::word::Verdict;
use sayso_shell::Verb;
use std::collections::HashMap;

/// More alternatives than this are not followed.
const MAX_ALTERNATIVES: usize = 64;

/// A longer pattern is only compared as a whole: its keys would be as many as its characters.
const MAX_LENGTH: usize = 512;

/// So many patterns that begin alike are compared with one.
const MOST_COMPARED: usize = 256;

/// Patterns, by what they can cover.
pub(super) struct Claims<'a> {
    /// By verb, a key that [`Reach`] makes, and the first flag that is needed: of one command there may be a pattern for
    /// each of very many flags.
    by_key: HashMap<(Verb, String), HashMap<Option<String>, Vec<Stored<'a>>>>,
}

/// A pattern, and the flags that it needs.
type Stored<'a> = (&'a Claim<'a>, Vec<String>);

/// The strings under which a covering pattern is found, and what else must hold.
struct Reach {
    /// The pattern itself is stored under the first of them; it is looked up under all.
    keys: Vec<String>,
    /// Flags: those of the covering pattern must be among those of the covered one.
    flags: Vec<String>,
}

impl<'a> Claims<'a> {
    pub(super) fn new(claims: impl Iterator<Item = &'a Claim<'a>>) -> Self {
        let mut by_key: HashMap<_, HashMap<_, Vec<_>>> = HashMap::new();
        for claim in claims {
            for alternative in alternatives(claim.pattern.value.trim()).unwrap_or_default() {
                let reach = reach(claim.verb, &alternative);
                if let Some(own) = reach.keys.into_iter().next() {
                    let first = reach.flags.first().cloned();
                    by_key.entry((claim.verb, own)).or_default().entry(first).or_default().push((claim, reach.flags));
                }
            }
        }
        Self { by_key }
    }

    /// A stricter pattern of the same verb that covers all that this one means.
    pub(super) fn covering(&self, claim: &Claim<'_>) -> Option<&'a Claim<'a>> {
        let mut found = None;
        for alternative in alternatives(claim.pattern.value.trim())? {
            let reach = reach(claim.verb, &alternative);
            found =
                Some(reach.keys.into_iter().find_map(|key| self.stored(claim.verb, key, claim.verdict, &reach.flags))?);
        }
        found
    }

    fn stored(&self, verb: Verb, key: String, than: Verdict, flags: &[String]) -> Option<&'a Claim<'a>> {
        let stored = self.by_key.get(&(verb, key))?;
        let covers =
            |(claim, needs): &&Stored<'a>| claim.verdict > than && needs.iter().all(|flag| flags.contains(flag));
        let first = std::iter::once(None).chain(flags.iter().cloned().map(Some));
        let mut alike = first.filter_map(|first| stored.get(&first)).flatten().take(MOST_COMPARED);
        alike.find(covers).map(|(claim, _)| *claim)
    }
}

/// Under which keys a pattern is found. The first is its own.
fn reach(verb: Verb, pattern: &str) -> Reach {
    let alone = |pattern: &str| Reach { keys: vec![pattern.to_owned()], flags: Vec::new() };
    if pattern.len() > MAX_LENGTH || pattern.starts_with("re:") || pattern.contains('@') {
        return alone(pattern);
    }
    match SetKind::of(verb) {
        SetKind::Run if pattern.contains('|') => alone(pattern),
        SetKind::Run => run(pattern),
        SetKind::Path => Reach { keys: path(pattern), flags: Vec::new() },
        SetKind::Host => Reach { keys: host(pattern), flags: Vec::new() },
        SetKind::Tool => Reach { keys: tool(pattern), flags: Vec::new() },
    }
}

/// `git push origin` is covered by `git push`, `git` and `*`, if these need no flag that it has not.
fn run(pattern: &str) -> Reach {
    let words: Vec<&str> = pattern.split_whitespace().collect();
    let flags_at = words.iter().position(|word| word.starts_with('-')).unwrap_or(words.len());
    let (leading, flags) = words.split_at_checked(flags_at).unwrap_or((&words, &[]));
    let mut keys: Vec<String> =
        (1..=leading.len()).rev().filter_map(|n| leading.get(..n)).map(|words| words.join(" ")).collect();
    keys.push("*".to_owned());
    Reach { keys, flags: flags.iter().map(|flag| (*flag).to_owned()).collect() }
}

/// `a/b` is covered by `a/b/**`, `a/**` and `**`; `/a` and `~/a` are not below `**`, which means the workspace.
fn path(pattern: &str) -> Vec<String> {
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    let mut keys = vec![pattern.to_owned()];
    let mut parent = match pattern.strip_suffix("/**") {
        Some(folder) => folder,
        None => {
            keys.push(format!("{pattern}/**"));
            pattern
        }
    };
    while let Some((above, _)) = parent.rsplit_once('/') {
        keys.push(format!("{above}/**"));
        parent = above;
    }
    if !pattern.starts_with(['/', '~']) {
        keys.push("**".to_owned());
    }
    keys
}

/// `a.b.org` is covered by `*.b.org`, `*.org` and `*`.
fn host(pattern: &str) -> Vec<String> {
    let mut keys = vec![pattern.to_owned()];
    let mut rest = pattern.strip_prefix("*.").unwrap_or(pattern);
    while let Some((_, parent)) = rest.split_once('.') {
        keys.push(format!("*.{parent}"));
        rest = parent;
    }
    keys.push("*".to_owned());
    keys
}

/// `mcp:a/get_x` is covered by `mcp:a/*`, and by every other beginning with `*` at its end.
fn tool(pattern: &str) -> Vec<String> {
    let fixed = pattern.find(['*', '?', '[']).unwrap_or(pattern.len());
    let beginnings = pattern.char_indices().map(|(at, _)| at).filter(|at| *at <= fixed);
    let mut keys = vec![pattern.to_owned()];
    keys.extend(beginnings.filter_map(|at| pattern.get(..at)).map(|beginning| format!("{beginning}*")));
    keys
}

/// `{a,b} c` is `a c` and `b c`. `None`: too many, or braces that do not match.
fn alternatives(pattern: &str) -> Option<Vec<String>> {
    if pattern.len() > MAX_LENGTH {
        return Some(vec![pattern.to_owned()]);
    }
    let mut open = vec![pattern.to_owned()];
    let mut done = Vec::new();
    while let Some(next) = open.pop() {
        // The innermost pair: from the first `}` back to the `{` before it.
        let Some((before, after)) = next.split_once('}') else {
            if next.contains('{') || next.is_empty() {
                return None;
            }
            done.push(next);
            continue;
        };
        let (before, choices) = before.rsplit_once('{')?;
        open.extend(choices.split(',').map(|choice| format!("{before}{choice}{after}")));
        if open.len() + done.len() > MAX_ALTERNATIVES {
            return None;
        }
    }
    Some(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_are_alternatives() {
        let sorted = |pattern: &str| {
            let mut found = alternatives(pattern).unwrap();
            found.sort();
            found
        };
        assert_eq!(sorted("git {a,b} {c,d}"), ["git a c", "git a d", "git b c", "git b d"]);
        assert_eq!(sorted("plain"), ["plain"]);
        assert_eq!(alternatives("a {b"), None);
        assert_eq!(alternatives("a }b"), None);
        assert_eq!(alternatives(&"{a,b}".repeat(9)), None);
    }
}
