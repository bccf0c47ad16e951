//! The options of bash: what switching one changes for the walker.
//!
//! An option is inert only if it stands here as inert. One that nobody knows, or whose change is not followed, makes
//! everything behind it opaque.

/// What becomes of the shell when an option is switched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Switch {
    /// Nothing that decides what runs, or what words mean.
    Inert,
    /// `set -f`.
    Globs,
    /// What a pattern matches is no longer known, of names and of values alike.
    Patterns,
    /// `extglob`: the same, and later texts are read with it.
    ExtendedPatterns,
    /// `set -a`.
    ExportsAll,
    /// `set -P`.
    PhysicalFolders,
    /// `set -e`.
    EndsOnFailure,
    /// `set -u`.
    EndsOnUnset,
    /// `set -x`, `set -v`.
    Traces,
    /// `set -n`, `set -t`: what follows may not run.
    Ends,
    /// `expand_aliases`.
    Aliases,
    /// It is not followed: anything may happen from here on.
    Unmodelled,
}

/// An option of `set -o`, by its name.
pub(crate) fn option(name: &[u8], on: bool) -> Switch {
    match name {
        b"noglob" => Switch::Globs,
        b"allexport" => Switch::ExportsAll,
        b"physical" => Switch::PhysicalFolders,
        b"errexit" => Switch::EndsOnFailure,
        b"nounset" => Switch::EndsOnUnset,
        b"xtrace" | b"verbose" => Switch::Traces,
        b"noexec" | b"onecmd" => Switch::Ends,
        // How lines are edited, how jobs are told, and whether a redirect may write over a file: each may fail anyway.
        b"emacs" | b"vi" | b"ignoreeof" | b"monitor" | b"notify" | b"nolog" | b"noclobber" | b"hashall" => {
            Switch::Inert
        }
        // Traps are not followed to where they run; whom they reach does not matter.
        b"errtrace" | b"functrace" => Switch::Inert,
        // Only how a pipe's status is told, and no status is believed.
        b"pipefail" => Switch::Inert,
        b"braceexpand" | b"interactive-comments" if on => Switch::Inert,
        b"histexpand" | b"history" | b"keyword" | b"posix" | b"privileged" if !on => Switch::Inert,
        _ => Switch::Unmodelled,
    }
}

/// The name of an option that `set` takes as a letter.
pub(crate) fn name_of(letter: u8) -> Option<&'static [u8]> {
    Some(match letter {
        b'a' => b"allexport",
        b'b' => b"notify",
        b'e' => b"errexit",
        b'f' => b"noglob",
        b'h' => b"hashall",
        b'k' => b"keyword",
        b'm' => b"monitor",
        b'n' => b"noexec",
        b'p' => b"privileged",
        b't' => b"onecmd",
        b'u' => b"nounset",
        b'v' => b"verbose",
        b'x' => b"xtrace",
        b'B' => b"braceexpand",
        b'C' => b"noclobber",
        b'E' => b"errtrace",
        b'H' => b"histexpand",
        b'P' => b"physical",
        b'T' => b"functrace",
        _ => return None,
    })
}

/// An option of `shopt`.
pub(crate) fn shopt(name: &[u8], on: bool) -> Switch {
    match name {
        b"nullglob" | b"dotglob" | b"globstar" | b"nocaseglob" | b"nocasematch" | b"globasciiranges"
        | b"globskipdots" => Switch::Patterns,
        b"extglob" => Switch::ExtendedPatterns,
        b"expand_aliases" => Switch::Aliases,
        // The history, completion, mail, windows, jobs, messages.
        b"checkhash"
        | b"checkjobs"
        | b"checkwinsize"
        | b"cmdhist"
        | b"lithist"
        | b"histappend"
        | b"histreedit"
        | b"histverify"
        | b"complete_fullquote"
        | b"direxpand"
        | b"dirspell"
        | b"force_fignore"
        | b"hostcomplete"
        | b"no_empty_cmd_completion"
        | b"progcomp"
        | b"progcomp_alias"
        | b"gnu_errfmt"
        | b"huponexit"
        | b"mailwarn"
        | b"login_shell"
        | b"shift_verbose"
        | b"syslog_history"
        | b"bash_source_fullpath" => Switch::Inert,
        // Both ways are counted with already: a substitution under `set -e`, a program that `exec` does not find, a
        // script that lies on PATH too, `&` in a replacement, a descriptor in a variable.
        b"inherit_errexit" | b"execfail" | b"sourcepath" | b"patsub_replacement" | b"varredir_close" => Switch::Inert,
        b"extquote" | b"interactive_comments" | b"promptvars" if on => Switch::Inert,
        b"autocd"
        | b"cdable_vars"
        | b"cdspell"
        | b"extdebug"
        | b"failglob"
        | b"lastpipe"
        | b"localvar_inherit"
        | b"localvar_unset"
        | b"xpg_echo"
        | b"noexpand_translation"
            if !on =>
        {
            Switch::Inert
        }
        _ => Switch::Unmodelled,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_letter_of_set_names_an_option_that_is_known_in_one_of_its_states() {
        for letter in b"abefhkmnptuvxBCEHPT" {
            let name = name_of(*letter).unwrap();
            let known = |on| option(name, on) != Switch::Unmodelled;
            assert!(known(true) || known(false), "{}", char::from(*letter));
        }
    }

    #[test]
    fn what_nobody_knows_is_not_modelled() {
        for name in ["", "compat31", "compat44", "autocd", "cdable_vars", "lastpipe", "next_years_option"] {
            assert_eq!(shopt(name.as_bytes(), true), Switch::Unmodelled, "{name}");
        }
        for name in ["", "posix", "keyword", "next_years_option"] {
            assert_eq!(option(name.as_bytes(), true), Switch::Unmodelled, "{name}");
        }
    }
}
