//! Numbers and names as people read them.

use super::NAME;
use crate::html::{Html, name};
use crate::numbers::grouped;
pub use crate::numbers::{duration, percent, shortened};

/// `1 cluster`, `2 clusters`.
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// A similarity to three places, cut and not rounded: what is not equal never reads 1.
pub fn similarity(value: f64) -> String {
    if value >= 1.0 { "1".into() } else { format!("{:.3}", (value * 1000.0 + 1e-9).floor() / 1000.0) }
}

/// A name from outside, cut where it is long.
pub fn named(text: &str) -> Html {
    name(&shortened(text, NAME))
}

/// A stable word as people would write it.
pub fn plain(word: &str) -> String {
    word.replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_read_well() {
        assert_eq!(percent(1, 3), "33.3 %");
        assert_eq!([counted(1, "copy", "copies"), counted(1200, "copy", "copies")], ["1 copy", "1,200 copies"]);
        assert_eq!([0.8, 0.9999, 1.0, 0.29].map(similarity), ["0.800", "0.999", "1", "0.290"]);
        assert_eq!(shortened("abcdefghij", 5), "ab…ij");
        assert_eq!(shortened("äöü", 3), "äöü");
        assert_eq!([0.25, 5.04, 65.0, 7260.0].map(duration), ["250 ms", "5.0 s", "1 min 5 s", "2 h 1 min"]);
    }
}
