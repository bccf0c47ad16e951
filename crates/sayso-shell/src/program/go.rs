//! Go.

use super::{Code, View, hidden};
use crate::effect::{NamedBy, Verb};
use crate::word::Word;

/// `go install x@v` fetches what no module file declares.
pub(crate) fn go_install(view: &mut View<'_>) {
    if view.path.last() == Some(&"install") {
        view.named_by_words(Code::Installs);
    }
}

/// Behind the package or files are words for what is run.
pub(crate) fn go_run(view: &mut View<'_>) {
    // A version says that it is fetched, whatever the project's module file holds.
    if let Some((at, package)) = view.operand_at(0).zip(view.operand_str(0))
        && package.contains('@')
    {
        view.named(Code::Installs, NamedBy::Words(vec!["run".to_owned(), package.to_owned()]), at);
    }
    view.hands_on(0);
}

/// Behind `-args` stand words for the test, which takes go's own flags under longer names (`-test.cpuprofile=f`).
pub(crate) fn test(view: &mut View<'_>) {
    if let Some(seen) = view.seen.iter().find(|seen| seen.opt.name == "-args") {
        let from = seen.at + 1;
        hidden::handed_on(view, from);
    }
}

/// Flags of the compiler, the assembler and the linker that only say how code is made, or what is printed about it. All
/// others may name a program, or a file that is written (`-gcflags=-cpuprofile=f`).
const TAME: &[(&str, &[&str])] = &[
    (
        "-gcflags",
        &[
            "-N",
            "-l",
            "-m",
            "-e",
            "-B",
            "-C",
            "-S",
            "-W",
            "-c",
            "-complete",
            "-d",
            "-dwarf",
            "-dynlink",
            "-h",
            "-j",
            "-live",
            "-race",
            "-shared",
            "-spectre",
            "-std",
            "-t",
            "-v",
            "-w",
            "-wb",
            "-lang",
            "-trimpath",
        ],
    ),
    ("-asmflags", &["-D", "-S", "-compiling-runtime", "-dynlink", "-e", "-shared", "-spectre", "-trimpath", "-v"]),
    (
        "-ldflags",
        &[
            "-s",
            "-w",
            "-X",
            "-H",
            "-B",
            "-T",
            "-a",
            "-asan",
            "-buildid",
            "-c",
            "-checklinkname",
            "-compressdwarf",
            "-d",
            "-debugnosplit",
            "-dumpdep",
            "-f",
            "-g",
            "-h",
            "-linkmode",
            "-msan",
            "-n",
            "-race",
            "-v",
        ],
    ),
    ("-gccgoflags", &[]),
];

fn tool_flags(view: &mut View<'_>) {
    for (option, tame) in TAME {
        for (at, flags) in view.values(option) {
            if !flags.exact_str().is_some_and(|flags| are_tame(flags, tame)) {
                view.named_by_flag(Code::RunsCommand, option, at);
            }
        }
    }
}

/// Whether each of these flags is one of `tame`. `-X name=value` takes the next word, in quotes if it has blanks.
fn are_tame(flags: &str, tame: &[&str]) -> bool {
    // `all=-N -l`: for which packages.
    let flags = match flags.split_once('=') {
        Some((packages, flags)) if !packages.starts_with('-') && !packages.contains([' ', '\'', '"']) => flags,
        _ => flags,
    };
    let mut quoted = None;
    let mut value = false;
    for word in flags.split_ascii_whitespace() {
        if let Some(quote) = quoted {
            if word.ends_with(quote) {
                quoted = None;
            }
            continue;
        }
        if let Some(quote) = word.chars().next().filter(|c| matches!(c, '\'' | '"'))
            && (word.len() == 1 || !word.ends_with(quote))
        {
            quoted = Some(quote);
        }
        let word = word.trim_matches(['\'', '"']);
        if std::mem::take(&mut value) {
            continue;
        }
        let name = word.split('=').next().unwrap_or(word);
        let name = name.strip_prefix('-').filter(|short| short.starts_with('-')).unwrap_or(name);
        // `-X` is always followed by a name and its value, `-linkmode` and the others hold theirs.
        value = name == "-X" && !word.contains('=');
        if !tame.contains(&name) || name == "-linkmode" && word.ends_with("external") {
            return false;
        }
    }
    true
}

/// `path@version` is fetched: from the proxy that go is set up for, or from the host that begins the path. So is what
/// `list -m` looks up.
pub(crate) fn modules(view: &mut View<'_>) {
    tool_flags(view);
    if view.path.first() == Some(&"list") && view.has_any(&["-export", "-compiled", "-test"]) {
        // Compiled packages are built first, with the flags that their sources state.
        view.imply("--runs-project", None, 0);
    }
    let looks_up = view.has_any(&["-versions", "-u", "-retracted"]);
    if view.path.first() == Some(&"list") && (looks_up || view.has("-m")) {
        // What is known of a module is fetched where it is not at hand.
        view.connects_configured("module proxy", 0);
    }
    for at in view.operands() {
        let Some(word) = view.word(at) else { continue };
        let Some(text) = word.exact_str() else { continue };
        // `../other/...`: packages of another folder, which `test` and `run` build and start.
        if text.starts_with(['/', '.']) && !matches!(view.path.first(), Some(&("tool" | "env"))) {
            let folder = text.strip_suffix("...").unwrap_or(text).trim_end_matches('/');
            if text.starts_with("../") || text.contains("/../") || text == ".." || text.starts_with('/') {
                view.reads_below(&Word::Exact(if folder.is_empty() { "/" } else { folder }.into()), at);
            }
        }
        let first = text.split(['/', '@']).next().unwrap_or_default();
        if (looks_up || text.contains('@')) && first.contains('.') && !first.starts_with('.') && !text.contains("://") {
            view.connects(&Word::Exact(first.into()), at);
        }
    }
}

pub(crate) fn go_tool(view: &mut View<'_>) {
    let tame = matches!(
        view.operand_str(0),
        None | Some(
            "cover"
                | "nm"
                | "objdump"
                | "addr2line"
                | "buildid"
                | "covdata"
                | "test2json"
                | "pprof"
                | "trace"
                | "vet"
                | "dist"
        )
    );
    if !tame {
        let by =
            view.operand_str(0).map_or(NamedBy::Nothing, |t| NamedBy::Words(vec!["tool".to_owned(), t.to_owned()]));
        view.named(Code::RunsCommand, by, 0);
    }
    view.hands_on(1);
    if let Some(at) = view.operand_at(0) {
        hidden::handed_on(view, at + 1);
    }
    // `pprof` and `trace` open a page of their own.
    let serves = |at: &usize| {
        let word = view.word(*at).and_then(Word::exact).unwrap_or_default();
        word.strip_prefix(b"-").is_some_and(|word| word.strip_prefix(b"-").unwrap_or(word).starts_with(b"http"))
    };
    if let Some(at) = view.operands().into_iter().skip(1).find(serves) {
        view.imply("-http", Some(Code::Serves), at);
    }
}

pub(crate) fn go_telemetry(view: &mut View<'_>) {
    if let Some(at) = view.operand_at(0) {
        view.imply("--set", Some(Code::ChangesSettings), at);
    }
}

/// Packages by their folders; by another name it is one of the module's.
pub(crate) fn go_fmt(view: &mut View<'_>) {
    for at in view.operands() {
        let Some(word) = view.word(at) else { continue };
        let folder = word.exact_str().map(|name| name.strip_suffix("...").unwrap_or(name));
        if folder.is_none_or(|name| name.starts_with(['/', '.', '~'])) && !view.has("-n") {
            let folder = folder.map_or(Word::Opaque, |name| Word::Exact(name.into()));
            view.writes_sources(&folder, at, "go");
        }
    }
}

/// It rewrites what it is told to look at.
pub(crate) fn golangci(view: &mut View<'_>) {
    if view.has_any(&["--fix", "-w"]) {
        view.operands().into_iter().skip(1).for_each(|at| {
            if let Some(word) = view.word(at) {
                view.writes_sources(word, at, "go");
            }
        });
    }
}

pub(crate) fn gofmt(view: &mut View<'_>) {
    if view.has("-w") {
        for at in view.operands() {
            if let Some(word) = view.word(at) {
                view.path_effect(Verb::Write, word, at, true, crate::effect::Carry::Plain);
            }
        }
    }
}
