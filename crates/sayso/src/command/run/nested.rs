//! `sayso run` inside a hold: the outer one counts.
//!
//! A held program has no policy, no record and no way to make a hold, and needs none: whatever it starts is held already. So
//! the command takes this process's place. Who only pretends to be held gets what it would have without Sayso.

use super::{NOT_FOUND, NOT_HELD, Stop};
use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// Whether this process is held whole, by Sayso: its first process is Sayso's, it has one user, no capability can come
/// back, and a filter is there for good.
///
/// INVARIANT: a container must not be taken for a hold, however tight it is: nothing would hold the command there.
pub(super) fn is_inside() -> bool {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    if read("/proc/1/comm").trim() != "sayso" {
        return false;
    }
    let status = read("/proc/self/status");
    let is = |name: &str, wanted: &str| {
        status.lines().filter_map(|line| line.split_once(':')).any(|(key, value)| key == name && value.trim() == wanted)
    };
    let user = rustix::process::geteuid().as_raw().to_string();
    let one_user = read("/proc/self/uid_map").split_whitespace().eq([user.as_str(), user.as_str(), "1"]);
    one_user && is("NoNewPrivs", "1") && is("Seccomp", "2") && is("CapBnd", "0000000000000000")
}

/// Becomes the command. Returns why not.
pub(super) fn become_it(words: &[OsString]) -> Stop {
    let Some((program, rest)) = words.split_first() else { return Stop::not_allowed("no command given") };
    let error = Command::new(program).args(rest).exec();
    let code = if error.kind() == std::io::ErrorKind::NotFound { NOT_FOUND } else { NOT_HELD };
    Stop { code, text: format!("{}: {error}", program.display()) }
}
