//! Zed, which starts agents behind `sayso acp`. Its settings are protected where `install zed` has changed them.

use super::Agent;

pub(super) const AGENT: Agent = Agent {
    title: "Zed",
    programs: &["zed", "zeditor", "zedit"],
    packages: &[],
    places: &[],
    home: &[],
    commands: &[],
    options: &["--user-data-dir"],
    values: &[],
    variables: &[],
    tools: &[],
};
