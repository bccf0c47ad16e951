//! Whether Codex asks although it tells of no mode.
//!
//! Its adapter offers a few modes and tells of none where the owner's settings fit none of them. Some such settings ask
//! about every command (`approval_policy = "untrusted"`), others about nothing, and nothing in the pipe says which. The
//! settings do: the owner's file, read as Codex reads it. What could overrule it makes it unknown.

use std::path::{Path, PathBuf};

/// The policy that asks about every command that Codex does not know to be harmless.
const ASKS: &str = "untrusted";
/// Keys that overrule the owner's.
const OVERRULES: [&str; 3] = ["approval_policy", "profile", "approvals_reviewer"];
/// More than settings need.
const LARGEST: u64 = 1024 * 1024;

/// Whether it asks in a session about `project`, by the settings below the home folder of its user.
pub(super) fn asks_by_settings(home: &Path, project: Option<&Path>) -> bool {
    let folder = std::env::var_os("CODEX_HOME").map_or_else(|| home.join(".codex"), PathBuf::from);
    asks(&folder, project)
}

fn asks(settings: &Path, project: Option<&Path>) -> bool {
    let Some(project) = project else { return false };
    let Some(own) = table(&settings.join("config.toml")) else { return false };
    let text = |key: &str| own.get(key).and_then(toml_edit::Item::as_str);
    let overruled = |path: PathBuf| match path.try_exists() {
        Ok(false) => false,
        _ => table(&path).is_none_or(|table| OVERRULES.iter().any(|key| table.contains_key(key))),
    };
    let mut others = project.ancestors().map(|folder| folder.join(".codex/config.toml"));
    let mut managed = ["config.toml", "managed_config.toml"].map(|name| Path::new("/etc/codex").join(name)).into_iter();
    text("approval_policy") == Some(ASKS)
        && !own.contains_key("profile")
        && !own.contains_key("approvals_reviewer")
        && !others.any(|path| path != settings.join("config.toml") && overruled(path))
        && !managed.any(overruled)
}

fn table(path: &Path) -> Option<toml_edit::DocumentMut> {
    let small = std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() <= LARGEST);
    small.then(|| std::fs::read_to_string(path).ok()?.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    #[test]
    fn only_settings_that_ask_about_everything_and_that_nothing_overrules_ask() {
        let dir = tempfile::tempdir().unwrap();
        let (settings, project) = (dir.path().join("home"), dir.path().join("project"));
        std::fs::create_dir_all(project.join(".codex")).unwrap();
        std::fs::create_dir(&settings).unwrap();
        let asks = |own: &str, projects: Option<&str>| {
            std::fs::write(settings.join("config.toml"), own).unwrap();
            let _ = std::fs::remove_file(project.join(".codex/config.toml"));
            if let Some(text) = projects {
                std::fs::write(project.join(".codex/config.toml"), text).unwrap();
            }
            super::asks(&settings, Some(&project))
        };
        let untrusted = "approval_policy = \"untrusted\"\nsandbox_mode = \"danger-full-access\"\n";
        assert!(asks(untrusted, None));
        assert!(asks(untrusted, Some("model = \"x\"\n")));
        assert!(!asks(untrusted, Some("approval_policy = \"never\"\n")));
        assert!(!asks(untrusted, Some("not toml")));
        assert!(!asks("approval_policy = \"never\"\n", None));
        assert!(!asks("approval_policy = \"on-request\"\nsandbox_mode = \"danger-full-access\"\n", None));
        assert!(!asks(&format!("profile = \"x\"\n{untrusted}"), None));
        assert!(!asks("", None) && !asks("approval_policy = [", None));
        assert!(!super::asks(&settings, None) && !super::asks(&dir.path().join("none"), Some(&project)));
    }
}
