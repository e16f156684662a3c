//! Ping-pong of several contestants in one place.

use whimbrel_bench::protocol::{Order, READY, round_trips};
use whimbrel_rig::process::{Process, Usage};

use super::{MEETING, ROUND, Spread};
use crate::contestant::{Contestant, Part, Programs};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::stop;
use crate::world::{Link, Place, World};

/// Round trips before those that count, at the beginning of each round.
const WARM: usize = 20;
/// How long a round may take on a slow cable.
const ROUND_US: f64 = 1e6;

/// What is to be measured.
#[derive(Clone, Debug)]
pub(crate) struct Race {
    pub(crate) contestants: Vec<Contestant>,
    pub(crate) sizes: Vec<usize>,
    pub(crate) rounds: usize,
    pub(crate) per_round: usize,
    /// The first of its domains.
    pub(crate) domain: u32,
    /// A slow cable makes large samples fewer.
    pub(crate) link: Option<Link>,
}

/// One contestant and size.
#[derive(Clone, Debug)]
pub(crate) struct LatencyRow {
    pub(crate) contestant: Contestant,
    pub(crate) size: usize,
    pub(crate) spread: Spread,
    /// What both processes used.
    pub(crate) usage: Usage,
    /// Octets on the cable in both directions, with everything around samples.
    pub(crate) wire_bytes: Option<u64>,
    /// Round trips, with those that do not count.
    pub(crate) trips: u64,
    /// Resident memory of both processes at the end.
    pub(crate) resident_kib: u64,
}

/// The processes of a contestant.
struct Pair {
    ping: Process,
    pong: Option<Process>,
}

impl Pair {
    fn usage(&self) -> Usage {
        let pong = self.pong.as_ref().map(Process::usage).unwrap_or_default();
        self.ping.usage().plus(pong)
    }

    fn resident_kib(&self) -> u64 {
        let of = |it: &Process| it.holding().map_or(0, |held| held.resident_kib);
        of(&self.ping) + self.pong.as_ref().map_or(0, of)
    }
}

impl Race {
    /// How many turns it takes.
    pub(crate) fn turns(&self) -> u64 {
        (self.contestants.len() * self.sizes.len() * self.rounds) as u64
    }

    /// Runs it; rows of sizes that are done are given to `done` at once.
    ///
    /// # Errors
    /// A process does not start, meet or answer; a signal.
    pub(crate) fn run(
        &self,
        world: &World,
        programs: &Programs,
        progress: &Progress,
        done: &mut dyn FnMut(Vec<LatencyRow>),
    ) -> Result<(), Failure> {
        let mut pairs = self.start(world, programs).map_err(Failure::Broke)?;
        for size in &self.sizes {
            let mut rows: Vec<LatencyRow> =
                self.contestants.iter().map(|it| row(it, *size)).collect();
            let order = self.order(*size);
            for round in 0..self.rounds {
                for turn in 0..pairs.len() {
                    stop::check()?;
                    // Nobody is always the first after a pause.
                    let at = (turn + round) % pairs.len();
                    one_round(world, &mut pairs[at], &mut rows[at], order)
                        .map_err(Failure::Broke)?;
                    progress.step(&format!("{} {size} B", self.contestants[at].name()));
                }
            }
            for (row, pair) in rows.iter_mut().zip(&pairs) {
                row.resident_kib = pair.resident_kib();
            }
            done(rows);
        }
        Ok(())
    }

    /// As many round trips as were asked for, or take a second on the cable; at least three.
    fn order(&self, size: usize) -> Order {
        let trip_us = self.link.map_or(0.0, |it| 2.0 * it.ideal_us(size));
        let fitting = (ROUND_US / trip_us.max(1e-9)) as usize;
        let count = self.per_round.min(fitting.max(3));
        Order {
            size,
            count,
            warm: WARM.min(count / 3 + 1),
        }
    }

    fn start(&self, world: &World, programs: &Programs) -> Result<Vec<Pair>, String> {
        let pairs: Result<Vec<Pair>, String> = self
            .contestants
            .iter()
            .zip(self.domain..)
            .map(|(contestant, domain)| pair(world, programs, contestant, domain))
            .collect();
        let pairs = pairs?;
        for pair in &pairs {
            pair.ping.wait_until(READY, MEETING)?;
        }
        Ok(pairs)
    }
}

fn row(contestant: &Contestant, size: usize) -> LatencyRow {
    LatencyRow {
        contestant: contestant.clone(),
        size,
        spread: Spread::default(),
        usage: Usage::default(),
        wire_bytes: None,
        trips: 0,
        resident_kib: 0,
    }
}

fn pair(
    world: &World,
    programs: &Programs,
    contestant: &Contestant,
    domain: u32,
) -> Result<Pair, String> {
    let [a, b] = world.seats();
    let intra = world.place == Place::Intra;
    let mode = if intra { "in-process" } else { "listener" };
    let part = |role| Part {
        bench: "latency",
        role,
        mode,
        domain,
    };
    let name = contestant.name();
    let pong = if intra {
        None
    } else {
        let mut command = programs.command(world, [&b, &a], contestant, part("pong"));
        let pong = Process::start(&format!("{name}, answering"), &mut command)?;
        pong.wait_until(READY, MEETING)?;
        Some(pong)
    };
    let mut command = programs.command(world, [&a, &b], contestant, part("ping"));
    let ping = Process::start(&format!("{name}, asking"), &mut command)?;
    Ok(Pair { ping, pong })
}

fn one_round(
    world: &World,
    pair: &mut Pair,
    row: &mut LatencyRow,
    order: Order,
) -> Result<(), String> {
    let (before, wire) = (pair.usage(), world.wire_bytes());
    let answer = pair.ping.ask(&order.to_string(), ROUND)?;
    let name = row.contestant.name();
    let trips = round_trips(&answer).map_err(|why| format!("{name}: {why}"))?;
    if trips.len() != order.count {
        let (got, wanted) = (trips.len(), order.count);
        return Err(format!("{name}: {got} round trips instead of {wanted}"));
    }
    row.usage = row.usage.plus(pair.usage().since(before));
    if let (Some(before), Some(after)) = (wire, world.wire_bytes()) {
        *row.wire_bytes.get_or_insert(0) += after.saturating_sub(before);
    }
    row.trips += (order.count + order.warm) as u64;
    row.spread.add_round(&trips);
    Ok(())
}
