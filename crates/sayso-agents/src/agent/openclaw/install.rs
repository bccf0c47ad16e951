//! OpenClaw's plugin: a package in a folder that OpenClaw looks into by itself, and its name in a list. Measured on
//! 2026.9.6.

use super::plugin_list::{self, PluginList};
use crate::Agent;
use crate::install::command::Ours;
use crate::install::part::{OwnFile, Part, read};
use crate::install::{Installer, Scope, Setting, json_text, plugin_file};
use serde_json::{Value, json};
use std::path::PathBuf;

/// In every file of the plugin.
const MARK: &str = "Written by `sayso install openclaw`";

/// OpenClaw's plugin.
pub(super) struct Plugin;

impl Installer for Plugin {
    fn parts(&self, setting: &Setting, _: bool) -> Result<Vec<Box<dyn Part>>, String> {
        let folder = match setting.scope {
            Scope::User => setting.folder_of(&super::ROW),
            Scope::Project => {
                return Err("OpenClaw runs no plugin of a workspace before it is enabled by hand".to_owned());
            }
            Scope::Managed => return Err("OpenClaw has no plugins for a whole machine".to_owned()),
        };
        let mut parts: Vec<Box<dyn Part>> = Vec::new();
        for (name, content) in package(setting)? {
            parts.push(Box::new(OwnFile { path: folder.join("extensions/sayso").join(name), content, mark: MARK }));
        }
        parts.push(Box::new(PluginList { path: list(setting) }));
        Ok(parts)
    }

    fn registered(&self, _: &Setting, text: &str) -> Option<Ours> {
        plugin_file::registered(text)
    }

    fn switched_off_elsewhere(&self, setting: &Setting) -> Vec<String> {
        let text = read(&list(setting)).ok().flatten();
        match text.as_deref().map_or(Some(Value::Null), json_text::value) {
            Some(settings) => plugin_list::switched_off(&settings),
            None => vec!["openclaw.json cannot be read; check with `openclaw plugins inspect sayso`.".to_owned()],
        }
    }

    fn advice(&self, _: &Setting) -> Option<&'static str> {
        Some("OpenClaw loads plugins when its gateway starts: restart the gateway.")
    }
}

fn list(setting: &Setting) -> PathBuf {
    setting.folder_of(&super::ROW).join("openclaw.json")
}

/// The plugin's files.
fn package(setting: &Setting) -> Result<[(&'static str, String); 3], String> {
    let described = format!("{MARK}: puts every tool call to Sayso before it runs.");
    let package = json!({
        "name": "sayso", "version": env!("CARGO_PKG_VERSION"), "private": true, "type": "module",
        "description": described, "openclaw": {"extensions": ["./index.js"]},
    });
    let manifest = json!({
        "id": "sayso", "name": "Sayso", "version": env!("CARGO_PKG_VERSION"), "description": described,
        "activation": {"onStartup": true},
        "configSchema": {"type": "object", "additionalProperties": false, "properties": {}},
    });
    let pretty = |value: &Value| format!("{value:#}\n");
    Ok([
        ("index.js", plugin_file::filled(MARK, include_str!("plugin.js"), Agent::OPENCLAW, setting)?),
        ("package.json", pretty(&package)),
        ("openclaw.plugin.json", pretty(&manifest)),
    ])
}
