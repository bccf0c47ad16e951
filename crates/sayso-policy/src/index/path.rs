//! Path patterns by their literal part, without regard to case.

use super::key::{Key, Part, PathVerb};
use super::numbers::{Built, Numbers};
use crate::pattern::{PathKey, PathPattern, Tree};
use crate::word::Resolved;
use sayso_shell::{PathTarget, Verb};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Adds a pattern.
pub(crate) fn add(built: &mut Built, of: PathVerb, pattern: &PathPattern, at: u32) {
    let list = |built: &mut Built, part: Part| built.add(part, Key::new(part), at);
    let keyed = |built: &mut Built, part: Part, text: &[u8]| built.add(part, Key::new(part).with_all(text), at);
    list(built, Part::PathAll(of));
    if pattern.names_a_place() {
        list(built, Part::Placed(of));
    }
    for name in pattern.leading_names() {
        keyed(built, Part::Leads(of), name);
    }
    match pattern.key() {
        PathKey::Under(path) => keyed(built, Part::Under(of), path.as_os_str().as_bytes()),
        PathKey::Holds(name) => keyed(built, Part::Holds(of), &name),
        PathKey::Ends(text) => keyed(built, Part::Ends(of), &text),
        PathKey::Any => list(built, Part::PathAny(of)),
    }
}

/// Calls `visit` with the number of each pattern that might match.
pub(crate) fn candidates(
    numbers: &Numbers,
    of: PathVerb,
    verb: Verb,
    target: &PathTarget,
    resolved: &Resolved,
    tree: &Tree<'_>,
    visit: &mut dyn FnMut(u32),
) {
    if !numbers.has(Part::PathAll(of)) {
        return;
    }
    let Some(canonical) = resolved.canonical.as_deref() else {
        numbers.all(Part::PathAll(of), visit);
        return;
    };
    let lexical = resolved.lexical.as_deref().filter(|lexical| lexical.as_os_str() != canonical.as_os_str());
    match target {
        PathTarget::Exact(path) if path.is_absolute() => {
            numbers.all(Part::PathAny(of), visit);
            for path in std::iter::once(canonical).chain(lexical) {
                literal(numbers, of, path, visit);
            }
        }
        PathTarget::Below(path) | PathTarget::Listed(path) | PathTarget::Glob { base: path, .. }
            if path.is_absolute() =>
        {
            let Some(found) = tree.all_below(canonical) else {
                numbers.all(Part::PathAll(of), visit);
                return;
            };
            // A folder of ten thousand files asks about each of them, but each pattern is tried once.
            let mut once: Vec<u32> = Vec::new();
            numbers.all(Part::PathAny(of), &mut |at| once.push(at));
            if verb == Verb::Write {
                // What does not exist yet may be created.
                numbers.all(Part::Placed(of), &mut |at| once.push(at));
                if let Some(name) = canonical.file_name()
                    && numbers.has(Part::Leads(of))
                {
                    numbers.each(Key::new(Part::Leads(of)).with_all(name.as_bytes()), &mut |at| once.push(at));
                }
            }
            let mut most = 0;
            for path in std::iter::once(canonical).chain(lexical).chain(found.iter().map(|path| path.as_path())) {
                literal(numbers, of, path, &mut |at| once.push(at));
                // As many as there are patterns, however many files there are.
                if once.len() > most {
                    once.sort_unstable();
                    once.dedup();
                    most = 2 * once.len() + 64;
                }
            }
            once.sort_unstable();
            once.dedup();
            once.into_iter().for_each(visit);
        }
        _ => numbers.all(Part::PathAll(of), visit),
    }
}

fn literal(numbers: &Numbers, of: PathVerb, path: &Path, visit: &mut dyn FnMut(u32)) {
    let path = path.as_os_str().as_bytes();
    if numbers.has(Part::Ends(of))
        && let Some(ending) = path.iter().rposition(|b| matches!(b, b'.' | b'/')).and_then(|from| path.get(from..))
    {
        numbers.each(Key::new(Part::Ends(of)).with_all(ending), visit);
    }
    let (has_under, has_holds) = (numbers.has(Part::Under(of)), numbers.has(Part::Holds(of)));
    if !has_under && !has_holds {
        return;
    }
    let (mut under, name) = (Key::new(Part::Under(of)), Key::new(Part::Holds(of)));
    let mut holds = name;
    let ends = path.iter().skip(1).map(Some).chain(std::iter::once(None));
    if let Some(first) = path.first() {
        under = under.with(*first);
    }
    for byte in ends {
        if let Some(byte) = byte.filter(|byte| **byte != b'/') {
            under = under.with(*byte);
            holds = holds.with(*byte);
            continue;
        }
        if has_under {
            numbers.each(under, visit);
        }
        if has_holds {
            numbers.each(holds, visit);
        }
        under = under.with(b'/');
        holds = name;
    }
}
