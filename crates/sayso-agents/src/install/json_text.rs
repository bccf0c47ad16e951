//! JSON edited as text: what is not changed keeps its order, its spacing and its spelling.

use serde::Serialize;
use serde_json::Value;
use std::ops::Range;

/// A value with its place in the text.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) span: Range<usize>,
    pub(super) kind: Kind,
}

#[derive(Debug)]
pub(super) enum Kind {
    Object(Vec<Member>),
    Array(Vec<Node>),
    Other,
}

#[derive(Debug)]
pub(super) struct Member {
    pub(super) key: String,
    pub(super) start: usize,
    pub(super) value: Node,
}

/// Reads a text that must be plain JSON.
pub(super) fn parse(text: &str) -> Result<Node, String> {
    if let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(text) {
        return Err(format!(
            "it is not plain JSON ({error}). Comments and trailing commas cannot be kept: take them out, or register Sayso by hand"
        ));
    }
    let mut reader = Reader { text, at: 0 };
    reader.value(0).ok_or_else(|| "it is nested too deeply".to_owned())
}

impl Node {
    /// The member of this name; two of one name cannot be told apart by a reader.
    pub(super) fn member(&self, key: &str) -> Result<Option<&Member>, String> {
        let Kind::Object(members) = &self.kind else { return Ok(None) };
        let mut found = members.iter().filter(|member| member.key == key);
        match (found.next(), found.next()) {
            (_, Some(_)) => Err(format!("it has two members named {key:?}")),
            (first, None) => Ok(first),
        }
    }

    pub(super) fn items(&self) -> &[Node] {
        match &self.kind {
            Kind::Array(items) => items,
            _ => &[],
        }
    }

    pub(super) fn value(&self, text: &str) -> Value {
        text.get(self.span.clone()).and_then(|part| serde_json::from_str(part).ok()).unwrap_or_default()
    }

    /// Where each child begins and ends.
    fn children(&self) -> Vec<Range<usize>> {
        match &self.kind {
            Kind::Object(members) => members.iter().map(|m| m.start..m.value.span.end).collect(),
            Kind::Array(items) => items.iter().map(|item| item.span.clone()).collect(),
            Kind::Other => Vec::new(),
        }
    }
}

/// The text with a new last child in an array (`key` is `None`) or object.
pub(super) fn push(text: &str, parent: &Node, key: Option<&str>, value: &Value) -> String {
    let style = Style::of(text);
    let children = parent.children();
    let inside = text.get(parent.span.clone()).unwrap_or_default();
    let closing = parent.span.end.saturating_sub(1);
    let own_lines = children.first().is_none_or(|first| starts_line(text, first.start));
    let head = key.map(|key| format!("{}: ", Value::from(key))).unwrap_or_default();
    let Some(last) = children.last() else {
        // Empty: opened over several lines. The bracket closes below where its line began.
        let outer = indent_at(text, parent.span.start);
        let inner = format!("{outer}{}", style.unit);
        let body = format!("{head}{}", style.render(value, &inner));
        let filled = format!("{nl}{inner}{body}{nl}{outer}", nl = style.newline);
        return splice(text, parent.span.start + 1..closing, &filled);
    };
    if own_lines && inside.contains('\n') {
        let inner = indent_at(text, last.start);
        let body = format!("{head}{}", style.render(value, &inner));
        return splice(text, last.end..last.end, &format!(",{}{inner}{body}", style.newline));
    }
    let comma = if inside.contains(": ") || inside.contains(", ") { ", " } else { "," };
    splice(text, last.end..last.end, &format!("{comma}{head}{value}"))
}

/// The text with another value in a node's place.
pub(super) fn replace(text: &str, node: &Node, value: &Value) -> String {
    let style = Style::of(text);
    let inside = text.get(node.span.clone()).unwrap_or_default();
    let body = match inside.contains('\n') || starts_line(text, node.span.start) {
        true => style.render(value, &indent_at(text, node.span.start)),
        false => value.to_string(),
    };
    splice(text, node.span.clone(), &body)
}

/// The text without one child of a node, its comma and its line gone with it.
pub(super) fn remove(text: &str, parent: &Node, index: usize) -> String {
    let children = parent.children();
    let Some(child) = children.get(index) else { return text.to_owned() };
    let before = index.checked_sub(1).and_then(|i| children.get(i));
    let range = match (before, children.get(index + 1)) {
        (Some(before), _) => before.end..child.end,
        (None, Some(after)) => child.start..after.start,
        (None, None) => parent.span.start + 1..parent.span.end.saturating_sub(1),
    };
    splice(text, range, "")
}

fn splice(text: &str, range: Range<usize>, with: &str) -> String {
    let head = text.get(..range.start).unwrap_or_default();
    let tail = text.get(range.end..).unwrap_or_default();
    format!("{head}{with}{tail}")
}

/// White space at the beginning of the line on which `at` stands.
fn indent_at(text: &str, at: usize) -> String {
    let line = text.get(..at).unwrap_or_default().rsplit('\n').next().unwrap_or_default();
    line.chars().take_while(|c| matches!(c, ' ' | '\t')).collect()
}

fn starts_line(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    before.trim_end_matches([' ', '\t']).ends_with('\n')
}

/// How a file is written.
struct Style {
    unit: String,
    newline: &'static str,
}

impl Style {
    fn of(text: &str) -> Self {
        let indented = text.lines().find(|line| line.starts_with([' ', '\t']) && !line.trim().is_empty());
        let unit = indented.map(|line| line.chars().take_while(|c| matches!(c, ' ' | '\t')).collect::<String>());
        Self {
            unit: unit.unwrap_or_else(|| "  ".to_owned()),
            newline: if text.contains("\r\n") { "\r\n" } else { "\n" },
        }
    }

    /// A value over several lines, for a place with this indent.
    fn render(&self, value: &Value, indent: &str) -> String {
        let mut out = Vec::new();
        let formatter = serde_json::ser::PrettyFormatter::with_indent(self.unit.as_bytes());
        let mut serializer = serde_json::Serializer::with_formatter(&mut out, formatter);
        // Writing a value into memory cannot fail.
        let _ = value.serialize(&mut serializer);
        String::from_utf8_lossy(&out).replace('\n', &format!("{}{indent}", self.newline))
    }
}

/// Finds places in a text that is known to be JSON.
struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn value(&mut self, depth: usize) -> Option<Node> {
        // serde_json has refused deeper ones before.
        if depth > 128 {
            return None;
        }
        self.skip_space();
        let start = self.at;
        let kind = match self.peek()? {
            b'{' => Kind::Object(self.members(depth)?),
            b'[' => Kind::Array(self.elements(depth)?),
            b'"' => {
                self.string()?;
                Kind::Other
            }
            _ => {
                while self.peek().is_some_and(|b| !matches!(b, b',' | b']' | b'}' | b' ' | b'\n' | b'\r' | b'\t')) {
                    self.at += 1;
                }
                Kind::Other
            }
        };
        Some(Node { span: start..self.at, kind })
    }

    fn members(&mut self, depth: usize) -> Option<Vec<Member>> {
        let mut members = Vec::new();
        self.at += 1;
        loop {
            self.skip_space();
            match self.peek()? {
                b'}' => {
                    self.at += 1;
                    return Some(members);
                }
                b',' => self.at += 1,
                _ => {
                    let start = self.at;
                    let key = self.string()?;
                    self.skip_space();
                    self.at += 1; // the colon
                    members.push(Member { key, start, value: self.value(depth + 1)? });
                }
            }
        }
    }

    fn elements(&mut self, depth: usize) -> Option<Vec<Node>> {
        let mut items = Vec::new();
        self.at += 1;
        loop {
            self.skip_space();
            match self.peek()? {
                b']' => {
                    self.at += 1;
                    return Some(items);
                }
                b',' => self.at += 1,
                _ => items.push(self.value(depth + 1)?),
            }
        }
    }

    fn string(&mut self) -> Option<String> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek()? {
                b'\\' => self.at += 2,
                b'"' => {
                    self.at += 1;
                    return serde_json::from_str(self.text.get(start..self.at)?).ok();
                }
                _ => self.at += 1,
            }
        }
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(|b| matches!(b, b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_place_is_found_whatever_the_text() {
        let text = "{ \"a\\\"}\" : [1, {\"b\":null} ,\"]\"],\n\t\"c\":-1.5e3 }";
        let root = parse(text).unwrap();
        let a = root.member("a\"}").unwrap().unwrap();
        assert_eq!(a.value.value(text), json!([1, {"b": null}, "]"]));
        assert_eq!(a.value.items().len(), 3);
        assert_eq!(root.member("c").unwrap().unwrap().value.value(text), json!(-1500.0));
        assert!(parse("{} // x").is_err() && parse("{\"a\":1,}").is_err() && parse("").is_err());
        assert!(parse("{\"a\":1,\"a\":2}").unwrap().member("a").is_err());
    }

    #[test]
    fn a_new_child_is_written_like_its_siblings() {
        for (text, wanted) in [
            ("{}", "{\n  \"k\": [\n    1\n  ]\n}"),
            ("{\"a\":1}", "{\"a\":1,\"k\":[1]}"),
            ("{\"a\": 1}\n", "{\"a\": 1, \"k\": [1]}\n"),
            ("{\n\t\"a\": 1\n}\n", "{\n\t\"a\": 1,\n\t\"k\": [\n\t\t1\n\t]\n}\n"),
            ("{\r\n    \"a\": 1\r\n}", "{\r\n    \"a\": 1,\r\n    \"k\": [\r\n        1\r\n    ]\r\n}"),
        ] {
            let after = push(text, &parse(text).unwrap(), Some("k"), &json!([1]));
            // In one line a new member is compact.
            assert_eq!(after.replace("\"k\": [1]", "\"k\":[1]"), wanted.replace("\"k\": [1]", "\"k\":[1]"));
            let root = parse(&after).unwrap();
            assert_eq!(root.member("k").unwrap().unwrap().value.value(&after), json!([1]));
        }
    }

    #[test]
    fn what_was_added_can_be_taken_out_again() {
        for text in ["{\"a\": 1}", "{\n  \"a\": 1\n}\n", "{ \"a\" : [ ] }"] {
            let after = push(text, &parse(text).unwrap(), Some("k"), &json!({"x": [1, 2]}));
            assert_eq!(remove(&after, &parse(&after).unwrap(), 1), text);
        }
        let text = "[1, 2, 3]";
        assert_eq!(remove(text, &parse(text).unwrap(), 0), "[2, 3]");
        assert_eq!(remove(text, &parse(text).unwrap(), 2), "[1, 2]");
        assert_eq!(remove("[ 1 ]", &parse("[ 1 ]").unwrap(), 0), "[]");
    }
}
