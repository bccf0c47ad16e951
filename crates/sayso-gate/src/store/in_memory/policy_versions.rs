//! The texts of every policy that judged something.

use super::State;
use crate::audit::{PolicyVersion, now_ms};

/// Keeps the texts of a version. Tells whether they are new.
pub(super) fn keep(state: &mut State, policy: &PolicyVersion) -> bool {
    let new = !state.policies.contains_key(&policy.version);
    if new {
        state.policies.put(policy.version.clone(), (now_ms(), policy.clone()));
    }
    new
}

/// All versions, the oldest first.
pub(super) fn all(state: &State) -> Vec<(String, u64)> {
    let mut all: Vec<(String, u64)> =
        state.policies.iter().map(|(version, (first_ms, _))| (version.clone(), *first_ms)).collect();
    all.sort_by(|(one, first), (other, second)| first.cmp(second).then_with(|| one.cmp(other)));
    all
}
