//! Hooks in a JSON file, edited as text. Four agents have such files, in two shapes.

use super::command::{self, Ours};
use super::json_text::{self, Comments, Node, NodeKind};
use super::part::{Left, Part};
use crate::Agent;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// How the handlers of an event stand in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `"Event": [{"matcher": "*", "hooks": [handler]}]`
    Groups,
    /// `"event": [handler]`
    Flat,
}

/// One event with the handler that answers it.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) event: &'static str,
    pub(crate) handler: Value,
}

/// A file with hooks of Sayso's.
pub(crate) struct HooksFile {
    pub(crate) agent: Agent,
    pub(crate) path: PathBuf,
    pub(crate) shape: Shape,
    pub(crate) comments: Comments,
    /// A member that the file must have beside its hooks.
    pub(crate) version: Option<u32>,
    /// A switch that must be on in this file, so that none of lower rank can turn it off: section and key.
    pub(crate) switch: Option<(&'static str, &'static str)>,
    pub(crate) entries: Vec<Entry>,
}

impl Part for HooksFile {
    fn path(&self) -> &Path {
        &self.path
    }

    /// The settings with Sayso registered for each of its events. A text that has it already stays as it is.
    fn register(&self, before: Option<&str>) -> Result<String, String> {
        let mut text = match before {
            Some(text) if !text.trim().is_empty() => text.to_owned(),
            _ => "{}\n".to_owned(),
        };
        if let Some(version) = self.version {
            let root = self.root(&text)?;
            if root.member("version")?.is_none() {
                text = json_text::push(&text, &root, Some("version"), &json!(version));
            }
        }
        if let Some((section, key)) = self.switch {
            text = self.switched_on(&text, section, key)?;
        }
        for entry in &self.entries {
            text = self.ensure(&text, entry.event, &self.wrapped(entry))?;
        }
        Ok(text)
    }

    fn unregister(&self, text: &str) -> Result<Left, String> {
        if text.trim().is_empty() {
            return Ok(Left::AsIs);
        }
        let mut now = text.to_owned();
        for event in self.events(text)? {
            let before = now.clone();
            while let Some((place, handler)) = self.find(&now, &event)? {
                now = self.take_out(&now, &event, place, handler)?;
            }
            // What was empty before Sayso came is somebody else's, and stays.
            if now != before {
                now = json_text::drop_empty(&now, &["hooks", &event], self.comments)?;
            }
        }
        if now == text {
            return Ok(Left::AsIs);
        }
        json_text::drop_empty(&now, &["hooks"], self.comments).map(Left::Text)
    }
}

/// A handler of Sayso's in a file, with its place: event, which entry, which handler in that.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub(crate) event: String,
    pub(crate) entry: usize,
    pub(crate) handler: usize,
    pub(crate) matcher: Option<Value>,
    pub(crate) value: Value,
}

impl HooksFile {
    /// The first handler of Sayso's in a text.
    pub(crate) fn registered(&self, text: &str) -> Option<Ours> {
        let placed = self.placed(text).ok()?;
        placed.first().and_then(|placed| command::ours(&placed.value, self.agent))
    }

    /// Every handler of Sayso's in a text.
    pub(crate) fn placed(&self, text: &str) -> Result<Vec<Placed>, String> {
        let mut all = Vec::new();
        let root = self.root(text)?;
        let Some(hooks) = root.member("hooks")? else { return Ok(all) };
        let NodeKind::Object(events) = &hooks.value.kind else { return Ok(all) };
        for event in events {
            for (entry, node) in event.value.items().iter().enumerate() {
                let value = node.value(text);
                let handlers = match self.shape {
                    Shape::Flat => vec![value.clone()],
                    Shape::Groups => value.get("hooks").and_then(Value::as_array).cloned().unwrap_or_default(),
                };
                for (handler, value_of) in handlers.into_iter().enumerate() {
                    if command::ours(&value_of, self.agent).is_some() {
                        let matcher = value.get("matcher").cloned();
                        all.push(Placed { event: event.key.clone(), entry, handler, matcher, value: value_of });
                    }
                }
            }
        }
        Ok(all)
    }

    /// The events of a text; what is odd about it is an error.
    fn events(&self, text: &str) -> Result<Vec<String>, String> {
        let root = self.root(text)?;
        let Some(hooks) = root.member("hooks")? else { return Ok(Vec::new()) };
        match &hooks.value.kind {
            NodeKind::Object(members) => Ok(members.iter().map(|member| member.key.clone()).collect()),
            _ => Ok(Vec::new()),
        }
    }

    fn root(&self, text: &str) -> Result<Node, String> {
        let root = json_text::parse(text, self.comments)?;
        match root.kind {
            NodeKind::Object(_) => Ok(root),
            _ => Err("the settings are not an object".to_owned()),
        }
    }

    /// The text with a switch on. Somebody who turned it off meant it.
    fn switched_on(&self, text: &str, section: &str, key: &str) -> Result<String, String> {
        let off = json_text::value(text).and_then(|settings| settings.get(section)?.get(key).cloned());
        if off == Some(json!(false)) {
            return Err(format!("its `{section}.{key}` is off, so hooks are switched off for the whole machine"));
        }
        json_text::set(text, &[section, key], &json!(true), self.comments)
    }

    fn wrapped(&self, entry: &Entry) -> Value {
        match self.shape {
            Shape::Groups => json!({"matcher": "*", "hooks": [entry.handler]}),
            Shape::Flat => entry.handler.clone(),
        }
    }

    /// The text with exactly this entry of Sayso's for an event.
    fn ensure(&self, text: &str, event: &str, entry: &Value) -> Result<String, String> {
        let root = self.root(text)?;
        let Some(hooks) = root.member("hooks")? else {
            return Ok(json_text::push(text, &root, Some("hooks"), &json!({event: [entry]})));
        };
        if !matches!(hooks.value.kind, NodeKind::Object(_)) {
            return Err("its `hooks` are not an object".to_owned());
        }
        let Some(entries) = hooks.value.member(event)? else {
            return Ok(json_text::push(text, &hooks.value, Some(event), &json!([entry])));
        };
        if !matches!(entries.value.kind, NodeKind::Array(_)) {
            return Err(format!("its `hooks.{event}` is not an array"));
        }
        let ours: Vec<Placed> = self.placed(text)?.into_iter().filter(|placed| placed.event == event).collect();
        let [only] = ours.as_slice() else {
            let Some(first) = ours.first() else { return Ok(json_text::push(text, &entries.value, None, entry)) };
            // More than one is one too many: each would be asked.
            let fewer = self.take_out(text, event, first.entry, first.handler)?;
            return self.ensure(&fewer, event, entry);
        };
        let Some(found) = entries.value.items().get(only.entry) else { return Ok(text.to_owned()) };
        let value = found.value(text);
        if value == *entry {
            return Ok(text.to_owned());
        }
        let handlers = value.get("hooks").and_then(Value::as_array).map_or(1, Vec::len);
        if self.shape == Shape::Flat || handlers == 1 {
            return Ok(json_text::replace(text, found, entry));
        }
        self.ensure(&self.take_out(text, event, only.entry, only.handler)?, event, entry)
    }

    /// The first handler of Sayso's for an event.
    fn find(&self, text: &str, event: &str) -> Result<Option<(usize, usize)>, String> {
        let first = self.placed(text)?.into_iter().find(|placed| placed.event == event);
        Ok(first.map(|placed| (placed.entry, placed.handler)))
    }

    /// The text without one handler, and without its group if that has no other.
    fn take_out(&self, text: &str, event: &str, place: usize, handler: usize) -> Result<String, String> {
        let root = self.root(text)?;
        let entries = root.member("hooks")?.map(|hooks| hooks.value.member(event)).transpose()?.flatten();
        let Some(entries) = entries else { return Ok(text.to_owned()) };
        let Some(entry) = entries.value.items().get(place) else { return Ok(text.to_owned()) };
        match entry.member("hooks")? {
            Some(handlers) if self.shape == Shape::Groups && handlers.value.items().len() > 1 => {
                Ok(json_text::remove(text, &handlers.value, handler))
            }
            _ => Ok(json_text::remove(text, &entries.value, place)),
        }
    }
}
