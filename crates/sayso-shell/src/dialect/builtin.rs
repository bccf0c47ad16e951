//! Commands that are builtins in one shell and programs, or nothing, in another.

use super::Dialect;
use crate::word::Word;

/// How a builtin of bash fares in another shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fares {
    /// As in bash.
    Same,
    /// The shell may stop here: what follows may not run.
    MayStop,
    /// Otherwise; why.
    Otherwise(&'static str),
}

const NOT_IN_SH: Fares = Fares::Otherwise("Not every `sh` has this builtin; without it the command does nothing.");
const NOT_IN_ZSH: Fares = Fares::Otherwise("zsh does not have this builtin; there the command does nothing.");
const OPTION: Fares = Fares::Otherwise("Shells differ in what this option of the builtin means.");

/// Builtins that POSIX calls special: assignments before them stay, and no function takes their place.
pub(crate) fn is_special(name: &[u8]) -> bool {
    matches!(
        name,
        b"." | b":"
            | b"break"
            | b"continue"
            | b"eval"
            | b"exec"
            | b"exit"
            | b"export"
            | b"readonly"
            | b"return"
            | b"set"
            | b"shift"
            | b"times"
            | b"trap"
            | b"unset"
    )
}

/// How a command fares that is a builtin of bash.
pub(crate) fn fares(dialect: Dialect, name: &str, argv: &[Word]) -> Fares {
    if dialect == Dialect::Bash {
        return Fares::Same;
    }
    // Outside a function it ends other shells.
    if name == "return" {
        return Fares::MayStop;
    }
    let plain = if dialect.may_be_plain() { in_sh(name, argv) } else { Fares::Same };
    let zsh = if dialect.may_be_zsh() { in_zsh(name, argv) } else { Fares::Same };
    match (plain, zsh) {
        (Fares::Otherwise(text), _) | (_, Fares::Otherwise(text)) => Fares::Otherwise(text),
        (Fares::MayStop, _) | (_, Fares::MayStop) => Fares::MayStop,
        _ => Fares::Same,
    }
}

fn in_sh(name: &str, argv: &[Word]) -> Fares {
    match name {
        "declare" | "typeset" | "let" | "shopt" | "enable" | "builtin" | "mapfile" | "readarray" | "pushd" | "popd"
        | "dirs" | "source" | "caller" | "compgen" | "complete" | "compopt" | "disown" | "suspend" | "bind"
        | "logout" | "help" => NOT_IN_SH,
        "alias" if defines(argv) => ALIAS,
        // `-n` is known to most, but not to all; the others are text to some.
        "echo" if argv.get(1).is_some_and(may_be_option) => Fares::MayStop,
        "read" => letters(argv, b"r", OPTION),
        "." if argv.len() > 2 => OPTION,
        "printf" if prints_oddly(argv) => Fares::MayStop,
        "printf" | "type" | "eval" | "hash" | "." => letters(argv, b"", OPTION),
        "exec" => letters(argv, b"", OPTION),
        "export" | "readonly" => letters(argv, b"p", OPTION),
        "local" => letters(argv, b"", OPTION),
        "cd" if argv.iter().all(|word| word.exact().is_some_and(|text| text != b"-")) => letters(argv, b"LP", OPTION),
        "unset" => letters(argv, b"fv", OPTION),
        "command" => letters(argv, b"pvV", OPTION),
        // An option that is not known ends the shell.
        "set" | "trap" | "ulimit" | "umask" | "wait" | "kill" | "getopts" | "shift" => Fares::MayStop,
        _ => Fares::Same,
    }
}

const ALIAS: Fares = Fares::Otherwise("Shells other than bash expand aliases without being told.");

fn in_zsh(name: &str, argv: &[Word]) -> Fares {
    match name {
        "shopt" | "mapfile" | "readarray" | "compopt" | "complete" | "caller" => NOT_IN_ZSH,
        "enable" | "bind" => OPTION,
        "alias" if defines(argv) => ALIAS,
        // `hash NAME=PATH` makes a name mean another program.
        "hash" if argv.len() > 1 && argv.iter().skip(1).any(|word| word.exact() != Some(b"-r")) => OPTION,
        "declare" | "typeset" | "local" | "export" | "readonly" => letters(argv, b"gxriaApf", OPTION),
        // `read x?prompt` sets `x`.
        "read" if argv.iter().skip(1).any(|word| word.exact().is_none_or(|word| word.contains(&b'?'))) => OPTION,
        "read" => letters(argv, b"rsd", OPTION),
        // `exec - x` runs `x`.
        "exec" if argv.iter().any(|word| word.exact() == Some(b"-")) => OPTION,
        "unset" => letters(argv, b"fv", OPTION),
        "eval" => letters(argv, b"", OPTION),
        "printf" if prints_oddly(argv) => Fares::MayStop,
        // A lone dash ends the options, and is not printed.
        "echo" if argv.iter().any(|word| word.exact() == Some(b"-")) => Fares::MayStop,
        "set" => set_in_zsh(argv),
        "cd" | "pushd" | "popd" if argv.iter().skip(1).any(is_place_of_stack) => OPTION,
        // Of an array.
        "shift" if argv.len() > 1 && argv.iter().skip(1).any(|word| !is_digits(word)) => OPTION,
        // To zsh `==` is the path of a command `=`, which is not there.
        "test" | "[" if argv.iter().any(|word| matches!(word.exact(), Some(b"==" | b"=~"))) => Fares::MayStop,
        // What begins with a dash is a command to it, but for a dash alone.
        "trap" if argv.get(1).is_some_and(|word| word.exact() != Some(b"-") && may_be_option(word)) => OPTION,
        // `command -x` is a program `-x`.
        "command" if letters(argv, b"pvV", OPTION) != Fares::Same => OPTION,
        // `command cd x` looks for a program of that name.
        "command" => match argv.iter().skip(1).find(|word| !may_be_option(word)).and_then(Word::exact_str) {
            Some(inner) if crate::resolve::is_builtin(inner) && !is_program_too(inner) && !looks(argv) => {
                Fares::Otherwise("In zsh `command` runs programs only, no builtins.")
            }
            _ => Fares::Same,
        },
        _ => Fares::Same,
    }
}

/// What a name does that means something to the shell itself, though nothing to bash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Own<'a> {
    /// Nothing that is followed; why.
    Unknown(&'static str),
    /// It connects to this host.
    Connects(&'a Word),
    /// It only brings builtins that are all known here.
    Loads,
}

pub(crate) fn own<'a>(dialect: Dialect, name: &str, argv: &'a [Word]) -> Option<Own<'a>> {
    if dialect != Dialect::Bash && name == "chdir" {
        return Some(Own::Unknown("To shells other than bash `chdir` is `cd`."));
    }
    if !dialect.may_be_zsh() {
        return None;
    }
    match (name, argv) {
        ("zmodload", [_, module]) if module.exact().is_some_and(brings_known_builtins) => return Some(Own::Loads),
        ("ztcp", [_, host]) | ("ztcp", [_, host, _]) if host.exact().is_some_and(|host| !host.starts_with(b"-")) => {
            return Some(Own::Connects(host));
        }
        _ => {}
    }
    let own = matches!(
        name,
        "-" | "repeat"
            | "foreach"
            | "end"
            | "nocorrect"
            | "noglob"
            | "always"
            | "setopt"
            | "unsetopt"
            | "emulate"
            | "zmodload"
            | "autoload"
            | "functions"
            | "unfunction"
            | "disable"
            | "unhash"
            | "rehash"
            | "zcompile"
            | "vared"
            | "sched"
            | "zle"
            | "bindkey"
            | "compdef"
            | "compadd"
            | "compctl"
            | "zstyle"
            | "zformat"
            | "zparseopts"
            | "zregexparse"
            | "zpty"
            | "ztcp"
            | "zsocket"
            | "zftp"
            | "zselect"
            | "zsystem"
            | "sysopen"
            | "sysread"
            | "syswrite"
            | "sysseek"
            | "syserror"
            | "zf_rm"
            | "zf_mv"
            | "zf_ln"
            | "zf_mkdir"
            | "zf_rmdir"
            | "zf_chmod"
            | "zf_chown"
            | "zf_chgrp"
            | "zf_sync"
            | "pcre_compile"
            | "pcre_match"
            | "integer"
            | "float"
            | "private"
            | "nameref"
            | "getln"
            | "pushln"
            | "r"
            | "print"
            | "bye"
            | "whence"
            | "where"
            | "limit"
            | "unlimit"
            | "log"
            | "ttyctl"
            | "echotc"
            | "echoti"
            | "add-zsh-hook"
            | "strftime"
            | "zstat"
            | "zcurses"
            | "zprof"
            | "zgetattr"
            | "zsetattr"
            | "zdelattr"
            | "zlistattr"
            | "cap"
            | "clone"
            | "comparguments"
            | "compvalues"
    );
    own.then_some(Own::Unknown("To zsh this name means something of its own."))
}

/// Modules of zsh whose builtins take no other program's name.
fn brings_known_builtins(module: &[u8]) -> bool {
    matches!(module, b"zsh/net/tcp" | b"zsh/net/socket" | b"zsh/system" | b"zsh/datetime" | b"zsh/zselect")
}

/// Only these letters are options that all shells read alike.
fn letters(argv: &[Word], known: &[u8], otherwise: Fares) -> Fares {
    for word in argv.iter().skip(1) {
        match word.exact() {
            Some(b"--") if known.is_empty() => return otherwise,
            Some(b"--") => return Fares::Same,
            // zsh drops it.
            Some(b"-") => return otherwise,
            Some([b'-', rest @ ..]) if rest.iter().all(|letter| known.contains(letter)) => {}
            Some([b'-' | b'+', ..]) => return otherwise,
            Some(_) => return Fares::Same,
            None if word.may_be_option() => return otherwise,
            None => return Fares::Same,
        }
    }
    Fares::Same
}

/// A format of which shells make different things.
fn prints_oddly(argv: &[Word]) -> bool {
    let Some(format) = argv.get(1).and_then(Word::exact) else { return false };
    let pairs = format.windows(2).filter(|pair| matches!(pair.first(), Some(b'%' | b'\\')));
    format.starts_with(b"-") || !pairs.into_iter().all(|pair| matches!(pair, b"%s" | b"%%" | b"\\n" | b"\\t" | b"\\\\"))
}

/// The letters of `set` are others in zsh: `-f` does not switch off patterns.
fn set_in_zsh(argv: &[Word]) -> Fares {
    let mut words = argv.iter().skip(1);
    while let Some(word) = words.next() {
        let Some(text) = word.exact() else {
            return if word.may_be_option() { OPTION } else { Fares::Same };
        };
        match text {
            b"--" | b"-" => return Fares::Same,
            [b'-' | b'+', letters @ ..] => {
                if !letters.iter().all(|letter| b"euxvCao".contains(letter)) {
                    return OPTION;
                }
                for _ in letters.iter().filter(|letter| **letter == b'o') {
                    let name = words.next().and_then(Word::exact);
                    let known = [
                        &b"errexit"[..],
                        b"nounset",
                        b"xtrace",
                        b"verbose",
                        b"pipefail",
                        b"noclobber",
                        b"noglob",
                        b"allexport",
                    ];
                    if !name.is_some_and(|name| known.contains(&name)) {
                        return OPTION;
                    }
                }
            }
            _ => return Fares::Same,
        }
    }
    Fares::Same
}

fn may_be_option(word: &Word) -> bool {
    word.exact().map_or_else(|| word.may_be_option(), |text| text.starts_with(b"-"))
}

/// `cd -2`, `cd +1`: a place of the stack of folders.
fn is_place_of_stack(word: &Word) -> bool {
    match word.exact() {
        Some([b'-' | b'+', digit, ..]) => digit.is_ascii_digit(),
        // Where a word of unknown value leads is not known anyway.
        _ => false,
    }
}

fn is_digits(word: &Word) -> bool {
    word.exact().is_some_and(|text| text.iter().all(u8::is_ascii_digit))
}

/// `command -v x` only looks.
fn looks(argv: &[Word]) -> bool {
    argv.iter().skip(1).any(|word| matches!(word.exact(), Some(b"-v" | b"-V")))
}

/// Builtins of which there is a program that does the same.
fn is_program_too(name: &str) -> bool {
    matches!(name, "echo" | "printf" | "test" | "[" | "true" | "false" | "pwd" | "kill" | "time")
}

fn defines(argv: &[Word]) -> bool {
    argv.iter().skip(1).any(|word| word.exact().is_none_or(|text| text.contains(&b'=')))
}
