//! Latencies of one contestant and size.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2Serializer};

/// Longest latency told apart, in nanoseconds; longer ones count as this.
const LONGEST_NS: u64 = 120_000_000_000;
/// Samples beyond a percentile without which it is chance: p99 needs 1,000 of them in all.
const BEYOND_MIN: f64 = 10.0;

/// Round trips over all rounds; figures are half of them, in microseconds.
#[derive(Clone, Debug)]
pub(crate) struct Spread {
    trips: Histogram<u64>,
    round_p50s_us: Vec<f64>,
}

impl Default for Spread {
    fn default() -> Self {
        Self {
            trips: histogram(),
            round_p50s_us: Vec::new(),
        }
    }
}

impl Spread {
    /// Adds the round trips of one round.
    pub(crate) fn add_round(&mut self, trips_ns: &[u64]) {
        let mut round = histogram();
        for ns in trips_ns {
            round.saturating_record(*ns);
        }
        if round.is_empty() {
            return;
        }
        self.round_p50s_us
            .push(half_us(round.value_at_quantile(0.5)));
        // The same bounds, so it fits.
        let _ = self.trips.add(&round);
    }

    /// Adds all rounds of `other`.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.round_p50s_us.extend(&other.round_p50s_us);
        // The same bounds, so it fits.
        let _ = self.trips.add(&other.trips);
    }

    pub(crate) fn count(&self) -> u64 {
        self.trips.len()
    }

    pub(crate) fn min_us(&self) -> f64 {
        half_us(self.trips.min())
    }

    pub(crate) fn mean_us(&self) -> f64 {
        self.trips.mean() / 2000.0
    }

    pub(crate) fn max_us(&self) -> f64 {
        half_us(self.trips.max())
    }

    /// The latency that the share `quantile` did not exceed; none where too few samples lie beyond
    /// it to tell.
    pub(crate) fn percentile_us(&self, quantile: f64) -> Option<f64> {
        let beyond = self.trips.len() as f64 * (1.0 - quantile);
        // 1 − 0.99 is a little less than 0.01.
        (beyond * (1.0 + 1e-9) >= BEYOND_MIN)
            .then(|| half_us(self.trips.value_at_quantile(quantile)))
    }

    /// The median of all, however few.
    pub(crate) fn p50_us(&self) -> f64 {
        half_us(self.trips.value_at_quantile(0.5))
    }

    /// Medians of the rounds.
    pub(crate) fn rounds(&self) -> &[f64] {
        &self.round_p50s_us
    }

    /// The histogram of round trips in nanoseconds, in the format V2 of HdrHistogram.
    ///
    /// # Errors
    /// It does not fit the format.
    pub(crate) fn to_hdr(&self) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        V2Serializer::new()
            .serialize(&self.trips, &mut bytes)
            .map_err(|error| format!("histogram: {error}"))?;
        Ok(bytes)
    }
}

/// Three digits of each value are kept.
fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LONGEST_NS, 3).expect("the bounds are those of a histogram")
}

fn half_us(round_trip_ns: u64) -> f64 {
    round_trip_ns as f64 / 2000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::serialization::Deserializer;

    fn spread(count: u64) -> Spread {
        let mut spread = Spread::default();
        let trips: Vec<u64> = (1..=count).map(|it| it * 2000).collect();
        spread.add_round(&trips);
        spread
    }

    #[test]
    fn figures_are_half_the_round_trips() {
        let spread = spread(1000);
        assert!((spread.p50_us() / 500.0 - 1.0).abs() < 0.002);
        assert!((spread.mean_us() / 500.5 - 1.0).abs() < 0.002);
        assert!((spread.min_us() - 1.0).abs() < 0.01);
        assert!((spread.max_us() / 1000.0 - 1.0).abs() < 0.002);
        assert_eq!(spread.rounds().len(), 1);
    }

    #[test]
    fn percentiles_need_samples_beyond_them() {
        assert!(spread(1000).percentile_us(0.99).is_some());
        assert_eq!(spread(999).percentile_us(0.99), None);
        assert_eq!(spread(1000).percentile_us(0.999), None);
        assert!(spread(10_000).percentile_us(0.999).is_some());
        assert_eq!(Spread::default().percentile_us(0.5), None);
    }

    #[test]
    fn what_is_written_is_read_back() {
        let bytes = spread(100).to_hdr().unwrap();
        let read: Histogram<u64> = Deserializer::new().deserialize(&mut &bytes[..]).unwrap();
        assert_eq!(read.len(), 100);
    }
}
