//! One address that messages are sent to.

use super::message::Message;
use super::sign::Secret;
use super::trust;
use crate::clock::now_ms;
use crate::error::Error;
use axum::body::Bytes;
use axum::http::{Request, Uri, header};
use http_body_util::Full;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use std::path::Path;
use std::time::Duration;

/// How long a receiver may take to say that it has a message.
const PATIENCE: Duration = Duration::from_secs(10);

/// One address.
pub(super) struct Post {
    uri: Uri,
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
}

impl Post {
    /// Only https: a link answers a question, so nobody on the way may read it. Plain http stays on this machine.
    /// `authority` names certificates that are trusted beside those of the system.
    pub(super) fn new(url: &str, authority: Option<&Path>) -> Result<Self, Error> {
        let bad = |why: &str| Error::Webhook(url.to_owned(), why.to_owned());
        let uri: Uri = url.parse().map_err(|_| bad("is not an address"))?;
        let host = uri.host().ok_or_else(|| bad("has no host"))?;
        if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return Err(bad("contains a user name or password, which would be shown"));
        }
        match uri.scheme_str() {
            Some("https") => {}
            Some("http") if ["127.0.0.1", "localhost", "[::1]"].contains(&host) => {}
            _ => return Err(bad("must be https: anyone who reads a link can answer with it")),
        }
        let config = trust::config(authority)?;
        let config =
            config.ok_or_else(|| bad("needs trusted certificates, and the system has none; use --webhook-ca FILE"))?;
        let connector = HttpsConnectorBuilder::new().with_tls_config(config).https_or_http().enable_http1().build();
        Ok(Self { uri, client: Client::builder(TokioExecutor::new()).build(connector) })
    }

    /// Where it is, without what only the receiver should know: the path of a chat's address is often a secret.
    pub(super) fn place(&self) -> String {
        let (scheme, authority) = (self.uri.scheme_str(), self.uri.authority());
        format!("{}://{}", scheme.unwrap_or_default(), authority.map_or("", |authority| authority.as_str()))
    }

    /// Which machine, without anything that is a secret.
    pub(super) fn host(&self) -> Option<String> {
        self.uri.host().map(str::to_owned)
    }

    /// Tells the receiver. Where it sends its callers instead is not followed.
    ///
    /// # Errors
    /// Why the receiver does not have the message, in words.
    pub(super) async fn send(&self, message: &Message, secret: &Secret) -> Result<(), String> {
        let seconds = now_ms() / 1000;
        let request = Request::post(self.uri.clone())
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::USER_AGENT, concat!("sayso/", env!("CARGO_PKG_VERSION")))
            .header("sayso-id", &message.id)
            .header("sayso-timestamp", seconds)
            .header("sayso-signature", secret.sign(&message.id, seconds, &message.body))
            .body(Full::new(Bytes::from(message.body.clone())))
            .map_err(|error| error.to_string())?;
        let answer = tokio::time::timeout(PATIENCE, self.client.request(request)).await;
        let answer = answer.map_err(|_| format!("it did not answer within {} s", PATIENCE.as_secs()))?;
        let status = answer.map_err(|error| trust::why(&error, self.uri.host().unwrap_or_default()))?.status();
        match status {
            status if status.is_success() => Ok(()),
            status if status.is_redirection() => {
                Err(format!("it redirects (HTTP {}), which is not followed. Use its final address", status.as_u16()))
            }
            status => Err(format!("it answers HTTP {}", status.as_u16())),
        }
    }
}
