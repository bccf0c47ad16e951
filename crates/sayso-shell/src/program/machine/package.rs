//! Package managers of the machine: what asks is harmless, what installs runs code as root.

use crate::effect::{Carry, NamedBy, Verb};
use crate::program::{Code, View};
use crate::word::Word;

/// Operands are names of packages, or files for the actions on archives.
pub(crate) fn dpkg(view: &mut View<'_>) {
    let archive = view.has_any(&["--contents", "--info", "--field", "--fsys-tarfile"]);
    let extracts = view.has_any(&["--extract", "--vextract", "--control", "--raw-extract"]);
    let installs = view.has_any(&["--install", "--unpack"]);
    for (n, at) in view.operands().into_iter().enumerate() {
        let Some(word) = view.word(at) else { continue };
        if (archive || extracts) && n == 0 || installs {
            view.reads(word, at);
        } else if extracts && n == 1 {
            view.writes_below(word, at);
        }
    }
    for (at, file) in view.values("--log") {
        view.path_effect(
            Verb::Write,
            &file,
            at,
            false,
            Carry::Named { code: Code::WritesFile, by: NamedBy::Flag("--log".to_owned()) },
        );
    }
}

/// `-i` alone installs, behind `-q` it informs. Macros may run commands.
/// A formula is Ruby, and is run to be shown. By a path or an address it is anybody's, and so is one of a tap that is
/// fetched when it is named.
pub(crate) fn formulae(view: &mut View<'_>) {
    if view.path.last() == Some(&"search") {
        return;
    }
    for at in view.operands() {
        let plain = view.word(at).and_then(Word::exact).is_some_and(|name| {
            !name.contains(&b'/') && !name.to_ascii_lowercase().ends_with(b".rb") && !name.ends_with(b".json")
        });
        if !plain {
            view.imply("--from-path", Some(Code::RunsCode), at);
        }
    }
}

pub(crate) fn rpm(view: &mut View<'_>) {
    let asks = view.has_any(&["--query", "--verify", "--checksig", "--showrc", "--version", "--help"]);
    if view.has("--info") && !asks {
        view.named_by_flag(Code::Installs, "--install", 0);
    }
    for name in ["--eval", "-E"] {
        for (at, macros) in view.values(name) {
            if macros.exact().is_none_or(|text| text.windows(2).any(|two| matches!(two, b"%(" | b"%{"))) {
                view.named_by_flag(Code::RunsCommand, name, at);
            }
        }
    }
    if view.has_any(&["--package", "--file", "--checksig"]) {
        for at in view.operands() {
            if let Some(word) = view.word(at) {
                view.reads(word, at);
            }
        }
    }
}

/// The first capital letter is the operation: `-Q` asks, `-Ss` and `-Si` search, the rest changes.
pub(crate) fn pacman(view: &mut View<'_>) {
    view.out.words = (1..view.inv.argv.len())
        .filter(|&at| !view.word(at).is_some_and(Word::may_be_option))
        .filter_map(|at| u16::try_from(at).ok())
        .collect();
    let option = view.inv.argv.iter().skip(1).find_map(|word| word.exact().filter(|word| word.starts_with(b"-")));
    let asks = match option {
        Some(b"-h" | b"--help" | b"-V" | b"--version") => true,
        Some(option) if option.starts_with(b"-Q") || option.starts_with(b"--query") || option.starts_with(b"-T") => {
            true
        }
        Some(option) if option.starts_with(b"-S") && !option.starts_with(b"--") => {
            option.iter().any(|byte| matches!(byte, b's' | b'i' | b'l' | b'g' | b'p'))
                && !option.iter().any(|byte| matches!(byte, b'y' | b'u' | b'c' | b'w'))
        }
        Some(option) if option.starts_with(b"-F") => !option.contains(&b'y'),
        _ => false,
    };
    let unknown = view.inv.argv.iter().skip(1).any(|word| word.exact().is_none() && word.may_be_option());
    if !asks || unknown {
        view.named(Code::Installs, NamedBy::Program, 0);
    }
}

pub(crate) fn other(view: &mut View<'_>) {
    let reads = [
        "list",
        "info",
        "search",
        "show",
        "find",
        "version",
        "help",
        "contents",
        "deps",
        "outdated",
        "status",
        "which",
        "query",
        "eval-only",
        "log",
        "remotes",
        "history",
        "--version",
        "--help",
        "-V",
    ];
    let first = (1..view.inv.argv.len()).find(|&at| {
        view.word(at)
            .and_then(Word::exact)
            .is_none_or(|word| !word.starts_with(b"-") || reads.iter().any(|known| known.as_bytes() == word))
    });
    view.out.words = (first.unwrap_or(1)..view.inv.argv.len()).filter_map(|at| u16::try_from(at).ok()).collect();
    let verb = first.and_then(|at| view.word(at)).and_then(Word::exact_str);
    let letters_only = view.inv.name.starts_with("nix-") || view.inv.name == "emerge";
    match verb {
        Some(verb) if reads.contains(&verb) && !letters_only => {}
        Some(verb) => view.named(Code::Installs, NamedBy::Words(vec![verb.to_owned()]), 0),
        None => view.named(Code::Installs, NamedBy::Program, 0),
    }
}
