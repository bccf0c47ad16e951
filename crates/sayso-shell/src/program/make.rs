//! Build tools that run recipes of the project.

use super::task::{self, Naming};
use super::{Code, View};
use crate::effect::{Carry, NamedBy, Verb};
use crate::word::Word;

/// `VAR=value` operands reach the recipes; `SHELL=`, `CC=` and the like decide what runs. A value with `$(shell ...)`
/// runs a command at once.
pub(crate) fn make(view: &mut View<'_>) {
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
    // A rehearsal too: lines with a `+` and those that call make again run all the same.
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
pub(crate) fn rake(view: &mut View<'_>) {
    recipe_words(view);
    task::tasks(view, Naming::Whole);
}

/// `task lint test -- words`: tasks, and behind the dashes what their commands get.
pub(crate) fn task_tasks(view: &mut View<'_>) {
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
pub(crate) fn just(view: &mut View<'_>) {
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
pub(crate) fn ninja(view: &mut View<'_>) {
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
pub(crate) fn cmake(view: &mut View<'_>) {
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
    let unknown = |carry: &Carry| matches!(carry, Carry::Named { code, .. } if *code == Code::UnknownOption);
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
