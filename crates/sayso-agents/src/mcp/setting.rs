//! Which servers are behind the gateway, and how they are reached.

use super::guard::Limits;
use super::judge::JudgeSetting;
use sayso_policy::shell::program::{Facets, facets};
use std::ffi::OsString;
use std::path::PathBuf;

/// Everything a gateway depends on.
#[derive(Clone, Debug)]
pub struct GatewaySetting {
    /// Who asks, and by which policy that is judged.
    pub judge: JudgeSetting,
    /// The servers; with more than one, their tools carry the server's name in front.
    pub servers: Vec<ServerSetting>,
    /// What stands before the command of every server that is a program: what holds it. Nothing: it is started as it is.
    pub launcher: Vec<OsString>,
    /// What servers may give, and how long things may take.
    pub limits: Limits,
}

/// One server.
#[derive(Clone, Debug)]
pub struct ServerSetting {
    /// The name that its owner gave it: what `mcp:NAME/tool` in a policy means.
    pub name: String,
    /// How it is reached.
    pub reach: Reach,
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// A program that speaks over its standard input and output.
    Command {
        /// The program and its arguments.
        command: Vec<OsString>,
        /// Its environment beyond the few variables that every program needs.
        env: Vec<(OsString, OsString)>,
        /// Where it runs; `None`: where the gateway does.
        cwd: Option<PathBuf>,
    },
    /// Streamable HTTP.
    Url {
        /// Its address.
        url: String,
        /// Headers for every request: the server's own keys.
        headers: Vec<(String, String)>,
    },
}

impl Reach {
    /// In words, for pins and people. Nothing secret is in it: neither the environment nor headers.
    #[must_use]
    pub fn in_words(&self) -> String {
        match self {
            Self::Command { command, .. } => {
                let words: Vec<_> = command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
                words.join(" ")
            }
            Self::Url { url, .. } => url.clone(),
        }
    }
}

/// What every program needs, and nothing else of our own environment reaches a server: keys and tokens of other
/// programs are none of its business.
pub(crate) const INHERITED: &[&str] =
    &["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR"];

/// A name for a server that was given none: what is left of its program or package.
///
/// INVARIANT: never what the server calls itself; rules go by this name.
#[must_use]
pub fn name_of(reach: &Reach) -> String {
    let word = match reach {
        Reach::Command { command, .. } => {
            let words: Vec<_> = command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
            program_word(&words)
        }
        Reach::Url { url, .. } => {
            let rest = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
            rest.split(['/', '?', '#']).next().unwrap_or_default().rsplit('@').next().unwrap_or_default().to_owned()
        }
    };
    let name: String = word
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c.to_ascii_lowercase() } else { '-' })
        .collect();
    let name = name.trim_matches('-').replace("__", "_");
    if name.is_empty() { "server".to_owned() } else { name }
}

/// `npx -y @modelcontextprotocol/server-filesystem@1.0 /x` is `filesystem`; `/opt/bin/mcp-server-git` is `git`.
fn program_word(words: &[String]) -> String {
    // `uv run x`, `pnpm dlx x`
    const VERBS: &[&str] = &["run", "exec", "dlx"];
    let base = |word: &str| word.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
    let runs = |base: &str| VERBS.contains(&base) || facets(base).has(Facets::RUNS_PACKAGES);
    let named = words.iter().find(|word| !word.starts_with('-') && !runs(&base(word)));
    let base = base(named.or(words.first()).map(String::as_str).unwrap_or_default());
    let base = match base.char_indices().skip(1).find(|(_, c)| *c == '@') {
        Some((at, _)) => base.get(..at).unwrap_or_default().to_owned(),
        None => base,
    };
    let mut name = base.as_str();
    for suffix in [".js", ".mjs", ".cjs", ".ts", ".py", ".sh"] {
        name = name.strip_suffix(suffix).unwrap_or(name);
    }
    for prefix in ["mcp-server-", "server-", "mcp-"] {
        name = name.strip_prefix(prefix).filter(|rest| !rest.is_empty()).unwrap_or(name);
    }
    for suffix in ["-mcp-server", "-mcp", "-server"] {
        name = name.strip_suffix(suffix).filter(|rest| !rest.is_empty()).unwrap_or(name);
    }
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_named_by_its_program_or_package() {
        for (command, name) in [
            ("npx -y @modelcontextprotocol/server-filesystem@2026.8.31 /tmp", "filesystem"),
            ("/x/node_modules/.bin/mcp-server-everything stdio", "everything"),
            ("uvx mcp-server-git --repository .", "git"),
            ("python3 -u /opt/files/server.py", "server"),
            ("github-mcp-server", "github"),
            ("node", "node"),
            ("/opt/My Server", "my-server"),
        ] {
            let command = command
                .split("  ")
                .flat_map(
                    |c| if c.contains("My ") { vec![c.into()] } else { c.split(' ').map(OsString::from).collect() },
                )
                .collect();
            assert_eq!(name_of(&Reach::Command { command, env: vec![], cwd: None }), name);
        }
        let url = Reach::Url { url: "https://u:p@mcp.example.org:8443/mcp?x".into(), headers: vec![] };
        assert_eq!(name_of(&url), "mcp-example-org-8443");
    }
}
