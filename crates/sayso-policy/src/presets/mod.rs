//! Presets: policies as data, to be extended.

/// Every preset's name.
pub const NAMES: [&str; 8] =
    ["read-only", "developer", "ci", "locked-down", "full", "reviewer", "researcher", "deployer"];

/// Those for a kind of agent, as `[for]` and `sayso init --for` use them.
pub const ROLES: [&str; 3] = ["reviewer", "researcher", "deployer"];

/// The text of a preset.
#[must_use]
pub fn text(name: &str) -> Option<&'static str> {
    Some(match name {
        "read-only" => include_str!("read-only.toml"),
        "developer" => include_str!("developer.toml"),
        "ci" => include_str!("ci.toml"),
        "locked-down" => include_str!("locked-down.toml"),
        "full" => include_str!("full.toml"),
        "reviewer" => include_str!("reviewer.toml"),
        "researcher" => include_str!("researcher.toml"),
        "deployer" => include_str!("deployer.toml"),
        _ => return None,
    })
}
