//! How quickly what leaves arrives, by what is heard of it.

use crate::share::share;
use crate::time::{Duration, Instant};

/// Octets are counted for so long before their rate is believed: answers come several at a time.
const SPAN_MIN: Duration = Duration::from_micros(200);

/// Who has sent nothing for so long had nothing to send.
const PAUSE: Duration = Duration::from_millis(5);

/// The rate is the mean of about so many.
const MEAN_OF: u64 = 8;

/// A rate of arrival, in octets per second, while there is something under way.
#[derive(Clone, Debug, Default)]
pub struct ArrivalRate {
    bytes: u64,
    since: Instant,
    sent_at: Instant,
    bytes_per_second: Option<u64>,
}

impl ArrivalRate {
    /// Something leaves at `now`; where nothing `is_under_way`, or nothing has left for some time,
    /// what arrives is counted from then on.
    pub fn note_sent(&mut self, now: Instant, is_under_way: bool) {
        if !is_under_way || now.since(self.sent_at) > PAUSE {
            (self.since, self.bytes) = (now, 0);
        }
        self.sent_at = now;
    }

    /// It is heard at `now` that `bytes` more have arrived.
    pub fn note_arrived(&mut self, now: Instant, bytes: u64) {
        if bytes == 0 {
            return;
        }
        let span = now.since(self.since);
        self.bytes = self.bytes.saturating_add(bytes);
        if span < SPAN_MIN {
            return;
        }
        let nanos = span.as_nanos().unsigned_abs();
        let rate = share(self.bytes, 1_000_000_000, nanos);
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
        share(self.bytes_per_second.unwrap_or(0), nanos, 1_000_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// `count` times `bytes` leave, and arrive `micros` later, from `now` on; when the last did.
    fn send(rate: &mut ArrivalRate, now: Instant, bytes: u64, micros: i64, count: u32) -> Instant {
        let mut now = now;
        for _ in 0..count {
            rate.note_sent(now, true);
            now = now.after(Duration::from_micros(micros));
            rate.note_arrived(now, bytes);
        }
        now
    }

    #[test]
    fn nothing_is_known_before_some_has_arrived_for_a_while() {
        let mut rate = ArrivalRate::default();
        let now = Instant(10_000_000_000);
        assert_eq!(rate.bytes_in(SECOND), 0);
        let now = send(&mut rate, now, 1000, 100, 1);
        assert_eq!(rate.bytes_in(SECOND), 0);
        send(&mut rate, now, 1000, 100, 1);
        assert_eq!(rate.bytes_in(SECOND), 10_000_000);
        assert_eq!(rate.bytes_in(Duration::from_micros(50)), 500);
    }

    #[test]
    fn no_time_counts_in_which_nothing_was_under_way_or_sent() {
        let mut rate = ArrivalRate::default();
        let mut now = send(&mut rate, Instant(10_000_000_000), 250_000, 250, 1);
        assert_eq!(rate.bytes_in(SECOND), 1_000_000_000);
        for pause in [1000, 6000] {
            for _ in 0..100 {
                now = now.after(Duration::from_micros(pause));
                rate.note_sent(now, pause > 5000);
                now = now.after(Duration::from_micros(250));
                rate.note_arrived(now, 250_000);
            }
            assert_eq!(rate.bytes_in(SECOND), 1_000_000_000);
        }
        // What is long under way is slow.
        send(&mut rate, now, 250_000, 100_000, 100);
        let slow = rate.bytes_in(SECOND);
        assert!((2_500_000..2_600_000).contains(&slow), "{slow}");
    }

    #[test]
    fn the_rate_follows_what_arrives() {
        let mut rate = ArrivalRate::default();
        let mut now = send(&mut rate, Instant(10_000_000_000), 50_000, 50, 1000);
        assert_eq!(rate.bytes_in(SECOND), 1_000_000_000);
        now = send(&mut rate, now, 5000, 50, 400);
        let slower = rate.bytes_in(SECOND);
        assert!((100_000_000..102_000_000).contains(&slower), "{slower}");
        // Several answers at one moment.
        for _ in 0..200 {
            rate.note_sent(now, true);
            now = now.after(Duration::from_micros(400));
            (0..4).for_each(|_| rate.note_arrived(now, 10_000));
        }
        let bursts = rate.bytes_in(SECOND);
        assert!((95_000_000..101_000_000).contains(&bursts), "{bursts}");
    }
}
