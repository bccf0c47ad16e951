//! The chain: records in their order, the heads over them, and what was let go.

use super::{InMemory, State};
use crate::Error;
use crate::audit::bundle;
use crate::audit::chain::End;
use crate::audit::{Begin, Event, Head, HeadKey, Row, Verified, Verifier, fresh_id, now_ms};
use crate::store::budget;
use crate::store::chain::{only_usable, was_signed_for};
use crate::store::naming::{ENDS, name};
use crate::store::rotation::{self, Followed};
use crate::store::watch::{CHECKED, checked};
use crate::store::{Chain, Checked, Keep, Pass, Pruned, Rotated};
use blake3::Hash;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A record in its place.
#[derive(Clone)]
pub(super) struct Link {
    pub(super) seq: u64,
    pub(super) previous: Hash,
    pub(super) hash: Hash,
    pub(super) line: String,
    pub(super) event: Event,
}

/// The chain.
pub(super) struct Links {
    name: String,
    pub(super) all: Vec<Link>,
    /// By their ids.
    ids: BTreeMap<String, u64>,
    end: End,
    heads: Vec<Head>,
    /// Where what was let go ended.
    pruned: Option<Head>,
    /// The record and the time of the last head.
    pub(super) signed: Option<(u64, u64)>,
}

impl Links {
    pub(super) fn begin() -> Self {
        let name = fresh_id();
        let end = End::of_nothing(&name);
        Self { name, all: Vec::new(), ids: BTreeMap::new(), end, heads: Vec::new(), pruned: None, signed: None }
    }

    pub(super) fn end(&self) -> End {
        self.end
    }

    /// Adds a record. Gives its number.
    pub(super) fn append(&mut self, event: Event) -> Result<u64, Error> {
        let line = event.to_line()?;
        self.append_line(event, line)
    }

    /// The same of one that is written out already.
    pub(super) fn append_line(&mut self, event: Event, line: String) -> Result<u64, Error> {
        let id = event.id().to_owned();
        if self.ids.contains_key(&id) {
            return Err(Error::NotKept(format!("the store: there is a record {id} already").into()));
        }
        let next = self.end.after(&line);
        self.all.push(Link { seq: next.seq, previous: self.end.hash, hash: next.hash, line, event });
        self.ids.insert(id, next.seq);
        self.end = next;
        Ok(next.seq)
    }

    /// Takes back what was appended behind this record.
    pub(super) fn cut_off(&mut self, end: u64) {
        while let Some(last) = self.all.pop_if(|last| last.seq > end) {
            self.ids.remove(last.event.id());
            self.end = End { seq: last.seq.saturating_sub(1), hash: last.previous };
        }
    }

    pub(super) fn of(&self, id: &str) -> Option<&Link> {
        self.at(*self.ids.get(id)?)
    }

    /// Those whose ids begin so, in the order of their ids.
    fn beginning(&self, first: &str) -> impl DoubleEndedIterator<Item = &Link> {
        let until = format!("{first}~");
        self.ids.range(first.to_owned()..until).filter_map(|(_, seq)| self.at(*seq))
    }

    fn at(&self, seq: u64) -> Option<&Link> {
        let first = self.all.first()?.seq;
        self.all.get(usize::try_from(seq.checked_sub(first)?).ok()?)
    }

    pub(super) fn sign(&mut self, key: &HeadKey) -> Head {
        let head = key.sign(&self.name, &self.end);
        self.heads.retain(|other| other.seq != head.seq);
        self.heads.push(head.clone());
        head
    }

    fn earlier(&self, key: &str) -> Vec<(String, u64)> {
        let mut followed = Followed::from(key);
        for link in self.beginning(rotation::NAMES).rev() {
            if !followed.look_at(&self.name, link.seq, &link.line) {
                break;
            }
        }
        followed.earlier
    }

    /// What is known before the records are looked at.
    fn before(&self, folder: &Path, exported: Vec<Head>) -> Begin {
        let key = HeadKey::made(folder);
        let has_signed = was_signed_for(&self.name, key.as_ref());
        let key = key.map(|(key, _)| key);
        let earlier = key.as_deref().map(|key| self.earlier(key)).unwrap_or_default();
        let exported = only_usable(exported, self.pruned.as_ref());
        let (pruned, heads) = (self.pruned.clone(), self.heads.clone());
        Begin { chain: self.name.clone(), pruned, heads, key, earlier, has_signed, exported }
    }

    fn pruned_to(&self) -> u64 {
        self.pruned.as_ref().map_or(0, |head| head.seq)
    }

    /// Looks at the records behind one and up to another, at most so many; tells how many there were, and the last of them.
    fn look_at(&self, verifier: &mut Verifier, (after, until): (u64, u64), most: usize) -> (usize, u64) {
        let (mut looked, mut last) = (0, after);
        for link in self.all.iter().filter(|link| link.seq > after && link.seq <= until).take(most) {
            verifier.look_at(&link.row());
            (looked, last) = (looked + 1, link.seq);
        }
        (looked, last)
    }
}

impl Link {
    fn row(&self) -> Row<'_> {
        let (event, actor) = (&self.event, self.event.actor());
        Row {
            seq: self.seq,
            previous: self.previous,
            hash: self.hash,
            body: &self.line,
            columns: [
                Some(event.id()),
                Some(event.kind().as_str()),
                actor.agent.as_deref(),
                actor.session.as_deref(),
                event.tool(),
                event.verdict().map(|verdict| verdict.as_str()),
                event.rule(),
                actor.tenant.as_deref(),
                actor.run.as_deref(),
            ],
            // As a column of a table can hold it: no later than that.
            time_ms: event.time_ms().min(i64::MAX.unsigned_abs()),
        }
    }
}

impl Chain for InMemory {
    fn verify_with(&self, exported: Vec<Head>) -> Result<Verified, Error> {
        self.read(|state| {
            let mut verifier = Verifier::new(state.links.before(&self.folder, exported));
            state.links.look_at(&mut verifier, (0, u64::MAX), usize::MAX);
            Ok(verifier.finish())
        })
    }

    fn check(&self, pass: Option<Pass>, most: usize) -> Result<Pass, Error> {
        self.read(|state| {
            let pruned = state.links.pruned_to();
            let begun = || Pass {
                verifier: Verifier::new(state.links.before(&self.folder, Vec::new())),
                at: pruned,
                until: state.links.end.seq,
                pruned,
                ended: false,
            };
            let mut pass = pass.filter(|pass| pass.pruned == pruned).unwrap_or_else(begun);
            let (looked, at) = state.links.look_at(&mut pass.verifier, (pass.at, pass.until), most);
            pass.at = at;
            pass.ended = looked < most || pass.at >= pass.until;
            Ok(pass)
        })
    }

    /// Nobody writes here past Sayso.
    fn newest_problem(&self) -> Result<Option<String>, Error> {
        Ok(None)
    }

    fn last_checked(&self) -> Result<Option<Checked>, Error> {
        Ok(self.read(|state| state.links.beginning(CHECKED).next_back().and_then(|link| checked(&link.line))))
    }

    fn alarm(&self) -> Option<Arc<str>> {
        self.alarm.why()
    }

    fn set_alarm(&self, found: Option<&str>) -> Option<Arc<str>> {
        self.alarm.found(found)
    }

    fn export_links(&self, out: &mut dyn Write) -> Result<u64, Error> {
        let last = self.sign_head()?.seq;
        let (begin, links) = self.read(|state| {
            let links: Vec<Link> = state.links.all.iter().filter(|link| link.seq <= last).cloned().collect();
            (state.links.before(&self.folder, Vec::new()), links)
        });
        bundle::write_line(out, &bundle::Opening::of(&begin))?;
        for Link { seq, previous, hash, line, .. } in &links {
            let (prev, hash) = (previous.to_hex().to_string(), hash.to_hex().to_string());
            bundle::write_line(out, &bundle::Link { seq: *seq, prev, hash, body: line.clone() })?;
        }
        Ok(u64::try_from(links.len()).unwrap_or(u64::MAX))
    }

    fn sign_head(&self) -> Result<Head, Error> {
        let key = HeadKey::beside(&self.folder)?;
        self.write(|state| Ok(state.links.sign(&key)))
    }

    fn prune(&self, what: Keep, by: &str) -> Result<Pruned, Error> {
        let key = HeadKey::beside(&self.folder)?;
        let mut state = self.lock();
        let up_to = state.prunable(what);
        let Some(last) = state.links.at(up_to).map(|link| End { seq: link.seq, hash: link.hash }) else {
            return Ok(Pruned::default());
        };
        let carried = state.carried(up_to, now_ms());
        let links = &mut state.links;
        links.pruned = Some(key.sign(&links.name, &last));
        let gone: Vec<Link> = links.all.extract_if(.., |link| link.seq <= up_to).collect();
        for link in &gone {
            links.ids.remove(link.event.id());
        }
        links.heads.retain(|head| head.seq >= up_to);
        state.forget_what_is_over(now_ms());
        for event in carried {
            let seq = state.links.end.seq.saturating_add(1);
            state.links.append(carried_to(event, seq))?;
        }
        let pruned = Pruned { records: u64::try_from(gone.len()).unwrap_or(u64::MAX), up_to };
        state.append(pruned.record(by))?;
        state.keep();
        Ok(pruned)
    }

    fn prunable(&self, what: Keep) -> Result<u64, Error> {
        Ok(self.read(|state| state.prunable(what)))
    }

    fn key(&self) -> Result<(String, PathBuf), Error> {
        Ok((HeadKey::beside(&self.folder)?.public(), HeadKey::place(&self.folder)))
    }

    fn rotate_key(&self, elsewhere: Option<&Path>, by: &str) -> Result<Rotated, Error> {
        let before = HeadKey::place(&self.folder);
        // A key that was put elsewhere stays there.
        let stays = || (before.parent() != Some(&self.folder)).then(|| before.clone());
        let elsewhere = elsewhere.map(Path::to_owned).or_else(stays);
        let (old, new) = (HeadKey::beside(&self.folder)?, HeadKey::fresh()?);
        self.sign_head()?;
        let seq = self.write(|state| {
            let seq = state.links.end.seq.saturating_add(1);
            let record = rotation::record(&state.links.name, seq, (&old, &new), by);
            state.append(record)
        })?;
        new.put(&self.folder, elsewhere.as_deref())?;
        self.sign_head()?;
        Ok(Rotated { old: old.public(), new: new.public(), seq, place: HeadKey::place(&self.folder) })
    }
}

impl State {
    fn prunable(&self, what: Keep) -> u64 {
        let last = self.links.end.seq;
        match what {
            Keep::Last(count) => last.saturating_sub(count),
            // Clocks go backwards: records are let go only up to the first that is to stay.
            Keep::Since(time) => {
                let first = self.links.all.iter().find(|link| link.event.time_ms() >= time);
                first.map_or(last, |first| first.seq.saturating_sub(1))
            }
        }
    }

    /// What still counts keeps its records when the old end goes up to this one: they are chained again at the new end.
    fn carried(&self, up_to: u64, now_ms: u64) -> Vec<Event> {
        let mut links: Vec<&Link> = Vec::new();
        for (id, _) in self.approvals.iter().filter(|(_, asked)| asked.may_still_run(now_ms)) {
            links.extend(self.links.of(&name(id, "asked")));
            links.extend(self.links.beginning(&name(id, "answered-")));
        }
        for (id, _) in self.grants.iter().filter(|(_, kept)| kept.is_in_force(now_ms)) {
            links.extend(self.links.of(&name(id, "given")));
            links.extend(self.links.beginning(&name(id, ENDS)));
        }
        for key in self.recorded.keys() {
            links.extend(self.links.beginning(&budget::names(key)).next_back());
        }
        links.into_iter().filter(|link| link.seq <= up_to).map(|link| link.event.clone()).collect()
    }

    /// Lets go what is over and whose records went with the old end of the chain.
    fn forget_what_is_over(&mut self, now_ms: u64) {
        let links = &self.links;
        let gone = |id: &str, what: &str| links.of(&name(id, what)).is_none();
        self.approvals.remove_if(|id, asked| !asked.may_be_used(now_ms) && gone(id, "asked"));
        self.grants.remove_if(|id, kept| !kept.is_in_force(now_ms) && gone(id, "given"));
        let grants = &self.grants;
        self.uses.remove_if(|(grant, _), _| !grants.contains_key(grant));
    }
}

/// A record as it is chained again: one of a budget is named by its place.
fn carried_to(event: Event, seq: u64) -> Event {
    match event {
        Event::Change(mut change) if change.id.starts_with(budget::NAMES) => {
            let names = change.id.len().saturating_sub(16);
            change.id.truncate(names);
            change.id.push_str(&format!("{seq:016x}"));
            Event::Change(change)
        }
        other => other,
    }
}
