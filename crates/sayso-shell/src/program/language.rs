//! Build tools that come with a language: Haskell, OCaml, Nim, Crystal, Zig, Swift, .NET, Elixir.

use super::task::{self, Naming};
use super::{Code, View};
use crate::effect::NamedBy;
use crate::word::Word;

pub(crate) fn hands_on_all(view: &mut View<'_>) {
    view.hands_on(0);
}

/// `dune build @deploy`: behind the sign stands the name of an alias, which is a task, perhaps behind a folder.
pub(crate) fn dune_targets(view: &mut View<'_>) {
    for at in view.operands() {
        match view.word(at).and_then(Word::exact_str) {
            Some(word) => {
                if let Some(alias) = word.strip_prefix("@@").or_else(|| word.strip_prefix('@')) {
                    let name = alias.rsplit('/').next().unwrap_or(alias).to_owned();
                    task::named(view, &name, at, Naming::Whole);
                }
            }
            None => task::unknown(view, at),
        }
    }
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

/// Properties and targets of MSBuild: most properties can name programs, files of tasks or what leaves, so that those
/// which cannot are listed.
pub(crate) fn msbuild(view: &mut View<'_>) {
    const TARGETS: &[&str] = &["/t:", "-t:", "/target:", "-target:", "--target:"];
    const PROPERTIES: &[&str] = &["/p:", "-p:", "/property:", "-property:", "--property:", "--property=", "-p="];
    for at in 1..view.inv.argv.len() {
        let Some(text) = view.word(at).and_then(Word::exact_str) else { continue };
        let lower = text.to_ascii_lowercase();
        let behind = at.checked_sub(1).and_then(|before| view.word(before)).and_then(Word::exact);
        let listed = matches!(behind, Some(b"-p" | b"-property" | b"--property")).then_some(lower.as_str());
        if let Some(targets) = TARGETS.iter().find_map(|target| lower.strip_prefix(target)) {
            for name in targets.split([';', ',']) {
                task::named(view, name, at, Naming::Whole);
            }
        } else if let Some(properties) = PROPERTIES.iter().find_map(|p| lower.strip_prefix(p)).or(listed) {
            if !sets_plain_properties(properties) {
                view.named_by_flag(Code::RunsCommand, "--property", at);
            }
        } else if ["/logger:", "-logger:", "/l:", "-l:", "/dl:", "-dl:", "/distributedlogger:"]
            .iter()
            .any(|p| lower.starts_with(p))
        {
            view.named_by_flag(Code::RunsCode, "--logger", at);
        } else if let Some(switch) = lower.strip_prefix('/').filter(|rest| is_switch(rest)) {
            let name = switch.split(':').next().unwrap_or(switch);
            if !PLAIN_SWITCHES.contains(&name) {
                view.named_by_flag(Code::RunsCommand, "--property", at);
            }
        }
    }
    // A project of another folder is other code.
    for at in view.operands() {
        let path = view.word(at).filter(|word| word.exact().is_none_or(|text| text.contains(&b'/'))).cloned();
        let switch = |word: &Word| word.exact_str().and_then(|text| text.strip_prefix('/')).is_some_and(is_switch);
        if path.is_some_and(|path| !switch(&path) && !view.is_of_the_project(&path)) {
            view.named(Code::RunsCode, NamedBy::Nothing, at);
        }
    }
    view.hands_on(0);
}

/// Options of MSBuild behind a slash that name no file and no program.
const PLAIN_SWITCHES: &[&str] = &[
    "m",
    "maxcpucount",
    "nologo",
    "v",
    "verbosity",
    "r",
    "restore",
    "nr",
    "nodereuse",
    "noconlog",
    "noconsolelogger",
    "clp",
    "consoleloggerparameters",
    "tl",
    "terminallogger",
    "warnaserror",
    "err",
    "nowarn",
    "noerr",
    "warnasmessage",
    "interactive",
    "graph",
    "low",
    "lowpriority",
    "ds",
    "detailedsummary",
    "h",
    "help",
    "?",
    "ver",
    "version",
];

/// Whether a word behind a slash is an option of MSBuild rather than the rest of a path.
fn is_switch(rest: &str) -> bool {
    let name = rest.split(':').next().unwrap_or(rest);
    !name.is_empty() && !name.contains(['/', '.'])
}

/// Whether each of these properties says how to compile, and nothing else.
fn sets_plain_properties(properties: &str) -> bool {
    const PLAIN: &[&str] = &[
        "assemblyversion",
        "collectcoverage",
        "configuration",
        "continuousintegrationbuild",
        "coverletoutputformat",
        "debugsymbols",
        "debugtype",
        "deterministic",
        "enforcecodestyleinbuild",
        "fileversion",
        "generatedocumentationfile",
        "includesymbols",
        "informationalversion",
        "invariantglobalization",
        "langversion",
        "nowarn",
        "nullable",
        "optimize",
        "packageversion",
        "platform",
        "platformtarget",
        "publishaot",
        "publishreadytorun",
        "publishsinglefile",
        "publishtrimmed",
        "restorelockedmode",
        "runanalyzers",
        "runtimeidentifier",
        "selfcontained",
        "targetframework",
        "targetframeworks",
        "testtfmsinparallel",
        "threshold",
        "treatwarningsaserrors",
        "useapphost",
        "usesharedcompilation",
        "version",
        "versionprefix",
        "versionsuffix",
        "warnaserror",
        "warningsaserrors",
        "warningsnotaserrors",
        "warninglevel",
    ];
    // Several stand behind each other; a value may be a list of its own, and what looks like a property then is one.
    let mut parts = properties.split([';', ',']);
    let plain = |part: &str| part.split_once('=').is_some_and(|(name, _)| PLAIN.contains(&name.trim()));
    // A value that is computed calls functions, which read files.
    !properties.contains("$(")
        && parts.next().is_some_and(plain)
        && parts.all(|part| !part.contains('=') || plain(part))
}
