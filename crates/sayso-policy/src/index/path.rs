//! Path patterns by their literal part, without regard to case.

use super::key::{Key, Part, PathVerb};
use super::numbers::{Built, Numbers};
use crate::pattern::{Below, PathKey, PathPattern, Tree};
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
        PathTarget::Told(_) if target.place().is_some_and(Path::is_absolute) => {
            numbers.all(Part::PathAny(of), visit);
            for path in std::iter::once(canonical).chain(lexical) {
                for path in std::iter::once(path).chain(path.parent()) {
                    literal(numbers, of, path, visit);
                }
            }
        }
        PathTarget::Below(_) | PathTarget::Sifted(_) | PathTarget::Listed(_) | PathTarget::Glob { .. }
            if target.place().is_some_and(Path::is_absolute) =>
        {
            let Some(found) = tree.found(target, canonical, verb != Verb::Delete) else {
                numbers.all(Part::PathAll(of), visit);
                return;
            };
            // A folder of ten thousand files asks about each of them, but each pattern is tried once.
            let mut once: Vec<u32> = Vec::with_capacity(FEW);
            let mut most = FEW;
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
            let others = |root: &&Path| root.as_os_str() != canonical.as_os_str();
            for path in std::iter::once(canonical)
                .chain(lexical)
                .chain(found.paths.iter().map(std::path::PathBuf::as_path))
                .chain(found.below.iter().map(|below| below.root()).filter(others))
                .chain(found.targets())
            {
                literal(numbers, of, path, &mut |at| once.push(at));
                tidy(&mut once, &mut most);
            }
            for below in &found.below {
                names(numbers, of, below, &mut |key| {
                    numbers.each(key, &mut |at| once.push(at));
                    tidy(&mut once, &mut most);
                });
            }
            once.sort_unstable();
            once.dedup();
            once.into_iter().for_each(visit);
        }
        _ => numbers.all(Part::PathAll(of), visit),
    }
}

/// So many candidates need not be tidied.
const FEW: usize = 16;

/// As many as there are patterns, however many files there are.
fn tidy(once: &mut Vec<u32>, most: &mut usize) {
    if once.len() > *most {
        once.sort_unstable();
        once.dedup();
        *most = 2 * once.len() + 64;
    }
}

/// The keys of all names below a folder. Each folder is a name too, so of each path only the last one is new.
fn names(numbers: &Numbers, of: PathVerb, below: &Below, visit: &mut dyn FnMut(Key)) {
    let (has_under, has_holds) = (numbers.has(Part::Under(of)), numbers.has(Part::Holds(of)));
    let has_ends = numbers.has(Part::Ends(of));
    let mut head: Option<(&Path, Key)> = None;
    // Files of one kind lie side by side.
    let mut last: &[u8] = b"";
    for (name, folder) in below.names() {
        if has_under {
            let under = match head {
                Some((known, key)) if std::ptr::eq(known, folder) => key,
                _ => {
                    let key = Key::new(Part::Under(of)).with_all(folder.as_os_str().as_bytes());
                    let key = if folder.parent().is_some() { key.with(b'/') } else { key };
                    head = Some((folder, key));
                    key
                }
            };
            visit(under.with_all(name));
        }
        if has_holds {
            visit(Key::new(Part::Holds(of)).with_all(name));
        }
        if has_ends
            && let Some(ending) = name.iter().rposition(|b| *b == b'.').and_then(|from| name.get(from..))
            && ending != last
        {
            visit(Key::new(Part::Ends(of)).with_all(ending));
            last = ending;
        }
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
