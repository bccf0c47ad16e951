//! Who may speak to our own HTTP side: programs of this machine, and no page that somebody visits.
//!
//! A page may send requests to 127.0.0.1, and may even come to be called by that name (DNS rebinding). So the `Host`
//! must be ours, and an `Origin` must be too.

use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

const NAMES: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// Refuses what comes from elsewhere.
pub(super) async fn check(port: u16, request: Request, next: Next) -> Response {
    match foreign(port, request.headers()) {
        None => next.run(request).await,
        Some(why) => (StatusCode::FORBIDDEN, why).into_response(),
    }
}

fn foreign(port: u16, headers: &HeaderMap) -> Option<&'static str> {
    let ours = |host: &str| NAMES.iter().any(|name| host == format!("{name}:{port}") || port == 80 && host == *name);
    let mut hosts = headers.get_all(header::HOST).iter();
    let host = hosts.next().and_then(|value| value.to_str().ok());
    if !host.is_some_and(ours) || hosts.next().is_some() {
        return Some("Sayso answers only to 127.0.0.1 and localhost, with its port.\n");
    }
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let fine = |origin: &str| {
        let host = origin.strip_prefix("http://").unwrap_or_default();
        // Pages that other programs of this machine serve (an inspector) come from another port.
        NAMES.iter().any(|name| {
            host == *name
                || host
                    .strip_prefix(name)
                    .is_some_and(|rest| rest.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok()))
        })
    };
    if origins.any(|origin| !origin.to_str().is_ok_and(fine)) {
        return Some("Sayso refuses requests from other sites.\n");
    }
    let site = headers.get("sec-fetch-site").map(|value| value.to_str().unwrap_or("?"));
    if site.is_some_and(|site| site == "cross-site" || site == "?") {
        return Some("Sayso refuses requests from other sites.\n");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_programs_of_this_machine_are_heard() {
        for (host, origin, fine) in [
            ("127.0.0.1:7272", None, true),
            ("localhost:7272", Some("http://localhost:6274"), true),
            ("[::1]:7272", Some("http://[::1]:7272"), true),
            ("localhost", None, false),
            ("evil.example:7272", None, false),
            ("localhost:7272", Some("http://evil.example"), false),
            ("localhost:7272", Some("http://localhost.evil.example"), false),
            ("localhost:7272", Some("http://localhost:1@evil.example"), false),
            ("localhost:7272", Some("https://localhost:7272"), false),
            ("localhost:7272", Some("null"), false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().unwrap());
            if let Some(origin) = origin {
                headers.insert(header::ORIGIN, origin.parse().unwrap());
            }
            assert_eq!(foreign(7272, &headers).is_none(), fine, "{host} {origin:?}");
        }
    }
}
