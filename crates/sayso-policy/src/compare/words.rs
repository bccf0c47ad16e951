//! The shortest words for every way in which patterns overlap: all patterns run side by side as one automaton, state by
//! state, and each set of patterns that can hold at once gives one word.

use std::collections::{HashSet, VecDeque};

/// States that are looked at before the search gives up.
const MOST_STATES: usize = 4_000;
/// Words that are found before the search gives up.
const MOST_WORDS: usize = 600;
/// Alternatives that one text stands for: `**/` is there or is not.
const MOST_READINGS: usize = 8;

/// One step of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Byte(u8),
    /// `?`.
    One,
    /// `*`: any number of characters of one component.
    Many,
    /// `**`: any number of characters.
    Deep,
}

/// A pattern as steps, and whether it is one that changed.
#[derive(Clone, Debug)]
pub(super) struct Steps {
    steps: Vec<Step>,
    changed: bool,
}

impl Steps {
    /// Every reading of a pattern's text. `separator` is what `*` does not match, where there is such a character.
    pub(super) fn read(text: &str, separator: Option<u8>, changed: bool) -> Vec<Self> {
        let mut open: Vec<(Vec<Step>, &[u8])> = vec![(Vec::new(), text.as_bytes())];
        let mut done = Vec::new();
        while let Some((mut steps, rest)) = open.pop() {
            match rest {
                [] => done.push(Self { steps, changed }),
                [b'*', b'*', b'/', rest @ ..] if separator == Some(b'/') => {
                    if open.len() + done.len() < MOST_READINGS {
                        open.push((steps.clone(), rest));
                    }
                    steps.extend([Step::Deep, Step::Byte(b'/')]);
                    open.push((steps, rest));
                }
                [b'*', b'*', rest @ ..] => {
                    steps.push(Step::Deep);
                    open.push((steps, rest));
                }
                [b'*', rest @ ..] => {
                    steps.push(if separator.is_some() { Step::Many } else { Step::Deep });
                    open.push((steps, rest));
                }
                [b'?', rest @ ..] => {
                    steps.push(Step::One);
                    open.push((steps, rest));
                }
                [byte, rest @ ..] => {
                    steps.push(Step::Byte(*byte));
                    open.push((steps, rest));
                }
            }
        }
        done
    }
}

/// Words that patterns match, and whether those are all combinations that there are.
#[derive(Debug, Default)]
pub(super) struct Words {
    pub(super) words: Vec<String>,
    pub(super) all: bool,
}

/// Where all patterns stand: pairs of a pattern and a place in it, in order.
type State = Vec<(u32, u32)>;

/// The shortest word for every set of patterns that match it, as far as a changed one is among them.
pub(super) fn shortest(patterns: &[Steps]) -> Words {
    let filler = filler(patterns);
    let mut found = Words { words: Vec::new(), all: true };
    let start: State = (0_u32..)
        .zip(patterns)
        .flat_map(|(number, it)| closure(it, 0).into_iter().map(move |at| (number, at)))
        .collect();
    let mut seen: HashSet<State> = HashSet::from([start.clone()]);
    let mut held: HashSet<Vec<u32>> = HashSet::new();
    let mut open: VecDeque<(State, Vec<u8>)> = VecDeque::from([(start, Vec::new())]);
    while let Some((state, word)) = open.pop_front() {
        let matching: Vec<u32> = state.iter().filter(|at| is_end(patterns, at)).map(|(number, _)| *number).collect();
        let about_change = matching.iter().any(|number| is_changed(patterns, *number));
        if about_change && held.insert(matching) {
            found.words.extend(String::from_utf8(word.clone()));
        }
        if found.words.len() >= MOST_WORDS || seen.len() >= MOST_STATES {
            found.all = false;
            break;
        }
        for byte in alphabet(patterns, &state, filler) {
            let next = step(patterns, &state, byte);
            // Only words that a changed pattern can still match are of interest.
            let alive = next.iter().any(|(number, _)| is_changed(patterns, *number));
            if alive && seen.insert(next.clone()) {
                let mut word = word.clone();
                word.push(byte);
                open.push_back((next, word));
            }
        }
    }
    found
}

fn is_changed(patterns: &[Steps], number: u32) -> bool {
    patterns.get(number as usize).is_some_and(|pattern| pattern.changed)
}

fn is_end(patterns: &[Steps], (number, at): &(u32, u32)) -> bool {
    patterns.get(*number as usize).is_some_and(|pattern| pattern.steps.len() == *at as usize)
}

fn at(patterns: &[Steps], number: u32, at: u32) -> Option<Step> {
    patterns.get(number as usize)?.steps.get(at as usize).copied()
}

/// A place, and those behind it that are reached without a character.
fn closure(pattern: &Steps, from: u32) -> Vec<u32> {
    let mut places = vec![from];
    let mut last = from;
    while matches!(pattern.steps.get(last as usize), Some(Step::Many | Step::Deep)) {
        last += 1;
        places.push(last);
    }
    places
}

fn step(patterns: &[Steps], state: &State, byte: u8) -> State {
    let mut next: State = Vec::with_capacity(state.len());
    for (number, place) in state {
        let to = match at(patterns, *number, *place) {
            Some(Step::Byte(own)) if own == byte => place + 1,
            Some(Step::One) if byte != b'/' => place + 1,
            Some(Step::Many) if byte != b'/' => *place,
            Some(Step::Deep) => *place,
            _ => continue,
        };
        if let Some(pattern) = patterns.get(*number as usize) {
            next.extend(closure(pattern, to).into_iter().map(|place| (*number, place)));
        }
    }
    next.sort_unstable();
    next.dedup();
    next
}

/// The characters that lead to different states: those that patterns name there, and one that none names.
fn alphabet(patterns: &[Steps], state: &State, filler: u8) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (number, place) in state {
        match at(patterns, *number, *place) {
            Some(Step::Byte(byte)) => bytes.push(byte),
            Some(Step::One | Step::Many | Step::Deep) => bytes.push(filler),
            None => {}
        }
    }
    bytes.sort_unstable_by_key(|byte| (*byte != filler, *byte));
    bytes.dedup();
    bytes
}

/// A letter that stands for all that no pattern names.
fn filler(patterns: &[Steps]) -> u8 {
    let named = |byte: u8| patterns.iter().any(|it| it.steps.contains(&Step::Byte(byte)));
    b"xqzjvkwyfhbgpmduloncitsraeXQZJVKWY0987654321".iter().copied().find(|byte| !named(*byte)).unwrap_or(b'x')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(patterns: &[(&str, bool)], separator: Option<u8>) -> Words {
        let steps: Vec<Steps> =
            patterns.iter().flat_map(|(text, changed)| Steps::read(text, separator, *changed)).collect();
        shortest(&steps)
    }

    #[test]
    fn every_overlap_gives_its_shortest_word() {
        let found = words(&[("get_*", true), ("*_user", false), ("get_user_x", false)], None);
        assert!(found.all);
        let mut sorted = found.words;
        sorted.sort();
        // The changed pattern alone, with the second, and with the third.
        assert_eq!(sorted, ["get_", "get_user", "get_user_x"]);
    }

    #[test]
    fn a_word_that_no_changed_pattern_matches_is_not_told() {
        assert_eq!(words(&[("a*", false), ("b", true)], None).words, ["b"]);
        assert!(words(&[("a*", false)], None).words.is_empty());
    }

    #[test]
    fn folders_may_stand_between_or_not() {
        let found = words(&[("/a/**/b", true)], Some(b'/'));
        assert!(found.words.contains(&"/a/b".to_owned()), "{found:?}");
        assert!(found.words.iter().any(|word| word.len() > 4), "{found:?}");
    }

    #[test]
    fn a_search_that_is_too_large_ends_and_says_so() {
        let many: Vec<String> = (0..64).map(|n| format!("*{}*{}*", n % 8, n / 8)).collect();
        let patterns: Vec<(&str, bool)> = many.iter().map(|text| (text.as_str(), true)).collect();
        let found = words(&patterns, None);
        assert!(!found.all && !found.words.is_empty());
    }
}
