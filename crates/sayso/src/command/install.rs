//! `sayso install`: puts Sayso in an agent's way.

use crate::failure::{Failure, Outcome};
use crate::show::paint::Paint;
use sayso_agents::install::{Plan, Scope, Setting, plan_install};
use sayso_agents::{Agent, Error};
use sayso_gate::{Home, Places};
use sayso_policy::explain::{visible, visible_lines};
use std::io::{BufRead as _, IsTerminal as _, Write as _, stdin, stdout};
use std::process::ExitCode;

/// Registers Sayso with an agent, so that every tool call is judged before it runs.
///
/// Shows the change to the agent's settings first. On a terminal it asks before it writes; `sayso uninstall` puts the
/// settings back exactly as they were.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sayso install claude-code
  sayso install claude-code --dry-run     only show the change
  sayso install claude-code --managed     for the whole machine: no user and no project can switch it off")]
pub(crate) struct Install {
    /// The agent: claude-code
    agent: String,
    #[command(flatten)]
    change: Change,
}

/// Where and how settings are changed.
#[derive(Debug, clap::Args)]
pub(crate) struct Change {
    /// In the settings of this user (the default)
    #[arg(long, conflicts_with_all = ["project", "managed"])]
    user: bool,
    /// In the settings of this project instead of the user's
    #[arg(long, conflicts_with = "managed")]
    project: bool,
    /// In the settings of the whole machine
    #[arg(long)]
    managed: bool,
    /// Only show the change
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

/// Runs it.
pub(crate) fn run(install: &Install) -> Outcome {
    let (agent, setting) = install.change.setting(&install.agent)?;
    let plan = plan_install(agent, &setting).map_err(failure)?;
    if !plan.changes() {
        return say(&format!("{} is guarded already.\n", install.agent));
    }
    if !install.change.made(&plan)? {
        return Ok(ExitCode::SUCCESS);
    }
    say(&format!(
        "\n{} is guarded from its next session on.\nNext:  sayso serve     shows its decisions as they are made\n",
        install.agent
    ))
}

impl Change {
    /// The agent, and what its settings depend on.
    pub(crate) fn setting(&self, agent: &str) -> Result<(Agent, Setting), Failure> {
        let agent: Agent = agent.parse().map_err(failure)?;
        let scope = match (self.project, self.managed) {
            (true, _) => Scope::Project,
            (_, true) => Scope::Managed,
            _ => Scope::User,
        };
        let setting = Setting {
            places: Places::find(Home::Environment)?,
            scope,
            project: std::env::current_dir()?,
            agent_folder: std::env::var_os("CLAUDE_CONFIG_DIR").map(Into::into),
            program: std::env::current_exe()?.canonicalize()?,
            root: "/".into(),
        };
        Ok((agent, setting))
    }

    /// Shows a change and makes it, unless somebody says no.
    pub(crate) fn made(&self, plan: &Plan) -> Result<bool, Failure> {
        let mut out = stdout().lock();
        out.write_all(coloured(Paint::for_stdout(), &plan.diff()).as_bytes())?;
        for notice in &plan.notices {
            writeln!(out, "note: {}", visible(notice))?;
        }
        if self.dry_run {
            writeln!(out, "\nNothing is written.")?;
            return Ok(false);
        }
        if !self.yes && stdin().is_terminal() {
            write!(out, "\nWrite this? [y/N] ")?;
            out.flush()?;
            let mut answer = String::new();
            stdin().lock().read_line(&mut answer)?;
            if !matches!(answer.trim(), "y" | "Y" | "yes") {
                writeln!(out, "Nothing is written.")?;
                return Ok(false);
            }
        }
        if let Some(backup) = plan.apply().map_err(failure)? {
            writeln!(out, "\nThe former settings are kept in {}", visible(&backup.display().to_string()))?;
        }
        Ok(true)
    }
}

/// Settings are the agent's text: made safe, then coloured.
fn coloured(paint: Paint, diff: &str) -> String {
    let mut text = String::new();
    for line in visible_lines(diff.as_bytes()).lines() {
        text.push_str(&match line.as_bytes().first() {
            Some(b'+') => paint.verdict(sayso_policy::Verdict::Allow, line),
            Some(b'-') => paint.verdict(sayso_policy::Verdict::Deny, line),
            _ => line.to_owned(),
        });
        text.push('\n');
    }
    text
}

/// Says it and ends well.
pub(crate) fn say(text: &str) -> Outcome {
    stdout().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// What is the owner's to mend is wrong usage, all else internal.
pub(crate) fn failure(error: Error) -> Failure {
    match error {
        Error::UnknownAgent(_) | Error::Settings { .. } | Error::Changed(_) => {
            Failure::wrong(format!("error: {error}"))
        }
        error => Failure::Internal(error.into()),
    }
}
