//! Runners of the project's own tasks: `mise run lint`, `nx run app:lint`, `turbo run build`.
//!
//! The word behind the runner is the name of a task, never a program: what it does, the project's files say. Patterns name
//! tasks by these words. Runners that make recipes or scripts are with their families (`make`, `npm`).

mod name;

pub(super) use name::{Naming, also, named, says, task, tasks, unknown};

use super::{Act, Code, Spec, View};
use crate::effect::NamedBy;
use crate::option::{Style, Table, options};
use crate::word::Word;

const MISE: &Table = options!("
    -E --env E, -P --profile P, -j --jobs N, -q --quiet, -v --verbose, -y --yes, -r --raw, --silent, --log-level L, --trace
    --debug, -h, -V, -o --output O, --no-timings, --timings, --locked, --no-prepare
    -C --cd DIR : cd
    --no-config, --no-env, --no-hooks : changes-settings
");

const MISE_RUN: &Table = options!(
    "
    -f --force, -n --dry-run, -p --prefix, -i --interleave, -S, -c --continue-on-error, -Q, --no-cache, --skip-deps
    --fresh-env, --timeout D, --dry-run-code, --skip-tools
    -s --shell PROG : runs
    -t --tool T : installs
"
);

const NX: &Table = options!("
    -c --configuration C, -t --target --targets T, -p --project --projects P, --all, --exclude P, --parallel [N]
    --maxParallel N, --skip-nx-cache --skipNxCache, --disableNxCache, --disableRemoteCache, --skipRemoteCache, --skipSync
    --base R, --head R, --files F, --uncommitted, --untracked, --nx-bail --nxBail, --nx-ignore-cycles --nxIgnoreCycles
    --output-style --outputStyle S, --verbose, --batch, --excludeTaskDependencies, --tuiAutoExit [N], --tui, --no-tui
    --help, --version, --watch [V], --ci, --coverage [V], --codeCoverage [V], --fix, --dev, --quiet, --silent, --format F
    --testFile F, --testNamePattern P, --testPathPattern P, --updateSnapshot, -u, --passWithNoTests, --maxWarnings N
    --sourceMap [V], --optimization [V], --prod, --production, --stats-json, --statsJson, --skipTypeCheck, --dry-run -d
    --json, --type T, --withTarget T, --sep S, --affected, --sort, --max-workers --maxWorkers N, --runInBand -i, --bail [N]
    --graph [FILE] : makes
    --outputFile FILE, --outputPath DIR, --coverageDirectory DIR : makes-below
    --runner R, --nxTasksRunner R, --tasks-runner-options O : runs-code
");

const TURBO: &Table = options!("
    -F --filter F, --no-cache, --force [V], --parallel, --concurrency N, --continue [M], --dry-run --dry [F]
    --output-logs M, --log-order M, --log-prefix M, --only, --env-mode [M], --framework-inference [V], --no-daemon, --daemon
    --remote-only [V], --remote-cache-timeout N, --summarize [V], --scope S, --since R, --include-dependencies, --no-deps
    --affected, --ui W, --verbosity V, -v, --cache-workers N, --color, --no-color, --cache C, --single-package
    --global-deps G, --ignore P, --preflight, --no-update-notifier, --skip-infer, --check-for-update
    --dangerously-disable-package-manager-check, -h, --version, --help, --team T, --remote-cache-read-only [V]
    --cwd DIR : cd
    --cache-dir DIR : makes-below
    --graph [FILE], --profile FILE, --anon-profile FILE, --heap FILE, --trace FILE, --cpuprofile FILE : makes
    --root-turbo-json FILE : recipe
    --api URL, --login URL : redirects
    --token T : changes-settings
");

const MOON: &Table = options!("
    -c --concurrency N, --color, --log L, --theme T, -q --quiet, -h, -V, -f --force, -u --update-cache --updateCache
    -i --interactive, --affected [W], --status S, --base R, --head R, --remote, --dependents, --query Q, --profile P
    --no-actions -n, --no-bail, --summary [L], --ci, --json, --stdin, --job N, --job-total N, --downstream D, --upstream U
    --host, --dot, --ignore-ci-checks, --skip-workspace-deps
    --cache M
    --log-file FILE : makes
");

const LERNA: &Table = options!("
    --scope G, --ignore G, --since [R], --no-private, --include-dependents, --include-dependencies, --stream, --parallel
    --concurrency N, --no-bail, --no-prefix, --loglevel L, --sort, --no-sort, --exclude-dependents, --include-merged-tags
    -l --long, -a --all, -p --parseable, --json, --toposort, --graph, --npm-client C, --reject-cycles, --skip-nx-cache
    --profile, --ci, --no-ci, --no-progress, --max-buffer N
");

const INVOKE: &Table = options!(
    "
    --complete, -d --debug, -D --list-depth N, -e --echo, -F --list-format F, -h --help [T], -l --list [N], -p --pty
    --prompt-for-sudo-password, -R --dry, -T --command-timeout N, -V --version, -w --warn-only, --hide W, --no-dedupe
    --write-pyc, --print-completion-script S
    -c --collection NAME, -f --config FILE, -r --search-root DIR : recipe
"
);

const POE: &Table = options!(
    "
    -h --help [T], --version, -v --verbose, -q --quiet, -d --dry-run, --ansi, --no-ansi, -e --executor E
    -C --directory --root PATH : recipe
    -X --executor-opt O : runs-code
"
);

pub(super) const SPECS: &[Spec] = &[
    Spec::new(&["mise"])
        .style(Style::EXACT.and(Style::FREE).and(Style::GLOBAL))
        .options(&[MISE])
        .acts(&[Act::Project])
        .subs(&[
            Spec::new(&["run", "r"])
                .aliased()
                .style(Style::EXACT.and(Style::LEADING))
                .options(&[MISE_RUN])
                .acts(&[Act::Builds])
                .judge(mise_run),
            Spec::new(&["watch", "w"])
                .aliased()
                .style(Style::EXACT.and(Style::LEADING))
                .options(&[MISE_RUN])
                .acts(&[Act::Named(Code::Serves), Act::Builds])
                .judge(mise_run),
            Spec::new(&["tasks", "task", "t"]).aliased().style(Style::EXACT.and(Style::FREE)).subs(&[
                Spec::new(&["ls", "info", "deps", "validate"]).style(Style::EXACT).options(&[LISTS]),
                Spec::new(&["run", "r"])
                    .aliased()
                    .style(Style::EXACT.and(Style::LEADING))
                    .options(&[MISE_RUN])
                    .acts(&[Act::Builds])
                    .judge(mise_run),
                Spec::new(&["add", "edit"]).style(Style::EXACT).acts(&[Act::Named(Code::ChangesFiles)]),
            ]),
            Spec::new(&["exec", "x"])
                .aliased()
                .style(Style::EXACT.and(Style::FREE))
                .options(&[options!("-c --command CMD : shell", "-t --tool T : installs")])
                .acts(&[Act::Named(Code::RunsCommand)])
                .judge(crate::wrapper::started_behind),
            Spec::new(&[
                "list",
                "ls",
                "current",
                "which",
                "where",
                "version",
                "doctor",
                "dr",
                "bin-paths",
                "registry",
                "search",
                "help",
                "completion",
                "tool",
                "usage",
            ])
            .style(Style::EXACT)
            .options(&[LISTS]),
            Spec::new(&["outdated", "latest", "ls-remote"])
                .style(Style::EXACT)
                .options(&[LISTS])
                .acts(&[Act::Connects("registry")]),
            Spec::new(&["env", "e", "activate", "hook-env", "shell", "sh", "en"])
                .style(Style::EXACT)
                .options(&[LISTS])
                .acts(&[Act::Named(Code::ShowsSecrets)]),
            Spec::new(&[
                "install",
                "i",
                "use",
                "u",
                "uninstall",
                "upgrade",
                "up",
                "plugins",
                "plugin",
                "self-update",
                "link",
                "sync",
                "install-into",
                "bootstrap",
                "prepare",
                "reshim",
                "lock",
            ])
            .style(Style::EXACT)
            .options(&[LISTS])
            .acts(&[Act::Named(Code::Installs), Act::Connects("registry")]),
            Spec::new(&[
                "trust",
                "set",
                "unset",
                "settings",
                "config",
                "cfg",
                "alias",
                "a",
                "tool-alias",
                "shell-alias",
                "generate",
                "gen",
                "fmt",
                "edit",
                "prune",
                "cache",
                "implode",
                "deactivate",
                "unuse",
                "backends",
                "mcp",
            ])
            .style(Style::EXACT)
            .options(&[LISTS])
            .acts(&[Act::Named(Code::ChangesSettings)]),
        ])
        .judge(by_name),
    Spec::new(&["nx"])
        .style(Style::EXACT.and(Style::FREE).and(Style::GLOBAL).and(Style::NEGATES))
        .options(&[NX])
        .acts(&[Act::Project])
        .subs(&[
            Spec::new(&["run"]).style(Style::EXACT.and(Style::NEGATES)).options(&[NX]).judge(nx_run),
            Spec::new(&["run-many", "affected"]).style(Style::EXACT.and(Style::NEGATES)).options(&[NX]).judge(nx_many),
            Spec::new(&["list", "report", "show", "format:check", "help", "view-logs"])
                .style(Style::EXACT.and(Style::NEGATES))
                .options(&[NX]),
            Spec::new(&["graph", "dep-graph"])
                .style(Style::EXACT.and(Style::NEGATES))
                .options(&[
                    NX,
                    options!("--file FILE : makes", "--focus P, --groupByFolder, --view V, --print, --open [V]"),
                ])
                .judge(nx_graph),
            Spec::new(&["reset"])
                .style(Style::EXACT)
                .options(&[options!("--onlyCache, --onlyDaemon, --onlyWorkspaceData")]),
            Spec::new(&["format:write", "format", "generate", "g", "sync", "repair", "new"])
                .style(Style::EXACT)
                .acts(&[Act::Named(Code::ChangesFiles)]),
            Spec::new(&["add", "import", "init", "install", "migrate", "connect", "upgrade"])
                .style(Style::EXACT)
                .acts(&[Act::Named(Code::Installs), Act::Connects("registry")]),
            Spec::new(&["release", "login", "logout", "record", "start-ci-run", "fix-ci", "complete-ci-run"])
                .style(Style::EXACT)
                .acts(&[Act::Named(Code::Publishes)]),
            Spec::new(&["exec", "daemon", "watch", "mcp"])
                .style(Style::EXACT)
                .acts(&[Act::Named(Code::RunsCommand)])
                .judge(crate::wrapper::started_behind),
        ])
        .judge(nx_target),
    Spec::new(&["turbo"])
        .style(Style::EXACT.and(Style::FREE).and(Style::GLOBAL))
        .options(&[TURBO])
        .acts(&[Act::Project])
        .subs(&[
            Spec::new(&["run"]).style(Style::EXACT).options(&[TURBO]).judge(turbo_run),
            Spec::new(&["ls", "list", "query", "info", "docs", "bin", "completion", "telemetry", "boundaries"])
                .style(Style::EXACT)
                .options(&[TURBO]),
            Spec::new(&["prune"])
                .style(Style::EXACT)
                .options(&[options!("--docker, --use-gitignore, --scope S", "--out-dir DIR : makes-below")]),
            Spec::new(&["watch", "daemon", "scan", "devtools"]).style(Style::EXACT).acts(&[Act::Named(Code::Serves)]),
            Spec::new(&["gen", "generate", "g", "login", "logout", "link", "unlink", "config"])
                .style(Style::EXACT)
                .acts(&[Act::Named(Code::ChangesSettings)]),
        ])
        .judge(turbo_run),
    Spec::new(&["moon"])
        .style(Style::EXACT.and(Style::FREE).and(Style::GLOBAL))
        .options(&[MOON])
        .acts(&[Act::Project])
        .subs(&[
            Spec::new(&["run", "r", "check", "c", "ci", "exec", "x"])
                .style(Style::EXACT)
                .options(&[MOON])
                .judge(target_tasks),
            Spec::new(&[
                "query",
                "project",
                "projects",
                "p",
                "task",
                "tasks",
                "t",
                "toolchain",
                "hash",
                "completions",
                "bin",
            ])
            .style(Style::EXACT.and(Style::FREE))
            .options(&[MOON]),
            Spec::new(&[
                "sync", "init", "generate", "g", "setup", "teardown", "clean", "upgrade", "docker", "ext", "migrate",
            ])
            .style(Style::EXACT.and(Style::FREE))
            .acts(&[Act::Named(Code::Installs)]),
        ])
        .judge(target_tasks),
    Spec::new(&["lerna"]).style(Style::EXACT.and(Style::GLOBAL)).options(&[LERNA]).acts(&[Act::Project]).subs(&[
        Spec::new(&["run"]).style(Style::EXACT).options(&[LERNA]).judge(first_task),
        Spec::new(&["exec"])
            .style(Style::EXACT.and(Style::LEADING))
            .options(&[LERNA])
            .acts(&[Act::Named(Code::RunsCommand)])
            .judge(crate::wrapper::started_behind),
        Spec::new(&["list", "ls", "la", "ll", "changed", "updated", "diff", "info"])
            .style(Style::EXACT)
            .options(&[LERNA]),
        Spec::new(&["publish", "version"]).style(Style::EXACT).acts(&[Act::Named(Code::Publishes)]),
        Spec::new(&["bootstrap", "add", "link", "init", "create", "import", "repair", "clean", "watch", "add-caching"])
            .style(Style::EXACT)
            .acts(&[Act::Named(Code::Installs)]),
    ]),
    // What follows the first task are its words, or tasks and theirs.
    Spec::new(&["invoke", "inv"])
        .aliased()
        .style(Style::EXACT.and(Style::LEADING))
        .options(&[INVOKE])
        .acts(&[Act::Builds])
        .judge(handing_tasks),
    Spec::new(&["poe", "poethepoet"])
        .aliased()
        .style(Style::EXACT.and(Style::LEADING))
        .options(&[POE])
        .acts(&[Act::Builds])
        .judge(first_task),
];

const LISTS: &Table = options!(
    "
    -J --json, -c --current, -i --installed, -l --local, -g --global, -m --missing, --no-header, --prefix P, --prunable
    --offline, -x --extended, --all, --sort C, --sort-order O, --hidden, --name-only, --full, -D --dotenv, --shims
    --all-sources, --outdated, --security, --backend B, -a, --dry-run -n, --output O
"
);

/// `mise run lint`; `::: test` is one more task.
fn mise_run(view: &mut View<'_>) {
    let operands = view.operands();
    let is_next = |at: usize| view.word(at).and_then(Word::exact) == Some(b":::");
    let more: Vec<usize> = operands.iter().copied().filter(|at| at.checked_sub(1).is_some_and(is_next)).collect();
    if let Some(first) = operands.first() {
        task(view, *first, Naming::Whole);
    }
    for at in more {
        task(view, at, Naming::Whole);
        match view.word(at).and_then(Word::exact_str) {
            Some(name) => also(view, name, at),
            None => view.named(Code::DynamicOption, NamedBy::Nothing, at),
        }
    }
    view.hands_on(1);
}

/// `mise lint` is a task by its own name, where it is none of its commands.
fn by_name(view: &mut View<'_>) {
    let Some(at) = view.operand_at(0) else { return };
    let by = match view.word(at).and_then(Word::exact_str) {
        Some(name) => NamedBy::Words(vec![name.to_owned()]),
        None => NamedBy::Nothing,
    };
    view.named(Code::RunsCode, by, at);
    mise_run(view);
}

/// `nx run app:lint`, or `nx run lint` in a project's folder.
fn nx_run(view: &mut View<'_>) {
    if let Some(at) = view.operand_at(0) {
        task(view, at, Naming::Target);
    }
    view.hands_on(1);
    hand_values_on(view);
}

/// `nx run-many -t lint test`: names stand behind options, and behind those.
fn nx_many(view: &mut View<'_>) {
    let mut names: Vec<(usize, String)> = Vec::new();
    for flag in ["--target", "--project"] {
        for (at, value) in view.values(flag) {
            let Some(list) = value.exact_str().map(str::to_owned) else {
                unknown(view, at);
                continue;
            };
            names.extend(list.split(',').filter(|_| flag == "--target").map(|name| (at, name.to_owned())));
        }
    }
    let operands = view.operands();
    names.extend(operands.iter().filter_map(|&at| Some((at, view.word(at)?.exact_str()?.to_owned()))));
    for (at, name) in names {
        named(view, &name, at, Naming::Target);
    }
    hand_values_on(view);
}

/// `nx build app` is `nx run app:build`.
fn nx_target(view: &mut View<'_>) {
    if let Some(at) = view.operand_at(0) {
        task(view, at, Naming::Target);
    }
    view.hands_on(1);
    hand_values_on(view);
}

/// Without a file it shows the graph in a browser.
fn nx_graph(view: &mut View<'_>) {
    if !view.has_any(&["--file", "--print"]) {
        view.named_by_words(Code::Serves);
    }
}

/// Options that the runner hands on may hold a path.
fn hand_values_on(view: &mut View<'_>) {
    super::lint::options_take_paths(view);
}

/// `turbo run build test`, `turbo build`; behind `--` stand words for the tasks.
fn turbo_run(view: &mut View<'_>) {
    let end = view.terminator.unwrap_or(usize::MAX);
    let names: Vec<usize> = view.operands().into_iter().filter(|at| *at < end).collect();
    for (n, at) in names.into_iter().enumerate() {
        // `app#build`
        let Some(name) = view.word(at).and_then(Word::exact_str) else { continue };
        let own = name.rsplit('#').next().unwrap_or(name).to_owned();
        named(view, &own, at, Naming::Whole);
        if n > 0 {
            also(view, name, at);
        }
    }
    let behind: Vec<usize> = view.operands().into_iter().filter(|at| *at > end).collect();
    for at in behind {
        if let Some(word) = view.word(at) {
            view.hands_on_word(word, at);
        }
    }
}

/// `moon run app:lint app:test`.
fn target_tasks(view: &mut View<'_>) {
    tasks(view, Naming::Target);
}

/// The first operand is a task; what follows goes to it.
pub(super) fn first_task(view: &mut View<'_>) {
    if let Some(at) = view.operand_at(0) {
        task(view, at, Naming::Whole);
    }
    view.hands_on(1);
}

/// Each operand may be a task: which of them are words for the one before, only its definition says.
fn handing_tasks(view: &mut View<'_>) {
    for (n, at) in view.operands().into_iter().enumerate() {
        let Some(name) = view.word(at).and_then(Word::exact_str) else {
            unknown(view, at);
            continue;
        };
        if name.starts_with('-') {
            continue;
        }
        if n == 0 || says(name, Naming::Whole) == Some(Code::Publishes) {
            task(view, at, Naming::Whole);
        }
    }
    view.hands_on(1);
}
