//! Kinds of builtins, for the walker: which of them leave the shell as it was, and which reach what is hidden.

use crate::Dialect;
use crate::resolve::is_builtin;
use crate::word::Word;

/// It declares variables: its words are assignments.
pub(crate) fn declares(name: &[u8]) -> bool {
    matches!(name, b"declare" | b"typeset" | b"local" | b"export" | b"readonly")
}

/// It may reach a variable that is set for it alone, or start what does.
pub(crate) fn reaches_hidden(name: &[u8]) -> bool {
    declares(name) || matches!(name, b"unset" | b"command" | b"builtin")
}

/// It asks whether something is so.
pub(crate) fn is_test(name: &[u8]) -> bool {
    matches!(name, b"[" | b"test")
}

/// Whether a command in the shell certainly leaves the variables that were set for it alone as they were before, if no
/// function has its name.
pub(crate) fn leaves_prefixes(name: &[u8], argv: &[Word]) -> bool {
    match name {
        b"printf" => super::number::sets_nothing(argv),
        b"set" | b"shift" | b"exec" | b"trap" | b"wait" | b"kill" | b"exit" | b"let" => true,
        _ => is_only_read(name) || leaves_no_trace(name) || !std::str::from_utf8(name).is_ok_and(is_builtin),
    }
}

/// It changes nothing in the shell.
pub(crate) fn leaves_no_trace(name: &[u8]) -> bool {
    matches!(name, b"echo" | b"true" | b"false" | b":" | b"pwd" | b"test" | b"[" | b"type")
}

/// Variables before it are read by it, and by nothing else.
pub(crate) fn is_only_read(name: &[u8]) -> bool {
    matches!(
        name,
        b"read" | b"mapfile" | b"readarray" | b"cd" | b"echo" | b"printf" | b"test" | b"[" | b"pushd" | b"popd"
    )
}

/// What a word before a command does with the redirects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Redirects {
    /// Without a program behind it they stay (`exec`).
    Stay,
    /// What follows decides (`command`, `builtin`).
    HandedOn,
    /// They are for this command.
    Own,
}

/// What a word before a command does with the redirects.
pub(crate) fn redirects_of(name: &[u8]) -> Redirects {
    match name {
        b"exec" => Redirects::Stay,
        b"command" | b"builtin" => Redirects::HandedOn,
        _ => Redirects::Own,
    }
}

/// The name that is asked for by a command that prints the path of a program: `command -v a`, `which a`, `type -P a`.
pub(crate) fn asked_for<'w>(words: &[&'w [u8]], dialect: Dialect) -> Option<&'w [u8]> {
    match words {
        [b"command", b"-v", name] => Some(*name),
        // Of zsh `which` is a builtin, which tells of aliases and of what it did not find.
        [b"which", name] if !dialect.may_be_zsh() => Some(*name),
        [b"type", b"-P" | b"-p", name] if dialect == Dialect::Bash => Some(*name),
        _ => None,
    }
}
