//! What exactly a person said yes to: the call, where it runs, what its programs are, and what stands in them.

use super::project;
use crate::permit;
use sayso_policy::{Actor, Facts, Operation, Resolved, runs_anything};
use sayso_shell::{Effect, PathTarget, Run, Target, Verb};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Files that are looked into, and files that are looked at.
const MOST_FILES: usize = 64;
const MOST_STAMPED: usize = 4096;
/// The largest file that is looked into.
const LARGEST: usize = 64 * 1024 * 1024;
/// Programs here are the system's: who can change them needs no question to be answered.
const SYSTEM: [&str; 9] =
    ["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/libexec", "/lib", "/nix/store", "/snap"];

/// An operation, pinned down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Of the operation and the files it would run, whatever the policy.
    pub exact: String,
    /// The files it would run, as they are.
    pub files: Vec<BoundFile>,
}

/// A file that would run, as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoundFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its content's hash, or its stamp; `None`: it is not there, or nothing can be told of it.
    pub hash: Option<String>,
}

impl Bound {
    /// Pins an operation down.
    #[must_use]
    pub fn to(operation: &Operation, facts: Facts<'_>) -> Self {
        let mut paths = programs(operation);
        paths.extend(scripts(operation));
        paths.sort();
        paths.dedup();
        let (read, others) = paths.split_at(paths.len().min(MOST_FILES));
        let (stamped, named) = others.split_at(others.len().min(MOST_STAMPED));
        let mut files: Vec<BoundFile> = read.iter().map(|path| look(facts, path)).collect();
        let at = |path: &PathBuf| BoundFile { path: path.clone(), hash: facts.files.stamp(path) };
        files.extend(stamped.iter().map(at));
        let steers = project::files(operation, facts);
        files.extend(steers.iter().map(|path| look(facts, path)).filter(|file| file.hash.is_some()));
        let mut hasher = blake3::Hasher::new();
        hasher.update(permit::digest(operation, "").as_bytes());
        // An attacker would have `./notes` answered for and then make it a link to somewhere else, or point the remote
        // of a push at another host: the words stay, what they mean does not.
        let nowhere = Resolved::default();
        let resolved = operation.resolved.iter().chain(std::iter::repeat(&nowhere));
        for (effect, resolved) in operation.effects.iter().zip(resolved) {
            part(&mut hasher, format!("{:?} {:?}", effect.verb, effect.target).as_bytes());
            let path = resolved.canonical.as_deref().map(|path| path.as_os_str().as_encoded_bytes());
            part(&mut hasher, path.unwrap_or_default());
        }
        // The same for the folders it runs in: a link to one project is soon one to another.
        for folder in std::iter::once(&operation.folder).chain(&operation.folders) {
            part(&mut hasher, &[u8::from(folder.is_some())]);
            part(&mut hasher, folder.as_deref().map(|path| path.as_os_str().as_encoded_bytes()).unwrap_or_default());
        }
        for file in &files {
            part(&mut hasher, file.path.as_os_str().as_encoded_bytes());
            part(&mut hasher, file.hash.as_deref().unwrap_or("-").as_bytes());
        }
        // Also those that are not there: one that appears changes what runs.
        for path in &steers {
            part(&mut hasher, path.as_os_str().as_encoded_bytes());
        }
        if !named.is_empty() {
            // Nobody can say what so many files hold when the call runs: no answer is one to a later moment.
            part(&mut hasher, crate::audit::fresh_id().as_bytes());
        }
        Self { exact: hasher.finalize().to_hex().to_string(), files }
    }

    /// Of the same asked for by this actor and judged by this policy: what a question is bound to. A yes to one
    /// session is none to another.
    #[must_use]
    pub fn under(&self, policy: &str, actor: &Actor) -> String {
        let mut hasher = blake3::Hasher::new();
        part(&mut hasher, self.exact.as_bytes());
        part(&mut hasher, policy.as_bytes());
        for name in [&actor.tenant, &actor.agent, &actor.team, &actor.member, &actor.session] {
            part(&mut hasher, &[u8::from(name.is_some())]);
            part(&mut hasher, name.as_deref().unwrap_or_default().as_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }
}

impl BoundFile {
    /// Whether it is still as it was.
    #[must_use]
    pub fn holds(&self, facts: Facts<'_>) -> bool {
        look(facts, &self.path).hash == self.hash || facts.files.stamp(&self.path) == self.hash
    }
}

fn part(hasher: &mut blake3::Hasher, bytes: &[u8]) {
    hasher.update(&u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_le_bytes());
    hasher.update(bytes);
}

/// A file as it is: its content, or, where it is too large to be read whole, what changes with it.
fn look(facts: Facts<'_>, path: &Path) -> BoundFile {
    let content = facts.files.read(path, LARGEST).map(|bytes| blake3::hash(&bytes).to_hex().to_string());
    BoundFile { path: path.to_owned(), hash: content.or_else(|| facts.files.stamp(path)) }
}

/// The programs of its own that a command starts.
fn programs(operation: &Operation) -> Vec<PathBuf> {
    let runs = operation.analysis.iter().flat_map(|analysis| &analysis.runs);
    let own = |path: &&PathBuf| !SYSTEM.iter().any(|folder| path.starts_with(folder));
    runs.filter_map(|run| run.program.path.as_ref()).filter(own).cloned().collect()
}

/// What interpreters and shells would read: a script is as good as a program.
fn scripts(operation: &Operation) -> Vec<PathBuf> {
    let Some(analysis) = &operation.analysis else { return Vec::new() };
    let interprets = |run: &Run| run.program.base.as_deref().is_none_or(runs_anything);
    let runs_code = |effect: &Effect| {
        let code = |other: &Effect| matches!(other.target, Target::Code { run, .. } if effect.run == Some(run));
        effect.run.and_then(|id| analysis.run(id)).is_some_and(interprets) || operation.effects.iter().any(code)
    };
    let read = operation.effects.iter().zip(&operation.resolved).filter(|(effect, _)| effect.verb == Verb::Read);
    read.filter(|(effect, _)| runs_code(effect))
        .filter_map(|(effect, resolved)| match (&effect.target, &resolved.canonical) {
            (Target::Path(PathTarget::Exact(_)), Some(path)) => Some(path.clone()),
            (Target::Path(PathTarget::Exact(path)), None) => Some(path.clone()),
            _ => None,
        })
        .collect()
}
