//! Debuggers, tracers and profilers: they start the program they look at.

use super::{Launch, interactive, launch, transparent};
use crate::effect::NamedBy;
use crate::program::{Code, View};
use crate::script::{self, Finding};
use crate::word::Word;

pub(crate) fn strace(view: &mut View<'_>) {
    for (at, value) in view.values("--output") {
        // `-o '|cmd'` and `-o '!cmd'` pipe into a command.
        if let Some(command) = value.exact().and_then(|v| v.strip_prefix(b"|").or_else(|| v.strip_prefix(b"!"))) {
            view.starts_shell(Word::Exact(command.into()), at);
        }
    }
    for (_, value) in view.values("--env") {
        if let Some(name) = value.exact_str().and_then(|v| v.split('=').next())
            && crate::program::changes_what_runs(name)
        {
            view.named(Code::Environment, NamedBy::Env(name.to_owned()), 0);
        }
    }
    transparent(view, 0);
}

pub(crate) fn perf_record(view: &mut View<'_>) {
    if !view.has("--output") {
        view.touches(crate::Verb::Write, "perf.data", false);
    }
    transparent(view, 0);
}

/// They leave a file of their own name in the working directory.
pub(crate) fn profiler(view: &mut View<'_>) {
    view.touches(crate::Verb::Write, ".", true);
    let skip = usize::from(matches!(view.operand_str(0), Some("record" | "run" | "replay" | "report")));
    if let Some(at) = view.operand_at(skip) {
        launch(view, at, Launch::default());
    }
}

/// Every command is read. Without `-batch` a person, or standard input, gives more.
pub(crate) fn debugger(view: &mut View<'_>) {
    let mut runs = false;
    for name in ["-ex", "-iex", "-o", "-O", "-k"] {
        for (at, command) in view.values(name) {
            let Some(text) = script::text_of(&command) else {
                view.code("gdb", Code::InlineCode, NamedBy::Flag(name.to_owned()), at);
                continue;
            };
            for finding in script::gdb(&text) {
                match finding {
                    Finding::Shell(text) => view.starts_shell(text, at),
                    Finding::Load(file) => {
                        view.reads(&file, at);
                        view.code("gdb", Code::RunsCode, NamedBy::Flag(name.to_owned()), at);
                    }
                    _ => {
                        runs = true;
                        view.code("gdb", Code::InlineCode, NamedBy::Flag(name.to_owned()), at);
                    }
                }
            }
        }
    }
    for name in ["-x", "-ix", "-s"] {
        for (at, _) in view.values(name) {
            view.code("gdb", Code::RunsCode, NamedBy::Flag(name.to_owned()), at);
        }
    }
    let args = view.has("--args");
    if let (Some(at), Some(program)) = (view.operand_at(0), view.operand(0)) {
        view.reads(program, at);
        if args && (runs || !view.has("-batch")) {
            launch(view, at, Launch::default());
        }
    }
    if !view.has_any(&["-batch", "-batch-silent", "--help", "--version", "-h", "-v"]) {
        interactive(view, "gdb", 0);
    }
}
