//! What belongs to one shell, and what goes in and out of its commands.

use super::Cwd;
use crate::Dialect;
use crate::certain::Items;
use crate::certain::Streams;
use crate::effect::{PipePlace, Stdin};
use crate::program::Prints;
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) cwd: Cwd,
    /// `$OLDPWD`.
    pub(crate) before: Cwd,
    /// `$1` and on; `None`: not known.
    pub(crate) positional: Option<Items>,
    pub(crate) globbing: Globbing,
    pub(crate) extended_globs: bool,
    /// `shopt -s expand_aliases`.
    pub(crate) aliases: bool,
    /// `set -a`: what is set is exported. `None`: nobody knows.
    pub(crate) exports_all: Option<bool>,
    /// What patterns match is not known, because a switch or a variable changed it.
    pub(crate) patterns_unsure: bool,
    /// A trap may run between any two commands.
    pub(crate) trapped: bool,
    /// A trap runs when this shell ends.
    pub(crate) trapped_at_exit: bool,
    /// PATH, or what the shell remembers of it, was changed by this call.
    pub(crate) path_changed: bool,
    pub(crate) fog: Fog,
    /// The shell may have stopped by now, where bash would go on: what it prints may be less.
    pub(crate) stops: bool,
    /// Where its descriptors lead.
    pub(crate) streams: Streams,
    /// It may have ended before it came here (`exit`, `set -e`, an error that ends the shell), so that what follows may
    /// not happen while what stands around the shell does.
    pub(crate) may_have_ended: bool,
    /// An error before this may have led the shell to the next line of its text, so that what follows on this one may
    /// not happen.
    pub(crate) line_may_be_left: bool,
    /// What held when that may have been.
    pub(crate) left: Option<Rc<Self>>,
    /// An unset variable ends the shell (`set -u`).
    pub(crate) ends_on_unset: bool,
    /// Commands may be shown on standard error before they run (`set -x`, `set -v`).
    pub(crate) traces: bool,
    /// A command that fails ends the shell (`set -e`).
    pub(crate) ends_on_failure: bool,
    pub(crate) dialect: Dialect,
    /// The user's home, unless the shell runs elsewhere.
    pub(crate) elsewhere: bool,
    /// Elsewhere, but on this machine: paths may still be those of here (`chroot /`, `nsenter -t 1`).
    pub(crate) may_be_here: bool,
    /// Variables that cannot be assigned any more.
    pub(crate) readonly: Vec<Vec<u8>>,
    /// `cd` may go elsewhere than its path says (`set -P`).
    pub(crate) physical_cd: bool,
    /// `cd` may be refused, or not be `cd` (`set -r`, `enable -n cd`).
    pub(crate) cd_unsure: bool,
    /// It certainly began something in the background.
    pub(crate) has_job: bool,
    /// Descriptors may be closed, or too many open: one that is there at the start may not be there any more.
    pub(crate) descriptors_unsure: bool,
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
            exports_all: if self.exports_all == other.exports_all { self.exports_all } else { None },
            patterns_unsure: self.patterns_unsure || other.patterns_unsure,
            trapped: self.trapped || other.trapped,
            trapped_at_exit: self.trapped_at_exit || other.trapped_at_exit,
            path_changed: self.path_changed || other.path_changed,
            fog: self.fog.max(other.fog),
            stops: self.stops || other.stops,
            streams: self.streams.or(other.streams),
            may_have_ended: self.may_have_ended || other.may_have_ended,
            line_may_be_left: self.line_may_be_left || other.line_may_be_left,
            left: Self::left_by_either(self, other),
            ends_on_unset: self.ends_on_unset || other.ends_on_unset,
            traces: self.traces || other.traces,
            ends_on_failure: self.ends_on_failure || other.ends_on_failure,
            dialect: self.dialect,
            elsewhere: self.elsewhere,
            may_be_here: self.may_be_here,
            readonly: self
                .readonly
                .iter()
                .chain(other.readonly.iter().filter(|name| !self.readonly.contains(name)))
                .cloned()
                .collect(),
            physical_cd: self.physical_cd || other.physical_cd,
            cd_unsure: self.cd_unsure || other.cd_unsure,
            has_job: self.has_job && other.has_job,
            descriptors_unsure: self.descriptors_unsure || other.descriptors_unsure,
        }
    }
}

impl State {
    /// A shell starts. `strict`: with options by which it may end early, or show what it does.
    pub(crate) fn begins(&mut self, strict: bool) {
        self.ends_on_failure = strict;
        self.ends_on_unset = strict;
        self.traces = strict;
        self.has_job = false;
    }

    /// What held when either line may have been left.
    pub(crate) fn left_by_either(one: &Self, two: &Self) -> Option<Rc<Self>> {
        match (&one.left, &two.left) {
            (Some(one), Some(two)) if one == two => Some(one.clone()),
            (Some(one), Some(two)) => Some(Rc::new(one.or(two))),
            (one, two) => one.as_ref().or(two.as_ref()).cloned(),
        }
    }
}

/// Where a command's input comes from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Input {
    pub(crate) stdin: Stdin,
    /// The exact text, if known.
    pub(crate) text: Option<Rc<[u8]>>,
    /// That text, or none.
    pub(crate) text_may_be_missing: bool,
    /// The file that it is read from, absolute, if known.
    pub(crate) file: Option<Rc<std::path::Path>>,
    /// What the program on the left of the pipe prints.
    pub(crate) prints: Prints,
    pub(crate) pipe: Option<PipePlace>,
}
