//! Build tools that come with a language: Haskell, OCaml, Nim, Crystal, Zig, Swift, .NET, Elixir.

use super::task::{self, Naming};
use super::{Act, Code, Operands, Role, Spec, View};
use crate::effect::NamedBy;
use crate::option::{Style, Table, options};
use crate::word::Word;

const BUILDS: &[Act] = &[Act::Builds];
const INSTALLS: &[Act] = &[Act::Named(Code::Installs), Act::Connects("package index")];
const PUBLISHES: &[Act] = &[Act::Named(Code::Publishes), Act::Connects("package index")];

const STACK: &Table = options!("
    -h, --help, --version, --numeric-version, -v --verbose, --verbosity L, --silent, --color W, --terminal, --no-terminal
    --resolver R, --snapshot S, --compiler C, --system-ghc, --no-system-ghc, --install-ghc, --no-install-ghc, -j --jobs N
    --arch A, --lock-file M, --skip-ghc-check, --time-in-log, --no-time-in-log, --terminal-width N, --hpack-force
    --fast, --pedantic, --ghc-options O, --flag F, --test, --no-test, --bench, --no-bench, --haddock, --no-haddock, --file-watch
    --file-watch-poll, --keep-going, --no-keep-going, --force-dirty, --only-dependencies, --only-snapshot, --dry-run, --coverage
    --no-coverage, --no-run-tests, --no-run-benchmarks, --ta --test-arguments A, --ba --benchmark-arguments A, --trace, --profile
    --no-strip, --interleaved-output, --no-interleaved-output, --watch-all, --rerun-tests, --no-rerun-tests, --test-suite-timeout N
    --haddock-deps, --no-haddock-deps, --library-profiling, --executable-profiling, --reconfigure, --cabal-verbose, --full
    --exec CMD : shell
    --copy-bins, --local-bin-path DIR : installs
    --work-dir DIR, --stack-root DIR : makes-below
    --stack-yaml FILE, --setup-info-yaml URL : recipe
    --with-gcc PROG, --with-hpack PROG, --custom-preprocessor-extensions E, --docker, --nix, --nix-shell-options O : runs
    --extra-include-dirs DIR, --extra-lib-dirs DIR
    --docker-image I, --docker-run-args A : runs-command
");

const CABAL: &Table = options!("
    -h, -V, --version, --numeric-version, -v --verbose [N], -j --jobs [N], --ghc, -O --optimization [N]
    --enable-tests, --disable-tests, --enable-benchmarks, --disable-benchmarks, --enable-coverage, --enable-profiling
    --disable-profiling, --disable-optimization, --enable-documentation, --disable-documentation, -f --flags F, --constraint C
    --allow-newer [D], --allow-older [D], --dry-run, --only-dependencies, --keep-going, --test-show-details M, --test-options O
    --test-option O, --benchmark-options O, --offline, --ghc-options O, --ghc-option O, --index-state S, --enable-library-vanilla
    --enable-shared, --enable-static, --haddock-all, --haddock-hyperlink-source, --only-configure, -i --ignore-project, --semaphore
    --test-log F, --test-machine-log F, --show-build-output, --simple-output
    -w --with-compiler V : runs-path
    --builddir DIR, --store-dir DIR, --distdir DIR : makes-below
    --project-file FILE, --project-dir DIR, --config-file FILE : recipe
    --with-hc-pkg PROG, --with-ghc PROG, --with-gcc PROG, --with-ld PROG, --with-hsc2hs PROG, --with-alex PROG : runs
    --extra-prog-path DIR, --preference P, --program-prefix P, --test-wrapper PROG, --build-tool-depends D : runs
    --installdir DIR, --install-method M, --overwrite-policy P, --prefix DIR, --bindir DIR : installs
    --active-repositories R, --remote-repo-cache DIR : redirects
    --extra-include-dirs DIR, --extra-lib-dirs DIR
");

const DUNE: &Table = options!("
    --help, --version, -w --watch, --profile P, --release, -j N, -f --force, --display M, --verbose, --no-buffer, -p --only-packages P
    --always-show-command-line, --default-target T, --ignore-promoted-rules, --no-config, --cache M, --error-reporting M
    --auto-promote, --no-auto-promote, --instrument-with B, --sandbox M, --terminal-persistence M, --trace-extended, --diff-command D
    --action-stdout-on-success M, --action-stderr-on-success M, --stop-on-first-error, --passive-watch-mode, --wait-for-filesystem-clock
    --no-print-directory, --promote-install-files [V], --check, --preview
    --build-dir DIR : makes-below
    --root DIR, --workspace FILE, --config-file FILE : recipe
    --trace-file FILE, --dump-memo-graph FILE : makes
    -x V
");

const MIX: &Table = options!("
    --color, --no-color, --cover, --exclude E, --include I, --only T, --failed, --force, --max-failures N, --max-cases N, --no-compile
    --no-archives-check, --no-deps-check, --no-elixir-version-check, --no-start, --partitions N, --preload-modules, --raise
    --repeat-until-failure N, --seed N, --slowest N, --slowest-modules N, --stale, --timeout N, --trace, --warnings-as-errors
    --all-warnings, --no-all-warnings, --export-coverage N, --dry-run, --exit-status N, --breakpoints -b, --verbose, -v, --strict
    --all, --check-formatted, --check-equivalent, --dot-formatter F, --no-exit, --migrate, --only-prod, --only-dev, --no-validate-compile-env
    --no-optional-deps, --no-prune-code-paths, --no-protocol-consolidation, --long-compilation-threshold N, --profile P, --format F
    --ignore C, --checks C, --files-included F, --files-excluded F, --min-priority P, --enable-disabled-checks C, --plt, --halt-exit-status
    --names, --search P, --label L, --source F, --sink F, --fail-above N, --min-cycle-size N, --quiet, -q, -r --repo R, -n --step N, --to V
    --output F : makes
    --formatter F, --require F : runs-code
");

const CRYSTAL: &Table = options!("
    -h, -v --verbose, --release, --no-color, --error-trace, -d --debug, --no-debug, -s --stats, -t --time, -p --progress, -D --define F
    --threads N, --static, --single-module, --no-codegen, -O L, --mcpu C, --mattr A, --target T, --warnings W, --error-on-warnings
    --exclude-warnings P, -e --example N, -l --line N, --tag T, --fail-fast, --order M, --profile, --location L, --check, -i --include P
    --exclude P, -f --format F, --dry-run, --list-tags, --tap, --stdin-filename F
    -o --output FILE : makes
    --junit_output DIR : makes-below
    --prelude F, --cross-compile, --emit W, --link-flags F : runs-command
");

const ZIG: &Table = options!("
    -h, --help, --summary M, --verbose, -j N, --prominent-compile-errors, --watch, --fetch [M], --color W, --release [M], --seed N
    -O M, -target T, --target T, -mcpu C, -fstrip, -fno-strip, -fsingle-threaded, -fPIC, -fno-PIC, -fPIE, -fno-PIE, -fincremental
    -fno-incremental, -freference-trace [N], -fno-reference-trace, -lc, -lc++, -l L, --test-filter F, --test-name-prefix P, --check
    --ast-check, --exclude P, --stdin, --name N, -ferror-limit N, -static, -dynamic, --verbose-link, --verbose-cc, --list-steps
    --skip-oom-steps, --maxrss N, -femit-bin [P], -fno-emit-bin, -D [O]
    -p --prefix DIR, --cache-dir DIR, --global-cache-dir DIR, --prefix-lib-dir DIR, --prefix-exe-dir DIR : makes-below
    --build-file FILE, --zig-lib-dir DIR, --system DIR, --libc FILE : recipe
    --build-runner FILE, --test-runner FILE, --test-cmd C, --test-cmd-bin, -fqemu, -fwine, -fwasmtime, -frosetta, -fdarling : runs
    --search-prefix DIR, --sysroot DIR
    -I DIR, -L DIR
");

const SWIFT: &Table = options!("
    -h, --help, --version, -v --verbose, --vv --very-verbose, -q --quiet, -c --configuration C, -j --jobs N, --target T, --product P
    --build-tests, --show-bin-path, --filter F, --skip F, --parallel, --no-parallel, --num-workers N, --enable-code-coverage
    --disable-code-coverage, --list-tests, -l, --skip-build, --enable-xctest, --disable-xctest, --enable-swift-testing, --static-swift-stdlib
    --disable-swift-testing, --arch A, --triple T, --sanitize S, --enable-testable-imports, --disable-testable-imports, --test-product P
    --traits T, --enable-all-traits, --disable-default-traits, --skip-update, --disable-automatic-resolution, --force-resolved-versions
    --explicit-target-dependency-import-check M, --show-codecov-path, --specifier S, --no-static-swift-stdlib, --attachments-path P
    --build-path DIR, --scratch-path DIR, --cache-path DIR : makes-below
    --xunit-output FILE : makes
    --package-path DIR : recipe
    --toolchain DIR, --sdk DIR, --swift-sdk S, --swift-sdks-path DIR, --destination F, --pkg-config-path P, --config-path D : runs
    -Xcc F, -Xswiftc F, -Xlinker F, -Xcxx F, -Xmanifest F, -Xbuild-tools-swiftc F, --disable-sandbox : runs-command
");

const DOTNET: &Table = options!("
    -h --help -?, -c --configuration C, -f --framework F, -r --runtime R, -v --verbosity -verbosity L, --no-restore, --no-build
    --no-incremental, --no-dependencies, --nologo -nologo, --self-contained [V], --no-self-contained, --interactive [V], --os O
    -a --arch A, --version-suffix S, --filter E, -t --list-tests, --blame, --blame-crash, --blame-hang, --blame-hang-timeout T
    -d --diag F, --collect C, --verify-no-changes, --severity S, --diagnostics D, --exclude-diagnostics D, --include F, --exclude F
    --include-generated, --no-cache, --locked-mode, --force, --disable-parallel, --use-lock-file, --force-evaluate, --ignore-failed-sources
    --include-symbols, --include-source, -s --serviceable, --info, --list-sdks, --list-runtimes, --version, -m -maxcpucount [N], --tl [V]
    --ucr --use-current-runtime, --sc, --outdated, --vulnerable, --deprecated, --include-transitive, --format F, --project P, --solution S
    -p -property --property [P], -nodeReuse [V], -noConsoleLogger, -bl [F], -clp [P], -l --logger L, --treenode-filter F, --max-parallel-test-modules N
    --report-trx, --no-progress, --minimum-expected-tests N, --ignore-exit-code C, --test-modules M, --output-type O
    -o --output DIR, --results-directory DIR, --artifacts-path DIR, --packages DIR, --report F : makes-below
    --configfile FILE, --lock-file-path FILE, --test-adapter-path P, --binarylog F, --settings FILE : recipe
    -e --environment V : runs-command
    --source URL : redirects
");

pub(super) const SPECS: &[Spec] = &[
    Spec::new(&["stack"])
        .style(Style::EXACT.and(Style::GLOBAL).and(Style::RISKY))
        .options(&[STACK])
        .acts(&[Act::Builds])
        .subs(&[
            Spec::new(&["build", "test", "bench", "haddock"])
                .style(Style::EXACT)
                .options(&[STACK])
                .acts(BUILDS)
                .judge(hands_on_all),
            Spec::new(&["ls", "path", "query", "list", "dot", "ide", "clean", "purge", "sdist", "hpc", "templates"])
                .style(Style::EXACT.and(Style::FREE))
                .options(&[STACK, options!("--tree, --depth N, --external, --no-external, --filter F, --prune P")])
                .acts(BUILDS),
            Spec::new(&["install", "update", "upgrade", "setup", "init", "new", "unpack", "config"])
                .style(Style::EXACT.and(Style::FREE))
                .options(&[STACK])
                .acts(INSTALLS),
            Spec::new(&["eval", "repl", "ghci", "ghc", "runghc", "runhaskell", "script", "hoogle"])
                .style(Style::EXACT.and(Style::LEADING))
                .options(&[STACK])
                .acts(&[Act::Named(Code::InlineCode)]),
            Spec::new(&["exec", "run"])
                .style(Style::EXACT.and(Style::LEADING))
                .options(&[STACK])
                .acts(&[Act::Named(Code::RunsCommand)])
                .judge(crate::wrapper::may_start),
            Spec::new(&["upload"]).style(Style::EXACT).acts(PUBLISHES),
        ]),
    Spec::new(&["cabal"])
        .style(Style::EXACT.and(Style::GLOBAL).and(Style::RISKY))
        .options(&[CABAL])
        .acts(&[Act::Builds])
        .subs(&[
            Spec::new(&["build", "test", "bench", "haddock", "check", "v2-build", "v2-test", "new-build", "new-test", "configure"])
                .style(Style::EXACT)
                .options(&[CABAL])
                .acts(BUILDS)
                .judge(hands_on_all),
            Spec::new(&["list", "info", "outdated", "path", "list-bin", "freeze", "gen-bounds", "help", "clean", "sdist", "status"])
                .style(Style::EXACT)
                .options(&[CABAL])
                .acts(BUILDS),
            Spec::new(&["install", "update", "fetch", "get", "init", "user-config"]).style(Style::EXACT.and(Style::FREE)).acts(INSTALLS),
            Spec::new(&["repl", "run", "v2-run", "v2-repl"])
                .style(Style::EXACT.and(Style::LEADING))
                .options(&[CABAL])
                .acts(&[Act::Named(Code::InlineCode)])
                .judge(hands_on_all),
            Spec::new(&["exec", "v2-exec"])
                .style(Style::EXACT.and(Style::LEADING))
                .options(&[CABAL])
                .acts(&[Act::Named(Code::RunsCommand)])
                .judge(crate::wrapper::may_start),
            Spec::new(&["upload", "report"]).style(Style::EXACT).acts(PUBLISHES),
        ]),
    Spec::new(&["dune"])
        .style(Style::EXACT.and(Style::GLOBAL).and(Style::RISKY))
        .options(&[DUNE])
        .acts(&[Act::Builds])
        .subs(&[
            Spec::new(&["build", "b", "test", "runtest", "clean", "fmt", "format", "promote", "promotion", "describe", "show", "rules"])
                .style(Style::EXACT.and(Style::FREE))
                .options(&[DUNE])
                .acts(BUILDS)
                .judge(hands_on_all),
            Spec::new(&["external-lib-deps", "printenv", "help", "diagnostics", "coq", "ocaml-index", "cache"])
                .style(Style::EXACT.and(Style::FREE))
                .options(&[DUNE])
                .acts(BUILDS),
            Spec::new(&["install", "uninstall", "init", "pkg", "upgrade", "subst"]).style(Style::EXACT.and(Style::FREE)).acts(INSTALLS),
            Spec::new(&["exec", "ocaml-merlin", "tools"])
                .style(Style::EXACT.and(Style::LEADING))
                .options(&[DUNE])
                .acts(&[Act::Named(Code::RunsCommand)])
                .judge(crate::wrapper::may_start),
            Spec::new(&["utop", "top", "toplevel", "rpc", "internal", "monitor"])
                .style(Style::EXACT.and(Style::FREE))
                .acts(&[Act::Named(Code::InlineCode)]),
        ]),
    Spec::new(&["nimble"])
        .style(Style::EXACT.and(Style::FREE).and(Style::GLOBAL).and(Style::RISKY))
        .options(&[options!("
            -h, --help, -v, --version, -y --accept, -n --reject, -l --localdeps, --verbose, --silent, --debug, --info, --noColor, -d [F]
            --offline, --useSystemNim, -c --continue, --noLockFile, --json, --noRebuild
            --nimbleDir DIR, --nim PROG, --lockFile F, --developFile F, --nimFlags F : runs
        ")])
        .acts(&[Act::Builds])
        .subs(&[
            Spec::new(&["build", "test", "check", "c", "cc", "cpp", "js", "doc", "list", "search", "path", "dump", "tasks", "deps"])
                .style(Style::EXACT)
                .acts(BUILDS)
                .judge(hands_on_all),
            Spec::new(&["install", "uninstall", "refresh", "develop", "init", "sync", "lock", "upgrade", "setup", "add", "clean"])
                .style(Style::EXACT)
                .acts(INSTALLS),
            Spec::new(&["run", "shell", "shellenv"]).style(Style::EXACT.and(Style::LEADING)).acts(&[Act::Named(Code::RunsCode)]),
            Spec::new(&["publish"]).style(Style::EXACT).acts(PUBLISHES),
        ])
        .judge(task::first_task),
    Spec::new(&["mix"])
        .style(Style::EXACT.and(Style::FREE))
        .options(&[MIX])
        .subs(&[
            Spec::new(&[
                "compile", "test", "format", "help", "deps", "credo", "dialyzer", "xref", "app.tree", "deps.tree", "clean",
                "docs", "coveralls", "sobelow", "gettext.extract", "phx.routes", "test.coverage", "deps.unlock", "doctor",
            ])
            .style(Style::EXACT)
            .options(&[MIX])
            .judge(hands_on_all),
            Spec::new(&[
                "deps.get", "deps.update", "deps.compile", "local.hex", "local.rebar", "local", "archive.install", "new", "phx.new",
                "escript.install", "archive", "hex.config", "hex.repo", "escript", "deps.clean", "local.public_keys",
            ])
            .style(Style::EXACT)
            .options(&[MIX])
            .acts(INSTALLS),
            Spec::new(&["run"])
                .style(Style::EXACT.and(Style::LEADING))
                .options(&[options!("
                    --no-halt, --no-mix-exs, -p --parallel P
                    -e --eval CODE, --rpc-eval CODE : inline
                    -r --require FILE, -pr --parallel-require FILE : runs-code
                "), MIX])
                .judge(mix_run),
            Spec::new(&["eval", "rpc"]).style(Style::EXACT.and(Style::LEADING)).acts(&[Act::Named(Code::InlineCode)]),
            Spec::new(&["cmd"]).style(Style::EXACT.and(Style::LEADING)).judge(super::pip::starts_operands),
            Spec::new(&["do"]).style(Style::EXACT.and(Style::LEADING)).judge(mix_do),
            Spec::new(&["phx.server"]).style(Style::EXACT).options(&[MIX]).acts(&[Act::Named(Code::Serves)]),
            Spec::new(&["hex.publish", "hex.user", "hex.owner", "hex.organization", "hex.retire"]).style(Style::EXACT).acts(PUBLISHES),
        ])
        .acts(&[Act::Named(Code::RunsCode), Act::Project])
        .judge(mix_task),
    Spec::new(&["crystal"])
        .style(Style::EXACT.and(Style::RISKY).and(Style::PASSES).and(Style::GLOBAL))
        .options(&[CRYSTAL])
        .acts(&[Act::Builds])
        .subs(&[
            Spec::new(&["build", "spec", "docs", "env", "help", "version", "clear_cache"])
                .style(Style::EXACT)
                .options(&[CRYSTAL])
                .operands(Operands::READ),
            Spec::new(&["tool"]).style(Style::EXACT.and(Style::FREE)).options(&[CRYSTAL]).operands(Operands::all(Role::Edit)),
            Spec::new(&["run"])
                .style(Style::EXACT.and(Style::LEADING))
                .options(&[CRYSTAL])
                .acts(&[Act::Named(Code::RunsCode)])
                .judge(hands_on_all),
            Spec::new(&["eval", "i", "interactive", "play", "repl"])
                .style(Style::EXACT.and(Style::LEADING))
                .acts(&[Act::Named(Code::InlineCode)]),
            Spec::new(&["init"]).style(Style::EXACT).acts(&[Act::WritesBelow(".")]),
        ]),
    Spec::new(&["zig"])
        .style(Style::EXACT.and(Style::RISKY).and(Style::PASSES).and(Style::GLOBAL))
        .options(&[ZIG])
        .acts(&[Act::Builds])
        .subs(&[
            Spec::new(&["build"]).style(Style::EXACT).options(&[ZIG]).acts(BUILDS).judge(zig_steps),
            Spec::new(&["test", "build-exe", "build-lib", "build-obj", "ast-check", "translate-c", "test-obj"])
                .style(Style::EXACT)
                .options(&[ZIG])
                .acts(BUILDS)
                .operands(Operands::READ),
            Spec::new(&["fmt"]).style(Style::EXACT).options(&[ZIG]).judge(zig_fmt),
            Spec::new(&["version", "env", "targets", "libc", "zen", "help", "std"]).style(Style::EXACT),
            Spec::new(&["cc", "c++", "ar", "ranlib", "objcopy", "dlltool", "lib", "rc"])
                .style(Style::EXACT.and(Style::LEADING))
                .judge(zig_tool),
            Spec::new(&["run"])
                .style(Style::EXACT.and(Style::LEADING))
                .options(&[ZIG])
                .acts(&[Act::Named(Code::RunsCode)])
                .judge(hands_on_all),
            Spec::new(&["init", "init-exe", "init-lib"]).style(Style::EXACT).acts(&[Act::WritesBelow(".")]),
            Spec::new(&["fetch"])
                .style(Style::EXACT)
                .options(&[options!("--save [N], --save-exact [N], --global-cache-dir D, --debug-hash")])
                .acts(INSTALLS),
        ]),
    Spec::new(&["swift"])
        .style(Style::EXACT.and(Style::RISKY).and(Style::GLOBAL).and(Style::FREE))
        .options(&[SWIFT])
        .subs(&[
            Spec::new(&["build", "test"]).style(Style::EXACT).options(&[SWIFT]).acts(BUILDS),
            Spec::new(&["format"])
                .style(Style::EXACT.and(Style::FREE))
                .options(&[options!("
                    -r --recursive, -p --parallel, -s --strict, --color-diagnostics, --no-color-diagnostics, --assume-filename F
                    -i --in-place : changes-files
                    --configuration FILE : reads
                ")])
                .operands(Operands::READ_BELOW)
                .judge(swift_format),
            Spec::new(&["run"])
                .style(Style::EXACT.and(Style::LEADING))
                .options(&[SWIFT])
                .acts(&[Act::Named(Code::RunsCode)])
                .judge(hands_on_all),
            Spec::new(&["repl"]).style(Style::EXACT).acts(&[Act::Named(Code::InlineCode)]),
            Spec::new(&["package"])
                .style(Style::EXACT.and(Style::FREE))
                .options(&[SWIFT])
                .subs(&[
                    Spec::new(&["describe", "dump-package", "show-dependencies", "tools-version", "dump-symbol-graph"])
                        .style(Style::EXACT)
                        .options(&[SWIFT, options!("--type T, --format F")])
                        .acts(BUILDS),
                    Spec::new(&["clean", "resolve"]).style(Style::EXACT).options(&[SWIFT]).acts(BUILDS),
                ])
                .acts(&[Act::Named(Code::Installs)]),
            Spec::new(&["sdk"]).style(Style::EXACT.and(Style::FREE)).acts(&[Act::Named(Code::Installs)]),
        ])
        .judge(swift_file),
    Spec::new(&["dotnet"])
        .style(Style::EXACT.and(Style::RISKY).and(Style::PASSES).and(Style::FREE).and(Style::COLON))
        .options(&[DOTNET])
        .acts(&[Act::Builds])
        .subs(&[
            Spec::new(&["build", "test", "restore", "msbuild", "vstest", "pack", "clean"])
                .style(Style::EXACT.and(Style::COLON))
                .options(&[DOTNET])
                .acts(BUILDS)
                .judge(msbuild),
            Spec::new(&["format"]).style(Style::EXACT.and(Style::FREE)).options(&[DOTNET]).acts(&[Act::WritesBelow("."), Act::Builds]),
            Spec::new(&["list", "sln", "help", "--info", "--list-sdks", "--list-runtimes", "--version", "build-server"])
                .style(Style::EXACT.and(Style::FREE))
                .options(&[DOTNET]),
            Spec::new(&["publish"]).style(Style::EXACT.and(Style::COLON)).options(&[DOTNET]).acts(BUILDS).judge(msbuild),
            Spec::new(&["run", "watch", "exec", "script", "fsi"])
                .style(Style::EXACT.and(Style::LEADING))
                .options(&[DOTNET])
                .acts(&[Act::Named(Code::RunsCode)])
                .judge(hands_on_all),
            Spec::new(&[
                "add", "remove", "tool", "new", "workload", "package", "reference", "store", "dev-certs", "user-secrets", "sdk",
                "project", "solution",
            ])
            .style(Style::EXACT.and(Style::FREE))
            .acts(&[Act::Named(Code::Installs)]),
            Spec::new(&["nuget"]).style(Style::EXACT.and(Style::FREE)).acts(&[Act::Named(Code::Publishes)]),
        ])
        .judge(dotnet_file),
];

fn hands_on_all(view: &mut View<'_>) {
    view.hands_on(0);
}

/// A script of the project.
fn mix_run(view: &mut View<'_>) {
    view.code("elixir", Code::RunsCode, NamedBy::Program, 0);
    view.hands_on(0);
}

/// `mix do a + b`: several tasks in one; code or a command may be among them.
fn mix_do(view: &mut View<'_>) {
    view.code("elixir", Code::RunsCode, NamedBy::Program, 0);
    let plain = |word: Option<&Word>| word.and_then(Word::exact_str).is_some_and(|word| !MIX_CODE.contains(&word));
    if !view.operands().into_iter().all(|at| plain(view.word(at))) {
        view.named_by_words(Code::InlineCode);
    }
    for at in view.operands() {
        task::task(view, at, Naming::Whole);
    }
}

const MIX_CODE: &[&str] = &["eval", "rpc", "cmd", "-e", "--eval", "--rpc-eval", "-r", "--require"];

/// Tasks that come with a dependency or with the project.
fn mix_task(view: &mut View<'_>) {
    task::first_task(view);
}

/// Steps of `build.zig` are called like tasks; `run` starts what was built.
fn zig_steps(view: &mut View<'_>) {
    let end = view.terminator.unwrap_or(usize::MAX);
    let steps: Vec<usize> = view.operands().into_iter().filter(|at| *at < end).collect();
    for at in steps {
        task::task(view, at, Naming::Whole);
    }
    view.hands_on(0);
}

fn zig_fmt(view: &mut View<'_>) {
    for at in view.operands() {
        if let Some(word) = view.word(at) {
            view.reads_sources(word, at, "zig zon");
            if !view.has("--check") {
                view.writes_sources(word, at, "zig zon");
            }
        }
    }
}

/// `zig cc` is a compiler of C.
fn zig_tool(view: &mut View<'_>) {
    let name = match view.path.last() {
        Some(&"cc") => "clang",
        Some(&"c++") => "clang++",
        Some(&"ar") => "ar",
        Some(&"ranlib") => "ranlib",
        Some(&"objcopy") => "objcopy",
        _ => {
            view.named_by_words(Code::RunsCommand);
            return;
        }
    };
    view.out.transparent = true;
    view.starts_as(name, 1, 2);
}

fn swift_format(view: &mut View<'_>) {
    if view.has("--in-place") {
        for at in view.operands() {
            if let Some(word) = view.word(at) {
                view.writes_sources(word, at, "swift");
            }
        }
    }
}

/// `swift file.swift` runs it.
fn swift_file(view: &mut View<'_>) {
    if view.operand_count() > 0 {
        view.code("swift", Code::RunsCode, NamedBy::Program, 0);
        view.hands_on(0);
    }
}

/// `dotnet app.dll` runs it.
fn dotnet_file(view: &mut View<'_>) {
    if view.operand_count() > 0 {
        view.code("dotnet", Code::RunsCode, NamedBy::Program, 0);
        view.hands_on(0);
    }
}

/// Properties and targets of MSBuild: some name programs, files of tasks, or what leaves.
fn msbuild(view: &mut View<'_>) {
    const STEERS: &[&str] = &[
        "path", "tool", "custom", "import", "targets", "exe", "loader", "source", "analyzer", "command", "publish",
        "registry",
    ];
    const TARGETS: &[&str] = &["/t:", "-t:", "/target:", "-target:", "--target:"];
    for at in 1..view.inv.argv.len() {
        let Some(text) = view.word(at).and_then(Word::exact_str) else { continue };
        let lower = text.to_ascii_lowercase();
        if let Some(targets) = TARGETS.iter().find_map(|target| lower.strip_prefix(target)) {
            for name in targets.split([';', ',']) {
                task::named(view, name, at, Naming::Whole);
            }
        } else if let Some(property) =
            ["/p:", "-p:", "/property:", "-property:", "--property:"].iter().find_map(|p| lower.strip_prefix(p))
        {
            let name = property.split('=').next().unwrap_or(property);
            if STEERS.iter().any(|word| name.contains(word)) {
                view.named_by_flag(Code::RunsCommand, "--property", at);
            }
        } else if ["/logger:", "-logger:", "/l:", "-l:", "/dl:", "-dl:", "/distributedlogger:"]
            .iter()
            .any(|p| lower.starts_with(p))
        {
            view.named_by_flag(Code::RunsCode, "--logger", at);
        }
    }
    view.hands_on(0);
}
