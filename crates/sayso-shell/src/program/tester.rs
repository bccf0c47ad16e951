//! Runners of tests for Ruby, PHP and Python's environments.

use super::task::{self, Naming};
use super::{Act, Code, Operands, Spec, View};
use crate::option::{Style, Table, options};
use crate::word::{Text, Word};

const RSPEC: &Table = options!("
    --order T, --seed N, --bisect [V], --fail-fast [N], --no-fail-fast, --failure-exit-code N, --error-exit-code N, --dry-run
    -f --format F, -b --backtrace, -c --color --colour, --force-color --force-colour, --no-color --no-colour, -p --profile [N]
    --no-profile, -w --warnings, -P --pattern P, --exclude-pattern P, -e --example S, -E --example-matches R, -t --tag T
    --only-failures, -n --next-failure, -v --version, -h --help, --fail-if-no-examples, --no-drb
    --default-path P
    -o --out FILE, --deprecation-out FILE : makes
    -I PATH : recipe
    -O --options PATH : recipe
    -r --require M : runs-code
    -X --drb, --drb-port N, --server : serves
    --init : changes-files
");

const PHPUNIT: &Table = options!("
    --no-configuration, --no-extensions, --list-suites, --testsuite N, --exclude-testsuite N, --list-groups, --group N
    --exclude-group N, --covers N, --uses N, --list-test-files, --list-tests, --filter P, --exclude-filter P, --test-suffix S
    --process-isolation, --globals-backup, --static-backup, --strict-coverage, --strict-global-state, --disallow-test-output
    --enforce-time-limit, --default-time-limit N, --do-not-report-useless-tests, --stop-on-defect, --stop-on-error
    --stop-on-failure, --stop-on-warning, --stop-on-risky, --stop-on-deprecation, --stop-on-notice, --stop-on-skipped
    --stop-on-incomplete, --fail-on-empty-test-suite, --fail-on-warning, --fail-on-risky, --fail-on-deprecation, --fail-on-notice
    --fail-on-skipped, --fail-on-incomplete, --fail-on-all-issues, --cache-result, --do-not-cache-result, --order-by O
    --random-order, --random-order-seed N, --reverse-order, --resolve-dependencies, --colors [W], --columns N, --stderr
    --no-progress, --no-results, --no-output, --no-logging, --no-interaction, --no-coverage, --display-all-issues
    --display-incomplete, --display-skipped, --display-deprecations, --display-errors, --display-notices, --display-warnings
    --teamcity, --testdox, --testdox-summary, --debug, -v --verbose, --path-coverage, --disable-coverage-ignore
    --coverage-text [FILE], --warm-coverage-cache, --ignore-baseline, -h, --version, --atleast-version V, --check-version
    --check-php-configuration, --repeat N, --dont-report-useless-tests
    --coverage-filter DIR : reads-below
    --use-baseline FILE : reads
    --cache-directory DIR, --coverage-html DIR, --coverage-xml DIR : makes-below
    --log-junit FILE, --log-teamcity FILE, --log-otr FILE, --testdox-html FILE, --testdox-text FILE : makes
    --log-events-text FILE, --log-events-verbose-text FILE, --coverage-clover FILE, --coverage-cobertura FILE : makes
    --coverage-openclover FILE, --coverage-crap4j FILE, --coverage-php FILE, --generate-baseline FILE : makes
    --list-tests-xml FILE, --cache-result-file FILE : makes
    -c --configuration FILE, --bootstrap FILE : recipe
    --include-path P, -d V, --extension E, --printer P, --loader L, --prepend FILE : runs-code
    --generate-configuration, --migrate-configuration : changes-files
");

const TOX: &Table = options!("
    -h, --version, -v --verbose, -q --quiet, --colored W, --exit-and-dump-after N, --stderr-color C, --no-capture -i, --root-dir
    -e ENV, -m LABEL, -f FACTOR, --skip-env R, -r --recreate, --no-recreate-pkg, --no-recreate-provision, --no-provision [F]
    -s --skip-missing-interpreters [V], -n --notest, -b --pkg-only --sdistonly, --develop, --skip-pkg-install, --hashseed N
    --fail-fast, -p --parallel [N], -o --parallel-live, --parallel-no-spinner, -a --listenvs-all, -l --listenvs, --showconfig
    -k KEY, --core, --no-desc, -d, --sitepackages, --alwayscopy, --pre, --list-dependencies, --no-list-dependencies, --default-runner R
    --result-json FILE : makes
    --workdir DIR : makes-below
    --root DIR : recipe
    -c --conf FILE : recipe
    -x --override O, --runner R, --discover PATH, --plus : runs-code
    --installpkg PATH, --force-dep REQ : installs
    --devenv DIR : installs
    --index-url URL : redirects
");

const NOX: &Table = options!("
    -h, --version, -l --list --list-sessions, -s --session --sessions -e S, -p --python --pythons -P V, -k --keywords K, -t --tags T
    -r --reuse-existing-virtualenvs, -R, -N --no-reuse-existing-virtualenvs, --reuse-venv V, --no-venv, --add-timestamp, --json
    -db --default-venv-backend B, -fb --force-venv-backend B, -x --stop-on-first-error, --no-stop-on-first-error
    --error-on-missing-interpreters, --no-error-on-missing-interpreters, --error-on-external-run, --no-error-on-external-run
    --install-only, --no-install, --non-interactive, --nocolor --no-color, --forcecolor --force-color, -v --verbose
    --extra-pythons V, --force-python V, --force-pythons V, --usage S, --download-python W
    --report FILE : makes
    --envdir DIR : makes-below
    -f --noxfile FILE : recipe
");

pub(super) const SPECS: &[Spec] = &[
    Spec::new(&["rspec"])
        .style(Style::EXACT.and(Style::NEGATES).and(Style::RISKY).and(Style::PASSES))
        .options(&[RSPEC])
        .operands(Operands::TEXT)
        .acts(&[Act::Project])
        .judge(rspec),
    Spec::new(&["phpunit", "pest", "paratest"])
        .style(Style::EXACT.and(Style::RISKY).and(Style::PASSES))
        .options(&[
            PHPUNIT,
            options!("--parallel, -p --processes N, --runner R, --ci, --dirty, --bail, --retry, --coverage, --min N"),
        ])
        .operands(Operands::READ_BELOW)
        .acts(&[Act::Project]),
    Spec::new(&["tox"])
        .style(Style::EXACT.and(Style::FREE).and(Style::RISKY).and(Style::GLOBAL).and(Style::PASSES))
        .options(&[TOX])
        .acts(&[Act::Builds])
        .subs(&[
            Spec::new(&["run", "r", "run-parallel", "p"])
                .style(Style::EXACT)
                .options(&[TOX])
                .acts(&[Act::Builds])
                .judge(tox),
            Spec::new(&["list", "l", "config", "c", "depends", "de"])
                .style(Style::EXACT)
                .options(&[TOX])
                .acts(&[Act::Builds]),
            Spec::new(&["devenv", "d", "quickstart", "q", "legacy", "le", "schema"])
                .style(Style::EXACT)
                .options(&[TOX])
                .acts(&[Act::Named(Code::Installs)]),
            Spec::new(&["exec", "e"])
                .style(Style::EXACT.and(Style::LEADING))
                .options(&[TOX])
                .acts(&[Act::Named(Code::RunsCommand)])
                .judge(started),
        ])
        .judge(tox),
    Spec::new(&["nox"])
        .style(Style::EXACT.and(Style::RISKY).and(Style::PASSES))
        .options(&[NOX])
        .acts(&[Act::Builds])
        .judge(nox),
];

/// `spec/a_spec.rb:12` and `spec/a_spec.rb[1:2]` are lines and examples of a file. A formatter that is none of its own is
/// looked for as a class, in code.
fn rspec(view: &mut View<'_>) {
    const OWN: &[&str] =
        &["p", "progress", "d", "doc", "documentation", "h", "html", "j", "json", "f", "failures", "s"];
    for (at, format) in view.values("--format") {
        if !format.exact_str().is_some_and(|name| OWN.contains(&name)) {
            view.named_by_flag(Code::RunsCode, "--format", at);
        }
    }
    for at in view.operands() {
        let Some(word) = view.word(at) else { continue };
        match word.exact() {
            Some(bytes) => {
                let end = bytes.iter().position(|b| matches!(b, b':' | b'[')).unwrap_or(bytes.len());
                let file = Word::Exact(Text::from(bytes.get(..end).unwrap_or(bytes)));
                view.reads_sources(&file, at, "rb feature");
            }
            None => view.reads_below(word, at),
        }
    }
}

/// Environments are called like tasks. Words behind `--` go to their commands.
fn tox(view: &mut View<'_>) {
    environments(view, "-e");
    environments(view, "-m");
    view.hands_on(0);
}

fn nox(view: &mut View<'_>) {
    environments(view, "--session");
    environments(view, "--tags");
    view.hands_on(0);
}

fn environments(view: &mut View<'_>, flag: &str) {
    for (at, list) in view.values(flag) {
        let Some(list) = list.exact_str() else { continue };
        for code in list.split(',').filter_map(|name| task::says(name, Naming::Whole)) {
            view.named_by_flag(code, flag, at);
        }
    }
}

/// Behind the dashes stands a command.
fn started(view: &mut View<'_>) {
    if let Some(at) = view.operand_at(0) {
        view.starts_words(at);
    }
}
