//! `sayso run`: judges a command, and runs it held to what the policy allows.

mod attempt;
mod bounds;
mod cleared;
mod held;
pub(crate) mod inner;
pub(crate) mod live;
mod nested;
pub(crate) mod told;

use crate::failure::Outcome;
use sayso_gate::{Home, Places};
use sayso_policy::explain::visible;
use sayso_policy::shell::bounds::Need;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// Exit code: wrong usage, or the command may not run.
pub(crate) const NOT_ALLOWED: u8 = 125;
/// Exit code: the hold could not be made.
const NOT_HELD: u8 = 126;
/// Exit code: there is no such program.
const NOT_FOUND: u8 = 127;

/// Check a command against the policy, then run it held by the kernel to what the policy allows.
///
/// The command can write where the policy lets it write, reach the hosts that the policy names, and read no secrets;
/// so it may run even if nobody can tell beforehand what it will do, such as a build. The workspace is the current
/// folder. Standard input, output and error, signals and the environment reach the command as usual. If something was
/// held back, one line on standard error says what; `sayso log --kind happening` has the details.
///
/// Exit code: the command's own; 125 wrong usage, or the policy denies it, or asks and nobody approved; 126 the hold
/// could not be made, and nothing ran (see `sayso doctor --hold`); 127 not found.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sayso run -- make test
  sayso run -- sh -c 'npm ci && npm test'
  sayso run --try -- npx some-codemod       make only the changes that the policy allows
  sayso run --need files -- cargo build     also run where the kernel can only hold files
  sayso check 'make test'                   see the decision without running anything
  sayso doctor --hold                       see what this machine can hold")]
pub(crate) struct Run {
    /// Run over a copy of the files first, then make only those changes that the policy allows or a person approves. Exit code
    /// 125 if some were thrown away
    #[arg(long)]
    r#try: bool,
    /// Least level of hold to accept: whole or files; the policy may require more [default: what the policy says]
    #[arg(long, value_name = "LEVEL", value_parser = need)]
    need: Option<Need>,
    /// Run what a hook has allowed already. Each permit works once, for one command in one folder
    #[arg(long, value_name = "ID", hide = true)]
    permit: Option<String>,
    /// Home folder in which the hook keeps its permits
    #[arg(long, value_name = "DIR", requires = "permit", hide = true)]
    home: Option<PathBuf>,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

fn need(text: &str) -> Result<Need, String> {
    match text {
        "whole" => Ok(Need::Whole),
        "files" => Ok(Need::Files),
        _ => Err("use whole or files".to_owned()),
    }
}

/// Why nothing ran.
#[derive(Debug)]
struct Stop {
    code: u8,
    text: String,
}

impl Stop {
    fn not_allowed(text: impl Into<String>) -> Self {
        Self { code: NOT_ALLOWED, text: text.into() }
    }
}

impl From<sayso_gate::Error> for Stop {
    fn from(error: sayso_gate::Error) -> Self {
        Self::not_allowed(format!("not run: {error}"))
    }
}

impl From<std::io::Error> for Stop {
    fn from(error: std::io::Error) -> Self {
        Self::not_allowed(format!("not run: {error}"))
    }
}

impl From<sayso_hold::Error> for Stop {
    fn from(error: sayso_hold::Error) -> Self {
        let hint = if error.exit_code() == NOT_HELD { " (see `sayso doctor --hold`)" } else { "" };
        Self { code: error.exit_code(), text: format!("{error}{hint}") }
    }
}

/// Runs it.
pub(crate) fn run(run: &Run) -> Outcome {
    Ok(go(run).unwrap_or_else(|stop| {
        eprintln!("sayso: {}", visible(&stop.text));
        ExitCode::from(stop.code)
    }))
}

fn go(run: &Run) -> Result<ExitCode, Stop> {
    if nested::is_inside() {
        return Err(nested::become_it(&run.command));
    }
    // A permit names what it belongs to; nothing else about who asks, and by which policy, comes from the caller.
    let home = run.home.as_deref().map_or(Home::Environment, Home::At);
    let places = Places::find(home)?;
    let cleared = match &run.permit {
        Some(id) => cleared::by_permit(places, run.home.is_none(), id, &run.command)?,
        None => cleared::by_judgement(places, &run.command)?,
    };
    let bounds = bounds::of(&cleared, run.need)?;
    if run.r#try {
        return attempt::run(cleared, &bounds);
    }
    let (cleared, ended) = cleared.spend(|cleared| held::run(cleared, bounds));
    let held::Held { ended, asked } = ended?;
    told::tell(&cleared, &ended, None, &asked);
    Ok(held::end_like(ended.status))
}
