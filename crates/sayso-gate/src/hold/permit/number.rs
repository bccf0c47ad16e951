//! The numbers that hooks hand out, and the names of files that stand for them.

use crate::Error;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// Every word with its length, so that no two commands read alike.
pub(super) fn hash_of(words: &[impl AsRef<OsStr>]) -> String {
    hash("sayso words of a held run 1", words.iter().map(|word| word.as_ref().as_bytes()))
}

fn hash<'a>(purpose: &str, parts: impl Iterator<Item = &'a [u8]>) -> String {
    let mut hasher = blake3::Hasher::new_derive_key(purpose);
    for part in parts {
        hasher.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize().to_hex().to_string()
}

/// 128 bits that nobody can guess.
pub(super) fn fresh_number(folder: &Path) -> Result<String, Error> {
    let mut bits = [0u8; 16];
    getrandom::fill(&mut bits).map_err(|e| Error::io("use", folder, std::io::Error::other(e.to_string())))?;
    Ok(bits.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The name of a permit's file: who lists the folder learns no number from it.
pub(super) fn name_of(id: &str) -> String {
    hash("sayso number of a held run 1", std::iter::once(id.as_bytes()))
}

pub(super) fn name_of_call(agent: Option<&str>, session: Option<&str>, call: &str) -> String {
    let given = |part: Option<&'static str>| part.unwrap_or_default().as_bytes();
    let parts = [
        given(agent.map(|_| "agent")),
        agent.unwrap_or_default().as_bytes(),
        given(session.map(|_| "session")),
        session.unwrap_or_default().as_bytes(),
        call.as_bytes(),
    ];
    hash("sayso call of a held run 1", parts.into_iter())
}

pub(super) fn is_name(name: &str) -> bool {
    name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}
