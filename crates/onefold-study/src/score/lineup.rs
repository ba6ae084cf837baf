//! Documents lined up by family, so that pairs of different classes are found without trying pairs of equal ones.
//!
//! In: the family of each document, and the class of those that take part. Out: walks over pairs `(first, second)` of
//! different classes in ascending order, which stop when the visitor breaks. Cost: O(n log n) to line up, O(log n) to
//! start a walk, then a constant for each pair visited.

use std::ops::ControlFlow;
use std::ops::Range;

use super::index::Edge;

/// Documents by family, then number.
pub(super) struct Lineup<'a> {
    family: &'a [usize],
    class: &'a [Option<usize>],
    order: Vec<usize>,
    /// By place: the next place in the same family with another class, or where the family ends.
    jump: Vec<usize>,
}

impl<'a> Lineup<'a> {
    pub(super) fn new(family: &'a [usize], class: &'a [Option<usize>]) -> Lineup<'a> {
        let mut order: Vec<usize> = (0..family.len()).filter(|&document| class[document].is_some()).collect();
        order.sort_unstable_by_key(|&document| (family[document], document));
        let mut jump: Vec<usize> = (1..=order.len()).collect();
        for place in (0..order.len().saturating_sub(1)).rev() {
            let (here, next) = (order[place], order[place + 1]);
            if family[here] == family[next] && class[here] == class[next] {
                jump[place] = jump[place + 1];
            }
        }
        Lineup { family, class, order, jump }
    }

    /// Walks over the pairs inside each family; a break ends the walk of that family.
    pub(super) fn inside_families(&self, visit: &mut impl FnMut(usize, usize) -> ControlFlow<()>) {
        let mut end = 0;
        for members in self.order.chunk_by(|&a, &b| self.family[a] == self.family[b]) {
            let start = end;
            end = start + members.len();
            for place in start..end {
                let first = self.order[place];
                let strangers = self.strangers(first, place + 1..end);
                // None: all that follow are of one class.
                if strangers.is_empty() || self.meet(first, strangers, visit).is_break() {
                    break;
                }
            }
        }
    }

    /// Walks over the cross pairs of two families.
    pub(super) fn across(&self, edge: &Edge, visit: &mut impl FnMut(usize, usize) -> ControlFlow<()>) {
        let (mut left, mut right) = (self.places(edge.first), self.places(edge.second));
        // The smaller of the two heads is the first of its pairs; the other family from its head on holds the seconds.
        while !left.is_empty() && !right.is_empty() {
            if self.order[left.start] > self.order[right.start] {
                (left, right) = (right, left);
            }
            let first = self.order[left.start];
            let strangers = self.strangers(first, right.clone());
            if strangers.is_empty() {
                // All that is left on the right is of this class, and makes no pair with the rest of its run.
                left.start = self.jump[left.start];
                continue;
            }
            left.start += 1;
            if self.meet(first, strangers, visit).is_break() {
                return;
            }
        }
    }

    fn places(&self, family: usize) -> Range<usize> {
        let start = self.order.partition_point(|&document| self.family[document] < family);
        let width = self.order[start..].partition_point(|&document| self.family[document] == family);
        start..start + width
    }

    /// The places from the first one on that holds another class than `first`.
    fn strangers(&self, first: usize, places: Range<usize>) -> Range<usize> {
        if !places.is_empty() && self.class[self.order[places.start]] == self.class[first] {
            self.jump[places.start]..places.end
        } else {
            places
        }
    }

    /// Visits a document with each of another class, from a place that holds one.
    fn meet(
        &self,
        first: usize,
        mut strangers: Range<usize>,
        visit: &mut impl FnMut(usize, usize) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        while !strangers.is_empty() {
            visit(first, self.order[strangers.start])?;
            strangers = self.strangers(first, strangers.start + 1..strangers.end);
        }
        ControlFlow::Continue(())
    }
}
