//! What shows that bytes are as they were written.
//!
//! It tells damage, and nothing else: whoever can write the bytes can write their sum beside them. So it need not withstand
//! anybody, and a hook, which checks some eighty thousand bytes at every call, does with a tenth of what a hash that does
//! would cost.

/// Odd numbers without a pattern: digits of pi.
const FACTORS: [u64; 2] = [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7345];

/// A number for these bytes, other for nearly all others. `of` is what they are about: the same bytes under another name
/// have another sum.
#[must_use]
pub fn checksum(of: &[u8], bytes: &[u8]) -> [u8; 16] {
    let named = folded(of, FACTORS);
    let [low, high] = folded(bytes, named);
    // Each half depends on all bytes.
    let (low, high) = (with(low, high, FACTORS[0]), with(high, low, FACTORS[1]));
    (u128::from(low) << 64 | u128::from(high)).to_le_bytes()
}

/// Words in turns to one of two numbers, which the processor works out side by side.
fn folded(bytes: &[u8], [mut even, mut odd]: [u64; 2]) -> [u64; 2] {
    let (pairs, rest) = bytes.as_chunks::<16>();
    for pair in pairs {
        let [first, second] = words(pair);
        even = with(even, first, FACTORS[0]);
        odd = with(odd, second, FACTORS[1]);
    }
    let mut last = [0; 16];
    last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    let [first, second] = words(&last);
    // The length, so that a zero at the end counts.
    let length = bytes.len() as u64;
    [with(with(even, first, FACTORS[0]), length, FACTORS[0]), with(with(odd, second, FACTORS[1]), length, FACTORS[1])]
}

fn words(pair: &[u8; 16]) -> [u64; 2] {
    let both = u128::from_le_bytes(*pair);
    [both as u64, (both >> 64) as u64]
}

/// One more word. What was there before stays in it whatever the word is.
fn with(sum: u64, word: u64, factor: u64) -> u64 {
    let product = u128::from(sum ^ word) * u128::from(factor);
    ((product as u64) ^ ((product >> 64) as u64)).wrapping_add(sum.rotate_left(23))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_change_of_a_bit_a_length_or_an_order_shows() {
        let bytes: Vec<u8> = (0..4096_u32).map(|at| (at % 251) as u8).collect();
        let mut sums = HashSet::new();
        assert!(sums.insert(checksum(b"", &bytes)));
        for at in 0..bytes.len() * 8 {
            let mut other = bytes.clone();
            other[at / 8] ^= 1 << (at % 8);
            assert!(sums.insert(checksum(b"", &other)), "{at}");
        }
        for length in 0..bytes.len() {
            assert!(sums.insert(checksum(b"", &bytes[..length])), "{length}");
        }
        for at in (0..bytes.len() - 32).step_by(8) {
            let mut other = bytes.clone();
            other[at..at + 32].rotate_left(16);
            assert!(sums.insert(checksum(b"", &other)), "{at}");
        }
        for length in 2..100 {
            assert!(sums.insert(checksum(b"", &vec![0; length])), "{length} zeros");
        }
    }

    #[test]
    fn the_name_counts() {
        assert_eq!(checksum(b"a", b"bytes"), checksum(b"a", b"bytes"));
        assert_ne!(checksum(b"a", b"bytes"), checksum(b"b", b"bytes"));
        assert_ne!(checksum(b"ab", b"c"), checksum(b"a", b"bc"));
    }
}
