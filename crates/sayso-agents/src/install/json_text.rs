//! JSON edited as text: what is not changed keeps its order, its spacing and its spelling.

use serde::Serialize;
use serde_json::Value;
use std::ops::Range;

/// A value with its place in the text.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) span: Range<usize>,
    pub(crate) kind: NodeKind,
}

#[derive(Debug)]
pub(crate) enum NodeKind {
    Object(Vec<Member>),
    Array(Vec<Node>),
    Other,
}

#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) key: String,
    pub(crate) start: usize,
    pub(crate) value: Node,
}

/// Whether the agent's own reader takes comments. Where it does not, a file with comments is one that the agent ignores
/// whole: to edit it would look like a guard and be none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comments {
    /// `//` and `/* */` are read over, and kept.
    Kept,
    /// The same, and a comma may stand behind the last child.
    Loose,
    /// They are errors.
    Refused,
}

/// Reads a text that must be JSON.
pub(crate) fn parse(text: &str, comments: Comments) -> Result<Node, String> {
    let blanked;
    let plain = match comments {
        Comments::Kept => {
            blanked = blank(text);
            blanked.as_str()
        }
        Comments::Loose => {
            blanked = without_last_commas(&blank(text));
            blanked.as_str()
        }
        Comments::Refused => text,
    };
    if let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(plain) {
        let advice = match comments {
            Comments::Kept | Comments::Loose => "Fix it first, or register Sayso by hand",
            Comments::Refused => {
                "The agent itself cannot read it either; fix it first. It allows no comments and no trailing commas"
            }
        };
        return Err(format!("it is not plain JSON ({error}). {advice}"));
    }
    let mut reader = Reader { text: plain, at: 0 };
    reader.value(0).ok_or_else(|| "it is nested too deeply".to_owned())
}

/// A text's value, comments or not.
pub(crate) fn value(text: &str) -> Option<Value> {
    serde_json::from_str(&without_last_commas(&blank(text))).ok()
}

/// A text without comments, with commas behind last children turned to spaces.
fn without_last_commas(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if first == '"' { string_length(rest) } else { first.len_utf8() };
        let (part, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        let last = first == ',' && after.trim_start().starts_with(['}', ']']);
        out.push_str(if last { " " } else { part });
        rest = after;
    }
    out
}

/// The text with its comments turned to spaces, every byte else in its place.
fn blank(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => string_length(rest),
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => match rest.get(2..).and_then(|inner| inner.find("*/")) {
                Some(end) => end + 4,
                // Never closed: left as it is, and refused by the parser.
                None => 1,
            },
            _ => first.len_utf8(),
        };
        let (part, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        if first == '/' && length > 1 {
            out.extend(part.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
        } else {
            out.push_str(part);
        }
        rest = after;
    }
    out
}

/// How long the string is at whose opening quote the text begins.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

impl Node {
    /// The member of this name; two of one name cannot be told apart by a reader.
    pub(crate) fn member(&self, key: &str) -> Result<Option<&Member>, String> {
        let NodeKind::Object(members) = &self.kind else { return Ok(None) };
        let mut found = members.iter().filter(|member| member.key == key);
        match (found.next(), found.next()) {
            (_, Some(_)) => Err(format!("it has two members named {key:?}")),
            (first, None) => Ok(first),
        }
    }

    pub(crate) fn items(&self) -> &[Node] {
        match &self.kind {
            NodeKind::Array(items) => items,
            _ => &[],
        }
    }

    pub(crate) fn value(&self, text: &str) -> Value {
        text.get(self.span.clone()).and_then(value).unwrap_or_default()
    }

    /// Where each child begins and ends.
    fn children(&self) -> Vec<Range<usize>> {
        match &self.kind {
            NodeKind::Object(members) => members.iter().map(|m| m.start..m.value.span.end).collect(),
            NodeKind::Array(items) => items.iter().map(|item| item.span.clone()).collect(),
            NodeKind::Other => Vec::new(),
        }
    }
}

/// The text with a new last child in an array (`key` is `None`) or object.
pub(crate) fn push(text: &str, parent: &Node, key: Option<&str>, value: &Value) -> String {
    let style = Style::of(text);
    let children = parent.children();
    let inside = text.get(parent.span.clone()).unwrap_or_default();
    let closing = parent.span.end.saturating_sub(1);
    let own_lines = children.first().is_none_or(|first| starts_line(text, first.start));
    let head = key.map(|key| format!("{}: ", Value::from(key))).unwrap_or_default();
    let Some(last) = children.last() else {
        // Empty: opened over several lines. The bracket closes below where its line began. Comments in it stay.
        let outer = indent_at(text, parent.span.start);
        let inner = format!("{outer}{}", style.unit);
        let body = format!("{head}{}", style.render(value, &inner));
        let filled = format!("{nl}{inner}{body}{nl}{outer}", nl = style.newline);
        let head = text.get(..closing).unwrap_or_default().trim_end().len();
        return splice(text, head..closing, &filled);
    };
    if own_lines && inside.contains('\n') {
        let inner = indent_at(text, last.start);
        let body = format!("{head}{}", style.render(value, &inner));
        // A comment behind the last child is about that child.
        let at = end_of_comment(text, last.end);
        let added = splice(text, at..at, &format!("{}{inner}{body}", style.newline));
        return splice(&added, last.end..last.end, ",");
    }
    let comma = if inside.contains(": ") || inside.contains(", ") { ", " } else { "," };
    splice(text, last.end..last.end, &format!("{comma}{head}{value}"))
}

/// The text with another value in a node's place.
pub(crate) fn replace(text: &str, node: &Node, value: &Value) -> String {
    let style = Style::of(text);
    let inside = text.get(node.span.clone()).unwrap_or_default();
    let body = match inside.contains('\n') || starts_line(text, node.span.start) {
        true => style.render(value, &indent_at(text, node.span.start)),
        false => value.to_string(),
    };
    splice(text, node.span.clone(), &body)
}

/// The text without one child of a node, its comma and its line gone with it.
pub(crate) fn remove(text: &str, parent: &Node, index: usize) -> String {
    let children = parent.children();
    let Some(child) = children.get(index) else { return text.to_owned() };
    let before = index.checked_sub(1).and_then(|i| children.get(i));
    let after = children.get(index + 1);
    let around = before.map_or(parent.span.start + 1, |before| before.end)
        ..after.map_or(parent.span.end.saturating_sub(1), |after| after.start);
    if has_comment(text, around.start..child.start) || has_comment(text, child.end..around.end) {
        return remove_between_comments(text, before, child, after);
    }
    let range = match (before, after) {
        (Some(before), _) => before.end..child.end,
        (None, Some(after)) => child.start..after.start,
        (None, None) => parent.span.start + 1..parent.span.end.saturating_sub(1),
    };
    splice(text, range, "")
}

/// The text without a child next to which comments stand: they stay.
fn remove_between_comments(
    text: &str,
    before: Option<&Range<usize>>,
    child: &Range<usize>,
    after: Option<&Range<usize>>,
) -> String {
    let comma = |from: usize, to: usize| {
        let gap = blank(text.get(from..to).unwrap_or_default());
        gap.find(',').map(|at| from + at)
    };
    let start = text.get(..child.start).unwrap_or_default().trim_end().len();
    match (before, after) {
        // Its own comma goes with it.
        (_, Some(after)) => {
            let end = comma(child.end, after.start).map_or(child.end, |at| at + 1);
            splice(text, start..end, "")
        }
        // The comma that led to it goes too.
        (Some(before), None) => {
            let gone = splice(text, start..child.end, "");
            match comma(before.end, child.start).filter(|at| *at < start) {
                Some(at) => splice(&gone, at..at + 1, ""),
                None => gone,
            }
        }
        (None, None) => splice(text, start..child.end, ""),
    }
}

fn has_comment(text: &str, range: Range<usize>) -> bool {
    text.get(range).is_some_and(|gap| gap.contains("//") || gap.contains("/*"))
}

/// Where the line ends on which `at` stands, if nothing but a comment follows there; else `at`.
fn end_of_comment(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let line = rest.split('\n').next().unwrap_or_default();
    let line = line.strip_suffix('\r').unwrap_or(line);
    let is_comment = line.trim_start().starts_with("//")
        || line.trim_start().starts_with("/*")
            && line.trim_end().find("*/").is_some_and(|end| end + 2 == line.trim_end().len());
    if is_comment { at + line.len() } else { at }
}

fn splice(text: &str, range: Range<usize>, with: &str) -> String {
    let head = text.get(..range.start).unwrap_or_default();
    let tail = text.get(range.end..).unwrap_or_default();
    format!("{head}{with}{tail}")
}

/// The text with this value at this path of members; what is missing on the way is made.
pub(crate) fn set(text: &str, path: &[&str], value: &Value, comments: Comments) -> Result<String, String> {
    let root = parse(text, comments)?;
    let mut node = &root;
    for (depth, key) in path.iter().enumerate() {
        if !matches!(node.kind, NodeKind::Object(_)) {
            let name = path.get(..depth).unwrap_or_default().join(".");
            return Err(format!("its `{name}` is not an object"));
        }
        let Some(member) = node.member(key)? else {
            let rest = path.get(depth + 1..).unwrap_or_default();
            let nested = rest.iter().rev().fold(value.clone(), |inner, key| serde_json::json!({*key: inner}));
            return Ok(push(text, node, Some(key), &nested));
        };
        node = &member.value;
    }
    Ok(if node.value(text) == *value { text.to_owned() } else { replace(text, node, value) })
}

/// The text without the member at this path, if that is empty.
pub(crate) fn drop_empty(text: &str, path: &[&str], comments: Comments) -> Result<String, String> {
    let root = parse(text, comments)?;
    let Some((last, above)) = path.split_last() else { return Ok(text.to_owned()) };
    let mut parent = &root;
    for key in above {
        let Some(member) = parent.member(key)? else { return Ok(text.to_owned()) };
        parent = &member.value;
    }
    let NodeKind::Object(members) = &parent.kind else { return Ok(text.to_owned()) };
    let empty = |node: &Node| match &node.kind {
        NodeKind::Object(members) => members.is_empty() && !has_comment(text, node.span.clone()),
        NodeKind::Array(items) => items.is_empty() && !has_comment(text, node.span.clone()),
        NodeKind::Other => false,
    };
    match members.iter().position(|member| member.key == *last && empty(&member.value)) {
        Some(index) => Ok(remove(text, parent, index)),
        None => Ok(text.to_owned()),
    }
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
            b'{' => NodeKind::Object(self.members(depth)?),
            b'[' => NodeKind::Array(self.elements(depth)?),
            b'"' => {
                self.string()?;
                NodeKind::Other
            }
            _ => {
                while self.peek().is_some_and(|b| !matches!(b, b',' | b']' | b'}' | b' ' | b'\n' | b'\r' | b'\t')) {
                    self.at += 1;
                }
                NodeKind::Other
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
        let root = parse(text, Comments::Refused).unwrap();
        let a = root.member("a\"}").unwrap().unwrap();
        assert_eq!(a.value.value(text), json!([1, {"b": null}, "]"]));
        assert_eq!(a.value.items().len(), 3);
        assert_eq!(root.member("c").unwrap().unwrap().value.value(text), json!(-1500.0));
        assert!(
            parse("{} // x", Comments::Refused).is_err()
                && parse("{\"a\":1,}", Comments::Refused).is_err()
                && parse("", Comments::Refused).is_err()
        );
        assert!(parse("{\"a\":1,\"a\":2}", Comments::Refused).unwrap().member("a").is_err());
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
            let after = push(text, &parse(text, Comments::Refused).unwrap(), Some("k"), &json!([1]));
            // In one line a new member is compact.
            assert_eq!(after.replace("\"k\": [1]", "\"k\":[1]"), wanted.replace("\"k\": [1]", "\"k\":[1]"));
            let root = parse(&after, Comments::Refused).unwrap();
            assert_eq!(root.member("k").unwrap().unwrap().value.value(&after), json!([1]));
        }
    }

    #[test]
    fn what_was_added_can_be_taken_out_again() {
        for text in ["{\"a\": 1}", "{\n  \"a\": 1\n}\n", "{ \"a\" : [ ] }"] {
            let after = push(text, &parse(text, Comments::Refused).unwrap(), Some("k"), &json!({"x": [1, 2]}));
            assert_eq!(remove(&after, &parse(&after, Comments::Refused).unwrap(), 1), text);
        }
        let text = "[1, 2, 3]";
        assert_eq!(remove(text, &parse(text, Comments::Refused).unwrap(), 0), "[2, 3]");
        assert_eq!(remove(text, &parse(text, Comments::Refused).unwrap(), 2), "[1, 2]");
        assert_eq!(remove("[ 1 ]", &parse("[ 1 ]", Comments::Refused).unwrap(), 0), "[]");
    }

    #[test]
    fn comments_stay_where_they_are() {
        for text in [
            "{\n  \"a\": 1 // one\n}\n",
            "{\n  // about a\n  \"a\": 1,\n  \"b\": \"//\" /* two */\n  // the end\n}\n",
            "/* head */ {\n  // nothing yet\n}\n",
            "{ /* inline */ \"a\": [ ] }",
            "{\r\n  \"a\": 1 // one\r\n}\r\n",
        ] {
            let root = parse(text, Comments::Kept).unwrap();
            let count = root.children().len();
            let after = push(text, &root, Some("k"), &json!({"x": [1, 2]}));
            let read = parse(&after, Comments::Kept).unwrap();
            assert_eq!(read.member("k").unwrap().unwrap().value.value(&after), json!({"x": [1, 2]}), "{after}");
            for comment in
                ["// one", "// about a", "/* two */", "// the end", "/* head */", "// nothing yet", "/* inline */"]
            {
                assert_eq!(after.contains(comment), text.contains(comment), "{after}");
            }
            assert_eq!(remove(&after, &read, count), text);
        }
        assert!(parse("{} /* never closed", Comments::Kept).is_err());
        assert!(parse("{\"a\": 1,}", Comments::Kept).is_err());
        assert!(parse("{\"a\": \"http://x\"} // \"}", Comments::Kept).is_ok());
    }

    #[test]
    fn a_child_between_comments_goes_alone() {
        let text = "{\n  \"a\": 1, // one\n  \"b\": 2, // two\n  \"c\": 3 // three\n}";
        let gone = |index| remove(text, &parse(text, Comments::Kept).unwrap(), index);
        for index in 0..3 {
            let after = gone(index);
            let read = parse(&after, Comments::Kept).unwrap();
            assert_eq!(read.children().len(), 2, "{after}");
        }
        assert!(gone(2).contains("// two") && gone(1).contains("// one"));
    }
}
