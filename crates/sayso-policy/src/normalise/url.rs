//! Where a URL leads. Strict: what two URL parsers could read differently is unclear, never a guess that allows.

/// Where a URL leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// To this host, lower case.
    Host {
        /// Name or address; IPv6 without brackets.
        host: String,
        /// The port, where it was written.
        port: Option<u16>,
    },
    /// To this file, percent-decoded.
    File(String),
    /// Nowhere: the content is in the URL itself.
    Nowhere,
    /// Not sure. The host that it seems to name, for denies.
    Unclear(Option<String>),
}

/// Reads a URL, or a host with a path as people type it into a browser.
pub(crate) fn address(text: &str) -> Address {
    let text = text.trim_ascii();
    // Parsers drop tabs and line ends, read `\` as `/`, and some decode before they split: none of that is plain.
    let shady = text.bytes().any(|byte| byte.is_ascii_control() || byte == b'\\' || byte == b' ');
    let Some((scheme, rest)) = split_scheme(text) else {
        return schemeless(text, shady);
    };
    match scheme.as_str() {
        "data" | "about" => Address::Nowhere,
        "file" => file(rest),
        _ => match rest.strip_prefix("//") {
            Some(rest) if !shady => authority(rest),
            Some(rest) => Address::Unclear(seeming_host(rest)),
            // `https:host` and `https:/host` mean `https://host` to a browser.
            None => Address::Unclear(seeming_host(rest.trim_start_matches('/'))),
        },
    }
}

/// The URLs with a scheme in free text, each up to a character that ends it in prose.
pub(crate) fn urls_in(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("://").filter_map(|(at, _)| {
        let before = text.get(..at)?;
        let scheme = before.len() - before.bytes().rev().take_while(|b| is_scheme_byte(*b)).count();
        let from = text.get(scheme..)?;
        let end = from
            .find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | '`' | '|'))
            .unwrap_or(from.len());
        (scheme < at).then(|| from.get(..end)).flatten()
    })
}

/// Whether a text is a URL as a whole: a scheme and `//`, or a `file:` or `www.` beginning.
pub(crate) fn is_url(text: &str) -> bool {
    let text = text.trim_ascii();
    split_scheme(text).is_some_and(|(scheme, rest)| scheme.len() > 1 && (rest.starts_with("//") || scheme == "file"))
        || text.get(..4).is_some_and(|begin| begin.eq_ignore_ascii_case("www."))
}

fn is_scheme_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')
}

/// The scheme in lower case, and what follows its colon. `host:port` has no scheme.
fn split_scheme(text: &str) -> Option<(String, &str)> {
    let (scheme, rest) = text.split_once(':')?;
    let is_scheme =
        scheme.bytes().next().is_some_and(|b| b.is_ascii_alphabetic()) && scheme.bytes().all(is_scheme_byte);
    let port = rest.split('/').next().unwrap_or_default();
    let is_port = !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
    (is_scheme && !is_port).then(|| (scheme.to_ascii_lowercase(), rest))
}

fn schemeless(text: &str, shady: bool) -> Address {
    let rest = text.strip_prefix("//").unwrap_or(text);
    match authority(rest) {
        host @ Address::Host { .. } if !shady => host,
        _ => Address::Unclear(seeming_host(rest)),
    }
}

/// `user@host:port/path`, where every part is plain.
fn authority(rest: &str) -> Address {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let unclear = || Address::Unclear(seeming_host(rest));
    let host_and_port = match authority.rsplit_once('@') {
        Some((user, rest)) if user.bytes().all(|b| b.is_ascii_alphanumeric() || b"._~-:%!$&'*+,;=".contains(&b)) => {
            rest
        }
        Some(_) => return unclear(),
        None => authority,
    };
    let (host, port) = match host_and_port.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((host, "")) => (host, None),
            Some((host, port)) => match port.strip_prefix(':') {
                Some(port) => (host, Some(port)),
                None => return unclear(),
            },
            None => return unclear(),
        },
        None => match host_and_port.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (host_and_port, None),
        },
    };
    let bracketed = host_and_port.starts_with('[');
    let plain = if bracketed {
        host.parse::<std::net::Ipv6Addr>().is_ok()
    } else {
        !host.is_empty() && host.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_'))
    };
    let port = match port {
        None | Some("") => Some(None),
        Some(port) if port.bytes().all(|b| b.is_ascii_digit()) => port.parse().ok().map(Some),
        Some(_) => None,
    };
    match port {
        Some(port) if plain => {
            let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
            if host.is_empty() { unclear() } else { Address::Host { host, port } }
        }
        _ => unclear(),
    }
}

/// `//host/path`, `///path` or `/path` after `file:`.
fn file(rest: &str) -> Address {
    let path = match rest.strip_prefix("//") {
        Some(rest) => match rest.find('/') {
            Some(at) => match (rest.get(..at).unwrap_or_default(), rest.get(at..)) {
                ("", Some(path)) => path,
                (host, Some(path)) if host.eq_ignore_ascii_case("localhost") => path,
                _ => return Address::Unclear(seeming_host(rest)),
            },
            None => return Address::Unclear(seeming_host(rest)),
        },
        None => rest,
    };
    let path = path.split(['?', '#']).next().unwrap_or_default();
    match percent_decoded(path) {
        Some(path) => Address::File(path),
        None => Address::Unclear(None),
    }
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let mut digit = || char::from(bytes.next()?).to_digit(16);
        let (high, low) = (digit()?, digit()?);
        out.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(out).ok()
}

/// The host that an unclear URL seems to name: after the last `@` before the first `/`, look-alikes made plain.
fn seeming_host(rest: &str) -> Option<String> {
    let rest = rest.trim_start_matches(['/', '\\']);
    let authority = rest.split(['/', '\\', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    let host = host.split(':').next()?;
    let host = percent_decoded(host).unwrap_or_else(|| host.to_owned());
    let host = crate::normalise::lookalike::look_alike(&host).unwrap_or(host);
    let host = host.trim().trim_end_matches('.').to_ascii_lowercase();
    (!host.is_empty() && host.len() <= 255).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> String {
        match address(text) {
            Address::Host { host, port: None } => host,
            Address::Host { host, port: Some(port) } => format!("{host} {port}"),
            Address::File(path) => format!("file {path}"),
            Address::Nowhere => "nowhere".to_owned(),
            Address::Unclear(None) => "?".to_owned(),
            Address::Unclear(Some(host)) => format!("? {host}"),
        }
    }

    #[test]
    fn plain_urls_name_their_host() {
        for (url, expected) in [
            ("https://docs.rs/x", "docs.rs"),
            ("HTTPS://Docs.RS", "docs.rs"),
            ("http://a.b:8080/x?y#z", "a.b 8080"),
            ("http://user:pw@host.example/", "host.example"),
            ("http://[::1]:80/", "::1 80"),
            ("http://[fe80::1]/", "fe80::1"),
            ("https://docs.rs./x", "docs.rs"),
            ("docs.rs/x", "docs.rs"),
            ("localhost:3000/x", "localhost 3000"),
            ("//docs.rs/x", "docs.rs"),
            ("ssh://git@github.com/x", "github.com"),
            ("  https://docs.rs ", "docs.rs"),
            ("http://x.example?@evil", "x.example"),
        ] {
            assert_eq!(told(url), expected, "{url}");
        }
    }

    #[test]
    fn what_parsers_read_differently_is_unclear() {
        for (url, seeming) in [
            ("https://docs.rs\\@evil.example/", "? docs.rs"),
            ("https://good@evil@x.example/", "? x.example"),
            ("https:docs.rs", "? docs.rs"),
            ("https:/docs.rs/x", "? docs.rs"),
            ("https:///docs.rs/x", "? docs.rs"),
            ("https://do\tcs.rs/", "? docs.rs"),
            ("https://d%6fcs.rs/", "? docs.rs"),
            ("https://d\u{43e}cs.rs/", "? docs.rs"),
            ("https://docs。rs/", "? docs.rs"),
            ("https://x:99999/", "? x"),
            ("https://[::1/", "? [:"),
            ("file://server/share", "? server"),
            ("javascript:alert(1)", "? alert(1)"),
            ("", "?"),
        ] {
            let told = told(url);
            assert!(told.starts_with('?'), "{url}: {told}");
            if seeming != "? [:" && !url.contains('。') {
                assert_eq!(told, seeming, "{url}");
            }
        }
    }

    #[test]
    fn files_and_data_are_no_hosts() {
        for (url, expected) in [
            ("file:///etc/passwd", "file /etc/passwd"),
            ("FILE:///etc/%70asswd", "file /etc/passwd"),
            ("file://localhost/etc/passwd", "file /etc/passwd"),
            ("file:/etc/passwd?x", "file /etc/passwd"),
            ("data:text/plain,hi", "nowhere"),
        ] {
            assert_eq!(told(url), expected, "{url}");
        }
    }

    #[test]
    fn urls_are_found_in_prose() {
        let found: Vec<_> = urls_in("see (https://a.example/x) and <http://b.example>, also ftp://c d ://e").collect();
        assert_eq!(found, ["https://a.example/x)", "http://b.example", "ftp://c"]);
    }
}
