//! OpenCode. Its options were read from `opencode --help` of 1.18.33: `--pure` loads no plugin; its variables and how its
//! settings name plugins, from its documentation of 1 and 2.

use super::{Agent, Command};

pub(super) const AGENT: Agent = Agent {
    title: "OpenCode",
    programs: &["opencode", "opencode-ai"],
    packages: &["opencode-ai"],
    places: &[
        "/**/.opencode/plugins/**",
        "~/.config/opencode/plugins/**",
        // Where plugins are listed, `-NAME` and `-*` switch them off.
        "/**/opencode.{json,jsonc}",
        "/**/.opencode/config.json",
        "~/.config/opencode/{config,cli}.json",
    ],
    home: &[(".config/opencode", &["plugins", "opencode.json", "opencode.jsonc"])],
    commands: &[
        Command { words: &["uninstall"], about: &[] },
        Command { words: &["plugin", "disable"], about: &["sayso"] },
        Command { words: &["plugin", "remove"], about: &["sayso"] },
        Command { words: &["plugin", "uninstall"], about: &["sayso"] },
    ],
    options: &["--pure"],
    values: &[],
    variables: &[
        "OPENCODE_PURE",
        "OPENCODE_TEST_HOME",
        "OPENCODE_CONFIG",
        "OPENCODE_CONFIG_DIR",
        "OPENCODE_CONFIG_CONTENT",
        "OPENCODE_DISABLE_PROJECT_CONFIG",
        "OPENCODE_DISABLE_PROJECT_DISCOVERY",
        "OPENCODE_DISABLE_EXTERNAL_PLUGINS",
    ],
    tools: &[],
};
