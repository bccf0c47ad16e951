//! The variables that bash itself goes by: what setting one changes for the walker.
//!
//! A name that stands here means more than a value to the shell. All others are ordinary, and what programs make of them
//! is told by the tables of programs.

/// What becomes of the shell when a variable is set, unset or declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// A value, no more.
    Ordinary,
    /// Which program a name means.
    Search,
    /// What patterns match.
    Patterns,
    /// What patterns match and letters become, unless its value is a usual one: see [`is_usual_locale`].
    Locale,
    /// Text that is expanded, and may run commands, whenever a prompt or a trace is shown.
    Prompt,
    /// A command that runs before each prompt.
    BeforePrompt,
    /// The list of aliases.
    Aliases,
    /// The shell reads, finds or prints otherwise from here on.
    Unmodelled,
}

pub(crate) fn meaning(name: &[u8]) -> Meaning {
    // Almost all names are ordinary, and most of those are not in capitals.
    if !name.first().is_some_and(u8::is_ascii_uppercase) {
        return if name == b"histchars" { Meaning::Unmodelled } else { Meaning::Ordinary };
    }
    match name {
        b"PATH" | b"BASH_CMDS" | b"EXECIGNORE" => Meaning::Search,
        b"GLOBIGNORE" | b"FIGNORE" => Meaning::Patterns,
        b"LANG" | b"LC_ALL" | b"LC_CTYPE" | b"LC_COLLATE" => Meaning::Locale,
        b"PS0" | b"PS1" | b"PS2" | b"PS4" => Meaning::Prompt,
        b"PROMPT_COMMAND" => Meaning::BeforePrompt,
        b"BASH_ALIASES" => Meaning::Aliases,
        b"POSIXLY_CORRECT" | b"BASH_COMPAT" | b"BASH_XTRACEFD" | b"BASH_LOADABLES_PATH" | b"FUNCNEST" | b"SHELLOPTS" | b"BASHOPTS"
        // Texts in `$"..."` are looked up in a file that these name.
        | b"TEXTDOMAIN" | b"TEXTDOMAINDIR" => Meaning::Unmodelled,
        _ => Meaning::Ordinary,
    }
}

/// Whether bash keeps the variable itself, so that what is assigned to it is not what it holds: some ignore what they are
/// given, some compute, some are gone with the next command.
pub(crate) fn is_kept_by_bash(name: &[u8]) -> bool {
    matches!(
        name,
        b"_" | b"FUNCNAME"
            | b"GROUPS"
            | b"DIRSTACK"
            | b"PIPESTATUS"
            | b"pipestatus"
            | b"RANDOM"
            | b"SRANDOM"
            | b"SECONDS"
            | b"LINENO"
            | b"HISTCMD"
            | b"EPOCHSECONDS"
            | b"EPOCHREALTIME"
            | b"COMP_WORDBREAKS"
            | b"BASHPID"
            | b"BASH_ARGC"
            | b"BASH_ARGV"
            | b"BASH_ARGV0"
            | b"BASH_COMMAND"
            | b"BASH_EXECUTION_STRING"
            | b"BASH_LINENO"
            | b"BASH_MONOSECONDS"
            | b"BASH_SOURCE"
            | b"BASH_SUBSHELL"
            | b"BASH_TRAPSIG"
    )
}

/// Whether a shell may take what this variable is given for an expression, and run what stands in its subscripts:
/// whatever a shell keeps itself, and the settings that zsh keeps as numbers.
pub(crate) fn may_compute(name: &[u8]) -> bool {
    is_kept_by_bash(name)
        || matches!(
            name,
            b"OPTIND"
                | b"PPID"
                | b"UID"
                | b"EUID"
                | b"GID"
                | b"EGID"
                | b"SHLVL"
                | b"COLUMNS"
                | b"LINES"
                | b"HISTSIZE"
                | b"HISTFILESIZE"
                | b"SAVEHIST"
                | b"KEYTIMEOUT"
                | b"LISTMAX"
                | b"BAUD"
                | b"LOGCHECK"
                | b"MAILCHECK"
                | b"PERIOD"
                | b"REPORTTIME"
                | b"REPORTMEMORY"
                | b"DIRSTACKSIZE"
                | b"FUNCNEST"
                | b"ERRNO"
                | b"TMOUT"
                | b"IGNOREEOF"
                | b"TRY_BLOCK_ERROR"
                | b"TRY_BLOCK_INTERRUPT"
                | b"ZLE_RPROMPT_INDENT"
        )
}

/// Whether a shell that finds this variable in its environment is another shell: it runs a file first, takes options,
/// functions or prompts from it.
pub(crate) fn steers_new_shell(name: &[u8]) -> bool {
    const EXACT: &[&[u8]] = &[b"BASH_ENV", b"ENV", b"GCONV_PATH", b"GLIBC_TUNABLES", b"LOCPATH", b"ZDOTDIR"];
    EXACT.contains(&name)
        || [&b"LD_"[..], b"DYLD_", b"BASH_FUNC_"].iter().any(|begin| name.starts_with(begin))
        || meaning(name) == Meaning::Unmodelled
}

/// Whether ASCII letters and ranges mean in this locale what they mean in C: no Turkish `i`, no older order of letters.
pub(crate) fn is_usual_locale(value: &[u8]) -> bool {
    let unicode = |value: &[u8]| {
        let value = value.to_ascii_lowercase();
        value.ends_with(b".utf-8") || value.ends_with(b".utf8")
    };
    let other_letters = [&b"tr"[..], b"az", b"lt", b"crh", b"tt"].iter().any(|language| value.starts_with(language));
    matches!(value, b"" | b"C" | b"POSIX") || unicode(value) && !other_letters && !value.contains(&b'/')
}

/// Whether text that bash expands for a prompt is shown as it is: escapes and plain variables, nothing that runs.
pub(crate) fn is_tame_prompt(text: &[u8]) -> bool {
    !text.contains(&b'`')
        && !text.windows(2).any(|pair| match pair {
            [b'$', next] => b"({[".contains(next),
            // `\044(` is `$(` once the escape is read.
            [b'\\', next] => next.is_ascii_digit(),
            _ => false,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_that_may_run_something_are_not_tame() {
        for text in ["$(evil)", "`evil`", "\\$(evil)", "\\044(evil)", "${x[$(evil)]}", "$[a[0]]"] {
            assert!(!is_tame_prompt(text.as_bytes()), "{text}");
        }
        for text in ["$ ", "\\u@\\h:\\w\\$ ", "+ ", "$x> ", "\\[\\e[1m\\]"] {
            assert!(is_tame_prompt(text.as_bytes()), "{text}");
        }
    }
}
