//! Answers that come later: where the policy says ask and somebody waits in Sayso's own queue, a call is held there
//! first, on a thread of its own, so that the pipe goes on.

use super::call::Understood;
use super::judge::{AcpAnswer, AcpCall, First, Who};
use super::pending::Pending;
use super::proxy::{CANCELLED, Onward, Proxy, Routed, Side, Unfit};
use crate::pipe::{Id, Message, error_line, result_line};
use sayso_gate::{Asking, Otherwise};
use serde_json::json;
use std::time::{Duration, Instant};

/// How long the queue may hold a request. Then the person at the editor is asked.
const LONGEST: Duration = Duration::from_secs(10 * 60);
/// How many requests may be held at once: each has a thread.
const MOST: usize = 64;

/// A governed request of the agent, kept while it is decided.
#[derive(Clone, Debug)]
pub(super) struct HeldRequest {
    /// The line without its end.
    pub(super) line: Vec<u8>,
    /// The raw id.
    pub(super) id: Vec<u8>,
    pub(super) key: Id,
}

impl HeldRequest {
    pub(super) fn of(message: &Message<'_>) -> Result<Self, Unfit> {
        let id = Proxy::request_id(message)?.to_vec();
        let key = message.key().ok_or_else(|| Unfit::params("Its id is invalid."))?;
        Ok(Self { line: message.line.to_vec(), id, key })
    }

    /// The line as it came.
    pub(super) fn whole(&self) -> Vec<u8> {
        [&self.line, b"\n".as_slice()].concat()
    }
}

/// A request that the queue holds.
#[derive(Clone, Debug)]
pub(super) struct Queued {
    pub(super) id: Vec<u8>,
    pub(super) session: Option<String>,
    /// It is a permission request, whose answer can say that it was cancelled.
    pub(super) permission: bool,
    call: AcpCall,
    who: Who,
}

/// What is done with what was said.
pub(super) type Then = Box<dyn FnOnce(&Proxy, &HeldRequest, AcpAnswer) -> Result<Routed, Unfit> + Send>;

impl Proxy {
    /// Judges a call and goes on with what is said: at once, or, if people wait in the queue, when they have answered.
    pub(super) fn decided(
        &self,
        understood: Understood,
        who: &Who,
        event: &str,
        asked: HeldRequest,
        permission: bool,
        then: Then,
    ) -> Result<Routed, Unfit> {
        let called = understood.call.clone();
        let needs = match self.decide(understood, who, event) {
            First::Answered(said) => return then(self, &asked, said),
            First::Needs(needs) => needs,
        };
        let me = self.me.upgrade().filter(|me| me.voice.get().is_some());
        let Some(me) = me.filter(|_| needs.asks && self.judge.attended()) else {
            return then(self, &asked, needs.settle(Asking::OwnPrompt));
        };
        let queued =
            Queued { id: asked.id.clone(), session: who.session.clone(), permission, call: called, who: who.clone() };
        {
            let mut state = self.state();
            let held = state.waiting.queued();
            if held >= MOST || !state.waiting.add(Side::Client, asked.key.clone(), Pending::Queued(Box::new(queued))) {
                return Err(Unfit::params("Another request with this id is pending, or too many are."));
            }
        }
        let failed = asked.clone();
        let work = move || {
            let until = Instant::now() + LONGEST;
            let said = needs.settle(Asking::Queue { until, otherwise: Otherwise::OwnPrompt });
            // Cancelled meanwhile: it was answered then.
            if me.state().waiting.take(Side::Client, &asked.key).is_none() {
                return;
            }
            let routed = then(&me, &asked, said).unwrap_or_else(|unfit| {
                Routed::say(Side::Agent, error_line(Some(&asked.id), unfit.code, &unfit.why, None))
            });
            me.speak(routed, &asked);
        };
        if std::thread::Builder::new().spawn(work).is_err() {
            self.state().waiting.take(Side::Client, &failed.key);
            return Err(Unfit::params("Sayso cannot wait for this."));
        }
        Ok(Routed::nothing())
    }

    /// Carries out what was decided later.
    fn speak(&self, routed: Routed, asked: &HeldRequest) {
        let Some(voice) = self.voice.get() else { return };
        match routed.onward {
            Onward::AsItCame => voice(Side::Client, asked.whole()),
            Onward::Instead(line) => voice(Side::Client, line),
            Onward::Nothing => {}
        }
        for (to, line) in routed.said {
            voice(to, line);
        }
    }

    /// A held request is not wanted any more: its question goes with it, and whoever made it is told.
    pub(super) fn withdrawn(&self, queued: Queued) -> Vec<u8> {
        self.judge.withdraw(queued.call, &queued.who);
        if queued.permission {
            return result_line(&queued.id, &json!({"outcome": {"outcome": "cancelled"}}));
        }
        error_line(Some(&queued.id), CANCELLED, "The request was cancelled.", None)
    }

    /// The pipe ends: nobody waits for what the queue still holds.
    pub(super) fn abandon(&self) {
        let held = self.state().waiting.take_all_queued();
        for queued in held {
            self.judge.withdraw(queued.call, &queued.who);
        }
    }

    /// The client cancels a turn: what waits in the queue for it is cancelled too.
    pub(super) fn turn_cancelled(&self, message: &Message<'_>) -> Routed {
        let session = message.params.and_then(|params| crate::pipe::text_member(params, "sessionId"));
        let held = session.map(|session| self.state().waiting.take_queued(&session)).unwrap_or_default();
        let mut routed = Routed::pass();
        for queued in held {
            routed = routed.and(Side::Agent, self.withdrawn(queued));
        }
        routed
    }
}
