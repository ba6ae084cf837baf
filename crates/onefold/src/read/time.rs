//! Times as people write them: ISO 8601 or seconds since 1970.

const DAY: i64 = 86_400;

/// Seconds since 1970 (UTC where no offset is given), or nothing.
pub fn parse(text: &str) -> Option<i64> {
    let text = text.trim();
    if text.len() == 14 && text.bytes().all(|b| b.is_ascii_digit()) {
        return parse_fourteen_digits(text);
    }
    if let Ok(seconds) = text.parse::<i64>()
        && (text.len() > 8 || text.starts_with('-') || text.len() < 4)
    {
        return Some(to_seconds(seconds));
    }
    let (date, rest) = text.split_at_checked(10).unwrap_or((text, ""));
    let days = parse_date(date)?;
    let rest = rest.strip_prefix(['T', 't', ' ']).unwrap_or(rest);
    if rest.is_empty() {
        return Some(days * DAY);
    }
    let (clock, offset) = split_offset(rest)?;
    Some(days * DAY + parse_clock(clock)? - offset)
}

/// Seconds of a count since 1970 in seconds, milliseconds, microseconds or nanoseconds, told by its size: as seconds it would lie
/// beyond the year 5000.
pub fn to_seconds(count: i64) -> i64 {
    const FAR: u64 = 100_000_000_000;
    match count.unsigned_abs() {
        0..FAR => count,
        size if size < FAR * 1_000 => count / 1_000,
        size if size < FAR * 1_000_000 => count / 1_000_000,
        _ => count / 1_000_000_000,
    }
}

/// `20080430204825`, as ARC files write it.
fn parse_fourteen_digits(text: &str) -> Option<i64> {
    let days = parse_date(&format!("{}-{}-{}", &text[..4], &text[4..6], &text[6..8]))?;
    Some(days * DAY + parse_clock(&format!("{}:{}:{}", &text[8..10], &text[10..12], &text[12..]))?)
}

/// `2020`, `2020-03` or `2020-03-31` as days since 1970.
fn parse_date(text: &str) -> Option<i64> {
    let mut parts = text.split('-');
    let year: i64 = digits(parts.next()?, 4)?;
    let month = parts.next().map_or(Some(1), |m| digits(m, 2))?;
    let day = parts.next().map_or(Some(1), |d| digits(d, 2))?;
    let valid = parts.next().is_none() && (1..=12).contains(&month) && (1..=31).contains(&day);
    valid.then(|| days_from_civil(year, month, day))
}

fn digits(text: &str, count: usize) -> Option<i64> {
    (text.len() == count && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok())?
}

/// Days since 1970-01-01 in the proleptic Gregorian calendar (Hinnant's algorithm).
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// Splits `12:30:00.5+02:00` into the clock and the offset in seconds.
fn split_offset(text: &str) -> Option<(&str, i64)> {
    if let Some(clock) = text.strip_suffix(['Z', 'z']) {
        return Some((clock, 0));
    }
    let Some(at) = text.rfind(['+', '-']) else { return Some((text, 0)) };
    let sign = if text.as_bytes()[at] == b'-' { -1 } else { 1 };
    let offset = text[at + 1..].replace(':', "");
    let (hours, minutes) = offset.split_at_checked(2)?;
    let minutes = if minutes.is_empty() { 0 } else { digits(minutes, 2)? };
    Some((text[..at].trim_end(), sign * (digits(hours, 2)? * 3600 + minutes * 60)))
}

fn parse_clock(text: &str) -> Option<i64> {
    let mut parts = text.split('.').next()?.split(':');
    let hours = digits(parts.next()?, 2)?;
    let minutes = digits(parts.next()?, 2)?;
    let seconds = parts.next().map_or(Some(0), |s| digits(s, 2))?;
    (hours < 25 && minutes < 60 && seconds < 61 && parts.next().is_none()).then_some(hours * 3600 + minutes * 60 + seconds)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn iso_dates_and_seconds() {
        assert_eq!(parse("1970-01-01"), Some(0));
        assert_eq!(parse("2020-02-29T12:00:00Z"), Some(1_582_977_600));
        assert_eq!(parse("2020-02-29T14:00:00.123+02:00"), Some(1_582_977_600));
        assert_eq!(parse("2020-02-29 12:00"), Some(1_582_977_600));
        assert_eq!(parse("1582977600"), Some(1_582_977_600));
        assert_eq!(parse("2020"), parse("2020-01-01"));
        assert_eq!(parse("1969-12-31"), Some(-86_400));
        assert_eq!(parse("20200229120000"), Some(1_582_977_600));
        let counts = [1_582_977_600, 1_582_977_600_000, 1_582_977_600_000_000, 1_582_977_600_000_000_000];
        assert_eq!(counts.map(super::to_seconds), [1_582_977_600; 4]);
    }

    #[test]
    fn what_is_no_time_is_missing() {
        for bad in ["", "yesterday", "2020-13-01", "2009-03-65T10:52:49-0800", "2020-02-29Tnoon", "20-02-2020"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
