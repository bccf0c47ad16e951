//! One operation while a ruleset is asked about it.

use crate::pattern::{Bases, Tree};
use crate::word::{Facts, Operation, Resolved};
use sayso_shell::{Effect, Run, RunId, Target};
use std::path::{Path, PathBuf};

/// One operation while a ruleset is asked about it.
pub(crate) struct Asked<'a> {
    pub(crate) operation: &'a Operation,
    pub(super) bases: Bases,
    pub(super) tree: Tree<'a>,
    facts: Facts<'a>,
}

impl<'a> Asked<'a> {
    pub(crate) fn new(operation: &'a Operation, facts: Facts<'a>) -> Self {
        let bases = Bases::new(&operation.workspace, operation.home.as_deref());
        Self { operation, bases, tree: Tree::new(facts.files), facts }
    }

    pub(crate) fn effect(&self, index: usize) -> Option<&'a Effect> {
        self.operation.effects.get(index)
    }

    pub(super) fn resolved(&self, index: usize) -> Option<&'a Resolved> {
        self.operation.resolved.get(index)
    }

    /// The program that an effect belongs to.
    pub(super) fn run_of(&self, effect: &Effect) -> Option<RunId> {
        match &effect.target {
            Target::Program(id) | Target::Wrapper(id) | Target::Option(id) | Target::Code { run: id, .. } => Some(*id),
            _ => effect.run,
        }
    }

    pub(super) fn run(&self, id: RunId) -> Option<&'a Run> {
        self.operation.analysis.as_ref().and_then(|analysis| analysis.run(id))
    }

    /// The working directory of a program, or of the operation itself, canonical.
    pub(super) fn folder(&self, run: Option<RunId>) -> Option<&'a Path> {
        match run {
            Some(id) => self.operation.folders.get(usize::try_from(id.0).ok()?).and_then(Option::as_deref),
            None => self.operation.folder.as_deref(),
        }
    }

    /// A matcher's directory, canonical as far as files can be looked at. Relative ones are meant in the workspace, or
    /// where none is known in the working directory.
    pub(super) fn directory(&self, written: &Path) -> Option<PathBuf> {
        let base = self.operation.workspace.root().or(self.operation.folder.as_deref());
        let joined = if written.is_absolute() { written.to_owned() } else { base?.join(written) };
        let found = sayso_shell::canonical(self.facts.files, &joined);
        Some(if found.certain { found.path } else { sayso_shell::canonical::lexical(&joined) })
    }
}
