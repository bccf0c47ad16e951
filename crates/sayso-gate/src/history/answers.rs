//! What people answered, and how long they were waited for.

use super::{Outcome, PastCall};
use crate::Error;
use crate::approval::{Approval, Standing};
use crate::audit::Record;
use crate::store::Store;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// Questions that are looked at, the latest first.
const LOOKED_AT: usize = 20_000;
/// Refused calls that are told.
const SHOWN: usize = 8;

/// The answers that are in the store.
#[derive(Debug, Default)]
pub struct Answers {
    by_digest: HashMap<String, Vec<(u64, Standing, Option<u64>)>>,
}

impl Answers {
    /// Reads them.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn of(store: &dyn Store) -> Result<Self, Error> {
        let mut found = Self::default();
        for Approval { question, standing, decided_ms, .. } in store.approvals(false, LOOKED_AT)? {
            let answers = found.by_digest.entry(question.digest).or_default();
            answers.push((question.asked_ms, standing, decided_ms));
        }
        Ok(found)
    }

    /// The call of a record with what became of the question about it, where one was put.
    #[must_use]
    pub fn told(&self, past: PastCall, record: &Record) -> PastCall {
        let answers = record.digest.as_ref().and_then(|digest| self.by_digest.get(digest));
        let nearest = answers.and_then(|all| all.iter().min_by_key(|(asked, ..)| asked.abs_diff(record.time_ms)));
        let Some((asked_ms, standing, decided_ms)) = nearest else { return past };
        let outcome = match standing {
            Standing::Approved => Outcome::Ran,
            Standing::Denied => Outcome::Refused,
            Standing::Pending | Standing::Expired | Standing::Cancelled => Outcome::Unknown,
        };
        let waited_ms = decided_ms.map(|decided| decided.saturating_sub(*asked_ms));
        PastCall { outcome, waited_ms, ..past }
    }
}

/// How people were asked, and what they said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Answered {
    /// Questions that were put.
    pub questions: usize,
    /// Answered with yes.
    pub approved: usize,
    /// Answered with no.
    pub refused: usize,
    /// Not answered in time.
    pub expired: usize,
    /// Half of the answers came within this time, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median_ms: Option<u64>,
    /// The longest that somebody was waited for, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest_ms: Option<u64>,
    /// What people refused, most often first.
    pub refusals: Vec<Refusal>,
}

/// Calls of one kind that people refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Refusal {
    /// The first words of the command, or the tool.
    pub what: String,
    /// How often.
    pub times: usize,
}

impl Answered {
    /// What became of the questions that were put in a stretch of time, those of one tenant or of all.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn of(store: &dyn Store, since_ms: u64, until_ms: u64, tenant: Option<&str>) -> Result<Self, Error> {
        let mut found = Self::default();
        let mut waits = Vec::new();
        let mut refusals: BTreeMap<String, usize> = BTreeMap::new();
        for Approval { question, standing, decided_ms, .. } in store.approvals(false, LOOKED_AT)? {
            let theirs = tenant.is_none_or(|tenant| question.actor.tenant.as_deref() == Some(tenant));
            if !theirs || !(since_ms..until_ms).contains(&question.asked_ms) {
                continue;
            }
            found.questions += 1;
            match standing {
                Standing::Approved => found.approved += 1,
                Standing::Denied => {
                    found.refused += 1;
                    let what = question.command.as_deref().map_or(question.tool.as_str(), |command| command);
                    let family: Vec<&str> = what.split_whitespace().take(2).collect();
                    *refusals.entry(family.join(" ").chars().take(80).collect()).or_default() += 1;
                }
                Standing::Expired => found.expired += 1,
                Standing::Pending | Standing::Cancelled => {}
            }
            if matches!(standing, Standing::Approved | Standing::Denied) {
                waits.extend(decided_ms.map(|decided| decided.saturating_sub(question.asked_ms)));
            }
        }
        waits.sort_unstable();
        found.median_ms = waits.get(waits.len() / 2).copied();
        found.longest_ms = waits.last().copied();
        found.refusals = refusals.into_iter().map(|(what, times)| Refusal { what, times }).collect();
        found.refusals.sort_by_key(|it| std::cmp::Reverse(it.times));
        found.refusals.truncate(SHOWN);
        Ok(found)
    }
}
