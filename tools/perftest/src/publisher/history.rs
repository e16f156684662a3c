//! Latencies of one size, and what the original makes of them.

use crate::printer::Latencies;

/// Latencies in nanoseconds, in order of arrival.
#[derive(Debug, Default)]
pub(super) struct History {
    all: Vec<u64>,
    sum: u128,
    squares: u128,
    min: u64,
    max: u64,
}

impl History {
    pub(super) fn add(&mut self, ns: u64) {
        self.min = if self.all.is_empty() {
            ns
        } else {
            self.min.min(ns)
        };
        self.max = self.max.max(ns);
        self.sum += u128::from(ns);
        self.squares += u128::from(ns).pow(2);
        self.all.push(ns);
    }

    pub(super) fn all(&self) -> &[u64] {
        &self.all
    }

    /// Mean, standard deviation of the population, extremes; zeros of nothing.
    pub(super) fn latencies(&self) -> Latencies {
        let count = self.all.len().max(1) as f64;
        let ave = self.sum as f64 / count;
        let variance = self.squares as f64 / count - ave * ave;
        Latencies {
            ave,
            std: variance.max(0.0).sqrt(),
            min: self.min,
            max: self.max,
        }
    }

    /// 50, 90, 99, 99.99 and 99.9999 %: of `n` in ascending order, that at the place `n` times the
    /// share, rounded down.
    pub(super) fn percentiles(&self) -> [u64; 5] {
        let mut sorted = self.all.clone();
        sorted.sort_unstable();
        let (count, last) = (sorted.len() as u64, sorted.len().saturating_sub(1));
        [500_000, 900_000, 990_000, 999_900, 999_999].map(|millionths| {
            let place = usize::try_from(count * millionths / 1_000_000).unwrap_or(last);
            sorted.get(place.min(last)).copied().unwrap_or(0)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_places_rounded_down() {
        let mut history = History::default();
        (1..=1000).rev().for_each(|it| history.add(it));
        assert_eq!(history.percentiles(), [501, 901, 991, 1000, 1000]);
        let mut one = History::default();
        one.add(7);
        assert_eq!(one.percentiles(), [7; 5]);
        assert_eq!(History::default().percentiles(), [0; 5]);
    }

    #[test]
    fn the_deviation_is_that_of_the_population() {
        let mut history = History::default();
        [2, 4, 4, 4, 5, 5, 7, 9]
            .into_iter()
            .for_each(|it| history.add(it));
        let all = history.latencies();
        assert_eq!((all.ave, all.std, all.min, all.max), (5.0, 2.0, 2, 9));
        assert_eq!(History::default().latencies(), Latencies::default());
    }
}
