//! Names that secrets have.

/// Whether a variable, option, header or argument of this name holds a secret.
pub(super) fn is_secret_name(name: &str) -> bool {
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
        "xamzsignature",
        "xgoogsignature",
    ];
    const AT_END: &[&str] =
        &["token", "pwd", "pass", "passin", "passout", "pat", "cookie", "auth", "apikey", "sig", "jwt"];
    const NEVER: &[&str] = &["pwd", "oldpwd", "path", "pat", "maxtokens", "compat", "repeat", "cat", "format"];
    // `--pwd` is an option and no variable of the shell.
    if NEVER.contains(&letters.as_str()) && !(letters == "pwd" && name.starts_with('-')) {
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
            b'x' => &["xamzsignature", "xgoogsignature"],
            _ => return false,
        };
        letters.get(at..).is_some_and(|rest| stems.iter().any(|stem| rest.starts_with(stem)))
    });
    if !holds_stem && !["pwd", "pat", "cookie", "sig", "jwt"].iter().any(|end| letters.ends_with(end)) {
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
pub(super) fn is_secret_key(name: &str) -> bool {
    is_secret_name(name) || name.eq_ignore_ascii_case("pwd")
}

/// `GH_TOKEN` and `ghToken` end in the word token; `compat` does not end in the word pat.
fn ends_as_word(name: &str, end: &str) -> bool {
    let Some(split) = name.len().checked_sub(end.len()) else { return false };
    let (Some(head), Some(tail)) = (name.get(..split), name.get(split..)) else { return false };
    let camel = head.ends_with(|c: char| c.is_ascii_lowercase()) && tail.starts_with(|c: char| c.is_ascii_uppercase());
    tail.eq_ignore_ascii_case(end) && (camel || !head.ends_with(|c: char| c.is_ascii_alphabetic()))
}
