//! `sayso install`: puts Sayso in an agent's way.

use super::doctor::{self, Doctor};
use crate::choice::PolicyChoice;
use crate::failure::{Failure, Outcome};
use crate::input::call::shells;
use crate::operator;
use crate::show::agents;
use crate::show::paint::Paint;
use sayso_agents::install::{Plan, Scope, Setting, plan_install, plan_install_mcp, registrations, trust_question};
use sayso_agents::live::can_rehearse;
use sayso_agents::{Agent, Error};
use sayso_gate::audit::{Happening, Spool, What};
use sayso_gate::{Home, Places};
use sayso_policy::Actor;
use sayso_policy::explain::{visible, visible_lines};
use std::io::{BufRead as _, IsTerminal as _, Write as _, stderr, stdin, stdout};
use std::process::ExitCode;

/// Register Sayso with an agent, so that every tool call is judged before it runs.
///
/// This shows the change to the agent's settings first, and on a terminal asks before writing it. `sayso uninstall`
/// restores the settings exactly. Without a name, it looks for the agents on this machine.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sayso install                           find agents here and guard them one by one
  sayso install claude-code
  sayso install codex --trust             and record your trust in the hook, so that Codex runs it immediately
  sayso install claude-code --live        and see it deny a harmless call, after which builds and scripts can run held
  sayso install mcp                       put the gateway in front of every MCP server that clients start
  sayso install claude-code --dry-run     only show the change
  sayso install openclaw --policy openclaw.json --policy-format policy-engine     guard by another system's file
  sayso install claude-code --managed     for the whole machine; no user or project can switch it off")]
pub(crate) struct Install {
    /// The agent: claude-code, codex, gemini, copilot, opencode, cursor or openclaw; or mcp, for the servers of MCP
    /// clients
    #[arg(value_parser = crate::completing::Completes::agents(), hide_possible_values = true)]
    agent: Option<String>,
    /// Record in the agent's own settings that you trust the hook (Codex requires this)
    #[arg(long)]
    trust: bool,
    /// Afterwards, have the real agent make a harmless call that must be denied, as `sayso doctor AGENT --live` does. Held runs
    /// begin only after that
    #[arg(long)]
    live: bool,
    /// The shell that runs the agent's commands, if it differs from yours: bash, zsh, sh, dash or ksh
    #[arg(long, value_name = "SHELL")]
    shell: Option<String>,
    /// Who asks, as tool layers and rules name it: agent:NAME,team:TEAM/MEMBER,tenant:NAME
    #[arg(long = "as", value_name = "WHO")]
    stated: Option<String>,
    #[command(flatten)]
    policy: PolicyChoice,
    #[command(flatten)]
    change: Change,
}

/// Where and how settings are changed.
#[derive(Debug, clap::Args)]
pub(crate) struct Change {
    /// Change this user's settings (the default)
    #[arg(long, conflicts_with_all = ["project", "managed"])]
    user: bool,
    /// Change this project's settings instead of the user's
    #[arg(long, conflicts_with = "managed")]
    project: bool,
    /// Change the settings for the whole machine
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
    match &install.agent {
        Some(name) if name == "mcp" => mcp(install),
        Some(name) => one(install, name.parse().map_err(failure)?),
        None => each(install),
    }
}

/// The agents on this machine, one by one.
fn each(install: &Install) -> Outcome {
    let found = agents::find(&Places::find(Home::Environment)?);
    if found.is_empty() {
        let known: Vec<&str> = Agent::ALL.iter().filter(|agent| agent.has_hooks()).map(|agent| agent.name()).collect();
        return say(&format!("No agents found on PATH. Sayso supports: {}\n", known.join(", ")));
    }
    let width = found.iter().map(|agent| agent.title().len()).max().unwrap_or(0);
    let mut text = "Agents on this machine\n".to_owned();
    for agent in &found {
        let how = if agent.guarded { "guarded".to_owned() } else { format!("not guarded    {}", agent.install()) };
        text.push_str(&format!("  {:<width$}   {how}\n", agent.title()));
    }
    stdout().write_all(text.as_bytes())?;
    let open: Vec<_> = found.iter().filter(|agent| !agent.guarded).collect();
    // A list is an answer; a change needs a yes.
    if open.is_empty() || !(install.change.yes || install.change.dry_run || stdin().is_terminal()) {
        return Ok(ExitCode::SUCCESS);
    }
    for agent in open {
        if install.change.yes || install.change.dry_run || yes(&format!("\nGuard {}?", agent.agent.title()))? {
            one(install, agent.agent)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn one(install: &Install, agent: Agent) -> Outcome {
    let mut setting = install.change.setting(Some(agent))?;
    setting.trust = install.trust;
    if let Some(shell) = &install.shell {
        shells(shell).map_err(|why| Failure::wrong(format!("error: --shell {shell}: {why}")))?;
        setting.shell = Some(shell.clone());
    }
    setting.policy = install.policy.registered()?;
    if let Some(stated) = &install.stated {
        let read = stated.parse::<sayso_policy::Stated>();
        read.map_err(|why| Failure::wrong(format!("error: --as {stated}: {why}")))?;
        setting.stated = Some(stated.clone());
    }
    let mut plan = plan_install(agent, &setting).map_err(failure)?;
    let asks = stdin().is_terminal() && !install.change.yes && !install.change.dry_run;
    if let Some(question) = trust_question(agent, &setting).filter(|_| asks && !setting.trust)
        && yes(question)?
    {
        setting.trust = true;
        plan = plan_install(agent, &setting).map_err(failure)?;
    }
    if !plan.changes() {
        if !install.change.dry_run {
            plan.note().map_err(failure)?;
        }
        for notice in &plan.notices {
            writeln!(stdout(), "note: {}", visible(notice))?;
        }
        let left = left_to_do(agent, &setting);
        if !left.is_empty() {
            return say(&not_yet(agent, &left));
        }
        say(&format!("{agent} is already guarded.\nNext:  sayso doctor     check the guard\n"))?;
        return seen_live(install, agent);
    }
    if !install.change.made(&plan, "install", agent.name())? {
        return Ok(ExitCode::SUCCESS);
    }
    let left = left_to_do(agent, &setting);
    if !left.is_empty() {
        return say(&format!("\n{}", not_yet(agent, &left)));
    }
    let space = " ".repeat(agent.name().len().saturating_add(13));
    let next = match can_rehearse(agent) && !install.live {
        // Until a canary was seen held, what a policy would hold runs `not held`, or asks.
        true => format!(
            "Builds, tests and scripts run held only after `sayso doctor {agent} --live` has seen {agent} run a command held.\n\
             Next:  sayso doctor {agent} --live     watch it deny a harmless call and run one held\n       "
        ),
        false => "Next:  ".to_owned(),
    };
    say(&format!(
        "\n{agent} is guarded from its next session.\n{next}sayso serve{space}watch decisions as they are made\n"
    ))?;
    seen_live(install, agent)
}

/// With `--live`: what `sayso doctor AGENT --live` says.
fn seen_live(install: &Install, agent: Agent) -> Outcome {
    if !install.live || install.change.dry_run {
        return Ok(ExitCode::SUCCESS);
    }
    if !can_rehearse(agent) {
        return say(&format!("note: `--live` cannot start {agent}. Nothing was tried.\n"));
    }
    stdout().write_all(b"\n")?;
    doctor::run(&Doctor::live(agent.name()))
}

/// What keeps the agent from asking Sayso, as its settings are now.
fn left_to_do(agent: Agent, setting: &Setting) -> Vec<String> {
    let here = registrations(agent, setting).into_iter().filter(|it| it.scope == setting.scope && !it.in_force);
    here.flat_map(|it| it.findings).map(|finding| finding.text).collect()
}

fn not_yet(agent: Agent, left: &[String]) -> String {
    let left: String = left.iter().map(|text| format!("  {}\n", visible(text))).collect();
    format!("{agent} is not guarded yet:\n{left}Next:  sayso doctor {agent}     check the guard\n")
}

/// The servers of MCP clients.
fn mcp(install: &Install) -> Outcome {
    let plan = plan_install_mcp(&install.change.setting(None)?).map_err(failure)?;
    if !plan.changes() {
        if !install.change.dry_run {
            plan.note().map_err(failure)?;
        }
        for notice in &plan.notices {
            writeln!(stdout(), "note: {}", visible(notice))?;
        }
        return say("All MCP servers in clients' lists are already guarded.\n");
    }
    if !install.change.made(&plan, "install", "mcp")? {
        return Ok(ExitCode::SUCCESS);
    }
    say(
        "\nThe servers go through the gateway once the clients restart.\nNext:  sayso mcp pins list     show the accepted tools\n",
    )
}

/// Asks a person.
fn yes(question: &str) -> Result<bool, Failure> {
    let mut out = stdout().lock();
    write!(out, "{question} [y/N] ")?;
    out.flush()?;
    let mut answer = String::new();
    stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

impl Change {
    /// What an installation depends on, for an agent whose hooks are registered, or for none.
    pub(crate) fn setting(&self, agent: Option<Agent>) -> Result<Setting, Failure> {
        let scope = match (self.project, self.managed) {
            (true, _) => Scope::Project,
            (_, true) => Scope::Managed,
            _ => Scope::User,
        };
        let places = Places::find(Home::Environment)?;
        let program =
            if agent.is_some_and(Agent::has_hooks) { agents::hook_program()? } else { agents::this_program()? };
        let setting = Setting::here(scope, places, std::env::current_dir()?, program);
        Ok(match agent {
            Some(agent) => setting.of(agent),
            None => setting,
        })
    }

    /// Shows a change, records and makes it, unless somebody says no.
    pub(crate) fn made(&self, plan: &Plan, word: &'static str, agent: &str) -> Result<bool, Failure> {
        let mut out = stdout().lock();
        out.write_all(coloured(Paint::for_stdout(), &plan.diff()).as_bytes())?;
        for notice in &plan.notices {
            writeln!(out, "note: {}", visible(notice))?;
        }
        if self.dry_run {
            writeln!(out, "\nNothing was written.")?;
            return Ok(false);
        }
        drop(out);
        if !self.yes && stdin().is_terminal() && !yes("\nWrite this?")? {
            say("Nothing was written.\n")?;
            return Ok(false);
        }
        record(word, agent, plan)?;
        for backup in plan.apply().map_err(failure)? {
            writeln!(stdout(), "\nThe previous settings were saved to {}", visible(&backup.display().to_string()))?;
        }
        Ok(true)
    }
}

/// Takes down that a guard is put up or taken away, before it is. Whoever looks for the moment from which an agent was
/// not guarded finds it in the record.
fn record(word: &'static str, agent: &str, plan: &Plan) -> Result<(), Failure> {
    let places = Places::find(Home::Environment)?;
    let actor = Actor { agent: Some(agent.to_owned()), ..Actor::default() };
    let mut happening = Happening::new(What::SettingsChanged, word, actor);
    let files: Vec<String> = plan.paths().map(|path| places.shown(path)).collect();
    happening.text = Some(format!("sayso {word} {agent}, by {}: {}", operator::user_name(), files.join(", ")));
    if let Err(error) = Spool::open(&places).and_then(|spool| spool.note(&happening)) {
        writeln!(stderr(), "warning: this was not recorded: {}", visible(&error.to_string()))?;
    }
    Ok(())
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
        Error::UnknownAgent(_) | Error::CannotInstall { .. } | Error::Settings { .. } | Error::Changed(_) => {
            Failure::wrong(format!("error: {error}"))
        }
        error => Failure::Internal(error.into()),
    }
}
