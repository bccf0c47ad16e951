//! A judgement in the making: one call, the policy of this moment, what is remembered, and people who are asked.

mod memo;
mod question;

use crate::approval::{Approval, Bound, HeldRun, Presence, Question, Standing, Waited, wait_for};
use crate::audit::{Change, Event, Kind, PastRecord, fresh_id, now_ms};
use crate::circumstances::{Asking, Circumstances};
use crate::limit::{Outcome, Takes, Which, same};
use crate::looked::Looked;
use crate::memory::{Memory, site};
use crate::mode::Switch;
use crate::plan::{self, PlanUse};
use crate::policy::{InForce, Live};
use crate::store::{Memo, Remembered, Store, Subject};
use crate::verdict::{answer, denied, judged, shown_as_allowed, tighten, understand};
use crate::{Error, Record, fact, reason};
use question::unanswered;
use sayso_policy::text::Mode;
use sayso_policy::{
    Answer, Area, CanHold, Code, Counting, Decision, Facts, GrantKeys, Holding, Operation, Opinion, Past, Reason,
    Stage, State, ToolCall, Verdict, Wrote,
};
use std::cell::OnceCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// One call while it is judged.
pub(crate) struct Judging<'a> {
    pub(crate) what: JudgedCall,
    policy: &'a Live,
    memory: Option<&'a Memory>,
    looked: Looked<'a>,
    /// The question that waits for people; of a call that may run, the one that let it pass.
    question: Option<String>,
    reserved: bool,
    /// What the store keeps and the record knows nothing of, or does not know to the end; and why it does not count.
    distrusted: Vec<(String, Reason)>,
    /// Nothing can be said before it is pinned down what a yes would be one to.
    unpinned: bool,
    /// The held run that wants it.
    pub(crate) held: Option<HeldRun>,
    /// Whether the call's session has a plan that may be approved; looked at when it matters.
    planned: OnceCell<bool>,
    /// The step of an approved plan that the call is.
    pub(crate) step: Option<PlanUse>,
}

/// What is judged, and by which policy: what can be set aside and taken up by another thread.
pub(crate) struct JudgedCall {
    /// The id of its record.
    pub(crate) id: String,
    pub(crate) call: ToolCall,
    /// How it came in.
    pub(crate) circumstances: Circumstances,
    /// When it came. What it waited for others is left out.
    pub(crate) began: Instant,
    /// The policy of this moment.
    pub(crate) in_force: Arc<InForce>,
    /// What an operator switched on.
    pub(crate) switch: Option<Switch>,
    counting: Counting,
    /// What the session would have done, where nobody makes the call.
    pub(crate) rehearsed: Past,
}

/// What a call takes of limits, under the id of its record.
pub(crate) struct ReservedBudget {
    store: Arc<dyn Store>,
    record: String,
}

impl ReservedBudget {
    /// The call does not run after all.
    pub(crate) fn give_back(&self) {
        let outcome = Outcome { not_run: true, ..Outcome::default() };
        // If even that fails, the budget stays smaller than it could be: nothing is less safe.
        let _ = self.store.settle(&Which::Record(self.record.clone()), &outcome, now_ms());
    }
}

/// What was seen of files before a call had its turn is looked at again after so long.
pub(crate) const GOOD_FOR: Duration = Duration::from_millis(50);
/// Turns of one call: others may be faster.
const MOST_TURNS: usize = 3;
/// What one call may find in the store that the record knows nothing of.
const MOST_DISTRUSTED: usize = 16;

/// An operation as memory knows it.
struct KnownOperation<'o> {
    operation: &'o Operation,
    /// What a yes to it is bound to; `None`: nobody is asked by Sayso and no yes is in play, so no file was looked at.
    bound: Option<Bound>,
    /// What answers are looked up by that may have been given to it; there if one may be in play.
    grants: Option<GrantKeys>,
    /// What is said of it where nothing that is remembered counts, and when that was found.
    alone: Option<(Decision, Instant)>,
    /// What a question about it is bound to.
    digest: String,
    /// What a step of a plan that it may be is bound to.
    step: String,
    /// Names the call, to see it repeated; empty where no limit is about that.
    call: String,
    /// Found when it is asked for: links and repositories are looked at.
    site: OnceCell<Option<String>>,
    takes: Takes,
    /// Who waits for questions.
    present: Vec<Presence>,
    /// People were asked already: the caller's own prompt may be used at last, and no new question is put.
    asked: bool,
}

impl KnownOperation<'_> {
    /// The name under which grants know the workspace.
    fn site(&self) -> Option<&str> {
        self.site.get_or_init(|| self.operation.workspace.root().map(site)).as_deref()
    }
}

impl<'a> Judging<'a> {
    /// A call that has come just now, by the policy of this moment.
    pub(crate) fn open(
        policy: &'a Live,
        memory: Option<&'a Memory>,
        (mut call, circumstances): (ToolCall, Circumstances),
        looked: Looked<'a>,
    ) -> Self {
        let began = Instant::now();
        let in_force = policy.current();
        // A rehearsal says what would be said of the call now: under the operator's switch like any other.
        let switch = memory.and_then(|memory| memory.switch(looked.once(), now_ms()));
        let memory = memory.filter(|_| circumstances.asking != Asking::Rehearsal);
        let counting = match circumstances.asking {
            Asking::Rehearsal => Counting::default(),
            _ => in_force.policy.counting(switch.as_ref().map(|switch| switch.mode)),
        };
        call.actor = in_force.policy.owned(call.actor, circumstances.asking == Asking::Rehearsal);
        let what = JudgedCall {
            id: fresh_id(),
            call,
            circumstances,
            began,
            in_force,
            switch,
            counting,
            rehearsed: Past::default(),
        };
        Self::take_up(what, policy, memory, looked)
    }

    /// A call that was set aside.
    pub(crate) fn take_up(what: JudgedCall, policy: &'a Live, memory: Option<&'a Memory>, looked: Looked<'a>) -> Self {
        let memory = memory.filter(|_| what.circumstances.asking != Asking::Rehearsal);
        Self {
            what,
            policy,
            memory,
            looked,
            question: None,
            reserved: false,
            distrusted: Vec::new(),
            unpinned: false,
            held: None,
            planned: OnceCell::new(),
            step: None,
        }
    }

    /// Normalise and analyse.
    pub(crate) fn understand(&self) -> Option<Operation> {
        let operation = understand(&self.what.in_force.policy, self.what.call.clone(), self.facts())?;
        Some(match self.what.circumstances.asking {
            Asking::Rehearsal => shown_as_allowed(&self.what.in_force.policy, operation, self.facts()),
            _ => operation,
        })
    }

    /// What the policy alone says, and when that was.
    pub(crate) fn evaluate(&self, operation: Option<&Operation>) -> (Decision, Instant) {
        (judged(&self.what.in_force, operation, &self.state(), self.facts()), Instant::now())
    }

    /// Whether limits or remembered answers count, or people may have to be asked.
    pub(crate) fn needs_memory(&self, operation: Option<&Operation>, alone: &Decision) -> bool {
        operation.is_some()
            && (self.is_limited() || alone.answer == Answer::Ask && self.memory.is_some() || self.is_planned(alone))
    }

    /// Whether an allowed call may be a step of an approved plan, which it then uses up: later steps wait for it.
    fn is_planned(&self, alone: &Decision) -> bool {
        let looked =
            || self.memory.is_some_and(|memory| plan::is_active(memory.places(), &self.what.call.actor, now_ms()));
        alone.answer == Answer::Allow && *self.planned.get_or_init(looked)
    }

    /// What limits and remembered answers say to it. Memory is opened only for limits and for an Ask.
    pub(crate) fn remember(&mut self, operation: Option<&Operation>, alone: (Decision, Instant)) -> Decision {
        let decision = match (operation, self.memory) {
            _ if self.alarm().is_some() => self.under_alarm(alone.0),
            (Some(operation), _) if !self.needs_memory(Some(operation), &alone.0) => alone.0,
            (Some(operation), Some(memory)) => self.recall(memory, operation, alone),
            (Some(_), None) => self.failed(reason::STORE_FAILED, "limits are in force, and there is no database here"),
            (None, _) => alone.0,
        };
        self.under_switch(decision)
    }

    /// What is wrong with the record, as far as this process knows.
    fn alarm(&self) -> Option<Arc<str>> {
        self.memory.and_then(Memory::alarm)
    }

    /// INVARIANT: nothing is allowed, and nobody is asked, while the record is known to be altered: an answer, a budget or a
    /// mode may be missing from it.
    fn under_alarm(&self, mut decision: Decision) -> Decision {
        if let Some(what) = self.alarm().filter(|_| decision.answer != Answer::Deny) {
            self.reserved().iter().for_each(ReservedBudget::give_back);
            tighten(&mut decision, Verdict::Deny, &reason::built_in(reason::RECORD_ALTERED, reason::altered(&what)));
        }
        decision
    }

    /// Whether what was used before counts.
    pub(crate) fn is_limited(&self) -> bool {
        !self.what.counting.is_empty()
    }

    fn facts(&self) -> Facts<'_> {
        self.looked.facts()
    }

    pub(crate) fn under_switch(&self, mut decision: Decision) -> Decision {
        if let Some(switch) = &self.what.switch {
            // What denies comes first, whatever an operator has switched on.
            let place = if decision.answer == Answer::Deny { decision.reasons.len() } else { 0 };
            decision.reasons.insert(place, switch.reason());
        }
        decision
    }

    /// Waits for people, where there are any to wait for; where none are left, what becomes of an unanswered Ask.
    pub(crate) fn ask(&mut self, operation: Option<&Operation>, decision: &mut Decision) {
        if decision.answer == Answer::Ask
            && let (Some(memory), Some(operation)) = (self.memory, operation)
            && let (Some(id), Asking::Queue { until, .. }) = (self.question.clone(), self.what.circumstances.asking)
        {
            let said = self.guarded(|judging| judging.await_people(memory, &id, until, operation));
            *decision = self.under_switch(self.under_alarm(said));
        }
        if decision.answer == Answer::Ask && !self.leaves_to_caller(decision) && self.waits(decision).is_none() {
            unanswered(decision, self.question.as_deref());
        }
    }

    /// The question that waits for people, where the caller holds the call or comes back.
    pub(crate) fn waits(&self, decision: &Decision) -> Option<String> {
        let holds = matches!(self.what.circumstances.asking, Asking::Ticket { .. }) && decision.answer == Answer::Ask;
        self.question.clone().filter(|_| holds)
    }

    /// The question that was put, was found to wait, or let the call pass.
    pub(crate) fn question(&self) -> Option<&str> {
        self.question.as_deref()
    }

    /// Whether somebody makes the call.
    pub(crate) fn is_real(&self) -> bool {
        self.what.circumstances.asking != Asking::Rehearsal
    }

    /// What is reserved for the call, to be given back if it does not run after all.
    pub(crate) fn reserved(&self) -> Option<ReservedBudget> {
        match (self.reserved, self.memory.map(Memory::store)) {
            (true, Some(Ok(store))) => Some(ReservedBudget { store: Arc::clone(store), record: self.what.id.clone() }),
            _ => None,
        }
    }

    fn state(&self) -> State {
        State {
            now_ms: now_ms(),
            mode: self.mode(),
            findings: self.what.circumstances.findings.clone(),
            can_hold: self.what.circumstances.can_hold,
            past: self.past(),
            ..State::default()
        }
    }

    /// What the session has done so far, looked at where a rule asks.
    pub(crate) fn past(&self) -> Past {
        match self.memory {
            Some(memory) if self.what.in_force.policy.remembers() => fact::past(memory.places(), self.whose()),
            _ => self.what.rehearsed.clone(),
        }
    }

    fn whose(&self) -> fact::Whose {
        fact::Whose::of(&self.what.call.actor, self.what.call.workspace.root())
    }

    /// Keeps what the call does where a rule may ask about it later, and says in its record what was known of earlier ones.
    pub(crate) fn keep_fact(
        &self,
        operation: Option<&Operation>,
        decision: &Decision,
        record: &mut Record,
    ) -> Result<Option<fact::Kept>, Error> {
        let policy = &self.what.in_force.policy;
        let (Some(operation), Some(memory)) = (operation, self.memory.filter(|_| policy.remembers())) else {
            return Ok(None);
        };
        let by_rule = |opinion: &Opinion| opinion.stage == Stage::Rules && opinion.verdict >= Verdict::Ask;
        let restricted = decision.effects.iter().flat_map(|effect| &effect.opinions).any(by_rule);
        let wrote = match restricted {
            true => {
                let past = self.past();
                let wrote = policy.wrote(operation, &past, self.facts());
                record.past = past_of(&past, &wrote);
                wrote
            }
            false => Vec::new(),
        };
        let prompts = decision.answer == Answer::Ask && self.what.circumstances.asking.has_own_prompt();
        if !(decision.answer == Answer::Allow || prompts) {
            return Ok(None);
        }
        let mut deeds = decision.deeds.clone().unwrap_or_else(|| policy.deeds(operation, self.facts()));
        let can_hold = self.what.circumstances.can_hold != CanHold::No;
        let held = matches!(decision.hold, Some(Holding::Required(_)))
            || can_hold && matches!(decision.hold, Some(Holding::Wanted(_)));
        if held && policy.remembers_writes() {
            deeds.add(Area::everywhere());
        }
        let contents = || wrote.iter().filter_map(|file| file.content.clone()).collect::<Vec<_>>();
        // A hold answers for one run; only a person says yes to a content.
        let yes = decision.answer == Answer::Allow && !matches!(decision.hold, Some(Holding::Required(_)));
        if deeds.is_empty() && contents().is_empty() {
            return Ok(None);
        }
        let text = record.command.clone().unwrap_or_else(|| match deeds.written.first() {
            Some(path) => format!("{} {}", record.tool, path.display()),
            None => record.tool.clone(),
        });
        let fact = fact::Fact {
            yes: if yes { contents() } else { Vec::new() },
            asked: if prompts { contents() } else { Vec::new() },
            call_id: self.what.circumstances.call_id.clone().filter(|_| prompts),
            ..fact::Fact::of(&self.what.id, &text, &deeds)
        };
        fact::keep(memory.places(), self.whose(), &fact).map(Some)
    }

    fn mode(&self) -> Option<Mode> {
        self.what.switch.as_ref().map(|switch| switch.mode)
    }

    /// Whether the caller's own prompt is where this Ask is answered. Never where a rule names who answers: whoever
    /// sits at that prompt may be none of them.
    fn leaves_to_caller(&self, decision: &Decision) -> bool {
        self.what.circumstances.asking.has_own_prompt()
            && self.what.in_force.policy.unanswered().is_none()
            && decision.addressees().iter().all(Option::is_none)
    }

    fn failed(&self, code: Code, why: &str) -> Decision {
        let text = format!("Sayso's database failed: {why}. The call does not run.");
        denied(&self.what.in_force, reason::built_in(code, text))
    }

    /// What fails, and what panics, denies.
    fn guarded(&mut self, judge: impl FnOnce(&mut Self) -> Result<Decision, Error>) -> Decision {
        match catch_unwind(AssertUnwindSafe(|| judge(self))) {
            Ok(Ok(decision)) => decision,
            Ok(Err(error @ Error::Replaced(_))) => self.failed(reason::STORE_REPLACED, &error.to_string()),
            Ok(Err(Error::Altered(what))) => {
                denied(&self.what.in_force, reason::built_in(reason::RECORD_ALTERED, reason::altered(&what)))
            }
            Ok(Err(error)) => self.failed(reason::STORE_FAILED, &error.to_string()),
            Err(_) => judged(&self.what.in_force, None, &State::default(), self.facts()),
        }
    }

    /// The call's turn with what is remembered.
    fn recall(&mut self, memory: &Memory, operation: &Operation, alone: (Decision, Instant)) -> Decision {
        self.guarded(|judging| {
            let store = memory.store()?;
            let mut known = judging.know(operation);
            // Where limits alone want a look at what is remembered, no yes is in play as a rule.
            if !judging.is_limited() || alone.0.answer == Answer::Ask || judging.is_planned(&alone.0) {
                known.grants = Some(GrantKeys::of(operation, None));
            }
            known.alone = Some(alone);
            known.present = judging.present(store.as_ref())?;
            judging.turn(store.as_ref(), &mut known)
        })
    }

    fn know<'o>(&self, operation: &'o Operation) -> KnownOperation<'o> {
        KnownOperation {
            digest: String::new(),
            step: String::new(),
            bound: None,
            grants: None,
            alone: None,
            call: if self.what.counting.repeats.is_empty() { String::new() } else { same::name(operation) },
            site: OnceCell::new(),
            takes: self.takes(operation),
            present: Vec::new(),
            asked: matches!(self.what.circumstances.asking, Asking::Ticket { asked: true }),
            operation,
        }
    }

    /// Pins down what a yes to the call is one to.
    fn bind(&self, known: &mut KnownOperation<'_>) {
        let bound = Bound::to(known.operation, self.facts());
        known.digest = bound.under(self.what.in_force.policy.version(), &known.operation.actor);
        known.step = bound.step_under(self.what.in_force.policy.version(), &known.operation.actor);
        let mut keys = GrantKeys::of(known.operation, Some(&bound.exact));
        keys.add_step(&known.step);
        known.grants = Some(keys);
        known.bound = Some(bound);
    }

    /// What the call takes; counted only where something is limited, for whole folders may have to be looked at.
    fn takes(&self, operation: &Operation) -> Takes {
        match self.what.counting.is_empty() {
            true => Takes::default(),
            false => Takes::of(operation, self.what.circumstances.expected, self.facts()),
        }
    }

    /// Who waits for questions: only a way in with a queue needs to know.
    fn present(&self, store: &dyn Store) -> Result<Vec<Presence>, Error> {
        match self.what.circumstances.asking {
            Asking::Queue { .. } => store.present(now_ms()),
            Asking::OwnPrompt | Asking::Nobody | Asking::Ticket { .. } | Asking::Rehearsal => Ok(Vec::new()),
        }
    }

    fn turn(&mut self, store: &dyn Store, known: &mut KnownOperation<'_>) -> Result<Decision, Error> {
        let counting = self.what.counting.clone();
        let mut said = None;
        let mut turns = 0;
        while turns < MOST_TURNS {
            let subject = Subject {
                now_ms: now_ms(),
                actor: &known.operation.actor,
                site: known.grants.as_ref().and_then(|_| known.site()),
                digest: &known.digest,
                grants: known.grants.as_ref(),
                counting: &counting,
                hosts: &known.takes.hosts,
                call: &known.call,
            };
            let turned = store.turn(&subject, &mut |remembered| {
                let (decision, memo) = self.weigh(known, remembered, subject.now_ms);
                self.reserved = memo.reserve.is_some();
                said = Some(decision);
                memo
            });
            match turned {
                // Another call was faster: what is left is looked at again.
                Err(Error::UsedUp(_)) => {
                    said = None;
                    turns += 1;
                }
                Err(Error::Forged(id)) if self.distrusted.len() < MOST_DISTRUSTED => {
                    said = None;
                    let why = format!("The store has {id} as approved, but the record does not, so it does not count.");
                    self.distrust(store, id, reason::built_in(reason::NOT_IN_RECORD, why))?;
                }
                Err(Error::Gap(id)) if self.distrusted.len() < MOST_DISTRUSTED => {
                    said = None;
                    let why = format!(
                        "Records are missing since {id} was given, and one of them may have revoked it. It does not count."
                    );
                    self.distrust(store, id, reason::built_in(reason::RECORD_GAP, why))?;
                }
                Err(error) => return Err(error),
                Ok(()) if std::mem::take(&mut self.unpinned) && known.bound.is_none() => {
                    said = None;
                    self.bind(known);
                }
                Ok(()) => break,
            }
        }
        said.ok_or_else(|| Error::UsedUp("the saved answer".to_owned()))
    }

    /// Leaves something out from now on, and says so loudly.
    fn distrust(&mut self, store: &dyn Store, id: String, why: Reason) -> Result<(), Error> {
        let mut change = Change::now(Kind::Chain, "distrusted");
        // By a name of its own: a caller that comes back with the same call says nothing new.
        change.id = format!("{id}-{}", why.code);
        change.about = Some(id.clone());
        change.by = Some("sayso".to_owned());
        change.rule = Some(why.code.to_string());
        store.append(&[Event::from(change)], &[])?;
        self.distrusted.push((id, why));
        Ok(())
    }

    /// What is said with this remembered, and what is to be remembered of it.
    fn weigh(&mut self, known: &KnownOperation<'_>, mut remembered: Remembered, now_ms: u64) -> (Decision, Memo) {
        self.step = None;
        let counts = |id: &str| !self.distrusted.iter().any(|(known, _)| known == id);
        remembered.grants.retain(|grant| counts(&grant.id));
        remembered.approvals.retain(|approval| counts(&approval.question.id));
        let state = self.state_with(known, &remembered, now_ms);
        let mut decision = self.unlimited(known, &state).unwrap_or_else(|| {
            // Others may have had the store for a while.
            self.looked.once().forget();
            judged(&self.what.in_force, Some(known.operation), &state, self.facts())
        });
        if known.operation.actor.is_claimed() {
            reason::share_limits(&mut decision.reasons);
        }
        let approved = |approval: &&Approval| approval.standing == Standing::Approved;
        // A limit that was reached since is nothing that people were asked about.
        let asks = asks(&decision);
        let covers = |approval: &&Approval| asks.iter().all(|ask| approval.question.asks.contains(ask));
        let answered = remembered.approvals.iter().find(|approval| approved(approval) && covers(approval));
        let mut memo = Memo::default();
        if known.bound.is_none() && self.needs_pin(known, &remembered, &decision) {
            self.unpinned = true;
            return (decision, memo);
        }
        if decision.answer == Answer::Ask {
            self.question = None;
            if let Some(no) = remembered.approvals.iter().find(|approval| approval.standing == Standing::Denied) {
                tighten(&mut decision, Verdict::Deny, &said_by(no, reason::DENIED_BY_PERSON, "no"));
                memo.blocked = self.is_limited();
            } else if let Some(yes) = answered {
                answer(&mut decision, Answer::Allow, said_by(yes, reason::APPROVED, "yes"));
            } else {
                self.put(known, &state, &remembered, &mut decision, &mut memo);
            }
        }
        match decision.answer {
            Answer::Allow => {
                let spent = answered.or_else(|| remembered.approvals.iter().find(approved));
                memo.spend = spent.map(|approval| approval.question.id.clone());
                self.question.clone_from(&memo.spend);
                memo.uses = self.uses(known.operation, &decision, now_ms);
                self.step = self.use_step(known, &remembered, &mut memo, now_ms);
                memo.reserve = self.reservation(known, now_ms);
            }
            // It may run without a further word to the gate.
            Answer::Ask if self.question.is_none() => memo.reserve = self.reservation(known, now_ms),
            Answer::Deny => {
                memo.blocked |= self.is_limited() && decision.denied_by_rule();
                memo.stopped = memo.blocked.then(|| self.stopped(&remembered)).flatten();
            }
            Answer::Ask | Answer::DryRun => {}
        }
        decision.reasons.extend(self.distrusted.iter().map(|(_, why)| why.clone()));
        (decision, memo)
    }

    /// What was found before the call had its turn, where that was a moment ago, no answer is in play and no limit speaks
    /// of it: all others wait for this turn to end.
    fn unlimited(&self, known: &KnownOperation<'_>, state: &State) -> Option<Decision> {
        let in_play = known.bound.is_some() || !state.grants.is_empty();
        let (alone, found) = known.alone.as_ref().filter(|_| !in_play)?;
        let holds = found.elapsed() < GOOD_FOR && !self.what.in_force.policy.limits_speak(state);
        holds.then(|| alone.clone())
    }

    fn state_with(&self, known: &KnownOperation<'_>, remembered: &Remembered, now_ms: u64) -> State {
        let takes = |scope| {
            let hosts = remembered.new_hosts.get(scope).copied().unwrap_or(0);
            sayso_policy::Usage { hosts, ..known.takes.usage }
        };
        State {
            now_ms,
            takes: self.what.counting.scopes.iter().map(|scope| (*scope, takes(scope))).collect(),
            usage: remembered.usage.clone(),
            takes_unknown: known.takes.unknown,
            rates: remembered.rates.clone(),
            blocked: remembered.blocked.clone(),
            digest: known.bound.as_ref().map(|bound| bound.exact.clone()),
            step: known.bound.as_ref().map(|_| known.step.clone()),
            workspace: if remembered.grants.is_empty() { None } else { known.site().map(str::to_owned) },
            grants: remembered.grants.clone(),
            recent: remembered.recent.clone(),
            mode: self.mode(),
            findings: self.what.circumstances.findings.clone(),
            can_hold: self.what.circumstances.can_hold,
            past: self.past(),
        }
    }

    /// Waits for an answer, and looks again at what it is an answer to.
    fn await_people(
        &mut self,
        memory: &Memory,
        id: &str,
        until: Instant,
        operation: &Operation,
    ) -> Result<Decision, Error> {
        let store = memory.store()?.as_ref();
        let waited = wait_for(store, id, until)?;
        // INVARIANT: what is compared with what people saw is looked at after they answered.
        self.looked.once().forget();
        self.renew(memory);
        let mut known = self.know(operation);
        self.bind(&mut known);
        known.asked = true;
        match waited {
            Waited::Decided(approval) if approval.standing == Standing::Approved => {
                if let Some(changed) = self.changed(&known, &approval.question) {
                    return Ok(self.void(&changed));
                }
            }
            Waited::Decided(_) => {}
            Waited::TooLate | Waited::Alone => {
                // The caller asks itself now: nobody is to be asked twice. If somebody was faster, their answer counts.
                if self.what.circumstances.asking.has_own_prompt() {
                    store.cancel(id, "the caller used its own prompt", now_ms())?;
                }
            }
        }
        self.turn(store, &mut known)
    }

    /// The rules and the operator's switch of this moment. An operator who halts everything, or an owner who forbids a
    /// call, while it waits for an answer means that call too.
    fn renew(&mut self, memory: &Memory) {
        self.what.in_force = self.policy.current_now();
        self.what.switch = memory.switch(self.looked.once(), now_ms());
        self.what.counting = self.what.in_force.policy.counting(self.mode());
    }

    /// What is not as it was when people were asked.
    fn changed(&self, known: &KnownOperation<'_>, asked: &Question) -> Option<String> {
        if asked.policy != self.what.in_force.policy.version() {
            return Some("the policy".to_owned());
        }
        let Some(again) = understand(&self.what.in_force.policy, self.what.call.clone(), self.facts()) else {
            return Some("the call".to_owned());
        };
        (known.digest != asked.digest || again != *known.operation).then(|| "a file or PATH".to_owned())
    }

    fn void(&self, changed: &str) -> Decision {
        let text =
            format!("This was approved, but {changed} has changed since: it is no longer the call that was shown.");
        denied(&self.what.in_force, reason::built_in(reason::APPROVAL_VOID, text))
    }
}

/// What asks, each once: which stage, for which reason, by which line of which file.
pub(crate) fn asks(decision: &Decision) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (_, opinion) in decision.asks() {
        let ask = opinion.ask_key();
        if !found.contains(&ask) {
            found.push(ask);
        }
    }
    found
}

fn said_by(approval: &Approval, code: Code, word: &str) -> Reason {
    let people: Vec<String> = approval.answers.iter().map(|given| given.person.to_string()).collect();
    reason::built_in(
        code,
        format!("{} said {word} to this call (question {}).", people.join(" and "), approval.question.id),
    )
}

/// What was known of earlier calls when this one was judged.
fn past_of(past: &Past, wrote: &[Wrote]) -> Vec<PastRecord> {
    /// More are not kept.
    const MOST: usize = 32;
    let one = |call: &sayso_policy::EarlierCall| PastRecord {
        id: call.id.clone(),
        time_ms: call.time_ms,
        command: call.command.clone(),
        ..PastRecord::default()
    };
    let known = past.known();
    let after = known.iter().flat_map(|known| &known.after);
    let after =
        after.map(|(key, (certain, call))| PastRecord { after: Some(key.clone()), maybe: !certain, ..one(call) });
    let files = wrote.iter().filter_map(|file| {
        Some(PastRecord { wrote: Some(file.path.to_str()?.to_owned()), ..one(file.call.as_ref()?) })
    });
    after.chain(files).take(MOST).collect()
}
