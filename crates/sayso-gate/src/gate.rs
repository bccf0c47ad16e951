//! The straight line: every way in goes along it, and none has rules of its own.
//!
//! ```text
//! way in       normalise, analyse, evaluate    approve                   record, answer
//! ToolCall ->  Gate::judge -> Judgement    ->  Judgement::settle ->      Draft::record -> Judged, with a Permit
//!                                              limits, answers, people   if it may run
//! ```
//!
//! A call is judged once. What must wait for the store or for people, and what is recorded together with others, is a
//! value on this line: whoever may not wait sets the judgement aside ([`Aside`]) for a thread that may; whoever only
//! wants to know leaves it at the judgement, which has used and recorded nothing.
//!
//! INVARIANT: a call is analysed again only where time has passed: after people answered, and after it lay aside for
//! longer than what was seen of files is good for. An answer counts only for what would still be judged the same.

use crate::approval::HeldRun;
use crate::audit::{Recorder, Seen, Written};
use crate::circumstances::{Asking, Circumstances};
use crate::effective_mode::EffectiveMode;
use crate::fact::{self, Kept};
use crate::hold::open;
use crate::judgement::{GOOD_FOR, JudgedCall, Judging, ReservedBudget};
use crate::limit::{Outcome, Which};
use crate::looked::{FactsOf, Looked};
use crate::memory::Memory;
use crate::policy::{InForce, Live};
use crate::said::{Judged, Recorded, Unkept, Unsaid, not_recorded};
use crate::{Error, KeptFiles, Permit, ProcessEnvironment, Prompt, RealFiles, Record, permit};
use sayso_policy::{Actor, Answer, CanHold, Decision, Operation, Past, ToolCall, ToolFinding};
use sayso_shell::{Environment, Files};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

impl Gate {
    /// Normalises, analyses and evaluates a call: what the policy alone says of it.
    pub fn judge<'g>(&'g self, call: ToolCall, mut circumstances: Circumstances, facts: FactsOf<'g>) -> Judgement<'g> {
        circumstances.findings.extend(self.look_after_holds(&call));
        let looked = Looked::at(facts, &*self.files, &*self.env);
        let judging = Judging::open(&self.policy, self.memory.as_ref(), (call, circumstances), looked);
        let operation = judging.understand();
        let alone = judging.evaluate(operation.as_ref());
        Judgement { gate: self, judging, operation, alone }
    }
}

impl<'g> Judgement<'g> {
    /// Approves, or not: by limits and remembered answers, then by people. Waits for them.
    pub fn settle(self) -> Draft<'g> {
        let Self { gate, mut judging, operation, alone } = self;
        let mut decision = judging.remember(operation.as_ref(), alone);
        judging.ask(operation.as_ref(), &mut decision);
        Draft { gate, judging, operation, decision }
    }
}

impl Draft<'_> {
    /// Records what is said. From here on it may be told.
    pub fn record(mut self) -> Judged {
        let (mut record, digest) = self.drawn_up();
        let fact = self.judging.keep_fact(self.operation.as_ref(), &self.decision, &mut record);
        let policy_kept = self.gate.keep_policy(&self.judging.what.in_force);
        let (fact, fact_kept) = match fact {
            Ok(fact) => (fact, Ok(())),
            Err(error) => (None, Err(error)),
        };
        let kept = fact_kept.and_then(|()| self.gate.recorder.record(&record));
        if let Err(error) = policy_kept.and(kept) {
            fact.iter().for_each(Kept::take_back);
            self.judging.reserved().iter().for_each(ReservedBudget::give_back);
            not_recorded(&mut self.decision, &error);
            (record.verdict, record.answer) = (self.decision.verdict, self.decision.answer);
        }
        let permit = Permit::of(digest.as_deref(), &self.decision);
        let prompt = Prompt::of(digest.as_deref(), &self.decision, self.judging.what.circumstances.asking);
        let question = self.judging.waits(&self.decision);
        Judged { decision: self.decision, permit, prompt, record, operation: self.operation, question }
    }
}

/// Judges calls by the policy in force and records what it says.
pub struct Gate {
    policy: Live,
    recorder: Arc<dyn Recorder + Send + Sync>,
    files: Box<dyn Files + Send + Sync>,
    env: Box<dyn Environment + Send + Sync>,
    /// They are not those of this machine.
    other_facts: bool,
    memory: Option<Memory>,
    /// The version of the policy whose texts the recorder has.
    policy_kept: Mutex<Option<String>>,
}

/// What the policy alone says of a call. Nothing that is remembered has counted yet, nobody was asked, and nothing is
/// recorded: until it is, nobody is told.
#[must_use = "a judgement that nobody looks at guards nothing"]
pub struct Judgement<'g> {
    gate: &'g Gate,
    judging: Judging<'g>,
    operation: Option<Operation>,
    /// And when that was found.
    alone: (Decision, Instant),
}

/// What will be said of a call, once it is recorded.
#[must_use = "a judgement that nobody looks at guards nothing"]
pub struct Draft<'g> {
    gate: &'g Gate,
    judging: Judging<'g>,
    operation: Option<Operation>,
    decision: Decision,
}

/// A judgement that waits for a thread that may wait.
#[must_use = "a judgement that nobody looks at guards nothing"]
pub struct Aside {
    what: JudgedCall,
    operation: Option<Operation>,
    alone: (Decision, Instant),
}

impl Gate {
    /// What is said of a call that nobody makes, in a session that would have done this before: by the policy, under the
    /// operator's mode. Without an operation Sayso failed on the call.
    pub fn rehearse<'g>(
        &'g self,
        call: ToolCall,
        circumstances: Circumstances,
        facts: FactsOf<'g>,
        past: Past,
    ) -> (Option<Operation>, Decision) {
        let circumstances = Circumstances { asking: Asking::Rehearsal, ..circumstances };
        let looked = Looked::at(facts, &*self.files, &*self.env);
        let mut judging = Judging::open(&self.policy, self.memory.as_ref(), (call, circumstances), looked);
        judging.what.rehearsed = past;
        let operation = judging.understand();
        let (decision, _) = judging.evaluate(operation.as_ref());
        let decision = judging.under_switch(decision);
        (operation, decision)
    }

    /// The caller reports that a call ran. If its own prompt had asked about files that the session wrote, somebody said yes
    /// to them.
    ///
    /// # Errors
    /// If that cannot be kept.
    pub fn ran(&self, actor: &Actor, workspace: Option<&Path>, call_id: &str) -> Result<(), Error> {
        match &self.memory {
            Some(memory) if self.in_force().policy.remembers_writes() => {
                fact::ran(memory.places(), &fact::Whose::of(&self.owned(actor.clone()), workspace), call_id)
            }
            _ => Ok(()),
        }
    }
}

impl<'g> Judgement<'g> {
    /// What the policy alone says.
    pub fn alone(&self) -> &Decision {
        &self.alone.0
    }

    /// The end of a rehearsal: the call as it was understood, and what the policy says of it under the operator's mode.
    /// Without an operation Sayso failed on the call.
    pub fn rehearsed(self) -> (Option<Operation>, Decision) {
        let decision = self.judging.under_switch(self.alone.0);
        (self.operation, decision)
    }

    /// The mode that decides about the call.
    #[must_use]
    pub fn mode(&self) -> EffectiveMode {
        EffectiveMode::of(&self.judging.what.in_force.policy, self.judging.what.switch.as_ref())
    }

    /// The same as if nobody had switched the mode: for whoever wants to show why the policy asks. It says nothing about
    /// what would become of the call now.
    pub fn past_mode(mut self) -> Self {
        // INVARIANT: only for a call that nobody makes.
        if !self.judging.is_real() && self.judging.what.switch.take().is_some() {
            self.alone = self.judging.evaluate(self.operation.as_ref());
        }
        self
    }

    /// Whether what becomes of the call may depend on how strongly its caller can hold it. Not where the policy alone
    /// allows or denies it and says nothing of a hold: what is remembered changes an Ask, and limits only tighten.
    #[must_use]
    pub fn depends_on_hold(&self) -> bool {
        let alone = &self.alone.0;
        let settled = matches!(alone.answer, Answer::Allow | Answer::Deny) && alone.would.is_none();
        !settled || alone.hold.is_some()
    }

    /// The same where the caller can hold the call like this. It was judged as one that nobody can hold; where that
    /// makes a difference the policy speaks again, about the call as it was understood.
    pub fn can_hold(mut self, can_hold: CanHold) -> Self {
        if can_hold != self.judging.what.circumstances.can_hold {
            self.judging.what.circumstances.can_hold = can_hold;
            if self.depends_on_hold() {
                self.alone = self.judging.evaluate(self.operation.as_ref());
            }
        }
        self
    }

    /// Settles it where nobody has to be waited for, neither the store nor people; else it is set aside.
    ///
    /// # Errors
    /// The judgement, set aside: somebody who may wait is to take it up.
    pub fn at_once(self) -> Result<Draft<'g>, Box<Aside>> {
        match self.judging.needs_memory(self.operation.as_ref(), &self.alone.0) {
            false => Ok(self.settle()),
            true => Err(Box::new(self.set_aside())),
        }
    }

    /// Sets it aside.
    pub fn set_aside(self) -> Aside {
        Aside { what: self.judging.what, operation: self.operation, alone: self.alone }
    }

    /// The same for something that a held run wants: people are told which.
    pub fn of_run(mut self, run: HeldRun) -> Self {
        self.judging.held = Some(run);
        self
    }

    /// The same where others can be asked than was thought when the call came.
    pub fn asking(mut self, asking: Asking) -> Self {
        // INVARIANT: what was rehearsed stays a rehearsal, and what was not becomes none.
        if self.judging.is_real() && asking != Asking::Rehearsal {
            self.judging.what.circumstances.asking = asking;
        }
        self
    }
}

impl Aside {
    /// How the call came in.
    #[must_use]
    pub fn circumstances(&self) -> &Circumstances {
        &self.what.circumstances
    }

    /// Goes on where it was set aside, at the same gate.
    pub fn take_up<'g>(self, gate: &'g Gate, facts: FactsOf<'g>) -> Judgement<'g> {
        let Self { mut what, operation, alone } = self;
        // What was seen of files then says little of now.
        let lay = alone.1.elapsed();
        if lay >= GOOD_FOR {
            return gate.judge(what.call, what.circumstances, facts);
        }
        what.began += lay;
        let looked = Looked::at(facts, &*gate.files, &*gate.env);
        let judging = Judging::take_up(what, &gate.policy, gate.memory.as_ref(), looked);
        Judgement { gate, judging, operation, alone }
    }
}

impl std::fmt::Debug for Aside {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Aside").field("call", &self.what.call).field("alone", &self.alone).finish_non_exhaustive()
    }
}

impl Draft<'_> {
    /// The question that waits for people, where the caller holds the call. Whoever waits for the answer lets this draft
    /// go: nothing is recorded then but the question, and once it is decided the call is to be judged again.
    #[must_use]
    pub fn waits(&self) -> Option<String> {
        self.judging.waits(&self.decision)
    }

    /// What will be said.
    pub fn decision(&self) -> &Decision {
        &self.decision
    }

    /// The question that was put to people, was found to wait for them, or let the call pass.
    #[must_use]
    pub fn question(&self) -> Option<&str> {
        self.judging.question()
    }

    /// The call as it came, to be judged again.
    #[must_use]
    pub fn into_call(self) -> (ToolCall, Circumstances) {
        (self.judging.what.call, self.judging.what.circumstances)
    }

    /// Leaves the record to [`Unsaid::record_all`], which takes it together with others'.
    pub fn together(self) -> Unsaid {
        let (mut record, digest) = self.drawn_up();
        let fact = self.judging.keep_fact(self.operation.as_ref(), &self.decision, &mut record);
        let (fact, fact_kept) = match fact {
            Ok(fact) => (fact, Ok(())),
            Err(error) => (None, Err(error)),
        };
        let (id, micros) = (record.id.clone(), record.micros);
        Unsaid::new(Unkept {
            recorder: Arc::clone(&self.gate.recorder),
            written: Some(Written::of(record)),
            policy_kept: fact_kept.and_then(|()| self.gate.keep_policy(&self.judging.what.in_force)),
            fact,
            reserved: self.judging.reserved(),
            said: Recorded { decision: Decision { effects: Vec::new(), ..self.decision }, permit: None, id, micros },
            digest,
        })
    }

    /// The record of what is said, and the digest of the operation that a permit would be for: a rehearsal has none.
    fn drawn_up(&self) -> (Record, Option<String>) {
        let (what, operation, decision) = (&self.judging.what, self.operation.as_ref(), &self.decision);
        let digest = operation.map(|operation| permit::digest(operation, &decision.policy_version));
        let took = what.began.elapsed();
        let seen = Seen::of(&what.call);
        let seen = match operation {
            Some(operation) => seen.bringing(operation),
            None => seen,
        };
        let mut record = seen.record(what.id.clone(), operation, decision, &what.circumstances, digest.clone(), took);
        record.plan.clone_from(&self.judging.step);
        (record, digest.filter(|_| self.judging.is_real()))
    }
}

impl Gate {
    /// A gate over the real file system and this process's environment. It remembers nothing: a policy with limits
    /// lets nothing pass, and every Ask is a new one.
    #[must_use]
    pub fn new(in_force: InForce, recorder: Box<dyn Recorder + Send + Sync>) -> Self {
        Self::over(Live::fixed(in_force), recorder)
    }

    /// Which model an actor is routed to. Where too many calls of its session were denied and the policy names a fallback,
    /// that one; the count of denied calls then begins anew, once.
    ///
    /// # Errors
    /// If the store refuses.
    pub fn route(&self, actor: &sayso_policy::Actor) -> Result<sayso_policy::Route, crate::Error> {
        let in_force = self.in_force();
        let policy = &in_force.policy;
        let actor = &policy.owned(actor.clone(), false);
        let counting = policy.counting(None);
        let of_session = |(scope, most, per): &(sayso_policy::Scope, u64, Option<std::time::Duration>)| {
            (*scope == sayso_policy::Scope::Session).then_some((*most, *per))
        };
        let limits: Vec<_> = counting.blocked.iter().filter_map(of_session).collect();
        let can_fall = policy.has_fallback() && !limits.is_empty() && policy.route(actor, true).fallback;
        let falls = match self.memory.as_ref().filter(|_| can_fall && actor.session.is_some()) {
            Some(memory) => memory.store()?.fall_back(actor, &limits, crate::audit::now_ms())?,
            None => false,
        };
        Ok(policy.route(actor, falls))
    }

    /// The same over a policy that is followed as its files change.
    #[must_use]
    pub fn over(policy: Live, recorder: Box<dyn Recorder + Send + Sync>) -> Self {
        Self::sharing(policy, recorder.into())
    }

    /// The same with a recorder that other gates have too: what they say can be recorded together.
    #[must_use]
    pub fn sharing(policy: Live, recorder: Arc<dyn Recorder + Send + Sync>) -> Self {
        let (files, env) = (Box::new(RealFiles), Box::new(ProcessEnvironment));
        Self { policy, recorder, files, env, other_facts: false, memory: None, policy_kept: Mutex::default() }
    }

    /// The same with a memory: limits, grants, approvals and the operator's mode, and what is known of the files of
    /// workspaces.
    #[must_use]
    pub fn with_memory(mut self, memory: Memory) -> Self {
        if !self.other_facts {
            self.files = Box::new(KeptFiles::at(memory.places()));
        }
        self.memory = Some(memory);
        self
    }

    /// The same without a memory.
    #[must_use]
    pub fn without_memory(mut self) -> Self {
        self.memory = None;
        self
    }

    /// The same with another environment; files are what they are.
    #[must_use]
    pub fn with_environment(mut self, env: Box<dyn Environment + Send + Sync>) -> Self {
        self.env = env;
        self
    }

    /// The same with other facts.
    #[must_use]
    pub fn with_facts(mut self, files: Box<dyn Files + Send + Sync>, env: Box<dyn Environment + Send + Sync>) -> Self {
        self.files = files;
        self.env = env;
        self.other_facts = true;
        self
    }

    /// What held runs left under guarded names is out of the way before anything that is not held is let through. Returns what
    /// is to be said of the call where it is not.
    fn look_after_holds(&self, call: &ToolCall) -> Vec<ToolFinding> {
        let in_force = self.policy.current();
        match self.memory.as_ref().filter(|_| !self.other_facts && in_force.policy.holds()) {
            Some(memory) => open::findings(&open::look_again(memory.places(), &in_force), call),
            None => Vec::new(),
        }
    }

    /// An actor, with what the owner states of calls that come in here.
    #[must_use]
    pub fn owned(&self, actor: Actor) -> Actor {
        self.in_force().policy.owned(actor, false)
    }

    /// What it remembers with.
    pub(crate) fn memory(&self) -> Option<&Memory> {
        self.memory.as_ref()
    }

    /// The files that it looks at.
    pub(crate) fn files(&self) -> &(dyn Files + Send + Sync) {
        &*self.files
    }

    /// The policy in force now.
    #[must_use]
    pub fn in_force(&self) -> Arc<InForce> {
        self.policy.current()
    }

    /// The same, looked at now: for whoever has just changed it.
    #[must_use]
    pub fn in_force_now(&self) -> Arc<InForce> {
        self.policy.current_now()
    }

    /// Once for each version: a record says by which policy a call was judged, and is judged again by it.
    fn keep_policy(&self, in_force: &InForce) -> Result<(), Error> {
        // A compiled copy holds no texts. It is used only where those of its version were left before.
        if in_force.files.is_empty() {
            return Ok(());
        }
        let version = in_force.policy.version();
        let mut kept = self.policy_kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.as_deref() != Some(version) {
            self.recorder.keep_policy(version, &in_force.files)?;
            *kept = Some(version.to_owned());
        }
        Ok(())
    }

    /// What became of a call that was let through: what it used is counted, what was reserved and not used is given
    /// back. Tells whether the call was known; where nothing is limited none is.
    ///
    /// # Errors
    /// If that cannot be kept.
    pub fn settle(&self, which: &Which, outcome: &Outcome) -> Result<bool, Error> {
        match &self.memory {
            Some(memory) if self.in_force().policy.has_limits() => {
                memory.store()?.settle(which, outcome, crate::audit::now_ms())
            }
            _ => Ok(false),
        }
    }
}
