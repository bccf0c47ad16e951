//! One effect while the stages speak of it.

use crate::word::{Opinion, Verdict};

/// What is known about one effect while the stages speak.
pub(crate) struct Slot {
    pub(crate) opinions: Vec<Opinion>,
    /// A rule said for certain that it may, or that somebody decides.
    pub(crate) settled: bool,
    /// The rules' verdict on a program or tool, which plain effects of its operands share.
    pub(crate) carried: Option<Carried>,
    /// An owner's own rule allows it, by its own verb or as part of the program.
    pub(crate) by_owner: bool,
}

#[derive(Clone, Copy)]
pub(crate) struct Carried {
    pub(crate) verdict: Verdict,
    /// Every allow that counts is a preset's: the temporary folder is inside the workspace then.
    pub(crate) by_preset: bool,
    /// An allow of a file's own, or one whose conditions say which hosts: a host that the call writes out is covered.
    pub(crate) covers_hosts: bool,
}
