//! Guarded targets: secrets, files that later run or steer something, link-local addresses. No allow of a program
//! carries them, no default allows them, and a wide allow does not cover them by accident: a rule must name them.

use crate::index::{PathVerb, Table, path};
use crate::judging::Judging;
use crate::pattern::{Bases, PathPattern, Purpose, expand_braces, is_link_local};
use crate::rule::{Pattern, Rule};
use crate::set;
use crate::word::{Code, Facts, Resolved, Tri};
use sayso_shell::{HostTarget, PathTarget, Target, Verb};
use std::borrow::Cow;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// Why a target is guarded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guard<'a> {
    /// Reason code.
    pub code: Code,
    /// What it is: the end of a sentence that begins with the target.
    pub what: &'static str,
    pattern: Option<&'a PathPattern>,
}

impl Guard<'_> {
    /// Whether a pattern names what is guarded.
    pub(crate) fn named_by(&self, pattern: &PathPattern) -> bool {
        self.pattern.is_some_and(|mine| pattern.names(mine))
    }
}

const LINK_LOCAL: Guard<'static> = Guard {
    code: Code::LinkLocal,
    what: "is a link-local address, where cloud providers serve credentials",
    pattern: None,
};

/// Guarded paths, each kind a table of rules that speak of reading. An image holds them too: a process that lives for
/// a millisecond has no time to make them.
#[derive(Debug)]
pub(crate) struct Guards {
    pub secrets: Table,
    pub steering: Table,
}

/// Made when a call first needs them.
pub(crate) fn built_in() -> &'static Guards {
    static GUARDS: OnceLock<Guards> = OnceLock::new();
    GUARDS.get_or_init(|| Guards { secrets: table("secrets"), steering: table("guarded") })
}

fn table(set: &str) -> Table {
    let rule = |pattern| Rule::silent(Verb::Read, Pattern::Path(pattern), Arc::new([]), Cow::Borrowed(""));
    Table::new(patterns(set).into_iter().map(rule).collect())
}

impl Guards {
    /// What guards this path, the first that does.
    fn find<'a>(&'a self, judging: &Judging<'_>, index: usize, verb: Verb, target: &PathTarget) -> Option<Guard<'a>> {
        // Secrets: reading and changing. What later runs: changing.
        let secret = first(&self.secrets, judging, index, verb, target).map(|pattern| Guard {
            code: Code::Secret,
            what: "may hold secrets",
            pattern: Some(pattern),
        });
        if secret.is_some() || verb == Verb::Read {
            return secret;
        }
        first(&self.steering, judging, index, verb, target).map(|pattern| Guard {
            code: Code::GuardedFile,
            what: "later runs or configures something, or belongs to git's own store",
            pattern: Some(pattern),
        })
    }
}

fn first<'a>(
    table: &'a Table,
    judging: &Judging<'_>,
    index: usize,
    verb: Verb,
    target: &PathTarget,
) -> Option<&'a PathPattern> {
    let empty = Resolved::default();
    let resolved = judging.operation.resolved.get(index).unwrap_or(&empty);
    let mut found: Option<&'a PathPattern> = None;
    path::candidates(&table.numbers, PathVerb::Read, verb, target, resolved, judging.tree(), &mut |at| {
        if found.is_none()
            && let Some(Pattern::Path(pattern)) = table.rule(at).map(|rule| &rule.pattern)
            && judging.matches_path(pattern, index, verb, target, Purpose::Restrict) != Tri::No
        {
            found = Some(pattern);
        }
    });
    found
}

/// The patterns of a built-in set of paths.
pub(crate) fn patterns(name: &str) -> Vec<PathPattern> {
    let members = |name: &str| set::built_in(name).map(|set| set.members).unwrap_or_default();
    members(name)
        .iter()
        // Sets of paths are one deep.
        .flat_map(|text| text.strip_prefix('@').map_or(std::slice::from_ref(text), members))
        .flat_map(|text| expand_braces(text).unwrap_or_default())
        .filter_map(|text| PathPattern::parse(&text).ok())
        .collect()
}

/// What guards the target of an effect.
pub(crate) fn of<'a>(guards: Option<&'a Guards>, judging: &Judging<'_>, index: usize) -> Option<Guard<'a>> {
    let effect = judging.operation.effects.get(index)?;
    match &effect.target {
        Target::Host(HostTarget::Exact { host, .. }) => is_link_local(host).then_some(LINK_LOCAL),
        Target::Path(target) => guards
            .unwrap_or_else(|| built_in())
            .find(judging, index, effect.verb, target)
            // Dependencies hold keys to test with, and settings of their own.
            .filter(|_| effect.verb != Verb::Delete || !judging.is_build_output(index, target)),
        _ => None,
    }
}

/// Whether a canonical path lies in a temporary folder.
pub(crate) fn is_scratch(path: &Path, facts: Facts<'_>) -> bool {
    static SCRATCH: OnceLock<Vec<PathPattern>> = OnceLock::new();
    let bases = Bases::default();
    SCRATCH
        .get_or_init(|| patterns("scratch"))
        .iter()
        .any(|pattern| pattern.matches_path(path, &bases, Purpose::Permit))
        || facts.env.get("TMPDIR").is_some_and(|folder| {
            // INVARIANT: the variable may be the agent's. Only a folder that systems use for this counts.
            (folder.starts_with("/var/folders/") || folder.starts_with("/run/user/")) && path.starts_with(folder)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_member_of_the_guarded_sets_is_a_valid_pattern() {
        for name in ["secrets", "guarded", "steers", "scratch"] {
            for member in set::built_in(name).unwrap().members.iter().filter(|member| !member.starts_with('@')) {
                for text in expand_braces(member).unwrap() {
                    assert!(PathPattern::parse(&text).is_ok(), "{text}");
                }
            }
        }
    }

    #[test]
    fn every_guard_can_be_named_by_its_own_pattern() {
        for set in ["secrets", "guarded"] {
            for pattern in patterns(set) {
                assert!(pattern.names(&pattern), "{pattern:?}");
            }
        }
    }
}
