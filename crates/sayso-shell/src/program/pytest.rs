//! pytest and other runners of Python tests.

use super::{Act, Code, Operands, Role, Spec, View};
use crate::option::{Style, options};
use crate::word::{Text, Word};

pub(super) const SPECS: &[Spec] = &[
    Spec::new(&["pytest", "py.test"])
        .aliased()
        .style(Style::GNU.and(Style::PASSES))
        .options(&[options!("
            -k EXPR, -m MARKEXPR, --markers, -x --exitfirst, --maxfail N, --strict-config, --strict-markers, --strict, --fixtures --funcargs
            --fixtures-per-test, --pdb, --trace, --capture M, -s, --runxfail, --lf --last-failed, --ff --failed-first, --nf --new-first
            --cache-show [GLOB], --cache-clear, --lfnf --last-failed-no-failures M, --sw --stepwise, --sw-skip --stepwise-skip, --sw-reset --stepwise-reset
            --durations N, --durations-min N, -v --verbose, --no-header, --no-summary, --no-fold-skipped, --force-short-summary, -q --quiet
            --verbosity N, -r CHARS, --disable-warnings --disable-pytest-warnings, -l --showlocals, --no-showlocals, --tb STYLE, --xfail-tb
            --show-capture M, --full-trace, --color W, --code-highlight W, --junit-prefix S, -W --pythonwarnings W
            --co --collect-only, --pyargs, --ignore PATH, --ignore-glob P, --deselect ID, --noconftest, --keep-duplicates
            --collect-in-virtualenv, --import-mode M, --doctest-modules, --doctest-report M, --doctest-glob P, --doctest-ignore-import-errors
            --doctest-continue-on-failure, -V --version, -h --help, --trace-config, --setup-only, --setup-show, --setup-plan
            --assert M, --log-level L, --log-format F, --log-date-format F, --log-cli-level L, --log-cli-format F, --log-auto-indent A
            --log-disable L, --log-file-level L, --log-file-mode M, --console-output-style S
            -n --numprocesses N, --dist M, --maxprocesses N, --max-worker-restart N, --looponfail -f, --timeout N, --timeout-method M
            --cov [PATH], --cov-report TYPE, --cov-config FILE, --no-cov, --no-cov-on-fail, --cov-fail-under N, --cov-append, --cov-branch
            --cov-context C, --cov-reset, --asyncio-mode M, --reruns N, --reruns-delay N, --randomly-seed N, --count N, --ds S, --dc C
            --reuse-db, --create-db, --nomigrations --no-migrations, --migrations, --benchmark-only, --benchmark-skip, --benchmark-disable
            --benchmark-enable, --benchmark-autosave, --benchmark-compare [N], --self-contained-html, --snapshot-update, --snapshot-details
            --hypothesis-show-statistics, --hypothesis-seed N, --hypothesis-profile P, --headed, --headless, --browser B, --slowmo N
            --runslow, --forked, --mypy, --flake8, --black, --isort, --testmon, --picked [M], --sugar, --instafail, --only-rerun R, --no-flaky-report
            --strict-xfail, --maxschedchunk N, --loadgroup, --tx S, --pspec, --spec, --emoji, --random-order, --random-order-seed N
            -c --config-file FILE : runs-code
            -p NAME, -o --override-ini O
            --rootdir DIR : reads-below
            --pastebin M : publishes
            --confcutdir DIR : reads-below
            --junitxml --junit-xml PATH : makes
            --html PATH : makes
            --json-report, --json-report-file PATH : makes
            --log-file PATH : makes
            --debug [FILE] : makes
            --report-log PATH : makes
            --resultlog PATH : makes
            --benchmark-json PATH : makes
            --basetemp DIR : wipes
            --pdbcls CLASS : runs-code
            --dist-server ADDR : serves
        ")])
        .operands(Operands::TEXT)
        // Its settings name plugins, which are loaded first.
        .acts(&[
            Act::Builds,
            Act::ProjectIf(&["pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg", "conftest.py"]),
        ])
        .judge(tests),
    Spec::new(&["nosetests", "nose2", "behave", "robot", "locust"])
        .style(Style::HARMLESS.and(Style::RISKY))
        .acts(&[Act::Named(Code::RunsCode)])
        .judge(super::lint::takes_paths),
    Spec::new(&["coverage"]).style(Style::EXACT).subs(&[
        Spec::new(&["report", "debug", "help", "version"]).style(Style::EXACT).options(&[REPORTS]).operands(Operands::TEXT),
        Spec::new(&["run"])
            .style(Style::LEADING)
            .options(&[options!("
                -a --append, --branch, --concurrency C, --context C, --include P, --omit P, -L --pylib, -p --parallel-mode, --source S, --timid
                --rcfile FILE : reads
                --data-file FILE : makes
                -m --module MODULE : last
            ")])
            .judge(coverage_run),
        Spec::new(&["html", "xml", "json", "lcov", "combine", "erase", "annotate"])
            .style(Style::EXACT)
            .options(&[REPORTS])
            .operands(Operands::all(Role::WriteBelow))
            .judge(super::lint::options_take_paths),
    ]),
];

const REPORTS: &crate::option::Table = options!("
    -h, -i --ignore-errors, --include P, --omit P, -m --show-missing, --precision N, --skip-covered, --no-skip-covered, --skip-empty
    --sort C, --contexts C, --format F, --fail-under N, -q --quiet, --show-contexts, --title T, --pretty-print, -a --append, --keep
    --rcfile FILE : recipe
    --data-file FILE : makes
    -o FILE : makes
    -d --directory DIR : makes-below
");

/// `tests/test_a.py::test_b[1]`: the file stands before the colons.
fn tests(view: &mut View<'_>) {
    for (at, plugin) in view.values("-p") {
        // `no:name` switches one off; any other module is imported.
        if plugin.exact().is_none_or(|name| !name.starts_with(b"no:")) {
            view.named_by_flag(Code::RunsCode, "-p", at);
        }
    }
    for (at, setting) in view.values("--override-ini") {
        let harmless = |setting: &str| {
            ["log_", "junit_", "xfail_strict=", "console_"].iter().any(|name| setting.starts_with(name))
        };
        if setting.exact_str().is_none_or(|setting| !harmless(setting) && setting != "addopts=") {
            view.named_by_flag(Code::RunsCode, "--override-ini", at);
        }
    }
    for at in view.operands() {
        let Some(word) = view.word(at) else { continue };
        match word.exact() {
            Some(bytes) => {
                let end = bytes.windows(2).position(|w| w == b"::").unwrap_or(bytes.len());
                let path = Word::Exact(Text::from(bytes.get(..end).unwrap_or(bytes)));
                view.reads_sources(&path, at, "py ini toml cfg txt md rst");
            }
            None => view.reads_below(word, at),
        }
    }
}

/// `coverage run -m pytest` and `coverage run script.py` are Python.
fn coverage_run(view: &mut View<'_>) {
    if let Some((at, _)) = view.values("--module").pop() {
        let python_m = [Word::Exact("python".into()), Word::Exact("-m".into())];
        let rest = view.inv.argv.get(at + 1..).unwrap_or_default();
        let argv: Vec<Word> = python_m.iter().chain(rest).cloned().collect();
        let spans = [at, at].into_iter().chain(at + 1..view.inv.argv.len()).map(|i| view.span(i)).collect();
        view.out.starts.push(super::Start::Argv { argv, spans, env: Vec::new(), elsewhere: false, cwd: None });
    } else if let Some(at) = view.operand_at(0) {
        view.starts_as("python", at, at);
    }
}
