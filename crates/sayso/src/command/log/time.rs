//! Times as people write and read them.

pub(crate) use sayso_gate::audit::export::time_shown as shown;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970, from `90s`, `15m`, `8h`, `7d` (so long ago), or a date: `2026-11-15`, `2026-11-15T08:24:11Z`.
pub(crate) fn moment(text: &str) -> Result<u64, String> {
    match duration(text) {
        Ok(ago) => Ok(now_ms().saturating_sub(u64::try_from(ago.as_millis()).unwrap_or(u64::MAX))),
        Err(_) => date(text)
            .ok_or_else(|| format!("{text:?} isn't a time; use 90s, 15m, 8h, 7d, 2026-11-15 or 2026-11-15T08:24:11Z")),
    }
}

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// `90s`, `15m`, `8h`, `7d`, as a command line gives it.
pub(crate) fn span(text: &str) -> Result<Duration, String> {
    duration(text).map_err(|()| format!("{text:?} isn't a duration; use 90s, 15m, 8h or 7d"))
}

/// `90s`, `15m`, `8h`, `7d`.
fn duration(text: &str) -> Result<Duration, ()> {
    let unit = text.chars().last().ok_or(())?;
    let seconds: u64 = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        _ => return Err(()),
    };
    let number: u64 = text.strip_suffix(unit).unwrap_or_default().parse().map_err(|_| ())?;
    number.checked_mul(seconds).map(Duration::from_secs).ok_or(())
}

/// `2026-11-15`, `2026-11-15T08:24:11Z`, `2026-11-15 08:24:11Z`.
fn date(text: &str) -> Option<u64> {
    let text = text.strip_suffix('Z').unwrap_or(text);
    let (day, time) = text.split_once(['T', ' ']).unwrap_or((text, "00:00:00"));
    let [year, month, day] = numbers(day, '-')?;
    let [hour, minute, second] = numbers(time, ':')?;
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    // Days since 1970 of a civil date: years begin in March, so that the odd day is the last.
    let shifted = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (shifted / 400, shifted % 400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468;
    let ms = (((days * 24 + hour) * 60 + minute) * 60 + second) * 1000;
    // A day that the month has not is another date.
    shown(ms).starts_with(&format!("{year:04}-{month:02}-{day:02}")).then_some(ms)
}

fn numbers(text: &str, between: char) -> Option<[u64; 3]> {
    let mut parts = text.split(between).map(|part| {
        let digits = !part.is_empty() && part.len() <= 4 && part.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| part.parse().ok()).flatten()
    });
    let three = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(three)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_dates_that_people_read() {
        for (ms, text) in [
            (0, "1970-01-01 00:00:00Z"),
            (951_782_400_000, "2000-02-29 00:00:00Z"),
            (1_794_731_051_000, "2026-11-15 08:24:11Z"),
            (4_102_444_799_000, "2099-12-31 23:59:59Z"),
        ] {
            assert_eq!(shown(ms), text);
            assert_eq!(date(text), Some(ms), "{text}");
            assert_eq!(date(&text.replace(' ', "T")), Some(ms), "{text}");
        }
        assert_eq!(date("2000-03-01"), Some(951_868_800_000));
    }

    #[test]
    fn spans_of_time_have_a_unit() {
        assert_eq!(duration("15m"), Ok(Duration::from_secs(900)));
        for wrong in
            ["", "15", "m", "-1h", "1w", "99999999999999999999d", "18446744073709551615d", "2001-02-29", "2026-13-01"]
        {
            assert!(moment(wrong).is_err(), "{wrong}");
        }
    }
}
