//! `GET /v1/stream`: records as they come, as server-sent events. Resumes behind `after` or `Last-Event-ID`.

use crate::app::App;
use crate::attendance::{self, Seat};
use crate::error::ApiError;
use crate::tail;
use crate::told::Told;
use crate::who::{Approver, Caller};
use axum::extract::{Query as Parameters, State};
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use serde::Deserialize;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast;
use tokio_stream::Stream;

/// Records read at a time for what came before.
const MOST_BEFORE: usize = 500;

/// Where to begin, and what is wanted.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    after: Option<u64>,
    /// Only what belongs to this session.
    session: Option<String>,
    /// Whoever follows is there to answer.
    #[serde(default)]
    attend: bool,
}

/// Follows the record.
pub(super) async fn stream(
    State(app): State<Arc<App>>,
    approver: Approver,
    headers: HeaderMap,
    asked: Result<Parameters<Asked>, axum::extract::rejection::QueryRejection>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, ApiError> {
    let Parameters(asked) = asked.map_err(|error| ApiError::malformed(error.body_text()))?;
    let resumed = headers.get("last-event-id").and_then(|value| value.to_str().ok()?.parse().ok());
    let seat = if asked.attend { Some(attendance::sit(&app, &approver.person).await) } else { None };
    // Followed first, read then: what comes in between is there twice, and sent once.
    let live = app.tail.follow();
    let mut follower = Follower {
        app,
        caller: approver.caller,
        session: asked.session,
        before: VecDeque::new(),
        live,
        seen: resumed.or(asked.after),
        _seat: seat,
    };
    follower.catch_up().await?;
    Ok(Sse::new(events(follower)).keep_alive(KeepAlive::new().interval(Duration::from_secs(15))))
}

pub(super) struct Follower {
    app: Arc<App>,
    caller: Caller,
    session: Option<String>,
    before: VecDeque<Arc<Told>>,
    live: broadcast::Receiver<Arc<Told>>,
    /// The number of the last record that was sent or is none of the follower's business.
    seen: Option<u64>,
    _seat: Option<Seat>,
}

impl Follower {
    /// Reads what the record has behind what was seen.
    async fn catch_up(&mut self) -> Result<(), ApiError> {
        let Some(after) = self.seen else { return Ok(()) };
        let app = Arc::clone(&self.app);
        let found = tokio::task::spawn_blocking(move || tail::read(&app, after, MOST_BEFORE)).await;
        let found = found.map_err(|error| ApiError::internal(&error))?;
        let found = found.ok_or_else(|| ApiError::internal(&"The record cannot be read."))?;
        self.before.extend(found.into_iter().map(Arc::new));
        Ok(())
    }

    /// The next record that was not sent yet; `None` ends the stream, and whoever follows comes back.
    pub(super) async fn next(&mut self) -> Option<Arc<Told>> {
        loop {
            if let Some(told) = self.before.pop_front() {
                self.seen = Some(told.seq);
                if self.before.is_empty() {
                    // There may be more than was read at a time.
                    self.catch_up().await.ok()?;
                }
                if self.wants(&told) {
                    return Some(told);
                }
                continue;
            }
            let told = match self.live.recv().await {
                Ok(told) => told,
                // Too slow: the record has what was missed.
                Err(broadcast::error::RecvError::Lagged(_)) => {
                    self.catch_up().await.ok()?;
                    continue;
                }
                Err(broadcast::error::RecvError::Closed) => return None,
            };
            match self.seen {
                Some(seen) if told.seq <= seen => {}
                // Numbers have no gaps: what is between was missed.
                Some(seen) if told.seq > seen.saturating_add(1) => {
                    self.catch_up().await.ok()?;
                    if self.before.is_empty() {
                        return None;
                    }
                }
                _ => {
                    self.seen = Some(told.seq);
                    if self.wants(&told) {
                        return Some(told);
                    }
                }
            }
        }
    }

    fn wants(&self, told: &Told) -> bool {
        told.is_for(&self.caller) && self.session.as_deref().is_none_or(|session| told.is_of(session))
    }
}

fn events(follower: Follower) -> impl Stream<Item = Result<Event, Infallible>> {
    let (sender, receiver) = tokio::sync::mpsc::channel(16);
    tokio::spawn(async move {
        let mut follower = follower;
        loop {
            let told = tokio::select! {
                told = follower.next() => told,
                () = sender.closed() => None,
            };
            let Some(told) = told else { return };
            let event = Event::default().event(told.name).id(told.seq.to_string()).data(&told.json);
            if sender.send(Ok(event)).await.is_err() {
                return;
            }
        }
    });
    Receiver(receiver)
}

struct Receiver(tokio::sync::mpsc::Receiver<Result<Event, Infallible>>);

impl Stream for Receiver {
    type Item = Result<Event, Infallible>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        self.0.poll_recv(context)
    }
}
