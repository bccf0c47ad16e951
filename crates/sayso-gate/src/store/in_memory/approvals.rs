//! Questions and answers.

use super::{InMemory, State, grants};
use crate::Error;
use crate::approval::{Approval, GONE_AFTER_MS, Given, Outlook, Presence, Question, Refused, Standing, outlook};
use crate::audit::now_ms;
use crate::store::{Answering, Approvals, Questions, answering};
use sayso_policy::Actor;
use serde_json::json;
use std::collections::BTreeMap;

/// Questions that one turn writes down as ended.
const MOST_ENDED: usize = 100;
/// Questions about one very call that are looked at.
const MOST_ABOUT: usize = 8;
/// So far in the future a question may have been asked: farther, and it was before the clock was set back.
const FUTURE_MS: u64 = 60_000;

/// A question and how it stands.
#[derive(Clone)]
pub(super) struct Asked {
    question: Question,
    /// The question as text, as the chain knows it.
    body: String,
    standing: Standing,
    decided_ms: Option<u64>,
    used_ms: Option<u64>,
    why: Option<String>,
    answers: Vec<Given>,
    /// Somebody has written down that it reached a higher group.
    escalated: bool,
}

impl Asked {
    fn whole(&self, now_ms: u64) -> Approval {
        // It has ended even if nobody has written that down yet.
        let ended = self.standing == Standing::Pending && self.question.expires_ms <= now_ms;
        let mut question = self.question.clone();
        let escalated = question.escalate(now_ms, self.escalated);
        Approval {
            escalated,
            question,
            standing: if ended { Standing::Expired } else { self.standing },
            decided_ms: self.decided_ms,
            used_ms: self.used_ms,
            why: self.why.clone(),
            answers: self.answers.clone(),
        }
    }

    /// Whether it waits, or has a yes that no call has run on.
    pub(super) fn may_be_used(&self, now_ms: u64) -> bool {
        let open = matches!(self.standing, Standing::Pending | Standing::Approved);
        open && self.used_ms.is_none() && self.question.expires_ms > now_ms
    }

    /// The same where nobody has said no.
    pub(super) fn may_still_run(&self, now_ms: u64) -> bool {
        self.may_be_used(now_ms) && !matches!(outlook(&self.question, &self.answers), Outlook::Denied(_))
    }

    /// Whether it waits, or has an answer that still counts.
    fn counts(&self, now_ms: u64) -> bool {
        let open = matches!(self.standing, Standing::Pending | Standing::Approved | Standing::Denied);
        open && self.used_ms.is_none() && self.question.expires_ms > now_ms
    }

    fn place(&self) -> (u64, &str) {
        (self.question.asked_ms, &self.question.id)
    }
}

impl Approvals for InMemory {
    fn approval(&self, id: &str) -> Result<Option<Approval>, Error> {
        Ok(self.read(|state| state.approvals.get(id).map(|asked| asked.whole(now_ms()))))
    }

    fn questions(&self, which: &Questions<'_>, theirs: &dyn Fn(&Question) -> bool) -> Result<Vec<Approval>, Error> {
        let now = now_ms();
        let of = |wanted: Option<&str>, is: &Option<String>| wanted.is_none() || wanted == is.as_deref();
        self.read(|state| {
            let behind = which.after.map(|id| state.approvals.get(id).map(Asked::place));
            let comes = |asked: &Asked| match behind {
                None => true,
                Some(None) => false,
                Some(Some(last)) if which.oldest_first => asked.place() > last,
                Some(Some(last)) => asked.place() < last,
            };
            let wanted = |asked: &&Asked| {
                let actor = &asked.question.actor;
                let waits = || asked.standing == Standing::Pending && asked.question.expires_ms > now;
                (!which.pending || waits())
                    && of(which.session, &actor.session)
                    && of(which.tenant, &actor.tenant)
                    && of(which.agent, &actor.agent)
                    && comes(asked)
                    && theirs(&asked.whole(now).question)
            };
            let mut found: Vec<&Asked> = state.approvals.values().filter(wanted).collect();
            found.sort_by(|one, other| one.place().cmp(&other.place()));
            if !which.oldest_first {
                found.reverse();
            }
            Ok(found.into_iter().take(which.limit).map(|asked| asked.whole(now)).collect())
        })
    }

    fn answer(&self, answer: &Answering<'_>) -> Result<Approval, Error> {
        // A refusal may change something too (a question that turns out to be void), which an error would undo.
        self.write(|state| answered(state, answer))?.map_err(Error::Refused)
    }

    fn standings(&self) -> Result<Vec<(String, u64)>, Error> {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        self.read(|state| {
            for asked in state.approvals.values() {
                *counts.entry(asked.whole(now_ms()).standing.as_str().to_owned()).or_default() += 1;
            }
        });
        Ok(counts.into_iter().collect())
    }

    fn cancel(&self, id: &str, why: &str, now_ms: u64) -> Result<bool, Error> {
        self.write(|state| {
            let waits = |asked: &Asked| asked.whole(crate::audit::now_ms()).standing == Standing::Pending;
            let waits = state.approvals.get(id).is_some_and(waits);
            if waits {
                end(state, id, Standing::Cancelled, Some(why), "sayso", now_ms)?;
            }
            Ok(waits)
        })
    }

    fn escalate(&self, id: &str, by: &str, now_ms: u64) -> Result<Option<Approval>, Error> {
        self.write(|state| {
            let Some(asked) = state.approvals.get(id).cloned() else { return Ok(None) };
            let Approval { standing, mut question, .. } = asked.whole(now_ms);
            if standing != Standing::Pending {
                return Ok(None);
            }
            if !asked.escalated {
                let Some(to) = question.escalate(now_ms, true) else { return Ok(None) };
                climb(state, id, &to, by)?;
            }
            Ok(state.approvals.get(id).map(|asked| asked.whole(now_ms)))
        })
    }

    fn attend(&self, presence: &Presence, now_ms: u64) -> Result<(), Error> {
        self.write(|state| {
            state.presence.put(presence.id.clone(), (now_ms, presence.clone()));
            let gone = now_ms.saturating_sub(10 * GONE_AFTER_MS);
            state.presence.remove_if(|_, (seen_ms, _)| *seen_ms < gone);
            Ok(())
        })
    }

    fn leave(&self, id: &str) -> Result<(), Error> {
        self.write(|state| {
            state.presence.remove(&id.to_owned());
            Ok(())
        })
    }

    fn present(&self, now_ms: u64) -> Result<Vec<Presence>, Error> {
        // One from the future says nothing about now: the clock was set back.
        let there = |seen_ms: u64| seen_ms.abs_diff(now_ms) < GONE_AFTER_MS;
        let one = |(seen_ms, presence): &(u64, Presence)| there(*seen_ms).then(|| presence.clone());
        Ok(self.read(|state| state.presence.values().filter_map(one).collect()))
    }
}

/// Questions about this very call that wait or whose answer counts, the latest first; and how many of the session wait.
pub(super) fn about(state: &State, digest: &str, actor: &Actor, now_ms: u64) -> (Vec<Approval>, usize) {
    let latest = now_ms.saturating_add(FUTURE_MS);
    let same =
        |asked: &&Asked| asked.question.digest == digest && asked.counts(now_ms) && asked.question.asked_ms <= latest;
    let mut found: Vec<&Asked> = state.approvals.values().filter(same).collect();
    found.sort_by(|one, other| other.place().cmp(&one.place()));
    let found = found.into_iter().take(MOST_ABOUT).map(|asked| asked.whole(now_ms)).collect();
    // A session is one of its tenant and of who opened it; those who name none are told apart by their agents.
    let theirs = |asked: &&Asked| {
        let of = &asked.question.actor;
        asked.standing == Standing::Pending
            && asked.question.expires_ms > now_ms
            && (&of.session, &of.tenant, &of.asker) == (&actor.session, &actor.tenant, &actor.asker)
            && (actor.session.is_some() || of.agent == actor.agent)
    };
    (found, state.approvals.values().filter(theirs).count())
}

/// Whether a question of this session waits, or has an answer that still counts.
pub(super) fn any_open(state: &State, actor: &Actor, now_ms: u64) -> bool {
    state.approvals.values().any(|asked| asked.counts(now_ms) && asked.question.actor.session == actor.session)
}

/// Asks a question.
pub(super) fn ask(state: &mut State, question: &Question) -> Result<(), Error> {
    let body = serde_json::to_string(question)?;
    state.append(answering::asked_record(question, &body))?;
    let asked = Asked {
        question: question.clone(),
        body,
        standing: Standing::Pending,
        decided_ms: None,
        used_ms: None,
        why: None,
        answers: Vec::new(),
        escalated: false,
    };
    state.approvals.put(question.id.clone(), asked);
    Ok(())
}

/// Uses a yes to the call of this digest: no second call runs on it.
pub(super) fn spend(state: &mut State, id: &str, digest: &str, now_ms: u64) -> Result<(), Error> {
    let said_yes = |asked: &&Asked| {
        asked.question.digest == digest
            && asked.may_be_used(now_ms)
            && matches!(outlook(&asked.question, &asked.answers), Outlook::Approved(_))
    };
    let Some(asked) = state.approvals.get(id).filter(said_yes) else { return Err(Error::Forged(id.to_owned())) };
    let used = Asked { used_ms: Some(now_ms), ..asked.clone() };
    state.append(answering::used_record(&used.question))?;
    state.approvals.put(id.to_owned(), used);
    state.seals = true;
    Ok(())
}

/// Writes down which questions have ended.
pub(super) fn expire(state: &mut State, now_ms: u64) -> Result<(), Error> {
    let ended = |asked: &Asked| asked.standing == Standing::Pending && asked.question.expires_ms <= now_ms;
    let ended = state.approvals.iter().filter(|(_, asked)| ended(asked)).take(MOST_ENDED);
    let ended: Vec<String> = ended.map(|(id, _)| id.clone()).collect();
    ended.iter().try_for_each(|id| end(state, id, Standing::Expired, None, "sayso", now_ms))?;
    let due = |asked: &Asked| asked.standing == Standing::Pending && !asked.escalated;
    let due = state.approvals.values().filter(|asked| due(asked)).filter_map(|asked| {
        let mut question = asked.question.clone();
        question.escalate(now_ms, false).map(|to| (question.id, to))
    });
    let due: Vec<(String, String)> = due.collect();
    due.iter().try_for_each(|(id, to)| climb(state, id, to, "sayso"))
}

/// Writes down that a question has reached a higher group.
fn climb(state: &mut State, id: &str, to: &str, by: &str) -> Result<(), Error> {
    let Some(asked) = state.approvals.get(id).cloned() else { return Ok(()) };
    state.append(answering::escalated_record(&asked.question, to, by))?;
    state.approvals.put(id.to_owned(), Asked { escalated: true, ..asked });
    Ok(())
}

/// Ends a question that waits.
fn end(state: &mut State, id: &str, standing: Standing, why: Option<&str>, by: &str, now_ms: u64) -> Result<(), Error> {
    let Some(asked) = state.approvals.get(id) else { return Ok(()) };
    let mut change = answering::record(&asked.question, standing.as_str(), by);
    change.detail = json!({"why": why});
    if asked.standing == Standing::Pending {
        let why = why.map(str::to_owned);
        let ended = Asked { standing, decided_ms: Some(now_ms), why, ..asked.clone() };
        state.approvals.put(id.to_owned(), ended);
    }
    state.append(change).map(|_| ())
}

fn answered(state: &mut State, answer: &Answering<'_>) -> Result<Result<Approval, Refused>, Error> {
    expire(state, answer.now_ms)?;
    let unknown = || Refused::Unknown(answer.id.to_owned());
    let Some(asked) = state.approvals.get(answer.id).cloned() else { return Ok(Err(unknown())) };
    let mut approval = asked.whole(now_ms());
    if let Err(refused) = answering::may_answer(&approval, answer.person) {
        return Ok(Err(refused));
    }
    if let Some(changed) = answering::changed(&approval.question, answer) {
        let why = format!("{changed} changed");
        end(state, answer.id, Standing::Cancelled, Some(&why), "sayso", answer.now_ms)?;
        return Ok(Err(Refused::Changed(changed)));
    }
    if let Err(why) = answering::selectors(&approval.question, answer.reply, answer.person) {
        return Ok(Err(Refused::NotOffered(why)));
    }
    let (given, place) = (answering::given(answer), approval.answers.len());
    let body = serde_json::to_string(&given)?;
    state.append(answering::answered_record(&approval.question, &asked.body, place, &given, &body))?;
    approval.answers.push(given);
    state.approvals.put(answer.id.to_owned(), Asked { answers: approval.answers.clone(), ..asked });
    let (standing, reply) = match outlook(&approval.question, &approval.answers) {
        Outlook::Open => return Ok(Ok(approval)),
        Outlook::Approved(reply) => (Standing::Approved, reply),
        Outlook::Denied(reply) => (Standing::Denied, reply),
    };
    end(state, answer.id, standing, None, &answer.person.name, answer.now_ms)?;
    for kept in answering::remembered(&approval, &reply, answer) {
        grants::give(state, kept, &answer.person.name)?;
    }
    Ok(state.approvals.get(answer.id).map(|asked| asked.whole(now_ms())).ok_or_else(unknown))
}
