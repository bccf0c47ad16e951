//! What calls take from their budgets, what is given back, and what the chain says of both: the same whatever keeps it.

use super::{Remembered, Subject};
use crate::Error;
use crate::audit::{Change, Kind};
use crate::limit::{Outcome, Reporter, Reservation};
use crate::reason;
use sayso_policy::{Counting, RecentCall, Scope, Usage};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::time::Duration;

/// More than any limit; two of them are still a number.
pub(super) const MOST: u64 = 1 << 60;
/// How long a session, run or day that is not used is remembered.
pub(super) const REMEMBERED_MS: u64 = 60 * 24 * 60 * 60 * 1000;
/// Expired reservations that one turn puts right.
pub(super) const MOST_EXPIRED: usize = 256;
/// Single calls of a session that are looked at.
pub(super) const MOST_RECENT: usize = 10_000;
/// What was used may be ahead of what the chain says of it by this part of it: a record for every call would double the
/// chain. While it is less than this, every call is recorded.
const PART: u64 = 64;

/// One key of one scope.
pub(super) type Key = (Scope, String);

/// What was used under one key, but for what is counted one by one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) key: Key,
    pub(super) began_ms: u64,
    pub(super) last_ms: u64,
    pub(super) used: Usage,
    /// Nothing is kept of it yet.
    pub(super) is_new: bool,
}

impl Tally {
    pub(super) fn begun(key: &Key, now_ms: u64) -> Self {
        Self { key: key.clone(), began_ms: now_ms, last_ms: now_ms, used: Usage::default(), is_new: true }
    }

    /// How long it has lasted. A clock that was set back gives no time back.
    pub(super) fn wall_ms(&self, now_ms: u64) -> u64 {
        now_ms.max(self.last_ms).saturating_sub(self.began_ms)
    }

    /// Adds to what was used.
    pub(super) fn charge(&mut self, takes: &Usage, now_ms: u64) {
        self.used = each(&self.used, takes, |used, takes| used.saturating_add(takes.min(MOST)).min(MOST));
        self.last_ms = self.last_ms.max(now_ms);
    }

    /// Takes from what was used; never below nothing.
    pub(super) fn give_back(&mut self, takes: &Usage) {
        self.used = each(&self.used, takes, u64::saturating_sub);
    }
}

/// What is counted of two usages, put together one by one; the rest is of the first.
fn each(one: &Usage, other: &Usage, with: impl Fn(u64, u64) -> u64) -> Usage {
    Usage {
        calls: with(one.calls, other.calls),
        input_tokens: with(one.input_tokens, other.input_tokens),
        output_tokens: with(one.output_tokens, other.output_tokens),
        cost_micros: with(one.cost_micros, other.cost_micros),
        blocked: with(one.blocked, other.blocked),
        deletes: with(one.deletes, other.deletes),
        bytes_written: with(one.bytes_written, other.bytes_written),
        ..*one
    }
}

/// What a reservation took, as it is kept.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Taken {
    pub(super) takes: Usage,
    pub(super) hosts: Vec<String>,
    pub(super) call: String,
    /// Who may say what became of it.
    #[serde(default)]
    pub(super) by: Reporter,
}

impl Taken {
    pub(super) fn of(one: &Reservation) -> Self {
        Self { takes: one.takes, hosts: one.hosts.clone(), call: one.call.clone(), by: one.by.clone() }
    }

    /// What goes, and what comes in its place, once it is known what a call that ran has used. What was only expected goes,
    /// what is reported comes. Of what could be seen beforehand, nothing is given back on the agent's word: a report
    /// can only add to it.
    pub(super) fn settled(&self, outcome: &Outcome) -> (Usage, Usage) {
        let expected = Usage {
            input_tokens: self.takes.input_tokens,
            output_tokens: self.takes.output_tokens,
            cost_micros: self.takes.cost_micros,
            ..Usage::default()
        };
        let more = |reported: Option<u64>, seen: u64| reported.unwrap_or(0).saturating_sub(seen);
        let used = Usage {
            input_tokens: outcome.input_tokens.unwrap_or(expected.input_tokens),
            output_tokens: outcome.output_tokens.unwrap_or(expected.output_tokens),
            cost_micros: outcome.cost_micros.unwrap_or(expected.cost_micros),
            deletes: more(outcome.deletes, self.takes.deletes),
            bytes_written: more(outcome.bytes_written, self.takes.bytes_written),
            ..Usage::default()
        };
        (expected, used)
    }

    /// What a call has left that is counted one by one: its hosts, and itself.
    pub(super) fn seen(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.hosts.iter().map(|host| (HOST, host.as_str())).chain([(CALL, self.call.as_str())])
    }
}

/// What becomes of a reservation that nobody reports on: what was only expected is given back, what was seen stays used.
pub(super) fn never_reported() -> Outcome {
    Outcome { input_tokens: Some(0), output_tokens: Some(0), cost_micros: Some(0), ..Outcome::default() }
}

/// The record of what became of a call.
pub(super) fn settled_record(id: &str, outcome: &Outcome, now_ms: u64) -> Result<Change, Error> {
    let mut change = Change::now(Kind::Limit, if outcome.not_run { "not-run" } else { "settled" });
    change.time_ms = now_ms;
    change.about = Some(id.to_owned());
    change.detail = serde_json::to_value(outcome)?;
    Ok(change)
}

/// The record that a session was stopped.
pub(super) fn stopped_record(subject: &Subject<'_>, why: &str) -> Change {
    let mut change = Change::now(Kind::Limit, "stopped");
    change.actor = subject.actor.clone();
    change.about.clone_from(&subject.actor.session);
    change.by = Some("sayso".to_owned());
    change.rule = Some("limit".to_owned());
    change.detail = json!({"why": why});
    change
}

/// What is counted one by one.
pub(super) const HOST: &str = "host";
pub(super) const CALL: &str = "call";

/// The tool of a denied call, among single calls: no tool has this name.
pub(super) const DENIED: &str = "!denied";
/// A session that is on its fallback, among what is counted one by one.
pub(super) const MODEL: &str = "model";

/// The record that an owner, or a route to another model, has the counts of a scope begin anew.
pub(super) fn reset_record(key: &Key, what: &'static str, by: &str, now_ms: u64) -> Change {
    let mut change = Change::now(Kind::Limit, what);
    change.time_ms = now_ms;
    change.about = Some(about(key));
    change.by = Some(by.to_owned());
    change
}

/// Whether so many denied calls reach one of these: how many, in which stretch of time.
pub(super) fn is_reached(
    counts: &dyn Counts,
    tally: &Tally,
    limits: &[(u64, Option<Duration>)],
    now_ms: u64,
) -> Result<bool, Error> {
    for (most, per) in limits {
        let used = match per {
            Some(per) => counts.denied_since(&tally.key, now_ms, *per)?,
            None => tally.used.blocked,
        };
        if used >= *most {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What is kept one by one, to be counted.
pub(super) trait Counts {
    /// How often a host was contacted, or a call made.
    fn seen(&self, key: &Key, kind: &'static str, value: &str) -> Result<u64, Error>;
    /// How many different hosts were contacted.
    fn hosts(&self, key: &Key) -> Result<u64, Error>;
    /// Calls of the last stretch of time, and those that a clock set back has put in the future.
    fn calls_since(&self, key: &Key, now_ms: u64, per: Duration) -> Result<u64, Error>;
    /// Denied calls of the last stretch of time.
    fn denied_since(&self, key: &Key, now_ms: u64, per: Duration) -> Result<u64, Error>;
    /// Single calls from this time on, the latest first, at most [`MOST_RECENT`].
    fn recent(&self, key: &Key, from_ms: u64) -> Result<Vec<RecentCall>, Error>;
}

/// What was used that counts for a call.
pub(super) fn used(counts: &dyn Counts, subject: &Subject<'_>, tallies: &[Tally]) -> Result<Remembered, Error> {
    let (now, counting) = (subject.now_ms, subject.counting);
    let mut found = Remembered::default();
    for tally in tallies {
        // A scope has a key of its own for each agent above: the one that is used most decides.
        let (scope, key) = (tally.key.0, &tally.key);
        let mut used =
            if tally.is_new { Usage::default() } else { Usage { wall_ms: tally.wall_ms(now), ..tally.used } };
        if counting.repeats.contains(&scope) {
            used.repeats = counts.seen(key, CALL, subject.call)?;
        }
        if counting.hosts.contains(&scope) {
            used.hosts = counts.hosts(key)?;
        }
        let most = found.usage.entry(scope).or_default();
        *most = most.or_more(&used);
        let mut new = 0;
        for host in subject.hosts {
            new += u64::from(counts.seen(key, HOST, host)? == 0);
        }
        let most = found.new_hosts.entry(scope).or_default();
        *most = new.max(*most);
        for (scope, per) in counting.windows.iter().filter(|(counted, _)| *counted == scope) {
            let calls = counts.calls_since(key, now, *per)?;
            let most = found.rates.entry((*scope, *per)).or_default();
            *most = calls.max(*most);
        }
        for (scope, per) in counting.blocked_windows.iter().filter(|(counted, _)| *counted == scope) {
            let denied = counts.denied_since(key, now, *per)?;
            let most = found.blocked.entry((*scope, *per)).or_default();
            *most = denied.max(*most);
        }
        if scope == Scope::Session && counting.looks_back_ms > 0 {
            found.recent.extend(counts.recent(key, now.saturating_sub(counting.looks_back_ms))?);
        }
    }
    Ok(found)
}

/// Whether anything is kept one by one, of any call and under any key.
pub(super) fn notes_single_calls(counting: &Counting) -> bool {
    let Counting { windows, blocked_windows, hosts, repeats, looks_back_ms, .. } = counting;
    !windows.is_empty() || !blocked_windows.is_empty() || !hosts.is_empty() || !repeats.is_empty() || *looks_back_ms > 0
}

/// What is to be kept one by one of a call that runs, under one key.
pub(super) struct Noted<'a> {
    pub(super) seen: Vec<(&'static str, &'a str)>,
    /// The call itself is kept, and those before this time are forgotten.
    pub(super) forget_before_ms: Option<u64>,
}

/// From when on denied calls are kept under a scope; `None`: nothing looks at them.
pub(super) fn denied_from(counting: &Counting, scope: Scope, now_ms: u64) -> Option<u64> {
    let windows = counting.blocked_windows.iter().filter(|(counted, _)| *counted == scope);
    let longest = windows.map(|(_, per)| u64::try_from(per.as_millis()).unwrap_or(u64::MAX)).max()?;
    Some(now_ms.saturating_sub(longest.saturating_mul(2)))
}

impl<'a> Noted<'a> {
    pub(super) fn of(subject: &Subject<'_>, scope: Scope, one: &'a Reservation) -> Self {
        let counting = subject.counting;
        // Only what some limit looks at: an agent's own list would grow for ever.
        let hosts = one.hosts.iter().filter(|_| counting.hosts.contains(&scope)).map(|host| (HOST, host.as_str()));
        let called = counting.repeats.contains(&scope).then_some((CALL, one.call.as_str()));
        let windows = counting.windows.iter().filter(|(counted, _)| *counted == scope);
        let longest = windows.map(|(_, per)| u64::try_from(per.as_millis()).unwrap_or(u64::MAX)).max();
        let back = longest.max((scope == Scope::Session).then_some(counting.looks_back_ms)).unwrap_or(0);
        let forget_before_ms = (back > 0).then(|| subject.now_ms.saturating_sub(back.saturating_mul(2)));
        Self { seen: hosts.chain(called).collect(), forget_before_ms }
    }
}

/// How much was used, as the chain says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Recorded {
    pub(super) began_ms: u64,
    pub(super) used: Usage,
}

impl Recorded {
    pub(super) fn of(tally: &Tally) -> Self {
        let used = Usage { wall_ms: 0, hosts: 0, repeats: 0, ..tally.used };
        Self { began_ms: tally.began_ms, used }
    }

    /// Whether no less is kept than the chain says.
    pub(super) fn is_within(&self, kept: &Tally) -> bool {
        kept.began_ms <= self.began_ms && counted(&kept.used.or_more(&self.used)) == counted(&kept.used)
    }

    /// Whether so much more, or less, was used that the chain is to say so.
    pub(super) fn is_behind(&self, tally: &Tally) -> bool {
        let pairs = counted(&self.used).into_iter().zip(counted(&tally.used));
        pairs.into_iter().any(|(said, is)| is < said || is - said > said / PART)
    }

    /// The record that says it, at this place in the chain.
    pub(super) fn record(&self, key: &Key, seq: u64, now_ms: u64) -> Result<Change, Error> {
        let mut change = Change::now(Kind::Chain, "usage");
        change.id = format!("{}{seq:016x}", names(key));
        change.time_ms = now_ms;
        change.about = Some(about(key));
        change.by = Some("sayso".to_owned());
        change.detail = serde_json::to_value(self)?;
        Ok(change)
    }
}

/// What is compared.
fn counted(used: &Usage) -> [u64; 7] {
    [
        used.calls,
        used.input_tokens,
        used.output_tokens,
        used.cost_micros,
        used.blocked,
        used.deletes,
        used.bytes_written,
    ]
}

/// How the names of all records of budgets begin.
pub(super) const NAMES: &str = "usage-";

/// How the names of the records of one budget begin. The number of the record follows, so that the latest comes last. No
/// line of a spool may have a name with a second dash in it.
pub(super) fn names((scope, key): &Key) -> String {
    let hash = blake3::hash(format!("{}\0{key}", scope.as_str()).as_bytes()).to_hex();
    format!("{NAMES}{}-", hash.get(..32).unwrap_or(&hash))
}

fn about((scope, key): &Key) -> String {
    format!("{} {key}", scope.as_str())
}

/// The record that the counts were deleted or lowered behind Sayso's back.
pub(super) fn restored_record(kept: &Tally, recorded: &Recorded, now_ms: u64) -> Change {
    let mut change = Change::now(Kind::Chain, "restored");
    change.time_ms = now_ms;
    change.about = Some(about(&kept.key));
    change.by = Some("sayso".to_owned());
    change.rule = Some(reason::BUDGET_RESTORED.to_string());
    change.detail = json!({"kept": kept.used, "recorded": recorded.used});
    change
}
