//! Shells, and boxes of many programs.
//!
//! A shell runs text (`-c`), a script, or what standard input says. Its options do not follow getopt: `-c` takes no value
//! (`bash -c -x 'text'`), `-o` takes the next word even in the middle of a cluster, long names take one dash or two.

use super::{Launch, interactive, launch};
use crate::Dialect;
use crate::certain::setting::{self, Switch};
use crate::effect::{NamedBy, Opt, Stdin};
use crate::option::{Does, Seen};
use crate::program::{Code, Prints, Start, View};
use crate::word::Word;

/// Flags of `set` and of the shell itself, a letter each.
const LETTERS: &[u8] = b"abcdefghiklmnprstuvwxyBCDEFGHIJKLNPRSTUVWXY0123456789";

#[derive(Default)]
struct Options {
    text: bool,
    stdin: bool,
    check_only: bool,
    interactive: bool,
    /// `cd` is refused or means something else, or commands are read by other rules (`bash -r`, `bash -P`).
    other_rules: bool,
    start_up: Vec<usize>,
    /// Index of the first word that is no option.
    next: usize,
}

pub(crate) fn shell(view: &mut View<'_>) {
    let Some(options) = shell_options(view) else {
        // A word of unknown value where options stand: it may be `-c`.
        view.out.open_options = true;
        view.out.starts.push(text_start(view, Word::Opaque, 0, Vec::new()));
        return;
    };
    let rest = view.inv.argv.get(options.next..).unwrap_or_default();
    view.out.words = (options.next..view.inv.argv.len()).filter_map(|at| u16::try_from(at).ok()).collect();
    if view.has_any(&["--help", "--version"]) {
        return;
    }
    for &at in &options.start_up {
        let file = view.word(at).cloned().unwrap_or(Word::Opaque);
        view.reads(&file, at);
        script(view, file, at, Vec::new());
    }
    if options.interactive && !options.text && matches!(dialect(view), Dialect::Bash | Dialect::Other) {
        keeps_history(view);
    }
    let executes = !options.check_only || options.interactive;
    // Only reading a script to check its syntax starts nothing.
    view.out.transparent = !executes && options.start_up.is_empty();
    match rest {
        [text, parameters @ ..] if options.text => {
            if executes {
                let parameters = parameters.to_vec();
                view.out.transparent = text.exact().is_some() && !options.other_rules;
                let text = if options.other_rules { Word::Opaque } else { text.clone() };
                let start = text_start(view, text, options.next, parameters);
                view.out.starts.push(start);
            }
        }
        [] if options.text => {}
        [file, parameters @ ..] if !options.stdin => {
            view.reads(file, options.next);
            if executes {
                let mut all = vec![file.clone()];
                all.extend_from_slice(parameters);
                let file = if options.other_rules { Word::Opaque } else { file.clone() };
                script(view, file, options.next, all);
            }
        }
        parameters => {
            if executes {
                from_stdin(view, parameters.to_vec(), options.other_rules);
            }
        }
    }
}

/// A shell that is told to be interactive reads what was typed before, and adds what it runs.
fn keeps_history(view: &mut View<'_>) {
    let Some(home) = view.inv.home else { return };
    let file = Word::Exact(home.join(".bash_history").into_os_string().into_encoded_bytes().into());
    view.reads(&file, 0);
    view.writes(&file, 0);
}

fn dialect(view: &View<'_>) -> Dialect {
    Dialect::named(view.inv.name).unwrap_or(Dialect::Other)
}

fn text_start(view: &View<'_>, text: Word, at: usize, parameters: Vec<Word>) -> Start {
    Start::Shell { text, span: view.span(at), dialect: dialect(view), elsewhere: false, parameters }
}

fn script(view: &mut View<'_>, file: Word, at: usize, parameters: Vec<Word>) {
    let (span, dialect) = (view.span(at), dialect(view));
    view.out.starts.push(Start::Script { file, span, dialect, parameters });
}

/// Without text and file, what standard input holds is run.
fn from_stdin(view: &mut View<'_>, parameters: Vec<Word>, other_rules: bool) {
    let text = match (&view.inv.stdin_prints, view.inv.stdin_text) {
        _ if other_rules => None,
        (_, Some(text)) => Some(Word::Exact(text.into())),
        (Prints::Exact(text), None) => Some(Word::Exact(text.clone())),
        _ => None,
    };
    let mut all: Vec<Word> = view.inv.argv.first().cloned().into_iter().collect();
    all.extend(parameters);
    match (text, view.inv.stdin) {
        (Some(text), _) => {
            view.out.transparent = true;
            let start = text_start(view, text, 0, all);
            view.out.starts.push(start);
        }
        (None, Stdin::Inherited) => interactive(view, "sh", 0),
        // `curl .. | sh`: a pattern that wants this must say `-s`.
        (None, _) => {
            view.imply("-s", None, 0);
            view.code("sh", Code::RunsCode, NamedBy::Flag("-s".to_owned()), 0);
        }
    }
}

/// `None`: a word of unknown value stands among the options.
fn shell_options(view: &mut View<'_>) -> Option<Options> {
    let mut options = Options { next: 1, other_rules: view.inv.name == "rbash", ..Options::default() };
    let zsh = dialect(view).may_be_zsh();
    while let Some(word) = view.word(options.next) {
        let at = options.next;
        let Some(bytes) = word.exact() else {
            let certain = !word.may_be_option() && !crate::program::may_split(word);
            if certain {
                break;
            }
            return None;
        };
        if matches!(bytes, b"-" | b"--") {
            options.next += 1;
            break;
        }
        if bytes.len() < 2 || !matches!(bytes.first(), Some(b'-' | b'+')) {
            break;
        }
        options.next += 1;
        let name = bytes.strip_prefix(b"--").or_else(|| bytes.strip_prefix(b"-")).unwrap_or_default();
        if matches!(name, b"rcfile" | b"init-file") {
            options.start_up.push(options.next);
            options.next += 1;
            seen(view, "--rcfile", at, view.word(at + 1).cloned(), true);
        } else if matches!(name, b"no-exec" | b"noexec") {
            options.check_only = true;
            seen(view, "-n", at, None, true);
        } else if is_long(name) || bytes.starts_with(b"--") {
            let harmless = matches!(name, b"login" | b"no-rcs" | b"no-globalrcs" | b"help" | b"version");
            options.other_rules |= matches!(name, b"restricted" | b"posix") || zsh && !harmless;
            let known = is_long(name) || matches!(name, b"help" | b"version");
            let name = format!("--{}", String::from_utf8_lossy(name));
            seen(view, &name, at, None, known);
        } else {
            letters(view, bytes, at, &mut options);
        }
    }
    Some(options)
}

fn is_long(name: &[u8]) -> bool {
    const LONG: &[&[u8]] = &[
        b"login",
        b"norc",
        b"noprofile",
        b"posix",
        b"noediting",
        b"debugger",
        b"dump-strings",
        b"dump-po-strings",
        b"pretty-print",
        b"restricted",
        b"verbose",
        b"protected",
        b"wordexp",
        b"no-rcs",
        b"no-globalrcs",
    ];
    LONG.contains(&name)
}

fn letters(view: &mut View<'_>, bytes: &[u8], at: usize, options: &mut Options) {
    let on = bytes.first() == Some(&b'-');
    let zsh = dialect(view).may_be_zsh();
    for &letter in bytes.iter().skip(1) {
        match letter {
            b'c' => options.text |= on,
            b's' => options.stdin |= on,
            b'n' => options.check_only = on,
            b'i' => options.interactive |= on,
            b'r' | b'P' | b'k' => options.other_rules |= on,
            // To zsh most letters are other options.
            _ if zsh && !b"lfxeuvdoO".contains(&letter) => options.other_rules = true,
            // It takes less from its environment, and keeps its user.
            b'p' => {}
            _ => {
                options.other_rules |= setting::name_of(letter).is_some_and(|name| !is_tame(setting::option(name, on)));
            }
        }
        let takes_next = matches!(letter, b'o' | b'O');
        let value = if takes_next { view.word(options.next).cloned() } else { None };
        if let Some(value) = &value {
            options.next += 1;
            match value.exact() {
                Some(b"noexec") => options.check_only = on,
                Some(b"errexit" | b"nounset" | b"pipefail" | b"xtrace" | b"verbose" | b"privileged") => {}
                Some(name) => {
                    let switch = if letter == b'o' { setting::option(name, on) } else { setting::shopt(name, on) };
                    options.other_rules |= zsh || !is_tame(switch);
                }
                None => view.out.open_options = true,
            }
        }
        let known = takes_next || LETTERS.contains(&letter);
        let sign = if on { '-' } else { '+' };
        let name = if letter == b'l' && on { "--login".to_owned() } else { format!("{sign}{}", char::from(letter)) };
        seen(view, &name, at, value, known);
    }
}

/// Whether a shell that starts with this option does nothing that one without it would not do, but for ending early and
/// tracing, which the walker looks for itself.
fn is_tame(switch: Switch) -> bool {
    match switch {
        Switch::Inert | Switch::Globs | Switch::EndsOnFailure | Switch::EndsOnUnset | Switch::Traces => true,
        Switch::Ends
        | Switch::Patterns
        | Switch::ExtendedPatterns
        | Switch::ExportsAll
        | Switch::PhysicalFolders
        | Switch::Aliases
        | Switch::Unmodelled => false,
    }
}

fn seen(view: &mut View<'_>, name: &str, at: usize, value: Option<Word>, known: bool) {
    let span = view.span(at);
    let opt = Opt { name: name.to_owned(), value, span, known, implied: false };
    view.seen.push(Seen { opt, does: Does::Nothing, at });
    if !known {
        view.named_by_flag(Code::UnknownOption, name, at);
        view.doubt(Code::UnknownOption, format!("{} has no option {name} that is known here", view.inv.name), at);
    }
}

fn language(name: &str) -> &'static str {
    match name {
        "fish" => "fish",
        "csh" | "tcsh" => "csh",
        "pwsh" | "powershell" => "powershell",
        "nu" => "nu",
        "xonsh" => "python",
        _ => "unknown",
    }
}

pub(crate) fn other_shell(view: &mut View<'_>) {
    let language = language(view.inv.name);
    let inline = |word: &Word| {
        word.exact().is_some_and(|word| matches!(word, b"-c" | b"--command" | b"-Command" | b"-command" | b"-lc"))
    };
    if view
        .inv
        .argv
        .iter()
        .any(|word| word.exact().is_some_and(|word| matches!(word, b"--version" | b"--help" | b"-v")))
    {
        return;
    }
    if let Some(at) = view.inv.argv.iter().position(inline) {
        view.imply("--command", None, at);
        view.code(language, Code::InlineCode, NamedBy::Flag("--command".to_owned()), at);
        return;
    }
    let file = (1..view.inv.argv.len()).find(|&at| view.word(at).is_some_and(|word| !word.may_be_option()));
    if let Some((at, word)) = file.and_then(|at| Some((at, view.word(at)?))) {
        view.reads(word, at);
    }
    view.code(language, Code::RunsCode, NamedBy::Program, 0);
}

/// `busybox ls`: the applet stands first. What `busybox` does of its own accord begins with a dash.
pub(crate) fn multi_call(view: &mut View<'_>) {
    match view.word(1) {
        None => {}
        Some(word) => match word.exact() {
            // GNU's, all in one file: `coreutils --coreutils-prog=rm x`.
            Some(option) if option.starts_with(b"--coreutils-prog") => match option.split(|b| *b == b'=').nth(1) {
                Some(applet) if applet.is_ascii() && !applet.is_empty() => {
                    let applet = String::from_utf8_lossy(applet).into_owned();
                    view.starts_as(&applet, 1, 2);
                }
                _ => view.named_by_flag(Code::RunsCommand, "--coreutils-prog", 1),
            },
            Some(b"--list" | b"--list-full" | b"--help" | b"--version" | b"--long") => {}
            Some(option) if option.starts_with(b"-") => {
                let name = String::from_utf8_lossy(option).into_owned();
                view.named_by_flag(Code::ChangesSystem, &name, 1);
            }
            _ => {
                view.out.words = (1..view.inv.argv.len()).filter_map(|at| u16::try_from(at).ok()).collect();
                view.out.transparent = launch(view, 1, Launch::default());
            }
        },
    }
}

/// The shell that a script's first line names, and whether with options.
pub(crate) fn shell_of(text: &[u8]) -> Option<(Dialect, bool)> {
    let line = text.strip_prefix(b"#!")?.split(|b| *b == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?;
    let mut words = line.split_ascii_whitespace();
    let first = words.next()?;
    let base = first.rsplit('/').next()?;
    let shell = match base {
        "env" => words.find(|word| !word.starts_with('-'))?,
        "busybox" => words.next()?,
        _ => base,
    };
    // Another option may change how the script is read.
    let mut strict = false;
    let plain = words.all(|word| {
        strict = true;
        word.strip_prefix('-').is_some_and(|letters| letters.bytes().all(|b| b"euxvl".contains(&b)))
    });
    Dialect::named(shell).filter(|_| plain).map(|dialect| (dialect, strict))
}
