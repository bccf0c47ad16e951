//! Build tools that run recipes of the project.

use super::{Act, Code, Operands, Role, Spec, View};
use crate::effect::{Carry, NamedBy, Verb};
use crate::option::{Style, options};
use crate::word::Word;

pub(super) const SPECS: &[Spec] = &[
    Spec::new(&["make", "gmake", "remake"])
        .aliased()
        .options(&[options!("
            -b, -m, -B --always-make, -d, --debug [FLAGS], -e --environment-overrides, -h, -i --ignore-errors, -j --jobs [N], -k --keep-going
            -l --load-average --max-load [N], -L --check-symlink-times, -n --just-print --dry-run --recon, -o --old-file --assume-old FILE
            -O --output-sync [TYPE], -q --question, -r --no-builtin-rules, -R --no-builtin-variables, -s --silent --quiet
            --no-silent, -S --no-keep-going --stop, -t --touch, --trace, -v --version, -w --print-directory, --no-print-directory
            -W --what-if --new-file --assume-new FILE, --warn-undefined-variables, --shuffle [M], --jobserver-style S, -#
            -p --print-data-base : shows-secrets
            -C --directory DIR : cd
            -f --file --makefile FILE : recipe
            -I --include-dir DIR : reads-below
            -E --eval STRING : inline
        ")])
        .acts(&[Act::Builds])
        .judge(make),
    Spec::new(&["cmake", "cmake3"])
        .aliased()
        .style(Style::EXACT)
        .options(&[options!("
            -G GENERATOR, -T TOOLSET, -A PLATFORM, --fresh, -Wdev, -Wno-dev, -Werror, -Wdeprecated, -Wno-deprecated, -N, -L, -LA, -LH, -LAH
            --log-level L, --log-context, --trace, --trace-expand, --trace-format F, --trace-source F, --warn-uninitialized, --no-warn-unused-cli
            --check-system-vars, --compile-no-warning-as-error, --preset P, --list-presets [T], --debug-output, --debug-find, --debug-trycompile
            --find-package, -j --parallel [N], -t --target T, --config C, --clean-first, --use-stderr, -v --verbose, --resolve-package-references V
            --component C, --default-directory-permissions P, --strip, -U GLOB, -h, --help-command C, --help-module M, --help-property P, --help-variable V
            --help-policy P, --help-full, --help-manual M, --help-command-list, --system-information
            -D VAR
            -S DIR : reads-below
            -B DIR : makes-below
            -C FILE : runs
            -P FILE : runs
            -E COMMAND : last
            --build DIR : makes-below
            --install DIR : installs
            --prefix DIR : makes-below
            --toolchain FILE : runs
            --install-prefix DIR
            --open DIR : runs
            --trace-redirect FILE : writes
            --graphviz FILE : writes
            --profiling-output FILE, --profiling-format F : writes
            --workflow, --recursive
        ")])
        .operands(Operands::all(Role::ReadBelow))
        .acts(&[Act::Builds])
        .judge(cmake),
    Spec::new(&["ctest"])
        .style(Style::EXACT)
        .options(&[options!("
            -C --build-config C, -V --verbose, -VV --extra-verbose, --debug, --output-on-failure, --stop-on-failure, -F, -j --parallel [N]
            -Q --quiet, -N --show-only [F], -L --label-regex R, -R --tests-regex R, -E --exclude-regex R, -LE --label-exclude R, -FA F, -FS F, -FC F
            --repeat M, --repeat-until-fail N, --max-width N, -I --tests-information I, -U --union, --rerun-failed, --schedule-random, --progress
            --timeout N, --stop-time T, --no-tests A, --preset P, --list-presets, --print-labels, --test-load N, --no-label-summary
            --test-dir DIR : reads-below
            -O --output-log FILE : makes
            --output-junit FILE : makes
            -S --script FILE : runs
            -SP --script-new-process FILE : runs
            -D --dashboard M : publishes
            -M --test-model M, -T --test-action A : publishes
            --build-and-test : runs
        ")])
        .acts(&[Act::Builds]),
    Spec::new(&["ninja", "ninja-build", "samu"])
        .aliased()
        .options(&[options!("
            -v --verbose, --quiet, -j N, -k N, -l N, -n, -d MODE, -w FLAG, -h, --version
            -t TOOL : last
            -C DIR : cd
            -f FILE : recipe
        ")])
        .acts(&[Act::Builds])
        .judge(ninja),
    Spec::new(&["meson"]).style(Style::EXACT.and(Style::FREE).and(Style::HARMLESS)).subs(&[
        Spec::new(&["introspect", "help", "compile", "test", "setup", "configure", "env2mfile", "format"])
            .acts(&[Act::Builds])
            .style(Style::HARMLESS)
            .operands(Operands::all(Role::ReadBelow)),
        Spec::new(&["install", "dist", "subprojects", "wrap"]).style(Style::HARMLESS).acts(&[Act::Named(Code::Installs)]),
        Spec::new(&["init", "rewrite"]).style(Style::HARMLESS).acts(&[Act::WritesBelow(".")]),
        Spec::new(&["devenv"]).style(Style::HARMLESS).acts(&[Act::Named(Code::RunsCommand)]),
    ]),
    Spec::new(&["just"])
        .style(Style::EXACT.and(Style::EQUALS).and(Style::LEADING))
        .options(&[options!("
            -l --list, --summary, --dump, --dump-format F, --evaluate, --variables, -s --show R, -n --dry-run, -q --quiet, -v --verbose, -u --unsorted, --color W
            --check, --groups, --highlight, --no-highlight, --list-heading T, --list-prefix T, --no-aliases, --no-deps, --no-dotenv, --one, --explain, --yes, --timestamp
            --unstable, --ceiling D, --alias-style S, --command-color C, --completions S, --changelog, --man, --usage R, -h, -V, --list-submodules, --no-cd, --time
            --clear-shell-args, --set VAR VALUE, --allow-missing, --timestamp-format F, --justfile-name N
            -f --justfile FILE : recipe
            -d --working-directory DIR : cd
            -E --dotenv-path FILE : reads
            --dotenv-filename F
            -c --command CMD : command
            -e --edit : runs-command
            --choose, --chooser PROG : runs
            --shell PROG, --shell-arg A, --shell-command, --tempdir D, --cygpath P : runs
            --init, --fmt : changes-files
        ")])
        .acts(&[Act::Builds])
        .judge(just),
    Spec::new(&["bazel", "bazelisk", "buck2", "pants", "please"])
        .style(Style::EXACT.and(Style::HARMLESS).and(Style::RISKY).and(Style::FREE).and(Style::GLOBAL))
        .options(&[options!("
            --bazelrc FILE : recipe
            --host_jvm_args A, --override_module M, --override_repository R, --run_under CMD, --server_javabase DIR, --shell_executable PROG : runs
        ")])
        .acts(&[Act::Project])
        .subs(&[
            Spec::new(&[
                "info", "query", "cquery", "aquery", "version", "help", "dump", "print_action", "analyze-profile",
            ])
                .style(Style::HARMLESS),
            Spec::new(&["build", "test", "coverage", "fetch", "sync", "vendor", "mod"]).style(Style::HARMLESS),
            Spec::new(&["run", "mobile-install"]).style(Style::HARMLESS.and(Style::LEADING)).acts(&[Act::Named(Code::RunsCode)]),
            Spec::new(&["clean", "shutdown"]).style(Style::HARMLESS).acts(&[Act::Named(Code::ChangesFiles)]),
        ]),
    Spec::new(&["gradle", "gradlew", "mvn", "mvnw", "ant", "sbt", "mill", "lein", "clojure", "clj", "boot"])
        .style(Style::EXACT.and(Style::HARMLESS).and(Style::RISKY).and(Style::PASSES))
        .options(&[options!("
            -v --version, -q --quiet, -P PROP, -D PROP, -pl M, -am, -o --offline, -B, -U, -T N, -x --exclude-task T
            --tests T, --info, --stacktrace, --no-daemon, --daemon, --parallel, --continue
            -f --file -buildfile -file FILE, -s --settings FILE, -gs --global-settings FILE, -t --toolchains FILE : recipe
            -p --project-dir DIR, -b --build-file FILE, -c --settings-file FILE, -g --gradle-user-home DIR : recipe
            -lib PATH, -propertyfile FILE : recipe
            -I --init-script FILE : runs
            --include-build DIR : reads-below
        ")])
        .acts(&[Act::Project])
        .judge(jvm_goal),
    Spec::new(&["rake"])
        .style(Style::EXACT.and(Style::HARMLESS).and(Style::RISKY).and(Style::FREE))
        .options(&[options!("
            -e --execute CODE, -E --execute-continue CODE, -p --execute-print CODE : inline
            -f --rakefile FILE : recipe
            -r --require MODULE : runs-code
            -I --libdir DIR, -R --rakelibdir DIR : recipe
        ")])
        .acts(&[Act::Named(Code::RunsCode)])
        .judge(tasks),
    Spec::new(&["task", "go-task"])
        .style(Style::EXACT.and(Style::HARMLESS).and(Style::RISKY).and(Style::FREE))
        .options(&[options!("
            -t --taskfile FILE, -d --dir DIR : recipe
            -g --global, --trusted-hosts H, --download : runs-code
        ")])
        .acts(&[Act::Named(Code::RunsCode)])
        .judge(tasks),
    Spec::new(&["scons"])
        .style(Style::EXACT.and(Style::HARMLESS).and(Style::RISKY).and(Style::FREE))
        .options(&[options!("
            -f --file --makefile --sconstruct FILE, -C --directory DIR, -Y --repository --srcdir DIR, --site-dir DIR : recipe
        ")])
        .acts(&[Act::Named(Code::RunsCode)])
        .judge(tasks),
    Spec::new(&[
        "gulp", "grunt", "jake", "waf", "doit", "paver", "fab",
        "ansible-playbook", "cake", "nuke", "psake",
    ])
        .style(Style::EXACT.and(Style::HARMLESS).and(Style::RISKY).and(Style::FREE))
        .subs(&[Spec::new(&["list", "ls", "current", "which", "where", "--list", "--version"]).style(Style::HARMLESS)])
        .acts(&[Act::Named(Code::RunsCode), Act::Project])
        .judge(crate::wrapper::may_start),
    Spec::new(&["mise", "asdf"])
        .style(Style::EXACT.and(Style::HARMLESS).and(Style::RISKY).and(Style::FREE))
        .subs(&[Spec::new(&["list", "ls", "current", "which", "where", "--list", "--version"]).style(Style::HARMLESS)])
        .acts(&[Act::Named(Code::RunsCode), Act::Project])
        .judge(crate::wrapper::started_behind),
    Spec::new(&[
        "autoconf", "automake", "aclocal", "autoreconf", "autoheader", "libtoolize", "libtool", "configure", "qmake",
        "qmake6", "premake5", "xmake", "gyp", "gn", "pkg-config", "pkgconf", "config.status",
    ])
        .style(Style::HARMLESS.and(Style::RISKY))
        .judge(configure),
];

/// `VAR=value` operands reach the recipes; `SHELL=`, `CC=` and the like decide what runs. A value with `$(shell ...)`
/// runs a command at once.
fn make(view: &mut View<'_>) {
    for (at, file) in view.values("--file") {
        if matches!(file.exact(), Some(b"-" | b"/dev/stdin")) {
            view.imply("--eval", None, at);
            view.code("make", Code::InlineCode, NamedBy::Flag("--eval".to_owned()), at);
        }
    }
    for at in view.operands() {
        let Some(word) = view.word(at) else { continue };
        let Some(text) = word.exact_str() else {
            view.named(Code::DynamicOption, NamedBy::Nothing, at);
            continue;
        };
        let Some((name, value)) = text.split_once('=') else { continue };
        let runs = name.ends_with('!') || !is_plain_value(value);
        let name = name.trim_end_matches([':', '+', '?', '!']).trim();
        if super::changes_what_runs(name) || runs || name.starts_with('.') {
            view.imply("--eval", None, at);
            view.code("make", Code::InlineCode, NamedBy::Flag("--eval".to_owned()), at);
        }
    }
}

/// Whether a value stays one where a recipe puts it into a shell's command: no sign of a shell or of make.
fn is_plain_value(value: &str) -> bool {
    value.chars().all(|c| c.is_alphanumeric() || " _-./:,@%+=~^'\"*?[]{}#".contains(c))
}

/// Words go into recipes as they are: a sign of a shell in one of them is a command there.
fn recipe_words(view: &mut View<'_>) {
    let values = view.values("--set").into_iter();
    let operands = view.operands().into_iter().filter_map(|at| Some((at, view.word(at)?.clone())));
    for (at, word) in values.chain(operands).collect::<Vec<_>>() {
        if word.exact_str().is_some_and(|text| !is_plain_value(text)) {
            view.imply("--eval", None, at);
            view.code("shell", Code::InlineCode, NamedBy::Flag("--eval".to_owned()), at);
        }
    }
}

/// As [`recipe_words`], for a tool that may start a program that its words name.
fn tasks(view: &mut View<'_>) {
    recipe_words(view);
    crate::wrapper::may_start(view);
}

fn just(view: &mut View<'_>) {
    if !view.has("--command") {
        recipe_words(view);
    }
}

/// ninja's own tools tell something, but for those that start others.
fn ninja(view: &mut View<'_>) {
    const TELLS: &[&str] = &[
        "clean",
        "cleandead",
        "commands",
        "compdb",
        "compdb-targets",
        "deps",
        "graph",
        "inputs",
        "list",
        "missingdeps",
        "multi-inputs",
        "query",
        "recompact",
        "restat",
        "rules",
        "targets",
    ];
    for (at, tool) in view.values("-t") {
        if tool.exact_str().is_none_or(|tool| !TELLS.contains(&tool)) {
            view.named_by_flag(Code::RunsCommand, "-t", at);
        }
    }
}

/// `cmake -E` has commands of its own, some of which write or run.
fn cmake(view: &mut View<'_>) {
    for (at, definition) in view.values("-D") {
        if definition.exact_str().is_none_or(decides_what_runs) {
            view.named_by_flag(Code::RunsCommand, "-D", at);
        }
    }
    let Some((at, command)) = view.values("-E").pop() else {
        if !view.has_any(&["--build", "--version", "--help", "-N", "--list-presets", "-h", "-B"])
            && view.operand_count() > 0
        {
            view.touches(Verb::Write, ".", true);
        }
        return;
    };
    // Nothing else of the table holds then, but what is not known stays so.
    let unknown = |carry: &Carry| matches!(carry, Carry::Named { code, .. } if *code == Code::UnknownOption.as_str());
    view.out.effects.retain(|effect| unknown(&effect.carry));
    match command.exact_str() {
        Some(
            "echo" | "echo_append" | "capabilities" | "compare_files" | "md5sum" | "sha1sum" | "sha256sum"
            | "sha512sum" | "sleep" | "true" | "false" | "cat",
        ) => {
            for at in view.operands() {
                if let Some(word) = view.word(at) {
                    view.reads(word, at);
                }
            }
        }
        Some("environment") => view.named_by_flag(Code::ShowsSecrets, "-E", at),
        Some("env" | "chdir" | "time") => {
            view.named_by_flag(Code::RunsCommand, "-E", at);
            let command = view
                .operands()
                .into_iter()
                .find(|&at| view.word(at).and_then(Word::exact).is_none_or(|w| !w.contains(&b'=')));
            if let Some(at) = command {
                view.starts_words(at);
            }
        }
        Some(command @ ("remove" | "remove_directory" | "rm")) => removes(view, command, at),
        _ => {
            view.named_by_flag(Code::ChangesFiles, "-E", at);
            for at in view.operands() {
                if let Some(word) = view.word(at) {
                    view.writes_below(word, at);
                }
            }
        }
    }
}

/// What CMake's own `rm` removes; with folders it is a loss as with any other.
fn removes(view: &mut View<'_>, command: &str, at: usize) {
    let mut deep = command == "remove_directory";
    for at in view.operands() {
        let Some(word) = view.word(at) else { continue };
        let option = word.exact().filter(|word| word.starts_with(b"-"));
        deep |= option.is_none_or(|letters| letters.iter().any(|letter| matches!(letter, b'r' | b'R')))
            && (option.is_some() || word.may_be_option());
        if option.is_none() {
            view.path_effect(Verb::Delete, word, at, true, Carry::Plain);
        }
    }
    if deep {
        view.imply("--recursive", None, at);
    }
}

/// Variables of CMake that name programs, or files of CMake code.
fn decides_what_runs(definition: &str) -> bool {
    const WORDS: &[&str] = &[
        "COMPILER",
        "LAUNCHER",
        "TOOLCHAIN",
        "PROGRAM",
        "COMMAND",
        "LINKER",
        "RULE",
        "INCLUDE",
        "EXECUTABLE",
        "MODULE_PATH",
        "PREFIX_PATH",
        "EMULATOR",
        "WRAPPER",
        "CMAKE_AR",
        "RANLIB",
        "_FLAGS",
        "GIT",
        "CLANG_TIDY",
        "CPPCHECK",
        "CPPLINT",
        "PREBUILD",
        "INSTALL_PREFIX",
        "_DIR",
        "_ROOT",
        "URL",
        "SOURCE_DIR",
    ];
    let name = definition.split(['=', ':']).next().unwrap_or(definition).to_ascii_uppercase();
    WORDS.iter().any(|word| name.contains(word)) && name != "CMAKE_EXPORT_COMPILE_COMMANDS"
}

/// Properties that name code, or the folders in which it is looked for.
const JVM_CODE: &[&str] = &[
    "exec.",
    "gradle.user.home",
    "java.class.path",
    "java.endorsed.",
    "java.ext.",
    "java.security.",
    "java.system.",
    "maven.conf",
    "maven.ext.",
    "maven.home",
    "maven.multiModule",
    "org.gradle.java",
    "org.gradle.jvmargs",
    "sbt.boot",
    "sbt.global",
    "sbt.repository",
    "user.home",
];

/// Commands of sbt that take Scala.
const SBT_CODE: &[&str] = &["eval", "set", "apply", "alias", "addPluginSbtFile", "iflast", "onFailure"];

/// Goals that leave the project, and code in the command.
fn jvm_goal(view: &mut View<'_>) {
    for (at, property) in view.values("-D") {
        let code = property.exact_str().is_none_or(|name| JVM_CODE.iter().any(|code| name.starts_with(code)));
        // Plugins are looked for there, and run.
        let store = property.exact_str().and_then(|text| text.strip_prefix("maven.repo.local="));
        if code || store.is_some_and(|folder| !view.is_of_the_project(&Word::Exact(folder.into()))) {
            view.named_by_flag(Code::RunsCode, "-D", at);
        }
    }
    for at in view.operands() {
        let Some(text) = view.word(at).and_then(Word::exact_str).filter(|_| view.name == "sbt") else { continue };
        let first = |command: &str| command.split_whitespace().next().is_some_and(|word| SBT_CODE.contains(&word));
        if text.split(';').any(first) {
            view.code("scala", Code::InlineCode, NamedBy::Words(vec![text.to_owned()]), at);
        }
    }
    for at in view.operands() {
        let Some(goal) = view.word(at).and_then(Word::exact_str) else { continue };
        let last = goal.rsplit(':').next().unwrap_or(goal);
        if ["deploy", "publish", "release", "upload", "install", "site-deploy", "wrapper"]
            .iter()
            .any(|g| last.starts_with(g))
        {
            view.named(Code::Publishes, NamedBy::Words(vec![goal.to_owned()]), at);
        } else if ["bootRun", "run", "exec", "appRun", "jettyRun"].contains(&last) {
            view.named(Code::RunsCode, NamedBy::Words(vec![goal.to_owned()]), at);
        }
    }
}

fn configure(view: &mut View<'_>) {
    if !matches!(view.name, "pkg-config" | "pkgconf") {
        view.touches(Verb::Write, ".", true);
        view.code("shell", Code::RunsCode, NamedBy::Program, 0);
    }
}
