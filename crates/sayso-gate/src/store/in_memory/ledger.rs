//! What was used.

use super::{InMemory, State, approvals, grants};
use crate::Error;
use crate::audit::{Event, fresh_id};
use crate::limit::{Outcome, Reservation, Used, Which, is_of, is_session, keys};
use crate::store::answering::by_grant;
use crate::store::budget::{
    Counts, DENIED, HOST, Key, MODEL, MOST_EXPIRED, MOST_RECENT, Noted, REMEMBERED_MS, Recorded, Taken, Tally,
    denied_from, is_reached, never_reported, reset_record, settled_record, stopped_record, used,
};
use crate::store::{Ledger, Memo, Remembered, Subject};
use sayso_policy::{Actor, Counting, RecentCall, Scope, Usage};
use std::time::Duration;

/// What is reserved for a call, and in which budgets.
#[derive(Clone)]
pub(super) struct Reserved {
    call_id: Option<String>,
    session: Option<String>,
    expires_ms: u64,
    keys: Vec<Key>,
    taken: Taken,
}

impl Ledger for InMemory {
    fn turn(&self, subject: &Subject<'_>, judge: &mut dyn FnMut(Remembered) -> Memo) -> Result<(), Error> {
        self.write(|state| {
            approvals::expire(state, subject.now_ms)?;
            state.give_back_expired(subject.now_ms)?;
            let keys = keys(subject.actor, &subject.counting.scopes, subject.now_ms);
            let tallies: Vec<Tally> = keys.iter().map(|key| state.tally(key, subject.now_ms)).collect();
            let memo = judge(state.remembered(subject, &tallies)?);
            state.write_down(subject, tallies, &memo)
        })
    }

    fn settle_in(&self, tenant: Option<&str>, which: &Which, outcome: &Outcome, now_ms: u64) -> Result<bool, Error> {
        self.write(|state| {
            let Some((id, reserved)) = state.reservation(which) else { return Ok(false) };
            let theirs = |key: &&Key| tenant.is_none_or(|tenant| is_of(tenant, &key.1));
            let keys: Vec<&Key> = reserved.keys.iter().filter(theirs).collect();
            if keys.is_empty() {
                return Ok(false);
            }
            for key in keys {
                state.settle_one(&id, key, &reserved.taken, outcome, now_ms)?;
            }
            state.reservations.remove(&id);
            state.append(settled_record(&id, outcome, now_ms)?)?;
            Ok(true)
        })
    }

    fn reset_session(&self, session: &str, by: &str, now_ms: u64) -> Result<usize, Error> {
        self.write(|state| {
            let theirs = |key: &&Key| key.0 == Scope::Session && is_session(session, &key.1);
            let found: Vec<Key> = state.usage.keys().filter(theirs).cloned().collect();
            for key in &found {
                let mut tally = state.tally(key, now_ms);
                tally.used = Usage::default();
                state.keep_tally(tally, now_ms)?;
                state.seen.remove_if(|(of, ..), _| of == key);
                state.calls.remove_if(|(of, ..), _| of == key);
                state.append(reset_record(key, "reset", by, now_ms))?;
            }
            Ok(found.len())
        })
    }

    fn fall_back(&self, actor: &Actor, limits: &[(u64, Option<Duration>)], now_ms: u64) -> Result<bool, Error> {
        self.write(|state| {
            let keys = keys(actor, &[Scope::Session], now_ms);
            let mut falls = false;
            for key in &keys {
                if state.seen(key, MODEL, "fallback")? > 0 {
                    return Ok(true);
                }
                falls |= is_reached(state, &state.tally(key, now_ms), limits, now_ms)?;
            }
            for key in keys.iter().filter(|_| falls) {
                let mut tally = state.tally(key, now_ms);
                tally.used.blocked = 0;
                state.keep_tally(tally, now_ms)?;
                state.calls.remove_if(|(of, ..), tool| of == key && tool == DENIED);
                state.seen.put((key.clone(), MODEL, "fallback".to_owned()), 1);
                state.append(reset_record(key, "fallback", "sayso", now_ms))?;
            }
            Ok(falls)
        })
    }

    fn used_in(
        &self,
        tenant: Option<&str>,
        only: Option<Scope>,
        counting: &Counting,
        limit: usize,
        now_ms: u64,
    ) -> Result<Vec<Used>, Error> {
        self.read(|state| {
            let mut tallies: Vec<&Tally> = state.usage.values().collect();
            tallies.sort_by(|one, other| {
                let order = |tally: &Tally| (std::cmp::Reverse(tally.last_ms), tally.key.0.as_str());
                order(one).cmp(&order(other)).then_with(|| one.key.1.cmp(&other.key.1))
            });
            let wanted = |tally: &&&Tally| {
                only.is_none_or(|only| only == tally.key.0) && tenant.is_none_or(|tenant| is_of(tenant, &tally.key.1))
            };
            let found = tallies.iter().filter(wanted).take(limit);
            found.map(|tally| state.used(tally, counting, now_ms)).collect()
        })
    }
}

impl State {
    fn tally(&self, key: &Key, now_ms: u64) -> Tally {
        self.usage.get(key).cloned().unwrap_or_else(|| Tally::begun(key, now_ms))
    }

    fn used(&self, tally: &Tally, counting: &Counting, now_ms: u64) -> Result<Used, Error> {
        let key = &tally.key;
        let windows = counting.windows.iter().filter(|(scope, _)| *scope == key.0);
        let rates = windows.map(|(_, per)| Ok((*per, self.calls_since(key, now_ms, *per)?)));
        let open = self.reservations.values().filter(|it| it.expires_ms > now_ms && it.keys.contains(key)).count();
        Ok(Used {
            scope: key.0,
            key: key.1.clone(),
            began_ms: tally.began_ms,
            last_ms: tally.last_ms,
            usage: Usage { wall_ms: tally.wall_ms(now_ms), hosts: self.hosts(key)?, ..tally.used },
            open: u64::try_from(open).unwrap_or(u64::MAX),
            rates: rates.collect::<Result<_, Error>>()?,
        })
    }

    fn remembered(&self, subject: &Subject<'_>, tallies: &[Tally]) -> Result<Remembered, Error> {
        let now = subject.now_ms;
        let mut found = used(self, subject, tallies)?;
        if let Some(keys) = subject.grants {
            found.grants = grants::for_call(self, subject.actor, subject.site, keys, now);
            (found.approvals, found.pending) = approvals::about(self, subject.digest, subject.actor, now);
            found.answerable = approvals::any_open(self, subject.actor, now)
                || grants::any_exact(self, subject.actor, subject.site, now);
        }
        Ok(found)
    }

    fn write_down(&mut self, subject: &Subject<'_>, tallies: Vec<Tally>, memo: &Memo) -> Result<(), Error> {
        let now = subject.now_ms;
        for uses in by_grant(&memo.uses) {
            grants::take(self, &uses, now)?;
        }
        if let Some(id) = &memo.spend {
            approvals::spend(self, id, subject.digest, now)?;
        }
        if let Some(question) = &memo.ask {
            approvals::ask(self, question)?;
        }
        if let Some(reservation) = &memo.reserve {
            tallies.iter().for_each(|tally| self.note(subject, &tally.key, reservation));
            self.reserve(subject, &tallies, reservation);
        }
        for tally in tallies.iter().filter(|_| memo.blocked) {
            if let Some(before) = denied_from(subject.counting, tally.key.0, now) {
                self.calls.put((tally.key.clone(), now, fresh_id()), DENIED.to_owned());
                self.calls.remove_if(|(of, time_ms, _), _| *of == tally.key && *time_ms < before);
            }
        }
        if let Some(why) = &memo.stopped {
            self.append(stopped_record(subject, why))?;
        }
        if memo.reserve.is_none() && !memo.blocked {
            return Ok(());
        }
        let any_new = tallies.iter().any(|tally| tally.is_new);
        for mut tally in tallies {
            if let Some(reservation) = &memo.reserve {
                tally.charge(&reservation.takes, now);
            }
            if memo.blocked {
                tally.charge(&Usage { blocked: 1, ..Usage::default() }, now);
            }
            self.keep_tally(tally, now)?;
        }
        if any_new {
            self.forget_old(now);
        }
        Ok(())
    }

    fn keep_tally(&mut self, mut tally: Tally, now_ms: u64) -> Result<(), Error> {
        tally.is_new = false;
        if self.recorded.get(&tally.key).is_none_or(|recorded| recorded.is_behind(&tally)) {
            let says = Recorded::of(&tally);
            let record = says.record(&tally.key, self.links.end().seq.saturating_add(1), now_ms)?;
            self.links.append(Event::from(record))?;
            self.recorded.put(tally.key.clone(), says);
        }
        self.usage.put(tally.key.clone(), tally);
        Ok(())
    }

    /// Notes what limits look at beside the counts: hosts, repeats, and single calls.
    fn note(&mut self, subject: &Subject<'_>, key: &Key, one: &Reservation) {
        let Noted { seen, forget_before_ms } = Noted::of(subject, key.0, one);
        for (kind, value) in seen {
            let at = (key.clone(), kind, value.to_owned());
            let count = self.seen.get(&at).copied().unwrap_or(0);
            self.seen.put(at, count.saturating_add(1));
        }
        if let Some(before) = forget_before_ms {
            // Denied calls may be looked at for longer than the others.
            let before = denied_from(subject.counting, key.0, subject.now_ms).map_or(before, |from| from.min(before));
            self.calls.put((key.clone(), subject.now_ms, one.id.clone()), one.tool.clone());
            self.calls.remove_if(|(of, time_ms, _), _| of == key && *time_ms < before);
        }
    }

    fn reserve(&mut self, subject: &Subject<'_>, tallies: &[Tally], one: &Reservation) {
        let reserved = Reserved {
            call_id: one.call_id.clone(),
            session: subject.actor.session.clone(),
            expires_ms: one.expires_ms,
            keys: tallies.iter().map(|tally| tally.key.clone()).collect(),
            taken: Taken::of(one),
        };
        self.reservations.put(one.id.clone(), reserved);
    }

    fn reservation(&self, which: &Which) -> Option<(String, Reserved)> {
        let mut found: Vec<(&String, &Reserved)> = match which {
            Which::Record(id) | Which::Reported { record: id, .. } => {
                self.reservations.get_key_value(id).into_iter().collect()
            }
            Which::Call { session, call_id, .. } => {
                let theirs = |it: &Reserved| it.call_id.as_ref() == Some(call_id) && it.session == *session;
                self.reservations.iter().filter(|(_, it)| theirs(it)).collect()
            }
        };
        // An id of a caller's own may have been used by others, and before: the latest of this one counts.
        found.sort_by_key(|(id, it)| (std::cmp::Reverse(it.expires_ms), *id));
        let found = found.into_iter().find(|(_, it)| which.may_be_told_of(&it.taken.by));
        found.map(|(id, it)| (id.clone(), it.clone()))
    }

    fn settle_one(&mut self, id: &str, key: &Key, taken: &Taken, outcome: &Outcome, now_ms: u64) -> Result<(), Error> {
        let Some(mut tally) = self.usage.get(key).cloned() else { return Ok(()) };
        if outcome.not_run {
            tally.give_back(&taken.takes);
            for (kind, value) in taken.seen() {
                let at = (key.clone(), kind, value.to_owned());
                match self.seen.get(&at).copied() {
                    Some(2..) => {
                        let count = self.seen.get(&at).copied().unwrap_or(1);
                        self.seen.put(at, count - 1);
                    }
                    _ => self.seen.remove(&at),
                }
            }
            self.calls.remove_if(|(of, _, call), _| of == key && call == id);
        } else {
            let (goes, comes) = taken.settled(outcome);
            let last_ms = tally.last_ms;
            tally.give_back(&goes);
            tally.charge(&comes, last_ms);
        }
        self.keep_tally(tally, now_ms)
    }

    /// Reservations without an outcome.
    fn give_back_expired(&mut self, now_ms: u64) -> Result<(), Error> {
        let expired = self.reservations.iter().filter(|(_, it)| it.expires_ms <= now_ms).take(MOST_EXPIRED);
        let expired: Vec<(String, Reserved)> = expired.map(|(id, it)| (id.clone(), it.clone())).collect();
        for (id, Reserved { keys, taken, .. }) in expired {
            keys.iter().try_for_each(|key| self.settle_one(&id, key, &taken, &never_reported(), now_ms))?;
            self.reservations.remove(&id);
        }
        Ok(())
    }

    /// Sessions, runs and days of long ago are forgotten, as the folders of sessions are.
    fn forget_old(&mut self, now_ms: u64) {
        let before = now_ms.saturating_sub(REMEMBERED_MS);
        let ends = |scope: Scope| matches!(scope, Scope::Session | Scope::Run | Scope::Day);
        self.usage.remove_if(|(scope, _), tally| ends(*scope) && tally.last_ms < before);
        let usage = &self.usage;
        self.seen.remove_if(|(key, ..), _| !usage.contains_key(key) && ends(key.0));
        self.calls.remove_if(|(key, ..), _| !usage.contains_key(key) && ends(key.0));
    }
}

impl Counts for State {
    fn seen(&self, key: &Key, kind: &'static str, value: &str) -> Result<u64, Error> {
        Ok(self.seen.get(&(key.clone(), kind, value.to_owned())).copied().unwrap_or(0))
    }

    fn hosts(&self, key: &Key) -> Result<u64, Error> {
        let from = self.seen.range((key.clone(), HOST, String::new())..);
        let hosts = from.take_while(|((of, kind, _), _)| of == key && *kind == HOST).count();
        Ok(u64::try_from(hosts).unwrap_or(u64::MAX))
    }

    fn calls_since(&self, key: &Key, now_ms: u64, per: Duration) -> Result<u64, Error> {
        let from = now_ms.saturating_sub(u64::try_from(per.as_millis()).unwrap_or(u64::MAX));
        let calls = self.calls_from(key, from.saturating_add(1));
        Ok(u64::try_from(calls.iter().filter(|(_, tool)| *tool != DENIED).count()).unwrap_or(u64::MAX))
    }

    fn denied_since(&self, key: &Key, now_ms: u64, per: Duration) -> Result<u64, Error> {
        let from = now_ms.saturating_sub(u64::try_from(per.as_millis()).unwrap_or(u64::MAX));
        let calls = self.calls_from(key, from.saturating_add(1));
        Ok(u64::try_from(calls.iter().filter(|(_, tool)| *tool == DENIED).count()).unwrap_or(u64::MAX))
    }

    fn recent(&self, key: &Key, from_ms: u64) -> Result<Vec<RecentCall>, Error> {
        let calls =
            self.calls_from(key, from_ms).into_iter().rev().filter(|(_, tool)| *tool != DENIED).take(MOST_RECENT);
        Ok(calls.map(|(at_ms, tool)| RecentCall { tool: tool.to_owned(), at_ms }).collect())
    }
}

impl State {
    /// Single calls under a key from this time on: when, and by which tool.
    fn calls_from(&self, key: &Key, from_ms: u64) -> Vec<(u64, &str)> {
        let from = self.calls.range((key.clone(), from_ms, String::new())..);
        from.take_while(|((of, ..), _)| of == key).map(|((_, at_ms, _), tool)| (*at_ms, tool.as_str())).collect()
    }
}
