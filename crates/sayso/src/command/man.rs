//! `sayso man`: the manual pages.

use crate::failure::{Failure, Outcome};
use sayso_policy::explain::visible;
use std::io::{Write as _, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Print the manual page of Sayso or one of its commands, or write all of them to a folder.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sayso man | man -l -
  sayso man policy diff | man -l -
  sayso man --dir ~/.local/share/man/man1")]
pub(crate) struct Man {
    /// The command, and its subcommand
    #[arg(conflicts_with = "dir")]
    command: Vec<String>,
    /// Write a page for every command and subcommand into this folder
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Runs it.
pub(crate) fn run(man: &Man) -> Outcome {
    let mut cli = crate::cli::command();
    cli.build();
    if let Some(folder) = &man.dir {
        std::fs::create_dir_all(folder)?;
        let count = write_all(&cli, "sayso", folder)?;
        writeln!(stdout(), "{count} pages written to {}", visible(&folder.to_string_lossy()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut command = &cli;
    let mut name = "sayso".to_owned();
    for word in &man.command {
        command = command.find_subcommand(word).ok_or_else(|| {
            Failure::wrong(format!(
                "error: there is no command {}\n\n  List them with `{} --help`.",
                visible(word),
                name.replace('-', " ")
            ))
        })?;
        name = format!("{name}-{}", command.get_name());
    }
    stdout().write_all(&page(command, &name)?)?;
    Ok(ExitCode::SUCCESS)
}

fn page(command: &clap::Command, name: &str) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command.clone().name(name.to_owned())).render(&mut text)?;
    Ok(text)
}

fn write_all(command: &clap::Command, name: &str, folder: &Path) -> Result<usize, Failure> {
    std::fs::write(folder.join(format!("{name}.1")), page(command, name)?)?;
    let mut count = 1;
    for it in command.get_subcommands().filter(|it| it.get_name() != "help" && !it.is_hide_set()) {
        count += write_all(it, &format!("{name}-{}", it.get_name()), folder)?;
    }
    Ok(count)
}
