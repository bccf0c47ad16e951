//! The stages of evaluation, a file each: its section of a policy file, its judge, and its reasons. The order in which
//! they speak stands in `evaluate.rs`.

pub(crate) mod ask;
pub(crate) mod default;
pub(crate) mod essential;
pub(crate) mod grants;
pub(crate) mod held_inside;
pub(crate) mod hold;
pub(crate) mod integrity;
pub(crate) mod limits;
pub(crate) mod mode;
pub(crate) mod models;
pub(crate) mod opinions;
pub(crate) mod patterns;
pub(crate) mod plan;
mod repository;
pub(crate) mod rules;
pub(crate) mod tools;

use crate::hold::HoldSection;
use crate::index::Table;
use crate::judging::Judging;
use crate::policy::{CompiledFile, CompiledPreset, Defaults, Policy};
use crate::role::{Group, Side};
use crate::state::State;
use crate::text::Mode;
use crate::word::{Code, Layer, Opinion, Reason, Stage, Verdict};

/// What every stage is given.
pub(crate) struct Inputs<'a, 'j> {
    pub policy: &'a Policy,
    /// The files whose opinions count, by their mode.
    pub files: Vec<FileInForce<'a>>,
    pub judging: &'a Judging<'j>,
    pub state: &'a State,
}

/// A file whose opinions count.
pub(crate) struct FileInForce<'a> {
    pub file: &'a CompiledFile,
    /// Which of its presets speak.
    pub group: Group,
    /// It calls the tool of this call essential.
    pub essential: bool,
}

impl<'a> FileInForce<'a> {
    /// The presets that speak.
    pub(crate) fn presets(&self) -> impl Iterator<Item = &'a CompiledPreset> + use<'a> {
        self.file.presets_of(self.group)
    }

    /// Its own rules, and those of the presets that speak.
    pub(crate) fn tables(&self) -> impl Iterator<Item = &'a Table> + use<'a> {
        std::iter::once(&self.file.own).chain(self.presets().map(|preset| &preset.table))
    }

    pub(crate) fn defaults(&self) -> &'a Defaults {
        self.file.defaults_of(self.group)
    }

    pub(crate) fn hold(&self) -> Option<&'a HoldSection> {
        self.file.hold_of(self.group)
    }
}

impl<'a, 'j> Inputs<'a, 'j> {
    /// With the files that count in their mode, and the presets of this side.
    pub(crate) fn new(
        policy: &'a Policy,
        judging: &'a Judging<'j>,
        state: &'a State,
        side: &Side,
        counts: impl Fn(&CompiledFile) -> bool,
    ) -> Self {
        let tool = &judging.operation.tool;
        let files = policy.files.iter().enumerate().filter(|(_, file)| counts(file));
        let in_force = |(at, file)| FileInForce { file, group: side.group(at), essential: essential::is(file, tool) };
        let files = files.map(in_force).collect();
        Self { policy, files, judging, state }
    }

    /// Whether foreign files speak. An operator's switch reaches them too, though they have no mode of ours.
    pub(crate) fn hears_foreign(&self) -> bool {
        let counts = |mode: Mode| CompiledFile::counts_in(mode);
        !self.policy.foreign.is_empty() && (self.policy.pinned || self.state.mode.is_none_or(counts))
    }
}

/// An opinion of Sayso's own.
pub(crate) fn built_in(stage: Stage, verdict: Verdict, code: Code, text: impl Into<String>) -> Opinion {
    of_layer(stage, verdict, code, text, Layer::BuiltIn)
}

/// An opinion with one of Sayso's own codes, in the name of a layer.
pub(crate) fn of_layer(stage: Stage, verdict: Verdict, code: Code, text: impl Into<String>, layer: Layer) -> Opinion {
    Opinion {
        stage,
        verdict,
        maybe: false,
        reason: Reason { code: code.into(), text: text.into(), layer, source: None },
        approver: None,
        always: false,
        grant: None,
    }
}
