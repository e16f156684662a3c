//! The two processes of a contestant: one that measures, one that answers.

use std::time::Duration;

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
        })
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
        let pong = self.pong.as_ref().map(Process::usage).unwrap_or_default();
        self.ping.usage().plus(pong)
    }

    /// One round: round trips, and what they used.
    ///
    /// # Errors
    /// It stalls.
    pub fn round(&mut self, order: Order) -> Result<(Vec<u64>, Usage), String> {
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
