//! The process that measures.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use whimbrel::{DataReader, DataReaderListener, DataWriter, StatusKind};
use whimbrel_bench::clock::now_ns;
use whimbrel_bench::exchange::{Block, Ends, Msg, PATIENCE};
use whimbrel_bench::protocol::Order;

use crate::ends::{self, Way};

/// Between blocks.
const NOTHING: Order = Order {
    size: 0,
    count: 0,
    warm: 0,
};

pub(crate) struct Ping {
    ends: Ends,
    receiving: Receiving,
}

enum Receiving {
    /// The callback writes the next sample itself and tells when the block is done.
    Listener(Arc<Mutex<Block>>, Receiver<()>),
    Thread(Way),
}

impl Ping {
    pub(crate) fn new(domain: u32, mode: &str) -> Result<Self, String> {
        let ends =
            ends::of_mode(mode, domain, "ping", "pong").map_err(|error| error.to_string())?;
        let receiving = if ends::has_listener(mode) {
            let block = Arc::new(Mutex::new(block_of(NOTHING)));
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
        ends.meet()?;
        Ok(Self { ends, receiving })
    }

    pub(crate) fn block(&mut self, order: Order) -> Result<Vec<u64>, String> {
        match &mut self.receiving {
            Receiving::Listener(shared, finished) => {
                {
                    let mut block = lock(shared);
                    *block = block_of(order);
                    block.send(&self.ends.writer)?;
                }
                let stalled = |_| format!("stalled after {} round trips", lock(shared).done());
                finished.recv_timeout(PATIENCE * 4).map_err(stalled)?;
                let nothing = block_of(NOTHING);
                Ok(std::mem::replace(&mut *lock(shared), nothing).into_trips())
            }
            Receiving::Thread(way) => {
                let mut block = block_of(order);
                while !block.is_done() {
                    block.send(&self.ends.writer)?;
                    wait_for_answer(way, &mut block)?;
                }
                Ok(block.into_trips())
            }
        }
    }
}

fn wait_for_answer(way: &mut Way, block: &mut Block) -> Result<(), String> {
    loop {
        let sample = way.receive();
        let now = now_ns();
        let sample = sample.map_err(|error| format!("after {}: {error}", block.done()))?;
        if let Some(data) = sample.as_ref().and_then(|it| it.data())
            && block.note(data, now)
        {
            return Ok(());
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
        let Ok(taken) = reader.take_next_sample() else {
            return;
        };
        let now = now_ns();
        let mut block = lock(&self.block);
        let answered = taken
            .as_ref()
            .and_then(|it| it.data())
            .is_some_and(|it| block.note(it, now));
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

fn block_of(order: Order) -> Block {
    let payload = vec![0x55; order.size];
    let payload = payload.into();
    Block::new(order, Msg { seq: 0, payload })
}

fn lock(block: &Mutex<Block>) -> MutexGuard<'_, Block> {
    block.lock().unwrap_or_else(PoisonError::into_inner)
}
