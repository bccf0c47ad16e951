//! Options that hold a program back.

/// Options without which a program does what it only talks about with them, by their canonical names.
const REHEARSES: &[&str] = &[
    "--check",
    "--check-only",
    "--collect-only",
    "--diff",
    "--dry-run",
    "--just-print",
    "--list",
    "--listTests",
    "--list-different",
    "--no-run",
    "--noEmit",
    "--plan",
    "--print-config",
    "--show-config",
    "--showConfig",
    "--simulate",
    "--what-if",
    "-N",
    "-n",
];

/// Whether an option holds a program back: whoever said yes to a rehearsal did not say yes to the play.
#[must_use]
pub fn rehearses(option: &str) -> bool {
    REHEARSES.contains(&option)
}
