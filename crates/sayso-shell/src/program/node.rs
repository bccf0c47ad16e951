//! JavaScript runtimes.

use super::task::{self, Naming};
use super::{Act, Code, Operands, Role, Spec, View, index};
use crate::effect::{Carry, NamedBy, Stdin, Verb};
use crate::option::{Style, Table, options};
use crate::word::Word;

const NODE: &Table = options!("
    -c --check, -C --conditions C, -i --interactive, -h --help, -v --version, --test, --test-concurrency N, --test-force-exit, --test-name-pattern P, --test-only
    --test-reporter R, --test-shard S, --test-timeout N, --test-skip-pattern P, --test-coverage-include P, --test-coverage-exclude P, --test-update-snapshots
    --experimental-test-coverage, --experimental-test-module-mocks, --test-isolation M, --experimental-test-isolation M
    --abort-on-uncaught-exception, --disable-proto M, --disable-warning W, --disallow-code-generation-from-strings, --dns-result-order O
    --enable-fips, --force-fips, --enable-source-maps, --experimental-default-type T, --experimental-import-meta-resolve, --input-type T
    --experimental-network-imports, --experimental-permission, --permission, --experimental-vm-modules, --experimental-wasm-modules
    --experimental-websocket, --experimental-eventsource, --experimental-strip-types, --experimental-transform-types, --no-experimental-strip-types
    --experimental-json-modules, --experimental-specifier-resolution M, --experimental-modules, --experimental-sqlite, --experimental-webstorage
    --experimental-require-module, --experimental-detect-module, --experimental-async-context-frame
    --expose-gc, --expose_gc, --force-context-aware, --frozen-intrinsics, --insecure-http-parser, --interpreted-frames-native-stack
    --jitless, --max-http-header-size N, --no-addons, --no-deprecation, --no-experimental-fetch, --no-experimental-require-module, --no-warnings
    --no-global-search-paths, --no-network-family-autoselection, --no-extra-info-on-fatal-exception, --pending-deprecation, --preserve-symlinks
    --preserve-symlinks-main, --secure-heap N, --throw-deprecation, --title T, --tls-cipher-list L, --tls-max-v1.2, --tls-max-v1.3
    --tls-min-v1.0, --tls-min-v1.1, --tls-min-v1.2, --tls-min-v1.3, --trace-deprecation, --trace-exit, --trace-promises, --trace-sigint, --trace-sync-io
    --trace-tls, --trace-uncaught, --trace-warnings, --trace-gc, --trace-opt, --trace-deopt, --track-heap-objects, --unhandled-rejections M
    --use-bundled-ca, --use-openssl-ca, --use-system-ca, --v8-options, --v8-pool-size N, --zero-fill-buffers, --stack-trace-limit N, --stack-size N
    --max-old-space-size N, --max_old_space_size N, --max-semi-space-size N, --harmony, --watch-preserve-output, --watch, --completion-bash
    --allow-addons, --allow-child-process, --allow-wasi, --allow-worker, --allow-fs-read P, --allow-fs-write P, --allow-inspector, --prof-process
    --heapsnapshot-near-heap-limit N, --heapsnapshot-signal S, --report-compact, --report-on-fatalerror, --report-on-signal, --report-signal S
    --report-uncaught-exception, --icu-data-dir D, --openssl-legacy-provider, --localstorage-file F
    --disable-wasm-trap-handler, --enable-etw-stack-walking, --experimental-network-inspection, --experimental-print-required-tla
    --force-node-api-uncaught-exceptions-policy, --huge-max-old-generation-size, --network-family-autoselection-attempt-timeout N, --no-experimental-detect-module
    --no-experimental-global-customevent, --no-experimental-global-webcrypto, --no-experimental-repl-await, --no-force-async-hooks-checks, --enable-network-family-autoselection
    --node-memory-debug, --policy-integrity S, --report-exclude-network, --secure-heap-min N, --trace-atomics-wait, --trace-require-module M, --use-largepages M
    --watch-path PATH : reads-below
    --env-file FILE : reads
    --env-file-if-exists FILE : reads
    -e --eval CODE : inline
    -p --print : inline
    -r --require MODULE : runs-code
    --import MODULE : runs-code
    --loader --experimental-loader MODULE : runs-code
    --experimental-policy FILE, --openssl-config FILE, --openssl-shared-config : runs-code
    --experimental-config-file [F], --experimental-default-config-file : runs-code
    --snapshot-blob FILE : runs-code
    --build-snapshot, --build-snapshot-config FILE : runs-code
    --experimental-sea-config FILE : runs-code
    --run SCRIPT : runs-code
    --inspect [ADDR], --inspect-brk [ADDR], --inspect-wait [ADDR], --inspect-port --debug-port ADDR, --inspect-publish-uid U : serves
    --cpu-prof, --cpu-prof-interval N, --cpu-prof-name N, --heap-prof, --heap-prof-interval N, --heap-prof-name N, --prof
    --cpu-prof-dir DIR : writes-below
    --heap-prof-dir DIR : writes-below
    --diagnostic-dir DIR : writes-below
    --report-directory --report-dir DIR : writes-below
    --report-filename FILE : writes
    --redirect-warnings FILE : writes
    --tls-keylog FILE : writes
    --trace-event-categories C, --trace-event-file-pattern P : writes-file
    --test-reporter-destination FILE : makes
");

const BUN: &Table = options!("
    -v --version, -h --help, --revision, --watch, --hot, --no-clear-screen, --smol, --silent, -b --bun, --if-present, --no-install
    --prefer-offline, --prefer-latest, -F --filter P, --workspaces, --elide-lines N, -d --define D, --drop N, -l --loader L, --no-macros
    --jsx-factory F, --jsx-fragment F, --jsx-import-source P, --jsx-runtime R, --ignore-dce-annotations, --main-fields F
    --extension-order E, --conditions C, --max-http-header-size N, --dns-result-order O, --expose-gc, --no-deprecation
    --throw-deprecation, --title T, --zero-fill-buffers, --shell W, --parallel, --sequential, --no-exit-on-error, --port P
    --cwd DIR : cd
    --tsconfig-override FILE : reads
    --env-file FILE : reads
    -e --eval CODE, -p --print CODE : inline
    -r --preload M, --require M, --import M : runs-code
    -c --config FILE : runs-code
    -i, --install M : installs
    --inspect [A], --inspect-wait [A], --inspect-brk [A] : serves
    --fetch-preconnect URL : connects
    --cpu-prof, --heap-prof, --cpu-prof-name N, --heap-prof-name N
    --cpu-prof-dir DIR, --heap-prof-dir DIR : makes-below
");

pub(super) const SPECS: &[Spec] = &[
    Spec::new(&["node", "nodejs"]).aliased().style(Style::EXACT.and(Style::LEADING)).options(&[NODE]).judge(node),
    Spec::new(&["ts-node", "tsx", "babel-node", "esno", "swc-node", "ts-node-esm", "vite-node", "jiti"])
        .style(Style::EXACT.and(Style::LEADING))
        .options(&[NODE, options!("
            -T --transpile-only, --transpileOnly, --esm, --files, --swc, --type-check, --no-cache, --tsconfig F, --cwd D, -P --project F
            -O --compilerOptions O, --skipProject, --skip-project, --pretty
        ")])
        .judge(node),
    Spec::new(&["deno"]).style(Style::EXACT.and(Style::HARMLESS).and(Style::RISKY)).subs(&[
        Spec::new(&["info", "types", "doc", "lint", "help", "completions", "outdated"])
            .style(Style::HARMLESS)
            .operands(Operands::READ)
            .options(&[options!("--fix : changes-files")]),
        Spec::new(&["check", "test", "bench", "coverage"]).style(Style::HARMLESS).operands(Operands::READ),
        Spec::new(&["fmt"]).style(Style::HARMLESS).options(&[options!("--check")]).operands(Operands::all(Role::Edit)),
        Spec::new(&["task"])
            .style(Style::EXACT.and(Style::LEADING))
            .options(&[options!("
                -q --quiet, -r --recursive, -f --filter P, --frozen [V], --eval, --no-config
                --cwd DIR : cd
                -c --config FILE : recipe
            ")])
            .acts(&[Act::Code("javascript")])
            .judge(task::first_task),
        Spec::new(&["run", "serve", "compile", "bundle", "repl", "x"])
            .style(Style::HARMLESS.and(Style::LEADING))
            .acts(&[Act::Code("javascript")])
            .judge(hands_on_all),
        Spec::new(&["eval"]).style(Style::HARMLESS.and(Style::LEADING)).judge(deno_eval),
        Spec::new(&[
            "install", "add", "remove", "uninstall", "upgrade", "cache", "vendor", "update", "publish", "init",
            "clean", "jupyter", "approve-scripts",
        ])
            .style(Style::HARMLESS)
            .acts(&[Act::Named(Code::Installs), Act::Connects("registry")]),
    ]),
    Spec::new(&["bun"])
        .style(Style::EXACT.and(Style::FREE).and(Style::LEADING).and(Style::RISKY))
        .options(&[BUN])
        .subs(&[
            Spec::new(&["test"])
                .style(Style::EXACT)
                .options(&[BUN, options!("
                    --timeout N, -u --update-snapshots, --rerun-each N, --only, --todo, --coverage, --coverage-reporter R, --bail [N]
                    -t --test-name-pattern P, --reporter R, --randomize, --seed N, --concurrent, --max-concurrency N, --dots
                    --pass-with-no-tests, --only-failures
                    --coverage-dir DIR : makes-below
                    --reporter-outfile FILE : makes
                ")])
                .acts(&[Act::Builds])
                .judge(super::lint::takes_paths),
            Spec::new(&["build"])
                .style(Style::EXACT)
                .options(&[BUN, options!("
                    --production, --compile, --bytecode, --target T, --sourcemap [T], --minify, --minify-syntax, --minify-whitespace
                    --minify-identifiers, --banner T, --footer T, --format F, --splitting, --public-path P, --external M, --packages T
                    --entry-naming N, --chunk-naming N, --asset-naming N, --no-bundle, --emit-dce-annotations, --css-chunking, --env W
                    --react-fast-refresh, --keep-names, --app
                    --root DIR : reads-below
                    --outdir DIR : makes-below
                    --outfile FILE, --metafile FILE : makes
                ")])
                .acts(&[Act::Builds])
                .judge(super::lint::takes_paths),
            Spec::new(&["run"]).style(Style::EXACT.and(Style::LEADING)).options(&[BUN]).acts(&[Act::Builds]).judge(bun_run),
            Spec::new(&["outdated", "why", "audit", "info"]).style(Style::EXACT).options(&[BUN, options!("--json, --latest, -r --recursive")]),
            Spec::new(&["pm"]).style(Style::EXACT).subs(&[
                Spec::new(&["ls", "list", "bin", "hash", "hash-string", "hash-print", "whoami", "untrusted", "default-trusted", "why"])
                    .style(Style::EXACT)
                    .options(&[options!("-g --global, --all")]),
                Spec::new(&["cache"]).style(Style::EXACT.and(Style::FREE)).acts(&[Act::Named(Code::ChangesSystem)]),
                Spec::new(&["trust", "migrate", "pack", "pkg", "version"]).style(Style::EXACT.and(Style::FREE)).acts(&[Act::Named(Code::Installs)]),
            ]),
            Spec::new(&["x"]).style(Style::EXACT.and(Style::LEADING)).options(&[BUN]).judge(crate::wrapper::npx),
            Spec::new(&[
                "install", "i", "add", "a", "remove", "rm", "update", "upgrade", "link", "unlink", "create", "c", "init",
                "patch", "patch-commit", "ci",
            ])
            .style(Style::HARMLESS)
            .acts(&[Act::Named(Code::Installs), Act::Connects("registry")]),
            Spec::new(&["exec"])
                .style(Style::EXACT.and(Style::LEADING))
                .acts(&[Act::Named(Code::RunsCommand)])
                .judge(bun_exec),
            Spec::new(&["repl"]).style(Style::EXACT).acts(&[Act::Named(Code::InlineCode)]),
            Spec::new(&["publish"]).style(Style::HARMLESS).acts(&[Act::Named(Code::Publishes), Act::Connects("registry")]),
        ])
        .judge(node),
];

/// A script, code on standard input, or nothing but a question.
fn node(view: &mut View<'_>) {
    if view.has_any(&["--eval", "--print"]) {
        // `-p code`: the first operand is the code.
        view.hands_on(usize::from(!view.has("--eval")));
        return;
    }
    match view.operand_at(0).and_then(|at| view.word(at).map(|w| (at, w))) {
        Some((at, file)) if matches!(file.exact(), Some(b"-" | b"/dev/stdin")) => by_stdin(view, at),
        Some((at, file)) => {
            view.path_effect(Verb::Read, file, at, false, Carry::Plain);
            if !view.has("--check") {
                view.code("node", Code::RunsCode, NamedBy::Program, at);
                view.hands_on(1);
            }
        }
        None if view.has_any(&[
            "--version",
            "-v",
            "--help",
            "-h",
            "--v8-options",
            "--test",
            "--run",
            "--completion-bash",
            "--revision",
        ]) => {}
        None => by_stdin(view, 0),
    }
}

fn by_stdin(view: &mut View<'_>, at: usize) {
    if view.inv.stdin != Stdin::Inherited || at > 0 {
        view.imply("--eval", None, at);
    }
    view.code("node", Code::InlineCode, NamedBy::Flag("--eval".to_owned()), at);
}

fn hands_on_all(view: &mut View<'_>) {
    view.hands_on(0);
}

fn deno_eval(view: &mut View<'_>) {
    let at = view.operand_at(0).unwrap_or_default();
    view.code("javascript", Code::InlineCode, NamedBy::Words(vec!["eval".to_owned()]), at);
}

/// A script of the project; where it has none of this name, bun starts a program or a file that is called so.
fn bun_run(view: &mut View<'_>) {
    // More projects have scripts of these names than call the program by way of bun.
    const SCRIPTS: &[&str] =
        &["build", "check", "docs", "format", "install", "script", "start", "test", "time", "watch"];
    let Some((at, word)) = view.operand_at(0).and_then(|at| view.word(at).map(|word| (at, word))) else { return };
    let Some(name) = word.exact_str() else {
        view.named(Code::DynamicOption, NamedBy::Nothing, at);
        return;
    };
    if name == "-" || name.contains(['/', '\\']) || name.contains('.') && !is_script(view, name) {
        view.path_effect(Verb::Read, word, at, false, Carry::Plain);
        view.code("javascript", Code::RunsCode, NamedBy::Words(vec!["run".to_owned(), name.to_owned()]), at);
    } else if index::spec(name).is_some() && !SCRIPTS.contains(&name) && !is_script(view, name) {
        view.starts_words(at);
    }
    task::task(view, at, Naming::Whole);
    view.hands_on(1);
}

/// Whether `package.json` says so. What it says is the project's: a name that is none there is a program to bun.
fn is_script(view: &View<'_>, name: &str) -> bool {
    let Some(text) = view.content(&Word::Exact("package.json".into())) else { return false };
    let text = String::from_utf8_lossy(&text).into_owned();
    let Some((_, scripts)) = text.split_once("\"scripts\"") else { return false };
    let scripts = scripts.split('}').next().unwrap_or_default();
    scripts.split_once(&format!("\"{name}\"")).is_some_and(|(_, rest)| rest.trim_start().starts_with(':'))
}

/// A command for bun's own shell.
fn bun_exec(view: &mut View<'_>) {
    if let Some((at, text)) = view.operand_at(0).and_then(|at| view.word(at).map(|word| (at, word.clone()))) {
        view.starts_shell(text, at);
    }
}
