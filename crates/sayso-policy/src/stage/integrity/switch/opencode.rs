//! OpenCode. Its options were read from `opencode --help` of 1.18.33: `--pure` loads no plugin.

use super::{Agent, Command};

pub(super) const AGENT: Agent = Agent {
    title: "OpenCode",
    programs: &["opencode", "opencode-ai"],
    packages: &["opencode-ai"],
    places: &["/**/.opencode/plugins/**", "~/.config/opencode/plugins/**"],
    home: &[(".config/opencode", &["plugins"])],
    commands: &[Command { words: &["uninstall"], about: &[] }],
    options: &["--pure"],
    values: &[],
    variables: &["OPENCODE_PURE", "OPENCODE_TEST_HOME"],
    tools: &[],
};
