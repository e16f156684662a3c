//! What arrived, and how long answers took.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use whimbrel::base::instance::InstanceHandle;

use crate::measure::Spread;
use crate::report::model::{LatencyFigure, StreamFigure};

/// Questions that wait for answers; older ones are forgotten.
const ASKED_MAX: usize = 4096;
/// Seconds of the running mean.
const MEAN_S: usize = 10;

/// Samples of a subscriber.
#[derive(Debug, Default)]
pub(super) struct Arrivals(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    /// The last number of each writer.
    numbers: BTreeMap<InstanceHandle, u32>,
    size: usize,
    total: u64,
    lost: u64,
    /// Both when a line was printed last.
    before: (u64, u64),
    printed: Option<Instant>,
    recent: VecDeque<f64>,
}

impl Arrivals {
    /// A sample of `writer` with the number `seq` and `size` octets.
    pub(super) fn note(&self, writer: InstanceHandle, seq: u32, size: usize) {
        let mut counts = lock(&self.0);
        counts.size = size;
        counts.total += 1;
        if let Some(last) = counts.numbers.insert(writer, seq) {
            counts.lost += u64::from(seq.saturating_sub(last).saturating_sub(1));
        }
    }

    /// What came since the last line; none where nothing came.
    pub(super) fn line(&self) -> Option<String> {
        self.line_at(Instant::now())
    }

    fn line_at(&self, now: Instant) -> Option<String> {
        let mut counts = lock(&self.0);
        let (total, lost) = (counts.total, counts.lost);
        let (delta, delta_lost) = (total - counts.before.0, lost - counts.before.1);
        let printed = counts.printed.replace(now);
        counts.before = (total, lost);
        if delta == 0 && delta_lost == 0 {
            counts.recent.clear();
            return None;
        }
        let time = printed.map_or(Duration::from_secs(1), |it| now.duration_since(it));
        let rate = delta as f64 / time.as_secs_f64().max(1e-3);
        counts.recent.push_back(rate);
        if counts.recent.len() > MEAN_S {
            counts.recent.pop_front();
        }
        let mean = counts.recent.iter().sum::<f64>() / counts.recent.len() as f64;
        let size = counts.size;
        Some(format!(
            "sub   size {size} total {total} lost {lost} delta {delta} lost {delta_lost} rate \
             {:.2} kS/s {:.2} Mb/s ({:.2} kS/s over {} s)",
            rate / 1e3,
            rate * size as f64 * 8.0 / 1e6,
            mean / 1e3,
            counts.recent.len()
        ))
    }

    /// All of it, over `time`.
    pub(super) fn figure(&self, time: Duration) -> StreamFigure {
        let counts = lock(&self.0);
        let per_s = counts.total as f64 / time.as_secs_f64().max(1e-3);
        StreamFigure {
            contestant: "Whimbrel".into(),
            size: counts.size,
            samples_per_s: per_s,
            mbytes_per_s: per_s * counts.size as f64 / 1e6,
            lost_percent: counts.lost as f64 * 100.0 / (counts.total + counts.lost).max(1) as f64,
            ..StreamFigure::default()
        }
    }
}

/// Answers to questions, by who gave them.
#[derive(Debug, Default)]
pub(super) struct Answers(Mutex<Asked>);

#[derive(Debug, Default)]
struct Asked {
    size: usize,
    /// Numbers and times of questions.
    pending: VecDeque<(u32, Instant)>,
    peers: BTreeMap<InstanceHandle, Peer>,
}

#[derive(Debug, Default)]
struct Peer {
    /// Since the last line, and all.
    recent: Vec<u64>,
    all: Spread,
}

impl Answers {
    /// The question `seq` of `size` octets leaves now.
    pub(super) fn ask(&self, seq: u32, size: usize) {
        let mut asked = lock(&self.0);
        asked.size = size;
        asked.pending.push_back((seq, Instant::now()));
        if asked.pending.len() > ASKED_MAX {
            asked.pending.pop_front();
        }
    }

    /// `writer` answered the question `seq` at `now`.
    pub(super) fn note(&self, writer: InstanceHandle, seq: u32, now: Instant) {
        let mut asked = lock(&self.0);
        let question = asked.pending.iter().rev().find(|it| it.0 == seq).copied();
        if let Some((_, left)) = question {
            let trip = now.saturating_duration_since(left);
            let ns = u64::try_from(trip.as_nanos()).unwrap_or(u64::MAX);
            asked.peers.entry(writer).or_default().recent.push(ns);
        }
    }

    /// A line for each peer that answered since the last time.
    pub(super) fn lines(&self, name: impl Fn(InstanceHandle) -> String) -> Vec<String> {
        let mut asked = lock(&self.0);
        let size = asked.size;
        let mut lines = Vec::new();
        for (writer, peer) in &mut asked.peers {
            if peer.recent.is_empty() {
                continue;
            }
            let mut now = Spread::default();
            now.add_round(&peer.recent);
            peer.all.add_round(&peer.recent);
            peer.recent.clear();
            let maybe = |quantile| {
                let known = now.percentile_us(quantile);
                known.map_or_else(|| "n/a".into(), |it| format!("{it:.1}"))
            };
            lines.push(format!(
                "ping  {} size {size} one way µs: mean {:.1} min {:.1} 50% {:.1} 90% {} 99% {} max \
                 {:.1} cnt {}",
                name(*writer),
                now.mean_us(),
                now.min_us(),
                now.p50_us(),
                maybe(0.9),
                maybe(0.99),
                now.max_us(),
                now.count()
            ));
        }
        lines
    }

    /// All of it, for each peer.
    pub(super) fn figures(&self, resident_kib: u64) -> Vec<LatencyFigure> {
        let asked = lock(&self.0);
        let figure = |peer: &Peer| LatencyFigure {
            contestant: "Whimbrel".into(),
            size: asked.size,
            count: peer.all.count(),
            min_us: peer.all.min_us(),
            mean_us: peer.all.mean_us(),
            p50_us: peer.all.p50_us(),
            p99_us: peer.all.percentile_us(0.99),
            max_us: peer.all.max_us(),
            resident_kib,
            ..LatencyFigure::default()
        };
        asked.peers.values().map(figure).collect()
    }
}

fn lock<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn writer(number: u8) -> InstanceHandle {
        InstanceHandle([number; 16])
    }

    #[test]
    fn lines_are_silent_when_idle_and_count_losses_by_writer() {
        let arrivals = Arrivals::default();
        let begun = Instant::now();
        let after = |s| begun + Duration::from_secs(s);
        assert_eq!(arrivals.line_at(begun), None);
        for (from, seq) in [(1, 1), (2, 7), (1, 2), (1, 5), (2, 8)] {
            arrivals.note(writer(from), seq, 100);
        }
        let line = arrivals.line_at(after(1)).unwrap();
        assert!(line.starts_with("sub   size 100 total 5 lost 2 delta 5 lost 2 rate 0.01 kS/s"));
        assert_eq!(arrivals.line_at(after(2)), None);
        let figure = arrivals.figure(Duration::from_secs(5));
        assert!((figure.samples_per_s - 1.0).abs() < 1e-9);
        assert!((figure.lost_percent - 200.0 / 7.0).abs() < 1e-9);
    }

    #[test]
    fn answers_are_told_apart_by_who_gave_them() {
        let answers = Answers::default();
        answers.ask(1, 64);
        answers.ask(2, 64);
        let now = Instant::now();
        for (from, seq) in [(1, 1), (2, 1), (1, 2), (1, 99)] {
            answers.note(writer(from), seq, now);
        }
        let name = |it: InstanceHandle| format!("peer {}", it.0[0]);
        let lines = answers.lines(name);
        assert_eq!(lines.len(), 2);
        assert!(
            lines[0].contains("peer 1") && lines[0].ends_with("cnt 2"),
            "{}",
            lines[0]
        );
        assert!(
            lines[1].contains("peer 2") && lines[1].ends_with("cnt 1"),
            "{}",
            lines[1]
        );
        assert!(answers.lines(name).is_empty());
        let counts: Vec<u64> = answers.figures(1).iter().map(|it| it.count).collect();
        assert_eq!(counts, [2, 1]);
    }
}
