//! Copilot CLI, 1.0.102.

use super::{Agent, Command};

pub(super) const AGENT: Agent = Agent {
    title: "Copilot CLI",
    programs: &["copilot"],
    packages: &["@github/copilot"],
    places: &[
        "/**/.copilot/hooks/**",
        "/**/.copilot/{config,settings}.json",
        "/**/.github/hooks/**",
        "/**/.github/copilot/settings.json",
        "/**/.github/copilot/settings.local.json",
        "/etc/github-copilot/**",
    ],
    home: &[(".copilot", &["hooks", "config.json", "settings.json"])],
    commands: &[
        Command { words: &["plugin", "disable"], about: &["sayso"] },
        Command { words: &["plugin", "uninstall"], about: &["sayso"] },
        Command { words: &["mcp", "remove"], about: &[] },
    ],
    options: &["--config-dir"],
    values: &[],
    variables: &["COPILOT_HOME"],
    tools: &[],
};
