//! `sayso limits`: what was used of them.

use crate::command::log::time::{now_ms, shown as time};
use crate::failure::{Failure, Outcome};
use crate::operator;
use crate::show::paint::Paint;
use crate::show::table::Table;
use sayso_gate::limit::Used;
use sayso_gate::{Home, Memory, Places};
use sayso_policy::Usage;
use sayso_policy::explain::visible;
use std::io::{Write as _, stdout};
use std::process::ExitCode;

/// Show usage against limits, by session, run, agent, tenant and day.
///
/// Limits are set in the policy under `[limits]`. What is reserved for calls that are still running counts as used.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  sayso limits
  sayso limits --json | jq .usage.calls
  sayso limits reset --session 4f2a       let a stopped session go on"
)]
pub(crate) struct Limits {
    #[command(subcommand)]
    action: Option<Action>,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
    /// Show at most this many
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50)]
    limit: usize,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Start a session's counts again at zero: calls, tokens, cost and denied calls, but not its age
    Reset {
        /// The session, as the agent calls it
        #[arg(long, value_name = "ID")]
        session: String,
    },
}

/// Runs it.
pub(crate) fn run(command: &Limits) -> Outcome {
    let memory = Memory::of(&Places::find(Home::Environment)?);
    let now = now_ms();
    if let Some(Action::Reset { session }) = &command.action {
        let reset = memory.store()?.reset_session(session, &operator::user_name(), now)?;
        if reset == 0 {
            return Err(Failure::wrong(format!(
                "error: nothing is counted for a session {}\n\n  List them with `sayso limits`.",
                visible(session)
            )));
        }
        writeln!(stdout(), "The counts of session {} start again at zero.", visible(session))?;
        return Ok(ExitCode::SUCCESS);
    }
    let used: Vec<Used> = memory.store()?.used(now)?.into_iter().take(command.limit).collect();
    let mut out = stdout().lock();
    if command.json {
        for one in &used {
            serde_json::to_writer(&mut out, one)?;
            writeln!(out)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    if used.is_empty() {
        writeln!(
            out,
            "Nothing counted yet. Calls are counted once a policy sets limits, under `[limits.session]` or another scope."
        )?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::new(["scope", "which", "used", "open", "last"]);
    for one in &used {
        let open = if one.open == 0 { String::new() } else { one.open.to_string() };
        table.row([
            one.scope.as_str().to_owned(),
            visible(&one.key).into_owned(),
            words(&one.usage),
            open,
            time(one.last_ms),
        ]);
    }
    write!(out, "{}", table.draw(Paint::for_stdout()))?;
    Ok(ExitCode::SUCCESS)
}

/// `12 calls, 3 blocked`
fn words(usage: &Usage) -> String {
    let parts = [
        (usage.calls, "calls"),
        (usage.blocked, "blocked"),
        (usage.input_tokens, "tokens read"),
        (usage.output_tokens, "tokens written"),
        (usage.deletes, "deleted"),
        (usage.bytes_written, "bytes written"),
        (usage.hosts, "hosts"),
    ];
    let mut parts: Vec<String> =
        parts.iter().filter(|(number, _)| *number > 0).map(|(number, what)| format!("{number} {what}")).collect();
    if usage.cost_micros > 0 {
        parts.push(format!("{}.{:02} spent", usage.cost_micros / 1_000_000, usage.cost_micros / 10_000 % 100));
    }
    if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") }
}
