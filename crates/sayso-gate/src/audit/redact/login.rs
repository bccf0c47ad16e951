//! Who signs in, and the password beside it.

use super::key::{without_known_keys, without_url_password};
use super::table::NO_USERS;
use super::{REDACTED, has_scheme};

/// `user:password` without the password. Two numbers are a user and a group.
pub(super) fn without_login(word: &str) -> String {
    if has_scheme(word) {
        return without_known_keys(&without_url_password(word)).into_owned();
    }
    let numbers = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit() || byte == b':');
    match word.find([':', '%']).and_then(|at| Some((word.get(..=at)?, word.get(at + 1..)?))) {
        Some((user, password)) if !password.is_empty() && !numbers(word) => format!("{user}{REDACTED}"),
        _ => without_known_keys(word).into_owned(),
    }
}

/// `ann:password@host` without the password, where no scheme says that it is an address.
pub(super) fn without_login_at(word: &str, slashed: bool) -> Option<String> {
    if !word.contains('@') {
        return None;
    }
    // `:pserver:ann:x@host:/root`, `jdbc:oracle:thin:ann/x@host`
    for (begin, slashed) in [(":pserver:", false), (":thin:", true), (":oci:", true)] {
        if let Some(at) = word.find(begin).map(|at| at + begin.len()) {
            let (head, rest) = word.split_at_checked(at)?;
            return without_login_at(rest, slashed).map(|kept| format!("{head}{kept}"));
        }
    }
    let (login, place) = word.rsplit_once('@')?;
    let (user, password) = match slashed {
        true => login.split_once('/')?,
        false => login.split_once(':')?,
    };
    let sign = if slashed { '/' } else { ':' };
    let is_digest = place.starts_with("sha") && place.contains(':');
    let ordinary = word.contains("://") || NO_USERS.contains(&user) || user.contains('@') || password.contains('/');
    let empty = user.is_empty() || password.is_empty() || place.is_empty();
    (!is_digest && !ordinary && !empty).then(|| format!("{user}{sign}{REDACTED}@{place}"))
}

/// `host:5432:database:ann:password`, a line of `.pgpass`, without the password.
pub(super) fn without_pgpass(word: &str) -> Option<String> {
    if !word.contains(':') {
        return None;
    }
    let mut parts = word.splitn(5, ':');
    let [host, port, database, user, password] = [(); 5].map(|()| parts.next().unwrap_or_default());
    let is_port = port == "*" || !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let is_host = host == "*" || host.contains(|c: char| c.is_ascii_alphabetic() || c == '.');
    let fits = is_host && is_port && ![database, user, password].contains(&"") && !password.starts_with("//");
    fits.then(|| format!("{host}:{port}:{database}:{user}:{REDACTED}"))
}
