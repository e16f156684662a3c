//! Ping-pong of several contestants in one place.

use whimbrel_bench::exchange::{COUNTERS, Counters};
use whimbrel_bench::protocol::{Order, READY, round_trips};
use whimbrel_bench::turns;
use whimbrel_rig::process::{Process, Usage};

use super::{MEETING, ROUND, Spread};
use crate::contestant::{Contestant, Part, Product, Programs};
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
    /// What the process that asks and the one that answers used.
    pub(crate) usage: [Usage; 2],
    /// What both writers counted, where they tell.
    pub(crate) counters: Option<Counters>,
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
    /// How long a round trip takes, by the last round; 0 where nobody knows.
    trip_us: f64,
    /// Octets of its samples.
    size: usize,
}

impl Pair {
    fn usage(&self) -> [Usage; 2] {
        let pong = self.pong.as_ref().map(Process::usage).unwrap_or_default();
        [self.ping.usage(), pong]
    }

    /// The counters of both writers; none where nobody tells.
    fn counters(&mut self, contestant: &Contestant) -> Result<Option<Counters>, String> {
        let tells = contestant.product == Product::Whimbrel && contestant.program.is_none();
        let Some(pong) = self.pong.as_mut().filter(|_| tells) else {
            return Ok(None);
        };
        let asking: Counters = self.ping.ask(COUNTERS, ROUND)?.parse()?;
        Ok(Some(asking.plus(pong.ask(COUNTERS, ROUND)?.parse()?)))
    }

    /// Samples of `size` octets follow: they take as much longer as they are larger, at most.
    fn expect(&mut self, size: usize) {
        self.trip_us *= (size as f64 / self.size.max(1) as f64).max(1.0);
        self.size = size;
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
            for pair in &mut pairs {
                pair.expect(*size);
            }
            for (row, pair) in rows.iter_mut().zip(&mut pairs) {
                let counters = pair.counters(&row.contestant);
                row.counters = counters.map_err(Failure::Broke)?;
            }
            for round in 0..self.rounds {
                for at in turns::of_round(round, pairs.len()) {
                    stop::check()?;
                    let order = self.order(*size, pairs[at].trip_us);
                    one_round(world, &mut pairs[at], &mut rows[at], order)
                        .map_err(Failure::Broke)?;
                    progress.step(&format!("{} {size} B", self.contestants[at].name()));
                }
            }
            for (row, pair) in rows.iter_mut().zip(&mut pairs) {
                row.resident_kib = pair.resident_kib();
                let now = pair.counters(&row.contestant);
                let now = now.map_err(Failure::Broke)?;
                row.counters = now.zip(row.counters).map(|(now, then)| now.since(then));
            }
            done(rows);
        }
        Ok(())
    }

    /// As many round trips as were asked for, or take a second by what the cable or experience
    /// says; at least three.
    fn order(&self, size: usize, known_us: f64) -> Order {
        let cable_us = self.link.map_or(0.0, |it| 2.0 * it.ideal_us(size));
        // Codecs beat the cable where a trip is known.
        let trip_us = if known_us > 0.0 { known_us } else { cable_us };
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
        usage: [Usage::default(); 2],
        counters: None,
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
    Ok(Pair {
        ping,
        pong,
        trip_us: 0.0,
        size: 0,
    })
}

fn one_round(
    world: &World,
    pair: &mut Pair,
    row: &mut LatencyRow,
    order: Order,
) -> Result<(), String> {
    let (before, wire) = (pair.usage(), world.wire_bytes());
    let line = order.to_string();
    let answer = match &mut pair.pong {
        Some(pong) => pair.ping.ask_beside(pong, &line, ROUND)?,
        None => pair.ping.ask(&line, ROUND)?,
    };
    let name = row.contestant.name();
    let trips = round_trips(&answer).map_err(|why| format!("{name}: {why}"))?;
    if trips.len() != order.count {
        let (got, wanted) = (trips.len(), order.count);
        return Err(format!("{name}: {got} round trips instead of {wanted}"));
    }
    for (sum, (now, then)) in row
        .usage
        .iter_mut()
        .zip(pair.usage().into_iter().zip(before))
    {
        *sum = sum.plus(now.since(then));
    }
    if let (Some(before), Some(after)) = (wire, world.wire_bytes()) {
        *row.wire_bytes.get_or_insert(0) += after.saturating_sub(before);
    }
    row.trips += (order.count + order.warm) as u64;
    row.spread.add_round(&trips);
    let sum_us: f64 = trips.iter().map(|it| *it as f64 / 1000.0).sum();
    pair.trip_us = sum_us / trips.len().max(1) as f64;
    Ok(())
}
