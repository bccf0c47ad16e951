//! Questions told to a chat or a phone: signed messages to an address that the owner named, each with a one-time link.
//!
//! INVARIANT: nothing here is waited for by a decision. What cannot be delivered is given up in the end; the question
//! stays on the page.

mod message;
mod post;
mod sign;

use crate::app::App;
use crate::attendance::{self, Seat};
use crate::error::Error;
use crate::follow::{Asked, Follower};
use crate::key::Via;
use crate::who::{Bearer, Caller};
use message::Message;
use post::Post;
use sayso_gate::approval::{Approval, Standing};
use sayso_gate::store::{Approvals as _, Questions};
use sayso_policy::Person;
use sign::Secret;
use std::collections::HashSet;
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

/// All that is needed to tell.
pub(crate) struct Webhooks {
    hooks: Vec<(Person, Post)>,
    secret: Secret,
    /// How the server's own addresses begin.
    base: String,
    /// The first rest after a failure; each next one is twice as long.
    pub(crate) rest: Duration,
}

impl Webhooks {
    /// Looks at the addresses, and reads or makes the secret. `None`: there are none.
    pub(crate) fn new(app: &App, hooks: &[Webhook], base: &str) -> Result<Option<Self>, Error> {
        if hooks.is_empty() {
            return Ok(None);
        }
        let secret = Secret::of(&app.places)?;
        let posts = hooks.iter().map(|hook| Ok((hook.person.clone(), Post::new(&hook.url)?)));
        let hooks = posts.collect::<Result<_, Error>>()?;
        Ok(Some(Self { hooks, secret, base: base.to_owned(), rest: Duration::from_secs(1) }))
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
        let asked = Asked::behind(after);
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
            for approval in waiting(&app).await.into_iter().rev() {
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
                        app.links.end(id);
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
    let all = Questions { pending: true, tenant: None, session: None, limit: QUEUE };
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
    while let Some(message) = queue.recv().await {
        let mut rest = webhooks.rest;
        let mut delivered = false;
        for _ in 0..TRIES {
            if message.is_over() {
                break;
            }
            if post.send(&message, &webhooks.secret).await {
                delivered = true;
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
