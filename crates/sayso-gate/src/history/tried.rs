//! What a policy file would change, before it is put in force.

use super::{Flips, PastCall, Said};
use crate::policy::{InForce, with_own_file};
use crate::{Error, Places};
use sayso_policy::{Facts, Policy};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Workspaces whose calls are judged: each has a policy of its own.
const MOST_WORKSPACES: usize = 64;

/// Judges calls by the policy in force for each, and by what would be in force with this text in the place of the user's own
/// file.
///
/// # Errors
/// If the text is no policy, or a policy in force cannot be loaded.
pub fn tried<'c>(
    places: &Places,
    text: &str,
    calls: impl IntoIterator<Item = &'c PastCall>,
    policy_at: impl Fn(Option<&Path>) -> Result<Arc<InForce>, Error>,
    facts: Facts<'_>,
) -> Result<Flips, Error> {
    // The text is read even where there is no call to judge.
    with_own_file(places, policy_at(None)?.as_ref(), text)?;
    let mut known: HashMap<Option<PathBuf>, usize> = HashMap::new();
    let mut both: Vec<(Arc<InForce>, Policy)> = Vec::new();
    Flips::said(calls, |past| {
        let workspace = past.call.workspace.root().map(Path::to_owned);
        let number = match known.get(&workspace) {
            Some(number) => *number,
            None => {
                let old = policy_at(workspace.as_deref())?;
                let same = both.iter().position(|(known, _)| known.policy.version() == old.policy.version());
                let number = match same {
                    Some(number) => number,
                    None if both.len() >= MOST_WORKSPACES => return Ok(None),
                    None => {
                        let new = with_own_file(places, &old, text)?;
                        both.push((old, new));
                        both.len() - 1
                    }
                };
                known.insert(workspace, number);
                number
            }
        };
        let say = |policy: &Policy| Said::of(&past.judge(policy, facts).1);
        Ok(both.get(number).map(|(old, new)| (say(&old.policy), say(new))))
    })
}
