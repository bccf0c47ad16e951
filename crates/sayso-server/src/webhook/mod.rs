//! Questions told to a chat or a phone: signed messages to an address that the owner named, each with a one-time link.
//!
//! INVARIANT: nothing here is waited for by a decision. What cannot be delivered is given up in the end; the question
//! stays on the page.

mod message;
mod post;
mod sign;
mod trust;

use crate::app::App;
use crate::attendance::{self, Seat};
use crate::error::Error;
use crate::follow::{FollowQuery, Follower};
use crate::key::Via;
use crate::owned;
use crate::who::{Bearer, Caller};
use message::Message;
use post::Post;
use sayso_gate::approval::{Approval, Standing};
use sayso_gate::store::Questions;
use sayso_policy::Person;
use sign::Secret;
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// Messages that wait for one receiver. What comes when there are so many is left out.
const QUEUE: usize = 256;
/// Times that a message is sent before it is given up.
const TRIES: u32 = 8;
/// The longest rest between two of them.
const LONGEST_REST: Duration = Duration::from_secs(60);

/// Where questions are told, and who answers with the links in them.
#[derive(Clone, Debug)]
pub struct Webhook {
    /// Who is told, and answers.
    pub person: Person,
    /// Where: https, or http on this machine.
    pub url: String,
}

/// The host of an address. The rest of it may be a secret.
pub(crate) fn host_of(url: &str) -> Option<String> {
    url.parse::<axum::http::Uri>().ok()?.host().map(str::to_owned)
}

/// Told what became of a receiver, in a sentence, when that changes.
pub(crate) type Report = Box<dyn Fn(&str) + Send + Sync>;

/// All that is needed to tell.
pub(crate) struct Webhooks {
    hooks: Vec<(Person, Post)>,
    secret: Secret,
    /// How the server's own addresses begin.
    base: String,
    report: Report,
    /// The first rest after a failure; each next one is twice as long.
    pub(crate) rest: Duration,
}

impl Webhooks {
    /// Looks at the addresses, and reads or makes the secret. `None`: there are none. The certificates in `authority` are
    /// trusted beside the system's.
    pub(crate) fn new(
        app: &App,
        hooks: &[Webhook],
        authority: Option<&Path>,
        base: &str,
        report: Report,
    ) -> Result<Option<Self>, Error> {
        if hooks.is_empty() {
            return Ok(None);
        }
        let secret = Secret::of(&app.places)?;
        let posts = hooks.iter().map(|hook| Ok((hook.person.clone(), Post::new(&hook.url, authority)?)));
        let hooks = posts.collect::<Result<_, Error>>()?;
        Ok(Some(Self { hooks, secret, base: base.to_owned(), report, rest: Duration::from_secs(1) }))
    }
}

/// Tells for ever.
pub(crate) async fn tell(app: Arc<App>, webhooks: Webhooks) {
    let webhooks = Arc::new(webhooks);
    let mut queues = Vec::new();
    for place in 0..webhooks.hooks.len() {
        let (sender, receiver) = mpsc::channel(QUEUE);
        tokio::spawn(deliver(Arc::clone(&app), Arc::clone(&webhooks), place, receiver));
        queues.push(sender);
    }
    let put = |approval: &Approval| {
        for ((person, _), queue) in webhooks.hooks.iter().zip(&queues) {
            if let Some(message) = Message::about(&app, approval, person, &webhooks.base) {
                // A receiver that is so far behind gets no more; the page has everything.
                let _ = queue.try_send(message);
            }
        }
    };
    let (mut after, mut told_first) = (None, HashSet::new());
    loop {
        let caller = Caller::owner(&app.about.owner, Via::Http);
        let asked = FollowQuery::behind(after);
        let begun = Follower::begin(Arc::clone(&app), caller, Bearer(Arc::default()), asked).await;
        let mut follower = match begun {
            Ok(follower) => follower,
            Err(error) => {
                // Another record than the one that was followed is begun anew.
                after = after.filter(|_| error.code() != "ahead-of-record");
                tokio::time::sleep(webhooks.rest).await;
                continue;
            }
        };
        if after.is_none() {
            // Links end with the process that made them: questions that still wait get new ones.
            for approval in waiting(&app).await {
                put(&approval);
                told_first.insert(approval.question.id);
            }
        }
        while let Some(told) = follower.next().await {
            after = Some(told.seq);
            if let Some(question) = told.question
                && let Some(approval) = find(&app, question).await
            {
                let (id, pending) = (&approval.question.id, approval.standing == Standing::Pending);
                match told.name {
                    // One that was asked while the first were told is among them.
                    "approval_required" if pending && !told_first.contains(id) => put(&approval),
                    "approval_response" if !pending => {
                        // Links of one that nobody answered in time have ended with it, and say so.
                        if approval.standing != Standing::Expired {
                            app.links.end(id);
                        }
                        put(&approval);
                    }
                    _ => {}
                }
            }
        }
        tokio::time::sleep(webhooks.rest).await;
    }
}

async fn waiting(app: &Arc<App>) -> Vec<Approval> {
    let store = app.store();
    // Who floods the queue does not push out what was asked before.
    let all = Questions { pending: true, oldest_first: true, limit: QUEUE, ..Questions::default() };
    let found = tokio::task::spawn_blocking(move || store.questions(&all, &|_| true)).await;
    // A store that fails now says so to whoever asks for questions.
    found.ok().and_then(Result::ok).unwrap_or_default()
}

async fn find(app: &Arc<App>, question: String) -> Option<Approval> {
    let store = app.store();
    tokio::task::spawn_blocking(move || store.approval(&question)).await.ok()?.ok()?
}

/// Delivers to one receiver, in order.
async fn deliver(app: Arc<App>, webhooks: Arc<Webhooks>, place: usize, mut queue: mpsc::Receiver<Message>) {
    let Some((person, post)) = webhooks.hooks.get(place) else { return };
    // Somebody who can be told counts as there, as long as telling works.
    let mut seat: Option<Seat> = Some(attendance::sit(&app, person).await);
    let mut state = Telling { whom: format!("webhook for {person} at {}", post.place()), failing: None };
    while let Some(message) = queue.recv().await {
        let mut rest = webhooks.rest;
        let mut delivered = false;
        for _ in 0..TRIES {
            if message.is_over() {
                break;
            }
            let told = post.send(&message, &webhooks.secret).await;
            delivered = told.is_ok();
            if let Some(news) = state.news(told) {
                let (app, person, host) = (Arc::clone(&app), person.clone(), post.host());
                let failing = state.failing.clone();
                // A record that cannot be written now is said by whoever judges a call.
                let record = move || owned::webhook(&app, &person, host.as_deref(), failing.as_deref());
                let _ = tokio::task::spawn_blocking(record).await;
                (webhooks.report)(&news);
            }
            if delivered {
                break;
            }
            tokio::time::sleep(rest).await;
            rest = (rest * 2).min(LONGEST_REST);
        }
        seat = match (delivered, seat.take()) {
            (true, None) => Some(attendance::sit(&app, person).await),
            (true, seat) => seat,
            (false, seat) if message.is_over() => seat,
            (false, _) => None,
        };
    }
}

/// Whether telling works, so that its owner hears once that it does not, and once that it does again.
struct Telling {
    whom: String,
    failing: Option<String>,
}

impl Telling {
    fn news(&mut self, told: Result<(), String>) -> Option<String> {
        let failing = told.err();
        if failing == self.failing {
            return None;
        }
        let news = match &failing {
            Some(why) => format!("{}: {why}.", self.whom),
            None => format!("{}: works again.", self.whom),
        };
        self.failing = failing;
        Some(news)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receiver_that_fails_is_reported_once_for_each_reason() {
        let mut telling = Telling { whom: "webhook for alice".to_owned(), failing: None };
        let failed = |why: &str| Err(why.to_owned());
        assert_eq!(telling.news(Ok(())), None);
        assert_eq!(telling.news(failed("it answers HTTP 500")).unwrap(), "webhook for alice: it answers HTTP 500.");
        assert_eq!(telling.news(failed("it answers HTTP 500")), None);
        assert!(telling.news(failed("its certificate has expired")).is_some());
        assert_eq!(telling.news(Ok(())).unwrap(), "webhook for alice: works again.");
        assert_eq!(telling.news(Ok(())), None);
    }
}
