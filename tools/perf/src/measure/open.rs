//! Samples on a schedule, and the highest rate that is kept.

use std::time::Duration;

use whimbrel_bench::protocol::READY;
use whimbrel_rig::process::Process;

use super::pair::start_pair;
use super::{MEETING, ROUND, Spread};
use crate::contestant::{Contestant, Product, Programs};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::stop;
use crate::world::World;

/// Seconds of a schedule in the search.
const TRIAL_S: f64 = 0.5;
/// The domain of the processes, or the first where there are several pairs of them.
const DOMAIN: u32 = 131;
/// Steps of the search: the rate is known within a few percent.
const STEPS: usize = 12;

/// One rate.
#[derive(Clone, Debug)]
pub(crate) struct OpenRow {
    pub(crate) size: usize,
    /// Samples per second that were asked for.
    pub(crate) rate: u64,
    /// From when samples should have left.
    pub(crate) intended: Spread,
    /// From when they left.
    pub(crate) actual: Spread,
    pub(crate) sent: u64,
    pub(crate) lost: u64,
}

/// The processes of Whimbrel: only they know schedules.
struct Pair {
    ping: Process,
    pong: Process,
}

impl Pair {
    fn start(world: &World, programs: &Programs) -> Result<Self, String> {
        Self::of(
            world,
            programs,
            &Contestant::plain(Product::Whimbrel),
            DOMAIN,
        )
    }

    fn of(
        world: &World,
        programs: &Programs,
        whimbrel: &Contestant,
        domain: u32,
    ) -> Result<Self, String> {
        let both = (world, programs);
        let part = ("latency", domain);
        let [ping, pong] = start_pair(both, whimbrel, part, "Whimbrel", |_| ())?;
        ping.wait_until(READY, MEETING)?;
        Ok(Self { ping, pong })
    }

    fn trial(&mut self, size: usize, rate: u64) -> Result<OpenRow, String> {
        let count = (rate as f64 * TRIAL_S).ceil().max(50.0) as u64;
        self.schedule(size, rate, count)
    }

    fn schedule(&mut self, size: usize, rate: u64, count: u64) -> Result<OpenRow, String> {
        let line = format!("open {size} {count} {rate}");
        let answer = self.ping.ask_beside(&mut self.pong, &line, ROUND)?;
        parse(&answer, size, rate, count)
    }
}

/// Reads `open_ns LOST INTENDED:ACTUAL …`.
fn parse(answer: &str, size: usize, rate: u64, sent: u64) -> Result<OpenRow, String> {
    let wrong = || format!("no answer to a schedule: {answer:.80}");
    let mut words = answer.split_whitespace();
    let is_answer = words.next() == Some("open_ns");
    let lost = words.next().and_then(|it| it.parse().ok());
    let lost = lost.filter(|_| is_answer).ok_or_else(wrong)?;
    let (mut intended, mut actual) = (Vec::new(), Vec::new());
    for word in words {
        let pair = word
            .split_once(':')
            .and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        let (a, b) = pair.ok_or_else(wrong)?;
        intended.push(a);
        actual.push(b);
    }
    let spread = |trips: &[u64]| {
        let mut spread = Spread::default();
        spread.add_round(trips);
        spread
    };
    Ok(OpenRow {
        size,
        rate,
        intended: spread(&intended),
        actual: spread(&actual),
        sent,
        lost,
    })
}

/// Each of `rates`, with samples of `size` octets.
///
/// # Errors
/// The processes do not start, meet or answer; a signal.
pub(crate) fn measure(
    world: &World,
    programs: &Programs,
    size: usize,
    rates: &[u64],
    progress: &Progress,
) -> Result<Vec<OpenRow>, Failure> {
    let mut pair = Pair::start(world, programs).map_err(Failure::Broke)?;
    let mut rows = Vec::new();
    for rate in rates {
        stop::check()?;
        rows.push(pair.trial(size, *rate).map_err(Failure::Broke)?);
        progress.step(&format!("{rate} samples/s"));
    }
    Ok(rows)
}

/// What a schedule is like, and how often it is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turns {
    pub(crate) size: usize,
    /// Samples per second.
    pub(crate) rate: u64,
    /// Samples of a turn, of each.
    pub(crate) count: u64,
    pub(crate) turns: usize,
}

/// One schedule of two configurations of Whimbrel side by side, so that whatever else the machine
/// does happens to both: what each measured in each turn, pair by pair.
///
/// # Errors
/// The processes do not start, meet or answer; a signal.
pub(crate) fn side_by_side(
    world: &World,
    programs: &Programs,
    both: &[Contestant; 2],
    order: Turns,
    progress: &Progress,
) -> Result<Vec<[OpenRow; 2]>, Failure> {
    let start = |at: usize| {
        let pair = Pair::of(world, programs, &both[at], DOMAIN + at as u32);
        pair.map_err(Failure::Broke)
    };
    let mut pairs = [start(0)?, start(1)?];
    // Who asks spins shortly before each sample: the other one begins half a period later.
    let half = Duration::from_secs_f64(0.5 / order.rate as f64);
    let mut rows = Vec::new();
    for turn in 0..order.turns {
        stop::check()?;
        let [one, other] = &mut pairs;
        // Neither is always the first.
        let later = |at: usize| if turn % 2 == at { Duration::ZERO } else { half };
        let keep = |pair: &mut Pair, after: Duration| {
            std::thread::sleep(after);
            pair.schedule(order.size, order.rate, order.count)
        };
        let (first, second) = std::thread::scope(|scope| {
            let first = scope.spawn(|| keep(one, later(0)));
            let second = keep(other, later(1));
            let first = first.join();
            (
                first.unwrap_or_else(|_| Err("a turn broke off".into())),
                second,
            )
        });
        rows.push([
            first.map_err(Failure::Broke)?,
            second.map_err(Failure::Broke)?,
        ]);
        progress.step(&both.each_ref().map(Contestant::name).join(" and "));
    }
    Ok(rows)
}

/// The highest rate at which nothing is lost and the 99 % latency from the schedule stays within
/// `p99_us_max`; none where even the lowest is too much. All that was tried is in the rows.
///
/// # Errors
/// The processes do not start, meet or answer; a signal.
pub(crate) fn sustainable(
    world: &World,
    programs: &Programs,
    size: usize,
    p99_us_max: f64,
    progress: &Progress,
) -> Result<(Option<u64>, Vec<OpenRow>), Failure> {
    let mut pair = Pair::start(world, programs).map_err(Failure::Broke)?;
    let mut rows = Vec::new();
    let best = search(STEPS, |rate| {
        stop::check()?;
        let row = pair.trial(size, rate).map_err(Failure::Broke)?;
        progress.step(&format!("{rate} samples/s"));
        let p99 = row
            .intended
            .percentile_us(0.99)
            .unwrap_or(row.intended.max_us());
        let kept = row.lost == 0 && p99 <= p99_us_max;
        rows.push(row);
        Ok(kept)
    })?;
    Ok((best, rows))
}

/// The highest rate that `holds`: doubled from 1000 until it fails, then between the two.
fn search(
    steps: usize,
    mut holds: impl FnMut(u64) -> Result<bool, Failure>,
) -> Result<Option<u64>, Failure> {
    let (mut low, mut high, mut next) = (None, None, 1000);
    for _ in 0..steps {
        if holds(next)? {
            low = Some(next);
        } else {
            high = Some(next);
        }
        next = match (low, high) {
            (Some(low), None) => low * 2,
            (Some(low), Some(high)) => (low + high) / 2,
            (None, Some(high)) => high / 2,
            (None, None) => next,
        };
        if next < 10 || low == Some(next) {
            break;
        }
    }
    Ok(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_ends_near_the_limit() {
        for limit in [700, 5000, 123_456] {
            let mut tried = 0;
            let found = search(STEPS, |rate| {
                tried += 1;
                Ok(rate <= limit)
            });
            let found = found.unwrap().unwrap();
            assert!(
                found <= limit && found * 10 >= limit * 9,
                "{found} of {limit}"
            );
            assert!(tried <= STEPS);
        }
        assert_eq!(search(STEPS, |_| Ok(false)), Ok(None));
    }

    #[test]
    fn answers_to_schedules_are_read() {
        let row = parse("open_ns 2 4000:2000 8000:6000", 64, 100, 4).unwrap();
        assert_eq!((row.lost, row.sent, row.intended.count()), (2, 4, 2));
        assert!((row.actual.max_us() - 3.0).abs() < 0.01);
        for answer in ["", "open_ns", "rtt_ns 1 2", "open_ns 0 7"] {
            assert!(parse(answer, 64, 100, 4).is_err(), "{answer}");
        }
    }
}
