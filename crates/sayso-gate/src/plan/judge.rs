//! A plan is judged step by step, each as if the steps before it had run.

use super::{MOST_STEPS, MOST_TEXT, Plan, PlanAsked, Step, active};
use crate::approval::{Approval, Bound, BoundFile, MOST_PENDING, Question, Standing, USUAL_WAIT_MS};
use crate::audit::{Change, Event, Kind, Seen, fresh_id, now_ms};
use crate::circumstances::Circumstances;
use crate::judgement::asks;
use crate::looked::FactsOf;
use crate::memory::site;
use crate::store::{Memo, Remembered, Store, Subject};
use crate::{Error, Gate, fact};
use sayso_policy::{
    Actor, Answer, Approvers, Counting, Decision, EarlierCall, Facts, GrantKeys, Known, Operation, Past, ToolCall,
    Verdict,
};
use sayso_shell::{Environment, Target, Verb};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A call that a plan names, and the environment that it would have.
pub struct PlannedCall {
    /// The call.
    pub call: ToolCall,
    /// Its environment.
    pub env: Box<dyn Environment + Send + Sync>,
}

impl std::fmt::Debug for PlannedCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PlannedCall").field("call", &self.call).finish_non_exhaustive()
    }
}

/// What became of a plan that was submitted.
#[derive(Clone, Debug, PartialEq)]
pub struct Submitted {
    /// The plan. One that is pending already is the same.
    pub plan: Plan,
    /// Whether people are asked about it.
    pub asked: bool,
}

/// A step that was judged.
struct Judged {
    step: Step,
    addressees: Vec<Option<Arc<Approvers>>>,
    files: Vec<BoundFile>,
}

/// What the steps so far would have done.
#[derive(Default)]
struct Before {
    known: Known,
    /// Which step writes where.
    writes: Vec<(u32, PathBuf)>,
    /// The first step that may write anywhere.
    unseen: Option<u32>,
}

impl Gate {
    /// What the policy says of each step, after those before it. Nothing is kept.
    ///
    /// # Errors
    /// [`Error::Plan`] if these calls make no plan.
    pub fn plan(&self, calls: &[PlannedCall], way_in: &str) -> Result<Plan, Error> {
        self.judge_plan(calls, way_in).map(|(plan, _)| plan)
    }

    /// Judges a plan, records it, and asks people where it needs them.
    ///
    /// # Errors
    /// [`Error::Plan`] if these calls make no plan, or it cannot be kept.
    pub fn submit_plan(&self, calls: &[PlannedCall], way_in: &str) -> Result<Submitted, Error> {
        let (mut plan, judged) = self.judge_plan(calls, way_in)?;
        let Some(memory) = self.memory() else {
            return Err(Error::Plan("a plan needs Sayso's database, and there is none here".to_owned()));
        };
        if plan.verdict == Verdict::Ask && plan.actor.session.is_none() {
            return Err(Error::Plan("a plan needs a session: its approval counts only there".to_owned()));
        }
        let in_force = self.in_force();
        let (store, now) = (memory.store()?.as_ref(), now_ms());
        if plan.verdict != Verdict::Ask {
            store.append(&[Event::from(record(&plan)?)], &[])?;
            return Ok(Submitted { plan, asked: false });
        }
        let question = question(&plan, judged, in_force.policy.plan_lasts_ms(), calls);
        let lasts_ms = question.plan.as_ref().map_or(0, |plan| plan.lasts_ms);
        active::note(memory.places(), &plan.actor, question.expires_ms.saturating_add(lasts_ms))?;
        if let Some(waits) = put(store, &question, now)? {
            // The same plan is pending already.
            plan.id = waits.question.id;
        } else {
            store.append(&[Event::from(record(&plan)?)], &[])?;
        }
        plan.standing = Some(Standing::Pending);
        Ok(Submitted { plan, asked: true })
    }

    fn judge_plan(&self, calls: &[PlannedCall], way_in: &str) -> Result<(Plan, Vec<Judged>), Error> {
        let planned = one_plan(calls)?;
        // By what the owner states of calls that come in here, as the steps will be judged when they run.
        let first = &ToolCall { actor: self.owned(planned.actor.clone()), ..planned.clone() };
        let in_force = self.in_force();
        let mut before = Before { known: self.known_of(first), ..Before::default() };
        let mut judged: Vec<Judged> = Vec::new();
        for (number, planned) in (1_u32..).zip(calls) {
            let call = ToolCall { actor: first.actor.clone(), ..planned.call.clone() };
            judged.push(self.judge_step(number, call, &*planned.env, &mut before)?);
        }
        let steps: Vec<Step> = judged.iter().map(|one| one.step.clone()).collect();
        let verdict = steps.iter().map(|step| step.verdict).max().unwrap_or(Verdict::Ask);
        let decisive = steps.iter().find(|step| step.verdict == verdict && verdict != Verdict::Allow);
        let plan = Plan {
            id: fresh_id(),
            time_ms: now_ms(),
            actor: first.actor.clone(),
            way_in: way_in.to_owned(),
            workspace: first.workspace.root().map(|root| root.display().to_string()),
            policy: in_force.policy.version().to_owned(),
            verdict,
            decisive: decisive.map(|step| step.number),
            steps,
            standing: None,
            used: Vec::new(),
        };
        let text = serde_json::to_string(&plan.steps)?.len();
        if text > MOST_TEXT {
            let most = MOST_TEXT / 1024;
            return Err(Error::Plan(format!("the plan is too long to be looked at (over {most} KiB); split it")));
        }
        Ok((plan, judged))
    }

    /// What the session has really done so far.
    fn known_of(&self, call: &ToolCall) -> Known {
        let policy = &self.in_force().policy;
        let known = match self.memory() {
            Some(memory) if policy.remembers() => {
                fact::known(memory.places(), &fact::Whose::of(&call.actor, call.workspace.root()))
            }
            _ => Known::default(),
        };
        // What a step would write is not there yet.
        Known { rehearsed: true, ..known }
    }

    fn judge_step(
        &self,
        number: u32,
        call: ToolCall,
        env: &dyn Environment,
        before: &mut Before,
    ) -> Result<Judged, Error> {
        let facts = Facts { files: self.files(), env };
        let known = before.known.clone();
        let past = Past::when_asked(move || known.clone());
        let (operation, decision) = self.rehearse(call.clone(), Circumstances::rehearsal(), FactsOf::Call(facts), past);
        let Some(operation) = operation else {
            return Err(Error::Plan(format!("Sayso failed while judging step {number}; please report the bug")));
        };
        let policy = self.in_force();
        let bound = Bound::to(&operation, facts);
        let again = before.makes(&operation, &bound, facts);
        let seen = Seen::asked(&call).bringing(&operation);
        let left_out = seen.left_out();
        let record =
            seen.record(String::new(), Some(&operation), &decision, &Circumstances::rehearsal(), None, Duration::ZERO);
        let text = record.command.clone().unwrap_or_else(|| record.tool.clone());
        let step = Step {
            number,
            tool: record.tool,
            command: record.command,
            arguments: record.arguments,
            env: record.env,
            cwd: record.cwd,
            verdict: verdict(&decision),
            reasons: record.reasons,
            effects: record
                .effects
                .into_iter()
                .map(|effect| crate::audit::EffectRecord { opinions: Vec::new(), ..effect })
                .collect(),
            more_effects: record.more_effects,
            left_out,
            again,
            risk: decision.risk.clone().or_else(|| Some(policy.policy.risk(&operation, facts))),
            asks: asks(&decision),
            digest: bound.step_under(policy.policy.version(), &operation.actor),
        };
        before.note(number, &text, &operation, &decision);
        Ok(Judged { step, addressees: decision.addressees(), files: bound.files })
    }
}

/// What a plan says of a step. A dry-run and a shadow run nothing for real.
fn verdict(decision: &Decision) -> Verdict {
    match decision.answer {
        Answer::Deny => Verdict::Deny,
        Answer::Ask => Verdict::Ask,
        Answer::Allow | Answer::DryRun => Verdict::Allow,
    }
}

/// The first call, if all are those of one actor in one workspace.
fn one_plan(calls: &[PlannedCall]) -> Result<&ToolCall, Error> {
    let Some(first) = calls.first().map(|planned| &planned.call) else {
        return Err(Error::Plan("a plan needs at least one step".to_owned()));
    };
    if calls.len() > MOST_STEPS {
        return Err(Error::Plan(format!("a plan has at most {MOST_STEPS} steps, and this has {}", calls.len())));
    }
    for (number, planned) in (1..).zip(calls) {
        if planned.call.actor != first.actor {
            return Err(Error::Plan(format!("step {number} names another agent or session than step 1")));
        }
        if planned.call.workspace != first.workspace {
            return Err(Error::Plan(format!("step {number} has another workspace than step 1")));
        }
    }
    Ok(first)
}

impl Before {
    /// Why a step asks again when it runs: it runs or goes by what an earlier one makes, and nobody has seen that.
    fn makes(&self, operation: &Operation, bound: &Bound, facts: Facts<'_>) -> Option<String> {
        let programs = operation.analysis.iter().flat_map(|analysis| &analysis.runs);
        let programs = programs.filter_map(|run| run.program.path.as_deref());
        let mut own: BTreeSet<PathBuf> = bound.files.iter().map(|file| file.path.clone()).collect();
        own.extend(programs.map(|path| sayso_shell::canonical(facts.files, path).path));
        for file in &own {
            if let Some((step, _)) = self.writes.iter().find(|(_, written)| file.starts_with(written)) {
                let shown = file.display().to_string();
                let shown = sayso_policy::explain::visible(&shown).into_owned();
                return Some(format!("It runs or goes by `{shown}`, which step {step} changes."));
            }
        }
        let changes = self.unseen.or(self.writes.first().map(|(step, _)| *step));
        match (&bound.only_once, changes) {
            (Some(_), Some(step)) => {
                Some(format!("Not every file that it goes by can be told, and step {step} changes files."))
            }
            _ => None,
        }
    }

    /// What a step would have done.
    fn note(&mut self, number: u32, text: &str, operation: &Operation, decision: &Decision) {
        let call =
            EarlierCall { id: format!("step {number} of this plan"), time_ms: now_ms(), command: text.to_owned() };
        if let Some(deeds) = &decision.deeds {
            for (key, certain) in &deeds.after {
                let better = self.known.after.get(key).is_none_or(|(known, _)| *certain && !*known);
                if better {
                    self.known.after.insert(key.clone(), (*certain, call.clone()));
                }
            }
            self.known.written.extend(deeds.written.iter().map(|path| (path.clone(), call.clone())));
        }
        for (at, effect) in operation.effects.iter().enumerate() {
            match (&effect.target, effect.verb) {
                (Target::Path(target), Verb::Write | Verb::Delete) => {
                    let resolved = operation.resolved.get(at).and_then(|resolved| resolved.canonical.clone());
                    let place = resolved.or_else(|| target.place().map(Path::to_path_buf));
                    match place.filter(|place| place.is_absolute()) {
                        Some(place) => self.writes.push((number, place)),
                        None => self.unseen = self.unseen.or(Some(number)),
                    }
                }
                (Target::Code { .. } | Target::Anything | Target::Option(_), _) => {
                    self.unseen = self.unseen.or(Some(number));
                }
                _ => {}
            }
        }
    }
}

/// The question about a plan that needs people.
fn question(plan: &Plan, judged: Vec<Judged>, lasts_ms: u64, calls: &[PlannedCall]) -> Question {
    let mut addressees: Vec<Option<Arc<Approvers>>> = Vec::new();
    let mut files: Vec<BoundFile> = Vec::new();
    let mut digest = blake3::Hasher::new_derive_key("sayso plan");
    for one in &judged {
        digest.update(one.step.digest.as_bytes());
        if one.step.verdict == Verdict::Ask {
            let new = one.addressees.iter().filter(|to| !addressees.contains(to)).cloned().collect::<Vec<_>>();
            addressees.extend(new);
        }
        let new = one
            .files
            .iter()
            .filter(|file| one.step.again.is_none() && !files.contains(file))
            .cloned()
            .collect::<Vec<_>>();
        files.extend(new);
    }
    // Whom a rule names can answer for anybody.
    if addressees.iter().any(Option::is_some) {
        addressees.retain(Option::is_some);
    } else if addressees.is_empty() {
        addressees.push(None);
    }
    let wait = addressees.iter().flatten().filter_map(|to| to.expires_ms).min().unwrap_or(USUAL_WAIT_MS);
    let digest = digest.finalize().to_hex().to_string();
    let mut reasons: Vec<crate::audit::ReasonRecord> = Vec::new();
    for reason in plan.steps.iter().filter(|step| step.verdict == Verdict::Ask).flat_map(|step| &step.reasons) {
        let known = reasons.iter().any(|it| it.code == reason.code && it.source == reason.source);
        if !known && reasons.len() < MOST_STEPS {
            reasons.push(reason.clone());
        }
    }
    let asks: BTreeSet<String> = plan.steps.iter().flat_map(|step| step.asks.clone()).collect();
    Question {
        id: plan.id.clone(),
        asked_ms: plan.time_ms,
        expires_ms: plan.time_ms.saturating_add(wait),
        exact: digest.clone(),
        digest,
        files,
        policy: plan.policy.clone(),
        actor: plan.actor.clone(),
        way_in: plan.way_in.clone(),
        tool: "plan".to_owned(),
        command: None,
        arguments: None,
        env: None,
        cwd: None,
        workspace: plan.workspace.clone(),
        site: calls.first().and_then(|planned| planned.call.workspace.root()).map(site),
        reasons,
        asks: asks.into_iter().collect(),
        effects: Vec::new(),
        more_effects: 0,
        left_out: plan.steps.iter().any(|step| step.left_out),
        only_once: Some("each step runs once, in order".to_owned()),
        folded: false,
        addressees: addressees.into_iter().map(|to| to.map(|to| (*to).clone())).collect(),
        offers: Vec::new(),
        held: None,
        risk: plan.steps.iter().filter_map(|step| step.risk.clone()).max_by_key(|risk| risk.score),
        plan: Some(Box::new(PlanAsked { steps: plan.steps.clone(), lasts_ms })),
    }
}

/// Puts the question, unless the same plan waits already: that one then.
fn put(store: &dyn Store, question: &Question, now_ms: u64) -> Result<Option<Approval>, Error> {
    let (counting, keys) = (Counting::default(), GrantKeys::default());
    let subject = Subject {
        now_ms,
        actor: &question.actor,
        site: question.site.as_deref(),
        digest: &question.digest,
        grants: Some(&keys),
        counting: &counting,
        hosts: &[],
        call: "",
    };
    let (mut waits, mut full) = (None, false);
    store.turn(&subject, &mut |remembered: Remembered| {
        waits = remembered.approvals.into_iter().find(|approval| approval.standing == Standing::Pending);
        full = waits.is_none() && remembered.pending >= MOST_PENDING;
        let ask = waits.is_none() && !full;
        Memo { ask: ask.then(|| Box::new(question.clone())), ..Memo::default() }
    })?;
    if full {
        return Err(Error::Plan(format!("{MOST_PENDING} calls of this session are already pending")));
    }
    Ok(waits)
}

/// The record of a plan.
fn record(plan: &Plan) -> Result<Change, Error> {
    let what = match plan.verdict {
        Verdict::Allow => "allowed",
        Verdict::Ask => "asked",
        Verdict::Deny => "denied",
    };
    let mut change = Change::now(Kind::Plan, what);
    change.id = format!("{}-plan", plan.id);
    change.about = Some(plan.id.clone());
    change.by = Some(plan.way_in.clone());
    change.actor = Actor { asker: None, ..plan.actor.clone() };
    change.verdict = Some(plan.verdict);
    let decisive = plan.decisive.and_then(|number| plan.steps.iter().find(|step| step.number == number));
    change.rule = decisive.and_then(|step| step.reasons.first()).map(|reason| reason.code.clone());
    let mut kept = plan.clone();
    kept.actor.asker = None;
    change.detail = serde_json::to_value(&kept)?;
    Ok(change)
}
