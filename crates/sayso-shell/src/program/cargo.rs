//! Rust: cargo, rustc, rustup.

use super::{Code, Start, View, hidden};
use crate::effect::Verb;
use crate::word::Word;

/// Behind `--` stand options of the compiler, which can name a linker or a plugin.
pub(crate) fn compiler_flags(view: &mut View<'_>) {
    if view.operand_count() > 0 {
        view.named_by_words(Code::RunsCommand);
    }
}

/// The folder of another project than the one that is stood in, if it is one, and the word that names it.
fn elsewhere(view: &View<'_>) -> Option<(usize, Word)> {
    if let Some((at, manifest)) = view.values("--manifest-path").pop() {
        let folder = manifest.exact_str().map(|file| match file.rsplit_once('/') {
            Some(("", _)) => "/".to_owned(),
            Some((folder, _)) => folder.to_owned(),
            None => ".".to_owned(),
        });
        return Some((at, folder.map_or(Word::Opaque, |folder| Word::Exact(folder.as_str().into()))));
    }
    view.values("-C").pop().map(|(at, _)| (at, Word::Exact(".".into())))
}

/// The output folder of a project elsewhere.
fn output(view: &View<'_>) -> Option<(usize, Word)> {
    let (at, folder) = elsewhere(view)?;
    let output = folder.exact_str().map(|folder| format!("{}/target", folder.trim_end_matches('/')));
    Some((at, output.map_or(Word::Opaque, |output| Word::Exact(output.as_str().into()))))
}

/// What is built elsewhere is written there.
pub(crate) fn builds(view: &mut View<'_>) {
    if let Some((at, output)) = output(view)
        && !view.has("--target-dir")
    {
        view.writes_below(&output, at);
    }
}

/// Tests and benches get the words behind `--`. The usual harness writes its report where `--logfile` says.
pub(crate) fn tests(view: &mut View<'_>) {
    builds(view);
    let Some(end) = view.terminator else { return };
    for at in end + 1..view.inv.argv.len() {
        let Some(word) = view.word(at) else { continue };
        let before = view.word(at - 1).and_then(Word::exact);
        let joined = word.exact().and_then(|word| word.strip_prefix(b"--logfile="));
        match joined {
            Some(file) => view.writes(&Word::Exact(file.into()), at),
            None if before == Some(b"--logfile") => view.writes(word, at),
            None => view.hands_on_word(word, at),
        }
    }
}

/// Versions are settled elsewhere.
pub(crate) fn locks(view: &mut View<'_>) {
    if let Some((at, folder)) = elsewhere(view) {
        let lock = folder.exact_str().map(|folder| format!("{}/Cargo.lock", folder.trim_end_matches('/')));
        view.writes(&lock.map_or(Word::Opaque, |lock| Word::Exact(lock.as_str().into())), at);
    }
}

/// Sources elsewhere are changed there.
pub(crate) fn changes_sources(view: &mut View<'_>) {
    let changes = view.has("--fix") || matches!(view.path.last(), Some(&("fix" | "fmt"))) && !view.has("--check");
    match elsewhere(view) {
        Some((at, folder)) if changes => view.writes_sources(&folder, at, "rs"),
        Some(_) => builds(view),
        None => {}
    }
}

/// `cargo hack X` is `cargo X`, many times over.
pub(crate) fn hack(view: &mut View<'_>) {
    let Some(command) = view.operand_at(0) else { return };
    let kept = |at: &usize| {
        let written = || view.seen.iter().filter(|seen| seen.at == *at);
        let operand =
            view.out.words.iter().skip(usize::from(view.out.subcommands)).any(|&word| usize::from(word) == *at);
        let own = |name: &str| super::built::HACK_OPTIONS.does(name).is_some();
        *at != command
            && (operand || view.terminator.is_some_and(|end| *at >= end) || written().any(|seen| !own(&seen.opt.name)))
    };
    let words: Vec<usize> = std::iter::once(command).chain((2..view.inv.argv.len()).filter(kept)).collect();
    let argv = words.iter().filter_map(|&at| view.word(at).cloned());
    let argv = std::iter::once(Word::Exact("cargo".into())).chain(argv).collect();
    let spans = std::iter::once(0).chain(words).map(|at| view.span(at)).collect();
    view.out.starts.push(Start::Argv { argv, spans, env: Vec::new(), elsewhere: false, cwd: None });
}

/// Behind `--` stand words of `rustfmt`, which changes the files it is given, or of the compiler.
pub(crate) fn hands_words_on(view: &mut View<'_>) {
    changes_sources(view);
    if let Some(end) = view.terminator {
        hidden::handed_on(view, end + 1);
    }
}

/// What is run gets the words behind `--`.
pub(crate) fn run(view: &mut View<'_>) {
    builds(view);
    view.hands_on(0);
}

/// It removes what it did not fetch from a folder that is there already, such as `src`.
pub(crate) fn vendor(view: &mut View<'_>) {
    let Some((at, folder)) = view.operand_at(0).and_then(|at| Some((at, view.word(at)?))) else { return };
    let own = folder.exact_str().is_some_and(|folder| matches!(folder.trim_end_matches('/'), "vendor" | "./vendor"));
    if !own && !view.has("--no-delete") {
        view.imply("--replace", None, at);
        view.path_effect(Verb::Delete, folder, at, true, crate::effect::Carry::Plain);
    }
}

pub(crate) fn clean(view: &mut View<'_>) {
    if view.has("--dry-run") {
        return;
    }
    match view.values("--target-dir").pop() {
        Some((at, folder)) => view.path_effect(Verb::Delete, &folder, at, true, crate::effect::Carry::Plain),
        None => {
            let (at, output) = output(view).unwrap_or((0, Word::Exact("target".into())));
            view.path_effect(Verb::Delete, &output, at, true, crate::effect::Carry::Plain);
        }
    }
}

/// `-C linker=prog` starts a program; `--emit x=file` writes one.
pub(crate) fn rustc(view: &mut View<'_>) {
    for (at, value) in view.values("--codegen") {
        let starts = value.exact_str().is_none_or(|v| {
            ["linker", "link-arg", "link-args", "pre-link", "post-link", "llvm-args", "dlltool"]
                .iter()
                .any(|key| v.starts_with(key))
        });
        if starts {
            view.named_by_flag(Code::RunsCommand, "--codegen", at);
        }
    }
    for name in ["--emit", "--print"] {
        for (at, value) in view.values(name) {
            if let Some((_, file)) = value.exact_str().and_then(|v| v.split_once('=')) {
                let file = crate::word::Word::Exact(file.into());
                view.path_effect(Verb::Write, &file, at, false, crate::effect::Carry::Plain);
            }
        }
    }
    let asks = view.has_any(&["--version", "-V", "--help", "-h", "--explain", "--print"]);
    if !asks && !view.has_any(&["-o", "--out-dir"]) && view.operand_count() > 0 {
        let stem = view.operand_str(0).and_then(|file| file.rsplit('/').next()?.strip_suffix(".rs"));
        match stem {
            Some(stem) if !view.has_any(&["--crate-type", "--emit", "--crate-name", "--codegen"]) => {
                view.touches(Verb::Write, stem, false);
            }
            _ => view.touches(Verb::Write, ".", true),
        }
    }
}

pub(crate) fn rustup_run(view: &mut View<'_>) {
    if let Some(at) = view.operand_at(1) {
        view.out.transparent = view.out.effects.is_empty();
        view.starts_words(at);
    }
}
