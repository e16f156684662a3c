//! The race of one placement: everybody starts, then takes turns.

use std::time::Duration;

use super::plan::{Part, ROUNDS};
use super::rows::Row;
use crate::contestant::{Contestant, Programs};
use crate::machine;
use crate::placement::Placement;
use crate::process::{Process, Usage};
use crate::protocol::{Order, round_trips};
use crate::stage::{Seat, Stage};

/// How long it may take to meet.
const MEETING: Duration = Duration::from_secs(30);
/// How long one round of one contestant may take.
const ROUND: Duration = Duration::from_secs(60);

/// Nanoseconds of a tick of `/proc/stat`. proc_stat(5).
const TICK_NS: f64 = 1e7;

/// The processes of a contestant.
struct Runner {
    contestant: Contestant,
    ping: Process,
    pong: Option<Process>,
}

impl Runner {
    fn start(
        contestant: Contestant,
        programs: &Programs,
        seats: &[Seat; 2],
        domain: usize,
    ) -> Result<Self, String> {
        let program = programs.of(contestant.product)?;
        let name = contestant.name();
        let begin = |role: &str, seat: &Seat, other: &Seat| {
            let mut command = seat.program(&program);
            command.args(["latency", role, contestant.mode.name()]);
            command.args(["--domain", &domain.to_string()]);
            command.args(["--interface", seat.interface]);
            command.args(["--address", seat.address, "--peer", other.address]);
            Process::start(&format!("{name}, {role}"), &mut command)
        };
        let [a, b] = seats;
        let pong = if contestant.is_alone() {
            None
        } else {
            let pong = begin("pong", b, a)?;
            pong.wait_until_ready(MEETING)?;
            Some(pong)
        };
        Ok(Self {
            contestant,
            ping: begin("ping", a, b)?,
            pong,
        })
    }

    fn usage(&self) -> Usage {
        let pong = self.pong.as_ref().map(Process::usage).unwrap_or_default();
        self.ping.usage().plus(pong)
    }

    /// One round: round trips, and what they used.
    fn round(&mut self, order: Order) -> Result<(Vec<u64>, Usage), String> {
        let before = self.usage();
        let answer = self.ping.ask(&order.to_string(), ROUND)?;
        let used = self.usage().since(before);
        let trips =
            round_trips(&answer).map_err(|why| format!("{}: {why}", self.contestant.name()))?;
        if trips.len() == order.count {
            return Ok((trips, used));
        }
        let (got, name) = (trips.len(), self.contestant.name());
        Err(format!(
            "{name}: {got} round trips instead of {}",
            order.count
        ))
    }
}

/// All rows of one placement, and the share of all cores in percent that others used meanwhile.
pub(super) fn run(
    part: &Part,
    programs: &Programs,
    placement: Placement,
) -> Result<(Vec<Row>, f64), String> {
    let stage = Stage::new(placement)?;
    let seats = stage.seats();
    let fitting = part.contestants.iter().filter(|it| it.fits(placement));
    let mut runners = fitting
        .enumerate()
        .map(|(domain, it)| Runner::start(*it, programs, &seats, domain + 1))
        .collect::<Result<Vec<Runner>, String>>()?;
    for runner in &runners {
        runner.ping.wait_until_ready(MEETING)?;
    }
    let mut rows = Vec::new();
    let (worked_before, all_before) = machine::worked();
    let mut ours = Usage::default();
    for size in &part.sizes {
        let mut of_size: Vec<Row> = runners
            .iter()
            .map(|runner| Row::new(runner.contestant, placement, *size))
            .collect();
        let order = Order {
            size: *size,
            count: part.per_round(),
            warm: part.warm,
        };
        for turn in turns(runners.len()) {
            let (trips, used) = runners[turn].round(order)?;
            of_size[turn].add(&trips, used, order);
            ours = ours.plus(used);
        }
        for row in &of_size {
            eprintln!("{}", row.progress());
        }
        rows.extend(of_size);
    }
    let (worked, all) = machine::worked();
    let others = (worked - worked_before) as f64 - ours.cpu_ns as f64 / TICK_NS;
    let whole = (all - all_before).max(1) as f64;
    Ok((rows, (100.0 * others / whole).max(0.0)))
}

/// Whose turn it is, round after round; each round begins with another one.
fn turns(count: usize) -> impl Iterator<Item = usize> {
    (0..ROUNDS).flat_map(move |round| (0..count).map(move |at| (at + round) % count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_has_a_turn_in_every_round() {
        let turns: Vec<usize> = turns(3).collect();
        assert_eq!(turns.len(), 3 * ROUNDS);
        assert_eq!(turns[..9], [0, 1, 2, 1, 2, 0, 2, 0, 1]);
    }
}
