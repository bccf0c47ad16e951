//! `sayso completions`: for the shell that people type in.

use crate::failure::Outcome;
use std::io::{Write as _, stdout};
use std::process::ExitCode;

/// Print shell completions.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sayso completions bash > ~/.local/share/bash-completion/completions/sayso
  sayso completions zsh > \"${fpath[1]}/_sayso\"
  sayso completions fish > ~/.config/fish/completions/sayso.fish")]
pub(crate) struct Completions {
    /// The shell
    shell: clap_complete::Shell,
}

/// Runs it.
pub(crate) fn run(completions: &Completions) -> Outcome {
    // To memory first: the generator panics when a pipe is closed.
    let mut script = Vec::new();
    clap_complete::generate(completions.shell, &mut crate::cli::command(), "sayso", &mut script);
    stdout().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}
