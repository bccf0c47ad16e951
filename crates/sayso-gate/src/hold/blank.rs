//! Settings and variables without the secrets in them.
//!
//! Tools need their settings to work: which registry, which proxy, which name stands in a commit. A held run reads them with
//! the values of passwords and tokens left out. What cannot be told apart is left out too.

use crate::audit::{is_secret_name, redact_keys};

/// Names that end like a secret's and are none: the name of a key is not the key.
const NO_SECRETS: [&str; 2] = ["signingkey", "gpgkey"];

/// A text of settings without secrets; `None`: there are none in it.
pub(super) fn settings(text: &str) -> Option<String> {
    let without = lines(&elements(&redact_keys(text)));
    (without != text).then_some(without)
}

/// The value of a variable without the login of an address in it. `None`: there is no secret in it; `Some(None)`: it is one.
pub(super) fn variable(value: &str) -> Option<Option<String>> {
    if redact_keys(value) != value {
        return Some(None);
    }
    let without = addresses(value);
    (without != value).then_some(Some(without))
}

fn lines(text: &str) -> String {
    text.split_inclusive('\n').map(line).collect()
}

/// `name = value`, `name: value`, `//host/:_authToken=value`, `<add key="Password" value="x"/>`.
fn line(line: &str) -> String {
    let (body, end) = line.split_at(line.trim_end_matches(['\n', '\r']).len());
    let bare = body.trim_start();
    if bare.starts_with(['#', ';']) {
        return addresses(line);
    }
    if let Some((before, after)) = body.split_once("value=\"")
        && let Some((_, rest)) = after.split_once('"')
        && names_secret(before)
    {
        return format!("{before}value=\"\"{rest}{end}");
    }
    let assigned = body.split_once('=').or_else(|| body.split_once(": "));
    let Some((name, value)) = assigned.filter(|(name, _)| !name.trim().is_empty()) else { return addresses(line) };
    let (name, value) = (name.trim_end(), value.trim_start());
    let sent = value.to_ascii_lowercase();
    // Git asks a helper for a password, which may stand in the very line.
    let speaks = sent.contains("authorization") || value.contains('!') && names_secret(value);
    if !names_secret(name) && !speaks {
        return addresses(line);
    }
    let sign = if body.contains('=') { "=" } else { ":" };
    let quotes = if value.starts_with('"') { "\"\"" } else { "''" };
    let quoted = value.starts_with(['"', '\'']);
    format!("{name} {sign} {}{end}", if quoted { quotes } else { "" })
}

/// Whether one of the words here is a secret's name.
fn names_secret(text: &str) -> bool {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-')));
    let words = words.filter(|word| !word.is_empty());
    // npm's own names begin with an underscore: `_auth` is a login.
    words.into_iter().any(|word| {
        let bare = word.trim_start_matches('_').to_ascii_lowercase();
        let named = is_secret_name(word) || word.starts_with("_auth") || bare == "password";
        named && !NO_SECRETS.contains(&bare.replace('-', "").as_str())
    })
}

/// `<password>x</password>`, over lines too.
fn elements(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        out.push_str(before);
        out.push('<');
        rest = after;
        let Some((tag, inside)) = after.split_once('>') else { continue };
        let plain = !tag.is_empty() && tag.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
        let closed = format!("</{tag}>");
        if plain
            && names_secret(tag)
            && let Some(at) = inside.find(&closed)
        {
            out.push_str(tag);
            out.push('>');
            rest = inside.get(at..).unwrap_or_default();
        }
    }
    out.push_str(rest);
    out
}

/// Without `login@` in addresses. One of ssh stays: there it is only a name.
fn addresses(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        out.push_str(before);
        let end = after.find(|c: char| "/?#\"'<> \t\r\n|,".contains(c)).unwrap_or(after.len());
        let (authority, following) = after.split_at(end);
        let scheme = before.trim_end_matches("://").to_ascii_lowercase();
        let kept = match authority.rsplit_once('@') {
            Some((login, host)) if login.contains(':') || !scheme.ends_with("ssh") => host,
            _ => authority,
        };
        out.push_str(kept);
        rest = following;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line of settings, and what is left of it.
    const LINES: &[(&str, &str)] = &[
        ("//registry.example/:_authToken=hunter2", "//registry.example/:_authToken = "),
        ("_auth=aHVudGVyMg==", "_auth = "),
        ("//r.example/:_password=\"aHVudGVyMg==\"", "//r.example/:_password = \"\""),
        ("registry=https://r.example/npm/", "registry=https://r.example/npm/"),
        ("index-url = https://ann:hunter2@pypi.example/simple", "index-url = https://pypi.example/simple"),
        ("token = \"hunter2\"", "token = \"\""),
        ("\tpassword: hunter2", "\tpassword : "),
        ("npmAuthToken: 'hunter2'", "npmAuthToken : ''"),
        ("[url \"https://hunter2@github.com/\"]", "[url \"https://github.com/\"]"),
        ("\textraheader = AUTHORIZATION: basic aHVudGVyMg==", "\textraheader = "),
        ("\thelper = \"!f() { echo password=hunter2; }; f\"", "\thelper = \"\""),
        ("\thelper = store", "\thelper = store"),
        ("\tsigningkey = ABCDEF0123", "\tsigningkey = ABCDEF0123"),
        ("\tname = Ann Onymous", "\tname = Ann Onymous"),
        ("\tsshCommand = ssh -i ~/.ssh/work", "\tsshCommand = ssh -i ~/.ssh/work"),
        ("url = ssh://git@github.com/a/b", "url = ssh://git@github.com/a/b"),
        ("proxy = http://ann:hunter2@proxy.example:3128", "proxy = http://proxy.example:3128"),
        ("<password>hunter2</password>", "<password></password>"),
        ("<add key=\"ClearTextPassword\" value=\"hunter2\" />", "<add key=\"ClearTextPassword\" value=\"\" />"),
        ("# https://ann:hunter2@old.example", "# https://old.example"),
    ];

    #[test]
    fn settings_lose_their_secrets_and_nothing_else() {
        for (given, left) in LINES {
            let without = settings(&format!("{given}\n")).unwrap_or_else(|| format!("{given}\n"));
            assert_eq!(without, format!("{left}\n"));
            assert!(!without.contains("hunter2") && !without.contains("aHVudGVyMg"), "{without}");
        }
        assert_eq!(settings("[user]\n\tname = Ann\n\temail = a@b.example\n"), None);
        let spread = settings("<server>\n<password>\n hunter2\n</password></server>\n").unwrap();
        assert!(!spread.contains("hunter2") && spread.contains("</password></server>"), "{spread}");
        let known = format!("x ghp_{}\n", "a1".repeat(18));
        assert!(!settings(&known).unwrap().contains("a1a1"));
    }

    #[test]
    fn a_variable_keeps_its_address_and_loses_its_login() {
        assert_eq!(variable("http://ann:hunter2@proxy:3128").unwrap().unwrap(), "http://proxy:3128");
        assert_eq!(variable(&format!("ghp_{}", "a1".repeat(18))), Some(None));
        for plain in ["/usr/bin:/bin", "https://pypi.example/simple", "ssh://git@x/y", "a@b.example"] {
            assert_eq!(variable(plain), None, "{plain}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_breaks_it(text in "[ -~\\n]{0,200}") {
            let _ = (settings(&text), variable(&text));
        }

        #[test]
        fn a_password_in_an_address_is_found(before in "[a-z =\"'\\[]{0,8}", password in "hunter2[a-z0-9%]{0,5}") {
            let text = format!("{before}https://ann:{password}@host.example/x");
            proptest::prop_assert!(!settings(&text).unwrap().contains("hunter2"));
        }
    }
}
