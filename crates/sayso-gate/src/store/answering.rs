//! What an answer to a question comes to, and what the chain says of questions and remembered answers: the same whatever
//! keeps them.

use super::{Answering, naming};
use crate::approval::{Approval, Given, Offer, Question, Refused, Remember, Reply, Standing, Width, satisfied};
use crate::audit::{Change, Kind, fresh_id};
use crate::grant::{GrantUse, Kept};
use sayso_policy::{Actor, Approvers, Grant, GrantSelector, Person, Verdict};
use serde_json::{Value, json};

/// Whether this answer to a question counts, as far as who gives it and what it asks for are concerned.
pub(super) fn may_answer(approval: &Approval, person: &Person) -> Result<(), Refused> {
    let question = &approval.question;
    if approval.standing != Standing::Pending {
        return Err(Refused::Over(approval.standing));
    }
    if approval.answers.iter().any(|given| given.person.name == person.name) {
        return Err(Refused::Again(person.name.clone()));
    }
    if !question.may_be_answered_by(person) {
        // What is for anybody is not for whoever asked it.
        if question.addressees.iter().any(Option::is_none) {
            return Err(Refused::Own(person.name.clone()));
        }
        let to = question.addressees.iter().flatten().map(|to| to.name.as_str());
        return Err(Refused::NotTheirs(person.name.clone(), to.collect::<Vec<_>>().join(" and ")));
    }
    let people: Vec<Person> = approval.answers.iter().map(|given| given.person.clone()).collect();
    let theirs = |to: &&Option<Approvers>| to.as_ref().is_none_or(|to| to.include(person));
    let open = question.addressees.iter().filter(theirs).any(|to| !satisfied(to.as_ref(), &people));
    if open { Ok(()) } else { Err(Refused::Answered(person.name.clone())) }
}

/// What is not any more as it was when the question was asked.
pub(super) fn changed(question: &Question, answer: &Answering<'_>) -> Option<String> {
    if answer.policy.is_some_and(|policy| policy != question.policy) {
        return Some("the policy".to_owned());
    }
    let file = question.files.iter().find(|file| !file.holds(answer.facts))?;
    Some(file.path.display().to_string())
}

/// The answer as it is kept.
pub(super) fn given(answer: &Answering<'_>) -> Given {
    Given {
        person: answer.person.clone(),
        via: answer.via.to_owned(),
        reply: answer.reply.clone(),
        time_ms: answer.now_ms,
    }
}

/// What a reply has remembered, or why it cannot be.
pub(super) fn selectors(
    question: &Question,
    reply: &Reply,
    person: &Person,
) -> Result<(Vec<GrantSelector>, String), String> {
    let exact = || (vec![GrantSelector::Digest(question.exact.clone())], "exactly this call".to_owned());
    if question.plan.is_some() && (reply.parts.is_some() || reply.remember != Remember::Once) {
        return Err("a plan is answered as a whole, and once".to_owned());
    }
    if let Some(parts) = &reply.parts {
        let all = question.parts();
        if all == 0 {
            return Err("this call has no parts: answer all of it".to_owned());
        }
        if parts.is_empty() || parts.iter().any(|part| usize::try_from(*part).map_or(true, |part| part >= all)) {
            return Err(format!("`parts` takes numbers from 0 to {}, at least one", all.saturating_sub(1)));
        }
        if reply.verdict != Verdict::Allow || reply.remember != Remember::Once {
            return Err("only a yes for once can be for some parts".to_owned());
        }
    }
    if reply.remember == Remember::Once {
        return Ok(exact());
    }
    if person.automated {
        return Err("an automated approver can only answer one call at a time".to_owned());
    }
    if reply.remember == Remember::Session && question.actor.session.is_none() {
        return Err("the agent gave no session, so nothing can be saved for one".to_owned());
    }
    if reply.remember == Remember::Always && question.site.is_none() {
        return Err("the call has no workspace, so nothing can be saved for one".to_owned());
    }
    let offer: Option<&Offer> = question.offers.iter().find(|offer| offer.width == reply.width);
    match offer {
        None if reply.verdict == Verdict::Allow && question.only_once.is_some() => {
            let why = question.only_once.as_deref().unwrap_or_default();
            Err(format!("approving this call applies once and cannot be saved: {why}"))
        }
        Some(offer) => Ok((offer.selectors.clone(), offer.words.clone())),
        None if reply.verdict == Verdict::Deny && reply.width == Width::Exact => Ok(exact()),
        None => {
            let widths: Vec<&str> = question.offers.iter().map(|offer| offer.width.as_str()).collect();
            let can = if widths.is_empty() { "only once".to_owned() } else { widths.join(", ") };
            Err(format!("this answer cannot be saved with width `{}`; it can be: {can}", reply.width.as_str()))
        }
    }
}

/// The grants that an answer asks for.
pub(super) fn remembered(approval: &Approval, reply: &Reply, answer: &Answering<'_>) -> Vec<Kept> {
    let question = &approval.question;
    if let Some(plan) = &question.plan {
        return crate::plan::grants(approval, plan, reply, answer.now_ms);
    }
    if reply.remember == Remember::Once {
        return Vec::new();
    }
    // The narrowest of several answers may be one that was not offered: then nothing is remembered.
    let Ok((selectors, words)) = selectors(question, reply, answer.person) else { return Vec::new() };
    let for_session = reply.remember == Remember::Session;
    let agreed = |given: &&Given| given.reply.verdict == reply.verdict;
    let one = |selector| {
        let grant = Grant {
            id: fresh_id(),
            selector,
            workspace: question.site.clone(),
            session: question.actor.session.clone().filter(|_| for_session),
            uses_left: None,
            expires_ms: None,
            givers: approval.answers.iter().filter(agreed).map(|given| given.person.clone()).collect(),
            verdict: reply.verdict,
            actor: Actor {
                tenant: question.actor.tenant.clone(),
                agent: question.actor.agent.clone().filter(|_| for_session),
                asker: question.actor.asker.clone().filter(|_| for_session),
                ..Actor::default()
            },
            plan: None,
        };
        Kept {
            grant,
            given_ms: answer.now_ms,
            approval: Some(question.id.clone()),
            words: words.clone(),
            revoked_ms: None,
            used: 0,
            last_used_ms: None,
        }
    };
    selectors.into_iter().map(one).collect()
}

/// The record that something became of a question.
pub(super) fn record(question: &Question, what: &str, by: &str) -> Change {
    let mut change = Change::now(Kind::Approval, what);
    change.about = Some(question.id.clone());
    change.by = Some(by.to_owned());
    change.actor = question.actor.clone();
    change.tool = Some(question.tool.clone());
    change.rule = question.reasons.first().map(|reason| reason.code.clone());
    change
}

/// The record that a question, whose text is this, was asked.
pub(super) fn asked_record(question: &Question, body: &str) -> Change {
    let to: Vec<&str> = question.addressees.iter().map(|to| to.as_ref().map_or("anybody", |to| &to.name)).collect();
    let mut change = record(question, "asked", "sayso");
    change.id = naming::name(&question.id, "asked");
    change.detail =
        json!({"to": to, "expires_ms": question.expires_ms, "digest": question.digest, "question": naming::hash(body)});
    change
}

/// The record that a question, whose text is `asked`, was given the answer at this place, whose text is `body`.
pub(super) fn answered_record(question: &Question, asked: &str, place: usize, given: &Given, body: &str) -> Change {
    let mut change = record(question, "answered", &given.person.name);
    change.verdict = Some(given.reply.verdict);
    change.id = naming::name(&question.id, &format!("answered-{place}"));
    change.detail = json!({"via": given.via, "automated": given.person.automated, "remember": given.reply.remember, "width": given.reply.width, "parts": given.reply.parts,
        "question": naming::hash(asked), "given": naming::hash(body)});
    change
}

/// The record that a question has reached a higher group.
pub(super) fn escalated_record(question: &Question, to: &str, by: &str) -> Change {
    let mut change = record(question, "escalated", by);
    change.id = naming::name(&question.id, "escalated");
    change.detail = json!({"to": to});
    change
}

/// The record that a call ran on the yes to a question.
pub(super) fn used_record(question: &Question) -> Change {
    let mut change = record(question, "used", "sayso");
    change.id = naming::name(&question.id, "used");
    change
}

/// The record that an answer, whose text is this, is remembered.
pub(super) fn remembered_record(kept: &Kept, body: &str, by: &str) -> Change {
    let grant = &kept.grant;
    let detail = json!({"selector": grant.selector, "words": kept.words, "workspace": grant.workspace, "session": grant.session, "approval": kept.approval, "kept": naming::hash(body)});
    grant_record(grant, "given", by, detail)
}

/// The record that something became of a remembered answer.
pub(super) fn grant_record(grant: &Grant, what: &str, by: &str, detail: Value) -> Change {
    let mut change = Change::now(Kind::Grant, what);
    change.id = match what {
        "expires" => naming::end_name(&grant.id),
        _ => naming::name(&grant.id, what),
    };
    change.about = Some(grant.id.clone());
    change.by = Some(by.to_owned());
    change.actor = grant.actor.clone();
    change.actor.session.clone_from(&grant.session);
    change.verdict = Some(grant.verdict);
    change.detail = detail;
    change
}

/// The record that one call used a remembered answer, for these effects. The use of one that can be used once has a name
/// that follows from it: there is no second.
pub(super) fn grant_used_record(uses: &[&GrantUse], grant: &Grant) -> Option<Change> {
    let first = uses.first()?;
    let targets: Vec<&str> = uses.iter().map(|one| one.target.as_str()).collect();
    let mut change = Change::now(Kind::Grant, "used");
    change.about = Some(first.grant.clone());
    change.by = Some("sayso".to_owned());
    change.detail = json!({"record": first.record, "command": first.command, "targets": targets});
    if let Some(step) = &grant.plan {
        change.id = naming::name(&grant.id, "used");
        if let Some(detail) = change.detail.as_object_mut() {
            detail.insert("plan".to_owned(), json!(step.plan));
            detail.insert("step".to_owned(), json!(step.step));
        }
    }
    Some(change)
}

/// The uses of a call, those of each remembered answer together, in the order of their first.
pub(super) fn by_grant(uses: &[GrantUse]) -> Vec<Vec<&GrantUse>> {
    let mut found: Vec<Vec<&GrantUse>> = Vec::new();
    for one in uses {
        match found.iter_mut().find(|of| of.first().is_some_and(|first| first.grant == one.grant)) {
            Some(of) => of.push(one),
            None => found.push(vec![one]),
        }
    }
    found
}
