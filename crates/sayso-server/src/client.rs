//! Commands speak to the server that runs: over its socket, and only to the process that they signed in to.

use crate::key::{normal, prove};
use sayso_gate::Places;
use sayso_gate::approval::{Approval, Reply};
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

/// How long an answer may take: it is synced to disk first.
const PATIENCE: Duration = Duration::from_secs(30);
/// The longest answer that is read.
const LONGEST: u64 = 64 * 1024 * 1024;

/// A server that runs.
#[derive(Clone, Debug)]
pub struct Running {
    socket: PathBuf,
    /// The process that listens there, as the kernel names it.
    pid: u32,
}

/// A server that was shown its key.
pub struct SignedIn {
    server: Running,
    token: String,
}

/// Why a server does not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// It says no, and why.
    #[error("{text}")]
    Refused {
        /// The stable code.
        code: String,
        /// In words.
        text: String,
    },
    /// Another process listens there than the one that the key was shown to.
    #[error("the program answering at {} is not the one signed in to", .0.display())]
    Another(PathBuf),
    /// It cannot be reached, or went away.
    #[error("the server at {path} cannot be reached: {1}", path = .0.display())]
    Unreachable(PathBuf, std::io::Error),
    /// What it says is no answer.
    #[error("what answers at {} is not a Sayso server", .0.display())]
    NotSayso(PathBuf),
    /// The system gives no randomness.
    #[error("the system provides no randomness")]
    NoRandomness,
}

impl Running {
    /// The server of this user, if one runs.
    #[must_use]
    pub fn find(places: &Places) -> Option<Self> {
        let socket = places.state.join("sayso.sock");
        let pid = peer(&UnixStream::connect(&socket).ok()?)?;
        Some(Self { socket, pid })
    }

    /// Shows it that somebody at a terminal knows its key, which is used up by that. The key itself is not sent.
    ///
    /// # Errors
    /// If it is not the key, or something else answers.
    pub fn sign_in(self, key: &str) -> Result<SignedIn, ClientError> {
        let mut bytes = [0_u8; 16];
        getrandom::fill(&mut bytes).map_err(|_| ClientError::NoRandomness)?;
        let nonce: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        // People copy the whole address.
        let key = key.rsplit("#k=").next().unwrap_or(key);
        let proof = prove(&normal(key), &nonce, self.pid).to_hex().to_string();
        let body = json!({"proof": proof, "nonce": nonce, "via": "terminal"});
        let told = self.post("/v1/session", None, &body)?;
        let token = told.get("token").and_then(Value::as_str);
        match token {
            Some(token) => Ok(SignedIn { token: token.to_owned(), server: self }),
            None => Err(ClientError::NotSayso(self.socket)),
        }
    }

    fn post(&self, path: &str, token: Option<&str>, body: &Value) -> Result<Value, ClientError> {
        let unreachable = |error| ClientError::Unreachable(self.socket.clone(), error);
        let mut stream = UnixStream::connect(&self.socket).map_err(unreachable)?;
        // INVARIANT: nothing that opens something is sent to another process than the one that was found.
        if peer(&stream) != Some(self.pid) {
            return Err(ClientError::Another(self.socket.clone()));
        }
        let body = body.to_string();
        let token = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: sayso\r\nConnection: close\r\n{token}Content-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut told = Vec::new();
        let spoken = stream
            .set_read_timeout(Some(PATIENCE))
            .and_then(|()| stream.write_all(request.as_bytes()))
            .and_then(|()| stream.take(LONGEST).read_to_end(&mut told));
        spoken.map_err(unreachable)?;
        let (ok, value) = understood(&told).ok_or_else(|| ClientError::NotSayso(self.socket.clone()))?;
        if ok {
            return Ok(value);
        }
        let field = |name: &str| value.pointer(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        Err(ClientError::Refused { code: field("/error/code"), text: field("/error/text") })
    }
}

impl SignedIn {
    /// Answers a question.
    ///
    /// # Errors
    /// If the answer does not count, or the server cannot be reached.
    pub fn answer(&self, id: &str, reply: &Reply) -> Result<Approval, ClientError> {
        let body = json!({"verdict": reply.verdict, "remember": reply.remember, "width": reply.width});
        let told = self.server.post(&format!("/v1/approvals/{id}/answer"), Some(&self.token), &body)?;
        serde_json::from_value(told).map_err(|_| ClientError::NotSayso(self.server.socket.clone()))
    }

    /// Has a question reach the next higher group now.
    ///
    /// # Errors
    /// If it is over, there is no such group, or the server cannot be reached.
    pub fn escalate(&self, id: &str) -> Result<Approval, ClientError> {
        let told = self.server.post(&format!("/v1/approvals/{id}/escalate"), Some(&self.token), &json!({}))?;
        serde_json::from_value(told).map_err(|_| ClientError::NotSayso(self.server.socket.clone()))
    }
}

/// The process at the other end.
#[cfg(target_os = "linux")]
fn peer(stream: &UnixStream) -> Option<u32> {
    let other = rustix::net::sockopt::socket_peercred(stream).ok()?;
    u32::try_from(other.pid.as_raw_nonzero().get()).ok()
}

#[cfg(not(target_os = "linux"))]
fn peer(_: &UnixStream) -> Option<u32> {
    Some(crate::key::own_id())
}

/// Whether an answer is a good one, and its body.
fn understood(told: &[u8]) -> Option<(bool, Value)> {
    let end = told.windows(4).position(|four| four == b"\r\n\r\n")?;
    let (head, body) = told.split_at(end);
    let head = std::str::from_utf8(head).ok()?;
    let status = head.strip_prefix("HTTP/1.1 ")?.split(' ').next()?;
    Some((status.starts_with('2'), serde_json::from_slice(body.get(4..)?).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_answer_is_understood() {
        let ok = understood(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
        assert_eq!(ok, Some((true, json!({}))));
        assert_eq!(understood(b"HTTP/1.1 403 Forbidden\r\n\r\n{\"a\":1}"), Some((false, json!({"a": 1}))));
        for nonsense in [&b""[..], b"HTTP/1.1 200 OK\r\n", b"{}\r\n\r\n{}", b"HTTP/1.1 200 OK\r\n\r\n<html>"] {
            assert_eq!(understood(nonsense), None);
        }
    }
}
