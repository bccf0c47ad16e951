//! Build systems of C, C++ and whole repositories.

use super::task::{self, Naming};
use super::{Act, Code, Operands, Role, Spec, View};
use crate::effect::{NamedBy, Verb};
use crate::option::{Style, Table, options};

const MESON_SETUP: &Table = options!("
    -h, -v, --buildtype T, --default-library T, --default-both-libraries T, --auto-features W, --backend B, --debug, --layout L
    --optimization O, --prefer-static, --unity U, --unity-size N, --warnlevel W, --werror, --wrap-mode M, --strip, --reconfigure
    --clearcache, --force-fallback-for D, --fatal-meson-warnings, --no-pager, --genvslite G, --install-umask M, --errorlogs
    --stdsplit, --python.bytecompile N, --pkgconfig.relocatable, --vsenv
    --prefix P, --bindir D, --datadir D, --includedir D, --infodir D, --libdir D, --libexecdir D, --localedir D
    --localstatedir D, --mandir D, --sbindir D, --sharedstatedir D, --sysconfdir D, --licensedir D
    -D OPTION
    --wipe : changes-files
    --cross-file FILE, --native-file FILE : recipe
    --pkg-config-path P, --build.pkg-config-path P, --cmake-prefix-path P, --build.cmake-prefix-path P : recipe
");

const MESON_BUILD: &Table = options!(
    "
    -h, --clean, -j --jobs N, -l --load-average N, -v --verbose, --vsenv
    -C DIR : cd
    --ninja-args A, --vs-args A, --xcode-args A : runs-command
"
);

const MESON_TEST: &Table = options!("
    -h, --maxfail N, --repeat N, --no-rebuild, --list, --benchmark, --suite S, --no-suite S, --no-stdsplit, --print-errorlogs
    -v --verbose, -q --quiet, -t --timeout-multiplier N, --setup S, --logbase B, --slice S, --num-processes -j N, --max-lines N
    --interactive -i, --no-profile
    -C DIR : cd
    --test-args A
    --wrapper CMD, --wrap CMD, --gdb, --gdb-path P : runs
");

const BAZEL: &Table = options!("
    -c --compilation_mode M, -k --keep_going, -j --jobs N, -s --subcommands, --config C, --test_output M, --test_filter F
    --test_arg A, --test_tag_filters T, --build_tag_filters T, --test_lang_filters L, --test_size_filters S
    --test_timeout_filters T, --test_timeout N, --test_env E, --nocache_test_results, --cache_test_results [V]
    --runs_per_test N, --runs_per_test_detects_flakes, --flaky_test_attempts N, --local_test_jobs N, --test_summary M
    --test_verbose_timeout_warnings, --test_keep_going, --notest_keep_going, --build_tests_only, --verbose_failures
    --noverbose_failures, --color W, --curses W, --show_progress, --noshow_progress, --show_result N, --show_timestamps
    --copt O, --cxxopt O, --conlyopt O, --linkopt O, --host_copt O, --host_cxxopt O, --features F, --define D, --stamp
    --nostamp, --nobuild, --build, --check_visibility, --local_ram_resources N, --local_cpu_resources N, --announce_rc
    --noannounce_rc, --explain F, --verbose_explanations, --output_groups G, --incompatible_strict_action_env
    --noincompatible_strict_action_env, --toolchain_resolution_debug [R], --sandbox_debug, --noremote_accept_cached
    --noremote_upload_local_results, --instrumentation_filter F, --combined_report R, --cpu C, --platforms P, --ui_event_filters F
    --output O, --notool_deps, --noimplicit_deps, --order_output O, --universe_scope S, --infer_universe_scope, --keep_backend
    --noshow_loading_progress, --show_loading_progress, --ui_actions_shown N, --attempt_to_print_relative_paths, --expunge_async
    --batch, --ignore_all_rc_files, --nosystem_rc, --nohome_rc, --noworkspace_rc, --max_idle_secs N, --block_for_lock
    --noblock_for_lock, --profile F, --generate_json_trace_profile, --isatty N, --console C, --verbose -v N, --target-platforms P
    -m --modifier M, --show-output, --show-full-output, --num-threads N, --local-only, --no-remote-cache, --fail-fast
    --output-attribute A, --json, --dot, -a, --target-universe U, --changed-since R, --level L, -l, --tag T, --filter F
    --bazelrc FILE : recipe
    --output_user_root DIR, --output_base DIR, --install_base DIR, --distdir DIR, --disk_cache DIR : makes-below
    --repository_cache DIR, --build_event_json_file F, --build_event_text_file F, --execution_log_json_file F : makes-below
    --isolation-dir D
    --host_jvm_args A, --override_module M, --override_repository R, --inject_repository R, --run_under CMD : runs
    --server_javabase DIR, --shell_executable PROG, --workspace_status_command CMD, --package_path P, --strategy S : runs
    --spawn_strategy S, --action_env E, --host_action_env E, --repo_env E, --extra_toolchains T, --crosstool_top T : runs
    --embed_label L, --plugin P, --aspects A, --registry R, --noenable_bzlmod, --enable_bzlmod, --lockfile_mode M : runs-code
    --remote_executor URL, --remote_cache URL, --bes_backend URL, --bes_results_url URL, --remote_downloader URL : redirects
");

pub(super) const SPECS: &[Spec] = &[
    Spec::new(&["meson"])
        .style(Style::EXACT.and(Style::FREE))
        .options(&[MESON_SETUP])
        .acts(&[Act::Builds])
        .subs(&[
            Spec::new(&["setup", "configure"])
                .style(Style::EXACT)
                .options(&[MESON_SETUP])
                .operands(Operands::then(&[Role::WriteBelow], Role::ReadBelow))
                .acts(&[Act::Builds])
                .judge(meson_options),
            Spec::new(&["compile"]).style(Style::EXACT).options(&[MESON_BUILD]).acts(&[Act::Builds]).judge(targets),
            Spec::new(&["test"]).style(Style::EXACT).options(&[MESON_TEST]).acts(&[Act::Builds]),
            Spec::new(&["introspect", "help", "env2mfile"])
                .style(Style::EXACT)
                .options(&[options!("
                    -a --all, -i --indent, -f --force-object-output, --targets, --tests, --buildoptions, --dependencies, --ast
                    --projectinfo, --buildsystem-files, --benchmarks, --compilers, --installed, --machines, --scan-dependencies
                    --backend B, --install-plan
                ")])
                .operands(Operands::all(Role::ReadBelow))
                .acts(&[Act::Builds]),
            Spec::new(&["format", "fmt"])
                .style(Style::EXACT)
                .options(&[options!("
                    -q --check-only, -r --recursive, -e --editor-config, -h
                    -i --inplace : changes-files
                    -c --configuration FILE : reads
                    -o --output FILE : makes
                ")])
                .operands(Operands::all(Role::ReadBelow)),
            Spec::new(&["install", "dist", "subprojects", "wrap"]).style(Style::EXACT).acts(&[Act::Named(Code::Installs)]),
            Spec::new(&["init", "rewrite"]).style(Style::EXACT).acts(&[Act::WritesBelow(".")]),
            Spec::new(&["devenv"]).style(Style::EXACT).acts(&[Act::Named(Code::RunsCommand)]),
        ])
        .operands(Operands::then(&[Role::WriteBelow], Role::ReadBelow))
        .judge(meson_options),
    Spec::new(&["bazel", "bazelisk", "buck2", "pants", "please"])
        .style(Style::EXACT.and(Style::RISKY).and(Style::GLOBAL).and(Style::EQUALS))
        .options(&[BAZEL])
        .acts(&[Act::Project])
        .subs(&[
            Spec::new(&[
                "info", "query", "cquery", "aquery", "version", "help", "dump", "print_action", "analyze-profile", "targets",
                "uquery", "audit", "log", "root", "status", "list", "dependencies", "dependents", "filedeps", "peek", "paths",
            ])
            .style(Style::EXACT)
            .options(&[BAZEL]),
            Spec::new(&["build", "test", "coverage", "fetch", "sync", "vendor", "mod", "lint", "check", "package", "ctargets"])
                .style(Style::EXACT)
                .options(&[BAZEL]),
            Spec::new(&["fmt", "fix", "tailor", "update-build-files"])
                .style(Style::EXACT)
                .options(&[BAZEL])
                .acts(&[Act::WritesBelow(".")]),
            Spec::new(&["run", "mobile-install", "repl", "bxl", "install"])
                .style(Style::EXACT.and(Style::LEADING))
                .options(&[BAZEL])
                .acts(&[Act::Named(Code::RunsCode)]),
            Spec::new(&["clean", "shutdown", "kill", "killall"])
                .style(Style::EXACT)
                .options(&[BAZEL, options!("--expunge, --dry-run, --stale, --tracked-only, --async")])
                .acts(&[Act::Named(Code::ChangesFiles)]),
            Spec::new(&["publish", "export"]).style(Style::EXACT).acts(&[Act::Named(Code::Publishes)]),
        ]),
    Spec::new(&["scons"])
        .style(Style::EXACT.and(Style::RISKY))
        .options(&[options!("
            -c --clean --remove, --cache-debug F, --cache-disable --no-cache, --cache-force, --cache-populate, --cache-readonly
            --cache-show, --config M, --debug T, --diskcheck T, -h, -H --help-options, -i --ignore-errors, --implicit-cache
            --implicit-deps-changed, --implicit-deps-unchanged, --interactive --interact, -j --jobs N, -k --keep-going
            --max-drift N, -n --no-exec --just-print --dry-run --recon, --no-site-dir, --package-type T, -q --question
            -Q, --random, -s --silent --quiet, --stack-size N, --taskmastertrace F, --tree O, -u --up --search-up, -U, -D
            -v --version, -w --print-directory, --no-print-directory, --warn --warning W, -S --no-keep-going --stop, -t --touch
            --enable-virtualenv, --ignore-virtualenv, -b, -d, -e --environment-overrides, -m, -r --no-builtin-rules
            -R --no-builtin-variables, -o --old-file --assume-old F, -l --load-average --max-load N
            --profile FILE : makes
            -C --directory DIR, -f --file --makefile --sconstruct FILE, -Y --repository --srcdir DIR : recipe
            --site-dir DIR, -I --include-dir DIR, --tool-path DIR : recipe
        ")])
        .acts(&[Act::Named(Code::RunsCode)])
        .judge(scons),
    Spec::new(&["autoconf", "automake", "aclocal", "autoreconf", "autoheader"])
        .style(Style::GNU)
        .options(&[options!("
            -h, -V, -v --verbose, -d --debug, -f --force, -i --install, -s --symlink, -W --warnings C, --no-force, -a --add-missing
            -c --copy, --force-missing, --add-missing, --cygnus, --foreign, --gnits, --gnu, --gnu-missing, --no-exec, --no-recursive
            --dry-run, --print-ac-dir, --include-deps, -F, -m --make, --ignore-deps, -t --trace M, --diff [C]
            -o --output FILE, --output-dir DIR : makes
            -I --include DIR, -B --prepend-include DIR, --libdir DIR, --acdir DIR, --system-acdir DIR : recipe
            --aclocal-path P, --automake-acdir DIR, --autom4te PROG : runs
        ")])
        .judge(configure),
    Spec::new(&["qmake", "qmake6"])
        .style(Style::WORDS)
        .options(&[options!("
            -query [P], -Wall, -Wnone, -Wparser, -Wlogic, -recursive -r, -norecursive -nr, -nocache, -nodepend, -nodependheuristics
            -nomoc, -makefile, -project, -d, -v, -h, -help, -version, -early, -before, -after, -late, -nopwd
            -t TEMPLATE, -tp P, -o FILE, -spec S
            -set P, -unset P : changes-settings
            -qtconf FILE, -cache FILE, -platform P, -xplatform P, -mkspec S : runs-code
        ")])
        .judge(configure),
    Spec::new(&[
        "libtoolize", "libtool", "configure", "premake5", "xmake", "gyp", "gn", "pkg-config", "pkgconf", "config.status",
    ])
    .style(Style::HARMLESS.and(Style::RISKY))
    .judge(configure),
];

/// Options that say which program compiles, or where others are looked for.
fn meson_options(view: &mut View<'_>) {
    const STEERS: &[&str] = &["_args", "_link_args", "path", "program", "std=none", "wrapper", "compiler"];
    for (at, option) in view.values("-D") {
        let steers = |text: &str| {
            let name = text.split('=').next().unwrap_or(text).to_ascii_lowercase();
            STEERS.iter().any(|word| name.contains(word))
        };
        if option.exact_str().is_none_or(steers) {
            view.named_by_flag(Code::RunsCommand, "-D", at);
        }
    }
}

/// What is built has a name, as a task has.
fn targets(view: &mut View<'_>) {
    task::tasks(view, Naming::Whole);
}

/// `VAR=value` reaches the script that builds; a sign of a shell in it may reach a command.
fn scons(view: &mut View<'_>) {
    super::make::recipe_words(view);
    task::tasks(view, Naming::Whole);
}

fn configure(view: &mut View<'_>) {
    if !matches!(view.name, "pkg-config" | "pkgconf") {
        view.touches(Verb::Write, ".", true);
        view.code("shell", Code::RunsCode, NamedBy::Program, 0);
    }
}
