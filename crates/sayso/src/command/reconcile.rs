//! `sayso reconcile`: whether Sayso was asked about every call.

use super::install::failure;
use super::log::time::{moment, shown};
use crate::failure::Outcome;
use sayso_agents::Agent;
use sayso_agents::reconcile::{TranscriptCall, Transcripts, uncovered};
use sayso_gate::audit::{Log, Query};
use sayso_gate::{Home, Places};
use sayso_policy::explain::visible;
use serde_json::json;
use std::collections::BTreeMap;
use std::io::{Write as _, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

/// How many calls of one session are shown to people.
const SHOWN: usize = 5;

/// Search the agents' own transcripts for tool calls that Sayso never saw.
///
/// An agent can be started without its hooks, or fail to run them. Its transcript still lists the calls; this shows
/// those without a recorded decision. It reads the transcripts of Claude Code, Codex, Gemini CLI, Copilot CLI and
/// OpenCode. Exit code 1 if there are such calls.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sayso reconcile --since 7d
  sayso reconcile codex --json | jq '.uncovered[].arguments'")]
pub(crate) struct Reconcile {
    /// The agent [default: all that keep transcripts]
    #[arg(value_parser = crate::completing::Completes::agents(), hide_possible_values = true)]
    agent: Option<String>,
    /// Only calls since then: 15m, 8h or 7d ago, or a date such as 2026-11-15
    #[arg(long, value_name = "TIME", value_parser = moment)]
    since: Option<u64>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// What was found for one agent.
struct Found {
    agent: Agent,
    transcripts: usize,
    calls: usize,
    uncovered: Vec<TranscriptCall>,
    skipped: Vec<String>,
}

/// Runs it.
pub(crate) fn run(reconcile: &Reconcile) -> Outcome {
    let agents: Vec<Agent> = match &reconcile.agent {
        Some(name) => vec![name.parse().map_err(failure)?],
        None => Agent::ALL.to_vec(),
    };
    let places = Places::find(Home::Environment)?;
    let since_ms = reconcile.since.unwrap_or(0);
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let transcripts = Transcripts { home: places.home.clone(), variable, since_ms };
    let log = Log::open(&places)?;
    let mut all = Vec::new();
    for agent in agents {
        let Some(read) = transcripts.read(agent) else {
            if reconcile.agent.is_some() {
                let text = format!("error: {} keeps no transcripts that Sayso can read", agent.title());
                return Err(crate::failure::Failure::wrong(text));
            }
            continue;
        };
        // A call may have been decided just before the time that counts.
        let since_ms = Some(since_ms.saturating_sub(600_000));
        let records = log.query(&Query { agent: Some(agent.name().to_owned()), since_ms, ..Query::default() })?;
        let records: Vec<_> = records.into_iter().map(|stored| stored.record).collect();
        let calls = read.calls.len();
        let uncovered = uncovered(read.calls, &records);
        all.push(Found { agent, transcripts: read.transcripts, calls, uncovered, skipped: read.skipped });
    }
    let text = if reconcile.json { as_json(&all) } else { as_text(&all) };
    stdout().write_all(text.as_bytes())?;
    let clean = all.iter().all(|found| found.uncovered.is_empty());
    Ok(if clean { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn as_json(all: &[Found]) -> String {
    let covered = |found: &Found| found.calls - found.uncovered.len();
    let of = |found: &Found| {
        json!({"agent": found.agent.name(), "transcripts": found.transcripts, "calls": found.calls,
            "covered": covered(found), "skipped": found.skipped})
    };
    let report = json!({
        "covered": all.iter().map(covered).sum::<usize>(),
        "uncovered": all.iter().flat_map(|found| &found.uncovered).collect::<Vec<_>>(),
        "agents": all.iter().map(of).collect::<Vec<_>>(),
    });
    format!("{report:#}\n")
}

fn as_text(all: &[Found]) -> String {
    let mut text = String::new();
    let width = all.iter().map(|found| found.agent.title().len()).max().unwrap_or(0);
    for found in all {
        let missing = match found.uncovered.len() {
            0 => "all covered".to_owned(),
            count => format!("{count} not covered"),
        };
        let line = match found.calls {
            0 => "no calls".to_owned(),
            calls => format!("{calls} calls in {} transcripts, {missing}", found.transcripts),
        };
        text.push_str(&format!("{:<width$}  {line}\n", found.agent.title()));
        for skipped in &found.skipped {
            text.push_str(&format!("  note: {}\n", visible(skipped)));
        }
        let mut sessions: BTreeMap<(Option<u64>, &str), Vec<&TranscriptCall>> = BTreeMap::new();
        let mut begins: BTreeMap<&str, Option<u64>> = BTreeMap::new();
        for call in &found.uncovered {
            let session = call.session.as_deref().unwrap_or("?");
            let begin = *begins.entry(session).or_insert(call.time_ms);
            sessions.entry((begin, session)).or_default().push(call);
        }
        for ((begin, session), calls) in &sessions {
            let when = begin.map(shown).unwrap_or_default();
            text.push_str(&format!("\n  session {}  {when}\n", visible(session)));
            for call in calls.iter().take(SHOWN) {
                text.push_str(&format!("    {}  {}\n", visible(&call.tool), visible(&short(call))));
            }
            if calls.len() > SHOWN {
                text.push_str(&format!("    and {} more\n", calls.len() - SHOWN));
            }
        }
        if !sessions.is_empty() {
            text.push('\n');
        }
    }
    if all.iter().any(|found| !found.uncovered.is_empty()) {
        text.push_str(
            "Sayso did not see these calls: it was not installed yet, or the agent did not run its hook.\nNext:  sayso doctor --live     check that it sees calls now\n",
        );
    }
    text
}

/// The command, or else the arguments.
fn short(call: &TranscriptCall) -> String {
    let command = ["command", "cmd"].iter().find_map(|key| call.arguments.get(*key)?.as_str());
    let text = command.map_or_else(|| call.arguments.to_string(), ToOwned::to_owned);
    match text.char_indices().nth(160) {
        Some((at, _)) => format!("{}...", text.get(..at).unwrap_or_default()),
        None => text,
    }
}
