//! The threshold as the decimal that was typed: a rational, so that `r ≥ t` is decided in integers.
//!
//! `⌈0.55 · 100⌉` is 56 in floating point; every bound of the join is computed here, without floats.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::Error;

/// Most digits after the point: 10⁹ keeps every product below within 64 bits.
const MAX_DECIMALS: usize = 9;

/// A share in (0, 1], exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threshold {
    numerator: u64,
    denominator: u64,
}

impl Threshold {
    /// Everything equal, nothing else.
    pub const ONE: Threshold = Threshold { numerator: 1, denominator: 1 };
    /// The default of the field: 0.8.
    pub const EIGHT_TENTHS: Threshold = Threshold { numerator: 4, denominator: 5 };

    /// What containment asks for by default: 0.9.
    pub const NINE_TENTHS: Threshold = Threshold { numerator: 9, denominator: 10 };

    /// What several works ask for: 0.5.
    pub const HALF: Threshold = Threshold { numerator: 1, denominator: 2 };

    /// The published best of SpotSigs: 0.44.
    pub const ELEVEN_25THS: Threshold = Threshold { numerator: 11, denominator: 25 };

    /// Whether `overlap / union ≥ t`.
    pub fn reached(self, overlap: u32, union: u64) -> bool {
        u64::from(overlap) * self.denominator >= self.numerator * union
    }

    /// `⌈t · size⌉`: the size of the smallest partner.
    pub fn smallest_partner(self, size: u32) -> u32 {
        let least = (self.numerator * u64::from(size)).div_ceil(self.denominator);
        u32::try_from(least).unwrap_or(u32::MAX)
    }

    /// `⌊size / t⌋`: the size of the largest partner.
    pub fn largest_partner(self, size: u32) -> u32 {
        let most = u64::from(size) * self.denominator / self.numerator;
        u32::try_from(most).unwrap_or(u32::MAX)
    }

    /// `⌈t/(1+t) · (a+b)⌉`: the common shingles two sets need to have resemblance t.
    pub fn needed_overlap(self, a: u32, b: u32) -> u32 {
        let sum = u64::from(a) + u64::from(b);
        let needed = (self.numerator * sum).div_ceil(self.numerator + self.denominator);
        u32::try_from(needed).unwrap_or(u32::MAX)
    }

    /// `size − ⌈t·size⌉ + 1`: so many of the first shingles, in any fixed order, hold a common one.
    pub fn prefix(self, size: u32) -> u32 {
        if size == 0 { 0 } else { size - self.smallest_partner(size) + 1 }
    }

    /// The largest partner whose *first* common shingle can stand at `place` (from 0) of a set of `size`.
    ///
    /// At most `size − place` shingles are common then, and `t/(1+t)·(size + partner)` are needed.
    pub fn largest_partner_from(self, size: u32, place: u32) -> u32 {
        let left = u64::from(size - place);
        let sum = left * (self.numerator + self.denominator) / self.numerator;
        u32::try_from(sum.saturating_sub(u64::from(size))).unwrap_or(u32::MAX)
    }

    /// `(1 + t) / 2`. Resemblance is one minus a metric, so two sets that are this close to a third are t-close to each other.
    pub fn halfway_to_one(self) -> Threshold {
        Threshold { numerator: self.numerator + self.denominator, denominator: 2 * self.denominator }
    }

    /// For formulas that are not decisions (band curves, plots).
    pub fn as_f64(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }
}

impl PartialOrd for Threshold {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Threshold {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.numerator * other.denominator).cmp(&(other.numerator * self.denominator))
    }
}

impl FromStr for Threshold {
    type Err = Error;

    fn from_str(typed: &str) -> Result<Self, Error> {
        Threshold::parse("threshold", typed)
    }
}

impl Threshold {
    /// Reads the setting called `name`.
    pub fn parse(name: &'static str, typed: &str) -> Result<Self, Error> {
        let allowed = "a decimal above 0 and up to 1, such as 0.8";
        let (numerator, denominator) = decimal(name, allowed, typed)?;
        if numerator == 0 {
            return Err(Error::setting(name, allowed, typed));
        }
        Ok(Threshold { numerator, denominator })
    }
}

/// How much may differ: a share from 0 to 1, exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tolerance {
    numerator: u64,
    denominator: u64,
}

impl Tolerance {
    /// What edit distances may be by default: 0.3.
    pub const THREE_TENTHS: Tolerance = Tolerance { numerator: 3, denominator: 10 };

    /// Reads the setting called `name`.
    pub fn parse(name: &'static str, typed: &str) -> Result<Self, Error> {
        let (numerator, denominator) = decimal(name, "a decimal from 0 to 1, such as 0.3", typed)?;
        Ok(Tolerance { numerator, denominator })
    }

    /// `⌊x · size⌋`: so many of `size` may differ.
    pub fn most(self, size: u32) -> u32 {
        (self.numerator * u64::from(size) / self.denominator) as u32
    }

    /// For what is no decision.
    pub fn as_f64(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }
}

/// A decimal from 0 to 1 in lowest terms.
fn decimal(name: &'static str, allowed: &str, typed: &str) -> Result<(u64, u64), Error> {
    let wrong = || Error::setting(name, allowed, typed);
    let (whole, decimals) = typed.split_once('.').unwrap_or((typed, ""));
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(decimals) || (whole.is_empty() && decimals.is_empty()) || whole.len() > 3 {
        return Err(wrong());
    }
    let decimals = decimals.trim_end_matches('0');
    if decimals.len() > MAX_DECIMALS {
        return Err(Error::setting(name, "a decimal with at most 9 places", typed));
    }
    let denominator = 10u64.pow(decimals.len() as u32);
    let parse = |s: &str| if s.is_empty() { Ok(0) } else { s.parse::<u64>() };
    let whole = parse(whole).map_err(|_| wrong())?;
    let numerator = whole * denominator + parse(decimals).map_err(|_| wrong())?;
    if numerator > denominator {
        return Err(wrong());
    }
    let divisor = greatest_common_divisor(numerator, denominator);
    Ok((numerator / divisor, denominator / divisor))
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // At most nine decimals were typed, so the shortest float that reads back is the decimal itself.
        write!(f, "{}", self.as_f64())
    }
}

impl Serialize for Threshold {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.as_f64())
    }
}

impl<'de> Deserialize<'de> for Threshold {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = f64::deserialize(deserializer)?;
        value.to_string().parse().map_err(serde::de::Error::custom)
    }
}

impl fmt::Display for Tolerance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.as_f64())
    }
}

impl Serialize for Tolerance {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.as_f64())
    }
}

impl<'de> Deserialize<'de> for Tolerance {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = f64::deserialize(deserializer)?;
        Tolerance::parse("max-edit", &value.to_string()).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn t(typed: &str) -> Threshold {
        typed.parse().unwrap()
    }

    #[test]
    fn decimals_are_rationals() {
        assert_eq!(t("0.8"), Threshold { numerator: 4, denominator: 5 });
        assert_eq!(t("1.0"), Threshold::ONE);
        assert_eq!(t(".55").smallest_partner(100), 55, "floats would say 56");
        assert_eq!(t("0.123456789").to_string(), "0.123456789");
        assert!(t("0.8") < t("0.85"));
    }

    #[test]
    fn what_is_no_threshold_is_refused() {
        for bad in
            ["0", "0.0", "1.0000001", "-1", "NaN", "nan", "inf", "", ".", "1e-1", "0,8", "2", "99999999999", "0.1234567891"]
        {
            assert!(bad.parse::<Threshold>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_tolerance_may_be_nothing_or_everything() {
        let most = |typed: &str, size: u32| Tolerance::parse("max-edit", typed).map(|share| share.most(size)).ok();
        assert_eq!(
            (most("0", 100), most("1", 100), most("0.29", 100), most(".3", u32::MAX)),
            (Some(0), Some(100), Some(29), Some(1_288_490_188))
        );
        assert!(["-0.1", "1.1", "", "NaN", "a"].iter().all(|bad| most(bad, 1).is_none()));
        assert_eq!(Tolerance::THREE_TENTHS.to_string(), "0.3");
    }

    #[test]
    fn bounds_agree_with_their_definitions() {
        for typed in ["0.5", "0.8", "0.95", "1", "0.333333333"] {
            let t = t(typed);
            for a in 1u32..60 {
                for b in 1u32..60 {
                    let possible = |overlap: u32| t.reached(overlap, u64::from(a + b - overlap));
                    let least = (0..=a.min(b)).find(|&o| possible(o));
                    let needed = t.needed_overlap(a, b);
                    match least {
                        Some(o) => assert_eq!(o, needed, "{typed} {a} {b}"),
                        None => assert!(needed > a.min(b), "{typed} {a} {b}"),
                    }
                    let in_range = (t.smallest_partner(a)..=t.largest_partner(a)).contains(&b);
                    assert_eq!(least.is_some(), in_range, "{typed} {a} {b}");
                    for place in 0..a {
                        let fits = needed <= a - place;
                        assert_eq!(fits, b <= t.largest_partner_from(a, place), "{typed} {a} {b} {place}");
                    }
                }
            }
        }
    }
}
