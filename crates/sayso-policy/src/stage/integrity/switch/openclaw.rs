//! OpenClaw, by its documentation of 2026.9: a plugin that `openclaw.json` does not switch on is not asked.

use super::{Agent, Command, Tool};

/// What in a change of its configuration is about plugins.
const PLUGINS: &[&str] = &["plugin", "sayso", "$include"];

pub(super) const AGENT: Agent = Agent {
    title: "OpenClaw",
    programs: &["openclaw"],
    packages: &["openclaw"],
    places: &["/**/.openclaw/openclaw.json", "/**/.openclaw/extensions/sayso/**"],
    home: &[(".openclaw", &["openclaw.json", "extensions/sayso"])],
    commands: &[
        Command { words: &["plugins", "disable"], about: &[] },
        Command { words: &["plugins", "uninstall"], about: &[] },
        Command { words: &["plugins", "remove"], about: &[] },
        Command { words: &["plugins", "install"], about: &["sayso"] },
        Command { words: &["plugins", "update"], about: &["sayso", "--all"] },
        Command { words: &["plugin", "disable"], about: &[] },
        Command { words: &["plugin", "uninstall"], about: &[] },
        Command { words: &["plugin", "remove"], about: &[] },
        Command { words: &["config", "delete"], about: PLUGINS },
        Command { words: &["config", "remove"], about: PLUGINS },
        Command { words: &["config", "set"], about: PLUGINS },
        Command { words: &["config", "unset"], about: PLUGINS },
        // These read what they change from elsewhere.
        Command { words: &["config", "patch"], about: &[] },
        Command { words: &["config", "apply"], about: &[] },
        Command { words: &["gateway", "call"], about: &["config.", "plugin", "sayso"] },
        Command { words: &["reset"], about: &[] },
        Command { words: &["uninstall"], about: &[] },
    ],
    options: &["--profile", "--dev", "--no-plugins"],
    values: &[],
    variables: &["OPENCLAW_STATE_DIR", "OPENCLAW_CONFIG_PATH", "OPENCLAW_HOME", "OPENCLAW_PROFILE"],
    tools: &[
        Tool { name: "gateway", action: "action", changes: &["config.apply"], about: &[] },
        Tool {
            name: "gateway",
            action: "action",
            changes: &["config.patch", "config.set", "config.unset"],
            about: PLUGINS,
        },
        Tool { name: "config", action: "action", changes: &["patch", "set", "unset", "apply"], about: PLUGINS },
        Tool { name: "plugins", action: "action", changes: &["disable", "uninstall", "remove"], about: &[] },
    ],
};
