//! The id of a request.

use super::splice::unescaped;

/// Whole numbers up to here are the same number for every reader.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The id of a request, in a form in which two spellings of one are equal: `1` and `1.0`, `"a/b"` and `"a\/b"`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Id {
    /// A text.
    Text(Vec<u8>),
    /// A number, by its bits.
    Number(u64),
}

impl Id {
    /// Reads the raw JSON of an id. `None` for `null`, for what is neither text nor number, and for numbers that
    /// readers round differently.
    pub(crate) fn read(raw: &[u8]) -> Option<Self> {
        if let Some(inside) = raw.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")) {
            return Some(Self::Text(unescaped(inside)));
        }
        let number: f64 = std::str::from_utf8(raw).ok()?.parse().ok()?;
        // Minus zero is zero.
        (raw.first().is_some_and(|b| *b == b'-' || b.is_ascii_digit()) && number.abs() < EXACT)
            .then(|| Self::Number((number + 0.0).to_bits()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_id_are_equal() {
        let same = [("1", "1.0"), ("1", "1e0"), ("0", "-0"), (r#""a/b""#, r#""a\/b""#), ("100", "1e2")];
        for (one, two) in same {
            assert_eq!(Id::read(one.as_bytes()).unwrap(), Id::read(two.as_bytes()).unwrap());
        }
        assert_ne!(Id::read(b"1"), Id::read(b"\"1\""));
        for none in ["null", "true", "{}", "[1]", "9007199254740993", "1e400", ""] {
            assert_eq!(Id::read(none.as_bytes()), None, "{none}");
        }
    }
}
