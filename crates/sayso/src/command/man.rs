//! `sayso man`: the manual page.

use crate::cli::Cli;
use crate::failure::Outcome;
use clap::CommandFactory as _;
use std::io::{Write as _, stdout};
use std::process::ExitCode;

/// Print the manual page for Sayso or one of its commands.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sayso man | man -l -
  sayso man check > sayso-check.1")]
pub(crate) struct Man {
    /// The command
    command: Option<String>,
}

/// Runs it.
pub(crate) fn run(man: &Man) -> Outcome {
    let mut cli = Cli::command();
    cli.build();
    let page = match &man.command {
        None => cli,
        Some(name) => match cli.find_subcommand(name) {
            Some(command) => command.clone().name(format!("sayso-{name}")),
            None => {
                return Err(crate::failure::Failure::wrong(format!(
                    "error: there is no command {}\n\n  List them with `sayso help`.",
                    sayso_policy::explain::visible(name)
                )));
            }
        },
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page).render(&mut text)?;
    stdout().write_all(&text)?;
    Ok(ExitCode::SUCCESS)
}
