//! Tool names as other systems compare them.

use sayso_policy::ToolName;

/// The name as the agent wrote it, trimmed and lower case: what a list of names means by it.
pub(crate) fn written(tool: &ToolName) -> String {
    tool.raw.trim().to_lowercase()
}

/// Whether a list that permits names this very tool. Look-alikes are another tool.
pub(crate) fn is(tool: &ToolName, name: &str) -> bool {
    let raw = if tool.raw.is_empty() { tool.canonical.clone() } else { written(tool) };
    !tool.disguised && raw == name.trim().to_lowercase()
}

/// Whether a list that restricts means this tool: by its name, an alias of it, or what it is made to look like.
pub(crate) fn means(tool: &ToolName, name: &str) -> bool {
    let names = sayso_policy::normalise::pattern_names(name);
    is(tool, name)
        || names.iter().any(|name| *name == tool.canonical || tool.readings.contains(name))
        || (tool.disguised && tool.restricts(|text| names.iter().any(|name| name == text)))
}
