//! `cd`, `pushd`, `popd`.

use super::Arguments;
use crate::Dialect;
use crate::canonical::canonical;
use crate::certain::By;
use crate::certain::Output;
use crate::files::Kind;
use crate::value::scope::{Entry, Held};
use crate::walk::{Cwd, Ends, Fog, Walker};
use crate::word::Word;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

pub(super) fn run(walker: &mut Walker<'_>, name: &str, words: &Arguments<'_>) -> Ends {
    let operands: Vec<&Word> = words.operands().map(|(_, word)| word).collect();
    let operand = operands.first().copied();
    let letters = words.letters();
    let here = walker.cwd().clone();
    let target = match (name, operand.map(|word| (word, word.exact()))) {
        ("dirs", _) => {
            walker.print(Output::ANYTHING);
            return Ends::both(&here);
        }
        // The stack of folders is not followed.
        ("popd", _) | ("pushd", None) => Cwd::UNKNOWN,
        ("pushd", Some((_, Some([b'+' | b'-', ..])))) => Cwd::UNKNOWN,
        ("cd", None) if letters.is_none() => Cwd::UNKNOWN,
        ("cd", None) => match walker.lookup_scalar(b"HOME").bytes() {
            Some(home) => here.enter(Path::new(OsStr::from_bytes(home)), By::Text),
            None => Cwd::UNKNOWN,
        },
        ("cd", Some((_, Some(b"-")))) => {
            walker.print(Output::ANYTHING);
            if walker.scope.get(b"OLDPWD").is_some() { Cwd::UNKNOWN } else { walker.state.before.clone() }
        }
        // Of zsh: `cd old new` replaces a part of the path.
        (_, Some(_)) if operands.len() > 1 && walker.state.dialect != Dialect::Bash => Cwd::UNKNOWN,
        // `pushd -n` stays where it is, whatever it is given.
        ("pushd", Some((_, Some(path)))) if letters.as_ref().is_none_or(|letters| !letters.is_empty()) => {
            here.or(&destination(walker, &here, path, letters.as_deref()))
        }
        (_, Some((_, Some(path)))) => destination(walker, &here, path, letters.as_deref()),
        (_, Some((Word::Exact(_) | Word::Dynamic(_) | Word::Opaque, None))) => Cwd::UNKNOWN,
        _ => Cwd::UNKNOWN,
    };
    // `cd` tells where it went if it did not go where its word says.
    let told = match operand.map(Word::exact) {
        _ if name != "cd" => true,
        None => letters.is_none(),
        Some(Some(path)) => path == b"-" || is_searched(walker, path),
        Some(None) => true,
    };
    if told {
        walker.print(Output::ANYTHING);
    }
    walker.moves += 1;
    let known: &[u8] = if walker.state.dialect == Dialect::Bash { b"LPe" } else { b"LP" };
    let understood = operands.len() < 2
        && operand.is_none_or(|word| word.exact().is_some_and(|path| path != b"-"))
        && letters.is_some_and(|letters| letters.iter().all(|letter| known.contains(letter)));
    let sure = matches!(name, "cd" | "pushd")
        && understood
        && !walker.state.cd_unsure
        && !walker.state.line_may_be_left
        && walker.state.readonly.is_empty()
        && operand.and_then(Word::exact).is_none_or(|path| passes(walker, &here, path))
        && arrives(walker, &target);
    walker.state.before = if sure { here.clone() } else { walker.state.before.or(&here) };
    let touched = walker.scope.get(b"PWD").is_some() || walker.scope.get(b"OLDPWD").is_some();
    if touched {
        // The shell sets both anew: the second to what the first holds, whatever somebody made of it.
        walker.state.before = Cwd::UNKNOWN;
        for name in [&b"PWD"[..], b"OLDPWD"] {
            walker.scope.set(name, Some(Entry::new(Held::Unknown { crafted: walker.armed })));
        }
    }
    if sure {
        walker.state.cwd = target.clone();
        return Ends { ok: Some(target), failed: None };
    }
    walker.state.cwd = here.or(&target);
    // With `PWD` that cannot be set it goes there, and says that it failed.
    let failed = if walker.state.readonly.is_empty() { here } else { walker.state.cwd.clone() };
    Ends { ok: Some(target), failed: Some(failed) }
}

fn destination(walker: &Walker<'_>, here: &Cwd, path: &[u8], letters: Option<&[u8]>) -> Cwd {
    let path = Path::new(OsStr::from_bytes(path));
    if path.as_os_str().is_empty() {
        return here.clone();
    }
    let bytes = path.as_os_str().as_bytes();
    if is_searched(walker, bytes) {
        return Cwd::UNKNOWN;
    }
    let target = here.enter(path, By::Text);
    // `-P` takes `..` behind links; an unknown option may be it.
    let physical = letters.is_none_or(|letters| letters.contains(&b'P')) || walker.state.physical_cd;
    if physical && bytes.windows(2).any(|pair| pair == b"..") {
        return Cwd::UNKNOWN;
    }
    if target.places().iter().any(|place| walker.leads_astray(place)) {
        return Cwd::UNKNOWN;
    }
    if !physical {
        return target;
    }
    // From where a link led, a later `..` leads elsewhere than from the link.
    target.or_behind_links(walker.context.files)
}

/// Whether CDPATH may lead elsewhere: the path does not say where it begins.
fn is_searched(walker: &Walker<'_>, path: &[u8]) -> bool {
    let fixed =
        path.starts_with(b"/") || matches!(path, b"." | b"..") || path.starts_with(b"./") || path.starts_with(b"../");
    let set = || walker.context.env.get("CDPATH").is_some_and(|folders| !folders.is_empty());
    !fixed && (walker.state.fog == Fog::All || walker.scope.get(b"CDPATH").is_some() || set())
}

/// Whether all that a path leads out of again by `..` is there.
fn passes(walker: &Walker<'_>, here: &Cwd, path: &[u8]) -> bool {
    if !path.windows(2).any(|pair| pair == b"..") {
        return true;
    }
    let Some(here) = here.only() else { return false };
    let mut so_far = here.to_path_buf();
    for component in Path::new(OsStr::from_bytes(path)).components() {
        if component == Component::ParentDir {
            let found = canonical(walker.context.files, &so_far);
            if !found.certain || !matches!(found.kind, Kind::Folder { .. }) {
                return false;
            }
            so_far.pop();
        } else {
            so_far.push(component);
        }
    }
    true
}

/// Whether `cd` certainly gets there: the folder exists, may be entered, and nothing was removed since.
fn arrives(walker: &Walker<'_>, target: &Cwd) -> bool {
    let Some(path) = target.only() else { return false };
    if walker.disturbed() || walker.state.elsewhere {
        return false;
    }
    let found = canonical(walker.context.files, path);
    found.certain
        && matches!(found.kind, Kind::Folder { .. })
        // Looking up `.` in it needs the same permission as entering it.
        && matches!(walker.context.files.kind(&path.join(".")), Kind::Folder { .. } | Kind::Link(_))
}
