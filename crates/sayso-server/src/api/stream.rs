//! `GET /v1/stream`: records as they come, as server-sent events. Resumes behind `after` or `Last-Event-ID`.

use crate::app::App;
use crate::error::ApiError;
use axum::extract::{Query as Parameters, State};
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use sayso_gate::audit::{Order, Query, Stored};
use serde::Deserialize;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast;
use tokio_stream::Stream;

/// Records sent at most for what came before.
const MOST_BEFORE: usize = 1000;

/// Where to begin.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    after: Option<u64>,
}

/// Follows the record.
pub(super) async fn stream(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    asked: Result<Parameters<Asked>, axum::extract::rejection::QueryRejection>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, ApiError> {
    let Parameters(asked) = asked.map_err(|error| ApiError::malformed(error.body_text()))?;
    let resumed = headers.get("last-event-id").and_then(|value| value.to_str().ok()?.parse().ok());
    let after = resumed.or(asked.after);
    // Followed first, read then: what comes in between is there twice, and sent once.
    let live = app.tail.follow();
    let before = before(&app, after).await?;
    let seen = before.back().map(|it| it.seq).or(after);
    let follower = Follower { app, before, live, seen };
    Ok(Sse::new(events(follower)).keep_alive(KeepAlive::new().interval(Duration::from_secs(15))))
}

struct Follower {
    app: Arc<App>,
    before: VecDeque<Arc<Stored>>,
    live: broadcast::Receiver<Arc<Stored>>,
    seen: Option<u64>,
}

async fn before(app: &Arc<App>, after: Option<u64>) -> Result<VecDeque<Arc<Stored>>, ApiError> {
    let Some(after) = after else { return Ok(VecDeque::new()) };
    let query = Query { after: Some(after), limit: Some(MOST_BEFORE), order: Order::OldestFirst, ..Query::default() };
    let reader = Arc::clone(app);
    let found = tokio::task::spawn_blocking(move || reader.with_log(|log| log.query(&query))).await;
    let found = found.map_err(|error| ApiError::internal(&error))??;
    Ok(found.into_iter().map(Arc::new).collect())
}

impl Follower {
    /// The next record that was not sent yet; `None` ends the stream.
    async fn next(&mut self) -> Option<Arc<Stored>> {
        loop {
            if let Some(record) = self.before.pop_front() {
                return Some(record);
            }
            let record = match self.live.recv().await {
                Ok(record) => record,
                // Too slow: the record has what was missed.
                Err(broadcast::error::RecvError::Lagged(_)) => {
                    self.before = before(&self.app, self.seen).await.ok()?;
                    self.seen = self.before.back().map(|it| it.seq).or(self.seen);
                    continue;
                }
                Err(broadcast::error::RecvError::Closed) => return None,
            };
            if self.seen.is_none_or(|seen| seen < record.seq) {
                self.seen = Some(record.seq);
                return Some(record);
            }
        }
    }
}

fn events(follower: Follower) -> impl Stream<Item = Result<Event, Infallible>> {
    let (sender, receiver) = tokio::sync::mpsc::channel(16);
    tokio::spawn(async move {
        let mut follower = follower;
        loop {
            let record = tokio::select! {
                record = follower.next() => record,
                () = sender.closed() => None,
            };
            let Some(record) = record else { return };
            let event = Event::default().event("decision").id(record.seq.to_string());
            let Ok(event) = event.json_data(&*record) else { return };
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
