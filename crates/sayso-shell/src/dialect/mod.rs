//! Which shell reads a text, and where shells read the same text otherwise.
//!
//! The parser and the walker read as bash does. This room says where another shell would not: in the grammar
//! (`difference`), in its builtins (`builtin`) and in the variables that it keeps (`variable`). What means the
//! same to all shells that may read it is read once; what the walker can follow by another shell's rules, it asks a
//! [`Dialect`] about; everything else makes the analysis opaque.
//!
//! INVARIANT: a construct that another shell reads otherwise is never judged by the reading of bash alone.

pub(crate) mod builtin;
mod difference;
mod shells;
mod union;
pub(crate) mod variable;
mod zsh;

pub use difference::Difference;
pub(crate) use difference::difference;
pub use shells::{InShell, Shells};
pub use union::analyze_in;
pub(crate) use zsh::{cut_at_nul, goes_on, may_end_arithmetic, may_find_nothing, started_for_redirects};

/// Which shell will read the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Dialect {
    /// bash 5.
    #[default]
    Bash,
    /// zsh 5.
    Zsh,
    /// `sh`: dash, the `ash` of busybox, or bash in its POSIX mode, nobody knows which.
    Sh,
    /// Some other or unknown shell (`ksh`): what means the same to all of the above is known, everything else is opaque.
    Other,
}

/// Whether a shell does something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Does {
    Yes,
    No,
    Maybe,
}

impl Dialect {
    /// The dialect of a shell by the name of its program, with or without a folder; `None` for shells with a language of
    /// their own, and for what is no shell.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        // A login shell's name begins with a dash.
        let base = name.rsplit('/').next().unwrap_or_default();
        Some(match base.strip_prefix('-').unwrap_or(base) {
            "bash" | "rbash" => Self::Bash,
            "zsh" | "rzsh" => Self::Zsh,
            "sh" | "dash" | "ash" => Self::Sh,
            "ksh" | "ksh93" | "rksh" | "mksh" | "oksh" | "loksh" | "pdksh" | "lksh" | "yash" | "posh" => Self::Other,
            _ => return None,
        })
    }

    /// It may be zsh.
    pub(crate) const fn may_be_zsh(self) -> bool {
        matches!(self, Self::Zsh | Self::Other)
    }

    /// It may be a shell that knows little more than POSIX asks for.
    pub(crate) const fn may_be_plain(self) -> bool {
        matches!(self, Self::Sh | Self::Other)
    }

    /// Whether the value of an unquoted `$x` is split into words, and patterns in it are expanded.
    pub(crate) const fn splits_values(self) -> Does {
        match self {
            Self::Bash | Self::Sh => Does::Yes,
            Self::Zsh => Does::No,
            Self::Other => Does::Maybe,
        }
    }

    /// Whether the last command of a pipe runs in the shell itself, so that `echo x | read y` sets `y`.
    pub(crate) const fn keeps_last_of_pipe(self) -> Does {
        match self {
            Self::Bash | Self::Sh => Does::No,
            Self::Zsh => Does::Yes,
            Self::Other => Does::Maybe,
        }
    }

    /// Whether `x=1 export y` leaves `x` set: POSIX wants it so for its special builtins.
    pub(crate) const fn may_keep_prefixes(self) -> bool {
        self.may_be_plain()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_is_known_by_its_name_wherever_it_lies() {
        for (name, expected) in [
            ("/bin/zsh", Some(Dialect::Zsh)),
            ("-bash", Some(Dialect::Bash)),
            ("/usr/local/bin/dash", Some(Dialect::Sh)),
            ("mksh", Some(Dialect::Other)),
            ("/usr/bin/fish", None),
            ("python3", None),
            ("", None),
        ] {
            assert_eq!(Dialect::named(name), expected, "{name}");
        }
    }
}
