//! What arrived and what did not.

use std::collections::BTreeMap;
use std::time::Instant;

use crate::message::Head;
use crate::printer::{ThroughputInterval, ThroughputSummary};

/// Samples of one size.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Octets of each; none have arrived without.
    pub(crate) length: Option<usize>,
    packets: u64,
    lost: u64,
    /// What is missing is lost, not filtered out.
    counts_losses: bool,
    begun: Option<Instant>,
    /// Arrival of the newest.
    latest: Option<Instant>,
    /// The last number of each publisher.
    numbers: BTreeMap<i32, u32>,
}

impl Tally {
    pub(crate) fn new(counts_losses: bool) -> Self {
        Self {
            counts_losses,
            ..Self::default()
        }
    }

    /// An empty one of the same kind.
    pub(crate) fn anew(&self) -> Self {
        Self::new(self.counts_losses)
    }

    /// Counts a sample of `length` octets.
    pub(crate) fn count(&mut self, head: Head, length: usize, now: Instant) {
        self.length = Some(length);
        self.begun.get_or_insert(now);
        self.latest = Some(now);
        self.packets += 1;
        if let Some(last) = self.numbers.insert(head.entity_id, head.seq_num)
            && self.counts_losses
        {
            // A publisher that begins anew has lost nothing.
            self.lost += u64::from(head.seq_num.saturating_sub(last).saturating_sub(1));
        }
    }

    /// Counts what is missing before the end: the mark `head` has the number of the last sample.
    pub(crate) fn note_last(&mut self, head: Head) {
        if let Some(last) = self.numbers.get_mut(&head.entity_id)
            && self.counts_losses
        {
            self.lost += u64::from(head.seq_num.saturating_sub(*last));
            *last = head.seq_num.max(*last);
        }
    }

    /// What was counted; `None` where nothing was. A single sample has no rate but that until
    /// `now`.
    pub(crate) fn summary(&self, now: Instant) -> Option<ThroughputSummary> {
        let (length, begun) = (self.length?, self.begun?);
        let end = if self.packets > 1 { self.latest } else { None };
        let time_s = end.unwrap_or(now).duration_since(begun).as_secs_f64();
        let per_s = self.packets as f64 / time_s.max(1e-6);
        Some(ThroughputSummary {
            length,
            packets: self.packets,
            per_s: per_s as u64,
            mbps: per_s * length as f64 * 8.0 / 1e6,
            lost: self.lost,
            lost_percent: self.lost_percent(),
            cpu: 0.0,
        })
    }

    fn lost_percent(&self) -> f64 {
        let all = self.packets + self.lost;
        if all == 0 {
            return 0.0;
        }
        self.lost as f64 * 100.0 / all as f64
    }
}

/// Rates of successive seconds.
#[derive(Debug, Default)]
pub(crate) struct Rates {
    length: Option<usize>,
    before: Option<(Instant, u64)>,
    seconds: u64,
    per_s_ave: f64,
    mbps_ave: f64,
}

impl Rates {
    /// The rates since the last call; `None` at the first of a size.
    pub(crate) fn next(&mut self, tally: &Tally, now: Instant) -> Option<ThroughputInterval> {
        if self.length != tally.length || self.before.is_none() {
            *self = Self {
                length: tally.length,
                before: Some((now, tally.packets)),
                ..Self::default()
            };
            return None;
        }
        let length = tally.length?;
        let (then, packets) = self.before.replace((now, tally.packets))?;
        let time_s = now.duration_since(then).as_secs_f64().max(1e-6);
        let per_s = tally.packets.saturating_sub(packets) as f64 / time_s;
        let mbps = per_s * length as f64 * 8.0 / 1e6;
        self.seconds += 1;
        self.per_s_ave += (per_s - self.per_s_ave) / self.seconds as f64;
        self.mbps_ave += (mbps - self.mbps_ave) / self.seconds as f64;
        Some(ThroughputInterval {
            length,
            packets: tally.packets,
            per_s: per_s as u64,
            per_s_ave: self.per_s_ave,
            mbps,
            mbps_ave: self.mbps_ave,
            lost: tally.lost,
            lost_percent: tally.lost_percent(),
            cpu: 0.0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn head(entity_id: i32, seq_num: u32) -> Head {
        Head {
            entity_id,
            seq_num,
            ..Head::default()
        }
    }

    #[test]
    fn gaps_are_losses_of_each_publisher() {
        let begun = Instant::now();
        let mut tally = Tally::new(true);
        for (at, (id, number)) in [(0, 0), (1, 5), (0, 1), (0, 4), (1, 6)]
            .into_iter()
            .enumerate()
        {
            tally.count(
                head(id, number),
                100,
                begun + Duration::from_millis(250 * at as u64),
            );
        }
        tally.note_last(head(1, 8));
        tally.note_last(head(7, 100));
        let summary = tally.summary(begun + Duration::from_secs(60)).unwrap();
        assert_eq!((summary.packets, summary.lost, summary.per_s), (5, 4, 5));
        assert!((summary.mbps - 0.004).abs() < 1e-9);
        assert!((summary.lost_percent - 400.0 / 9.0).abs() < 1e-9);
    }

    #[test]
    fn a_publisher_that_begins_anew_loses_nothing() {
        let mut tally = Tally::new(true);
        for number in [7, 8, 0, 1] {
            tally.count(head(0, number), 100, Instant::now());
        }
        assert_eq!(tally.summary(Instant::now()).unwrap().lost, 0);
    }

    #[test]
    fn what_was_filtered_out_is_not_lost() {
        let mut tally = Tally::new(false);
        for number in [3, 13, 23] {
            tally.count(head(0, number), 100, Instant::now());
        }
        tally.note_last(head(0, 29));
        let summary = tally.anew().summary(Instant::now());
        assert_eq!(
            (summary, tally.summary(Instant::now()).unwrap().lost),
            (None, 0)
        );
    }

    #[test]
    fn nothing_is_no_summary_and_one_has_a_rate() {
        let begun = Instant::now();
        let mut tally = Tally::new(true);
        assert_eq!(tally.summary(begun), None);
        tally.count(head(0, 9), 100, begun);
        let summary = tally.summary(begun + Duration::from_millis(100)).unwrap();
        assert_eq!((summary.packets, summary.per_s), (1, 10));
    }

    #[test]
    fn rates_begin_anew_with_each_size() {
        let begun = Instant::now();
        let after = |seconds| begun + Duration::from_secs(seconds);
        let (mut tally, mut rates) = (Tally::new(true), Rates::default());
        tally.count(head(0, 0), 100, begun);
        assert_eq!(rates.next(&tally, begun), None);
        for number in 1..=10 {
            tally.count(head(0, number), 100, begun);
        }
        let first = rates.next(&tally, after(1)).unwrap();
        assert_eq!((first.packets, first.per_s), (11, 10));
        let second = rates.next(&tally, after(2)).unwrap();
        assert_eq!(second.per_s, 0);
        assert!((second.per_s_ave - 5.0).abs() < 1e-9);
        let mut tally = Tally::new(true);
        tally.count(head(0, 0), 200, begun);
        assert_eq!(rates.next(&tally, after(3)), None);
    }
}
