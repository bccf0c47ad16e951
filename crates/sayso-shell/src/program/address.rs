//! Addresses within words: a URL behind `=`, `+` or in the middle of a word, and the value of an option that is named
//! for a server.
//!
//! A table says which options connect. But package managers, build tools and forges take an address in many more
//! places (`turbo --api=URL`, `mvn -Drepo.url=URL`, `gem list --source URL`), and hand words on to code that connects. So
//! every address in a word of theirs that nothing accounts for is connected to.

use super::{View, host};
use crate::effect::{Carry, HostTarget, Target, Verb};
use crate::word::{Part, Shape, Word};

/// Options whose value is prose, a query or a label, whatever it holds.
const PROSE: &[&str] = &[
    "--body",
    "--comment",
    "--desc",
    "--description",
    "--filter",
    "--grep",
    "--homepage",
    "--jq",
    "--label",
    "--message",
    "--notes",
    "--reason",
    "--search",
    "--subject",
    "--template",
    "--title",
    "-m",
];

/// What the name of an option ends in, if its value is a server. `--host` is left out: servers listen there.
const SERVERS: &[&str] = &[
    "api",
    "api-host",
    "api-server",
    "apiurl",
    "endpoint",
    "endpoints",
    "hostname",
    "index",
    "index-url",
    "mirror",
    "proxy",
    "registry",
    "remote-cache",
    "repo-url",
    "repository-url",
    "server",
    "upstream",
    "uri",
    "url",
    "webhook",
];

/// Adds a connect for every address that no other effect accounts for.
pub(super) fn reached(view: &mut View<'_>) {
    for at in 1..view.inv.argv.len() {
        let Some(word) = view.word(at) else { continue };
        if is_prose(view, at) || is_accounted_for(view, at) {
            continue;
        }
        let found = match word {
            Word::Exact(text) => text.as_str().map_or_else(Vec::new, addresses),
            Word::Dynamic(shape) => begun(shape).into_iter().collect(),
            Word::Opaque => Vec::new(),
        };
        let found = if found.is_empty() { server(view, at, word).into_iter().collect() } else { found };
        for target in found {
            // What runs here talks to itself all the time; it counts against a rule, and needs no yes.
            let certain = !matches!(&target, HostTarget::Exact { host, .. } if is_this_machine(host));
            view.effect(Verb::Connect, Target::Host(target), at, Carry::Plain);
            if let Some(effect) = view.out.effects.last_mut() {
                effect.certain = certain;
            }
        }
    }
}

/// The hosts of all URLs in a text.
pub(super) fn addresses(text: &str) -> Vec<HostTarget> {
    /// Beyond this many, one that nobody knows stands for the rest.
    const MANY: usize = 16;
    let mut hosts = Vec::new();
    for (at, _) in text.match_indices("://") {
        let (before, rest) = text.split_at(at);
        let scheme = before.rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        if scheme == "file" {
            continue;
        }
        if hosts.len() == MANY {
            hosts.push(HostTarget::Unknown);
            break;
        }
        let end = rest.find(|c: char| c.is_whitespace() || "\"'`,;|<>(){}".contains(c)).unwrap_or(rest.len());
        let host = rest.get(..end).map_or(HostTarget::Unknown, |rest| host::of_text(&format!("x{rest}")));
        hosts.push(host);
    }
    hosts
}

/// A word of which only a part is known, and an address begins in it.
fn begun(shape: &Shape) -> Option<HostTarget> {
    let literal = |part: &Part| match part {
        Part::Literal(text) => text.as_str().filter(|text| text.contains("://")).map(str::to_owned),
        _ => None,
    };
    let text = shape.parts.iter().find_map(literal)?;
    let complete = text.split_once("://").is_some_and(|(_, rest)| rest.contains(['/', '?', '#']));
    match addresses(&text).pop() {
        Some(host) if complete && !shape.splits() => Some(host),
        _ => Some(HostTarget::Unknown),
    }
}

/// The value of an option that is named for a server, where the table does not hold that option.
fn server(view: &View<'_>, at: usize, word: &Word) -> Option<HostTarget> {
    let joined =
        |text: &str| text.starts_with('-').then(|| text.split_once('=').map(|(name, _)| is_server(name))).flatten();
    match word {
        Word::Exact(text) => {
            let text = text.as_str()?;
            let value = match joined(text) {
                Some(true) => text.split_once('=').map(|(_, value)| value)?,
                None if follows_server(view, at) => text,
                _ => return None,
            };
            let bare = value.split(['/', ':']).next().unwrap_or_default();
            let named = bare.contains('.') && !bare.starts_with('.') && bare.bytes().any(|b| b.is_ascii_alphabetic());
            (named && !value.starts_with(['/', '.', '-'])).then(|| host::of_text(value))
        }
        Word::Dynamic(shape) => {
            let first = match shape.parts.first() {
                Some(Part::Literal(text)) => text.as_str().unwrap_or_default(),
                _ => "",
            };
            (joined(first) == Some(true) || follows_server(view, at) && !first.starts_with('-'))
                .then_some(HostTarget::Unknown)
        }
        Word::Opaque => follows_server(view, at).then_some(HostTarget::Unknown),
    }
}

/// Whether the word before is an option of this kind without a value of its own.
fn follows_server(view: &View<'_>, at: usize) -> bool {
    let before = at.checked_sub(1).filter(|before| *before > 0).and_then(|before| view.word(before));
    before
        .and_then(Word::exact_str)
        .is_some_and(|text| text.starts_with("--") && !text.contains('=') && is_server(text))
}

fn is_server(option: &str) -> bool {
    let name = option.trim_start_matches('-').to_ascii_lowercase().replace(['_', '.'], "-");
    SERVERS
        .iter()
        .any(|server| name.strip_suffix(server).is_some_and(|before| before.is_empty() || before.ends_with('-')))
}

fn is_prose(view: &View<'_>, at: usize) -> bool {
    let is = |seen: &crate::option::Seen| PROSE.contains(&seen.opt.name.as_str());
    let joined = view.seen.iter().any(|seen| seen.at == at && is(seen));
    let behind = || view.seen.iter().any(|seen| seen.at + 1 == at && is(seen) && seen.opt.value.is_some());
    joined || !view.seen.iter().any(|seen| seen.at == at) && behind()
}

fn is_accounted_for(view: &View<'_>, at: usize) -> bool {
    let span = view.span(at);
    let before = at.checked_sub(1).map(|before| view.span(before));
    let here = |effect: &crate::effect::Effect| {
        effect.span == span
            || view.seen.iter().any(|seen| seen.at + 1 == at && Some(effect.span) == before && seen.opt.value.is_some())
    };
    view.out.effects.iter().any(|effect| effect.verb == Verb::Connect && effect.certain && here(effect))
}

/// Whether a host is this machine itself.
fn is_this_machine(host: &str) -> bool {
    let host = host.trim_end_matches('.');
    matches!(host, "localhost" | "::1" | "0.0.0.0") || host.ends_with(".localhost") || is_loopback_address(host)
}

fn is_loopback_address(host: &str) -> bool {
    host.parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_address_in_a_word_is_found() {
        for (word, expected) in [
            ("plain", ""),
            ("--api=https://evil.example/v8", "evil.example"),
            ("-Drepo.url=http://a.example:81/x", "a.example"),
            ("git+https://u:p@b.example/x.git", "b.example"),
            ("a=https://a.example,b=https://b.example", "a.example b.example"),
            ("file:///etc/passwd", ""),
            ("https://a.example\\@b.example/", "?"),
            ("HTTPS://C.example", "c.example"),
        ] {
            let shown: Vec<_> = addresses(word)
                .into_iter()
                .map(|host| match host {
                    HostTarget::Exact { host, .. } => host,
                    _ => "?".to_owned(),
                })
                .collect();
            assert_eq!(shown.join(" "), expected, "{word}");
        }
    }

    #[test]
    fn options_named_for_a_server_are_told_from_others() {
        for name in ["--api", "--registry", "--extra-index-url", "-Dmaven.repo.url", "--API_ENDPOINT", "--http.proxy"] {
            assert!(is_server(name), "{name}");
        }
        for name in ["--host", "--therapy", "--curl", "--output", "--apis", "-x"] {
            assert!(!is_server(name), "{name}");
        }
    }

    #[test]
    fn only_this_machine_is_this_machine() {
        for host in ["localhost", "127.0.0.1", "127.9.9.9", "::1", "app.localhost"] {
            assert!(is_this_machine(host), "{host}");
        }
        for host in ["127.0.0.1.evil.example", "localhost.evil.example", "128.0.0.1", "1.127.0.0"] {
            assert!(!is_this_machine(host), "{host}");
        }
    }
}
