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
    fn nothing_measured_is_no_latency() {
        let mut spread = Spread::default();
        spread.add_round(&[]);
        assert_eq!((spread.count(), spread.us(0.5)), (0, 0.0));
        assert_eq!(spread.round_p50s_us(), (0.0, 0.0));
    }

    #[test]
    fn what_is_out_of_bounds_counts_at_the_bound() {
        let mut spread = Spread::default();
        spread.add_round(&[0, u64::MAX]);
        assert_eq!(spread.count(), 2);
        assert!(spread.max_us() >= LONGEST_NS as f64 / 2000.0);
    }
}
