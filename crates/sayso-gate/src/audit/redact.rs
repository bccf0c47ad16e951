//! Secrets are taken out before anything is stored.
//!
//! Written by hand and not with regular expressions: a hook would spend most of its life compiling them. It errs on
//! the side of taking out too much.

use serde_json::Value;

/// What stands in a secret's place.
const REDACTED: &str = "[redacted]";
/// How deep arguments are looked at; below that they are left out.
const DEEPEST: usize = 32;
/// How many members of one array or object are kept.
const MEMBERS: usize = 64;

/// Arguments without secrets; strings are cut to `limit` characters.
#[must_use]
pub fn arguments(value: &Value, limit: usize) -> Value {
    clean(value, limit, 0)
}

fn clean(value: &Value, limit: usize, depth: usize) -> Value {
    match value {
        Value::String(s) => Value::String(cut(&text(s), limit)),
        Value::Array(_) | Value::Object(_) if depth >= DEEPEST => Value::String("[too deep]".to_owned()),
        Value::Array(items) => Value::Array(items.iter().take(MEMBERS).map(|v| clean(v, limit, depth + 1)).collect()),
        Value::Object(members) => Value::Object(
            members
                .iter()
                .take(MEMBERS)
                .map(|(key, value)| {
                    let secret = is_secret_name(key) && !matches!(value, Value::Array(_) | Value::Object(_));
                    let value = if secret { REDACTED.into() } else { clean(value, limit, depth + 1) };
                    (cut(&text(key), 256), value)
                })
                .collect(),
        ),
        other => other.clone(),
    }
}

/// Text without secrets: values of assignments and options with a secret's name, bearer tokens, passwords in URLs,
/// private keys, and keys of well-known formats.
#[must_use]
pub fn text(text: &str) -> String {
    let text = without_private_keys(text);
    let mut out = String::with_capacity(text.len());
    let mut expecting = Expecting::Nothing;
    for piece in pieces(&text) {
        match piece {
            Piece::Between(between) => {
                out.push_str(between);
                if between.contains(['\n', ';', '|', '&']) {
                    expecting = Expecting::Nothing;
                }
            }
            Piece::Word(word) => {
                let (written, next) = redact_word(word, expecting);
                out.push_str(&written);
                expecting = next;
            }
        }
    }
    out
}

/// At most `limit` characters of a text, with a word on how much is missing.
pub(super) fn cut(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        None => text.to_owned(),
        Some((end, _)) => format!("{} ... ({} more bytes)", text.get(..end).unwrap_or_default(), text.len() - end),
    }
}

/// What the next word may be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expecting {
    Nothing,
    /// A secret's name was seen, as in `"password": "x"`: a sign may follow.
    Sign,
    /// `Authorization:` was seen: a scheme or a secret.
    Scheme,
    /// The next word is a secret.
    Secret,
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

fn redact_word(word: &str, expecting: Expecting) -> (String, Expecting) {
    let lower = word.to_ascii_lowercase();
    if matches!(lower.as_str(), "bearer" | "basic" | "token") && expecting == Expecting::Scheme || lower == "bearer" {
        return (word.to_owned(), Expecting::Secret);
    }
    if expecting == Expecting::Sign
        && let Some(value) = word.strip_prefix([':', '='])
    {
        let next = if word.starts_with(':') { Expecting::Scheme } else { Expecting::Secret };
        return match value {
            "" => (word.to_owned(), next),
            _ => (REDACTED.to_owned(), Expecting::Nothing),
        };
    }
    if matches!(expecting, Expecting::Scheme | Expecting::Secret) {
        return (REDACTED.to_owned(), Expecting::Nothing);
    }
    if let Some((name, value)) = word.split_once(['=', ':']).filter(|(name, _)| is_secret_name(name)) {
        let sign = word.get(name.len()..=name.len()).unwrap_or("=");
        let header = sign == ":";
        return match value {
            // `Authorization: Bearer x`, `TOKEN="x y"`, `"password": "x"`: the value is in the next piece.
            "" if header => (word.to_owned(), Expecting::Scheme),
            "" => (word.to_owned(), Expecting::Secret),
            _ => (format!("{name}{sign}{REDACTED}"), Expecting::Nothing),
        };
    }
    if word.starts_with("--") && is_secret_name(word) {
        return (word.to_owned(), Expecting::Secret);
    }
    let next = if is_secret_name(word) { Expecting::Sign } else { Expecting::Nothing };
    (without_known_keys(&without_url_password(word)), next)
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
    ];
    const AT_END: &[&str] = &["token", "pwd", "pat", "authorization", "cookie", "auth", "apikey"];
    const NEVER: &[&str] = &["pwd", "oldpwd", "path", "pat", "maxtokens", "compat", "repeat", "cat", "format"];
    if NEVER.contains(&letters.as_str()) {
        return false;
    }
    ANYWHERE.iter().any(|part| letters.contains(part))
        || AT_END.iter().any(|end| letters.ends_with(end) && (letters == *end || ends_as_word(name, end)))
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
];

fn without_known_keys(word: &str) -> String {
    let of_key = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '+' | '=');
    let mut out = String::new();
    let mut rest = word;
    loop {
        let found = KEYS
            .iter()
            .filter_map(|(start, least)| {
                let at = rest.find(start)?;
                let before = rest.get(..at)?;
                // `task-force-of-twenty-letters` holds `sk-`, but in the middle of a word.
                let inside = before.ends_with(|c: char| c.is_ascii_alphanumeric());
                let body = rest.get(at + start.len()..)?;
                let length = body.find(|c| !of_key(c)).unwrap_or(body.len());
                (!inside && length >= *least).then_some((at, at + start.len() + length))
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
        ] {
            assert_eq!(text(case), case);
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
}
