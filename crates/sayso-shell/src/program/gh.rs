//! GitHub's own command line, and those of other forges.

use super::{Code, View};
use crate::effect::{HostTarget, NamedBy, Target, Verb};
use crate::script::{Flavour, jq};
use crate::word::Word;

/// The forge that gh talks to where nothing else is said.
const OWN: &str = "github.com";

/// A repository may name its forge: `-R host/owner/name`, `gh repo view host/owner/name`, a URL of anything. Its own is
/// no other, however it is written.
pub(crate) fn other_forge(view: &mut View<'_>) {
    let named = view.values("--repo").into_iter().chain(
        view.operands()
            .into_iter()
            .filter(|_| matches!(view.path.first(), Some(&("repo" | "release"))))
            .filter_map(|at| view.word(at).map(|word| (at, word.clone()))),
    );
    for (at, word) in named.collect::<Vec<_>>() {
        let Some(text) = word.exact_str().filter(|text| !text.contains("://")) else { continue };
        let host = match text.split_once(':') {
            Some((before, _)) if before.contains('@') => before,
            _ if text.matches('/').count() == 2 => text.split('/').next().unwrap_or_default(),
            _ => continue,
        };
        view.connects(&Word::Exact(host.into()), at);
    }
    // An expression of jq may look into the environment.
    for (at, expression) in view.values("--jq") {
        let by = NamedBy::Flag("--jq".to_owned());
        match expression.exact() {
            Some(text) => view.findings(jq(text, Flavour::Jq), &by, at),
            None => view.named(Code::UnclearScript, by, at),
        }
    }
    super::address::reached(view);
    view.out.effects.retain(|effect| {
        !matches!(&effect.target, Target::Host(HostTarget::Exact { host, .. }) if host == OWN || host == "api.github.com")
    });
}

/// GET unless a method, a field or a body says otherwise. A GraphQL query that is no mutation reads.
pub(crate) fn api(view: &mut View<'_>) {
    let fields = view.has_any(&["--raw-field", "--field", "--input"]);
    let method = view.value("--method").map(|m| m.exact_str().map(str::to_ascii_uppercase));
    let reads = match method {
        Some(Some(method)) => matches!(method.as_str(), "GET" | "HEAD"),
        Some(None) => false,
        None => !fields,
    };
    let query = view.operand_str(0) == Some("graphql") && !view.has("--input") && {
        let values = view.values("--raw-field").into_iter().chain(view.values("--field"));
        let values: Vec<_> = values.collect();
        // What is asked must stand here: another field alone is sent as it is.
        values.iter().any(|(_, v)| v.exact_str().is_some_and(|v| v.starts_with("query=")))
            && values.iter().all(|(_, v)| v.exact_str().is_some_and(|v| !v.contains("mutation") && !v.contains("=@")))
    };
    for (at, value) in view.values("--field") {
        // `-F body=@file` sends a file.
        if let Some((_, file)) = value.exact_str().and_then(|v| v.split_once("=@")) {
            view.path_effect(Verb::Read, &Word::Exact(file.into()), at, false, crate::effect::Carry::Plain);
        }
    }
    // A header can name another method than the one that is asked for.
    let tame = |header: &Word| {
        let name = header.exact_str().and_then(|header| header.split_once(':')).map(|(name, _)| name.trim());
        name.is_some_and(|name| {
            ["accept", "x-github-api-version", "cache-control", "if-none-match", "if-modified-since"]
                .iter()
                .any(|known| name.eq_ignore_ascii_case(known))
        })
    };
    let headers = view.values("--header").iter().all(|(_, header)| tame(header));
    if !reads && !query || !headers {
        let at = 0;
        view.imply("--method", Some(Code::ChangesService), at);
    }
}

pub(crate) fn clone(view: &mut View<'_>) {
    if view.operand_count() == 1 {
        let name = view.operand_str(0).and_then(|r| r.trim_end_matches('/').rsplit('/').next()).unwrap_or(".");
        let name = name.strip_suffix(".git").unwrap_or(name).to_owned();
        view.touches(Verb::Write, &name, true);
    }
}
