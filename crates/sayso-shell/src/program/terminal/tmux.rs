//! tmux: commands for its server, several in one line; many of them run text in a shell.

use crate::effect::{Carry, NamedBy, Opt, Verb};
use crate::option::{Does, Seen};
use crate::program::{Code, View};
use crate::word::Word;

/// What a command does with the words behind its options.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Looks, or moves between windows.
    Harmless,
    /// Runs the words in a shell; without words, a shell of its own.
    Shell,
    /// Types the words into whatever runs in a pane.
    Keys,
    /// Runs the words in a shell, if there are any.
    Text,
    /// The first word is run in a shell, the others are commands of tmux.
    If,
    /// Ends programs.
    Kills,
    /// Changes options, keys and hooks, which may run commands later.
    Settings,
    /// Runs commands of a file.
    Source,
    Reads,
    Writes,
}

/// Name, alias, letters of options that take a value, kind.
const COMMANDS: &[(&str, &str, &str, Kind)] = &[
    ("attach-session", "attach", "cft", Kind::Harmless),
    ("bind-key", "bind", "TN", Kind::Settings),
    ("break-pane", "breakp", "Fnst", Kind::Harmless),
    ("capture-pane", "capturep", "bESt", Kind::Harmless),
    ("choose-buffer", "", "FfKOt", Kind::Settings),
    ("choose-client", "", "FfKOt", Kind::Settings),
    ("choose-tree", "", "FfKOt", Kind::Settings),
    ("clear-history", "clearhist", "t", Kind::Harmless),
    ("clear-prompt-history", "clearphist", "T", Kind::Harmless),
    ("clock-mode", "", "t", Kind::Harmless),
    ("command-prompt", "", "IptT", Kind::Settings),
    ("confirm-before", "confirm", "pt", Kind::Settings),
    ("copy-mode", "", "st", Kind::Harmless),
    ("customize-mode", "", "Fft", Kind::Settings),
    ("delete-buffer", "deleteb", "b", Kind::Harmless),
    ("detach-client", "detach", "Est", Kind::Harmless),
    ("display-menu", "menu", "ctTxy", Kind::Settings),
    ("display-message", "display", "cdFt", Kind::Harmless),
    ("display-popup", "popup", "bcdehsStTwxy", Kind::Shell),
    ("display-panes", "displayp", "dt", Kind::Harmless),
    ("find-window", "findw", "t", Kind::Harmless),
    ("has-session", "has", "t", Kind::Harmless),
    ("if-shell", "if", "t", Kind::If),
    ("join-pane", "joinp", "lst", Kind::Harmless),
    ("kill-pane", "killp", "t", Kind::Kills),
    ("kill-server", "", "", Kind::Kills),
    ("kill-session", "", "t", Kind::Kills),
    ("kill-window", "killw", "t", Kind::Kills),
    ("last-pane", "lastp", "t", Kind::Harmless),
    ("last-window", "last", "t", Kind::Harmless),
    ("link-window", "linkw", "st", Kind::Harmless),
    ("list-buffers", "lsb", "Ff", Kind::Harmless),
    ("list-clients", "lsc", "Ft", Kind::Harmless),
    ("list-commands", "lscm", "F", Kind::Harmless),
    ("list-keys", "lsk", "PT", Kind::Harmless),
    ("list-panes", "lsp", "Fft", Kind::Harmless),
    ("list-sessions", "ls", "Ff", Kind::Harmless),
    ("list-windows", "lsw", "Fft", Kind::Harmless),
    ("load-buffer", "loadb", "bt", Kind::Reads),
    ("move-pane", "movep", "lst", Kind::Harmless),
    ("move-window", "movew", "st", Kind::Harmless),
    ("new-session", "new", "ceFfnstxy", Kind::Shell),
    ("new-window", "neww", "ceFnt", Kind::Shell),
    ("next-layout", "nextl", "t", Kind::Harmless),
    ("next-window", "next", "t", Kind::Harmless),
    ("paste-buffer", "pasteb", "sbt", Kind::Keys),
    ("pipe-pane", "pipep", "t", Kind::Text),
    ("previous-layout", "prevl", "t", Kind::Harmless),
    ("previous-window", "prev", "t", Kind::Harmless),
    ("refresh-client", "refresh", "ABCft", Kind::Harmless),
    ("rename-session", "rename", "t", Kind::Harmless),
    ("rename-window", "renamew", "t", Kind::Harmless),
    ("resize-pane", "resizep", "xyt", Kind::Harmless),
    ("resize-window", "resizew", "xyt", Kind::Harmless),
    ("respawn-pane", "respawnp", "cet", Kind::Shell),
    ("respawn-window", "respawnw", "cet", Kind::Shell),
    ("rotate-window", "rotatew", "t", Kind::Harmless),
    ("run-shell", "run", "dt", Kind::Text),
    ("save-buffer", "saveb", "b", Kind::Writes),
    ("select-layout", "selectl", "t", Kind::Harmless),
    ("select-pane", "selectp", "Tt", Kind::Harmless),
    ("select-window", "selectw", "t", Kind::Harmless),
    ("send-keys", "send", "Nt", Kind::Keys),
    ("send-prefix", "", "t", Kind::Keys),
    ("server-access", "", "t", Kind::Settings),
    ("set-buffer", "setb", "bnt", Kind::Harmless),
    ("set-environment", "setenv", "t", Kind::Settings),
    ("set-hook", "", "t", Kind::Settings),
    ("set-option", "set", "t", Kind::Settings),
    ("set-window-option", "setw", "t", Kind::Settings),
    ("show-buffer", "showb", "b", Kind::Harmless),
    ("show-environment", "showenv", "t", Kind::Harmless),
    ("show-hooks", "", "t", Kind::Harmless),
    ("show-messages", "showmsgs", "t", Kind::Harmless),
    ("show-options", "show", "t", Kind::Harmless),
    ("show-prompt-history", "showphist", "T", Kind::Harmless),
    ("show-window-options", "showw", "t", Kind::Harmless),
    ("source-file", "source", "t", Kind::Source),
    ("split-window", "splitw", "ceFlt", Kind::Shell),
    ("start-server", "start", "", Kind::Harmless),
    ("swap-pane", "swapp", "st", Kind::Harmless),
    ("swap-window", "swapw", "st", Kind::Harmless),
    ("switch-client", "switchc", "ctT", Kind::Harmless),
    ("unbind-key", "unbind", "T", Kind::Settings),
    ("unlink-window", "unlinkw", "t", Kind::Harmless),
    ("wait-for", "wait", "", Kind::Harmless),
];

pub(crate) fn tmux(view: &mut View<'_>) {
    let mut at = 1;
    while let Some(bytes) = view.word(at).and_then(Word::exact).filter(|word| word.starts_with(b"-") && word.len() > 1)
    {
        let last = bytes.last().copied().unwrap_or_default();
        let value = view.word(at + 1).cloned();
        match (last, value) {
            (b'c', Some(text)) => view.starts_shell(text, at + 1),
            (b'f', Some(file)) if file.exact() != Some(b"/dev/null") => {
                view.reads(&file, at + 1);
                view.named_by_flag(Code::RunsCode, "-f", at);
            }
            _ => {}
        }
        at += if b"cfLST".contains(&last) { 2 } else { 1 };
        if bytes.contains(&b'V') {
            return;
        }
    }
    if view.word(at).is_none() {
        crate::program::wrapper::interactive(view, "sh", 0);
        return;
    }
    let mut first = true;
    while at < view.inv.argv.len() {
        // A word that is or ends with `;` ends a command.
        let end = (at..view.inv.argv.len())
            .find(|&at| {
                view.word(at).and_then(Word::exact).is_some_and(|word| word.ends_with(b";") && !word.ends_with(b"\\;"))
            })
            .unwrap_or(view.inv.argv.len());
        let joined = end < view.inv.argv.len() && view.word(end).and_then(Word::exact) != Some(b";");
        let stop = if joined { end + 1 } else { end };
        let words = command(view, at, stop);
        if first {
            view.out.words = std::iter::once(at).chain(words).filter_map(|at| u16::try_from(at).ok()).collect();
            first = false;
        }
        at = end + 1;
    }
}

/// Adds what one command does; its operands.
fn command(view: &mut View<'_>, at: usize, stop: usize) -> Vec<usize> {
    let Some(name) = view.word(at).filter(|_| at < stop) else { return Vec::new() };
    let Some(name) = name.exact_str().map(|name| name.trim_end_matches(';')) else {
        view.named(Code::DynamicOption, NamedBy::Nothing, at);
        return Vec::new();
    };
    // An alias, or any beginning that only one command has.
    let found =
        COMMANDS.iter().find(|(full, alias, ..)| *full == name || *alias == name && !alias.is_empty()).or_else(|| {
            let mut meant = COMMANDS.iter().filter(|(full, ..)| full.starts_with(name));
            match (meant.next(), meant.next()) {
                (Some(only), None) => Some(only),
                _ => None,
            }
        });
    let Some(&(full, _, values, kind)) = found else {
        view.named(Code::UnknownSubcommand, NamedBy::Words(vec![name.to_owned()]), at);
        view.doubt(Code::UnknownSubcommand, format!("tmux has no command {name:?} that is known here"), at);
        return Vec::new();
    };
    view.out.subcommands = view.out.subcommands.max(1);
    let words = operands(view, at + 1, stop, values);
    effects(view, full, kind, &words, at);
    formats(view, at, stop);
    words
}

/// Words behind the options of a command.
fn operands(view: &mut View<'_>, mut at: usize, stop: usize, values: &str) -> Vec<usize> {
    while at < stop {
        let Some(word) = view.word(at) else { break };
        let Some(bytes) = word.exact() else {
            if word.may_be_option() {
                view.out.open_options = true;
            }
            break;
        };
        if bytes == b"--" {
            at += 1;
            break;
        }
        if !bytes.starts_with(b"-") || bytes.len() < 2 {
            break;
        }
        let value_at = bytes.iter().position(|byte| values.as_bytes().contains(byte));
        let name = String::from_utf8_lossy(bytes.get(..2).unwrap_or_default()).into_owned();
        let opt = Opt { name, value: None, span: view.span(at), known: true, implied: false };
        view.seen.push(Seen { opt, does: Does::Nothing, at });
        at += if value_at == Some(bytes.len() - 1) { 2 } else { 1 };
    }
    (at..stop).collect()
}

fn effects(view: &mut View<'_>, name: &str, kind: Kind, words: &[usize], at: usize) {
    let by = || NamedBy::Words(vec![name.to_owned()]);
    match kind {
        Kind::Harmless => {}
        Kind::Kills => view.named(Code::Signals, by(), at),
        Kind::Settings => view.named(Code::ChangesSettings, by(), at),
        Kind::Source => {
            for &at in words {
                if let Some(word) = view.word(at) {
                    view.reads(word, at);
                }
            }
            view.code("tmux", Code::RunsCode, by(), at);
        }
        Kind::Shell => match text(view, words) {
            Some(text) => view.starts_shell(text, at),
            None => view.code("sh", Code::RunsCode, by(), at),
        },
        Kind::Text => {
            if let Some(text) = text(view, words) {
                view.named(Code::RunsCommand, by(), at);
                view.starts_shell(text, at);
            }
        }
        Kind::If => {
            view.named(Code::RunsCommand, by(), at);
            if let Some(first) = words.first().and_then(|&at| view.word(at)) {
                view.starts_shell(first.clone(), at);
            }
        }
        // What is typed runs if a shell reads it: the text counts, and the typing needs a yes of its own.
        Kind::Keys => {
            view.code("sh", Code::RunsCode, by(), at);
            let typed: Vec<usize> = words.iter().copied().filter(|&at| !is_key(view.word(at))).collect();
            if let Some(text @ Word::Exact(_)) = text(view, &typed) {
                view.starts_shell(text, at);
            }
        }
        Kind::Reads => {
            for &at in words {
                if let Some(word) = view.word(at) {
                    view.reads(word, at);
                }
            }
        }
        Kind::Writes => {
            for &at in words {
                if let Some(word) = view.word(at).filter(|word| word.exact() != Some(b"-")) {
                    view.path_effect(Verb::Write, word, at, false, Carry::Named { code: Code::WritesFile, by: by() });
                }
            }
        }
    }
}

fn is_key(word: Option<&Word>) -> bool {
    let Some(text) = word.and_then(Word::exact_str) else { return false };
    matches!(
        text,
        "Enter"
            | "Escape"
            | "Tab"
            | "Space"
            | "BSpace"
            | "Up"
            | "Down"
            | "Left"
            | "Right"
            | "Home"
            | "End"
            | "PageUp"
            | "PageDown"
            | "NPage"
            | "PPage"
            | "KPEnter"
    ) || text.len() == 3 && (text.starts_with("C-") || text.starts_with("M-"))
}

fn text(view: &View<'_>, words: &[usize]) -> Option<Word> {
    if words.is_empty() {
        return None;
    }
    let mut text = Vec::new();
    for &at in words {
        let Some(bytes) = view.word(at).and_then(Word::exact) else { return Some(Word::Opaque) };
        if !text.is_empty() {
            text.push(b' ');
        }
        text.extend_from_slice(bytes);
    }
    Some(Word::Exact(text.into()))
}

/// `#(command)` in any format runs it.
fn formats(view: &mut View<'_>, at: usize, stop: usize) {
    for at in at..stop {
        let runs =
            view.word(at).is_some_and(|word| word.exact().is_some_and(|word| word.windows(2).any(|two| two == b"#(")));
        if runs {
            view.named(Code::RunsCommand, NamedBy::Nothing, at);
            view.starts_shell(Word::Opaque, at);
        }
    }
}
