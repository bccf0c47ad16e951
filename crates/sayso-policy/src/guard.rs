//! Guarded targets: secrets, files that later run or steer something, link-local addresses. No allow of a program
//! carries them, no default allows them, and a wide allow does not cover them by accident: a rule must name them.

use crate::index::{Built, Numbers, PathVerb, path};
use crate::judging::Judging;
use crate::pattern::{Bases, PathPattern, Purpose, expand_braces, is_link_local};
use crate::set;
use crate::word::{Facts, Resolved, Tri};
use sayso_shell::{HostTarget, Target, Verb};
use std::path::Path;
use std::sync::OnceLock;

/// Why a target is guarded.
#[derive(Debug)]
pub(crate) struct Guard {
    /// Reason code.
    pub code: &'static str,
    /// What it is, for a sentence.
    pub what: &'static str,
    pattern: Option<PathPattern>,
}

impl Guard {
    /// Whether a pattern names what is guarded.
    pub(crate) fn named_by(&self, pattern: &PathPattern) -> bool {
        match &self.pattern {
            Some(mine) => pattern.names(mine),
            None => false,
        }
    }
}

static LINK_LOCAL: Guard =
    Guard { code: "link-local", what: "a link-local address, where clouds hand out credentials", pattern: None };

#[derive(Debug)]
struct Guards {
    list: Vec<Guard>,
    /// Secrets (reading and changing) as what is read, files that later run (changing) as what is written.
    numbers: Numbers,
}

fn guards() -> &'static Guards {
    static GUARDS: OnceLock<Guards> = OnceLock::new();
    GUARDS.get_or_init(|| {
        let (mut list, mut built) = (Vec::new(), Built::default());
        for (name, code, what) in [
            ("secrets", "secret", "a place where secrets are kept"),
            ("guarded", "guarded-file", "a file that later runs or steers something"),
        ] {
            for pattern in patterns(name) {
                let Ok(at) = u32::try_from(list.len()) else { break };
                let of = if name == "secrets" { PathVerb::Read } else { PathVerb::Write };
                path::add(&mut built, of, &pattern, at);
                list.push(Guard { code, what, pattern: Some(pattern) });
            }
        }
        Guards { list, numbers: Numbers::Built(built) }
    })
}

/// The patterns of a built-in set of paths.
fn patterns(name: &str) -> Vec<PathPattern> {
    set::built_in(name)
        .map(|set| set.members)
        .unwrap_or_default()
        .iter()
        .flat_map(|text| expand_braces(text).unwrap_or_default())
        .filter_map(|text| PathPattern::parse(&text).ok())
        .collect()
}

/// What guards the target of an effect.
pub(crate) fn of(judging: &Judging<'_>, index: usize) -> Option<&'static Guard> {
    let effect = judging.operation.effects.get(index)?;
    match &effect.target {
        Target::Host(HostTarget::Exact { host, .. }) => is_link_local(host).then_some(&LINK_LOCAL),
        Target::Path(target) => {
            let guards = guards();
            let empty = Resolved::default();
            let resolved = judging.operation.resolved.get(index).unwrap_or(&empty);
            let mut found: Option<&'static Guard> = None;
            let mut visit = |at: u32| {
                if found.is_none()
                    && let Some(guard) = guards.list.get(at as usize)
                    && let Some(pattern) = &guard.pattern
                    && judging.matches_path(pattern, index, effect.verb, target, Purpose::Restrict) != Tri::No
                {
                    found = Some(guard);
                }
            };
            let mut of = |of: PathVerb| {
                path::candidates(&guards.numbers, of, effect.verb, target, resolved, judging.tree(), &mut visit);
            };
            of(PathVerb::Read);
            if effect.verb != Verb::Read {
                of(PathVerb::Write);
            }
            found
        }
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
        for name in ["secrets", "guarded", "scratch"] {
            for member in set::built_in(name).unwrap().members {
                for text in expand_braces(member).unwrap() {
                    assert!(PathPattern::parse(&text).is_ok(), "{text}");
                }
            }
        }
    }

    #[test]
    fn every_guard_can_be_named_by_its_own_pattern() {
        for guard in &guards().list {
            let pattern = guard.pattern.as_ref().unwrap();
            assert!(guard.named_by(pattern), "{guard:?}");
        }
    }
}
