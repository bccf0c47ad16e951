//! What belongs to one shell, and what goes in and out of its commands.

use super::Cwd;
use crate::Dialect;
use crate::effect::{PipePlace, Stdin};
use crate::program::Prints;
use crate::value::Scalar;
use crate::value::field::Globbing;
use std::rc::Rc;

/// How much of the variables is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fog {
    /// What the scope says.
    None,
    /// Those that this call sets may be anything: code that runs at an unknown time, loops too tangled to follow.
    Touched,
    /// Any variable may have been set to anything.
    All,
}

/// What belongs to one shell, besides its variables: cheap to save and to restore.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) cwd: Cwd,
    /// `$OLDPWD`.
    pub(crate) before: Cwd,
    /// `$1` and on; `None`: not known.
    pub(crate) positional: Option<Rc<[Scalar]>>,
    pub(crate) globbing: Globbing,
    pub(crate) extended_globs: bool,
    /// `shopt -s expand_aliases`.
    pub(crate) aliases: bool,
    /// A switch is set that changes the meaning of what follows in a way that is not followed.
    pub(crate) exports_all: bool,
    /// PATH, or what the shell remembers of it, was changed by this call.
    pub(crate) path_changed: bool,
    pub(crate) fog: Fog,
    /// The shell may have stopped by now, where bash would go on: what it prints may be less.
    pub(crate) stops: bool,
    pub(crate) dialect: Dialect,
    /// The user's home, unless the shell runs elsewhere.
    pub(crate) elsewhere: bool,
    /// Elsewhere, but on this machine: paths may still be those of here (`chroot /`, `nsenter -t 1`).
    pub(crate) may_be_here: bool,
}

impl State {
    /// What may be the case if either was.
    pub(crate) fn or(&self, other: &Self) -> Self {
        Self {
            cwd: self.cwd.or(&other.cwd),
            before: self.before.or(&other.before),
            positional: if self.positional == other.positional { self.positional.clone() } else { None },
            globbing: if self.globbing == other.globbing { self.globbing } else { Globbing::Unknown },
            extended_globs: self.extended_globs || other.extended_globs,
            aliases: self.aliases || other.aliases,
            exports_all: self.exports_all || other.exports_all,
            path_changed: self.path_changed || other.path_changed,
            fog: self.fog.max(other.fog),
            stops: self.stops || other.stops,
            dialect: self.dialect,
            elsewhere: self.elsewhere,
            may_be_here: self.may_be_here,
        }
    }

    /// Whether walking again from here could find something else than from there.
    pub(super) fn differs(&self, other: &Self) -> bool {
        self.cwd != other.cwd
            || self.positional != other.positional
            || self.globbing != other.globbing
            || self.aliases != other.aliases
            || self.path_changed != other.path_changed
            || self.fog != other.fog
    }
}

/// Where a command's input comes from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Input {
    pub(crate) stdin: Stdin,
    /// The exact text, if known.
    pub(crate) text: Option<Rc<[u8]>>,
    /// What the program on the left of the pipe prints.
    pub(crate) prints: Prints,
    pub(crate) pipe: Option<PipePlace>,
}

/// What the commands of a substitution print.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    Silent,
    Known(Prints),
    Mixed,
}
