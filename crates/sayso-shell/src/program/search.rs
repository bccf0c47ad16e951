//! Programs that look for text and names.

use super::{Operands, Role, Spec, Start, View};
use crate::effect::{Span, Stdin, Verb};
use crate::option::{Style, options};
use crate::word::{Origin, Part, Shape, Word};
use std::path::Path;

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
            --search-path PATH : reads-below
            -x --exec CMD : command
            -X --exec-batch CMD : command
        "
        )])
        .operands(Operands::then(&[Role::Text], Role::ReadBelow))
        .judge(fd),
    Spec::new(&["locate", "plocate", "mlocate"]).style(Style::HARMLESS),
    Spec::new(&["tokei"])
        .style(Style::EXACT.and(Style::EQUALS))
        .options(&[options!("
            -C --compact, -c --columns N, -e --exclude P, -f --files, -h, --hidden, -i --input FILE, -l --languages, --no-ignore, --no-ignore-dot
            --no-ignore-parent, --no-ignore-vcs, -n --num-format F, -o --output FORMAT, -r --rsort C, -s --sort C, --streaming F, -t --type --types T, -V, -v --verbose
        ")])
        .operands(Operands::READ_BELOW),
    Spec::new(&["cloc", "scc", "loc", "sloccount"])
        .style(Style::EXACT)
        .options(&[options!(
            "
            --exclude-dir D, --include-dir D, --include-lang L, --exclude-lang L, --include-ext E, --exclude-ext E, --by-file, --by-file-by-lang, --by-percent X, --vcs V, --git
            --match-f R, --not-match-f R, --match-d R, --not-match-d R, --fullpath, --skip-uniqueness, --csv, --json, --yaml, --xml, --md, --quiet, --hide-rate, --show-lang [E], --show-ext [L]
            --diff, --follow-links, --no-autogen, --processes N, --timeout N, --unicode, --autoconf, --progress-rate N, --sum-one, -v [N], --max-file-size N, --max-file-size-kb N, --stdin-name F
            -i --include-ext-only E, -s --sort C, -w --wide, --no-cocomo, --no-complexity, --no-duplicates, --no-gen, --no-min, -M --not-match R, -z, -a, -c, -d, -h, --ci, --count-as X, --sort-by C, --percent
            -o --output FILE : writes
            --out --report-file FILE : writes
            --counted FILE : writes
            --ignored FILE : writes
            --write-lang-def FILE : writes
            --sql FILE : writes
            --extract-with CMD : runs
            --config FILE : reads
            --list-file FILE : reads
            --format FMT, --format-multi FMT : writes-file
        "
        )])
        .operands(Operands::READ_BELOW),
];

/// The first operand is a pattern unless `-e` or `-f` gives one; then files.
fn grep(view: &mut View<'_>) {
    let recurses = view.deep
        || view.name == "rgrep"
        || view.values("--directories").iter().any(|(_, v)| v.exact().is_none_or(|v| b"recurse".starts_with(v)));
    view.deep |= recurses;
    let given = view.has_any(&["--regexp", "--file"]);
    let files: Vec<usize> = view.operands().into_iter().skip(usize::from(!given)).collect();
    if files.is_empty() && recurses {
        view.touches(Verb::Read, ".", true);
    }
    for at in files {
        if let Some(word) = view.word(at) {
            view.reads(word, at);
        }
    }
    split_pattern(view, given);
    names_or_number(view);
}

/// As `grep`, always with all below.
fn rg(view: &mut View<'_>) {
    let given = view.has_any(&["--regexp", "--file", "--files", "--type-list", "-g"]);
    let files: Vec<usize> = view.operands().into_iter().skip(usize::from(!given)).collect();
    let piped = matches!(view.inv.stdin, Stdin::Pipe | Stdin::File | Stdin::Text) && !view.has("--files");
    if files.is_empty() && !piped {
        view.touches(Verb::Read, ".", true);
    }
    for at in files {
        if let Some(word) = view.word(at)
            && word.exact() != Some(b"-")
        {
            view.reads_below(word, at);
        }
    }
    split_pattern(view, given);
    names_or_number(view);
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

fn names_or_number(view: &mut View<'_>) {
    if view.has_any(&["--files-with-matches", "--files-without-match", "--files"]) {
        view.prints_names_here();
    } else if view.has("--count") && view.operand_count() < 2 && !view.deep {
        view.out.prints = super::Prints::Number;
    }
}

/// Everything behind `-x` is a command, to a `;` or the end.
fn fd(view: &mut View<'_>) {
    if view.operand_count() < 2 && !view.has("--search-path") {
        view.touches(Verb::Read, ".", true);
    }
    if !view.has_any(&["--exec", "--exec-batch", "--list-details", "--format"]) {
        view.prints_names_here();
    }
    let folder = super::path::join(view.base.as_deref(), b".");
    for start in &mut view.out.starts {
        if let Start::Argv { argv, spans, .. } = start {
            let mut placed = false;
            for word in argv.iter_mut() {
                if word.exact().is_some_and(|w| w.starts_with(b"{") && w.ends_with(b"}")) {
                    *word = found_name(&folder);
                    placed = true;
                }
            }
            if !placed {
                argv.push(found_name(&folder));
                spans.push(Span::default());
            }
        }
    }
}

/// A name that a search below `folder` found.
fn found_name(folder: &Path) -> Word {
    Word::Dynamic(Shape { parts: vec![Part::Hole], splits: false, origin: Origin::Listing(folder.to_owned()) })
}
