//! One block of a ping-pong under way.

use std::time::{Duration, Instant};

use whimbrel::DataWriter;

use super::{Answers, Msg};
use crate::protocol::Order;

/// A block under way: who notes an answer sends the next sample.
#[derive(Debug)]
pub struct Block {
    order: Order,
    sample: Msg,
    begun: Instant,
    ns: Vec<u64>,
}

impl Block {
    /// The block `order` of samples that hold what `sample` does.
    pub fn new(order: Order, mut sample: Msg) -> Self {
        sample.seq = 0;
        Self {
            order,
            sample,
            begun: Instant::now(),
            ns: Vec::with_capacity(order.count),
        }
    }

    /// Writes the next sample.
    ///
    /// # Errors
    /// What the bus says.
    pub fn send(&mut self, writer: &DataWriter<Msg>) -> Result<(), String> {
        self.sample.seq += 1;
        self.begun = Instant::now();
        writer
            .write(&self.sample)
            .map_err(|error| format!("write: {error}"))
    }

    /// Notes what was taken at `now`, if it is the awaited answer; whether it is.
    pub fn note(&mut self, data: &Msg, now: Instant) -> bool {
        if data.seq != self.sample.seq || data.payload.len() != self.order.size {
            return false;
        }
        self.keep(now);
        true
    }

    fn keep(&mut self, now: Instant) {
        if self.sample.seq as usize > self.order.warm {
            let trip = now.saturating_duration_since(self.begun);
            self.ns.push(nanos(trip));
        }
    }

    /// All round trips that count are there.
    pub fn is_done(&self) -> bool {
        self.ns.len() >= self.order.count
    }

    /// The round trips so far.
    pub fn into_trips(self) -> Vec<u64> {
        self.ns
    }

    /// How many of them there are.
    pub fn done(&self) -> usize {
        self.ns.len()
    }

    /// All of it by the calling thread, for answers that may come within the write.
    ///
    /// # Errors
    /// What the bus says, or an answer that does not come.
    pub fn run(mut self, writer: &DataWriter<Msg>, answers: &Answers) -> Result<Vec<u64>, String> {
        while !self.is_done() {
            self.send(writer)?;
            let at = answers.wait(&self.sample)?;
            self.keep(at);
        }
        Ok(self.ns)
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
