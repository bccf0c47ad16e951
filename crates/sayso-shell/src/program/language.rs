//! Build tools that come with a language: Haskell, OCaml, Nim, Crystal, Zig, Swift, .NET, Elixir.

use super::task::{self, Naming};
use super::{Code, View};
use crate::effect::NamedBy;
use crate::word::Word;

pub(crate) fn hands_on_all(view: &mut View<'_>) {
    view.hands_on(0);
}

/// A script of the project.
pub(crate) fn mix_run(view: &mut View<'_>) {
    view.code("elixir", Code::RunsCode, NamedBy::Program, 0);
    view.hands_on(0);
}

/// `mix do a + b`: several tasks in one; code or a command may be among them.
pub(crate) fn mix_do(view: &mut View<'_>) {
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
pub(crate) fn mix_task(view: &mut View<'_>) {
    task::first_task(view);
}

/// Steps of `build.zig` are called like tasks; `run` starts what was built.
pub(crate) fn zig_steps(view: &mut View<'_>) {
    let end = view.terminator.unwrap_or(usize::MAX);
    let steps: Vec<usize> = view.operands().into_iter().filter(|at| *at < end).collect();
    for at in steps {
        task::task(view, at, Naming::Whole);
    }
    view.hands_on(0);
}

pub(crate) fn zig_fmt(view: &mut View<'_>) {
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
pub(crate) fn zig_tool(view: &mut View<'_>) {
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

pub(crate) fn swift_format(view: &mut View<'_>) {
    if view.has("--in-place") {
        for at in view.operands() {
            if let Some(word) = view.word(at) {
                view.writes_sources(word, at, "swift");
            }
        }
    }
}

/// `swift file.swift` runs it.
pub(crate) fn swift_file(view: &mut View<'_>) {
    if view.operand_count() > 0 {
        view.code("swift", Code::RunsCode, NamedBy::Program, 0);
        view.hands_on(0);
    }
}

/// `dotnet app.dll` runs it.
pub(crate) fn dotnet_file(view: &mut View<'_>) {
    if view.operand_count() > 0 {
        view.code("dotnet", Code::RunsCode, NamedBy::Program, 0);
        view.hands_on(0);
    }
}

/// Properties and targets of MSBuild: some name programs, files of tasks, or what leaves.
pub(crate) fn msbuild(view: &mut View<'_>) {
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
