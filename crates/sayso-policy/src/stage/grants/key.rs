//! What a remembered answer is looked up by, so that one of ten thousand is found without trying all.
//!
//! INVARIANT: for every grant that [`super::judge`] would let speak of an operation, the operation wants the grant's key:
//! a key may find too many, never too few. Keys are kept in the store: whoever changes how they are made makes those that
//! are kept anew.

use crate::pattern::{Component, HostPattern, PathPattern, RunPattern, ToolPattern, all_names, normal_host};
use crate::set::SetKind;
use crate::state::GrantSelector;
use crate::word::{Operation, Resolved, Verdict};
use sayso_shell::{Effect, HostTarget, PathTarget, Run, Target, Verb, Word};
use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Stands for whatever an answer is about that names nothing in particular.
const ANYTHING: &str = "*";
/// Names of a path that a key holds: those that stand last before a wildcard.
const NAMES: usize = 3;
/// In front of the key of a remembered no.
const NO: &str = "no ";

/// Which remembered answers an operation might be answered by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GrantKeys {
    /// Those of exactly these keys.
    pub exact: BTreeSet<String>,
    /// Those whose keys begin so.
    pub beginning: BTreeSet<String>,
}

impl GrantKeys {
    /// How the keys of answers to one very call begin.
    pub const EXACT: [&'static str; 2] = ["call=", "no call="];
}

impl GrantSelector {
    /// What an answer of this kind is looked up by.
    #[must_use]
    pub fn key(&self, verdict: Verdict) -> String {
        let key = match self {
            Self::Digest(digest) => format!("call={digest}"),
            Self::Pattern { verb, pattern, .. } => format!("{} {}", verb.as_str(), named(*verb, pattern)),
        };
        if verdict == Verdict::Allow { key } else { format!("{NO}{key}") }
    }
}

fn named(verb: Verb, pattern: &str) -> String {
    let named = match SetKind::of(verb) {
        SetKind::Run => RunPattern::parse(pattern, &mut |_| Ok(Vec::new())).ok().and_then(|pattern| run_name(&pattern)),
        SetKind::Path => PathPattern::parse(pattern).ok().and_then(|it| path_name(&it)),
        SetKind::Host => HostPattern::parse(pattern)
            .ok()
            .and_then(|pattern| pattern.literal().or_else(|| pattern.suffix()).map(str::to_owned)),
        SetKind::Tool => ToolPattern::parse(pattern).ok().and_then(|patterns| match patterns.as_slice() {
            [one] => one.literal().map(str::to_owned),
            _ => None,
        }),
    };
    named.unwrap_or_else(|| ANYTHING.to_owned())
}

fn run_name(pattern: &RunPattern) -> Option<String> {
    match pattern.key() {
        (Some(name), Some(word)) => Some(format!("{name} {word}")),
        (Some(name), None) => Some(name.to_owned()),
        (None, _) => None,
    }
}

/// The last names that stand side by side in front of the first wildcard. Whatever `.` and `~` mean, a path that the
/// pattern matches has them side by side too.
fn path_name(pattern: &PathPattern) -> Option<String> {
    let PathPattern::Components(components) = pattern else { return None };
    let literal = |component: &Component| match component {
        Component::One(glob) => glob.literal().map(str::to_owned),
        Component::Deep => None,
    };
    let names: Vec<String> = components.list().iter().map_while(literal).collect();
    let last = names.get(names.len().saturating_sub(NAMES)..).unwrap_or_default();
    (!last.is_empty()).then(|| last.join("/"))
}

impl GrantKeys {
    /// Those of an operation whose exact digest is this.
    #[must_use]
    pub fn of(operation: &Operation, digest: Option<&str>) -> Self {
        let mut keys = Self::default();
        if let Some(digest) = digest {
            keys.want(&format!("call={digest}"));
        }
        for run in operation.analysis.iter().flat_map(|analysis| &analysis.runs) {
            keys.run(run);
        }
        let nowhere = Resolved::default();
        for (index, effect) in operation.effects.iter().enumerate() {
            keys.effect(operation, effect, operation.resolved.get(index).unwrap_or(&nowhere));
        }
        keys
    }

    /// Those of a step of an approved plan too.
    pub fn add_step(&mut self, digest: &str) {
        self.exact.insert(format!("call={digest}"));
    }

    fn want(&mut self, key: &str) {
        self.exact.insert(format!("{NO}{key}"));
        self.exact.insert(key.to_owned());
    }

    /// All whose keys begin so.
    fn want_all(&mut self, beginning: &str) {
        self.beginning.insert(format!("{NO}{beginning}"));
        self.beginning.insert(beginning.to_owned());
    }

    fn effect(&mut self, operation: &Operation, effect: &Effect, resolved: &Resolved) {
        match &effect.target {
            Target::Path(target) => self.path(effect.verb, target, resolved),
            Target::Host(target) => self.host(target),
            Target::Tool => {
                self.want(&format!("call {ANYTHING}"));
                all_names(&operation.tool).for_each(|name| self.want(&format!("call {name}")));
            }
            _ => {}
        }
    }

    fn run(&mut self, run: &Run) {
        self.want(&format!("run {ANYTHING}"));
        let Some(base) = run.program.base.as_deref() else { return self.want_all("run ") };
        for name in [Some(base), sayso_shell::program::plain_name(base)].into_iter().flatten() {
            self.want(&format!("run {name}"));
            let first = run.words.first().and_then(|index| run.argv.get(usize::from(*index)));
            let loose = !run.program.known && run.argv.iter().skip(1).any(Word::may_be_option);
            match first.map(Word::exact_str) {
                Some(Some(text)) if !loose => {
                    let words = [Some(text), run.subcommand(0)];
                    words.into_iter().flatten().for_each(|word| self.want(&format!("run {name} {word}")));
                }
                None if !loose => {}
                _ => self.want_all(&format!("run {name} ")),
            }
        }
    }

    fn path(&mut self, verb: Verb, target: &PathTarget, resolved: &Resolved) {
        let verb = verb.as_str();
        if !target.place().is_some_and(Path::is_absolute) {
            return self.want_all(&format!("{verb} "));
        }
        // A yes must cover the place itself; a no may be to anything below it.
        if !matches!(target, PathTarget::Exact(_)) {
            self.beginning.insert(format!("{NO}{verb} "));
        }
        self.want(&format!("{verb} {ANYTHING}"));
        for path in [&resolved.canonical, &resolved.lexical].into_iter().flatten() {
            let names = names(path);
            for first in 0..names.len() {
                for length in 1..=NAMES {
                    if let Some(some) = names.get(first..first + length) {
                        self.want(&format!("{verb} {}", some.join("/")));
                    }
                }
            }
        }
    }

    fn host(&mut self, target: &HostTarget) {
        let HostTarget::Exact { host, .. } = target else { return self.want_all("connect ") };
        self.want(&format!("connect {ANYTHING}"));
        let host = normal_host(host);
        let mut rest = Some(host.as_str());
        while let Some(suffix) = rest {
            self.want(&format!("connect {suffix}"));
            rest = suffix.split_once('.').map(|(_, rest)| rest);
        }
    }
}

/// The names of a path. No pattern has one that is no UTF-8, nor is found by it.
fn names(path: &Path) -> Vec<String> {
    let parts = path.as_os_str().as_bytes().split(|byte| *byte == b'/').filter(|part| !part.is_empty());
    parts.map(|part| String::from_utf8_lossy(part).into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(verb: Verb, pattern: &str) -> String {
        GrantSelector::Pattern { verb, pattern: pattern.to_owned(), program: None }.key(Verdict::Allow)
    }

    #[test]
    fn a_key_names_what_an_answer_names() {
        for (verb, pattern, expected) in [
            (Verb::Run, "git push --force", "run git push"),
            (Verb::Run, "jq", "run jq"),
            (Verb::Run, "make -n", "run make"),
            (Verb::Write, "./src/**", "write src"),
            (Verb::Write, "./a/b/c/d.rs", "write b/c/d.rs"),
            (Verb::Write, "./**", "write *"),
            (Verb::Read, "/etc/hosts", "read etc/hosts"),
            (Verb::Delete, "~/build/*/x", "delete build"),
            (Verb::Connect, "Docs.RS", "connect docs.rs"),
            (Verb::Connect, "*.example.org", "connect example.org"),
            (Verb::Call, "mcp:github/create_issue", "call mcp:github/create_issue"),
        ] {
            assert_eq!(key(verb, pattern), expected, "{pattern}");
        }
        assert_eq!(GrantSelector::Digest("d".into()).key(Verdict::Deny), "no call=d");
    }
}
