//! A person is asked, in the client's own window.
//!
//! Until 2025-11-25 with a request to the client (`elicitation/create`), while the call waits; from 2026-07-28 on with
//! a question in the place of the call's result, which the client answers by calling again.

use super::answer::refused;
use super::call::McpCall;
use super::definition::Definition;
use super::elicit::{self, Answered};
use super::guard::{Guard, Held, MOST_HELD, Port, Way, lock, own_reason};
use super::judge::Look;
use super::pins::Standing;
use super::tools::Tool;
use crate::pipe::{message_line, replaced};
use crate::told;
use sayso_gate::{Prompt, reason};
use sayso_policy::{Code, Decision, Reason};
use serde_json::{Value, json};
use std::time::Instant;

/// A question that was put into an answer.
pub(super) struct Round {
    /// What nobody else knows.
    state: String,
    /// The call that it is about, as it came: what runs, if the answer is yes.
    line: Vec<u8>,
    call: McpCall,
    /// What a person may accept with the answer: the tool as it was shown.
    acceptable: Option<Definition>,
    shown: Shown,
    until: Instant,
}

/// What a person is asked about.
pub(super) struct Shown {
    /// What the call would have done when it was judged.
    pub(super) look: Option<Look>,
    /// Its permit, once that person says yes.
    pub(super) prompt: Prompt,
}

impl Guard {
    /// Asks the client's user.
    pub(super) fn ask(
        &self,
        held: &Held,
        tool: Option<&Tool>,
        decision: &Decision,
        shown: Shown,
        to_client: &dyn Port,
    ) -> Way {
        let found: Vec<&Reason> =
            decision.asks().filter(|(_, ask)| ask.is_finding()).map(|(_, ask)| &ask.reason).collect();
        let of_policy = decision.reasons.iter().filter(|reason| !found.iter().any(|known| known.code == reason.code));
        let sentences: Vec<String> = found.iter().copied().chain(of_policy.take(3)).map(told::lines).collect();
        let acceptable = tool.filter(|_| found.iter().any(|reason| reason.code != Code::McpSchemaUnusable));
        let acceptable = acceptable.map(|tool| tool.definition.clone());
        let question = elicit::question(&self.server, &held.call, &sentences, acceptable.is_some());
        if held.call.asks_in_rounds() {
            return self.first_round(held, &question, acceptable, shown);
        }
        let awaited = self.waiting.expect();
        let line = message_line(Some(&awaited.id), "elicitation/create", Some(question.to_string().as_bytes()));
        let reply = if to_client.say(line) { awaited.answer(self.limits.patience) } else { None };
        let Some(reply) = reply else {
            let id = String::from_utf8_lossy(&awaited.id).into_owned();
            let params = json!({"requestId": id.trim_matches('"'), "reason": "Nobody answered in time."});
            to_client.say(message_line(None, "notifications/cancelled", Some(params.to_string().as_bytes())));
            return self.answered(&held.call, None, None, shown);
        };
        let answer = elicit::answered(reply.as_deref(), acceptable.is_some());
        self.answered(&held.call, Some(answer), acceptable, shown)
    }

    /// Puts a question into the answer of a call.
    fn first_round(&self, held: &Held, question: &Value, acceptable: Option<Definition>, shown: Shown) -> Way {
        let state = format!("sayso:{}{}", super::own_id::random(), super::own_id::random());
        let result = elicit::question_as_result(question, &state);
        let Some(until) = Instant::now().checked_add(self.limits.patience) else { return Way::Slow(None) };
        let mut rounds = lock(&self.rounds);
        if rounds.len() >= MOST_HELD {
            rounds.pop_front();
        }
        rounds.push_back(Round { state, line: held.line.clone(), call: held.call.clone(), acceptable, shown, until });
        Way::Ask(result)
    }

    /// The client calls again, with an answer.
    ///
    /// INVARIANT: what runs is the call that the person was shown, whatever came with the answer; and an answer is
    /// used once.
    pub(super) fn second_round(&self, held: &Held) -> Way {
        let Some((state, said)) = &held.call.answer else { return Way::Slow(None) };
        let round = {
            let mut rounds = lock(&self.rounds);
            let at = rounds.iter().position(|round| round.state == *state);
            at.and_then(|at| rounds.remove(at))
        };
        let round = round.filter(|round| {
            let same = round.call.tool == held.call.tool && round.call.arguments == held.call.arguments;
            same && Instant::now() < round.until
        });
        let Some(round) = round else {
            let reason = own_reason(reason::UNANSWERED, "The answer is for another call, or came too late.".to_owned());
            self.judge.refuse(&self.server, &held.call, &reason);
            return Way::Told(refused(&[reason], "Call the tool again without it."));
        };
        let said = said.as_ref().map(|said| said.to_string().into_bytes());
        let answer = elicit::answered(said.as_deref(), round.acceptable.is_some());
        match self.answered(&round.call, Some(answer), round.acceptable, round.shown) {
            Way::Run(permit) => match replaced(&round.line, &["id"], &held.id) {
                Some(mut line) => {
                    line.push(b'\n');
                    Way::RunThis(line, permit)
                }
                None => Way::Slow(None),
            },
            other => other,
        }
    }

    /// A tool that is new and nothing else asks only once: whoever said yes to a call of it has seen it.
    fn is_merely_new(&self, shown: &Definition) -> bool {
        let standing = self.pins.standing(&self.server, &self.reached, shown);
        matches!(standing, Ok(Standing::Open { reasons, .. }) if reasons.iter().all(|(code, _)| Code::parse(code) == Some(Code::McpNewTool)))
    }

    /// What becomes of a call after an answer; `None`: nobody answered.
    fn answered(&self, call: &McpCall, answer: Option<Answered>, acceptable: Option<Definition>, shown: Shown) -> Way {
        let (told, why) = match answer {
            None => ("nobody answered", Some("Nobody answered in time, and a person must decide this.")),
            Some(Answered::No) => ("no", Some("The user said no.")),
            Some(Answered::Once) => ("yes, once", None),
            Some(Answered::Accept) => ("yes, and accept the tool as described now", None),
        };
        self.judge.note_answer(&self.server, call, told);
        if let Some(why) = why {
            let reason = own_reason(reason::UNANSWERED, why.to_owned());
            self.judge.refuse(&self.server, call, &reason);
            let next = "Do not retry it in another form. Find another way, or ask the user.";
            return Way::Told(refused(&[reason], next));
        }
        if let Some(reasons) = self.judge.void(&self.server, call, shown.look.as_ref()) {
            reasons.iter().take(1).for_each(|reason| self.judge.refuse(&self.server, call, reason));
            return Way::Told(refused(&reasons, "Call the tool again; it is judged again."));
        }
        if let Some(tool) = acceptable.filter(|tool| answer == Some(Answered::Accept) || self.is_merely_new(tool)) {
            // An attacker would describe the tool once more while the person reads: only what was shown is accepted.
            if let Err(error) = self.pins.accept_as_shown(&self.server, &self.reached, &tool) {
                return Way::Told(self.failed(call, &error));
            }
            if let Some(known) = self.tool(&call.tool).filter(|known| known.definition.hash == tool.hash) {
                self.settle(&known);
            }
        }
        Way::Run(shown.prompt.yes())
    }
}
