//! One record as a line for people.

use super::time::shown;
use crate::show::paint::Paint;
use sayso_gate::audit::export::what;
use sayso_gate::audit::{Chained, Change, Event, Happening, Record};
use sayso_policy::explain::visible;
use sayso_policy::{Answer, Holding};

/// `2026-11-15 08:24:11Z  deny   claude-code  bash_execute  git push --force  [no-force-push]`
pub(super) fn for_people(paint: Paint, chained: &Chained) -> String {
    let time = paint.dim(&shown(chained.event.time_ms()));
    let line = match &chained.event {
        Event::Decision(record) => decision(paint, &time, record),
        Event::Happening(happening) => happened(&time, happening),
        Event::Change(change) => changed(&time, change),
    };
    // Any program of the user may have written it into the spool.
    match chained.event.is_unverified() {
        true => format!("{}  (unverified)\n", line.trim_end_matches('\n')),
        false => line,
    }
}

fn decision(paint: Paint, time: &str, record: &Record) -> String {
    let agent = record.actor.agent.as_deref().unwrap_or(&record.way_in);
    let code = record.reasons.first().map(|reason| format!("  [{}]", visible(&reason.code))).unwrap_or_default();
    let what = what(record);
    let held = record.hold.filter(|_| record.answer == Answer::Allow).and_then(Holding::decides);
    let held = held.map(|level| format!("  held {level}")).unwrap_or_default();
    let short: String = what.chars().take(120).collect();
    let more = if short.len() < what.len() { "…" } else { "" };
    format!(
        "{time}  {}  {}  {}  {}{more}{}{}\n",
        paint.answer(record.answer, &format!("{:<5}", record.answer.as_str())),
        visible(agent),
        visible(&record.tool),
        visible(&short),
        paint.dim(&held),
        paint.dim(&code)
    )
}

fn happened(time: &str, happening: &Happening) -> String {
    let what = serde_json::to_value(happening.what).ok();
    let what = what.as_ref().and_then(|what| what.as_str()).unwrap_or("happening");
    let agent = happening.actor.agent.as_deref().unwrap_or(&happening.way_in);
    let rest = [happening.tool.as_deref(), happening.text.as_deref()].into_iter().flatten();
    let rest: String = rest.map(|part| format!("  {}", visible(part))).collect();
    format!("{time}  {:<5}  {}{}\n", what, visible(agent), rest.chars().take(160).collect::<String>())
}

fn changed(time: &str, change: &Change) -> String {
    let by = change.by.as_ref().map(|by| format!("  by {}", visible(by))).unwrap_or_default();
    let about = change.about.as_ref().map(|about| format!("  {}", visible(about))).unwrap_or_default();
    let verdict = change.verdict.map(|verdict| format!("  {verdict}")).unwrap_or_default();
    format!("{time}  {} {}{about}{verdict}{by}\n", change.kind.as_str(), visible(&change.what))
}
