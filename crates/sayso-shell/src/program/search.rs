//! Programs that look for text and names.

mod opened;

pub(crate) use opened::left_out;
pub use opened::{named, suffixes_of_type};

use super::{Operands, Role, Spec, Start, View};
use crate::effect::{Carry, Listing, Sieve, Span, Stdin, Verb};
use crate::option::{Style, options};
use crate::word::{Origin, Part, Shape, Single, Text, Word};
use opened::{included, searched};
use std::path::PathBuf;

pub(super) const SPECS: &[Spec] = &[
    Spec::new(&["grep", "egrep", "fgrep", "zgrep", "ggrep", "rgrep"])
        .options(&[options!(
            "
            -E --extended-regexp, -F --fixed-strings, -G --basic-regexp, -P --perl-regexp, -e --regexp PATTERNS, -i -y --ignore-case
            --no-ignore-case, -w --word-regexp, -x --line-regexp, -z --null-data, -s --no-messages, -v --invert-match, -V
            -m --max-count N, -b --byte-offset, -n --line-number, --line-buffered, -H --with-filename, -h --no-filename
            --label LABEL, -o --only-matching, -q --quiet --silent, --binary-files TYPE, -a --text, -I, -d --directories ACTION
            -D --devices ACTION, --include GLOB, --exclude GLOB, --exclude-dir GLOB, -L --files-without-match
            -l --files-with-matches, -c --count, -T --initial-tab, -Z --null, -B --before-context N, -A --after-context N
            -# -C --context N, --group-separator SEP, --no-group-separator, --color --colour [WHEN], -U --binary, -u --unix-byte-offsets
            -X, -O, -p, -S, -J, --include-dir GLOB
            -f --file FILE : reads
            --exclude-from FILE : reads
            -r --recursive : deep
            -R --dereference-recursive : deep
        "
        )])
        .judge(grep),
    Spec::new(&["rg", "ripgrep"])
        .aliased()
        .style(Style::EXACT.and(Style::NEGATES).and(Style::EQUALS))
        .options(&[options!(
            "
            -e --regexp PATTERN, -s --case-sensitive, --crlf, -E --encoding ENC, --engine E, -F --fixed-strings, -i --ignore-case
            -v --invert-match, -x --line-regexp, -m --max-count N, --mmap, -U --multiline, --multiline-dotall, --no-unicode
            --null-data, -P --pcre2, --regex-size-limit N, -S --smart-case, --stop-on-nonmatch, -a --text, -j --threads N
            -w --word-regexp, --auto-hybrid-regex, --dfa-size-limit N, --binary, -L --follow, -g --glob GLOB, --glob-case-insensitive
            -. --hidden, --iglob GLOB, --ignore-file-case-insensitive, -d --max-depth --maxdepth N, --max-filesize N, --no-ignore
            --no-ignore-dot, --no-ignore-exclude, --no-ignore-files, --no-ignore-global, --no-ignore-parent, --no-ignore-vcs
            --no-require-git, --one-file-system, -t --type T, -T --type-not T, --type-add SPEC, --type-clear T, -u --unrestricted
            -A --after-context N, -B --before-context N, --block-buffered, -b --byte-offset, --color WHEN, --colors SPEC, --column
            -# -C --context N, --context-separator S, --field-context-separator S, --field-match-separator S, --heading, --include-zero
            --line-buffered, -n --line-number, -N --no-line-number, -M --max-columns N, --max-columns-preview, -0 --null
            -o --only-matching, --path-separator C, --passthru --passthrough, -p --pretty, -q --quiet, -r --replace TEXT, --sort BY
            --sortr BY, --sort-files, --trim, --vimgrep, -H --with-filename, -I --no-filename, -c --count, --count-matches
            -l --files-with-matches, --files-without-match, --json, --debug, --no-ignore-messages, --no-messages, --stats, --trace, --files
            --generate KIND, --no-config, --pcre2-version, --type-list, -V, -h, --hyperlink-format F, --no-heading, --no-column
            --no-hidden, --ignore, --messages, --no-pre, --no-mmap, --no-follow, --no-json, --no-stats, --config
            -f --file FILE : reads
            --ignore-file FILE : reads
            --pre COMMAND : runs
            --pre-glob GLOB
            --hostname-bin COMMAND : runs
            -z --search-zip : runs-command
        "
        )])
        .judge(rg),
    Spec::new(&["ag", "ack", "ack-grep", "ucg", "pt", "sift"])
        .style(Style::EXACT)
        .options(&[options!(
            "
            -i --ignore-case, -s --case-sensitive, -S --smart-case, -l --files-with-matches, -L --files-without-matches, -c --count
            -n --norecurse, -w --word-regexp, -v --invert-match, -Q --literal, -F --fixed-strings, -A --after N, -B --before N, -# -C --context N
            -g PATTERN, -G --file-search-regex P, -a --all-types, -u --unrestricted, -U --skip-vcs-ignores, --hidden, -t --all-text
            --ignore PATTERN, --ignore-dir NAME, --depth N, -m --max-count N, -o --only-matching, --column, --numbers, --nonumbers
            --heading, --noheading, --group, --nogroup, --color, --nocolor, -H --filename, -h --no-filename, -0 --null --print0
            -f --follow, --stats, --vimgrep, -r --recurse, -R, --silent, -x --line-regexp, -1, --type T, --python, --js, --rust, --cc
            --html, --java, --php, --ruby, --go, --ts
            --pager CMD : runs
            -p --path-to-ignore FILE : reads
        "
        )])
        .judge(rg),
    Spec::new(&["fd", "fdfind"])
        .aliased()
        .style(Style::EXACT.and(Style::EQUALS))
        .options(&[options!(
            "
            -H --hidden, --no-hidden, -I --no-ignore, --ignore, --no-ignore-vcs, --ignore-vcs, --no-ignore-parent, --no-require-git, -u --unrestricted
            -s --case-sensitive, -i --ignore-case, -g --glob, --regex, -F --fixed-strings, --and P, -a --absolute-path, --relative-path
            -L --follow, -p --full-path, -0 --print0, -d --max-depth N, --min-depth N, --exact-depth N, -E --exclude P, --prune
            -t --type T, -e --extension E, -S --size S, --changed-within --change-newer-than --newer D, --changed-before --older D
            -o --owner O, --format F, -c --color WHEN, --hyperlink [W], -j --threads N, --max-buffer-time N, --max-results N, -1, -q --quiet
            --show-errors, --strip-cwd-prefix [W], --path-separator C, --one-file-system --mount --xdev, --gen-completions [S]
            -l --list-details, -V, -h, --batch-size N, --no-global-ignore-file, --no-follow
            --ignore-file FILE : reads
            -C --base-directory DIR : cd
            --search-path PATH : reads
            -x --exec CMD : command
            -X --exec-batch CMD : command
        "
        )])
        .operands(Operands::then(&[Role::Text], Role::Read))
        .judge(fd),
    Spec::new(&["locate", "plocate", "mlocate"]).style(Style::HARMLESS),
    Spec::new(&["tokei"])
        .style(Style::EXACT.and(Style::EQUALS))
        .options(&[options!("
            -C --compact, -c --columns N, -e --exclude P, -f --files, -h, --hidden, -l --languages, --no-ignore, --no-ignore-dot
            --no-ignore-parent, --no-ignore-vcs, -n --num-format F, -o --output FORMAT, -r --rsort C, -s --sort C, --streaming F, -t --type --types T, -V, -v --verbose
            -i --input FILE : reads
        ")])
        .operands(Operands::NAMES),
    Spec::new(&["cloc", "scc", "loc", "sloccount"])
        .style(Style::EXACT)
        .options(&[options!(
            "
            --exclude-dir D, --include-dir D, --include-lang L, --exclude-lang L, --include-ext E, --exclude-ext E, --by-file, --by-file-by-lang, --by-percent X, --git
            --match-f R, --not-match-f R, --match-d R, --not-match-d R, --fullpath, --skip-uniqueness, --csv, --json, --yaml, --xml, --md, --quiet, --hide-rate, --show-lang [E], --show-ext [L]
            --diff, --follow-links, --no-autogen, --processes N, --timeout N, --unicode, --autoconf, --progress-rate N, --sum-one, -v [N], --max-file-size N, --max-file-size-kb N, --stdin-name F
            -i --include-ext-only E, -s --sort C, -w --wide, --no-cocomo, --no-complexity, --no-duplicates, --no-gen, --no-min, -M --not-match R, -z, -a, -c, -d, -h, --ci, --count-as X, --sort-by C, --percent
            -o --output FILE : writes
            --out --report-file FILE : writes
            --counted FILE : writes
            --ignored FILE : writes
            --write-lang-def FILE : writes
            --sql FILE : writes
            --extract-with CMD, --vcs CMD : runs
            --config FILE : reads
            --list-file FILE : reads
            --format FMT, --format-multi FMT : writes-file
        "
        )])
        .operands(Operands::NAMES),
];

/// The first operand is a pattern unless `-e` or `-f` gives one; then files.
fn grep(view: &mut View<'_>) {
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
fn rg(view: &mut View<'_>) {
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
fn fd(view: &mut View<'_>) {
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
