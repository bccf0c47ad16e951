//! Sketches of what records say, so that a text is found in a million of them without reading all.
//!
//! For every 64 records a few thousand bits say which three bytes stand side by side somewhere in them, upper and lower case
//! alike. Where one of those of the text is missing, none of the records holds it. Sketches are made behind the end of
//! the chain, by whoever checks it; records without one are read.

use super::Sqlite;
use crate::Error;
use crate::audit::{Order, as_written};
use rusqlite::{Connection, params};

/// Records of one sketch.
pub(super) const BLOCK: i64 = 64;
/// A sketch and what SQLite adds to it fit into one page.
const BYTES: usize = 4000;
/// Sketches that are looked at before what they found is read.
const AT_A_TIME: i64 = 256;

/// A stretch of records that may hold a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) first: i64,
    pub(super) last: i64,
}

/// Makes sketches of the next records that have none, at most this many; tells how many were made.
pub(super) fn make(store: &Sqlite, most: usize) -> Result<usize, Error> {
    let made = store.read(|connection| {
        let ends = "SELECT min(seq), max(seq) FROM event";
        let (first, last): (Option<i64>, Option<i64>) =
            connection.prepare_cached(ends)?.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let (Some(first), Some(last)) = (first, last) else { return Ok(Vec::new()) };
        let known: Option<i64> =
            connection.prepare_cached("SELECT max(block) FROM sketch")?.query_row([], |row| row.get(0))?;
        let from = known.map_or(first / BLOCK, |known| known + 1);
        // The last stretch may still grow.
        let blocks = (from..last / BLOCK).take(most);
        blocks.map(|block| Ok((block, of_block(connection, block)?))).collect::<Result<Vec<_>, Error>>()
    })?;
    if !made.is_empty() {
        store.write_soon(|tx| {
            let mut keep =
                tx.connection().prepare_cached("INSERT OR IGNORE INTO sketch (block, bits) VALUES (?1, ?2)")?;
            made.iter().try_for_each(|(block, bits)| keep.execute(params![block, bits]).map(|_| ()))?;
            Ok(())
        })?;
    }
    Ok(made.len())
}

fn of_block(connection: &Connection, block: i64) -> Result<Vec<u8>, Error> {
    let mut bits = vec![0_u8; BYTES];
    let mut statement = connection.prepare_cached("SELECT body FROM event WHERE seq >= ?1 AND seq < ?2")?;
    let mut rows = statement.query([block * BLOCK, (block + 1) * BLOCK])?;
    while let Some(row) = rows.next()? {
        let body = row.get_ref(0)?.as_bytes().map_err(rusqlite::Error::from)?;
        for place in threes(body) {
            if let Some(byte) = bits.get_mut(place / 8) {
                *byte |= 1 << (place % 8);
            }
        }
    }
    Ok(bits)
}

/// The bits of all that stand side by side in a text.
fn threes(text: &[u8]) -> impl Iterator<Item = usize> {
    text.windows(3).map(|three| {
        let number = three.iter().fold(0_u32, |number, byte| number << 8 | u32::from(byte.to_ascii_lowercase()));
        // Spread, so that neighbours do not share a byte.
        (number.wrapping_mul(0x9E37_79B1) >> 7) as usize % (BYTES * 8)
    })
}

/// Looks for records that may hold a text, from one end of the chain to the other, some at a time: whoever has found enough
/// stops.
pub(super) struct Search {
    /// The bits of the text; none: any record may hold it.
    places: Vec<usize>,
    order: Order,
    /// Records that were not looked at yet.
    left: Option<Stretch>,
}

impl Search {
    /// For this text, if one is asked for.
    pub(super) fn of(text: Option<&str>, order: Order) -> Self {
        let places = text.map_or_else(Vec::new, |text| threes(as_written(text).as_bytes()).collect());
        Self { places, order, left: Some(Stretch { first: 0, last: i64::MAX }) }
    }

    /// The next stretches of records that may hold it, in order; `None`: there are no more.
    pub(super) fn next(&mut self, connection: &Connection) -> Result<Option<Vec<Stretch>>, Error> {
        let Some(left) = self.left.take() else { return Ok(None) };
        if self.places.is_empty() {
            return Ok(Some(vec![left]));
        }
        let newest_first = self.order == Order::NewestFirst;
        let sql = if newest_first {
            "SELECT block, bits FROM sketch WHERE block >= ?1 AND block <= ?2 ORDER BY block DESC LIMIT ?3"
        } else {
            "SELECT block, bits FROM sketch WHERE block >= ?1 AND block <= ?2 ORDER BY block LIMIT ?3"
        };
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query([left.first.div_euclid(BLOCK), left.last / BLOCK, AT_A_TIME])?;
        let (mut found, mut looked, mut left) = (Vec::new(), 0, left);
        while let Some(row) = rows.next()? {
            looked += 1;
            let block: i64 = row.get(0)?;
            let bits = row.get_ref(1)?.as_bytes().map_err(rusqlite::Error::from)?;
            let of = Stretch { first: block * BLOCK, last: block * BLOCK + BLOCK - 1 };
            // Records on the way that no sketch is of.
            let between = if newest_first {
                Stretch { first: of.last + 1, last: left.last }
            } else {
                Stretch { first: left.first, last: of.first - 1 }
            };
            add(&mut found, between);
            let has = |place: &usize| bits.get(place / 8).is_none_or(|byte| byte & 1 << (place % 8) != 0);
            if self.places.iter().all(has) {
                add(&mut found, of);
            }
            if newest_first {
                left.last = of.first - 1;
            } else {
                left.first = of.last + 1;
            }
        }
        if looked == AT_A_TIME {
            self.left = Some(left).filter(|left| left.first <= left.last);
        } else {
            add(&mut found, left);
        }
        Ok(Some(found))
    }
}

/// Adds a stretch, to its neighbour where it has one.
fn add(found: &mut Vec<Stretch>, stretch: Stretch) {
    if stretch.last < stretch.first {
        return;
    }
    match found.last_mut() {
        Some(newer) if newer.first == stretch.last.saturating_add(1) => newer.first = stretch.first,
        Some(older) if older.last.saturating_add(1) == stretch.first => older.last = stretch.last,
        _ => found.push(stretch),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::{Change, Event, Kind, Query};
    use crate::store::{Chain as _, Keep, Records as _};

    #[test]
    fn a_text_is_found_wherever_it_stands_with_and_without_sketches() {
        let dir = tempfile::tempdir().unwrap();
        let store = Sqlite::open_at(&dir.path().join("s.db")).unwrap();
        let all: Vec<Event> = (0..1000)
            .map(|n| {
                let mut change = Change::now(Kind::Token, format!("number-{n}-\"Größe\\\\x"));
                change.detail = serde_json::json!({ "of": if n % 100 == 7 { "Needle" } else { "hay" } });
                Event::from(change)
            })
            .collect();
        store.append(&all, &[]).unwrap();
        let find = |text: &str, order: Order, limit: Option<usize>| -> Vec<u64> {
            let query = Query { text: Some(text.into()), order, limit, ..Query::default() };
            assert!(limit.is_some() || store.count(&query).unwrap() == store.events(&query).unwrap().len() as u64);
            store.events(&query).unwrap().iter().map(|one| one.seq).collect()
        };
        let texts =
            ["needle", "number-999-", "NUMBER-3-", "\"größe\\", "ö", "hay", "nowhere at all", "number-1", "e\\x"];
        let orders = [Order::NewestFirst, Order::OldestFirst];
        let look = || -> Vec<Vec<u64>> {
            let ways = texts.iter().flat_map(|text| orders.map(|order| (text, order)));
            ways.flat_map(|(text, order)| [None, Some(3)].map(|limit| find(text, order, limit))).collect()
        };
        let before = look();
        assert_eq!(before[0].len(), 10);
        assert_eq!(make(&store, 4).unwrap(), 4);
        assert_eq!(look(), before);
        while make(&store, 4).unwrap() > 0 {}
        assert_eq!(look(), before);
        let held = |text: &str| {
            let mut search = Search::of(Some(text), Order::NewestFirst);
            let stretches = store.read(|c| search.next(c)).unwrap().unwrap();
            stretches.iter().map(|s| s.last.min(1001) - s.first + 1).sum::<i64>()
        };
        assert!(held("number-999-") <= 3 * BLOCK, "{}", held("number-999-"));
        store.prune(Keep::Last(200), "ann").unwrap();
        assert_eq!(find("needle", Order::OldestFirst, None).len(), 2);
    }

    #[test]
    fn whoever_has_found_enough_looks_at_no_more_sketches() {
        let dir = tempfile::tempdir().unwrap();
        let store = Sqlite::open_at(&dir.path().join("s.db")).unwrap();
        let blocks = AT_A_TIME * 3;
        let add = |tx: &mut crate::store::sqlite::Transaction<'_>| {
            (0..blocks * BLOCK).try_for_each(|n| {
                let what = if n % 10_000 == 9 { "needle" } else { "hay" };
                tx.append(&Event::from(Change::now(Kind::Token, what))).map(|_| ())
            })
        };
        store.write(add).unwrap();
        let every = |order: Order| -> Vec<u64> {
            let query = Query { text: Some("needle".into()), order, ..Query::default() };
            store.events(&query).unwrap().iter().map(|one| one.seq).collect()
        };
        let unsketched = [every(Order::NewestFirst), every(Order::OldestFirst)];
        assert_eq!(unsketched[0].len(), 5);
        while make(&store, 1000).unwrap() > 0 {}
        assert_eq!([every(Order::NewestFirst), every(Order::OldestFirst)], unsketched);
        // In the middle, a few went missing: what they were of is read.
        store.write(|tx| Ok(tx.connection().execute_batch("DELETE FROM sketch WHERE block % 100 < 3")?)).unwrap();
        assert_eq!([every(Order::NewestFirst), every(Order::OldestFirst)], unsketched);
        for order in [Order::NewestFirst, Order::OldestFirst] {
            let mut search = Search::of(Some("hay"), order);
            let first = store.read(|c| search.next(c)).unwrap().unwrap();
            let covers: i64 = first.iter().map(|s| s.last.min(blocks * BLOCK) - s.first + 1).sum();
            assert!(covers < blocks * BLOCK / 2, "{covers}");
        }
    }
}
