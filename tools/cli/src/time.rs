//! Times as people read them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Nanoseconds since 1970 on this host's clock.
pub(crate) fn now_ns() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or(Duration::ZERO);
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// Nanoseconds since 1970 as `2026-11-21T17:25:12.123456Z`.
pub(crate) fn utc(ns: i64) -> String {
    let seconds = ns.div_euclid(1_000_000_000);
    let micros = ns.rem_euclid(1_000_000_000) / 1_000;
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = date(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z")
}

/// Year, month and day of the Gregorian calendar, `days` after 1 January 1970. Years are counted
/// from March, so that the leap day is the last of its year.
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::utc;

    #[test]
    fn known_moments() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00.000000Z"),
            (951_782_400, "2000-02-29T00:00:00.000000Z"),
            (1_795_281_912, "2026-11-21T17:25:12.000000Z"),
            (-1, "1969-12-31T23:59:59.000000Z"),
        ] {
            assert_eq!(utc(seconds * 1_000_000_000), expected);
        }
        assert_eq!(utc(1_234_567_000), "1970-01-01T00:00:01.234567Z");
    }
}
