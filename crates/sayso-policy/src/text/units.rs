//! Amounts as people write them: `15m`, `5.00 USD`, `10MB`, `30/1m`.

use std::time::Duration;

/// Money.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Millionths of the currency's unit.
    pub micros: u64,
    /// Three capital letters.
    pub currency: String,
}

/// So many in each stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// How many.
    pub count: u64,
    /// In how long.
    pub per: Duration,
}

/// `90s`, `15m`, `1h30m`, `7d`. `None`: not a duration, or none at all (`0s`).
pub(crate) fn duration(text: &str) -> Option<Duration> {
    let mut rest = text.trim();
    let mut millis: u64 = 0;
    // INVARIANT: units shrink from left to right, so that `5m1h` and `1h1h` are typing errors, not sums.
    let mut ceiling = u64::MAX;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let (number, tail) = rest.split_at_checked(digits)?;
        let letters = tail.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at_checked(letters)?;
        let unit = match unit {
            "ms" => 1,
            "s" => 1000,
            "m" | "min" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            "w" => 604_800_000,
            _ => return None,
        };
        if unit >= ceiling {
            return None;
        }
        ceiling = unit;
        millis = millis.checked_add(number.parse::<u64>().ok()?.checked_mul(unit)?)?;
        rest = tail;
    }
    (millis > 0).then(|| Duration::from_millis(millis))
}

/// `5.00 USD`.
pub(crate) fn cost(text: &str) -> Option<Cost> {
    let (amount, currency) = text.trim().split_once(' ')?;
    let currency = currency.trim();
    if currency.len() != 3 || !currency.bytes().all(|b| b.is_ascii_uppercase()) {
        return None;
    }
    let (whole, fraction) = amount.split_once('.').unwrap_or((amount, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || fraction.len() > 6 {
        return None;
    }
    let micros = format!("{fraction:0<6}").parse::<u64>().ok()?;
    let micros = whole.parse::<u64>().ok()?.checked_mul(1_000_000)?.checked_add(micros)?;
    Some(Cost { micros, currency: currency.to_owned() })
}

/// `10MB`, `512 KiB`.
pub(crate) fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at_checked(digits)?;
    let unit: u64 = match unit.trim_start() {
        "B" => 1,
        "kB" | "KB" => 1000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(unit)
}

/// `30/1m`, `30/m`.
pub(crate) fn rate(text: &str) -> Option<Rate> {
    let (count, per) = text.split_once('/')?;
    let count = count.trim().parse::<u64>().ok().filter(|count| *count > 0)?;
    let per = per.trim();
    let per =
        if per.starts_with(|c: char| c.is_ascii_digit()) { duration(per)? } else { duration(&format!("1{per}"))? };
    Some(Rate { count, per })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_numbers_with_shrinking_units() {
        for (text, seconds) in
            [("90s", 90), ("15m", 900), ("1h30m", 5400), ("2h", 7200), ("7d", 604_800), (" 1w ", 604_800)]
        {
            assert_eq!(duration(text), Some(Duration::from_secs(seconds)), "{text}");
        }
        assert_eq!(duration("250ms"), Some(Duration::from_millis(250)));
        for bad in ["", "15", "m", "0s", "-5m", "5m1h", "1h1h", "1.5h", "5 m", "5y", "99999999999999999999s", "１m"] {
            assert_eq!(duration(bad), None, "{bad}");
        }
        assert_eq!(duration("18446744073709551615w"), None, "no overflow");
    }

    #[test]
    fn a_cost_is_an_amount_and_a_currency() {
        assert_eq!(cost("5.00 USD"), Some(Cost { micros: 5_000_000, currency: "USD".into() }));
        assert_eq!(cost("0.000001 EUR"), Some(Cost { micros: 1, currency: "EUR".into() }));
        assert_eq!(cost("12 EUR").map(|c| c.micros), Some(12_000_000));
        for bad in ["5", "USD", "5 usd", "$5", "5,00 USD", "-5 USD", "5. USD", ".5 USD", "1.0000001 USD", "5 DOLLARS"] {
            assert_eq!(cost(bad), None, "{bad}");
        }
    }

    #[test]
    fn sizes_and_rates() {
        assert_eq!(bytes("10MB"), Some(10_000_000));
        assert_eq!(bytes("512 KiB"), Some(524_288));
        for bad in ["10", "MB", "10mb", "1.5MB", "99999999999GB"] {
            assert_eq!(bytes(bad), None, "{bad}");
        }
        let minute = Some(Rate { count: 30, per: Duration::from_secs(60) });
        assert_eq!(rate("30/1m"), minute);
        assert_eq!(rate("30 / m"), minute);
        for bad in ["30", "30/", "/1m", "0/1m", "30/minute"] {
            assert_eq!(rate(bad), None, "{bad}");
        }
    }
}
