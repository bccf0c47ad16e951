//! What is asked of the chain.

use super::chain::Link;
use super::{InMemory, State, policy_versions, session_history};
use crate::Error;
use crate::audit::{
    By, Chained, Event, Happening, HistoryOf, Kind, Order, PolicyVersion, Query, Record, Recorder, SessionHistory,
    Stored, Written, left_beside, loaded,
};
use crate::store::{Appended, Records};
use sayso_policy::PolicyText;
use std::collections::BTreeMap;

impl Records for InMemory {
    fn append(&self, events: &[Event], policies: &[PolicyVersion]) -> Result<Appended, Error> {
        self.write(|state| {
            for policy in policies {
                policy_versions::keep(state, policy);
            }
            let mut appended = Appended::default();
            for (place, event) in events.iter().enumerate() {
                match state.links.of(event.id()).map(|known| known.event == *event) {
                    None => {
                        state.links.append(event.clone())?;
                        appended.new += 1;
                    }
                    Some(true) => {}
                    Some(false) => appended.conflicting.push(place),
                }
            }
            Ok(appended)
        })
    }

    fn policy(&self, version: &str) -> Result<Option<PolicyVersion>, Error> {
        Ok(self.read(|state| state.policies.get(version).map(|(_, policy)| policy.clone())))
    }

    fn policies(&self) -> Result<Vec<(String, u64)>, Error> {
        Ok(self.read(policy_versions::all))
    }

    fn query(&self, query: &Query) -> Result<Vec<Stored>, Error> {
        let decisions = Query { kinds: vec![Kind::Decision], ..query.clone() };
        let read = |link: &Link| Ok(Stored { seq: link.seq, record: serde_json::from_str(&link.line)? });
        self.read(|state| found(state, &decisions).into_iter().map(read).collect())
    }

    fn happenings(&self, query: &Query) -> Result<Vec<Happening>, Error> {
        let happenings = Query { kinds: vec![Kind::Happening], verdict: None, tool: None, ..query.clone() };
        let read = |link: &Link| Ok(serde_json::from_str(&link.line)?);
        self.read(|state| found(state, &happenings).into_iter().map(read).collect())
    }

    fn events(&self, query: &Query) -> Result<Vec<Chained>, Error> {
        let read =
            |link: &Link| Chained { seq: link.seq, hash: link.hash.to_hex().to_string(), event: link.event.clone() };
        Ok(self.read(|state| found(state, query).into_iter().map(read).collect()))
    }

    fn count_by(&self, query: &Query, by: By) -> Result<Vec<(String, u64)>, Error> {
        let all = Query { limit: None, ..query.clone() };
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        self.read(|state| {
            found(state, &all)
                .into_iter()
                .for_each(|link| *counts.entry(common(link, by).to_owned()).or_default() += 1);
        });
        let mut counts: Vec<(String, u64)> = counts.into_iter().collect();
        counts.sort_by(|(one, n), (other, m)| m.cmp(n).then_with(|| one.cmp(other)));
        Ok(counts)
    }

    fn count(&self, query: &Query) -> Result<u64, Error> {
        let all = Query { limit: None, ..query.clone() };
        Ok(self.read(|state| u64::try_from(found(state, &all).len()).unwrap_or(u64::MAX)))
    }

    fn over_time(&self, query: &Query, by: By, step_ms: u64) -> Result<Vec<(u64, String, u64)>, Error> {
        let (all, step) = (Query { limit: None, ..query.clone() }, step_ms.max(1));
        let mut counts: BTreeMap<(u64, String), u64> = BTreeMap::new();
        self.read(|state| {
            for link in found(state, &all) {
                let began = link.event.time_ms() / step * step;
                *counts.entry((began, common(link, by).to_owned())).or_default() += 1;
            }
        });
        Ok(counts.into_iter().map(|((began, what), count)| (began, what, count)).collect())
    }

    fn session_histories(&self, of: HistoryOf, query: &Query) -> Result<Vec<SessionHistory>, Error> {
        Ok(self.read(|state| session_history::histories(state, of, query)))
    }
}

impl Recorder for InMemory {
    fn record(&self, record: &Record) -> Result<(), Error> {
        self.write(|state| state.links.append(Event::from(record.clone())).map(|_| ()))
    }

    fn record_all(&self, records: Vec<Written>) -> Vec<Result<(), Error>> {
        let one = |written: Written| {
            let event = Event::from_line(&written.line)?;
            self.write(|state| state.links.append_line(event, written.line).map(|_| ()))
        };
        records.into_iter().map(one).collect()
    }

    fn keep_policy(&self, version: &str, files: &[PolicyText]) -> Result<(), Error> {
        // A policy that was used as it lies compiled brings no texts: they were left when it was compiled.
        let left = if files.is_empty() { left_beside(&self.folder.join("store"), version) } else { None };
        let texts = left.unwrap_or_else(|| PolicyVersion::new(version, files));
        self.write(|state| {
            if policy_versions::keep(state, &texts) {
                state.append(loaded(version, files))?;
            }
            Ok(())
        })
    }
}

/// The records that answer a query, in its order.
pub(super) fn found<'a>(state: &'a State, query: &Query) -> Vec<&'a Link> {
    let text = query.text_as_written();
    let answers = |link: &&Link| answers(query, text.as_deref(), link);
    let most = query.limit.unwrap_or(usize::MAX);
    match query.order {
        Order::OldestFirst => state.links.all.iter().filter(answers).take(most).collect(),
        Order::NewestFirst => state.links.all.iter().rev().filter(answers).take(most).collect(),
    }
}

fn answers(query: &Query, text: Option<&str>, link: &Link) -> bool {
    let (event, actor) = (&link.event, link.event.actor());
    let same = |wanted: &Option<String>, is: Option<&str>| wanted.is_none() || wanted.as_deref() == is;
    (query.kinds.is_empty() || query.kinds.contains(&event.kind()))
        && query.since_ms.is_none_or(|since| event.time_ms() >= since)
        && query.until_ms.is_none_or(|until| event.time_ms() < until)
        && query.after.is_none_or(|after| link.seq > after)
        && query.before.is_none_or(|before| link.seq < before)
        && (query.verdict.is_none() || query.verdict == event.verdict())
        && same(&query.agent, actor.agent.as_deref())
        && same(&query.session, actor.session.as_deref())
        && same(&query.tenant, actor.tenant.as_deref())
        && same(&query.run, actor.run.as_deref())
        && same(&query.tool, event.tool())
        && same(&query.rule, event.rule())
        && text.is_none_or(|text| link.line.to_ascii_lowercase().contains(text))
}

/// What records are counted by; nothing where one has none.
fn common(link: &Link, by: By) -> &str {
    let (event, actor) = (&link.event, link.event.actor());
    let found = match by {
        By::Verdict => event.verdict().map(|verdict| verdict.as_str()),
        By::Agent => actor.agent.as_deref(),
        By::Session => actor.session.as_deref(),
        By::Tool => event.tool(),
        By::Rule => event.rule(),
        By::Kind => Some(event.kind().as_str()),
    };
    found.unwrap_or_default()
}
