//! The two processes of a contestant: one that measures, one that answers.

use std::time::{Duration, Instant};

use whimbrel_rig::process::{Process, Usage};

use crate::contestant::{Contestant, Programs};
use crate::protocol::{Order, READY, round_trips};
use crate::stage::Seat;

/// How long it may take to meet.
const MEETING: Duration = Duration::from_secs(30);
/// How long one round of one contestant may take.
const ROUND: Duration = Duration::from_secs(60);

/// The processes of a contestant.
pub struct Pair {
    /// Who.
    pub contestant: Contestant,
    ping: Process,
    pong: Option<Process>,
    between: Between,
}

/// What a pair does while others have their turn.
#[derive(Debug, Default)]
struct Between {
    /// When its last round ended, and what it had used by then.
    since: Option<(Instant, Usage)>,
    cpu: Duration,
    lasted: Duration,
}

/// Time in which others were measured below which nothing is said of what a pair did in it: a
/// process still tidies up after its own round.
const BETWEEN_MIN: Duration = Duration::from_millis(200);

/// Share of a core in percent that a pair may use while others have their turn. An idle participant
/// of any product takes a tenth of it.
const BETWEEN_PERCENT_MAX: f64 = 3.0;

impl Between {
    /// A round begins at `now`, of a pair that has used `used` so far.
    fn ends(&mut self, now: Instant, used: Usage) {
        if let Some((since, before)) = self.since.take() {
            self.cpu += Duration::from_nanos(used.since(before).cpu_ns);
            self.lasted += now.saturating_duration_since(since);
        }
    }

    /// # Errors
    /// Who was measured meanwhile had less than a whole machine.
    fn judge(&self) -> Result<(), String> {
        let percent = 100.0 * self.cpu.as_secs_f64() / self.lasted.as_secs_f64();
        if self.lasted < BETWEEN_MIN || percent <= BETWEEN_PERCENT_MAX {
            return Ok(());
        }
        Err(format!(
            "takes {percent:.0} % of a core while others are measured"
        ))
    }
}

/// How long a process may take to end once its input has; it is killed then.
pub(crate) const ENDING: Duration = Duration::from_secs(2);

impl Drop for Pair {
    fn drop(&mut self) {
        self.ping.end(ENDING);
        if let Some(pong) = &mut self.pong {
            pong.end(ENDING);
        }
    }
}

impl Pair {
    /// Starts both on `seats`; the one that answers is ready when this returns.
    ///
    /// # Errors
    /// The program is missing, or does not start.
    pub fn start(
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
            command.arg("--peer-host").arg(other.host());
            Process::start(&format!("{name}, {role}"), &mut command)
        };
        let [a, b] = seats;
        let pong = if contestant.is_alone() {
            None
        } else {
            let pong = begin("pong", b, a)?;
            pong.wait_until(READY, MEETING)?;
            Some(pong)
        };
        Ok(Self {
            contestant,
            ping: begin("ping", a, b)?,
            pong,
            between: Between::default(),
        })
    }

    /// Starts all `contestants` on `seats`, each in a domain of its own, until they have met.
    ///
    /// # Errors
    /// A program is missing, does not start or stalls.
    pub fn start_all(
        contestants: &[Contestant],
        programs: &Programs,
        seats: &[Seat; 2],
    ) -> Result<Vec<Self>, String> {
        let each = contestants.iter().zip(1..);
        let pairs = each.map(|(it, domain)| Self::start(*it, programs, seats, domain));
        let pairs: Vec<Self> = pairs.collect::<Result<_, _>>()?;
        pairs.iter().try_for_each(Self::wait_until_ready)?;
        Ok(pairs)
    }

    /// Waits until both have met.
    ///
    /// # Errors
    /// They do not.
    pub fn wait_until_ready(&self) -> Result<(), String> {
        self.ping.wait_until(READY, MEETING)
    }

    /// The process that answers, or the only one.
    pub fn answering(&self) -> &Process {
        self.pong.as_ref().unwrap_or(&self.ping)
    }

    /// What both have used so far.
    pub fn usage(&self) -> Usage {
        let [asking, answering] = self.usages();
        asking.plus(answering)
    }

    /// What who asks and who answers have used so far; where one process does both, it asks.
    pub fn usages(&self) -> [Usage; 2] {
        let pong = self.pong.as_ref().map(Process::usage).unwrap_or_default();
        [self.ping.usage(), pong]
    }

    /// Whether it left the machine to others between its rounds.
    ///
    /// # Errors
    /// It did not, so what was measured of others is not true.
    pub fn rested(&self) -> Result<(), String> {
        let name = self.contestant.name();
        self.between.judge().map_err(|why| format!("{name} {why}"))
    }

    /// One round: round trips, and what they used.
    ///
    /// # Errors
    /// It stalls.
    pub fn round(&mut self, order: Order) -> Result<(Vec<u64>, Usage), String> {
        let before = self.usage();
        self.between.ends(Instant::now(), before);
        let answer = self.ping.ask(&order.to_string(), ROUND)?;
        let after = self.usage();
        self.between.since = Some((Instant::now(), after));
        let used = after.since(before);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn between(lasted_ms: u64, cpu_ms: u64) -> Between {
        let mut between = Between::default();
        let begun = Instant::now();
        for round in 0..2 {
            between.since = Some((begun, Usage::default()));
            let used = Usage {
                cpu_ns: cpu_ms * 500_000,
                ..Usage::default()
            };
            between.ends(begun + Duration::from_micros(lasted_ms * 500), used);
            assert!(between.since.is_none(), "{round}");
        }
        between
    }

    #[test]
    fn who_works_while_others_are_measured_is_told() {
        let why = between(1000, 560).judge().unwrap_err();
        assert_eq!(why, "takes 56 % of a core while others are measured");
        assert!(between(1000, 20).judge().is_ok());
    }

    #[test]
    fn who_is_alone_has_nobody_to_disturb() {
        assert!(between(100, 90).judge().is_ok());
        assert!(Between::default().judge().is_ok());
    }
}
