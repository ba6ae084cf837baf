//! Numbers and names as people read them.

/// A whole number with its thousands set apart.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A share, or nothing where there is no whole.
pub fn percent(part: u64, whole: u64) -> String {
    if whole == 0 { String::new() } else { format!("{:.1} %", 100.0 * part as f64 / whole as f64) }
}

/// A number of bytes, in the units of `--memory`.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let power = (bytes.max(1).ilog2() as usize / 10).min(UNITS.len() - 1);
    let number = bytes as f64 / (1u64 << (10 * power)) as f64;
    let digits = if power > 0 && number < 10.0 { 1 } else { 0 };
    format!("{number:.digits$} {}", UNITS[power])
}

/// A duration.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => format!("{:.0} ms", s * 1000.0),
        s if s < 60.0 => format!("{s:.1} s"),
        s if s < 3600.0 => format!("{:.0} min {:.0} s", (s / 60.0).floor(), s % 60.0),
        s => format!("{:.0} h {:.0} min", (s / 3600.0).floor(), (s % 3600.0 / 60.0).floor()),
    }
}

/// Seconds as programs read them: what is below a millisecond says nothing.
pub fn to_milliseconds(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}

/// A long text with its middle cut out.
pub fn shortened(text: &str, most: usize) -> String {
    if text.len() <= most || text.chars().count() <= most {
        return text.to_string();
    }
    let half = (most - 1) / 2;
    let start: String = text.chars().take(half).collect();
    let mut end: Vec<char> = text.chars().rev().take(half).collect();
    end.reverse();
    start + "…" + &end.into_iter().collect::<String>()
}
