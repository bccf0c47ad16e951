//! JSON without secrets, as far as there is room.

use super::command::{Command, is_fed};
use super::table::{HOLDING, NAMING, OF_KEY, OF_MANIFEST, READ, STARTED, WORDS};
use super::{
    Expecting, MOST_TAKEN, REDACTED, SHORTEST, cut, following, is_path, is_secret_key, is_secret_name, may_name_secret,
    redacted, redacted_within, text, without, without_login, without_login_at,
};
use sayso_shell::program::credential::Takes;
use serde_json::Value;
use std::cell::{Cell, RefCell};

/// How deep arguments are looked at; below that they are left out.
const DEEPEST: usize = 32;
/// How many members of one array or object are kept.
const MEMBERS: usize = 64;

/// Arguments without secrets; strings are cut to `limit` characters.
#[must_use]
pub fn arguments(value: &Value, limit: usize) -> Value {
    Room::new(limit, MEMBERS).arguments(value)
}

/// How much there is room for, and whether that was enough.
pub(in crate::audit) struct Room {
    /// Characters of one string.
    text: usize,
    /// Members of one array or object.
    members: usize,
    /// Something had no room.
    full: Cell<bool>,
    /// What was taken out so far.
    taken: RefCell<Vec<String>>,
    /// A text that stands in the arguments too, and what is kept of it.
    known: RefCell<Option<(String, String)>>,
}

impl Room {
    pub(in crate::audit) fn new(text: usize, members: usize) -> Self {
        Self { text, members, full: Cell::new(false), taken: RefCell::default(), known: RefCell::default() }
    }

    /// Whether something was left out.
    pub(in crate::audit) fn left_out(&self) -> bool {
        self.full.get()
    }

    /// Arguments without secrets, as far as there is room.
    pub(in crate::audit) fn arguments(&self, value: &Value) -> Value {
        clean(value, self, 0, false)
    }

    /// The same as [`Room::text`], for a text that will be seen again: a command stands in the arguments of its call.
    pub(in crate::audit) fn text_again(&self, text: &str) -> String {
        let kept = self.text(text);
        *self.known.borrow_mut() = Some((text.to_owned(), kept.clone()));
        kept
    }

    /// Redacted first, cut then: a cut in the middle of a key must not save its first half from being recognised.
    pub(in crate::audit) fn text(&self, text: &str) -> String {
        if let Some((_, kept)) = self.known.borrow().as_ref().filter(|(known, _)| known == text) {
            return kept.clone();
        }
        let (text, taken) = redacted(text);
        self.take(taken);
        // So many bytes are never more characters.
        if text.len() <= self.text { text } else { self.cut(&text) }
    }

    /// The same of a word that a program reads as commands.
    fn text_within(&self, program: &str, text: &str) -> String {
        let (text, taken) = redacted_within(Some(program), text);
        self.take(taken);
        self.cut(&text)
    }

    /// What is said of what was seen here, such as an effect: what was taken out stands nowhere else.
    pub(in crate::audit) fn without_taken(&self, text: String) -> String {
        without(text, &self.taken.borrow())
    }

    fn take(&self, taken: Vec<String>) {
        let mut all = self.taken.borrow_mut();
        let room = MOST_TAKEN.saturating_sub(all.len());
        all.extend(taken.into_iter().take(room));
    }

    /// Something that stands under a secret's name.
    fn hidden(&self, text: &str) -> Value {
        if text.len() >= SHORTEST {
            self.take(vec![text.to_owned()]);
        }
        REDACTED.into()
    }

    pub(in crate::audit) fn cut(&self, text: &str) -> String {
        let kept = cut(text, self.text);
        self.full.set(self.full.get() || kept.len() != text.len());
        kept
    }

    fn members(&self, all: usize) -> usize {
        self.full.set(self.full.get() || all > self.members);
        self.members
    }
}

/// `secret`: it stands below a secret's name.
fn clean(value: &Value, room: &Room, depth: usize, secret: bool) -> Value {
    match value {
        Value::String(text) if secret => room.hidden(text),
        Value::String(s) => Value::String(room.text(s)),
        Value::Array(_) | Value::Object(_) if depth >= DEEPEST => {
            room.full.set(true);
            Value::String("[too deep]".to_owned())
        }
        Value::Array(items) => list(items, room, depth, secret, None),
        Value::Object(members) => {
            // `{"name": "X-Api-Key", "value": "..."}` is a member too.
            let named = NAMING.iter().filter_map(|key| members.get(*key)?.as_str());
            let named = named.into_iter().any(is_secret_name);
            // `{"command": "mysql", "args": ["-px"]}` is one command.
            let program = STARTED.iter().find_map(|key| members.get(*key)?.as_str());
            let told = |key: &str| READ.contains(&key) && is_told_secret(members, program);
            let of_key = members.contains_key("kty");
            let manifest = members.get("kind").and_then(Value::as_str) == Some("Secret");
            let member = |(key, value): (&String, &Value)| {
                let secret = secret || is_secret_key(key) || named && HOLDING.contains(&key.as_str());
                // A number of tokens is none, a list of them is.
                let secret = secret || key.to_ascii_lowercase().ends_with("tokens");
                let secret = secret || told(key) || of_key && OF_KEY.contains(&key.as_str());
                let secret = secret || manifest && OF_MANIFEST.contains(&key.as_str());
                let scalar = !matches!(value, Value::Array(_) | Value::Object(_) | Value::Null);
                let below = is_secret_key(key) && scalar;
                let value = match value {
                    Value::String(text) if below => room.hidden(text),
                    _ if below => REDACTED.into(),
                    Value::Array(words) if WORDS.contains(&key.as_str()) => {
                        list(words, room, depth + 1, secret, program)
                    }
                    _ => clean(value, room, depth + 1, secret),
                };
                (cut(&text(key), 256), value)
            };
            Value::Object(members.iter().take(room.members(members.len())).map(member).collect())
        }
        other => other.clone(),
    }
}

/// Whether the command of these members reads a secret from its standard input.
fn is_told_secret(members: &serde_json::Map<String, Value>, program: Option<&str>) -> bool {
    let lists = WORDS.iter().filter_map(|key| members.get(*key)?.as_array()).flatten();
    let words = program.into_iter().chain(lists.filter_map(Value::as_str));
    is_fed(&words.collect::<Vec<_>>().join(" "))
}

/// Words of a command may stand in a list: what follows an option with a secret's name is one.
fn list<'a>(items: &'a [Value], room: &Room, depth: usize, secret: bool, program: Option<&'a str>) -> Value {
    let (mut next, mut command) = (Expecting::Nothing, Command::default());
    program.into_iter().flat_map(str::split_whitespace).for_each(|word| command.add(word));
    // `["Authorization", "x"]`
    let is_pair = matches!(items, [Value::String(name), Value::String(_)] if is_secret_name(name) && !name.contains(['=', ':', ' ']));
    let kept = items.iter().take(room.members(items.len())).map(|item| {
        let expected = std::mem::replace(&mut next, Expecting::Nothing);
        if let Value::String(word) = item {
            next = following(word, may_name_secret(word));
            let operand = !word.starts_with('-') && !word.contains('=') && command.hides_next_operand();
            let assigned = word.rsplit_once('=').filter(|(_, value)| !value.is_empty() && command.hides_assignments());
            let assigned = assigned.filter(|(name, _)| !word.starts_with('-') || name.contains('='));
            let within = command.takes_operands().filter(|_| word.contains(char::is_whitespace));
            let option = command.option(word).filter(|_| word.starts_with(['-', '/']));
            command.add(word);
            match (expected, option) {
                (Expecting::Sign, _) if is_pair => return room.hidden(word),
                (Expecting::Path, _) if is_path(word) => {}
                (Expecting::Value | Expecting::Path, _) => return room.hidden(word),
                (Expecting::Pair, _) => {
                    next = Expecting::Value;
                    return room.hidden(word);
                }
                (Expecting::Password, _) if !word.bytes().all(|byte| byte.is_ascii_digit()) => {
                    return room.hidden(word);
                }
                (Expecting::Login, _) => return Value::String(room.cut(&without_login(word))),
                (_, Some((Takes::Login, name, value))) if !value.is_empty() => {
                    return Value::String(room.cut(&format!("{name}{}", without_login(value))));
                }
                (_, Some((_, name, value))) if !value.is_empty() => {
                    room.hidden(value);
                    return format!("{name}{REDACTED}").into();
                }
                (_, Some((Takes::Login, ..))) => next = Expecting::Login,
                (_, Some((Takes::Secret, ..))) => next = Expecting::Value,
                (_, Some((Takes::Pair, ..))) => next = Expecting::Pair,
                _ if operand => return room.hidden(word),
                _ if let Some((name, value)) = assigned => {
                    room.hidden(value);
                    return format!("{name}={REDACTED}").into();
                }
                _ if let Some(program) = within => return Value::String(room.text_within(program, word)),
                _ if command.is_slashed() && without_login_at(word, true).is_some() => {
                    return Value::String(room.cut(&without_login_at(word, true).unwrap_or_default()));
                }
                _ => {}
            }
        }
        clean(item, room, depth + 1, secret)
    });
    Value::Array(kept.collect())
}
