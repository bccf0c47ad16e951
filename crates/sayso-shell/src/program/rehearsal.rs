//! Options that hold a program back. `programs/environment.prog` names them, since they mean the same to every program.

use super::built::REHEARSES;

/// Whether an option, by its canonical name, holds a program back: whoever said yes to a rehearsal did not say yes to the
/// play.
#[must_use]
pub fn rehearses(option: &str) -> bool {
    REHEARSES.contains(&option)
}
