//! What exactly a person said yes to: the call, where it runs, what its programs are, and what stands in them.

use crate::permit;
use sayso_policy::{Actor, Facts, Operation, Resolved};
use sayso_shell::instruct::{Instructions, Scene, instructions};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The largest file that is looked into, and how much of all files is read; beyond that they are looked at.
const LARGEST: usize = 8 * 1024 * 1024;
const MOST_READ: usize = 32 * 1024 * 1024;

/// An operation, pinned down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Of the operation and the files it would run, whatever the policy.
    pub exact: String,
    /// The same as a step of a plan knows it: whatever the agent says beside a command.
    pub step: String,
    /// The files it would run or go by, as they are.
    pub files: Vec<BoundFile>,
    /// Why there may be more of them than these: a yes holds once then, and nothing of it is remembered.
    pub only_once: Option<String>,
}

/// A file that would run, as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BoundFile {
    /// Where it is.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub path: PathBuf,
    /// Its content's hash, or its stamp; `None`: it is not there, or nothing can be told of it.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub hash: Option<String>,
}

impl Bound {
    /// Pins an operation down.
    #[must_use]
    pub fn to(operation: &Operation, facts: Facts<'_>) -> Self {
        let Instructions { files: paths, open } = steered_by(operation, facts);
        let mut left = MOST_READ;
        let files: Vec<BoundFile> = paths.iter().map(|path| look(facts, path, &mut left)).collect();
        let mut hasher = Both::of(operation);
        // An attacker would have `./notes` answered for and then make it a link to somewhere else, or point the remote
        // of a push at another host: the words stay, what they mean does not.
        let nowhere = Resolved::default();
        let resolved = operation.resolved.iter().chain(std::iter::repeat(&nowhere));
        for (effect, resolved) in operation.effects.iter().zip(resolved) {
            // What a program that nobody knows may do to a file is listed once the file is there: its own output is none
            // of what was answered for, as long as it leads nowhere else.
            if !effect.certain && resolved.canonical == resolved.lexical {
                continue;
            }
            hasher.part(format!("{:?} {:?}", effect.verb, effect.target).as_bytes());
            let path = resolved.canonical.as_deref().map(|path| path.as_os_str().as_encoded_bytes());
            hasher.part(path.unwrap_or_default());
        }
        // The same for the folders it runs in: a link to one project is soon one to another.
        for folder in std::iter::once(&operation.folder).chain(&operation.folders) {
            hasher.part(&[u8::from(folder.is_some())]);
            hasher.part(folder.as_deref().map(|path| path.as_os_str().as_encoded_bytes()).unwrap_or_default());
        }
        for file in &files {
            hasher.part(file.path.as_os_str().as_encoded_bytes());
            hasher.part(file.hash.as_deref().unwrap_or("-").as_bytes());
        }
        hasher.part(open.unwrap_or_default().as_bytes());
        let (exact, step) = hasher.ended();
        Self { exact, step, files, only_once: open.map(str::to_owned) }
    }

    /// Of the same as a step of a plan, asked for by this actor and judged by this policy.
    #[must_use]
    pub fn step_under(&self, policy: &str, actor: &Actor) -> String {
        under(&self.step, policy, actor)
    }

    /// Of the same asked for by this actor and judged by this policy: what a question is bound to. A yes to one
    /// session is none to another.
    #[must_use]
    pub fn under(&self, policy: &str, actor: &Actor) -> String {
        under(&self.exact, policy, actor)
    }
}

fn under(text: &str, policy: &str, actor: &Actor) -> String {
    let mut hasher = blake3::Hasher::new();
    part(&mut hasher, text.as_bytes());
    part(&mut hasher, policy.as_bytes());
    for name in [&actor.tenant, &actor.agent, &actor.team, &actor.member, &actor.session] {
        part(&mut hasher, &[u8::from(name.is_some())]);
        part(&mut hasher, name.as_deref().unwrap_or_default().as_bytes());
    }
    if let Some(asker) = &actor.asker {
        part(&mut hasher, asker.as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

/// The call as it is, and as a step of a plan: they differ in how the call itself is named.
struct Both {
    exact: blake3::Hasher,
    step: blake3::Hasher,
}

impl Both {
    fn of(operation: &Operation) -> Self {
        let (mut exact, mut step) = (blake3::Hasher::new(), blake3::Hasher::new_derive_key("sayso step of a plan"));
        exact.update(permit::digest(operation, "").as_bytes());
        step.update(permit::step_digest(operation).as_bytes());
        Self { exact, step }
    }

    fn part(&mut self, bytes: &[u8]) {
        part(&mut self.exact, bytes);
        part(&mut self.step, bytes);
    }

    fn ended(&self) -> (String, String) {
        (self.exact.finalize().to_hex().to_string(), self.step.finalize().to_hex().to_string())
    }
}

impl BoundFile {
    /// Whether it is still as it was.
    #[must_use]
    pub fn holds(&self, facts: Facts<'_>) -> bool {
        look(facts, &self.path, &mut LARGEST.clone()).hash == self.hash || facts.files.stamp(&self.path) == self.hash
    }
}

fn part(hasher: &mut blake3::Hasher, bytes: &[u8]) {
    hasher.update(&u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_le_bytes());
    hasher.update(bytes);
}

/// A file as it is: its content, or, where it is too large to be read whole, what changes with it.
fn look(facts: Facts<'_>, path: &Path, left: &mut usize) -> BoundFile {
    // Piece by piece: programs have megabytes, and many may be asked about at once.
    let (mut hasher, mut read) = (blake3::Hasher::new(), 0_usize);
    let whole = facts.files.read_through(path, LARGEST.min(*left), &mut |piece| {
        hasher.update(piece);
        read = read.saturating_add(piece.len());
    });
    *left = left.saturating_sub(if whole { read } else { 0 });
    let hash = whole.then(|| hasher.finalize().to_hex().to_string());
    BoundFile { path: path.to_owned(), hash: hash.or_else(|| facts.files.stamp(path)) }
}

/// What the command of a call runs and goes by.
fn steered_by(operation: &Operation, facts: Facts<'_>) -> Instructions {
    let Some(analysis) = &operation.analysis else { return Instructions::default() };
    instructions(Scene {
        analysis,
        cwd: operation.cwd.as_deref(),
        home: operation.home.as_deref(),
        workspace: operation.workspace.root(),
        files: facts.files,
    })
}
