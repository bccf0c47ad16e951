//! Programs that tell about the machine, its users and its processes, and those that signal them.

use crate::effect::{NamedBy, Verb};
use crate::program::{Code, View};
use crate::word::{Origin, Part, Word};

/// `ps e` and `ps auxe` show the environment of every process; `ps -e` does not.
pub(crate) fn ps(view: &mut View<'_>) {
    // `ps -E` of macOS, which takes letters together.
    let shows = |word: &[u8]| matches!(word, [b'-', letters @ ..] if letters.iter().all(u8::is_ascii_alphabetic) && letters.contains(&b'E'));
    for at in 1..view.inv.argv.len() {
        if view.word(at).and_then(Word::exact).is_some_and(shows) {
            view.imply("--environment", Some(Code::ShowsSecrets), at);
        }
    }
    for at in view.operands() {
        let letters = view.word(at).and_then(Word::exact);
        if letters.is_some_and(|w| w.iter().all(u8::is_ascii_alphabetic) && w.contains(&b'e')) {
            view.imply("--environment", Some(Code::ShowsSecrets), at);
        }
    }
}

/// `hostname NAME` sets the name.
pub(crate) fn hostname(view: &mut View<'_>) {
    if let Some(at) = view.operand_at(0) {
        view.imply("--set", Some(Code::ChangesSystem), at);
    }
}

/// `crontab FILE` and `crontab -` install a table that runs later.
pub(crate) fn crontab(view: &mut View<'_>) {
    if let Some(at) = view.operand_at(0).filter(|&at| view.word(at).and_then(Word::exact) != Some(b"")) {
        view.imply("--install", Some(Code::ChangesSettings), at);
    }
}

/// Entries of the system's databases: hosts are looked up in the network, and passwords are secrets.
pub(crate) fn getent(view: &mut View<'_>) {
    match view.operand_str(0) {
        Some(kind @ ("hosts" | "ahosts" | "ahostsv4" | "ahostsv6")) => {
            let by = NamedBy::Words(vec![kind.to_owned()]);
            for at in view.operands().into_iter().skip(1) {
                // A name of one label leaves for nobody's zone; a longer one can carry what was read to its owner.
                if view.word(at).and_then(Word::exact).is_none_or(|name| name.contains(&b'.')) {
                    view.named(Code::OtherHost, by.clone(), at);
                }
            }
        }
        Some("shadow") => view.touches(Verb::Read, "/etc/shadow", false),
        Some("gshadow") => view.touches(Verb::Read, "/etc/gshadow", false),
        Some(_) | None => {}
    }
}

/// Processes are signalled, unless it lists signals. `%1` and `$!` are jobs that this shell began, and signal 0 is none.
pub(crate) fn kill(view: &mut View<'_>) {
    if view.has_any(&["-l", "--list", "--table"]) {
        view.imply("--own", None, 0);
        return;
    }
    let operands = view.operands();
    let text = |at: &usize| view.word(*at).and_then(Word::exact);
    let is_job = |at: &usize| match view.word(*at) {
        Some(Word::Dynamic(shape)) => {
            shape.origin == Origin::Job && matches!(shape.parts.as_slice(), [Part::Hole]) && !shape.splits()
        }
        _ => text(at).is_some_and(|word| word.starts_with(b"%")),
    };
    let own = !operands.is_empty() && operands.iter().all(is_job);
    let zero = |name: &str| view.value(name).is_some_and(|signal| matches!(signal.exact(), Some(b"0" | b"EXIT")));
    let signals = view.seen.iter().filter(|seen| !matches!(seen.opt.name.as_str(), "-0" | "--signal" | "-n")).count();
    let asks = (view.has("-0") || zero("--signal") || zero("-n")) && signals == 0 && !view.out.open_options;
    if own && !view.out.open_options || asks {
        view.imply("--own", None, 0);
    } else {
        view.named_by_words(Code::Signals);
    }
}
