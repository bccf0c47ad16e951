//! What every request must pass, and what every answer carries.
//!
//! A page that the owner visits may send requests to 127.0.0.1, and may even come to be called by that name (DNS
//! rebinding). Hence: the `Host` must be ours, an `Origin` must be ours, and nothing is shared across origins.

use crate::error::ApiError;
use axum::extract::Request;
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, Uri};
use axum::response::Response;

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
}

impl WayIn {
    /// Whether nothing is served without a token but the page, whether anybody is there, and signing in. Also where TLS
    /// is spoken on the loopback interface: a certificate is for others, who come through a tunnel or a proxy then.
    pub(crate) fn needs_token(self) -> bool {
        matches!(self, Self::Tls(_))
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
        let (before, port_of) = host.rsplit_once(':').unwrap_or((host, ""));
        // As it is written and no other way: `07171` and `+7171` are no ports of ours.
        let port_of = port_of.parse::<u16>().ok().filter(|_| !port_of.starts_with(['0', '+']));
        let is = |name: &str, port: u16| port_of == Some(port) && before.eq_ignore_ascii_case(name);
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

/// Refuses what comes from elsewhere.
pub(crate) fn check(way_in: WayIn, request: &Request) -> Result<(), ApiError> {
    is_to_us(way_in, request.uri(), request.headers())?;
    if opens_a_page(request) { Ok(()) } else { of_our_site(request.headers()) }
}

/// Puts headers on an answer.
pub(crate) fn dress(mut response: Response) -> Response {
    response.headers_mut().reserve(HEADERS.len());
    for (name, value) in HEADERS {
        response.headers_mut().insert(name.clone(), HeaderValue::from_static(value));
    }
    response
}

/// What is decided by. Each at most once: a proxy before this server may have looked at the other one.
const ONCE: [HeaderName; 6] = [
    header::HOST,
    header::ORIGIN,
    header::AUTHORIZATION,
    header::CONTENT_TYPE,
    HeaderName::from_static("sec-fetch-site"),
    HeaderName::from_static("last-event-id"),
];

fn is_to_us(way_in: WayIn, uri: &Uri, headers: &HeaderMap) -> Result<(), ApiError> {
    if let Some(name) = ONCE.iter().find(|name| headers.get_all(*name).iter().nth(1).is_some()) {
        return Err(ApiError::repeated(name.as_str()));
    }
    let Some(scheme) = way_in.scheme() else { return Ok(()) };
    let text = |name: &HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let ours = |host: &str| way_in.is_called(host);
    // A whole address in the request's first line says the host too, and for others counts more than the header.
    let addressed = uri.authority().is_none_or(|authority| ours(authority.as_str()));
    if !addressed || !text(&header::HOST).is_some_and(ours) {
        return Err(ApiError::foreign(match way_in {
            WayIn::Tls(_) => "This server answers only to the names given with --host.",
            _ => "This server answers only to 127.0.0.1 and localhost, with its port.",
        }));
    }
    if let Some(origin) = text(&header::ORIGIN)
        && !origin.strip_prefix(scheme).is_some_and(ours)
    {
        return Err(ApiError::foreign("Requests from other sites are refused."));
    }
    Ok(())
}

/// Refuses what a browser sends for another site.
fn of_our_site(headers: &HeaderMap) -> Result<(), ApiError> {
    let site = headers.get("sec-fetch-site").map(|value| value.to_str().unwrap_or("?"));
    match site {
        None | Some("same-origin" | "none") => Ok(()),
        Some(_) => Err(ApiError::foreign("Requests from other sites are refused.")),
    }
}

/// Somebody follows a link in a chat that is itself a site. The page that opens shows nothing and does nothing before it
/// asks again, from here; in a frame of that site it does not open.
fn opens_a_page(request: &Request) -> bool {
    let is = |name: &str, value: &str| request.headers().get(name).is_some_and(|it| it == value);
    request.method() == Method::GET
        && PAGES.contains(&request.uri().path())
        && is("sec-fetch-mode", "navigate")
        && is("sec-fetch-dest", "document")
}

/// What links lead to.
const PAGES: [&str; 2] = ["/", "/answer"];

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

    fn check(way_in: WayIn, headers: &HeaderMap) -> Result<(), ApiError> {
        super::is_to_us(way_in, &Uri::from_static("/"), headers)
    }

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
        for host in [
            "evil.example:7171",
            "127.0.0.1",
            "127.0.0.1:80",
            "127.0.0.1:07171",
            "127.0.0.1:+7171",
            "127.0.0.1:7171:7171",
            "localhost.evil.example:7171",
            "127.0.0.1:71710",
            "",
        ] {
            assert!(check(way_in, &headers(&[("host", host)])).is_err(), "{host}");
        }
        assert!(check(way_in, &headers(&[])).is_err());
    }

    #[test]
    fn odd_ways_to_write_our_names_are_not_our_names() {
        let way_in = WayIn::Loopback(7171);
        for host in ["LOCALHOST:7171", "LocalHost:7171"] {
            assert!(
                check(way_in, &headers(&[("host", host)])).is_ok(),
                "{host}: names are the same in capital letters"
            );
        }
        for host in [
            "127.0.0.1:7171.evil.example",
            "127.0.0.1:7171:7171",
            "127.0.0.1:07171",
            "127.0.0.1:+7171",
            "127.0.0.1:7171/",
            "127.0.0.1:7171#",
            "127.0.0.1%3a7171",
            "%31%32%37.0.0.1:7171",
            "127.0.0.1 :7171",
            "127.0.0.1\t:7171",
            "localhost.:7171",
            "localhost..:7171",
            ".localhost:7171",
            "x.localhost:7171",
            "user@127.0.0.1:7171",
            "127.0.0.1:7171@evil.example:7171",
            "evil.example:7171@127.0.0.1:7171",
            "http://127.0.0.1:7171",
            "127.0.0.1:7171, evil.example:7171",
            "evil.example:7171, 127.0.0.1:7171",
            "127.1:7171",
            "127.0.1:7171",
            "0x7f.0.0.1:7171",
            "0177.0.0.1:7171",
            "2130706433:7171",
            "127.0.0.2:7171",
            "0.0.0.0:7171",
            "::1:7171",
            "[::]:7171",
            "[::1%25lo]:7171",
            "[0:0:0:0:0:0:0:1]:7171",
            "[::ffff:127.0.0.1]:7171",
            "[::1]:7171.evil.example",
            "lоcalhost:7171",
            "localhost",
            ":7171",
        ] {
            let host = HeaderValue::from_bytes(host.as_bytes()).unwrap();
            let said = HeaderMap::from_iter([(header::HOST, host.clone())]);
            assert!(check(way_in, &said).is_err(), "{host:?}");
            let origin = HeaderValue::from_bytes(&[b"http://", host.as_bytes()].concat()).unwrap();
            let ours = HeaderValue::from_static("127.0.0.1:7171");
            let said = HeaderMap::from_iter([(header::HOST, ours), (header::ORIGIN, origin.clone())]);
            assert!(check(way_in, &said).is_err(), "{origin:?}");
        }
    }

    #[test]
    fn what_is_decided_by_stands_there_once_on_every_way_in() {
        let named = Box::leak(Box::new(Named { port: 7171, hosts: vec!["127.0.0.1".to_owned()] }));
        for way_in in [WayIn::Loopback(7171), WayIn::Socket, WayIn::Tls(named)] {
            let good = [
                ("host", "127.0.0.1:7171"),
                (
                    "origin",
                    if matches!(way_in, WayIn::Tls(_)) { "https://127.0.0.1:7171" } else { "http://127.0.0.1:7171" },
                ),
                ("authorization", "Bearer x"),
                ("content-type", "application/json"),
                ("sec-fetch-site", "same-origin"),
                ("last-event-id", "7"),
            ];
            assert!(check(way_in, &headers(&good)).is_ok());
            for (name, value) in good {
                let mut twice = headers(&good);
                twice.append(name, HeaderValue::from_str(value).unwrap());
                let refused = check(way_in, &twice).unwrap_err();
                assert_eq!(refused.code(), "repeated-header", "{way_in:?} {name}");
            }
        }
    }

    #[test]
    fn an_address_in_the_first_line_must_be_ours_too() {
        let ours = headers(&[("host", "127.0.0.1:7171")]);
        let addressed = |uri: &'static str| super::is_to_us(WayIn::Loopback(7171), &Uri::from_static(uri), &ours);
        assert!(addressed("/v1/health").is_ok());
        assert!(addressed("http://127.0.0.1:7171/v1/health").is_ok());
        for uri in
            ["http://evil.example/v1/health", "http://evil.example:7171/", "http://x@127.0.0.1:7171/", "evil:7171"]
        {
            assert!(addressed(uri).is_err(), "{uri}");
        }
    }

    #[test]
    fn other_origins_are_refused() {
        let way_in = WayIn::Loopback(7171);
        let with = |name, value| check(way_in, &headers(&[("host", "127.0.0.1:7171"), (name, value)]));
        assert!(with("origin", "http://127.0.0.1:7171").is_ok());
        for origin in ["https://evil.example", "null", "http://127.0.0.1:8080", "https://127.0.0.1:7171", ""] {
            assert!(with("origin", origin).is_err(), "{origin}");
        }
        let of = |site| of_our_site(&headers(&[("sec-fetch-site", site)]));
        assert!(of("same-origin").is_ok() && of("none").is_ok());
        assert!(of("cross-site").is_err() && of("same-site").is_err() && of("").is_err());
    }

    #[test]
    fn a_link_on_another_site_opens_a_page_and_nothing_else() {
        let opens = |method: &str, path: &str, mode: &str, dest: &str| {
            let request = Request::builder().method(method).uri(path);
            let request = request.header("sec-fetch-mode", mode).header("sec-fetch-dest", dest);
            opens_a_page(&request.body(axum::body::Body::empty()).unwrap())
        };
        assert!(opens("GET", "/answer", "navigate", "document") && opens("GET", "/", "navigate", "document"));
        for (method, path, mode, dest) in [
            ("POST", "/answer", "navigate", "document"),
            ("GET", "/v1/approvals", "navigate", "document"),
            ("GET", "/answer", "navigate", "iframe"),
            ("GET", "/answer", "no-cors", "script"),
            ("GET", "/answer.js", "navigate", "document"),
        ] {
            assert!(!opens(method, path, mode, dest), "{method} {path} {mode} {dest}");
        }
    }

    #[test]
    fn a_server_for_others_answers_to_the_names_it_was_given() {
        let named =
            |port| -> &'static Named { Box::leak(Box::new(Named { port, hosts: vec!["gate.example".to_owned()] })) };
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
