//! Checkers and formatters that many projects use, each with the options that it has.

use super::lint::{checks, options_take_paths, write_operands};
use super::{Absent, Operands, Role, Spec, View};
use crate::option::{Style, Table, options};

const STYLE: Style = Style::EXACT.and(Style::RISKY);
const PYTHON: &str = "py pyi pyw ipynb";
const PYTHON_FILES: Operands = Operands::all(Role::Sources(PYTHON)).absent(Absent::ReadsHere);

const MYPY: &Table = options!("
    -h, -v --verbose, -V --version, -O --output F, --strict, --ignore-missing-imports, --follow-untyped-imports, --follow-imports M, --python-version V
    --platform P, --always-true N, --always-false N, --show-error-codes, --hide-error-codes, --show-error-code-links, --pretty, --no-pretty
    --no-error-summary, --error-summary, --show-column-numbers, --show-error-end, --show-error-context, --hide-error-context, --show-absolute-path
    --soft-error-limit N, --exclude P, --exclude-gitignore, --namespace-packages, --no-namespace-packages, --explicit-package-bases, --fast-module-lookup
    --check-untyped-defs, --disallow-any-unimported, --disallow-any-expr, --disallow-any-decorated, --disallow-any-explicit, --disallow-any-generics
    --disallow-subclassing-any, --disallow-untyped-calls, --disallow-untyped-defs, --disallow-incomplete-defs, --disallow-untyped-decorators
    --allow-untyped-defs, --allow-untyped-calls, --allow-incomplete-defs, --allow-any-generics, --allow-subclassing-any, --allow-untyped-globals
    --allow-redefinition, --allow-redefinition-new, --allow-empty-bodies, --implicit-optional, --no-implicit-optional, --no-strict-optional, --strict-optional
    --warn-redundant-casts, --no-warn-no-return, --warn-no-return, --warn-return-any, --warn-unreachable, --warn-unused-ignores, --warn-unused-configs
    --warn-incomplete-stub, --deprecated-calls-exclude M, --report-deprecated-as-note, --no-implicit-reexport, --implicit-reexport, --strict-equality
    --no-strict-equality, --strict-bytes, --extra-checks, --enable-error-code C, --disable-error-code C, --local-partial-types, --no-incremental
    --incremental, --sqlite-cache, --no-sqlite-cache, --cache-fine-grained, --skip-version-check, --skip-cache-mtime-checks, --no-site-packages
    --no-silence-site-packages, --non-interactive, --no-color-output, --color-output, --tb --show-traceback, --raise-exceptions, --scripts-are-modules
    --no-fine-grained-cache, --untyped-calls-exclude M, --use-fine-grained-cache, --export-types, --timings, --stats, --enable-incomplete-feature F
    -p --package P, -m --module M, -j --jobs N, --num-workers N, --version-info
    --custom-typeshed-dir DIR, --custom-typing-module M : reads-below
    --config-file FILE : recipe
    --junit-xml FILE : makes
    --any-exprs-report DIR, --cobertura-xml-report DIR, --html-report DIR, --linecount-report DIR, --linecoverage-report DIR : makes-below
    --lineprecision-report DIR, --txt-report DIR, --xml-report DIR, --xslt-html-report DIR, --xslt-txt-report DIR, --cache-dir DIR : makes-below
    --shadow-file A B : reads
    --find-occurrences C, -c --command CODE, --pdb
    --install-types : installs
    --python-executable PROG : runs
");

const FLAKE8: &Table = options!("
    -h, -v --verbose, -q --quiet, --version, --color W, --count, --exclude P, --extend-exclude P, --filename P, --stdin-display-name N, --format F
    --hang-closing, --ignore E, --extend-ignore E, --per-file-ignores E, --max-line-length N, --max-doc-length N, --indent-size N, --select E
    --extend-select E, --disable-noqa, --show-source, --no-show-source, --statistics, --exit-zero, -j --jobs N, --tee, --benchmark, --bug-report
    --max-complexity N, --doctests, --include-in-doctest P, --exclude-from-doctest P, --builtins B, --isolated, --enable-extensions E, --require-plugins P
    --show-pep8, --first, -r --repeat, --diff, --docstring-convention C, --import-order-style S, --max-cognitive-complexity N, --convention C, --explain, -e, -i
    --match P, --match-dir P, --add-select E, --add-ignore E, --application-import-names N, --inline-quotes Q, --max-returns-amount N
    --output-file FILE : makes
    --config FILE, --append-config FILE : recipe
");

const PYLINT: &Table = options!("
    -h, --long-help, --version, -v --verbose, -d --disable M, -e --enable M, -E --errors-only, -r --reports Y, -f --output-format F, -s --score Y
    --msg-template T, -j --jobs N, --max-line-length N, --ignore P, --ignore-paths P, --ignore-patterns P, --fail-under N, --fail-on M, --exit-zero
    --recursive Y, --persistent Y, --py-version V, --confidence C, --list-msgs, --list-msgs-enabled, --list-groups, --list-conf-levels
    --list-extensions, --generate-rcfile, --generate-toml-config, --help-msg M, --good-names N, --bad-names N, --clear-cache-post-run Y, --from-stdin
    --source-roots P, --prefer-stubs Y, --max-args N, --max-locals N, --max-branches N, --max-statements N, --max-returns N, --max-attributes N
    --min-public-methods N, --max-public-methods N, --max-module-lines N, --min-similarity-lines N, --notes N, --dummy-variables-rgx R
    --variable-rgx R, --function-rgx R, --const-naming-style S, --variable-naming-style S, --indent-string S, --expected-line-ending-format F
    --ignored-modules M, --ignored-classes C, --generated-members M, --additional-builtins B, --allowed-redefined-builtins B, --known-third-party M
    --no-docstring-rgx R, --docstring-min-length N, --spelling-dict D, --logging-modules M, --fail-on-template-error, --suggestion-mode Y
    --output FILE : makes
    --rcfile FILE : recipe
    --load-plugins P, --init-hook CODE, --unsafe-load-any-extension Y, --extension-pkg-allow-list P, --extension-pkg-whitelist P : runs-code
");

const PYRIGHT: &Table = options!("
    -h, --version, --pythonplatform P, --pythonversion V, --outputjson, --stats, --level L, --warnings, --verifytypes P, --ignoreexternal, -w --watch
    --skipunannotated, --threads [N], --dependencies, --verbose, --enumerate-others, --createstub P, --gitlabcodequality F
    -p --project FILE, -v --venvpath DIR, --venv-path DIR, -t --typeshedpath --typeshed-path DIR : recipe
    --pythonpath PROG : runs
    --writebaseline : changes-files
    --baselinefile FILE : makes
");

const BANDIT: &Table = options!("
    -h, -r --recursive, -a --aggregate A, -n --number N, -p --profile P, -t --tests T, -s --skip T, -l --level, -ll, -lll, --severity-level L, -i --confidence
    -ii, -iii, --confidence-level L, -f --format F, --msg-template T, -v --verbose, -d --debug, -q --quiet --silent, --ignore-nosec, -x --exclude P
    -b --baseline F, --exit-zero, --version
    -o --output FILE : makes
    -c --configfile FILE, --ini FILE : recipe
");

const BLACK: &Table = options!("
    -h, --version, --check, --check-only, -c --code CODE, --diff, -d, -q --quiet, -v --verbose, -l --line-length --line-width -w N, -t --target-version V
    --pyi, --ipynb, --python-cell-magics M, -x --skip-source-first-line, -S --skip-string-normalization, -C --skip-magic-trailing-comma, --preview
    --unstable, --enable-unstable-feature F, --color, --no-color, --line-ranges R, --fast, --safe, --required-version V, --exclude P, --extend-exclude P
    --force-exclude P, --include P, --stdin-filename F, -W --workers N, --no-cache, --profile P, --py V, --skip F, -s, --extend-skip F, --skip-glob P, --sg P
    --gitignore, --skip-gitignore, --float-to-top, --combine-as, --ca, --force-sort-within-sections, --force-single-line, --sl, --multi-line M, -m M
    --trailing-comma --tc, --atomic, --ac, --dont-skip F, --filter-files, --show-config, --show-settings, --show-files, --known-first-party -p P
    --known-third-party P, --src --src-path P, --length-sort, --ls, --lines-after-imports N, --lai N, --reverse-relative, --rr, --case-sensitive, --vn
    --only-modified, --om, --remove-redundant-aliases, --resolve-all-configs, -j --jobs N, --virtual-env P, --quiet-ok, --df, -e, --balanced, -r --recursive
    --config FILE, --settings-path --settings-file --sp --settings FILE, --config-root DIR : recipe
    --formatter F, --sort-order S : runs-code
");

const CLANG_FORMAT: &Table = options!("
    -h, --help, --version, --style -style S, --fallback-style S, --Werror -Werror, --dry-run -n, --lines -lines R, --length -length N, --offset -offset N
    --sort-includes -sort-includes, --assume-filename -assume-filename F, --verbose -verbose, --ferror-limit N, --output-replacements-xml
    --cursor -cursor N, --dump-config -dump-config, --qualifier-alignment Q, --fail-on-incomplete-format, --Wno-error E, --Wclang-format-violations, --list-ignored
    --files FILE : reads
    -i --in-place : changes-files
");

const SHFMT: &Table = options!("
    -h, --help, --version, -l --list, -d --diff, -s --simplify, -mn --minify, -ln --language-dialect L, -p --posix, --filename F, -i --indent N
    -bn --binary-next-line, -ci --case-indent, -sr --space-redirects, -kp --keep-padding, -fn --func-next-line, -f --find, --to-json -tojson, --apply-ignore
    --from-json
    -w --write : changes-files
");

const CLANG_TIDY: &Table = options!("
    -h, --help, --version, --checks -checks C, --config -config C, --header-filter -header-filter R, --exclude-header-filter R, --line-filter F, --list-checks
    -list-checks, --explain-config, --dump-config, --format-style S, --quiet -quiet, --system-headers, --use-color, --warnings-as-errors -warnings-as-errors C
    --enable-check-profile, --allow-no-checks, --verify-config, --removed-arg A, --experimental-custom-checks, -extra-arg --extra-arg A, -extra-arg-before --extra-arg-before A
    -p DIR : recipe
    --config-file FILE : recipe
    --vfsoverlay FILE : reads
    --store-check-profile DIR : makes-below
    --export-fixes -export-fixes FILE : makes
    --fix -fix, --fix-errors -fix-errors, --fix-notes -fix-notes : changes-files
    --load -load L : runs-code
");

const CPPCHECK: &Table = options!("
    -h, --help, --version, -j N, -l N, -q --quiet, -v --verbose, -f --force, -D [D], -U [U], -E, -i DIR, --enable [I], --disable [I], --std [S], --language [L], -x L
    --platform [P], --suppress [S], --inline-suppr, --inconclusive, --error-exitcode [N], --max-configs [N], --max-ctu-depth [N], --template [T]
    --template-location [T], --xml, --xml-version [N], --check-config, --check-level [L], --check-library, --errorlist, --doc, --fsigned-char, --funsigned-char
    --no-check-headers, --exception-handling [F], --file-filter [F], --performance-valueflow-max-time [N], --report-progress [N], --showtime [M], --safety, --premium [O]
    --premium-cert-c-int-precision [N], --relative-paths [P], -rp [P], --output-format [F], --debug-warnings, --dump, --valueflow-max-iterations [N]
    -I DIR : reads-below
    --include [F], --includes-file [F], --config-exclude [F], --suppressions-list [F], --suppress-xml [F], --exitcode-suppressions [F], --file-list [F], --rule-file [F] : reads
    --output-file [F], --checkers-report [F], --plist-output [D], --cppcheck-build-dir [D], --xml-output [F] : makes-below
    --project [F], --project-configuration [C], --library [F], --config-dir [D] : recipe
    --addon [A], --addon-python [P], --clang [P], --rule [R], --executor [E] : runs-code
");

pub(super) const SPECS: &[Spec] = &[
    Spec::new(&["mypy"]).style(STYLE).options(&[MYPY]).operands(PYTHON_FILES).judge(checks),
    Spec::new(&["flake8", "pycodestyle", "pydocstyle", "pyflakes"])
        .style(STYLE.and(Style::PASSES))
        .options(&[FLAKE8])
        .operands(PYTHON_FILES)
        .judge(checks),
    Spec::new(&["pylint"]).style(STYLE).options(&[PYLINT]).operands(PYTHON_FILES).judge(checks),
    Spec::new(&["pyright", "basedpyright"]).style(STYLE).options(&[PYRIGHT]).operands(PYTHON_FILES).judge(checks),
    Spec::new(&["bandit"]).style(STYLE).options(&[BANDIT]).operands(PYTHON_FILES).judge(checks),
    Spec::new(&["black", "isort"]).style(STYLE).options(&[BLACK]).operands(PYTHON_FILES).judge(black),
    Spec::new(&["clang-format"]).style(STYLE).options(&[CLANG_FORMAT]).operands(Operands::READ_BELOW).judge(in_place),
    Spec::new(&["shfmt"]).style(STYLE).options(&[SHFMT]).operands(Operands::READ_BELOW).judge(in_place),
    Spec::new(&["clang-tidy"]).style(STYLE).options(&[CLANG_TIDY]).operands(Operands::READ_BELOW).judge(checks),
    Spec::new(&["cppcheck"]).style(STYLE).options(&[CPPCHECK]).operands(Operands::READ_BELOW).judge(checks),
    Spec::new(&["shellcheck"])
        .style(STYLE)
        .options(&[options!("
            -a --check-sourced, -C --color [W], -i --include C, -e --exclude C, --extended-analysis V, -f --format F, --list-optional, --norc, -o --enable C
            -P --source-path P, -s --shell S, -S --severity S, -V --version, -W --wiki-link-count N, -x --external-sources, --help
            --rcfile FILE : reads
        ")])
        .operands(Operands::READ_BELOW),
    Spec::new(&["hadolint"])
        .style(STYLE)
        .options(&[options!("
            -h, -v --version, --no-fail, --no-color, -V --verbose, -f --format F, --error R, --warning R, --info R, --style R, --ignore R, --trusted-registry R
            --require-label L, --strict-labels, --disable-ignore-pragma, -t --failure-threshold T, --file-path-in-report F
            -c --config FILE : reads
        ")])
        .operands(Operands::READ_BELOW),
    Spec::new(&["typos"])
        .style(STYLE)
        .options(&[options!("
            -h, -V --version, --diff, --format F, --color W, -q --quiet, -v --verbose, -j --threads N, --force-exclude, --exclude P, --hidden, --no-ignore
            --no-ignore-dot, --no-ignore-global, --no-ignore-parent, --no-ignore-vcs, --binary, --no-check-filenames, --no-check-files, --no-unicode, --locale L
            --type-list, --files, --identifiers, --words, --highlight-identifiers, --highlight-words, --sort, --isolated
            -c --config FILE, --file-list FILE : reads
            -w --write-changes : changes-files
            --dump-config FILE : makes
        ")])
        .operands(Operands::READ_BELOW)
        .judge(checks),
    Spec::new(&["golangci-lint"])
        .style(STYLE.and(Style::GLOBAL))
        .options(&[GOLANGCI])
        .subs(&[
            Spec::new(&["run"]).style(STYLE).options(&[GOLANGCI]).operands(Operands::READ_BELOW).judge(go_fix),
            Spec::new(&["fmt"])
                .style(STYLE)
                .options(&[GOLANGCI, options!("-d --diff, --diff-colored, --stdin")])
                .operands(Operands::all(Role::WriteBelow)),
            Spec::new(&["linters", "formatters", "help", "version", "config", "cache", "completion"])
                .style(Style::EXACT.and(Style::FREE))
                .options(&[GOLANGCI]),
            Spec::new(&["custom", "migrate"]).style(STYLE).acts(&[super::Act::Named(super::Code::ChangesFiles)]),
        ]),
    Spec::new(&["staticcheck"])
        .style(Style::WORDS)
        .options(&[options!("
            -checks C, -explain C, -f F, -fail C, -go V, -matrix, -merge, -show-ignored, -tags T, -tests, -version, -list-checks, -debug.version, -help
            -debug.cpuprofile F, -debug.memprofile F, -debug.trace F, -debug.measure-analyzers F : writes
        ")])
        .operands(Operands::TEXT),
];

const GOLANGCI: &Table = options!("
    -h, --help, --version, -v --verbose, --color W, -D --disable L, -E --enable L, -p --presets P, --enable-only L, --disable-all, --enable-all, --fast, --fast-only
    --default D, -j --concurrency N, --modules-download-mode M, --issues-exit-code N, --build-tags T, --timeout T, --tests [V], --allow-parallel-runners
    --allow-serial-runners, --max-issues-per-linter N, --max-same-issues N, --uniq-by-line [V], -n --new [V], --new-from-rev R, --new-from-merge-base R
    --whole-files, --out-format F, --print-issued-lines [V], --print-linter-name [V], --sort-results, --path-prefix P, --path-mode M, --show-stats [V]
    -e --exclude P, --exclude-use-default [V], --exclude-dirs P, --exclude-files P, --skip-dirs P, --skip-files P, --no-config, --go V, --max-warnings N
    --new-from-patch FILE : reads
    -c --config FILE : recipe
    --output.text.path F, --output.json.path F, --output.sarif.path F, --output.junit-xml.path F, --output.html.path F : makes
    --output.tab.path F, --output.checkstyle.path F, --output.code-climate.path F, --output.teamcity.path F : makes
    --cpu-profile-path F, --mem-profile-path F, --trace-path F : makes
    --fix : changes-files
");

fn go_fix(view: &mut View<'_>) {
    if view.has("--fix") {
        write_operands(view, Some("go"));
    }
}

/// It writes unless it only checks.
fn black(view: &mut View<'_>) {
    let checks = view.has_any(&["--check", "--check-only", "--diff"]) || view.name == "isort" && view.has("--code");
    options_take_paths(view);
    if !checks {
        write_operands(view, Some(PYTHON));
    }
}

fn in_place(view: &mut View<'_>) {
    options_take_paths(view);
    if view.has_any(&["--write", "--in-place"]) {
        write_operands(view, None);
    }
}
