//! A join in parts, where the index of all sets is too large for memory: some sets look for partners among some others.
//!
//! The index of a part holds every key that a set of the one side shares with one of the other, so each pair is counted as it would be
//! in the index of all: nothing else changes.

use std::ops::Range;

use super::sets::SetIndex;

/// Sets that look for partners, and sets among which they look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Task {
    pub(super) probe: Range<SetIndex>,
    pub(super) among: Range<SetIndex>,
}

impl Task {
    /// Whether a set takes part.
    pub(super) fn includes(&self, set: SetIndex) -> bool {
        self.probe.contains(&set) || self.among.contains(&set)
    }
}

/// Divides the search for all pairs. `window` tells where a set looks for partners, and rises with the set; `before[set]` is the weight of
/// all sets before it; no task weighs more than `most`, unless one set does.
pub(super) fn divide(before: &[u64], most: u64, window: impl Fn(SetIndex) -> Range<SetIndex>) -> Vec<Task> {
    let count = before.len().saturating_sub(1) as SetIndex;
    let weight = |range: Range<SetIndex>| before[range.end as usize] - before[range.start as usize];
    let mut tasks = Vec::new();
    let mut first = 0;
    while first < count {
        let span = |end: SetIndex| window(first).start.min(first)..window(end - 1).end.max(end);
        let end = last_fitting(first..count, |end| weight(span(end)) <= most);
        if weight(span(end)) <= most && (weight(first..end) >= most / 4 || end == count) {
            tasks.push(Task { probe: first..end, among: window(first).start..window(end - 1).end });
            first = end;
            continue;
        }
        // The window alone is nearly too much: it is looked at piece by piece.
        let end = last_fitting(first..count, |end| weight(first..end) <= most / 2);
        let among = pieces(before, most / 2, window(first).start..window(end - 1).end);
        tasks.extend(among.map(|among| Task { probe: first..end, among }));
        first = end;
    }
    tasks
}

/// The sum of all weights before each; one more for the end.
pub(crate) fn sums(weights: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut sum = 0;
    let after = weights.map(|weight| {
        sum += weight;
        sum
    });
    [0].into_iter().chain(after).collect()
}

/// Cuts a range of sets, or of whatever else is numbered, into pieces that weigh no more than `most`, unless one of them does.
pub(crate) fn pieces(before: &[u64], most: u64, sets: Range<SetIndex>) -> impl Iterator<Item = Range<SetIndex>> {
    let mut first = sets.start;
    std::iter::from_fn(move || {
        if first >= sets.end {
            return None;
        }
        let weighed = before[first as usize] + most;
        let end = last_fitting(first..sets.end, |end| before[end as usize] <= weighed);
        let piece = first..end;
        first = end;
        Some(piece)
    })
}

/// The last end of a range for which `fits` holds, at least one after its start; it holds for all smaller ones.
fn last_fitting(range: Range<SetIndex>, fits: impl Fn(SetIndex) -> bool) -> SetIndex {
    let (mut low, mut high) = (range.start + 1, range.end);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if fits(middle) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every set meets every set of its window, once.
    #[test]
    fn tasks_cover_every_window_once_and_fit() {
        for (count, width, most) in
            [(100u32, 10u32, 1000u64), (100, 100, 40), (57, 3, 5), (30, 30, 1), (1, 1, 1), (0, 1, 1), (80, 20, 9)]
        {
            let weights: Vec<u64> = (0..u64::from(count)).map(|set| 1 + set * 7 % 3).collect();
            let before = sums(weights.iter().copied());
            let downwards = |set: SetIndex| set.saturating_sub(width)..set;
            let both = |set: SetIndex| set.saturating_sub(width)..count.min(set + width);
            let upwards = |set: SetIndex| set + 1..count.max(set + 1);
            let windows: [&dyn Fn(SetIndex) -> Range<SetIndex>; 3] = [&downwards, &both, &upwards];
            for window in windows {
                let tasks = divide(&before, most, window);
                for set in 0..count {
                    for other in 0..count {
                        let met = tasks.iter().filter(|task| task.probe.contains(&set) && task.among.contains(&other)).count();
                        assert!(met <= 1 && (met == 1 || !window(set).contains(&other)), "{set} {other} {tasks:?}");
                    }
                }
                let heaviest = weights.iter().max().copied().unwrap_or(0);
                for task in &tasks {
                    let weight: u64 = (0..count).filter(|&set| task.includes(set)).map(|set| weights[set as usize]).sum();
                    assert!(weight <= most.max(2 * heaviest), "{task:?} weighs {weight} of {most}");
                }
            }
        }
    }
}
