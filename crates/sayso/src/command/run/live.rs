//! What a held run wants beyond its bounds, put to people while it waits, or once it has failed.
//!
//! A wish is a call like any other: it is judged by the policy, and only what the policy asks about reaches anybody. A rule's
//! no is one without a question; what the policy allows, and the bounds could not express, stays held back, as it is where
//! nobody is there. So a yes is always a person's: given now, or remembered of them.
//!
//! What an attacker would try: text that looks like something else (names of hosts are plain, paths are made visible
//! wherever they are shown), a question for each of a thousand hosts (the hold asks a hundred at most, a session has twenty
//! open), and to wait for an approver who was asked something harmless (the file or host that was shown is what is opened).

use super::cleared::{Cleared, PATIENCE, WAY_IN, live, now_ms};
use sayso_gate::approval::{HeldRun, Lasts, Standing};
use sayso_gate::audit::{Spool, redact_text};
use sayso_gate::grant::Kept;
use sayso_gate::store::{self, Questions, Store};
use sayso_gate::wire::workspace_at;
use sayso_gate::{Asking, Circumstances, FactsOf, Gate, Home, Judgement, Memory, Otherwise, Places};
use sayso_hold::{Answer, Ask, Ended, HeldBack, Wish};
use sayso_policy::shell::Verb;
use sayso_policy::{self as policy, Actor, Code, GrantSelector, Request, Stage, ToolCall};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// How many questions are put after a run has failed.
const MOST_AFTERWARDS: usize = 3;
/// How much is looked at of what is remembered, to know whether something of it may be in play.
const LOOKED_AT: usize = 200;
/// How much of the command is shown.
const SHOWN: usize = 300;

/// On whose behalf wishes are put. Handed to the supervisor of a session as text.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Wisher {
    /// The home folder in which Sayso keeps its own.
    own: PathBuf,
    folder: PathBuf,
    workspace: PathBuf,
    home: Option<PathBuf>,
    actor: Actor,
    record: String,
    command: String,
    lasts: Lasts,
}

/// Puts wishes to people.
pub(crate) struct Asker {
    gate: Gate,
    memory: Memory,
    wisher: Wisher,
}

impl Wisher {
    pub(super) fn of(cleared: &Cleared, lasts: Lasts) -> Self {
        let words: Vec<_> = cleared.words.iter().map(|word| word.to_string_lossy()).collect();
        let command = redact_text(&words.join(" "));
        Self {
            own: cleared.places.home.clone(),
            folder: cleared.folder.clone(),
            workspace: cleared.workspace.clone(),
            home: cleared.home.clone(),
            actor: cleared.actor.clone(),
            record: cleared.record.clone(),
            command: command.chars().take(SHOWN).collect(),
            lasts,
        }
    }

    /// `None`: nobody can be asked, since Sayso's own places cannot be used.
    pub(crate) fn asker(self) -> Option<Asker> {
        let places = Places::find(Home::At(&self.own)).ok()?;
        let spool = Box::new(Spool::open(&places).ok()?);
        let memory = Memory::of(&places);
        let gate = Gate::over(live(&places, &self.workspace).ok()?, spool).with_memory(memory.clone());
        Some(Asker { gate, memory, wisher: self })
    }
}

impl Asker {
    /// What is remembered; `None`: nothing is, and nobody waits for questions.
    fn store(&self) -> Option<&Arc<dyn Store>> {
        store::is_there(self.memory.places()).then(|| self.memory.store().ok()).flatten()
    }

    /// Whether somebody waits for questions.
    pub(crate) fn is_attended(&self) -> bool {
        self.store().and_then(|store| store.present(now_ms()).ok()).is_some_and(|present| !present.is_empty())
    }

    /// Whether an answer is remembered that may be one to something that a held run wants.
    pub(super) fn has_answers(&self) -> bool {
        let Some(store) = self.store() else { return false };
        let actor = &self.wisher.actor;
        let of_run = |id: &str| store.approval(id).ok().flatten().is_some_and(|it| it.question.held.is_some());
        let counts = |kept: &Kept| {
            let session = kept.grant.session.as_ref().is_none_or(|session| Some(session) == actor.session.as_ref());
            let about = match &kept.grant.selector {
                GrantSelector::Pattern { verb, .. } => matches!(verb, Verb::Connect | Verb::Write),
                GrantSelector::Digest(_) => kept.approval.as_deref().is_some_and(of_run),
            };
            session && about
        };
        let which = Questions { session: actor.session.as_deref(), limit: LOOKED_AT, ..Questions::default() };
        store.grants(true, now_ms()).is_ok_and(|all| all.iter().take(LOOKED_AT).any(counts))
            || store
                .questions(&which, &|question| question.held.is_some())
                .is_ok_and(|all| all.iter().any(|it| it.standing == Standing::Approved && it.used_ms.is_none()))
    }

    /// As the hold asks.
    pub(crate) fn ask(self: &Arc<Self>) -> Ask {
        let asker = Arc::clone(self);
        Arc::new(move |wish| asker.answer(wish))
    }

    fn answer(&self, wish: &Wish) -> Answer {
        match wish {
            // An answer that was given after a run, which knew only the name, is one to the name.
            Wish::Connect { host, .. } if self.is_remembered(connect(host, None)) => Answer::Yes,
            Wish::Connect { host, port } => self.put(connect(host, Some(*port))),
            Wish::Write { path } => match path.to_str() {
                Some(path) => self.put(("held_write", json!({ "path": path }))),
                // No call can hold its name, and nobody could be shown it.
                None => Answer::No,
            },
            _ => Answer::No,
        }
    }

    /// Whether anybody has said yes to it before. Whom a rule names is asked about exactly what is wanted.
    pub(super) fn is_remembered(&self, call: (&'static str, Value)) -> bool {
        let judgement = self.judge(call, Asking::Nobody);
        let is_for_anybody = judgement.alone().addressees().iter().all(Option::is_none);
        judgement.alone().answer == policy::Answer::Ask && is_for_anybody && is_granted(judgement)
    }

    /// Asking those who wait for questions.
    pub(super) fn patient(&self) -> Asking {
        let until = Instant::now().checked_add(PATIENCE);
        until.map_or(Asking::Nobody, |until| Asking::Queue { until, otherwise: Otherwise::Nobody })
    }

    /// Whether everybody who said yes to a question meant this part of it.
    pub(super) fn means(&self, question: &str, part: usize) -> bool {
        let approval = self.store().and_then(|store| store.approval(question).ok().flatten());
        approval.is_some_and(|it| !it.answers.is_empty() && it.answers.iter().all(|given| given.reply.means(part)))
    }

    /// Looks for an answer; where somebody is there, asks and waits.
    fn put(&self, call: (&'static str, Value)) -> Answer {
        let asking = if self.is_attended() { self.patient() } else { Asking::Nobody };
        let judgement = self.judge(call, asking);
        if judgement.alone().answer != policy::Answer::Ask {
            return Answer::No;
        }
        match is_granted(judgement) {
            true => Answer::Yes,
            // Nobody was there, or whoever was left before an answer.
            false if !self.is_attended() => Answer::NotNow,
            false => Answer::No,
        }
    }

    pub(super) fn judge(&self, (name, arguments): (&'static str, Value), asking: Asking) -> Judgement<'_> {
        let wisher = &self.wisher;
        let call = ToolCall {
            request: Request::Tool { name: name.to_owned(), arguments, server: None },
            actor: wisher.actor.clone(),
            cwd: Some(wisher.folder.clone()),
            workspace: workspace_at(&wisher.workspace, wisher.home.as_deref()),
            home: wisher.home.clone(),
            reported_kind: None,
        };
        let of = HeldRun { record: wisher.record.clone(), command: wisher.command.clone(), lasts: wisher.lasts };
        self.gate.judge(call, Circumstances::of(WAY_IN.to_owned(), asking), FactsOf::Gate).of_run(of)
    }

    /// The run has ended: nobody waits for what was not answered.
    pub(super) fn give_up(&self) {
        let Some(store) = self.store() else { return };
        let which = Questions {
            pending: true,
            session: self.wisher.actor.session.as_deref(),
            limit: LOOKED_AT,
            ..Questions::default()
        };
        let own = |question: &sayso_gate::approval::Question| {
            question.held.as_ref().is_some_and(|held| held.record == self.wisher.record)
        };
        for approval in store.questions(&which, &own).unwrap_or_default() {
            // If it fails, the question ends by itself; a yes to it opens nothing any more.
            let _ = store.cancel(&approval.question.id, "the run has ended", now_ms());
        }
    }

    /// Puts questions about hosts that a run wanted while nobody was there: where it failed, or a rule asks. Returns the ids.
    pub(super) fn afterwards(&self, ended: &Ended) -> Vec<String> {
        let failed = ended.status.exit_code() != 0;
        let mut hosts: Vec<(&str, Option<u16>)> = Vec::new();
        for (what, _) in ended.held_back.iter() {
            if let HeldBack::Connect { host, port } = what
                && !hosts.iter().any(|(known, _)| known == host)
            {
                hosts.push((host, *port));
            }
        }
        let mut put = Vec::new();
        for (host, port) in hosts.into_iter().take(MOST_AFTERWARDS) {
            let judgement = self.judge(connect(host, port), Asking::Ticket { asked: false });
            let by_rule = judgement.alone().asks().any(|(_, ask)| ask.stage == Stage::Rules);
            if judgement.alone().answer == policy::Answer::Ask && (failed || by_rule) {
                put.extend(judgement.settle().waits());
            }
        }
        put
    }
}

fn connect(host: &str, port: Option<u16>) -> (&'static str, Value) {
    let arguments = match port {
        Some(port) => json!({"host": host, "port": port}),
        None => json!({ "host": host }),
    };
    ("held_connect", arguments)
}

/// Settles an Ask. A yes is a person's, given now or remembered: that a file lets pass what nobody answers opens nothing here.
fn is_granted(judgement: Judgement<'_>) -> bool {
    let draft = judgement.settle();
    if draft.decision().answer != policy::Answer::Allow {
        return false;
    }
    let judged = draft.record();
    let by_nobody = judged.decision.reasons.iter().any(|reason| reason.code == Code::Unanswered);
    judged.permit.is_some_and(|permit| permit.spend(|| !by_nobody))
}
