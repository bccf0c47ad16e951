//! `sayso log`: what was decided, and whether the record of it is whole.

mod accept;
mod export;
mod filter;
mod head;
mod key;
mod line;
mod prune;
mod replay;
pub(crate) mod time;
mod verify;

use crate::failure::{Failure, Outcome};
use crate::show::paint::Paint;
use filter::Filter;
use sayso_gate::audit::export as as_lines;
use sayso_gate::audit::{By, Chained, Kind, Log as Record, Order, Query};
use sayso_gate::{Home, Places};
use sayso_policy::explain::visible;
use std::io::{Write, stdout};
use std::process::ExitCode;
use std::time::Duration;

/// How often `--follow` looks for more.
const LOOK: Duration = Duration::from_millis(250);

/// Show past decisions, newest last; verify, export and prune the record.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Examples:
  sayso log --verdict deny --since 1d
  sayso log --follow
  sayso log --count rule --since 7d
  sayso log --kind approval --kind grant
  sayso log --json --limit 1000 | jq -r .command
  sayso log verify --head /elsewhere/head.json")]
pub(crate) struct Log {
    #[command(subcommand)]
    action: Option<Action>,
    /// Show new records as they arrive
    #[arg(long, short)]
    follow: bool,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
    /// Show at most this many
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50)]
    limit: usize,
    /// Show counts instead, by verdict, agent, session, tool, rule or kind
    #[arg(long, value_name = "BY", num_args = 0..=1, default_missing_value = "verdict", conflicts_with = "follow")]
    #[arg(value_parser = ["verdict", "agent", "session", "tool", "rule", "kind"])]
    count: Option<String>,
    #[command(flatten)]
    filter: Filter,
}

/// What else can be done with the record.
#[derive(Debug, clap::Subcommand)]
enum Action {
    Verify(verify::Verify),
    Head(head::Head),
    Key(key::Key),
    Replay(replay::Replay),
    Export(export::Export),
    Prune(prune::Prune),
    Accept(accept::Accept),
}

/// Runs it.
pub(crate) fn run(log: &Log) -> Outcome {
    // An export is checked without any store.
    if let Some(Action::Verify(it)) = &log.action
        && let Some(done) = verify::without_store(it)
    {
        return done;
    }
    let places = Places::find(Home::Environment)?;
    let record = Record::open(&places)?;
    match &log.action {
        Some(Action::Verify(it)) => verify::run(it, &places, &record),
        Some(Action::Head(it)) => head::run(it, &record),
        Some(Action::Key(it)) => key::run(it, &record),
        Some(Action::Replay(it)) => replay::run(it, &places, &record),
        Some(Action::Export(it)) => export::run(it, &record),
        Some(Action::Prune(it)) => prune::run(it, &record),
        Some(Action::Accept(_)) => accept::run(&places, &record),
        None if log.count.is_some() => count(log, &record),
        None => list(log, &record),
    }
}

fn list(log: &Log, record: &Record) -> Outcome {
    let mut query = Query { limit: Some(log.limit), ..log.filter.query() };
    let mut found = record.events(&query)?;
    found.reverse();
    let mut out = stdout().lock();
    if found.is_empty() && !log.follow && !log.json {
        let all = record.count(&Query { kinds: query.kinds.clone(), ..Query::default() })?;
        let what = if query.kinds == [Kind::Decision] { "decisions" } else { "records" };
        let text = match all {
            0 if what == "decisions" => "No decisions yet. `sayso install claude-code` guards an agent.".to_owned(),
            all => format!("None of the {all} recorded {what} match."),
        };
        writeln!(out, "{text}")?;
    }
    show(log, &found, &mut out)?;
    if !log.follow {
        return Ok(ExitCode::SUCCESS);
    }
    let newest = Query { limit: Some(1), ..Query::default() };
    let mut after = found.last().map(|it| it.seq).max(record.events(&newest)?.first().map(|it| it.seq)).unwrap_or(0);
    query.order = Order::OldestFirst;
    query.limit = None;
    loop {
        out.flush()?;
        std::thread::sleep(LOOK);
        query.after = Some(after);
        let more = record.events(&query)?;
        after = more.last().map_or(after, |it| it.seq);
        show(log, &more, &mut out)?;
    }
}

fn show(log: &Log, found: &[Chained], out: &mut impl Write) -> Result<(), Failure> {
    let paint = Paint::for_stdout();
    for chained in found {
        let line = if log.json { as_lines::json(chained)? } else { line::for_people(paint, chained) };
        out.write_all(line.as_bytes())?;
    }
    Ok(())
}

fn count(log: &Log, record: &Record) -> Outcome {
    let by = match log.count.as_deref() {
        Some("agent") => By::Agent,
        Some("session") => By::Session,
        Some("tool") => By::Tool,
        Some("rule") => By::Rule,
        Some("kind") => By::Kind,
        _ => By::Verdict,
    };
    record.fold()?;
    let mut query = log.filter.query();
    // Counted by kind, every kind counts, unless some were named.
    if by == By::Kind && query.kinds == [Kind::Decision] {
        query.kinds.clear();
    }
    let counts = record.store().count_by(&query, by)?;
    let mut out = stdout().lock();
    for (what, count) in &counts {
        if log.json {
            writeln!(out, "{}", serde_json::json!({"what": what, "count": count}))?;
        } else {
            let what = if what.is_empty() { "(none)".into() } else { visible(what) };
            writeln!(out, "{count:>8}  {what}")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
