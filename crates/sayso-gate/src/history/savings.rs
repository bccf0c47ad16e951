//! How often the record says that people were asked, and which rules would have avoided that.

use super::{Answers, Ask, Outcome, PastCall, Proposal, Rulebook, proposals};
use crate::audit::Query;
use crate::policy::InForce;
use crate::store::Store;
use crate::{Error, Places, ProcessEnvironment, RealFiles};
use sayso_policy::{Facts, Verdict};
use serde::Serialize;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// Asks of the past that are looked at, the latest first.
const LOOKED_AT: usize = 500;
/// Workspaces whose asks are looked at: each has a policy of its own.
const MOST_WORKSPACES: usize = 8;
/// Proposals that are made.
const MOST_PROPOSALS: usize = 8;

/// How often people were asked, and what would have saved them from it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Savings {
    /// Asks that were looked at.
    pub looked_at: usize,
    /// Of those, how many the policy in force would not ask about any more.
    pub settled: usize,
    /// Rules, the one that saves most first. Each counts what it saves beyond those above it.
    pub rules: Vec<Saving>,
}

/// A rule, and the asks that it would have saved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Saving {
    /// The rule, as the end of a policy file.
    pub rule: String,
    /// How many asks it would have saved, beyond those that the rules above it save.
    pub saved: usize,
    /// Of those, how many people refused.
    pub refused: usize,
    /// Some of them, each once.
    pub examples: Vec<String>,
    /// The widest call that it would let pass too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub widest: Option<String>,
}

impl From<Proposal> for Saving {
    fn from(proposal: Proposal) -> Self {
        let Proposal { rule, saved, refused, examples, widest } = proposal;
        Self { rule, saved, refused, examples, widest }
    }
}

/// Judges the latest asks that answer a query again, each by the policy of its workspace, and finds rules for them.
///
/// # Errors
/// If the record cannot be read, or a policy cannot be loaded.
pub fn savings(
    store: &dyn Store,
    places: &Places,
    query: &Query,
    policy_at: impl Fn(Option<&Path>) -> Result<Arc<InForce>, Error>,
) -> Result<Savings, Error> {
    let facts = Facts { files: &RealFiles, env: &ProcessEnvironment };
    let query = Query { verdict: Some(Verdict::Ask), limit: Some(LOOKED_AT), ..query.clone() };
    let mut numbers: HashMap<Option<String>, usize> = HashMap::new();
    let mut policies: Vec<Arc<InForce>> = Vec::new();
    let mut found = Savings::default();
    let mut asks: Vec<Ask> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    let answers = Answers::of(store)?;
    for stored in store.query(&query)? {
        let record = stored.record;
        if !PastCall::is_whole(&record) {
            continue;
        }
        if !numbers.contains_key(&record.workspace) && policies.len() < MOST_WORKSPACES {
            numbers.insert(record.workspace.clone(), policies.len());
            policies.push(policy_at(record.workspace.as_deref().map(Path::new))?);
        }
        let Some(number) = numbers.get(&record.workspace).copied() else { continue };
        let Some(in_force) = policies.get(number) else { continue };
        found.looked_at += 1;
        let past = answers.told(PastCall::recorded(&record), &record);
        let refused = usize::from(past.outcome == Outcome::Refused);
        let likeness = past.likeness();
        if let Some(ask) = known.get(&likeness).and_then(|at| asks.get_mut(*at)) {
            ask.calls += 1;
            ask.refused += refused;
            continue;
        }
        let (operation, decision) = past.judge(&in_force.policy, facts);
        if decision.verdict != Verdict::Ask {
            found.settled += 1;
            continue;
        }
        known.insert(likeness, asks.len());
        asks.push(Ask { past, operation, decision, policy: number, calls: 1, refused });
    }
    let rulebook = Rulebook::new(places, policies);
    found.rules = proposals(&asks, &rulebook, MOST_PROPOSALS, facts).into_iter().map(Saving::from).collect();
    Ok(found)
}
