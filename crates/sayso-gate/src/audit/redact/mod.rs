//! Secrets are taken out before anything is stored.
//!
//! Written by hand and not with regular expressions: a hook would spend most of its life compiling them. It errs on
//! the side of taking out too much.

mod key;
mod name;
#[cfg(test)]
mod tests;
mod value;

pub use key::{keys, may_hold_keys};
pub(super) use value::Room;
pub use value::arguments;

use key::{without_known_keys, without_private_keys, without_url_password};
use name::{is_secret_key, is_secret_name, may_name_secret};
use std::borrow::Cow;

/// What stands in a secret's place.
const REDACTED: &str = "[redacted]";

/// Text without secrets: values of assignments and options with a secret's name, what stands in headers that sign in,
/// passwords in URLs and their parameters, private keys, and keys of well-known formats.
#[must_use]
pub fn text(text: &str) -> String {
    let text = without_private_keys(text);
    let mut redactor = Redactor { out: String::with_capacity(text.len()), ..Redactor::default() };
    for piece in pieces(&text) {
        match piece {
            Piece::Between(between) => redactor.between(between),
            Piece::Word(word) => redactor.word(word),
        }
    }
    redactor.out
}

/// Goes through a text piece by piece.
#[derive(Default)]
struct Redactor<'a> {
    out: String,
    expecting: Expecting,
    /// What is hidden now ends where?
    hiding: Option<Until>,
    /// The last piece between words, and the last word.
    before: &'a str,
    last: &'a str,
    /// The quote in which a secret's name stood.
    header_quote: Option<char>,
    /// The program whose short options may be passwords.
    program: &'a str,
    /// The word `login` was seen in this command, and in what may be a netrc.
    login: bool,
    netrc: bool,
}

/// Where something hidden ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    Word,
    /// The quote that began it; escaped, if the first was.
    Quote(char, bool),
    /// The quote in which the header stands, or the end of the line.
    Line(Option<char>),
}

impl<'a> Redactor<'a> {
    fn between(&mut self, between: &'a str) {
        // What stands between most words, and changes nothing where nothing is hidden.
        if between == " " && self.hiding.is_none() {
            self.out.push(' ');
            self.before = between;
            return;
        }
        let continued = self.last.ends_with('\\') && between.starts_with('\n');
        let first = between.chars().next().unwrap_or(' ');
        self.hiding = match self.hiding {
            // `PASSWORD=a,b` and `PASSWORD=a"b c"` are one word.
            Some(Until::Word) if between == "," || continued => Some(Until::Word),
            Some(Until::Word) if is_quote(first) && between.len() == 1 => Some(Until::Quote(first, false)),
            Some(Until::Quote(quote, escaped)) => {
                let at_escape = self.last.ends_with('\\') && first == quote;
                let ends = between.contains(quote) && (escaped || !at_escape || between.matches(quote).count() > 1);
                if ends { None } else { Some(Until::Quote(quote, escaped)) }
            }
            Some(Until::Line(quote)) => {
                let ends = between.contains('\n') || quote.is_some_and(|quote| between.contains(quote));
                if ends { None } else { Some(Until::Line(quote)) }
            }
            _ => None,
        };
        if between.contains(['\n', ';', '|', '&']) && !continued {
            self.expecting = Expecting::Nothing;
            self.program = "";
            self.login = false;
            self.netrc = self.netrc && between.trim().is_empty();
        }
        self.out.push_str(between);
        self.before = between;
    }

    fn word(&mut self, word: &'a str) {
        if self.hiding.is_some() {
            self.out.push_str(REDACTED);
        } else {
            let expecting = std::mem::take(&mut self.expecting);
            let kept = self.redact(word, expecting);
            self.out.push_str(&kept);
        }
        if self.program.is_empty() {
            self.program = word;
        }
        if word == "login" {
            (self.login, self.netrc) = (true, true);
        }
        self.last = word;
    }

    fn redact(&mut self, word: &'a str, expecting: Expecting) -> Cow<'a, str> {
        // `$'x'`, and a line that goes on: the value comes behind it.
        let nothing_yet = word.trim_matches(['\\', '$', '=', ':']).is_empty();
        match expecting {
            Expecting::Value | Expecting::Line if nothing_yet => {
                self.expecting = expecting;
                return word.into();
            }
            Expecting::Value => return self.hide(Until::Word).into(),
            Expecting::Line => return self.hide(Until::Line(self.header_quote)).into(),
            Expecting::Login => return without_login(word).into(),
            Expecting::Sign if word.starts_with([':', '=']) => {
                let value = word.trim_start_matches([':', '=', '>']);
                let next = if word.starts_with(':') { Expecting::Line } else { Expecting::Value };
                if value.trim_matches(['\\', '$']).is_empty() {
                    self.expecting = next;
                    return word.into();
                }
                return self.hide(Until::Word).into();
            }
            // `PASSWORD 'x'` in SQL, `login ann password x` in a netrc.
            Expecting::Sign
                if self.last.eq_ignore_ascii_case("password") && (self.netrc || self.before.trim_start() == "'") =>
            {
                return self.hide(Until::Word).into();
            }
            Expecting::Sign | Expecting::Nothing => {}
        }
        if let Some(kept) = self.short_option(word) {
            return kept.into();
        }
        let assignment = assignment(word);
        if assignment.is_some() || is_secret_name(word) {
            self.header_quote = self.before.chars().last().filter(|c| is_quote(*c));
        }
        if let Some((name, sign, value)) = assignment {
            let line = sign == ":" || is_header(name);
            // `Authorization: Bearer x`, `TOKEN="x y"`, `"password": "x"`: the value is in the next piece.
            if value.trim_matches(['\\', '$']).is_empty() {
                self.expecting = if line { Expecting::Line } else { Expecting::Value };
                return word.into();
            }
            let hidden = self.hide(if is_header(name) { Until::Line(self.header_quote) } else { Until::Word });
            return format!("{name}{sign}{hidden}").into();
        }
        self.expecting = if self.names_next(word) { Expecting::Value } else { following(word) };
        match without_url_password(word) {
            Cow::Borrowed(word) => without_known_keys(word),
            Cow::Owned(word) => without_known_keys(&word).into_owned().into(),
        }
    }

    /// A password behind a short option, for the few programs that take one there.
    fn short_option(&mut self, word: &str) -> Option<String> {
        if !word.starts_with('-') {
            return None;
        }
        let program = self.program.rsplit('/').next().unwrap_or_default();
        let option = match program {
            "curl" => {
                let login = word.strip_prefix("-u").filter(|login| login.contains(':'))?;
                return Some(format!("-u{}", without_login(login)));
            }
            "docker" | "podman" | "nerdctl" | "helm" | "oc" | "az" if self.login => "-p",
            "sshpass" | "7z" | "7za" => "-p",
            "redis-cli" => "-a",
            "zip" | "unzip" | "mosquitto_pub" | "mosquitto_sub" | "sqlcmd" => "-P",
            "ldapsearch" | "ldapmodify" | "ldapadd" => "-w",
            _ if program.starts_with("mysql") || program.starts_with("mariadb") => "-p",
            _ => return None,
        };
        let value = word.strip_prefix(option)?;
        if !value.is_empty() {
            return Some(format!("{option}{}", self.hide(Until::Word)));
        }
        // Alone it makes these ask; the others take the next word.
        if !program.starts_with(['m', '7']) || program.starts_with("mosquitto") {
            self.expecting = Expecting::Value;
        }
        Some(word.to_owned())
    }

    /// Whether the next word is a secret for the sake of the words before it.
    fn names_next(&self, word: &str) -> bool {
        match word {
            // `vault login x`
            "login" => self.program == "vault",
            // `IDENTIFIED BY 'x'`
            _ if word.eq_ignore_ascii_case("by") => self.last.eq_ignore_ascii_case("identified"),
            // `setenv TOKEN x`, `set -gx TOKEN x`
            _ => matches!(self.program, "setenv" | "set") && is_secret_name(word),
        }
    }

    /// Hides this word, and what belongs to it.
    fn hide(&mut self, until: Until) -> &'static str {
        let quote = self.before.chars().last().filter(|c| is_quote(*c));
        self.hiding = match (until, quote) {
            (Until::Word | Until::Line(None), Some(quote)) => Some(Until::Quote(quote, self.last.ends_with('\\'))),
            (until, _) => Some(until),
        };
        REDACTED
    }
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\'' | '`')
}

/// What the word behind this one is.
fn following(word: &str) -> Expecting {
    if !may_name_secret(word) && !word.starts_with('-') {
        return if word.eq_ignore_ascii_case("bearer") { Expecting::Value } else { Expecting::Nothing };
    }
    let lower = word.to_ascii_lowercase();
    if matches!(lower.as_str(), "-u" | "--user" | "--proxy-user" | "--basic-auth") {
        return Expecting::Login;
    }
    let option = word.starts_with('-') && (lower == "--oauth2-bearer" || is_secret_name(word));
    // `npm config set //host/:_authToken x`
    let of_npm =
        word.starts_with("//") && [":_authtoken", ":_auth", ":_password"].iter().any(|end| lower.ends_with(end));
    if lower == "bearer" || option || of_npm {
        return Expecting::Value;
    }
    match is_secret_name(word) {
        // `aws configure set aws_secret_access_key x`: a name that nothing but a setting has.
        true if word.contains('_') && !word.contains(['/', '.']) && names_a_setting(&lower) => Expecting::Value,
        true => Expecting::Sign,
        false => Expecting::Nothing,
    }
}

fn names_a_setting(lower: &str) -> bool {
    ["_key", "_token", "_secret", "_password"].iter().any(|end| lower.ends_with(end))
}

/// `name=value` or `name:value` where the name is a secret's, wherever in the word: also as a parameter of a URL.
fn assignment(word: &str) -> Option<(&str, &str, &str)> {
    if !may_name_secret(word) {
        return None;
    }
    word.match_indices(['=', ':']).find_map(|(at, sign)| {
        let (before, value) = (word.get(..at)?, word.get(at + 1..)?);
        let name = before.rsplit(['?', '&', '/', '{', '[', '=', ':']).next().unwrap_or(before);
        is_secret_name(name).then_some((before, sign, value))
    })
}

/// Headers whose whole value is secret, however many words it has.
fn is_header(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.ends_with("authorization") || name.ends_with("cookie")
}

/// `user:password` without the password.
fn without_login(word: &str) -> String {
    match word.split_once(':') {
        Some((user, password)) if !password.is_empty() => format!("{user}:{REDACTED}"),
        _ => without_known_keys(word).into_owned(),
    }
}

/// The beginning of a text, without secrets: enough to name it.
pub(crate) fn shown(text: &str) -> String {
    cut(&self::text(text), 256)
}

/// At most `limit` characters of a text, with a word on how much is missing.
pub(super) fn cut(text: &str, limit: usize) -> String {
    // So many bytes are never more characters.
    if text.len() <= limit {
        return text.to_owned();
    }
    match text.char_indices().nth(limit) {
        None => text.to_owned(),
        Some((end, _)) => format!("{} ... ({} more bytes)", text.get(..end).unwrap_or_default(), text.len() - end),
    }
}

/// What the next word may be.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Expecting {
    #[default]
    Nothing,
    /// A secret's name was seen, as in `"password": "x"`: a sign may follow.
    Sign,
    /// The next word is a secret, with what belongs to it.
    Value,
    /// Everything up to the end of the line or quote is.
    Line,
    /// `user:password`.
    Login,
}

enum Piece<'a> {
    /// Characters that end a word.
    Between(&'a str),
    Word(&'a str),
}

/// Splits at white space, quotes and the characters that end a shell word.
fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let ends =
        |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ';' | '|' | '&' | '(' | ')' | '<' | '>' | ',');
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let between = ends(first);
        let end = rest.find(|c| ends(c) != between).unwrap_or(rest.len());
        let (piece, after) = rest.split_at_checked(end)?;
        rest = after;
        Some(if between { Piece::Between(piece) } else { Piece::Word(piece) })
    })
}
