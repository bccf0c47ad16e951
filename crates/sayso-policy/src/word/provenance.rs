//! Which words of a call come out of files, and not from whoever asks.

use crate::word::Operation;
use sayso_shell::{Analysis, Effect, Files, Kind, Run, RunId, Stands, Target};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Which parts of an operation depend on what stands in files that the analysis followed.
///
/// A script is read to find out what it does, and so its words end up in effects: `bash ~/.ssh/id_rsa` "runs" the lines
/// of the key. Rules judge those words; nobody is shown them who may not read the file.
///
/// INVARIANT: nothing is followed through the analysis. The call is understood a second time with the same files, of
/// which nobody can read a byte; what that does not find as well depends on what they hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    files: Vec<PathBuf>,
    /// Indexes into the operation's effects.
    effects: BTreeSet<usize>,
    runs: BTreeSet<RunId>,
}

impl Provenance {
    /// Of a call that was understood with these files read, by comparison with what is understood without.
    pub(crate) fn of(files: Vec<PathBuf>, (effects, analysis): Understood<'_>, without: Understood<'_>) -> Self {
        let blind: HashSet<String> = without.0.iter().map(|effect| words(effect, without.1)).collect();
        let blind_runs: HashSet<String> = without.1.iter().flat_map(|it| &it.runs).map(words_of_run).collect();
        let depends = |(_, effect): &(usize, &Effect)| !blind.contains(&words(effect, analysis));
        let runs = analysis.iter().flat_map(|it| &it.runs).enumerate();
        let runs = runs.filter(|(_, run)| !blind_runs.contains(&words_of_run(run)));
        Self {
            files,
            effects: effects.iter().enumerate().filter(depends).map(|(index, _)| index).collect(),
            runs: runs.filter_map(|(index, _)| u32::try_from(index).ok().map(RunId)).collect(),
        }
    }

    /// The files that the words come from.
    #[must_use]
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Whether no word comes out of a file.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.effects.is_empty() && self.runs.is_empty()
    }

    /// Whether the effect at this index depends on what a file holds.
    #[must_use]
    pub fn has_effect(&self, index: usize) -> bool {
        self.effects.contains(&index)
    }

    /// The indexes of such effects.
    pub fn effects(&self) -> impl Iterator<Item = usize> {
        self.effects.iter().copied()
    }

    /// Whether a run depends on what a file holds.
    #[must_use]
    pub fn has_run(&self, run: RunId) -> bool {
        self.runs.contains(&run)
    }

    /// Whether one of the operation's effects that is just like this depends on what a file holds.
    #[must_use]
    pub fn covers(&self, operation: &Operation, effect: &Effect) -> bool {
        self.effects.iter().filter_map(|index| operation.effects.get(*index)).any(|known| known == effect)
    }
}

/// Effects, and the analysis that they are of.
pub(crate) type Understood<'a> = (&'a [Effect], Option<&'a Analysis>);

/// Everything of an effect that could be shown, and the place in the command that it is caused by.
fn words(effect: &Effect, analysis: Option<&Analysis>) -> String {
    let run = |id: &RunId| analysis.and_then(|analysis| analysis.run(*id)).map(words_of_run);
    let target = match &effect.target {
        Target::Program(id) => format!("program {:?}", run(id)),
        Target::Wrapper(id) => format!("wrapper {:?}", run(id)),
        Target::Option(id) => format!("option {:?} {:?}", effect.carry, run(id)),
        Target::Code { run: id, language } => format!("code {language} {:?}", run(id)),
        target @ (Target::Anything | Target::Path(_) | Target::Host(_) | Target::Tool) => format!("{target:?}"),
    };
    format!("{:?} {:?} {target}", effect.verb, effect.span)
}

fn words_of_run(run: &Run) -> String {
    format!("{:?} {:?} {:?} {:?} {:?}", run.argv, run.span, run.program, run.env, run.options)
}

/// Files, with a note of each that is read.
pub(crate) struct Noted<'a> {
    files: &'a dyn Files,
    read: RefCell<Vec<PathBuf>>,
}

impl<'a> Noted<'a> {
    pub(crate) fn over(files: &'a dyn Files) -> Self {
        Self { files, read: RefCell::default() }
    }

    /// What was read, each once.
    pub(crate) fn read(&self) -> Vec<PathBuf> {
        self.read.take()
    }

    fn note(&self, path: &Path) {
        let mut read = self.read.borrow_mut();
        if !read.iter().any(|known| known == path) {
            read.push(path.to_owned());
        }
    }
}

impl Files for Noted<'_> {
    fn kind(&self, path: &Path) -> Kind {
        self.files.kind(path)
    }

    fn list(&self, folder: &Path, limit: usize) -> Option<Vec<OsString>> {
        self.files.list(folder, limit)
    }

    fn entries(&self, folder: &Path, limit: usize) -> Option<Vec<(OsString, Stands)>> {
        self.files.entries(folder, limit)
    }

    fn head(&self, path: &Path, limit: usize) -> Option<Vec<u8>> {
        self.files.head(path, limit).inspect(|_| self.note(path))
    }

    fn read(&self, path: &Path, limit: usize) -> Option<Vec<u8>> {
        self.files.read(path, limit).inspect(|_| self.note(path))
    }

    fn read_through(&self, path: &Path, limit: usize, each: &mut dyn FnMut(&[u8])) -> bool {
        self.note(path);
        self.files.read_through(path, limit, each)
    }

    fn stamp(&self, path: &Path) -> Option<String> {
        self.files.stamp(path)
    }

    fn identity(&self, path: &Path) -> Option<(u64, u64)> {
        self.files.identity(path)
    }

    fn changeable(&self, path: &Path) -> bool {
        self.files.changeable(path)
    }

    fn owned(&self, path: &Path) -> bool {
        self.files.owned(path)
    }
}

/// The same files, of which nobody can read a byte.
pub(crate) struct Withheld<'a>(pub(crate) &'a dyn Files);

impl Files for Withheld<'_> {
    fn kind(&self, path: &Path) -> Kind {
        self.0.kind(path)
    }

    fn list(&self, folder: &Path, limit: usize) -> Option<Vec<OsString>> {
        self.0.list(folder, limit)
    }

    fn entries(&self, folder: &Path, limit: usize) -> Option<Vec<(OsString, Stands)>> {
        self.0.entries(folder, limit)
    }

    fn head(&self, _: &Path, _: usize) -> Option<Vec<u8>> {
        None
    }

    fn read(&self, _: &Path, _: usize) -> Option<Vec<u8>> {
        None
    }

    fn read_through(&self, _: &Path, _: usize, _: &mut dyn FnMut(&[u8])) -> bool {
        false
    }

    fn stamp(&self, path: &Path) -> Option<String> {
        self.0.stamp(path)
    }

    fn identity(&self, path: &Path) -> Option<(u64, u64)> {
        self.0.identity(path)
    }

    fn changeable(&self, path: &Path) -> bool {
        self.0.changeable(path)
    }

    fn owned(&self, path: &Path) -> bool {
        self.0.owned(path)
    }
}
