//! Patterns on hosts: `example.org`, `*.example.org`, `localhost:8080`, `re:...`.

use super::{Glob, PatternError, Purpose};
use crate::word::Tri;
use regex::Regex;
use sayso_shell::HostTarget;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A pattern on hosts.
#[derive(Clone, Debug)]
pub(crate) enum HostPattern {
    /// Whatever host, the unknown ones too.
    Anything,
    /// A name or glob, with a port if one was written.
    Name {
        /// Lower case.
        host: Glob,
        /// Only this port.
        port: Option<u16>,
    },
    /// `re:` on the host.
    Regex(Regex),
}

impl HostPattern {
    pub(crate) fn parse(text: &str) -> Result<Self, PatternError> {
        if let Some(re) = text.strip_prefix("re:") {
            return super::compile_regex(re).map(Self::Regex);
        }
        if text.contains("://") || text.contains('/') {
            return Err(PatternError::new("expected a host, not a URL with a scheme or path").suggest(
                text.split("://").last().and_then(|rest| rest.split('/').next()).unwrap_or_default().to_owned(),
            ));
        }
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if !host.contains(':') || host.ends_with(']') => {
                let port = port.parse().map_err(|_| PatternError::new(format!("`{port}` is not a port")))?;
                (host, Some(port))
            }
            _ => (text, None),
        };
        Ok(Self::Name { host: Glob::new(&normal_host(host)), port })
    }

    /// The host, if the pattern is one.
    pub(crate) fn literal(&self) -> Option<&str> {
        match self {
            Self::Name { host, .. } => host.literal(),
            _ => None,
        }
    }

    /// `example.org` for `*.example.org`.
    pub(crate) fn suffix(&self) -> Option<&str> {
        let Self::Name { host, .. } = self else { return None };
        let text = std::str::from_utf8(host.literal_text()).ok()?;
        text.strip_prefix("*.").filter(|rest| !rest.contains(['*', '?']))
    }

    /// Whether it names this guarded host itself rather than covering it by a wildcard.
    pub(crate) fn names_guarded(&self) -> bool {
        match self {
            Self::Anything => true,
            Self::Name { host, .. } => host.is_specific(),
            Self::Regex(_) => true,
        }
    }

    pub(crate) fn matches(&self, target: &HostTarget, purpose: Purpose) -> Tri {
        match (self, target) {
            (Self::Anything, _) => Tri::Yes,
            (Self::Name { host, port }, HostTarget::Exact { host: actual, port: actual_port }) => {
                let name = normal_host(actual);
                let named = host.matches(name.as_bytes());
                match (port, actual_port) {
                    _ if !named => Tri::No,
                    (None, _) => Tri::Yes,
                    (Some(wanted), Some(port)) => (wanted == port).into(),
                    (Some(_), None) => Tri::Maybe,
                }
            }
            (Self::Regex(regex), HostTarget::Exact { host, .. }) => regex.is_match(&normal_host(host)).into(),
            // A lone `*` means any host that is named by a person: what the owner's own configuration names is.
            (Self::Name { host, port: None }, HostTarget::Configured(_)) if host.is_any() => Tri::Yes,
            (_, HostTarget::Configured(_) | HostTarget::Unknown) => match purpose {
                Purpose::Permit => Tri::No,
                Purpose::Restrict => Tri::Maybe,
            },
        }
    }
}

/// Lower case, no brackets, no trailing dot, and every way to write an IPv4 address as four numbers.
pub(crate) fn normal_host(host: &str) -> String {
    let host = host.trim().trim_start_matches('[').trim_end_matches(']').trim_end_matches('.').to_ascii_lowercase();
    match loose_ipv4(&host) {
        Some(address) => address.to_string(),
        None => match host.parse::<Ipv6Addr>() {
            Ok(v6) => v6.to_ipv4_mapped().map_or_else(|| v6.to_string(), |v4| v4.to_string()),
            Err(_) => host,
        },
    }
}

/// `127.1`, `0x7f000001`, `2130706433` and `0177.0.0.1` are all 127.0.0.1 to the C library.
fn loose_ipv4(host: &str) -> Option<Ipv4Addr> {
    let parts: Vec<u32> = host.split('.').map(loose_number).collect::<Option<_>>()?;
    let (last, front) = parts.split_last()?;
    if front.len() > 3 || front.iter().any(|part| *part > 255) {
        return None;
    }
    let room = 32 - 8 * u32::try_from(front.len()).ok()?;
    if room < 32 && *last >= 1_u32 << room {
        return None;
    }
    let high = front.iter().enumerate().fold(0_u32, |sum, (at, part)| sum | part << (24 - 8 * at));
    Some(Ipv4Addr::from(high | last))
}

fn loose_number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None if text.len() > 1 && text.starts_with('0') => u32::from_str_radix(text, 8).ok(),
        None => text.parse().ok(),
    }
}

/// Link-local addresses and the metadata services of clouds, which hand out credentials.
pub(crate) fn is_link_local(host: &str) -> bool {
    let host = normal_host(host);
    match host.parse::<IpAddr>() {
        Ok(IpAddr::V4(v4)) => v4.is_link_local() || v4 == Ipv4Addr::new(100, 100, 100, 200),
        Ok(IpAddr::V6(v6)) => {
            (v6.segments().first().copied().unwrap_or(0) & 0xffc0) == 0xfe80
                || v6 == Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)
        }
        Err(_) => host == "metadata.google.internal" || host == "metadata" || host == "instance-data",
    }
}

/// This machine itself, by whatever name or address: what `@loopback` holds.
pub(crate) fn is_loopback(host: &str) -> bool {
    let host = normal_host(host);
    matches!(
        host.as_str(),
        "localhost" | "localhost.localdomain" | "localhost4" | "localhost6" | "ip6-localhost" | "ip6-loopback"
    ) || host.ends_with(".localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback() || address.is_unspecified())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(host: &str) -> HostTarget {
        HostTarget::Exact { host: host.to_owned(), port: None }
    }

    #[test]
    fn a_suffix_pattern_matches_below_the_domain_only() {
        let pattern = HostPattern::parse("*.example.org").unwrap();
        assert_eq!(pattern.matches(&target("api.Example.org."), Purpose::Permit), Tri::Yes);
        assert_eq!(pattern.matches(&target("example.org"), Purpose::Permit), Tri::No);
        assert_eq!(pattern.matches(&target("evil-example.org"), Purpose::Permit), Tri::No);
        assert_eq!(pattern.matches(&target("x.example.org.evil.net"), Purpose::Permit), Tri::No);
    }

    #[test]
    fn every_spelling_of_an_address_is_the_address() {
        for spelling in [
            "169.254.169.254",
            "0xa9fea9fe",
            "2852039166",
            "0251.0376.0251.0376",
            "[::ffff:a9fe:a9fe]",
            "169.254.43518",
        ] {
            assert_eq!(normal_host(spelling), "169.254.169.254", "{spelling}");
            assert!(is_link_local(spelling), "{spelling}");
        }
        assert!(!is_link_local("169.255.0.1"));
        assert!(is_link_local("fe80::1"));
    }

    #[test]
    fn the_set_and_the_function_mean_the_same_machine() {
        let set = crate::set::built_in("loopback").unwrap();
        let patterns: Vec<_> = set.members.iter().map(|member| HostPattern::parse(member).unwrap()).collect();
        for (host, own) in [
            ("localhost", true),
            ("LOCALHOST.", true),
            ("app.localhost", true),
            ("localhost.localdomain", true),
            ("ip6-loopback", true),
            ("127.0.0.1", true),
            ("127.1", true),
            ("0x7f000001", true),
            ("0", true),
            ("0.0.0.0", true),
            ("[::]", true),
            ("[::1]", true),
            ("[::ffff:127.0.0.1]", true),
            ("[::ffff:0:0]", true),
            ("127.example.org", false),
            ("127.0.0.1.example.org", false),
            ("localhost.example.org", false),
            ("10.0.0.1", false),
            ("example.org", false),
        ] {
            let in_set = patterns.iter().any(|one| one.matches(&target(host), Purpose::Permit) == Tri::Yes);
            assert_eq!((in_set, is_loopback(host)), (own, own), "{host}");
        }
    }

    #[test]
    fn unknown_hosts_permit_nothing_and_may_be_restricted() {
        let pattern = HostPattern::parse("example.org").unwrap();
        assert_eq!(pattern.matches(&HostTarget::Unknown, Purpose::Permit), Tri::No);
        assert_eq!(pattern.matches(&HostTarget::Unknown, Purpose::Restrict), Tri::Maybe);
    }

    #[test]
    fn an_address_with_a_scheme_is_an_error_that_suggests_the_host() {
        let error = HostPattern::parse("https://example.org/x").unwrap_err();
        assert_eq!(error.suggestion.as_deref(), Some("example.org"));
    }
}
