//! From a policy to bounds: what the kernel can keep, and what it cannot.
//!
//! Bounds know folders, files and names of hosts, and no patterns. So a rule that allows a folder with everything below it
//! becomes a folder that may be written; what other rules keep back inside it is looked up among what was found, and
//! covered file by file. A pattern that cannot be said in that way never widens the bounds: what it allows is left out, what
//! it keeps back is kept back as far as it exists, and the rest is reported as a [`Loss`].
//!
//! INVARIANT: nothing that a rule denies or asks about is inside the bounds, nor anything of Sayso's.

use super::ground::{HoldGround, bases};
use super::hosts;
use super::section::HoldSection;
use super::verdicts::{Said, Verdicts};
use crate::guard;
use crate::pattern::{Bases, PathPattern, Purpose};
use crate::policy::{CompiledFile, Policy};
use crate::role::{self, Side};
use crate::rule::{Pattern, Rule};
use crate::text::Caches;
use crate::word::{Layer, Source, Verdict};
use sayso_shell::Verb;
use sayso_shell::bounds::{Bounds, Cache, CacheView, Decoy, Leave, Shared};
use sayso_shell::program::is_secret_variable;
use std::path::{Path, PathBuf};

/// Bounds, and what of the policy they do not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lowered {
    /// The bounds.
    pub bounds: Bounds,
    /// What could not be said.
    pub losses: Vec<Loss>,
    /// Of what is there in writable folders, what a run must not have made: it steers something, tools load it by
    /// themselves, or a rule keeps it from being written. A key that a test makes is none of these.
    pub steering: Vec<PathBuf>,
}

/// Something that the policy says and bounds cannot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// A sentence.
    pub text: String,
    /// Where in the policy.
    pub source: Option<Source>,
}

impl Loss {
    pub(super) fn of(text: String, source: Option<&Source>) -> Self {
        Self { text, source: source.cloned() }
    }
}

/// Folders of the system that a hold arranges itself.
const SYSTEM: [&str; 3] = ["/dev", "/proc", "/sys"];

fn is_of_system(folder: &Path) -> bool {
    SYSTEM.iter().any(|system| folder.starts_with(system))
}

/// Folders that are written by builds: what is guarded by its name elsewhere is made there all the time. Of a path below the
/// folder that is written: what a project is kept in (`~/build/app`) makes nothing of it a build's.
pub(super) fn is_made_by_builds(below: &Path) -> bool {
    below.iter().any(crate::pattern::is_output_name)
}

/// The same for a path wherever it is: below the workspace, or below the widest folder that is written.
fn is_output_in(ground: &HoldGround, path: &Path) -> bool {
    let widest = || ground.folders.iter().filter(|top| path.starts_with(top)).min_by_key(|top| top.as_os_str().len());
    let top = ground.workspace.as_ref().filter(|root| path.starts_with(root)).or_else(widest);
    top.and_then(|top| path.strip_prefix(top).ok()).is_some_and(is_made_by_builds)
}

/// What is read in place of a secret.
fn decoy_text(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    format!(
        "# Sayso keeps what {name} holds from this run, because the policy does not let it be read.\n\
         # If the run needs it, ask the owner of this machine.\n"
    )
}

/// The bounds of a policy, on this ground.
#[must_use]
pub fn lower(policy: &Policy, ground: &HoldGround) -> Lowered {
    let files: Vec<&CompiledFile> =
        policy.files.iter().filter(|file| CompiledFile::counts_in(policy.mode_of(file, None))).collect();
    let sides = policy.sides(&ground.actor);
    let lowering = Lowering {
        policy,
        ground,
        bases: bases(ground.workspace.as_deref(), ground.home.as_deref()),
        holds: policy.holds_of(&files, &sides),
        sides,
        files,
        lowered: Lowered::default(),
    };
    lowering.run()
}

struct Lowering<'a> {
    policy: &'a Policy,
    ground: &'a HoldGround,
    bases: Bases,
    files: Vec<&'a CompiledFile>,
    sides: Vec<Side>,
    holds: Vec<&'a HoldSection>,
    lowered: Lowered,
}

/// A folder that may be written.
#[derive(Clone, Debug)]
struct Folder {
    path: PathBuf,
    /// `hold.write` says so, whatever rules allow.
    listed: bool,
    source: Option<Source>,
}

/// What is guarded by its name.
struct Guarded {
    secrets: Vec<PathPattern>,
    steers: Vec<PathPattern>,
}

impl Guarded {
    fn new() -> Self {
        Self { secrets: guard::patterns("secrets"), steers: guard::patterns("steers") }
    }

    /// From being read: secrets alone.
    fn keeps(&self, path: &Path, bases: &Bases) -> bool {
        self.secrets.iter().any(|pattern| pattern.matches_path(path, bases, Purpose::Restrict))
    }

    /// From being changed.
    fn covers(&self, path: &Path, bases: &Bases, ground: &HoldGround) -> bool {
        let matches = |pattern: &PathPattern| pattern.matches_path(path, bases, Purpose::Restrict);
        self.keeps(path, bases) || self.steers.iter().any(matches) && !is_output_in(ground, path)
    }

    /// Whether something goes by it: it steers, or is a secret of a name that tools look for.
    fn is_gone_by(&self, path: &Path, bases: &Bases, ground: &HoldGround) -> bool {
        use std::os::unix::ffi::OsStrExt as _;
        let dotted = path.file_name().is_some_and(|name| name.as_bytes().starts_with(b"."));
        let matches = |pattern: &PathPattern| pattern.matches_path(path, bases, Purpose::Restrict);
        let named = self.steers.iter().any(matches) || dotted && self.keeps(path, bases);
        named && !is_output_in(ground, path)
    }
}

impl Lowering<'_> {
    fn run(mut self) -> Lowered {
        let mut folders = self.folders();
        folders.extend(self.stores(&folders));
        self.guard(&folders);
        self.own(&folders);
        self.home(&folders);
        self.scratch(&folders);
        self.caches(&folders);
        self.hosts();
        self.environment();
        let keep = self.ground.keep.as_ref().map(|keep| keep.join("aside"));
        let bounds = &mut self.lowered.bounds;
        bounds.write = folders.into_iter().map(|folder| folder.path).collect();
        bounds.aside = keep.filter(|aside| !bounds.write.iter().any(|folder| aside.starts_with(folder)));
        bounds.need = self.holds.iter().map(|hold| hold.need).max().unwrap_or_default();
        let ends = self.holds.iter().any(|hold| hold.leave == Leave::End);
        bounds.leave = if ends { Leave::End } else { Leave::Session };
        for list in [
            &mut bounds.write,
            &mut bounds.read_only,
            &mut bounds.absent,
            &mut bounds.hide,
            &mut bounds.read,
            &mut bounds.refuse,
        ] {
            list.sort();
            list.dedup();
        }
        // Equal bounds share a session's hold, whatever order things were found in.
        bounds.decoys.sort_by(|one, other| one.path.cmp(&other.path));
        bounds.decoys.dedup();
        self.lowered
    }

    fn lose(&mut self, text: String, source: Option<&Source>) {
        let loss = Loss::of(text, source);
        if !self.lowered.losses.contains(&loss) {
            self.lowered.losses.push(loss);
        }
    }

    /// The folders that every hold lets be written.
    fn folders(&mut self) -> Vec<Folder> {
        let by_rules = self.folders_of_rules();
        let mut of_holds: Vec<Vec<Folder>> = Vec::new();
        for hold in self.holds.clone() {
            let Some(list) = &hold.write else {
                of_holds.push(by_rules.clone());
                continue;
            };
            let mut folders = Vec::new();
            for one in &list.any {
                if !one.pattern.is_folder() {
                    let text = "This is not a folder with everything below it: it lets nothing be written.";
                    self.lose(text.to_owned(), Some(&one.source));
                }
                let source = Some(one.source.clone());
                let found = one.pattern.folders(&self.bases).into_iter().filter(|folder| !is_of_system(folder));
                folders.extend(found.map(|path| Folder { path, listed: true, source: source.clone() }));
            }
            // An untrusted file only narrows: what it lists must be allowed besides.
            if !hold.lifts {
                folders.retain(|folder| by_rules.iter().any(|by| folder.path.starts_with(&by.path)));
                folders.iter_mut().for_each(|folder| folder.listed = false);
            }
            of_holds.push(folders);
        }
        if of_holds.is_empty() {
            of_holds.push(by_rules);
        }
        // INVARIANT: what cannot be written as a whole is left out before the holds are compared: else a part of it, which
        // one of them names, would be more than the whole was.
        let of_holds: Vec<Vec<Folder>> =
            of_holds.into_iter().map(|folders| self.that_can_be_written(folders)).collect();
        let in_each =
            |folder: &Folder| of_holds.iter().all(|of| of.iter().any(|other| folder.path.starts_with(&other.path)));
        of_holds.iter().flatten().filter(|folder| in_each(folder)).cloned().collect()
    }

    fn that_can_be_written(&mut self, folders: Vec<Folder>) -> Vec<Folder> {
        let paths: Vec<&Path> = folders.iter().map(|folder| folder.path.as_path()).collect();
        let said = Verdicts::of(self.policy, self.ground, &self.files).on(&paths);
        let guarded = Guarded::new();
        let mut kept = Vec::new();
        for (folder, said) in folders.iter().zip(said) {
            let named = guarded.covers(&folder.path, &self.bases, self.ground);
            let forbidden = if folder.listed { said.write.restricts(named) } else { said.write.forbids(named) };
            if forbidden || said.read.restricts(guarded.keeps(&folder.path, &self.bases)) || said.excepted {
                let text = format!("`{}` cannot be written: a stricter rule speaks of it.", folder.path.display());
                self.lose(text, folder.source.as_ref());
            } else if self.is_too_wide(&folder.path) {
                let text = format!("`{}` is too wide for a held run to write.", folder.path.display());
                self.lose(text, folder.source.as_ref());
            } else if self.ground.folders.contains(&folder.path) && !self.is_own(&folder.path) {
                kept.push(folder.clone());
            }
        }
        kept
    }

    /// Stores of git outside the workspace, where the work tree itself may be written: as usable as one inside.
    fn stores(&mut self, folders: &[Folder]) -> Vec<Folder> {
        let mut kept = Vec::new();
        for store in &self.ground.stores {
            let tree = store.pointer.parent();
            let around = folders.iter().find(|folder| tree.is_some_and(|tree| tree.starts_with(&folder.path)));
            let Some(around) = around.filter(|_| !folders.iter().any(|it| store.common.starts_with(&it.path))) else {
                continue;
            };
            // A rule about `.git` means this store too.
            let places = [&store.pointer, &store.common, &store.common.join("objects"), &store.common.join("refs")];
            let said = Verdicts::of(self.policy, self.ground, &self.files).on(&places.map(PathBuf::as_path));
            let wide = self.is_too_wide(&store.common) || self.is_own(&store.common) || is_of_system(&store.common);
            let kept_back = |said: &super::verdicts::OfPath| said.write.by_rule || said.excepted || said.read.by_rule;
            if wide || said.len() != places.len() || said.iter().any(kept_back) {
                let text = format!(
                    "`{}`, where the repository of this work tree is kept, cannot be written: commits fail.",
                    store.common.display()
                );
                self.lose(text, around.source.as_ref());
            } else {
                // Listed: no rule allows a place outside the workspace, and none has to.
                kept.push(Folder { path: store.common.clone(), listed: true, source: around.source.clone() });
            }
        }
        kept
    }

    /// Folders for temporary files are everybody's.
    fn scratch(&mut self, folders: &[Folder]) {
        let shared = |path: &&PathBuf| folders.iter().any(|folder| folder.path == **path);
        let since = self.ground.scratch_since;
        let all = self.ground.scratch.iter().filter(shared).map(|path| Shared { path: path.clone(), since });
        self.lowered.bounds.shared = all.collect();
    }

    fn is_own(&self, folder: &Path) -> bool {
        self.ground.own.iter().any(|own| folder.starts_with(&own.path))
    }

    fn is_too_wide(&self, folder: &Path) -> bool {
        let system = folder.parent().is_none();
        let whole_home = self.ground.home.as_deref().is_some_and(|home| home.starts_with(folder));
        system || whole_home
    }

    /// What the rules let be written, as folders.
    fn folders_of_rules(&mut self) -> Vec<Folder> {
        let mut found = Vec::new();
        let sides = self.sides.clone();
        for file in self.files.clone() {
            let closed = self.policy.closed.contains(&Verb::Write) && file.layer != Layer::Managed;
            if !file.counts_allow || closed {
                continue;
            }
            let tables = role::tables(self.policy, file, &sides, true);
            for rule in tables.flat_map(crate::index::Table::each) {
                let (Pattern::Path(pattern), Verdict::Allow, Verb::Write) = (&rule.pattern, rule.verdict, rule.verb)
                else {
                    continue;
                };
                if !rule.when.is_empty() {
                    self.lose(
                        "This rule has conditions, which bounds cannot say: it lets nothing be written.".to_owned(),
                        rule.source.as_ref(),
                    );
                } else if pattern.is_folder() {
                    let source = rule.source.clone();
                    let folders = pattern.folders(&self.bases).into_iter();
                    found.extend(folders.filter(|folder| !is_of_system(folder)).map(|path| Folder {
                        path,
                        listed: false,
                        source: source.clone(),
                    }));
                } else {
                    let text = "This pattern is not a folder with everything below it: it lets nothing be written.";
                    self.lose(text.to_owned(), rule.source.as_ref());
                }
            }
        }
        found
    }

    /// What stays as it is, or is not shown, though it lies where a run may write or read.
    fn guard(&mut self, folders: &[Folder]) {
        let guarded = Guarded::new();
        let around = |path: &Path| folders.iter().filter(|folder| path.starts_with(&folder.path)).collect::<Vec<_>>();
        let verdicts = Verdicts::of(self.policy, self.ground, &self.files);
        let names = self.ground.names.iter().filter(|name| !is_output_in(self.ground, name));
        let paths: Vec<&Path> =
            self.ground.found.iter().map(|found| found.path.as_path()).chain(names.map(PathBuf::as_path)).collect();
        let said = verdicts.on(&paths);
        let Lowered { bounds, steering, .. } = &mut self.lowered;
        for (at, (path, said)) in paths.iter().zip(&said).enumerate() {
            let found = self.ground.found.get(at);
            let named = guarded.covers(path, &self.bases, self.ground);
            let unread = said.read.restricts(guarded.keeps(path, &self.bases));
            let around = around(path);
            // Where one hold goes by what rules allow, they must.
            let by_rules = around.iter().any(|folder| !folder.listed);
            let kept = if by_rules { said.write.forbids(named) } else { said.write.restricts(named) };
            let unwritten = !around.is_empty() && (kept || said.excepted || said.delete.by_rule);
            let by_rule = said.excepted || said.write.by_rule || said.delete.by_rule;
            if found.is_some() && unwritten && (by_rule || guarded.is_gone_by(path, &self.bases, self.ground)) {
                steering.push(path.to_path_buf());
            }
            match found {
                Some(found) if unread && found.folder => bounds.hide.push(found.path.clone()),
                Some(found) if unread && found.tracked => bounds.refuse.push(found.path.clone()),
                Some(found) if unread => {
                    let settings = self.ground.blanked.iter().find(|(path, _)| *path == found.path);
                    let text = match settings {
                        // Tools go by the rest.
                        Some((_, rest)) => format!("{}{rest}", decoy_text(&found.path)),
                        None => decoy_text(&found.path),
                    };
                    bounds.decoys.push(Decoy { path: found.path.clone(), text });
                }
                Some(found) if unwritten => bounds.read_only.push(found.path.clone()),
                None if unwritten => bounds.absent.push(path.to_path_buf()),
                _ => {}
            }
        }
        let inside = |path: &&PathBuf| folders.iter().any(|folder| path.starts_with(&folder.path));
        bounds.read_only.extend(self.ground.git.iter().chain(&self.ground.linked_files).filter(inside).cloned());
        let stores = self.ground.stores.iter().flat_map(|store| &store.steering);
        bounds.read_only.extend(stores.filter(inside).cloned());
        for folder in &self.ground.unexamined.clone() {
            let text = format!("`{}` holds more than is looked at: secrets there can be read.", folder.display());
            self.lose(text, None);
        }
        self.unsaid();
    }

    /// Which rules keep back names that are not there yet, and that only a pattern can say.
    fn unsaid(&mut self) {
        let mut losses = Vec::new();
        for file in &self.files {
            let tables = role::tables(self.policy, file, &self.sides, false);
            for rule in tables.flat_map(crate::index::Table::each) {
                losses.extend(self.unsaid_of(rule));
            }
        }
        for (text, source) in losses {
            self.lose(text, source.as_ref());
        }
    }

    fn unsaid_of(&self, rule: &Rule) -> Option<(String, Option<Source>)> {
        let Pattern::Path(pattern) = &rule.pattern else { return None };
        let writes = matches!(rule.verb, Verb::Write | Verb::Delete);
        if rule.verdict == Verdict::Allow || !writes {
            return None;
        }
        let said = pattern.place(&self.bases).is_some()
            || self.ground.workspace.as_deref().is_some_and(|root| pattern.name_in(root).is_some());
        let text =
            "A held run cannot change the files that this rule is about, but it can make new ones of such names.";
        (!said).then(|| (text.to_owned(), rule.source.clone()))
    }

    /// What is Sayso's.
    fn own(&mut self, folders: &[Folder]) {
        let inside = |path: &Path| folders.iter().any(|folder| path.starts_with(&folder.path));
        let bounds = &mut self.lowered.bounds;
        for own in &self.ground.own {
            // INVARIANT: no other word on the same place is stricter and shows it.
            let below = |path: &PathBuf| !path.starts_with(&own.path);
            bounds.read_only.retain(below);
            bounds.absent.retain(below);
            match (own.there, own.folder) {
                (true, true) => bounds.hide.push(own.path.clone()),
                (true, false) => bounds.refuse.push(own.path.clone()),
                (false, _) if inside(&own.path) => bounds.absent.push(own.path.clone()),
                (false, _) => {}
            }
        }
        let free = |path: &&PathBuf| !self.ground.own.iter().any(|own| path.starts_with(&own.path));
        let kept = self.ground.registration.iter().filter(|path| inside(path)).filter(free);
        bounds.read_only.extend(kept.cloned());
    }

    /// Folders of the home are empty but for what tools need.
    fn home(&mut self, folders: &[Folder]) {
        let homes = || self.ground.home.iter().chain(&self.ground.other_homes).filter(|home| home.parent().is_some());
        let home = |path: &Path| homes().any(|home| path.starts_with(home));
        let written = |home: &Path| folders.iter().any(|folder| folder.path == home);
        if homes().next().is_none() || self.ground.home.as_deref().is_some_and(written) {
            return;
        }
        let own = |path: &Path| self.ground.own.iter().any(|own| path.starts_with(&own.path));
        let bounds = &mut self.lowered.bounds;
        bounds.hide.extend(homes().filter(|home| !written(home)).cloned());
        bounds.read.extend(self.ground.shown.iter().filter(|path| home(path) && !own(path)).cloned());
        // What a rule keeps back as a whole is not shown in part.
        let kept_back = |path: &Path| {
            bounds.decoys.iter().any(|decoy| decoy.path == path) || bounds.refuse.iter().any(|it| it == path)
        };
        let blanked = self
            .ground
            .blanked
            .iter()
            .filter(|(path, _)| !own(path) && !kept_back(path) && !self.ground.is_in_workspace(path));
        bounds.texts = blanked.map(|(path, text)| Decoy { path: path.clone(), text: text.clone() }).collect();
        // Without a yes to write there, the project can still be read.
        bounds.read.extend(self.ground.workspace.iter().filter(|root| home(root)).cloned());
    }

    fn caches(&mut self, folders: &[Folder]) {
        let kind = self.holds.iter().map(|hold| hold.caches).max().unwrap_or_default();
        let keep = self.ground.keep.as_ref().map(|keep| keep.join("caches"));
        for path in &self.ground.caches {
            let own = self.ground.own.iter().any(|own| path.starts_with(&own.path));
            let written = folders.iter().any(|folder| path.starts_with(&folder.path));
            if own || written {
                continue;
            }
            let store = keep.as_ref().map(|keep| keep.join(slot_of(path)));
            let seen = match (kind, store) {
                (Caches::Copy, Some(store)) => CacheView::Copy(store),
                (Caches::Private, Some(store)) => CacheView::Private(store.join("private")),
                (Caches::None, _) | (_, None) => CacheView::Empty,
            };
            self.lowered.bounds.caches.push(Cache { path: path.clone(), seen });
        }
        // INVARIANT: a store that the workspace's files are linked into is not written through them, whatever caches are to be.
        for (path, name) in &self.ground.linked {
            let seen = keep.as_ref().map(|keep| CacheView::Copy(keep.join(slot_of(path)).join(name)));
            match seen {
                Some(seen) if folders.iter().any(|folder| path.starts_with(&folder.path)) => {
                    self.lowered.bounds.caches.push(Cache { path: path.clone(), seen });
                }
                _ => self.lowered.bounds.read_only.push(path.clone()),
            }
        }
    }

    fn hosts(&mut self) {
        let (hosts, losses) = hosts::lower(self.policy, self.ground, (&self.files, &self.sides), &self.holds);
        self.lowered.bounds.hosts = hosts;
        for loss in losses {
            self.lose(loss.text, loss.source.as_ref());
        }
    }

    /// Variables that look like secrets, unless every hold names them.
    fn environment(&mut self) {
        let named = |name: &str| {
            !self.holds.is_empty()
                && self.holds.iter().all(|hold| hold.env.iter().any(|glob| glob.matches(name.as_bytes())))
                && self.holds.iter().all(|hold| hold.lifts)
        };
        let kept_back = |name: &&std::ffi::OsString| match name.to_str() {
            Some(name) => is_secret_variable(name) && !named(name),
            // Nobody can tell what it is.
            None => true,
        };
        let mut withhold: Vec<std::ffi::OsString> = self.ground.env.iter().filter(kept_back).cloned().collect();
        let mut replace = Vec::new();
        for (name, without) in &self.ground.env_with_secrets {
            if withhold.contains(name) || name.to_str().is_some_and(named) {
                continue;
            }
            match without {
                Some(value) => replace.push((name.clone(), value.clone())),
                None => withhold.push(name.clone()),
            }
        }
        replace.sort();
        self.lowered.bounds.withhold = withhold;
        self.lowered.bounds.replace = replace;
    }
}

/// A name for the copy of a cache.
fn slot_of(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt as _;
    blake3::hash(path.as_os_str().as_bytes()).to_hex().chars().take(16).collect()
}

impl Said {
    /// Whether it must be kept back: a rule says so, or it is guarded and no rule names it.
    fn restricts(&self, guarded: bool) -> bool {
        self.by_rule || guarded && self.verdict != Verdict::Allow
    }

    /// Whether it must be kept back where rules alone say what may be written.
    fn forbids(&self, guarded: bool) -> bool {
        self.bare != Verdict::Allow || self.restricts(guarded)
    }
}
