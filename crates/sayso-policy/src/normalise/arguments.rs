//! The arguments of a call, walked once: every value with the role that its parameter has for the tool.
//!
//! Arguments are hostile: deep, wide, of the wrong type, JSON inside a string of JSON. Work is bounded; over a bound
//! the walk says so, and the call is judged as one that may do anything.

use serde_json::Value;

/// Most values looked at.
const MAX_VALUES: usize = 10_000;
/// Deepest nesting, strings that hold JSON included.
const MAX_DEPTH: usize = 32;
/// Most bytes of strings parsed as JSON.
const MAX_PARSED: usize = 1024 * 1024;

/// What a parameter means to its tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A path, or several.
    Path,
    /// The path that something is taken from.
    From,
    /// The path that something is brought to.
    To,
    /// The folder in which the rest is meant.
    Base,
    /// A command for a shell, or its words.
    Command,
    /// Several commands, or what an agent tells about them.
    Commands,
    /// Words to be added to a command.
    Words,
    /// Variables of the environment.
    Environment,
    /// Which shell reads the command.
    Shell,
    /// A URL, or several.
    Url,
    /// Free text in which the tool itself looks for URLs.
    Prose,
    /// A pattern for file names.
    Pattern,
    /// A patch.
    Patch,
    /// What the tool is to do, in one word of its own.
    Action,
    /// Text that the tool stores, shows or searches for, and does not act on.
    Text,
    /// Not known.
    Other,
}

/// Something that the walk came across.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Found<'v> {
    /// A string where a parameter of this role stands.
    Text(Role, &'v str),
    /// A list where a command or its words stand, or whatever stands for an environment.
    Whole(Role, &'v Value),
    /// Something that cannot be a value of the role that its parameter has.
    Wrong,
    /// A string under a parameter nobody knows, with that parameter's name; or such a name itself, under no name.
    Loose {
        /// The name as [`plain_key`] gives it.
        key: &'v str,
        /// The string.
        text: &'v str,
    },
    /// There is more than is looked at.
    TooMuch,
}

/// A parameter's name without case and separators: `filePath`, `file_path` and `file-path` are one.
pub(crate) fn plain_key(key: &str) -> String {
    key.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).map(|c| c.to_ascii_lowercase()).collect()
}

/// Walks all arguments. `role` gets names as [`plain_key`] gives them.
pub(crate) fn walk(arguments: &Value, role: &dyn Fn(&str) -> Role, found: &mut dyn FnMut(Found<'_>)) {
    let mut walk = Walk { role, found, values: 0, parsed: 0, stopped: false };
    // Some agents send the arguments as a string of JSON.
    match arguments {
        Value::String(text) => match walk.parse(text) {
            Some(inner) => walk.value(&inner, "", Role::Other, 1),
            None => walk.value(arguments, "", Role::Other, 0),
        },
        other => walk.value(other, "", Role::Other, 0),
    }
}

struct Walk<'a> {
    role: &'a dyn Fn(&str) -> Role,
    found: &'a mut dyn FnMut(Found<'_>),
    values: usize,
    parsed: usize,
    stopped: bool,
}

impl Walk<'_> {
    fn value(&mut self, value: &Value, key: &str, role: Role, depth: usize) {
        if role == Role::Text || !self.may_go_on(depth) {
            return;
        }
        match (value, role) {
            (Value::Null, _) | (Value::Bool(_) | Value::Number(_), Role::Other | Role::Action) => {}
            (_, Role::Environment) | (Value::Array(_), Role::Command | Role::Words) => {
                (self.found)(Found::Whole(role, value));
            }
            (Value::Bool(_) | Value::Number(_), _) => (self.found)(Found::Wrong),
            (Value::String(text), _) => self.string(text, key, role, depth),
            (Value::Array(items), _) => items.iter().for_each(|item| self.value(item, key, role, depth + 1)),
            (Value::Object(fields), _) => {
                let mut meant = matches!(role, Role::Other | Role::Commands);
                for (name, field) in fields {
                    let plain = plain_key(name);
                    let inner = (self.role)(&plain);
                    meant |= !matches!(inner, Role::Other | Role::Text);
                    if inner == Role::Other && !self.stopped {
                        (self.found)(Found::Loose { key: "", text: name });
                    }
                    self.value(field, &plain, inner, depth + 1);
                }
                if !meant {
                    (self.found)(Found::Wrong);
                }
            }
        }
    }

    fn string(&mut self, text: &str, key: &str, role: Role, depth: usize) {
        if role == Role::Other {
            (self.found)(Found::Loose { key, text });
        } else {
            (self.found)(Found::Text(role, text));
        }
        // A tool may well parse what it is given, so JSON inside a string counts as well as the string.
        if !matches!(role, Role::Prose | Role::Patch | Role::Pattern | Role::Action | Role::Shell)
            && let Some(inner) = self.parse(text)
        {
            self.value(&inner, key, role, depth + 1);
        }
    }

    fn parse(&mut self, text: &str) -> Option<Value> {
        let begin = text.trim_ascii_start();
        if !begin.starts_with(['{', '[', '"']) {
            return None;
        }
        self.parsed += text.len();
        if self.parsed > MAX_PARSED {
            self.stop();
            return None;
        }
        serde_json::from_str(begin).ok()
    }

    fn may_go_on(&mut self, depth: usize) -> bool {
        self.values += 1;
        if self.values > MAX_VALUES || depth > MAX_DEPTH {
            self.stop();
        }
        !self.stopped
    }

    fn stop(&mut self) {
        if !std::mem::replace(&mut self.stopped, true) {
            (self.found)(Found::TooMuch);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn told(arguments: &Value) -> String {
        let mut out = Vec::new();
        let role = |key: &str| match key {
            "filepath" | "files" => Role::Path,
            "command" => Role::Command,
            "content" => Role::Text,
            "env" => Role::Environment,
            _ => Role::Other,
        };
        walk(arguments, &role, &mut |found| {
            out.push(match found {
                Found::Text(role, text) => format!("{role:?}={text}"),
                Found::Whole(role, value) => format!("{role:?}:{value}"),
                Found::Wrong => "WRONG".to_owned(),
                Found::Loose { key: "", text } => format!("[{text}]"),
                Found::Loose { key, text } => format!("{key}~{text}"),
                Found::TooMuch => "TOO MUCH".to_owned(),
            });
        });
        out.join(" ")
    }

    #[test]
    fn parameters_are_found_wherever_they_stand() {
        for (arguments, expected) in [
            (json!({"file_path": "a"}), "Path=a"),
            (json!({"filePath": "a", "file-path": "b"}), "Path=a Path=b"),
            (json!({"edits": [{"file_path": "a"}, {"file_path": "b"}]}), "[edits] Path=a Path=b"),
            (json!({"files": ["a", {"file_path": "b"}]}), "Path=a Path=b"),
            (json!({"files": "[\"a\"]"}), "Path=[\"a\"] Path=a"),
            (json!({"input": "{\"file_path\":\"a\"}"}), "[input] input~{\"file_path\":\"a\"} Path=a"),
            (json!("{\"file_path\":\"a\"}"), "Path=a"),
            (json!({"command": ["a", "b"]}), "Command:[\"a\",\"b\"]"),
            (json!({"command": {"x": 1}}), "[x] WRONG"),
            (json!({"file_path": 3}), "WRONG"),
            (json!({"file_path": null}), ""),
            (json!({"content": "/etc/passwd", "n": 1}), "[n]"),
            (json!({"/etc/shadow": true}), "[/etc/shadow]"),
            (json!(null), ""),
        ] {
            assert_eq!(told(&arguments), expected, "{arguments}");
        }
    }

    #[test]
    fn too_deep_too_wide_and_too_much_json_stop_the_walk_once() {
        let mut deep = json!("x");
        for _ in 0..100 {
            deep = json!([deep]);
        }
        assert_eq!(told(&deep), "TOO MUCH");
        let wide = Value::Array(vec![json!(1); 20_000]);
        assert_eq!(told(&wide), "TOO MUCH");
        let mut nested = String::from("x");
        for _ in 0..12 {
            nested = serde_json::to_string(&[nested]).unwrap();
        }
        // Each level of escaping doubles the backslashes.
        assert!(!told(&json!(nested)).is_empty());
        let long = Value::Array(vec![json!(format!("[\"{}\"]", "x".repeat(200_000))); 8]);
        assert!(told(&long).ends_with("TOO MUCH"));
    }
}
