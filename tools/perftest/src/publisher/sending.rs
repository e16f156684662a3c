//! Sends: samples before the test, the test, the marks after it.

use std::time::{Duration, Instant};

use whimbrel::{DataWriter, Error};

use super::announced::Announced;
use super::broken::Break;
use super::pace::Pace;
use super::pongs::Pongs;
use crate::bus::SLICE;
use crate::clock::now_ns;
use crate::file::Pieces;
use crate::message::{
    EVERYBODY, FINISHED_SIZE, Head, INITIALIZE_SIZE, LENGTH_CHANGED_SIZE, Message, NO_PING,
    OVERHEAD_BYTES, zeros,
};
use crate::settings::Settings;
use crate::stop;

/// How often the end of the test is said.
const GOODBYES: usize = 50;
/// How long an answer is awaited with best effort.
const PATIENCE: Duration = Duration::from_millis(200);

/// The sending thread's part.
pub(super) struct Sending<'a, M: Message> {
    settings: &'a Settings,
    writer: &'a DataWriter<M>,
    pub(super) pongs: &'a Pongs,
    announced: &'a Announced,
    pieces: Option<Pieces>,
    /// What every sample begins with.
    head: Head,
    /// Pings so far.
    pings: u64,
    /// Samples of a batch.
    per_batch: u64,
}

impl<'a, M: Message> Sending<'a, M> {
    pub(super) fn new(
        settings: &'a Settings,
        writer: &'a DataWriter<M>,
        pongs: &'a Pongs,
        announced: &'a Announced,
        pieces: Option<Pieces>,
    ) -> Self {
        let head = Head {
            entity_id: settings.id,
            latency_ping: NO_PING,
            ..Head::default()
        };
        Self {
            settings,
            writer,
            pongs,
            announced,
            pieces,
            head,
            pings: 0,
            per_batch: 1,
        }
    }

    /// Samples before the test: whoever receives them has memory and instances ready.
    ///
    /// # Errors
    /// It was broken off.
    pub(super) fn burst(&mut self) -> Result<(), Break> {
        let message = self.mark(INITIALIZE_SIZE);
        for _ in 0..self.settings.initial_burst {
            self.put(&message, None)?;
        }
        self.writer.flush();
        Ok(())
    }

    /// Tells that the size changes, until all subscribers say that they know.
    ///
    /// # Errors
    /// It was broken off.
    pub(super) fn change_size(&mut self) -> Result<(), Break> {
        self.announced.clear();
        let message = self.mark(LENGTH_CHANGED_SIZE);
        let wanted = self.settings.subscribers;
        loop {
            self.put(&message, None)?;
            self.writer.flush();
            if self.announced.wait(SLICE, |all| all.len() >= wanted) {
                return Ok(());
            }
            self.look()?;
        }
    }

    /// Sends samples of `length` octets for the time or number of the test.
    ///
    /// # Errors
    /// It was broken off.
    pub(super) fn send(&mut self, length: usize) -> Result<(), Break> {
        let begun = Instant::now();
        let deadline = self.settings.execution.map(|time| begun + time);
        let mut message: M = zeros(self.head, length - OVERHEAD_BYTES);
        let mut pace = Pace::new(self.settings.pacing);
        let iterations = match self.settings.scan {
            Some(_) => u64::MAX,
            None => self.settings.iterations,
        };
        self.per_batch = self.settings.batch.map_or(1, |it| it / length).max(1) as u64;
        self.pongs.restart();
        let mut sent = 0;
        while sent < iterations && !is_over(deadline) {
            if !pace.wait(SLICE) {
                self.look()?;
                continue;
            }
            let pings = self.prepare(&mut message, sent);
            if !self.put(&message, deadline)? {
                break;
            }
            self.head.seq_num = message.head().seq_num;
            sent += 1;
            if pings && self.settings.latency_test {
                self.await_answer(self.head.seq_num, deadline)?;
            }
            if sent.is_multiple_of(1024) || self.settings.latency_test {
                self.look_at_signals()?;
            }
        }
        self.writer.flush();
        if self.settings.low_resolution_clock && sent > 0 {
            let us = begun.elapsed().as_micros() / (2 * u128::from(sent));
            println!("Average Latency time = {us} (us)");
        }
        Ok(())
    }

    /// Says that the test is over, until all subscribers say that they know.
    ///
    /// # Errors
    /// Some do not: they died before.
    pub(super) fn finish(&mut self) -> Result<(), Break> {
        let message = self.mark(FINISHED_SIZE);
        for _ in 0..GOODBYES {
            // Those that left do not need it, and may have said so just before.
            let gone = self.put(&message, None).is_err();
            self.writer.flush();
            if self.announced.wait(SLICE, |all| all.is_empty()) {
                return Ok(());
            }
            if gone {
                break;
            }
        }
        self.look_at_signals()?;
        Err(Break::Silent)
    }

    /// Makes `message` the sample after `sent` others; whether it is a ping.
    fn prepare(&mut self, message: &mut M, sent: u64) -> bool {
        let pings =
            self.settings.id == 0 && is_ping(sent, self.per_batch, self.settings.latency_count);
        let mut head = self.head;
        head.seq_num = sent as u32;
        head.key = key(self.settings, sent);
        if let Some(pieces) = &mut self.pieces {
            pieces.turn(message.data_mut());
        }
        if pings {
            let turn = self.pings % self.settings.subscribers as u64;
            head.latency_ping = i32::try_from(turn).unwrap_or(NO_PING);
            self.pings += 1;
            head.sent_ns = now_ns();
            self.head.sent_ns = head.sent_ns;
        }
        message.set_head(head);
        pings
    }

    /// Writes `message`, waiting for room; false where the time of the test was over before.
    fn put(&self, message: &M, deadline: Option<Instant>) -> Result<bool, Break> {
        loop {
            match self.writer.write(message) {
                Ok(()) => return Ok(true),
                Err(Error::Timeout) => {}
                Err(error) => {
                    eprintln!("[Error] writing: {error}");
                    return Err(Break::Left);
                }
            }
            self.look()?;
            if is_over(deadline) {
                return Ok(false);
            }
        }
    }

    fn await_answer(&self, seq_num: u32, deadline: Option<Instant>) -> Result<(), Break> {
        if self.settings.best_effort {
            self.pongs.wait(seq_num, PATIENCE);
            return Ok(());
        }
        while !self.pongs.wait(seq_num, SLICE) {
            self.look()?;
            if is_over(deadline) {
                break;
            }
        }
        Ok(())
    }

    /// Whether there is still somebody to send to.
    fn look(&self) -> Result<(), Break> {
        self.look_at_signals()?;
        if self.writer.matched_subscriptions().len() < self.settings.subscribers {
            return Err(Break::Left);
        }
        Ok(())
    }

    fn look_at_signals(&self) -> Result<(), Break> {
        stop::signal().map_or(Ok(()), |number| Err(Break::Signal(number)))
    }

    /// A sample that is a mark, for everybody.
    fn mark(&self, size: usize) -> M {
        let head = Head {
            key: EVERYBODY,
            ..self.head
        };
        zeros(head, size)
    }
}

/// The key of the sample after `sent` others.
fn key(settings: &Settings, sent: u64) -> [u8; 4] {
    let instance = match settings.write_instance {
        Some(instance) => u64::from(instance),
        None => sent % u64::from(settings.instances),
    };
    (instance as u32).to_le_bytes()
}

/// Whether the sample after `sent` others is a ping: one in each `count`th batch is, each time at
/// the next place.
fn is_ping(sent: u64, per_batch: u64, count: u64) -> bool {
    let (batch, place) = (sent / per_batch, sent % per_batch);
    batch.is_multiple_of(count) && place == batch / count % per_batch
}

fn is_over(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|it| Instant::now() >= it)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pings_take_every_place_of_a_batch() {
        let pings = |per_batch, count| -> Vec<u64> {
            (0..24)
                .filter(|it| is_ping(*it, per_batch, count))
                .collect()
        };
        assert_eq!(pings(1, 6), [0, 6, 12, 18]);
        assert_eq!(pings(4, 1), [0, 5, 10, 15, 16, 21]);
        assert_eq!(pings(4, 2), [0, 9, 18]);
    }
}
