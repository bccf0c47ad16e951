//! Attempts to get out of a hold, one for each name. Run by `tests/hold`, held and plain.
//!
//! What there is to win are canaries in a temporary folder, which the test has made: an attempt that gets through does no
//! harm. It says `THROUGH` if it did, or prints what it read.
#![allow(unsafe_code, reason = "attempts make the system calls that no library wraps")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed attempt may end as it likes"
)]

mod files;
mod guarded;
mod kernel;
mod processes;
mod shared;
mod sockets;
mod surroundings;

use std::path::PathBuf;

/// Where things are.
pub(crate) fn at(name: &str) -> PathBuf {
    PathBuf::from(std::env::var_os(name).unwrap_or_default())
}

pub(crate) fn number(name: &str) -> i64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(-1)
}

/// Says that something worked that should not have.
pub(crate) fn through<T, E>(result: Result<T, E>) {
    if result.is_ok() {
        println!("THROUGH");
    }
}

/// As `through`, for what system calls return.
pub(crate) fn through_if(condition: bool) {
    through(if condition { Ok(()) } else { Err(()) });
}

pub(crate) type Attempt = (&'static str, fn());

fn main() {
    let name = std::env::args().nth(1).unwrap_or_default();
    let all = [files::ALL, guarded::ALL, processes::ALL, sockets::ALL, shared::ALL, kernel::ALL];
    if name == "--list" {
        for (name, _) in all.iter().flat_map(|them| them.iter()) {
            println!("{name}");
        }
        return;
    }
    if let Some(prepare) = surroundings::named(&name) {
        return prepare();
    }
    if let Some(remove) = match name.as_str() {
        "--share" => Some(false),
        "--unshare" => Some(true),
        _ => None,
    } {
        return processes::share(remove);
    }
    match all.iter().flat_map(|them| them.iter()).find(|(its, _)| *its == name) {
        Some((_, attempt)) => attempt(),
        None => {
            eprintln!("no attempt is called {name}");
            std::process::exit(99);
        }
    }
}
