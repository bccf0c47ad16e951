//! Rules and their index in an image.

use super::blocks::Data;
use super::bytes::{Imaged, Reader, fields, put_list, put_text};
use super::lazily::Lazily;
use crate::condition::Condition;
use crate::index::{Built, Numbers, Rules, Table};
use crate::rule::{Pattern, Rule};
use crate::word::Approvers;
use std::collections::HashMap;
use std::sync::Arc;

/// The size of a slot: key, first, count.
const SLOT: usize = 16;

/// Where a table lies in the data.
#[derive(Clone, Copy, Debug)]
struct Place {
    rules: u32,
    /// Where each rule begins, and where the last one ends.
    offsets: u32,
    /// A hash table with open addressing: as many slots as this power of two.
    slots: u32,
    bits: u8,
    lists: u32,
    parts: u32,
    approvers: bool,
}
fields!(Place { rules, offsets, slots, bits, lists, parts, approvers });

/// Numbers by key, as they lie in an image.
#[derive(Debug)]
pub(crate) struct Slots {
    data: Arc<Data>,
    place: Place,
    /// A bit for each part that holds anything.
    pub(crate) parts: u32,
}

/// Rules as they lie in an image: each is read when it is first asked for.
#[derive(Debug)]
pub(crate) struct ImageRules {
    data: Arc<Data>,
    place: Place,
    rules: Lazily<Box<Rule>>,
}

impl Slots {
    pub(crate) fn each(&self, key: u64, visit: &mut dyn FnMut(u32)) {
        let Some((first, count)) = self.data.damaged(self.find(key)) else { return };
        match count {
            0 => {}
            1 => visit(first),
            count => {
                let at = self.place.lists as usize + first as usize * 4;
                let Some(list) = self.data.bytes(at, count as usize * 4) else { return };
                let mut reader = Reader::new(&list);
                while let Some(number) = u32::take(&mut reader) {
                    visit(number);
                }
            }
        }
    }

    /// The list under a key: its first place (or its only number) and how many it holds.
    fn find(&self, key: u64) -> Option<(u32, u32)> {
        let slots = 1_u64.checked_shl(u32::from(self.place.bits))?;
        for step in 0..slots {
            let slot = usize::try_from(key.wrapping_add(step) & (slots - 1)).ok()?;
            let at = slot.checked_mul(SLOT)?.checked_add(self.place.slots as usize)?;
            let bytes = self.data.bytes(at, SLOT)?;
            let mut reader = Reader::new(&bytes);
            let (found, first, count) = (u64::take(&mut reader)?, u32::take(&mut reader)?, u32::take(&mut reader)?);
            if count == 0 || found == key {
                return Some((first, count));
            }
        }
        // INVARIANT: a table that was written has an empty slot.
        None
    }
}

impl ImageRules {
    pub(crate) fn len(&self) -> usize {
        self.place.rules as usize
    }

    pub(crate) fn get(&self, at: u32) -> Option<&Rule> {
        let number = usize::try_from(at).ok()?;
        let found = self.rules.get(number, || {
            let offsets = self.data.bytes(self.place.offsets as usize + number * 4, 8)?;
            let mut reader = Reader::new(&offsets);
            let (from, to) = (u32::take(&mut reader)?, u32::take(&mut reader)?);
            let bytes = self.data.bytes(from as usize, to.checked_sub(from)? as usize)?;
            read_rule(&self.data, &bytes).map(Box::new)
        });
        self.data.damaged(found).map(AsRef::as_ref)
    }
}

/// A table from its place.
pub(super) fn open(data: &Arc<Data>, reader: &mut Reader<'_>) -> Option<Table> {
    let place = Place::take(reader)?;
    let rules = ImageRules { data: data.clone(), place, rules: Lazily::new(place.rules as usize) };
    let slots = Slots { data: data.clone(), place, parts: place.parts };
    Some(Table { rules: Rules::Image(rules), numbers: Numbers::Image(slots), approvers: place.approvers })
}

/// What is written once however many rules share it.
#[derive(Default)]
pub(super) struct Pool {
    known: HashMap<Vec<u8>, (u32, u32)>,
    /// By address, so that a long list that thousands of rules share is written out once.
    except: HashMap<usize, (u32, u32)>,
    when: HashMap<usize, (u32, u32)>,
}

impl Pool {
    fn add(&mut self, data: &mut Vec<u8>, bytes: Vec<u8>) -> Option<(u32, u32)> {
        if let Some(known) = self.known.get(&bytes) {
            return Some(*known);
        }
        let place = (u32::try_from(data.len()).ok()?, u32::try_from(bytes.len()).ok()?);
        data.extend_from_slice(&bytes);
        self.known.insert(bytes, place);
        Some(place)
    }
}

/// Writes a table to the data, and its place to the head. `None`: it lies in an image already, or is too large.
pub(super) fn write(table: &Table, pool: &mut Pool, data: &mut Vec<u8>, head: &mut Vec<u8>) -> Option<()> {
    let (Rules::Built(rules), Numbers::Built(built)) = (&table.rules, &table.numbers) else { return None };
    let mut records = Vec::new();
    let mut starts = Vec::with_capacity(rules.len() + 1);
    for rule in rules {
        starts.push(records.len());
        write_rule(rule, pool, data, &mut records)?;
    }
    starts.push(records.len());
    let base = data.len();
    data.append(&mut records);
    let offsets = data.len();
    for start in starts {
        u32::try_from(base + start).ok()?.put(data);
    }
    data.resize(data.len().next_multiple_of(SLOT), 0);
    let slots = data.len();
    let (bits, lists) = write_slots(built, data)?;
    let place = Place {
        rules: u32::try_from(rules.len()).ok()?,
        offsets: u32::try_from(offsets).ok()?,
        slots: u32::try_from(slots).ok()?,
        bits,
        lists: u32::try_from(lists).ok()?,
        parts: built.parts,
        approvers: table.approvers,
    };
    place.put(head);
    Some(())
}

fn write_slots(built: &Built, data: &mut Vec<u8>) -> Option<(u8, usize)> {
    // At most two thirds full, and never without an empty slot.
    let count = (built.lists.len() * 3 / 2 + 1).next_power_of_two();
    let mut slots: Vec<Option<(u64, u32, u32)>> = vec![None; count];
    let mut lists = Vec::new();
    // In the order of the keys, so that the same policy always gives the same image.
    let mut keys: Vec<&u64> = built.lists.keys().collect();
    keys.sort_unstable();
    for key in keys {
        let list = built.lists.get(key)?;
        let first = match list.as_slice() {
            [only] => *only,
            _ => u32::try_from(lists.len()).ok()?,
        };
        if list.len() > 1 {
            lists.extend_from_slice(list);
        }
        let mut at = usize::try_from(*key & u64::try_from(count - 1).ok()?).ok()?;
        while slots.get(at)?.is_some() {
            at = (at + 1) % count;
        }
        *slots.get_mut(at)? = Some((*key, first, u32::try_from(list.len()).ok()?));
    }
    for slot in slots {
        let (key, first, count) = slot.unwrap_or_default();
        key.put(data);
        first.put(data);
        count.put(data);
    }
    let at = data.len();
    lists.iter().for_each(|number| number.put(data));
    Some((u8::try_from(count.trailing_zeros()).ok()?, at))
}

fn write_rule(rule: &Rule, pool: &mut Pool, data: &mut Vec<u8>, out: &mut Vec<u8>) -> Option<()> {
    let Rule { verdict, verb, pattern, except, when, code, sentence, layer, source, approver, always, held } = rule;
    verdict.put(out);
    verb.put(out);
    pattern.put(out);
    code.put(out);
    put_text(sentence, out);
    always.put(out);
    held.put(out);
    let approver = match approver {
        None => None,
        Some(approvers) => {
            let mut bytes = Vec::new();
            approvers.put(&mut bytes);
            Some(pool.add(data, bytes)?)
        }
    };
    approver.put(out);
    let except = if except.is_empty() {
        None
    } else {
        let address = Arc::as_ptr(except).cast::<u8>() as usize;
        Some(match pool.except.get(&address) {
            Some(known) => *known,
            None => {
                let mut bytes = Vec::new();
                put_list(except, &mut bytes);
                let place = pool.add(data, bytes)?;
                pool.except.insert(address, place);
                place
            }
        })
    };
    except.put(out);
    let when = if when.is_empty() {
        None
    } else {
        let address = Arc::as_ptr(when).cast::<u8>() as usize;
        Some(match pool.when.get(&address) {
            Some(known) => *known,
            None => {
                let mut bytes = Vec::new();
                put_list(when, &mut bytes);
                let place = pool.add(data, bytes)?;
                pool.when.insert(address, place);
                place
            }
        })
    };
    when.put(out);
    let mut shared = Vec::new();
    layer.put(&mut shared);
    source.as_ref().map(|source| source.file.clone()).put(&mut shared);
    pool.add(data, shared)?.put(out);
    source.as_ref().map(|source| (source.line, source.column)).put(out);
    Some(())
}

fn read_rule(data: &Data, bytes: &[u8]) -> Option<Rule> {
    let mut from = Reader::new(bytes);
    let verdict = Imaged::take(&mut from)?;
    let verb = Imaged::take(&mut from)?;
    let pattern = Imaged::take(&mut from)?;
    let code = Imaged::take(&mut from)?;
    let sentence = Imaged::take(&mut from)?;
    let always = Imaged::take(&mut from)?;
    let held = Imaged::take(&mut from)?;
    let pooled = |place: (u32, u32)| data.bytes(place.0 as usize, place.1 as usize);
    let approver: Option<Approvers> = match Imaged::take(&mut from)? {
        Some(place) => Some(Reader::whole(&pooled(place)?)?),
        None => None,
    };
    let except: Vec<Pattern> = match Imaged::take(&mut from)? {
        Some(place) => Reader::whole(&pooled(place)?)?,
        None => Vec::new(),
    };
    let when: Vec<Condition> = match Imaged::take(&mut from)? {
        Some(place) => Reader::whole(&pooled(place)?)?,
        None => Vec::new(),
    };
    let (layer, file): (_, Option<Arc<str>>) = Reader::whole(&pooled(Imaged::take(&mut from)?)?)?;
    let place: Option<(u32, u32)> = Imaged::take(&mut from)?;
    let source = match (file, place) {
        (Some(file), Some((line, column))) => Some(crate::word::Source { file, line, column }),
        (None, None) => None,
        _ => return None,
    };
    Some(Rule {
        verdict,
        verb,
        pattern,
        except: except.into(),
        when: when.into(),
        code,
        sentence,
        layer,
        source,
        approver: approver.map(Arc::new),
        always,
        held,
    })
}
