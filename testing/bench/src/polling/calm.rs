//! The part in which nobody else wants the cores: a steady stream, and nothing at all.

use std::thread;
use std::time::{Duration, Instant};

use whimbrel_rig::process::Usage;

use super::rows::Calm;
use crate::contestant::{Contestant, Programs};
use crate::host::Host;
use crate::pair::Pair;
use crate::placement::Placement;
use crate::protocol::Order;
use crate::stage::Stage;
use crate::turns;

/// Where the processes run.
pub(super) const PLACEMENT: Placement = Placement::TwoCores;

/// Time between two samples of the steady stream.
pub(super) const PERIOD: Duration = Duration::from_millis(1);

/// So long everybody streams once he is started, before anything counts.
const WARM: Duration = Duration::from_millis(200);

/// So long after a stream nothing happens any more.
const SETTLING: Duration = Duration::from_millis(100);

/// How much of it there is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// Octets of payload.
    size: usize,
    /// Rounds in which all take turns, each after a start of its own: where a process and its
    /// memory lie makes it slower or faster by some percent for as long as it lives.
    pub(super) rounds: usize,
    /// Of the stream, and of nothing.
    pub(super) length: Duration,
}

impl Plan {
    pub(super) fn new(size: usize, quick: bool) -> Self {
        let (rounds, ms) = if quick { (3, 400) } else { (8, 2000) };
        Self {
            size,
            rounds,
            length: Duration::from_millis(ms),
        }
    }

    /// One round trip at each period.
    fn stream(&self, pair: &mut Pair, length: Duration) -> Result<(), String> {
        let one = Order {
            size: self.size,
            count: 1,
            warm: 0,
        };
        let begun = Instant::now();
        let mut next = begun;
        while begun.elapsed() < length {
            pair.round(one)?;
            next += PERIOD;
            thread::sleep(next.saturating_duration_since(Instant::now()));
        }
        Ok(())
    }
}

/// What each of `contestants` uses.
///
/// # Errors
/// Somebody is missing, does not start or stalls.
pub(super) fn run(
    plan: Plan,
    programs: &Programs,
    contestants: &[Contestant],
    host: &mut Host,
) -> Result<Vec<Calm>, String> {
    let stage = Stage::new(PLACEMENT)?;
    let seats = stage.seats();
    let mut all = vec![Calm::default(); contestants.len()];
    for round in 0..plan.rounds {
        let mut pairs = Pair::start_all(contestants, programs, &seats)?;
        for pair in &mut pairs {
            plan.stream(pair, WARM)?;
        }
        for at in turns::of_round(round, pairs.len()) {
            let (pair, calm) = (&mut pairs[at], &mut all[at]);
            let ([asking, answering], elapsed) =
                host.undisturbed(|| used(pair, |pair| plan.stream(pair, plan.length)))?;
            calm.steady.add(asking.plus(answering), elapsed);
            calm.answering.add(answering, elapsed);
            thread::sleep(SETTLING);
            let ([asking, answering], elapsed) = host.undisturbed(|| {
                used(pair, |_| {
                    thread::sleep(plan.length);
                    Ok(())
                })
            })?;
            calm.idle.add(asking.plus(answering), elapsed);
        }
    }
    Ok(all)
}

/// What who asks and who answers use during `part`, and how long that takes.
fn used(
    pair: &mut Pair,
    part: impl FnOnce(&mut Pair) -> Result<(), String>,
) -> Result<([Usage; 2], Duration), String> {
    let (before, begun) = (pair.usages(), Instant::now());
    part(pair)?;
    let ([asking, answering], elapsed) = (pair.usages(), begun.elapsed());
    let used = [asking.since(before[0]), answering.since(before[1])];
    Ok((used, elapsed))
}
