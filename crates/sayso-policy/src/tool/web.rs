//! Tools that fetch from or search the web.

use super::draft::Draft;
use super::{BuiltIn, loose};
use crate::normalise::Kind;
use crate::normalise::arguments::{Found, Role, walk};
use crate::normalise::url::urls_in;
use sayso_shell::HostTarget;
use serde_json::Value;

pub(super) const TOOLS: &[BuiltIn] = &[
    BuiltIn {
        canonical: "web_fetch",
        implies: &[],
        aliases: &[
            "fetch",
            "fetchurl",
            "readurlcontent",
            "openurl",
            "fetchwebpage",
            "urlfetch",
            "readurl",
            "httpfetch",
        ],
        kind: Kind::Fetch,
        describe: fetch,
    },
    BuiltIn {
        canonical: "web_search",
        implies: &[],
        aliases: &["googlewebsearch", "searchweb", "googlesearch"],
        kind: Kind::Fetch,
        describe: search,
    },
];

/// A fetch connects to every host that its arguments name, also inside the text of a prompt. Where it is redirected
/// to is not seen.
fn fetch(_: &BuiltIn, arguments: &Value, draft: &mut Draft<'_>) {
    let role = |key: &str| match key {
        "url" | "urls" | "uri" | "uris" | "href" | "link" | "links" | "address" | "targeturl" | "baseurl" => Role::Url,
        "prompt" | "query" | "text" | "input" | "instructions" => Role::Prose,
        "description" | "format" | "headers" | "body" | "method" | "reason" | "title" => Role::Text,
        _ => Role::Other,
    };
    let mut some = false;
    draft.known = true;
    walk(arguments, &role, &mut |found| match found {
        Found::Text(Role::Url, text) => {
            some = true;
            draft.url(text, true);
        }
        Found::Text(Role::Prose, text) => {
            for url in urls_in(text) {
                some = true;
                draft.url(url, true);
            }
        }
        Found::Loose { key, text } => loose(draft, key, text),
        Found::Text(..) | Found::Whole(..) | Found::Wrong | Found::TooMuch => draft.unclear(),
    });
    // A fetch of nothing that can be seen is a fetch of anything.
    if !some {
        draft.connect(HostTarget::Unknown, true);
    }
}

/// A search goes to whatever service the agent uses; the call itself needs the yes.
fn search(_: &BuiltIn, arguments: &Value, draft: &mut Draft<'_>) {
    draft.connect(HostTarget::Unknown, false);
    walk(
        arguments,
        &|key| if matches!(key, "query" | "prompt" | "queries") { Role::Text } else { Role::Other },
        &mut |found| match found {
            Found::Loose { key, text } => loose(draft, key, text),
            Found::TooMuch => draft.unclear(),
            Found::Text(..) | Found::Whole(..) | Found::Wrong => {}
        },
    );
}
