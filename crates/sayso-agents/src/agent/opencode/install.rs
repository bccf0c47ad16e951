//! OpenCode's plugin: a file in a folder that OpenCode looks into by itself. Measured on 1.18.33.

use crate::Agent;
use crate::install::command::Ours;
use crate::install::part::{OwnFile, Part, read};
use crate::install::{Installer, Scope, Setting, json_text, plugin_file};

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

    fn switched_off_elsewhere(&self, setting: &Setting) -> Vec<String> {
        let user = setting.folder_of(&super::ROW);
        let folders = [user, setting.project.clone(), setting.project.join(".opencode")];
        let files = folders.iter().flat_map(|folder| SETTINGS.iter().map(|name| folder.join(name)));
        let off = files.filter(|path| read(path).ok().flatten().is_some_and(|text| leaves_out(&text)));
        off.map(|path| format!("Its list of plugins in {} switches Sayso off.", path.display())).collect()
    }
}

/// The names of OpenCode's settings.
const SETTINGS: &[&str] = &["opencode.json", "opencode.jsonc", "config.json"];

/// Whether settings have OpenCode 2 leave Sayso out: in its lists of plugins, `-NAME` and `-*` do.
fn leaves_out(text: &str) -> bool {
    let Some(settings) = json_text::value(text) else { return false };
    let lists = ["plugin", "plugins"].iter().filter_map(|key| settings.get(*key)?.as_array());
    let left_out = |name: &str| match name.split_once('*') {
        Some((begin, _)) => "sayso".starts_with(begin),
        None => name == "sayso",
    };
    lists.flatten().filter_map(|entry| entry.as_str()?.strip_prefix('-')).any(left_out)
}
