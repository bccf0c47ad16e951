//! Options and operands that many subcommands share: revisions, differences, paths.

use super::pathspec;
use crate::effect::{PathTarget, Sieve};
use crate::files::Kind;
use crate::option::{Table, options};
use crate::program::View;
use crate::program::path::join;
use crate::word::{Text, Word};

/// How differences are shown.
pub(super) const DIFF: &Table = options!("
    -p -u --patch, -s --no-patch, -U --unified [N], --raw, --patch-with-raw, --indent-heuristic, --minimal, --patience
    --histogram, --anchored TEXT, --diff-algorithm ALGO, --stat [W], --stat-width W, --stat-name-width W, --stat-count N
    --stat-graph-width W, --compact-summary, --numstat, --shortstat, -X --dirstat [P], --cumulative, --dirstat-by-file [P]
    --summary, --patch-with-stat, -z, --name-only, --name-status, --submodule [F], --color [WHEN], --color-moved [M]
    --color-moved-ws MODE, --word-diff [M], --word-diff-regex RE, --color-words [RE], --no-renames, --rename-empty, --check
    --ws-error-highlight KIND, --full-index, --binary, --abbrev [N], -B --break-rewrites [N], -M --find-renames [N]
    -C --find-copies [N], --find-copies-harder, -D --irreversible-delete, -l NUM, --diff-filter F, -S STRING, -G REGEX
    --find-object OBJ, --pickaxe-all, --pickaxe-regex, --skip-to FILE, --rotate-to FILE, -R, --relative [PATH]
    -a --text, --ignore-cr-at-eol, --ignore-space-at-eol, -b --ignore-space-change, -w --ignore-all-space, --ignore-blank-lines
    -I --ignore-matching-lines RE, --inter-hunk-context N, -W --function-context, --exit-code, --quiet, --no-ext-diff
    --textconv, --ignore-submodules [WHEN], --src-prefix P, --dst-prefix P, --no-prefix, --default-prefix, --line-prefix P
    --ita-invisible-in-index, --ita-visible-in-index, --output-indicator-new C, --output-indicator-old C
    --output-indicator-context C, --max-depth N
    -O FILE : reads
    --output FILE : writes
    --ext-diff : runs-command
");

/// Which commits, in what order, printed how.
pub(super) const REVISIONS: &Table = options!("
    -# -n --max-count N, --skip N, --since --after DATE, --until --before DATE, --since-as-filter DATE, --author P, --committer P
    --grep P, --grep-reflog P, --all-match, --invert-grep, -i --regexp-ignore-case, --basic-regexp, -E --extended-regexp
    -F --fixed-strings, -P --perl-regexp, --remove-empty, --merges, --no-merges, --min-parents N, --max-parents N
    --no-min-parents, --no-max-parents, --first-parent, --exclude-first-parent-only, --not, --all, --branches [P], --tags [P]
    --remotes [P], --glob P, --exclude P, --exclude-hidden R, --reflog, --alternate-refs, --single-worktree, --ignore-missing
    --bisect, --bisect-vars, --bisect-all, --stdin, --cherry-mark, --cherry-pick, --left-only, --right-only, --cherry
    -g --walk-reflogs, --merge, --boundary, --use-bitmap-index, --progress [T], --simplify-by-decoration, --show-pulls
    --full-history, --dense, --sparse, --simplify-merges, --ancestry-path [C], --date-order, --author-date-order, --topo-order
    --reverse, --objects, --objects-edge, --objects-edge-aggressive, --indexed-objects, --unpacked, --filter SPEC, --no-filter
    --filter-print-omitted, --filter-provided-objects, --missing ACTION, --exclude-promisor-objects, --no-object-names, --no-walk [S], --do-walk
    --object-names, --disk-usage [F], --timestamp, --pretty [F], --format F, --abbrev-commit, --no-abbrev-commit, --no-abbrev
    --oneline, --encoding E, --expand-tabs [N], --notes [REF], --show-notes [REF], --show-notes-by-default, --standard-notes
    --show-signature, --relative-date, --date F, --header, --no-commit-header, --commit-header, --parents, --children
    --left-right, --graph, --show-linear-break [S], -c, --cc, -m, -r, -t, --combined-all-paths, --diff-merges F, --dd, --remerge-diff
    --follow, --decorate [S], --decorate-refs P, --decorate-refs-exclude P, --clear-decorations, --source, --mailmap --use-mailmap
    --log-size, -L RANGE, --full-diff, --in-commit-order, --count, -q, --show-parents, --root, -v, --default REV, -h, --maximal-only
");

/// Words that are revisions or paths; behind `--` they are paths.
pub(super) fn revisions_and_paths(view: &mut View<'_>) {
    // `-L1,5:file` shows lines of a file.
    for (at, range) in view.values("-L") {
        let file = range.exact().and_then(|range| range.rsplit(|b| *b == b':').next());
        view.reads_below(&file.map_or(Word::Opaque, |file| Word::Exact(Text::from(file))), at);
    }
    // What is shown is named on standard input.
    if view.has_any(&["--batch", "--batch-command"]) && !view.has("--batch-all-objects") {
        view.reads_below(&Word::Opaque, 0);
    }
    let end = view.terminator.unwrap_or(usize::MAX);
    let mut paths = Vec::new();
    for n in 0..view.operand_count() {
        let Some(at) = view.operand_at(n) else { continue };
        if at > end {
            paths.push(at);
        } else if let Some(word) = view.word(at) {
            revision_or_path(view, word, at);
        }
    }
    pathspec::reads(view, &paths, &Sieve::Tracked);
}

fn revision_or_path(view: &mut View<'_>, word: &Word, at: usize) {
    let Some(bytes) = word.exact() else {
        if let Word::Dynamic(shape) = word
            && !shape.parts.iter().any(|p| matches!(p, crate::word::Part::Hole))
        {
            view.reads_below(word, at);
        }
        return;
    };
    // `:/x` is the last commit that says so, or a path from the top.
    if matches!(bytes, [b':', b'/' | b'(' | b'!' | b'^', ..]) {
        return pathspec::reads(view, &[at], &Sieve::Tracked);
    }
    // `HEAD:src/lib.rs`, `:0:.env`: a file as the repository holds it, from its top unless it says otherwise.
    if let Some(colon) = bytes.iter().rposition(|&b| b == b':') {
        let path = bytes.get(colon + 1..).unwrap_or_default();
        if path.is_empty() || path.starts_with(b"/") {
            return;
        }
        let here = path.starts_with(b"./") || path.starts_with(b"../");
        match pathspec::top(view).filter(|_| !here) {
            Some(top) => view.reads_below(&pathspec::exact(&join(Some(&top), path)), at),
            None => view.reads_below(&Word::Exact(Text::from(path)), at),
        }
        return;
    }
    let target = view.path_of(word, true);
    let PathTarget::Below(path) = &target else { return };
    let exists = match path.is_absolute() {
        true => view.inv.files.kind(path),
        false => Kind::Unknown,
    };
    let named_like_a_file = !bytes.windows(2).any(|w| w == b"..")
        && !bytes.iter().any(|b| matches!(b, b'~' | b'^' | b'@' | b'{'))
        && (bytes.contains(&b'.') || bytes.ends_with(b"/"));
    match exists {
        Kind::Missing => {}
        Kind::Unknown if !named_like_a_file => {}
        _ => view.reads_sifted_target(target, word, at, &Sieve::Tracked),
    }
}
