//! The straight line: every way in uses this one function, and none has rules of its own.

use crate::audit::{Record, Recorder, Seen, now_ms};
use crate::policy::InForce;
use crate::{Error, Permit, ProcessEnvironment, RealFiles, permit, reason};
use sayso_policy::{Answer, Decision, Facts, Operation, Policy, Reason, State, ToolCall, Verdict};
use sayso_shell::{Environment, Files};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Judges calls by the policy in force and records what it says.
pub struct Gate {
    in_force: InForce,
    recorder: Box<dyn Recorder + Send + Sync>,
    files: Box<dyn Files + Send + Sync>,
    env: Box<dyn Environment + Send + Sync>,
    /// The recorder has the texts of the policy.
    policy_kept: AtomicBool,
}

/// How a call came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circumstances {
    /// Which way in: `hook claude-code`, `http`.
    pub way_in: String,
    /// Its own word for what happened: `PreToolUse`.
    pub event: Option<String>,
    /// The caller's own id of the call.
    pub call_id: Option<String>,
    /// Who can be asked.
    pub asking: Asking,
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
}

impl Gate {
    /// A gate over the real file system and this process's environment.
    #[must_use]
    pub fn new(in_force: InForce, recorder: Box<dyn Recorder + Send + Sync>) -> Self {
        let policy_kept = AtomicBool::new(false);
        Self { in_force, recorder, files: Box::new(RealFiles), env: Box::new(ProcessEnvironment), policy_kept }
    }

    /// The same with other facts.
    #[must_use]
    pub fn with_facts(mut self, files: Box<dyn Files + Send + Sync>, env: Box<dyn Environment + Send + Sync>) -> Self {
        self.files = files;
        self.env = env;
        self
    }

    /// The policy in force.
    #[must_use]
    pub fn in_force(&self) -> &InForce {
        &self.in_force
    }

    /// The whole line: normalise, analyse, evaluate, ask, record, answer.
    pub fn judge(&self, call: ToolCall, circumstances: &Circumstances) -> Judged {
        self.judge_in(call, circumstances, Facts { files: &*self.files, env: &*self.env })
    }

    /// The same, with facts of this call: a server's callers have environments of their own.
    pub fn judge_in(&self, call: ToolCall, circumstances: &Circumstances, facts: Facts<'_>) -> Judged {
        let began = Instant::now();
        let policy = &self.in_force.policy;
        let seen = Seen::of(&call);

        let (operation, mut decision) = self.rehearse(call, facts);
        ask(&mut decision, policy, circumstances.asking);

        let digest = operation.as_ref().map(|o| permit::digest(o, policy.version()));
        let mut record = seen.record(operation.as_ref(), &decision, circumstances, digest.clone(), began.elapsed());
        if let Err(error) = self.keep_policy().and_then(|()| self.recorder.record(&record)) {
            let why = format!("The decision could not be recorded ({error}), so the call does not run.");
            tighten(&mut decision, Verdict::Deny, &reason::built_in(reason::RECORD_FAILED, why));
            record.verdict = decision.verdict;
            record.answer = decision.answer;
        }

        let permit = Permit::of(digest.as_deref(), &decision);
        Judged { decision, permit, record, operation }
    }

    /// Once for each gate: a record says by which policy a call was judged, and is judged again by it.
    fn keep_policy(&self) -> Result<(), Error> {
        if !self.policy_kept.load(Ordering::Relaxed) {
            self.recorder.keep_policy(self.in_force.policy.version(), &self.in_force.files)?;
            self.policy_kept.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    /// What the policy says, with nobody asked and nothing recorded: for `check` and the like, whose answers nobody
    /// acts on. Without an operation Sayso failed on the call.
    pub fn rehearse(&self, call: ToolCall, facts: Facts<'_>) -> (Option<Operation>, Decision) {
        let policy = &self.in_force.policy;
        let judged = catch_unwind(AssertUnwindSafe(|| {
            let operation = Operation::new(call, facts);
            let decision = policy.evaluate(&operation, &State { now_ms: now_ms(), ..State::default() }, facts);
            (operation, decision)
        }));
        let (operation, mut decision) = match judged {
            Ok((operation, decision)) => (Some(operation), decision),
            Err(_) => (None, failed(policy)),
        };
        if let Some((verdict, reason)) = &self.in_force.floor {
            tighten(&mut decision, *verdict, reason);
        }
        (operation, decision)
    }
}

/// Makes a decision at least this strict, and says why: first, if that is what decides.
fn tighten(decision: &mut Decision, least: Verdict, reason: &Reason) {
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

/// Where nobody can be asked, `unanswered` speaks; where it is silent, the caller's own prompt, else Deny.
fn ask(decision: &mut Decision, policy: &Policy, asking: Asking) {
    if decision.answer != Answer::Ask {
        return;
    }
    if !asking.has_own_prompt() || policy.unanswered().is_some() {
        let why = "A person should decide this, and nobody can be asked here.";
        tighten(decision, Verdict::Deny, &reason::built_in(reason::UNANSWERED, why));
    }
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

/// What a policy asks for that this gate cannot keep yet. Never ignored: such a policy is refused.
#[must_use]
pub fn unsupported(policy: &Policy) -> Vec<&'static str> {
    let mut missing = Vec::new();
    if !policy.counting(None).is_empty() {
        missing.push("[limits]");
    }
    if policy.has_approvers() {
        missing.push("[approvals]");
    }
    missing
}
