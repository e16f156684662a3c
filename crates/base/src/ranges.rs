//! Sets of numbers kept as ranges, so that a claimed range costs no more than a single number.

use alloc::collections::BTreeMap;

/// A set of numbers as disjoint half-open ranges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RangeSet {
    ranges: BTreeMap<i64, i64>,
}

impl RangeSet {
    /// Adds `start..end`; an empty range changes nothing.
    pub fn insert(&mut self, start: i64, end: i64) {
        if start >= end {
            return;
        }
        let (mut start, mut end) = (start, end);
        while let Some((known_start, known_end)) =
            self.ranges.range(..=end).next_back().map(|(s, e)| (*s, *e))
        {
            if known_end < start {
                break;
            }
            start = start.min(known_start);
            end = end.max(known_end);
            self.ranges.remove(&known_start);
        }
        self.ranges.insert(start, end);
    }

    /// True when `number` is in the set.
    pub fn contains(&self, number: i64) -> bool {
        self.end_of(number).is_some()
    }

    /// The end of the range that `number` is in.
    pub fn end_of(&self, number: i64) -> Option<i64> {
        self.ranges
            .range(..=number)
            .next_back()
            .map(|(_, end)| *end)
            .filter(|end| number < *end)
    }

    /// Where the first range that starts after `number` starts.
    pub fn next_start(&self, number: i64) -> Option<i64> {
        let after = number.checked_add(1)?;
        self.ranges.range(after..).next().map(|(start, _)| *start)
    }

    /// Drops everything below `start`.
    #[inline(always)]
    pub fn forget_below(&mut self, start: i64) {
        if !self.ranges.is_empty() {
            self.forget_ranges_below(start);
        }
    }

    #[inline(never)]
    fn forget_ranges_below(&mut self, start: i64) {
        while let Some((known_start, known_end)) = self
            .ranges
            .first_key_value()
            .map(|(s, e)| (*s, *e))
            .filter(|(s, _)| *s < start)
        {
            self.ranges.remove(&known_start);
            if known_end > start {
                self.ranges.insert(start, known_end);
            }
        }
    }

    /// Number of disjoint ranges.
    pub fn range_count(&self) -> usize {
        self.ranges.len()
    }

    /// True when there is no number in it.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The smallest number from `from` on that is not in the set.
    pub fn first_missing(&self, from: i64) -> i64 {
        self.end_of(from).unwrap_or(from)
    }
}

/// A set of numbers from 1 on, most of which are added in order: that takes no memory.
#[derive(Clone, Debug, Default)]
pub struct GrowingSet {
    /// From 1 to here all are in it.
    through: i64,
    /// What is in it behind a hole.
    behind: RangeSet,
}

impl GrowingSet {
    /// Adds `start..end`, from 1 on; an empty range changes nothing.
    pub fn insert(&mut self, start: i64, end: i64) {
        if start >= end {
            return;
        }
        if start > self.through.saturating_add(1) {
            return self.behind.insert(start, end);
        }
        self.through = self.through.max(end.saturating_sub(1));
        if !self.behind.is_empty() {
            let next = self.through.saturating_add(1);
            let end = self.behind.end_of(next).unwrap_or(next);
            self.behind.forget_below(end);
            self.through = end.saturating_sub(1);
        }
    }

    /// True when `number` is in the set.
    pub fn contains(&self, number: i64) -> bool {
        self.end_of(number).is_some()
    }

    /// The end of the range that `number` is in.
    pub fn end_of(&self, number: i64) -> Option<i64> {
        if (1..=self.through).contains(&number) {
            return Some(self.through.saturating_add(1));
        }
        self.behind.end_of(number)
    }

    /// Where the first range that starts after `number`, which is not in the set, starts.
    pub fn next_start(&self, number: i64) -> Option<i64> {
        if number < 1 && self.through > 0 {
            return Some(1);
        }
        self.behind.next_start(number)
    }

    /// Number of disjoint ranges that take memory.
    pub fn range_count(&self) -> usize {
        self.behind.range_count()
    }

    /// The smallest number from `from` on that is not in the set.
    pub fn first_missing(&self, from: i64) -> i64 {
        self.end_of(from).unwrap_or(from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers below what is asked for that look random.
    fn random(seed: u64) -> impl FnMut(u64) -> i64 {
        let mut seed = seed;
        move |below| {
            seed = seed
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            ((seed >> 33) % below) as i64
        }
    }

    #[test]
    fn ranges_merge_and_forget() {
        let mut set = RangeSet::default();
        set.insert(5, 7);
        set.insert(9, 12);
        assert_eq!(set.range_count(), 2);
        set.insert(7, 9);
        assert_eq!(set.range_count(), 1);
        assert_eq!(set.end_of(6), Some(12));
        set.insert(1, 20);
        assert_eq!(set.range_count(), 1);
        set.forget_below(10);
        assert!(!set.contains(9));
        assert!(set.contains(10));
        assert_eq!(set.first_missing(10), 20);
        set.insert(3, 3);
        set.insert(4, 2);
        assert_eq!(set.range_count(), 1);
        set.insert(1, i64::MAX);
        assert_eq!(set.first_missing(1), i64::MAX);
    }

    #[test]
    fn agrees_with_a_plain_set() {
        let mut next = random(7);
        let mut set = RangeSet::default();
        let mut plain = alloc::collections::BTreeSet::new();
        for _ in 0..500 {
            let start = next(200);
            let end = start + next(6);
            set.insert(start, end);
            plain.extend(start..end);
            for number in 0..210 {
                assert_eq!(set.contains(number), plain.contains(&number), "{number}");
            }
            if next(50) == 0 {
                let below = next(200);
                set.forget_below(below);
                plain.retain(|number| *number >= below);
            }
        }
    }

    #[test]
    fn a_growing_set_is_one_of_ranges_that_takes_less() {
        let mut next = random(11);
        for _ in 0..50 {
            let (mut growing, mut ranges) = (GrowingSet::default(), RangeSet::default());
            for _ in 0..40 {
                let start = 1 + next(60);
                let end = start + next(6);
                growing.insert(start, end);
                ranges.insert(start, end);
                for number in 0..70 {
                    assert_eq!(growing.end_of(number), ranges.end_of(number), "{number}");
                    assert_eq!(growing.first_missing(number), ranges.first_missing(number));
                    if !ranges.contains(number) {
                        assert_eq!(growing.next_start(number), ranges.next_start(number));
                    }
                }
                let first = usize::from(ranges.contains(1));
                assert_eq!(growing.range_count() + first, ranges.range_count());
            }
        }
    }
}
