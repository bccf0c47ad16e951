//! The stream over a WebSocket: each message is one record, the same object as an event's data.

use super::stream::beat;
use crate::app::App;
use crate::error::ApiError;
use crate::follow::{FollowQuery, Follower};
use crate::who::Bearer;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade, close_code};
use axum::response::Response;
use serde::Deserialize;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long the first message, with the token, may take.
const SIGN_IN: Duration = Duration::from_secs(10);
/// How long a watcher may take nothing before it is dropped. When it comes back, the record has what it missed.
const SLOW: Duration = Duration::from_secs(30);
/// The longest message that is taken: nothing but a token is.
const LONGEST: usize = 4096;

/// The first message of those who cannot send a header.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SignIn {
    token: String,
}

/// Takes the connection over.
pub(super) fn open<F: Future<Output = ()> + Send + 'static>(
    upgrade: WebSocketUpgrade,
    then: impl FnOnce(WebSocket) -> F + Send + 'static,
) -> Response {
    // Buffers are as small as what comes: a thousand watchers say next to nothing.
    let upgrade = upgrade.max_message_size(LONGEST).max_frame_size(LONGEST).read_buffer_size(1024).write_buffer_size(0);
    upgrade.on_upgrade(then)
}

/// Waits for the token, then tells.
pub(super) async fn sign_in(mut socket: WebSocket, app: Arc<App>, asked: FollowQuery) {
    let first = tokio::time::timeout(SIGN_IN, socket.recv()).await;
    let follower = match first {
        Ok(Some(Ok(Message::Text(text)))) => signed_in(&text, app, asked).await,
        Ok(Some(Ok(_))) | Err(_) => Err(ApiError::signed_out()),
        Ok(_) => return,
    };
    match follower {
        Ok(follower) => tell(socket, follower).await,
        Err(error) => {
            let told = tokio::time::timeout(SLOW, socket.send(Message::Text(error.text().into())));
            if matches!(told.await, Ok(Ok(()))) {
                close(socket, close_code::POLICY, error.code()).await;
            }
        }
    }
}

async fn signed_in(text: &str, app: Arc<App>, asked: FollowQuery) -> Result<Follower, ApiError> {
    let first: SignIn = serde_json::from_str(text)
        .map_err(|_| ApiError::malformed("The first message must be {\"token\": \"...\"}, and nothing else."))?;
    let caller = app.caller(&first.token, Instant::now())?;
    Follower::begin(app, caller, Bearer(first.token.into()), asked).await
}

/// Tells what is recorded until one side has enough.
pub(super) async fn tell(mut socket: WebSocket, mut follower: Follower) {
    let mut beat = beat();
    let mut heard = true;
    loop {
        let message = tokio::select! {
            told = follower.next() => match told {
                Some(told) => Message::Text(told.json),
                None => return close(socket, close_code::RESTART, "come-back").await,
            },
            said = socket.recv() => match said {
                // Pings are answered below; whatever else is said is left aside.
                Some(Ok(_)) => {
                    heard = true;
                    continue;
                }
                Some(Err(_)) | None => return,
            },
            _ = beat.tick() => {
                if !heard {
                    return;
                }
                if !follower.is_welcome() {
                    return close(socket, close_code::POLICY, "signed-out").await;
                }
                heard = false;
                Message::Ping(axum::body::Bytes::new())
            }
        };
        // Whoever takes nothing is dropped rather than kept in memory.
        if !matches!(tokio::time::timeout(SLOW, socket.send(message)).await, Ok(Ok(()))) {
            return;
        }
    }
}

async fn close(mut socket: WebSocket, code: u16, reason: &'static str) {
    let frame = CloseFrame { code, reason: Utf8Bytes::from_static(reason) };
    // Whoever is gone needs no goodbye.
    let _ = tokio::time::timeout(Duration::from_secs(1), socket.send(Message::Close(Some(frame)))).await;
}
