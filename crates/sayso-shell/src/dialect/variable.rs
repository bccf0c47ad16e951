//! Variables that another shell keeps for itself: a value that is assigned to them does something.

use super::Dialect;

/// What comes of an assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Steers {
    /// Nothing more than in bash.
    Nothing,
    /// Which program a name means.
    Path,
    /// What the shell runs, or how it reads what follows.
    Shell,
    /// The shell refuses it, and stops.
    Stops,
}

/// What assigning to this variable does in shells other than bash.
pub(crate) fn steers(dialect: Dialect, name: &[u8]) -> Steers {
    if !dialect.may_be_zsh() {
        return Steers::Nothing;
    }
    match name {
        b"path" => Steers::Path,
        // Tied to their namesakes in capitals, or tables of what the shell knows: `functions[ls]=...` defines one.
        b"fpath" | b"FPATH" | b"cdpath" | b"module_path" | b"MODULE_PATH" | b"fignore" | b"argv" | b"functions"
        | b"dis_functions" | b"aliases" | b"dis_aliases" | b"galiases" | b"dis_galiases" | b"saliases"
        | b"dis_saliases" | b"commands" | b"builtins" | b"dis_builtins" | b"options" | b"parameters" | b"modules"
        | b"nameddirs" | b"userdirs" | b"dirstack" | b"reswords" | b"patchars" | b"mapfile" | b"signals" | b"terminfo"
        // Commands that are run where none is written, and functions that are called when something happens.
        | b"NULLCMD" | b"READNULLCMD" | b"TMPPREFIX" | b"ARGV0" | b"STTY" | b"ZDOTDIR" | b"ENV"
        | b"chpwd_functions" | b"precmd_functions" | b"preexec_functions" | b"periodic_functions"
        | b"zshexit_functions" | b"zshaddhistory_functions" | b"zsh_directory_name_functions"
        // Prompts are expanded, `PS4` before each command that is traced.
        | b"PROMPT4" | b"PS4" | b"prompt" | b"PROMPT" | b"PROMPT2" | b"PROMPT3" | b"RPROMPT" | b"TIMEFMT"
        // Who the shell runs as.
        | b"UID" | b"EUID" | b"GID" | b"EGID" | b"USERNAME"
        | b"histchars" | b"HISTCHARS" | b"TRY_BLOCK_ERROR" | b"TRY_BLOCK_INTERRUPT" => Steers::Shell,
        b"status" | b"pipestatus" | b"PPID" | b"ZSH_SUBSHELL" | b"ZSH_EVAL_CONTEXT" => Steers::Stops,
        _ => Steers::Nothing,
    }
}

/// Variables that hold numbers because the shell keeps them.
pub(crate) fn is_number(dialect: Dialect, name: &[u8]) -> bool {
    match dialect {
        Dialect::Bash => true,
        Dialect::Zsh => !matches!(name, b"SRANDOM" | b"EPOCHSECONDS" | b"BASHPID" | b"BASH_SUBSHELL"),
        // In dash `LINENO` may be empty.
        Dialect::Sh | Dialect::Other => matches!(name, b"PPID" | b"OPTIND"),
    }
}

/// Functions that zsh calls by itself.
pub(crate) fn is_hook(name: &[u8]) -> bool {
    name.starts_with(b"TRAP")
        || matches!(
            name,
            b"chpwd"
                | b"precmd"
                | b"preexec"
                | b"periodic"
                | b"zshexit"
                | b"zshaddhistory"
                | b"zsh_directory_name"
                | b"command_not_found_handler"
        )
}
