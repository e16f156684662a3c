//! Both ends in one process. The callback may run within the write or on another thread, so the
//! main thread writes every sample and holds nothing meanwhile.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

use whimbrel::{DataReader, DataReaderListener, DataWriter, StatusKind};
use whimbrel_bench::protocol::Order;

use crate::ends::{Ends, Msg, PATIENCE};
use crate::pong;

pub(crate) struct Local {
    ends: Ends,
    /// Keeps the end that answers.
    _answering: Ends,
    answers: Receiver<Answer>,
}

struct Answer {
    seq: u32,
    size: usize,
    at: Instant,
}

impl Local {
    /// Answers are by reference where samples are `shared`.
    pub(crate) fn new(domain: u32, shared: bool) -> Result<Self, String> {
        let open =
            |written, read| Ends::new(domain, written, read).map_err(|error| error.to_string());
        let (answering, ends) = (open("pong", "ping")?, open("ping", "pong")?);
        if shared {
            let echo = SharedEcho(answering.writer.clone());
            answering
                .reader
                .set_listener(Some(Box::new(echo)), StatusKind::DataAvailable);
        } else {
            pong::listen(&answering);
        }
        let (sender, answers) = channel();
        let note = Note(sender);
        ends.reader
            .set_listener(Some(Box::new(note)), StatusKind::DataAvailable);
        for it in [&ends, &answering] {
            it.meet()
                .map_err(|error| format!("nobody answers: {error}"))?;
        }
        Ok(Self {
            ends,
            _answering: answering,
            answers,
        })
    }

    pub(crate) fn block(&self, order: Order) -> Result<Vec<u64>, String> {
        let mut sample = Msg {
            seq: 0,
            payload: vec![0x55; order.size],
        };
        let mut ns = Vec::with_capacity(order.count);
        while ns.len() < order.count {
            sample.seq += 1;
            let begun = Instant::now();
            self.ends
                .writer
                .write(&sample)
                .map_err(|error| format!("write: {error}"))?;
            let at = self.answered(&sample)?;
            if sample.seq as usize > order.warm {
                ns.push(at.saturating_duration_since(begun).as_nanos() as u64);
            }
        }
        Ok(ns)
    }

    /// As [`Local::block`], by reference.
    pub(crate) fn block_shared(&self, order: Order) -> Result<Vec<u64>, String> {
        let mut sample = Arc::new(Msg {
            seq: 0,
            payload: vec![0x55; order.size],
        });
        let mut ns = Vec::with_capacity(order.count);
        while ns.len() < order.count {
            // Everybody has let go of it, as of a buffer of a pool.
            let own = Arc::get_mut(&mut sample).ok_or("somebody keeps the sample")?;
            own.seq += 1;
            let begun = Instant::now();
            self.ends
                .writer
                .write_shared(Arc::clone(&sample))
                .map_err(|error| format!("write: {error}"))?;
            let at = self.answered(&sample)?;
            if sample.seq as usize > order.warm {
                ns.push(at.saturating_duration_since(begun).as_nanos() as u64);
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

struct SharedEcho(DataWriter<Msg>);

impl DataReaderListener<Msg> for SharedEcho {
    fn on_data_available(&mut self, reader: &DataReader<Msg>) {
        if let Ok(Some(sample)) = reader.take_next_sample()
            && let Some(data) = sample.into_shared()
            && let Err(error) = self.0.write_shared(data)
        {
            eprintln!("write: {error}");
        }
    }
}

struct Note(Sender<Answer>);

impl DataReaderListener<Msg> for Note {
    fn on_data_available(&mut self, reader: &DataReader<Msg>) {
        if let Ok(Some(sample)) = reader.take_next_sample()
            && let Some(data) = sample.data()
        {
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
