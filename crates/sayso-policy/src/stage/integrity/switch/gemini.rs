//! Gemini CLI. Its variables were read in 0.61.0.

use super::{Agent, Command};

pub(super) const AGENT: Agent = Agent {
    title: "Gemini CLI",
    programs: &["gemini", "gemini-cli"],
    packages: &["@google/gemini-cli"],
    // It takes variables out of `.env` beside its settings, those that lead it to other settings too.
    // A folder that is not trusted any more has no hooks of its own.
    places: &["/**/.gemini/settings.json", "/**/.gemini/.env", "/**/.gemini/trustedFolders.json", "/etc/gemini-cli/**"],
    home: &[(".gemini", &["settings.json"])],
    commands: &[
        Command { words: &["hooks", "disable"], about: &[] },
        Command { words: &["hook", "disable"], about: &[] },
        Command { words: &["hooks", "disable-all"], about: &[] },
        Command { words: &["hook", "disable-all"], about: &[] },
        Command { words: &["hooks", "uninstall"], about: &[] },
        Command { words: &["hooks", "migrate"], about: &[] },
        Command { words: &["hook", "migrate"], about: &[] },
        Command { words: &["extensions", "disable"], about: &["sayso"] },
        Command { words: &["extensions", "uninstall"], about: &["sayso"] },
        Command { words: &["mcp", "remove"], about: &[] },
    ],
    options: &[],
    values: &[],
    variables: &[
        "GEMINI_CLI_HOME",
        "GEMINI_CLI_SYSTEM_SETTINGS_PATH",
        "GEMINI_CLI_SYSTEM_DEFAULTS_PATH",
        "GEMINI_CLI_TRUSTED_FOLDERS_PATH",
        "GEMINI_CLI_TRUST_WORKSPACE",
    ],
    tools: &[],
};
