//! Whose calls need an approved plan. Part of the rules: a call of theirs that is not the next step of one asks.

use super::opinions::Opinions;
use super::{FileInForce, Inputs, of_layer};
use crate::compile::Compiler;
use crate::condition::is_actor;
use crate::policy::Policy;
use crate::text::Who;
use crate::word::{Actor, Code, Opinion, Source, Stage, Verdict};

/// How long an approved plan may be carried out where no file says.
pub const USUAL_PLAN_MS: u64 = 2 * 60 * 60 * 1000;

/// `[plan]` of a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlanSection {
    pub require: Vec<RequiredPlan>,
    /// How long an approved plan may be carried out, in milliseconds.
    pub lasts_ms: Option<u64>,
}

/// Somebody whose calls need a plan.
#[derive(Clone, Debug)]
pub(crate) struct RequiredPlan {
    pub who: Who,
    pub source: Option<Source>,
}

/// `[plan]` of a file.
pub(crate) fn section(compiler: &Compiler<'_>) -> PlanSection {
    let Some(text) = &compiler.file.plan else { return PlanSection::default() };
    let required = |who: &crate::text::Spanned<Who>| RequiredPlan {
        who: who.value.clone(),
        source: Some(compiler.file.source(&who.span)),
    };
    let millis =
        |time: &crate::text::Spanned<std::time::Duration>| u64::try_from(time.value.as_millis()).unwrap_or(u64::MAX);
    PlanSection { require: text.require.iter().map(required).collect(), lasts_ms: text.expires.as_ref().map(millis) }
}

impl PlanSection {
    /// What requires a plan of this actor, or of one that it works for.
    fn required_of(&self, actor: &Actor) -> Option<&RequiredPlan> {
        if self.require.is_empty() {
            return None;
        }
        actor.and_above().find_map(|current| {
            let aspects = current.every_aspect();
            self.require.iter().find(|required| aspects.iter().any(|actor| is_actor(&required.who, actor)))
        })
    }
}

/// What the files say of the call as a whole.
pub(crate) fn judge(inputs: &Inputs<'_, '_>, said: &mut Opinions) {
    for FileInForce { file, .. } in &inputs.files {
        if let Some(required) = file.plan.required_of(&inputs.judging.operation.actor) {
            let text = "Calls of this agent need an approved plan, and this is not the next step of one.";
            let mut opinion = of_layer(Stage::Rules, Verdict::Ask, Code::NoPlan, text, file.layer.clone());
            opinion.reason.source.clone_from(&required.source);
            said.call.push(Opinion { always: true, ..opinion });
        }
    }
}

impl Policy {
    /// How long an approved plan may be carried out, in milliseconds: the shortest time that a file says.
    #[must_use]
    pub fn plan_lasts_ms(&self) -> u64 {
        self.files.iter().filter_map(|file| file.plan.lasts_ms).min().unwrap_or(USUAL_PLAN_MS)
    }
}
