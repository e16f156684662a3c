//! Both ends in one process. The callback may run within the write or on another thread, so the
//! main thread writes every sample and holds nothing meanwhile.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

use whimbrel::{DataReader, DataReaderListener, StatusKind};
use whimbrel_bench::protocol::Order;

use super::ends::{Ends, Msg, PATIENCE, Sample};
use super::pong;
use super::words::nanos;

pub(super) struct Local {
    ends: Ends,
    /// Keeps the end that answers.
    _answering: Ends,
    sample: Sample,
    answers: Receiver<Answer>,
}

struct Answer {
    seq: u32,
    size: usize,
    at: Instant,
}

impl Local {
    pub(super) fn new(domain: u32, sample: Sample) -> Result<Self, String> {
        let answering = Ends::new(domain, "pong", "ping")?;
        let ends = Ends::new(domain, "ping", "pong")?;
        pong::listen(&answering);
        let (sender, answers) = channel();
        ends.reader
            .set_listener(Some(Box::new(Note(sender))), StatusKind::DataAvailable);
        ends.meet()?;
        answering.meet()?;
        Ok(Self {
            ends,
            _answering: answering,
            sample,
            answers,
        })
    }

    pub(super) fn block(&self, order: Order) -> Result<Vec<u64>, String> {
        let mut sample = self.sample.of(order.size)?;
        let mut ns = Vec::with_capacity(order.count);
        while ns.len() < order.count {
            sample.seq += 1;
            let begun = Instant::now();
            let written = self.ends.writer.write(&sample);
            written.map_err(|error| format!("write: {error}"))?;
            let at = self.answered(&sample)?;
            if sample.seq as usize > order.warm {
                ns.push(nanos(at.saturating_duration_since(begun)));
            }
        }
        Ok(ns)
    }

    fn answered(&self, sample: &Msg) -> Result<Instant, String> {
        loop {
            let answer = self.answers.recv_timeout(PATIENCE);
            let answer = answer.map_err(|error| format!("after {}: {error}", sample.seq))?;
            if answer.seq == sample.seq && answer.size == sample.payload.len() {
                return Ok(answer.at);
            }
        }
    }
}

struct Note(Sender<Answer>);

impl DataReaderListener<Msg> for Note {
    fn on_data_available(&mut self, reader: &DataReader<Msg>) {
        for sample in reader.take(usize::MAX).into_iter().flatten() {
            let Some(data) = sample.data() else { continue };
            let answer = Answer {
                seq: data.seq,
                size: data.payload.len(),
                at: Instant::now(),
            };
            // Nobody waits any more when the block was given up.
            let _ = self.0.send(answer);
        }
    }
}
