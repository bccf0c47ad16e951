//! Codex. Its options were read from `codex --help` of 0.166.0.

use super::{Agent, Command};

pub(super) const AGENT: Agent = Agent {
    title: "Codex",
    programs: &["codex"],
    packages: &["@openai/codex"],
    places: &[
        "/**/.codex/hooks.json",
        "/**/.codex/config.toml",
        // What `--profile` puts on top.
        "/**/.codex/*.config.toml",
        "/etc/codex/**",
    ],
    home: &[(".codex", &["hooks.json", "config.toml"])],
    commands: &[
        Command { words: &["features", "disable"], about: &["hooks"] },
        Command { words: &["plugin", "remove"], about: &["sayso"] },
        Command { words: &["mcp", "remove"], about: &[] },
    ],
    options: &["--ignore-user-config"],
    values: &[("-c", "hooks"), ("--config", "hooks"), ("--disable", "hooks")],
    variables: &["CODEX_HOME"],
    tools: &[],
};
