//! The straight line: every way in uses this one function, and none has rules of its own.

use crate::audit::{Peer, Record, Recorder, Seen, Written};
use crate::case::Case;
use crate::files::Once;
use crate::limit::{Expected, Outcome, Which};
use crate::memory::Memory;
use crate::policy::{InForce, Live};
use crate::store::Ledger;
use crate::{Error, KeptFiles, Permit, ProcessEnvironment, RealFiles, permit, reason};
use sayso_policy::{Answer, Decision, Facts, Operation, Policy, Provenance, Reason, State, ToolCall, Verdict};
use sayso_shell::{Environment, Files};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

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

/// How a call came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circumstances {
    /// Which way in: `hook claude-code`, `http`.
    pub way_in: String,
    /// The process that asked, where the system names it.
    pub peer: Option<Peer>,
    /// Its own word for what happened: `PreToolUse`.
    pub event: Option<String>,
    /// The caller's own id of the call.
    pub call_id: Option<String>,
    /// Who can be asked.
    pub asking: Asking,
    /// What the call is expected to use, where the caller knows.
    pub expected: Expected,
}

/// Who can be asked where the policy says Ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asking {
    /// The caller has a prompt of its own and shows it for an Ask.
    OwnPrompt,
    /// Nobody.
    Nobody,
    /// The queue may hold the call until this moment, while an approver is connected; then `otherwise`. Where nobody
    /// is connected, `otherwise` at once, so that nobody is asked twice for one call.
    Queue {
        /// The caller's own deadline, with room for its answer.
        until: Instant,
        /// What is left when nobody answered.
        otherwise: Otherwise,
    },
    /// The caller holds the call itself and comes back: the question is put, whoever is connected, and stays.
    Ticket {
        /// People were asked already: no new question is put.
        asked: bool,
    },
}

/// What became of a call whose caller can hold it.
#[derive(Debug)]
#[must_use = "a judgement that nobody looks at guards nothing"]
pub enum Held {
    /// It is judged.
    Judged(Box<Judged>),
    /// The question of this id waits for people. Nobody was told anything of the call, and nothing of it is recorded
    /// but the question.
    Waits(String),
}

/// What is left of asking when the queue gave no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Otherwise {
    /// The caller's own prompt.
    OwnPrompt,
    /// Nobody: `unanswered` speaks, else Deny.
    Nobody,
}

impl Asking {
    /// Whether the caller itself can ask somebody.
    #[must_use]
    pub fn has_own_prompt(self) -> bool {
        matches!(self, Self::OwnPrompt | Self::Queue { otherwise: Otherwise::OwnPrompt, .. })
    }
}

/// What the gate said of a call.
#[derive(Debug)]
#[must_use = "a judgement that nobody looks at guards nothing"]
pub struct Judged {
    /// The decision.
    pub decision: Decision,
    /// There if, and only if, the call may run now.
    pub permit: Option<Permit>,
    /// What was recorded.
    pub record: Record,
    /// The call as it was understood; `None` if Sayso failed on it.
    pub operation: Option<Operation>,
    /// The question that waits for people, where the caller may come back.
    pub question: Option<String>,
}

/// What the gate would say of a call whose record is not kept yet: until it is, nobody is told.
#[must_use = "a judgement that nobody looks at guards nothing"]
pub struct Unsaid(Box<Draft>);

/// Behind a pointer: it is handed on several times between threads.
struct Draft {
    recorder: Arc<dyn Recorder + Send + Sync>,
    /// Taken when it is recorded.
    written: Option<Result<Written, Error>>,
    policy_kept: Result<(), Error>,
    said: Recorded,
    digest: Option<String>,
}

/// What was said of a call that was judged ahead, and recorded: as much as whoever asked is told.
#[derive(Debug)]
#[must_use = "a judgement that nobody looks at guards nothing"]
pub struct Recorded {
    /// The decision, without the opinions on each effect: those are in the record.
    pub decision: Decision,
    /// There if, and only if, the call may run now.
    pub permit: Option<Permit>,
    /// The id of the record.
    pub id: String,
    /// How long the decision took, in microseconds.
    pub micros: u64,
}

impl From<Judged> for Recorded {
    fn from(judged: Judged) -> Self {
        let Judged { decision, permit, record, .. } = judged;
        Self { decision, permit, id: record.id, micros: record.micros }
    }
}

impl Unsaid {
    /// Records what several gates would say, those of one recorder together, and tells it in the same order.
    pub fn record_all(mut all: Vec<Self>) -> impl Iterator<Item = Recorded> {
        // INVARIANT: a record of which nothing was said is not kept.
        let nothing_said = || Err(Error::NotKept("nothing was said of it".into()));
        let mut kept: Vec<Result<(), Error>> = all.iter().map(|_| nothing_said()).collect();
        while let Some(first) = all.iter().find(|unsaid| unsaid.0.written.is_some()) {
            let recorder = Arc::clone(&first.0.recorder);
            let (mut places, mut records) = (Vec::new(), Vec::new());
            for (place, (unsaid, kept)) in all.iter_mut().zip(&mut kept).enumerate() {
                if !Arc::ptr_eq(&unsaid.0.recorder, &recorder) {
                    continue;
                }
                match unsaid.0.written.take() {
                    Some(Ok(written)) => {
                        places.push(place);
                        records.push(written);
                    }
                    Some(Err(error)) => *kept = Err(error),
                    None => {}
                }
            }
            for (place, said) in places.into_iter().zip(recorder.record_all(records)) {
                if let Some(kept) = kept.get_mut(place) {
                    *kept = said;
                }
            }
        }
        all.into_iter().zip(kept).map(|(unsaid, kept)| unsaid.say(kept))
    }

    fn say(self, kept: Result<(), Error>) -> Recorded {
        let Draft { policy_kept, mut said, digest, .. } = *self.0;
        if let Err(error) = policy_kept.and(kept) {
            not_recorded(&mut said.decision, &error);
        }
        said.permit = Permit::of(digest.as_deref(), &said.decision);
        said
    }
}

/// What cannot be recorded does not run.
fn not_recorded(decision: &mut Decision, error: &Error) {
    let why = format!("The decision could not be recorded ({error}), so the call does not run.");
    let code = if matches!(error, Error::Replaced(_)) { reason::STORE_REPLACED } else { reason::RECORD_FAILED };
    tighten(decision, Verdict::Deny, &reason::built_in(code, why));
}

impl Gate {
    /// A gate over the real file system and this process's environment. It remembers nothing: a policy with limits
    /// lets nothing pass, and every Ask is a new one.
    #[must_use]
    pub fn new(in_force: InForce, recorder: Box<dyn Recorder + Send + Sync>) -> Self {
        Self::over(Live::fixed(in_force), recorder)
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

    /// The whole line: normalise, analyse, evaluate, ask, record, answer.
    pub fn judge(&self, call: ToolCall, circumstances: &Circumstances) -> Judged {
        self.judge_in(call, circumstances, Facts { files: &*self.files, env: &*self.env })
    }

    /// The same, with facts of this call: a server's callers have environments of their own.
    pub fn judge_in(&self, call: ToolCall, circumstances: &Circumstances, facts: Facts<'_>) -> Judged {
        let (began, seen, looked) = (Instant::now(), Seen::of(&call), Once::over(facts.files));
        let mut case = Case::open(&self.policy, self.memory.as_ref(), circumstances, (&looked, facts.env));

        let operation = case.understand(&call);
        let mut decision = case.evaluate(operation.as_ref());
        case.ask(&call, operation.as_ref(), &mut decision);
        self.record(case, (began, seen), operation, decision)
    }

    /// The same line for a caller that can hold a call without a thread: where people must answer first, their
    /// question is put and its id given back. Once it is decided, the call is to be judged again.
    pub fn judge_or_hold(&self, call: ToolCall, circumstances: &Circumstances, facts: Facts<'_>) -> Held {
        let (began, seen, looked) = (Instant::now(), Seen::of(&call), Once::over(facts.files));
        let circumstances = Circumstances { asking: Asking::Ticket { asked: false }, ..circumstances.clone() };
        let mut case = Case::open(&self.policy, self.memory.as_ref(), &circumstances, (&looked, facts.env));

        let operation = case.understand(&call);
        let mut decision = case.evaluate(operation.as_ref());
        if let Some(question) = case.waits(&decision) {
            return Held::Waits(question);
        }
        case.ask(&call, operation.as_ref(), &mut decision);
        Held::Judged(Box::new(self.record(case, (began, seen), operation, decision)))
    }

    /// The same line for a call that needs neither memory nor people, up to its record, which is taken together with
    /// others' by [`Unsaid::record_all`]. `None`: it may need them; it is to be judged by [`Self::judge_in`]. What others
    /// have seen of the same files may be used, if they looked after this call had come.
    #[must_use]
    pub fn judge_ahead(
        &self,
        call: &ToolCall,
        circumstances: &Circumstances,
        (looked, env): (&Once<'_>, &dyn Environment),
    ) -> Option<Unsaid> {
        let began = Instant::now();
        let mut case = Case::open(&self.policy, self.memory.as_ref(), circumstances, (looked, env));
        if case.is_limited() {
            return None;
        }
        let operation = case.understand(call);
        let mut decision = case.evaluate_alone(operation.as_ref())?;
        case.ask(call, operation.as_ref(), &mut decision);
        let (record, digest) = draft(&case, (began, Seen::of(call)), operation.as_ref(), &decision);
        let (id, micros) = (record.id.clone(), record.micros);
        decision.effects = Vec::new();
        Some(Unsaid(Box::new(Draft {
            recorder: Arc::clone(&self.recorder),
            written: Some(Written::of(record)),
            policy_kept: self.keep_policy(&case.in_force),
            said: Recorded { decision, permit: None, id, micros },
            digest,
        })))
    }

    /// The end of the line: record, answer.
    fn record(
        &self,
        case: Case<'_>,
        seen: (Instant, Seen),
        operation: Option<Operation>,
        mut decision: Decision,
    ) -> Judged {
        let (mut record, digest) = draft(&case, seen, operation.as_ref(), &decision);
        let policy_kept = self.keep_policy(&case.in_force);
        let kept = self.recorder.record(&record);
        if let Err(error) = policy_kept.and(kept) {
            case.take_back();
            not_recorded(&mut decision, &error);
            (record.verdict, record.answer) = (decision.verdict, decision.answer);
        }
        let permit = Permit::of(digest.as_deref(), &decision);
        Judged { question: case.waits(&decision), decision, permit, record, operation }
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

    /// What the policy says, with nobody asked, nothing used and nothing recorded: for `check` and the like, whose
    /// answers nobody acts on. Without an operation Sayso failed on the call.
    pub fn rehearse(&self, call: ToolCall, facts: Facts<'_>) -> (Option<Operation>, Decision) {
        let in_force = self.in_force();
        let operation = understand(call, facts).map(|operation| shown_as_allowed(&in_force.policy, operation, facts));
        let decision = judged(&in_force, operation.as_ref(), &State::default(), facts);
        (operation, decision)
    }
}

/// The record of what is said, and the operation's digest.
fn draft(
    case: &Case<'_>,
    (began, seen): (Instant, Seen),
    operation: Option<&Operation>,
    decision: &Decision,
) -> (Record, Option<String>) {
    let digest = operation.map(|operation| permit::digest(operation, &decision.policy_version));
    let took = began.elapsed();
    let seen = match operation {
        Some(operation) => seen.bringing(operation),
        None => seen,
    };
    (seen.record(case.id.clone(), operation, decision, case.circumstances, digest.clone(), took), digest)
}

/// A call, normalised and analysed; `None` if Sayso fails on it.
pub(crate) fn understand(call: ToolCall, facts: Facts<'_>) -> Option<Operation> {
    catch_unwind(AssertUnwindSafe(|| Operation::new(call, facts))).ok()
}

/// The operation with the words that come out of files shown, if whoever asks may read all of these files anyway.
pub(crate) fn shown_as_allowed(policy: &Policy, mut operation: Operation, facts: Facts<'_>) -> Operation {
    let lets = |operation: &Operation| policy.lets_read_sources(operation, facts);
    if !operation.provenance.is_empty() && catch_unwind(AssertUnwindSafe(|| lets(&operation))).unwrap_or(false) {
        operation.provenance = Provenance::default();
    }
    operation
}

/// What the policy says of an operation with this remembered.
pub(crate) fn judged(in_force: &InForce, operation: Option<&Operation>, state: &State, facts: Facts<'_>) -> Decision {
    let policy = &in_force.policy;
    let judged = operation
        .and_then(|operation| catch_unwind(AssertUnwindSafe(|| policy.evaluate(operation, state, facts))).ok());
    let mut decision = judged.unwrap_or_else(|| failed(policy));
    if let Some((verdict, reason)) = &in_force.floor {
        tighten(&mut decision, *verdict, reason);
    }
    decision
}

/// Makes a decision at least this strict, and says why: first, if that is what decides.
pub(crate) fn tighten(decision: &mut Decision, least: Verdict, reason: &Reason) {
    if decision.verdict < least || least == Verdict::Deny && decision.answer != Answer::Deny {
        decision.reasons.insert(0, reason.clone());
    } else {
        decision.reasons.push(reason.clone());
    }
    decision.verdict = decision.verdict.max(least);
    decision.answer = match (decision.answer, least) {
        (_, Verdict::Deny) | (Answer::Deny, _) => Answer::Deny,
        (Answer::Allow, Verdict::Ask) => Answer::Ask,
        (answer, _) => answer,
    };
}

/// Sayso itself failed: the call does not run.
fn failed(policy: &Policy) -> Decision {
    let why = "Sayso failed while it judged this call. The call does not run; please report the bug.";
    Decision {
        verdict: Verdict::Deny,
        answer: Answer::Deny,
        would: None,
        unanswered: None,
        reasons: vec![reason::built_in(reason::INTERNAL_ERROR, why)],
        effects: Vec::new(),
        policy_version: policy.version().to_owned(),
    }
}
