//! A foreign file as a tree of which every value knows its key, so that what is wrong with it can be shown.

mod comments;
mod place;

use crate::Error;
use sayso_policy::Source;
use serde_json::{Map, Value};
use std::fmt::Write as _;
use std::sync::Arc;

/// No file is longer than this: the same bound as for Sayso's own.
const MAX_BYTES: usize = sayso_policy::text::MAX_BYTES;

/// A file that was read.
#[derive(Debug)]
pub(crate) struct Document {
    name: Arc<str>,
    text: String,
    value: Value,
}

/// One step from a value to one inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Key(String),
    Index(usize),
}

/// A string and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    pub value: String,
    pub source: Source,
}

/// A value and how it was reached.
#[derive(Clone, Debug)]
pub(crate) struct Node<'d> {
    document: &'d Document,
    path: Vec<Step>,
    pub value: &'d Value,
}

impl Document {
    /// Reads JSON, YAML or TOML, whichever it is.
    pub(crate) fn read(name: &str, text: &str) -> Result<Self, Error> {
        let at = |line: usize, message: String| Error { file: name.to_owned(), line, key: String::new(), message };
        if text.len() > MAX_BYTES {
            return Err(at(1, format!("the file is longer than {MAX_BYTES} bytes")));
        }
        let json = [".json", ".jsonc", ".json5"].iter().any(|end| name.ends_with(end));
        let begins = text.trim_start();
        let plain;
        let text = if json || begins.starts_with(['{', '/']) {
            plain = comments::without(text);
            plain.as_str()
        } else {
            text
        };
        let value = if json || text.trim_start().starts_with('{') {
            serde_json::from_str(text).map_err(|error| at(error.line(), format!("not JSON: {error}")))?
        } else if name.ends_with(".toml") || looks_like_toml(text) {
            let table: toml::Table = toml::from_str(text).map_err(|error| {
                let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
                at(before.lines().count().max(1), format!("not TOML: {}", error.message()))
            })?;
            serde_json::to_value(table).map_err(|error| at(1, error.to_string()))?
        } else {
            serde_yaml_ng::from_str(text).map_err(|error| {
                let line = error.location().map_or(1, |place| place.line());
                at(line, format!("not YAML: {error}"))
            })?
        };
        let value = if value == Value::Null { Value::Object(Map::new()) } else { value };
        Ok(Self { name: Arc::from(name), text: text.to_owned(), value })
    }

    pub(crate) fn root(&self) -> Node<'_> {
        Node { document: self, path: Vec::new(), value: &self.value }
    }
}

/// YAML begins a line with `key:`, TOML with `[table]` or `key =`.
fn looks_like_toml(text: &str) -> bool {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    first.is_some_and(|line| {
        let assigns = line.split_once('=').is_some_and(|(key, _)| !key.contains(':'));
        (line.starts_with('[') && line.ends_with(']')) || assigns
    })
}

impl<'d> Node<'d> {
    /// The value under a key; `null` is none.
    pub(crate) fn get(&self, key: &str) -> Result<Option<Node<'d>>, Error> {
        Ok(self
            .object()?
            .get(key)
            .filter(|value| !value.is_null())
            .map(|value| self.step(Step::Key(key.to_owned()), value)))
    }

    /// Every entry of an object, in order.
    pub(crate) fn entries(&self) -> Result<Vec<(&'d str, Node<'d>)>, Error> {
        let object = self.object()?;
        Ok(object.iter().map(|(key, value)| (key.as_str(), self.step(Step::Key(key.clone()), value))).collect())
    }

    /// Every entry of an object, in the order of the text.
    pub(crate) fn entries_as_written(&self) -> Result<Vec<(&'d str, Node<'d>)>, Error> {
        let mut entries = self.entries()?;
        entries.sort_by_key(|(_, node)| {
            let source = node.source();
            (source.line, source.column)
        });
        Ok(entries)
    }

    /// Every item of a list.
    pub(crate) fn items(&self) -> Result<Vec<Node<'d>>, Error> {
        let Value::Array(items) = self.value else { return Err(self.wrong("expected a list")) };
        Ok(items.iter().enumerate().map(|(at, value)| self.step(Step::Index(at), value)).collect())
    }

    /// A list of strings, or one alone.
    pub(crate) fn texts(&self) -> Result<Vec<Text>, Error> {
        if self.value.is_string() {
            return Ok(vec![self.text()?]);
        }
        self.items()?.iter().map(Node::text).collect()
    }

    /// The list of strings under a key; none if it is not there.
    pub(crate) fn texts_at(&self, key: &str) -> Result<Option<Vec<Text>>, Error> {
        self.get(key)?.map(|node| node.texts()).transpose()
    }

    pub(crate) fn text(&self) -> Result<Text, Error> {
        match self.value {
            Value::String(text) => Ok(Text { value: text.clone(), source: self.source() }),
            _ => Err(self.wrong("expected a string")),
        }
    }

    pub(crate) fn flag_at(&self, key: &str, default: bool) -> Result<bool, Error> {
        match self.get(key)? {
            None => Ok(default),
            Some(node) => node.value.as_bool().ok_or_else(|| node.wrong("expected true or false")),
        }
    }

    pub(crate) fn number_at(&self, key: &str) -> Result<Option<u64>, Error> {
        let Some(node) = self.get(key)? else { return Ok(None) };
        node.value.as_u64().map(Some).ok_or_else(|| node.wrong("expected a non-negative whole number"))
    }

    /// One of these words.
    pub(crate) fn word_at<T: Copy>(&self, key: &str, words: &[(&str, T)]) -> Result<Option<T>, Error> {
        let Some(node) = self.get(key)? else { return Ok(None) };
        let text = node.text()?.value;
        let found = words.iter().find(|(word, _)| *word == text.trim()).map(|(_, value)| *value);
        let known = || words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
        found.map(Some).ok_or_else(|| node.wrong(format!("`{text}` is not one of {}", known())))
    }

    /// Refuses keys that nobody knows: what is not understood might have been a restriction.
    pub(crate) fn only(&self, keys: &[&str]) -> Result<(), Error> {
        for (key, node) in self.entries()? {
            if !keys.contains(&key) {
                let near = sayso_policy::text::nearest(key, keys.iter().copied());
                let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                return Err(node.wrong(format!("unknown key{hint}")));
            }
        }
        Ok(())
    }

    /// Refuses keys that are a slip of the pen for one of these. Others are left alone: a whole configuration holds
    /// more than its rules.
    pub(crate) fn no_slips(&self, keys: &[&str]) -> Result<(), Error> {
        for (key, node) in self.entries()? {
            let near = sayso_policy::text::nearest(key, keys.iter().copied()).filter(|near| *near != key);
            if let Some(near) = near.filter(|_| !keys.contains(&key)) {
                return Err(node.wrong(format!("unknown key; did you mean `{near}`?")));
            }
        }
        Ok(())
    }

    pub(crate) fn object(&self) -> Result<&'d Map<String, Value>, Error> {
        self.value.as_object().ok_or_else(|| self.wrong("expected a table of keys"))
    }

    /// Something wrong with this value.
    pub(crate) fn wrong(&self, message: impl Into<String>) -> Error {
        let source = self.source();
        Error {
            file: source.file.to_string(),
            line: usize::try_from(source.line).unwrap_or(1),
            key: self.key(),
            message: message.into(),
        }
    }

    /// `tools.byProvider.openai.deny[0]`.
    pub(crate) fn key(&self) -> String {
        let mut out = String::new();
        for step in &self.path {
            match step {
                Step::Key(key) if out.is_empty() => out.push_str(key),
                Step::Key(key) => {
                    let _ = write!(out, ".{key}");
                }
                Step::Index(at) => {
                    let _ = write!(out, "[{at}]");
                }
            }
        }
        out
    }

    pub(crate) fn source(&self) -> Source {
        let (line, column) = place::of(&self.document.text, &self.path);
        Source { file: Arc::clone(&self.document.name), line, column }
    }

    fn step(&self, step: Step, value: &'d Value) -> Node<'d> {
        let mut path = self.path.clone();
        path.push(step);
        Node { document: self.document, path, value }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_knows_its_key_and_line_in_every_notation() {
        let json = "{\n \"a\": {\"deny\": [1]},\n \"deny\": [\n  \"x\",\n  \"y\"\n ]\n}";
        let yaml = "a:\n  deny: [1]\ndeny:\n  - x\n  - y\n";
        let toml = "deny = ['x', 'y']\n[a]\ndeny = [1]\n";
        for (name, text, line) in [("f.json", json, 5), ("f.yaml", yaml, 3), ("f.toml", toml, 1)] {
            let document = Document::read(name, text).unwrap();
            let deny = document.root().get("deny").unwrap().unwrap();
            let second = deny.items().unwrap().pop().unwrap();
            assert_eq!(second.text().unwrap().value, "y", "{name}");
            assert_eq!(second.key(), "deny[1]");
            assert_eq!(second.source().line, line, "{name}");
        }
    }

    #[test]
    fn what_cannot_be_read_says_where() {
        for (name, text, line) in
            [("f.json", "{\n\"a\": }", 2), ("f.toml", "a = 1\nb = = 2\n", 2), ("f.yaml", "a: [1\nb: 2\n", 2)]
        {
            assert_eq!(Document::read(name, text).unwrap_err().line, line, "{name}");
        }
    }
}
