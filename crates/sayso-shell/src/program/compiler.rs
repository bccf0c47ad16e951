//! Compilers, linkers and tools for object files.

use super::{Code, View};
use crate::effect::{Carry, Verb};
use crate::word::Word;

/// `@file` holds more options and operands, which nobody sees.
pub(crate) fn response_files(view: &mut View<'_>) {
    for at in view.operands() {
        if view.word(at).and_then(Word::exact).is_some_and(|word| word.len() > 1 && word.starts_with(b"@")) {
            view.named(Code::DynamicOption, crate::effect::NamedBy::Nothing, at);
        }
    }
}

/// An assembler reads its source from standard input too, and a source takes in other files.
pub(crate) fn assembles(view: &mut View<'_>) {
    response_files(view);
    super::source::on_stdin(view, matches!(view.name, "as" | "nasm" | "yasm"));
}

/// `ar rcs lib.a x.o`, `ar -rcs lib.a x.o`: letters, the archive, members. `ar -M` follows a script, which writes where it
/// says.
pub(crate) fn archives(view: &mut View<'_>) {
    response_files(view);
    let dashed = view.seen.iter().any(|seen| !seen.opt.name.starts_with("--"));
    for (n, at) in view.operands().into_iter().enumerate().skip(usize::from(!dashed)) {
        let Some(word) = view.word(at) else { continue };
        view.reads(word, at);
        if n <= usize::from(!dashed) {
            view.writes(word, at);
        }
    }
    let key = view.operand(0).and_then(Word::exact);
    let options = view.inv.argv.iter().skip(1).filter_map(|word| word.exact()?.strip_prefix(b"-"));
    if key.into_iter().chain(options).any(follows_script) {
        view.code("ar", Code::InlineCode, crate::effect::NamedBy::Nothing, 0);
    }
}

/// Whether these are letters of ar, and `M` is one of them.
fn follows_script(letters: &[u8]) -> bool {
    letters.contains(&b'M') && letters.iter().all(|letter| b"dmpqrtxabcDfiMlNoOPsSTuUVv".contains(letter))
}

/// What is compiled, and where it goes: `a.out` and object files without `-o`.
pub(crate) fn cc(view: &mut View<'_>) {
    for at in view.operands() {
        let Some(word) = view.word(at) else { continue };
        match word.exact() {
            Some(bytes) if bytes.starts_with(b"@") => {}
            _ => view.reads(word, at),
        }
    }
    response_files(view);
    super::source::on_stdin(view, view.name == "cpp");
    let stops = view.has_any(&[
        "-E",
        "-M",
        "-MM",
        "--version",
        "-dumpversion",
        "-dumpmachine",
        "--help",
        "-fsyntax-only",
        "-v",
    ]);
    if view.operand_count() > 0 && !stops && !view.has("-o") {
        writes_beside(view);
    }
    // What goes to the preprocessor word by word may be a file to write; on macOS `-fopenmp` goes there too.
    for (at, value) in view.values("-Xpreprocessor") {
        if value.exact() != Some(b"-fopenmp") {
            view.named_by_flag(Code::WritesFile, "-Xpreprocessor", at);
        }
    }
    for (at, value) in view.values("-fuse-ld") {
        if value.exact_str().is_none_or(|name| !is_linker(name)) {
            view.named_by_flag(Code::RunsCommand, "-fuse-ld", at);
        }
    }
    for name in ["-f", "-W", "-m"] {
        for (at, value) in view.values(name) {
            let Some(text) = value.exact_str() else { continue };
            let runs = ["plugin", "pass-plugin", "l,", "a,", "p,"].iter().any(|p| text.starts_with(p))
                && (name == "-f" || text.contains("plugin") || text.contains("-dynamic-linker"));
            // A server or a program that is asked where modules are, and a linker of somebody's own.
            let mapper = name == "-f" && text.starts_with("module-mapper");
            let linker =
                name == "-f" && text.strip_prefix("use-ld").is_some_and(|ld| !is_linker(ld.trim_start_matches('=')));
            if runs || mapper || linker {
                view.named_by_flag(Code::RunsCommand, name, at);
            }
        }
    }
}

/// Linkers by their names; any other word is a program, by a path or a name.
fn is_linker(name: &str) -> bool {
    matches!(name, "bfd" | "gold" | "lld" | "mold" | "wild" | "ld" | "lld-link")
}

/// Without `-o`: `a.out`, or for each source an object file of its name in the working directory.
fn writes_beside(view: &mut View<'_>) {
    let suffix = match (view.has("-c"), view.has("-S")) {
        (_, true) => ".s",
        (true, _) => ".o",
        _ => return view.touches(Verb::Write, "a.out", false),
    };
    for at in view.operands() {
        let Some(source) = view.word(at).and_then(Word::exact_str) else {
            return view.touches(Verb::Write, ".", true);
        };
        let name = source.rsplit('/').next().unwrap_or(source);
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        view.touches(Verb::Write, &format!("{stem}{suffix}"), false);
    }
}

pub(crate) fn java(view: &mut View<'_>) {
    for name in ["-jar", "-m", "-e"] {
        if let Some((at, value)) = view.values(name).pop() {
            if name == "-jar" {
                view.path_effect(Verb::Read, &value, at, false, Carry::Plain);
            }
            view.code("java", Code::RunsCode, crate::effect::NamedBy::Program, at);
            view.hands_on(0);
            return;
        }
    }
    if view.operand_count() > 0 || !view.has_any(&["-version", "--version", "-help", "--help", "-h"]) {
        view.code("java", Code::RunsCode, crate::effect::NamedBy::Program, 0);
        view.hands_on(0);
    }
}

pub(crate) fn ldd(view: &mut View<'_>) {
    if view.operand_count() > 0 {
        view.code("unknown", Code::RunsCode, crate::effect::NamedBy::Program, 0);
    }
}

/// `jar xf` and `jar cf` write; `jar tf` lists.
pub(crate) fn jar(view: &mut View<'_>) {
    let mode = view.operand(0).and_then(Word::exact).unwrap_or_default();
    let lists = view.name != "jar" || mode.starts_with(b"t") || view.has_any(&["-t", "--list"]);
    if !lists || view.name == "javadoc" {
        view.touches(Verb::Write, ".", true);
    }
}
