//! `POST /v1/session`: the key of the terminal for a token of this tab, or of this command.

use super::body::{Asks, Short};
use crate::app::App;
use crate::error::ApiError;
use crate::key::{Refusal, Shown, Via};
use crate::owned;
use crate::server::News;
use crate::who::{Approver, Bearer, Caller};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Instant;
use utoipa::ToSchema;

/// The key; or, from the commands of Sayso itself, what they made of it for this very process.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Key)]
pub(super) struct Exchange {
    /// As the terminal showed it.
    #[schema(examples("7Q4F-K2MX"))]
    key: Option<String>,
    proof: Option<String>,
    nonce: Option<String>,
    via: Option<By>,
}

/// How somebody signs in, where they say so.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = SignsInVia)]
enum By {
    Terminal,
}

impl Asks for Exchange {
    const EITHER: &'static [&'static [&'static str]] = &[&["key"], &["proof", "nonce"]];
}

/// The token, good for twelve hours.
#[derive(Serialize, ToSchema)]
pub(super) struct SignedIn {
    token: String,
}

/// Whether a token ended here.
#[derive(Serialize, ToSchema)]
pub(super) struct SignedOut {
    /// False: it is a token of the store, which `sayso token revoke` ends.
    signed_out: bool,
}

/// Ends the token that a key was exchanged for.
pub(super) async fn sign_out(
    State(app): State<Arc<App>>,
    _: Approver,
    Extension(Bearer(token)): Extension<Bearer>,
) -> Json<SignedOut> {
    Json(SignedOut { signed_out: app.keys.forget(&token) })
}

/// Exchanges a key.
pub(super) async fn session(
    State(app): State<Arc<App>>,
    caller: Caller,
    headers: HeaderMap,
    Short(Exchange { key, proof, nonce, via }): Short<Exchange>,
) -> Result<Json<SignedIn>, ApiError> {
    let via = match via {
        Some(By::Terminal) => Via::Terminal,
        // A browser says where its requests come from, and no other program has to.
        None if headers.contains_key(header::ORIGIN) => Via::Page,
        None => Via::Http,
    };
    let keys = Arc::clone(&app);
    let exchanged = tokio::task::spawn_blocking(move || {
        let shown = match (&key, &proof, &nonce) {
            (Some(key), None, None) => Shown::Key(key),
            (None, Some(proof), Some(nonce)) => Shown::Proof { nonce, proof },
            _ => return Err(ApiError::malformed("Give `key`, or `proof` and its `nonce`.")),
        };
        let exchanged = keys.keys.exchange(shown, via, Instant::now());
        match &exchanged {
            // INVARIANT: recorded before it counts, or it does not count.
            Ok(token) => owned::signed_in(&keys, via, &caller).inspect_err(|_| {
                keys.keys.forget(token);
                (keys.announce)(&keys.keys.key(), News::Used);
            })?,
            Err(Refusal::Wrong) if keys.keys.rests() => {
                // Whoever reads the terminal gets in all the same.
                if let Some(spare) = keys.keys.new_spare() {
                    (keys.announce)(&spare, News::Guessed);
                }
                owned::locked(&keys, &caller)?;
            }
            Err(_) => {}
        }
        Ok(exchanged)
    })
    .await;
    match exchanged.map_err(|error| ApiError::internal(&error))?? {
        Ok(token) => {
            (app.announce)(&app.keys.key(), News::Used);
            app.tail.look_now();
            Ok(Json(SignedIn { token }))
        }
        Err(Refusal::Wrong) => Err(ApiError::key_refused(
            StatusCode::FORBIDDEN,
            "This key is invalid or already used. The `sayso serve` terminal shows the current one.",
        )),
        Err(Refusal::TooMany) => Err(ApiError::key_refused(
            StatusCode::TOO_MANY_REQUESTS,
            "Too many wrong keys. Wait a minute, or use the long key now shown in the `sayso serve` terminal.",
        )),
        Err(Refusal::NoRandomness) => Err(ApiError::internal(&"The system provides no randomness for a token.")),
    }
}
