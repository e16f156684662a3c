//! How quickly what leaves arrives, by what is heard of it.

use crate::time::{Duration, Instant};

/// Octets are counted for so long before their rate is believed: answers come several at a time.
const SPAN_MIN: Duration = Duration::from_micros(200);

/// Who has heard nothing for so long may have had nothing to send.
const PAUSE: Duration = Duration::from_millis(5);

/// The rate is the mean of about so many.
const MEAN_OF: u64 = 8;

/// A rate of arrival, in octets per second.
#[derive(Clone, Debug, Default)]
pub struct ArrivalRate {
    bytes: u64,
    since: Instant,
    bytes_per_second: Option<u64>,
}

impl ArrivalRate {
    /// It is heard at `now` that `bytes` more have arrived.
    pub fn note(&mut self, now: Instant, bytes: u64) {
        let span = now.since(self.since);
        if span > PAUSE {
            (self.since, self.bytes) = (now, 0);
            return;
        }
        self.bytes = self.bytes.saturating_add(bytes);
        if span < SPAN_MIN {
            return;
        }
        let nanos = span.as_nanos().unsigned_abs();
        let rate = scaled(self.bytes, 1_000_000_000, nanos);
        let mean = |before: u64| {
            let all = before.saturating_mul(MEAN_OF - 1).saturating_add(rate);
            all / MEAN_OF
        };
        self.bytes_per_second = Some(self.bytes_per_second.map_or(rate, mean));
        (self.since, self.bytes) = (now, 0);
    }

    /// Octets that arrive in `span`; none before anything is known.
    pub fn bytes_in(&self, span: Duration) -> u64 {
        let nanos = span.as_nanos().unsigned_abs();
        scaled(self.bytes_per_second.unwrap_or(0), nanos, 1_000_000_000)
    }
}

/// `number` times `factor` divided by `divisor`; the greatest where that is none.
fn scaled(number: u64, factor: u64, divisor: u64) -> u64 {
    let product = u128::from(number).saturating_mul(u128::from(factor));
    let scaled = product.checked_div(u128::from(divisor));
    scaled.map_or(u64::MAX, |it| u64::try_from(it).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// `count` times `bytes` are heard of every `micros`, from `now` on; when the last were.
    fn hear(rate: &mut ArrivalRate, now: Instant, bytes: u64, micros: i64, count: u32) -> Instant {
        let mut now = now;
        for _ in 0..count {
            now = now.after(Duration::from_micros(micros));
            rate.note(now, bytes);
        }
        now
    }

    #[test]
    fn nothing_is_known_before_some_has_arrived_for_a_while() {
        let mut rate = ArrivalRate::default();
        let now = Instant(10_000_000_000);
        assert_eq!(rate.bytes_in(SECOND), 0);
        // What came after a pause may have arrived at any time in it.
        rate.note(now, 1_000_000);
        let now = hear(&mut rate, now, 1000, 100, 1);
        assert_eq!(rate.bytes_in(SECOND), 0);
        hear(&mut rate, now, 1000, 100, 1);
        assert_eq!(rate.bytes_in(SECOND), 10_000_000);
        assert_eq!(rate.bytes_in(Duration::from_micros(50)), 500);
    }

    #[test]
    fn the_rate_follows_what_arrives_and_no_pause() {
        let mut rate = ArrivalRate::default();
        let mut now = hear(&mut rate, Instant(10_000_000_000), 50_000, 50, 1000);
        assert_eq!(rate.bytes_in(SECOND), 1_000_000_000);
        for _ in 0..100 {
            now = hear(&mut rate, now, 50_000, 6000, 1);
            now = hear(&mut rate, now, 50_000, 50, 8);
        }
        assert_eq!(rate.bytes_in(SECOND), 1_000_000_000);
        now = hear(&mut rate, now, 5000, 50, 400);
        let slower = rate.bytes_in(SECOND);
        assert!((100_000_000..102_000_000).contains(&slower), "{slower}");
        // Several answers at one moment.
        for _ in 0..200 {
            now = now.after(Duration::from_micros(400));
            (0..4).for_each(|_| rate.note(now, 10_000));
        }
        let bursts = rate.bytes_in(SECOND);
        assert!((95_000_000..101_000_000).contains(&bursts), "{bursts}");
    }
}
