//! Taking typed values out of a TOML document, and complaining about those of a wrong shape.

use super::file::{Spanned, Text};
use super::keys::{self, Shape, Table};
use super::lines::Lines;
use super::{Problem, nearest};
use std::ops::Range;
use std::sync::Arc;
use toml::de::{DeString, DeTable, DeValue};

/// More than this helps nobody, and a hostile file could make very many.
pub(crate) const MAX_PROBLEMS: usize = 100;

/// A key of the document.
pub(super) type DocKey<'i> = toml::Spanned<DeString<'i>>;
/// A value of the document.
pub(super) type DocValue<'i> = toml::Spanned<DeValue<'i>>;

/// Reads values and collects problems.
pub(super) struct Reader {
    pub(super) name: Arc<str>,
    pub(super) lines: Lines,
    problems: Vec<Problem>,
}

impl Reader {
    pub(super) fn new(name: &str, text: &str) -> Self {
        Self { name: Arc::from(name), lines: Lines::new(text), problems: Vec::new() }
    }

    /// In the order of the file, one for each place and code.
    pub(super) fn into_problems(mut self) -> Vec<Problem> {
        self.problems.sort_by_key(|problem| (problem.span.start, problem.span.end));
        self.problems.dedup_by(|a, b| a.span == b.span && a.code == b.code && a.message == b.message);
        self.problems.truncate(MAX_PROBLEMS);
        self.problems
    }

    /// Complains. There is always a way out to name.
    pub(super) fn advise(
        &mut self,
        code: &'static str,
        span: Range<usize>,
        message: impl Into<String>,
        suggestion: impl Into<String>,
    ) {
        let (message, suggestion) = (message.into(), Some(suggestion.into()));
        let source = self.lines.source(&self.name, &span);
        self.problems.push(Problem { code, message, suggestion, source, span, warning: false });
    }

    /// Takes over errors of the TOML parser. True: the document is not to be looked at.
    pub(super) fn syntax(&mut self, errors: &[toml::de::Error]) -> bool {
        let mut broken = false;
        for error in errors.iter().take(MAX_PROBLEMS) {
            let span = error.span().unwrap_or(0..0);
            if error.message().starts_with("duplicate key") {
                let key = self.lines.text().get(span.clone()).unwrap_or_default().to_owned();
                self.advise("duplicate-key", span, format!("`{key}` is given twice"), "keep one, or merge the two");
            } else {
                broken = true;
                let message = format!("invalid TOML: {}", error.message());
                self.advise("toml-syntax", span, message, suggest_syntax(error.message()));
            }
        }
        broken
    }

    /// Complains about a value of another type than `expected`.
    pub(super) fn wrong_type(&mut self, value: &DocValue<'_>, expected: &str) {
        let found = match value.get_ref() {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) => "a whole number",
            DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        let suggestion = match value.get_ref() {
            DeValue::String(_) => "remove the quotes, or look the key up in the reference".to_owned(),
            DeValue::Array(_) => "give a single value, without brackets".to_owned(),
            DeValue::Table(_) => "give a value instead of a table".to_owned(),
            _ => match self.lines.text().get(value.span()) {
                Some(written) if expected.contains("string") => format!("put it in quotes: \"{}\"", written.trim()),
                _ => format!("give {expected}"),
            },
        };
        self.advise("wrong-type", value.span(), format!("expected {expected}, found {found}"), suggestion);
    }

    pub(super) fn table<'a, 'i>(&mut self, value: &'a DocValue<'i>, expected: &str) -> Option<&'a DeTable<'i>> {
        let table = value.get_ref().as_table();
        if table.is_none() {
            self.wrong_type(value, expected);
        }
        table
    }

    pub(super) fn text(&mut self, value: &DocValue<'_>) -> Option<Text> {
        let Some(text) = value.get_ref().as_str() else {
            self.wrong_type(value, "a string");
            return None;
        };
        if text.trim().is_empty() {
            self.advise("blank", value.span(), "this is empty", "remove it, or fill it in");
            return None;
        }
        Some(Spanned::new(text.to_owned(), value.span()))
    }

    /// A string, or a list of at least one.
    pub(super) fn texts(&mut self, value: &DocValue<'_>) -> Vec<Text> {
        match value.get_ref() {
            DeValue::String(_) => self.text(value).into_iter().collect(),
            DeValue::Array(items) if items.is_empty() => {
                self.advise(
                    "blank-list",
                    value.span(),
                    "this list is empty and would match nothing",
                    "remove the key, or add something to the list",
                );
                Vec::new()
            }
            DeValue::Array(items) => items.iter().filter_map(|item| self.text(item)).collect(),
            _ => {
                self.wrong_type(value, "a string or a list of strings");
                Vec::new()
            }
        }
    }

    /// Patterns: texts, trimmed, of which at least one is not an exception.
    pub(super) fn patterns(&mut self, value: &DocValue<'_>) -> Vec<Text> {
        let before = self.problems.len();
        let mut patterns = self.texts(value);
        for pattern in &mut patterns {
            // A blank before `!` must not turn an exception into a pattern.
            pattern.value = pattern.value.trim().to_owned();
            if pattern.value.strip_prefix('!').is_some_and(|rest| rest.trim().is_empty()) {
                let message = "this exception is empty";
                self.advise("blank", pattern.span.clone(), message, "write the pattern after `!`");
            }
        }
        if self.problems.len() == before && patterns.iter().all(|pattern| pattern.value.starts_with('!')) {
            self.advise(
                "only-exceptions",
                value.span(),
                "this list has only exceptions and would match nothing",
                "`!` excludes from what the other patterns match; add those too",
            );
        }
        patterns
    }

    /// One of these words.
    pub(super) fn word<T: Copy>(
        &mut self,
        value: &DocValue<'_>,
        code: &'static str,
        words: &[(&'static str, T)],
    ) -> Option<Spanned<T>> {
        let text = self.text(value)?;
        if let Some((_, meant)) = words.iter().find(|(word, _)| *word == text.value) {
            return Some(Spanned::new(*meant, text.span));
        }
        let choices: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let suggestion = match nearest(&text.value, choices.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("one of: {}", choices.join(", ")),
        };
        self.advise(code, text.span, format!("`{}` is not valid here", text.value), suggestion);
        None
    }

    pub(super) fn flag(&mut self, value: &DocValue<'_>) -> Option<Spanned<bool>> {
        let flag = value.get_ref().as_bool();
        if flag.is_none() {
            self.wrong_type(value, "true or false");
        }
        flag.map(|flag| Spanned::new(flag, value.span()))
    }

    pub(super) fn count(&mut self, value: &DocValue<'_>) -> Option<Spanned<u64>> {
        let DeValue::Integer(number) = value.get_ref() else {
            self.wrong_type(value, "a whole number");
            return None;
        };
        match u64::from_str_radix(number.as_str(), number.radix()) {
            Ok(count) => Some(Spanned::new(count, value.span())),
            Err(_) => {
                let message = "expected a non-negative whole number below 2^64";
                self.advise("bad-number", value.span(), message, "remove the key for no limit");
                None
            }
        }
    }

    /// A string in a notation of its own.
    pub(super) fn notation<T>(
        &mut self,
        value: &DocValue<'_>,
        code: &'static str,
        read: fn(&str) -> Option<T>,
        example: &str,
    ) -> Option<Spanned<T>> {
        let Some(text) = value.get_ref().as_str() else {
            self.wrong_type(value, &format!("a string such as \"{example}\""));
            return None;
        };
        let amount = read(text).map(|amount| Spanned::new(amount, value.span()));
        if amount.is_none() {
            self.advise(code, value.span(), format!("`{text}` cannot be read"), format!("write it as \"{example}\""));
        }
        amount
    }

    /// The entries of a table whose keys the owner chooses, in the order of the file.
    pub(super) fn entries<'a, 'i>(&mut self, table: &'a DeTable<'i>) -> Vec<(Text, &'a DocValue<'i>)> {
        let mut entries = Vec::with_capacity(table.len());
        for (key, value) in table {
            if key.get_ref().trim().is_empty() {
                self.advise("blank", key.span(), "this name is empty", "name it");
            } else {
                entries.push((Spanned::new(key.get_ref().clone().into_owned(), key.span()), value));
            }
        }
        entries.sort_by_key(|(key, _)| key.span.start);
        entries
    }

    /// The known keys of a table; complains about all others and about missing ones.
    pub(super) fn fields<'a, 'i>(
        &mut self,
        table: &'a DeTable<'i>,
        span: Range<usize>,
        known: &'static Table,
    ) -> Fields<'a, 'i> {
        for (key, _) in table {
            if self.problems.len() > 10 * MAX_PROBLEMS {
                break;
            }
            if !known.keys.iter().any(|k| k.name == key.get_ref().as_ref()) {
                let suggestion = suggest_key(key.get_ref(), known);
                let message = format!("`{}` is not a key of {}", key.get_ref(), known.title);
                self.advise("unknown-key", key.span(), message, suggestion);
            }
        }
        for required in known.required {
            if !table.contains_key(*required) {
                let message = format!("{} needs `{required}`", known.title);
                self.advise("missing-key", span.clone(), message, format!("add: {required} = ..."));
            }
        }
        Fields { table, known }
    }
}

/// A way out of a syntax error, by the words of the TOML parser.
fn suggest_syntax(message: &str) -> &'static str {
    let has = |words: &[&str]| words.iter().any(|word| message.contains(word));
    if has(&["escape", "unicode 8-digit"]) {
        "a backslash starts an escape in \"...\" and is literal in '...'"
    } else if has(&["unclosed", "missing comma", "extra comma"]) {
        "close every bracket, and put commas between values"
    } else if has(&["quoted", "string"]) {
        "put text in quotes: \"ask\""
    } else {
        "a line is `key = value`, or starts a [table]"
    }
}

/// What an unknown key was meant to be: a near key of this table, or the table that has it.
fn suggest_key(key: &str, known: &'static Table) -> String {
    let names = known.keys.iter().map(|k| k.name);
    if let Some(near) = nearest(key, names.clone()) {
        return format!("did you mean `{near}`?");
    }
    // The word of other systems, or of DESIGN's prose, for something that has another name here.
    let meant = match key {
        "call" | "mcp" | "tools" => Some("tool"),
        "command" | "commands" | "exec" | "execute" | "bash" => Some("run"),
        "edit" | "create" => Some("write"),
        "remove" => Some("delete"),
        "network" | "fetch" | "host" | "hosts" => Some("connect"),
        "reason" | "message" | "justification" | "description" => Some("because"),
        "name" => Some("id"),
        "sets" => Some("set"),
        "rules" => Some("rule"),
        "preset" | "presets" => Some("extends"),
        "match" | "examples" => Some("hits"),
        "not_match" => Some("misses"),
        _ => None,
    };
    if let Some(meant) = meant.filter(|meant| names.clone().any(|name| name == *meant)) {
        return format!("did you mean `{meant}`?");
    }
    if known.name == keys::LIMITS.name && keys::LIMIT.keys.iter().any(|k| k.name == key) {
        return "say what it limits: put it under [limits.session], for example".to_owned();
    }
    // A key after a table header belongs to that table: the usual way to lose a top-level key.
    if let Some(top) = keys::FILE.keys.iter().find(|k| k.name == key) {
        let place = match top.shape {
            Shape::Table(_) | Shape::Named(_) => format!("it is a separate table: [{key}]"),
            Shape::Tables(_) => format!("it is a separate table: [[{key}]]"),
            _ => "it goes at the top of the file, before the first table".to_owned(),
        };
        return format!("`{key}` does not belong in this table; {place}");
    }
    format!("one of: {}", names.collect::<Vec<_>>().join(", "))
}

/// A table of the document together with the keys it may hold.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a, 'i> {
    table: &'a DeTable<'i>,
    known: &'static Table,
}

impl<'a, 'i> Fields<'a, 'i> {
    /// A key's own place and its value.
    pub(super) fn entry(&self, name: &'static str) -> Option<(&'a DocKey<'i>, &'a DocValue<'i>)> {
        #[cfg(test)]
        asked::note(self.known, name);
        debug_assert!(self.known.keys.iter().any(|key| key.name == name), "`{name}` is not in the table of keys");
        self.table.get_key_value(name)
    }

    pub(super) fn get(&self, name: &'static str) -> Option<&'a DocValue<'i>> {
        self.entry(name).map(|(_, value)| value)
    }
}

/// Which keys the parser asked for, so that a test can compare them with the table of keys.
#[cfg(test)]
pub(super) mod asked {
    use super::Table;
    use std::cell::RefCell;
    use std::collections::BTreeSet;

    thread_local! {
        static ASKED: RefCell<BTreeSet<(&'static str, &'static str)>> = const { RefCell::new(BTreeSet::new()) };
    }

    pub(super) fn note(table: &'static Table, key: &'static str) {
        ASKED.with_borrow_mut(|asked| asked.insert((table.name, key)));
    }

    /// All that was asked on this thread so far.
    pub(in crate::text) fn so_far() -> BTreeSet<(&'static str, &'static str)> {
        ASKED.with_borrow(Clone::clone)
    }
}
