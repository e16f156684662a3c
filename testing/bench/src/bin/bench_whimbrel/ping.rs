//! The process that measures.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use whimbrel::{DataReader, DataReaderListener, DataWriter, StatusKind};
use whimbrel_bench::protocol::Order;

use crate::ends::{Ends, Msg, PATIENCE, Way};

pub(crate) struct Ping {
    ends: Ends,
    receiving: Receiving,
}

enum Receiving {
    /// The callback writes the next sample itself and tells when the block is done.
    Listener(Arc<Mutex<Block>>, Receiver<()>),
    Thread(Way),
}

/// A block under way.
struct Block {
    order: Order,
    sample: Msg,
    begun: Instant,
    ns: Vec<u64>,
}

impl Block {
    fn new(order: Order) -> Self {
        Self {
            order,
            sample: Msg {
                seq: 0,
                payload: vec![0x55; order.size],
            },
            begun: Instant::now(),
            ns: Vec::with_capacity(order.count),
        }
    }

    fn send(&mut self, writer: &DataWriter<Msg>) -> Result<(), String> {
        self.sample.seq += 1;
        self.begun = Instant::now();
        writer
            .write(&self.sample)
            .map_err(|error| format!("write: {error}"))
    }

    /// Notes the answer `data`, if it is one; whether it was.
    fn note(&mut self, data: &Msg) -> bool {
        let elapsed = self.begun.elapsed();
        if data.seq != self.sample.seq || data.payload.len() != self.order.size {
            return false;
        }
        if self.sample.seq as usize > self.order.warm {
            self.ns.push(elapsed.as_nanos() as u64);
        }
        true
    }

    fn is_done(&self) -> bool {
        self.ns.len() == self.order.count
    }
}

impl Ping {
    pub(crate) fn new(domain: u32, mode: &str) -> Result<Self, String> {
        let ends =
            Ends::of_mode(mode, domain, "ping", "pong").map_err(|error| error.to_string())?;
        let receiving = if matches!(mode, "listener" | "large") {
            let nothing = Order {
                size: 0,
                count: 0,
                warm: 0,
            };
            let block = Arc::new(Mutex::new(Block::new(nothing)));
            let (done, finished) = channel();
            let echo = Echo {
                block: Arc::clone(&block),
                writer: ends.writer.clone(),
                done,
            };
            ends.reader
                .set_listener(Some(Box::new(echo)), StatusKind::DataAvailable);
            Receiving::Listener(block, finished)
        } else {
            Receiving::Thread(Way::named(mode, &ends.reader)?)
        };
        ends.meet()
            .map_err(|error| format!("nobody answers: {error}"))?;
        Ok(Self { ends, receiving })
    }

    pub(crate) fn block(&mut self, order: Order) -> Result<Vec<u64>, String> {
        match &self.receiving {
            Receiving::Listener(shared, finished) => {
                {
                    let mut block = lock(shared);
                    *block = Block::new(order);
                    block.send(&self.ends.writer)?;
                }
                let stalled = |_| format!("stalled after {} round trips", lock(shared).ns.len());
                finished.recv_timeout(PATIENCE * 4).map_err(stalled)?;
                Ok(std::mem::take(&mut lock(shared).ns))
            }
            Receiving::Thread(way) => {
                let mut block = Block::new(order);
                while !block.is_done() {
                    block.send(&self.ends.writer)?;
                    self.wait_for_answer(way, &mut block)?;
                }
                Ok(block.ns)
            }
        }
    }

    fn wait_for_answer(&self, way: &Way, block: &mut Block) -> Result<(), String> {
        loop {
            let sample = way.receive(&self.ends.reader);
            let sample = sample.map_err(|error| format!("after {}: {error}", block.sample.seq))?;
            if let Some(data) = sample.as_ref().and_then(|it| it.data())
                && block.note(data)
            {
                return Ok(());
            }
        }
    }
}

struct Echo {
    block: Arc<Mutex<Block>>,
    writer: DataWriter<Msg>,
    done: Sender<()>,
}

impl DataReaderListener<Msg> for Echo {
    fn on_data_available(&mut self, reader: &DataReader<Msg>) {
        let Ok(taken) = reader.take(1) else { return };
        let mut block = lock(&self.block);
        let answered = taken
            .first()
            .and_then(|it| it.data())
            .is_some_and(|it| block.note(it));
        if !answered {
            return;
        }
        if block.is_done() {
            // Nobody waits any more when the block was given up.
            let _ = self.done.send(());
        } else if let Err(why) = block.send(&self.writer) {
            eprintln!("{why}");
        }
    }
}

fn lock(block: &Mutex<Block>) -> MutexGuard<'_, Block> {
    block.lock().unwrap_or_else(PoisonError::into_inner)
}
