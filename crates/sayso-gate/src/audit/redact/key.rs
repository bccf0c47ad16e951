//! Keys that are known by their format, wherever they stand.

use super::table::DIALLED;
use super::{Piece, REDACTED, last_part, pieces};
use std::borrow::Cow;

/// Text without private keys and without keys of well-known formats, and with everything else as it was: for text that
/// somebody goes on to work with.
#[must_use]
pub fn keys(text: &str) -> String {
    let text = without_private_keys(text);
    let clean = |piece| match piece {
        Piece::Between(between) => between.into(),
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

/// `https://user:password@host` without the password, and without the user where that is the secret: in
/// `https://TOKEN:x@host` it is, and a lone one in an address of the web may be.
pub(super) fn without_url_password(word: &str) -> Cow<'_, str> {
    let address = if word.contains(':') { word.split_once("://") } else { None };
    let Some((scheme, rest)) = address else { return word.into() };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let Some((login, _)) = authority.rsplit_once('@').filter(|(login, _)| !login.is_empty()) else {
        return without_slashed_password(word, scheme, rest).unwrap_or_else(|| word.into());
    };
    let kind = scheme.to_ascii_lowercase();
    // `nats://TOKEN@h` is one too.
    let of_web = kind.ends_with("http") || kind.ends_with("https") || kind.ends_with("nats");
    let kept = match login.split_once(':') {
        Some((_, "" | "x" | "x-oauth-basic" | "x-oauth-token" | "api_token" | "token")) => REDACTED.to_owned(),
        Some((user, _)) => format!("{user}:{REDACTED}"),
        None if of_web || login.len() >= 16 => REDACTED.to_owned(),
        None => return word.into(),
    };
    let after = word.get(scheme.len() + 3 + login.len()..).unwrap_or_default();
    format!("{scheme}://{kept}{after}").into()
}

/// `postgres://ann:a/b@db/app`: a password that somebody wrote as it is.
fn without_slashed_password<'w>(word: &str, scheme: &str, rest: &str) -> Option<Cow<'w, str>> {
    let kind = last_part(scheme).to_ascii_lowercase();
    let (login, place) =
        rest.split(['?', '#']).next()?.rsplit_once('@').filter(|_| DIALLED.contains(&kind.as_str()))?;
    let (user, password) = login.split_once(':')?;
    // `h:5432/a@b` is a host with its port.
    let port = password.split('/').next().unwrap_or_default();
    let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let after = word.get(scheme.len() + 3 + login.len() + 1 + place.len()..).unwrap_or_default();
    (!is_port).then(|| format!("{scheme}://{user}:{REDACTED}@{place}{after}").into())
}

/// Beginnings of keys of well-known formats, and how many characters of a key must follow.
pub(super) const KEYS: &[(&str, usize)] = &[
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
    ("api.telegram.org/bot", 20),
    ("dp.pt.", 30),
    ("dapi", 32),
    ("SK", 32),
    ("fo1_", 20),
    ("rubygems_", 30),
    ("NRAK-", 20),
    ("EAAC", 20),
    ("tfp_", 20),
    ("nvapi-", 20),
    ("lsv2_", 20),
    ("ntn_", 20),
    ("key-", 32),
    ("rk_test_", 16),
    ("shpss_", 16),
    ("shpca_", 16),
    ("shppa_", 16),
    ("GOCSPX-", 20),
    ("1//0", 30),
    ("hvb.", 20),
    ("hvr.", 20),
    ("pscale_tkn_", 20),
    ("pscale_pw_", 20),
    ("pscale_oauth_", 20),
    ("glcbt-", 16),
    ("glimt-", 16),
    ("glsoat-", 16),
    ("glagent-", 20),
    ("gloas-", 20),
    ("glft-", 16),
    ("glsa_", 20),
    ("glc_", 30),
    ("sntrys_", 20),
    ("sntryu_", 20),
    ("doo_v1_", 30),
    ("dor_v1_", 30),
    ("pcsk_", 30),
    ("tvly-", 20),
    ("csk-", 30),
    ("sb_secret_", 20),
    ("ops_", 40),
    ("pat-na1-", 20),
    ("pat-eu1-", 20),
    ("xkeysib-", 30),
    ("xsmtpsib-", 30),
    ("LTAI", 16),
    ("dt0c01.", 24),
    ("CFPAT-", 30),
    ("nfp_", 30),
    ("nfc_", 30),
    ("aio_", 24),
    ("dckr_oat_", 20),
    ("fm1r_", 30),
    ("fm2_", 30),
    ("sgp_", 30),
    ("AKCp", 40),
    ("xoxd-", 10),
    ("xoxr-", 10),
    ("sess-", 30),
    ("vercel_blob_rw_", 20),
    ("phx_", 30),
    ("rnd_", 24),
    ("EAAA", 40),
    ("sl.B", 60),
    ("tgp_v1_", 30),
    ("SWMTKN-1-", 30),
    ("PMAT-", 20),
    ("ATCTT3", 30),
    ("atlasv1.", 40),
    ("EZAK", 40),
    ("shippo_live_", 30),
    ("ctx7sk-", 20),
];

/// Of those that begin like an ordinary word: hexadecimal digits follow, and nothing else.
const HEXADECIMAL: &[&str] = &["dapi", "SK", "key-"];

/// How long the key is whose beginning stands before this.
fn length(start: &str, body: &str) -> usize {
    let ends = |c: char| match c {
        _ if HEXADECIMAL.contains(&start) => !c.is_ascii_hexdigit(),
        ':' => !start.ends_with("/bot"),
        _ => !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-' | '.' | '/' | '+' | '='),
    };
    body.find(ends).unwrap_or(body.len())
}

/// Whether a word holds the beginning of a key where one can begin: a look at each byte, for paths are long words.
fn may_begin_key(word: &str) -> bool {
    let mut before = b' ';
    word.bytes().enumerate().any(|(at, byte)| {
        let inside = std::mem::replace(&mut before, byte).is_ascii_alphanumeric();
        !inside && begins_key(byte) && {
            let rest = word.get(at..).unwrap_or_default();
            KEYS.iter().any(|(start, _)| start.as_bytes().first() == Some(&byte) && rest.starts_with(start))
        }
    })
}

/// Whether one of the keys begins with this byte.
fn begins_key(byte: u8) -> bool {
    // One bit for each: all of them are ASCII.
    const FIRST: u128 = {
        let (mut first, mut all) = (0, KEYS);
        while let [(start, _), rest @ ..] = all {
            if let [byte, ..] = start.as_bytes() {
                first |= 1 << *byte;
            }
            all = rest;
        }
        first
    };
    byte.is_ascii() && FIRST >> byte & 1 == 1
}

pub(super) fn without_known_keys(word: &str) -> Cow<'_, str> {
    if !may_begin_key(word) {
        return word.into();
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
                    let length = length(start, body);
                    (length >= *least).then_some((at, at + start.len() + length))
                })
            })
            .min();
        let Some((from, to)) = found else {
            out.push_str(rest);
            return out.into();
        };
        out.push_str(rest.get(..from).unwrap_or_default());
        out.push_str(REDACTED);
        rest = rest.get(to..).unwrap_or_default();
    }
}

/// PEM blocks of private keys, to their end or, if that is missing, to the end of the text.
pub(super) fn without_private_keys(text: &str) -> std::borrow::Cow<'_, str> {
    const END: &str = "-----END";
    // Every text of a record is looked at, and both ways to write one hold this letter.
    if !text.contains('P') {
        return text.into();
    }
    // As PuTTY writes it: nothing says where it ends.
    if let Some((before, _)) = text.split_once("Private-Lines:") {
        return format!("{}Private-Lines: {REDACTED}", without_private_keys(before)).into();
    }
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
