//! Showing that one knows the key without saying it.
//!
//! A command speaks to the server over a file in a folder that every program of this user can write. An attacker would
//! put a socket of its own there, take the key that a person types, and use it itself. So a command says what only this
//! key makes for the process that it speaks to, as the kernel names it: passed on, that opens nothing elsewhere.

/// Rounds, so that a proof does not give the key away to whoever tries all of them: some milliseconds each.
const ROUNDS: u32 = 1 << 16;

/// This process as those see it who connect to its socket; where the kernel does not tell, nobody is named.
pub(crate) fn own_id() -> u32 {
    if cfg!(target_os = "linux") { std::process::id() } else { 0 }
}

/// What a key makes for the server of this process id. The number used once keeps anybody from working ahead.
pub(crate) fn prove(key: &str, nonce: &str, server: u32) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"sayso key 1\n").update(&server.to_le_bytes());
    for part in [key, nonce] {
        hasher.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes()).update(part.as_bytes());
    }
    let mut made = hasher.finalize();
    for _ in 0..ROUNDS {
        made = blake3::hash(made.as_bytes());
    }
    made
}
