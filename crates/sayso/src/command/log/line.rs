//! One record as a line: for people, as JSON, as CSV.

use super::time::shown;
use crate::show::paint::Paint;
use sayso_gate::audit::{Chained, Change, Event, Happening, Record};
use sayso_policy::explain::visible;

/// `2026-11-15 08:24:11Z  deny   claude-code  bash_execute  git push --force  [no-force-push]`
pub(super) fn for_people(paint: Paint, chained: &Chained) -> String {
    let time = paint.dim(&shown(chained.event.time_ms()));
    match &chained.event {
        Event::Decision(record) => decision(paint, &time, record),
        Event::Happening(happening) => happened(&time, happening),
        Event::Change(change) => changed(&time, change),
    }
}

fn decision(paint: Paint, time: &str, record: &Record) -> String {
    let agent = record.actor.agent.as_deref().unwrap_or(&record.way_in);
    let code = record.reasons.first().map(|reason| format!("  [{}]", visible(&reason.code))).unwrap_or_default();
    let what = what(record);
    let short: String = what.chars().take(120).collect();
    let more = if short.len() < what.len() { "…" } else { "" };
    format!(
        "{time}  {}  {}  {}  {}{more}{}\n",
        paint.answer(record.answer, &format!("{:<5}", record.answer.as_str())),
        visible(agent),
        visible(&record.tool),
        visible(&short),
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

fn what(record: &Record) -> String {
    let arguments = || record.arguments.as_ref().map(ToString::to_string).unwrap_or_default();
    record.command.clone().unwrap_or_else(arguments)
}

/// One JSON object, with the record's number and hash in front. What a terminal would obey is escaped, which JSON
/// allows everywhere in a string and nowhere else.
pub(super) fn json(chained: &Chained) -> Result<String, serde_json::Error> {
    let line = chained.event.to_line()?;
    let rest = line.strip_prefix('{').unwrap_or_default();
    let mut out = format!("{{\"seq\":{},\"hash\":\"{}\",", chained.seq, chained.hash);
    for c in rest.chars() {
        if c.is_ascii() && !c.is_control() || !c.is_ascii() && visible(c.encode_utf8(&mut [0; 4])).starts_with(c) {
            out.push(c);
        } else {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
        }
    }
    out.push('\n');
    Ok(out)
}

/// The first line of a CSV file.
pub(super) const CSV_HEADER: &str = "\"seq\",\"time\",\"kind\",\"agent\",\"session\",\"tool\",\"verdict\",\"answer\",\"rule\",\"what\",\"reason\",\"policy\",\"by\",\"id\",\"hash\"\r\n";

/// One line of CSV.
pub(super) fn csv(chained: &Chained) -> String {
    let event = &chained.event;
    let (seq, time) = (chained.seq.to_string(), shown(event.time_ms()));
    let (answer, what, reason, policy, by) = match event {
        Event::Decision(record) => {
            let reason = record.reasons.first().map(|reason| reason.text.clone()).unwrap_or_default();
            (record.answer.as_str(), what(record), reason, record.policy.as_str(), record.way_in.as_str())
        }
        Event::Happening(it) => {
            ("", format!("{:?}", it.what), it.text.clone().unwrap_or_default(), "", it.way_in.as_str())
        }
        Event::Change(it) => {
            let what = format!("{} {}", it.what, it.about.as_deref().unwrap_or_default());
            ("", what.trim_end().to_owned(), it.detail.to_string(), "", it.by.as_deref().unwrap_or_default())
        }
    };
    let actor = event.actor();
    let cells = [
        seq.as_str(),
        &time,
        event.kind().as_str(),
        actor.agent.as_deref().unwrap_or_default(),
        actor.session.as_deref().unwrap_or_default(),
        event.tool().unwrap_or_default(),
        event.verdict().map(|verdict| verdict.as_str()).unwrap_or_default(),
        answer,
        event.rule().unwrap_or_default(),
        &what,
        &reason,
        policy,
        by,
        event.id(),
        &chained.hash,
    ];
    cells.map(cell).join(",") + "\r\n"
}

/// A cell that no spreadsheet takes for a formula: whoever opens the file must not run what an agent wrote. Line ends
/// and other control characters are made visible, so that a record is a line.
fn cell(text: &str) -> String {
    let text = visible(text);
    // Spreadsheets also begin formulas behind blanks, and with the wide forms of these signs.
    let first = text.trim_start().chars().next();
    let formula = first.is_some_and(|c| "=+-@|%＝＋－＠".contains(c)) || text.starts_with(['\'', '\t', '\r']);
    format!("\"{}{}\"", if formula { "'" } else { "" }, text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_is_a_formula_or_ends_its_line() {
        for (given, cell_is) in [
            ("=1+1", "\"'=1+1\""),
            ("  @SUM(A1)", "\"'  @SUM(A1)\""),
            ("+cmd|' /C calc'!A0", "\"'+cmd|' /C calc'!A0\""),
            ("-2", "\"'-2\""),
            ("＝1", "\"'＝1\""),
            ("say \"hi\", then = this", "\"say \"\"hi\"\", then = this\""),
            ("", "\"\""),
        ] {
            assert_eq!(cell(given), cell_is);
        }
        for hostile in ["a\r\n=1", "\t=1", "\u{0}=1", "\n=cmd", "\",=1", "\u{feff}=1"] {
            let cell = cell(hostile);
            assert!(!cell.contains(['\r', '\n', '\t', '\0']), "{cell:?}");
            assert!(!cell.trim_matches('"').starts_with('='), "{cell:?}");
        }
    }
}
