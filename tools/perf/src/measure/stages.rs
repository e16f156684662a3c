//! Where the time of a sample goes on its way, stage by stage, by marks of both processes.

use whimbrel_bench::protocol::READY;
use whimbrel_rig::process::Process;

use super::pair::start_pair;
use super::{MEETING, ROUND};
use crate::contestant::{Contestant, Programs};
use crate::role::stages::{ARRIVED, SENT};
use crate::world::World;

/// Numbers of a sample in either answer.
const FIELDS: usize = 5;

/// Means of the middle half of all samples, by the whole time of each; microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Stages {
    /// Samples of which they are the means.
    pub(crate) count: usize,
    /// From the call to the first send call, without compressing: serialize, enqueue.
    pub(crate) prepare_us: f64,
    pub(crate) compress_us: f64,
    /// Until send calls are over, or the other side has the sample.
    pub(crate) send_us: f64,
    /// From then until the receive call of the other side is over.
    pub(crate) path_us: f64,
    /// From then until the callback begins, without decompressing.
    pub(crate) receive_us: f64,
    pub(crate) decompress_us: f64,
    /// Until the callback has the sample.
    pub(crate) take_us: f64,
}

impl Stages {
    /// All of them.
    pub(crate) fn whole_us(&self) -> f64 {
        self.values().iter().sum()
    }

    fn values(&self) -> [f64; 7] {
        [
            self.prepare_us,
            self.compress_us,
            self.send_us,
            self.path_us,
            self.receive_us,
            self.decompress_us,
            self.take_us,
        ]
    }

    fn of(values: [f64; 7], count: usize) -> Self {
        let [
            prepare_us,
            compress_us,
            send_us,
            path_us,
            receive_us,
            decompress_us,
            take_us,
        ] = values;
        Self {
            count,
            prepare_us,
            compress_us,
            send_us,
            path_us,
            receive_us,
            decompress_us,
            take_us,
        }
    }
}

/// Two processes that mark stages.
#[derive(Debug)]
pub(crate) struct Staging {
    asking: Process,
    answering: Process,
}

impl Staging {
    /// Those of `whimbrel`.
    ///
    /// # Errors
    /// They do not start or meet.
    pub(crate) fn start(
        world: &World,
        programs: &Programs,
        whimbrel: &Contestant,
        domain: u32,
    ) -> Result<Self, String> {
        let name = format!("{}, stages", whimbrel.name());
        let part = ("stages", domain);
        let [asking, answering] = start_pair((world, programs), whimbrel, part, &name, |_| ())?;
        asking.wait_until(READY, MEETING)?;
        Ok(Self { asking, answering })
    }

    /// `count` samples of `size` octets; none where nothing can be told.
    ///
    /// # Errors
    /// A process does not answer.
    pub(crate) fn measure(&mut self, size: usize, count: usize) -> Result<Option<Stages>, String> {
        let line = format!("{size} {count}");
        let sent = self.asking.ask_beside(&mut self.answering, &line, ROUND)?;
        let arrived = self.answering.ask("", ROUND)?;
        Ok(means(&numbers(&sent, SENT)?, &numbers(&arrived, ARRIVED)?))
    }
}

fn numbers(line: &str, word: &str) -> Result<Vec<[u64; FIELDS]>, String> {
    let wrong = || format!("not {word}: {line:.80}");
    let rest = line.strip_prefix(word).ok_or_else(wrong)?;
    let all: Result<Vec<u64>, _> = rest.split_whitespace().map(str::parse).collect();
    let all = all.map_err(|_| wrong())?;
    let rows = all.chunks(FIELDS).map(|it| it.try_into().ok());
    rows.collect::<Option<_>>().ok_or_else(wrong)
}

/// Both sides of each sample put together; the first third of them warms up.
fn means(sent: &[[u64; FIELDS]], arrived: &[[u64; FIELDS]]) -> Option<Stages> {
    let mut all: Vec<[f64; 7]> = arrived
        .iter()
        .filter(|it| it[4] as usize > sent.len() / 3)
        .filter_map(|it| stages(sent.get((it[4] as usize).checked_sub(1)?)?, it))
        .collect();
    let whole = |it: &[f64; 7]| it.iter().sum::<f64>();
    all.sort_by(|a, b| whole(a).total_cmp(&whole(b)));
    let middle = all.get(all.len() / 4..all.len() - all.len() / 4)?;
    if middle.is_empty() {
        return None;
    }
    let mut sums = [0.0; 7];
    for it in middle {
        for (sum, value) in sums.iter_mut().zip(it) {
            *sum += value;
        }
    }
    let count = middle.len();
    Some(Stages::of(sums.map(|it| it / count as f64), count))
}

/// The stages of one sample in microseconds; none where the marks are those of something else that
/// was sent or received meanwhile.
fn stages(
    &[begun, first, last, _, packing]: &[u64; FIELDS],
    &[received, called, taken, unpacking, _]: &[u64; FIELDS],
) -> Option<[f64; 7]> {
    // A heartbeat that came meanwhile has left a later mark.
    let received = received.min(called.saturating_sub(unpacking));
    let in_order = begun <= first && first <= received && received <= called && called <= taken;
    if !in_order || packing > first - begun {
        return None;
    }
    // Whoever waits may have the sample before the call that sent it is over.
    let left = last.clamp(first, received);
    let spans = [
        first - begun - packing,
        packing,
        left - first,
        received - left,
        called - received - unpacking,
        unpacking,
        taken - called,
    ];
    Some(spans.map(|it| it as f64 / 1000.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sent at `at`, with stages of 1, 2, …, 7 µs.
    fn sample(at: u64, seq: u64) -> [[u64; FIELDS]; 2] {
        let us = |it: u64| at + it * 1000;
        let sent = [at, us(3), us(6), us(7), 2000];
        [sent, [us(10), us(21), us(28), 6000, seq]]
    }

    #[test]
    fn stages_are_put_together_from_both_sides() {
        let pairs: Vec<[[u64; FIELDS]; 2]> = (1..=12).map(|it| sample(it * 100_000, it)).collect();
        let sent: Vec<[u64; FIELDS]> = pairs.iter().map(|it| it[0]).collect();
        let arrived: Vec<[u64; FIELDS]> = pairs.iter().map(|it| it[1]).collect();
        let found = means(&sent, &arrived).unwrap();
        let wanted = Stages::of([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], 4);
        assert_eq!(found, wanted);
        assert_eq!(found.whole_us(), 28.0);
        assert_eq!(means(&sent, &[]), None);
        assert_eq!(means(&[], &arrived), None);
    }

    #[test]
    fn who_receives_early_ends_the_send_call() {
        let [mut sent, arrived] = sample(1000, 1);
        sent[2] = arrived[0] + 5000;
        let found = stages(&sent, &arrived).unwrap();
        assert_eq!((found[2], found[3]), (7.0, 0.0));
        // A mark of something that came while the sample was decompressed.
        let [sent, mut arrived] = sample(1000, 1);
        let before = arrived[1] - arrived[3];
        arrived[0] = arrived[1] - 10;
        let found = stages(&sent, &arrived).unwrap();
        assert_eq!((found[4], found[5]), (0.0, 6.0));
        assert_eq!(found[3], (before - sent[2]) as f64 / 1000.0);
        // A mark of something that came before.
        assert_eq!(stages(&sent, &[1, 2, 3, 0, 1]), None);
    }

    #[test]
    fn only_whole_rows_of_the_right_kind_are_read() {
        assert_eq!(
            numbers("sent_ns 1 2 3 4 5", SENT),
            Ok(vec![[1, 2, 3, 4, 5]])
        );
        assert_eq!(numbers("sent_ns", SENT), Ok(vec![]));
        for line in [
            "",
            "arrived_ns 1 2 3 4 5",
            "sent_ns 1 2 3 4",
            "sent_ns a b c d e",
        ] {
            assert!(numbers(line, SENT).is_err(), "{line}");
        }
    }
}
