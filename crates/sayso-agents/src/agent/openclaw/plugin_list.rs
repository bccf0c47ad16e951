//! OpenClaw's own list of plugins. Measured on 2026.9.6: a plugin that is found but not named here is listed as enabled,
//! and its hooks are not run.

use crate::install::json_text::{self, Comments, NodeKind};
use crate::install::part::{Left, Part};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Sayso's plugin, by its name to OpenClaw.
const PLUGIN: &str = "sayso";

/// `openclaw.json` with Sayso's plugin switched on.
pub(super) struct PluginList {
    pub(super) path: PathBuf,
}

impl Part for PluginList {
    fn path(&self) -> &Path {
        &self.path
    }

    fn register(&self, before: Option<&str>) -> Result<String, String> {
        let text = before.filter(|text| !text.trim().is_empty()).unwrap_or("{}\n");
        if json_text::value(text).is_none() {
            return Err(
                "it is not plain JSON with comments. Run `openclaw plugins enable sayso` afterwards, or convert it"
                    .to_owned(),
            );
        }
        let text = json_text::set(text, &["plugins", "entries", PLUGIN, "enabled"], &json!(true), Comments::Kept)?;
        // A list of what may load at all has to name it.
        let root = json_text::parse(&text, Comments::Kept)?;
        let allow = root.member("plugins")?.map(|plugins| plugins.value.member("allow")).transpose()?.flatten();
        match allow {
            Some(allow) if !matches!(allow.value.kind, NodeKind::Array(_)) => {
                Err("its `plugins.allow` is not a list".to_owned())
            }
            Some(allow) if !allow.value.items().iter().any(|item| item.value(&text) == json!(PLUGIN)) => {
                Ok(json_text::push(&text, &allow.value, None, &json!(PLUGIN)))
            }
            _ => Ok(text),
        }
    }

    fn unregister(&self, text: &str) -> Result<Left, String> {
        let mut now = text.to_owned();
        let root = json_text::parse(text, Comments::Kept)?;
        let Some(plugins) = root.member("plugins")? else { return Ok(Left::AsIs) };
        if let Some(allow) = plugins.value.member("allow")? {
            let place = allow.value.items().iter().position(|item| item.value(text) == json!(PLUGIN));
            if let Some(place) = place {
                now = json_text::remove(text, &allow.value, place);
            }
        }
        let root = json_text::parse(&now, Comments::Kept)?;
        let entries = root.member("plugins")?.map(|plugins| plugins.value.member("entries")).transpose()?.flatten();
        if let Some(entries) = entries
            && let NodeKind::Object(members) = &entries.value.kind
            && let Some(place) = members.iter().position(|member| member.key == PLUGIN)
        {
            now = json_text::remove(&now, &entries.value, place);
            now = json_text::drop_empty(&now, &["plugins", "entries"], Comments::Kept)?;
            now = json_text::drop_empty(&now, &["plugins"], Comments::Kept)?;
        }
        Ok(if now == text { Left::AsIs } else { Left::Text(now) })
    }
}

/// What in `openclaw.json` keeps the plugin from being asked.
pub(super) fn switched_off(settings: &Value) -> Vec<String> {
    let mut why = Vec::new();
    let plugins = settings.get("plugins").cloned().unwrap_or_default();
    let named = |key: &str| plugins.get(key).and_then(Value::as_array).map(|list| list.iter().any(|it| it == PLUGIN));
    if plugins.get("enabled") == Some(&json!(false)) {
        why.push("`plugins.enabled` is false in openclaw.json, so no plugin is loaded.".to_owned());
    }
    if named("deny") == Some(true) {
        why.push("`plugins.deny` in openclaw.json lists sayso.".to_owned());
    }
    if named("allow") == Some(false) {
        why.push("`plugins.allow` in openclaw.json does not list sayso. Run: sayso install openclaw".to_owned());
    }
    if plugins.pointer("/entries/sayso/enabled") != Some(&json!(true)) {
        why.push(
            "`plugins.entries.sayso.enabled` is not true in openclaw.json. Run: sayso install openclaw".to_owned(),
        );
    }
    why
}
