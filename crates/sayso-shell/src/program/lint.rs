//! Programs that check, format, bundle and test code of a project.

use super::{Absent, Act, Code, Operands, Role, Spec, View};
use crate::effect::{Carry, Verb};
use crate::option::{Does, Style, options};
use crate::word::Word;

/// Runs tests or checks and reads what it is given; unknown options stay doubts.
pub(super) const SPECS: &[Spec] = &[
    Spec::new(&["tsc", "vue-tsc", "tsgo", "svelte-check"])
        .style(Style::EXACT)
        .options(&[options!("
            -b --build, --noEmit, --pretty, -w --watch, --listFiles, --listFilesOnly, --showConfig, --strict, --skipLibCheck, --esModuleInterop
            -t --target T, -m --module M, --lib L, --jsx J, --allowJs, --checkJs, -d --declaration, --declarationMap, --emitDeclarationOnly
            --sourceMap, --removeComments, --noImplicitAny, --incremental, --composite, --force, --clean, --dry, -f, -v, -h, --all, --init
            --moduleResolution M, --resolveJsonModule, --isolatedModules, --noErrorTruncation, --diagnostics, --extendedDiagnostics, --traceResolution
            --types T, --typeRoots T, --baseUrl U, --noUnusedLocals, --noUnusedParameters, --preserveWatchOutput, --explainFiles, --locale L
            --threshold T, --fail-on-warnings, --output F, --tsconfig F, --no-tsconfig, --ignore P, --compiler-warnings W, --diagnostic-sources S
            -p --project FILE : reads
            --outDir DIR : makes-below
            --outFile FILE : makes
            --declarationDir DIR : makes-below
            --rootDir DIR : reads-below
            --tsBuildInfoFile FILE : makes
            --generateTrace DIR : writes-below
            --generateCpuProfile FILE : writes
        ")])
        .operands(Operands::READ)
        .judge(tsc),
    Spec::new(&["eslint", "eslint_d", "oxlint", "standard", "xo", "tslint", "jshint"])
        .style(Style::EXACT.and(Style::NEGATES).and(Style::RISKY))
        .options(&[ESLINT])
        .operands(Operands::all(Role::Sources(SCRIPTS)).absent(Absent::ReadsHere))
        .judge(eslint),
    Spec::new(&[
        "stylelint", "htmlhint", "markdownlint", "markdownlint-cli2", "jscpd", "knip", "depcheck", "madge", "commitlint", "cspell", "alex",
        "textlint", "remark", "publint", "attw", "dependency-cruiser", "depcruise",
    ])
        .style(Style::EXACT.and(Style::NEGATES).and(Style::RISKY))
        .options(&[ESLINT])
        .operands(Operands::READ_BELOW)
        .judge(stylelint),
    Spec::new(&[
        "prettier", "dprint", "biome", "rome", "js-beautify", "stylua", "swiftformat",
        "ktlint", "google-java-format", "scalafmt", "ormolu", "fourmolu", "nixfmt", "alejandra", "xmlformat",
        "sql-formatter", "sqlfluff", "djlint", "mdformat", "nixpkgs-fmt", "buildifier", "yamlfmt",
    ])
        .style(Style::EXACT.and(Style::NEGATES).and(Style::RISKY).and(Style::FREE).and(Style::GLOBAL))
        .options(&[FORMATS, options!("
            -c --check, -l --list-different, -d --diff, --log-level L, --parser P, --config-precedence C, --no-config, --stdin-filepath F, --no-color
            --config --config-path FILE : recipe
            --ignore-path FILE : reads
            --plugin P, --plugin-search-dir DIR, --plugins P : runs-code
            --cache-location FILE, --log-file FILE, --reporter-file FILE : makes
            -w --write : changes-files
            -i --in-place --inplace : changes-files
            --fix, --apply, --unsafe : changes-files
        ")])
        .subs(&[
            Spec::new(&[
                "check", "lint", "ci", "explain", "version", "help", "output-file-paths", "output-resolved-config",
            ])
                .style(Style::EXACT.and(Style::NEGATES))
                .options(&[FORMATS, options!("-w --write, --fix, --apply, --apply-unsafe, --unsafe : changes-files")])
                .operands(Operands::READ_BELOW)
                .judge(fixes),
            Spec::new(&["format", "fmt", "fix", "migrate", "init"])
                .style(Style::EXACT.and(Style::NEGATES))
                .options(&[FORMATS, options!("-w --write, --fix : changes-files")])
                .operands(Operands::READ_BELOW)
                .acts(&[Act::Named(Code::ChangesFiles)])
                .judge(fixes),
        ])
        .judge(format_in_place),
    Spec::new(&["ruff"])
        .style(Style::EXACT.and(Style::EQUALS).and(Style::GLOBAL))
        .options(&[RUFF])
        .subs(&[
            Spec::new(&["check"]).style(Style::EXACT).options(&[RUFF]).operands(PYTHON_FILES).judge(ruff_check),
            Spec::new(&["format"]).style(Style::EXACT).options(&[RUFF]).operands(PYTHON_FILES).judge(ruff_format),
            Spec::new(&["rule", "config", "linter", "version", "help", "analyze"]).style(Style::HARMLESS),
            Spec::new(&["clean", "server"]).style(Style::HARMLESS),
        ]),
    Spec::new(&[
        "dmypy", "pyre", "pytype", "ty", "vulture", "radon", "interrogate", "xenon", "import-linter", "deptry", "refurb",
    ])
        .style(Style::EXACT.and(Style::NEGATES).and(Style::HARMLESS).and(Style::RISKY))
        .options(&[MYPY])
        .operands(PYTHON_FILES)
        .judge(checks),
    Spec::new(&["codespell", "rstcheck", "doc8", "lizard", "semgrep"])
        .style(Style::EXACT.and(Style::NEGATES).and(Style::HARMLESS).and(Style::RISKY))
        .options(&[MYPY])
        .operands(Operands::READ_BELOW)
        .judge(checks),
    Spec::new(&[
        "autopep8", "yapf", "autoflake", "pyupgrade", "docformatter", "blue",
        "reorder-python-imports", "ssort", "add-trailing-comma", "flynt", "unify",
    ])
        .style(Style::EXACT.and(Style::HARMLESS))
        .options(&[options!("
            --check, --check-only, -c, --diff, -d, -q --quiet, -v --verbose, -l --line-length N, -t --target-version V, -S, --fast, --safe, --profile P
            --config FILE : reads
            -i --in-place --inplace : changes-files
        ")])
        .operands(PYTHON_FILES)
        .judge(black),
    Spec::new(&[
        "jest", "vitest", "mocha", "ava", "tap", "jasmine", "karma", "cypress", "playwright",
        "web-test-runner", "testcafe", "uvu", "qunit", "lab", "storybook", "wtr",
    ])
        .style(Style::EXACT.and(Style::NEGATES).and(Style::FREE).and(Style::RISKY).and(Style::GLOBAL))
        .options(&[options!("
            -t --testNamePattern --grep -g P, --coverage [V], --watch, --watchAll, -w, --runInBand -i, --verbose, --silent, --bail [N], -b, --ci, --maxWorkers N, --passWithNoTests
            --onlyChanged -o, --changedSince R, --listTests, --showConfig, --no-cache, --clearCache, --forceExit, --detectOpenHandles, --testTimeout N, --timeout N, --env --environment E
            --projects P, --selectProjects P, --run, --ui [U], --reporter --reporters R, --threads, --no-threads, --pool P, --retry N, --globals, --dom, --browser [B], --headed
            --headless, --mode M, --workspace W, --project P, --shard S, --update -u, --updateSnapshot, --testPathPattern P, --testPathPatterns P, --testPathIgnorePatterns P
            --findRelatedTests, --json, --exit, --recursive, --parallel, --jobs N, --slow N, --color [W], --colors, --hideSkippedTests, --no-color, --logHeapUsage, --allowOnly
            --expand, --errorOnDeprecated, --notify, --lastCommit, --workers N, -j N, --repeat-each N, --retries N, --max-failures N, -x, --last-failed, --fully-parallel, --list
            --spec S, --quiet, -q, --record, --tag T, --key K, -h, -v, -V, --version, --help, --ignoreProjects P, --testPathIgnorePattern P, --testMatch P, --testRegex P
            --onlyFailures -f, --detectLeaks, --injectGlobals, --openHandlesTimeout N, --randomize, --seed N, --showSeed, --useStderr, --waitBeforeExit N, --workerThreads
            --workerIdleMemoryLimit N, --collectCoverage, --collectCoverageFrom P, --coverageProvider P, --coverageReporters R, --coverageThreshold T, --cacheDirectory D
            --moduleNameMapper M, --maxConcurrency N, --noStackTrace, --resetMocks, --restoreMocks, --clearMocks, --resetModules, --snapshotSerializers S, --watchman
            --watchPathIgnorePatterns P, --config-loader L, --minWorkers N, --fileParallelism, --testNamePatterns P, --exclude P, --changed [R], --related, --standalone
            --hookTimeout N, --teardownTimeout N, --maxConcurrencyLimit N, --passWithNoTests, --logHeapUsage, --printConsoleTrace, --expandSnapshotDiff, --disableConsoleIntercept
            --clearScreen, --mergeReports [P], --diff.expand, --inspector, --reporter-option O, -O, --reporter-options O, --check-leaks, --delay, --dry-run, --fail-zero
            --forbid-only, --forbid-pending, --full-trace, --inline-diffs, --invert, --no-timeouts, --sort -S, --ignore P, --file F, --extension E, --watch-files F, --watch-ignore F
            --asyncOnly -A, --growl, --match -m M, --fail-fast, --concurrency N, --serial -s, --tap, --node-arguments A, --update-snapshots, --total-shards N, --grep-invert P
            --ignore-snapshots, --pass-with-no-tests, --trace M, --tsconfig F, --only-changed [R], --test-list F, --forbid-only, --no-deps, --debug, --component, --e2e, --port P
            --coverage.enabled [V], --coverage.provider P, --coverage.reporter R, --coverage.include P, --coverage.exclude P, --coverage.all [V], --coverage.thresholds.lines N
            --poolOptions.threads.singleThread [V], --poolOptions.forks.singleFork [V], --typecheck.only, --browser.headless [V], --browser.name N, --sequence.shuffle [V]
            --sequence.seed N, --includeTaskLocation, --attachmentsDir D, --run-in-band, --test-name-pattern P, --allow-empty-coverage, --allow-incomplete-coverage, --disable-coverage --typecheck, --sequence S, --bail, --dangerouslyIgnoreUnhandledErrors, --isolate, --no-isolate
            -c --config FILE : runs-code
            --rootDir DIR, --root DIR, --dir DIR, --roots DIR : reads-below
            -r --require M, --import M, --setupFiles F, --setupFilesAfterEnv F, --loader L, --globalSetup F, --globalTeardown F, --testEnvironment F, --transform T, --testRunner F, --resolver F, --preset P, --runner F : runs-code
            --coverage.reportsDirectory DIR, --reporterOutput F, --coverageDirectory DIR, --outputFile FILE, --output DIR, --report-dir DIR : makes-below
            --inspect [A], --inspect-brk [A], --inspectBrk [A], --api [P] : serves
        ")])
        .acts(&[Act::Builds])
        .subs(&[
            Spec::new(&[
                "run", "test", "watch", "dev", "related", "list", "bench", "verify", "info", "version",
                "show-report", "merge-reports", "open", "component",
            ])
                .style(Style::EXACT.and(Style::NEGATES))
                .judge(test_runner),
            Spec::new(&["install", "install-deps", "uninstall", "codegen", "init", "add", "cache"])
                .style(Style::HARMLESS)
                .acts(&[Act::Named(Code::Installs)]),
        ])
        .operands(Operands::TEXT)
        .judge(test_runner),
    // They run the command that follows and look which lines it comes by.
    Spec::new(&["nyc", "c8"])
        .style(Style::EXACT.and(Style::NEGATES).and(Style::LEADING).and(Style::FREE))
        .options(&[options!("
            -h, -v, -r --reporter R, -n --include P, -x --exclude P, -e --extension E, --all, -a, --check-coverage, --per-file, --lines N, --functions N, --branches N
            --statements N, --silent -s, --skip-full, --src P, --allowExternal, --exclude-after-remap, --hook-require, --instrument, --source-map, --watermarks W
            --cwd DIR : cd
            -o --report-dir --reports-dir --temp-directory -t --temp-dir --cache-dir DIR : makes-below
            -c --config --nycrc-path FILE : reads
            -i --require M : runs-code
            --clean, --hook-run-in-context, --hook-run-in-this-context, --show-process-tree, --babel-cache, --cache, --eager, --compact, --preserve-comments
            --produce-source-map, --es-modules, --exclude-node-modules, --ignore-class-methods M, --parser-plugins P, --100, --omit-relative, --resolve R
            --wrapper-length N, --merge-async, --experimental-monocart, --delete, --in-place, --complete-copy, --exit-on-error, --save
        ")])
        .subs(&[
            Spec::new(&["report", "check-coverage", "merge", "instrument"])
                .style(Style::EXACT.and(Style::NEGATES))
                .options(&[options!("
                    -r --reporter R, --lines N, --functions N, --branches N, --statements N, --per-file, --check-coverage, --all, --src P, -n --include P
                    -x --exclude P, --skip-full, --skip-empty, --exclude-after-remap, --100, --delete, --in-place, --watermarks W
                    -o --report-dir --reports-dir --temp-directory -t --temp-dir DIR : makes-below
                ")])
                .judge(takes_paths),
        ])
        .judge(super::pip::starts_operands),
    Spec::new(&[
        "babel", "parcel", "nuxt", "astro", "remix", "ng",
        "vue-cli-service", "react-scripts", "gatsby", "svelte-kit", "expo", "tailwindcss", "postcss", "sass",
        "node-sass", "lessc", "tsup", "unbuild", "microbundle", "ncc", "metro", "snowpack",
        "wmr", "terser", "uglifyjs", "svgo", "typedoc", "jsdoc", "api-extractor", "hugo", "jekyll", "mkdocs",
        "sphinx-build", "doxygen", "eleventy", "docusaurus", "vuepress", "vitepress", "zola", "mdbook", "pandoc",
        "asciidoctor", "pdflatex", "xelatex", "lualatex", "latexmk", "bibtex", "typst", "tectonic",
    ])
        .style(Style::EXACT.and(Style::NEGATES).and(Style::HARMLESS).and(Style::RISKY).and(Style::FREE).and(Style::GLOBAL))
        .options(&[options!("
            -o --output --outfile --outFile FILE : makes
            --outdir --out-dir --outDir -d DIR : makes-below
            -c --config FILE : runs-code
            --require M, --plugin P, --plugins P : runs-code
            --filter PROG, -F PROG, --lua-filter F, --pdf-engine P : runs-code
            --shell-escape -shell-escape --enable-write18 : runs-command
            --serve, --servedir DIR, --listen A, --host H : serves
        ")])
        .acts(&[Act::Project])
        .subs(&[
            Spec::new(&[
                "build", "check", "lint", "info", "test", "analyze", "sync", "prepare", "compile", "export",
                "generate", "version", "help", "typecheck", "config", "t", "b", "bundle",
            ])
                .style(Style::EXACT.and(Style::NEGATES).and(Style::HARMLESS))
                .judge(takes_paths),
            Spec::new(&["dev", "serve", "server", "start", "preview", "watch", "s", "develop"])
                .style(Style::HARMLESS)
                .acts(&[Act::Named(Code::Serves)]),
            Spec::new(&[
                "deploy", "gh-deploy", "publish", "add", "create", "new", "init", "upgrade", "update", "install",
                "eject",
            ])
                .style(Style::HARMLESS)
                .acts(&[Act::Named(Code::Publishes)]),
        ])
        .judge(takes_paths),
    Spec::new(&[
        "actionlint", "tflint", "checkov", "trivy", "grype", "syft", "dockle", "kubeval",
        "kubeconform", "conftest", "ansible-lint", "markdown-link-check", "lychee", "vale", "proselint",
        "write-good", "cpplint", "include-what-you-use", "splint", "flawfinder",
        "checkstyle", "pmd", "spotbugs", "detekt", "swiftlint", "reek", "brakeman", "phpstan", "psalm",
        "phpcs", "credo", "hlint", "luacheck", "selene", "sqlint", "protolint", "editorconfig-checker", "ec",
        "gitleaks", "trufflehog", "detect-secrets", "dotenv-linter", "zizmor", "statix", "deadnix",
        "ls-lint", "yaml-lint",
    ])
        .style(Style::EXACT.and(Style::HARMLESS).and(Style::RISKY))
        .options(&[options!("
            -o --output --report-path FILE : makes
            -c --config FILE : reads
            --fix, -fix, --auto-correct, --autocorrect, -A, -a, --write-changes, -w : changes-files
            -load L, --load L, --require R, --plugin P : runs-code
        ")])
        .operands(Operands::READ_BELOW)
        .judge(checks),
    Spec::new(&["rubocop"])
        .style(Style::EXACT.and(Style::HARMLESS).and(Style::RISKY))
        .options(&[options!("
            -f --format F, --only C, --except C, --fail-level L, -D --display-cop-names, -P --parallel, -d --debug, -l --lint, -L --list-target-files
            -o --out FILE : makes
            -c --config FILE : reads
            -a --autocorrect --auto-correct, -A --autocorrect-all, -x --fix-layout : changes-files
            -r --require R, --plugin P : runs-code
        ")])
        .operands(Operands::READ_BELOW)
        .judge(rubocop),
    Spec::new(&["pre-commit", "lint-staged", "husky", "lefthook", "overcommit"])
        .style(Style::EXACT.and(Style::HARMLESS).and(Style::RISKY).and(Style::FREE))
        .subs(&[
            Spec::new(&["run"]).style(Style::HARMLESS).acts(&[Act::Builds]),
            Spec::new(&["validate-config", "sample-config", "help"]).style(Style::HARMLESS),
            Spec::new(&[
                "install", "uninstall", "autoupdate", "clean", "gc", "install-hooks", "init-templatedir", "add",
                "migrate-config", "try-repo",
            ])
                .style(Style::HARMLESS)
                .acts(&[Act::Named(Code::Installs)]),
        ])
        .acts(&[Act::Named(Code::RunsCode), Act::Builds]),
];

/// Options of Prettier and Biome that shape what they print.
const FORMATS: &crate::option::Table = options!("
    -h, -V, -u --ignore-unknown, --arrow-parens M, --bracket-spacing [V], --bracket-same-line [V], --cache, --cache-strategy S, --color, --colors W
    --find-config-path F, --file-info F, --support-info, --editorconfig, --error-on-unmatched-pattern, --with-node-modules, --end-of-line E
    --print-width N, --prose-wrap M, --quote-props M, --semi, --single-quote, --jsx-single-quote, --tab-width N, --trailing-comma M, --use-tabs
    --vue-indent-script-and-style, --html-whitespace-sensitivity S, --embedded-language-formatting M, --insert-pragma, --require-pragma
    --range-start N, --range-end N, --experimental-ternaries, --experimental-operator-position P, --experimental-cli, --single-attribute-per-line
    --object-wrap M, --loglevel L, --check-ignore-pragma, --verbose, --max-diagnostics N, --diagnostic-level L, --reporter R, --log-kind K, --changed
    --staged, --since R, --only R, --skip R, --files-ignore-unknown V, --files-max-size N, --errors-on-unmatched, --error-on-warnings, --indent-style S
    --indent-width N, --indent-size N, --line-width N, --line-ending E, --quote-style S, --jsx-quote-style S, --semicolons S, --use-server, --stdin-file-path P
    --formatter-enabled V, --linter-enabled V, --organize-imports-enabled V, --assist-enabled V, --enforce-assist V, --suppress, --reason T, --vcs-enabled V
    --vcs-use-ignore-file V, --vcs-client-kind K, --vcs-default-branch B, --vcs-root P, --json-formatter-enabled V, --css-formatter-enabled V, --skip-errors
    --skip-parse-errors, --profile-rules, --arrow-parentheses M, --attribute-position P, --bracket-same-line-enabled V, --threads N, --watch
    --ignore-pattern P, --allow-no-files, --staged-only, --incremental [V], --excludes P, --includes-override P, --list-different-only
");

const ESLINT: &crate::option::Table = options!("
    --ext E, --env E, --global G, --parser-options O, --no-eslintrc, --no-config-lookup, --no-inline-config, --report-unused-disable-directives
    --report-unused-disable-directives-severity S, --report-unused-inline-configs S, --rule R, --quiet, --max-warnings N, -f --format F, --color, --cache, --cache-strategy S
    --ignore-pattern P, --no-ignore, --no-error-on-unmatched-pattern, --pass-on-no-patterns, --exit-on-fatal-error, --no-warn-ignored, --stdin, --stdin-filename F
    --print-config F, --debug, -h, -v, --env-info, --stats, --flag F, --suppress-all, --suppress-rule R, --prune-suppressions, --concurrency N, --inspect-config
    -D --deny R, -W --warn R, -A --allow R, --tsconfig F, --type-aware, --threads N, --silent, -i, --mm, -q, --no-progress, --no-summary, --words-only, --unique, --lint F
    --allow-empty-input, --files F, --report-needless-disables, --from R, --to R, --last, --edit, --verbose, -s, -p, --production, --include I, --exclude E
    -c --config FILE : runs-code
    --rulesdir DIR : runs-code
    --resolve-plugins-relative-to DIR : runs-code
    --plugin P, --parser P, --custom-syntax S : runs-code
    --cache-file FILE, --cache-location PATH : makes
    -o --output-file FILE : makes
    --fix, --fix-type T : changes-files
    --fix-suggestions, --fix-dangerously : changes-files
    --fix-dry-run
    --ignore-path FILE : reads
    --init : changes-files
");

/// What linters of JavaScript look at.
const SCRIPTS: &str = "js jsx mjs cjs ts tsx mts cts vue svelte astro";

/// What formatters of many languages look at.
const MARKUP: &str = "js jsx mjs cjs ts tsx mts cts vue svelte astro json jsonc json5 css scss less html md mdx yaml yml graphql gql hbs toml";

/// What linters and formatters of Python look at.
const PYTHON: &str = "py pyi pyw ipynb";

const PYTHON_FILES: Operands = Operands::all(Role::Sources(PYTHON)).absent(Absent::ReadsHere);

const MYPY: &crate::option::Table = options!("
    --config-file FILE : reads
    --rcfile FILE : reads
    -c --config FILE : reads
    -p --package --project P, -m --module M, -j --jobs N
    --install-types : installs
    --junit-xml FILE : makes
    --html-report DIR, --xml-report DIR, --txt-report DIR, --linecount-report DIR, --any-exprs-report DIR, --cobertura-xml-report DIR : makes-below
    --cache-dir DIR : makes-below
    -o --output-file --output FILE : makes
    --python-executable --pythonpath PROG : runs
    --load-plugins P, --init-hook CODE : runs-code
    --shadow-file A B : reads
    -w --write-changes --autofix --fix : changes-files
");

const RUFF: &crate::option::Table = options!("
    --output-format F, --target-version V, --preview, --no-preview, --extension E, --select R, --ignore R, --extend-select R, --extend-ignore R
    --per-file-ignores R, --extend-per-file-ignores R, --fixable R, --unfixable R, --extend-fixable R, --exclude P, --extend-exclude P, --respect-gitignore
    --no-respect-gitignore, --force-exclude, --no-force-exclude, -n --no-cache, --isolated, --stdin-filename F, -e --exit-zero, --exit-non-zero-on-fix
    --show-files, --show-settings, --show-fixes, --no-show-fixes, --ignore-noqa, --statistics, -w --watch, --diff, --check, --line-length N
    --range R, -v --verbose, -q --quiet, -s --silent, -h, -V, --color W, --all, --no-fix, --no-unsafe-fixes, --explain
    --config FILE : reads
    --cache-dir DIR : makes-below
    -o --output-file FILE : makes
    --fix, --fix-only, --unsafe-fixes, --add-noqa : changes-files
");

fn tsc(view: &mut View<'_>) {
    if view.has("--init") {
        view.touches(Verb::Write, "tsconfig.json", false);
    }
}

fn test_runner(view: &mut View<'_>) {
    reporters(view);
    loaded(view);
    takes_paths(view);
}

/// Environments and interfaces that are not the runner's own are modules.
fn loaded(view: &mut View<'_>) {
    const ENVIRONMENTS: &[&str] = &["node", "jsdom", "happy-dom", "edge-runtime"];
    const INTERFACES: &[&str] = &["bdd", "tdd", "qunit", "exports"];
    for (at, value) in view.values("--env") {
        if !value.exact_str().is_some_and(|name| ENVIRONMENTS.contains(&name)) {
            view.named_by_flag(Code::RunsCode, "--env", at);
        }
    }
    let own = |word: Option<&Word>| word.and_then(Word::exact_str).is_some_and(|name| INTERFACES.contains(&name));
    // Of others it opens a page.
    let interfaces = view.seen.iter().filter(|seen| seen.opt.name == "--ui" && view.name == "mocha");
    let foreign: Vec<usize> = interfaces
        .filter(|seen| !own(seen.opt.value.as_ref().or_else(|| view.word(seen.at + 1))))
        .map(|seen| seen.at)
        .collect();
    for at in foreign {
        view.named_by_flag(Code::RunsCode, "--ui", at);
    }
}

/// A formatter that is called like a class is looked for as a file.
fn rubocop(view: &mut View<'_>) {
    checks(view);
    for (at, value) in view.values("--format") {
        let own = |name: &str| name.bytes().all(|b| b.is_ascii_lowercase());
        if !value.exact_str().is_some_and(own) {
            view.named_by_flag(Code::RunsCode, "--format", at);
        }
    }
}

/// Of a program with many options that nobody listed: what looks like a path may be read or written, and what an option
/// with such a name is given is written.
pub(super) fn takes_paths(view: &mut View<'_>) {
    view.hands_on(0);
    options_take_paths(view);
}

/// As [`takes_paths`], where operands are known.
pub(super) fn options_take_paths(view: &mut View<'_>) {
    let values: Vec<_> = view
        .seen
        .iter()
        .filter(|seen| seen.does == Does::Nothing)
        .map(|seen| (seen.at, seen.opt.name.to_ascii_lowercase(), seen.opt.value.clone()))
        .collect();
    for (at, name, value) in values {
        let written = says_written(&name);
        match value {
            Some(value) => {
                view.hands_on_word(&value, at);
                if written {
                    view.writes_below(&value, at);
                }
            }
            // Whether the next word is its value is not known.
            None if written => {
                if let Some(next) = view.word(at + 1).filter(|next| !next.may_be_option()) {
                    view.writes_below(next, at + 1);
                }
            }
            // `--inject:file`
            None => {
                if let Some((_, file)) = name.split_once(':') {
                    view.hands_on_word(&Word::Exact(file.into()), at);
                }
            }
        }
    }
}

/// Whether an option of this name, in lower case, is given what is written: `--outdir`, `--coverage-dest`, `--reportdir`.
fn says_written(name: &str) -> bool {
    let begins =
        |part: &str| ["out", "dest", "artifact", "emit", "dump", "export"].iter().any(|word| part.starts_with(word));
    let Some(name) = name.strip_prefix("--") else { return false };
    // `--outputjson`, `--output-format`: how, not where.
    if ["json", "format", "style", "mode", "type", "level"].iter().any(|how| name.contains(how)) {
        return false;
    }
    name.split(['-', '.', '_']).any(begins) || name.contains("report") && !name.contains("reporter")
}

/// Reporters and formatters that come with the program; any other name is a package or file whose code runs.
fn reporters(view: &mut View<'_>) {
    const OWN: &[&str] = &[
        "basic",
        "blob",
        "checkstyle",
        "compact",
        "default",
        "doc",
        "dot",
        "github",
        "github-actions",
        "hanging-process",
        "html",
        "json",
        "json-stream",
        "json-with-metadata",
        "jslint-xml",
        "junit",
        "landing",
        "line",
        "list",
        "markdown",
        "min",
        "minimal",
        "nyan",
        "prettier",
        "progress",
        "rdjson",
        "sarif",
        "silent",
        "spec",
        "string",
        "stylish",
        "summary",
        "tap",
        "tap-flat",
        "teamcity",
        "text",
        "tree",
        "unix",
        "unix",
        "verbose",
        "visualstudio",
        "xunit",
        "gitlab",
        "sonarqube",
        "pretty",
        "lcov",
        "null",
    ];
    for flag in ["--format", "--reporter"] {
        for (at, value) in view.values(flag) {
            let own = value.exact_str().is_some_and(|names| names.split(',').all(|name| OWN.contains(&name)));
            if !own {
                view.named_by_flag(Code::RunsCode, flag, at);
            }
        }
    }
}

const FIXES: &[&str] = &[
    "--fix",
    "--fix-only",
    "--add-noqa",
    "--write",
    "--apply",
    "--apply-unsafe",
    "--fix-suggestions",
    "--fix-dangerously",
];

/// A checker that rewrites what it looks at, if it is told to by one of many options.
pub(super) fn checks(view: &mut View<'_>) {
    options_take_paths(view);
    if view.seen.iter().any(|seen| seen.does == Does::Named(Code::ChangesFiles)) {
        write_operands(view, None);
    }
}

fn eslint(view: &mut View<'_>) {
    reporters(view);
    if view.has_any(FIXES) {
        write_operands(view, Some(SCRIPTS));
    }
}

fn stylelint(view: &mut View<'_>) {
    reporters(view);
    if view.has_any(FIXES) {
        write_operands(view, None);
    }
}

/// What a formatter with subcommands changes.
fn fixes(view: &mut View<'_>) {
    if view.has_any(FIXES) || matches!(view.path.last(), Some(&("format" | "fmt" | "fix"))) {
        write_operands(view, Some(MARKUP));
    }
}

fn ruff_check(view: &mut View<'_>) {
    if view.has_any(FIXES) {
        write_operands(view, Some(PYTHON));
    }
}

fn ruff_format(view: &mut View<'_>) {
    if !view.has_any(&["--check", "--diff"]) {
        write_operands(view, Some(PYTHON));
    }
}

/// `black x` writes unless it only checks; those with `-i` write only then.
fn black(view: &mut View<'_>) {
    let asks = matches!(view.name, "autopep8" | "yapf" | "autoflake" | "docformatter" | "unify");
    let checks = view.has_any(&["--check", "--check-only", "--diff"]) || view.name == "isort" && view.has("-c");
    options_take_paths(view);
    if view.has("--in-place") || !asks && !checks {
        write_operands(view, Some(PYTHON));
    }
}

fn format_in_place(view: &mut View<'_>) {
    let known = matches!(view.name, "prettier" | "dprint" | "biome" | "rome");
    options_take_paths(view);
    for at in view.operands() {
        match view.word(at) {
            Some(word) if known => view.reads_sources(word, at, MARKUP),
            Some(word) => view.reads_below(word, at),
            None => {}
        }
    }
    if view.has_any(&["--write", "--in-place", "--fix"]) {
        write_operands(view, known.then_some(MARKUP));
    }
}

pub(super) fn write_operands(view: &mut View<'_>, suffixes: Option<&str>) {
    for at in view.operands() {
        match (view.word(at), suffixes) {
            (Some(word), _) if word.exact() == Some(b"-") => {}
            (Some(word), Some(suffixes)) => view.writes_sources(word, at, suffixes),
            (Some(word), None) => view.path_effect(Verb::Write, word, at, true, Carry::Plain),
            (None, _) => {}
        }
    }
}
