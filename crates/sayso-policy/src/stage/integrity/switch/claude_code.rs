//! Claude Code. Its options were read from `claude --help` of 2.1.325; `--bare` was seen to run calls unasked.

use super::{Agent, Command};

pub(super) const AGENT: Agent = Agent {
    title: "Claude Code",
    programs: &["claude", "claude-code"],
    packages: &["@anthropic-ai/claude-code"],
    places: &[
        "/**/.claude/settings.json",
        "/**/.claude/settings.local.json",
        "/etc/claude-code/**",
        "/Library/Application Support/ClaudeCode/**",
    ],
    home: &[(".claude", &["settings.json", "settings.local.json"])],
    commands: &[
        Command { words: &["config", "set"], about: &[] },
        Command { words: &["config", "add"], about: &[] },
        Command { words: &["config", "remove"], about: &[] },
        Command { words: &["config", "rm"], about: &[] },
        Command { words: &["plugin", "disable"], about: &["sayso", "--all"] },
        Command { words: &["plugins", "disable"], about: &["sayso", "--all"] },
        Command { words: &["plugin", "uninstall"], about: &["sayso", "--all"] },
        Command { words: &["plugin", "remove"], about: &["sayso", "--all"] },
        Command { words: &["mcp", "remove"], about: &[] },
        Command { words: &["mcp", "reset-project-choices"], about: &[] },
    ],
    // `--settings` takes a file that may hold anything.
    options: &["--bare", "--safe-mode", "--setting-sources", "--settings"],
    values: &[],
    variables: &[
        "CLAUDE_CONFIG_DIR",
        "CLAUDE_CODE_SIMPLE",
        "CLAUDE_CODE_SAFE_MODE",
        "CLAUDE_CODE_MANAGED_SETTINGS_PATH",
        // Hooks in a shell's words, and servers of tools, are handed to this program as one word.
        "CLAUDE_CODE_SHELL_PREFIX",
    ],
    tools: &[],
};
