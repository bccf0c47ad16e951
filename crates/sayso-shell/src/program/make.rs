//! Build tools that run recipes of the project.

use super::task::{self, Naming};
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
    Spec::new(&["rake"])
        .style(Style::EXACT.and(Style::RISKY))
        .options(&[options!("
            -A --all, -B --build-all, -C, -D --describe [P], -g --system, -j --jobs [N], -m --multitask, -n --dry-run
            -N --no-search --nosearch, -G --no-system --nosystem, -P --prereqs, -q --quiet, -s --silent, -t --trace [OUT], -T --tasks [P]
            -v --verbose [V], -V --version, -W --where [P], -X --no-deprecation-warnings, --backtrace [OUT], --comments, --rules, --job-stats [L]
            --suppress-backtrace P, -h -H, --help
            -e --execute CODE, -E --execute-continue CODE, -p --execute-print CODE : inline
            -f --rakefile FILE : recipe
            -r --require MODULE : runs-code
            -I --libdir DIR, -R --rakelibdir --rakelib DIR : recipe
        ")])
        .acts(&[Act::Named(Code::RunsCode)])
        .judge(rake),
    Spec::new(&["task", "go-task"])
        .style(Style::EXACT.and(Style::RISKY))
        .options(&[options!("
            -c --color, -C --concurrency N, -n --dry, --dry-run, -x --exit-code, --failfast, -F, -f --force, --force-all, -h, -I --interval N
            -j --json, -l --list, -a --list-all, -o --output M, --output-group-begin T, --output-group-end T, --output-group-error-only
            -p --parallel, -s --silent, --sort S, --status, --summary, -v --verbose, --version, -w --watch, -y --yes, --no-status, --nested
            --offline, --insecure, --disable-fuzzy, --experiments, --completion S, --clear-cache, --expiry D, --timeout D, --cacert F
            -t --taskfile FILE, -d --dir DIR : recipe
            -g --global, --trusted-hosts H, --download, --remote-cache-dir DIR : runs-code
            -i --init : changes-files
        ")])
        .acts(&[Act::Named(Code::RunsCode)])
        .judge(task_tasks),
    Spec::new(&[
        "gulp", "grunt", "jake", "waf", "doit", "paver", "fab",
        "ansible-playbook", "cake", "nuke", "psake",
    ])
        .style(Style::EXACT.and(Style::HARMLESS).and(Style::RISKY).and(Style::FREE))
        .subs(&[Spec::new(&["list", "ls", "current", "which", "where", "--list", "--version"]).style(Style::HARMLESS)])
        .acts(&[Act::Named(Code::RunsCode), Act::Project])
        .judge(crate::wrapper::may_start),
    Spec::new(&["asdf"])
        .style(Style::EXACT.and(Style::HARMLESS).and(Style::RISKY).and(Style::FREE))
        .subs(&[Spec::new(&["list", "ls", "current", "which", "where", "--list", "--version"]).style(Style::HARMLESS)])
        .acts(&[Act::Named(Code::RunsCode), Act::Project])
        .judge(crate::wrapper::started_behind),
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
    task::tasks(view, Naming::Whole);
}

/// Whether a value stays one where a recipe puts it into a shell's command: no sign of a shell or of make.
fn is_plain_value(value: &str) -> bool {
    value.chars().all(|c| c.is_alphanumeric() || " _-./:,@%+=~^'\"*?[]{}#".contains(c))
}

/// Words go into recipes as they are: a sign of a shell in one of them is a command there.
pub(super) fn recipe_words(view: &mut View<'_>) {
    let values = view.values("--set").into_iter();
    let operands = view.operands().into_iter().filter_map(|at| Some((at, view.word(at)?.clone())));
    for (at, word) in values.chain(operands).collect::<Vec<_>>() {
        if word.exact_str().is_some_and(|text| !is_plain_value(text)) {
            view.imply("--eval", None, at);
            view.code("shell", Code::InlineCode, NamedBy::Flag("--eval".to_owned()), at);
        }
    }
}

/// `rake test 'db:seed[a]'`: the words of a task stand in brackets behind its name.
fn rake(view: &mut View<'_>) {
    recipe_words(view);
    task::tasks(view, Naming::Whole);
}

/// `task lint test -- words`: tasks, and behind the dashes what their commands get.
fn task_tasks(view: &mut View<'_>) {
    recipe_words(view);
    let end = view.terminator.unwrap_or(usize::MAX);
    let before: Vec<usize> = view.operands().into_iter().filter(|at| *at < end).collect();
    for (n, at) in before.into_iter().enumerate() {
        let Some(name) = view.word(at).and_then(Word::exact_str).filter(|name| !name.contains('=')) else { continue };
        task::named(view, name, at, Naming::Whole);
        if n > 0 {
            task::also(view, name, at);
        }
    }
    let behind: Vec<usize> = view.operands().into_iter().filter(|at| *at > end).collect();
    for at in behind {
        if let Some(word) = view.word(at) {
            view.hands_on_word(word, at);
        }
    }
}

/// Words behind a recipe are its own or further recipes, which only the file tells: `just build release`.
fn just(view: &mut View<'_>) {
    if view.has("--command") {
        return;
    }
    recipe_words(view);
    let mut recipes = view.operands().into_iter().filter(|&at| {
        view.word(at).and_then(Word::exact_str).is_none_or(|word| !word.starts_with('-') && !word.contains('='))
    });
    let first = recipes.next();
    let more: Vec<usize> = recipes.filter(|&at| view.word(at).and_then(Word::exact_str) != Some("release")).collect();
    for at in first.into_iter().chain(more) {
        task::task(view, at, Naming::Whole);
    }
}

/// What `--target` names is built as a task is run.
fn cmake_targets(view: &mut View<'_>) {
    for (at, target) in view.values("--target") {
        match target.exact_str().map(|name| task::says(name, Naming::Whole)) {
            Some(Some(code)) => view.named_by_flag(code, "--target", at),
            Some(None) => {}
            None => task::unknown(view, at),
        }
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
    if !view.has("-t") {
        task::tasks(view, Naming::Whole);
    }
}

/// `cmake -E` has commands of its own, some of which write or run.
fn cmake(view: &mut View<'_>) {
    cmake_targets(view);
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
