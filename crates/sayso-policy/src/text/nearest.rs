//! "Did you mean": the nearest of some words.

/// The candidate that `word` was most likely meant to be, if one is near enough.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A hostile key of a megabyte must not buy a quadratic comparison.
    if word.len() > 64 {
        return None;
    }
    let word = word.to_lowercase().replace('_', "-");
    let room = (word.chars().count() / 3).clamp(1, 3);
    let candidates: Vec<&str> = candidates.into_iter().collect();
    candidates
        .iter()
        .copied()
        .map(|candidate| (distance(&word, &candidate.to_lowercase().replace('_', "-")), candidate))
        .filter(|(distance, _)| *distance <= room)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
        .or_else(|| begun(&word, &candidates))
}

/// The one candidate that begins with a word of three letters or more.
fn begun<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let begins = |candidate: &&&str| word.len() >= 3 && candidate.to_lowercase().replace('_', "-").starts_with(word);
    let mut found = candidates.iter().filter(begins).copied();
    found.next().filter(|_| found.next().is_none())
}

/// Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours cost one each.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    let mut previous_a = None;
    for (i, ca) in a.chars().enumerate() {
        let mut row = Vec::with_capacity(b.len() + 1);
        row.push(i + 1);
        let mut previous_b = None;
        for (j, cb) in b.iter().copied().enumerate() {
            let at = |row: &[usize], index: usize| row.get(index).copied().unwrap_or(usize::MAX / 2);
            let replaced = at(&last, j) + usize::from(ca != cb);
            let mut best = replaced.min(at(&last, j + 1) + 1).min(at(&row, j) + 1);
            if previous_a == Some(cb) && previous_b == Some(ca) && j > 0 {
                best = best.min(at(&before_last, j - 1) + 1);
            }
            row.push(best);
            previous_b = Some(cb);
        }
        before_last = std::mem::replace(&mut last, row);
        previous_a = Some(ca);
    }
    last.last().copied().unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_errors_find_their_word_and_strangers_do_not() {
        let words = ["allow", "ask", "deny", "default", "piped_to", "bytes_written"];
        for (typed, meant) in [
            ("alow", Some("allow")),
            ("dney", Some("deny")),
            ("Deny", Some("deny")),
            ("defualt", Some("default")),
            ("piped-to", Some("piped_to")),
            ("byteswritten", Some("bytes_written")),
            ("as", Some("ask")),
            ("network", None),
            ("", None),
        ] {
            assert_eq!(nearest(typed, words), meant, "{typed}");
        }
        assert_eq!(nearest(&"a".repeat(1 << 20), words), None);
    }
}
