//! What is to be remembered of a call: the question it puts, what it takes, the grants it uses.

use super::{Judging, KnownOperation};
use crate::approval::{Question, USUAL_WAIT_MS, offers};
use crate::audit::{Seen, fresh_id};
use crate::grant::GrantUse;
use crate::limit::{RESERVED_MS, Reporter, Reservation};
use crate::plan::PlanUse;
use crate::store::{Memo, Remembered};
use crate::verdict::shown_as_allowed;
use sayso_policy::{Decision, Grant, GrantSelector, Operation, Scope, State, ToolCall, Verdict, explain};

impl Judging<'_> {
    pub(super) fn ask_about(&self, known: &KnownOperation<'_>, state: &State, decision: &Decision) -> Question {
        // Whoever answers sees what a script does that the agent may read anyway.
        let operation = &shown_as_allowed(&self.what.in_force.policy, known.operation.clone(), self.facts());
        let bound = known.bound.as_ref();
        let call = ToolCall {
            actor: operation.actor.clone(),
            cwd: operation.cwd.clone(),
            workspace: operation.workspace.clone(),
            ..ToolCall::new(operation.request.clone())
        };
        let seen = Seen::asked(&call).bringing(operation);
        let left_out = seen.left_out();
        let took = std::time::Duration::ZERO;
        let record = seen.record(fresh_id(), Some(operation), decision, &self.what.circumstances, None, took);
        let addressees = decision.addressees();
        let wait = addressees.iter().flatten().filter_map(|to| to.expires_ms).min().unwrap_or(USUAL_WAIT_MS);
        Question {
            id: record.id,
            asked_ms: state.now_ms,
            expires_ms: state.now_ms.saturating_add(wait),
            digest: known.digest.clone(),
            exact: bound.map(|bound| bound.exact.clone()).unwrap_or_default(),
            files: bound.map(|bound| bound.files.clone()).unwrap_or_default(),
            policy: self.what.in_force.policy.version().to_owned(),
            offers: bound
                .map(|bound| offers(&self.what.in_force.policy, operation, decision, bound, state, self.facts()))
                .unwrap_or_default(),
            addressees: addressees.into_iter().map(|to| to.map(|to| (*to).clone())).collect(),
            actor: operation.actor.clone(),
            way_in: record.way_in,
            tool: record.tool,
            command: record.command,
            arguments: record.arguments,
            env: record.env,
            cwd: record.cwd,
            workspace: record.workspace,
            site: known.site().map(str::to_owned),
            reasons: record.reasons,
            asks: super::asks(decision),
            effects: record.effects,
            more_effects: record.more_effects,
            left_out,
            only_once: bound.and_then(|bound| bound.only_once.clone()),
            folded: false,
            held: self.held.clone(),
            plan: None,
            risk: decision.risk.clone(),
        }
    }

    pub(super) fn reservation(&self, known: &KnownOperation<'_>, now_ms: u64) -> Option<Reservation> {
        (!self.what.counting.is_empty()).then(|| Reservation {
            id: self.what.id.clone(),
            call_id: self.what.circumstances.call_id.clone(),
            by: Reporter::of(&known.operation.actor, &self.what.circumstances.way_in),
            tool: known.operation.tool.canonical.clone(),
            takes: known.takes.usage,
            hosts: known.takes.hosts.clone(),
            call: known.call.clone(),
            expires_ms: now_ms.saturating_add(RESERVED_MS),
        })
    }

    pub(super) fn uses(&self, operation: &Operation, decision: &Decision, now_ms: u64) -> Vec<GrantUse> {
        // As a rule there is none, and others wait for this turn to end.
        if decision.granted().next().is_none() {
            return Vec::new();
        }
        let text = self.said(operation);
        let command = crate::audit::redact_text(&text);
        let target = |effect: Option<usize>| {
            let effect = effect.and_then(|at| operation.effects.get(at));
            effect.map_or_else(|| "the call".to_owned(), |effect| explain::effect::target(operation, effect))
        };
        let one = |(effect, grant): (Option<usize>, &str)| GrantUse {
            grant: grant.to_owned(),
            time_ms: now_ms,
            record: self.what.id.clone(),
            command: command.chars().take(4096).collect(),
            target: crate::audit::said_of(&text, &target(effect)),
        };
        decision.granted().map(one).collect()
    }

    /// The step of an approved plan that the call is: it is used up, also where the call is allowed anyway.
    pub(super) fn use_step(
        &self,
        known: &KnownOperation<'_>,
        remembered: &Remembered,
        memo: &mut Memo,
        now_ms: u64,
    ) -> Option<PlanUse> {
        let used = |grant: &&Grant| memo.uses.iter().any(|one| one.grant == grant.id);
        let is_this = |grant: &&Grant| {
            let same = matches!(&grant.selector, GrantSelector::Digest(digest) if *digest == known.step);
            same && !known.step.is_empty() && grant.verdict == Verdict::Allow
        };
        let steps = || remembered.grants.iter().filter(|grant| grant.plan.is_some());
        let found = steps().find(used).or_else(|| steps().find(is_this))?;
        if !used(&found) {
            let command = self.said(known.operation);
            memo.uses.push(GrantUse {
                grant: found.id.clone(),
                time_ms: now_ms,
                record: self.what.id.clone(),
                command: crate::audit::redact_text(&command).chars().take(4096).collect(),
                target: "the call".to_owned(),
            });
        }
        found.plan.as_ref().map(|step| PlanUse::of(step, &found.id))
    }

    /// The command, or the tool.
    fn said(&self, operation: &Operation) -> String {
        let text = explain::effect::command_text(operation).map(|text| String::from_utf8_lossy(text).into_owned());
        text.unwrap_or_else(|| operation.tool.canonical.clone())
    }

    /// What is said when this denial is the last that a scope may have.
    pub(super) fn stopped(&self, remembered: &Remembered) -> Option<String> {
        let all = |scope: Scope| remembered.usage.get(&scope).map_or(0, |usage| usage.blocked);
        let within = |scope: Scope, per| remembered.blocked.get(&(scope, per)).copied().unwrap_or(0);
        let reached = |(scope, most, per): &&(Scope, u64, Option<std::time::Duration>)| {
            per.map_or_else(|| all(*scope), |per| within(*scope, per)).saturating_add(1) == *most
        };
        let (scope, most, _) = self.what.counting.blocked.iter().find(reached)?;
        Some(format!("{most} calls of this {} were denied, so it is stopped.", scope.as_str()))
    }
}
