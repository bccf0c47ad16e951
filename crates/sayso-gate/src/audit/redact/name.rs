//! Names that secrets have.

/// Whether a variable, option, header or argument of this name holds a secret.
pub(super) fn is_secret_name(name: &str) -> bool {
    if !may_name_secret(name) {
        return false;
    }
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
    // A variable whose name ends in KEY: STRIPE_KEY, SSH_PRIVATE_KEY.
    let shouted =
        name.ends_with("_KEY") && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    shouted
        || ANYWHERE.iter().any(|part| letters.contains(part))
        || AT_END.iter().any(|end| letters.ends_with(end) && (letters == *end || ends_as_word(name, end)))
}

/// Whether a word, or a part of it, may be such a name. Every word of a record is looked at, and most are none: one pass
/// for the beginnings of what each of the names above holds, with nothing copied.
pub(super) fn may_name_secret(word: &str) -> bool {
    let mut last = 0_u32;
    word.bytes().filter(u8::is_ascii_alphanumeric).any(|byte| {
        last = last << 8 | u32::from(byte.to_ascii_lowercase());
        let four = matches!(
            &last.to_be_bytes(),
            b"auth" | b"cook" | b"conn" | b"cred" | b"pass" | b"secr" | b"toke" | b"xamz" | b"xgoo"
        );
        four || matches!(&last.to_be_bytes(), [_, b'j', b'w', b't'] | [_, b'k', b'e', b'y'] | [_, b'p', b'a', b't'])
            || matches!(&last.to_be_bytes(), [_, b'p', b'w', b'd'] | [_, b's', b'i', b'g'])
    })
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
