//! Known tools and what they do, one file for each family.
//!
//! A family lists its tools with every name that agents give them, says what each parameter means, and turns the
//! arguments into effects on a [`Draft`]. What it cannot read it must call unclear: a known tool with arguments that
//! nobody understands may do anything.

mod draft;
mod file;
mod harness;
mod held;
mod mcp;
mod notebook;
mod patch;
mod search;
mod shell;
mod unknown;
mod unseen;
mod web;

pub(crate) use draft::{Draft, Scene};
pub(crate) use mcp::describe as describe_mcp;
pub(crate) use shell::run_command;
pub(crate) use unknown::{describe as describe_unknown, loose};

use crate::normalise::Kind;
use serde_json::Value;
use std::borrow::Cow;

/// A tool that agents bring along.
#[derive(Debug)]
pub(crate) struct BuiltIn {
    /// Its canonical name.
    pub(crate) canonical: &'static str,
    /// Wider names that mean it too: what denies `file_write` denies an edit, what allows it allows one.
    pub(crate) implies: &'static [&'static str],
    /// Its other names, lower case and without `_`.
    pub(crate) aliases: &'static [&'static str],
    /// Its kind, unless the arguments say otherwise.
    pub(crate) kind: Kind,
    /// Turns its arguments into effects.
    pub(crate) describe: fn(&BuiltIn, &Value, &mut Draft<'_>),
}

/// Families, those of the commonest calls first.
static FAMILIES: &[&[BuiltIn]] =
    &[shell::TOOLS, file::TOOLS, search::TOOLS, patch::TOOLS, notebook::TOOLS, web::TOOLS, harness::TOOLS, held::TOOLS];

/// The built-in tool that goes by this lower-case name.
///
/// Names differ in `_` alone (`webfetch`, `web_fetch`), never in `-`: `web-fetch` may be an MCP server's tool.
pub(crate) fn built_in(name: &str) -> Option<&'static BuiltIn> {
    let squeezed: Cow<'_, str> = if name.contains('_') { name.replace('_', "").into() } else { name.into() };
    let tools = || FAMILIES.iter().flat_map(|family| family.iter());
    tools()
        .find(|tool| tool.canonical == name || tool.aliases.iter().any(|alias| *alias == squeezed))
        .or_else(|| tools().find(|tool| squeezes_to(tool.canonical, &squeezed)))
}

/// The canonical names of all of them.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    FAMILIES.iter().flat_map(|family| family.iter()).map(|tool| tool.canonical)
}

fn squeezes_to(canonical: &str, squeezed: &str) -> bool {
    canonical.len() >= squeezed.len() && canonical.bytes().filter(|byte| *byte != b'_').eq(squeezed.bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_name_means_two_tools() {
        let mut seen = HashSet::new();
        for tool in FAMILIES.iter().flat_map(|family| family.iter()) {
            assert!(seen.insert(tool.canonical.replace('_', "")), "{}", tool.canonical);
            for alias in tool.aliases {
                assert!(alias.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'.'), "{alias}");
                assert!(seen.insert((*alias).to_owned()), "{alias}");
            }
        }
    }

    #[test]
    fn no_built_in_name_reads_as_an_mcp_tool() {
        for tool in FAMILIES.iter().flat_map(|family| family.iter()) {
            assert!(!tool.canonical.starts_with("mcp") && !tool.canonical.contains(['/', ':']), "{}", tool.canonical);
        }
    }
}
