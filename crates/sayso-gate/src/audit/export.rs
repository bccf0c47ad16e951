//! Records as lines for other programs: JSON Lines and CSV.

use super::{Chained, Event, Record};
use sayso_policy::explain::visible;

/// What a call was: its command, or its arguments.
#[must_use]
pub fn what(record: &Record) -> String {
    let arguments = || record.arguments.as_ref().map(ToString::to_string).unwrap_or_default();
    record.command.clone().unwrap_or_else(arguments)
}

/// One JSON object, with the record's number and hash in front, without what a terminal would obey.
///
/// # Errors
/// If the record cannot be written.
pub fn json(chained: &Chained) -> Result<String, serde_json::Error> {
    let line = chained.event.to_line()?;
    let rest = line.strip_prefix('{').unwrap_or_default();
    Ok(format!("{{\"seq\":{},\"hash\":\"{}\",{}\n", chained.seq, chained.hash, escaped(rest)))
}

/// One line of JSON without what a terminal would obey.
///
/// # Errors
/// If the value cannot be written.
pub fn json_line(value: &impl serde::Serialize) -> Result<String, serde_json::Error> {
    Ok(escaped(&serde_json::to_string(value)?) + "\n")
}

/// What a terminal would obey is escaped, which JSON allows everywhere in a string; elsewhere no such thing stands.
fn escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if c.is_ascii() && !c.is_control() || !c.is_ascii() && visible(c.encode_utf8(&mut [0; 4])).starts_with(c) {
            out.push(c);
        } else {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
        }
    }
    out
}

/// The first line of a CSV file.
pub const CSV_HEADER: &str = "\"seq\",\"time\",\"kind\",\"agent\",\"session\",\"tool\",\"verdict\",\"answer\",\"rule\",\"what\",\"reason\",\"policy\",\"by\",\"id\",\"hash\"\r\n";

/// One line of CSV.
#[must_use]
pub fn csv(chained: &Chained) -> String {
    let event = &chained.event;
    let (seq, time) = (chained.seq.to_string(), time_shown(event.time_ms()));
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
    let by = if event.is_unverified() { format!("{by} (unverified)") } else { by.to_owned() };
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
        &by,
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

/// `2026-11-15 08:24:11Z`
#[must_use]
pub fn time_shown(ms: u64) -> String {
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
