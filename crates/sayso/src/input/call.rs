//! A tool call from arguments.

use crate::failure::Failure;
use anyhow::Context as _;
use sayso_gate::ProcessEnvironment;
use sayso_gate::wire::{home, workspace_at};
use sayso_policy::shell::dialect::{InShell, Shells};
use sayso_policy::{Actor, Request, ToolCall};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

/// Where a call would run, and who asks.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Circumstances {
    /// Working directory of the call [default: the current one]
    #[arg(long, value_name = "DIR", help_heading = "Circumstances")]
    pub(crate) cwd: Option<PathBuf>,
    /// Workspace of the session; `.` in a policy refers to it [default: the working directory]
    #[arg(long, value_name = "DIR", help_heading = "Circumstances")]
    pub(crate) workspace: Option<PathBuf>,
    /// Shell that would run the command: bash, zsh, sh, dash or ksh; separate several with commas [default: bash]
    #[arg(long, value_name = "SHELL", value_parser = shells, help_heading = "Circumstances")]
    pub(crate) shell: Option<Shells>,
    /// Agent making the call, such as claude-code
    #[arg(long, value_name = "NAME", help_heading = "Circumstances")]
    pub(crate) agent: Option<String>,
    /// The model's provider, or PROVIDER/MODEL
    #[arg(long, value_name = "NAME", help_heading = "Circumstances")]
    pub(crate) provider: Option<String>,
    /// The agent's team
    #[arg(long, value_name = "NAME", help_heading = "Circumstances")]
    pub(crate) team: Option<String>,
    /// Member of that team the agent acts for
    #[arg(long, value_name = "NAME", help_heading = "Circumstances")]
    pub(crate) member: Option<String>,
    /// Tenant
    #[arg(long, value_name = "NAME", help_heading = "Circumstances")]
    pub(crate) tenant: Option<String>,
    /// Session
    #[arg(long, value_name = "ID", help_heading = "Circumstances")]
    pub(crate) session: Option<String>,
    /// The agent was started by another agent
    #[arg(long, help_heading = "Circumstances")]
    pub(crate) subagent: bool,
}

/// Reads the names of shells.
pub(crate) fn shells(text: &str) -> Result<Shells, String> {
    Shells::named(text).ok_or_else(|| "use bash, zsh, sh, dash or ksh".to_owned())
}

/// What is asked for, from arguments.
pub(crate) fn request(
    command: Option<&OsStr>,
    tool: Option<&str>,
    arguments: Option<&str>,
) -> Result<Request, Failure> {
    match (command, tool) {
        (Some(command), None) => Ok(Request::Command(command.as_bytes().to_vec())),
        (None, Some(name)) => {
            let arguments = serde_json::from_str(arguments.unwrap_or("{}")).map_err(|error| {
                Failure::wrong(format!(
                    "error: --args is not valid JSON: {error}\n\n  Try: --args '{{\"path\": \"README.md\"}}'"
                ))
            })?;
            Ok(Request::Tool { name: name.to_owned(), arguments, server: None })
        }
        _ => Err(Failure::wrong(
            "error: give a command, or --tool NAME with --args JSON\n\n  Try: sayso check 'git push --force'",
        )),
    }
}

impl Circumstances {
    /// The environment of this process, with the shell that would run a command.
    pub(crate) fn environment(&self) -> InShell<ProcessEnvironment> {
        InShell { env: ProcessEnvironment, shells: self.shell.unwrap_or_default() }
    }

    /// The call in these circumstances.
    pub(crate) fn call(&self, request: Request) -> Result<ToolCall, Failure> {
        let here = std::env::current_dir().context("the working directory no longer exists; `cd` to another one")?;
        let cwd = self.cwd.as_ref().map_or_else(|| here.clone(), |cwd| here.join(cwd));
        let workspace = self.workspace.as_ref().map_or_else(|| cwd.clone(), |workspace| here.join(workspace));
        let given =
            [("--cwd", self.cwd.as_ref().map(|_| &cwd)), ("--workspace", self.workspace.as_ref().map(|_| &workspace))];
        for (option, folder) in given.into_iter().filter_map(|(option, folder)| Some((option, folder?))) {
            if !folder.is_dir() {
                let folder = folder.to_string_lossy();
                let shown = sayso_policy::explain::visible(&folder);
                eprintln!("note: {option} {shown} is not a directory here; the call is judged as if it existed");
            }
        }
        let home = home(&ProcessEnvironment);
        Ok(ToolCall {
            request,
            actor: Actor {
                agent: self.agent.clone(),
                provider: self.provider.clone(),
                team: self.team.clone(),
                member: self.member.clone(),
                tenant: self.tenant.clone(),
                session: self.session.clone(),
                subagent: self.subagent,
                ..Actor::default()
            },
            workspace: workspace_at(&workspace, home.as_deref()),
            cwd: Some(cwd),
            home,
            reported_kind: None,
        })
    }
}
