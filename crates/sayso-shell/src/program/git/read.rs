//! Subcommands that tell about the repository.

use super::GIT;
use super::pathspec::{self, Place, at_top};
use super::revision::{DIFF, REVISIONS, revisions_and_paths};
use crate::effect::{Sieve, Verb};
use crate::option::{Style, Table, options};
use crate::program::{Act, Code, Operands, Role, Spec, View};
use crate::word::Word;

const FORMAT: &Table = options!(
    "
    --count N, --sort KEY, --format F, --color [WHEN], --points-at OBJ, --merged [C], --no-merged [C], --contains [C]
    --no-contains [C], --ignore-case, --exclude P, --omit-empty, --include-root-refs, --stdin, --start-after M
    -s --shell, -p --perl, --python, --tcl
"
);

pub(super) const SUBS: &[Spec] = &[
    Spec::new(&["status"])
        .style(GIT)
        .options(&[options!("
            -s --short, -b --branch, --show-stash, --porcelain [V], --long, -v --verbose, -u --untracked-files [MODE]
            --ignore-submodules [WHEN], --ignored [MODE], -z --null, --column [O], --no-column, --ahead-behind, --renames
            --no-renames, -M --find-renames [N], -h
        ")])
        .judge(status),
    Spec::new(&["diff"])
        .style(GIT)
        .options(&[DIFF, REVISIONS, options!("--cached --staged, --merge-base, --no-index, -0 --base, -1 --ours, -2 --theirs")])
        .judge(diff),
    Spec::new(&["diff-tree", "diff-index", "diff-files", "diff-pairs"])
        .style(GIT)
        .options(&[DIFF, REVISIONS, options!("--cached, --merge-base, --no-commit-id, --always, -0, -1, -2, -3")])
        .judge(revisions_and_paths),
    Spec::new(&["range-diff"])
        .style(GIT)
        .options(&[DIFF, REVISIONS, options!("--creation-factor N, --no-dual-color, --dual-color, --left-only, --right-only")])
        .judge(revisions_and_paths),
    Spec::new(&["ls-files"])
        .style(GIT)
        .options(&[options!("
            -z, -t, -v, -f, -c --cached, -d --deleted, -m --modified, -o --others, -i --ignored, -s --stage, -k --killed
            --directory, --no-empty-directory, --empty-directory, --eol, -u --unmerged, --resolve-undo, -x --exclude P
            --exclude-per-directory F, --exclude-standard, --full-name, --recurse-submodules, --error-unmatch, --with-tree T
            --abbrev [N], --debug, --deduplicate, --sparse, --format F, -h
            -X --exclude-from FILE : reads
        ")])
        .judge(ls_files),
    Spec::new(&["ls-tree"]).style(GIT).options(&[options!("
        -d, -r, -t, -l --long, -z, --name-only, --name-status, --object-only, --full-name, --full-tree, --format F, --abbrev [N]
    ")]),
    Spec::new(&["cat-file"])
        .style(GIT)
        .options(&[options!("
            -t, -s, -e, -p, --allow-unknown-type, --mailmap --use-mailmap, --batch [F], --batch-check [F], --batch-command [F]
            --batch-all-objects, --buffer, --unordered, --follow-symlinks, --path P, -z, -Z, --filter SPEC
            --textconv : runs-command
            --filters : runs-command
        ")])
        .judge(revisions_and_paths),
    Spec::new(&["rev-parse"]).style(GIT.and(Style::LEADING)).options(&[options!("
        --parseopt, --sq-quote, --keep-dashdash, --stop-at-non-option, --stuck-long, --revs-only, --no-revs, --flags, --no-flags
        --default ARG, --prefix ARG, --verify, -q --quiet, --sq, --short [N], --not, --abbrev-ref [M], --symbolic, --symbolic-full-name
        --output-object-format F, --all, --branches [P], --tags [P], --remotes [P], --glob P, --exclude P, --exclude-hidden R
        --disambiguate P, --local-env-vars, --path-format F, --git-dir, --git-common-dir, --resolve-git-dir P, --git-path P
        --show-toplevel, --show-superproject-working-tree, --shared-index-path, --absolute-git-dir, --is-inside-git-dir
        --is-inside-work-tree, --is-bare-repository, --is-shallow-repository, --show-cdup, --show-prefix, --show-object-format [F]
        --show-ref-format, --since --after DATE, --until --before DATE, --verify-none, -#
    ")]),
    Spec::new(&["blame", "annotate"])
        .style(GIT)
        .options(&[options!("
            -b, --root, --show-stats, -L RANGE, -l, -t, -p --porcelain, --line-porcelain, --incremental, -c
            -M [N], -C [N], -s, -f --show-name, -n --show-number, -e --show-email, --score-debug, --color-lines, --color-by-age, -w
            --ignore-rev REV
            -S FILE : reads
            --ignore-revs-file FILE : reads
            --contents FILE : reads
        "), DIFF, REVISIONS])
        .judge(revisions_and_paths),
    Spec::new(&["grep"])
        .style(GIT)
        .options(&[options!("
            --cached, --untracked, --no-index, --exclude-standard, --recurse-submodules, -v --invert-match, -i --ignore-case
            -w --word-regexp, -a --text, -I, --textconv, -r --recursive, --max-depth N, -E --extended-regexp, -G --basic-regexp
            -F --fixed-strings, -P --perl-regexp, -n --line-number, --column, -h, -H, --full-name, -l --files-with-matches --name-only
            -L --files-without-match, -z --null, -o --only-matching, -c --count, --color [WHEN], --break, --heading, -# -C --context N
            -B --before-context N, -A --after-context N, --threads N, -p --show-function, -W --function-context, -e PATTERN, --and
            --or, --not, -q --quiet, --all-match, -m --max-count N, --ext-grep
            -f FILE : reads
            -O --open-files-in-pager [PAGER] : runs
        ")])
        .judge(grep),
    Spec::new(&["describe"]).style(GIT).options(&[options!("
        --contains, --debug, --all, --tags, --long, --first-parent, --abbrev [N], --exact-match, --candidates N, --match P
        --exclude P, --always, --dirty [MARK], --broken [MARK]
    ")]),
    Spec::new(&["merge-base"])
        .style(GIT)
        .options(&[options!("-a --all, --octopus, --independent, --is-ancestor, --fork-point")]),
    Spec::new(&["name-rev"]).style(GIT).options(&[options!("
        --name-only, --tags, --refs P, --exclude P, --all, --stdin, --annotate-stdin, --undefined, --always
    ")]),
    Spec::new(&["for-each-ref"]).style(GIT).options(&[FORMAT]),
    Spec::new(&["show-ref"]).style(GIT).options(&[options!("
        --tags, --branches --heads, --exists, --verify, --head, -d --dereference, -s --hash [N], --abbrev [N], -q --quiet
        --exclude-existing [P]
    ")]),
    Spec::new(&["show-branch"]).style(GIT).options(&[options!("
        -a --all, -r --remotes, --color [WHEN], --more [N], --list, --no-name, --current, --sha1-name, --merge-base, --independent
        --topo-order, --topics, --sparse, --date-order, -g --reflog [N]
    ")]),
    Spec::new(&["count-objects"]).style(GIT).options(&[options!("-v --verbose, -H --human-readable")]),
    Spec::new(&["check-ignore"])
        .style(GIT)
        .options(&[options!("-q --quiet, -v --verbose, --stdin, -z, -n --non-matching, --no-index")]),
    Spec::new(&["check-attr"]).style(GIT).options(&[options!("-a --all, --cached, --stdin, -z, --source T")]),
    Spec::new(&["check-ref-format"])
        .style(GIT)
        .options(&[options!("--branch, --normalize, --print, --allow-onelevel, --no-allow-onelevel, --refspec-pattern")]),
    Spec::new(&["check-mailmap"]).style(GIT).options(&[options!("--stdin, --mailmap-file F : reads")]),
    Spec::new(&["cherry"]).style(GIT).options(&[options!("--abbrev [N], -v --verbose")]),
    Spec::new(&["var"]).style(GIT).options(&[options!("-l")]).judge(super::config::var),
    Spec::new(&["version"]).style(GIT).options(&[options!("--build-options")]),
    Spec::new(&["help"]).style(GIT).options(&[options!("
        -a --all, --no-external-commands, --no-aliases, --verbose, -c --config, -g --guides, -m --man, --user-interfaces
        --developer-interfaces
        -i --info : runs-command
        -w --web : runs-command
    ")]),
    Spec::new(&["verify-commit", "verify-tag", "verify-pack"])
        .style(GIT)
        .options(&[options!("-v --verbose, --raw, --format F, -s --stat-only, --object-format F")]),
    Spec::new(&["fsck", "fsck-objects"])
        .aliased().style(GIT).options(&[options!("
        -v --verbose, --unreachable, --dangling, --tags, --root, --cache, --reflogs, --full, --connectivity-only, --strict
        --progress, --name-objects, --references
        --lost-found : changes-repository
    ")]),
    Spec::new(&["patch-id", "stripspace", "get-tar-commit-id", "column", "show-index", "fmt-merge-msg"])
        .style(GIT.and(Style::HARMLESS)),
    Spec::new(&["merge-tree"]).style(GIT).options(&[options!("
        --write-tree, --trivial-merge, --messages, -z, --name-only, --allow-unrelated-histories, --stdin, --merge-base C
        -X --strategy-option O, --quiet
    ")]),
    Spec::new(&["request-pull"]).style(GIT).options(&[options!("-p")]).acts(&[Act::Connects("remote")]),
    Spec::new(&["bugreport", "diagnose"])
        .style(GIT)
        .options(&[options!("-s --suffix F, --diagnose [M], --mode M, --no-suffix", "-o --output-directory P : makes-below")])
        .acts(&[Act::WritesBelow(".")]),
    Spec::new(&["interpret-trailers"])
        .style(GIT)
        .options(&[options!("
            --trim-empty, --where P, --if-exists A, --if-missing A, --trailer T, --only-trailers, --only-input, --unfold, --parse
            --no-divider
            --in-place : changes-files
        ")])
        .operands(Operands::EDIT),
    Spec::new(&["archive"])
        .style(GIT)
        .options(&[options!("
            --format F, --prefix P, --mtime T, -v --verbose, -l --list, --worktree-attributes, -0, -1, -2, -3, -4, -5, -6, -7, -8, -9
            --add-virtual-file SPEC
            --add-file FILE : reads
            -o --output FILE : writes
            --remote REPO : connects
            --exec PROG : runs
        ")]),
    Spec::new(&["instaweb", "daemon", "http-backend", "cvsserver"])
        .style(GIT.and(Style::HARMLESS))
        .acts(&[Act::Named(Code::Serves)]),
    Spec::new(&["citool", "gui"]).style(GIT.and(Style::HARMLESS)),
    Spec::new(&["difftool"])
        .style(GIT)
        .options(&[DIFF, REVISIONS, options!("
            -d --dir-diff, -y --no-prompt, --prompt, --rotate-to F, --skip-to F, -g --gui, --tool-help, --symlinks, --trust-exit-code
            --cached --staged, --no-index
            -t --tool TOOL : runs
            -x --extcmd COMMAND : shell
        ")])
        .acts(&[Act::Named(Code::RunsCommand)])
        .judge(revisions_and_paths),
    Spec::new(&["merge-file"])
        .style(GIT)
        .options(&[options!("
            -p --stdout, --diff3, --zdiff3, --ours, --theirs, --union, -q --quiet, -L LABEL, --marker-size N, --object-id
            --diff-algorithm A
        ")])
        .operands(Operands::then(&[Role::Edit], Role::Read)),
];

/// `--no-index`, and `git diff` outside a repository, compare any two files.
fn diff(view: &mut View<'_>) {
    if view.has("--no-index") {
        for at in view.operands() {
            if let Some(word) = view.word(at) {
                view.reads_below(word, at);
            }
        }
    } else {
        revisions_and_paths(view);
    }
    if view.has("--name-only") {
        // Names that are no longer tracked are in other revisions, and all begin at the top.
        let operands = view.operands();
        let behind = |at: &&usize| view.terminator.is_some_and(|end| **at > end);
        let elsewhere = view.out.open_options || operands.iter().any(|at| !behind(&at));
        let moves = ["--cached", "--no-index", "--merge-base", "--relative", "--stdin", "-R"];
        let specs: Vec<usize> = operands.iter().filter(behind).copied().collect();
        let tracked = !elsewhere && !view.has_any(&moves) && at_top(view);
        pathspec::names(view, &specs, tracked);
    }
}

fn ls_files(view: &mut View<'_>) {
    status(view);
    if !view.has_any(&["--stage", "-t", "-v", "-f", "--unmerged", "--debug", "--eol", "--format"]) {
        let others = ["--others", "--killed", "--resolve-undo", "--with-tree", "--recurse-submodules"];
        let tracked = !view.out.open_options && !view.has_any(&others) && (!view.has("--full-name") || at_top(view));
        pathspec::names(view, &view.operands(), tracked);
    }
}

/// The first operand is a pattern unless `-e` or `-f` gives one; then revisions and paths.
fn grep(view: &mut View<'_>) {
    let given = view.has_any(&["-e", "-f"]);
    let specs: Vec<usize> = view.operands().into_iter().skip(usize::from(!given)).collect();
    // With these it looks at files that git does not know, as any other search.
    let known = !view.has_any(&["--untracked", "--no-index"]);
    let ignored = view.has("--no-exclude-standard") || view.has("--no-index") && !view.has("--exclude-standard");
    let sieve = match (known, ignored) {
        (true, _) => Sieve::Tracked,
        (false, true) => Sieve::All,
        (false, false) => Sieve::Unignored,
    };
    if !known && specs.is_empty() {
        view.reads_sifted(&Word::Exact(".".into()), 0, &sieve);
    }
    pathspec::reads(view, &specs, &sieve);
    if view.has_any(&["--files-with-matches", "--files-without-match"]) {
        let others = ["--untracked", "--no-index", "--recurse-submodules", "--full-name"];
        let tracked = specs.is_empty() && !view.out.open_options && !view.has_any(&others);
        pathspec::names(view, &specs, tracked);
    }
}

/// Tells names, not what files hold.
fn status(view: &mut View<'_>) {
    for at in view.operands() {
        match view.word(at).map(|word| pathspec::place(view, word)) {
            Some(Place::At(path)) => view.tells(&path, at, true),
            Some(_) => view.touches(Verb::Read, ".", false),
            None => {}
        }
    }
}
