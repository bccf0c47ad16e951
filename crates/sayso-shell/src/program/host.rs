//! A word as a host.

use crate::effect::HostTarget;
use crate::word::{Part, Word};

/// The host that a word names as a URL, `host:port`, `user@host` or `user@host:path`.
#[must_use]
pub(crate) fn of_word(word: &Word) -> HostTarget {
    match word {
        Word::Exact(text) => text.as_str().map_or(HostTarget::Unknown, of_text),
        Word::Dynamic(shape) => match shape.parts.first() {
            // The host of `https://example.org/$path` is certain once the slash behind it is literal.
            // Whatever names a pattern of the shell stands for begin as it does.
            Some(Part::Literal(text)) if !shape.splits() || !shape.parts.contains(&Part::Hole) => match text.as_str() {
                Some(text) if authority_is_complete(text) => of_text(text),
                _ => HostTarget::Unknown,
            },
            _ => HostTarget::Unknown,
        },
        Word::Opaque => HostTarget::Unknown,
    }
}

fn authority_is_complete(text: &str) -> bool {
    text.split_once("://").is_some_and(|(_, rest)| rest.contains(['/', '?', '#']))
}

/// As [`of_word`], for certain text.
#[must_use]
pub(crate) fn of_text(text: &str) -> HostTarget {
    let (scheme, rest) = match text.split_once("://") {
        Some((scheme, rest)) => (Some(scheme), rest),
        None => (None, text),
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    // Programs disagree about a backslash in an authority: it may hide the real host.
    if authority.contains('\\') {
        return HostTarget::Unknown;
    }
    let host_port = authority.rsplit('@').next().unwrap_or(authority);
    let (host, port) = if let Some(v6) = host_port.strip_prefix('[') {
        match v6.split_once(']') {
            Some((host, port)) => (host, port.strip_prefix(':')),
            None => return HostTarget::Unknown,
        }
    } else if host_port.matches(':').count() > 1 && scheme.is_none() {
        (host_port, None) // a bare IPv6 address
    } else {
        match host_port.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (host_port, None),
        }
    };
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b':');
    if host.is_empty() || !host.bytes().all(plain) {
        return HostTarget::Unknown;
    }
    let port = match port {
        None | Some("") => None,
        Some(port) => match port.parse() {
            Ok(port) => Some(port),
            Err(_) if scheme.is_none() => None, // `host:path`
            Err(_) => return HostTarget::Unknown,
        },
    };
    HostTarget::Exact { host: host.trim_end_matches('.').to_ascii_lowercase(), port }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_real_host_is_found_behind_user_names_and_ports() {
        let cases = [
            ("https://Example.org/x", "example.org"),
            ("https://good.com@evil.org:8443/x", "evil.org:8443"),
            ("git@github.com:a/b.git", "github.com"),
            ("ssh://git@h.io:22/x", "h.io:22"),
            ("http://[::1]:80/", "::1:80"),
            ("::1", "::1"),
            ("localhost:8080", "localhost:8080"),
            ("example.org", "example.org"),
            ("http://evil.org\\@good.com/", "?"),
            ("http://a%2eb/", "?"),
            ("http:///x", "?"),
        ];
        for (text, wanted) in cases {
            let got = match of_text(text) {
                HostTarget::Exact { host, port: Some(port) } => format!("{host}:{port}"),
                HostTarget::Exact { host, port: None } => host,
                _ => "?".into(),
            };
            assert_eq!(got, wanted, "{text}");
        }
    }
}
