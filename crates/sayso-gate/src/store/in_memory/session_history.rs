//! Sessions and runs, gathered from the chain.

use super::State;
use super::chain::Link;
use super::records::found;
use crate::audit::{DecisionCounts, Event, HistoryOf, Order, Query, SessionHistory};
use sayso_policy::Verdict;
use std::collections::{BTreeMap, BTreeSet};

/// Names that are listed of one session or run: they are the agent's own words, and may be any number.
const MOST_NAMES: usize = 16;

/// Sessions or runs with records that answer a query.
pub(super) fn histories(state: &State, of: HistoryOf, query: &Query) -> Vec<SessionHistory> {
    let (after, before) = (query.after.unwrap_or(0), query.before.unwrap_or(u64::MAX));
    let all = Query { after: None, before: None, limit: None, order: Order::OldestFirst, ..query.clone() };
    let mut last: BTreeMap<&str, u64> = BTreeMap::new();
    for link in found(state, &all) {
        if let Some(id) = id(link, of) {
            last.insert(id, link.seq);
        }
    }
    let mut ids: Vec<(&str, u64)> = last.into_iter().filter(|(_, last)| *last > after && *last < before).collect();
    ids.sort_by_key(|(_, last)| std::cmp::Reverse(*last));
    ids.truncate(query.limit.unwrap_or(usize::MAX));
    ids.into_iter().flat_map(|(id, _)| gathered(state, of, id, query.tenant.as_deref())).collect()
}

fn id(link: &Link, of: HistoryOf) -> Option<&str> {
    let actor = link.event.actor();
    match of {
        HistoryOf::Session => actor.session.as_deref(),
        HistoryOf::Run => actor.run.as_deref(),
    }
}

/// One id: a history for each tenant that uses it, the one with the latest record first.
fn gathered(state: &State, of: HistoryOf, wanted: &str, tenant: Option<&str>) -> Vec<SessionHistory> {
    let mut by_tenant: BTreeMap<Option<&str>, Vec<&Link>> = BTreeMap::new();
    for link in state.links.all.iter().filter(|link| id(link, of) == Some(wanted)) {
        let whose = link.event.actor().tenant.as_deref();
        if tenant.is_none_or(|tenant| whose == Some(tenant)) {
            by_tenant.entry(whose).or_default().push(link);
        }
    }
    let mut found: Vec<SessionHistory> =
        by_tenant.into_iter().map(|(tenant, links)| one(of, wanted, tenant, &links)).collect();
    found.sort_by_key(|history| std::cmp::Reverse(history.last_seq));
    found
}

fn one(of: HistoryOf, id: &str, tenant: Option<&str>, links: &[&Link]) -> SessionHistory {
    let times = || links.iter().map(|link| link.event.time_ms());
    let mut decisions = DecisionCounts::default();
    let mut workspace = None;
    for link in links {
        let Event::Decision(record) = &link.event else { continue };
        match record.verdict {
            Verdict::Allow => decisions.allow += 1,
            Verdict::Ask => decisions.ask += 1,
            Verdict::Deny => decisions.deny += 1,
        }
        workspace.clone_from(&record.workspace);
    }
    let names = |name: fn(&Link) -> Option<&str>| {
        let names: BTreeSet<&str> = links.iter().filter_map(|link| name(link)).collect();
        names.into_iter().take(MOST_NAMES).map(str::to_owned).collect()
    };
    SessionHistory {
        id: id.to_owned(),
        tenant: tenant.map(str::to_owned),
        agents: names(|link| link.event.actor().agent.as_deref()),
        sessions: if of == HistoryOf::Run { names(|link| link.event.actor().session.as_deref()) } else { Vec::new() },
        workspace,
        first_ms: times().min().unwrap_or_default(),
        last_ms: times().max().unwrap_or_default(),
        last_seq: links.last().map(|link| link.seq).unwrap_or_default(),
        decisions,
    }
}
