//! What a decision has looked at: a few things in most, thousands where a whole project is searched.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

/// So many are found sooner one by one than by a hash.
const FEW: usize = 8;

/// A map from bytes that keeps its first entries in a row.
pub(super) struct Remembered<V> {
    row: Vec<(Vec<u8>, V)>,
    /// All of them, once there are more.
    map: Option<HashMap<Vec<u8>, V, Quickly>>,
}

impl<V> Default for Remembered<V> {
    fn default() -> Self {
        Self { row: Vec::new(), map: None }
    }
}

impl<V> Remembered<V> {
    pub(super) fn get(&self, key: &[u8]) -> Option<&V> {
        match &self.map {
            Some(map) => map.get(key),
            None => self.row.iter().find(|(known, _)| known == key).map(|(_, value)| value),
        }
    }

    /// Adds what is not there yet.
    pub(super) fn insert(&mut self, key: Vec<u8>, value: V) {
        match &mut self.map {
            Some(map) => {
                map.insert(key, value);
            }
            None if self.row.len() < FEW => self.row.push((key, value)),
            None => {
                let mut map = HashMap::with_capacity_and_hasher(FEW * 8, Quickly::default());
                map.extend(self.row.drain(..));
                map.insert(key, value);
                self.map = Some(map);
            }
        }
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &[u8]> {
        let row = self.row.iter().map(|(key, _)| key);
        row.chain(self.map.iter().flat_map(HashMap::keys)).map(Vec::as_slice)
    }
}

/// Hashes eight bytes at a time, with numbers that nobody outside this process knows: paths come from those who may want
/// all of them in one place.
#[derive(Clone)]
pub(super) struct Quickly {
    start: u64,
    factor: u64,
}

impl Default for Quickly {
    fn default() -> Self {
        let unknown = RandomState::new();
        Self { start: unknown.hash_one(0), factor: unknown.hash_one(1) | 1 }
    }
}

impl BuildHasher for Quickly {
    type Hasher = Quick;

    fn build_hasher(&self) -> Quick {
        Quick { sum: self.start, factor: self.factor }
    }
}

pub(super) struct Quick {
    sum: u64,
    factor: u64,
}

impl Hasher for Quick {
    fn write(&mut self, bytes: &[u8]) {
        self.sum = folded(bytes, self.sum, self.factor);
    }

    /// A length, which [`folded`] puts into the number anyway.
    fn write_usize(&mut self, _: usize) {}

    fn finish(&self) -> u64 {
        self.sum
    }
}

/// Bytes as one number.
pub(super) fn folded(bytes: &[u8], start: u64, factor: u64) -> u64 {
    let with = |sum: u64, word: u64| {
        let product = u128::from(sum ^ word) * u128::from(factor);
        (product as u64) ^ ((product >> 64) as u64)
    };
    let (words, rest) = bytes.as_chunks();
    let sum = words.iter().fold(start, |sum, word| with(sum, u64::from_le_bytes(*word)));
    let mut last = [0; 8];
    last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    // The length, so that a zero at the end counts.
    with(with(sum, u64::from_le_bytes(last)), bytes.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_remembered_is_found_however_much_it_is() {
        let mut remembered: Remembered<usize> = Remembered::default();
        for count in 0..100 {
            assert_eq!(remembered.get(format!("{count}").as_bytes()), None);
            remembered.insert(format!("{count}").into_bytes(), count);
            for known in 0..=count {
                assert_eq!(remembered.get(format!("{known}").as_bytes()), Some(&known));
            }
            assert_eq!(remembered.keys().count(), count + 1);
        }
    }

    #[test]
    fn bytes_that_differ_seldom_have_one_number() {
        let texts: Vec<Vec<u8>> =
            (0..20_000).map(|at| format!("src/area{}/part{}", at / 100, at % 100).into()).collect();
        let numbers: std::collections::HashSet<u64> =
            texts.iter().map(|text| folded(text, 0, 0x9e37_79b9_7f4a_7c15)).collect();
        assert_eq!(numbers.len(), texts.len());
        assert_ne!(folded(b"a", 1, 3), folded(b"a\0", 1, 3));
    }
}
