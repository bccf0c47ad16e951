//! Which files of a workspace can matter to a policy, and what that depends on.
//!
//! `grep -r x .` reads every file below the workspace. Whether that meets a deny (`deny read @secrets`) depends on which
//! files exist, so the decision has to look at folders, and a workspace may hold a hundred thousand files. Most of their
//! names no pattern can match, so two things make this cheap. First, [`Watch`] is made from every pattern that looks at
//! what exists, and only names that it calls notable are kept from a listing. Second, a listing is kept between
//! calls under a label; it is used again only if the label is the same.
//!
//! INVARIANT: the label holds everything that [`Watch`] is made from. A pattern that is left out of it would let a listing
//! that was sifted for other patterns hide a file from a rule.

use crate::condition::Condition;
use crate::guard::{self, Guards};
use crate::index::Table;
use crate::pattern::{Bases, Ground, PathPattern, Watch, beside};
use crate::policy::{CompiledFile, Policy};
use crate::rule::{Pattern, Rule};
use crate::stage::integrity;
use crate::state::{GrantSelector, State};
use crate::word::{Operation, Verdict};
use sayso_shell::Verb;
use std::os::unix::ffi::OsStrExt;

/// Changes with what [`Watch`] calls notable of the same patterns.
const SIFTING: &[u8] = b"3";

/// The ground that an operation is judged on by this policy, with this remembered.
pub(crate) fn of<'a>(
    policy: &'a Policy,
    operation: &'a Operation,
    state: &'a State,
    guards: Option<&'a Guards>,
) -> Ground<'a> {
    // A foreign file compares paths in its own way.
    let (Some(root), true) = (operation.workspace.root_for_allow(), policy.foreign.is_empty()) else {
        return Ground::unknown();
    };
    Ground {
        root: Some(root.to_owned()),
        label: label(policy, operation, state),
        watch: Box::new(move |root| {
            // Only patterns that ask or deny look at what exists; of those that allow, what they except does.
            let granted: Vec<PathPattern> = granted(state).filter_map(|text| PathPattern::parse(text).ok()).collect();
            let tables = policy
                .files
                .iter()
                .flat_map(|file| std::iter::once(&file.own).chain(file.presets.iter().map(|preset| &preset.table)));
            let guards = guards.unwrap_or_else(|| guard::built_in());
            let earlier = policy.files.iter().map(|file| &file.after);
            let rules = tables.chain(earlier).chain([&guards.secrets, &guards.steering]).flat_map(Table::each);
            let holds = policy.files.iter().flat_map(CompiledFile::holds).filter_map(|hold| hold.write.as_ref());
            let held = holds.flat_map(|list| list.except.iter().map(|one| &one.pattern));
            let patterns = rules.flat_map(looks_for).chain(integrity::patterns()).chain(held).chain(&granted);
            Some(Watch::new(root, &Bases::of(operation), patterns))
        }),
    }
}

/// The patterns of a rule that look at what exists.
fn looks_for(rule: &Rule) -> impl Iterator<Item = &PathPattern> {
    let permits = rule.verdict == Verdict::Allow;
    let own = std::iter::once(&rule.pattern).filter(move |_| !permits);
    let except = rule.except.iter().filter(move |_| permits);
    let within = rule.when.iter().flat_map(Condition::paths).filter(move |_| !permits);
    let after = rule.when.iter().flat_map(Condition::earlier).filter(move |_| !permits);
    let paths = own.chain(except).chain(after).filter_map(|pattern| match pattern {
        Pattern::Path(pattern) => Some(pattern),
        _ => None,
    });
    paths.chain(within)
}

/// The paths that remembered answers are about.
fn granted(state: &State) -> impl Iterator<Item = &str> {
    state.grants.iter().filter_map(|grant| match &grant.selector {
        GrantSelector::Pattern { verb: Verb::Read | Verb::Write | Verb::Delete, pattern, .. } => Some(pattern.as_str()),
        _ => None,
    })
}

/// Everything that decides which names matter.
fn label(policy: &Policy, operation: &Operation, state: &State) -> Vec<u8> {
    let root = operation.workspace.root().map(|root| root.as_os_str().as_bytes());
    let homes = operation.home.iter().chain(&operation.claimed_homes).map(|home| home.as_os_str().as_bytes());
    let own = [env!("CARGO_PKG_VERSION").as_bytes(), SIFTING, policy.version.as_bytes(), &[u8::from(policy.integrity)]];
    let mut label = Vec::with_capacity(256);
    // Counted, so that no home is taken for a remembered path.
    let counted = homes.clone().count().to_le_bytes();
    let beside = beside(operation).map(|folder| folder.as_os_str().as_bytes()).unwrap_or_default();
    let named = [root.unwrap_or_default(), beside, &counted].into_iter().chain(homes);
    for part in own.into_iter().chain(named).chain(granted(state).map(str::as_bytes)) {
        label.extend_from_slice(&part.len().to_le_bytes());
        label.extend_from_slice(part);
    }
    label
}
