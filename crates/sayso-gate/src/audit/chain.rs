//! The chain: each record's hash covers its number, the hash before it, and its content.

use blake3::{Hash, Hasher};

/// Where a chain ends: the number and hash that the next record hangs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// The number of the last record; 0 before the first.
    pub seq: u64,
    /// Its hash.
    pub hash: Hash,
}

impl End {
    /// Before the first record of the chain of this id.
    #[must_use]
    pub fn of_nothing(chain: &str) -> Self {
        let mut hasher = Hasher::new();
        hasher.update(b"sayso chain 1\n").update(chain.as_bytes());
        Self { seq: 0, hash: hasher.finalize() }
    }

    /// After one more record, whose content is this text, byte for byte.
    #[must_use]
    pub fn after(&self, body: &str) -> Self {
        let seq = self.seq.saturating_add(1);
        Self { seq, hash: link(seq, &self.hash, body) }
    }
}

/// The hash of a record.
#[must_use]
pub fn link(seq: u64, previous: &Hash, body: &str) -> Hash {
    // The first three parts have a fixed length, so that no two records read alike.
    let mut hasher = Hasher::new();
    hasher.update(b"sayso record 1\n").update(&seq.to_le_bytes()).update(previous.as_bytes()).update(body.as_bytes());
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_place_and_content_all_count() {
        let one = End::of_nothing("a").after("{}");
        assert_eq!(one, End::of_nothing("a").after("{}"));
        assert_ne!(one.hash, End::of_nothing("b").after("{}").hash);
        assert_ne!(one.hash, End::of_nothing("a").after("{ }").hash);
        assert_ne!(link(1, &one.hash, "x"), link(2, &one.hash, "x"));
    }
}
