//! Classes of documents by size.

use serde::Serialize;

/// Classes of sizes, each from a bound up to the next; the first begins at 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Classes {
    bounds: Vec<u32>,
}

impl Classes {
    /// The eleven groups of Ye, Wen, Ma by words (Y24).
    pub fn of_ye() -> Classes {
        Classes::new([500].into_iter().chain((1..=9).map(|thousand| thousand * 1000)))
    }

    /// Finer ones, each twice as wide as the one before.
    pub fn doubling() -> Classes {
        Classes::new((5..=13).map(|power| 1 << power))
    }

    /// By the sizes at which a new class begins, in any order.
    pub fn new(bounds: impl IntoIterator<Item = u32>) -> Classes {
        let mut bounds: Vec<u32> = [0].into_iter().chain(bounds).collect();
        bounds.sort_unstable();
        bounds.dedup();
        Classes { bounds }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.bounds.len()
    }

    /// The class of a size.
    pub fn of(&self, size: u32) -> usize {
        self.bounds.partition_point(|&bound| bound <= size) - 1
    }

    /// Where a class begins.
    pub fn from(&self, class: usize) -> u32 {
        self.bounds[class]
    }

    /// Where it ends, if it does: the size that belongs to it no more.
    pub fn to(&self, class: usize) -> Option<u32> {
        self.bounds.get(class + 1).copied()
    }

    /// As people write it: "500–999", "9000 and more".
    pub fn name(&self, class: usize) -> String {
        match self.to(class) {
            Some(to) if to - 1 == self.from(class) => self.from(class).to_string(),
            Some(to) => format!("{}–{}", self.from(class), to - 1),
            None => format!("{} and more", self.from(class)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_belong_to_half_open_classes() {
        let classes = Classes::of_ye();
        assert_eq!(classes.count(), 11);
        assert_eq!([0, 499, 500, 999, 1000, 8999, 9000, 80_000].map(|size| classes.of(size)), [0, 0, 1, 1, 2, 9, 10, 10]);
        assert_eq!((classes.name(0), classes.name(10)), ("0–499".into(), "9000 and more".into()));
        assert_eq!(Classes::new([]).of(7), 0);
    }
}
