//! Programs that list, make, copy, move, change and remove files.

use crate::effect::{Carry, Listing, NamedBy, PathTarget, Target, Verb};
use crate::files::Kind;
use crate::program::{Code, Prints, View, inside as names_inside, join, may_split};
use crate::word::{Text, Word};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Tells of files what their folder says of them.
pub(crate) fn stat(view: &mut View<'_>) {
    tell(view, false);
}

/// With these the names that it prints stand in the files that it is given.
pub(crate) fn tree(view: &mut View<'_>) {
    if !view.has_any(&["--fromfile", "--fromtabfile"]) {
        return lists(view);
    }
    for at in view.operands() {
        if let Some(word) = view.word(at) {
            view.reads(word, at);
        }
    }
}

/// As `stat`, and the names in folders; without operands, in the working directory.
pub(crate) fn lists(view: &mut View<'_>) {
    if view.operand_count() == 0 {
        view.touches(Verb::Read, ".", false);
    }
    tell(view, true);
}

fn tell(view: &mut View<'_>, lists: bool) {
    for at in view.operands() {
        if let Some(word) = view.word(at) {
            view.tells(word, at, lists);
        }
    }
}

/// A bare `ls` prints the names in its folder.
pub(crate) fn ls(view: &mut View<'_>) {
    if view.operand_count() == 0 {
        view.touches(Verb::Read, ".", false);
    }
    tell(view, !view.has("--directory"));
    let long = view.has_any(&[
        "-l",
        "-o",
        "-g",
        "--numeric-uid-gid",
        "--full-time",
        "--size",
        "--inode",
        "-m",
        "--quote-name",
        // What stands beside or instead of a name makes another name of it.
        "-F",
        "--classify",
        "--file-type",
        "--indicator-style",
        "--quoting-style",
        "--escape",
        "--hide-control-chars",
        "--context",
        "--format",
        "--hyperlink",
        "--dired",
    ]);
    if long {
        return;
    }
    match view.operand(0) {
        None => view.prints_names_here(),
        Some(word) if view.operand_count() == 1 => {
            let listing = match view.path_of(word, false) {
                // Of a folder the names in it are told, of anything else its name as given.
                PathTarget::Exact(path) if view.has("--directory") || is_file(view, &path) => Listing::all(path),
                PathTarget::Exact(path) => Listing::all(path.clone()).told_from(Some(&path)),
                PathTarget::Glob { base, .. } => Listing::all(base),
                PathTarget::Listed(listing) => listing,
                _ => return,
            };
            view.out.prints = Prints::Names(listing);
        }
        Some(_) => {}
    }
}

fn is_file(view: &View<'_>, path: &std::path::Path) -> bool {
    path.is_absolute() && matches!(view.inv.files.kind(path), crate::files::Kind::File { .. })
}

/// What lies in a folder that is copied lies in the copy: a file that steers something is told by name, beside the folder
/// as a whole.
fn copied(view: &mut View<'_>, source: &Word, copy: &Path, at: usize) {
    let Some(name) = source.exact() else { return };
    let folder = join(view.base.as_deref(), name);
    if !folder.is_absolute() || !matches!(kind_of(view, source), Kind::Folder { .. }) {
        return;
    }
    match names_inside::of_folder(view, &folder).and_then(names_inside::steering) {
        Some(names) => {
            for name in names {
                let path = join(Some(copy), &name);
                view.effect(Verb::Write, Target::Path(PathTarget::Exact(path)), at, Carry::Plain);
            }
        }
        // Whatever is in it, nobody has looked at all of it.
        None => view.named(Code::ChangesFiles, NamedBy::Nothing, at),
    }
}

/// `cp`, `mv`, `install` and `ln`: all but the last operand go to the last, or into it if it is a folder.
pub(crate) fn copy(view: &mut View<'_>) {
    let mut sources = view.operands();
    let name = view.name;
    if name == "install" && view.has("--directory") {
        for at in sources {
            if let Some(word) = view.word(at) {
                view.writes(word, at);
            }
        }
        return;
    }
    let into = view.values("--target-directory").pop();
    // `cp *`: whatever comes last is the destination, and all before it goes there.
    if let (None, Some(&last)) = (&into, sources.last())
        && let Some(word) = view.word(last)
        && may_split(word)
    {
        let target = view.path_of(word, true);
        for verb in [Verb::Read, Verb::Write] {
            view.effect(verb, Target::Path(target.clone()), last, Carry::Plain);
        }
        if name == "mv" {
            view.effect(Verb::Delete, Target::Path(target), last, Carry::Plain);
        }
    }
    let destination = match into {
        Some((at, word)) => Some((at, word, true)),
        None if sources.len() < 2 && name == "ln" => None, // `ln -s target`: a link of the same name here
        None if sources.len() < 2 => return,
        None => {
            // With `--parents` it must be a folder, be it one that this call makes.
            let certainly_folder = sources.len() > 2 || view.has("--parents");
            sources.pop().and_then(|at| view.word(at).map(|w| (at, w.clone(), certainly_folder)))
        }
    };
    for &at in &sources {
        let Some(word) = view.word(at) else { continue };
        match name {
            "mv" => {
                let target = view.path_of(word, true);
                view.effect(Verb::Read, Target::Path(target.clone()), at, Carry::Plain);
                view.effect(Verb::Delete, Target::Path(target), at, Carry::Plain);
            }
            // What a link points to can be read through it. A hard one is the file itself under another name: whatever
            // is written there later is not seen to be written here.
            "ln" => {
                view.path_effect(Verb::Read, word, at, true, Carry::Plain);
                if !view.has("--symbolic") {
                    view.path_effect(Verb::Write, word, at, false, Carry::Plain);
                }
            }
            "cp" if view.has("--link") => {
                view.reads(word, at);
                view.path_effect(Verb::Write, word, at, view.deep, Carry::Plain);
            }
            _ => view.reads(word, at),
        }
    }
    let Some((at, destination, folder)) = destination else {
        if let Some(word) = sources.first().and_then(|&at| view.word(at)) {
            let here = Word::Exact(Text::from(&b"."[..]));
            let at = sources.first().copied().unwrap_or_default();
            let target = inside(view, &here, word);
            view.effect(Verb::Write, Target::Path(target), at, Carry::Plain);
        }
        return;
    };
    let exact = view.has("--no-target-directory");
    for &source in &sources {
        let Some(word) = view.word(source) else { continue };
        let deep = view.deep || name == "mv" && !matches!(kind_of(view, word), Kind::File { .. });
        let target = match kind_of(view, &destination) {
            _ if exact => view.path_of(&destination, deep),
            _ if folder => inside(view, &destination, word),
            Kind::Folder { .. } => inside(view, &destination, word),
            Kind::Missing | Kind::File { .. } => view.path_of(&destination, deep),
            _ => view.path_of(&destination, true),
        };
        let target = match target {
            PathTarget::Exact(path) if deep => PathTarget::Below(path),
            other => other,
        };
        if destination.exact().is_some_and(|d| d.starts_with(b"/dev/null")) {
            return;
        }
        if deep && let PathTarget::Below(below) = &target {
            copied(view, word, &below.clone(), at);
        }
        if view.has_any(&["--backup", "-b", "--suffix"])
            && let Some(beside) = beside(&target)
        {
            view.effect(Verb::Write, Target::Path(beside), at, Carry::Plain);
            if let Some(copy) = backup(view, &target) {
                view.effect(Verb::Write, Target::Path(copy), at, Carry::Plain);
            }
        }
        view.effect(Verb::Write, Target::Path(target), at, Carry::Plain);
    }
}

/// Where a backup goes: beside the file, under a longer name.
fn beside(target: &PathTarget) -> Option<PathTarget> {
    let (PathTarget::Exact(path) | PathTarget::Below(path)) = target else { return None };
    let (folder, name) = (path.parent()?, path.file_name()?);
    let mut pattern = Vec::new();
    for &byte in name.as_encoded_bytes() {
        if b"*?[\\".contains(&byte) {
            pattern.push(b'\\');
        }
        pattern.push(byte);
    }
    pattern.push(b'*');
    Some(PathTarget::Glob { base: folder.to_owned(), pattern: Text::from(pattern), below: true })
}

/// The backup by the name that `--suffix` gives it, which need not exist yet: `.en` and `vrc`.
fn backup(view: &View<'_>, target: &PathTarget) -> Option<PathTarget> {
    let (PathTarget::Exact(path) | PathTarget::Below(path)) = target else { return None };
    let Some(suffix) = view.value("--suffix")?.exact() else { return Some(PathTarget::Unknown(None)) };
    let mut name = path.clone().into_os_string();
    name.push(std::ffi::OsStr::from_bytes(suffix));
    Some(PathTarget::Exact(name.into()))
}

fn kind_of(view: &View<'_>, word: &Word) -> Kind {
    match (word.exact(), view.path_of(word, false)) {
        (Some(bytes), _)
            if bytes.ends_with(b"/") || bytes == b"." || bytes.ends_with(b"/.") || bytes.ends_with(b"..") =>
        {
            Kind::Folder { world_writable: false }
        }
        (_, PathTarget::Exact(path)) if path.is_absolute() => view.inv.files.kind(&path),
        _ => Kind::Unknown,
    }
}

/// The file of `source`'s name in `folder`.
fn inside(view: &View<'_>, folder: &Word, source: &Word) -> PathTarget {
    match (view.path_of(folder, false), source.exact()) {
        (PathTarget::Exact(folder), Some(source)) => {
            let name = source.split(|&b| b == b'/').rfind(|part| !part.is_empty()).unwrap_or_default();
            if matches!(name, b"" | b"." | b"..") || view.has("--parents") {
                PathTarget::Below(folder)
            } else {
                PathTarget::Exact(crate::program::path::join(Some(&folder), name))
            }
        }
        (PathTarget::Exact(folder), None) => PathTarget::Below(folder),
        (other, _) => other,
    }
}

/// With `-p` the folders above are removed too (`rmdir -p a/b`), or made: those before a `..` lie elsewhere than the last.
pub(crate) fn parents(view: &mut View<'_>) {
    if !view.has("--parents") {
        return;
    }
    for at in view.operands() {
        let Some(path) = view.word(at).and_then(Word::exact) else { continue };
        let removes = view.name == "rmdir";
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(slash, _)| slash);
        for slash in slashes {
            let (above, rest) = path.split_at(slash);
            let leads_up = rest == b"/.." || rest.starts_with(b"/../");
            if above.is_empty() || above.ends_with(b"..") || !(removes || leads_up) {
                continue;
            }
            let above = Word::Exact(Text::from(above));
            if removes {
                view.path_effect(Verb::Delete, &above, at, false, Carry::Plain);
            } else {
                view.writes(&above, at);
            }
        }
    }
}

/// The first operand is a mode or an owner, unless `--reference` gives it. `-w` and `-rwx` are modes, not options.
pub(crate) fn chmod(view: &mut View<'_>) {
    let skip = usize::from(!view.has("--reference"));
    let mut operands = view.operands();
    operands.retain(|&at| {
        skip == 0 || view.name != "chmod" || !view.word(at).and_then(Word::exact).is_some_and(|b| b.starts_with(b"-"))
    });
    let dashed = operands.len() < view.operand_count();
    for at in operands.into_iter().skip(if dashed { 0 } else { skip }) {
        if let Some(word) = view.word(at) {
            view.writes(word, at);
        }
    }
}

/// `if=` and `of=`.
pub(crate) fn dd(view: &mut View<'_>) {
    for at in view.operands() {
        let Some(word) = view.word(at) else { continue };
        let Some(bytes) = word.exact() else {
            // `of=$x`, or anything at all.
            view.effect(Verb::Write, Target::Path(PathTarget::Unknown(None)), at, Carry::Plain);
            continue;
        };
        if let Some(path) = bytes.strip_prefix(b"if=") {
            view.reads(&Word::Exact(path.into()), at);
        } else if let Some(path) = bytes.strip_prefix(b"of=") {
            view.writes(&Word::Exact(path.into()), at);
        }
    }
}

/// Perl's `rename` runs its first operand as code; that of util-linux replaces text. Nobody knows which one it is.
pub(crate) fn rename(view: &mut View<'_>) {
    for at in view.operands().into_iter().skip(1) {
        if let Some(word) = view.word(at) {
            view.writes(word, at);
        }
    }
    view.touches(Verb::Write, ".", true);
}

pub(crate) fn always_deep_delete(view: &mut View<'_>) {
    for effect in &mut view.out.effects {
        if let (Verb::Delete, Target::Path(PathTarget::Exact(path))) = (effect.verb, &effect.target) {
            effect.target = Target::Path(PathTarget::Below(path.clone()));
        }
    }
}
