//! What bounds are made from beside the policy: what was found on the machine, as data.

use super::lower::is_made_by_builds;
use crate::ground;
use crate::guard;
use crate::index::Table;
use crate::past::Known;
use crate::pattern::{Bases, PathPattern, Purpose, Tree, Watch};
use crate::policy::{CompiledFile, Policy};
use crate::rule::{Pattern, Rule};
use crate::state::State;
use crate::word::{Actor, Operation, ToolCall, Verdict, Workspace};
use sayso_shell::{Files, Kind, NoEnvironment, Verb};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// What was found on the machine that runs are held on. Paths are canonical.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HoldGround {
    /// The workspace; `None`: it is not known, or too wide for `.` to mean anything.
    pub workspace: Option<PathBuf>,
    /// The home folder.
    pub home: Option<PathBuf>,
    /// Other home folders of the same user: what stands in the user database, where the environment says another. As empty as
    /// the home itself.
    pub other_homes: Vec<PathBuf>,
    /// Of the folders that [`HoldGround::folders_of`] names, those that are there.
    pub folders: Vec<PathBuf>,
    /// What is Sayso's: neither read nor changed, whatever rules say.
    pub own: Vec<Own>,
    /// What registers Sayso with agents, and Sayso's programs: not changed, whatever rules say.
    pub registration: Vec<PathBuf>,
    /// What is there and may be guarded, or spoken of by a rule: below the workspace, and in known places elsewhere.
    pub found: Vec<Found>,
    /// Folders below the workspace in which a repository begins.
    pub repositories: Vec<PathBuf>,
    /// Folders below the workspace that git would take for a store, though they are not called so.
    pub bare: Vec<PathBuf>,
    /// The stores of git in folders that builds fill: not guarded while a run goes on, but looked at when it has ended.
    pub made_stores: Vec<PathBuf>,
    /// What steers git in the repositories of the workspace, there or not.
    pub git: Vec<PathBuf>,
    /// Stores outside the workspace whose work trees are in it, checked in both directions.
    pub stores: Vec<OuterStore>,
    /// Names that would steer something if they came to be.
    pub names: Vec<PathBuf>,
    /// What of the home folder tools need to read: toolchains, and settings without secrets.
    pub shown: Vec<PathBuf>,
    /// Folders in which tools keep what they fetched or built.
    pub caches: Vec<PathBuf>,
    /// Folders of the workspace whose files have other names outside of it: what a run changes in them goes to a copy, which has
    /// this name as long as nothing is installed anew.
    pub linked: Vec<(PathBuf, String)>,
    /// The same of single files, which a run cannot change.
    pub linked_files: Vec<PathBuf>,
    /// Where copies of caches are kept for this workspace, and what appears under a guarded name is moved to.
    pub keep: Option<PathBuf>,
    /// Of what is shown, files that hold secrets, and what they read as without them.
    pub blanked: Vec<(PathBuf, String)>,
    /// The names of variables that the run would get.
    pub env: Vec<OsString>,
    /// Of those, variables whose value holds a secret, and the value without it; `None`: there is no such value.
    pub env_with_secrets: Vec<(OsString, Option<OsString>)>,
    /// Folders for temporary files, which other programs use too.
    pub scratch: Vec<PathBuf>,
    /// What came into being there before this is not the session's, in seconds since 1970.
    pub scratch_since: u64,
    /// Who runs something, as far as that is known: by it a policy may have other presets.
    pub actor: Actor,
    /// What was done in this workspace so far, for rules that ask about it.
    pub past: Known,
    /// How many things may be found; `None`: as many as bounds are made for.
    pub most: Option<usize>,
    /// Not all of the workspace could be looked at, for there is too much.
    pub cut_short: bool,
    /// Other folders that may be written and could not be looked at to the end.
    pub unexamined: Vec<PathBuf>,
}

/// A store of git outside the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OuterStore {
    /// The file in the work tree that leads there.
    pub pointer: PathBuf,
    /// The folder that all work trees of the repository have in common.
    pub common: PathBuf,
    /// What steers git in it, there or not.
    pub steering: Vec<PathBuf>,
}

/// Something that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Where.
    pub path: PathBuf,
    /// It is a folder.
    pub folder: bool,
    /// Git tracks it: what is read in its place could be committed.
    pub tracked: bool,
}

/// A place of Sayso's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Own {
    /// Where.
    pub path: PathBuf,
    /// Something is there.
    pub there: bool,
    /// It is a folder.
    pub folder: bool,
}

/// More than this is not looked at: who guards so much is better served by a folder that is not written at all.
const MOST_FOUND: usize = 4096;

impl HoldGround {
    /// The folders that the policy lets a held run write, if they are there.
    #[must_use]
    pub fn folders_of(policy: &Policy, workspace: Option<&Path>, home: Option<&Path>) -> Vec<PathBuf> {
        let bases = bases(workspace, home);
        let mut found: BTreeSet<PathBuf> = workspace.map(Path::to_owned).into_iter().collect();
        for file in &policy.files {
            let listed = file.holds().flat_map(|hold| &hold.write).flat_map(|list| &list.any);
            found.extend(listed.flat_map(|one| one.pattern.folders(&bases)));
            for rule in tables(file).flat_map(Table::each) {
                if let (Pattern::Path(pattern), Verdict::Allow, Verb::Write) = (&rule.pattern, rule.verdict, rule.verb)
                {
                    found.extend(pattern.folders(&bases));
                }
            }
        }
        found.into_iter().collect()
    }

    /// Looks below the workspace for what may be guarded, or spoken of by a rule, and which names to guard that are not
    /// there. Uses the listing that is kept of the workspace, and leaves one.
    #[must_use]
    pub fn looked_at(mut self, policy: &Policy, files: &dyn Files) -> Self {
        let bases = bases(self.workspace.as_deref(), self.home.as_deref());
        let restricting = Restricting::of(policy);
        if let Some(root) = self.workspace.clone() {
            let call = ToolCall {
                cwd: Some(root.clone()),
                workspace: Workspace::new(root.clone(), self.home.as_deref()),
                home: self.home.clone(),
                ..ToolCall::command("")
            };
            let facts = crate::word::Facts { files, env: &NoEnvironment };
            let operation = Operation::new(call, facts);
            let state = State::default();
            let guards = policy.image.as_ref().map(|image| &image.guards);
            let tree = Tree::over(files, ground::of(policy, &operation, &state, guards));
            match tree.everything_below(&root) {
                Some(below) => self.look(&tree, &below, &root, &restricting, &bases, files),
                None => self.cut_short = true,
            }
            tree.keep();
            self.names.extend(restricting.all().filter_map(|pattern| pattern.name_in(&root)));
        }
        // Programs go by what they find in the folders around theirs, and these are around everybody's temporary ones.
        for scratch in self.scratch.iter().filter(|scratch| self.folders.contains(scratch)) {
            self.names.extend(restricting.all().filter_map(|pattern| pattern.name_in(scratch)));
            self.git.extend([".git", "HEAD"].map(|name| scratch.join(name)));
        }
        // What is around the home is not written as a whole.
        let wide = |folder: &Path| self.home.as_deref().is_some_and(|home| home.starts_with(folder));
        let others = self.folders.iter().filter(|folder| !self.is_in_workspace(folder) && !wide(folder));
        let others: Vec<PathBuf> = others.cloned().collect();
        for folder in others {
            let tree = Tree::over(files, crate::pattern::Ground::unknown());
            match tree.everything_below(&folder) {
                Some(below) => self.look(&tree, &below, &folder, &restricting, &bases, files),
                None => self.unexamined.push(folder),
            }
        }
        for place in restricting.all().filter_map(|pattern| pattern.place(&bases)) {
            let inside = self.is_in_workspace(&place);
            // Of the home only what tools need is seen.
            let seen = self.shown.iter().chain(&self.caches).any(|seen| place.starts_with(seen));
            let hidden = self.home.as_deref().is_some_and(|home| place.starts_with(home)) && !seen;
            if !inside && !hidden {
                self.add(&place, files, |_| false);
            }
        }
        self.names.sort();
        self.names.dedup();
        self
    }

    pub(super) fn is_in_workspace(&self, path: &Path) -> bool {
        self.workspace.as_deref().is_some_and(|root| path.starts_with(root))
    }

    fn look(
        &mut self,
        tree: &Tree<'_>,
        below: &crate::pattern::Below,
        root: &Path,
        restricting: &Restricting,
        bases: &Bases,
        files: &dyn Files,
    ) {
        // A name is compared with all patterns only if one of them may mean it.
        let watch = Watch::new(root, bases, restricting.all());
        let repositories = below.names().filter(|(name, _)| *name == b".git").map(|(_, folder)| folder);
        let of_work = |folder: &Path| !is_made_by_builds(folder.strip_prefix(root).unwrap_or(folder));
        for folder in repositories {
            match of_work(folder) {
                true => self.repositories.push(folder.to_owned()),
                false => self.made_stores.push(folder.join(".git")),
            }
        }
        // Git takes a folder with these names in it for a store, whatever it is called.
        let heads = below.names().filter(|(name, _)| *name == b"HEAD").map(|(_, folder)| folder);
        let in_store = |folder: &Path| folder.iter().any(|part| part == ".git");
        let is_store =
            |folder: &Path| ["objects", "commondir"].iter().any(|name| files.kind(&folder.join(name)) != Kind::Missing);
        let outside = heads.filter(|folder| !in_store(folder.strip_prefix(root).unwrap_or(folder)));
        for folder in outside.filter(|folder| is_store(folder)) {
            match of_work(folder) {
                true => self.bare.push(folder.to_owned()),
                false => self.made_stores.push(folder.to_owned()),
            }
        }
        for (name, folder) in watch.sift(below) {
            let path = folder.join(OsStr::from_bytes(name));
            let any = |patterns: &[PathPattern]| {
                patterns.iter().any(|pattern| pattern.matches_path(&path, bases, Purpose::Restrict))
            };
            let below = path.strip_prefix(root).unwrap_or(&path);
            // What tools fetched or made is no owner's secret, and steers nobody's tools; a rule that names a place means it.
            let placed = any(&restricting.placed);
            let counts = placed
                || any(&restricting.anywhere) && !tree.is_build_output(root, &path)
                || any(&restricting.steers) && !is_made_by_builds(below);
            // Git's own store is guarded file by file: see `git`.
            let of_git = below.iter().rev().skip(1).any(|part| part == ".git");
            if !counts || of_git && !placed {
                continue;
            }
            if self.found.len() >= self.most.unwrap_or(MOST_FOUND) {
                self.cut_short = true;
                return;
            }
            self.add(&path, files, |path| tree.may_be_tracked(path));
        }
    }

    fn add(&mut self, path: &Path, files: &dyn Files, tracked: impl Fn(&Path) -> bool) {
        let folder = match sayso_shell::canonical(files, path).kind {
            Kind::Missing | Kind::Unknown => return,
            Kind::Folder { .. } => true,
            _ => false,
        };
        let found = Found { path: path.to_owned(), folder, tracked: !folder && tracked(path) };
        if !self.found.contains(&found) {
            self.found.push(found);
        }
    }
}

/// What `.` and `~` mean.
pub(super) fn bases(workspace: Option<&Path>, home: Option<&Path>) -> Bases {
    Bases {
        workspace: workspace.map(Path::to_owned),
        permit_workspace: true,
        home: home.map(Path::to_owned),
        ..Bases::default()
    }
}

/// The tables of a file: its own rules, and those of its presets, whoever they are for.
pub(super) fn tables(file: &CompiledFile) -> impl Iterator<Item = &Table> {
    std::iter::once(&file.own).chain(file.presets.iter().map(|preset| &preset.table))
}

/// Every pattern that may keep a held run from reading or writing something.
struct Restricting {
    /// Of rules that name a place.
    placed: Vec<PathPattern>,
    /// Of rules about names wherever they are, and secrets.
    anywhere: Vec<PathPattern>,
    steers: Vec<PathPattern>,
}

impl Restricting {
    fn of(policy: &Policy) -> Self {
        let secrets = guard::patterns("secrets");
        let (placed, mut anywhere): (Vec<_>, Vec<_>) =
            of_rules(policy).into_iter().partition(PathPattern::names_a_place);
        anywhere.extend(secrets);
        Self { placed, anywhere, steers: guard::patterns("steers") }
    }

    fn all(&self) -> impl Iterator<Item = &PathPattern> {
        self.placed.iter().chain(&self.anywhere).chain(&self.steers)
    }
}

fn of_rules(policy: &Policy) -> Vec<PathPattern> {
    let of_rule = |rule: &Rule| {
        let own = (rule.verdict != Verdict::Allow).then(|| rule.pattern.clone());
        let except = rule.except.iter().filter(|_| rule.verdict == Verdict::Allow).cloned();
        own.into_iter().chain(except).collect::<Vec<_>>()
    };
    let path = |pattern: Pattern| if let Pattern::Path(path) = pattern { Some(path) } else { None };
    let rules = policy.files.iter().flat_map(tables).flat_map(Table::each).flat_map(of_rule).filter_map(path);
    let holds = policy.files.iter().flat_map(CompiledFile::holds).filter_map(|hold| hold.write.as_ref());
    let holds = holds.flat_map(|list| list.except.iter().map(|one| one.pattern.clone()));
    rules.chain(holds).collect()
}
