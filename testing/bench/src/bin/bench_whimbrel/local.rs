//! Both ends in one process. The callback may run within the write or on another thread, so the
//! main thread writes every sample and holds nothing meanwhile.

use std::sync::Arc;

use whimbrel::{DataReader, DataReaderListener, DataWriter, StatusKind};
use whimbrel_bench::clock::now_ns;
use whimbrel_bench::exchange::{Answers, Block, Ends, Msg};
use whimbrel_bench::protocol::Order;

use crate::ends;

pub(crate) struct Local {
    ends: Ends,
    /// Keeps the end that answers.
    _answering: Ends,
    answers: Answers,
}

impl Local {
    /// Answers are by reference where samples are `shared`.
    pub(crate) fn new(domain: u32, shared: bool) -> Result<Self, String> {
        let open =
            |written, read| ends::usual(domain, written, read).map_err(|error| error.to_string());
        let (answering, ends) = (open("pong", "ping")?, open("ping", "pong")?);
        if shared {
            let echo = SharedEcho(answering.writer.clone());
            answering
                .reader
                .set_listener(Some(Box::new(echo)), StatusKind::DataAvailable);
        } else {
            answering.echo();
        }
        let answers = ends.answers();
        ends.meet()?;
        answering.meet()?;
        Ok(Self {
            ends,
            _answering: answering,
            answers,
        })
    }

    pub(crate) fn block(&self, order: Order) -> Result<Vec<u64>, String> {
        let sample = Msg {
            seq: 0,
            payload: vec![0x55; order.size].into(),
        };
        Block::new(order, sample).run(&self.ends.writer, &self.answers)
    }

    /// As [`Local::block`], by reference.
    pub(crate) fn block_shared(&self, order: Order) -> Result<Vec<u64>, String> {
        let mut sample = Arc::new(Msg {
            seq: 0,
            payload: vec![0x55; order.size].into(),
        });
        let mut ns = Vec::with_capacity(order.count);
        while ns.len() < order.count {
            // Everybody has let go of it, as of a buffer of a pool.
            let own = Arc::get_mut(&mut sample).ok_or("somebody keeps the sample")?;
            own.seq += 1;
            let begun_ns = now_ns();
            self.ends
                .writer
                .write_shared(Arc::clone(&sample))
                .map_err(|error| format!("write: {error}"))?;
            let at_ns = self.answers.wait_ns(&sample)?;
            if sample.seq as usize > order.warm {
                ns.push(at_ns.saturating_sub(begun_ns));
            }
        }
        Ok(ns)
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
