//! `sayso hook` alone, for agents to start at every call: a small program, of which less has to be mapped and read
//! before it answers. `sayso install` registers it where it lies beside `sayso`.
//!
//! It takes the words of `sayso hook` and no others. What `install` does not write is explained by `sayso` itself.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

/// The exit code that agents take for a block.
const BLOCK: u8 = 2;

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    match words.next() {
        Some(word) if word == "hook" => sayso_agents::hook_line(words).unwrap_or_else(the_long_way),
        Some(word) if word == "--version" => {
            println!("sayso-hook {}", env!("CARGO_PKG_VERSION"));
            ExitCode::SUCCESS
        }
        // INVARIANT: nothing but a hook can be reached through this program, least of all a command of the owner's.
        _ => blocked("Only `sayso-hook hook AGENT` can be run; see `sayso hook --help`."),
    }
}

/// Becomes `sayso hook`. Whatever keeps it from that blocks the call.
fn the_long_way() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().skip(2).collect();
    let error = match std::env::current_exe() {
        Ok(path) => Command::new(path.with_file_name("sayso")).arg("hook").args(words).exec(),
        Err(error) => error,
    };
    blocked(&format!("`sayso` could not be started from the folder of `sayso-hook` ({error})."))
}

fn blocked(why: &str) -> ExitCode {
    eprintln!("Sayso: the call is blocked. {why}");
    ExitCode::from(BLOCK)
}
