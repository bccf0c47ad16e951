//! Stage 2: the mode of a file, or the one that an operator switched on.

use super::opinions::{Opinions, Rehearsal};
use super::{FileInForce, Inputs, of_layer};
use crate::text::{File, Mode};
use crate::word::{Code, Layer, Opinion, Stage, Verdict};

/// `[mode]` of a file.
///
/// INVARIANT: a file that its owner has not trusted can only tighten, so it neither rehearses, watches nor switches off.
pub(crate) fn section(file: &File, trusted: bool) -> Mode {
    match (file.mode.as_ref().map(|mode| mode.value), trusted) {
        (Some(mode), true) => mode,
        (Some(mode @ (Mode::Halt | Mode::Enforce)), false) => mode,
        _ => Mode::Enforce,
    }
}

/// What modes say of a call as a whole.
pub(crate) fn judge(inputs: &Inputs<'_, '_>, said: &mut Opinions) {
    let Inputs { policy, state, .. } = inputs;
    if state.mode == Some(Mode::Halt) {
        said.call.push(halted(Layer::BuiltIn));
    }
    // Where no file is there to have a mode, the operator's switch speaks for itself.
    if state.mode == Some(Mode::DryRun) && !policy.pinned && policy.files.is_empty() {
        said.rehearsal = Rehearsal::DryRun;
    }
    for FileInForce { file, essential, .. } in &inputs.files {
        match policy.mode_of(file, state.mode) {
            Mode::Halt if state.mode.is_none() => said.call.push(halted(file.layer.clone())),
            Mode::DryRun if !essential => said.rehearsal = Rehearsal::DryRun,
            _ => {}
        }
    }
}

fn halted(layer: Layer) -> Opinion {
    of_layer(Stage::Mode, Verdict::Deny, Code::Halted, "Every call is denied: the mode is `halt`.", layer)
}
