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
        Command { words: &["mcp", "disable"], about: &[] },
        Command { words: &["config"], about: &["hook"] },
        Command { words: &["plugins", "disable"], about: &["sayso"] },
        Command { words: &["plugins", "uninstall"], about: &["sayso"] },
    ],
    options: &["--config-dir"],
    values: &[],
    // Without the second, a prompt on the command line loads no hooks of the repository.
    variables: &["COPILOT_HOME", "GITHUB_COPILOT_PROMPT_MODE_REPO_HOOKS"],
    tools: &[],
};
