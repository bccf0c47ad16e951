//! Presets: policies as data, to be extended.

/// Every preset's name.
pub const NAMES: [&str; 5] = ["read-only", "developer", "ci", "locked-down", "full"];

/// The text of a preset.
#[must_use]
pub fn text(name: &str) -> Option<&'static str> {
    Some(match name {
        "read-only" => include_str!("read-only.toml"),
        "developer" => include_str!("developer.toml"),
        "ci" => include_str!("ci.toml"),
        "locked-down" => include_str!("locked-down.toml"),
        "full" => include_str!("full.toml"),
        _ => return None,
    })
}
