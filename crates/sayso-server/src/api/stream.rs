//! `GET /v1/stream`: records as they come. An upgrade gives a WebSocket, anything else server-sent events. Resumes
//! behind `after` or `Last-Event-ID`.

use super::describe::{Described, DescribesAnswer};
use super::parameters::Parameters;
use super::socket;
use crate::app::App;
use crate::error::ApiError;
use crate::follow::{self, Follower, Telling};
use crate::who::{Bearer, Caller};
use axum::Extension;
use axum::extract::State;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{Stream, unfold};
use serde_json::json;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Interval, MissedTickBehavior};

/// How often a follower's token is looked at again, and a WebSocket is asked whether anybody is there.
const BEAT: Duration = Duration::from_secs(15);

/// Events, or a socket.
pub(super) struct Followed(Response);

impl IntoResponse for Followed {
    fn into_response(self) -> Response {
        self.0
    }
}

impl DescribesAnswer for Followed {
    fn describe(described: &mut Described) {
        // Also for an agent, which is told of its own questions; but for nobody without a token, wherever they say it.
        described.needs_token();
        described.add_text("The events.", &["text/event-stream"]);
        described.add_response(101, json!({"description": "A WebSocket."}));
    }
}

/// Follows the record.
pub(super) async fn stream(
    State(app): State<Arc<App>>,
    caller: Caller,
    Extension(bearer): Extension<Bearer>,
    headers: HeaderMap,
    Parameters(mut asked): Parameters<follow::FollowQuery>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Followed, ApiError> {
    asked.after = resumed(&headers)?.or(asked.after);
    if !headers.contains_key(header::UPGRADE) {
        return Ok(Followed(events(Follower::begin(app, caller, bearer, asked).await?).into_response()));
    }
    let upgrade = upgrade.map_err(|error| {
        let why = error.body_text();
        ApiError::malformed(format!(
            "This is not a WebSocket request: {why}. Without `Upgrade`, server-sent events are used."
        ))
    })?;
    if caller.person.is_none() {
        // A browser cannot put a header on a WebSocket: it says the token in its first message.
        let sign_in = async move |socket| socket::sign_in(socket, app, asked).await;
        return Ok(Followed(socket::open(upgrade, sign_in)));
    }
    let follower = Follower::begin(app, caller, bearer, asked).await?;
    Ok(Followed(socket::open(upgrade, async move |socket| socket::tell(socket, follower).await)))
}

/// The last record that a browser has seen, which it says when it comes back by itself. One that cannot be read is
/// refused: to begin elsewhere would lose records, or tell them twice.
fn resumed(headers: &HeaderMap) -> Result<Option<u64>, ApiError> {
    let number = |value: &HeaderValue| {
        let digits = value.to_str().ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        digits.and_then(|digits| digits.parse().ok())
    };
    match headers.get("last-event-id") {
        None => Ok(None),
        Some(value) => number(value).map(Some).ok_or_else(|| {
            ApiError::malformed(
                "`Last-Event-ID` must be the `seq` of the last record you saw. Send that, or leave it out.",
            )
        }),
    }
}

/// Ticks while somebody follows.
pub(super) fn beat() -> Interval {
    let mut beat = tokio::time::interval_at(tokio::time::Instant::now() + BEAT, BEAT);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    beat
}

/// As server-sent events. Nothing is read ahead: the next record is taken when the last one is on its way.
fn events(follower: Follower) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let events = unfold((follower, beat()), async |(mut follower, mut beat)| {
        loop {
            tokio::select! {
                told = follower.next() => {
                    let event = event(&told?);
                    return Some((Ok(event), (follower, beat)));
                }
                _ = beat.tick() => if !follower.is_welcome() { return None },
            }
        }
    });
    Sse::new(events).keep_alive(KeepAlive::new().interval(BEAT))
}

fn event(told: &Telling) -> Event {
    Event::default().event(told.name).id(told.seq.to_string()).data(told.json.as_str())
}
