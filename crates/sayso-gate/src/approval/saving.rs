//! Which rules would have saved people from being asked: asks of the past, judged again with one rule more.

use super::Width;
use super::preview::again;
use super::width::{programs, proposed};
use crate::audit::{Query, Record, export::what};
use crate::policy::{InForce, with_rule};
use crate::store::Records;
use crate::{Error, Places, ProcessEnvironment, RealFiles};
use sayso_policy::{Decision, Facts, GrantSelector, Operation, Policy, State, Verdict};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// Asks of the past that are looked at, the latest first.
const LOOKED_AT: usize = 500;
/// Workspaces whose asks are looked at: each has a policy of its own.
const MOST_WORKSPACES: usize = 8;
/// Rules that are tried.
const TRIED: usize = 12;
/// Calls that are shown for each.
const SHOWN: usize = 5;

/// How often people were asked, and what would have saved them from it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Savings {
    /// Asks that were looked at.
    pub looked_at: usize,
    /// Of those, how many the policy in force would not ask about any more.
    pub settled: usize,
    /// Rules, the one that saves most first.
    pub rules: Vec<Saving>,
}

/// A rule, and the asks that it would have saved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Saving {
    /// The rule, as a policy file has it.
    pub rule: String,
    /// How many asks it would have saved.
    pub saved: usize,
    /// Some of them, each once.
    pub examples: Vec<String>,
}

/// An ask that the policy in force would ask again.
struct Ask {
    shown: String,
    operation: Operation,
    state: State,
    workspace: Option<String>,
}

/// Policies by the workspaces that they are in force for.
type Policies<P> = BTreeMap<Option<String>, P>;

/// Judges the latest asks that answer a query again, each by the policy of its workspace with one rule more.
///
/// # Errors
/// If the record cannot be read, or a policy cannot be loaded.
pub fn savings(
    records: &dyn Records,
    places: &Places,
    query: &Query,
    policy_at: impl Fn(Option<&Path>) -> Result<Arc<InForce>, Error>,
) -> Result<Savings, Error> {
    let facts = Facts { files: &RealFiles, env: &ProcessEnvironment };
    let query = Query { verdict: Some(Verdict::Ask), limit: Some(LOOKED_AT), ..query.clone() };
    let mut policies: Policies<Arc<InForce>> = BTreeMap::new();
    let (mut found, mut asks, mut rules) = (Savings::default(), Vec::new(), BTreeMap::<String, usize>::new());
    for stored in records.query(&query)? {
        let record = stored.record;
        if !policies.contains_key(&record.workspace) && policies.len() < MOST_WORKSPACES {
            let policy = policy_at(record.workspace.as_deref().map(Path::new))?;
            policies.insert(record.workspace.clone(), policy);
        }
        let Some(in_force) = policies.get(&record.workspace) else { continue };
        let Some(call) = again(&record) else { continue };
        found.looked_at += 1;
        let operation = in_force.policy.operation(call, facts);
        let state = State { now_ms: record.time_ms, ..State::default() };
        let decision = in_force.policy.evaluate(&operation, &state, facts);
        if decision.verdict != Verdict::Ask {
            found.settled += 1;
            continue;
        }
        for proposal in proposals(&operation, &decision, facts) {
            *rules.entry(proposal).or_default() += 1;
        }
        asks.push(Ask { shown: shown(&record), operation, state, workspace: record.workspace });
    }
    // Wide rules save more than those asks that they were made from, so that their number says only which to try.
    let mut tried: Vec<(String, usize)> = rules.into_iter().collect();
    tried.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    for (rule, _) in tried.into_iter().take(TRIED) {
        let with = |in_force: &Arc<InForce>| with_rule(places, in_force, &as_tables(&rule));
        let changed = policies.iter().filter_map(|(at, in_force)| Some((at.clone(), with(in_force)?))).collect();
        // Rules that a stricter one of the same file overrules save nothing.
        found.rules.extend(saving(rule, &changed, &asks, facts));
    }
    found.rules.sort_by(|a, b| b.saved.cmp(&a.saved).then_with(|| a.rule.len().cmp(&b.rule.len())));
    Ok(found)
}

/// Rules that might let a call pass.
fn proposals(operation: &Operation, decision: &Decision, facts: Facts<'_>) -> BTreeSet<String> {
    let widths = [Width::Program, Width::Folder].map(|width| proposed(operation, decision, width, facts));
    let ways = widths.into_iter().chain([programs(operation, decision, facts)]).flatten();
    ways.filter_map(|selectors| rule(&selectors)).collect()
}

/// What policies with one rule more let pass; `None`: nothing.
fn saving(rule: String, policies: &Policies<Policy>, asks: &[Ask], facts: Facts<'_>) -> Option<Saving> {
    let passes = |ask: &&Ask| {
        let policy = policies.get(&ask.workspace);
        policy.is_some_and(|it| it.evaluate(&ask.operation, &ask.state, facts).verdict == Verdict::Allow)
    };
    let saved: Vec<&Ask> = asks.iter().filter(passes).collect();
    let mut examples: Vec<String> = Vec::new();
    for ask in &saved {
        if examples.len() < SHOWN && !examples.contains(&ask.shown) {
            examples.push(ask.shown.clone());
        }
    }
    (!saved.is_empty()).then_some(Saving { rule, saved: saved.len(), examples })
}

/// `allow = { run = "git push" }`; several where a call needs a yes to several things.
fn rule(selectors: &[GrantSelector]) -> Option<String> {
    let one = |selector: &GrantSelector| match selector {
        GrantSelector::Digest(_) => None,
        GrantSelector::Pattern { verb, pattern, .. } => {
            let verb =
                if *verb == sayso_shell::Verb::Call { "tool".to_owned() } else { format!("{verb:?}").to_lowercase() };
            Some(format!("allow = {{ {verb} = {} }}", serde_json::to_string(pattern).ok()?))
        }
    };
    selectors.iter().map(one).collect::<Option<Vec<String>>>().map(|rules| rules.join("\n"))
}

/// As tables that can stand behind whatever a file holds.
fn as_tables(rule: &str) -> String {
    let one = |(n, line): (usize, &str)| format!("[[rule]]\nid = \"proposed-{n}\"\n{line}\n");
    rule.lines().enumerate().map(one).collect()
}

fn shown(record: &Record) -> String {
    let what = what(record);
    let text = if record.command.is_some() { what } else { format!("{} {what}", record.tool) };
    text.chars().take(200).collect()
}
