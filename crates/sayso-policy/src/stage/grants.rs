//! Stage 8: remembered answers turn an Ask into Allow, effect by effect.

use crate::judging::Judging;
use crate::pattern::{HostPattern, PathPattern, Purpose, RunPattern, ToolPattern};
use crate::policy::CompiledFile;
use crate::state::{Grant, GrantSelector, State};
use crate::word::{Layer, Opinion, Reason, Stage, Tri, Verdict};
use sayso_shell::{Carry, Effect, Target, Verb};
use std::borrow::Cow;

/// The grant that answers an effect's Ask, if one does.
///
/// INVARIANT: never an Ask of limits, of a tool's changed definition, or of a rule that says `always`; only an Ask
/// that its giver could have answered.
pub(crate) fn judge(
    judging: &Judging<'_>,
    files: &[&CompiledFile],
    state: &State,
    effect: &Effect,
    index: usize,
    asks: &[&Opinion],
) -> Option<Opinion> {
    if asks.iter().any(|ask| ask.always || ask.stage == Stage::Limits || ask.stage == Stage::Integrity) {
        return None;
    }
    let grant = state.grants.iter().find(|grant| {
        grant.verdict == Verdict::Allow
            && in_force(grant, judging, state)
            && asks.iter().all(|ask| could_answer(grant, ask, files))
            && selects(grant, judging, state, effect, index)
    })?;
    Some(Opinion {
        stage: Stage::Grants,
        verdict: Verdict::Allow,
        maybe: false,
        reason: Reason {
            code: Cow::Borrowed("granted"),
            text: format!("{} said yes to this before (grant {}).", grant.giver, grant.id),
            layer: Layer::Grant,
            source: None,
        },
        approver: None,
        always: false,
    })
}

fn in_force(grant: &Grant, judging: &Judging<'_>, state: &State) -> bool {
    let actor = &judging.operation.actor;
    let here = judging.operation.workspace.root().map(|root| root.to_string_lossy());
    grant.uses_left != Some(0)
        && grant.expires_ms.is_none_or(|end| state.now_ms < end)
        && grant.workspace.as_deref().is_none_or(|workspace| here.as_deref() == Some(workspace))
        && grant.session.as_ref().is_none_or(|session| actor.session.as_ref() == Some(session))
        && grant.actor.tenant.as_ref().is_none_or(|tenant| actor.tenant.as_ref() == Some(tenant))
        && grant.actor.agent.as_ref().is_none_or(|agent| actor.agent.as_ref() == Some(agent))
}

fn could_answer(grant: &Grant, ask: &Opinion, files: &[&CompiledFile]) -> bool {
    let Some(group) = ask.approver.as_deref() else { return true };
    files.iter().flat_map(|file| &file.approvals).any(|approval| {
        approval.name.value == group && approval.members.iter().any(|member| member.value == grant.giver)
    })
}

fn selects(grant: &Grant, judging: &Judging<'_>, state: &State, effect: &Effect, index: usize) -> bool {
    let (verb, pattern) = match &grant.selector {
        GrantSelector::Digest(digest) => return state.digest.as_ref() == Some(digest),
        GrantSelector::Pattern { verb, pattern } => (*verb, pattern),
    };
    match (&effect.target, verb) {
        (Target::Program(id) | Target::Wrapper(id), Verb::Run) => RunPattern::parse(pattern, &mut |_| Ok(Vec::new()))
            .is_ok_and(|pattern| judging.matches_run(&pattern, *id, Purpose::Permit) == Tri::Yes),
        (Target::Option(id) | Target::Code { run: id, .. }, Verb::Run) => {
            let Carry::Named { by, .. } = &effect.carry else { return false };
            let Some(run) = judging.run(*id) else { return false };
            RunPattern::parse(pattern, &mut |_| Ok(Vec::new()))
                .is_ok_and(|pattern| pattern.names(by, run, &judging.bases))
        }
        (Target::Path(target), verb) if verb == effect.verb => PathPattern::parse(pattern).is_ok_and(|pattern| {
            judging.guard(index).is_none_or(|guard| guard.named_by(&pattern))
                && judging.matches_path(&pattern, index, verb, target, Purpose::Permit) == Tri::Yes
        }),
        (Target::Host(target), Verb::Connect) => {
            HostPattern::parse(pattern).is_ok_and(|pattern| pattern.matches(target, Purpose::Permit) == Tri::Yes)
        }
        (Target::Tool, Verb::Call) => ToolPattern::parse(pattern)
            .is_ok_and(|patterns| ToolPattern::any_matches(&patterns, &judging.operation.tool, Purpose::Permit)),
        _ => false,
    }
}
