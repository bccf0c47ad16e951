//! `sayso route`: which model an agent is to use.

use crate::failure::Outcome;
use sayso_gate::audit::Spool;
use sayso_gate::{Gate, Home, Live, Memory, Places};
use sayso_policy::Actor;
use sayso_policy::explain::visible;
use std::io::{Write as _, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

/// Show which model an agent is routed to by `[models]`.
///
/// With --session, an agent that reached its `blocked` limit is routed to `fallback`, once a session, and its count of
/// denied calls starts again.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sayso route --agent weatherbot
  sayso route --agent weatherbot --session 4f2a --json")]
pub(crate) struct Route {
    /// The agent
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Its team
    #[arg(long, value_name = "NAME")]
    team: Option<String>,
    /// Its tenant
    #[arg(long, value_name = "NAME")]
    tenant: Option<String>,
    /// Its session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// The workspace [default: the working directory]
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs it.
pub(crate) fn run(command: &Route) -> Outcome {
    let places = Places::find(Home::Environment)?;
    let workspace = match &command.workspace {
        Some(folder) => folder.canonicalize()?,
        None => std::env::current_dir()?,
    };
    let policy = Live::follow(&places, Some(&workspace))?;
    let gate = Gate::over(policy, Box::new(Spool::open(&places)?)).with_memory(Memory::of(&places));
    let route = gate.route(&Actor {
        agent: command.agent.clone(),
        team: command.team.clone(),
        tenant: command.tenant.clone(),
        session: command.session.clone(),
        ..Actor::default()
    })?;
    let mut out = stdout().lock();
    if command.json {
        serde_json::to_writer(&mut out, &route)?;
        writeln!(out)?;
    } else {
        match &route.model {
            Some(model) => writeln!(out, "{}", visible(model))?,
            None => writeln!(out, "The policy names no model, so the agent keeps its own.")?,
        }
    }
    Ok(ExitCode::SUCCESS)
}
