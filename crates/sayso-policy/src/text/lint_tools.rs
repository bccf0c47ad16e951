//! Warnings about names of tools that no agent has.

use super::file::{File, Text};
use super::{Problem, nearest};
use crate::tool::{built_in, names};
use sayso_shell::Verb;

/// No tool has a longer name.
const MOST: usize = 64;

/// Plain names of tools that Sayso doesn't know: often a typing error, and then the rule never applies.
pub(super) fn unknown(file: &File, warnings: &mut Vec<Problem>) {
    let lists = file.lists.iter().filter(|list| list.verb.value == Verb::Call).flat_map(|list| &list.patterns);
    let rules = file.rules.iter().filter(|rule| rule.verb.value == Verb::Call).flat_map(|rule| &rule.patterns);
    let layers = std::iter::once(&file.tools.base).chain(file.tools.layers.iter().map(|layer| &layer.layer));
    let layers = layers.flat_map(|layer| layer.also.iter().chain(&layer.only).chain(&layer.hide));
    let texts: Vec<&Text> = lists.chain(rules).chain(layers).collect();
    for text in texts {
        let name = text.value.trim_start_matches('!');
        let plain = (1..=MOST).contains(&name.len())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        if !plain || built_in(&name.to_lowercase()).is_some() {
            continue;
        }
        let message = format!("Sayso doesn't know a tool named `{name}`");
        let mut warning = file.problem("unknown-tool-name", &text.span, message);
        warning.suggestion = Some(match nearest(name, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("write mcp:SERVER/{name} for a tool of an MCP server; keep it for a tool of your own"),
        });
        warnings.push(warning);
    }
}

#[cfg(test)]
mod tests {
    use crate::text::{lint, parse};

    fn warned(text: &str) -> Vec<(String, String)> {
        let file = parse("p.toml", text).unwrap();
        let found = lint(&file).into_iter().filter(|it| it.code == "unknown-tool-name");
        found.map(|it| (it.message, it.suggestion.unwrap_or_default())).collect()
    }

    #[test]
    fn a_name_that_no_tool_has_is_pointed_at() {
        let found = warned("[deny]\ntool = [\"file_wirte\", \"file_write\", \"mcp:github/*\", \"web_*\", \"@fs\"]");
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].0.contains("`file_wirte`") && found[0].1.contains("`file_write`"), "{found:?}");
        let found = warned("[tools]\nhide = [\"frobnicate\"]");
        assert!(found.len() == 1 && found[0].1.contains("mcp:SERVER/frobnicate"), "{found:?}");
        // A program is no tool, and agents spell their tools in their own ways.
        assert_eq!(warned("[allow]\nrun = [\"frobnicate\"]\ntool = [\"Read\", \"web_fetch\", \"WebFetch\"]"), []);
    }
}
