//! `sayso log`: what was decided.

use crate::failure::{Failure, Outcome};
use crate::show::paint::Paint;
use sayso_gate::audit::{Log as Record, Order, Query, Stored};
use sayso_gate::{Home, Places};
use sayso_policy::Verdict;
use sayso_policy::explain::visible;
use std::io::{Write, stdout};
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How often `--follow` looks for more.
const LOOK: Duration = Duration::from_millis(250);

/// Shows what was decided, the latest last.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sayso log --verdict deny --since 1d
  sayso log --follow
  sayso log --json --limit 1000 | jq -r .command")]
pub(crate) struct Log {
    /// Show new decisions as they are made
    #[arg(long, short)]
    follow: bool,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
    /// At most this many
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50)]
    limit: usize,
    /// Only this verdict
    #[arg(long, value_name = "VERDICT", value_parser = ["allow", "ask", "deny"])]
    verdict: Option<String>,
    /// Only this agent
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Only this session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Only this tool, by its canonical name, such as bash_execute
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// Only records that hold this text
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
    /// Only what is not older than this: 90s, 15m, 8h, 7d
    #[arg(long, value_name = "TIME", value_parser = duration)]
    since: Option<Duration>,
}

/// Runs it.
pub(crate) fn run(log: &Log) -> Outcome {
    let places = Places::find(Home::Environment)?;
    let record = Record::open(&places)?;
    let mut query = query(log);
    let mut found = record.query(&query)?;
    found.reverse();
    let mut out = stdout().lock();
    if found.is_empty() && !log.follow && !log.json {
        let all = record.count(&Query::default())?;
        let text = match all {
            0 => "No decisions yet. `sayso install claude-code` guards an agent.".to_owned(),
            all => format!("None of the {all} decisions on record matches."),
        };
        writeln!(out, "{text}")?;
    }
    show(log, &found, &mut out)?;
    if !log.follow {
        return Ok(ExitCode::SUCCESS);
    }
    let newest = Query { limit: Some(1), ..Query::default() };
    let mut after = found.last().map(|it| it.seq).max(record.query(&newest)?.first().map(|it| it.seq)).unwrap_or(0);
    query.order = Order::OldestFirst;
    query.limit = None;
    loop {
        out.flush()?;
        std::thread::sleep(LOOK);
        query.after = Some(after);
        let more = record.query(&query)?;
        after = more.last().map_or(after, |it| it.seq);
        show(log, &more, &mut out)?;
    }
}

fn query(log: &Log) -> Query {
    let since = log.since.and_then(|since| SystemTime::now().checked_sub(since));
    let since = since.and_then(|since| since.duration_since(UNIX_EPOCH).ok());
    Query {
        since_ms: since.and_then(|since| u64::try_from(since.as_millis()).ok()),
        agent: log.agent.clone(),
        session: log.session.clone(),
        tool: log.tool.clone(),
        text: log.text.clone(),
        verdict: log.verdict.as_deref().map(|verdict| match verdict {
            "allow" => Verdict::Allow,
            "ask" => Verdict::Ask,
            _ => Verdict::Deny,
        }),
        limit: Some(log.limit),
        ..Query::default()
    }
}

fn show(log: &Log, found: &[Stored], out: &mut impl Write) -> Result<(), Failure> {
    let paint = Paint::for_stdout();
    for stored in found {
        if log.json {
            serde_json::to_writer(&mut *out, stored)?;
            out.write_all(b"\n")?;
        } else {
            out.write_all(line(paint, stored).as_bytes())?;
        }
    }
    Ok(())
}

/// `2026-11-15 08:24:11Z  deny   claude-code  bash_execute  git push --force  [no-force-push]`
fn line(paint: Paint, stored: &Stored) -> String {
    let record = &stored.record;
    let agent = record.actor.agent.as_deref().unwrap_or(&record.way_in);
    let arguments = || record.arguments.as_ref().map(ToString::to_string).unwrap_or_default();
    let what = record.command.clone().unwrap_or_else(arguments);
    let code = record.reasons.first().map(|reason| format!("  [{}]", visible(&reason.code))).unwrap_or_default();
    let short: String = what.chars().take(120).collect();
    let more = if short.len() < what.len() { "…" } else { "" };
    format!(
        "{}  {}  {}  {}  {}{more}{}\n",
        paint.dim(&time(record.time_ms)),
        paint.answer(record.answer, &format!("{:<5}", record.answer.as_str())),
        visible(agent),
        visible(&record.tool),
        visible(&short),
        paint.dim(&code)
    )
}

/// `2026-11-15 08:24:11Z`
fn time(ms: u64) -> String {
    let seconds = ms / 1000;
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Civil date from days since 1970: eras of 400 years, years beginning in March.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

/// `90s`, `15m`, `8h`, `7d`.
fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text:?} is no time; write it like 90s, 15m, 8h or 7d");
    let unit = text.chars().last().ok_or_else(wrong)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        _ => return Err(wrong()),
    };
    let number: u64 = text.trim_end_matches(unit).parse().map_err(|_| wrong())?;
    number.checked_mul(seconds).map(Duration::from_secs).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_dates_that_people_read() {
        assert_eq!(time(0), "1970-01-01 00:00:00Z");
        assert_eq!(time(951_782_400_000), "2000-02-29 00:00:00Z");
        assert_eq!(time(1_794_731_051_000), "2026-11-15 08:24:11Z");
        assert_eq!(time(4_102_444_799_999), "2099-12-31 23:59:59Z");
    }

    #[test]
    fn spans_of_time_have_a_unit() {
        assert_eq!(duration("15m"), Ok(Duration::from_secs(900)));
        for wrong in ["", "15", "m", "-1h", "1w", "99999999999999999999d", "18446744073709551615d"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
