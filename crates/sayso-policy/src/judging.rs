//! One operation while it is judged: what rules ask about it again and again.

use crate::guard::{self, Guard, Guards};
use crate::past::{Past, SelfWritten};
use crate::pattern::{Bases, Ground, PathPattern, Programs, Purpose, RunPattern, Tree};
use crate::rule::run_of;
use crate::word::{Facts, Operation, Resolved, Tri};
use sayso_shell::instruct::{OwnFiles, Scene};
use sayso_shell::{Analysis, PathTarget, PipePlace, Run, RunId, Sieve, Target, Verb};
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// One operation while it is judged.
pub(crate) struct Judging<'a> {
    pub operation: &'a Operation,
    pub bases: Bases,
    pub facts: Facts<'a>,
    tree: Tree<'a>,
    programs: Option<Programs<'a>>,
    guards: Vec<Option<Guard<'a>>>,
    /// For each pipeline the last place of a shell, and the last of a program that may be one.
    shells: OnceCell<HashMap<u16, Shells>>,
    past: Past,
    /// Which of their own files the session wrote, for programs that were asked about.
    self_written: RefCell<HashMap<RunId, SelfWritten>>,
}

/// The last places in a pipeline where a shell stands.
#[derive(Clone, Copy, Default)]
pub(crate) struct Shells {
    pub certain: Option<u16>,
    /// It is not known which program this is.
    pub possible: Option<u16>,
}

impl<'a> Judging<'a> {
    /// With these guards; `None`: those of this process.
    pub(crate) fn new(operation: &'a Operation, facts: Facts<'a>, guards: Option<&'a Guards>) -> Self {
        Self::on(Ground::unknown(), operation, facts, guards)
    }

    /// The same where it is known which files can matter.
    pub(crate) fn on(
        ground: Ground<'a>,
        operation: &'a Operation,
        facts: Facts<'a>,
        guards: Option<&'a Guards>,
    ) -> Self {
        let mut judging = Self::unguarded(ground, operation, facts);
        judging.guards = (0..operation.effects.len()).map(|index| guard::of(guards, &judging, index)).collect();
        judging
    }

    /// For a bare ruleset, which knows nothing of guarded targets.
    pub(crate) fn bare(operation: &'a Operation, facts: Facts<'a>) -> Self {
        Self::unguarded(Ground::unknown(), operation, facts)
    }

    fn unguarded(ground: Ground<'a>, operation: &'a Operation, facts: Facts<'a>) -> Self {
        let bases = Bases::of(operation);
        let (tree, programs) = (Tree::over(facts.files, ground), operation.analysis.as_ref().map(Programs::new));
        Self {
            operation,
            bases,
            facts,
            tree,
            programs,
            guards: Vec::new(),
            shells: OnceCell::new(),
            past: Past::default(),
            self_written: RefCell::default(),
        }
    }

    /// The same where it is known what the session has done so far.
    pub(crate) fn after(mut self, past: &Past) -> Self {
        self.past = past.clone();
        self
    }

    /// What the session has done so far.
    pub(crate) fn past(&self) -> &Past {
        &self.past
    }

    /// Which of the files that a program goes by the session or this call wrote.
    pub(crate) fn self_written(&self, id: RunId) -> SelfWritten {
        if let Some(found) = self.self_written.borrow().get(&id) {
            return found.clone();
        }
        let found = SelfWritten::by(self, id);
        self.self_written.borrow_mut().insert(id, found.clone());
        found
    }

    /// The files of its own that a program goes by.
    pub(crate) fn own_files(&self, id: RunId) -> Option<OwnFiles<'_>> {
        let operation = self.operation;
        let scene = Scene {
            analysis: operation.analysis.as_ref()?,
            cwd: operation.cwd.as_deref(),
            home: operation.home.as_deref(),
            workspace: operation.workspace.root(),
            files: self.facts.files,
        };
        OwnFiles::of(scene, id)
    }

    pub(crate) fn run(&self, id: RunId) -> Option<&'a Run> {
        self.operation.analysis.as_ref().and_then(|analysis| analysis.run(id))
    }

    pub(crate) fn analysis(&self) -> Option<&'a Analysis> {
        self.operation.analysis.as_ref()
    }

    /// What exists below folders.
    pub(crate) fn tree(&self) -> &Tree<'a> {
        &self.tree
    }

    /// What guards the target of an effect, so that only a rule that names it permits it.
    pub(crate) fn guard(&self, index: usize) -> Option<Guard<'a>> {
        self.guards.get(index).copied().flatten()
    }

    pub(crate) fn matches_run(&self, pattern: &RunPattern, id: RunId, purpose: Purpose) -> Tri {
        match &self.programs {
            Some(programs) => pattern.matches(programs, id, &self.bases, purpose),
            None => Tri::No,
        }
    }

    /// The programs of its commands, and which of them stand in one pipe.
    pub(crate) fn programs(&self) -> Option<&Programs<'a>> {
        self.programs.as_ref()
    }

    /// The place of a program in its pipeline. What a wrapper starts stands where the wrapper stands.
    pub(crate) fn pipe_place(&self, mut id: RunId) -> Option<PipePlace> {
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
    pub(crate) fn shells(&self, pipeline: u16, is_shell: impl Fn(&Run) -> bool) -> Shells {
        let find = || {
            let mut found: HashMap<u16, Shells> = HashMap::new();
            let runs = self.operation.analysis.iter().flat_map(|analysis| (0_u32..).map(RunId).zip(&analysis.runs));
            for (id, run) in runs {
                let Some(place) = self.pipe_place(id) else { continue };
                let shells = found.entry(place.pipeline).or_default();
                match run.program.base.as_deref() {
                    Some(_) if is_shell(run) => shells.certain = shells.certain.max(Some(place.place)),
                    Some(_) => {}
                    None => shells.possible = shells.possible.max(Some(place.place)),
                }
            }
            found
        };
        self.shells.get_or_init(find).get(&pipeline).copied().unwrap_or_default()
    }

    /// The working directory of a program, or of the operation itself, canonical.
    pub(crate) fn folder(&self, run: Option<RunId>) -> Option<&'a Path> {
        match run {
            Some(id) => self.operation.folders.get(usize::try_from(id.0).ok()?).and_then(Option::as_deref),
            None => self.operation.folder.as_deref(),
        }
    }

    /// A matcher's directory, canonical as far as files can be looked at. Relative ones are meant in the workspace, or
    /// where none is known in the working directory.
    pub(crate) fn directory(&self, written: &Path) -> Option<PathBuf> {
        let base = self.operation.workspace.root().or(self.operation.folder.as_deref());
        let joined = if written.is_absolute() { written.to_owned() } else { base?.join(written) };
        let found = sayso_shell::canonical(self.facts.files, &joined);
        Some(if found.certain { found.path } else { sayso_shell::canonical::lexical(&joined) })
    }

    pub(crate) fn matches_path(
        &self,
        pattern: &PathPattern,
        index: usize,
        verb: Verb,
        target: &PathTarget,
        purpose: Purpose,
    ) -> Tri {
        let empty = Resolved::default();
        let resolved = self.operation.resolved.get(index).unwrap_or(&empty);
        pattern.matches(verb, target, resolved, &self.bases, &self.tree, purpose)
    }

    /// Whether a working directory lies within one of these.
    pub(crate) fn folder_within(&self, folder: Option<&Path>, within: &[PathPattern], purpose: Purpose) -> Tri {
        let Some(folder) = folder else {
            return if purpose == Purpose::Permit { Tri::No } else { Tri::Maybe };
        };
        let canonical = sayso_shell::canonical(self.facts.files, folder);
        within.iter().any(|pattern| pattern.matches_path(&canonical.path, &self.bases, purpose)).into()
    }

    /// Whether a program removes something, and nothing but build output.
    pub(crate) fn removes_build_output(&self, id: Option<RunId>) -> bool {
        let mut some = false;
        for (index, effect) in self.operation.effects.iter().enumerate() {
            if id.is_none() || run_of(effect) != id || effect.verb != Verb::Delete {
                continue;
            }
            if !matches!(&effect.target, Target::Path(target) if self.is_made_again(index, target)) {
                return false;
            }
            some = true;
        }
        some
    }

    /// Whether nothing is lost with what an effect is about: build output, what lies in a temporary folder, or files that
    /// only tools write and make again.
    fn is_made_again(&self, index: usize, target: &PathTarget) -> bool {
        self.is_build_output(index, target) || self.is_own_scratch(index, target) || self.is_generated(index, target)
    }

    /// Whether this lies in a temporary folder, is no entry of it that belongs to the system, and has nothing to do with the
    /// workspace, should that be there too.
    fn is_own_scratch(&self, index: usize, target: &PathTarget) -> bool {
        let plain = match target {
            PathTarget::Exact(_) | PathTarget::Below(_) => true,
            // `/tmp/x/*`: names in a folder; links among them are removed, not followed.
            PathTarget::Glob { pattern, .. } => !pattern.as_bytes().contains(&b'/'),
            _ => false,
        };
        let canonical = self.operation.resolved.get(index).and_then(|resolved| resolved.canonical.as_deref());
        let (Some(path), Some(root)) = (canonical.filter(|_| plain), self.bases.workspace.as_deref()) else {
            return false;
        };
        // INVARIANT: the first name below the temporary folder is written out. `/tmp/*` is everybody's.
        let folder = path.ancestors().take_while(|above| guard::is_scratch(above, self.facts)).last();
        let entry = folder.and_then(|folder| path.strip_prefix(folder).ok()?.iter().next()?.to_str());
        let own = |name: &str| {
            !name.starts_with('.')
                && !["systemd-", "snap-", "ssh-", "tmux-"].iter().any(|known| name.starts_with(known))
        };
        entry.is_some_and(own) && !path.starts_with(root) && !root.starts_with(path)
    }

    /// Whether these are files below the workspace whose names say that a compiler or a system made them.
    fn is_generated(&self, index: usize, target: &PathTarget) -> bool {
        const GENERATED: &[&str] =
            &["*.pyc", "*.pyo", "*.class", "*.o", "*.gcda", "*.gcno", "*.profraw", ".DS_Store", "Thumbs.db"];
        let PathTarget::Sifted(listing) = target else { return false };
        let Sieve::Named(names) = &listing.sieve else { return false };
        let canonical = self.operation.resolved.get(index).and_then(|resolved| resolved.canonical.as_deref());
        !names.is_empty()
            && names.iter().all(|name| GENERATED.iter().any(|known| known.as_bytes() == name.as_bytes()))
            && canonical.is_some_and(|path| self.bases.inside_workspace(path))
    }

    /// Whether what an effect is about is surely build output of the workspace, or is not there.
    pub(crate) fn is_build_output(&self, index: usize, target: &PathTarget) -> bool {
        let inner = match target {
            PathTarget::Exact(_) | PathTarget::Below(_) => true,
            // What is in a folder of build output is too; its name alone says nothing.
            PathTarget::Glob { pattern, .. } => !pattern.as_bytes().split(|b| *b == b'/').any(|part| part == b".."),
            _ => false,
        };
        let canonical = self.operation.resolved.get(index).and_then(|resolved| resolved.canonical.as_deref());
        let (Some(path), Some(root)) = (canonical.filter(|_| inner), self.bases.workspace.as_deref()) else {
            return false;
        };
        let made = |path: &Path| self.bases.inside_workspace(path) && self.tree.is_build_output(root, path);
        made(path)
            && match target {
                PathTarget::Glob { pattern, .. } => self.tree.goes_through(path, pattern, false, made),
                _ => true,
            }
    }

    /// Whether a write or delete stays inside the workspace; `scratch` counts the temporary folders too.
    pub(crate) fn stays_inside(&self, index: usize, target: &PathTarget, scratch: bool) -> bool {
        let climbs = matches!(target, PathTarget::Glob { pattern, .. }
            if pattern.as_bytes().split(|b| *b == b'/').any(|part| part == b".."));
        if climbs || target.place().is_none_or(Path::is_relative) {
            return false;
        }
        let Some(path) = self.operation.resolved.get(index).and_then(|resolved| resolved.canonical.as_deref()) else {
            return false;
        };
        let inside =
            |path: &Path| self.bases.inside_workspace(path) || (scratch && guard::is_scratch(path, self.facts));
        inside(path)
            && match target {
                PathTarget::Glob { pattern, .. } => self.tree.goes_through(path, pattern, false, inside),
                _ => true,
            }
    }
}
