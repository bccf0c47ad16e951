//! What goes wrong: in the server as a whole, and in one request.

use crate::api::Problem;
use crate::guard;
use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use sayso_policy::explain::visible;
use serde::Serialize;
use std::path::PathBuf;
use utoipa::ToSchema;

/// Why the server cannot start or go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Somebody listens there already.
    #[error("{0} is taken")]
    Taken(std::net::SocketAddr),
    /// The address is not of this machine alone.
    #[error("{0} is reachable from other machines, which needs TLS and a host name")]
    NotLoopback(std::net::SocketAddr),
    /// What it is called cannot be a host's name.
    #[error("`{0}` is not a host name")]
    Host(String),
    /// The certificate or its key.
    #[error("{path}: {1}", path = .0.display())]
    Certificate(PathBuf, String),
    /// Another server uses the socket.
    #[error("another `sayso serve` answers at {}", .0.display())]
    Running(PathBuf),
    /// The address of a webhook.
    #[error("{0} {1}")]
    Webhook(String, String),
    /// The system refused.
    #[error("cannot {0}: {1}")]
    Io(&'static str, std::io::Error),
    /// The system gives no randomness for keys.
    #[error("the system provides no randomness for keys")]
    NoRandomness,
    /// The file of tokens.
    #[error(transparent)]
    Tokens(#[from] crate::token::TokenError),
    /// The gate.
    #[error(transparent)]
    Gate(#[from] sayso_gate::Error),
}

/// What a request is answered with when it cannot be served: a status, and a body with a stable code.
#[derive(Debug)]
pub(crate) struct ApiError {
    status: StatusCode,
    code: &'static str,
    text: String,
}

impl ApiError {
    /// The request comes from another site, or under another name.
    pub(crate) fn foreign(text: &str) -> Self {
        Self { status: StatusCode::FORBIDDEN, code: "foreign-request", text: text.to_owned() }
    }

    /// Another user of this machine.
    pub(crate) fn foreign_user() -> Self {
        let text = "This socket is only for the user the server runs as.".to_owned();
        Self { status: StatusCode::FORBIDDEN, code: "foreign-user", text }
    }

    /// No token, or one that is not good any more.
    pub(crate) fn signed_out() -> Self {
        let text =
            "Sign in with the key printed by `sayso serve`, or use a valid token (`sayso token list`).".to_owned();
        Self { status: StatusCode::UNAUTHORIZED, code: "signed-out", text }
    }

    /// Others can reach this address, and nobody said who they are.
    pub(crate) fn no_token() -> Self {
        let text =
            "Over TLS, every request needs a token: Authorization: Bearer ... Create one with `sayso token create`.";
        Self { status: StatusCode::UNAUTHORIZED, code: "no-token", text: text.to_owned() }
    }

    /// The question of this link was answered with it.
    pub(crate) fn link_used() -> Self {
        let text = "This link was used: its question was answered with it, and a link works once. If the agent asks again, \
                    a new message comes.";
        Self { status: StatusCode::GONE, code: "link-used", text: text.to_owned() }
    }

    /// The question of this link ended in another way.
    pub(crate) fn link_over() -> Self {
        let text = "The question of this link is over: it was answered elsewhere, or is not asked any more. There is \
                    nothing left to do here.";
        Self { status: StatusCode::GONE, code: "link-over", text: text.to_owned() }
    }

    /// Nobody answered in time.
    pub(crate) fn link_expired() -> Self {
        let text = "The time to answer this question is over, and the call was not allowed. If the agent asks again, a new \
                    message comes.";
        Self { status: StatusCode::GONE, code: "link-expired", text: text.to_owned() }
    }

    /// Not a link of this server, or of one that ended.
    pub(crate) fn no_link() -> Self {
        let text = "This link is not known here. Open it whole, from the latest message about the question: links end with \
                    the server that made them, and what still waits is told again. It can also be answered on the page \
                    of the server, or with `sayso approvals`.";
        Self { status: StatusCode::GONE, code: "link-unknown", text: text.to_owned() }
    }

    /// Too many tokens that were not good.
    pub(crate) fn too_many_failures() -> Self {
        let text = "Too many invalid tokens recently. Wait a minute.".to_owned();
        Self { status: StatusCode::TOO_MANY_REQUESTS, code: "too-many-failures", text }
    }

    /// The name or tenant of a token, without that token.
    pub(crate) fn needs_that_token() -> Self {
        let text = "This agent or tenant has a token: use it (Authorization: Bearer ...), or use another name.";
        Self { status: StatusCode::FORBIDDEN, code: "needs-that-token", text: text.to_owned() }
    }

    /// Signed in, but not for this.
    pub(crate) fn not_yours() -> Self {
        let text =
            "Whoever this token belongs to may not do this. Tokens of the store only ask, unless the server runs with \
                    --trust-store-tokens."
                .to_owned();
        Self { status: StatusCode::FORBIDDEN, code: "not-yours", text }
    }

    /// There is no such question, or it is nothing to them.
    pub(crate) fn no_approval() -> Self {
        let text = "There is no such pending call. GET /v1/approvals lists them.".to_owned();
        Self { status: StatusCode::NOT_FOUND, code: "not-found", text }
    }

    /// There is no such thing, or it is nothing to them.
    pub(crate) fn no_such(what: &str, list: &str) -> Self {
        let text = format!("There is no such {what}. GET {list} lists them.");
        Self { status: StatusCode::NOT_FOUND, code: "not-found", text }
    }

    /// Not as things are now.
    pub(crate) fn conflict(code: &'static str, text: &str) -> Self {
        Self { status: StatusCode::CONFLICT, code, text: text.to_owned() }
    }

    /// They have seen what is not there: the record is another one, or was put back from a copy.
    pub(crate) fn ahead_of_the_record() -> Self {
        let text = "The record has not come to the number in `after` (or `Last-Event-ID`) yet, so it is not the one that \
                    was followed. Begin anew: without it for what comes from now on, with 0 for all there is.";
        Self { status: StatusCode::CONFLICT, code: "ahead-of-record", text: text.to_owned() }
    }

    /// A header stands there more than once, and two readers may take two different ones.
    pub(crate) fn repeated(name: &str) -> Self {
        let text = format!("The header `{name}` must not be repeated. Send it once.");
        Self { status: StatusCode::BAD_REQUEST, code: "repeated-header", text }
    }

    /// The answer cannot be remembered this way.
    pub(crate) fn not_offered() -> Self {
        let text = "This width is not offered for this call; see its `offers`.".to_owned();
        Self { status: StatusCode::CONFLICT, code: "width-not-offered", text }
    }

    /// The key is wrong.
    pub(crate) fn key_refused(status: StatusCode, text: &str) -> Self {
        Self { status, code: "key-refused", text: text.to_owned() }
    }

    /// The body is not what was expected.
    pub(crate) fn malformed(text: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, code: "call-malformed", text: text.into() }
    }

    /// Something behind `?` is not what was expected. What the library says of it names what was.
    pub(crate) fn parameters(said: &str) -> Self {
        let why = said.strip_prefix("Failed to deserialize query string: ").unwrap_or(said);
        Self::malformed(format!("Invalid query parameters: {}. See /v1/openapi.json.", visible(why)))
    }

    /// Something in the path is not what was expected.
    pub(crate) fn path(said: &str) -> Self {
        Self::malformed(format!("Invalid address: {}. Percent-encode other bytes as UTF-8.", visible(said)))
    }

    /// The content type is not JSON.
    pub(crate) fn not_json() -> Self {
        let text = "Send JSON, with Content-Type: application/json.".to_owned();
        Self { status: StatusCode::UNSUPPORTED_MEDIA_TYPE, code: "not-json", text }
    }

    /// The body is too long, or broke off.
    pub(crate) fn unreadable(status: StatusCode, said: &str) -> Self {
        let text = match status {
            StatusCode::PAYLOAD_TOO_LARGE => {
                "The body is too long: at most 4 MiB, and 4,096 bytes for a key or a link. Send less.".to_owned()
            }
            _ => format!("The body was incomplete ({}). Send it again.", visible(said)),
        };
        Self { status, code: "body-unreadable", text }
    }

    /// The address is right, the method is not.
    pub(crate) fn wrong_method() -> Self {
        let text = "Method not allowed. See /v1/openapi.json.".to_owned();
        Self { status: StatusCode::METHOD_NOT_ALLOWED, code: "wrong-method", text }
    }

    /// There is nothing at this address.
    pub(crate) fn not_found() -> Self {
        let text = "Not found. See /v1/openapi.json for the addresses.".to_owned();
        Self { status: StatusCode::NOT_FOUND, code: "not-found", text }
    }

    /// The request came too slowly.
    pub(crate) fn too_slow() -> Self {
        let text = "The request timed out. Send it again in full.".to_owned();
        Self { status: StatusCode::REQUEST_TIMEOUT, code: "too-slow", text }
    }

    /// The headers are too long.
    pub(crate) fn long_head(most: usize) -> Self {
        let text = format!("The headers are too long or too many. Send less than {most} bytes and 100 headers.");
        Self { status: StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, code: "headers-too-long", text }
    }

    /// What was sent is no request.
    pub(crate) fn not_http() -> Self {
        let text = "This is not an HTTP/1.1 request.".to_owned();
        Self { status: StatusCode::BAD_REQUEST, code: "not-http", text }
    }

    /// There are as many connections as there may be.
    pub(crate) fn full() -> Self {
        let text = "Too many connections. Close some, or try again in a moment.".to_owned();
        Self { status: StatusCode::SERVICE_UNAVAILABLE, code: "too-many-connections", text }
    }

    /// This caller waits or watches as often as one caller may.
    pub(crate) fn crowded(most: usize) -> Self {
        let text =
            format!("This caller already has {most} requests waiting or watching. End some, or try again later.");
        Self { status: StatusCode::SERVICE_UNAVAILABLE, code: "too-many-at-once", text }
    }

    /// The server is about to end.
    pub(crate) fn stopping() -> Self {
        let text = "The server is shutting down. Try again when it is back.".to_owned();
        Self { status: StatusCode::SERVICE_UNAVAILABLE, code: "stopping", text }
    }

    /// Something inside failed. Whoever asked for a decision must not go on.
    pub(crate) fn internal(error: &dyn std::fmt::Display) -> Self {
        Self { status: StatusCode::INTERNAL_SERVER_ERROR, code: "internal-error", text: error.to_string() }
    }
}

/// What went wrong, with a stable code.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Error)]
pub(crate) struct ErrorBody {
    error: Wrong,
    /// Where a policy was refused: what is wrong in its lines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<Problem>,
}

/// What went wrong.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ErrorDetail)]
struct Wrong {
    /// Stable, kebab-case.
    code: &'static str,
    /// What happened, and what to do next.
    text: String,
}

impl ApiError {
    /// The object that says what is wrong.
    pub(crate) fn body(&self) -> ErrorBody {
        self.with_problems(Vec::new())
    }

    /// The same, with the places of what is wrong in a policy.
    pub(crate) fn with_problems(&self, problems: Vec<Problem>) -> ErrorBody {
        ErrorBody { error: Wrong { code: self.code, text: self.text.clone() }, problems }
    }

    /// That object as text.
    pub(crate) fn text(&self) -> String {
        serde_json::to_string(&self.body()).unwrap_or_default()
    }

    /// The text of a policy has errors.
    pub(crate) fn policy_refused() -> Self {
        let text = "The text has errors; the policy in force stays.".to_owned();
        Self { status: StatusCode::UNPROCESSABLE_ENTITY, code: "policy-refused", text }
    }

    /// The status that it is answered with.
    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    /// A whole answer, for connections on which no request was understood. It is their last.
    pub(crate) fn on_the_wire(&self) -> String {
        let body = self.text();
        let mut text = format!("HTTP/1.1 {}\r\nconnection: close\r\ncontent-type: application/json\r\n", self.status);
        for (name, value) in guard::HEADERS {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str(&format!("content-length: {}\r\n\r\n{body}", body.len()));
        text
    }

    /// Whether it is nobody's fault who asked.
    pub(crate) fn is_internal(&self) -> bool {
        self.status == StatusCode::INTERNAL_SERVER_ERROR
    }

    /// The stable code.
    pub(crate) fn code(&self) -> &'static str {
        self.code
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        (self.status, Json(self.body())).into_response()
    }
}

impl From<sayso_gate::Error> for ApiError {
    fn from(error: sayso_gate::Error) -> Self {
        use sayso_gate::approval::Refused;
        let sayso_gate::Error::Refused(refused) = error else { return Self::internal(&error) };
        let (status, code) = match &refused {
            Refused::Unknown(_) => return Self::no_approval(),
            Refused::NotTheirs(..) | Refused::Own(_) => (StatusCode::FORBIDDEN, "not-yours"),
            Refused::Over(_) | Refused::Again(_) | Refused::Answered(_) => (StatusCode::CONFLICT, "approval-over"),
            Refused::Changed(_) => (StatusCode::CONFLICT, "approval-void"),
            Refused::NotOffered(_) => (StatusCode::CONFLICT, "width-not-offered"),
        };
        let next = match &refused {
            Refused::NotTheirs(..) => {
                " The caller can never approve its own call; sign in as someone it is addressed to."
            }
            Refused::Over(_) | Refused::Again(_) | Refused::Answered(_) => " GET /v1/approvals lists pending calls.",
            Refused::Changed(_) => " Have the agent make the call again.",
            Refused::NotOffered(_) => " See its `offers`.",
            Refused::Unknown(_) | Refused::Own(_) => "",
        };
        Self { status, code, text: format!("{}{next}", sentence(&refused.to_string())) }
    }
}

/// With a capital letter and a full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first: String = letters.next().map(|first| first.to_uppercase().collect()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}
