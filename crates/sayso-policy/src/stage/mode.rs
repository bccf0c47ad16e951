//! Stage 2: the mode of a file, or the one that an operator switched on.

use super::built_in;
use crate::policy::{CompiledFile, Policy};
use crate::state::State;
use crate::text::Mode;
use crate::word::{Layer, Opinion, Reason, Stage, Verdict};
use std::borrow::Cow;

/// What an operator's switch says of a call. Returns whether it makes this a rehearsal, where no file is there to say so.
pub(crate) fn judge_switch(policy: &Policy, state: &State, call: &mut Vec<Opinion>) -> Option<bool> {
    if state.mode == Some(Mode::Halt) {
        call.push(halted(Layer::BuiltIn));
    }
    (state.mode == Some(Mode::DryRun) && !policy.pinned && policy.files.is_empty()).then_some(false)
}

/// What a file's mode says of a call. Returns whether it makes this a rehearsal, and if so, whether before anything is
/// denied.
pub(crate) fn judge(
    policy: &Policy,
    file: &CompiledFile,
    state: &State,
    essential: bool,
    call: &mut Vec<Opinion>,
) -> Option<bool> {
    match policy.mode_of(file, state.mode) {
        Mode::Halt if state.mode.is_none() => call.push(halted(file.layer.clone())),
        Mode::DryRun if !essential => return Some(file.dry_run_first),
        _ => {}
    }
    None
}

fn halted(layer: Layer) -> Opinion {
    let text = "Everything is denied: the mode is `halt`.".to_owned();
    let reason = Reason { code: Cow::Borrowed("halted"), text, layer, source: None };
    Opinion { reason, ..built_in(Stage::Mode, Verdict::Deny, "halted", "") }
}
