//! Secrets are taken out before anything is stored.
//!
//! Written by hand and not with regular expressions: a hook would spend most of its life compiling them. It errs on
//! the side of taking out too much.

use serde_json::Value;
use std::cell::Cell;

/// What stands in a secret's place.
const REDACTED: &str = "[redacted]";
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
pub(super) struct Room {
    /// Characters of one string.
    text: usize,
    /// Members of one array or object.
    members: usize,
    /// Something had no room.
    full: Cell<bool>,
}

impl Room {
    pub(super) fn new(text: usize, members: usize) -> Self {
        Self { text, members, full: Cell::new(false) }
    }

    /// Whether something was left out.
    pub(super) fn left_out(&self) -> bool {
        self.full.get()
    }

    /// Arguments without secrets, as far as there is room.
    pub(super) fn arguments(&self, value: &Value) -> Value {
        clean(value, self, 0, false)
    }

    /// Redacted first, cut then: a cut in the middle of a key must not save its first half from being recognised.
    pub(super) fn text(&self, text: &str) -> String {
        self.cut(&self::text(text))
    }

    pub(super) fn cut(&self, text: &str) -> String {
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
        Value::String(_) if secret => REDACTED.into(),
        Value::String(s) => Value::String(room.text(s)),
        Value::Array(_) | Value::Object(_) if depth >= DEEPEST => {
            room.full.set(true);
            Value::String("[too deep]".to_owned())
        }
        Value::Array(items) => list(items, room, depth, secret),
        Value::Object(members) => {
            // `{"name": "X-Api-Key", "value": "..."}` is a member too.
            let named = ["name", "key", "header"].iter().filter_map(|key| members.get(*key)?.as_str());
            let named = named.into_iter().any(is_secret_name);
            let member = |(key, value): (&String, &Value)| {
                let secret = secret || is_secret_key(key) || named && matches!(key.as_str(), "value" | "values");
                let scalar = !matches!(value, Value::Array(_) | Value::Object(_) | Value::Null);
                let below = is_secret_key(key) && scalar;
                let value = if below { REDACTED.into() } else { clean(value, room, depth + 1, secret) };
                (cut(&text(key), 256), value)
            };
            Value::Object(members.iter().take(room.members(members.len())).map(member).collect())
        }
        other => other.clone(),
    }
}

/// Words of a command may stand in a list: what follows an option with a secret's name is one.
fn list(items: &[Value], room: &Room, depth: usize, secret: bool) -> Value {
    let mut next = Expecting::Nothing;
    let kept = items.iter().take(room.members(items.len())).map(|item| {
        let expected = std::mem::replace(&mut next, Expecting::Nothing);
        if let Value::String(word) = item {
            next = following(word);
            if expected == Expecting::Value {
                return REDACTED.into();
            }
            if expected == Expecting::Login {
                return Value::String(room.cut(&without_login(word)));
            }
        }
        clean(item, room, depth + 1, secret)
    });
    Value::Array(kept.collect())
}

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
        self.last = word;
    }

    fn redact(&mut self, word: &'a str, expecting: Expecting) -> String {
        // `$'x'`, and a line that goes on: the value comes behind it.
        let nothing_yet = word.trim_matches(['\\', '$', '=', ':']).is_empty();
        match expecting {
            Expecting::Value | Expecting::Line if nothing_yet => {
                self.expecting = expecting;
                return word.to_owned();
            }
            Expecting::Value => return self.hide(Until::Word),
            Expecting::Line => return self.hide(Until::Line(self.header_quote)),
            Expecting::Login => return without_login(word),
            Expecting::Sign if word.starts_with([':', '=']) => {
                let value = word.trim_start_matches([':', '=', '>']);
                let next = if word.starts_with(':') { Expecting::Line } else { Expecting::Value };
                if value.trim_matches(['\\', '$']).is_empty() {
                    self.expecting = next;
                    return word.to_owned();
                }
                return self.hide(Until::Word);
            }
            Expecting::Sign | Expecting::Nothing => {}
        }
        if let Some(kept) = self.short_option(word) {
            return kept;
        }
        if is_secret_name(word) || assignment(word).is_some() {
            self.header_quote = self.before.chars().last().filter(|c| is_quote(*c));
        }
        if let Some((name, sign, value)) = assignment(word) {
            let line = sign == ":" || is_header(name);
            // `Authorization: Bearer x`, `TOKEN="x y"`, `"password": "x"`: the value is in the next piece.
            if value.trim_matches(['\\', '$']).is_empty() {
                self.expecting = if line { Expecting::Line } else { Expecting::Value };
                return word.to_owned();
            }
            let hidden = self.hide(if is_header(name) { Until::Line(self.header_quote) } else { Until::Word });
            return format!("{name}{sign}{hidden}");
        }
        self.expecting = following(word);
        without_known_keys(&without_url_password(word))
    }

    /// A password behind a short option, for the few programs that take one there.
    fn short_option(&mut self, word: &str) -> Option<String> {
        let program = self.program.rsplit('/').next().unwrap_or_default();
        let takes = program.starts_with("mysql") || program.starts_with("mariadb") || program == "sshpass";
        let value = word.strip_prefix("-p").filter(|_| takes)?;
        if !value.is_empty() {
            return Some(format!("-p{}", self.hide(Until::Word)));
        }
        // Alone it makes mysql ask; sshpass takes the next word.
        if program == "sshpass" {
            self.expecting = Expecting::Value;
        }
        Some(word.to_owned())
    }

    /// Hides this word, and what belongs to it.
    fn hide(&mut self, until: Until) -> String {
        let quote = self.before.chars().last().filter(|c| is_quote(*c));
        self.hiding = match (until, quote) {
            (Until::Word | Until::Line(None), Some(quote)) => Some(Until::Quote(quote, self.last.ends_with('\\'))),
            (until, _) => Some(until),
        };
        REDACTED.to_owned()
    }
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\'' | '`')
}

/// What the word behind this one is.
fn following(word: &str) -> Expecting {
    let lower = word.to_ascii_lowercase();
    if matches!(lower.as_str(), "-u" | "--user" | "--proxy-user" | "--basic-auth") {
        return Expecting::Login;
    }
    if lower == "bearer" || word.starts_with("--") && is_secret_name(word) {
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
        _ => without_known_keys(word),
    }
}

/// Text without private keys and without keys of well-known formats, and with everything else as it was: for text that
/// somebody goes on to work with.
#[must_use]
pub fn keys(text: &str) -> String {
    let text = without_private_keys(text);
    let clean = |piece| match piece {
        Piece::Between(between) => between.to_owned(),
        Piece::Word(word) => without_known_keys(word),
    };
    pieces(&text).map(clean).collect()
}

/// Whether [`keys`] may find something: a quick look at bytes.
#[must_use]
pub fn may_hold_keys(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return true };
    text.contains("PRIVATE KEY") || KEYS.iter().any(|(start, _)| text.contains(start))
}

/// The beginning of a text, without secrets: enough to name it.
pub(crate) fn shown(text: &str) -> String {
    cut(&self::text(text), 256)
}

/// At most `limit` characters of a text, with a word on how much is missing.
pub(super) fn cut(text: &str, limit: usize) -> String {
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

/// Whether a variable, option, header or argument of this name holds a secret.
fn is_secret_name(name: &str) -> bool {
    let mut letters = String::with_capacity(name.len());
    letters.extend(name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()));
    const ANYWHERE: &[&str] = &[
        "password",
        "passwd",
        "passphrase",
        "secret",
        "apikey",
        "accesskey",
        "privatekey",
        "credential",
        "accesstoken",
        "authtoken",
        "refreshtoken",
        "sessiontoken",
        "bearertoken",
        "idtoken",
        "signingkey",
        "encryptionkey",
        "accountkey",
        "connectionstring",
        "authorization",
    ];
    const AT_END: &[&str] = &["token", "pwd", "pass", "passin", "passout", "pat", "cookie", "auth", "apikey", "sig"];
    const NEVER: &[&str] = &["pwd", "oldpwd", "path", "pat", "maxtokens", "compat", "repeat", "cat", "format"];
    if NEVER.contains(&letters.as_str()) {
        return false;
    }
    // Every word of a record is looked at, and most are no such name: one pass for what each of the names above holds.
    let holds_stem = letters.bytes().enumerate().any(|(at, byte)| {
        let stems: &[&str] = match byte {
            b'a' => &["auth"],
            b'c' => &["credential", "connectionstring"],
            b'k' => &["key"],
            b'p' => &["pass"],
            b's' => &["secret"],
            b't' => &["token"],
            _ => return false,
        };
        letters.get(at..).is_some_and(|rest| stems.iter().any(|stem| rest.starts_with(stem)))
    });
    if !holds_stem && !["pwd", "pat", "cookie", "sig"].iter().any(|end| letters.ends_with(end)) {
        return false;
    }
    // A variable whose name ends in KEY: STRIPE_KEY, SSH_PRIVATE_KEY.
    let shouted =
        name.ends_with("_KEY") && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    shouted
        || ANYWHERE.iter().any(|part| letters.contains(part))
        || AT_END.iter().any(|end| letters.ends_with(end) && (letters == *end || ends_as_word(name, end)))
}

/// The same for a member of an object, where `pwd` is no variable.
fn is_secret_key(name: &str) -> bool {
    is_secret_name(name) || name.eq_ignore_ascii_case("pwd")
}

/// `GH_TOKEN` and `ghToken` end in the word token; `compat` does not end in the word pat.
fn ends_as_word(name: &str, end: &str) -> bool {
    let Some(split) = name.len().checked_sub(end.len()) else { return false };
    let (Some(head), Some(tail)) = (name.get(..split), name.get(split..)) else { return false };
    let camel = head.ends_with(|c: char| c.is_ascii_lowercase()) && tail.starts_with(|c: char| c.is_ascii_uppercase());
    tail.eq_ignore_ascii_case(end) && (camel || !head.ends_with(|c: char| c.is_ascii_alphabetic()))
}

/// `https://user:password@host` without the password.
fn without_url_password(word: &str) -> String {
    let Some((scheme, rest)) = word.split_once("://") else { return word.to_owned() };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    match authority.rsplit_once('@').and_then(|(user, _)| user.split_once(':').or(Some(("", user)))) {
        Some((user, secret)) if !secret.is_empty() && (!user.is_empty() || secret.len() >= 16) => {
            let sign = if user.is_empty() { "" } else { ":" };
            let after = word.get(scheme.len() + 3 + user.len() + sign.len() + secret.len()..).unwrap_or_default();
            format!("{scheme}://{user}{sign}{REDACTED}{after}")
        }
        _ => word.to_owned(),
    }
}

/// Beginnings of keys of well-known formats, and how many characters of a key must follow.
const KEYS: &[(&str, usize)] = &[
    ("sk-", 20),
    ("sk_live_", 16),
    ("sk_test_", 16),
    ("rk_live_", 16),
    ("ghp_", 30),
    ("gho_", 30),
    ("ghu_", 30),
    ("ghs_", 30),
    ("ghr_", 30),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("xoxb-", 10),
    ("xoxp-", 10),
    ("xoxa-", 10),
    ("xoxs-", 10),
    ("xapp-", 10),
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 30),
    ("npm_", 30),
    ("pypi-", 30),
    ("hf_", 30),
    ("SG.", 30),
    ("eyJ", 30),
    ("dop_v1_", 30),
    ("AGE-SECRET-KEY-1", 30),
    ("whsec_", 16),
    ("shpat_", 16),
    ("xoxe-", 10),
    ("xoxe.", 10),
    ("glrt-", 16),
    ("gldt-", 16),
    ("glptt-", 16),
    ("dckr_pat_", 16),
    ("hvs.", 20),
    ("ya29.", 20),
    ("ATATT3", 30),
    ("lin_api_", 20),
    ("gsk_", 30),
    ("xai-", 30),
    ("pplx-", 30),
    ("r8_", 30),
    ("figd_", 20),
    ("PMAK-", 20),
    ("sbp_", 20),
    ("tskey-", 16),
    ("sq0atp-", 16),
    ("sq0csp-", 16),
    ("hooks.slack.com/services/", 20),
    ("discord.com/api/webhooks/", 20),
];

/// Whether a word holds the beginning of a key where one can begin: a look at each byte, for paths are long words.
fn may_begin_key(word: &str) -> bool {
    let mut before = b' ';
    word.bytes().enumerate().any(|(at, byte)| {
        let inside = std::mem::replace(&mut before, byte).is_ascii_alphanumeric();
        !inside && byte.is_ascii() && {
            let rest = word.get(at..).unwrap_or_default();
            KEYS.iter().any(|(start, _)| start.as_bytes().first() == Some(&byte) && rest.starts_with(start))
        }
    })
}

fn without_known_keys(word: &str) -> String {
    let of_key = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '+' | '=');
    if !may_begin_key(word) {
        return word.to_owned();
    }
    let mut out = String::new();
    let mut rest = word;
    loop {
        let found = KEYS
            .iter()
            .filter_map(|(start, least)| {
                // Most words are shorter than any key, and a hook looks at each of them for each kind of key.
                if rest.len() < start.len() + least {
                    return None;
                }
                rest.match_indices(start).find_map(|(at, _)| {
                    // `task-force-of-twenty-letters` holds `sk-`, but in the middle of a word; a key may still follow.
                    if rest.get(..at)?.ends_with(|c: char| c.is_ascii_alphanumeric()) {
                        return None;
                    }
                    let body = rest.get(at + start.len()..)?;
                    let length = body.find(|c| !of_key(c)).unwrap_or(body.len());
                    (length >= *least).then_some((at, at + start.len() + length))
                })
            })
            .min();
        let Some((from, to)) = found else {
            out.push_str(rest);
            return out;
        };
        out.push_str(rest.get(..from).unwrap_or_default());
        out.push_str(REDACTED);
        rest = rest.get(to..).unwrap_or_default();
    }
}

/// PEM blocks of private keys, to their end or, if that is missing, to the end of the text.
fn without_private_keys(text: &str) -> std::borrow::Cow<'_, str> {
    const END: &str = "-----END";
    if !text.contains("PRIVATE KEY") {
        return text.into();
    }
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("PRIVATE KEY") {
        let head = rest.get(..at).unwrap_or_default();
        let Some(begin) = head.rfind("-----BEGIN") else {
            let (passed, after) = rest.split_at_checked(at + "PRIVATE KEY".len()).unwrap_or((rest, ""));
            out.push_str(passed);
            rest = after;
            continue;
        };
        out.push_str(rest.get(..begin).unwrap_or_default());
        out.push_str(REDACTED);
        let body = rest.get(at..).unwrap_or_default();
        rest = body
            .find(END)
            .and_then(|end| body.get(end + END.len()..))
            .map_or("", |tail| tail.split_once("-----").map_or("", |(_, after)| after));
    }
    out.push_str(rest);
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each line holds a secret of at least one of the words `hunter2...`.
    #[test]
    fn secrets_are_taken_out() {
        let key = "hunter2hunter2hunter2hunter2hunter2hunter2";
        let cases = [
            "GITHUB_TOKEN=hunter2 gh pr list",
            "export AWS_SECRET_ACCESS_KEY='hunter2'; ls",
            "env DB_PASSWORD=hunter2 ./run",
            "PASSWORD=\"hunter2\" x",
            "curl -H 'Authorization: Bearer hunter2' https://x",
            "curl -H \"Authorization: Basic hunter2\" https://x",
            "curl -H authorization:hunter2",
            "curl -H 'X-Api-Key: hunter2' x",
            "mysql --password hunter2 db",
            "mysql --password=hunter2 db",
            "gh auth login --with-token hunter2",
            "git clone https://bob:hunter2@example.org/x.git",
            "git clone https://hunter2hunter2hunter2@example.org/x.git",
            "echo ghp_KEY > f",
            "echo sk-ant-KEY",
            "x=AKIAhunter2hunter2hunt",
            "echo '-----BEGIN OPENSSH PRIVATE KEY-----\nhunter2\n-----END OPENSSH PRIVATE KEY-----' > k",
            "-----BEGIN RSA PRIVATE KEY-----\nhunter2",
            "{\"password\": \"hunter2\", \"a\": 1}",
            "apiKey: hunter2",
            "curl -d '{\\\"password\\\":\\\"hunter2\\\"}' x",
            "curl -d \"{\\\"password\\\": \\\"hunter2 and hunter2\\\"}\" x",
            "PASSWORD='one two hunter2' x",
            "PASSWORD=one,hunter2 x",
            "PASSWORD=one\"two hunter2\" x",
            "PASSWORD=$'hunter2' x",
            "PASSWORD=\\\nhunter2 x",
            "PASSWORD=\"one\\\"hunter2\" x",
            "curl https://x/?a=b&access_token=hunter2",
            "curl 'https://x/?access_token=hunter2&b=c'",
            "curl https://x/#id_token=hunter2",
            "curl -H 'Authorization: ApiKey hunter2' x",
            "curl -H 'Authorization: Digest username=\"x\", response=hunter2' x",
            "curl -HAuthorization:hunter2 x",
            "curl -H 'Cookie: a=b; session=hunter2; c=hunter2' x",
            "curl --header=Authorization:hunter2 x",
            "curl -u ann:hunter2 https://x",
            "curl --user 'ann:hunter2' https://x",
            "mysql -phunter2 db",
            "/usr/bin/mysqldump -u root -phunter2 db",
            "sshpass -p hunter2 ssh x",
            "openssl enc -pass pass:hunter2",
            "DB_PASS=hunter2 x",
            "STRIPE_KEY=hunter2 x",
            "aws configure set aws_secret_access_key hunter2",
            "aws_secret_access_key = hunter2",
            "password: two words hunter2",
            "echo \"Proxy-Authorization: Basic hunter2\"",
            "AccountName=x;AccountKey=hunter2==;EndpointSuffix=y",
            "curl https://hooks.slack.com/services/hunter2hunter2hunter2hunter2",
        ];
        for case in cases {
            let case = case.replace("KEY", if case.contains("_KEY") && case.contains("ghp") { key } else { "KEY" });
            let case = case.replace("sk-ant-KEY", &format!("sk-ant-{key}"));
            let safe = text(&case);
            assert!(!safe.contains("hunter2"), "{case}\n{safe}");
            assert!(safe.contains(REDACTED), "{case}\n{safe}");
        }
    }

    #[test]
    fn what_is_no_secret_stays() {
        for case in [
            "PWD=/home/ann cargo test --locked && git push origin main",
            "git commit --author='Ann <ann@example.org>' -m 'fix: tokens of the parser'",
            "task-force-of-twenty-letters-and-more --format json",
            "PATH=/usr/bin:$PATH make -j4",
            "curl https://example.org:8080/a?b=c#d",
            "grep -rn 'PRIVATE KEY' src",
            "git clone git@github.com:a/b.git ssh://git@host/x",
            "--max-tokens 400 --compat",
            "sort -u names.txt && tar -p -xf a.tar && mkdir -p a/b",
            "git log --author=ann --pretty=format:%h -- src/token.rs",
            "docker run -u 1000 -p 8080:80 nginx",
            "cargo test secret_names_are_found -- --nocapture",
            "awk -F: '{print $1}' /etc/passwd",
        ] {
            assert_eq!(text(case), case);
        }
    }

    #[test]
    fn a_key_behind_something_that_only_looks_like_one_is_found() {
        let key = format!("sk-{}", "a1".repeat(20));
        for before in ["task-x:", "disk-a,", "x=mask-1;y="] {
            assert_eq!(text(&format!("echo {before}{key}")), format!("echo {before}{REDACTED}"));
        }
    }

    #[test]
    fn a_long_text_says_how_much_is_missing() {
        assert_eq!(cut("ääää", 2), "ää ... (4 more bytes)");
        assert_eq!(cut("ab", 2), "ab");
    }

    #[test]
    fn arguments_lose_the_values_of_secret_keys_at_any_depth() {
        let given = serde_json::json!({"url": "https://a:hunter2@b/", "auth": {"api_key": "hunter2", "n": 1}, "xs": ["TOKEN=hunter2"]});
        let kept = arguments(&given, 100);
        assert!(!kept.to_string().contains("hunter2"), "{kept}");
        assert_eq!(kept["auth"]["n"], 1);
    }

    #[test]
    fn secrets_in_the_shapes_that_tools_use_are_found() {
        for given in [
            serde_json::json!({"args": ["mysql", "--password", "hunter2", "db"]}),
            serde_json::json!({"args": ["curl", "-u", "ann:hunter2"]}),
            serde_json::json!({"args": ["curl", "-H", "Authorization: ApiKey hunter2"]}),
            serde_json::json!({"headers": [{"name": "X-Api-Key", "value": "hunter2"}]}),
            serde_json::json!({"password": ["hunter2", {"x": "hunter2"}]}),
            serde_json::json!({"secret": {"value": "hunter2"}}),
            serde_json::json!({"pwd": "hunter2", "client_secret": true}),
            serde_json::json!({"body": "{\"token\":\"hunter2\"}"}),
            serde_json::json!({"GH_TOKEN=hunter2": 1}),
        ] {
            let kept = arguments(&given, 100);
            assert!(!kept.to_string().contains("hunter2"), "{kept}");
        }
        let plain = serde_json::json!({"args": ["git", "log", "--author", "ann"], "n": [1, null, true]});
        assert_eq!(arguments(&plain, 100), plain);
    }

    proptest::proptest! {
        #[test]
        fn no_text_breaks_it(given in ".*") {
            let _ = text(&given);
        }

        #[test]
        fn a_key_is_found_wherever_it_stands(before in "[ =:\"'(/@]{0,4}", after in "[ \"');&|]{0,3}") {
            let key = "ghp_0123456789abcdefghij0123456789abcdef";
            let safe = text(&format!("echo {before}{key}{after}"));
            proptest::prop_assert!(!safe.contains("0123456789"), "{}", safe);
        }
    }

    #[test]
    fn the_quick_looks_pass_nothing_by() {
        for name in
            ["x_passphrase", "my-api.key", "idToken", "AccountKey", "PG_PASS", "db_pwd", "x-sig", "gh_pat", "cookie"]
        {
            assert!(is_secret_name(name), "{name}");
        }
        for (start, least) in KEYS {
            assert!(start.is_ascii());
            let key = format!("{start}{}", "a".repeat(*least));
            for word in [key.clone(), format!("é{key}"), format!("a/b-{key}"), format!("x={key}")] {
                assert!(without_known_keys(&word).contains(REDACTED), "{word}");
            }
        }
    }
}
