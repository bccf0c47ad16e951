//! One operation while a ruleset is asked about it.

use crate::pattern::{Bases, Programs, Tree};
use crate::word::{Facts, Operation, Resolved};
use sayso_shell::{Effect, PipePlace, Run, RunId, Target};
use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// One operation while a ruleset is asked about it.
pub(crate) struct Asked<'a> {
    pub(crate) operation: &'a Operation,
    pub(super) bases: Bases,
    pub(super) tree: Tree<'a>,
    pub(super) programs: Option<Programs<'a>>,
    facts: Facts<'a>,
    /// For each pipeline the last place of a shell, and the last of a program of which nobody knows what it is.
    shells: OnceCell<HashMap<u16, Shells>>,
}

/// The last places in a pipeline.
#[derive(Clone, Copy, Default)]
pub(super) struct Shells {
    pub(super) certain: Option<u16>,
    pub(super) possible: Option<u16>,
}

impl<'a> Asked<'a> {
    pub(crate) fn new(operation: &'a Operation, facts: Facts<'a>) -> Self {
        let bases = Bases::of(operation);
        let (tree, programs) = (Tree::new(facts.files), operation.analysis.as_ref().map(Programs::new));
        Self { operation, bases, tree, programs, facts, shells: OnceCell::new() }
    }

    /// The place of a program in its pipeline. What a wrapper starts stands where the wrapper stands.
    pub(super) fn place(&self, mut id: RunId) -> Option<PipePlace> {
        for _ in 0..sayso_shell::limit::MAX_DEPTH {
            let run = self.run(id)?;
            match (run.pipe, run.parent) {
                (Some(place), _) => return Some(place),
                (None, Some(parent)) => id = parent,
                (None, None) => return None,
            }
        }
        None
    }

    /// Where shells stand in a pipeline: looked up once, for every program of a pipe may ask.
    pub(super) fn shells(&self, pipeline: u16, is_shell: impl Fn(&str) -> bool) -> Shells {
        let find = || {
            let mut found: HashMap<u16, Shells> = HashMap::new();
            let runs = self.operation.analysis.iter().flat_map(|analysis| (0_u32..).map(RunId).zip(&analysis.runs));
            for (id, run) in runs {
                let Some(place) = self.place(id) else { continue };
                let shells = found.entry(place.pipeline).or_default();
                match run.program.base.as_deref() {
                    Some(base) if is_shell(base) => shells.certain = shells.certain.max(Some(place.place)),
                    Some(_) => {}
                    None => shells.possible = shells.possible.max(Some(place.place)),
                }
            }
            found
        };
        self.shells.get_or_init(find).get(&pipeline).copied().unwrap_or_default()
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
