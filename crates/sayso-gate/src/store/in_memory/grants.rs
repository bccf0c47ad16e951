//! Remembered answers.

use super::{InMemory, State};
use crate::Error;
use crate::grant::{GrantUse, Kept};
use crate::store::{Grants, GrantsWanted, answering, naming};
use sayso_policy::{Actor, Grant, GrantKeys};
use serde_json::{Value, json};

/// So far in the future an answer may have been given: farther, and it was before the clock was set back.
const FUTURE_MS: u64 = 60_000;

impl Grants for InMemory {
    fn remembered(&self, which: &GrantsWanted<'_>, now_ms: u64) -> Result<Vec<Kept>, Error> {
        let of = |wanted: Option<&str>, is: &Option<String>| wanted.is_none() || wanted == is.as_deref();
        let wanted = |kept: &&Kept| {
            which.id.is_none_or(|id| kept.grant.id == id)
                && of(which.session, &kept.grant.session)
                && of(which.tenant, &kept.grant.actor.tenant)
                && (!which.in_force || kept.is_in_force(now_ms))
        };
        self.read(|state| {
            let mut found: Vec<&Kept> = state.grants.values().filter(wanted).collect();
            found.sort_by(|one, other| order(other).cmp(&order(one)));
            Ok(found.into_iter().take(which.limit.unwrap_or(usize::MAX)).cloned().collect())
        })
    }

    fn revoke(&self, id: &str, by: &str, now_ms: u64) -> Result<bool, Error> {
        self.change(id, ("revoked", by, now_ms), json!({}), |kept| kept.revoked_ms = Some(now_ms))
    }

    fn expire(&self, id: &str, at_ms: u64, by: &str, now_ms: u64) -> Result<bool, Error> {
        self.change(id, ("expires", by, now_ms), json!({ naming::AT: at_ms }), |kept| {
            kept.grant.expires_ms = Some(kept.grant.expires_ms.map_or(at_ms, |end| end.min(at_ms)));
        })
    }

    fn uses(&self, id: &str, limit: usize) -> Result<Vec<GrantUse>, Error> {
        let of = |((grant, _), _): &(&(String, usize), &GrantUse)| grant == id;
        let found =
            |state: &State| state.uses.iter().rev().filter(of).take(limit).map(|(_, one)| one.clone()).collect();
        Ok(self.read(found))
    }
}

impl InMemory {
    /// Changes one that is in force.
    fn change(
        &self,
        id: &str,
        (what, by, now_ms): (&str, &str, u64),
        detail: Value,
        change: impl FnOnce(&mut Kept),
    ) -> Result<bool, Error> {
        self.write(|state| {
            let Some(mut kept) = state.grants.get(id).filter(|kept| kept.is_in_force(now_ms)).cloned() else {
                return Ok(false);
            };
            state.append(answering::grant_record(&kept.grant, what, by, detail))?;
            change(&mut kept);
            state.grants.put(id.to_owned(), kept);
            state.seals = true;
            Ok(true)
        })
    }
}

fn order(kept: &Kept) -> (u64, &str) {
    (kept.given_ms, &kept.grant.id)
}

/// Whether one counts for a call of this actor in this workspace.
fn is_here(kept: &Kept, actor: &Actor, site: Option<&str>, now_ms: u64) -> bool {
    let fits = |own: &Option<String>, is: Option<&str>| own.is_none() || own.as_deref() == is;
    kept.is_in_force(now_ms) && fits(&kept.grant.workspace, site) && fits(&kept.grant.session, actor.session.as_deref())
}

/// Those that may apply to a call, the first that was given first.
pub(super) fn for_call(state: &State, actor: &Actor, site: Option<&str>, keys: &GrantKeys, now_ms: u64) -> Vec<Grant> {
    let latest = now_ms.saturating_add(FUTURE_MS);
    let names = |kept: &Kept| {
        let key = kept.grant.selector.key(kept.grant.verdict);
        keys.exact.contains(&key) || keys.beginning.iter().any(|beginning| key.starts_with(beginning.as_str()))
    };
    let wanted = |kept: &&Kept| {
        is_here(kept, actor, site, now_ms) && kept.given_ms <= latest && names(kept) && is_next(state, kept)
    };
    let mut found: Vec<&Kept> = state.grants.values().filter(wanted).collect();
    found.sort_by(|one, other| order(one).cmp(&order(other)));
    found.into_iter().map(|kept| kept.grant.clone()).collect()
}

/// Whether the step of the plan before it has run.
fn is_next(state: &State, kept: &Kept) -> bool {
    let before = kept.grant.plan.as_ref().and_then(|step| step.after.as_ref());
    before.is_none_or(|before| state.grants.get(before).is_some_and(|before| before.used > 0))
}

/// Whether some answer to one very call is remembered here.
pub(super) fn any_exact(state: &State, actor: &Actor, site: Option<&str>, now_ms: u64) -> bool {
    let exact = |kept: &Kept| {
        let key = kept.grant.selector.key(kept.grant.verdict);
        GrantKeys::EXACT.iter().any(|beginning| key.starts_with(beginning))
    };
    state.grants.values().any(|kept| is_here(kept, actor, site, now_ms) && exact(kept))
}

/// Keeps a new one.
pub(super) fn give(state: &mut State, kept: Kept, by: &str) -> Result<(), Error> {
    let body = serde_json::to_string(&kept)?;
    state.append(answering::remembered_record(&kept, &body, by))?;
    state.grants.put(kept.grant.id.clone(), kept);
    Ok(())
}

/// Counts the uses of one by one call.
pub(super) fn take(state: &mut State, uses: &[&GrantUse], now_ms: u64) -> Result<(), Error> {
    let Some(id) = uses.first().map(|one| one.grant.clone()) else { return Ok(()) };
    let Some(mut kept) = state.grants.get(&id).filter(|kept| kept.revoked_ms.is_none()).cloned() else {
        return Err(Error::Forged(id));
    };
    if !kept.is_in_force(now_ms) {
        return Err(Error::UsedUp(id));
    }
    kept.grant.uses_left = kept.grant.uses_left.map(|left| left.saturating_sub(1));
    (kept.used, kept.last_used_ms) = (kept.used.saturating_add(1), Some(now_ms));
    let grant = kept.grant.clone();
    state.grants.put(id.clone(), kept);
    let from = state.uses.keys().filter(|(grant, _)| *grant == id).count();
    for (place, one) in (from..).zip(uses) {
        state.uses.put((id.clone(), place), (*one).clone());
    }
    answering::grant_used_record(uses, &grant).map_or(Ok(()), |change| state.append(change).map(|_| ()))
}
