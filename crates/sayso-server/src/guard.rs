//! What every request must pass, and what every answer carries.
//!
//! A page that the owner visits may send requests to 127.0.0.1, and may even come to be called by that name (DNS
//! rebinding). Hence: the `Host` must be ours, an `Origin` must be ours, and nothing is shared across origins.

use crate::error::ApiError;
use axum::extract::Request;
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

/// How a request came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WayIn {
    /// Over TCP, at this port of the loopback interface.
    Loopback(u16),
    /// Over the socket in Sayso's own folder, which only its owner can open.
    Socket,
    /// Over TLS, also from elsewhere.
    Tls(&'static Named),
}

/// What a server that speaks TLS is called.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) port: u16,
    /// The names of its certificate.
    pub(crate) hosts: Vec<String>,
    /// Others than this machine can reach it, so that asking needs a token too.
    pub(crate) beyond: bool,
}

impl WayIn {
    /// Whether nothing is served without a token but the page, whether anybody is there, and signing in.
    pub(crate) fn needs_token(self) -> bool {
        matches!(self, Self::Tls(named) if named.beyond)
    }

    /// How addresses begin, if the way in has names.
    fn scheme(self) -> Option<&'static str> {
        match self {
            Self::Loopback(_) => Some("http://"),
            Self::Tls(_) => Some("https://"),
            Self::Socket => None,
        }
    }

    /// Whether a `Host` is ours. Names are the same in capital letters, and a usual port may be left out.
    fn is_called(self, host: &str) -> bool {
        let is = |name: &str, port: u16| {
            host.strip_suffix(&format!(":{port}")).is_some_and(|host| host.eq_ignore_ascii_case(name))
        };
        match self {
            Self::Loopback(port) => NAMES.iter().any(|name| is(name, port)),
            Self::Tls(named) => named
                .hosts
                .iter()
                .any(|name| is(name, named.port) || (named.port == 443 && host.eq_ignore_ascii_case(name))),
            Self::Socket => true,
        }
    }
}

/// The names under which this server may be called on this machine.
pub(crate) const NAMES: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// Refuses what comes from elsewhere; puts headers on every answer.
pub(crate) async fn guard(way_in: WayIn, request: Request, next: Next) -> Response {
    dress(match check(way_in, request.headers()) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    })
}

/// Puts headers on an answer.
pub(crate) fn dress(mut response: Response) -> Response {
    for (name, value) in HEADERS {
        response.headers_mut().insert(name.clone(), HeaderValue::from_static(value));
    }
    response
}

fn check(way_in: WayIn, headers: &HeaderMap) -> Result<(), ApiError> {
    let Some(scheme) = way_in.scheme() else { return Ok(()) };
    let text = |name: &HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let ours = |host: &str| way_in.is_called(host);
    if headers.get_all(header::HOST).iter().count() != 1 || !text(&header::HOST).is_some_and(ours) {
        return Err(ApiError::foreign(match way_in {
            WayIn::Tls(_) => "This server answers to the names that it was given with --host only.",
            _ => "This server answers to 127.0.0.1 and localhost with its port only.",
        }));
    }
    if let Some(origin) = text(&header::ORIGIN)
        && !origin.strip_prefix(scheme).is_some_and(ours)
    {
        return Err(ApiError::foreign("Requests of other sites are refused."));
    }
    let site = headers.get("sec-fetch-site").map(|value| value.to_str().unwrap_or("?"));
    if site.is_some_and(|site| site != "same-origin" && site != "none") {
        return Err(ApiError::foreign("Requests of other sites are refused."));
    }
    Ok(())
}

/// On every answer. The page loads nothing from elsewhere, runs no inline script, and stands in no frame.
pub(crate) const HEADERS: [(HeaderName, &str); 7] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap()))
            .collect()
    }

    #[test]
    fn only_our_own_names_with_our_port_are_answered() {
        let way_in = WayIn::Loopback(7171);
        for host in ["127.0.0.1:7171", "localhost:7171", "[::1]:7171"] {
            assert!(check(way_in, &headers(&[("host", host)])).is_ok(), "{host}");
        }
        for host in
            ["evil.example:7171", "127.0.0.1", "127.0.0.1:80", "localhost.evil.example:7171", "127.0.0.1:71710", ""]
        {
            assert!(check(way_in, &headers(&[("host", host)])).is_err(), "{host}");
        }
        assert!(check(way_in, &headers(&[])).is_err());
        let mut twice = headers(&[("host", "127.0.0.1:7171")]);
        twice.append("host", HeaderValue::from_static("127.0.0.1:7171"));
        assert!(check(way_in, &twice).is_err());
    }

    #[test]
    fn other_origins_are_refused() {
        let way_in = WayIn::Loopback(7171);
        let with = |name, value| check(way_in, &headers(&[("host", "127.0.0.1:7171"), (name, value)]));
        assert!(with("origin", "http://127.0.0.1:7171").is_ok());
        for origin in ["https://evil.example", "null", "http://127.0.0.1:8080", "https://127.0.0.1:7171", ""] {
            assert!(with("origin", origin).is_err(), "{origin}");
        }
        assert!(with("sec-fetch-site", "same-origin").is_ok());
        assert!(with("sec-fetch-site", "none").is_ok());
        assert!(with("sec-fetch-site", "cross-site").is_err());
        assert!(with("sec-fetch-site", "same-site").is_err());
    }

    #[test]
    fn a_server_for_others_answers_to_the_names_it_was_given() {
        let named = |port| -> &'static Named {
            Box::leak(Box::new(Named { port, hosts: vec!["gate.example".to_owned()], beyond: true }))
        };
        let way_in = WayIn::Tls(named(7171));
        let with = |host, origin| check(way_in, &headers(&[("host", host), ("origin", origin)]));
        assert!(with("gate.example:7171", "https://gate.example:7171").is_ok());
        assert!(with("Gate.Example:7171", "https://gate.example:7171").is_ok());
        assert!(with("gate.example:7171", "http://gate.example:7171").is_err());
        assert!(with("gate.example:7171", "https://evil.example:7171").is_err());
        for host in
            ["gate.example", "127.0.0.1:7171", "localhost:7171", "evil.example:7171", "xgate.example:7171", ":7171"]
        {
            assert!(check(way_in, &headers(&[("host", host)])).is_err(), "{host}");
        }
        assert!(check(WayIn::Tls(named(443)), &headers(&[("host", "gate.example")])).is_ok());
        assert!(way_in.needs_token() && !WayIn::Loopback(1).needs_token() && !WayIn::Socket.needs_token());
    }

    #[test]
    fn the_socket_needs_no_name() {
        assert!(check(WayIn::Socket, &headers(&[])).is_ok());
    }
}
