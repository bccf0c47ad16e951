//! Cursor, by its documentation.

use super::Agent;

pub(super) const AGENT: Agent = Agent {
    title: "Cursor",
    programs: &["cursor-agent", "cursor"],
    packages: &[],
    places: &["/**/.cursor/hooks.json", "/etc/cursor/**"],
    home: &[(".cursor", &["hooks.json"])],
    commands: &[],
    options: &["--user-data-dir"],
    values: &[],
    variables: &["CURSOR_CONFIG_DIR", "CURSOR_DATA_DIR"],
    tools: &[],
};
