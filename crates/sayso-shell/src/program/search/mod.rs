//! Programs that look for text and names.

mod opened;

pub(crate) use opened::left_out;
pub use opened::{named, suffixes_of_type};

use super::{Start, View};
use crate::effect::{Carry, Listing, Sieve, Span, Stdin, Verb};
use crate::word::{Origin, Part, Shape, Single, Text, Word};
use opened::{included, searched};
use std::path::PathBuf;

/// The first operand is a pattern unless `-e` or `-f` gives one; then files.
pub(crate) fn grep(view: &mut View<'_>) {
    let recurses = view.deep
        || view.name == "rgrep"
        || view.values("--directories").iter().any(|(_, v)| v.exact().is_none_or(|v| b"recurse".starts_with(v)));
    view.deep |= recurses;
    let given = view.has_any(&["--regexp", "--file"]);
    let files: Vec<usize> = view.operands().into_iter().skip(usize::from(!given)).collect();
    let sieve = if recurses { included(view) } else { Sieve::All };
    if may_be_none(view, given) && recurses {
        reads_here(view, &sieve);
    }
    for &at in &files {
        match view.word(at) {
            Some(word) if recurses && word.exact() != Some(b"-") => view.reads_sifted(word, at, &sieve),
            Some(word) => view.reads(word, at),
            None => {}
        }
    }
    split_pattern(view, given);
    names_or_number(view, &files, sieve);
}

fn reads_here(view: &mut View<'_>, sieve: &Sieve) {
    view.reads_sifted(&Word::Exact(".".into()), 0, sieve);
}

/// Whether no file may be named: a value outside quotes may be no word at all, and then the first file is the pattern.
fn may_be_none(view: &View<'_>, given: bool) -> bool {
    let stays = |word: &Word| match word {
        Word::Exact(_) => true,
        Word::Dynamic(shape) => !shape.splits() || !shape.parts.contains(&Part::Hole),
        Word::Opaque => false,
    };
    let sure = view.operands().into_iter().filter(|at| view.word(*at).is_some_and(stays)).count();
    sure <= usize::from(!given)
}

/// As `grep`, always with all below.
pub(crate) fn rg(view: &mut View<'_>) {
    let given = view.has_any(&["--regexp", "--file", "--files", "--type-list", "-g"]);
    let files: Vec<usize> = view.operands().into_iter().skip(usize::from(!given)).collect();
    let piped = matches!(view.inv.stdin, Stdin::Pipe | Stdin::File | Stdin::Text) && !view.has("--files");
    let sieve = searched(view);
    let opens = !view.has("--files") || view.name != "rg";
    if may_be_none(view, given) && !piped {
        if opens {
            reads_here(view, &sieve);
        } else {
            view.touches(Verb::Read, ".", false);
        }
    }
    for &at in &files {
        match view.word(at) {
            Some(word) if word.exact() == Some(b"-") => {}
            Some(word) if opens => view.reads_sifted(word, at, &sieve),
            Some(word) => view.path_effect(Verb::Read, word, at, false, Carry::Plain),
            None => {}
        }
    }
    split_pattern(view, given);
    names_or_number(view, &files, sieve);
}

/// A pattern that may split holds files too.
fn split_pattern(view: &mut View<'_>, given: bool) {
    if given {
        return;
    }
    if let Some((at, word)) = view.operand_at(0).and_then(|at| view.word(at).map(|w| (at, w)))
        && super::view::may_split(word)
    {
        view.reads(word, at);
    }
}

fn names_or_number(view: &mut View<'_>, files: &[usize], sieve: Sieve) {
    if view.has_any(&["--files-with-matches", "--files-without-match", "--files"]) {
        // Other modes print more than names, and what standard input is called is not the name of a file.
        let other = ["--json", "--no-json", "--count", "--count-matches", "--label", "--path-separator"];
        if view.has_any(&other) || files.iter().any(|at| view.word(*at).and_then(Word::exact) == Some(b"-")) {
            return;
        }
        let Some(folder) = searched_folder(view, files) else { return };
        view.out.prints = super::Prints::Names(Listing::new(folder, sieve));
    } else if view.has("--count") && alone(view, files) {
        view.out.prints = super::Prints::Number;
    }
}

/// Whether what is searched is one file, so that no name stands before what is found.
pub(crate) fn alone(view: &View<'_>, files: &[usize]) -> bool {
    let one = match files {
        [] => matches!(view.inv.stdin, Stdin::Pipe | Stdin::File | Stdin::Text) || view.name != "rg",
        [file] => {
            // A word that turns out to be `-r` searches many.
            let sure = |word: &Word| !super::view::may_split(word) && !word.may_be_option();
            view.name.ends_with("grep") && view.word(*file).is_some_and(sure)
        }
        _ => false,
    };
    one && !view.deep && !view.has_any(&["--with-filename", "--null", "--label", "--file"])
}

/// Everything behind `-x` is a command, to a `;` or the end.
pub(crate) fn fd(view: &mut View<'_>) {
    if view.operand_count() < 2 && !view.has("--search-path") {
        view.touches(Verb::Read, ".", false);
    }
    let places: Vec<usize> = view.operands().into_iter().skip(1).collect();
    let folder = if view.has_any(&["--search-path", "--base-directory", "--path-separator"]) {
        None
    } else {
        searched_folder(view, &places)
    };
    let listing = folder.map(|folder| Listing::new(folder, found_by_fd(view)));
    if let Some(listing) = &listing
        && !view.has_any(&["--exec", "--exec-batch", "--list-details", "--format", "--path-separator"])
    {
        view.out.prints = super::Prints::Names(listing.clone());
    }
    for start in &mut view.out.starts {
        if let Start::Argv { argv, spans, .. } = start {
            let mut placed = false;
            for word in argv.iter_mut() {
                let Some(bytes) = word.exact() else { continue };
                if bytes == b"{}" {
                    *word = found_name(listing.as_ref());
                    placed = true;
                } else if bytes.contains(&b'{') {
                    // `{//}` is the folder, `{.}` the name without its ending.
                    *word = found_name(None);
                    placed = true;
                }
            }
            if !placed {
                argv.push(found_name(listing.as_ref()));
                spans.push(Span::default());
            }
        }
    }
}

/// The folder below which all of these lie; `None`: nobody knows.
fn searched_folder(view: &View<'_>, operands: &[usize]) -> Option<PathBuf> {
    let mut common: Option<PathBuf> = None;
    for at in operands {
        let place = view.path_of(view.word(*at)?, true).place()?.to_owned();
        common = Some(match common {
            None => place,
            Some(other) => super::stream::shared(&other, &place)?,
        });
    }
    common.or_else(|| Some(view.here()))
}

/// Which names `fd` finds.
fn found_by_fd(view: &View<'_>) -> Sieve {
    if view.out.open_options || view.has_any(&["--ignore-file", "--follow"]) {
        return Sieve::All;
    }
    let endings = view.values("--extension");
    let plain = |word: &Word| {
        let ending = word.exact_str()?.trim_start_matches('.');
        let plain = !ending.is_empty() && ending.bytes().all(|b| b.is_ascii_alphanumeric());
        plain.then(|| Text::from(format!("*.{ending}").as_str()))
    };
    if let Some(names) = endings.iter().map(|(_, word)| plain(word)).collect::<Option<Vec<_>>>()
        && !names.is_empty()
    {
        return Sieve::Named(names);
    }
    let ignores = !view.seen.iter().any(|seen| seen.opt.name.starts_with("--no-ignore"));
    match (view.has("--unrestricted"), view.has("--hidden")) {
        (false, false) if ignores => Sieve::Searched,
        (false, false) => Sieve::Visible,
        (false, true) if ignores => Sieve::Unignored,
        _ => Sieve::All,
    }
}

/// A name that a search found.
fn found_name(listing: Option<&Listing>) -> Word {
    let origin = listing.cloned().map_or(Origin::Unknown, |listing| Origin::Listing(Box::new(listing)));
    Word::Dynamic(Shape::single(vec![Part::Hole], origin, Single::Handed))
}
