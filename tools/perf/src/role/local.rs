//! Both ends in one process. The callback may run within the write or on another thread, so the
//! main thread writes every sample and holds nothing meanwhile.

use whimbrel_bench::exchange::{Answers, Block, Ends};
use whimbrel_bench::protocol::Order;

use super::ends::{Sample, open};

pub(super) struct Local {
    ends: Ends,
    /// Keeps the end that answers.
    _answering: Ends,
    sample: Sample,
    answers: Answers,
}

impl Local {
    pub(super) fn new(domain: u32, sample: Sample, words: &[String]) -> Result<Self, String> {
        let answering = open(domain, ["pong", "ping"], words)?;
        let ends = open(domain, ["ping", "pong"], words)?;
        answering.echo();
        let answers = ends.answers();
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
        let block = Block::new(order, self.sample.of(order.size)?);
        block.run(&self.ends.writer, &self.answers)
    }
}
