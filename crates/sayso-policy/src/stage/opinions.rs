//! What the stages have said so far.

use crate::word::{Holding, Operation, Opinion, Verdict};

/// What the stages have said so far: about the call as a whole, and about each of its effects.
pub(crate) struct Opinions {
    pub call: Vec<Opinion>,
    /// In the order of the operation's effects.
    pub effects: Vec<OnEffect>,
    /// Nothing runs: the caller gets a stub.
    pub rehearsal: Rehearsal,
    /// What becomes of an Ask that nobody can answer, where a foreign file says so.
    pub unanswered: Option<Verdict>,
    /// What is said of holding the run.
    pub hold: Option<Holding>,
}

/// Whether this is a rehearsal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rehearsal {
    No,
    /// Of another system's file, which still denies what it denies.
    OfForeignFile,
    /// Dry-run. Only what integrity denies is told as a Deny.
    DryRun,
}

/// What is known about one effect while the stages speak.
#[derive(Default)]
pub(crate) struct OnEffect {
    pub opinions: Vec<Opinion>,
    /// A rule said for certain that it may, or that somebody decides.
    pub settled: bool,
    /// The rules' verdict on a program or tool, which plain effects of its operands share.
    pub carried: Option<Carried>,
    /// An owner's own rule allows it, by its own verb or as part of the program.
    pub by_owner: bool,
    /// Which of the opinions a hold answers, by number: Asks of rules that say so.
    pub held: Vec<usize>,
}

/// A verdict on a program or tool, and how far it reaches.
#[derive(Clone, Copy)]
pub(crate) struct Carried {
    pub verdict: Verdict,
    /// Every allow that counts is a preset's: the temporary folder is inside the workspace then.
    pub by_preset: bool,
    /// An allow of a file's own, or one whose conditions say which hosts: a host that the call writes out is covered.
    pub covers_hosts: bool,
    /// A hold answers it.
    pub held: bool,
}

impl Opinions {
    pub(crate) fn about(operation: &Operation) -> Self {
        Self {
            call: Vec::new(),
            effects: operation.effects.iter().map(|_| OnEffect::default()).collect(),
            rehearsal: Rehearsal::No,
            unanswered: None,
            hold: None,
        }
    }

    /// The effects by number.
    pub(crate) fn each(&mut self) -> impl Iterator<Item = (usize, &mut OnEffect)> {
        self.effects.iter_mut().enumerate()
    }
}
