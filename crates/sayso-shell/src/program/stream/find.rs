//! find: lists names, and runs, writes or deletes where its expression says so.

use crate::effect::{Carry, Listing, NamedBy, Opt, PathTarget, Sieve, Target, Verb};
use crate::option::{Does, Seen};
use crate::program::wrapper::with_holes;
use crate::program::{Code, Prints, Start, View, may_split};
use crate::word::{Origin, Part, Shape, Single, Text, Word};
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Primary {
    /// Takes this many words and does nothing.
    Harmless(usize),
    Reads,
    /// Writes the next word; takes this many.
    Writes(usize),
    Runs,
    Deletes,
    Unknown,
}

pub(super) fn primary(name: &[u8]) -> Primary {
    use Primary::{Deletes, Harmless, Reads, Runs, Writes};
    const NO_WORD: &str = "d daystart depth follow ignore_readdir_race noignore_readdir_race mount xdev nowarn warn noleaf help version empty \
        executable readable writable nogroup nouser true false print print0 prune quit ls a and o or not unique nohidden hidden status color \
        nocolor H L P X E x s -help -version";
    const ONE_WORD: &str = "maxdepth mindepth regextype amin atime cmin ctime fstype gid group ilname iname inum ipath iregex iwholename links \
        lname mmin mtime name path perm regex size type uid used user wholename xtype context printf Bmin Btime flags xattrname since asince \
        limit D";
    let listed = |list: &str| list.split(' ').any(|known| known.as_bytes() == name);
    match name {
        b"exec" | b"execdir" | b"ok" | b"okdir" => Runs,
        b"delete" | b"rm" => Deletes,
        b"fprint" | b"fprint0" | b"fls" => Writes(1),
        b"fprintf" => Writes(2),
        b"anewer" | b"cnewer" | b"newer" | b"mnewer" | b"Bnewer" | b"samefile" | b"files0-from" => Reads,
        // `-newermt 2024-01-01` compares with a time, the others with a file.
        [b'n', b'e', b'w', b'e', b'r', _, b't'] => Harmless(1),
        [b'n', b'e', b'w', b'e', b'r', _, _] => Reads,
        [b'O', level @ ..] if level.iter().all(u8::is_ascii_digit) => Harmless(0),
        _ if listed(NO_WORD) => Harmless(0),
        _ if listed(ONE_WORD) => Harmless(1),
        _ => Primary::Unknown,
    }
}

/// Whether only files of certain suffixes are found, in a folder of some project. Below the root or a home the folder is
/// what counts, whatever is left in it.
fn is_narrow(view: &View<'_>, listing: &Listing) -> bool {
    let suffix = |name: &Text| {
        let name = name.as_bytes();
        let rest = name.strip_prefix(b"*").filter(|rest| rest.len() > 1 && rest.starts_with(b".")).unwrap_or(name);
        !rest.is_empty() && !rest.iter().any(|byte| b"*?[\\".contains(byte))
    };
    let deep = listing.folder.is_absolute() && listing.folder.parent().is_some();
    let is_home = view.inv.home.is_none_or(|home| home.starts_with(&listing.folder));
    deep && !is_home && matches!(&listing.sieve, Sieve::Named(names) if names.iter().all(suffix))
}

struct Expression {
    /// What is found, as far as it is known.
    listed: Option<Listing>,
    /// What is printed is the names alone.
    names: bool,
}

pub(crate) fn find(view: &mut View<'_>) {
    let first = starting_points(view);
    let sieve = super::names::sieve(view.inv.argv.get(first..).unwrap_or_default());
    let mut expression = Expression { listed: listed(view).map(|folder| Listing::new(folder, sieve)), names: true };
    let mut at = first;
    while let Some(word) = view.word(at) {
        at = match word.exact() {
            Some(bytes) => term(view, &mut expression, bytes, at),
            None => {
                // It may be `-delete`, or the end of an `-exec`.
                open(view, at);
                at + 1
            }
        };
    }
    if let (true, Some(listing)) = (expression.names && !view.out.open_options, expression.listed) {
        view.out.prints = Prints::Names(listing);
    }
}

fn open(view: &mut View<'_>, at: usize) {
    view.out.open_options = true;
    view.named(Code::DynamicOption, NamedBy::Nothing, at);
    view.doubt(Code::DynamicOption, "a word of unknown value may be an action of find".to_owned(), at);
}

/// Reads global options and starting points; the index of the first word of the expression.
fn starting_points(view: &mut View<'_>) -> usize {
    let mut at = 1;
    while let Some(bytes) = view.word(at).and_then(Word::exact) {
        match bytes {
            b"-H" | b"-L" | b"-P" | b"-X" | b"-E" | b"-x" | b"-s" | b"-d" => {
                met(view, bytes, at, None, true);
                at += 1;
            }
            b"-D" | b"-f" => {
                if bytes == b"-f" {
                    start(view, at + 1);
                }
                at += 2;
            }
            b"--" => at += 1,
            _ => break,
        }
    }
    let mut found = false;
    while let Some(word) = view.word(at) {
        match word.exact() {
            Some(bytes) if bytes.starts_with(b"-") || matches!(bytes, b"(" | b"!" | b")" | b",") => break,
            Some(_) => {}
            None => {
                let glob =
                    !matches!(word, Word::Dynamic(shape) if shape.parts.iter().any(|part| matches!(part, Part::Hole)));
                let dangerous =
                    if glob { crate::program::dashed_name_may_exist(view.inv) } else { word.may_be_option() };
                if dangerous && word.may_be_option() || !glob && may_split(word) && word.may_be_option() {
                    open(view, at);
                }
            }
        }
        found = true;
        start(view, at);
        at += 1;
    }
    if !found && view.out.words.is_empty() {
        view.touches(Verb::Read, ".", false);
    }
    at
}

fn start(view: &mut View<'_>, at: usize) {
    let Some(word) = view.word(at) else { return };
    view.out.words.push(u16::try_from(at).unwrap_or(u16::MAX));
    view.path_effect(Verb::Read, word, at, false, Carry::Plain);
}

/// The folder below which every name lies, if all starting points are known.
fn listed(view: &View<'_>) -> Option<PathBuf> {
    let mut common: Option<PathBuf> = None;
    let points: Vec<PathTarget> =
        view.out.words.iter().filter_map(|&at| Some(view.path_of(view.word(usize::from(at))?, false))).collect();
    let points = if points.is_empty() { vec![view.path_of(&Word::Exact(".".into()), false)] } else { points };
    for point in points {
        let folder = point.place()?.to_owned();
        common = Some(match common {
            None => folder,
            Some(other) => shared(&other, &folder)?,
        });
    }
    common
}

pub(in crate::program) fn shared(a: &Path, b: &Path) -> Option<PathBuf> {
    // What `..` leads to is not below what stands before it.
    if a.components().chain(b.components()).any(|part| part == std::path::Component::ParentDir) {
        return None;
    }
    let path: PathBuf = a.components().zip(b.components()).take_while(|(a, b)| a == b).map(|(a, _)| a).collect();
    (!path.as_os_str().is_empty()).then_some(path)
}

fn met(view: &mut View<'_>, name: &[u8], at: usize, value: Option<Word>, known: bool) {
    let name = String::from_utf8_lossy(name).into_owned();
    let opt = Opt { name, value, span: view.span(at), known, implied: false };
    view.seen.push(Seen { opt, does: Does::Nothing, at });
}

/// One term of the expression; the index of the next.
fn term(view: &mut View<'_>, expression: &mut Expression, bytes: &[u8], at: usize) -> usize {
    let Some(name) = bytes.strip_prefix(b"-").filter(|name| !name.is_empty()) else {
        if !matches!(bytes, b"(" | b")" | b"!" | b",") {
            // BSD and busybox take a path here, GNU refuses it.
            start(view, at);
        }
        return at + 1;
    };
    let kind = primary(name);
    let value = view
        .word(at + 1)
        .filter(|_| !matches!(kind, Primary::Harmless(0) | Primary::Runs | Primary::Deletes | Primary::Unknown));
    if let Some(value) = value.filter(|value| may_split(value)) {
        // What splits moves all words behind it.
        if !matches!(value, Word::Dynamic(shape) if shape.origin != Origin::Unknown) {
            open(view, at + 1);
        }
    }
    met(view, bytes, at, value.cloned(), kind != Primary::Unknown);
    let flag = String::from_utf8_lossy(bytes).into_owned();
    match kind {
        Primary::Harmless(words) => {
            if matches!(name, b"printf" | b"ls") {
                expression.names = false;
            }
            at + 1 + words
        }
        Primary::Reads => {
            if name == b"files0-from" {
                expression.listed = None;
                // What it names may be anywhere.
                view.effect(Verb::Read, Target::Path(PathTarget::Unknown(None)), at, Carry::Plain);
            }
            if let Some(file) = value {
                view.reads(file, at + 1);
            }
            at + 2
        }
        Primary::Writes(words) => {
            // It may be written to standard output (`-fprintf /dev/stdout`).
            expression.names = false;
            let carry = Carry::Named { code: Code::WritesFile, by: NamedBy::Flag(flag) };
            if let Some(file) = value {
                view.path_effect(Verb::Write, file, at + 1, false, carry);
            }
            at + 1 + words
        }
        Primary::Deletes => {
            let carry = Carry::Named { code: Code::ChangesFiles, by: NamedBy::Flag(flag) };
            let target = match expression.listed.clone() {
                Some(listing) if is_narrow(view, &listing) => PathTarget::Sifted(listing),
                Some(listing) => PathTarget::Below(listing.folder),
                None => PathTarget::Unknown(None),
            };
            view.effect(Verb::Delete, Target::Path(target), at, carry);
            at + 1
        }
        Primary::Runs => {
            expression.names = false;
            runs(view, expression, name, at)
        }
        Primary::Unknown => {
            expression.names = false;
            view.named_by_flag(Code::UnknownOption, &flag, at);
            view.doubt(Code::UnknownOption, format!("find has no primary {flag} that is known here"), at);
            at + 1
        }
    }
}

/// `-exec command {} ;` and `-exec command {} +`.
fn runs(view: &mut View<'_>, expression: &Expression, name: &[u8], at: usize) -> usize {
    let mut argv = Vec::new();
    let mut spans = Vec::new();
    let origin = expression.listed.clone().map_or(Origin::Unknown, |listing| Origin::Listing(Box::new(listing)));
    let mut end = at + 1;
    while let Some(word) = view.word(end) {
        let bytes = word.exact();
        if bytes == Some(b";") {
            break;
        }
        let last = bytes == Some(b"+") && view.word(end - 1).and_then(Word::exact) == Some(b"{}");
        if last {
            if let Some(Word::Dynamic(shape)) = argv.last_mut() {
                *shape = Shape::several(std::mem::take(&mut shape.parts), shape.origin.clone());
            }
            break;
        }
        argv.push(match bytes {
            Some(bytes) => with_holes(bytes, b"{}", &origin),
            None => {
                if word.may_be_option() && may_split(word) {
                    // It may hold `;` and then another action.
                    open(view, end);
                }
                word.clone()
            }
        });
        spans.push(view.span(end));
        end += 1;
    }
    // In `-execdir` relative names are seen from a folder that nobody knows.
    let elsewhere = Word::Dynamic(Shape::single(vec![Part::Hole], Origin::Unknown, Single::Told));
    let cwd = matches!(name, b"execdir" | b"okdir").then_some(elsewhere);
    if !argv.is_empty() {
        view.out.starts.push(Start::Argv { argv, spans, env: Vec::new(), elsewhere: false, cwd });
    }
    end + 1
}
