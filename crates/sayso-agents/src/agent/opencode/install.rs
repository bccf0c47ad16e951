//! OpenCode's plugin: a file in a folder that OpenCode looks into by itself. Measured on 1.18.33.

use crate::Agent;
use crate::install::command::Ours;
use crate::install::part::{OwnFile, Part};
use crate::install::{Installer, Scope, Setting, plugin_file};

/// In the plugin.
pub(super) const MARK: &str = "Written by `sayso install opencode`";

/// OpenCode's plugin.
pub(super) struct Plugin;

impl Installer for Plugin {
    fn parts(&self, setting: &Setting, _: bool) -> Result<Vec<Box<dyn Part>>, String> {
        let path = match setting.scope {
            Scope::User => setting.folder_of(&super::ROW).join("plugins/sayso.js"),
            Scope::Project => setting.project.join(".opencode/plugins/sayso.js"),
            Scope::Managed => return Err("OpenCode has no machine-wide plugins".to_owned()),
        };
        let content = plugin_file::filled(MARK, include_str!("plugin.js"), Agent::OPENCODE, setting)?;
        Ok(vec![Box::new(OwnFile { path, content, mark: MARK })])
    }

    fn registered(&self, _: &Setting, text: &str) -> Option<Ours> {
        plugin_file::registered(text)
    }
}
