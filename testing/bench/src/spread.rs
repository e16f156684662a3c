//! Percentiles of latencies.

use hdrhistogram::Histogram;

/// Longest latency told apart, in nanoseconds; longer ones count as this.
const LONGEST_NS: u64 = 60_000_000_000;

/// One-way latencies of one contestant, placement and size, over all rounds.
#[derive(Clone, Debug)]
pub struct Spread {
    halves: Histogram<u64>,
    round_p50s_us: Vec<f64>,
}

impl Default for Spread {
    fn default() -> Self {
        Self {
            halves: histogram(),
            round_p50s_us: Vec::new(),
        }
    }
}

impl Spread {
    /// Adds the round trips of one round; half of each counts.
    pub fn add_round(&mut self, round_trips_ns: &[u64]) {
        let mut round = histogram();
        for ns in round_trips_ns {
            // Within the bounds of the histogram, which is all that can go wrong.
            round.saturating_record(*ns);
        }
        if round.is_empty() {
            return;
        }
        self.round_p50s_us
            .push(one_way_us(round.value_at_quantile(0.5)));
        // The same bounds, so it fits.
        let _ = self.halves.add(&round);
    }

    /// How many times the median of `other` ours is, whose rounds were run by turns with ours: the
    /// middle of what it is in each round. Machines have speeds that they keep for a while; medians
    /// over all rounds fall into one or the other by chance, those of one round into the same.
    ///
    /// Not a number where there is no such round.
    pub fn p50_of(&self, other: &Self) -> f64 {
        median_of_rounds(&self.round_p50s_us, &other.round_p50s_us)
    }

    /// Messages counted.
    pub fn count(&self) -> u64 {
        self.halves.len()
    }

    /// The latency in microseconds that the share `quantile` of messages did not exceed.
    pub fn us(&self, quantile: f64) -> f64 {
        one_way_us(self.halves.value_at_quantile(quantile))
    }

    /// The shortest in microseconds.
    pub fn min_us(&self) -> f64 {
        one_way_us(self.halves.min())
    }

    /// The longest in microseconds.
    pub fn max_us(&self) -> f64 {
        one_way_us(self.halves.max())
    }

    /// Smallest and largest median of a round, in microseconds: how steady the machine was.
    pub fn round_p50s_us(&self) -> (f64, f64) {
        let of =
            |pick: fn(f64, f64) -> f64, start| self.round_p50s_us.iter().copied().fold(start, pick);
        if self.round_p50s_us.is_empty() {
            return (0.0, 0.0);
        }
        (of(f64::min, f64::INFINITY), of(f64::max, 0.0))
    }
}

/// What is compared of two latencies.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Quantile {
    /// Medians, round by round.
    P50,
    /// Tails, over all rounds.
    P99,
}

impl Quantile {
    /// All.
    pub(crate) const ALL: [Self; 2] = [Self::P50, Self::P99];

    /// As goals call it.
    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::P50 => "p50",
            Self::P99 => "p99",
        }
    }

    /// How many times that of `theirs` it is of `ours`.
    pub(crate) fn ratio(self, ours: &Spread, theirs: &Spread) -> f64 {
        match self {
            Self::P50 => ours.p50_of(theirs),
            Self::P99 => ours.us(0.99) / theirs.us(0.99),
        }
    }
}

/// The middle of how many times `theirs` `ours` is in each round; not a number where there is none.
pub(crate) fn median_of_rounds(ours: &[f64], theirs: &[f64]) -> f64 {
    let rounds = ours.iter().zip(theirs);
    median(rounds.map(|(ours, theirs)| ours / theirs).collect())
}

/// The one in the middle, of two the larger; not a number where there is none.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Three digits of each value are kept.
fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LONGEST_NS, 3).expect("the bounds are those of a histogram")
}

fn one_way_us(round_trip_ns: u64) -> f64 {
    round_trip_ns as f64 / 2000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(measured: f64, wanted: f64) {
        let error = (measured - wanted).abs() / wanted;
        assert!(error < 0.002, "{measured} is not {wanted}");
    }

    #[test]
    fn percentiles_are_those_of_half_the_round_trip() {
        let mut spread = Spread::default();
        let round_trips: Vec<u64> = (1..=1000).map(|it| it * 2000).collect();
        spread.add_round(&round_trips);
        assert_eq!(spread.count(), 1000);
        close(spread.us(0.5), 500.0);
        close(spread.us(0.9), 900.0);
        close(spread.us(0.99), 990.0);
        close(spread.min_us(), 1.0);
        close(spread.max_us(), 1000.0);
    }

    #[test]
    fn rounds_are_merged_and_their_medians_kept() {
        let mut spread = Spread::default();
        spread.add_round(&[20_000; 100]);
        spread.add_round(&[40_000; 99]);
        close(spread.us(0.5), 10.0);
        let (low, high) = spread.round_p50s_us();
        close(low, 10.0);
        close(high, 20.0);
    }

    #[test]
    fn medians_are_compared_round_by_round() {
        let (mut ours, mut theirs) = (Spread::default(), Spread::default());
        // A machine of two speeds, and one round in which it changed.
        for (us, their_us) in [(110, 100), (165, 150), (110, 150), (110, 100), (165, 150)] {
            ours.add_round(&[us * 2000; 3]);
            theirs.add_round(&[their_us * 2000; 3]);
        }
        close(ours.us(0.5) / theirs.us(0.5), 110.0 / 150.0);
        close(ours.p50_of(&theirs), 1.1);
        close(theirs.p50_of(&ours), 1.0 / 1.1);
        assert!(ours.p50_of(&Spread::default()).is_nan());
    }

    #[test]
    fn nothing_measured_is_no_latency() {
        let mut spread = Spread::default();
        spread.add_round(&[]);
        assert_eq!((spread.count(), spread.us(0.5)), (0, 0.0));
        assert_eq!(spread.round_p50s_us(), (0.0, 0.0));
    }

    #[test]
    fn the_median_is_the_one_in_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert!(median(Vec::new()).is_nan());
    }

    #[test]
    fn what_is_out_of_bounds_counts_at_the_bound() {
        let mut spread = Spread::default();
        spread.add_round(&[0, u64::MAX]);
        assert_eq!(spread.count(), 2);
        assert!(spread.max_us() >= LONGEST_NS as f64 / 2000.0);
    }
}
