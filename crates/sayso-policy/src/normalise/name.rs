//! Canonical tool names.
//!
//! What an attacker would try: a name that reads like an allowed one to a person but is another tool (look-alikes,
//! invisible characters); a name that is a pattern (`*`, `re:.*`), so that a remembered answer would cover more than
//! the tool that was shown; an MCP tool called like a built-in one; an MCP name that splits at another place.

use super::lookalike::look_alike;
use super::mcp_name::{self, Reading};
use crate::tool::{self, BuiltIn};
use crate::word::ToolName;

/// Longer names than this are nobody's.
const MAX_NAME: usize = 256;

/// A tool's name in normal form. `server` is the MCP server, where the way in knows it for certain.
pub(crate) fn tool_name(raw: &str, server: Option<&str>) -> ToolName {
    read(raw, server).0
}

/// A tool's name in normal form, and the built-in tool that it means.
pub(crate) fn read(raw: &str, server: Option<&str>) -> (ToolName, Option<&'static BuiltIn>) {
    let name = raw.trim_matches(|c: char| c.is_ascii_whitespace()).to_ascii_lowercase();
    let server = server.map(|server| server.trim_matches(|c: char| c.is_ascii_whitespace()).to_ascii_lowercase());
    let plain = is_plain(&name) && server.as_deref().is_none_or(is_plain);
    let built_in = if server.is_none() { tool::built_in(&name) } else { None };
    let mut out = match (server.as_deref(), built_in) {
        (Some(server), _) => of_server(&name, server),
        (None, Some(built_in)) => of_built_in(&name, built_in),
        (None, None) => spelled(&name),
    };
    raw.clone_into(&mut out.raw);
    if !plain {
        disguise(&mut out, &name, server.as_deref());
    }
    (out, built_in.filter(|_| plain))
}

/// The patterns that a written tool pattern means, as any-of: alias names become canonical, MCP spellings become
/// `mcp:server/tool`. An ambiguous spelling means all of its readings.
#[must_use]
pub fn pattern_names(written: &str) -> Vec<String> {
    let text = written.trim_matches(|c: char| c.is_ascii_whitespace()).to_ascii_lowercase();
    if let Some(built_in) = tool::built_in(&text) {
        return vec![built_in.canonical.to_owned()];
    }
    // A server alone, as Claude Code's rules write it, or every server.
    for prefix in ["mcp__", "mcp_", "mcp:"] {
        if let Some(rest) = text.strip_prefix(prefix) {
            if rest == "*" {
                return vec!["mcp:*".to_owned()];
            }
            if prefix == "mcp__" && !rest.is_empty() && !rest.contains("__") {
                return vec![format!("mcp:{rest}/*")];
            }
        }
    }
    let mut names: Vec<String> = mcp_name::readings(&text).iter().map(Reading::canonical).collect();
    names.dedup();
    if names.is_empty() { vec![text] } else { names }
}

/// The first of [`pattern_names`].
#[must_use]
pub fn pattern_name(written: &str) -> String {
    pattern_names(written).into_iter().next().unwrap_or_default()
}

fn of_server(name: &str, server: &str) -> ToolName {
    let tool = mcp_name::tool_of_server(name, server);
    let canonical = Reading { server, tool }.canonical();
    let written = Reading { server: &mcp_name::written_server(server), tool }.canonical();
    let mut names = vec![canonical.clone()];
    if written != canonical {
        names.push(written);
    }
    ToolName { readings: vec![canonical.clone()], canonical, names, mcp: true, ..ToolName::default() }
}

/// A name that is no built-in tool's.
fn spelled(name: &str) -> ToolName {
    let readings = mcp_name::readings(name);
    if mcp_name::too_many(&readings) {
        let canonical = name.to_owned();
        return ToolName {
            readings: vec![canonical.clone()],
            canonical,
            mcp: true,
            disguised: true,
            ..ToolName::default()
        };
    }
    let mut texts: Vec<String> = readings.iter().map(Reading::canonical).collect();
    texts.dedup();
    match texts.first() {
        // INVARIANT: `names` of an ambiguous name is empty, because one of them would allow what another means.
        Some(first) => ToolName {
            canonical: first.clone(),
            names: if texts.len() == 1 { texts.clone() } else { Vec::new() },
            readings: texts,
            mcp: true,
            // As agents write it that put no `mcp` in front: a deny of `demo_echo` holds for OpenCode's tool.
            resembles: bare(name).map(str::to_owned).into_iter().collect(),
            ..ToolName::default()
        },
        None => {
            // `mcp:tool` (Cursor) and `mcp__server` name no tool of a known server: nothing allows them.
            let mcp = name.starts_with("mcp:") || name.starts_with("mcp__");
            let canonical = name.to_owned();
            ToolName {
                names: vec![canonical.clone()],
                readings: vec![canonical.clone()],
                canonical,
                mcp,
                disguised: mcp,
                ..ToolName::default()
            }
        }
    }
}

/// `demo_echo` of `mcp_demo_echo`, `demo-echo` of `mcp-demo-echo`.
fn bare(name: &str) -> Option<&str> {
    name.strip_prefix("mcp_").or_else(|| name.strip_prefix("mcp-")).filter(|rest| !rest.starts_with('_'))
}

fn of_built_in(name: &str, built_in: &BuiltIn) -> ToolName {
    let canonical = built_in.canonical.to_owned();
    let mut names = vec![canonical.clone()];
    for other in std::iter::once(name).chain(built_in.implies.iter().copied()) {
        if !names.iter().any(|known| known == other) {
            names.push(other.to_owned());
        }
    }
    ToolName { readings: vec![canonical.clone()], canonical, names, ..ToolName::default() }
}

/// Takes every allow away from a name and leaves what it resembles to asks and denies.
fn disguise(out: &mut ToolName, name: &str, server: Option<&str>) {
    out.disguised = true;
    out.resembles.append(&mut out.names);
    let plain = look_alike(name).unwrap_or_else(|| name.to_owned());
    let alike = match server.map(|server| look_alike(server).unwrap_or_else(|| server.to_owned())) {
        Some(server) => of_server(plain.trim(), server.trim()),
        None => match tool::built_in(plain.trim()) {
            Some(built_in) => of_built_in(plain.trim(), built_in),
            None => spelled(plain.trim()),
        },
    };
    out.mcp |= alike.mcp;
    for name in alike.names.into_iter().chain(alike.readings) {
        if !out.resembles.contains(&name) {
            out.resembles.push(name);
        }
    }
}

/// Whether a lower-case name consists of what tool names consist of, and is no pattern.
fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= MAX_NAME
        && !name.starts_with("re:")
        && name.bytes().enumerate().all(|(at, byte)| match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'.' | b':' | b'/' => true,
            // `@name` is a set; a blank inside a server's name is common.
            b'@' | b' ' => at > 0,
            _ => false,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `raw => canonical | names | readings | resembles`, the last three without what goes without saying.
    #[test]
    fn names_are_read_as_they_are_meant() {
        for (raw, canonical, names) in [
            ("Bash", "bash_execute", "bash_execute bash"),
            ("  BASH\n", "bash_execute", "bash_execute bash"),
            ("bash_execute", "bash_execute", "bash_execute"),
            ("exec", "bash_execute", "bash_execute exec"),
            ("run_shell_command", "bash_execute", "bash_execute run_shell_command"),
            ("execute_command", "bash_execute", "bash_execute execute_command"),
            ("terminal", "bash_execute", "bash_execute terminal"),
            ("Read", "file_read", "file_read read"),
            ("read_file", "file_read", "file_read read_file"),
            ("view", "file_read", "file_read view"),
            ("create", "file_write", "file_write create"),
            ("Edit", "file_edit", "file_edit edit file_write"),
            ("MultiEdit", "file_edit", "file_edit multiedit file_write"),
            ("apply_patch", "apply_patch", "apply_patch file_edit file_write"),
            ("WebFetch", "web_fetch", "web_fetch webfetch"),
            ("fetch", "web_fetch", "web_fetch fetch"),
            (" File_Read ", "file_read", "file_read"),
            ("process", "process", "process"),
            ("whatever", "whatever", "whatever"),
            ("mcp__github__Get_Issue", "mcp:github/get_issue", "mcp:github/get_issue"),
            ("mcp_demo_echo", "mcp:demo/echo", "mcp:demo/echo"),
            ("demo/echo", "mcp:demo/echo", "mcp:demo/echo"),
            ("mcp-demo-echo", "mcp:demo/echo", "mcp:demo/echo"),
            ("mcp:demo/echo", "mcp:demo/echo", "mcp:demo/echo"),
            ("mcp__x__bash", "mcp:x/bash", "mcp:x/bash"),
            ("x/read_file", "mcp:x/read_file", "mcp:x/read_file"),
        ] {
            let name = tool_name(raw, None);
            assert_eq!(name.canonical, canonical, "{raw}");
            assert_eq!(name.names.join(" "), names, "{raw}");
            assert_eq!(name.readings, [canonical], "{raw}");
            assert_eq!(name.raw, raw);
            assert!(!name.disguised, "{raw}");
            assert_eq!(name.mcp, canonical.starts_with("mcp:"), "{raw}");
        }
    }

    #[test]
    fn an_ambiguous_mcp_name_keeps_all_readings_and_no_name() {
        let name = tool_name("mcp_a_b_c", None);
        assert_eq!(name.readings, ["mcp:a/b_c", "mcp:a_b/c"]);
        assert!(name.names.is_empty());
        assert!(name.allows(|text| text.starts_with("mcp:a")));
        assert!(!name.allows(|text| text.starts_with("mcp:a/")));
        assert!(name.restricts(|text| text.starts_with("mcp:a/")));
        assert!(name.restricts(|text| text == "mcp:a_b/c"));
    }

    #[test]
    fn a_deny_of_the_agents_own_spelling_holds() {
        for (raw, bare) in [("mcp_demo_echo", "demo_echo"), ("mcp-demo-echo", "demo-echo"), ("mcp_a_b_c", "a_b_c")] {
            let name = tool_name(raw, None);
            assert!(name.restricts(|text| text == bare), "{raw}");
            assert!(!name.allows(|text| text == bare), "{raw}");
        }
    }

    #[test]
    fn a_certain_server_makes_any_name_that_servers_tool() {
        for (raw, server, canonical) in [
            ("bash", "x", "mcp:x/bash"),
            ("demo-echo", "demo", "mcp:demo/demo-echo"),
            ("mcp_a_b_c", "a_b", "mcp:a_b/c"),
            ("Read", "FS", "mcp:fs/read"),
        ] {
            let name = tool_name(raw, Some(server));
            assert_eq!(name.canonical, canonical);
            assert_eq!(name.readings, [canonical]);
            assert!(name.mcp);
        }
        let mail = tool_name("send", Some("claude.ai Mail"));
        assert_eq!(mail.names, ["mcp:claude.ai mail/send", "mcp:claude_ai_mail/send"]);
    }

    #[test]
    fn a_disguised_name_is_never_allowed_and_denied_by_what_it_looks_like() {
        for (raw, resembles) in [
            ("b\u{430}sh", "bash_execute"),
            ("ba\u{200b}sh", "bash_execute"),
            ("\u{a0}bash", "bash_execute"),
            ("ba\nsh", "bash_execute"),
            ("ｒｅａｄ_file", "file_read"),
            ("mcp__gith\u{443}b__x", "mcp:githyb/x"),
            ("mcp__\u{440}rod__drop", "mcp:prod/drop"),
        ] {
            let name = tool_name(raw, None);
            assert!(name.disguised, "{raw:?}");
            assert!(!name.allows(|_| true), "{raw:?}");
            assert!(name.restricts(|text| text == resembles), "{raw:?} {:?}", name.resembles);
        }
    }

    #[test]
    fn a_name_that_is_a_pattern_is_disguised() {
        for raw in ["*", "file_*", "re:.*", "@fs", "{a,b}", "!x", "", " ", "mcp__x__*", "mcp:echo", &"x".repeat(300)] {
            let name = tool_name(raw, None);
            assert!(name.disguised, "{raw}");
            assert!(!name.allows(|_| true), "{raw}");
            assert!(!name.readings.is_empty());
        }
    }

    #[test]
    fn patterns_are_read_like_names() {
        for (written, expected) in [
            ("bash", "bash_execute"),
            ("Edit", "file_edit"),
            ("FILE_READ", "file_read"),
            ("file_*", "file_*"),
            ("*", "*"),
            ("mcp__github", "mcp:github/*"),
            ("mcp__github__*", "mcp:github/*"),
            ("mcp__github__get_*", "mcp:github/get_*"),
            ("mcp_*", "mcp:*"),
            ("mcp__*", "mcp:*"),
            ("mcp:*", "mcp:*"),
            ("mcp_srv_*", "mcp:srv/*"),
            ("mcp_a_b_c", "mcp:a/b_c mcp:a_b/c"),
            ("github/*", "mcp:github/*"),
            ("mcp:github/create_*", "mcp:github/create_*"),
            ("unheard_of", "unheard_of"),
        ] {
            assert_eq!(pattern_names(written).join(" "), expected, "{written}");
        }
    }

    #[test]
    fn what_a_pattern_and_a_name_both_spell_meets() {
        for spelling in ["mcp__a__b", "mcp_a_b", "a/b", "mcp:a/b", "mcp_a_b_c", "mcp__a__b__c", "bash", "Read", "zzz"] {
            let patterns = pattern_names(spelling);
            assert!(tool_name(spelling, None).allows(|text| patterns.iter().any(|p| p == text)), "{spelling}");
        }
    }
}
