//! Sums of resemblances, kept as whole numbers: the same whatever is added first, and no digit is lost where two sums are nearly equal.

/// A resemblance of 1. Products of two are below 2⁸⁰, so that sums of 2⁴⁴ of them stay far inside 128 bits.
const ONE: f64 = (1u64 << 40) as f64;

/// A resemblance in parts of [`ONE`].
pub(super) fn fixed(common: u32, union: u32) -> u64 {
    (f64::from(common) / f64::from(union) * ONE).round() as u64
}

/// What becomes of resemblances when shingles are left out.
#[derive(Clone, Debug, Default)]
pub(super) struct Moments {
    pairs: u64,
    gaps: u128,
    full: Series,
    left: Series,
    products: u128,
}

#[derive(Clone, Debug, Default)]
struct Series {
    sum: u128,
    squares: u128,
}

impl Series {
    fn add(&mut self, value: u64) {
        self.sum += u128::from(value);
        self.squares += u128::from(value) * u128::from(value);
    }

    fn unite(&mut self, other: &Series) {
        self.sum += other.sum;
        self.squares += other.squares;
    }
}

impl Moments {
    /// A pair with its resemblance by all shingles, and by those that are left; 0 where none is.
    pub(super) fn add(&mut self, full: u64, left: u64) {
        self.pairs += 1;
        self.gaps += u128::from(full.abs_diff(left));
        self.full.add(full);
        if left > 0 {
            self.left.add(left);
            self.products += u128::from(full) * u128::from(left);
        }
    }

    /// Adds other pairs.
    pub(super) fn unite(&mut self, other: &Moments) {
        self.pairs += other.pairs;
        self.gaps += other.gaps;
        self.full.unite(&other.full);
        self.left.unite(&other.left);
        self.products += other.products;
    }

    /// How many there are.
    pub(super) fn pairs(&self) -> u64 {
        self.pairs
    }

    /// Σ|α−β|/n (N16).
    pub(super) fn average_error(&self) -> Option<f64> {
        (self.pairs > 0).then(|| self.gaps as f64 / self.pairs as f64 / ONE)
    }

    /// That of Pearson; none where one of the two is always the same.
    pub(super) fn correlation(&self) -> Option<f64> {
        let (full, left) = (&self.full, &self.left);
        let spread = self.covariation(full.sum, full.sum, full.squares) * self.covariation(left.sum, left.sum, left.squares);
        (spread > 0.0).then(|| self.covariation(full.sum, left.sum, self.products) / spread.sqrt())
    }

    /// Σ(x−x̄)(y−ȳ) from Σx, Σy, Σxy. Whole means are taken off first, in whole numbers; what they lack is less than one for each pair.
    fn covariation(&self, x: u128, y: u128, xy: u128) -> f64 {
        let pairs = u128::from(self.pairs.max(1));
        let around = (xy + pairs * (x / pairs) * (y / pairs)) as i128 - (x / pairs * y + y / pairs * x) as i128;
        around as f64 - (x % pairs) as f64 * ((y % pairs) as f64 / pairs as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Resemblances that differ in the seventh digit: sums of squares in floats would leave nothing of it.
    #[test]
    fn small_differences_count() {
        let mut moments = Moments::default();
        let values: Vec<(f64, f64)> =
            (0..1000).map(|n| (0.9 + f64::from(n % 10) * 1e-7, 0.9 + f64::from(n % 7) * 1e-7)).collect();
        for &(x, y) in &values {
            moments.add((x * ONE).round() as u64, (y * ONE).round() as u64);
        }
        let mean = |of: &dyn Fn(&(f64, f64)) -> f64| values.iter().map(of).sum::<f64>() / 1000.0;
        let (mean_x, mean_y) = (mean(&|v| v.0), mean(&|v| v.1));
        let covariance = mean(&|v| (v.0 - mean_x) * (v.1 - mean_y));
        let spread = (mean(&|v| (v.0 - mean_x).powi(2)) * mean(&|v| (v.1 - mean_y).powi(2))).sqrt();
        let correlation = moments.correlation().unwrap();
        assert!((correlation - covariance / spread).abs() < 1e-4, "{correlation} {}", covariance / spread);
        let error = mean(&|v| (v.0 - v.1).abs());
        assert!((moments.average_error().unwrap() - error).abs() < 1e-11);
    }

    #[test]
    fn nothing_varies() {
        let mut moments = Moments::default();
        assert_eq!((moments.average_error(), moments.correlation()), (None, None));
        (0..3).for_each(|_| moments.add(fixed(1, 3), fixed(1, 2)));
        assert_eq!(moments.correlation(), None);
        assert!((moments.average_error().unwrap() - 1.0 / 6.0).abs() < 1e-12);
        moments.add(fixed(1, 1), 0);
        let correlation = moments.correlation().unwrap();
        assert!((correlation + 1.0).abs() < 1e-12, "two points lie on a line: {correlation}");
    }
}
